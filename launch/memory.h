/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - entries together: those of a job, of a user, or of a site
 *
 * A memory also holds the last fingerprint of each host, so that srun, which sees no GPU, can look
 * up an allocation's hardware.
 *
 * Text form, the same for a user's files, a site's file and an export: one JSON object a line,
 *   {"v":1,"fingerprint":...}            an entry (launch/entry.h)
 *   {"v":1,"host":"n1","fingerprint":"00f3...","when":1763769600}
 * Empty lines and lines that begin with '#' are ignored. Malformed lines, as other versions may
 * write, are counted and skipped.
 *
 * Threads:  a memory belongs to its caller.
 * Memory:   owned by the memory: nt_memory_fini().
 * Errors:   -1 and *err set.
 * Units:    seconds and microseconds since 1970.
 */
#ifndef NT_LAUNCH_MEMORY_H
#define NT_LAUNCH_MEMORY_H

#include <sys/types.h>
#include "launch/entry.h"

#define NT_MEMORY_ENTRIES 4096 /* the oldest give way */
#define NT_MEMORY_HOSTS 8192
#define NT_MEMORY_BYTES ((size_t)32 << 20) /* of text in total */
#define NT_MEMORY_AGE_S (180 * 86400) /* entries older than this are dropped */

struct nt_host {
	char name[NT_HOST_NAME];
	uint64_t fingerprint;
	int64_t when_s;
};

/* Some entries. */
struct nt_which {
	uint64_t fingerprint; /* 0: any */
	const char *profile; /* NULL: any */
};

struct nt_memory {
	size_t entries;
	struct nt_memory_entry *entry; /* after nt_memory_sort(): by place, profile, time and id */
	size_t hosts;
	struct nt_host *host;
	size_t bytes; /* of text read */
	unsigned files; /* read */
	unsigned skipped_lines, skipped_files; /* malformed, foreign or too many */
};

void nt_memory_init(struct nt_memory *memory);
void nt_memory_fini(struct nt_memory *memory);

/* Takes what entry owns; entry is empty afterwards, also on failure. */
int nt_memory_add_take(struct nt_memory *memory, struct nt_memory_entry *entry,
		       struct nt_error *err);
int nt_memory_add_host(struct nt_memory *memory, const char *name, uint64_t fingerprint,
		       int64_t when_s, struct nt_error *err);
/* Removes them. Returns their number. */
int nt_memory_drop(struct nt_memory *memory, const struct nt_which *which);

/* Sort, and keep each id and each host once, nothing older than NT_MEMORY_AGE_S,
 * at most NT_MEMORY_ENTRIES. */
void nt_memory_sort(struct nt_memory *memory, int64_t now_s);

/* 0 if the host was never seen. */
uint64_t nt_memory_host(const struct nt_memory *memory, const char *name);

/* Add lines of text, whatever they contain. Returns the number of skipped lines, -1 if memory ran
 * out. */
int nt_memory_read_text(struct nt_memory *memory, const char *text, size_t bytes,
			struct nt_error *err);
/* Print all as lines, in the memory's order. */
int nt_memory_print(const struct nt_memory *memory, FILE *out, struct nt_error *err);
/* The same, behind comments, in place of the file name in directory (AT_FDCWD). */
int nt_memory_replace(const struct nt_memory *memory, const char *comments, int directory,
		      const char *name, mode_t mode, struct nt_error *err);

/* One file of that form: a site's memory, or an export. The writer adds a head of comments for the
 * people who review it and replaces the file as a whole. */
int nt_memory_read_file(struct nt_memory *memory, const char *path, unsigned flags,
			struct nt_error *err); /* lib/file.h */
int nt_memory_write_file(const struct nt_memory *memory, const char *path, struct nt_error *err);

#endif
