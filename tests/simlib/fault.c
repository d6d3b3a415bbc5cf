/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simlib/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANY -1

static struct fault {
	const char *variable;
	double number; /* initially the default */
	int rank, arm; /* ANY */
	bool given, in_force;
	char set[NT_MAX_LAUNCH_TEXT]; /* empty: any */
} faults[NT_SIM_FAULTS] = {
	[NT_SIM_WRONG] = { "NT_SIM_WRONG", 0.5, ANY, ANY, false, false, "" },
	[NT_SIM_HANG] = { "NT_SIM_HANG", 1, ANY, ANY, false, false, "" },
	[NT_SIM_FAIL] = { "NT_SIM_FAIL", 0, ANY, ANY, false, false, "" },
};

static int refuse(const struct fault *f, struct nt_error *err)
{
	return nt_error_set(err, "%s=%s (want TASK[@NUMBER]|SET|ARM)", f->variable,
			    getenv(f->variable));
}

/* The next part up to a '|', without it. */
static int part(const char **text, char *out, size_t bytes)
{
	size_t n = strcspn(*text, "|");

	if (n >= bytes)
		return -1;
	memcpy(out, *text, n);
	out[n] = 0;
	*text += n + ((*text)[n] == '|');
	if (strcmp(out, "any") == 0)
		out[0] = 0;
	return 0;
}

static int read_one(struct fault *f, const char *text, struct nt_error *err)
{
	char who[32], arm[NT_ARM_TEXT], *end = who;

	if (part(&text, who, sizeof(who)) < 0 || part(&text, f->set, sizeof(f->set)) < 0 ||
	    part(&text, arm, sizeof(arm)) < 0 || *text)
		return refuse(f, err);
	if (*who && *who != '@')
		f->rank = (int)strtol(who, &end, 10);
	if (*end == '@')
		f->number = strtod(end + 1, &end);
	if (*arm)
		f->arm = nt_arm_parse(arm);
	if (*end || f->rank >= NT_MAX_RANKS || (*arm && f->arm < 0))
		return refuse(f, err);
	f->given = true;
	return 0;
}

int nt_sim_faults_read(struct nt_launch_names *names, struct nt_error *err)
{
	for (int i = 0; i < NT_SIM_FAULTS; i++) {
		const char *text = getenv(faults[i].variable);

		if (text && *text &&
		    (read_one(&faults[i], text, err) < 0 ||
		     nt_launch_names_add(names, faults[i].set, err) < 0))
			return -1;
	}
	for (int i = 0; i < NT_SIM_FAULTS; i++) {
		struct fault *f = &faults[i];

		f->in_force = f->given && (!f->set[0] || nt_launch_in_force(names, f->set));
	}
	return 0;
}

bool nt_sim_fails(unsigned task)
{
	const struct fault *f = &faults[NT_SIM_FAIL];

	return f->in_force && (f->rank == ANY || (unsigned)f->rank == task);
}

bool nt_sim_fault_hits(enum nt_sim_fault fault, const struct nt_plan *plan)
{
	const struct fault *f = &faults[fault];

	for (unsigned i = 0; f->in_force && i < plan->tasks; i++) {
		const struct nt_task *t = &plan->task[i];

		if (f->arm == ANY || f->arm == t->arm || f->arm == nt_choice_arm(t->arm, t->cap))
			return true;
	}
	return false;
}

bool nt_sim_fault_here(enum nt_sim_fault fault, const struct ncclComm *c)
{
	const struct fault *f = &faults[fault];

	return f->rank == ANY ? c->rank.rank == c->job.ranks - 1 : c->rank.gpu == (unsigned)f->rank;
}

bool nt_sim_fault_sends(enum nt_sim_fault fault)
{
	return faults[fault].in_force && faults[fault].arm == ANY;
}

double nt_sim_fault_number(enum nt_sim_fault fault)
{
	return faults[fault].number;
}
