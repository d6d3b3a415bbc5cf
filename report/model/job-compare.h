/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-compare.h - compare two jobs: match their steps and keys, and tell differences from noise
 *
 * Steps are matched by the name of their program and their order, the remaining ones by their order
 * alone. Keys are matched by collective, size and communicator. Times differ beyond noise if their
 * middle halves, from the lower to the upper quartile, do not overlap.
 *
 * Threads:  pure functions, any thread.
 * Memory:   a comparison points into the sides, which must outlive it; nt_job_comparison_fini
 *           frees it.
 * Errors:   -1 and *err when memory runs out.
 * Units:    in the names; NAN: not known.
 */
#ifndef NT_JOB_COMPARE_H
#define NT_JOB_COMPARE_H

#include "record/job-summary.h"
#include "report/model/jobid.h"

#define NT_SETTING_TEXT 1088

/* What only rank records have of a step, from one of them; "": not known. */
struct nt_rank_settings {
	bool known;
	char policy[NT_POLICY_MAX], library[NT_LIBRARY_MAX], plugins[512], variables[1024];
};

/* A step of one of the jobs. */
struct nt_step_side {
	char job[NT_JOB_LABEL_MAX + 16]; /* as Slurm prints it */
	char program[64]; /* "": not known */
	const struct nt_summary *summary;
	size_t at; /* the step */
	struct nt_rank_settings settings;
};

struct nt_key_pair {
	const struct nt_key *key[2]; /* NULL: that step has none */
	bool own; /* times are of calls from start to end, else to the next call */
};

struct nt_step_pair {
	const struct nt_step_side *side[2]; /* NULL: that job has none */
	struct nt_key_pair *keys;
	size_t key_count;
};

struct nt_job_comparison {
	struct nt_step_pair *pairs;
	size_t count;
};

/* The times of one thing in both jobs. */
struct nt_time_pair {
	double us[2], low_us[2], high_us[2]; /* median and quartiles */
	double change_percent; /* of the second against the first; below 0 it is faster */
};

enum nt_noise { NT_NOISE_UNKNOWN, NT_NOISE_WITHIN, NT_NOISE_BEYOND };

const char *nt_noise_name(enum nt_noise noise); /* "within" */

int nt_job_comparison_make(struct nt_job_comparison *comparison,
			   const struct nt_step_side *const side[2], const size_t count[2],
			   struct nt_error *err);
void nt_job_comparison_fini(struct nt_job_comparison *comparison);

void nt_pair_step_time(struct nt_time_pair *times, const struct nt_step_pair *pair);
void nt_pair_key_time(struct nt_time_pair *times, const struct nt_key_pair *pair);
enum nt_noise nt_pair_noise(const struct nt_time_pair *times);

/* The algorithm and protocol in force; NT_ARM_BASELINE: not known. */
int nt_key_arm_in_force(const struct nt_key *key);

/* Other differences. The name of a setting for people, its name for programs, and its value in a
 * step; "": not known. */
extern const size_t nt_setting_count;
const char *nt_setting_name(size_t setting);
const char *nt_setting_code(size_t setting);
const char *nt_setting_text(size_t setting, const struct nt_step_side *side,
			    char out[NT_SETTING_TEXT]);

#endif
