/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/watch/frame.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/plural.h"
#include "lib/table.h"
#include "report/text/row-text.h"
#include "report/text/verdict.h"
#include "report/text/words.h"

#define BAR_COLUMNS 20 /* without its brackets */
#define INDENT 15 /* of news, after the time */
#define NARROW 60 /* a narrower terminal has no bars */
#define LEAST_ROWS 4

struct frame {
	const struct nt_watch *watch;
	const struct nt_watch_job *job;
	unsigned columns, rows;
	struct nt_screen_line *lines;
	size_t count;
};

static void add_line(struct frame *frame, enum nt_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_line(struct frame *frame, enum nt_style style, const char *format, ...)
{
	struct nt_screen_line *line;
	va_list args;

	if (frame->count >= frame->rows)
		return;
	line = &frame->lines[frame->count++];
	line->style = style;
	va_start(args, format);
	vsnprintf(line->text, sizeof(line->text), format, args);
	va_end(args);
	if (frame->columns < sizeof(line->text))
		line->text[frame->columns] = '\0';
}

/* "12 s", "3 min 5 s", "2 h 10 min" */
static const char *span_text(double span_s, char out[32])
{
	const int64_t s = span_s < 1e9 ? (int64_t)(span_s + 0.5) : 1000000000;

	if (s < 60)
		snprintf(out, 32, "%" PRId64 " s", s);
	else if (s < 3600)
		snprintf(out, 32, "%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
	else
		snprintf(out, 32, "%" PRId64 " h %" PRId64 " min", s / 3600, s % 3600 / 60);
	return out;
}

/* ---- parts */

static void add_title(struct frame *frame)
{
	const struct nt_watch_job *job = frame->job;
	const struct nt_summary *summary = &frame->watch->summary;
	char ran[32] = "", clock[NT_CLOCK_MAX];

	if (job->ran_s >= 0)
		span_text((double)job->ran_s, ran);
	nt_clock_words((double)job->end_s, clock);
	add_line(frame, NT_STYLE_BOLD, "Job %s: %s%s%s%s%s", job->label,
		 job->state ? job->state : "its state is unknown", clock[0] ? " at " : "", clock,
		 !ran[0]     ? ""
		 : job->over ? ", after "
			     : " for ",
		 ran);
	for (size_t i = 0; i < summary->step_count && i < frame->rows / 4; i++) {
		const struct nt_step *step = &summary->steps[i];

		add_line(frame, NT_STYLE_PLAIN,
			 "Step %s: mode %s, NCCL %s, %" PRId64 " rank%s on %" PRId64 " node%s",
			 step->name, step->mode[0] ? step->mode : "unknown",
			 step->nccl[0] ? step->nccl : "unknown", step->ranks,
			 nt_plural(step->ranks), step->nodes, nt_plural(step->nodes));
	}
	if (job->source[0])
		add_line(frame, NT_STYLE_DIM, "From %s%s%s", job->source,
			 job->written_s > 0 ? ", as of " : "",
			 nt_clock_words((double)job->written_s, clock));
	if (job->trouble[0])
		add_line(frame, NT_STYLE_DIM, "%s", job->trouble);
}

/* The number of choices only if it fits into room. */
static const char *round_text(const struct nt_key *row, size_t room, char out[64])
{
	const bool recheck = strcmp(row->round, NT_KEYROUND_RECHECK) == 0;
	const char *round = strcmp(row->round, NT_KEYROUND_CONFIRM) == 0 ? "second round"
			    : recheck					 ? "another look"
									 : "first round";

	snprintf(out, 64, "%s, %" PRId64 " choices", round, row->round_arms);
	if (recheck || strlen(out) > room)
		out[strlen(round)] = '\0';
	return out;
}

/* "[#####...............] 12 of 45 calls, about 20 s left"; "": not known */
static const char *bar_text(const struct frame *frame, const struct nt_key *row, char out[128])
{
	const struct nt_summary *summary = &frame->watch->summary;
	const double left_s = nt_row_exploring(row, &summary->steps[row->step]).seconds;
	const int64_t calls = row->round_calls;
	int64_t done = row->round_done;
	char bar[] = "[....................] ", left[32];

	out[0] = '\0';
	if (calls <= 0 || done < 0)
		return out;
	done = done < calls ? done : calls;
	memset(bar + 1, '#', (size_t)(done * BAR_COLUMNS / calls));
	snprintf(out, 128, "%s%" PRId64 " of %" PRId64 " calls%s%s%s",
		 frame->columns >= NARROW ? bar : "", done, calls, left_s > 0 ? ", about " : "",
		 left_s > 0 ? span_text(left_s, left) : "", left_s > 0 ? " left" : "");
	return out;
}

/* Two lines for each key. */
static void add_explored(struct frame *frame, size_t room)
{
	const struct nt_summary *summary = &frame->watch->summary;
	char name[NT_WATCH_TEXT], round[64], bar[128];
	size_t shown = 0, more = 0, waiting = 0, used, room_left;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (!nt_watch_explores(row))
			continue;
		if (shown + more + waiting == 0)
			add_line(frame, NT_STYLE_BOLD, "Being explored");
		if (!row->round[0] || !bar_text(frame, row, bar)[0]) {
			waiting++;
		} else if (2 * shown + 4 > room) {
			more++;
		} else {
			shown++;
			nt_watch_key_text(summary, row, name);
			used = strlen("  : ") + strlen(name);
			room_left = frame->columns > used ? frame->columns - used : 0;
			add_line(frame, NT_STYLE_PLAIN, "  %s: %s", name,
				 round_text(row, room_left, round));
			add_line(frame, NT_STYLE_PLAIN, "    %s", bar);
		}
	}
	if (more > 0)
		add_line(frame, NT_STYLE_DIM, "  and %zu more", more);
	if (waiting > 0)
		add_line(frame, NT_STYLE_DIM, "  %zu wait%s for %s turn", waiting,
			 waiting == 1 ? "s" : "", waiting == 1 ? "its" : "their");
}

/* The bytes of text for a line of that width: up to a space, if there is one. */
static size_t cut_at(const char *text, size_t width)
{
	const size_t length = strcspn(text, "\n");
	size_t cut = width;

	if (length <= width)
		return length;
	while (cut > 0 && text[cut] != ' ')
		cut--;
	return cut > 0 ? cut : width;
}

static const char *behind(const char *text, size_t cut)
{
	return text[cut] == ' ' || text[cut] == '\n' ? text + cut + 1 : text + cut;
}

static size_t news_width(const struct frame *frame)
{
	return frame->columns > 2 * INDENT ? frame->columns - INDENT - 1 : INDENT;
}

static size_t news_rows(const struct frame *frame, const struct nt_news *news)
{
	const char *text = news->text;
	size_t rows = 0;

	for (; *text; rows++)
		text = behind(text, cut_at(text, news_width(frame)));
	return rows;
}

static void add_one(struct frame *frame, const struct nt_news *news)
{
	const enum nt_style style = news->good ? NT_STYLE_GOOD : NT_STYLE_PLAIN;
	const char *text = news->text;
	char clock[NT_NEWS_CLOCK];

	nt_news_clock(news, clock);
	while (*text) {
		size_t cut = cut_at(text, news_width(frame));

		add_line(frame, style, "  %-*s%.*s", INDENT - 2, clock, (int)cut, text);
		text = behind(text, cut);
		clock[0] = '\0';
	}
}

static void add_news(struct frame *frame, size_t room)
{
	const struct nt_watch *watch = frame->watch;
	size_t oldest = watch->news_count > NT_WATCH_NEWS ? watch->news_count - NT_WATCH_NEWS : 0;
	size_t first = watch->news_count, used = 1;

	while (first > oldest) {
		used += news_rows(frame, &watch->news[(first - 1) % NT_WATCH_NEWS]);
		if (used > room)
			break;
		first--;
	}
	if (first == watch->news_count)
		return;
	add_line(frame, NT_STYLE_BOLD, "What happened");
	for (size_t i = first; i < watch->news_count; i++)
		add_one(frame, &watch->news[i % NT_WATCH_NEWS]);
}

static const char *sum_text(const struct nt_summary *summary, char out[NT_WATCH_TEXT])
{
	size_t exploring = 0, faster = 0, kept = 0, counted = 0;
	double saved_ms = 0, spent_ms = 0;
	char saved[32], spent[32];

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		saved_ms += nt_or_zero(row->saved_ms);
		spent_ms += nt_or_zero(row->spent_ms);
		if (row->state == NT_KEYSTATE_COMMITTED)
			faster++;
		else if (row->state == NT_KEYSTATE_KEPT)
			kept++;
		else if (nt_watch_explores(row))
			exploring++;
		else
			counted++;
	}
	snprintf(out, NT_WATCH_TEXT,
		 "Faster: %zu; NCCL's choice kept: %zu; exploring: %zu; only counted: %zu. "
		 "Saved %s, spent %s.",
		 faster, kept, exploring, counted, nt_duration_text(saved_ms, saved, sizeof(saved)),
		 nt_duration_text(spent_ms, spent, sizeof(spent)));
	return out;
}

/* ---- long text */

/* At most room lines; the last one ends in "..." if there is more. */
static void add_text(struct frame *frame, size_t room, const char *text)
{
	const size_t width = frame->columns > 2 ? frame->columns - 1 : 1;
	size_t used = 0;

	while (*text && used < room) {
		size_t cut = cut_at(text, width);
		const char *rest = behind(text, cut);

		used++;
		add_line(frame, NT_STYLE_PLAIN, "%.*s%s", (int)cut, text,
			 used == room && *rest ? "..." : "");
		text = rest;
	}
}

/* The frame itself shows that the job runs, what is explored and the net time. */
static bool is_wanted(const struct nt_sentence *sentence, bool over)
{
	return over ||
	       (sentence->kind != NT_SENTENCE_UNFINISHED && sentence->kind != NT_SENTENCE_NET &&
		sentence->kind != NT_SENTENCE_NOTHING &&
		((sentence->kind != NT_SENTENCE_STATE && sentence->kind != NT_SENTENCE_PARTIAL) ||
		 sentence->type[0]));
}

char *nt_watch_verdict(const struct nt_summary *summary, bool over)
{
	struct nt_verdict_text verdict;
	struct nt_error err;
	char *text = NULL;
	size_t bytes;
	FILE *out;

	if (nt_verdict_make(&verdict, summary, &err) < 0)
		return NULL;
	out = open_memstream(&text, &bytes);
	for (size_t i = 0; out && i < verdict.count; i++) {
		const struct nt_sentence *sentence = &verdict.items[i];

		if (is_wanted(sentence, over))
			fprintf(out, "%s%s%s\n", sentence->text, sentence->type[0] ? " " : "",
				sentence->type);
	}
	if (out)
		fclose(out);
	nt_verdict_fini(&verdict);
	return text;
}

static const char no_record[] =
	"There is no record yet. On a node of the job it appears when exploring starts, "
	"elsewhere with the first decision.";

size_t nt_watch_frame(const struct nt_watch *watch, const struct nt_watch_job *job,
		      unsigned columns, unsigned rows, struct nt_screen_line *lines)
{
	struct frame frame = {
		.watch = watch, .job = job, .columns = columns, .rows = rows, .lines = lines
	};
	char sum[NT_WATCH_TEXT], *verdict = nt_watch_verdict(&watch->summary, job->over);
	size_t below; /* rows of what is always shown at the bottom */

	add_title(&frame);
	below = rows > 16 ? 8 : LEAST_ROWS;
	if (rows > frame.count + below + 2) {
		size_t room = rows - frame.count - below;

		add_explored(&frame, room / 2);
		add_news(&frame, rows - frame.count - below);
	}
	if (watch->summary.step_count == 0)
		add_text(&frame, 3, job->over ? "The job left no record." : no_record);
	else
		add_text(&frame, 2, sum_text(&watch->summary, sum));
	if (verdict && watch->summary.step_count > 0 && frame.count + 1 < rows)
		add_text(&frame, rows - frame.count - 1, verdict);
	free(verdict);
	if (job->live)
		add_line(&frame, NT_STYLE_DIM, "q or Ctrl-C quits; the job goes on.");
	return frame.count;
}
