/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* stepd.h - the plugin in slurmstepd: the node's memory, the tasks' environment, the step's record
 *
 * Threads:  the one that calls the hooks; nt_stepd_memory, nt_stepd_topology and
 *           nt_stepd_calibrate in a task's own process, as the user.
 * Memory:   plugin is the process's only one.
 * Errors:   logged; the step runs untuned.
 */
#ifndef NT_SPANK_STEPD_H
#define NT_SPANK_STEPD_H

#include "spank/context.h"

/* Apply the launch profile. Comes first and does not depend on anything else: NCCL must start the
 * same way on all nodes. */
void nt_stepd_launch(struct nt_plugin *plugin, spank_t spank);

/* Find the step's policy, make the node's memory and have the tasks load the tuner. */
void nt_stepd_start(struct nt_plugin *plugin, spank_t spank);

/* In a task, first: it keeps the node's memory. */
void nt_stepd_memory(struct nt_plugin *plugin, spank_t spank);

/* In a task: NCCL writes its topology into memory of the task's, or nowhere. */
void nt_stepd_topology(struct nt_plugin *plugin, spank_t spank);

/* In a task, last: measure launch profiles if srun asks for it, and apply the one that all tasks
 * choose. Ends the task if others may have a profile that it does not know. */
void nt_stepd_calibrate(struct nt_plugin *plugin, spank_t spank);

/* Start nt-recordd: the first node's writes the step's record to accounting, each node's its part
 * of the long form. */
void nt_stepd_recordd(struct nt_plugin *plugin, spank_t spank);

/* A task ended. After the node's last one wait for nt-recordd, for a bounded time. */
void nt_stepd_task_ended(struct nt_plugin *plugin, spank_t spank);

/* In slurmstepd, last; elsewhere nothing is left to do. */
void nt_stepd_end(struct nt_plugin *plugin);

#endif
