/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rmtree.h - empty a directory that belongs to a user
 *
 * By descriptor, across no mount and no link, within a time. Nothing is entered that a user may
 * have mounted (beneath.h).
 *
 * Threads:  one at a time for a directory.
 * Memory:   two descriptors while it runs, however deep the tree is.
 * Errors:   the number of entries that had to stay, 0 where none did.
 * Units:    milliseconds, a point in time on CLOCK_MONOTONIC.
 */
#ifndef NT_RMTREE_H
#define NT_RMTREE_H

#include <stddef.h>
#include <stdint.h>

/* Files, links and empty directories of the directory itself: root may do that, since it touches
 * no other directory. fd stays open. */
size_t nt_rmtree_flat(int fd, int64_t until_ms);

/* All of it. With the owner's rights only: a user can move a directory away while it is emptied. */
size_t nt_rmtree_tree(int fd, int64_t until_ms);

#endif
