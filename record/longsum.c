/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of all parts. */
#include "record/longset.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "record/member-names.h"
#include "lib/append.h"
#include "lib/printable.h"
#include "record/read.h"
#include "record/stacks.h"
#include "record/sum.h"
#include "record/topology.h"

#define STACKS_MAX 4096 /* of a job; more are left out */

struct part_reader {
	struct nt_summary *summary;
	struct nt_sum sum;
	struct nt_step step; /* what its first node says of it */
	bool told; /* it has said so */
	struct nt_error damage; /* the first; "": none */
	size_t damaged; /* parts */
};

/* The step's members; its rows are computed anew. */
static void take_step(struct part_reader *reader, struct nt_text value)
{
	struct nt_step step = reader->step;
	json_object *object = NULL;

	nt_fields_clear(&nt_step_fields, &step);
	if (nt_json_parse(value.at, value.bytes, &object, NULL) == 0 &&
	    json_object_is_type(object, json_type_object) &&
	    nt_fields_read(&nt_step_fields, object, &step, NT_READ_TO_COPY, NULL) == 0) {
		reader->step = step;
		reader->told = true;
	}
	json_object_put(object);
}

static void add_stacks(struct nt_summary *summary, const char *node, struct nt_text value)
{
	struct nt_stacks stacks, *seen;

	if (summary->stacks_count == STACKS_MAX || nt_stacks_read(&stacks, value) < 0)
		return;
	seen = NT_SUMMARY_ADD(summary, stacks, stacks_count);
	if (!seen) {
		json_object_put(stacks.line_array);
		return;
	}
	*seen = stacks;
	seen->step = summary->step_count; /* the next one */
	snprintf(seen->node, sizeof(seen->node), "%s", node);
}

static int take_line(void *argument, const struct nt_long_part *part, struct nt_text name,
		     struct nt_text value, struct nt_error *err)
{
	struct part_reader *reader = argument;
	struct nt_error why;
	char text[240];

	(void)err;
	if (nt_text_is(name, NT_LONG_STEP) && !reader->told)
		take_step(reader, value);
	/* The step will be the next one. */
	if (nt_text_is(name, NT_LONG_TOPOLOGY))
		nt_topology_add(reader->summary, reader->summary->step_count, part->head.node,
				value);
	if (nt_text_is(name, NT_LONG_STACKS))
		add_stacks(reader->summary, part->head.node, value);
	if (nt_text_is(name, NT_LONG_CALLS))
		(void)nt_sum_add_begun(&reader->sum, value.at, value.bytes, &why);
	if (!nt_text_is(name, NT_LONG_RANK) ||
	    nt_sum_add_record(&reader->sum, value.at, value.bytes, (uint32_t)part->head.job,
			      NT_SUM_ANY, &why) == 0)
		return 0;
	snprintf(text, sizeof(text), "%.63s: %.150s", part->head.node, why.text);
	nt_sum_add_unusable(&reader->sum, nt_printable(text));
	return 0;
}

static void take_damage(void *argument, const char *path, const char *why)
{
	struct part_reader *reader = argument;
	const char *name = strrchr(path, '/');

	if (reader->damaged++ == 0)
		nt_error_set(&reader->damage, "%.120s: %.100s", name ? name + 1 : path, why);
}

static void add_damage(struct part_reader *reader, const char *text)
{
	struct nt_remark *remark = NT_SUMMARY_ADD(reader->summary, remarks, remark_count);

	if (!remark)
		return;
	remark->kind = NT_REMARK_DAMAGE;
	memcpy(remark->step, reader->step.name, sizeof(remark->step));
	nt_printable_copy(remark->text, sizeof(remark->text), text, strlen(text));
}

/* Nodes that others name and that have no part. */
static void add_missing(struct part_reader *reader, size_t first_node)
{
	const struct nt_summary *summary = reader->summary;
	char text[200] = "", names[120] = "";
	size_t count = 0;

	for (size_t i = first_node; i < summary->node_count; i++) {
		const struct nt_node_seen *node = &summary->nodes[i];

		if (node->records > 0)
			continue;
		if (strlen(names) < sizeof(names) - 20)
			nt_append(names, sizeof(names), "%s%.60s", names[0] ? ", " : "",
				  node->name);
		count++;
	}
	if (count == 0)
		return;
	snprintf(text, sizeof(text), "the long form has no part of %zu of its nodes: %s", count,
		 names);
	add_damage(reader, text);
}

static void add_damages(struct part_reader *reader, size_t first_node)
{
	char text[240];

	if (reader->damaged > 1)
		snprintf(text, sizeof(text), "%zu parts of the long form, %.180s", reader->damaged,
			 reader->damage.text);
	else
		snprintf(text, sizeof(text), "a part of the long form, %.200s",
			 reader->damage.text);
	if (reader->damaged > 0)
		add_damage(reader, text);
	add_missing(reader, first_node);
}

/* What was known later than the first node's part. */
static void take_known(struct nt_step *step, const struct nt_summary *known)
{
	const struct nt_step *found = known ? nt_summary_step(known, step->name) : NULL;

	if (found)
		*step = *found;
	/* Computed anew, from all nodes. */
	step->more = step->early = 0;
	step->as_of_s = -1;
	step->heard = -1;
	step->comm_ms = step->spent_ms = step->saved_ms = step->estimated_ms = NAN;
}

/* Only early parts, while a final record is known? */
static bool is_behind(const struct nt_long_set *parts, const struct nt_summary *known)
{
	const struct nt_step *step = known ? nt_summary_step(known, parts->parts[0].head.step)
					   : NULL;

	for (size_t i = 0; i < parts->count; i++) {
		if (parts->parts[i].head.final)
			return false;
	}
	return step && step->early == 0;
}

/* parts: of one step. */
static int add_step(struct nt_summary *summary, const struct nt_long_set *parts,
		    const struct nt_summary *known, struct nt_error *err)
{
	struct part_reader reader = { .summary = summary };
	struct nt_long_set set = *parts;
	size_t first_node = summary->node_count;
	bool early = false;
	int rc;

	nt_sum_init(&reader.sum);
	nt_fields_clear(&nt_step_fields, &reader.step);
	memcpy(reader.step.name, set.parts[0].head.step, sizeof(reader.step.name));
	set.complain = take_damage;
	set.argument = &reader;
	rc = nt_long_set_each(&set, take_line, &reader, err);
	for (size_t i = 0; i < set.count; i++)
		early = early || !set.parts[i].head.final;
	take_known(&reader.step, known);
	reader.step.early = early;
	reader.step.run = set.parts[0].head.run;
	if (rc == 0)
		rc = nt_summary_add_sum(summary, &reader.sum, &reader.step, err);
	nt_sum_fini(&reader.sum);
	if (rc == 0)
		add_damages(&reader, first_node);
	return rc == 0 && summary->no_memory ? nt_error_set(err, "no memory for the record") : rc;
}

int nt_long_set_summary(const struct nt_long_set *set, struct nt_summary *summary,
			const char *only_step, const struct nt_summary *known, struct nt_error *err)
{
	size_t start = 0, text_bytes = 0;

	while (start < set->count) {
		struct nt_long_set parts = *set;
		const char *step = set->parts[start].head.step;

		parts.parts = set->parts + start;
		parts.count = 1;
		parts.text_bytes = &text_bytes;
		while (start + parts.count < set->count &&
		       strcmp(parts.parts[parts.count].head.step, step) == 0)
			parts.count++;
		start += parts.count;
		if ((!only_step || nt_step_name_matches(step, only_step)) &&
		    !is_behind(&parts, known) && add_step(summary, &parts, known, err) < 0)
			return -1;
	}
	return 0;
}
