/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/times.h"

struct nt_history *nt_history_create(const struct nt_key_info *info, bool repeatable)
{
	struct nt_history *history = calloc(1, sizeof(*history));

	if (!history)
		return NULL;
	history->comm = info->comm;
	history->key = info->key;
	history->ranks = info->ranks;
	history->nodes = info->nodes;
	history->baseline_arm = (uint16_t)info->baseline_arm;
	history->chosen_arm = NT_ARM_BASELINE;
	memcpy(history->cost_us, info->cost_us, sizeof(history->cost_us));
	history->repeatable = repeatable;
	return history;
}

void nt_history_destroy(struct nt_history *history)
{
	if (history)
		free(history->sample);
	free(history);
}

void nt_history_screen(struct nt_history *history, const struct nt_schedule *schedule)
{
	history->screened = schedule->count - 1u;
	memcpy(history->screen, schedule->arm + 1, history->screened * sizeof(history->screen[0]));
}

void nt_history_remember(struct nt_history *history, unsigned arm)
{
	history->remembers = true;
	history->remembered = (uint16_t)arm;
}

void nt_history_round(struct nt_history *history, const struct nt_schedule *schedule,
		      const uint16_t *sample)
{
	unsigned begin = history->rounds ? history->end[history->rounds - 1] : 0;
	unsigned count = nt_times_values(schedule);
	uint16_t *grown = NULL;

	if (!history->repeatable)
		return;
	while (count > 0 && sample[count - 1] == 0)
		count--;
	if (history->rounds < NT_HISTORY_ROUNDS)
		grown = realloc(history->sample, (begin + count + 1) * sizeof(grown[0]));
	if (!grown) {
		history->repeatable = false;
		history->rounds = 0;
		return;
	}
	memcpy(grown + begin, sample, count * sizeof(grown[0]));
	history->sample = grown;
	history->plan[history->rounds].count = schedule->count;
	history->plan[history->rounds].blocks = schedule->blocks;
	memcpy(history->plan[history->rounds].arm, schedule->arm, sizeof(schedule->arm));
	history->end[history->rounds++] = begin + count;
}

static float predicted(const struct nt_history *history, unsigned arm)
{
	unsigned pair = arm == NT_ARM_BASELINE ? history->baseline_arm : arm;
	float us = pair < NT_PAIRS ? history->cost_us[pair] : -1;

	return isfinite(us) ? us : -1;
}

void nt_history_quantiles(struct nt_history *history, unsigned arm,
			  const struct nt_sample_quantiles *quantiles)
{
	unsigned at = 0;

	while (at < history->arms && history->arm[at].arm != arm)
		at++;
	if (at == NT_HISTORY_ARMS || quantiles->samples == 0)
		return;
	history->arm[at] = (struct nt_tried){
		.arm = (uint16_t)arm,
		.samples = (uint16_t)quantiles->samples,
		.predicted_us = predicted(history, arm),
		.us = (float)quantiles->median_us,
		.p25_us = (float)quantiles->p25_us,
		.p75_us = (float)quantiles->p75_us,
		.min_us = (float)quantiles->min_us,
		.max_us = (float)quantiles->max_us,
	};
	history->arms += at == history->arms;
}

static void drop_history(struct nt_histories *histories, struct nt_history **at)
{
	struct nt_history *history = *at;

	*at = history->next;
	histories->count--;
	nt_history_destroy(history);
}

/* A recheck's history takes over the first exploration's times. */
static void hand_on_samples(struct nt_history *old, struct nt_history *new)
{
	if (new->repeatable)
		return;
	new->remembers = old->remembers;
	new->remembered = old->remembered;
	new->screened = old->screened;
	memcpy(new->screen, old->screen, sizeof(new->screen));
	new->channels = old->channels;
	new->rounds = old->rounds;
	memcpy(new->end, old->end, sizeof(new->end));
	memcpy(new->plan, old->plan, sizeof(new->plan));
	new->sample = old->sample;
	old->sample = NULL;
}

void nt_histories_keep_take(struct nt_histories *histories, struct nt_history *history)
{
	struct nt_history **at = &histories->first;

	while (*at) {
		bool same = (*at)->comm == history->comm && (*at)->key == history->key;

		if (same)
			hand_on_samples(*at, history);
		if (same || (!(*at)->next && histories->count >= NT_HISTORIES))
			drop_history(histories, at);
		else
			at = &(*at)->next;
	}
	history->next = histories->first;
	histories->first = history;
	histories->count++;
}

void nt_histories_keep_so_far(struct nt_histories *histories, const struct nt_history *history)
{
	struct nt_history *copy;

	if (!history->repeatable || history->arms == 0)
		return;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return;
	*copy = *history;
	copy->sample = NULL;
	copy->rounds = 0;
	copy->repeatable = false;
	nt_histories_keep_take(histories, copy);
}

const struct nt_history *nt_histories_find(const struct nt_histories *histories, uint64_t comm,
					   uint64_t key)
{
	const struct nt_history *history = histories ? histories->first : NULL;

	while (history && (history->comm != comm || history->key != key))
		history = history->next;
	return history;
}

const struct nt_history *nt_history_measured(const struct nt_history *history)
{
	while (history && history->arms == 0)
		history = history->next;
	return history;
}

void nt_histories_clear(struct nt_histories *histories)
{
	while (histories->first)
		drop_history(histories, &histories->first);
}
