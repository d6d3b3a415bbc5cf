/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - the node's fingerprint, kept in the run directory until the next boot
 *
 * <rundir>/fingerprint.<boot id>, one line: 16 hexadecimal digits, a space, the description. A file
 * that is not the daemon's own, or that others may write, does not count.
 *
 * Threads:  any; writers replace the whole file.
 * Errors:   -1 and *err.
 */
#ifndef NT_CACHE_H
#define NT_CACHE_H

#include <stdint.h>
#include "contract/error.h"

int nt_cache_read(int rundir_fd, uint64_t *fingerprint, struct nt_error *err);
int nt_cache_write(int rundir_fd, uint64_t fingerprint, const char *text, struct nt_error *err);

#endif
