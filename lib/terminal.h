/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h - stdout without control characters
 *
 * Text from users' jobs, files and file names is cleaned where it is read (record/read.h) or
 * printed (nt_shown). This is a second check: only printable ASCII, line ends and tabs pass.
 *
 * Threads:  call it before starting others.
 * Host:     glibc: stdout can be assigned, and streams made from functions.
 */
#ifndef NT_TERMINAL_H
#define NT_TERMINAL_H

void nt_terminal_clean(void);

#endif
