/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - bounds that several parts of the simulated NCCL share, and its exit codes */
#ifndef NT_FAKE_LIMITS_H
#define NT_FAKE_LIMITS_H

#define NT_MAX_RANKS 64
#define NT_MAX_PROFILERS 4 /* threads that report kernels */
#define NT_MAX_COMMS 160 /* alive at once in a job */
#define NT_MAX_SPLITS 8
#define NT_MAX_TASKS 8 /* in a group */
#define NT_MAX_SIZES 16
#define NT_MAX_SENDS 4
#define NT_MAX_KEYS (NT_COLLS * NT_MAX_SIZES)
#define NT_MAX_TRUTHS 16
#define NT_MAX_ENV 16
#define NT_MAX_ROWS 512 /* rows of a trace with the current launch variables */
#define NT_MAX_LAUNCH_NAMES 32
#define NT_MAX_LAUNCH_TEXT 256
#define NT_MAX_EFFECTS 8 /* of launch variables, of each kind */
#define NT_MAX_CALLS 512 /* in a round */
#define NT_MAX_CHANNELS 64 /* MAXCHANNELS since 2.25 */
#define NT_MAX_QUEUE 100 /* launches ahead of the GPU */
#define NT_LAST_ARMS 20 /* calls of a key that must agree at the end */

/* Exit codes, so that a test can tell them apart; 66 is the thread sanitizer's. */
enum nt_exit {
	NT_EXIT_OK = 0,
	NT_EXIT_TROUBLE = 1, /* of the simulation itself */
	NT_EXIT_USAGE = 2,
	NT_EXIT_ASKED = 3, /* --exit */
	NT_EXIT_NCCL_ERROR = 65, /* the plugin returned an error: NCCL fails the call */
	NT_EXIT_PEER_GONE = 67,
	NT_EXIT_UNEXPECTED = 68, /* --expect-arm */
	NT_EXIT_CONTRACT = 69, /* the plugin did what makes NCCL crash or misbehave */
	NT_EXIT_MISMATCH = 70, /* two ranks chose differently: NCCL hangs */
};

/* Rounds of --more between two checks of the ranks, and the most checks. */
#define NT_MORE_ROUNDS 500
#define NT_MORE_MAX (NT_MORE_ROUNDS * 250)

#endif
