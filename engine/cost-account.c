/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cost-account.h"

#include <math.h>
#include <stdbool.h>
#include "engine/quantiles.h"
#include "engine/times.h"

/* A stall takes more than this many times the lower quartile of the arm or of the baseline. A
 * network's modes differ by about 2.3, so little is cut off the slower one. */
#define STALL 2.0
/* p of stalls that are the arm's fault: seven, and none of the baseline */
#define FAULT_P 0.01

/* An arm's times of a round, and the baseline's in the same blocks; 0: missing. */
struct column {
	unsigned blocks;
	double calls; /* per sample; the first of two is assumed to take as long */
	float us[UINT8_MAX], baseline_us[UINT8_MAX];
	double usual_baseline_us; /* for blocks without a baseline time */
	double limit_us; /* calls above are stalls */
};

static void take_column(struct column *c, const struct nt_schedule *s, unsigned index,
			const uint16_t *packed)
{
	double usual_us;

	c->blocks = s->blocks;
	for (unsigned b = 0; b < c->blocks; b++) {
		c->us[b] = (float)(nt_times_ns(packed[b * s->count + index]) / 1000);
		c->baseline_us[b] = (float)(nt_times_ns(packed[b * s->count]) / 1000);
	}
	usual_us = nt_sample_quantile(c->us, c->blocks, 0.25);
	c->usual_baseline_us = nt_sample_quantile(c->baseline_us, c->blocks, 0.25);
	c->limit_us = STALL * (usual_us > c->usual_baseline_us ? usual_us : c->usual_baseline_us);
}

static struct nt_cost_account_entry *entry_of(struct nt_cost_account *account, uint16_t arm)
{
	unsigned i = 0;

	while (i < account->count && account->entry[i].arm != arm)
		i++;
	if (i == NT_COST_ACCOUNT_ARMS)
		return NULL;
	if (i == account->count) {
		account->entry[i] = (struct nt_cost_account_entry){ .arm = arm };
		account->count++;
	}
	return &account->entry[i];
}

static void book_column(struct nt_cost_account_entry *to, const struct column *c)
{
	for (unsigned b = 0; b < c->blocks; b++) {
		const double us = (double)c->us[b];
		const double baseline_us = c->baseline_us[b] > 0 ? (double)c->baseline_us[b]
								 : c->usual_baseline_us;
		const double cut_us = fmin(us, c->limit_us) - fmin(baseline_us, c->limit_us);

		if (!(us > 0))
			continue;
		to->booked_us += c->calls * cut_us;
		if (b < NT_SCHEDULE_WARM_UP && !(to->first_us > 0)) {
			to->first_us = us;
			to->first_limit_us = c->limit_us;
		}
		if (b < NT_SCHEDULE_WARM_UP)
			continue;
		to->samples++;
		to->stalls += us > c->limit_us;
		to->baseline_stalls += baseline_us > c->limit_us;
		to->held_us += c->calls * (us - baseline_us - cut_us);
	}
}

void nt_cost_account_add(struct nt_cost_account *account, const struct nt_schedule *schedule,
			 const uint16_t *packed)
{
	struct column c = { .calls = 1.0 + schedule->twice };

	for (unsigned b = 0; b < schedule->blocks; b++)
		account->slowest_baseline_us = fmax(account->slowest_baseline_us,
						    nt_times_ns(packed[b * schedule->count]) /
							    1000);
	for (unsigned i = 0; i < schedule->count; i++) {
		struct nt_cost_account_entry *entry = entry_of(account, schedule->arm[i]);

		take_column(&c, schedule, i, packed);
		if (entry && c.usual_baseline_us > 0)
			book_column(entry, &c);
	}
}

/* Probability of `seen` or more of `count` cases, each with probability `share`. */
static double tail_p(unsigned seen, unsigned count, double share)
{
	double p = 0;

	for (unsigned k = seen; k <= count; k++)
		p += exp(lgamma(count + 1.0) - lgamma(k + 1.0) - lgamma(count - k + 1.0) +
			 k * log(share) + (count - k) * log1p(-share));
	return p;
}

/* Does the arm stall significantly more often than the baseline, or than all others? */
static bool at_fault(const struct nt_cost_account *account, const struct nt_cost_account_entry *e)
{
	unsigned stalls = 0, samples = 0;

	for (unsigned i = 0; i < account->count; i++) {
		stalls += account->entry[i].stalls;
		samples += account->entry[i].samples;
	}
	return e->stalls > 0 && (tail_p(e->stalls, e->stalls + e->baseline_stalls, 0.5) < FAULT_P ||
				 tail_p(e->stalls, stalls, (double)e->samples / samples) < FAULT_P);
}

/* Cost of connecting. */
static double first_us(const struct nt_cost_account *account, const struct nt_cost_account_entry *e)
{
	return fmax(0, e->first_us - fmax(e->first_limit_us, account->slowest_baseline_us));
}

double nt_cost_account_us(const struct nt_cost_account *account)
{
	double us = 0;

	for (unsigned i = 1; i < account->count; i++) {
		const struct nt_cost_account_entry *e = &account->entry[i];

		us += e->booked_us + first_us(account, e);
		us += e->held_us > 0 && at_fault(account, e) ? e->held_us : 0;
	}
	return us;
}
