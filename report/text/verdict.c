/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences on what is faster and what stays; all sentences in order. */
#include "report/text/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/append.h"
#include "lib/compare.h"
#include "lib/table.h"
#include "report/model/row-time.h"
#include "report/model/topology-compare.h"
#include "report/text/verdict-maker.h"
#include "report/text/words.h"

static const struct nt_family *family_of(const struct nt_maker *maker, const struct nt_key *row)
{
	return &maker->summary->families[row->family];
}

/* Measured gains before estimates. */
static int by_worth(const void *left, const void *right)
{
	const struct nt_key *a = *(const struct nt_key *const *)left;
	const struct nt_key *b = *(const struct nt_key *const *)right;

	NT_COMPARE(nt_or_zero(b->saved_ms), nt_or_zero(a->saved_ms));
	NT_COMPARE(nt_or_zero(b->estimated_ms), nt_or_zero(a->estimated_ms));
	NT_COMPARE(a, b);
	return 0;
}

#define LAST_CALLS 0.95

static const char *saved_words(const struct nt_key *row, bool running, char *out, size_t out_bytes)
{
	char text[32];

	out[0] = '\0';
	if (row->saved_ms <= -NT_NOTHING_MS)
		snprintf(out, out_bytes, "; lost %s so far",
			 nt_duration_text(-row->saved_ms, text, sizeof(text)));
	else if (row->saved_ms >= NT_NOTHING_MS)
		snprintf(out, out_bytes, "; saved %s",
			 nt_duration_text(row->saved_ms, text, sizeof(text)));
	else if (!isnan(row->estimated_ms))
		snprintf(out, out_bytes, "; saved about %s, estimated from an earlier step",
			 nt_duration_text(row->estimated_ms, text, sizeof(text)));
	else if (!isnan(row->saved_ms) && row->calls > 0 && !running &&
		 (double)row->decided >= LAST_CALLS * (double)row->calls)
		snprintf(out, out_bytes, "; decided as the step ended, so nothing is saved yet");
	else if (!isnan(row->saved_ms))
		snprintf(out, out_bytes, "; nothing is saved yet");
	return out;
}

/* Is the arm, as its times are printed, no faster than NCCL's choice? The time saved follows from
 * other times, such as those to the next call, and does not count then. */
static bool denies_gain(const struct nt_key *row)
{
	char of_arm[32], of_auto[32];
	const double arm_us = nt_row_call_us(row, NT_OF_ARM);
	const double auto_us = nt_row_call_us(row, NT_OF_AUTO);

	return arm_us >= auto_us ||
	       (arm_us > 0 && strcmp(nt_time_text(arm_us, of_arm, sizeof(of_arm)),
				     nt_time_text(auto_us, of_auto, sizeof(of_auto))) == 0);
}

static int by_step(const void *left, const void *right)
{
	const struct nt_key *a = *(const struct nt_key *const *)left;
	const struct nt_key *b = *(const struct nt_key *const *)right;

	NT_COMPARE(a->step, b->step);
	return by_worth(left, right);
}

static bool has_untuned(const struct nt_summary *summary)
{
	for (size_t i = 0; i < summary->remark_count; i++) {
		if (summary->remarks[i].kind == NT_REMARK_WHY &&
		    nt_reason_about(summary->remarks[i].why.id) != NT_ABOUT_CALLS)
			return true;
	}
	return false;
}

static void say_gain(struct nt_maker *maker, const struct nt_key *row)
{
	char step[NT_STEP_PREFIX], size[24], shape[160], arm[96], of_arm[32], of_auto[32],
		saved[80];
	double arm_us = nt_row_call_us(row, NT_OF_ARM), auto_us = nt_row_call_us(row, NT_OF_AUTO);

	saved_words(row, maker->summary->steps[row->step].running, saved, sizeof(saved));
	if (denies_gain(row) && !(row->saved_ms <= -NT_NOTHING_MS))
		snprintf(saved, sizeof(saved), "; no gain is certain");
	nt_maker_prefix(maker->summary, row->step, step);
	nt_size_text(row->bytes, size, sizeof(size));
	nt_family_words(family_of(maker, row), shape, sizeof(shape));
	nt_arm_words(row->arm, arm, sizeof(arm));
	if (isnan(arm_us) || isnan(auto_us))
		nt_maker_say(maker, NT_SENTENCE_GAIN, "", "%s%s %s on %s: %s is in use%s%s.", step,
			     nt_coll_name(row->coll), size, shape, arm,
			     row->reason == NT_REASON_REMEMBERED ? ", remembered from an earlier "
								   "step"
								 : "",
			     saved);
	else
		nt_maker_say(maker, NT_SENTENCE_GAIN, "", "%s%s %s on %s: %s takes %s%s %s %s%s.",
			     step, nt_coll_name(row->coll), size, shape, arm,
			     nt_time_text(arm_us, of_arm, sizeof(of_arm)),
			     nt_row_duration_known(row) ? "" : " to the next call",
			     denies_gain(row) ? "and NCCL's choice" : "instead of NCCL's",
			     nt_time_text(auto_us, of_auto, sizeof(of_auto)), saved);
}

static void say_gains(struct nt_maker *maker, const struct nt_key **rows)
{
	const struct nt_summary *summary = maker->summary;
	/* Leave room for what was not tuned. */
	const size_t most = has_untuned(summary) ? 1 : NT_TOLD_MAX;
	size_t count = 0;
	bool saved = false;
	double saved_ms = 0;
	char text[32];

	for (size_t i = 0; i < summary->row_count; i++) {
		if (nt_row_is_tuned(&summary->rows[i]))
			rows[count++] = &summary->rows[i];
	}
	qsort(rows, count, sizeof(rows[0]), by_worth);
	qsort(rows, count < most ? count : most, sizeof(rows[0]), by_step);
	for (size_t i = 0; i < count && i < most; i++)
		say_gain(maker, rows[i]);
	for (size_t i = most; i < count; i++) {
		if (isnan(rows[i]->saved_ms) || (rows[i]->saved_ms > 0 && denies_gain(rows[i])))
			continue;
		saved = true;
		saved_ms += rows[i]->saved_ms;
	}
	if (count > most)
		nt_maker_say(maker, NT_SENTENCE_GAIN, "",
			     "%zu more collective%s another choice than NCCL's%s%s.", count - most,
			     count == most + 1 ? " and size uses" : "s and sizes use",
			     !saved		 ? ""
			     : count == most + 1 ? "; it saved "
						 : "; together they saved ",
			     !saved ? "" : nt_duration_text(saved_ms, text, sizeof(text)));
}

/* Such rows are neighbours, sorted by size. */
static bool same_kind(const struct nt_key *a, const struct nt_key *b)
{
	return a->step == b->step && a->family == b->family && a->coll == b->coll;
}

/* Kept, but not for lack of measurements. */
static bool stays(const struct nt_key *row)
{
	return nt_row_is(row, NT_KEYSTATE_KEPT) && row->reason != NT_REASON_BUDGET &&
	       row->reason != NT_REASON_SAMPLES;
}

/* "at 4M and above", "at 64K, 1M and 4M", "at any of its 5 sizes"; "": none of the rows stays. */
static void where_it_stays(const struct nt_key *rows, size_t count, char *out, size_t out_bytes)
{
	size_t kept = 0, first = count, told = 0;
	char size[24];

	for (size_t i = count; i > 0; i--) {
		kept += stays(&rows[i - 1]);
		if (stays(&rows[i - 1]) && first == i)
			first = i - 1; /* and all after it stay */
	}
	out[0] = '\0';
	if (kept == 0)
		return;
	if (kept == count && count > 1) {
		snprintf(out, out_bytes, "at any of its %zu sizes", count);
		return;
	}
	if (kept == count - first && kept > 1) {
		snprintf(out, out_bytes, "at %s and above",
			 nt_size_text(rows[first].bytes, size, sizeof(size)));
		return;
	}
	nt_append(out, out_bytes, "at");
	for (size_t i = 0; i < count && told < NT_NAMED_MAX; i++) {
		if (!stays(&rows[i]))
			continue;
		nt_append(out, out_bytes, "%s %s",
			  told == 0	     ? ""
			  : told + 1 == kept ? " and"
					     : ",",
			  nt_size_text(rows[i].bytes, size, sizeof(size)));
		told++;
	}
	if (told < kept)
		nt_append(out, out_bytes, " and %zu more", kept - told);
}

#define FULL 1.05 /* busbw and NCCL's steps of speed are no finer than that */

static bool is_ring(int arm)
{
	const int algo = nt_arm_pair(arm) / NT_PROTOS;

	return arm >= 0 && arm != NT_ARM_BASELINE && algo == nt_algo_parse("RING");
}

/* How much of its rings' bandwidth the busbw of NCCL's own choice uses: 0 to 1. NAN: the choice is
 * not a ring, a figure is unknown, or the share is over 1, so NCCL's figure must be wrong.
 *
 * The bandwidth of rings is NCCL's own figure from its graph dump (topology=on): channels times the
 * speed of one, on the slowest node. Only the dump tells which NICs NCCL selected. NCCL assumes 10
 * Gbit/s for networks of unknown speed (src/graph/topo.cc, ncclTopoAddNet), so a share can be too
 * large. */
static double link_share(const struct nt_summary *summary, const struct nt_key *row)
{
	const double busbw_gbs = nt_row_busbw(row, NT_OF_AUTO);
	double least_gbs = NAN, share;

	if (!is_ring(row->auto_arm))
		return NAN;
	for (size_t i = 0; i < summary->topology_count; i++) {
		const struct nt_topology_seen *seen = &summary->topologies[i];
		const struct nt_comm_seen *comm = nt_topology_comm(summary, seen);
		const double gbs = nt_topology_ring_gbs(seen);

		if (comm && comm->step == row->step && comm->family == row->family && gbs > 0)
			least_gbs = fmin(least_gbs, gbs);
	}
	share = busbw_gbs / least_gbs;
	if (!(share > 0 && share <= FULL))
		return NAN;
	return fmin(share, 1);
}

/* "; at 256M NCCL reaches 96 % of its rings' bandwidth", of the largest row that stays; "": not
 * known. */
static const char *near_the_link(const struct nt_summary *summary, const struct nt_key *rows,
				 size_t count, char *out, size_t out_bytes)
{
	char size[24];
	double share;

	while (count > 0 && !stays(&rows[count - 1]))
		count--;
	share = count > 0 ? link_share(summary, &rows[count - 1]) : NAN;
	out[0] = '\0';
	if (!isnan(share))
		snprintf(out, out_bytes, "; at %s NCCL reaches %.0f %% of its rings' bandwidth",
			 nt_size_text(rows[count - 1].bytes, size, sizeof(size)), 100 * share);
	return out;
}

#define STAYS_TOLD 2

static void say_stays(struct nt_maker *maker)
{
	const struct nt_summary *summary = maker->summary;
	size_t count, told = 0, more = 0;

	for (size_t i = 0; i < summary->row_count; i += count) {
		const struct nt_key *row = &summary->rows[i];
		char step[NT_STEP_PREFIX], shape[160], where[160], link[96];

		for (count = 1; i + count < summary->row_count && same_kind(row, row + count);)
			count++;
		where_it_stays(row, count, where, sizeof(where));
		if (where[0] && told++ < STAYS_TOLD)
			nt_maker_say(maker, NT_SENTENCE_STAYS, "",
				     "%s%s on %s: no faster choice found %s%s.",
				     nt_maker_prefix(summary, row->step, step),
				     nt_coll_name(row->coll),
				     nt_family_words(family_of(maker, row), shape, sizeof(shape)),
				     where, near_the_link(summary, row, count, link, sizeof(link)));
		else
			more += where[0] != '\0';
	}
	if (more == 1)
		nt_maker_say(maker, NT_SENTENCE_STAYS, "",
			     "No faster choice found for 1 more collective (see the table).");
	else if (more > 1)
		nt_maker_say(maker, NT_SENTENCE_STAYS, "",
			     "No faster choice found for %zu more collectives (see the table).",
			     more);
}

static void say_nothing(struct nt_maker *maker)
{
	if (maker->summary->row_count > 0 || maker->verdict->count > 0)
		return;
	nt_maker_say(maker, NT_SENTENCE_MEASURED,
		     "Check that the program uses NCCL on more than one GPU and runs long enough.",
		     "NCCL ran no collective often enough to measure it.");
}

/* By kind; a stable sort. */
static void put_in_order(struct nt_verdict_text *verdict)
{
	for (size_t i = 1; i < verdict->count; i++) {
		const struct nt_sentence sentence = verdict->items[i];
		size_t at = i;

		for (; at > 0 && verdict->items[at - 1].kind > sentence.kind; at--)
			verdict->items[at] = verdict->items[at - 1];
		verdict->items[at] = sentence;
	}
}

int nt_verdict_make(struct nt_verdict_text *verdict, const struct nt_summary *summary,
		    struct nt_error *err)
{
	struct nt_maker maker = { .verdict = verdict, .summary = summary };
	const struct nt_key **rows = calloc(summary->row_count + 1, sizeof(*rows));

	*verdict = (struct nt_verdict_text){ NULL, 0 };
	if (!rows)
		return nt_error_set(err, "no memory for a verdict");
	nt_maker_launch(&maker);
	say_gains(&maker, rows);
	free(rows);
	say_stays(&maker);
	nt_maker_open(&maker);
	if (summary->row_count > 0 || verdict->count > 0)
		nt_maker_net(&maker);
	nt_maker_late(&maker);
	nt_maker_untuned(&maker);
	say_nothing(&maker);
	nt_maker_topology(&maker);
	nt_maker_partial(&maker);
	put_in_order(verdict);
	if (!maker.no_memory)
		return 0;
	nt_verdict_fini(verdict);
	return nt_error_set(err, "no memory for a verdict");
}

void nt_verdict_fini(struct nt_verdict_text *verdict)
{
	free(verdict->items);
	*verdict = (struct nt_verdict_text){ NULL, 0 };
}
