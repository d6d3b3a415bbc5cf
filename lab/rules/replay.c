/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - nccl-tune replay with any of the rules */
#include <stdio.h>
#include "cli/replay.h"
#include "lab/rules/rules.h"

int main(int argc, char *argv[])
{
	const struct nt_replay_rule *rule = argc > 1 ? nt_lab_rule(argv[1]) : NULL;

	if (rule)
		return nt_replay_command(rule, argc - 1, argv + 1);
	fputs("usage: nt-replay RULE [ARG]...\n"
	      "RULE is " NT_LAB_RULES "; the rest is as for nccl-tune replay\n",
	      stderr);
	return 2;
}
