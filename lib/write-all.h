/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* write-all.h - write() until everything is written
 *
 * Threads:  any.
 * Errors:   -1 and errno; a part may be written.
 */
#ifndef NT_WRITE_ALL_H
#define NT_WRITE_ALL_H

#include <stddef.h>

int nt_write_all(int fd, const void *data, size_t bytes);

#endif
