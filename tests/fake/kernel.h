/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - a plan's kernels on the GPU: ranks wait for each other and get the duration
 *
 * Threads:  the stream's.
 * Units:    nanoseconds of the stream's clock.
 */
#ifndef NT_FAKE_KERNEL_H
#define NT_FAKE_KERNEL_H

#include "tests/fake/fake.h"
#include "tests/fake/proxy.h"

struct nt_kernel {
	struct nt_plan *plan;
	uint64_t op; /* published on the wire */
	uint64_t start_ns; /* when this rank's kernel begins to wait for its peers */
	double factor; /* factor on its time, equal on all ranks; 0: none */
	_Atomic bool *quit; /* ends the wait */
	struct nt_proxy *proxy; /* gets the times, as does the summary if there is one */
	uint64_t latest_ns; /* out: when the last rank arrived ... */
	uint64_t end_ns; /* ... and the end */
};

enum nt_wire_end nt_kernel_run(struct nt_kernel *k);

/* The times of a plan's sends and receives. Thread 0 of a block stamps the end when its own
 * transfer is done, the others may be later: here, one pair of a call after the other. */
void nt_kernel_tell_p2p(struct nt_proxy *proxy, const struct nt_plan *p, uint64_t start_ns,
			uint64_t latest_ns, double run_ns);

/* The delay of this rank for that operation. */
uint64_t nt_kernel_lateness_ns(const struct nt_comm *c, uint64_t op);

#endif
