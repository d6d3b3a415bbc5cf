/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cost.h - what nt-cost reads of its own process, and what it prints
 *
 * Threads:  one thread of each process.
 * Errors:   parse: -1, said on stderr. What /proc does not tell is 0.
 * Units:    in the names; memory in KiB.
 */
#ifndef NT_MEASURE_COST_H
#define NT_MEASURE_COST_H

#include <stdbool.h>
#include <stdint.h>

#define NT_COST_COMMS_MAX 1000u
#define NT_COST_PROCESSES_MAX 16u

struct nt_cost_options {
	const char *plugin;
	uint32_t comms, processes, idle_s;
	bool populate;
};

/* By what is mapped. */
enum nt_cost_class {
	NT_COST_PLUGIN = 0,
	NT_COST_SHM,
	NT_COST_HEAP, /* malloc: the program break and anonymous maps, stacks included */
	NT_COST_OTHER,
	NT_COST_CLASSES,
};

struct nt_cost_memory {
	int64_t rss_kib[NT_COST_CLASSES], pss_kib[NT_COST_CLASSES], private_kib[NT_COST_CLASSES];
};

struct nt_cost_thread {
	uint64_t cpu_ns, wakes;
};

enum nt_cost_state { NT_COST_CREATED = 0, NT_COST_CALLED, NT_COST_DECIDED, NT_COST_STATES };

/* What one rank found out. */
struct nt_cost_rank {
	uint32_t init_ns[NT_COST_COMMS_MAX], init_faults[NT_COST_COMMS_MAX],
		finalize_ns[NT_COST_COMMS_MAX];
	struct nt_cost_memory before, loaded, after;
	uint32_t threads_before, threads;
	struct nt_cost_thread idle[NT_COST_STATES];
	uint32_t measured; /* bit of each state */
	bool speaks, done, more;
};

int nt_cost_parse(struct nt_cost_options *options, int argc, char **argv);

void nt_cost_memory_now(struct nt_cost_memory *out);
uint32_t nt_cost_threads(void);
struct nt_cost_thread nt_cost_thread_now(void); /* of the plugin's thread */
void nt_cost_populate_shm(void); /* all pages of this process's first map of the shared memory */

void nt_cost_print(const struct nt_cost_options *options, struct nt_cost_rank *rank);

#endif
