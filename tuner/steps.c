/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/steps.h"

#include "lib/clock.h"
#include "tuner/comm.h"

#define AGAIN 1.25 /* a stretch is looked at when it has grown that much, a life has its next one */
#define PAUSE_US 1000000u /* between two stretches, at least: late threads have written */

void nt_steps_begin(struct nt_steps *steps, struct nt_process *process, const char *clock_path)
{
	steps->begun_us = (uint64_t)nt_clock_us();
	steps->open = nt_stretch_clock_is_cheap(clock_path) && nt_stretch_begin(&process->stretch);
}

static bool is_time(const struct nt_steps *steps, uint64_t now_us)
{
	return steps->ended_us != 0 && now_us - steps->ended_us >= PAUSE_US &&
	       (double)(now_us - steps->begun_us) >=
		       AGAIN * (double)(steps->ended_us - steps->begun_us);
}

static void end_stretch(struct nt_steps *steps, struct nt_process *process, uint64_t now_us)
{
	nt_marker_end(&steps->marker);
	nt_stretch_end(&process->stretch);
	steps->open = false;
	steps->ended_us = now_us;
	steps->looked = 0;
}

/* In a process with several ranks: the oldest of the largest communicators. Else 0 */
static uint32_t one_of_several(struct nt_process *process)
{
	const struct nt_comm *largest = NULL;
	bool several = false;

	pthread_mutex_lock(&process->lock);
	for (uint32_t i = 0; i < process->comms; i++) {
		const struct nt_comm_fixed *fixed = &process->comm[i]->fixed;

		for (uint32_t k = 0; k < i && !several; k++)
			several = fixed->id != 0 && process->comm[k]->fixed.id == fixed->id;
		if (!largest || fixed->ranks > largest->fixed.ranks)
			largest = process->comm[i];
	}
	pthread_mutex_unlock(&process->lock);
	return several ? largest->fixed.opened : 0;
}

static void look(struct nt_steps *steps, struct nt_process *process, uint64_t now_us, bool last)
{
	unsigned count;
	const struct nt_period_call *calls = nt_stretch_read(&process->stretch, &count);
	const bool full = count == NT_PERIOD_CALLS;

	if (count > steps->looked && (full || last || count >= AGAIN * steps->looked)) {
		nt_marker_note(&steps->marker, calls, count, one_of_several(process));
		steps->looked = count;
	}
	if (full)
		end_stretch(steps, process, now_us);
}

/* Number of the key's calls; its last one if its communicator is no more. */
static uint64_t calls_of(struct nt_process *process, const struct nt_marker *marker)
{
	const struct nt_marker_key *key = &marker->followed.key;
	uint64_t calls = marker->calls;

	if (key->key == 0)
		return 0;
	pthread_mutex_lock(&process->lock);
	for (uint32_t i = 0; i < process->comms; i++) {
		const struct nt_comm *comm = process->comm[i];

		for (unsigned k = 0; comm->fixed.opened == key->comm && k < nt_comm_keys(comm);
		     k++) {
			if (nt_comm_key_id(comm, k) == key->key)
				calls = nt_key_calls(&comm->key[k]);
		}
	}
	pthread_mutex_unlock(&process->lock);
	return calls;
}

void nt_steps_read(struct nt_steps *steps, struct nt_process *process, bool last)
{
	const uint64_t now_us = (uint64_t)nt_clock_us();

	if (steps->open)
		look(steps, process, now_us, last);
	else if (is_time(steps, now_us))
		steps->open = nt_stretch_begin(&process->stretch);
	nt_marker_read(&steps->marker, (uint64_t)nt_clock_us(), calls_of(process, &steps->marker));
}
