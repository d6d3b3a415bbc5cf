/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - what changed in a running job from one look to the next
 *
 * A look gives a summary (job-summary.h). The differences to the one before become news of one
 * line each: a key is explored or in another round; it was decided, decided differently or rolled
 * back; something is not tuned, and why.
 *
 * Threads:  no state of its own; any thread.
 * Memory:   nt_watch_init first; nt_watch_fini frees all.
 * Errors:   -1 and *err when memory runs out; earlier news stay.
 * Units:    points in time in seconds since 1970.
 */
#ifndef NT_WATCHSTATE_H
#define NT_WATCHSTATE_H

#include <stdbool.h>
#include "lib/error.h"
#include "record/job-summary.h"

#define NT_WATCH_TEXT 240
#define NT_NEWS_TEXT 768
#define NT_WATCH_NEWS 64 /* kept; older ones are dropped */

struct nt_news {
	double at_s;
	bool before; /* it had happened by then: at the first look */
	bool good; /* another arm than NCCL's choice is now in use */
	char text[NT_NEWS_TEXT];
};

struct nt_watched_key; /* progress.c */

struct nt_watch {
	struct nt_summary summary; /* of the newest look */
	struct nt_watched_key *keys;
	size_t key_count;
	struct nt_news
		news[NT_WATCH_NEWS]; /* the newest is news[(news_count - 1) % NT_WATCH_NEWS] */
	size_t news_count; /* ever */
	char (*remarks)[NT_WATCH_TEXT]; /* told so far */
	size_t remark_count;
};

/* "14:03:22", or "by 14:03:22" */
#define NT_NEWS_CLOCK 20
const char *nt_news_clock(const struct nt_news *news, char out[NT_NEWS_CLOCK]);

/* A line of news, in the order in which they came. */
typedef void nt_news_tell(void *argument, const struct nt_news *news);

void nt_watch_init(struct nt_watch *watch);
void nt_watch_fini(struct nt_watch *watch);

/* Takes the summary. A summary older than the last one is ignored. tell may be NULL. */
int nt_watch_see_take(struct nt_watch *watch, struct nt_summary *summary, double now_s,
		      nt_news_tell *tell, void *argument, struct nt_error *err);

/* The same for other news, such as that the job runs. */
void nt_watch_add_news(struct nt_watch *watch, double now_s, const char *text, nt_news_tell *tell,
		       void *argument);

/* Is it being explored, for the first time or again? */
bool nt_watch_explores(const struct nt_key *row);

/* "AllReduce 1M on 8 ranks across 2 nodes", with the name of the communicator if it has one. */
const char *nt_watch_key_text(const struct nt_summary *summary, const struct nt_key *row,
			      char out[NT_WATCH_TEXT]);

#endif
