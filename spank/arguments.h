/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h - the messages between slurmstepd and nt-recordd
 *
 * Descriptor NT_ARGUMENTS_FD of nt-recordd is a SOCK_SEQPACKET socket to slurmstepd. slurmstepd
 * queues struct nt_arguments, with a descriptor of the node's memory, as its first message before
 * it starts nt-recordd; it is not on the command line because every user of the node can read that.
 * When the node's last task has ended, slurmstepd sends NT_ARGUMENTS_END and an enum nt_ended.
 * nt-recordd sends lines for slurmd's log,
 * each starting with NT_ARGUMENTS_INFO or NT_ARGUMENTS_ERROR, and NT_ARGUMENTS_DONE when the step
 * no longer has to wait.
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller's.
 * Errors:   -1 and *err.
 */
#ifndef NT_ARGUMENTS_H
#define NT_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "contract/names.h"
#include "site/sinks.h"
#include "spank/step/cgroup.h"

#define NT_ARGUMENTS_FD 3
#define NT_ARGUMENTS_END 'e'
#define NT_ARGUMENTS_DONE 'd'
#define NT_ARGUMENTS_INFO 'i'
#define NT_ARGUMENTS_ERROR 'x'
#define NT_ARGUMENTS_MESSAGE_MAX 320
#define NT_ARGUMENTS_TICKET 1024
#define NT_ARGUMENTS_HOSTS 4096

/* The worst end of the step's tasks on this node. Signals of crashes count, those that end a job do
 * not. */
enum nt_ended {
	NT_ENDED_WELL = 0,
	NT_ENDED_FAILED,
};

struct nt_arguments {
	char version[24]; /* of both programs: NT_ARGUMENTS_VERSION */
	uint32_t job, step, uid, gid;
	uint32_t flags; /* NT_FLAG_* */
	uint32_t component; /* of a heterogeneous step; NT_STEP_WHOLE: it is none */
	uint32_t tasks, nodes; /* of the step */
	uint32_t here; /* its tasks on this node; 0: unknown */
	uint32_t findings; /* that the record tells (contract/finding.h) */
	uint32_t memory_mib; /* the largest memory of a user; 0: no limit */
	/* The long form (record/long.h): limit per user, 0: none is written; whether directories
	 * above the user's are created. */
	uint32_t long_mib, long_parents;
	uint32_t run; /* how often the job was restarted before */
	uint32_t stacks; /* setting on_stall */
	uint32_t first; /* this is the step's first node, which writes to accounting */
	char mode[16];
	char rundir[NT_PATH_MAX]; /* root's, with the locks of jobs */
	char spool[NT_PATH_MAX];
	char record[NT_SINKS_TEXT]; /* where the site wants records (site/sinks.h) */
	char cluster[64];
	char node[64]; /* this one */
	char long_dir[NT_PATH_MAX]; /* for the long form; a text without "/": why there is none */
	char fingerprint[17]; /* of this node's hardware, hexadecimal; "-": unknown */
	char ticket[NT_ARGUMENTS_TICKET]; /* the step's launch ticket; "-": none */
	char cgroups[NT_CGROUP_TEXT]; /* of the tasks, for the user's work (cgroup.h); "-": none */
	enum nt_ended ended; /* from NT_ARGUMENTS_END */
	/* The step's hosts as Slurm lists them, "n[1-4,7]"; "-": unknown, or longer than this. */
	char hosts[NT_ARGUMENTS_HOSTS];
};

#define NT_ARGUMENTS_NO_MEMORY UINT32_MAX /* memory_mib: nothing is remembered */
#define NT_ARGUMENTS_VERSION PACKAGE_VERSION

/* Of a message of so many bytes: of this version, its texts not empty and with an end. */
int nt_arguments_check(const struct nt_arguments *arguments, size_t bytes, struct nt_error *err);

#endif
