/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/programs/report.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/quantile.h"
#include "lab/programs/truth.h"

#define BEGIN_NS UINT64_C(300000000000) /* five minutes */
#define MINUTE_NS UINT64_C(60000000000)
#define WORTH 1.0 /* percent of the time of all calls that makes a key count */
#define WRONG 2.0 /* percent slower than AUTO */

const char *const nt_shipped_programs[] = {
	"ddp-1b",	 "ddp-tcp",	 "fsdp2-7b",	     "tp8-dp8-pp2", "tp-dp-world",
	"tp-dp-shared",	 "moe",		 "decode",	     "two-minutes", "once-in-5s",
	"steps-of-3s",	 "steps-of-11s", "twice-in-a-burst", "gap-750us",   "many-sizes",
	"400-sizes",	 "wide-node",	 "bursts",	     "late-rank",   "pauses",
	"sizes-in-turn", "many-tiny",	 "tiny-and-sizes",   NULL,
};

/* A key of all communicators of one name. */
struct row {
	const struct nt_program_key *key;
	double share; /* percent */
	unsigned groups, decided, wrong;
	uint32_t calls; /* of each */
	uint32_t call_median, call_last;
	double s_median, s_last;
	double tried, measured, events; /* a group */
	double spent_ms, saved_ms; /* a group */
	double gain, best_gain, regret; /* percent; of the worst group */
	int arm; /* of the first group; */
	bool mixed;
	const char *why; /* the plugin's, of the first group that says something */
	double said_spent_ms; /* by the plugin's own books, a group */
};

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static double median(double *value, unsigned n)
{
	if (!n)
		return 0;
	nt_sort_doubles(value, n);
	return value[n / 2];
}

/* What one communicator adds to its row. */
static void add_group(const struct nt_world *w, struct row *row, const struct nt_inst *inst,
		      const struct nt_key_log *log)
{
	unsigned key = nt_world_key(w, row->key);
	double baseline_us = w->true_us[key][w->baseline_arm[key]];
	int arm = log->decided_call ? log->final_arm : w->baseline_arm[key];
	double us = nt_truth_us(w, inst, key, arm);
	double gain = percent(baseline_us - us, baseline_us);
	double regret = percent(us - w->true_us[key][w->best_arm[key]],
				w->true_us[key][w->best_arm[key]]);

	if (row->groups == 0 || gain < row->gain)
		row->gain = gain;
	if (regret > row->regret)
		row->regret = regret;
	row->mixed = row->mixed || (row->groups && row->arm != arm);
	row->arm = row->groups ? row->arm : arm;
	row->groups++;
	row->calls = log->calls;
	row->tried += log->tried;
	row->measured += log->measured;
	row->events += log->events;
	row->spent_ms += log->tried_extra_ns * 1e-6;
	row->saved_ms += log->saved_ns * 1e-6;
	row->wrong += gain < -WRONG;
	row->said_spent_ms += log->said_spent_ms;
	if (!row->why[0])
		row->why = log->why;
}

static void finish_row(struct row *row, double *s, double *calls)
{
	row->s_median = median(s, row->decided);
	row->call_median = (uint32_t)median(calls, row->decided);
	if (row->decided) {
		row->s_last = s[row->decided - 1];
		row->call_last = (uint32_t)calls[row->decided - 1];
	}
	if (row->groups) {
		row->tried /= row->groups;
		row->measured /= row->groups;
		row->events /= row->groups;
		row->said_spent_ms /= row->groups;
		row->spent_ms /= row->groups;
		row->saved_ms /= row->groups;
	}
}

static struct row row_of(struct nt_world *w, const struct nt_sacct_runs *runs, unsigned key)
{
	struct row row = { .key = &w->p->key[key], .why = "" };
	double *s = calloc(w->insts, sizeof(*s)), *calls = calloc(w->insts, sizeof(*calls));
	double baseline_us = w->true_us[key][w->baseline_arm[key]];

	row.best_gain = percent(baseline_us - w->true_us[key][w->best_arm[key]], baseline_us);
	w->log = (struct nt_run_log *)&runs->plugin;
	for (unsigned i = 0; s && calls && i < w->insts; i++) {
		const struct nt_key_log *log = nt_world_key_log(w, &w->inst[i], key);

		if (w->inst[i].kind != row.key->comm || !log->calls)
			continue;
		add_group(w, &row, &w->inst[i], log);
		if (!log->decided_call)
			continue;
		s[row.decided] = (double)runs->plugin.end_ns[log->decided_step] * 1e-9;
		calls[row.decided++] = log->decided_call;
	}
	finish_row(&row, s, calls);
	free(s);
	free(calls);
	return row;
}

/* Of the time that calls take on AUTO. */
static void set_shares(const struct nt_world *w, struct row *row)
{
	double all = 0;

	for (unsigned k = 0; k < w->p->keys; k++)
		all += row[k].calls * w->true_us[k][w->baseline_arm[k]];
	for (unsigned k = 0; k < w->p->keys; k++)
		row[k].share = percent(row[k].calls * w->true_us[k][w->baseline_arm[k]], all);
}

/* What trying cost from one step's end to another's: against the same choices without trying. */
static double cost(const struct nt_sacct_runs *r, uint64_t from, uint64_t until)
{
	double with = (double)(r->plugin.end_ns[until] - (from ? r->plugin.end_ns[from - 1] : 0));
	double without = (double)(r->chosen.end_ns[until] -
				  (from ? r->chosen.end_ns[from - 1] : 0));

	return percent(with - without, without);
}

/* What a change in the program's arms cost, against AUTO from the last step before it on: percent
 * of five minutes. */
static double cost_of_change(const struct nt_world *w, const struct nt_sacct_runs *r)
{
	const uint64_t last = r->steps - 1;
	uint64_t from = 0;

	if (w->p->laters == 0)
		return 0;
	while (from < last && r->plugin.end_ns[from + 1] < w->p->later[0].ns)
		from++;
	return percent((double)(r->plugin.end_ns[last] - r->plugin.end_ns[from]) -
			       (double)(r->automatic.end_ns[last] - r->automatic.end_ns[from]),
		       (double)BEGIN_NS);
}

static double against_auto(const struct nt_sacct_runs *r, uint64_t from)
{
	uint64_t last = r->steps - 1;
	double with = (double)(r->plugin.end_ns[last] - r->plugin.end_ns[from]);
	double without = (double)(r->automatic.end_ns[last] - r->automatic.end_ns[from]);

	return percent(with - without, without);
}

static void program_figures(const struct nt_sacct_runs *r, uint64_t settled,
			    struct nt_sample_quantiles *f)
{
	uint64_t begin = 0, from = 0, last = r->steps - 1;

	while (begin < last && r->plugin.end_ns[begin] < BEGIN_NS)
		begin++;
	f->cost_begin = cost(r, 0, begin);
	f->cost_later = begin < last ? cost(r, begin + 1, last) : 0;
	f->cost_minute = -100;
	for (uint64_t i = 0; i <= begin; i++) {
		double percents;

		while (r->plugin.end_ns[i] - r->plugin.end_ns[from] > MINUTE_NS)
			from++;
		if (r->plugin.end_ns[i] < MINUTE_NS && i < begin)
			continue;
		percents = cost(r, from, i);
		f->cost_minute = percents > f->cost_minute ? percents : f->cost_minute;
	}
	f->after = settled < last ? against_auto(r, settled) : 0;
	f->gain = percent((double)r->automatic.end_ns[last] - (double)r->plugin.end_ns[last],
			  (double)r->automatic.end_ns[last]);
}

/* The step after which nothing is tried; the last one where something still is. */
static uint64_t settled_at(struct nt_world *w, const struct nt_sacct_runs *runs)
{
	uint64_t step = 0;

	for (unsigned i = 0; i < w->insts * w->p->keys; i++) {
		const struct nt_key_log *log = &runs->plugin.key[i];

		if (log->decided_call && log->decided_step > step)
			step = log->decided_step;
		if (!log->decided_call && log->last_tried_step > step)
			step = log->last_tried_step;
	}
	return step;
}

static const char *size_text(uint64_t bytes)
{
	static char text[24];

	return nt_size_text(bytes, text, sizeof(text));
}

static void print_row(const struct nt_world *w, const struct row *r, const int *best)
{
	printf("  %-8s %-13s %6s %5.1f%% %3u/%-3u %6u", w->p->comm[r->key->comm].name,
	       nt_coll_name(r->key->coll), size_text(r->key->bytes), r->share, r->decided,
	       r->groups, r->calls);
	if (r->decided)
		printf(" %5u %5u %7.1f %7.1f", r->call_median, r->call_last, r->s_median,
		       r->s_last);
	else
		printf(" %5s %5s %7s %7s", "-", "-", "-", "-");
	printf(" %6.0f %9.1f %9.1f  %-11s %-11s %6.1f %6.1f%s  %s\n", r->tried, r->spent_ms,
	       r->saved_ms, r->mixed ? "mixed" : nt_arm_name(r->arm),
	       nt_arm_name(best[nt_world_key(w, r->key)]), r->gain, r->regret,
	       r->wrong ? "  WRONG" : "", r->why);
}

static void print_table(const struct nt_world *w, const struct nt_sacct_runs *runs,
			const struct row *row, const struct nt_sample_quantiles *f)
{
	uint64_t last = runs->steps - 1;

	printf("%s, seed %" PRIu64 ": %u ranks on %u nodes, %" PRIu64
	       " steps, auto %.1f s, tuned %.1f s, best %.1f s\n",
	       w->p->name, w->seed, w->p->ranks, w->nodes, runs->steps,
	       (double)runs->automatic.end_ns[last] * 1e-9,
	       (double)runs->plugin.end_ns[last] * 1e-9, (double)runs->best.end_ns[last] * 1e-9);
	printf("  %-8s %-13s %6s %6s %7s %6s %11s %15s %6s %9s %9s  %-11s %-11s %6s %6s  %s\n",
	       "comm", "collective", "size", "share", "decided", "calls", "until calls",
	       "until seconds", "tried", "spent ms", "saved ms", "arm", "best", "gain", "regret",
	       "why");
	for (unsigned k = 0; k < w->p->keys; k++)
		print_row(w, &row[k], w->best_arm);
	printf("  decided %u of %u worth it, the last after %.1f s; trying cost %.2f %% in five "
	       "minutes, %.2f %% later, %.2f %% in the worst minute; after it %+.2f %% against "
	       "AUTO; waited %.2f s; %u wrong\n",
	       f->decided, f->keys, f->decided_s, f->cost_begin, f->cost_later, f->cost_minute,
	       f->after, f->waited_s, f->wrong);
}

static void print_json_row(const struct nt_world *w, const struct row *r, bool first)
{
	unsigned key = nt_world_key(w, r->key);

	printf("%s{\"comm\":\"%s\",\"coll\":\"%s\",\"bytes\":%" PRIu64
	       ",\"share_percent\":%.2f,\"groups\":%u,\"decided\":%u,\"calls\":%u,"
	       "\"decided_calls\":[%u,%u],\"decided_s\":[%.2f,%.2f],\"tried\":%.1f,"
	       "\"measured\":%.1f,\"events\":%.1f,\"spent_s\":%.4f,\"saved_s\":%.4f,\"auto\":\"%s\","
	       "\"arm\":\"%s\",\"best\":\"%s\",\"gain_percent\":%.2f,\"best_gain_percent\":%.2f,"
	       "\"regret_percent\":%.2f,\"wrong\":%u,\"booked_s\":%.4f,\"why\":\"%s\"}",
	       first ? "" : ",", w->p->comm[r->key->comm].name, nt_coll_name(r->key->coll),
	       r->key->bytes, r->share, r->groups, r->decided, r->calls, r->call_median,
	       r->call_last, r->s_median, r->s_last, r->tried, r->measured, r->events,
	       r->spent_ms * 1e-3, r->saved_ms * 1e-3, nt_arm_name(w->baseline_arm[key]),
	       r->mixed ? "mixed" : nt_arm_name(r->arm), nt_arm_name(w->best_arm[key]), r->gain,
	       r->best_gain, r->regret, r->wrong, r->said_spent_ms * 1e-3, r->why);
}

static void print_json(const struct nt_world *w, const struct nt_sacct_runs *runs,
		       const struct row *row, const struct nt_sample_quantiles *f)
{
	uint64_t last = runs->steps - 1;

	printf("{\"program\":\"%s\",\"seed\":%" PRIu64
	       ",\"ranks\":%u,\"nodes\":%u,\"steps\":%" PRIu64 ",\"keys\":[",
	       w->p->name, w->seed, w->p->ranks, w->nodes, runs->steps);
	for (unsigned k = 0; k < w->p->keys; k++)
		print_json_row(w, &row[k], k == 0);
	printf("],");
	if (w->p->laters)
		printf("\"change_percent\":%.3f,", cost_of_change(w, runs));
	printf("\"auto_s\":%.3f,\"tuned_s\":%.3f,\"chosen_s\":%.3f,\"best_s\":%.3f,"
	       "\"worth\":%u,\"decided\":%u,\"decided_s\":%.2f,\"wrong\":%u,"
	       "\"cost_percent\":{\"five_minutes\":%.3f,\"later\":%.3f,\"worst_minute\":%.3f},"
	       "\"after_percent\":%.3f,\"waited_s\":%.3f,\"gain_percent\":%.3f}\n",
	       (double)runs->automatic.end_ns[last] * 1e-9,
	       (double)runs->plugin.end_ns[last] * 1e-9, (double)runs->chosen.end_ns[last] * 1e-9,
	       (double)runs->best.end_ns[last] * 1e-9, f->keys, f->decided, f->decided_s, f->wrong,
	       f->cost_begin, f->cost_later, f->cost_minute, f->after, f->waited_s, f->gain);
}

void nt_report(struct nt_world *w, const struct nt_sacct_runs *runs, bool json,
	       struct nt_sample_quantiles *out)
{
	struct row *row = calloc(w->p->keys, sizeof(*row));

	if (!row)
		nt_world_leave(NT_EXIT_TROUBLE, "out of memory");
	*out = (struct nt_sample_quantiles){ 0 };
	for (unsigned k = 0; k < w->p->keys; k++)
		row[k] = row_of(w, runs, k);
	set_shares(w, row);
	for (unsigned k = 0; k < w->p->keys; k++) {
		out->wrong += row[k].wrong;
		if (row[k].share < WORTH)
			continue;
		out->keys += row[k].groups;
		out->decided += row[k].decided;
		if (row[k].s_last > out->decided_s)
			out->decided_s = row[k].s_last;
	}
	for (unsigned r = 0; r < w->p->ranks; r++) {
		double waited_s = (double)runs->plugin.waited_ns[r] * 1e-9;

		out->waited_s = waited_s > out->waited_s ? waited_s : out->waited_s;
	}
	program_figures(runs, settled_at(w, runs), out);
	if (json)
		print_json(w, runs, row, out);
	else
		print_table(w, runs, row, out);
	free(row);
}

/* Of a member of all seeds. */
static void print_spread(const struct nt_sample_quantiles *f, uint64_t seeds, size_t member,
			 const char *name, bool json)
{
	double *value = calloc(seeds, sizeof(*value));

	for (uint64_t i = 0; value && i < seeds; i++)
		value[i] = *(const double *)((const char *)&f[i] + member);
	if (value) {
		double middle = median(value, (unsigned)seeds);

		printf(json ? ",\"%s\":[%.3f,%.3f,%.3f]" : "; %s %.2f (%.2f to %.2f)", name, middle,
		       value[0], value[seeds - 1]);
	}
	free(value);
}

void nt_report_spread(const char *program, const struct nt_sample_quantiles *f, uint64_t seeds,
		      bool json)
{
	static const struct {
		const char *name;
		size_t member;
	} list[] = {
		{ "decided_s", offsetof(struct nt_sample_quantiles, decided_s) },
		{ "cost_five_minutes", offsetof(struct nt_sample_quantiles, cost_begin) },
		{ "cost_later", offsetof(struct nt_sample_quantiles, cost_later) },
		{ "cost_worst_minute", offsetof(struct nt_sample_quantiles, cost_minute) },
		{ "after", offsetof(struct nt_sample_quantiles, after) },
		{ "waited_s", offsetof(struct nt_sample_quantiles, waited_s) },
		{ "gain", offsetof(struct nt_sample_quantiles, gain) },
	};
	unsigned keys = 0, decided = 0, wrong = 0;

	for (uint64_t i = 0; i < seeds; i++) {
		keys += f[i].keys;
		decided += f[i].decided;
		wrong += f[i].wrong;
	}
	printf(json ? "{\"program\":\"%s\",\"seeds\":%" PRIu64
		      ",\"worth\":%u,\"decided\":%u,\"wrong\":%u"
		    : "%s, %" PRIu64 " seeds: of %u worth it %u decided, %u wrong",
	       program, seeds, keys, decided, wrong);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		print_spread(f, seeds, list[i].member, list[i].name, json);
	puts(json ? "}" : "");
}
