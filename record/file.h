/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - read a whole file, but no more than so much
 *
 * Threads:  any.
 * Memory:   *text is the caller's to free; a NUL stands behind the last byte.
 * Errors:   -1 and *err names the file; a file that is larger is an error, not cut
 *           (EFBIG).
 * Units:    bytes.
 */
#ifndef NT_FILE_H
#define NT_FILE_H

#include <stddef.h>
#include "contract/error.h"

/* "-" is stdin. */
int nt_file_read(const char *path, size_t max_bytes, char **text, size_t *text_bytes,
		 struct nt_error *err);

/* The same from an open file, which stays open; name is for the error. */
int nt_file_read_fd(int fd, const char *name, size_t max_bytes, char **text, size_t *text_bytes,
		    struct nt_error *err);

#endif
