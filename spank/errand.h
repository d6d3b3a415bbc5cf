/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* errand.h - what nt-recordd is told on its command line, and what it says on its socket
 *
 * Descriptor NT_ERRAND_FD is a SOCK_SEQPACKET socket whose other end slurmstepd holds. slurmstepd
 * sends one NT_ERRAND_END when the last task of the step's first node has ended; nt-recordd sends
 * lines for slurmd's log, each beginning with NT_ERRAND_INFO or NT_ERRAND_ERROR, and NT_ERRAND_DONE
 * when the step need not wait any longer.
 *
 * Threads:  pure functions, any thread.
 * Memory:   value types; the argument vector points into struct nt_errand_argv.
 * Errors:   -1 and *err names the argument.
 */
#ifndef NT_ERRAND_H
#define NT_ERRAND_H

#include <stddef.h>
#include <stdint.h>
#include "contract/error.h"
#include "contract/names.h"
#include "site/sinks.h"
#include "spank/cgroup.h"

#define NT_ERRAND_FD 3
#define NT_ERRAND_END 'e'
#define NT_ERRAND_DONE 'd'
#define NT_ERRAND_INFO 'i'
#define NT_ERRAND_ERROR 'x'
#define NT_ERRAND_MESSAGE_MAX 320
#define NT_ERRAND_TICKET 1024
#define NT_ERRAND_HOSTS 4096

struct nt_errand {
	uint32_t job, step, uid, gid;
	uint32_t flags; /* NT_PLACE_* */
	uint32_t component; /* of a heterogeneous step; NT_STEP_WHOLE: it is none */
	uint32_t tasks, nodes; /* of the step */
	uint32_t here; /* its tasks on this node; 0: unknown */
	uint32_t record_bytes; /* of the step's record, at most; 0: as many as there is room for */
	/* Of the user's memory, from which on nothing is added; 0: no bound of the site's. */
	uint32_t memory_mib;
	/* Of the step's record in full (record/long.h): what a user may have of it, 0: none is
	 * written; whether directories above that of the user's are made. */
	uint32_t long_mib, long_parents;
	uint32_t run; /* how often the job was started again before */
	uint32_t first; /* this is the step's first node, which has the record of accounting */
	char mode[16];
	char dir[NT_PATH_MAX]; /* the step's runtime directory */
	char rundir[NT_PATH_MAX]; /* what holds those of all steps */
	char spool[NT_PATH_MAX];
	char record[NT_SINKS_TEXT]; /* where the site wants records (site/sinks.h) */
	char cluster[64];
	char node[64]; /* this one */
	char long_dir[NT_PATH_MAX]; /* for records in full; else, in words, why there is none */
	char fingerprint[17]; /* of this node's hardware, hexadecimal; "-": unknown */
	char ticket[NT_ERRAND_TICKET]; /* the step's launch ticket, as it came; "-": none */
	char groups[NT_CGROUP_TEXT]; /* for what is done as the user (cgroup.h); "-": ours */
	/* The step's hosts as Slurm lists them, "n[1-4,7]"; "-": unknown, or longer than this. */
	char hosts[NT_ERRAND_HOSTS];
};

#define NT_ERRAND_NO_MEMORY UINT32_MAX /* memory_mib: nothing is remembered */
#define NT_ERRAND_ARGS 27 /* as many as there are members */
#define NT_ERRAND_KEY 24 /* what a key, "=", a number and a NUL need */

struct nt_errand_argv {
	char text[sizeof(struct nt_errand) + (size_t)NT_ERRAND_ARGS * NT_ERRAND_KEY];
	char *argv[NT_ERRAND_ARGS + 3];
};

/* program, "record", then key=value each. */
void nt_errand_format(const struct nt_errand *errand, char *program, struct nt_errand_argv *argv);

/* What follows "record"; every argument must be there once. */
int nt_errand_parse(struct nt_errand *errand, int argc, char *const argv[], struct nt_error *err);

#endif
