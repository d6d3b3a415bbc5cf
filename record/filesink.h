/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* filesink.h - the site's directory of files: a step's record that its user can read
 *
 * Files as in the spool (spool.h), root's. One can be read by the job's user, too, where the file
 * system has access lists; elsewhere by root alone. So what is in it is no user's word.
 *
 * Threads:  one at a time.
 * Memory:   none is handed over.
 * Errors:   -1 and *err: it is not there.
 * Host:     POSIX access lists as the kernel takes them, linux/posix_acl_xattr.h.
 */
#ifndef NT_FILESINK_H
#define NT_FILESINK_H

#include <stdbool.h>
#include <stdint.h>
#include "record/spool.h"

/* *dropped, where that is wanted: old files that had to go for it. */
int nt_filesink_put(const char *directory, const struct nt_spool_entry *entry, int64_t *dropped,
		    struct nt_error *err);

/* Can files of that directory be made readable for one user? false and errno: it is not there. */
bool nt_filesink_has_lists(const char *directory);

#endif
