/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shm.c - the agreement, the engine and a rank's decisions on shared memory that another rank
 *           writes anything to
 *
 * Input: a byte that says which world, then what happens in it, one thing after the other.
 */
#include <string.h>
#include "tests/fuzz/world.h"

#define EVENTS 80

/* A plan is put in force, right but for a field perhaps, as only the node leader may. */
static void write_plan(struct world *w, struct fuzz *in)
{
	const unsigned comm = fuzz_below(in, WORLD_COMMS);
	struct nt_plan plan = world_plan(w, comm, in);
	struct nt_shm_key *key = world_key(w, comm, in);

	switch (fuzz_below(in, 12)) {
	case 0: plan.at = fuzz_odd_number(in); break;
	case 1: plan.until = fuzz_odd_number(in); break;
	case 2: plan.epoch = (uint32_t)fuzz_odd_number(in); break;
	case 3: plan.stride = (uint32_t)fuzz_odd_number(in); break;
	case 4: plan.cell = (uint32_t)fuzz_odd_number(in); break;
	case 5: plan.run = (uint32_t)fuzz_odd_number(in); break;
	case 6: plan.payload_bytes = (uint32_t)fuzz_odd_number(in); break;
	case 7: plan.run = fuzz_below(in, NT_SHM_RUNS); break;
	case 8: fuzz_bytes(in, plan.payload, sizeof(plan.payload)); break;
	default: break;
	}
	atomic_store(&key->state, NT_KEY_OPEN);
	key->plan[plan.epoch & 1] = plan;
	atomic_store(&key->epoch, plan.epoch);
}

static void write_key(struct world *w, struct fuzz *in)
{
	struct nt_shm_key *key = world_key(w, fuzz_below(in, WORLD_COMMS), in);
	const uint32_t member = fuzz_below(in, 4), pair = fuzz_below(in, NT_PAIRS);
	const uint32_t what = fuzz_below(in, 16);
	const uint64_t value = fuzz_odd_number(in);

	switch (what) {
	case 0: atomic_store(&key->id, value); break;
	case 1: atomic_store(&key->state, (uint32_t)value); break;
	case 2: atomic_store(&key->state, (uint32_t)value % 6); break;
	case 3: atomic_store(&key->epoch, (uint32_t)value); break;
	case 4: atomic_store(&key->hold_at, value); break;
	case 5: atomic_store(&key->turn[member], value); break;
	case 6: atomic_store(&key->passed[member], (uint32_t)value); break;
	case 7: atomic_store(&key->calls[member], value); break;
	case 8: key->baseline_arm = (uint32_t)value; break;
	case 9: memcpy(&key->cost_us[pair], &value, sizeof(float)); break;
	case 10: atomic_store(&key->channels[pair], (uint8_t)value); break;
	case 11: atomic_store(&key->tasks, value); break;
	case 12: atomic_store(&key->gap, (uint32_t)value); break;
	case 13: key->result_bytes = (uint32_t)value; break;
	case 14: fuzz_bytes(in, key->result, sizeof(key->result)); break;
	default: atomic_store(&key->described, (uint32_t)value);
	}
}

static void write_comm(struct world *w, struct fuzz *in)
{
	struct nt_shm *shm = w->process.map.shm;
	struct nt_shm_comm *comm = &shm->comm[fuzz_below(in, 4)];
	struct nt_shm_slot *member = &comm->slot[fuzz_below(in, 4)];
	const uint32_t what = fuzz_below(in, 16);
	const uint64_t value = fuzz_odd_number(in);

	switch (what) {
	case 0: atomic_store(&comm->id, value); break;
	case 1: atomic_store(&comm->ranks, (uint32_t)value); break;
	case 2: atomic_store(&comm->nodes, (uint32_t)value); break;
	case 3: atomic_store(&comm->state, (uint32_t)value); break;
	case 4: fuzz_bytes(in, comm->why, sizeof(comm->why)); break;
	case 5: atomic_store(&comm->more_keys, (uint32_t)value); break;
	case 6: atomic_store(&member->state, (uint32_t)value); break;
	case 7: atomic_store(&member->flags, (uint32_t)value); break;
	case 8: atomic_store(&member->pid, (uint32_t)value); break;
	case 9: member->caps.rank = (int32_t)value; break;
	case 10: member->caps.task = (uint32_t)value; break;
	case 11: member->caps.idle = (uint32_t)value; break;
	case 12: member->caps.api = (uint32_t)value; break;
	case 13: atomic_store(&shm->gate, (uint32_t)value); break;
	case 14: fuzz_bytes(in, &member->caps, sizeof(member->caps)); break;
	default: atomic_store(&member->state, (uint32_t)value % 4);
	}
}

static void write_run(struct world *w, struct fuzz *in)
{
	struct nt_shm_run *run = &w->process.map.shm->run[fuzz_below(in, 3)];
	const uint32_t member = fuzz_below(in, 4), position = fuzz_below(in, 16);
	const uint32_t what = fuzz_below(in, 6);
	const uint32_t value = (uint32_t)fuzz_odd_number(in);

	switch (what) {
	case 0: atomic_store(&run->owner, value); break;
	case 1: atomic_store(&run->issued[member], value); break;
	case 2: atomic_store(&run->done[member], value); break;
	case 3: atomic_store(&run->sample[member][position], value); break;
	case 4: atomic_store(&run->period[member][position], value); break;
	default: atomic_store(&run->duration[member][position], value);
	}
}

/* Any bytes anywhere in a communicator's head and first keys. */
static void write_bytes(struct world *w, struct fuzz *in)
{
	struct nt_shm_comm *comm = &w->process.map.shm->comm[fuzz_below(in, 2)];
	const size_t room = offsetof(struct nt_shm_comm, key) + 4 * sizeof(comm->key[0]) - 16;

	fuzz_bytes(in, (char *)comm + fuzz_below(in, (uint32_t)room), fuzz_below(in, 16));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };
	static struct world w;

	world_open(&w, &in);
	for (unsigned n = 0; n < EVENTS && in.left > 0; n++) {
		switch (fuzz_below(&in, 8)) {
		case 0:
		case 1: world_collective(&w, &in); break;
		case 2: world_step(&w, &in); break;
		case 3: write_plan(&w, &in); break;
		case 4: write_key(&w, &in); break;
		case 5: write_comm(&w, &in); break;
		case 6: write_run(&w, &in); break;
		default: write_bytes(&w, &in);
		}
	}
	world_record(&w);
	world_close(&w);
	return 0;
}
