/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What single ranks and nodes lack. */
#include "record/findings-rank.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/plural.h"

#define POOL_MB 34

/* ---- cpus */

struct cpus {
	size_t ranks, tasks; /* of the node */
	size_t poor; /* ranks with less than two processors of their own */
	double own; /* the fewest that one has */
	int64_t shared; /* how many that rank has, with others or alone */
	bool alone;
	bool limited; /* by a quota, not by processors */
	bool gpus; /* some rank sees one */
	int64_t job, online; /* of the job there, of the node */
};

/* Ranks without a list share with nobody. */
static size_t sharing(const struct nt_facts_seen *seen, size_t count, const struct nt_facts *facts)
{
	size_t same = 0;

	for (size_t i = 0; i < count; i++)
		same += facts->cpus[0] && strcmp(seen[i].facts.cpus, facts->cpus) == 0;
	return same > 0 ? same : 1;
}

/* Ranks of one cgroup share its quota. */
static double quota_of(const struct nt_facts_seen *seen, size_t count, const struct nt_facts *facts,
		       size_t *same)
{
	*same = 0;
	for (size_t i = 0; i < count; i++)
		*same += facts->quota_cgroup > 0 &&
			 seen[i].facts.quota_cgroup == facts->quota_cgroup;
	*same = *same > 0 ? *same : 1;
	return facts->quota / (double)*same;
}

static void look_at_rank(struct cpus *cpus, const struct nt_facts_seen *seen, size_t count,
			 const struct nt_facts *facts)
{
	size_t same = sharing(seen, count, facts), sharers;
	double own = (double)facts->cpu_count / (double)same;
	const double quota = quota_of(seen, count, facts, &sharers);
	const bool limited = quota < own;

	if (limited) {
		own = quota;
		same = sharers;
	}
	/* The whole node: Slurm may think that it has more. */
	if (facts->cpu_count <= 0 || facts->online <= 0 || own >= 2 ||
	    (facts->cpu_count >= facts->online && !limited))
		return;
	cpus->poor++;
	if (cpus->poor > 1 && own >= cpus->own)
		return;
	cpus->own = own;
	cpus->alone = same == 1;
	cpus->limited = limited;
	cpus->shared = limited ? (int64_t)ceil(facts->quota) : facts->cpu_count;
}

/* A job on GPUs has asked for fewer processors than it has ranks, and the node has enough. */
static bool is_crowded(const struct cpus *cpus)
{
	return cpus->gpus && !cpus->limited && cpus->own < 1 && cpus->job > 0 &&
	       cpus->job < 2 * (int64_t)cpus->ranks && cpus->online >= 2 * (int64_t)cpus->ranks;
}

/* Others of the node's processors must be the job's, and enough for all. */
static bool look_at_cpus(struct cpus *cpus, const struct nt_facts_seen *seen, size_t count)
{
	*cpus = (struct cpus){ .ranks = count, .job = -1 };
	for (size_t i = 0; i < count; i++) {
		const struct nt_facts *facts = &seen[i].facts;
		bool known = false;

		for (size_t k = 0; k < i; k++)
			known = known || seen[k].task == seen[i].task;
		cpus->tasks += !known;
		if (facts->job_cpus > 0 && (cpus->job < 0 || facts->job_cpus < cpus->job))
			cpus->job = facts->job_cpus;
		if (facts->online > 0 && facts->online < cpus->job)
			cpus->job = facts->online;
		cpus->online = facts->online;
		cpus->gpus = cpus->gpus || facts->gpu_count > 0;
		look_at_rank(cpus, seen, count, facts);
	}
	return cpus->poor > 0 && (cpus->job >= 2 * (int64_t)count || is_crowded(cpus));
}

static void add_cpus(struct nt_findings *findings, const struct cpus *cpus, const char *node,
		     size_t nodes)
{
	const int64_t tasks = (int64_t)(cpus->tasks > 0 ? cpus->tasks : 1);
	const bool crowded = is_crowded(cpus);
	char on[NT_FINDINGS_ON], who[32], has[48], give[64];
	struct nt_finding finding;

	if (crowded)
		snprintf(give, sizeof(give), "sbatch and srun --cpus-per-task=%" PRId64,
			 2 * (int64_t)cpus->ranks / tasks);
	else if (cpus->limited)
		snprintf(give, sizeof(give), "raise cpu.max, as by docker --cpus");
	else
		snprintf(give, sizeof(give), "srun --cpus-per-task=%" PRId64, cpus->job / tasks);
	snprintf(has, sizeof(has), "%s %" PRId64 " processor%s%s",
		 !cpus->alone	  ? "share"
		 : cpus->poor > 1 ? "have"
				  : "has",
		 cpus->shared, nt_plural(cpus->shared),
		 cpus->alone && cpus->poor > 1 ? " each" : "");
	nt_finding_set(&finding, NT_FINDING_CPUS,
		       "%s:%s:%s, of the %" PRId64 " that the %s has%s:NCCL and the program wait "
		       "for each other:%s",
		       nt_findings_on(node, nodes, on), nt_findings_ranks(cpus->poor, who), has,
		       crowded ? cpus->online : cpus->job, crowded ? "node" : "job",
		       crowded ? "" : " there", give);
	nt_findings_add(findings, &finding);
}

void nt_findings_judge_cpus(struct nt_findings *findings, const struct nt_facts_seen *seen,
			    size_t count)
{
	struct cpus first = { .ranks = 0 }, cpus;
	const char *node = NULL;
	size_t nodes = 0;

	for (size_t i = 0, end; i < count; i = end) {
		end = nt_findings_node_end(seen, count, i);
		if (!look_at_cpus(&cpus, seen + i, end - i))
			continue;
		if (nodes++ == 0) {
			first = cpus;
			node = seen[i].node;
		}
	}
	if (nodes > 0)
		add_cpus(findings, &first, node, nodes);
}

static void judge_distance(struct nt_findings *findings, const struct nt_facts_seen *seen,
			   size_t count)
{
	const struct nt_facts_seen *first = NULL;
	size_t ranks = 0, nodes = 0;
	char on[NT_FINDINGS_ON], who[32];
	struct nt_finding finding;

	for (size_t i = 0, end; i < count; i = end) {
		const size_t before = ranks;

		end = nt_findings_node_end(seen, count, i);
		for (size_t k = i; k < end; k++) {
			ranks += seen[k].facts.gpu_far;
			if (!first && seen[k].facts.gpu_far)
				first = &seen[k];
		}
		nodes += ranks > before;
	}
	if (!first)
		return;
	nt_finding_set(
		&finding, NT_FINDING_CPUS,
		"%s:%s:%s only processors of another socket than %s GPU's:data passes from "
		"socket to socket:srun --cpu-bind=none, or sbatch --gres-flags=enforce-binding",
		nt_findings_on(first->node, nodes, on), nt_findings_ranks(ranks, who),
		ranks == 1 ? "has" : "have", ranks == 1 ? "its" : "their");
	nt_findings_add(findings, &finding);
}

/* ---- shm */

/* NCCL's file for each rank, and what is left to the program (tuner/proxy-pool.h): is it more than
 * the file system, or nearly used up? There may be another reason why there was no room. */
static bool is_small(const struct nt_facts *facts, size_t ranks)
{
	const int64_t rest = facts->shm_mb / 4 < 256 ? facts->shm_mb / 4 : 256;

	return facts->shm_mb > 0 && (POOL_MB * (int64_t)ranks + rest > facts->shm_mb ||
				     (facts->shm_free_mb >= 0 && facts->shm_free_mb < POOL_MB));
}

static void judge_shm(struct nt_findings *findings, const struct nt_facts_seen *seen, size_t count,
		      bool small)
{
	struct nt_finding finding;

	for (size_t i = 0, end; i < count && small; i = end) {
		end = nt_findings_node_end(seen, count, i);
		if (!is_small(&seen[i].facts, end - i))
			continue;
		nt_finding_set(&finding, NT_FINDING_SHM, "%s:%" PRId64 ":%zu", seen[i].node,
			       seen[i].facts.shm_mb, end - i);
		nt_findings_add(findings, &finding);
		return;
	}
}

/* ---- gpus */

/* One bit for each GPU that the process may open, "0-1,5" */
static uint64_t gpus_of(const struct nt_facts_seen *seen)
{
	const char *at = seen->facts.gpus;
	uint64_t gpus = 0;

	while (*at) {
		char *end;
		long first = strtol(at, &end, 10), last = first;

		if (end == at)
			return 0;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (; first >= 0 && first <= last && first < 64; first++)
			gpus |= UINT64_C(1) << first;
		at = end + (*end == ',');
	}
	return gpus;
}

/* A cgroup hides the GPUs of some of the node's ranks from others, which have as many.
 * CUDA_VISIBLE_DEVICES alone hides nothing from NCCL. Returns how many there are; 0: not so. */
static size_t hidden_gpus(const struct nt_facts_seen *seen, size_t count)
{
	uint64_t set[64], all = 0; /* none has a GPU of another one */
	size_t sets = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t gpus = gpus_of(&seen[i]);
		size_t k = 0;

		if (gpus == 0 || seen[i].facts.geforce ||
		    seen[i].facts.gpu_count != seen[0].facts.gpu_count)
			return 0;
		while (k < sets && set[k] != gpus)
			k++;
		if (k == sets && gpus & all)
			return 0;
		if (k == sets)
			set[sets++] = gpus;
		all |= gpus;
	}
	return sets > 1 ? (size_t)__builtin_popcountll(all) : 0;
}

static void judge_gpus(struct nt_findings *findings, const struct nt_facts_seen *seen, size_t count)
{
	const struct nt_facts_seen *first = NULL;
	struct nt_finding finding;
	size_t nodes = 0, gpus = 0;
	char on[NT_FINDINGS_ON];

	for (size_t i = 0, end; i < count; i = end) {
		size_t hidden;

		end = nt_findings_node_end(seen, count, i);
		hidden = hidden_gpus(seen + i, end - i);
		if (hidden > 0 && nodes++ == 0) {
			first = &seen[i];
			gpus = hidden;
		}
	}
	if (!first)
		return;
	nt_finding_set(&finding, NT_FINDING_GPUS, "%s:%" PRId64 ":%" PRId64 ":%zu",
		       nt_findings_on(first->node, nodes, on), first->local, first->facts.gpu_count,
		       gpus);
	nt_findings_add(findings, &finding);
}

/* ---- limits */

/* What a rank lacks; NULL: nothing. NCCL pins buffers for RDMA; needs a connection of each kind to
 * some peers; and its threads get as much memory as the limit of the stack says, or 2 MB. */
static const char *lacks(const struct nt_facts_seen *seen, int64_t nodes, char what[64])
{
	const struct nt_facts *facts = &seen->facts;

	if (nodes > 1 && nt_findings_by_rdma(seen) && facts->memlock_kib >= 0 &&
	    facts->memlock_kib < 64 * 1024) {
		snprintf(what, 64, "lock only %" PRId64 " KiB of memory", facts->memlock_kib);
		return "RDMA needs buffers that are locked, usually without a limit";
	}
	if (facts->nofile > 0 && facts->nofile < 1024 && facts->nofile < 16 * seen->ranks + 64) {
		snprintf(what, 64, "have only %" PRId64 " files open", facts->nofile);
		return "NCCL has many connections";
	}
	if (facts->threads > 0 && facts->threads < 256) {
		snprintf(what, 64, "have only %" PRId64 " threads", facts->threads);
		return "NCCL and the program start some dozens for each rank";
	}
	if (facts->stack_kib == NT_COUNT_MAX) {
		snprintf(what, 64, "have stacks without a limit");
		return "then threads get 2 MB, which can be too little for NCCL's";
	}
	return NULL;
}

static void judge_limits(struct nt_findings *findings, const struct nt_facts_seen *seen,
			 size_t count, int64_t nodes)
{
	const struct nt_facts_seen *first = NULL;
	const char *need = NULL;
	struct nt_finding finding;
	char what[64], other[64], on[NT_FINDINGS_ON], who[32];
	size_t ranks = 0, lacking = 0;

	for (size_t i = 0; i < count; i++) {
		const char *lack = lacks(&seen[i], nodes, first ? other : what);

		if (!lack || (first && strcmp(what, other) != 0))
			continue;
		if (!first)
			need = lack;
		lacking += !first || strcmp(seen[i].node, seen[i - 1].node) != 0;
		first = first ? first : &seen[i];
		ranks++;
	}
	if (!first)
		return;
	nt_finding_set(&finding, NT_FINDING_LIMITS, "%s:%s:%s:%s",
		       nt_findings_on(first->node, lacking, on), nt_findings_ranks(ranks, who),
		       what, need);
	nt_findings_add(findings, &finding);
}

void nt_findings_judge_ranks(struct nt_findings *findings, const struct nt_facts_seen *seen,
			     size_t count, int64_t nodes, bool small_shm)
{
	judge_distance(findings, seen, count);
	judge_shm(findings, seen, count, small_shm);
	judge_gpus(findings, seen, count);
	judge_limits(findings, seen, count, nodes);
}
