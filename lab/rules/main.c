/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - nt-replay: decisions of jobs and on traces, by our rule or another */
#include "lab/replay/command.h"
#include "lab/rules/rules.h"

int main(int argc, char *argv[])
{
	const struct nt_replay_rule *rule = argc > 1 ? nt_lab_rule(argv[1]) : NULL;

	return rule ? nt_replay_command(rule, argc - 1, argv + 1)
		    : nt_replay_command(&nt_replay_own, argc, argv);
}
