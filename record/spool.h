/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spool.h - step records as files of root's: for later delivery, or because the site wants it so
 *
 * <directory>/<cluster>.<job>.<step>.json, one line of JSON with NT_SPOOL_FIELDS, as
 * nccl-tune-record(5) describes it: nt-recordd writes where slurmctld could not be reached,
 * nccl-tune backfill delivers. The directory is the daemon's own, mode 0700 if it is made here; a
 * file appears whole or not at all, and takes the place of an older one of the same step.
 *
 * Threads:  one at a time.
 * Memory:   what a visitor gets is valid during its call.
 * Errors:   -1 and *err: the directory cannot be used, or a visitor failed. A damaged file is
 *           visited, too.
 */
#ifndef NT_SPOOL_H
#define NT_SPOOL_H

#include <stdint.h>
#include <sys/stat.h>
#include "contract/error.h"
#include "contract/names.h"
#include "record/field.h"

#define NT_SPOOL_FILES 10000 /* more are not kept: nobody empties the directory */
#define NT_SPOOL_FILE_MAX \
	16384 /* bytes of a file; every quote of the record has a backslash there */
#define NT_SPOOL_UNFINISHED '.' /* how the name of a file begins that is being written */

/* clang-format off */
#define NT_SPOOL_FIELDS(X) \
	X(COUNT, "v", version, 0, NT_MUST) \
	X(TEXT, "cluster", cluster, 64, NT_MUST) \
	X(COUNT, "job", job, 0, NT_MUST) \
	X(TEXT, "step", step, NT_STEP_NAME_MAX, NT_MUST) \
	X(QUOTED, "record", record, NT_STEP_RECORD_MAX + 1, NT_MUST) /* the step record as it is */
/* clang-format on */

struct nt_spool_line {
	NT_SPOOL_FIELDS(NT_FIELD_MEMBER)
};

extern const struct nt_fields nt_spool_fields;

struct nt_spool_entry {
	const char *cluster;
	uint32_t job;
	const char *step;
	const char *record; /* printable ASCII without backslash */
};

int nt_spool_write(const char *directory, const struct nt_spool_entry *entry, struct nt_error *err);
/* No error if there is none. */
int nt_spool_remove(const char *directory, const struct nt_spool_entry *entry,
		    struct nt_error *err);

struct nt_spooled {
	const char *name; /* of the file */
	/* what is wrong with it; NULL if nothing, else what follows is not set */
	const char *problem;
	char cluster[64];
	uint32_t job;
	char step[NT_STEP_NAME_MAX];
	char record[NT_STEP_RECORD_MAX + 1]; /* as nt_step_check wants it */
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
