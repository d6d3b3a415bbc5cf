/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fit.h"

#include <string.h>
#include "contract/key-id.h"
#include "engine/line.h"

#define FAR 16 /* sizes further apart by this factor are ignored */
#define NEAR 2 /* ... within this factor one size suffices */
#define SAMPLES 4 /* least samples of a time */

static bool within(uint64_t a, uint64_t b, uint64_t factor)
{
	return a <= b * factor && b <= a * factor;
}

void nt_fit_add(struct nt_fit *fit, uint64_t bytes, uint64_t at_bytes, double us)
{
	if (!(us > 0) || !within(bytes, at_bytes, FAR) || fit->count == NT_FIT_POINTS)
		return;
	fit->bytes[fit->count] = at_bytes;
	fit->us[fit->count++] = us;
}

double nt_fit_us(const struct nt_fit *fit, uint64_t bytes)
{
	struct nt_line line;

	if (fit->count == 0 || (fit->count == 1 && !within(bytes, fit->bytes[0], NEAR)) ||
	    !nt_line_fit(fit->bytes, fit->us, fit->count, &line))
		return 0;
	return nt_line_us(&line, bytes);
}

static uint64_t bytes_of(uint64_t key)
{
	return nt_band_floor(nt_key_band(key));
}

/* A history's times of a pair without channel cap or chunk size. */
static void add_history(struct nt_fit *fit, const struct nt_history *history, uint64_t bytes,
			unsigned pair)
{
	for (unsigned i = 0; i < history->arms; i++) {
		const struct nt_tried *tried = &history->arm[i];
		unsigned arm = tried->arm == NT_ARM_BASELINE ? history->baseline_arm : tried->arm;

		if (arm == pair && tried->samples >= SAMPLES)
			nt_fit_add(fit, bytes, bytes_of(history->key), (double)tried->us);
	}
}

static double expected(const struct nt_histories *histories, const struct nt_key_info *info,
		       unsigned pair)
{
	struct nt_fit fit = { .count = 0 };

	for (const struct nt_history *h = histories->first; h; h = h->next) {
		if (h->comm == info->comm && h->key != info->key &&
		    nt_key_coll(h->key) == nt_key_coll(info->key))
			add_history(&fit, h, bytes_of(info->key), pair);
	}
	return nt_fit_us(&fit, bytes_of(info->key));
}

void nt_fit_of(const struct nt_histories *histories, const struct nt_key_info *info,
	       float us[NT_PAIRS])
{
	const uint32_t mask = nt_key_mask(info->key);

	memset(us, 0, NT_PAIRS * sizeof(us[0]));
	if (!histories || info->baseline_arm >= NT_PAIRS ||
	    !(expected(histories, info, info->baseline_arm) > 0))
		return;
	for (unsigned pair = 0; pair < NT_PAIRS; pair++) {
		if (mask & 1u << pair)
			us[pair] = (float)expected(histories, info, pair);
	}
}
