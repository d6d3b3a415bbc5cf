/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longmake.h - a user's own directory in the site's record_dir, made by root
 *
 * In a directory that everybody may write to another user could be there first. Where only root may
 * write, root makes it, and gives it to the user; elsewhere that is left to the user (longdir.h).
 * Nothing of a user's is opened.
 *
 * Threads:  nt-recordd's child; a file system that hangs hangs it.
 * Errors:   -1 and *err names the directory.
 */
#ifndef NT_LONGMAKE_H
#define NT_LONGMAKE_H

#include <stdint.h>
#include "lib/error.h"

/* path: the user's, directly below record_dir. */
int nt_longmake(const char *path, uint32_t uid, uint32_t gid, struct nt_error *err);

#endif
