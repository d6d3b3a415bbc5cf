/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* memory-store.h - a user's memory on disk: a directory of immutable files, no locks
 *
 * Homes are on NFS and Lustre, where locks are unreliable. So each writer renames a new file into
 * place, "<random>.jsonl", and files never change. Readers merge all files; each entry has an id
 * and counts once. Compacting writes the contents of all files into a new one and removes the
 * others after the new one is safely on disk. Once a writer returned, its entry is in at least one
 * file, whatever is killed and however many processes compact at once. (Two concurrent compactions
 * leave two equal files until the next one. They cannot remove each other's file: each removes only
 * files that existed before its own.)
 *
 * Threads:  any; nothing is shared.
 * Memory:   as launch/memory.h.
 * Errors:   -1 and *err set. Foreign, malformed and surplus files are counted and kept.
 * Units:    seconds since 1970.
 */
#ifndef NT_LAUNCH_STORE_H
#define NT_LAUNCH_STORE_H

#include "launch/memory.h"

#define NT_STORE_FILES 1024 /* files that are read; more are counted as skipped */
#define NT_STORE_FILE_MAX ((size_t)32 << 20)
#define NT_STORE_COMPACT_AT 64 /* number of files from which nt_store_add() compacts */
#define NT_STORE_STALE_S 86400 /* older unfinished files are removed */

/* Read the directory into memory, which is empty, and tidy it. A missing one counts as empty. */
int nt_store_read(const char *dir, struct nt_memory *memory, int64_t now_s, struct nt_error *err);

/* The time, as entries have it: in microseconds. */
int64_t nt_store_now_us(void);

/* Open the directory. Creates it and its parents, accessible only to this user. */
int nt_store_open(const char *dir, struct nt_error *err);

/* Write memory (usually the entries of one job) as one file, all or nothing. Creates the directory
 * as nt_store_open() does. Each entry must have an id. Compacts now and then and ignores a failure
 * of that. */
int nt_store_add(const char *dir, const struct nt_memory *memory, int64_t now_s,
		 struct nt_error *err);

/* Forget these entries, and lines that are none. Returns their number. A process that compacts at
 * the same moment may bring them back. */
int nt_store_forget(const char *dir, const struct nt_which *which, int64_t now_s,
		    struct nt_error *err);

/* Merge all files that can be read completely into one; remove unfinished ones. */
int nt_store_compact(const char *dir, int64_t now_s, struct nt_error *err);

#endif
