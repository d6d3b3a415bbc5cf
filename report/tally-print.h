/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tally-print.h - what the records of many jobs come to, for people and for programs
 *
 * What programs read is an interface: names, members and labels are added at the end, never changed
 * (nccl-tune(1) tells them).
 *
 * Threads:  no state of its own.
 * Errors:   -1 when memory runs out; write errors stay on the stream for the caller (ferror).
 */
#ifndef NT_TALLY_PRINT_H
#define NT_TALLY_PRINT_H

#include <stdio.h>
#include "report/tally.h"

/* A tally that was sorted, and what it is of. */
struct nt_tally_view {
	const struct nt_tally *tally;
	int64_t since_s, until_s;
};

int nt_tally_text(FILE *out, const struct nt_tally_view *view, struct nt_error *err);
int nt_tally_json(FILE *out, const struct nt_tally_view *view, struct nt_error *err);
int nt_tally_csv(FILE *out, const struct nt_tally_view *view, struct nt_error *err);
/* The text that node_exporter's textfile collector reads. */
int nt_tally_prometheus(FILE *out, const struct nt_tally_view *view, struct nt_error *err);

/* The part of the text that is about launch profiles. */
int nt_tally_profiles_text(FILE *out, const struct nt_speedups *speedups, struct nt_error *err);

/* The part of it that is about reasons: of each in how many collectives and sizes. */
void nt_tally_reasons_text(FILE *out, const struct nt_tally *tally);

/* "partition": what programs call the groups. */
const char *nt_tally_by_name(enum nt_tally_by by);

#endif
