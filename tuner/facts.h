/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - the set-up of this process, for its record: what findings are judged by
 *
 * Of the environment only NCCL's variables, file names in LD_PRELOAD and the number of devices in
 * CUDA_VISIBLE_DEVICES leave the process; other variables are read for what Slurm and CUDA say.
 *
 * Processors are those of all threads together: OpenMP and NCCL bind single threads to fewer than
 * the process has. A GPU's device file counts if it may be opened, which a cgroup of
 * devices decides; nothing is opened. A file system is known by its mount: no file of it is
 * looked at, which could hang.
 *
 * Threads:  the helper thread, once: it reads files, at most some hundred.
 * Memory:   the caller's.
 * Errors:   what is unknown is -1, NAN or "".
 * Host:     /proc/self/{task,cgroup,mountinfo,fd,net/tcp,net/tcp6}, cpu.max of cgroups v2,
 *           cpu.cfs_* of v1, /proc/self/{status,uid_map}, /etc/nccl.conf, /dev/shm,
 *           /dev/nvidia<N>, /proc/driver/nvidia/{version,gpus}, /sys/class/{infiniband,net},
 *           /sys/module; SLURM_JOB_CPUS_PER_NODE.
 */
#ifndef NT_TUNER_FACTS_H
#define NT_TUNER_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include "record/rank.h"

/* root: "" for this system, or a directory that stands for /, in tests. nodes: of the step. */
void nt_facts_look(struct nt_facts *facts, const char *root, unsigned nodes);

/* "0-3,8", from one bit each; false: it does not fit, and out is "". */
bool nt_facts_list(const unsigned char *bits, size_t bytes, char *out, size_t out_bytes);

/* The fewest processors in Slurm's list, "72(x2),36"; -1: it cannot be read. */
int64_t nt_facts_fewest(const char *per_node);

#endif
