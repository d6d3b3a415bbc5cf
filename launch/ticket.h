/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.h - the launch profile that srun selected for a step, as sent to its nodes
 *
 *   v=1;profile=sockets-wide;why=GAIN;from=calibrated 2026-11-22 on 2 x 1;expected=2.800;
 *   set=NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=4;left=NCCL_BUFFSIZE;memory=/home/a/...
 *
 * on one line. It contains the settings and not only the profile's name: nodes with different
 * profile files would start NCCL with different channels and hang. A ticket comes from a user's
 * environment, so the reader checks it: each member once, none unknown, bounded, plain characters,
 * settings within the allow-list and its bounds (launch/variable.h).
 *
 * Threads:  pure functions.
 * Memory:   values; nothing is allocated.
 * Errors:   -1 and *err; the ticket is then empty. No text of the ticket's is in *err.
 */
#ifndef NT_LAUNCH_TICKET_H
#define NT_LAUNCH_TICKET_H

#include <stdbool.h>
#include <stddef.h>
#include "lib/error.h"
#include "contract/names.h"
#include "launch/profile.h"
#include "launch/program.h"
#include "launch/select-reason.h"

#define NT_TICKET_MAX 1024 /* its text with its NUL */
#define NT_TICKET_FROM 96
#define NT_TICKET_LEFT 160

struct nt_ticket {
	char profile[NT_PROFILE_NAME]; /* NT_PROFILE_DEFAULT sets nothing */
	bool observe; /* force no choice: results were wrong on such hardware */
	enum nt_why why;
	char from[NT_TICKET_FROM]; /* the source of the choice, as text; "": none */
	/* the default's cost of the job's mix divided by the profile's: above 1 is faster; 0:
	 * unknown */
	double expected;
	struct nt_settings settings; /* to be set in the tasks */
	char left[NT_TICKET_LEFT]; /* variables left alone because they are set; separated by
				    * spaces */
	uint32_t user_env; /* as in struct nt_where */
	uint32_t calibrate_s; /* the longest calibration that is allowed; 0: none */
	char program[NT_PROGRAM_NAME]; /* likewise; "": unknown */
	char memory[NT_PATH_MAX]; /* the user's memory; "": nothing is remembered */
};

int nt_ticket_parse(struct nt_ticket *ticket, const char *text, struct nt_error *err);
/* -1 also if a member could not be parsed again. */
int nt_ticket_print(const struct nt_ticket *ticket, char *out, size_t out_bytes,
		    struct nt_error *err);

/* Add a name, ended by a space or a NUL, to left, once and if there is room. */
void nt_ticket_leave(struct nt_ticket *ticket, const char *name);
/* The same for all variables of resolved->because. */
void nt_ticket_leave_all(struct nt_ticket *ticket, const struct nt_resolved *resolved);

#endif
