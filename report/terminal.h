/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h - nothing that nccl-tune answers moves anybody's cursor
 *
 * What it prints comes from users' jobs, files and their names, and root is among those who look at
 * it. Texts are cleaned where they are read (record/read.h) or printed (nt_shown); this is the net
 * below: of all that goes to stdout only printable ASCII, line ends and tabs pass.
 *
 * Threads:  before there are others.
 * Host:     glibc, whose stdout may be set and whose streams may be made of functions.
 */
#ifndef NT_TERMINAL_H
#define NT_TERMINAL_H

void nt_terminal_clean(void);

#endif
