/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* srun.h - choose a step's launch profile in srun, after the step was created and before its launch
 *
 * The choice goes into srun's own environment, from which every slurmstepd gets it whatever
 * --export says. Nothing here fails a step: if no choice is possible, NCCL starts with its own
 * settings, and the user gets the reason.
 *
 * Threads:  one at a time; srun has others.
 * Memory:   values; texts are the caller's.
 * Errors:   none, except messages by say().
 * Host:     srun 22.05 to 26.05 in slurm_spank_local_user_init: the environment has the step's
 *           SLURM_ variables.
 */
#ifndef NT_SRUN_H
#define NT_SRUN_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/policy.h"
#include "spank/option.h"

struct nt_srun_step {
	uint32_t job, step, nodes, tasks;
	int words; /* of the step's command */
	char **word;
};

enum nt_srun_word {
	NT_SRUN_DETAIL, /* with --verbose */
	NT_SRUN_NEWS,
	NT_SRUN_WARNING,
};

struct nt_srun {
	const struct nt_site *site;
	const struct nt_site_rules *rules; /* for the step */
	const struct nt_policy *policy;
	bool typed; /* launch= or calibrate= is on this command line */
	struct nt_srun_step step;
	void (*say)(enum nt_srun_word word, const char *text);
};

/* Set NT_ENV_TICKET, NT_ENV_SLURM_WARM and NT_ENV_CALIBRATE, or empty them. */
void nt_srun_prepare(const struct nt_srun *srun);
/* Empty them. */
void nt_srun_clear(void);

/* Set NT_ENV_TOPOLOGY, or empty it: all nodes of the step must do the same (topology-env.h). */
void nt_srun_topology(const struct nt_policy *policy);

#endif
