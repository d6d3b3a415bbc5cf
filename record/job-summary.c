/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing in the text is trusted: it may have been cut, or be another version's. */
#include "record/job-summary.h"

#include <ctype.h>
#include <json.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/array.h"
#include "lib/compare.h"
#include "record/row-time.h"
#include "record/member-names.h"
#include "lib/number.h"
#include "lib/printable.h"
#include "record/rankread.h"
#include "record/read.h"
#include "lib/json-scanner.h"

struct record_reader {
	struct nt_summary *summary;
	const char *step; /* "" outside any */
	const char *only_step;
	uint64_t runs; /* whose steps are read */
	bool steps_alone; /* of a text that another run's is */
};

void nt_summary_init(struct nt_summary *summary)
{
	memset(summary, 0, sizeof(*summary));
}

void nt_summary_fini(struct nt_summary *summary)
{
	free(summary->steps);
	free(summary->rows);
	free(summary->remarks);
	free(summary->families);
	for (size_t i = 0; i < summary->comm_count; i++)
		nt_comm_seen_fini(&summary->comms[i]);
	free(summary->comms);
	free(summary->nodes);
	free(summary->arms);
	free(summary->dropped);
	free(summary->topologies);
	for (size_t i = 0; i < summary->stacks_count; i++)
		json_object_put(summary->stacks[i].line_array);
	free(summary->stacks);
	free(summary->findings);
	nt_summary_init(summary);
}

void *nt_summary_add(struct nt_summary *summary, void *items, size_t *count, size_t item_bytes)
{
	void *item = nt_array_add(items, count, NT_SUMMARY_MAX, item_bytes);

	summary->no_memory = summary->no_memory || !item;
	return item;
}

const struct nt_step *nt_summary_step(const struct nt_summary *summary, const char *name)
{
	for (size_t i = 0; i < summary->step_count; i++) {
		if (strcmp(summary->steps[i].name, name) == 0)
			return &summary->steps[i];
	}
	return NULL;
}

void nt_summary_mark_running(struct nt_summary *summary, bool job_runs, unsigned run)
{
	for (size_t i = 0; i < summary->step_count; i++) {
		struct nt_step *step = &summary->steps[i];

		step->running = job_runs && step->early != 0 && step->run >= (int64_t)run;
	}
}

void nt_summary_keep_findings(struct nt_summary *summary, uint32_t codes)
{
	size_t kept = 0;

	for (size_t i = 0; i < summary->finding_count; i++) {
		if (codes >> summary->findings[i].finding.id & 1)
			summary->findings[kept++] = summary->findings[i];
	}
	summary->finding_count = kept;
}

bool nt_summary_damaged(const struct nt_summary *summary)
{
	for (size_t i = 0; i < summary->remark_count; i++) {
		if (summary->remarks[i].kind == NT_REMARK_DAMAGE)
			return true;
	}
	return false;
}

static struct nt_remark *add_remark(struct record_reader *reader, enum nt_remark_kind kind)
{
	struct nt_remark *remark = NT_SUMMARY_ADD(reader->summary, remarks, remark_count);

	if (!remark)
		return NULL;
	remark->kind = kind;
	snprintf(remark->step, sizeof(remark->step), "%s", reader->step);
	return remark;
}

static void damage(struct record_reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void damage(struct record_reader *reader, const char *format, ...)
{
	struct nt_remark *remark = add_remark(reader, NT_REMARK_DAMAGE);
	char text[sizeof(remark->text)];
	va_list args;

	if (!remark)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	nt_printable_copy(remark->text, sizeof(remark->text), text, strlen(text));
}

/* Entries of a step that had no room, and steps of the record. */
static const struct nt_field step_more = { .name = NT_STEP_MORE,
					   .kind = NT_FIELD_TALLY,
					   .offset = offsetof(struct nt_step, more) };
static const struct nt_field more_steps = { .name = NT_STEP_MORE,
					    .kind = NT_FIELD_TALLY,
					    .offset = offsetof(struct nt_summary, more_steps) };

/* The short form has no state: it follows from the rest. */
static int row_state(const struct nt_key *row, const char *mode)
{
	if (row->arm != NT_ARM_BASELINE)
		return NT_KEYSTATE_COMMITTED;
	if (row->reason == NT_REASON_OBSERVED)
		return NT_KEYSTATE_OBSERVED;
	if (nt_reason_about(row->reason) == NT_ABOUT_OPEN_KEY)
		return row->reason == NT_REASON_UNFINISHED ? NT_KEYSTATE_EXPLORING
							   : NT_KEYSTATE_COUNTED;
	if (nt_reason_about(row->reason) == NT_ABOUT_KEY)
		return NT_KEYSTATE_KEPT;
	if (strcmp(mode, "observe") == 0)
		return NT_KEYSTATE_OBSERVED;
	return isnan(row->arm_us) ? NT_KEYSTATE_EXPLORING : NT_KEYSTATE_KEPT;
}

static void read_row(struct record_reader *reader, const char *label, json_object *value,
		     const char *shape, struct nt_key *row)
{
	struct nt_summary *summary = reader->summary;
	struct nt_key *added;
	struct nt_error err;
	size_t bytes;

	row->step = summary->step_count - 1;
	nt_fields_clear(&nt_key_fields, row);
	row->arm = row->auto_arm = NT_ARM_BASELINE;
	if (nt_member_name_parse(label, &row->coll, &bytes) < 0) {
		damage(reader, "%s: unknown entry \"%.40s\" (want a collective and a size)", shape,
		       label);
		return;
	}
	row->bytes = (int64_t)bytes;
	if (nt_fields_read(&nt_short_key_fields, value, row, NT_READ_TO_SHOW, &err) < 0) {
		damage(reader, "%s, %s: %s", shape, label, err.text);
		return;
	}
	row->state = row_state(row, summary->steps[row->step].mode);
	added = NT_SUMMARY_ADD(summary, rows, row_count);
	if (added)
		*added = *row;
}

/* Returns its index; 0 without memory. */
static size_t add_family(struct record_reader *reader, const struct nt_key *row, const char *name)
{
	struct nt_summary *summary = reader->summary;
	struct nt_family *family = NT_SUMMARY_ADD(summary, families, family_count);

	if (!family)
		return 0;
	family->step = summary->step_count - 1;
	family->ranks = row->ranks;
	family->nodes = row->nodes;
	memcpy(family->name, name, sizeof(family->name));
	family->comms = -1;
	return summary->family_count - 1;
}

static void read_shape(struct record_reader *reader, const char *shape, json_object *entries)
{
	struct nt_key row = { .step = 0 };
	char name[NT_COMM_NAME];

	if (nt_family_parse(shape, &row.ranks, &row.nodes, name) < 0) {
		if (isdigit((unsigned char)shape[0])) /* else it is a later release's */
			damage(reader, "unknown member \"%.40s\"", shape);
		return;
	}
	if (!json_object_is_type(entries, json_type_object)) {
		damage(reader, "%s: not an object", shape);
		return;
	}
	row.family = add_family(reader, &row, name);
	json_object_object_foreach(entries, label, value)
		read_row(reader, label, value, shape, &row);
}

/* "8r2n 2 reason" of communicators, or a reason of the step. */
static int read_why(struct record_reader *reader, const char *text)
{
	struct nt_remark *remark = add_remark(reader, NT_REMARK_WHY);
	char shape[32], *end;
	size_t bytes = strcspn(text, " :|");
	long long comms;

	if (!remark)
		return 0;
	if (text[bytes] == ' ' && bytes < sizeof(shape)) {
		memcpy(shape, text, bytes);
		shape[bytes] = '\0';
		comms = strtoll(text + bytes, &end, 10);
		if (nt_shape_parse(shape, &remark->ranks, &remark->nodes) == 0 && *end == ' ') {
			remark->comms = comms < 1 ? 1 : comms;
			text = end + 1;
		}
	}
	nt_reason_read(&remark->why, text, strlen(text));
	return 0;
}

/* "2 small": omitted rows by reason. */
static int read_rest(struct record_reader *reader, const char *text)
{
	struct nt_step *step = &reader->summary->steps[reader->summary->step_count - 1];
	uint64_t count;
	const char *end = nt_number_read(text, NT_COUNT_MAX, &count);

	if (!end || *end != ' ')
		return -1;
	end++;
	step->rest[strcmp(end, NT_STEP_CHOSEN) == 0 ? NT_REASON_NONE : nt_reason_parse(end)] +=
		(int64_t)count;
	return 0;
}

/* "8r2n NAME": of a family that is called by its shape alone, which was read before. */
static int read_name(struct record_reader *reader, const char *text)
{
	struct nt_summary *summary = reader->summary;
	struct nt_family named;

	if (nt_family_parse(text, &named.ranks, &named.nodes, named.name) < 0)
		return -1;
	for (size_t i = 0; i < summary->family_count; i++) {
		struct nt_family *family = &summary->families[i];

		if (family->step == summary->step_count - 1 && family->ranks == named.ranks &&
		    family->nodes == named.nodes && !family->name[0])
			memcpy(family->name, named.name, sizeof(family->name));
	}
	return 0;
}

/* A later release's findings are left out. */
static int read_finding(struct record_reader *reader, const char *text)
{
	struct nt_finding_seen *added;
	struct nt_finding finding;

	if (nt_finding_read(&finding, text, strlen(text)) < 0)
		return 0;
	added = NT_SUMMARY_ADD(reader->summary, findings, finding_count);
	if (added)
		*added = (struct nt_finding_seen){ .step = reader->summary->step_count - 1,
						   .finding = finding };
	return 0;
}

/* Members that are lists of texts. */
static const struct list {
	const char *name, *want;
	int (*read)(struct record_reader *reader, const char *text);
} lists[] = {
	{ NT_STEP_WHY, "text", read_why },
	{ NT_STEP_REST, "number and a reason", read_rest },
	{ NT_STEP_NAMES, "shape and a name", read_name },
	{ NT_STEP_FINDINGS, "text", read_finding },
};

static const struct list *find_list(const char *name)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (strcmp(lists[i].name, name) == 0)
			return &lists[i];
	}
	return NULL;
}

static void read_list(struct record_reader *reader, const struct list *list, json_object *array)
{
	if (!json_object_is_type(array, json_type_array)) {
		damage(reader, "%s is not an array", list->name);
		return;
	}
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		json_object *item = json_object_array_get_idx(array, i);

		if (!json_object_is_type(item, json_type_string) ||
		    list->read(reader, json_object_get_string(item)) < 0)
			damage(reader, "%s %zu is not a %s", list->name, i, list->want);
	}
}

static void read_step_field(struct record_reader *reader, json_object *object,
			    const struct nt_field *field, struct nt_step *step)
{
	json_object *value;
	struct nt_error err;

	if (!json_object_object_get_ex(object, field->name, &value)) {
		if (field->need == NT_MUST)
			damage(reader, "%s is missing", field->name);
	} else if (nt_field_read(field, value, step, NT_READ_TO_SHOW, &err) < 0) {
		damage(reader, "%s", err.text);
	}
}

/* Before the entries, which depend on the mode. */
static void read_step_head(struct record_reader *reader, json_object *object, struct nt_step *step)
{
	nt_fields_clear(&nt_step_fields, step);
	for (size_t i = 0; i < nt_step_fields.count; i++)
		read_step_field(reader, object, &nt_step_fields.field[i], step);
	read_step_field(reader, object, &step_more, step);
}

static void add_no_long(struct record_reader *reader, const char *why)
{
	struct nt_remark *remark = add_remark(reader, NT_REMARK_WHY);

	if (remark)
		nt_reason_setf(&remark->why, NT_REASON_NOT_IN_FULL, "%s", why);
}

static bool is_wanted(const struct record_reader *reader, const char *name, json_object *object)
{
	json_object *run = NULL;
	int64_t number = 0;

	if (reader->only_step && !nt_step_name_matches(name, reader->only_step))
		return false;
	if (json_object_is_type(object, json_type_object) &&
	    json_object_object_get_ex(object, NT_STEP_RUN, &run))
		number = json_object_get_int64(run);
	return number >= 0 && (reader->runs & NT_RUN_BIT(number)) &&
	       !nt_summary_step(reader->summary, name);
}

static void read_step(struct record_reader *reader, const char *name, json_object *object)
{
	struct nt_summary *summary = reader->summary;
	struct nt_step *step;

	if (!nt_step_name_valid(name)) {
		if (isdigit((unsigned char)name[0]) &&
		    !reader->steps_alone) /* else it is a later release's */
			damage(reader, "unknown member \"%.40s\" (want v or a step)", name);
		return;
	}
	if (!is_wanted(reader, name, object))
		return;
	reader->step = name;
	if (!json_object_is_type(object, json_type_object)) {
		damage(reader, "not an object");
		return;
	}
	step = NT_SUMMARY_ADD(summary, steps, step_count);
	if (!step)
		return;
	snprintf(step->name, sizeof(step->name), "%s", name);
	read_step_head(reader, object, step);
	if (step->no_long[0])
		add_no_long(reader, step->no_long);
	json_object_object_foreach(object, member, value)
	{
		if (find_list(member))
			read_list(reader, find_list(member), value);
		else if (strcmp(member, NT_STEP_MORE) != 0 &&
			 !nt_field_find(&nt_step_fields, member))
			read_shape(reader, member, value);
	}
}

struct json_member {
	const char *name;
	json_object *value;
};

static int compare_members(const void *left, const void *right)
{
	return nt_step_name_order(((const struct json_member *)left)->name,
				  ((const struct json_member *)right)->name);
}

/* Steps are written in the order in which they ended. */
static void read_steps(struct record_reader *reader, json_object *record)
{
	struct json_member *members = calloc((size_t)json_object_object_length(record),
					     sizeof(*members));
	size_t count = 0;

	reader->summary->no_memory |= !members;
	if (!members)
		return;
	json_object_object_foreach(record, name, value)
	{
		if (strcmp(name, "v") != 0 && strcmp(name, NT_STEP_MORE) != 0)
			members[count++] = (struct json_member){ name, value };
	}
	qsort(members, count, sizeof(*members), compare_members);
	for (size_t i = 0; i < count; i++) {
		reader->step = "";
		read_step(reader, members[i].name, members[i].value);
	}
	free(members);
}

static void read_record(struct record_reader *reader, json_object *record)
{
	json_object *more;
	struct nt_error err;

	if (nt_version_check(record, &err) < 0) {
		damage(reader, "%s", err.text);
		return;
	}
	if (!reader->steps_alone && json_object_object_get_ex(record, NT_STEP_MORE, &more) &&
	    nt_field_read(&more_steps, more, reader->summary, NT_READ_TO_SHOW, &err) < 0)
		damage(reader, "%s", err.text);
	read_steps(reader, record);
}

enum nt_holding nt_summary_holding(const char *text, size_t text_bytes)
{
	static const char key[] = "\"" NT_RECORD_KEY "\"";

	size_t start = 0;

	while (start < text_bytes && isspace((unsigned char)text[start]))
		start++;
	if (start == text_bytes)
		return NT_HOLDS_NOTHING;
	if (text[start] == '{' && memmem(text, text_bytes, key, sizeof(key) - 1))
		return NT_HOLDS_RECORD;
	return NT_HOLDS_OTHER;
}

static int compare_rows(const void *left, const void *right)
{
	const struct nt_key *a = left;
	const struct nt_key *b = right;

	NT_COMPARE(a->step, b->step);
	NT_COMPARE(a->ranks, b->ranks);
	NT_COMPARE(a->nodes, b->nodes);
	NT_COMPARE(a->family, b->family);
	NT_COMPARE_TEXT(nt_coll_name(a->coll), nt_coll_name(b->coll));
	NT_COMPARE(a->bytes, b->bytes);
	return 0;
}

void nt_summary_sort(struct nt_summary *summary)
{
	if (summary->row_count > 0)
		qsort(summary->rows, summary->row_count, sizeof(summary->rows[0]), compare_rows);
}

/* What a row omitted for lack of room and follows from the rest. */
static void complete(struct nt_key *row, const struct nt_step *step)
{
	double us = nt_row_all_us(row);
	double all_us = step->comm_ms * 1e3 * (double)step->ranks;

	nt_key_compare(row);
	if (isnan(row->share) && row->calls > 0 && step->ranks > 0 && all_us > 0 && !isnan(us))
		row->share = fmin(us / all_us, 1);
}

static void guess(struct nt_summary *summary, size_t at)
{
	struct nt_family *family = &summary->families[at];
	const struct nt_step *step = &summary->steps[family->step];
	struct nt_parallelism known = {
		.name = family->name,
		.ranks = family->ranks,
		.nodes = family->nodes,
		.step_ranks = (uint32_t)(step->ranks > 0 ? step->ranks : 0),
		.steps = step->steps,
	};

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];
		const int64_t comms = row->comms > 0 ? row->comms : 1;
		const int64_t calls = row->calls > 0 ? row->calls : 0;

		if (row->family != at)
			continue;
		if (comms > family->comms)
			family->comms = comms;
		if (row->coll == NT_P2P_ALLTOALL) {
			known.alltoall += calls;
		} else if (!nt_kind_tunable(row->coll)) {
			known.p2p += calls;
		} else {
			known.calls += calls / comms;
			known.bytes += (double)calls * (double)row->bytes / (double)comms;
		}
	}
	family->parallel = nt_parallelism_parallel(&known);
}

void nt_summary_guess(struct nt_summary *summary, size_t first_family)
{
	for (size_t i = first_family; i < summary->family_count; i++)
		guess(summary, i);
}

/* Of a valid text only our member is parsed: others' are not ours to judge. */
static void read_member(struct record_reader *reader, struct nt_text ours)
{
	json_object *record = NULL;
	struct nt_error reason;

	if (!nt_json_scan_is(ours, '{'))
		damage(reader, NT_RECORD_KEY " is not an object");
	else if (nt_json_parse(ours.at, ours.bytes, &record, &reason) < 0)
		damage(reader, "%s", reason.text);
	else
		read_record(reader, record);
	json_object_put(record);
}

/* A damaged text, or one without our member: the parser says what is wrong. */
static void read_damaged(struct record_reader *reader, struct nt_text text)
{
	json_object *object = NULL, *record;
	struct nt_error reason;

	if (nt_json_parse(text.at, text.bytes, &object, &reason) < 0)
		damage(reader, "%s", reason.text);
	if (object && json_object_object_get_ex(object, NT_RECORD_KEY, &record) &&
	    json_object_is_type(record, json_type_object))
		read_record(reader, record);
	else if (object)
		damage(reader, "no member " NT_RECORD_KEY " at the top");
	json_object_put(object);
}

int nt_summary_parse(struct nt_summary *summary, const char *text, size_t text_bytes,
		     const char *only_step, struct nt_error *err)
{
	return nt_summary_parse_runs(summary, text, text_bytes, only_step, NT_RUNS_ALL, err);
}

int nt_summary_parse_runs(struct nt_summary *summary, const char *text, size_t text_bytes,
			  const char *only_step, uint64_t runs, struct nt_error *err)
{
	struct record_reader reader = { .summary = summary,
					.step = "",
					.only_step = only_step,
					.runs = runs,
					.steps_alone = (runs & (runs - 1)) == 0 };
	const struct nt_text all = { text, text_bytes };
	struct nt_text ours;

	if (nt_summary_holding(text, text_bytes) != NT_HOLDS_RECORD)
		return 0;
	if (nt_json_scan_is(all, '{') && nt_json_scan_member(all, NT_RECORD_KEY, &ours))
		read_member(&reader, ours);
	else if (!reader.steps_alone)
		read_damaged(&reader, all);
	for (size_t i = 0; i < summary->row_count; i++)
		complete(&summary->rows[i], &summary->steps[summary->rows[i].step]);
	nt_summary_sort(summary);
	nt_summary_guess(summary, 0);
	return summary->no_memory ? nt_error_set(err, "no memory for the record") : 0;
}
