/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longmake.h - create a user's directory in the site's record_dir, as root
 *
 * In a directory that everybody may write to, another user could create it first: there the user
 * has to create it (longdir.h). If only root may write, root creates it and gives it to the user.
 * Nothing of a user is opened.
 *
 * Threads:  nt-recordd's child; it hangs if the file system hangs.
 * Errors:   -1 and *err names the directory.
 */
#ifndef NT_LONGMAKE_H
#define NT_LONGMAKE_H

#include <stdint.h>
#include "lib/error.h"

/* path: the user's, directly below record_dir. */
int nt_longmake(const char *path, uint32_t uid, uint32_t gid, struct nt_error *err);

#endif
