/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - what a step's tasks measure before the program, as srun tells them
 *
 *   v=1;seconds=50;procs=4;token=<32 hex digits>;address=10.0.0.1;library=/path/libnccl.so.2;
 *   split=stride:4;calls=AllReduce:16777216:150,AllGather:65536:20;
 *   profile=sockets-wide NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=4;profile=...
 *
 * on one line. It comes from the environment, so the reader checks it: printable characters, each
 * member once except profile, none unknown, settings within the allow-list and its bounds
 * (launch/variable.h). An empty member is the same as none.
 *
 * Threads:  pure functions.
 * Memory:   values; nothing is allocated.
 * Errors:   -1 and *err: the member and what is accepted; the request is then empty.
 */
#ifndef NT_CAL_REQUEST_H
#define NT_CAL_REQUEST_H

#include <stddef.h>
#include <stdint.h>
#include "contract/names.h"
#include "lib/error.h"
#include "launch/profile.h"

#define NT_CALIBRATE_FD 3 /* nt-calibrate's descriptor of the node's memory, if it has one */
#define NT_CAL_REQUEST_MAX 12288 /* its text with its NUL */
#define NT_CAL_TOKEN 32 /* hexadecimal digits */
#define NT_CAL_WHY 160 /* text: why nothing was chosen, or why a profile failed */
#define NT_CAL_CALLS 24
#define NT_CAL_PROFILES 16
#define NT_CAL_PROCS 64
#define NT_CAL_SECONDS 3600
#define NT_CAL_BYTES_LEAST 4
#define NT_CAL_BYTES_MOST (UINT64_C(1) << 30)

struct nt_cal_call {
	int coll; /* any kind but NT_P2P_SEND and NT_P2P_RECV */
	uint64_t bytes;
	uint64_t calls; /* of the program; 0: unknown */
};

struct nt_cal_profile {
	char name[NT_PROFILE_NAME];
	struct nt_settings settings;
};

struct nt_cal_request {
	unsigned seconds; /* limit of the whole calibration */
	unsigned procs; /* of the benchmark in each task; 0: one for each of its GPUs */
	char token[NT_CAL_TOKEN + 1]; /* both sides show it first */
	char address[64]; /* of the step's first node */
	char library[NT_LIBRARY_MAX]; /* the program's NCCL; "": unknown */
	char split[24]; /* as in nccl-tune-bench --split; "": calls on all ranks */
	unsigned calls; /* 0: a standard list */
	struct nt_cal_call call[NT_CAL_CALLS];
	unsigned profiles; /* besides NCCL's default, which is always measured */
	struct nt_cal_profile profile[NT_CAL_PROFILES];
};

int nt_cal_request_parse(struct nt_cal_request *request, const char *text, struct nt_error *err);
/* -1 also if a member could not be parsed again. */
int nt_cal_request_print(const struct nt_cal_request *request, char *out, size_t out_bytes,
			 struct nt_error *err);

/* "NAME NCCL_A=1 NCCL_B=2"; NCCL's default has no settings, another profile has some. */
int nt_cal_profile_parse(struct nt_cal_profile *profile, const char *text);
const char *nt_cal_profile_text(const struct nt_cal_profile *profile, char *out, size_t out_bytes);

#endif
