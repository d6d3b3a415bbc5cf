/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* settled.h - has the plugin finished its work, or is something still pending?
 *
 * How long nodes take to agree depends on the machine, not on the program's calls. The shared
 * memory tells: communicators that are joining, keys that are open, and a node leader that has
 * looked since.
 *
 * Threads:  one for each nt_settled.
 * Memory:   the shared memory stays mapped until the process ends.
 * Errors:   without shared memory, or with one that cannot be read, all is settled.
 */
#ifndef NT_FAKE_SETTLED_H
#define NT_FAKE_SETTLED_H

#include <stdbool.h>
#include <stdint.h>

struct nt_settled { /* zeros at first */
	const struct nt_shm *shm;
	bool looked;
	uint64_t beat; /* node leader's, when nothing was pending first; 0: not yet */
};

bool nt_settled(struct nt_settled *s);

#endif
