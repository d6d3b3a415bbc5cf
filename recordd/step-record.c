/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Make the step's record. */
#include "recordd/step-record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "record/shortform.h"
#include "recordd/collect.h"
#include "recordd/state.h"
#include "recordd/step-entry.h"

/* nt_step_check() counts braces. */
static void without_braces(char *text)
{
	for (; *text; text++) {
		if (*text == '{' || *text == '}')
			*text = *text == '{' ? '(' : ')';
	}
}

static void note_ticket(struct nt_step *step, const struct nt_ticket *ticket)
{
	snprintf(step->program, sizeof(step->program), "%s", ticket->program);
	snprintf(step->launch, sizeof(step->launch), "%s", ticket->profile);
	nt_settings_text(&ticket->settings, step->set, sizeof(step->set));
	snprintf(step->left, sizeof(step->left), "%s", ticket->left);
	snprintf(step->from, sizeof(step->from), "%s",
		 ticket->from[0] && strcmp(ticket->from, nt_why_text((int)ticket->why)) != 0
			 ? ticket->from
			 : nt_why_name((int)ticket->why));
	without_braces(step->from);
	if (ticket->expected > 0)
		step->expected = ticket->expected;
}

static void note_place(struct nt_step *step, const struct nt_where *where)
{
	snprintf(step->fingerprint, sizeof(step->fingerprint), "%016" PRIx64, where->fingerprint);
	if (where->fabric != NT_FABRIC_ANY)
		snprintf(step->fabric, sizeof(step->fabric), "%s",
			 nt_fabric_name((int)where->fabric));
	snprintf(step->driver, sizeof(step->driver), "%s", where->driver);
	if (where->user_env != 0)
		step->user_env = where->user_env;
	step->per_node = where->per_node;
}

static void note_calibration(struct nt_step *step, const struct nt_calibrated *calibration)
{
	step->calibration_s = calibration->seconds;
	step->calibration_ranks = (int64_t)calibration->nodes * calibration->per_node;
	if (calibration->gain > 0)
		step->calibration_gain = calibration->gain;
	if (calibration->deviation > 0)
		step->calibration_deviation = calibration->deviation;
	snprintf(step->calibration_why, sizeof(step->calibration_why), "%s", calibration->why);
	without_braces(step->calibration_why);
}

static void note_step(const struct nt_sum_head *head, struct nt_step *step)
{
	*step = (struct nt_step){ 0 };
	nt_fields_clear(&nt_step_fields, step);
	step->ranks = head->tasks;
	step->nodes = head->nodes;
	snprintf(step->mode, sizeof(step->mode), "%s", head->mode);
	step->early = !head->final;
	step->run = head->run;
	if (head->ticket)
		note_ticket(step, head->ticket);
	if (head->ticket && head->where)
		note_place(step, head->where);
	if (head->calibration)
		note_calibration(step, head->calibration);
	if (head->next_s > 0)
		step->next_calibration_s = head->next_s;
	if (head->measured > 0)
		step->measured = head->measured;
	if (head->remark)
		snprintf(step->remark, sizeof(step->remark), "%s", head->remark);
	without_braces(step->remark);
	if (head->slower)
		snprintf(step->slower, sizeof(step->slower), "%s", head->slower);
}

size_t nt_sum_format(struct nt_sum *sum, const struct nt_sum_head *head, char *out,
		     size_t out_bytes)
{
	struct nt_summary summary;
	struct nt_step step;
	size_t used = 0;

	if (sum->records == 0 && sum->unusable == 0 && sum->calls_count == 0)
		return 0;
	note_step(head, &step);
	sum->flags |= head->flags;
	nt_summary_init(&summary);
	if (nt_summary_add_sum(&summary, sum, &step, NULL) == 0) {
		nt_summary_keep_findings(&summary, head->findings);
		used = nt_short_format(&summary, out, out_bytes);
	}
	nt_summary_fini(&summary);
	return used;
}

void nt_step_read_init(struct nt_step_read *read, const struct nt_arguments *arguments)
{
	memset(read, 0, sizeof(*read));
	nt_sum_init(&read->sum);
	read->launched = nt_ticket_parse(&read->ticket, arguments->ticket, NULL) == 0;
}

static void take_calibration(struct nt_step_read *read, const struct nt_collected *item)
{
	if (!read->launched || read->calibrated || !item->text)
		return;
	read->calibrated = nt_calibrated_parse(&read->calibration, item->text, item->bytes, NULL) ==
			   0;
	if (read->calibrated)
		nt_calibrated_apply(&read->calibration, &read->ticket);
	else
		nt_calibrated_fini(&read->calibration);
}

void nt_step_read_add(struct nt_step_read *read, const struct nt_collected *item,
		      const struct nt_arguments *arguments)
{
	if (item->kind == NT_COLLECTED_CALIBRATION)
		take_calibration(read, item);
	else
		nt_collect_add(&read->sum, item, arguments->job, arguments->step);
}

struct adder {
	struct nt_step_read *read;
	const struct nt_arguments *arguments;
};

static void add_item(void *argument, struct nt_collected *item)
{
	const struct adder *adder = argument;

	nt_step_read_add(adder->read, item, adder->arguments);
}

void nt_step_collect(const struct nt_recordd *recordd, nt_collect_visit *visit, void *argument)
{
	const struct nt_arguments *arguments = &recordd->arguments;

	/* Without the memory there is nothing. */
	(void)nt_collect_each(recordd->shm_fd, visit, argument, NULL);
	nt_collect_beside(arguments->node, arguments->job, arguments->step, visit, argument);
}

void nt_step_record_read(const struct nt_recordd *recordd, struct nt_step_read *read)
{
	struct adder adder = { read, &recordd->arguments };

	nt_step_read_init(read, &recordd->arguments);
	nt_step_collect(recordd, add_item, &adder);
}

void nt_step_read_fini(struct nt_step_read *read)
{
	nt_sum_fini(&read->sum);
	if (read->calibrated)
		nt_calibrated_fini(&read->calibration);
}

size_t nt_step_record_size(const struct nt_arguments *arguments)
{
	const size_t kept = nt_longform_reserve(arguments);

	return NT_STEP_RECORD_MAX - (kept < NT_STEP_RECORD_MAX / 4 ? kept : 0);
}

size_t nt_step_record_make(const struct nt_recordd *recordd, struct nt_step_read *read,
			   const struct nt_step_memory *remembered,
			   char text[NT_STEP_RECORD_MAX + 2])
{
	const struct nt_arguments *arguments = &recordd->arguments;
	const size_t most = nt_step_record_size(arguments);
	/* Another node may have a finding that matters more than the last row. */
	const size_t size = most - (nt_longform_of_nodes(arguments) ? NT_FINDING_BYTES : 0);
	struct nt_sum *sum = &read->sum;
	struct nt_where where;
	const struct nt_sum_head head = {
		.mode = arguments->mode,
		.flags = arguments->flags,
		.tasks = arguments->tasks,
		.nodes = arguments->nodes,
		.findings = arguments->findings,
		.final = recordd->final,
		.run = arguments->run,
		.ticket = read->launched ? &read->ticket : NULL,
		.calibration = read->calibrated ? &read->calibration : NULL,
		.next_s = remembered ? remembered->next_s : 0,
		.where = read->launched && !nt_step_entry_where(
						   sum, arguments, &read->ticket,
						   remembered && remembered->hosts_alike, &where)
				 ? &where
				 : NULL,
		.measured = remembered ? remembered->measured : 0,
		.remark = remembered ? remembered->remark : NULL,
		.slower = remembered ? remembered->slower : NULL,
	};

	/* Ranks of other nodes may have fallen behind: then all parts are needed. */
	text[0] = !recordd->final && nt_sum_still(sum) ? NT_STEP_IS_STILL
		  : nt_sum_decided(sum)		       ? NT_STEP_HAS_DECIDED
						       : NT_STEP_GOES_ON;
	return 1 + nt_sum_format(sum, &head, text + 1, size + 1);
}
