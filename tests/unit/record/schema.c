/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas of docs/schema match the tables of fields (tests/unit/table-file.h). */
#include "tests/lib/schema.h"

#include "tests/lib/unit.h"
#include "contract/coll.h"
#include "lib/file.h"
#include "record/calls-record.h"
#include "record/lateness.h"
#include "record/long.h"
#include "record/rank.h"
#include "contract/reason.h"
#include "record/says.h"
#include "record/stacks.h"
#include "record/step.h"
#include "record/topology.h"
#include "report/metrics/report-json.h"
#include "report/summary/stats-print.h"
#include "tests/unit/table-file.h"

static json_object *object_of(const char *type)
{
	json_object *object = json_object_new_object();

	json_object_object_add(object, "type", json_object_new_string(type));
	return object;
}

static json_object *with(json_object *object, const char *name, json_object *value)
{
	json_object_object_add(object, name, value);
	return object;
}

static json_object *text(const char *value)
{
	return json_object_new_string(value);
}

static json_object *number(double least, double most)
{
	json_object *object = with(object_of("number"), "minimum", json_object_new_double(least));

	return with(object, "maximum", json_object_new_double(most));
}

static json_object *from_zero(void)
{
	return with(object_of("number"), "minimum", json_object_new_double(0));
}

static json_object *count(void)
{
	json_object *object = with(object_of("integer"), "minimum", json_object_new_int(0));

	return with(object, "maximum", json_object_new_int64(NT_COUNT_MAX));
}

static json_object *bounded(int size)
{
	json_object *object = object_of("string");

	return size > 1 ? with(object, "maxLength", json_object_new_int(size - 1)) : object;
}

static json_object *arm(void)
{
	return with(object_of("string"), "pattern",
		    text("^(AUTO|[A-Z0-9_]+/[A-Z0-9]+(/[0-9]+ch)?(/[0-9.]+[KM])?)$"));
}

static json_object *array_of(json_object *items)
{
	return with(object_of("array"), "items", items);
}

static json_object *times(int least, int most)
{
	json_object *object = array_of(number(0, NT_NUMBER_MAX));

	with(object, "minItems", json_object_new_int(least));
	return with(object, "maxItems", json_object_new_int(most));
}

static json_object *map_of(const char *pattern, json_object *value)
{
	json_object *patterns = with(json_object_new_object(), pattern, value);

	return with(object_of("object"), "patternProperties", patterns);
}

static json_object *colls(int count)
{
	json_object *names = json_object_new_array();

	for (int i = 0; i < count; i++)
		json_object_array_add(names, text(nt_coll_name(i)));
	return with(object_of("string"), "enum", names);
}

/* The codes themselves are listed by nccl-tune-record(5): a later release may have more. */
#define CODE "[a-z0-9]{1,11}"

static json_object *reason(void)
{
	return with(object_of("string"), "pattern", text("^" CODE "$"));
}

static json_object *states(const char *(*name)(int state))
{
	json_object *names = json_object_new_array();

	for (int i = 0; name(i)[0]; i++)
		json_object_array_add(names, text(name(i)));
	return with(object_of("string"), "enum", names);
}

/* Codes with their arguments: "code:argument:...". */
#define WHY CODE "(:.*)?"

/* NULL for parts, which are not what their kind alone says. */
static json_object *value_of(const struct nt_field *field)
{
	switch (field->kind) {
	case NT_FIELD_COUNT:
	case NT_FIELD_TALLY: return count();
	case NT_FIELD_NUMBER: return number(-NT_NUMBER_MAX, NT_NUMBER_MAX);
	case NT_FIELD_TIME: return number(0, NT_NUMBER_MAX);
	case NT_FIELD_SHARE: return number(0, 1);
	case NT_FIELD_BOOL: return object_of("boolean");
	case NT_FIELD_TEXT:
	case NT_FIELD_QUOTED: return bounded(field->size);
	case NT_FIELD_COLL: return colls(NT_COLLS);
	case NT_FIELD_KIND: return colls(NT_KINDS);
	case NT_FIELD_ARM: return arm();
	case NT_FIELD_STATE: return states(nt_keystate_name);
	case NT_FIELD_COMM_STATE: return states(nt_comm_state_name);
	case NT_FIELD_REASON: return reason();
	case NT_FIELD_WHY: return with(bounded(NT_REASON_BYTES), "pattern", text("^(" WHY ")?$"));
	case NT_FIELD_TIMES: return times(1, 2);
	case NT_FIELD_QUARTILES: return times(3, 3);
	case NT_FIELD_OBJECT:
	case NT_FIELD_ARRAY: break;
	}
	return NULL;
}

/* Its meaning and unit. */
static json_object *described(const struct nt_field *field, json_object *value)
{
	char words[256];

	if (!field->meaning || !field->meaning[0])
		return value;
	snprintf(words, sizeof(words), "%s%s%s", field->meaning, field->unit[0] ? "; in " : "",
		 field->unit);
	return with(value, "description", text(words));
}

static json_object *properties(json_object *schema)
{
	json_object *all;

	return json_object_object_get_ex(schema, "properties", &all) ? all : NULL;
}

static json_object *fields_of(const struct nt_fields *fields)
{
	json_object *schema = object_of("object");
	json_object *all = json_object_new_object(), *required = json_object_new_array();

	for (size_t i = 0; i < fields->count; i++) {
		const struct nt_field *field = &fields->field[i];
		json_object *value = value_of(field);

		if (value && !json_object_object_get_ex(all, field->name, NULL))
			json_object_object_add(all, field->name, described(field, value));
		else
			json_object_put(value);
		if (field->need == NT_MUST)
			json_object_array_add(required, text(field->name));
	}
	if (json_object_array_length(required) > 0)
		with(schema, "required", required);
	else
		json_object_put(required);
	return with(schema, "properties", all);
}

static json_object *trial(void)
{
	json_object *schema = object_of("object"), *all = json_object_new_object();
	json_object *channels = fields_of(&nt_trial_channels_fields);
	json_object *plan = json_object_new_object();

	with(properties(channels), NT_IN_TRIAL_OWN, map_of("^[A-Z]", count()));
	with(all, NT_IN_TRIAL_ARMS, array_of(arm()));
	with(all, NT_IN_TRIAL_COST, array_of(number(-1, NT_NUMBER_MAX)));
	with(all, NT_IN_TRIAL_REMEMBERED, arm());
	with(all, NT_IN_TRIAL_REMEMBERED_COST, number(-1, NT_NUMBER_MAX));
	with(all, NT_IN_TRIAL_CHANNELS, channels);
	with(plan, NT_IN_PLAN_BLOCKS, count());
	with(plan, NT_IN_PLAN_ARMS, array_of(arm()));
	with(all, NT_IN_TRIAL_PLANS, array_of(with(object_of("object"), "properties", plan)));
	with(all, NT_IN_TRIAL_ROUNDS,
	     array_of(with(object_of("string"), "pattern", text("^[A-Za-z0-9+/]*$"))));
	return with(schema, "properties", all);
}

/* A key in one of its forms, with the required members. */
static json_object *key_in(const struct nt_fields *fields)
{
	json_object *schema = with(json_object_new_object(), "$ref", text("key.schema.json"));
	json_object *required = json_object_new_array();

	for (size_t i = 0; i < fields->count; i++) {
		if (fields->field[i].need == NT_MUST)
			json_object_array_add(required, text(fields->field[i].name));
	}
	return with(schema, "required", required);
}

static json_object *comm(void)
{
	json_object *schema = fields_of(&nt_rank_comm_fields);
	json_object *sampled = fields_of(&nt_sampled_fields);

	with(properties(schema), NT_RANK_KEYS, array_of(key_in(&nt_rank_key_fields)));
	with(properties(sampled), NT_SAMPLED_CALLS, array_of(number(0, NT_NUMBER_MAX)));
	with(properties(schema), NT_RANK_SAMPLED, array_of(sampled));
	return schema;
}

static json_object *titled(json_object *schema, const char *title)
{
	json_object *object = json_object_new_object();

	with(object, "$schema", text("https://json-schema.org/draft/2020-12/schema"));
	with(object, "title", text(title));
	with(object, "description",
	     text("nccl-tune-record(5) says what the members mean. A reader skips members that it "
		  "does not know: a later release may write more."));
	json_object_object_foreach(schema, name, value)
		json_object_object_add(object, name, json_object_get(value));
	json_object_put(schema);
	return object;
}

static json_object *rank_schema(void)
{
	json_object *schema = fields_of(&nt_rank_fields), *all = properties(schema);
	json_object *marker = fields_of(&nt_rank_marker_fields);
	json_object *agreement = fields_of(&nt_agreement_fields);
	json_object *explored = fields_of(&nt_explored_fields);

	with(properties(marker), NT_RANK_PERIODS, array_of(number(0, NT_NUMBER_MAX)));
	with(properties(agreement), "commit_ms", array_of(count()));
	with(properties(explored), NT_EXPLORED_ARMS, array_of(fields_of(&nt_explored_arm_fields)));
	with(all, "v",
	     with(json_object_new_object(), "const", json_object_new_int(NT_RECORD_VERSION)));
	with(all, NT_RANK_PLUGINS, map_of("^(tuner|profiler)$", object_of("string")));
	with(all, NT_RANK_WARM, fields_of(&nt_rank_warm_fields));
	with(all, NT_RANK_MARKER, marker);
	with(all, NT_RANK_AGREEMENT, agreement);
	with(all, NT_RANK_EXPLORED, array_of(explored));
	with(all, NT_RANK_COMMS, array_of(comm()));
	with(all, NT_RANK_FACTS, fields_of(&nt_facts_fields));
	with(all, NT_RANK_COUNTS, map_of("^[a-z]", count()));
	return titled(schema, "nccl-tune: the record of one NCCL process, version 1");
}

static json_object *step(void)
{
	json_object *schema = fields_of(&nt_step_fields), *all = properties(schema);
	json_object *family = map_of("^[A-Z][A-Za-z]+ [0-9.]+[KMGT]?$",
				     key_in(&nt_short_key_fields));

	with(all, NT_STEP_WHY,
	     array_of(with(object_of("string"), "pattern",
			   text("^([0-9]+r[0-9]+n [0-9]+ )?" WHY "$"))));
	with(all, NT_STEP_NAMES,
	     array_of(with(object_of("string"), "pattern", text("^[0-9]+r[0-9]+n .+$"))));
	with(all, NT_STEP_REST,
	     array_of(with(object_of("string"), "pattern", text("^[0-9]+ [a-z]+$"))));
	with(all, NT_STEP_FINDINGS,
	     array_of(with(object_of("string"), "pattern", text("^[a-z]+(:.*)?$"))));
	with(all, NT_STEP_MORE, count());
	return with(schema, "patternProperties",
		    with(json_object_new_object(), "^[0-9]+r[0-9]+n( .*)?$", family));
}

/* Other programs' members in the same text are not described. */
static json_object *job_schema(void)
{
	json_object *ours = map_of("^([0-9]+([+][0-9]+)?|batch)$", step());
	json_object *all = json_object_new_object(), *required = json_object_new_array();
	json_object *top = object_of("object"), *needs = json_object_new_array();

	with(all, "v",
	     with(json_object_new_object(), "const", json_object_new_int(NT_RECORD_VERSION)));
	with(all, NT_STEP_MORE, count());
	with(all, NT_STEP_SAYS, bounded(NT_SAYS_MAX));
	json_object_array_add(required, text("v"));
	with(ours, "required", required);
	with(ours, "properties", all);
	json_object_array_add(needs, text(NT_RECORD_KEY));
	with(top, "required", needs);
	with(top, "properties", with(json_object_new_object(), NT_RECORD_KEY, ours));
	return titled(top, "nccl-tune: the record of a job, its short form, version 1");
}

static json_object *step_schema(void)
{
	return titled(step(), "nccl-tune: the record of a step, its short form, version 1");
}

static json_object *texts(const char *const names[])
{
	json_object *schema = object_of("object"), *all = json_object_new_object();

	for (size_t i = 0; names[i]; i++)
		with(all, names[i], object_of("string"));
	return with(schema, "properties", all);
}

/* All forms of a key, each with its required members. */
static json_object *key_schema(void)
{
	json_object *schema = fields_of(&nt_key_fields);

	json_object_object_del(schema, "required");
	with(properties(schema), NT_RANK_TRIAL, trial());
	return titled(schema, "nccl-tune: a key in a record or a report, version 1");
}

static json_object *report_key(void)
{
	json_object *schema = key_in(&nt_report_key_fields), *all = json_object_new_object();

	with(all, "call_us", times(1, 2));
	with(all, "call_own", object_of("boolean"));
	with(all, "algbw_gbs", times(1, 2));
	with(all, "busbw_gbs", times(1, 2));
	with(all, "says", object_of("string"));
	with(all, "advice", object_of("string"));
	with(all, "arms", array_of(fields_of(&nt_explored_arm_fields)));
	return with(schema, "properties", all);
}

static json_object *lateness(void)
{
	static const char *const names[] = { "late", "node", NULL }, *const node[] = { "node",
										       NULL };
	json_object *schema = texts(names), *all = properties(schema), *rank = texts(node);

	with(properties(rank), "rank", count());
	with(properties(rank), "us", times(1, NT_LATENESS_SLICES));
	with(all, "calls", count());
	with(all, "waiting", number(0, 1));
	with(all, "rank", count());
	with(all, "late_calls", count());
	with(all, "late_us", from_zero());
	with(all, "cost", number(0, 1));
	with(all, "from_s", times(1, NT_LATENESS_SLICES));
	with(all, "ranks", array_of(rank));
	return schema;
}

static json_object *member(void)
{
	static const char *const names[] = { "id", "name", "state", "why", NULL };
	static const char *const node[] = { "node", NULL };
	json_object *schema = texts(names), *place = texts(node), *volume = object_of("object");
	json_object *all = json_object_new_object(), *begun = json_object_new_object();

	with(begun, "rank", count());
	with(begun, "begun", count());
	with(begun, "ended", count());
	with(begun, "seen", count());
	with(properties(schema), "calls", array_of(with(object_of("object"), "properties", begun)));
	with(properties(place), "ranks", array_of(count()));
	with(properties(schema), "places", array_of(place));
	with(all, "coll", colls(NT_KINDS));
	with(all, "calls", count());
	with(all, "bytes", from_zero());
	with(all, "inside_bytes", from_zero());
	with(all, "between_bytes", from_zero());
	with(properties(schema), "volumes", array_of(with(volume, "properties", all)));
	with(properties(schema), "lateness", lateness());
	return schema;
}

static json_object *report_comm(void)
{
	static const char *const names[] = { "name", "parallel", NULL };
	json_object *schema = texts(names), *all = properties(schema);

	with(all, "ranks", count());
	with(all, "nodes", count());
	with(all, "comms", count());
	with(all, "keys", array_of(report_key()));
	with(all, "members", array_of(member()));
	return schema;
}

static json_object *report_node(void)
{
	static const char *const names[] = { "node", "id", "lack", "trouble", NULL };
	static const char *const counts[] = { "ranks",	    "nodes", "gpus",	 "nvlinks",
					      "pcie_lanes", "nics",  "nics_mbps" };
	static const char *const paths[] = { "intra", "inter", NULL };
	json_object *schema = texts(names), *all = properties(schema);

	for (size_t i = 0; i < LENGTH(counts); i++)
		with(all, counts[i], count());
	with(all, "pcie_gts", number(0, NT_NUMBER_MAX));
	for (int i = 0; i < 2; i++) {
		json_object *links = texts(paths);

		with(properties(links), "channels", count());
		with(properties(links), "intra_gbs", number(0, NT_NUMBER_MAX));
		with(properties(links), "inter_gbs", number(0, NT_NUMBER_MAX));
		with(all, i ? "tree" : "ring", links);
	}
	return schema;
}

static json_object *report_step(void)
{
	static const char *const said[] = { "why", "text", "says", "advice", NULL };
	static const char *const of[] = { "of", NULL };
	static const char *const found[] = { "code", "node", "text", "says", "advice", NULL };
	json_object *finding = texts(found);
	json_object *schema = fields_of(&nt_step_fields), *all = properties(schema);
	json_object *topology = texts(of), *untuned = texts(said);
	json_object *stacks = fields_of(&nt_stacks_fields);

	json_object_object_del(schema, "required"); /* damage may have taken it */
	with(properties(topology), "nodes", array_of(report_node()));
	with(properties(topology), "others", array_of(report_node()));
	with(all, "step", object_of("string"));
	with(all, "whole", object_of("boolean"));
	with(all, "running", object_of("boolean"));
	with(all, "calibrates", object_of("boolean"));
	with(all, "communicators", array_of(report_comm()));
	with(properties(untuned), "ranks", count());
	with(properties(untuned), "nodes", count());
	with(properties(untuned), "comms", count());
	with(all, "untuned", array_of(untuned));
	with(properties(finding), "certain", object_of("boolean"));
	with(all, NT_STEP_FINDINGS, array_of(finding));
	with(all, NT_STEP_REST, map_of("^[a-z]", count()));
	with(all, NT_STEP_MORE, count());
	with(all, "damaged", array_of(object_of("string")));
	with(properties(stacks), NT_STACKS_LINES, array_of(object_of("string")));
	with(properties(stacks), "node", object_of("string"));
	with(properties(stacks), "top", object_of("string"));
	with(all, "stacks", array_of(stacks));
	with(all, "topology", topology);
	return schema;
}

static json_object *report_gain(void)
{
	static const char *const names[] = { "says", "profile", "without_by", NULL };
	static const char *const numbers[] = { "step_us",	 "without_us",	"saved_ms",
					       "calls_saved_ms", "explored_ms", "calibrated_ms",
					       "net_ms",	 "pays_s",	"pays_steps" };
	json_object *gain = texts(names);

	for (size_t i = 0; i < LENGTH(numbers); i++)
		with(properties(gain), numbers[i], number(-NT_NUMBER_MAX, NT_NUMBER_MAX));
	return gain;
}

/* The output of nccl-tune report --json. */
static json_object *report_schema(void)
{
	static const char *const says[] = { "says", "advice", NULL };
	static const char *const names[] = { "job",	"name",	     "user", "state",
					     "cluster", "partition", NULL };
	json_object *job = texts(names), *top = object_of("object");
	json_object *all = json_object_new_object(), *required = json_object_new_array();

	with(properties(job), "gain", report_gain());
	with(properties(job), "verdict", array_of(texts(says)));
	with(properties(job), "steps", array_of(report_step()));
	with(properties(job), NT_STEP_MORE, count());
	with(properties(job), "nodes", count());
	with(properties(job), "start", count());
	with(properties(job), "elapsed_s", count());
	with(properties(job), "damaged", array_of(object_of("string")));
	with(all, "v",
	     with(json_object_new_object(), "const", json_object_new_int(NT_REPORT_VERSION)));
	with(all, "jobs", array_of(job));
	json_object_array_add(required, text("v"));
	json_object_array_add(required, text("jobs"));
	with(top, "required", required);
	return titled(with(top, "properties", all),
		      "nccl-tune: what nccl-tune report --json prints, version 1");
}

static void with_times(json_object *all)
{
	with(all, "saved_rank_s", number(-NT_NUMBER_MAX, NT_NUMBER_MAX));
	with(all, "spent_rank_s", from_zero());
	with(all, "net_rank_s", number(-NT_NUMBER_MAX, NT_NUMBER_MAX));
}

static void with_sum(json_object *all)
{
	json_object *jobs = json_object_new_object();

	for (int i = 0; i < NT_JOB_OUTCOMES; i++)
		with(jobs, nt_job_outcome_name((enum nt_job_outcome)i), count());
	with(all, "jobs", with(object_of("object"), "properties", jobs));
	with(all, "keys", count());
	with(all, "decided", count());
	with(all, "chosen", count());
	with(all, "calls", count());
	with_times(all);
	with(all, "comm_rank_s", from_zero());
	with(all, "launch_saved_rank_s", number(-NT_NUMBER_MAX, NT_NUMBER_MAX));
	with(all, "calibration_rank_s", from_zero());
}

/* The output of nccl-tune summary --json. */
static json_object *summary_schema(void)
{
	static const char *const names[] = { "cluster", "name", NULL };
	json_object *top = object_of("object"), *all = json_object_new_object();
	json_object *by = json_object_new_object();

	with(all, "since", count());
	with(all, "until", count());
	with_sum(all);
	with(all, "users", count());
	with(all, "left_out", count());
	for (int i = 0; i < NT_SITE_STATS_BYS; i++) {
		json_object *group = texts(names);

		with_sum(properties(group));
		with(by, nt_site_stats_by_name((enum nt_site_stats_by)i), array_of(group));
	}
	with(all, "by", with(object_of("object"), "properties", by));
	return titled(with(top, "properties", all),
		      "nccl-tune: what nccl-tune summary --json prints, version 1");
}

/* The lines behind it are a step's record, a rank's, a topology, calls, or a text. */
static json_object *long_schema(void)
{
	return titled(fields_of(&nt_long_fields),
		      "nccl-tune: the first line of a part of a step's long form, version 1");
}

static json_object *topology_schema(void)
{
	json_object *schema = fields_of(&nt_topology_fields), *all = properties(schema);
	json_object *graph = fields_of(&nt_graph_fields), *path = json_object_new_object();

	with(path, NT_PATH_IN, count());
	with(path, NT_TOPOLOGY_GPU_LIST, array_of(count()));
	with(path, NT_PATH_OUT, count());
	with(properties(graph), NT_GRAPH_PATHS,
	     array_of(with(object_of("object"), "properties", path)));
	with(all, NT_TOPOLOGY_GPU_LIST, array_of(fields_of(&nt_gpu_fields)));
	with(all, NT_TOPOLOGY_NIC_LIST, array_of(fields_of(&nt_nic_fields)));
	with(all, NT_TOPOLOGY_GRAPHS, array_of(graph));
	return titled(schema, "nccl-tune: what NCCL found of a node, in its long form, version 1");
}

static json_object *calls_schema(void)
{
	json_object *schema = fields_of(&nt_calls_fields), *all = properties(schema);
	json_object *comm = fields_of(&nt_calls_comm_fields);

	with(properties(comm), NT_CALLS_LAST_LIST, array_of(fields_of(&nt_calls_last_fields)));
	with(all, NT_CALLS_COMM_LIST, array_of(comm));
	return titled(schema, "nccl-tune: calls of a process's ranks, in the long form, version 1");
}

static json_object *stacks_schema(void)
{
	json_object *schema = fields_of(&nt_stacks_fields);

	with(properties(schema), NT_STACKS_LINES, array_of(object_of("string")));
	return titled(schema, "nccl-tune: stacks of a rank, in the long form, version 1");
}

static const struct {
	const char *name;
	json_object *(*make)(void);
} schemas[] = {
	{ "key", key_schema },	     { "long", long_schema },	{ "rank", rank_schema },
	{ "step", step_schema },     { "job", job_schema },	{ "topology", topology_schema },
	{ "report", report_schema }, { "calls", calls_schema }, { "summary", summary_schema },
	{ "stacks", stacks_schema },
};

static void schemas_are_what_the_tables_say(void **state)
{
	unsigned other = 0;

	for (size_t i = 0; i < LENGTH(schemas); i++) {
		json_object *made = schemas[i].make();
		const char *top = getenv("top_srcdir");
		json_object *kept;
		char path[512];
		bool same;

		snprintf(path, sizeof(path), "%s/docs/schema/%s.schema.json", top ? top : ".",
			 schemas[i].name);
		kept = json_object_from_file(path);
		same = kept && json_object_equal(made, kept);
		table_file_path(path, sizeof(path), "docs/schema", schemas[i].name, ".schema.json");
		if (!same)
			json_object_to_file_ext(path, made,
						JSON_C_TO_STRING_PRETTY |
							JSON_C_TO_STRING_NOSLASHESCAPE |
							JSON_C_TO_STRING_SPACED);
		json_object_put(made);
		json_object_put(kept);
		other += !same;
		if (!same)
			print_error(
				"docs/schema/%s.schema.json is not what the tables say: see %s\n",
				schemas[i].name, path);
	}
	assert_int_equal(other, 0);
}

UNIT_TESTS(schemas_are_what_the_tables_say);
