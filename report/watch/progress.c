/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/watch/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "contract/coll.h"
#include "lib/table.h"
#include "record/bandwidth.h"
#include "report/text/row-text.h"
#include "report/text/words.h"

#define REMARKS_MAX 1024
#define SHORT_SENTENCE 40 /* a shorter one is shown with the next one */

/* A key: its name, and what was last seen of it. */
struct nt_watched_key {
	char step[NT_STEP_NAME_MAX];
	char comm[NT_COMM_NAME];
	uint32_t ranks, nodes;
	int coll;
	size_t bytes;

	int state; /* NT_KEYSTATE_* of the newest decision; -1: none */
	int arm;
	int64_t rollbacks;
	char round[8];
	int64_t round_arms;
	int64_t calls;
};

void nt_watch_init(struct nt_watch *watch)
{
	memset(watch, 0, sizeof(*watch));
	nt_summary_init(&watch->summary);
}

void nt_watch_fini(struct nt_watch *watch)
{
	nt_summary_fini(&watch->summary);
	free(watch->keys);
	free(watch->remarks);
	nt_watch_init(watch);
}

/* Where news go. */
struct teller {
	struct nt_watch *watch;
	double now_s;
	bool first; /* the first look */
	nt_news_tell *tell;
	void *argument;
};

static void add_news(const struct teller *teller, bool good, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_news(const struct teller *teller, bool good, const char *format, ...)
{
	struct nt_watch *watch = teller->watch;
	struct nt_news *news = &watch->news[watch->news_count++ % NT_WATCH_NEWS];
	va_list args;

	news->at_s = teller->now_s;
	news->before = teller->first;
	news->good = good;
	va_start(args, format);
	vsnprintf(news->text, sizeof(news->text), format, args);
	va_end(args);
	if (teller->tell)
		teller->tell(teller->argument, news);
}

const char *nt_news_clock(const struct nt_news *news, char out[NT_NEWS_CLOCK])
{
	char clock[NT_CLOCK_MAX];

	snprintf(out, NT_NEWS_CLOCK, "%s%s", news->before ? "by " : "",
		 nt_clock_words(news->at_s, clock));
	return out;
}

void nt_watch_add_news(struct nt_watch *watch, double now_s, const char *text, nt_news_tell *tell,
		       void *argument)
{
	const struct teller teller = { watch, now_s, false, tell, argument };

	add_news(&teller, false, "%s", text);
}

/* ---- keys */

bool nt_watch_explores(const struct nt_key *row)
{
	return row->round[0] != '\0' || row->state == NT_KEYSTATE_EXPLORING;
}

static const struct nt_family *family_of(const struct nt_summary *summary, const struct nt_key *row)
{
	return row->family < summary->family_count ? &summary->families[row->family] : NULL;
}

static struct nt_watched_key name_of(const struct nt_summary *summary, const struct nt_key *row)
{
	const struct nt_family *family = family_of(summary, row);
	struct nt_watched_key key = {
		.ranks = row->ranks,
		.nodes = row->nodes,
		.coll = row->coll,
		.bytes = (size_t)row->bytes,
		.state = -1,
		.arm = NT_ARM_BASELINE,
		.calls = -1,
	};

	snprintf(key.step, sizeof(key.step), "%s", summary->steps[row->step].name);
	snprintf(key.comm, sizeof(key.comm), "%s", family ? family->name : "");
	return key;
}

static bool same_key(const struct nt_watched_key *a, const struct nt_watched_key *b)
{
	return a->coll == b->coll && a->bytes == b->bytes && a->ranks == b->ranks &&
	       a->nodes == b->nodes && strcmp(a->step, b->step) == 0 &&
	       strcmp(a->comm, b->comm) == 0;
}

/* Rows mostly come in the same order: from is the likely place. */
static struct nt_watched_key *find_key(const struct nt_watch *watch,
				       const struct nt_watched_key *name, size_t from)
{
	for (size_t i = 0; i < watch->key_count; i++) {
		struct nt_watched_key *key = &watch->keys[(from + i) % watch->key_count];

		if (same_key(key, name))
			return key;
	}
	return NULL;
}

static struct nt_watched_key *add_key(struct nt_watch *watch, const struct nt_watched_key *name)
{
	struct nt_watched_key *key = nt_array_add(&watch->keys, &watch->key_count, NT_SUMMARY_MAX,
						  sizeof(*key));

	if (key)
		*key = *name;
	return key;
}

const char *nt_watch_key_text(const struct nt_summary *summary, const struct nt_key *row,
			      char out[NT_WATCH_TEXT])
{
	const struct nt_family *family = family_of(summary, row);
	const struct nt_family unknown = { .ranks = row->ranks, .nodes = row->nodes };
	char size[32], who[NT_WATCH_TEXT - 64];

	snprintf(out, NT_WATCH_TEXT, "%s %s on %s", nt_coll_name(row->coll),
		 nt_size_text(row->bytes, size, sizeof(size)),
		 nt_family_words(family ? family : &unknown, who, sizeof(who)));
	return out;
}

/* ---- what has changed */

static void tell_round(const struct teller *teller, struct nt_watched_key *key,
		       const struct nt_key *row, const char *step, const char *name)
{
	if (strcmp(row->round, key->round) == 0 && row->round_arms == key->round_arms)
		return;
	snprintf(key->round, sizeof(key->round), "%s", row->round);
	key->round_arms = row->round_arms;
	if (row->round_arms < 0 || row->round_calls < 0)
		return;
	if (strcmp(row->round, NT_KEYROUND_SCREEN) == 0)
		add_news(teller, false,
			 "%s%s: tries %" PRId64 " choices, including NCCL's, in %" PRId64 " calls",
			 step, name, row->round_arms, row->round_calls);
	else if (strcmp(row->round, NT_KEYROUND_CONFIRM) == 0)
		add_news(teller, false,
			 "%s%s: compares the best with NCCL's choice in "
			 "%" PRId64 " calls",
			 step, name, row->round_calls);
	else if (row->round[0])
		add_news(teller, false, "%s%s: rechecks the choice in use, in %" PRId64 " calls",
			 step, name, row->round_calls);
}

static void tell_committed(const struct teller *teller, const struct nt_key *row, const char *step,
			   const char *name)
{
	const double auto_us = nt_row_call_us(row, NT_OF_AUTO);
	const double arm_us = nt_row_call_us(row, NT_OF_ARM);
	char arm[64], nccls[64], of_arm[32], of_auto[32];

	nt_arm_words(row->arm, arm, sizeof(arm));
	nt_arm_words(row->auto_arm, nccls, sizeof(nccls));
	if (isnan(auto_us) || isnan(arm_us))
		add_news(teller, true, "%s%s: %s instead of NCCL's %s", step, name, arm, nccls);
	else
		add_news(teller, true, "%s%s: %s, %s%s instead of %s with NCCL's %s", step, name,
			 arm, nt_time_text(arm_us, of_arm, sizeof(of_arm)),
			 nt_row_duration_known(row) ? "" : " to the next call",
			 nt_time_text(auto_us, of_auto, sizeof(of_auto)), nccls);
}

static int sentence_bytes(const char *text)
{
	const size_t bytes = strlen(text);
	const char *end = bytes > SHORT_SENTENCE ? strstr(text + SHORT_SENTENCE, ". ") : NULL;

	return (int)(end ? end + 1 - text : (ptrdiff_t)bytes);
}

static void tell_kept(const struct teller *teller, const struct nt_key *row, const char *step,
		      const char *name)
{
	char nccls[64];
	struct nt_said said;

	nt_row_say(&said, &teller->watch->summary, row);
	/* The first sentence: the report has the rest. */
	if (said.says[0])
		add_news(teller, false, "%s%s: %.*s", step, name, sentence_bytes(said.says),
			 said.says);
	else
		add_news(teller, false, "%s%s: NCCL's %s stays", step, name,
			 nt_arm_words(row->auto_arm, nccls, sizeof(nccls)));
}

static void tell_decision(const struct teller *teller, struct nt_watched_key *key,
			  const struct nt_key *row, const char *step, const char *name)
{
	const bool committed = row->state == NT_KEYSTATE_COMMITTED;
	const bool decided = committed || row->state == NT_KEYSTATE_KEPT;
	const bool back = row->rollbacks > key->rollbacks;

	if (!decided || (key->state == row->state && key->arm == row->arm && !back))
		return;
	if (committed)
		tell_committed(teller, row, step, name);
	else
		tell_kept(teller, row, step, name);
	key->state = row->state;
	key->arm = row->arm;
	key->rollbacks = row->rollbacks;
}

static int see_row(const struct teller *teller, const struct nt_summary *summary,
		   const struct nt_key *row, size_t index)
{
	const struct nt_watched_key wanted = name_of(summary, row);
	struct nt_watched_key *key = find_key(teller->watch, &wanted, index);
	char name[NT_WATCH_TEXT], step[NT_STEP_NAME_MAX + 8] = "";

	if (!key)
		key = add_key(teller->watch, &wanted);
	if (!key)
		return -1;
	if (summary->step_count > 1)
		snprintf(step, sizeof(step), "step %s: ", wanted.step);
	nt_watch_key_text(summary, row, name);
	tell_round(teller, key, row, step, name);
	tell_decision(teller, key, row, step, name);
	if (row->calls > key->calls)
		key->calls = row->calls;
	return 0;
}

static int see_remark(const struct teller *teller, const struct nt_remark *remark)
{
	struct nt_watch *watch = teller->watch;
	char text[NT_WATCH_TEXT], says[NT_REASON_SENTENCE_MAX], (*told)[NT_WATCH_TEXT];

	nt_reason_say(&remark->why, NULL, 0, says, sizeof(says));
	snprintf(text, sizeof(text), "%s%s%s: %.150s",
		 remark->kind == NT_REMARK_DAMAGE     ? "damaged"
		 : remark->why.id == NT_REASON_BEHIND ? "stalled"
						      : "not tuned",
		 remark->step[0] ? ", step " : "", remark->step,
		 remark->kind == NT_REMARK_DAMAGE ? remark->text : says);
	for (size_t i = 0; i < watch->remark_count; i++) {
		if (strcmp(watch->remarks[i], text) == 0)
			return 0;
	}
	if (watch->remark_count == REMARKS_MAX)
		return 0;
	told = nt_array_add(&watch->remarks, &watch->remark_count, NT_SUMMARY_MAX, sizeof(*told));
	if (!told)
		return -1;
	memcpy(*told, text, sizeof(text));
	add_news(teller, false, "%s", text);
	return 0;
}

/* Another place may have an older record, with fewer calls. */
static bool is_older(const struct nt_watch *watch, const struct nt_summary *summary)
{
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_watched_key wanted = name_of(summary, &summary->rows[i]);
		const struct nt_watched_key *key = find_key(watch, &wanted, i);

		if (key && summary->rows[i].calls < key->calls)
			return true;
	}
	return false;
}

int nt_watch_see_take(struct nt_watch *watch, struct nt_summary *summary, double now_s,
		      nt_news_tell *tell, void *argument, struct nt_error *err)
{
	const struct teller teller = { watch, now_s, watch->summary.step_count == 0, tell,
				       argument };
	int rc = 0;

	if (is_older(watch, summary)) {
		nt_summary_fini(summary);
		return 0;
	}
	nt_summary_fini(&watch->summary);
	watch->summary = *summary;
	nt_summary_init(summary);
	for (size_t i = 0; i < watch->summary.row_count && rc == 0; i++)
		rc = see_row(&teller, &watch->summary, &watch->summary.rows[i], i);
	for (size_t i = 0; i < watch->summary.remark_count && rc == 0; i++)
		rc = see_remark(&teller, &watch->summary.remarks[i]);
	return rc < 0 ? nt_error_set(err, "no memory for what has changed") : 0;
}
