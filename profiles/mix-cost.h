/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mix-cost.h - cost of a job's mix of collectives with a profile, relative to NCCL's default
 *
 * The cost is the sum over keys of calls times the time of the best arm. A key at which the profile
 * was not measured is estimated from its neighbours (other sizes of the same collective): by their
 * ratio to the default, or by T = latency + bytes / bandwidth. A calibration measures few
 * collectives; the others are estimated from those measured between as many nodes, with a larger
 * error, and never from sends and receives.
 *
 * The error of the result is computed from the quartiles (the error of a median; consecutive
 * samples count as at most 32), a fixed error of estimates, and the deviation between steps, which
 * is estimated from those with the same profile (profiles/estimate.h): a step is one sample,
 * whatever the number of its calls.
 *
 * Threads:  pure functions.
 * Memory:   heap while a function runs.
 * Errors:   -1 only if memory runs out.
 * Units:    microseconds; shares and gains as fractions of 1.
 */
#ifndef NT_LAUNCH_MIX_COST_H
#define NT_LAUNCH_MIX_COST_H

#include "contract/line.h"
#include "profiles/estimate.h"
#include "profiles/memory.h"

struct nt_mix_key {
	struct nt_comm_shape shape; /* as from nt_key_shape() */
	int coll;
	uint64_t bytes;
	double calls;
};

struct nt_mix {
	unsigned count;
	struct nt_mix_key key[NT_ENTRY_KEYS];
};

/* Sends alone and receives alone are measured as both. */
static inline int nt_mix_kind(int coll)
{
	return coll == NT_P2P_SEND || coll == NT_P2P_RECV ? NT_P2P_SENDRECV : coll;
}

/* The mix of an entry's step. */
void nt_mix_of(const struct nt_memory_entry *entry, struct nt_mix *mix);

enum nt_nearness {
	NT_NEAR_SAME = 0, /* same place, NCCL and driver: used */
	NT_NEAR_PATCH, /* same place, another patch release of NCCL: a profile that lost there loses
		        * here */
	NT_NEAR_SOFTWARE, /* same place, other NCCL or driver: gives the order of trials */
	/* same hardware and fabric, at most twice or half as many nodes: likewise */
	NT_NEAR_SHAPE,
};

/* A profile that makes NCCL's own choices so much slower is not used: not all calls are tuned, and
 * none is at first. */
#define NT_UNTUNED_MOST 1.10
#define NT_MEASURED_LEAST 0.6 /* share of the default's cost that must be measured, not estimated */

struct nt_mix_cost {
	bool known; /* there are measurements */
	double ratio; /* cost with the profile to cost with the default */
	double error; /* standard error of the ratio's logarithm */
	double degrees; /* of freedom of the error */
	double deviation; /* between two steps, of the logarithm */
	double p; /* one-sided: the probability if it is not faster */
	double measured; /* share of the default's cost at keys at which both were measured */
	double estimated; /* share where the profile, or the default, was estimated */
	double worst; /* the largest ratio of a measured key */
	/* The ratio and the largest one of a key by NCCL's own choices, which a program uses until
	 * better arms are found; 0 if too little of them is known. */
	double untuned, untuned_worst;
	uint64_t least_bytes, most_bytes; /* smallest and largest measured keys */
	unsigned turns; /* steps with the profile */
	bool calibrated; /* one of them is a calibration */
	int64_t newest_s;
};

/* Which entries count. */
enum nt_scope_steps {
	NT_SCOPE_ALL = 0,
	NT_SCOPE_NEWEST, /* of each profile the newest step of a program */
	NT_SCOPE_OLDER, /* all but that one */
	NT_SCOPE_CALIBRATED, /* those of calibrations */
};

struct nt_scope {
	const struct nt_memory *memory;
	const struct nt_where *where;
	enum nt_nearness nearness;
	enum nt_scope_steps steps;
	uint32_t but_job; /* 0, or a job whose entries are left out */
	int64_t now_s;
};

/* Programs are compared with programs, and a benchmark's calls with a benchmark's, as far as both
 * profiles have such entries; then the results are joined.
 * mix NULL or empty: every size that the default was measured at, each with the same share. */
int nt_mix_cost(const struct nt_scope *scope, const char *profile, const struct nt_mix *mix,
		struct nt_mix_cost *out);

/* Combines both; if they contradict each other, the nearer one counts. */
struct nt_mix_cost nt_mix_cost_join(const struct nt_mix_cost *nearer,
				    const struct nt_mix_cost *farther);

/* Are there enough measurements to rely on it? The p of a calibration includes the errors of its
 * estimates. */
bool nt_mix_cost_enough(const struct nt_mix_cost *cost);

struct nt_estimate nt_mix_cost_estimate(const struct nt_mix_cost *cost);

#endif
