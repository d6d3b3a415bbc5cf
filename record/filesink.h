/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* filesink.h - the site's directory of files: step records that the step's user can read
 *
 * Files of root, as in the spool (spool.h). The job's user can read them, too, if the file system
 * has access control lists; otherwise only root can. Users cannot change them.
 *
 * Threads:  one at a time.
 * Memory:   none is passed.
 * Errors:   -1 and *err: the file was not written.
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

/* Can files of that directory be made readable for one user? false and errno: the directory does
 * not exist, or they cannot. */
bool nt_filesink_has_lists(const char *directory);

#endif
