/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* weigh.h - what a job's mix of collectives costs under a profile, against NCCL's default
 *
 * The cost is the sum over keys of calls times the time of the best arm there. What a profile was
 * never measured at is estimated from its neighbours (other sizes of the same collective): by
 * their ratio to the default, or by a line, T = latency + bytes / bandwidth; and said to be.
 *
 * How sure this is comes from the quartiles (the error of a median, of which samples in a row
 * count as at most 32), from a fixed error of estimates, and from what two runs of the same thing
 * differ by on one machine (a few percent on all keys alike, whatever the number of samples).
 *
 * Threads:  pure functions.
 * Memory:   heap while a function runs.
 * Errors:   -1 only if memory runs out.
 * Units:    microseconds; shares and gains as fractions of 1.
 */
#ifndef NT_LAUNCH_WEIGH_H
#define NT_LAUNCH_WEIGH_H

#include "contract/line.h"
#include "launch/memory.h"

struct nt_mix_key {
	struct nt_comm_shape shape; /* as nt_key_shape() has it */
	int coll;
	uint64_t bytes;
	double calls;
};

struct nt_mix {
	unsigned count;
	struct nt_mix_key key[NT_ENTRY_KEYS];
};

/* The mix of the step that an entry tells of. */
void nt_mix_of(const struct nt_memory_entry *entry, struct nt_mix *mix);

enum nt_nearness {
	NT_NEAR_SAME = 0, /* same place, NCCL and driver: to be used */
	NT_NEAR_SOFTWARE, /* same place, other NCCL or driver: worth a try first */
	NT_NEAR_SHAPE, /* same hardware and fabric, other shape: likewise */
};

struct nt_weight {
	bool known; /* anything at all can be said */
	double ratio; /* cost with the profile to cost with the default */
	double error; /* standard error of the ratio's logarithm */
	double p; /* one-sided: how likely if it is no faster */
	double measured; /* share of the default's cost at keys that both were measured at */
	double estimated; /* share where the profile, or the default, was estimated */
	double worst; /* the largest ratio of a measured key */
	unsigned runs; /* of the profile */
	bool calibrated; /* among them a calibration */
	int64_t newest_s;
};

/* only_newest: of each profile's entries the newest one, which is how a job looks at its own steps;
 * where that is of a calibration, all of this calibration. The default's entries are of the same
 * origins as the profile's, where there are such: programs are compared with programs, and a
 * benchmark's calls with a benchmark's.
 * mix NULL or empty: every size that the default was measured at, each with the same share. */
int nt_weigh(const struct nt_memory *memory, const struct nt_where *where,
	     enum nt_nearness nearness, bool only_newest, const char *profile,
	     const struct nt_mix *mix, int64_t now_s, struct nt_weight *out);

/* P(Z > z) of the normal distribution. */
double nt_normal_tail(double z);

#endif
