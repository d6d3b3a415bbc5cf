/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.h - the real plugin in a run: a copy of the library for each process of ranks, driven
 * through NCCL 2.28.9's interfaces (tuner and profiler v5)
 *
 * Threads:  as vtime.h.
 * Errors:   nt_world_leave().
 * Host:     events in the order of tests/fake/event.c, a group of one call.
 */
#ifndef NT_PROGRAMS_PLUGIN_H
#define NT_PROGRAMS_PLUGIN_H

#include "lab/programs/world.h"

/* Before the run, in a process that has no plugin yet: sets the environment, makes directories
 * under dir and all communicators. policy: in option form, over the default. */
void nt_plugin_open(struct nt_world *w, const char *library, const char *dir, const char *policy);
/* Finalizes all communicators. What the plugin writes at its end it writes when the process
 * exits. */
void nt_plugin_close(struct nt_world *w);

extern const struct nt_chooser_calls nt_plugin_calls;

#endif
