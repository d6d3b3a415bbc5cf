/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - a user's memory on disk: a directory of immutable files, no locks
 *
 * Homes are on NFS and Lustre, where locks cannot be trusted. So each writer puts one file of its
 * own in place by rename, "<random>.jsonl", and nobody ever changes one. Readers merge them all;
 * every entry has an id and counts once. Compacting writes what the files say into one new file,
 * and removes the others only once that one is safe on disk. Whatever is killed when, and however
 * many do it at once: an entry is in at least one file from the moment its writer returned.
 * (Two that compact at once leave two files that say the same, until somebody compacts again. Two
 * cannot remove each other's file: each removes only what was there before its own was.)
 *
 * Threads:  any; nothing is shared.
 * Memory:   as launch/memory.h.
 * Errors:   -1 and *err set. Files that are foreign, malformed or too many are counted and left.
 * Units:    seconds since 1970.
 */
#ifndef NT_LAUNCH_STORE_H
#define NT_LAUNCH_STORE_H

#include "launch/memory.h"

#define NT_STORE_FILES 1024 /* read; more are counted as skipped */
#define NT_STORE_FILE_MAX ((size_t)32 << 20)
#define NT_STORE_COMPACT_AT 64 /* files from which nt_store_add() compacts */
#define NT_STORE_STALE_S 86400 /* unfinished files older than this are swept away */

/* Adds what the directory holds to memory and tidies it. A directory that does not exist holds
 * nothing. */
int nt_store_read(const char *dir, struct nt_memory *memory, int64_t now_s, struct nt_error *err);

/* Puts what memory holds (of one job, usually) in place as one file, all or nothing. Makes the
 * directory, and its parents, for this user alone. Each entry must have an id. Compacts now and
 * then, the failure of which is none of this function's. */
int nt_store_add(const char *dir, const struct nt_memory *memory, int64_t now_s,
		 struct nt_error *err);

/* Forgets what was added until now: of a fingerprint (0: any) and a profile (NULL: any). Returns
 * how many entries that were. */
int nt_store_forget(const char *dir, uint64_t fingerprint, const char *profile, int64_t now_s,
		    struct nt_error *err);

/* Makes one file of all that can be read whole; sweeps away unfinished ones. */
int nt_store_compact(const char *dir, int64_t now_s, struct nt_error *err);

#endif
