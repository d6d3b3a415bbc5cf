/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* probe.h - a profiler and a tuner that a test holds by the hand: it says what they answer, and
 * sees what they were told last
 *
 * Threads:  one; where several start events nobody looks at what was told.
 */
#ifndef NT_TEST_CHAIN_PROBE_H
#define NT_TEST_CHAIN_PROBE_H

#include "tuner/abi.h"

struct chain_probe {
	int init_rc, rc; /* answers */
	int wanted; /* mask at init */
	void *handle; /* of every event */
	int arm, channels; /* arm -1, channels 0: leave */
	int away; /* its cost is made negative; -1: none */
	double constant; /* the newest hardware's last one, as v6 was given it */
	size_t chunk_bytes;
	int *mask; /* as init was given it */
	unsigned inits, starts, stops, states, finalizes, decisions;
	struct nt_prof_descr_v5 descr;
	void *event; /* of the last stop or state */
	int state;
};

#define CHAIN_PROBE "chain_probe" /* the symbol */

#endif
