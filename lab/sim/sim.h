/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sim.h - what the parts of nt-agree-sim share: simulated nodes, communicators, ranks, and what
 * is counted
 *
 * agree-sim.c options and the run; world.c what a run is made of; tuner.c what coordinators ask;
 * network.c logs and node leaders; rank.c ranks and what is checked at each collective; trace.c
 * what the checker of the model is given; tally.c sums and the line that is printed.
 *
 * Threads:  one; --jobs forks.
 * Memory:   sim_make starts a run and takes from an arena that the next run reuses; out of
 *           memory ends the program.
 */
#ifndef NT_TESTS_SIM_H
#define NT_TESTS_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pmix-sync/agree.h"
#include "pmix-sync/shm.h"
#include "pmix-sync/read-pace.h"
#include "pmix-sync/turn.h"

#define SIM_KEYS 4 /* different keys of one communicator */
#define SIM_FUNCS 2 /* collective functions, which count turns apart */
#define SIM_WORTH_CALLS 6 /* of a key, before its coordinator opens it */
#define SIM_PLANS 64 /* committed plans of a key that are remembered */
#define SIM_CALLS_MAX 4096
#define SIM_COMMS_MAX 24
/* agree_timeout, as it is by default; the longest fault heals within 12 s */
#define SIM_AGREE_MS 120000
#define SIM_NEVER UINT32_MAX
/* as tuner/comm.h: a rank that takes no plan any more */
#define SIM_TURN_GONE (UINT64_C(1) << 62)

#define SIM_FAULTS(X) \
	X(late)       \
	X(lost) X(repeat) X(leave) X(die) X(stall) X(kill) X(race) X(probe) X(graph) X(again)

enum sim_fault {
#define X(name) SIM_FAULT_##name,
	SIM_FAULTS(X)
#undef X
		SIM_FAULT_COUNT,
};

struct sim_options {
	uint32_t nodes, ranks_per_node, calls, comms, jobs, budget, skew_ms, seconds;
	uint64_t runs, seed;
	uint32_t faults; /* a bit each */
	bool mix, brief, plain, until_bad, untraced;
};

/* Sums over all runs. Everything but the names of the printed line is said by tally.c. */
/* clang-format off */
#define SIM_SUMS(X)                                                                                             \
	X(runs) X(cpu_ms) X(node_runs) X(mismatches) X(stuck) X(excused) X(unlogged) X(idle) X(holds_left) X(runs_left)   \
	X(wrong_sums) X(unmodelled) X(limited) X(transitions)                                                                                \
	X(commits) X(aborts) X(refusals) X(rejects) X(damaged) X(agreed_comms) X(comms) X(collectives)          \
	X(planned) X(counted) X(waits) X(polls) X(spent) X(spent_bytes) X(log_bytes) X(read_bytes) X(fetch_bytes)          \
	X(interleaved)                                                                                             \
	X(late_reads) X(pieces) X(lost_reads) X(lost_appends) X(hidden_appends) X(repeats) X(gaps) X(leaves)    \
	X(deaths) X(deaths_between) X(mute_nodes) X(heirs) X(stalls) X(long_stalls) X(killed_ranks) X(left_ranks)        \
	X(bare_ranks) X(rechecks) X(recheck_windows) X(recheck_commits) X(raced) X(probes) X(captures) X(flags) X(second_lives) X(refused_seats) X(shared)
/* clang-format on */

#define SIM_TRANSITIONS 32
#define SIM_BINS 640

struct sim_tally {
#define X(name) uint64_t name;
	SIM_SUMS(X)
#undef X
	uint64_t transition[SIM_TRANSITIONS]; /* enum trace_transition */
	/* how long from PROPOSE in the log to the outcome on a node */
	uint64_t commit_ms[SIM_BINS];
	uint64_t wait_ms[SIM_BINS]; /* how long ranks waited */
};

struct sim_call {
	uint8_t key;
	uint32_t group; /* calls of a group are decided before any of them is reported */
	uint32_t turn[SIM_FUNCS]; /* tasks of each function in the groups before */
	uint32_t seq; /* of its own task */
	/* 1 + the last group before with a task of the function; 0 none */
	uint32_t last[SIM_FUNCS];
};

struct sim_committed {
	uint64_t at, until;
	uint32_t epoch;
};

struct sim_comm {
	uint64_t id;
	uint32_t ranks, nodes_used, calls, open_ms, life;
	uint64_t like; /* the same number: called beside each other, and explored alike; 0 */
	struct sim_member *slot; /* by rank */
	bool spanning, opened, ended;
	uint32_t coordinator; /* node of rank 0 */
	uint32_t *proc; /* by rank */
	struct sim_call *call;
	uint32_t *choice; /* by call: what the first rank followed, 0 none yet */
	uint32_t least; /* call of the slowest rank, as last seen */
	uint32_t limit; /* no rank comes further: one of them is gone */
	uint32_t capture_at; /* call at which all ranks see a graph capture */
	uint32_t gone; /* ranks that have left or died */
	uint64_t end_ms, pause_ms; /* pause: from the end of the life before */
	uint64_t proposed_ms[SIM_KEYS];
	uint32_t proposed_epoch[SIM_KEYS];
	struct sim_committed proposal[SIM_KEYS], committed[SIM_KEYS][SIM_PLANS];
	uint32_t commits[SIM_KEYS];
	bool for_good[SIM_KEYS]; /* a plan for good was committed */
	int again; /* index of the communicator whose id this one has once more; -1 */
	bool ends_silently; /* node leaders die before its ranks leave */
};

enum sim_own { SIM_OWN_IDLE = 0, SIM_OWN_OPEN, SIM_OWN_COMMITTED, SIM_OWN_CLOSED, SIM_OWN_GONE };

struct sim_view { /* a rank's own part of a key, as struct nt_local_key of the tuner */
	int slot; /* in shared memory, -1 not yet, -2 none */
	uint8_t duration; /* enum sim_own */
	bool open;
	/* a plan for good is in force; looked at again in this recheck of shared memory */
	bool committed, rechecked;
	/* of the newest plan for good; of what was followed last */
	uint32_t committed_choice, followed_epoch;
	uint32_t committed_epoch;
	uint64_t calls, told_turn;
	struct nt_turn turn;
};

enum sim_life { SIM_COMING = 0, SIM_HERE, SIM_ENDED };

struct sim_member { /* a process's rank in a communicator */
	struct sim_comm *comm;
	uint32_t rank, proc, node;
	struct nt_slot slot;
	uint8_t life; /* enum sim_life */
	bool joined, bare, odd, frozen, dead;
	bool waiting, wait_real; /* in a decision that is in doubt */
	bool capturing; /* ... or where a capture begins */
	uint8_t wait_key;
	uint32_t next; /* call it decides next */
	uint32_t pace; /* calls in a tick, at most */
	uint64_t join_ms, waiting_ms, flagged_ms; /* waiting, flag up since */
	uint32_t open_keys, open_group;
	struct nt_task_log *task_log; /* by function; NULL: no key was open yet */
	struct sim_view view[SIM_KEYS];
};

struct sim_append {
	uint8_t *bytes;
	size_t count, before; /* bytes of the log in front of it */
	uint64_t at_ms; /* when others can read it */
};

struct sim_tail { /* another node's log, as far as it was read */
	uint32_t node, next;
	uint64_t bytes; /* of the appends before */
	uint64_t listened_ms; /* of its reader, at the last read */
	uint64_t polled_ms, asked_ms; /* asked_ms: an answer is owed until then */
	enum nt_agree_need need;
};

struct sim_message { /* an answer under way: at most so many appends of a log from the first on */
	uint64_t due_ms, served_ms; /* served: what the log held then is in it */
	uint32_t from, first, most;
	bool copy; /* the network repeats itself */
};

struct sim_node {
	struct nt_shm *shm;
	struct nt_agree *agree;
	uint32_t procs, first_proc;
	struct sim_append *log;
	uint32_t log_count, log_cap;
	size_t log_bytes;
	struct sim_tail *tail;
	uint32_t tail_count, tail_cap;
	uint16_t *tail_of; /* by node: 1 + index in tail, 0 none */
	struct sim_message *message;
	uint32_t message_count, message_cap;
	struct sim_member **slot;
	uint32_t member_count, member_cap;
	bool dead, left, mute;
	/* another process speaks after the first has died, to nobody but its own node */
	bool heir;
	uint64_t heir_ms;
	uint32_t fetches;
	uint64_t spent; /* of its slurmstepd's memory, by pace.h */
	bool limited;
	bool append_hidden; /* the append failed for its writer, and yet others can read it */
	uint64_t frozen_until_ms, next_ms, stepped_ms, listened_ms;
};

enum sim_side { SIM_NOBODY = 0, SIM_LEADER, SIM_RANK, SIM_BOTH };

struct sim {
	struct sim_options o;
	struct sim_tally t;
	uint64_t rng, now_ms, tick_ms;
	uint32_t nodes, ranks_per_node, procs, tasks, keys;
	uint32_t active; /* faults of this run, a bit each */
	uint32_t rarity; /* of faults in this run: the higher the fewer */
	/* ahead: of the slowest rank; gap: accesses between two interleavings */
	uint32_t ahead, gap;
	uint32_t join_calls; /* of a key, before others are told of its communicator */
	uint32_t recheck_ms; /* from the first plan for good to the first recheck */
	uint32_t slow; /* ranks act in one of so many ticks */
	bool one_task_per_node, cyclic;
	bool brief; /* communicators of a few calls, whose ids come again */
	uint32_t append_loss; /* one append in so many fails, times rarity */
	struct sim_node *node;
	uint32_t *node_of, *task_of; /* by process */
	struct sim_comm comm[SIM_COMMS_MAX];
	uint32_t comm_count;
	enum sim_side inside;
	struct sim_node *inside_node;
};

extern struct sim *sim_now; /* the one run, for what is called from atomics */

/* world.c */
/* a random number below bound, 0 where bound is 0 */
uint32_t sim_below(struct sim *s, uint32_t bound);
uint64_t sim_draw(struct sim *s);
void *sim_must(void *memory);
void *sim_take(size_t count, size_t size); /* zeroed; until the next run */
void *sim_grow(void *array, uint32_t *cap, size_t size);
bool sim_chance(struct sim *s, enum sim_fault fault, uint32_t one_in);
void sim_make(struct sim *s);
void sim_end(struct sim *s);
void sim_make_heir(struct sim *s, uint32_t node);

/* comms.c */
void comms_make(struct sim *s);
uint64_t sim_key_id(unsigned key);
struct sim_comm *comms_find(struct sim *s, uint64_t id);

/* tuner.c */
struct nt_agree_hooks tuner_hooks(struct sim *s);

/* network.c */
void network_step(struct sim *s, uint32_t node); /* one step of the node's node leader */
/* As pace.h counts them; a run may allow fewer than usual. */
static inline uint32_t sim_reads(const struct sim *s, const struct sim_node *node)
{
	return node->fetches + (NT_PACE_READS - s->o.budget);
}

bool network_speaks(const struct sim *s, uint32_t node);

/* rank.c */
void rank_act(struct sim *s, struct sim_member *m); /* one thing that a rank may do next */
void rank_retire(struct sim *s, struct sim_member *m); /* in good order, after the last call */

/* trace.c */
void trace_begin(struct sim *s);
void trace_end(struct sim *s, uint64_t seed); /* counts what the model does not allow */

/* tally.c */
void tally_add(struct sim_tally *sum, const struct sim_tally *more);
void tally_note(uint64_t *bins, uint64_t value);
void tally_print(const struct sim *s, const struct sim_tally *t, uint64_t bad_seed);
bool tally_bad(const struct sim_tally *t);
const char *const *sim_fault_names(void);

#endif
