/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tray.h - leave something for nt-recordd in the node's memory (contract/tray-layout.h)
 *
 * Threads:  one at a time for a tray; others may store into tray->calls.
 * Memory:   two mappings until nt_tray_close. Pages are allocated before use, so that no memory is
 *           an error here and not a signal.
 * Errors:   -1: no tray is free, which is counted for the reader, or there is no memory. After a
 *           failed nt_tray_put the text before it stays.
 */
#ifndef NT_TRAY_H
#define NT_TRAY_H

#include <sys/types.h>
#include "contract/tray-layout.h"

struct nt_tray_out {
	struct nt_trays *trays; /* NULL: it has none */
	struct nt_tray *tray;
	uint32_t index;
	int fd; /* the node's memory, the caller's ... */
	dev_t device; /* ... as long as it is this file: programs close descriptors of others */
	ino_t inode;
};

/* Claims one. about may be "". */
int nt_tray_open(struct nt_tray_out *out, int fd, enum nt_tray_kind kind, const char *about,
		 uint32_t pid);
int nt_tray_put(struct nt_tray_out *out, const char *text, size_t bytes);
void nt_tray_close(struct nt_tray_out *out);

/* All three. */
int nt_tray_leave(int fd, enum nt_tray_kind kind, const char *about, uint32_t pid, const char *text,
		  size_t bytes);

#endif
