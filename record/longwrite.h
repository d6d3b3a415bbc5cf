/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longwrite.h - write a part of a step's long form (long.h)
 *
 * Runs with the user's rights, who may choose the directory. A job's directory must be the user's
 * and no link, so that users of a shared directory do not write to each other's.
 *
 * Lines are compressed when added, and kept until the part is saved, atomically. A line without
 * room is omitted; a shorter one may follow.
 *
 * Threads:  one writer, one thread; it hangs if the file system does.
 * Memory:   nt_long_begin first; nt_long_end frees all. Arguments are copied.
 * Errors:   -1 and *err; after a failed nt_long_save the previous file remains, if there was one.
 * Units:    bytes.
 */
#ifndef NT_LONGWRITE_H
#define NT_LONGWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include "lib/error.h"
#include "record/long.h"

struct nt_long_out {
	void *stream; /* zlib's */
	char *line; /* NT_LONG_LINE_MAX bytes */
	unsigned char *data; /* compressed lines */
	size_t used, size, max_bytes;
	size_t text_bytes; /* before compression */
	size_t lines, records, dropped, unusable; /* the last three are of rank records */
};

/* max_bytes: of the part as a file. */
int nt_long_begin(struct nt_long_out *out, size_t max_bytes, struct nt_error *err);

/* Adds {"name":value}; value is one JSON object or text, whose newlines become blanks. false: it is
 * omitted, and counted if it is a record. */
bool nt_long_add(struct nt_long_out *out, const char *name, const char *value, size_t value_bytes);

/* Counts a record that could not be read. */
void nt_long_miss(struct nt_long_out *out);

/* Saves the part in the open directory; fills in records, dropped and unusable of head. */
int nt_long_save(struct nt_long_out *out, int dir_fd, struct nt_long_head *head,
		 struct nt_error *err);

void nt_long_end(struct nt_long_out *out);

/* A user's directory. parents: those above are created, too; otherwise it is created in a directory
 * of the site, and must be the user's. */
int nt_long_open(const char *path, bool parents, struct nt_error *err);

/* A job's in it; *made: it is new. */
int nt_long_open_job(int fd, const char *name, bool *made, struct nt_error *err);

/* Limits the size of the user's parts: the oldest jobs go, then the oldest parts of the named job,
 * except keep. Returns the number of removed files. */
size_t nt_long_trim(int fd, const char *name, const char *keep, int64_t max_bytes);

#endif
