/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rmtree.h - empty a directory that belongs to a user
 *
 * Works by descriptor, crosses no mount and follows no link, within a time limit. It enters nothing
 * that a user may have mounted (safe-open.h).
 *
 * Threads:  one at a time for a directory.
 * Memory:   two descriptors while it runs, however deep the tree is.
 * Errors:   the number of entries that could not be removed.
 * Units:    milliseconds, a point in time on CLOCK_MONOTONIC.
 */
#ifndef NT_RMTREE_H
#define NT_RMTREE_H

#include <stddef.h>
#include <stdint.h>

/* Remove files, links and empty directories in the directory itself: root may do that, since it
 * touches no other directory. fd stays open. */
size_t nt_rmtree_flat(int fd, int64_t until_ms);

/* Remove everything. With the owner's rights only: a user can move a directory away while it is
 * emptied. */
size_t nt_rmtree_tree(int fd, int64_t until_ms);

#endif
