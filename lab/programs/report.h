/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what came of a program's runs
 *
 * Threads:  one.
 * Units:    in the names; percent.
 */
#ifndef NT_PROGRAMS_REPORT_H
#define NT_PROGRAMS_REPORT_H

#include "lab/programs/world.h"

struct nt_sacct_runs {
	uint64_t steps;
	struct nt_run_log automatic, plugin, chosen, best;
};

/* Of one seed, over all keys above 1 percent of the time that calls take. */
struct nt_sample_quantiles {
	unsigned keys, decided; /* of all communicators */
	unsigned wrong;
	double decided_s; /* the last one; 0: none */
	double cost_begin, cost_later, cost_minute, after; /* percent */
	double waited_s; /* the rank that waited most */
	double gain; /* of the program, over all of its run */
};

/* Prints it, too: a table, or a line of JSON. */
void nt_report(struct nt_world *w, const struct nt_sacct_runs *runs, bool json,
	       struct nt_sample_quantiles *out);
void nt_report_spread(const char *program, const struct nt_sample_quantiles *quantiles,
		      uint64_t seeds, bool json);

extern const char *const nt_shipped_programs[]; /* ends with NULL */

#endif
