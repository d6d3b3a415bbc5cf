/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* said.h - what the plugin itself says of keys, in the records that it leaves
 *
 * Threads:  one.
 * Errors:   what cannot be read is left out.
 */
#ifndef NT_PROGRAMS_SAID_H
#define NT_PROGRAMS_SAID_H

#include "lab/programs/world.h"

/* Into the log's keys; dir: what nt_plugin_open() was given. */
void nt_said_read(struct nt_world *w, struct nt_run_log *log, const char *dir);

#endif
