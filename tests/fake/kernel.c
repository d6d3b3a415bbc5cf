/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake/kernel.h"

#include "tests/fake/p2p.h"
#include "tests/fake/rng.h"
#include "tests/fake/sum.h"

#define RUN_GAP_NS 1000 /* between kernels of a group */

/* Runs on the GPU thread of the last rank to arrive, while all others wait. */
static void resolve(void *arg, uint64_t op, const struct nt_wire_task *task, unsigned tasks,
		    struct nt_wire_result *result, uint32_t *cursor)
{
	const struct nt_comm *c = arg;
	const struct nt_job *j = c->owner->job;

	for (unsigned i = 0; i < tasks; i++) {
		unsigned run = task[i].run;
		struct nt_run r = {
			.coll = task[i].coll,
			.op = op,
			.round = task[i].round,
			.auto_arm = task[i].auto_arm,
			.arm = task[i].algo * NT_PROTOS + task[i].proto,
			.cap = task[i].cap,
			.key = nt_rng_mix(nt_rng_mix(j->options->seed, op), c->id ^ run),
		};

		if (result->run_ns[run])
			continue;
		if (task[i].coll >= NT_COLLS) {
			result->run_ns[run] = nt_p2p_duration_ns(task[i].coll, task[i].bytes);
			continue;
		}
		for (unsigned k = i; k < tasks; k++)
			r.bytes += task[k].run == run ? task[k].bytes : 0;
		result->run_ns[run] = nt_model_duration_ns(&j->model, &c->place, &r, cursor);
	}
}

void nt_kernel_tell_p2p(struct nt_proxy *proxy, const struct nt_plan *p, uint64_t start_ns,
			uint64_t latest_ns, double run_ns)
{
	unsigned receives = 0, sends = 0;

	for (unsigned i = 0; i < p->p2ps; i++)
		receives += p->p2p[i].receives;
	for (unsigned i = 0; i < p->p2ps; i++) {
		const struct nt_p2p_task *t = &p->p2p[i];

		/* The pair's receive tells. */
		if (!t->receives && sends++ < receives)
			continue;
		if (t->mask & (int)NT_PROF_KERNEL_CH)
			nt_proxy_tell_event(proxy, p->comm, t->event, 2, start_ns,
					    latest_ns + (uint64_t)(run_ns * (i + 1) / p->p2ps));
	}
}

/* Reports the times to summary and proxy; returns the end. */
static uint64_t account(const struct nt_kernel *k, const struct nt_wire_result *r)
{
	struct nt_plan *p = k->plan;
	struct nt_rank *owner = p->comm->owner;
	uint64_t from_ns = k->start_ns;
	uint64_t end_ns = r->latest_ns;

	for (unsigned run = 0; run < NT_MAX_TASKS && r->run_ns[run]; run++) {
		uint64_t run_ns = r->run_ns[run];

		if (k->factor > 0)
			run_ns = (uint64_t)((double)run_ns * k->factor);
		end_ns += run_ns;
		for (unsigned i = 0; i < p->tasks; i++) {
			const struct nt_task *t = &p->task[i];

			if (t->run != run)
				continue;
			if (!t->gathered && owner->sum)
				nt_sum_ran(owner->sum, p->comm->kind, t, (double)run_ns * 1e-3);
			if ((!t->symmetric || owner->job->release->code >= NT_RELEASE_TUNING) &&
			    (t->mask & (int)NT_PROF_KERNEL_CH))
				nt_proxy_tell(k->proxy, p->comm, t, from_ns, end_ns);
		}
		from_ns = end_ns + RUN_GAP_NS;
		end_ns = from_ns;
	}
	return end_ns;
}

static uint64_t slowness_ns(const struct nt_rank *rank, uint64_t op)
{
	const struct nt_options *o = rank->job->options;
	uint64_t moves = o->slow_calls ? op / o->slow_calls : 0;

	if (o->slow_rank.rank < 0 ||
	    ((uint64_t)o->slow_rank.rank + moves) % rank->job->ranks != rank->rank)
		return 0;
	return o->slow_rank.call * 1000;
}

uint64_t nt_kernel_lateness_ns(const struct nt_comm *c, uint64_t op)
{
	const struct nt_options *o = c->owner->job->options;
	uint64_t key = nt_rng_mix(nt_rng_mix(o->seed, op), c->id + c->owner->rank + 7);

	return (uint64_t)(1e3 * nt_rng_exponential(key, o->lateness_us)) +
	       slowness_ns(c->owner, op);
}

enum nt_wire_end nt_kernel_run(struct nt_kernel *k)
{
	struct nt_comm *c = k->plan->comm;
	const struct nt_wire_call call = {
		.op = k->op, .start_ns = k->start_ns, .resolve = resolve, .arg = c, .quit = k->quit
	};
	struct nt_wire_result result;
	enum nt_wire_end end = nt_wire_meet(c->wire, c->rank, &call, &result);

	nt_fake_expect(c, end, "a collective");
	if (end == NT_WIRE_QUIT || atomic_load(k->quit))
		return NT_WIRE_QUIT;
	k->latest_ns = result.latest_ns;
	k->end_ns = account(k, &result);
	nt_kernel_tell_p2p(k->proxy, k->plan, k->start_ns, result.latest_ns,
			   (double)result.run_ns[0] * (k->factor > 0 ? k->factor : 1));
	return NT_WIRE_OK;
}
