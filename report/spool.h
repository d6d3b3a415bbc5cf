/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spool.h - records of steps that could not reach slurmctld, a file each, in a directory of root's
 *
 * spank/spool.h writes them, and files of the same form where a site keeps records out of
 * AdminComment. A file is one line of JSON:
 * {"v":1,"cluster":"c","job":12,"step":"0","record":"{...}"}; record is the step's part of the job
 * record, as text. A name that begins with '.' or ends in ".tmp" is a file that is being written.
 *
 * Threads:  no state of its own.
 * Memory:   what a visitor gets is valid during its call.
 * Errors:   -1 and *err: the directory cannot be read, or a visitor failed. A damaged file is
 *           visited, too.
 */
#ifndef NT_REPORT_SPOOL_H
#define NT_REPORT_SPOOL_H

#include <stdint.h>
#include <sys/stat.h>
#include "contract/error.h"
#include "contract/names.h"
#include "report/label.h"

struct nt_spooled {
	const char *name; /* of the file */
	const char
		/* what is wrong with it; NULL if nothing, else what follows is not set */
		*problem;
	char cluster[64];
	uint32_t job;
	char step[NT_STEP_NAME_MAX];
	char record[NT_STEP_RECORD_MAX + 1]; /* as contract/record.h allows */
	int directory_fd;
	struct stat status;
};

typedef int nt_spooled_visit(void *argument, const struct nt_spooled *spooled,
			     struct nt_error *err);

/* What is in such a file; *spooled has no name and no problem then. */
int nt_spooled_parse(struct nt_spooled *spooled, const char *text, size_t text_bytes,
		     struct nt_error *err);

/* Visit every file, in the order of the names. -1 from the visitor ends it. */
int nt_spooled_each(int directory_fd, nt_spooled_visit *visit, void *argument,
		    struct nt_error *err);

/* Remove the file, unless another has taken its name since it was read. */
int nt_spooled_remove(const struct nt_spooled *spooled, struct nt_error *err);

#endif
