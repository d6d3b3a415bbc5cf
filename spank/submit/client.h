/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - the plugin in srun, sbatch and salloc: the option, and the step's launch profile
 *
 * Threads:  the one that calls the hooks.
 * Memory:   plugin is the process's only one.
 * Errors:   an invalid value is refused with one line on stderr; after any other error the plugin
 *           warns and the step runs untuned.
 */
#ifndef NT_SPANK_CLIENT_H
#define NT_SPANK_CLIENT_H

#include "spank/context.h"

/* Read the option's environment variable and pass it to Slurm as an option of the surrounding job:
 * Slurm calls back for it before it reads the command line, which therefore wins. */
void nt_client_environment(struct nt_plugin *plugin);

/* The callback of --nccl-tune, in clients and in slurmstepd (remote). -1: refused. */
int nt_client_option(struct nt_plugin *plugin, const char *value, bool remote);

/* srun --async, whose steps nt_client_launch() does not see: report what the site does not allow,
 * and that a launch profile that is requested by name is not set. */
void nt_client_async(struct nt_plugin *plugin);

/* srun: select the step's launch profile; may ask its tasks to calibrate. */
void nt_client_launch(struct nt_plugin *plugin, spank_t spank);

#endif
