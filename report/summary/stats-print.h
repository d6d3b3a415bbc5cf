/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* stats-print.h - print the totals over many jobs, for people and for programs
 *
 * The forms for programs are an interface: names, members and labels are added at the end and never
 * changed (nccl-tune(1) lists them).
 *
 * Threads:  no state of its own.
 * Errors:   -1 when memory runs out; write errors stay on the stream for the caller (ferror).
 */
#ifndef NT_SITE_STATS_PRINT_H
#define NT_SITE_STATS_PRINT_H

#include <stdio.h>
#include "report/summary/site-stats.h"

/* Sorted totals, and their span of time. */
struct nt_site_stats_view {
	const struct nt_site_stats *tally;
	int64_t since_s, until_s;
};

int nt_site_stats_text(FILE *out, const struct nt_site_stats_view *view, struct nt_error *err);
int nt_site_stats_json(FILE *out, const struct nt_site_stats_view *view, struct nt_error *err);
/* The text that node_exporter's textfile collector reads. */
int nt_site_stats_prometheus(FILE *out, const struct nt_site_stats_view *view,
			     struct nt_error *err);

/* "partition": the name of a class for programs. */
const char *nt_site_stats_by_name(enum nt_site_stats_by by);

#endif
