/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* watchstate.h - what a running job has come to, from one look at it to the next
 *
 * A look gives a summary (record/summary.h). Of two that follow each other it is told what has
 * changed, one line each: a key that is explored now, or in another round; one that was decided,
 * decided otherwise, or given up; what is not tuned, and why. And from how its calls grow, how long
 * a round will take.
 *
 * Threads:  no state of its own; any thread.
 * Memory:   nt_watch_init first; nt_watch_fini frees all.
 * Errors:   -1 and *err when memory runs out; what was told is told.
 * Units:    points in time in seconds since 1970.
 */
#ifndef NT_WATCHSTATE_H
#define NT_WATCHSTATE_H

#include <stdbool.h>
#include "contract/error.h"
#include "record/summary.h"

#define NT_WATCH_TEXT 240
#define NT_NEWS_TEXT 768
#define NT_WATCH_NEWS 64 /* that are kept; older ones go */

struct nt_news {
	double at_s; /* 0: it was so at the first look */
	bool good; /* another arm than NCCL's pick is used now */
	char text[NT_NEWS_TEXT];
};

struct nt_watched_key; /* watchstate.c */

struct nt_watch {
	struct nt_summary summary; /* of the newest look */
	struct nt_watched_key *keys;
	size_t key_count;
	struct nt_news
		news[NT_WATCH_NEWS]; /* the newest is news[(news_count - 1) % NT_WATCH_NEWS] */
	size_t news_count; /* ever */
	char (*remarks)[NT_WATCH_TEXT]; /* that were told */
	size_t remark_count;
};

/* A line of news, in the order in which they came. */
typedef void nt_news_tell(void *argument, const struct nt_news *news);

void nt_watch_init(struct nt_watch *watch);
void nt_watch_fini(struct nt_watch *watch);

/* Takes the summary; one that is older than what was seen changes nothing. tell may be NULL. */
int nt_watch_see_take(struct nt_watch *watch, struct nt_summary *summary, double now_s,
		      nt_news_tell *tell, void *argument, struct nt_error *err);

/* The same for news of another kind, as that the job runs. */
void nt_watch_add_news(struct nt_watch *watch, double now_s, bool good, const char *text,
		       nt_news_tell *tell, void *argument);

/* Is it being explored, for the first time or again? */
bool nt_watch_explores(const struct nt_row *row);

/* How long the row's round will take from now on; -1 where that cannot be told. */
double nt_watch_left_s(const struct nt_watch *watch, const struct nt_row *row, double now_s);

/* "AllReduce 1M on 8 ranks across 2 nodes", with the communicator's name where it has one. */
const char *nt_watch_key_text(const struct nt_summary *summary, const struct nt_row *row,
			      char out[NT_WATCH_TEXT]);

#endif
