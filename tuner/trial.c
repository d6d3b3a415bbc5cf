/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - see trial.h */
#include "tuner/trial.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tuner/times.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct nt_trial *nt_trial_create(uint64_t comm, uint64_t key, const struct nt_schedule *screen,
				 const float *cost_us)
{
	struct nt_trial *trial = calloc(1, sizeof(*trial));

	if (!trial)
		return NULL;
	trial->comm = comm;
	trial->key = key;
	for (unsigned i = 1; i < screen->count; i++) {
		float cost = cost_us[screen->arm[i]];

		trial->arm[trial->arms] = screen->arm[i];
		trial->cost_us[trial->arms++] = cost >= 0 && isfinite(cost) ? cost : -1;
	}
	return trial;
}

void nt_trial_destroy(struct nt_trial *trial)
{
	if (trial)
		free(trial->sample);
	free(trial);
}

void nt_trial_round(struct nt_trial *trial, const struct nt_schedule *schedule,
		    const uint16_t *sample)
{
	unsigned begin = trial->rounds ? trial->end[trial->rounds - 1] : 0;
	unsigned count = nt_times_room(schedule);
	uint16_t *grown = NULL;

	while (count > 0 && sample[count - 1] == 0)
		count--;
	if (trial->rounds < NT_TRIAL_ROUNDS)
		grown = realloc(trial->sample, (begin + count + 1) * sizeof(grown[0]));
	if (!grown) {
		trial->rounds = 0;
		trial->arms = 0;
		return;
	}
	memcpy(grown + begin, sample, count * sizeof(grown[0]));
	trial->sample = grown;
	trial->end[trial->rounds++] = begin + count;
}

static void drop(struct nt_trials *trials, struct nt_trial **at)
{
	struct nt_trial *trial = *at;

	*at = trial->next;
	trials->count--;
	nt_trial_destroy(trial);
}

void nt_trials_keep_take(struct nt_trials *trials, struct nt_trial *trial)
{
	struct nt_trial **at = &trials->first;

	while (*at) {
		bool same = (*at)->comm == trial->comm && (*at)->key == trial->key;

		if (same || (!(*at)->next && trials->count >= NT_TRIALS))
			drop(trials, at);
		else
			at = &(*at)->next;
	}
	trial->next = trials->first;
	trials->first = trial;
	trials->count++;
}

const struct nt_trial *nt_trials_find(const struct nt_trials *trials, uint64_t comm, uint64_t key)
{
	const struct nt_trial *trial = trials ? trials->first : NULL;

	while (trial && (trial->comm != comm || trial->key != key))
		trial = trial->next;
	return trial;
}

void nt_trials_clear(struct nt_trials *trials)
{
	while (trials->first)
		drop(trials, &trials->first);
}

struct writer {
	char *out;
	size_t bytes, used;
};

static void put(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct writer *w, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(w->out + w->used, w->bytes - w->used, format, args);
	va_end(args);
	w->used += (size_t)(length > 0 ? length : 0);
	if (w->used >= w->bytes)
		w->used = w->bytes - 1; /* full: what is put from now on goes nowhere */
}

/* Two bytes a sample, low byte first. */
static void put_round(struct writer *w, const uint16_t *sample, unsigned count)
{
	uint32_t held = 0;
	unsigned bits = 0;

	for (unsigned i = 0; i < 2 * count; i++) {
		held = held << 8 | ((i % 2 ? sample[i / 2] >> 8 : sample[i / 2]) & 0xff);
		for (bits += 8; bits >= 6; bits -= 6)
			put(w, "%c", digits[held >> (bits - 6) & 63]);
	}
	if (bits > 0)
		put(w, "%c", digits[held << (6 - bits) & 63]);
}

static void put_channels(struct writer *w, const struct nt_channels *channels)
{
	bool any = false;

	put(w, "\"channels\":{\"ranks\":%u,\"most\":%u,\"chunks\":%s,\"own\":{", channels->ranks,
	    channels->most, channels->chunks ? "true" : "false");
	for (int pair = 0; pair < NT_PAIRS; pair++) {
		if (channels->own[pair] == 0)
			continue;
		put(w, "%s\"%s\":%u", any ? "," : "", nt_arm_name(pair), channels->own[pair]);
		any = true;
	}
	put(w, "}},");
}

size_t nt_trial_text(const struct nt_trial *trial, char *out, size_t out_bytes)
{
	struct writer w = { .out = out, .bytes = out_bytes };

	if (trial->rounds == 0 || out_bytes < NT_TRIAL_TEXT(trial->end[trial->rounds - 1]))
		return 0;
	put(&w, "{\"arms\":[");
	for (unsigned i = 0; i < trial->arms; i++)
		put(&w, "%s\"%s\"", i ? "," : "", nt_arm_name(trial->arm[i]));
	put(&w, "],\"cost\":[");
	for (unsigned i = 0; i < trial->arms; i++)
		put(&w, "%s%.9g", i ? "," : "", (double)trial->cost_us[i]);
	put(&w, "],");
	if (trial->channels.ranks != 0)
		put_channels(&w, &trial->channels);
	put(&w, "\"rounds\":[");
	for (unsigned i = 0; i < trial->rounds; i++) {
		unsigned begin = i ? trial->end[i - 1] : 0;

		put(&w, "%s\"", i ? "," : "");
		put_round(&w, trial->sample + begin, trial->end[i] - begin);
		put(&w, "\"");
	}
	put(&w, "]}");
	return w.used;
}

int nt_trial_decode(const char *text, uint8_t *out, size_t cap)
{
	uint32_t held = 0;
	unsigned bits = 0;
	size_t count = 0;

	for (; *text; text++) {
		const char *digit = strchr(digits, *text);

		if (!digit)
			return -1;
		held = held << 6 | (uint32_t)(digit - digits);
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		if (count == cap)
			return -1;
		out[count++] = (uint8_t)(held >> bits);
	}
	return (int)count;
}
