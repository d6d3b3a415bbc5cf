/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spool.h - step records as files of root: in the spool until accounting has them, and in a site's
 * directory of files
 *
 * <directory>/<cluster>.<job>.<step>.u<uid>.json, one line of JSON with NT_SPOOL_FIELDS (nccl-tune-
 * record(5)). A record waits in the spool itself until slurmctld has accepted it, then in
 * NT_SPOOL_SENT until accounting has it after the job's end. Directories are the daemon's, with
 * mode 0700, the site's with 0755; files there have their own rights (filesink.h). A file appears
 * atomically, and replaces an older one of the same step. A user who has too many in a directory
 * loses the oldest.
 *
 * Threads:  one at a time.
 * Memory:   nt_spool_list_fini frees a list.
 * Errors:   -1 and *err: the directory or the file cannot be used.
 */
#ifndef NT_SPOOL_H
#define NT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include "lib/error.h"
#include "contract/names.h"
#include "record/field.h"

#define NT_SPOOL_FILE_MAX 16384 /* bytes; a record's quotes have backslashes there */
#define NT_SPOOL_UNFINISHED '.' /* how the names of unfinished files begin */
#define NT_SPOOL_NO_UID UINT32_MAX /* unknown */
#define NT_SPOOL_USER_FILES 1000 /* of a user in a directory, at most */

/* clang-format off */
#define NT_SPOOL_FIELDS(X) \
	X(COUNT, "v", version, 0, NT_MUST, "", "") \
	X(TEXT, "cluster", cluster, 64, NT_MUST, "", "") \
	X(COUNT, "job", job, 0, NT_MUST, "", "") \
	X(TEXT, "step", step, NT_STEP_NAME_MAX, NT_MUST, "", "") \
	X(COUNT, "uid", uid, 0, NT_MAY, "", "whose job it is") \
	X(QUOTED, "record", record, NT_STEP_RECORD_MAX + 1, NT_MUST, "", "the step record as it is")
/* clang-format on */

extern const struct nt_fields nt_spool_fields;

enum nt_spool_part {
	NT_PART_WAITING,
	NT_PART_SENT,
	NT_PART_FILES, /* the site's directory of files */
};

struct nt_spool_entry {
	const char *cluster;
	uint32_t job, uid;
	const char *step;
	const char *record; /* printable ASCII without backslash */
};

/* Opens a part; make: creates it if its parent exists. -1 and errno ENOENT: it does not exist. */
int nt_spool_open(const char *directory, enum nt_spool_part part, bool make, struct nt_error *err);

/* sync: the file must survive a crash of the machine. Returns how many older ones of its user were
 * removed for it. */
int nt_spool_put(int part_fd, const struct nt_spool_entry *entry, bool sync, struct nt_error *err);
/* Removes a user's oldest files if there are too many; returns how many. */
int nt_spool_limit(int part_fd, uint32_t uid);
/* Opens a file for reading; -1: it is gone. */
int nt_spool_open_file(int part_fd, const struct nt_spool_entry *entry);
/* Makes a file survive a crash of the machine; -1: it is gone. */
int nt_spool_sync(int part_fd, const struct nt_spool_entry *entry);
/* Removes a file, if it exists; part_fd may be -1. */
void nt_spool_forget(int part_fd, const struct nt_spool_entry *entry);
bool nt_spool_has(int part_fd, const struct nt_spool_entry *entry);

struct nt_spool_item {
	char *name; /* of the file */
	uint32_t uid; /* by its name */
	int64_t time_ns; /* when it was written */
};

struct nt_spool_list {
	struct nt_spool_item *items;
	size_t count;
};

/* The files of a part, oldest first; of one job, or all (cluster NULL). */
int nt_spool_list(struct nt_spool_list *list, int part_fd, const char *cluster, uint32_t job,
		  struct nt_error *err);
void nt_spool_list_fini(struct nt_spool_list *list);

struct nt_spooled {
	const char *name; /* of the file */
	int directory_fd;
	struct stat status;
	NT_SPOOL_FIELDS(NT_FIELD_MEMBER) /* as nt_spooled_parse checks them */
};

/* Fills the fields: a job id, names of a cluster and a step, a user or NT_SPOOL_NO_UID, and a
 * record that nt_step_check accepts. */
int nt_spooled_parse(struct nt_spooled *spooled, const char *text, size_t text_bytes,
		     struct nt_error *err);

/* The same for a file of a part, whose name must outlive *spooled. -1: spooled->status is set if
 * possible. */
int nt_spooled_read(struct nt_spooled *spooled, int part_fd, const char *name,
		    struct nt_error *err);

/* Remove the file, or move it to another part, unless it was replaced since it was read. */
int nt_spooled_remove(const struct nt_spooled *spooled, struct nt_error *err);
int nt_spooled_move(const struct nt_spooled *spooled, int to_fd, struct nt_error *err);

#endif
