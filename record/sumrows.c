/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A sum into a summary: a step with its communicators, families and rows. */
#include "record/sum.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "contract/coll.h"
#include "lib/compare.h"
#include "lib/quantile.h"
#include "record/row-time.h"
#include "record/findings.h"

struct draft {
	struct nt_key row;
	const struct nt_comm_seen *comm; /* whose decision it shows */
	int64_t calls; /* its calls */
	int64_t comms, same;
};

struct maker {
	struct nt_summary *summary;
	const struct nt_sum *sum;
	struct nt_step *step;
	size_t step_at, first_family, first_node, first_comm, first_row, first_remark;
	struct draft *drafts;
	size_t draft_count;
};

/* ---- the step */

static void note_marker(struct nt_step *step, const struct nt_rank_marker *marker)
{
	double us[NT_RANK_PERIODS_MAX];

	if (marker->coll < 0 || marker->periods == 0)
		return;
	memcpy(us, marker->period_us, marker->periods * sizeof(us[0]));
	nt_sort_doubles(us, marker->periods);
	for (unsigned i = 0; i < 3; i++)
		step->step_us[i] = us[(marker->periods - 1) * (i + 1) / 4];
	step->steps = marker->calls / (marker->a_step > 1 ? marker->a_step : 1);
}

static void note_word(char *out, size_t out_bytes, const struct nt_sum_word *word)
{
	if (!out[0] && word->known && !word->mixed)
		snprintf(out, out_bytes, "%.*s", (int)out_bytes - 1, word->text);
}

/* Does not replace what is known from elsewhere. */
static void note_step(struct nt_step *step, const struct nt_sum *sum)
{
	int64_t heard = 0;

	for (size_t i = 0; i < sum->comm_count; i++) {
		if (sum->comms[i].ranks > step->ranks)
			step->ranks = sum->comms[i].ranks;
		if (sum->comms[i].nodes > step->nodes)
			step->nodes = sum->comms[i].nodes;
	}
	for (size_t i = 0; i < sum->node_count; i++)
		heard += sum->nodes[i].records > 0;
	if (heard > step->nodes)
		step->nodes = heard;
	step->heard = heard;
	if (!step->mode[0])
		snprintf(step->mode, sizeof(step->mode), "%s", sum->mode);
	if (!step->nccl[0] && sum->nccl >= 10000) /* 22809; up to 2.8 it was 2804 */
		snprintf(step->nccl, sizeof(step->nccl), NT_NCCL_TEXT, NT_NCCL_PARTS(sum->nccl));
	note_word(step->launch, sizeof(step->launch), &sum->launch);
	note_word(step->fabric, sizeof(step->fabric), &sum->fabric);
	note_word(step->driver, sizeof(step->driver), &sum->driver);
	if (isnan(step->step_us[1]))
		note_marker(step, &sum->marker);
	if (sum->open_s > 0)
		step->as_of_s = sum->open_s;
	step->whole = true;
	/* Computed from the rows. */
	step->comm_ms = step->spent_ms = step->saved_ms = step->estimated_ms = NAN;
	step->more = 0;
	memset(step->rest, 0, sizeof(step->rest));
}

/* ---- families, communicators, nodes */

/* Parallel groups are often numbered: numbers make no difference. */
static void family_name(char out[NT_COMM_NAME], const char *name)
{
	size_t used = 0;

	for (; *name && used + 1 < NT_COMM_NAME; name++) {
		if (!isdigit((unsigned char)*name))
			out[used++] = *name;
		else if (used == 0 || out[used - 1] != '#')
			out[used++] = '#';
	}
	out[used] = '\0';
	if (strcmp(out, "#") == 0)
		out[0] = '\0';
}

static size_t family_of(struct maker *maker, const struct nt_comm_seen *comm)
{
	struct nt_summary *summary = maker->summary;
	struct nt_family *family;
	char name[NT_COMM_NAME];
	size_t i;

	family_name(name, comm->name);

	for (i = maker->first_family; i < summary->family_count; i++) {
		family = &summary->families[i];
		if (family->ranks == comm->ranks && family->nodes == comm->nodes &&
		    strcmp(family->name, name) == 0)
			break;
	}
	if (i == summary->family_count) {
		family = NT_SUMMARY_ADD(summary, families, family_count);
		if (!family)
			return SIZE_MAX;
		family->step = maker->step_at;
		family->ranks = (uint32_t)comm->ranks;
		family->nodes = (uint32_t)comm->nodes;
		memcpy(family->name, name, sizeof(family->name));
	}
	summary->families[i].comms++;
	return i;
}

static int by_rank(const void *left, const void *right)
{
	const struct nt_place_seen *a = left, *b = right;

	NT_COMPARE(a->rank, b->rank);
	return 0;
}

static bool add_volume(struct nt_comm_seen *comm, int coll)
{
	struct nt_volume volume = { .coll = coll };
	struct nt_volume *added;

	for (size_t k = 0; k < comm->key_count; k++) {
		const struct nt_key *key = &comm->keys[k];
		double inside, between;

		if (key->coll != coll || key->calls <= 0)
			continue;
		volume.calls += key->calls;
		if (!nt_kind_tunable(coll)) {
			volume.bytes += key->sent_bytes > 0 ? (double)key->sent_bytes : 0;
			continue;
		}
		nt_ring_volume(coll, (double)comm->ranks, (double)comm->nodes, (double)key->bytes,
			       &inside, &between);
		volume.bytes += (double)key->calls * (double)key->bytes;
		volume.inside_bytes += (double)key->calls * inside;
		volume.between_bytes += (double)key->calls * between;
	}
	if (!nt_kind_tunable(coll))
		nt_p2p_volume(coll, (double)comm->ranks, (double)comm->nodes, volume.bytes,
			      &volume.inside_bytes, &volume.between_bytes);
	if (volume.calls == 0)
		return true;
	added = nt_array_add(&comm->volumes, &comm->volume_count, NT_KINDS, sizeof(*added));
	if (added)
		*added = volume;
	return added;
}

/* NT_REASON_NONE: it was tuned, or may yet be, or has only one rank. */
static struct nt_reason comm_why(const struct nt_comm_seen *comm, bool early)
{
	struct nt_reason why = comm->why;

	if (why.id != NT_REASON_NONE)
		return why;
	if (comm->state == NT_COMM_REJECTED)
		nt_reason_set(&why, NT_REASON_MISMATCH);
	else if (comm->state == NT_COMM_JOINING && comm->ranks > 1 && !early)
		nt_reason_set(&why, comm->nodes == 1 ? NT_REASON_JOINING_NODE : NT_REASON_JOINING);
	return why;
}

/* The program's time for each call of the communicator; 0: not known. */
static double call_us(const struct nt_step *step, const struct nt_comm_seen *comm)
{
	double calls = 0;

	for (size_t i = 0; i < comm->key_count; i++) {
		if (nt_kind_tunable(comm->keys[i].coll) && comm->keys[i].calls > 0)
			calls += (double)comm->keys[i].calls;
	}
	return calls > 0 && step->steps > 0 && step->step_us[1] > 0
		       ? step->step_us[1] * (double)step->steps / calls
		       : 0;
}

static int put_lateness(const struct nt_step *step, struct nt_comm_seen *comm)
{
	struct nt_lateness *late = malloc(sizeof(*late));
	const int rc = late ? nt_lateness_find(late, comm->samples, comm->sample_count, comm->ranks,
					       call_us(step, comm))
			    : -1;

	if (rc == 0 && late->calls > 0)
		comm->lateness = late;
	else
		free(late);
	return rc;
}

/* Indexes of nodes in the sum to those in the summary. */
static void move_nodes(struct nt_comm_seen *comm, size_t first)
{
	struct nt_lateness *late = comm->lateness;

	for (size_t i = 0; i < comm->place_count; i++)
		comm->places[i].node += first;
	for (size_t i = 0; late && i < late->row_count; i++)
		late->row[i].node += (uint32_t)first;
	if (late && late->node >= 0)
		late->node += (int64_t)first;
}

static void take_comm(struct maker *maker, struct nt_comm_seen *from)
{
	const size_t family = family_of(maker, from);
	struct nt_comm_seen *comm = NT_SUMMARY_ADD(maker->summary, comms, comm_count);
	bool fits = true;

	if (!comm)
		return;
	*comm = *from;
	memset(from, 0, sizeof(*from));
	comm->step = maker->step_at;
	comm->family = family;
	comm->why = comm_why(comm, maker->step->early != 0);
	if (comm->place_count > 0)
		qsort(comm->places, comm->place_count, sizeof(comm->places[0]), by_rank);
	for (int coll = 0; coll < NT_KINDS; coll++)
		fits = add_volume(comm, coll) && fits;
	if (!fits || nt_sum_put_begun(maker->sum, comm) < 0 || put_lateness(maker->step, comm) < 0)
		maker->summary->no_memory = true;
	move_nodes(comm, maker->first_node);
}

static void add_nodes(struct maker *maker)
{
	for (size_t i = 0; i < maker->sum->node_count; i++) {
		struct nt_node_seen *node = NT_SUMMARY_ADD(maker->summary, nodes, node_count);

		if (!node)
			return;
		*node = maker->sum->nodes[i];
		node->step = maker->step_at;
	}
}

/* ---- lateness */

static bool is_worse(const struct nt_lateness *a, const struct nt_lateness *b)
{
	if (!b || (a->kind == NT_LATE_NONE) != (b->kind == NT_LATE_NONE))
		return !b || b->kind == NT_LATE_NONE;
	return a->lost_us > b->lost_us;
}

const struct nt_comm_seen *nt_summary_latest(const struct nt_summary *summary, size_t step)
{
	const struct nt_comm_seen *worst = NULL;

	for (size_t i = 0; i < summary->comm_count; i++) {
		const struct nt_comm_seen *comm = &summary->comms[i];

		if (comm->step == step && comm->lateness &&
		    is_worse(comm->lateness, worst ? worst->lateness : NULL))
			worst = comm;
	}
	return worst;
}

static void note_late(struct nt_summary *summary, size_t step_at)
{
	const struct nt_comm_seen *comm = nt_summary_latest(summary, step_at);
	struct nt_step *step = &summary->steps[step_at];
	const struct nt_lateness *late = comm ? comm->lateness : NULL;

	step->waiting = step->late_calls = step->late_us = step->late_cost = NAN;
	step->late_rank = -1;
	step->late[0] = step->late_node[0] = '\0';
	if (!late)
		return;
	step->waiting = late->waiting;
	snprintf(step->late, sizeof(step->late), "%s", nt_late_name(late->kind));
	if (late->node < 0)
		return;
	step->late_rank = late->rank;
	snprintf(step->late_node, sizeof(step->late_node), "%s", summary->nodes[late->node].name);
	step->late_calls = (double)late->late_calls / (double)late->calls;
	step->late_us = late->late_us;
	step->late_cost = late->cost;
}

/* ---- rows */

/* NAN counts as nothing. */
static double plus(double left, double right)
{
	if (isnan(left))
		return right;
	return isnan(right) ? left : left + right;
}

static void merge(struct draft *draft, const struct nt_comm_seen *comm, const struct nt_key *key)
{
	bool firmer = !draft->comm || key->state > draft->row.state ||
		      (key->state == draft->row.state && key->calls > draft->calls);

	nt_key_merge_comm(&draft->row, key, firmer);
	draft->comms++;
	if (firmer) {
		draft->comm = comm;
		draft->calls = key->calls;
	}
}

static struct draft *draft_of(struct maker *maker, size_t family, const struct nt_key *key)
{
	struct draft *draft;

	for (size_t i = 0; i < maker->draft_count; i++) {
		draft = &maker->drafts[i];
		if (draft->row.family == family && draft->row.coll == key->coll &&
		    draft->row.bytes == key->bytes)
			return draft;
	}
	draft = &maker->drafts[maker->draft_count++];
	memset(draft, 0, sizeof(*draft));
	nt_key_clear(&draft->row);
	draft->row.family = family;
	return draft;
}

/* A row compares nothing while it is explored. */
static void compare_times(struct nt_key *row)
{
	if (isnan(row->auto_us) || isnan(row->arm_us) || row->state == NT_KEYSTATE_EXPLORING)
		nt_key_forget_arm(row);
	else
		nt_key_compare(row);
}

static int row_reason(const struct draft *draft)
{
	if (draft->row.reason == NT_REASON_COUNTED && draft->comm->why.id != NT_REASON_NONE)
		return NT_REASON_COMM_NOT_TUNED;
	return draft->row.reason;
}

static void fill_row(struct nt_key *row, const struct draft *draft, const struct maker *maker)
{
	*row = draft->row;
	row->step = maker->step_at;
	row->ranks = (uint32_t)draft->comm->ranks;
	row->nodes = (uint32_t)draft->comm->nodes;
	if (row->auto_arm < 0)
		row->auto_arm = NT_ARM_BASELINE;
	compare_times(row);
	row->reason = row_reason(draft);
	if (draft->comms > 1) {
		row->comms = draft->comms;
		row->same = draft->same;
	}
}

static const struct nt_sum_explored *find_explored(const struct nt_sum *sum,
						   const struct draft *draft)
{
	struct nt_explored key = { .ranks = draft->comm->ranks,
				   .coll = draft->row.coll,
				   .bytes = draft->row.bytes };

	memcpy(key.id, draft->comm->id, sizeof(key.id));
	for (size_t i = 0; i < sum->explored_count; i++) {
		if (nt_explored_same(&sum->explored[i].key, &key))
			return &sum->explored[i];
	}
	return NULL;
}

static void add_arms(struct maker *maker, struct nt_key *row, const struct draft *draft)
{
	const struct nt_sum_explored *explored = find_explored(maker->sum, draft);

	row->first_arm = maker->summary->arm_count;
	for (size_t i = 0; explored && i < explored->arm_count; i++) {
		struct nt_explored_arm *arm = NT_SUMMARY_ADD(maker->summary, arms, arm_count);

		if (!arm)
			return;
		*arm = explored->arm[i];
		row->arm_count++;
	}
}

static void add_rows(struct maker *maker)
{
	for (size_t i = 0; i < maker->draft_count; i++) {
		struct nt_key *row = NT_SUMMARY_ADD(maker->summary, rows, row_count);

		if (!row)
			return;
		fill_row(row, &maker->drafts[i], maker);
		add_arms(maker, row, &maker->drafts[i]);
	}
}

static void add_keys(struct maker *maker, const struct nt_comm_seen *comm)
{
	for (size_t k = 0; k < comm->key_count; k++) {
		struct draft *draft = draft_of(maker, comm->family, &comm->keys[k]);

		merge(draft, comm, &comm->keys[k]);
	}
}

/* Counts the communicators with the row's result. */
static void count_same(struct maker *maker, const struct nt_comm_seen *comm)
{
	for (size_t k = 0; k < comm->key_count; k++) {
		const struct nt_key *key = &comm->keys[k];
		struct draft *draft = draft_of(maker, comm->family, key);

		draft->same += draft->row.state == key->state && draft->row.arm == key->arm;
	}
}

/* ---- shares of time, what was spent and saved */

/* Only calls' own times count: periods include the program's computing, and NCCL's predictions are
 * no times. */

static void add_shares(struct maker *maker)
{
	struct nt_summary *summary = maker->summary;
	struct nt_step *step = &summary->steps[maker->step_at];
	double total_us = 0;

	for (size_t i = maker->first_row; i < summary->row_count; i++) {
		struct nt_key *row = &summary->rows[i];

		/* the time of all ranks, until it is divided below */
		row->share = nt_row_all_us(row);
		total_us += nt_or_zero(row->share);
		step->spent_ms = plus(step->spent_ms, row->spent_ms);
		step->saved_ms = plus(step->saved_ms, row->saved_ms);
		step->estimated_ms = plus(step->estimated_ms, row->estimated_ms);
	}
	for (size_t i = maker->first_row; i < summary->row_count && total_us > 0; i++) {
		struct nt_key *row = &summary->rows[i];

		row->share /= total_us;
	}
	if (total_us > 0 && step->ranks > 0)
		step->comm_ms = total_us / 1e3 / (double)step->ranks;
}

/* ---- reasons */

static void add_why(struct maker *maker, int64_t ranks, int64_t nodes, const struct nt_reason *why)
{
	struct nt_summary *summary = maker->summary;
	struct nt_remark *remark;

	for (size_t i = maker->first_remark; i < summary->remark_count; i++) {
		remark = &summary->remarks[i];
		if (remark->ranks == ranks && remark->nodes == nodes &&
		    strcmp(remark->why.text, why->text) == 0) {
			remark->comms++;
			return;
		}
	}
	remark = NT_SUMMARY_ADD(summary, remarks, remark_count);
	if (!remark)
		return;
	remark->kind = NT_REMARK_WHY;
	memcpy(remark->step, maker->step->name, sizeof(remark->step));
	remark->why = *why;
	remark->ranks = (uint32_t)ranks;
	remark->nodes = (uint32_t)nodes;
	remark->comms = ranks > 0;
}

static void add_step_whys(struct maker *maker)
{
	const struct nt_sum *sum = maker->sum;
	struct nt_reason why;

	for (size_t i = 0; i < NT_STEP_WHYS; i++) {
		if (!(sum->flags & nt_step_whys[i].flag))
			continue;
		nt_reason_set(&why, nt_step_whys[i].reason);
		add_why(maker, 0, 0, &why);
	}
	if (sum->not_loaded.id != NT_REASON_NONE)
		add_why(maker, 0, 0, &sum->not_loaded);
	if (sum->unusable > 0) {
		nt_reason_setf(&why, NT_REASON_UNUSABLE, "%zu:%s", sum->unusable,
			       sum->unusable_why.text);
		add_why(maker, 0, 0, &why);
	}
}

static void add_whys(struct maker *maker)
{
	const struct nt_sum *sum = maker->sum;
	struct nt_sum_why whys[NT_SUM_WHYS];
	const size_t count = nt_sum_calls_whys(sum, maker->step->early != 0, whys);

	for (size_t i = 0; i < count; i++)
		add_why(maker, whys[i].ranks, whys[i].nodes, &whys[i].why);
	add_step_whys(maker);
	for (size_t i = maker->first_comm; i < maker->summary->comm_count; i++) {
		const struct nt_comm_seen *comm = &maker->summary->comms[i];

		if (comm->why.id != NT_REASON_NONE)
			add_why(maker, comm->ranks, comm->nodes, &comm->why);
	}
}

/* ---- findings */

static bool has_small_shm(const struct maker *maker)
{
	for (size_t i = maker->first_comm; i < maker->summary->comm_count; i++) {
		if (maker->summary->comms[i].why.id == NT_REASON_SHM_SMALL)
			return true;
	}
	return false;
}

static void add_findings(struct maker *maker)
{
	const struct nt_sum *sum = maker->sum;
	struct nt_findings findings;

	nt_findings_judge(&findings, sum->facts, sum->facts_count, maker->step->nodes,
			  has_small_shm(maker), maker->step->slower);
	for (size_t i = 0; i < findings.count; i++) {
		struct nt_finding_seen *added = NT_SUMMARY_ADD(maker->summary, findings,
							       finding_count);

		if (added)
			*added = (struct nt_finding_seen){ .step = maker->step_at,
							   .finding = findings.item[i] };
	}
}

/* ---- all of it */

static void add_dropped(struct maker *maker)
{
	for (size_t i = 0; i < maker->sum->dropped_count; i++) {
		struct nt_dropped *dropped = NT_SUMMARY_ADD(maker->summary, dropped, dropped_count);

		if (!dropped)
			return;
		*dropped = maker->sum->dropped[i];
		dropped->step = maker->step_at;
	}
}

/* The rows have what is shown of them. */
static void forget_keys(struct nt_comm_seen *comm)
{
	free(comm->keys);
	free(comm->samples);
	comm->keys = NULL;
	comm->samples = NULL;
	comm->key_count = comm->sample_count = 0;
}

static void make(struct maker *maker, struct nt_sum *sum)
{
	struct nt_summary *summary = maker->summary;

	add_nodes(maker);
	for (size_t i = 0; i < sum->comm_count && !summary->no_memory; i++)
		take_comm(maker, &sum->comms[i]);
	for (size_t i = maker->first_comm; i < summary->comm_count; i++)
		add_keys(maker, &summary->comms[i]);
	for (size_t i = maker->first_comm; i < summary->comm_count; i++)
		count_same(maker, &summary->comms[i]);
	if (summary->no_memory)
		return;
	add_rows(maker);
	for (size_t i = maker->first_comm; i < summary->comm_count; i++)
		forget_keys(&summary->comms[i]);
	add_shares(maker);
	note_late(summary, maker->step_at);
	nt_summary_guess(summary, maker->first_family);
	add_whys(maker);
	add_dropped(maker);
	add_findings(maker);
}

static int compare_comms(const void *left, const void *right)
{
	return strcmp(((const struct nt_comm_seen *)left)->id,
		      ((const struct nt_comm_seen *)right)->id);
}

int nt_summary_add_sum(struct nt_summary *summary, struct nt_sum *sum, const struct nt_step *head,
		       struct nt_error *err)
{
	struct maker maker = {
		.summary = summary,
		.sum = sum,
		.step_at = summary->step_count,
		.first_family = summary->family_count,
		.first_node = summary->node_count,
		.first_comm = summary->comm_count,
		.first_row = summary->row_count,
		.first_remark = summary->remark_count,
	};
	size_t keys = 0;

	for (size_t i = 0; i < sum->comm_count; i++)
		keys += sum->comms[i].key_count;
	if (sum->comm_count > 0)
		qsort(sum->comms, sum->comm_count, sizeof(sum->comms[0]), compare_comms);
	nt_sum_sort_calls(sum);
	maker.drafts = calloc(keys + 1, sizeof(maker.drafts[0]));
	maker.step = NT_SUMMARY_ADD(summary, steps, step_count);
	if (maker.drafts && maker.step) {
		*maker.step = *head;
		note_step(maker.step, sum);
		make(&maker, sum);
		nt_summary_sort(summary);
	}
	free(maker.drafts);
	if (summary->no_memory || !maker.drafts)
		return nt_error_set(err, "no memory for the step");
	return 0;
}
