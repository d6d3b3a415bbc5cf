/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.c - see ledger.h */
#include "engine/ledger.h"

#include <math.h>
#include <stdbool.h>
#include "engine/figures.h"
#include "engine/times.h"

/* A stall is a call of over so many times what the arm, or AUTO, takes in its lower quartile. Two
 * modes of a network are some 2.3 apart: what is cut off of the slower one is little. */
#define STALL 2.0
/* p below which stalls are the arm's doing: seven of its own without one of AUTO's. */
#define FAULT_P 0.01

/* One arm's times of a round, and AUTO's in the same blocks; 0: missing. */
struct column {
	unsigned blocks, warm_up;
	double calls; /* to a sample: the first of two is taken to cost what the second does */
	float us[UINT8_MAX], auto_us[UINT8_MAX];
	double usual_auto_us; /* for blocks in which AUTO's is missing */
	double limit_us; /* beyond it a call is a stall */
};

static void take_column(struct column *c, const struct nt_schedule *s, unsigned place,
			const uint16_t *packed)
{
	double usual_us;

	c->blocks = s->blocks;
	for (unsigned b = 0; b < c->blocks; b++) {
		c->us[b] = (float)(nt_times_ns(packed[b * s->count + place]) / 1000);
		c->auto_us[b] = (float)(nt_times_ns(packed[b * s->count]) / 1000);
	}
	usual_us = nt_figures_quantile(c->us, c->blocks, 0.25);
	c->usual_auto_us = nt_figures_quantile(c->auto_us, c->blocks, 0.25);
	c->limit_us = STALL * (usual_us > c->usual_auto_us ? usual_us : c->usual_auto_us);
}

static struct nt_ledger_entry *entry_of(struct nt_ledger *ledger, uint16_t arm)
{
	unsigned i = 0;

	while (i < ledger->count && ledger->entry[i].arm != arm)
		i++;
	if (i == NT_LEDGER_ARMS)
		return NULL;
	if (i == ledger->count) {
		ledger->entry[i] = (struct nt_ledger_entry){ .arm = arm };
		ledger->count++;
	}
	return &ledger->entry[i];
}

static void book(struct nt_ledger_entry *to, const struct column *c)
{
	for (unsigned b = 0; b < c->blocks; b++) {
		const double us = (double)c->us[b];
		const double auto_us = c->auto_us[b] > 0 ? (double)c->auto_us[b] : c->usual_auto_us;
		const double cut_us = fmin(us, c->limit_us) - fmin(auto_us, c->limit_us);

		if (!(us > 0))
			continue;
		to->booked_us += c->calls * cut_us;
		if (b < c->warm_up && !(to->first_us > 0)) {
			to->first_us = us;
			to->first_limit_us = c->limit_us;
		}
		if (b < c->warm_up)
			continue;
		to->samples++;
		to->stalls += us > c->limit_us;
		to->auto_stalls += auto_us > c->limit_us;
		to->held_us += c->calls * (us - auto_us - cut_us);
	}
}

void nt_ledger_add(struct nt_ledger *ledger, const struct nt_schedule *schedule, unsigned warm_up,
		   const uint16_t *packed)
{
	struct column c = { .warm_up = warm_up, .calls = 1.0 + schedule->twice };

	for (unsigned b = 0; b < schedule->blocks; b++)
		ledger->slowest_auto_us = fmax(ledger->slowest_auto_us,
					       nt_times_ns(packed[b * schedule->count]) / 1000);
	for (unsigned i = 0; i < schedule->count; i++) {
		struct nt_ledger_entry *entry = entry_of(ledger, schedule->arm[i]);

		take_column(&c, schedule, i, packed);
		if (entry && c.usual_auto_us > 0)
			book(entry, &c);
	}
}

/* How likely at least `seen` of `count` are, if each has this share of a chance. */
static double tail_p(unsigned seen, unsigned count, double share)
{
	double p = 0;

	for (unsigned k = seen; k <= count; k++)
		p += exp(lgamma(count + 1.0) - lgamma(k + 1.0) - lgamma(count - k + 1.0) +
			 k * log(share) + (count - k) * log1p(-share));
	return p;
}

/* Does the arm stall more often than AUTO, or than all others together, beyond chance? */
static bool at_fault(const struct nt_ledger *ledger, const struct nt_ledger_entry *e)
{
	unsigned stalls = 0, samples = 0;

	for (unsigned i = 0; i < ledger->count; i++) {
		stalls += ledger->entry[i].stalls;
		samples += ledger->entry[i].samples;
	}
	return e->stalls > 0 && (tail_p(e->stalls, e->stalls + e->auto_stalls, 0.5) < FAULT_P ||
				 tail_p(e->stalls, stalls, (double)e->samples / samples) < FAULT_P);
}

/* What connecting took. */
static double first_us(const struct nt_ledger *ledger, const struct nt_ledger_entry *e)
{
	return fmax(0, e->first_us - fmax(e->first_limit_us, ledger->slowest_auto_us));
}

double nt_ledger_us(const struct nt_ledger *ledger)
{
	double us = 0;

	for (unsigned i = 1; i < ledger->count; i++) {
		const struct nt_ledger_entry *e = &ledger->entry[i];

		us += e->booked_us + first_us(ledger, e);
		us += e->held_us > 0 && at_fault(ledger, e) ? e->held_us : 0;
	}
	return us;
}
