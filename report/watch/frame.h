/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - a running job as a screenful of lines, or as a block of text
 *
 * From the top: the job and the source of the data; what is explored, each with a bar; the newest
 * decisions; what was saved and spent; the verdict so far. If there are too few rows, the newest
 * decisions and the first explorations are shown.
 *
 * Threads:  no state of its own; any thread.
 * Memory:   the caller's lines.
 */
#ifndef NT_WATCHFRAME_H
#define NT_WATCHFRAME_H

#include <stdint.h>
#include "report/watch/display.h"
#include "report/watch/progress.h"

/* What is known of the job besides its record. */
struct nt_watch_job {
	char label[64]; /* "12.0" */
	const char *state; /* "running", Slurm's words; NULL: unknown */
	int64_t ran_s; /* < 0: unknown */
	int64_t end_s; /* since 1970; 0: it runs, or that is unknown */
	char source[64]; /* source of the record, "files of this node"; "": none */
	int64_t written_s; /* when that was written, since 1970; 0: unknown */
	char trouble[160]; /* what could not be asked, and why; "" */
	bool over;
	bool live; /* it is redrawn */
};

/* Fills at most rows lines, of at most columns. Returns their number. */
size_t nt_watch_frame(const struct nt_watch *watch, const struct nt_watch_job *job,
		      unsigned columns, unsigned rows, struct nt_screen_line *lines);

/* The sentences that begin a job's report, a line each; "" if there is nothing to say. Unless over,
 * which means that the job has ended, those on unfinished work and on the net time are left out.
 * The caller frees it; NULL: no memory. */
char *nt_watch_verdict(const struct nt_summary *summary, bool over);

#endif
