/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.h - what srun chose for a step, as it travels to the step's nodes
 *
 *   v=1;profile=sockets-wide;why=GAIN;from=calibrated 2026-11-22 on 2 x 1;expected=2.800;
 *   set=NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=4;left=NCCL_BUFFSIZE;memory=/home/a/...
 *
 * in one line. The settings themselves travel, not the profile's name alone: nodes whose files
 * differ would start NCCL with different channels, and it would hang. A ticket comes out of a
 * user's environment, so the reader trusts nothing: members once each, none unknown, bounded,
 * plain characters, settings inside the allow-list and its bounds (launch/variable.h).
 *
 * Threads:  pure functions.
 * Memory:   values; nothing is allocated.
 * Errors:   -1 and *err; the ticket is then empty. No text of the ticket's is in *err.
 */
#ifndef NT_LAUNCH_TICKET_H
#define NT_LAUNCH_TICKET_H

#include <stdbool.h>
#include <stddef.h>
#include "contract/error.h"
#include "contract/names.h"
#include "launch/profile.h"
#include "launch/reason.h"

#define NT_TICKET_MAX 1024 /* its text with its NUL */
#define NT_TICKET_FROM 96
#define NT_TICKET_LEFT 160

struct nt_ticket {
	char profile[NT_PROFILE_NAME]; /* NT_PROFILE_DEFAULT sets nothing */
	bool candidate; /* to find out what it is worth */
	bool calibration; /* part of a calibration */
	enum nt_why why;
	char from[NT_TICKET_FROM]; /* where the choice came from, in words; "": nowhere */
	/* the default's cost on the job's mix to the profile's: above 1 is faster; 0: unknown */
	double expected;
	struct nt_settings settings; /* to be set in the tasks */
	char left[NT_TICKET_LEFT]; /* variables left alone because they are set; by spaces */
	uint32_t own; /* struct nt_where's */
	char memory[NT_PATH_MAX]; /* the user's memory; "": nothing is remembered */
};

int nt_ticket_parse(struct nt_ticket *ticket, const char *text, struct nt_error *err);
/* -1 also if a member would not be read back. */
int nt_ticket_print(const struct nt_ticket *ticket, char *out, size_t out_bytes,
		    struct nt_error *err);

/* Adds a name to left, once. What there is no room for is left out. */
void nt_ticket_leave(struct nt_ticket *ticket, const char *name);

#endif
