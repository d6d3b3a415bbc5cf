/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/metrics/report-json.h"

#include <math.h>
#include <string.h>
#include "contract/coll.h"
#include "contract/reason.h"
#include "lib/json.h"
#include "record/row-time.h"
#include "record/field.h"
#include "report/model/job-figures.h"
#include "report/model/topology-compare.h"
#include "report/text/row-text.h"
#include "report/text/verdict.h"
#include "report/text/words.h"

/* ---- fields */

/* To the field's decimals. */
static double rounded(const struct nt_field *field, double value)
{
	const double unit = pow(10, field->size);

	return round(value * unit) / unit;
}

static void add_times(json_object *object, const struct nt_field *field, const double *time,
		      int count, int *rc)
{
	json_object *array;

	if (isnan(time[0]))
		return;
	array = nt_json_array(rc);
	for (int i = 0; i < count && !isnan(time[i]); i++)
		nt_json_add(array, NULL, nt_json_decimal(rounded(field, time[i]), 10, rc), rc);
	nt_json_add(object, field->name, array, rc);
}

static void add_field(json_object *object, const struct nt_field *field, const void *at, int *rc)
{
	const char *name = field->name;

	switch (field->kind) {
	case NT_FIELD_COUNT:
	case NT_FIELD_TALLY: nt_json_count(object, name, *(const int64_t *)at, rc); break;
	case NT_FIELD_NUMBER:
	case NT_FIELD_TIME:
		nt_json_number(object, name, rounded(field, *(const double *)at), rc);
		break;
	case NT_FIELD_SHARE: nt_json_number(object, name, *(const double *)at, rc); break;
	case NT_FIELD_BOOL: nt_json_bool(object, name, *(const bool *)at, rc); break;
	case NT_FIELD_TEXT:
	case NT_FIELD_QUOTED: nt_json_text(object, name, at, rc); break;
	case NT_FIELD_COLL:
	case NT_FIELD_KIND:
	case NT_FIELD_ARM:
	case NT_FIELD_STATE:
	case NT_FIELD_COMM_STATE:
	case NT_FIELD_REASON: nt_json_text(object, name, nt_field_word(field, at), rc); break;
	case NT_FIELD_WHY:
		nt_json_text(object, name, ((const struct nt_reason *)at)->text, rc);
		break;
	case NT_FIELD_TIMES: add_times(object, field, at, 2, rc); break;
	case NT_FIELD_QUARTILES: add_times(object, field, at, 3, rc); break;
	case NT_FIELD_OBJECT:
	case NT_FIELD_ARRAY: break;
	}
}

/* Every known field of source except objects and arrays, by its name in the record. Times are
 * arrays. */
static void add_fields(json_object *object, const struct nt_fields *fields, const void *source,
		       int *rc)
{
	for (size_t i = 0; i < fields->count; i++)
		add_field(object, &fields->field[i], (const char *)source + fields->field[i].offset,
			  rc);
}

/* ---- keys */

static json_object *pair_value(double of_auto, double of_arm, int *rc)
{
	json_object *pair = nt_json_array(rc);

	if (!isnan(of_auto))
		nt_json_add(pair, NULL, nt_json_decimal(of_auto, 10, rc), rc);
	if (!isnan(of_auto) && !isnan(of_arm))
		nt_json_add(pair, NULL, nt_json_decimal(of_arm, 10, rc), rc);
	return nt_json_filled(pair);
}

static json_object *arms_value(const struct nt_summary *summary, const struct nt_key *row, int *rc)
{
	json_object *array = nt_json_array(rc);

	for (size_t i = 0; i < row->arm_count; i++) {
		json_object *object = nt_json_object(rc);

		add_fields(object, &nt_explored_arm_fields, &summary->arms[row->first_arm + i], rc);
		nt_json_add(array, NULL, object, rc);
	}
	return nt_json_filled(array);
}

static json_object *key_value(const struct nt_summary *summary, const struct nt_key *row, int *rc)
{
	const double us[] = { nt_row_own_us(row, NT_OF_AUTO), nt_row_own_us(row, NT_OF_ARM) };
	const double bytes = (double)row->bytes;
	json_object *object = nt_json_object(rc);
	struct nt_key shown = *row;
	struct nt_said said;

	nt_row_say(&said, summary, row);
	shown.reason = said.reason;
	shown.gain_percent = nt_row_gain(row);
	add_fields(object, &nt_report_key_fields, &shown, rc);
	nt_json_known(object, "call_us", pair_value(us[0], us[1], rc), rc);
	nt_json_bool(object, "call_own", nt_row_duration_known(row), rc);
	nt_json_known(object, "algbw_gbs",
		      pair_value(nt_algbw_gbs(bytes, us[0]), nt_algbw_gbs(bytes, us[1]), rc), rc);
	nt_json_known(object, "busbw_gbs",
		      pair_value(nt_row_busbw(row, NT_OF_AUTO), nt_row_busbw(row, NT_OF_ARM), rc),
		      rc);
	nt_json_text(object, "says", said.says, rc);
	nt_json_text(object, "advice", said.type, rc);
	nt_json_known(object, "arms", arms_value(summary, row, rc), rc);
	return object;
}

/* ---- communicators */

/* Nodes with their ranks, in the order of the nodes' first ranks. */
static json_object *places_value(const struct nt_summary *summary, const struct nt_comm_seen *comm,
				 int *rc)
{
	json_object *array = nt_json_array(rc);
	json_object *by_node = nt_json_object(rc);

	for (size_t i = 0; i < comm->place_count; i++) {
		const struct nt_place_seen *place = &comm->places[i];
		const char *node = summary->nodes[place->node].name;
		json_object *ranks = nt_json_member(by_node, node), *object;

		if (ranks) {
			nt_json_count(ranks, NULL, place->rank, rc);
			continue;
		}
		ranks = nt_json_array(rc);
		nt_json_count(ranks, NULL, place->rank, rc);
		nt_json_add(by_node, node, json_object_get(ranks), rc);
		object = nt_json_object(rc);
		nt_json_text(object, "node", node, rc);
		nt_json_add(object, "ranks", ranks, rc);
		nt_json_add(array, NULL, object, rc);
	}
	json_object_put(by_node);
	return array;
}

static json_object *volumes_value(const struct nt_comm_seen *comm, int *rc)
{
	json_object *array = nt_json_array(rc);

	for (size_t i = 0; i < comm->volume_count; i++) {
		const struct nt_volume *volume = &comm->volumes[i];
		json_object *object = nt_json_object(rc);

		nt_json_text(object, "coll", nt_coll_name(volume->coll), rc);
		nt_json_count(object, "calls", volume->calls, rc);
		nt_json_number(object, "bytes", volume->bytes, rc);
		nt_json_number(object, "inside_bytes", volume->inside_bytes, rc);
		nt_json_number(object, "between_bytes", volume->between_bytes, rc);
		nt_json_add(array, NULL, object, rc);
	}
	return array;
}

/* If a process was killed or runs, or ranks differ. */
static json_object *calls_value(const struct nt_comm_seen *comm, int *rc)
{
	json_object *array = nt_json_array(rc);

	for (size_t i = 0; i < comm->begun_count; i++) {
		const struct nt_begun_seen *begun = &comm->begun[i];
		json_object *object = nt_json_object(rc);

		nt_json_count(object, "rank", begun->rank, rc);
		nt_json_count(object, "begun", begun->begun, rc);
		nt_json_count(object, "ended", begun->ended, rc);
		nt_json_count(object, "seen", begun->seen_s, rc);
		nt_json_add(array, NULL, object, rc);
	}
	return nt_json_filled(array);
}

static json_object *times_value(const double *value, unsigned count, int *rc)
{
	json_object *array = nt_json_array(rc);

	for (unsigned i = 0; i < count; i++)
		nt_json_add(array, NULL, nt_json_decimal(value[i], 6, rc), rc);
	return array;
}

static json_object *ranks_value(const struct nt_summary *summary, const struct nt_lateness *late,
				int *rc)
{
	json_object *array = nt_json_array(rc);

	for (size_t i = 0; i < late->row_count; i++) {
		const struct nt_late_row *row = &late->row[i];
		json_object *object = nt_json_object(rc);

		nt_json_count(object, "rank", row->rank, rc);
		nt_json_text(object, "node", summary->nodes[row->node].name, rc);
		nt_json_add(object, "us", times_value(row->us, late->slices, rc), rc);
		nt_json_add(array, NULL, object, rc);
	}
	return array;
}

/* The member "lateness"; nothing where it is not known. */
static void add_lateness(json_object *object, const struct nt_summary *summary,
			 const struct nt_comm_seen *comm, int *rc)
{
	const struct nt_lateness *late = comm->lateness;
	json_object *value;

	if (!late)
		return;
	value = nt_json_object(rc);
	nt_json_count(value, "calls", (int64_t)late->calls, rc);
	nt_json_number(value, "waiting", late->waiting, rc);
	nt_json_text(value, "late", nt_late_name(late->kind), rc);
	nt_json_count(value, "rank", late->rank, rc);
	nt_json_text(value, "node", late->node >= 0 ? summary->nodes[late->node].name : "", rc);
	nt_json_count(value, "late_calls", late->late_calls > 0 ? (int64_t)late->late_calls : -1,
		      rc);
	nt_json_number(value, "late_us", late->late_us, rc);
	nt_json_number(value, "cost", late->cost, rc);
	nt_json_add(value, "from_s", times_value(late->from_s, late->slices, rc), rc);
	nt_json_add(value, "ranks", ranks_value(summary, late, rc), rc);
	nt_json_add(object, "lateness", value, rc);
}

/* The communicators themselves, from rank records. */
static json_object *members_value(const struct nt_summary *summary, size_t family, int *rc)
{
	json_object *array = nt_json_array(rc);

	for (size_t i = 0; i < summary->comm_count; i++) {
		const struct nt_comm_seen *comm = &summary->comms[i];
		char why[NT_REASON_SENTENCE_MAX];
		json_object *object;

		if (comm->family != family)
			continue;
		object = nt_json_object(rc);
		nt_json_text(object, "id", comm->id, rc);
		nt_json_text(object, "name", comm->name, rc);
		nt_json_text(object, "state", nt_comm_state_name(comm->state), rc);
		nt_reason_say(&comm->why, NULL, 0, why, sizeof(why));
		nt_json_text(object, "why", why, rc);
		nt_json_known(object, "places", places_value(summary, comm, rc), rc);
		nt_json_known(object, "volumes", volumes_value(comm, rc), rc);
		nt_json_known(object, "calls", calls_value(comm, rc), rc);
		add_lateness(object, summary, comm, rc);
		nt_json_add(array, NULL, object, rc);
	}
	return nt_json_filled(array);
}

static json_object *comm_value(const struct nt_summary *summary, size_t at, int *rc)
{
	const struct nt_family *family = &summary->families[at];
	json_object *object = nt_json_object(rc), *keys = nt_json_array(rc);

	nt_json_text(object, "name", family->name, rc);
	nt_json_count(object, "ranks", family->ranks, rc);
	nt_json_count(object, "nodes", family->nodes, rc);
	nt_json_count(object, "comms", family->comms, rc);
	nt_json_text(object, "parallel", nt_parallel_name((int)family->parallel), rc);
	for (size_t i = 0; i < summary->row_count; i++) {
		if (summary->rows[i].family == at)
			nt_json_add(keys, NULL, key_value(summary, &summary->rows[i], rc), rc);
	}
	nt_json_add(object, "keys", keys, rc);
	nt_json_known(object, "members", members_value(summary, at, rc), rc);
	return object;
}

/* The order of rows (nt_summary_sort). */
static bool is_before(const struct nt_family *a, const struct nt_family *b)
{
	if (a->ranks != b->ranks)
		return a->ranks < b->ranks;
	return a->nodes != b->nodes ? a->nodes < b->nodes : a < b;
}

static json_object *comms_value(const struct nt_summary *summary, size_t step, int *rc)
{
	json_object *array = nt_json_array(rc);
	const struct nt_family *last = NULL;

	for (;;) {
		const struct nt_family *next = NULL;

		for (size_t i = 0; i < summary->family_count; i++) {
			const struct nt_family *family = &summary->families[i];

			if (family->step == step && (!last || is_before(last, family)) &&
			    (!next || is_before(family, next)))
				next = family;
		}
		if (!next)
			return array;
		nt_json_add(array, NULL,
			    comm_value(summary, (size_t)(next - summary->families), rc), rc);
		last = next;
	}
}

/* ---- steps */

static json_object *untuned_value(const struct nt_summary *summary, const char *step, int *rc)
{
	json_object *array = nt_json_array(rc);

	for (size_t i = 0; i < summary->remark_count; i++) {
		const struct nt_remark *remark = &summary->remarks[i];
		json_object *object;
		struct nt_said said;

		if (remark->kind != NT_REMARK_WHY || strcmp(remark->step, step) != 0)
			continue;
		nt_said_why(&said, &remark->why);
		object = nt_json_object(rc);
		nt_json_text(object, "why", nt_reason_code(remark->why.id), rc);
		nt_json_text(object, "text", remark->why.text, rc);
		if (remark->ranks > 0) {
			nt_json_count(object, "ranks", remark->ranks, rc);
			nt_json_count(object, "nodes", remark->nodes, rc);
			nt_json_count(object, "comms", remark->comms, rc);
		}
		nt_json_text(object, "says", said.says, rc);
		nt_json_text(object, "advice", said.type, rc);
		nt_json_add(array, NULL, object, rc);
	}
	return nt_json_filled(array);
}

/* step NULL: of the record, and of steps that could not be read. */
static json_object *damage_value(const struct nt_summary *summary, const char *step, int *rc)
{
	json_object *array = nt_json_array(rc);
	char text[300];

	for (size_t i = 0; i < summary->remark_count; i++) {
		const struct nt_remark *remark = &summary->remarks[i];

		if (remark->kind != NT_REMARK_DAMAGE ||
		    (step ? strcmp(remark->step, step) != 0
			  : nt_summary_step(summary, remark->step) != NULL))
			continue;
		snprintf(text, sizeof(text), "%s%s%s%s", step || !remark->step[0] ? "" : "step ",
			 step ? "" : remark->step, step || !remark->step[0] ? "" : ": ",
			 remark->text);
		nt_json_text(array, NULL, text, rc);
	}
	return nt_json_filled(array);
}

static json_object *findings_value(const struct nt_summary *summary, size_t step, int *rc)
{
	json_object *array = nt_json_array(rc);

	for (size_t i = 0; i < summary->finding_count; i++) {
		const struct nt_finding *finding = &summary->findings[i].finding;
		char node[NT_FINDING_NODE_MAX], says[NT_FINDING_SENTENCE_MAX];
		char advice[NT_FINDING_ADVICE_MAX];
		json_object *object;

		if (summary->findings[i].step != step)
			continue;
		object = nt_json_object(rc);
		nt_json_text(object, "code", nt_finding_code(finding->id), rc);
		nt_json_text(object, "node", nt_finding_node(finding, node), rc);
		nt_json_text(object, "text", finding->text, rc);
		nt_json_bool(object, "certain", nt_finding_certain(finding->id), rc);
		nt_json_text(object, "says", nt_finding_say(finding, says, sizeof(says)), rc);
		nt_json_text(object, "advice", nt_finding_advise(finding, advice, sizeof(advice)),
			     rc);
		nt_json_add(array, NULL, object, rc);
	}
	return nt_json_filled(array);
}

static json_object *rest_value(const struct nt_step *step, int *rc)
{
	json_object *object = NULL;

	for (int reason = 0; reason < NT_REASON_COUNT; reason++) {
		if (step->rest[reason] <= 0)
			continue;
		if (!object)
			object = nt_json_object(rc);
		nt_json_count(object,
			      reason == NT_REASON_NONE ? NT_STEP_CHOSEN : nt_reason_code(reason),
			      step->rest[reason], rc);
	}
	return object;
}

/* What NCCL found on the nodes */
static json_object *links_value(const struct nt_links *links, int *rc)
{
	json_object *object;

	if (links->channels <= 0)
		return NULL;
	object = nt_json_object(rc);
	nt_json_count(object, "channels", links->channels, rc);
	nt_json_number(object, "intra_gbs", links->intra_gbs, rc);
	nt_json_number(object, "inter_gbs", links->inter_gbs, rc);
	nt_json_text(object, "intra", links->intra, rc);
	nt_json_text(object, "inter", links->inter, rc);
	return object;
}

/* lack: what the node has less of than the others; NULL: they are not compared. */
static json_object *seen_value(const struct nt_topology_seen *seen, const char *lack, int *rc)
{
	json_object *object = nt_json_object(rc);

	nt_json_text(object, "node", seen->node, rc);
	nt_json_text(object, "id", seen->id, rc);
	nt_json_count(object, "ranks", seen->ranks, rc);
	nt_json_count(object, "nodes", seen->nodes, rc);
	nt_json_count(object, "gpus", seen->gpus, rc);
	nt_json_count(object, "nvlinks", seen->nvlinks, rc);
	nt_json_count(object, "pcie_lanes", seen->gpu_lanes, rc);
	nt_json_number(object, "pcie_gts", seen->gpu_gts, rc);
	nt_json_count(object, "nics", seen->nics, rc);
	nt_json_count(object, "nics_mbps", seen->nics_mbps, rc);
	nt_json_known(object, "ring", links_value(&seen->ring, rc), rc);
	nt_json_known(object, "tree", links_value(&seen->tree, rc), rc);
	nt_json_text(object, "lack", lack, rc);
	nt_json_text(object, "trouble", seen->trouble, rc);
	return object;
}

/* Of other communicators. */
static json_object *others_value(const struct nt_summary *summary, size_t step,
				 const struct nt_node_table *nodes, int *rc)
{
	json_object *list = nt_json_array(rc);

	for (size_t i = 0; i < summary->topology_count; i++) {
		const struct nt_topology_seen *seen = &summary->topologies[i];

		if (seen->step == step && strcmp(seen->id, nodes->item[0]->id) != 0)
			nt_json_add(list, NULL, seen_value(seen, NULL, rc), rc);
	}
	return nt_json_filled(list);
}

/* The step's member "topology"; none if NCCL has told nothing. */
static void add_topology(json_object *object, const struct nt_summary *summary, size_t step,
			 int *rc)
{
	struct nt_node_table nodes;
	char words[160], lack[NT_LACK_TEXT];

	if (nt_nodes_find(&nodes, summary, step, NULL) < 0) {
		*rc = -1;
	} else if (nodes.count > 0) {
		json_object *topology = nt_json_object(rc);
		json_object *list = nt_json_array(rc);

		nt_json_text(topology, "of", nt_nodes_words(&nodes, summary, words, sizeof(words)),
			     rc);
		for (size_t i = 0; i < nodes.count; i++)
			nt_json_add(list, NULL,
				    seen_value(nodes.item[i], nt_nodes_lack(&nodes, i, lack), rc),
				    rc);
		nt_json_add(topology, "nodes", list, rc);
		nt_json_known(topology, "others", others_value(summary, step, &nodes, rc), rc);
		nt_json_add(object, "topology", topology, rc);
	}
	nt_nodes_fini(&nodes);
}

static json_object *stacks_value(const struct nt_summary *summary, size_t step, int *rc)
{
	json_object *list = nt_json_array(rc);
	char top[NT_STACKS_TOP];

	for (size_t i = 0; i < summary->stacks_count; i++) {
		const struct nt_stacks *stacks = &summary->stacks[i];
		json_object *object;

		if (stacks->step != step)
			continue;
		object = nt_json_object(rc);
		nt_json_text(object, "node", stacks->node, rc);
		add_fields(object, &nt_stacks_fields, stacks, rc);
		nt_json_text(object, "top", nt_stacks_top(stacks, top), rc);
		nt_json_known(object, NT_STACKS_LINES, json_object_get(stacks->line_array), rc);
		nt_json_add(list, NULL, object, rc);
	}
	return nt_json_filled(list);
}

static json_object *step_value(const struct nt_summary *summary, size_t at, int *rc)
{
	const struct nt_step *step = &summary->steps[at];
	json_object *object = nt_json_object(rc);
	char from[160];

	nt_json_text(object, "step", step->name, rc);
	add_fields(object, &nt_step_fields, step, rc);
	nt_json_text(object, "from", nt_launch_from(step->from, from, sizeof(from)), rc);
	nt_json_bool(object, "calibrates", nt_step_is_calibration(step), rc);
	nt_json_bool(object, "whole", step->whole, rc);
	nt_json_bool(object, "running", step->running, rc);
	nt_json_known(object, "communicators", comms_value(summary, at, rc), rc);
	nt_json_known(object, "untuned", untuned_value(summary, step->name, rc), rc);
	nt_json_known(object, NT_STEP_FINDINGS, findings_value(summary, at, rc), rc);
	nt_json_known(object, NT_STEP_REST, rest_value(step, rc), rc);
	nt_json_count(object, NT_STEP_MORE, step->more > 0 ? step->more : -1, rc);
	nt_json_known(object, "damaged", damage_value(summary, step->name, rc), rc);
	nt_json_known(object, "stacks", stacks_value(summary, at, rc), rc);
	add_topology(object, summary, at, rc);
	return object;
}

/* ---- the job */

static json_object *verdict_value(const struct nt_summary *summary, int *rc)
{
	json_object *array = nt_json_array(rc);
	struct nt_verdict_text verdict = { NULL, 0 };

	*rc |= nt_verdict_make(&verdict, summary, NULL);
	for (size_t i = 0; i < verdict.count; i++) {
		json_object *object = nt_json_object(rc);

		nt_json_text(object, "says", verdict.items[i].text, rc);
		nt_json_text(object, "advice", verdict.items[i].type, rc);
		nt_json_add(array, NULL, object, rc);
	}
	nt_verdict_fini(&verdict);
	return array;
}

/* The job's gain, in figures; NULL members are not known. */
static json_object *gain_value(const struct nt_summary *summary, int *rc)
{
	struct nt_job_figures figures;
	const struct nt_says_gain *gain = &figures.gain;
	json_object *object = nt_json_object(rc);

	nt_job_figures_make(&figures, summary);
	nt_json_text(object, "says", figures.says, rc);
	nt_json_text(object, "profile", gain->profile, rc);
	nt_json_number(object, "step_us", gain->step_us > 0 ? gain->step_us : NAN, rc);
	nt_json_number(object, "without_us", gain->without_us > 0 ? gain->without_us : NAN, rc);
	if (gain->without_us > 0)
		nt_json_text(object, "without_by", gain->by_job ? "job" : "memory", rc);
	nt_json_number(object, "saved_ms", gain->launch_ms + gain->calls_ms, rc);
	nt_json_number(object, "calls_saved_ms", gain->calls_ms, rc);
	nt_json_number(object, "explored_ms", gain->exploring_ms, rc);
	nt_json_number(object, "calibrated_ms", gain->calibration_ms, rc);
	nt_json_number(object, "net_ms", gain->net_ms, rc);
	nt_json_number(object, "pays_s", figures.pays_s, rc);
	nt_json_number(object, "pays_steps", figures.pays_steps, rc);
	return object;
}

static json_object *job_value(const char *job, const struct nt_summary *summary, int *rc)
{
	json_object *object = nt_json_object(rc), *steps = nt_json_array(rc);

	nt_json_text(object, "job", job, rc);
	nt_json_add(object, "gain", gain_value(summary, rc), rc);
	nt_json_add(object, "verdict", verdict_value(summary, rc), rc);
	for (size_t i = 0; i < summary->step_count; i++) {
		if (summary->step_count == 1 || !nt_step_is_empty(summary, i))
			nt_json_add(steps, NULL, step_value(summary, i, rc), rc);
	}
	nt_json_add(object, "steps", steps, rc);
	nt_json_count(object, NT_STEP_MORE, summary->more_steps > 0 ? summary->more_steps : -1, rc);
	nt_json_known(object, "damaged", damage_value(summary, NULL, rc), rc);
	return object;
}

int nt_job_json(json_object *jobs, const struct nt_jobtext *text, struct nt_error *err)
{
	json_object *job = json_object_array_get_idx(jobs, json_object_array_length(jobs) - 1);
	int rc = 0;

	nt_json_text(job, "name", text->name, &rc);
	nt_json_text(job, "user", text->user, &rc);
	nt_json_text(job, "state", text->state, &rc);
	nt_json_text(job, "cluster", text->cluster, &rc);
	nt_json_text(job, "partition", text->partition, &rc);
	nt_json_count(job, "nodes", text->nodes ? (int64_t)text->nodes : -1, &rc);
	nt_json_count(job, "start", text->start_s > 0 ? text->start_s : -1, &rc);
	nt_json_count(job, "elapsed_s", text->elapsed_s > 0 ? text->elapsed_s : -1, &rc);
	return rc == 0 ? 0 : nt_error_set(err, "no memory for the report");
}

int nt_summary_json(json_object *jobs, const char *job, const struct nt_summary *summary,
		    struct nt_error *err)
{
	int rc = 0;

	nt_json_add(jobs, NULL, job_value(job, summary, &rc), &rc);
	return rc == 0 ? 0 : nt_error_set(err, "no memory for the report");
}
