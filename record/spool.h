/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spool.h - step records as files of root's: until accounting has them, or because the site wants
 * it so
 *
 * <directory>/<cluster>.<job>.<step>.u<uid>.json, one line of JSON with NT_SPOOL_FIELDS, as
 * nccl-tune-record(5) describes it. A record waits in the spool itself until slurmctld has taken
 * it, then lies in NT_SPOOL_SENT until accounting is seen to have it after the job's end, or in
 * NT_SPOOL_DEAD once it is known that it cannot be delivered. The site's directory of files is made
 * of such files, too. The directories are the daemon's own, mode 0700 where they are made here, but
 * 0755 of the site's directory of files, whose files have rights of their own (filesink.h); a
 * file appears whole or not at all, and takes the place of an older one of the same step.
 *
 * Threads:  one at a time.
 * Memory:   what a visitor gets is valid during its call; nt_spool_list_fini frees a list.
 * Errors:   -1 and *err: the directory cannot be used, or a visitor failed. A damaged file is
 *           visited, too.
 */
#ifndef NT_SPOOL_H
#define NT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include "lib/error.h"
#include "contract/names.h"
#include "record/field.h"

#define NT_SPOOL_FILE_MAX \
	16384 /* bytes of a file; every quote of the record has a backslash there */
#define NT_SPOOL_UNFINISHED '.' /* how the name of a file begins that is being written */
#define NT_SPOOL_NO_UID UINT32_MAX /* of a file without an owner in it */

/* clang-format off */
#define NT_SPOOL_FIELDS(X) \
	X(COUNT, "v", version, 0, NT_MUST, "", "") \
	X(TEXT, "cluster", cluster, 64, NT_MUST, "", "") \
	X(COUNT, "job", job, 0, NT_MUST, "", "") \
	X(TEXT, "step", step, NT_STEP_NAME_MAX, NT_MUST, "", "") \
	X(COUNT, "uid", uid, 0, NT_MAY, "", "whose job it is") \
	X(TEXT, "why", why, 160, NT_MAY, "", "it cannot be delivered") \
	X(QUOTED, "record", record, NT_STEP_RECORD_MAX + 1, NT_MUST, "", "the step record as it is")
/* clang-format on */

extern const struct nt_fields nt_spool_fields;

/* Where a record is. */
enum nt_spool_part {
	NT_PART_WAITING,
	NT_PART_SENT,
	NT_PART_DEAD,
	NT_PART_FILES, /* the site's directory of files */
};

struct nt_spool_entry {
	const char *cluster;
	uint32_t job, uid;
	const char *step;
	const char *record; /* printable ASCII without backslash */
	const char *why; /* NULL: none */
};

/* Open a part; make: also make it where its parent exists. -1 and errno ENOENT: it is not there. */
int nt_spool_open(const char *directory, enum nt_spool_part part, bool make, struct nt_error *err);

/* Without a look at what else is there (spool-retention.h). sync: it is to outlive the machine. */
int nt_spool_put(int part_fd, const struct nt_spool_entry *entry, bool sync, struct nt_error *err);
/* The file that was put there, to be read; -1: it is there no more. */
int nt_spool_open_file(int part_fd, const struct nt_spool_entry *entry);
/* From now on a file that was put there is to outlive the machine; -1: it is there no more. */
int nt_spool_sync(int part_fd, const struct nt_spool_entry *entry);
/* Whatever was put there before; part_fd -1: nothing. */
void nt_spool_forget(int part_fd, const struct nt_spool_entry *entry);
bool nt_spool_has(int part_fd, const struct nt_spool_entry *entry);

struct nt_spool_item {
	char *name; /* of the file */
	uint32_t uid; /* by its name; NT_SPOOL_NO_UID: unknown */
	int64_t time_ns; /* when it was written */
	int64_t bytes;
};

struct nt_spool_list {
	struct nt_spool_item *items;
	size_t count;
};

/* The files of a part, the oldest first; of one job of that cluster, or all (cluster NULL). */
int nt_spool_list(struct nt_spool_list *list, int part_fd, const char *cluster, uint32_t job,
		  struct nt_error *err);
void nt_spool_list_fini(struct nt_spool_list *list);

struct nt_spooled {
	const char *name; /* of the file */
	const char *problem; /* what is wrong with it; NULL if nothing, else there are no fields */
	int directory_fd;
	struct stat status;
	NT_SPOOL_FIELDS(NT_FIELD_MEMBER) /* as nt_spooled_parse checks them */
};

typedef int nt_spooled_visit(void *argument, const struct nt_spooled *spooled,
			     struct nt_error *err);

/* The fields of such a file: a job id, the names of a cluster and of a step, a user or
 * NT_SPOOL_NO_UID, and a record as nt_step_check wants it. Nothing else of *spooled is set. */
int nt_spooled_parse(struct nt_spooled *spooled, const char *text, size_t text_bytes,
		     struct nt_error *err);

/* The same for a file of a part, whose name must outlive *spooled. -1: spooled->status is set if it
 * could be looked at. */
int nt_spooled_read(struct nt_spooled *spooled, int part_fd, const char *name,
		    struct nt_error *err);

/* Visit every file, in the order of the names. -1 from the visitor ends it. */
int nt_spooled_each(int directory_fd, nt_spooled_visit *visit, void *argument,
		    struct nt_error *err);

/* Remove the file, or move it into another part as it is, unless another has taken its name since
 * it was read. */
int nt_spooled_remove(const struct nt_spooled *spooled, struct nt_error *err);
int nt_spooled_move(const struct nt_spooled *spooled, int to_fd, struct nt_error *err);

#endif
