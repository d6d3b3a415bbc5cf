/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/rules/rules.h"

#include <string.h>
#include "lab/rules/paper.h"
#include "lab/rules/race.h"
#include "lab/rules/ucb1.h"

static const struct nt_replay_rule others[] = {
	{ .name = "race", .rule = &nt_race },
	{ .name = "paper-online", .rule = &nt_paper_online },
	{ .name = "paper-offline", .rule = &nt_paper_offline },
	{ .name = "ucb1", .run = nt_ucb1_run },
};

const struct nt_replay_rule *nt_lab_rule(const char *name)
{
	if (strcmp(name, nt_replay_own.name) == 0)
		return &nt_replay_own;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(name, others[i].name) == 0)
			return &others[i];
	}
	return NULL;
}
