/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* history_text.c - see history_text.h */
#include "engine/history_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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

size_t nt_finding_text(const struct nt_history *history, char *out, size_t out_bytes)
{
	struct writer w = { .out = out, .bytes = out_bytes };

	if (history->arms == 0 || out_bytes < NT_FINDING_TEXT)
		return 0;
	put(&w,
	    "{\"id\":\"%016" PRIx64 "\",\"ranks\":%" PRIu32 ",\"nodes\":%" PRIu32
	    ",\"coll\":\"%s\",\"bytes\":%zu,\"auto\":\"%s\",\"arm\":\"%s\",\"arms\":[",
	    history->comm, history->ranks, history->nodes,
	    nt_coll_name((int)nt_key_coll(history->key)), nt_band_floor(nt_key_band(history->key)),
	    nt_arm_name(history->auto_arm), nt_arm_name(history->chosen_arm));
	for (unsigned i = 0; i < history->arms; i++) {
		const struct nt_tried *tried = &history->arm[i];

		put(&w, "%s{\"arm\":\"%s\"", i ? "," : "", nt_arm_name(tried->arm));
		if (tried->predicted_us >= 0)
			put(&w, ",\"predicted_us\":%.2f", (double)tried->predicted_us);
		put(&w, ",\"us\":%.2f,\"p25_us\":%.2f,\"samples\":%u}", (double)tried->us,
		    (double)tried->p25_us, tried->samples);
	}
	put(&w, "]}");
	return w.used;
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

/* Of an arm of the first round; -1: none. */
static float predicted(const struct nt_history *history, unsigned i)
{
	float us = history->cost_us[history->screen[i]];

	return us >= 0 && isfinite(us) ? us : -1;
}

size_t nt_trial_text(const struct nt_history *history, char *out, size_t out_bytes)
{
	struct writer w = { .out = out, .bytes = out_bytes };

	if (history->rounds == 0 || out_bytes < NT_TRIAL_TEXT(history->end[history->rounds - 1]))
		return 0;
	put(&w, "{\"arms\":[");
	for (unsigned i = 0; i < history->screened; i++)
		put(&w, "%s\"%s\"", i ? "," : "", nt_arm_name(history->screen[i]));
	put(&w, "],\"cost\":[");
	for (unsigned i = 0; i < history->screened; i++)
		put(&w, "%s%.9g", i ? "," : "", (double)predicted(history, i));
	put(&w, "],");
	if (history->channels.ranks != 0)
		put_channels(&w, &history->channels);
	put(&w, "\"rounds\":[");
	for (unsigned i = 0; i < history->rounds; i++) {
		unsigned begin = i ? history->end[i - 1] : 0;

		put(&w, "%s\"", i ? "," : "");
		put_round(&w, history->sample + begin, history->end[i] - begin);
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
