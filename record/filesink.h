/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* filesink.h - the site's directory of files: step records that the step's user can read
 *
 * Files of root, as in the spool (spool.h). The job's user can read them if the file system has
 * access control lists; otherwise only root can.
 *
 * Threads:  one at a time.
 * Errors:   -1 and *err: the file was not written.
 * Host:     POSIX access lists as the kernel takes them, linux/posix_acl_xattr.h.
 */
#ifndef NT_FILESINK_H
#define NT_FILESINK_H

#include <stdbool.h>
#include <stdint.h>
#include "record/spool.h"

/* As nt_spool_put(). */
int nt_filesink_put(const char *directory, const struct nt_spool_entry *entry,
		    struct nt_error *err);

/* Can files there be made readable for one user? false and errno: no, or the directory does not
 * exist. */
bool nt_filesink_has_lists(const char *directory);

#endif
