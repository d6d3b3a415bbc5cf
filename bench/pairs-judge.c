/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs-judge.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/clock.h"
#include "lib/array.h"

#define ROUNDS_MOST 1024 /* looks at 1, 4, 8, ... up to it are NT_LOW_LOOKS */

void nt_pairs_judge_init(struct nt_pairs_judge *judge, const struct nt_bench_gpu *gpu)
{
	*judge = (struct nt_pairs_judge){ .gpu = gpu, .start_s = nt_clock_exact_us() / 1e6 };
	judge->head = nt_bench_allocate((size_t)gpu->options->ranks, sizeof(judge->head[0]));
}

void nt_pairs_judge_fini(struct nt_pairs_judge *judge)
{
	free(judge->head);
	free(judge->time);
}

static int per_node(const struct nt_pairs_judge *judge)
{
	return judge->gpu->options->ranks / judge->gpu->options->nodes;
}

static void add_time(struct nt_pairs_judge *judge, const struct nt_pair_time *time)
{
	struct nt_pair_time *added = nt_array_add(&judge->time, &judge->count, SIZE_MAX,
						  sizeof(judge->time[0]));

	if (!added)
		nt_bench_die("no memory for %zu pairs", judge->count + 1);
	*added = *time;
}

static bool is_far(const struct nt_pairs_judge *judge, int one, int other)
{
	const char *a = judge->head[one].leaf, *b = judge->head[other].leaf;

	return a[0] && b[0] && strcmp(a, b) != 0;
}

/* Both times include waiting; the rank that came last waited least. */
static void add_pair(struct nt_pairs_judge *judge, int round, int rank,
		     const struct nt_pairs_entry *mine, const struct nt_pairs_entry *other)
{
	const int gpus = per_node(judge);
	struct nt_pair_time time = {
		.round = (uint32_t)round,
		.node = { (uint16_t)(rank / gpus), (uint16_t)(mine->partner / gpus) },
		.gpu = { (uint16_t)(rank % gpus), (uint16_t)(mine->partner % gpus) },
		.far = is_far(judge, rank, mine->partner),
		.wrong = mine->wrong > 0 || other->wrong > 0,
	};

	for (int what = 0; what < NT_PAIR_WHATS; what++) {
		time.us[what] = fminf(mine->us[what], other->us[what]);
		time.predicted_us[what] = mine->predicted_us[what];
	}
	add_time(judge, &time);
}

static const struct nt_pairs_entry *entry_at(const char *parts, size_t part_bytes, int rank,
					     size_t at)
{
	const char *part = parts + (size_t)rank * part_bytes + sizeof(struct nt_pairs_head);

	return (const struct nt_pairs_entry *)part + at;
}

void nt_pairs_judge_add(struct nt_pairs_judge *judge, const char *parts, size_t part_bytes,
			int from_round, int end_round)
{
	const int ranks = judge->gpu->options->ranks;
	const size_t entries = (size_t)(end_round - from_round) * NT_PAIR_PLACES;

	for (int rank = 0; rank < ranks; rank++)
		memcpy(&judge->head[rank], parts + (size_t)rank * part_bytes,
		       sizeof(judge->head[0]));
	for (size_t at = 0; at < entries; at++)
		for (int rank = 0; rank < ranks; rank++) {
			const struct nt_pairs_entry *mine = entry_at(parts, part_bytes, rank, at);

			if (mine->partner > rank && mine->partner < ranks)
				add_pair(judge, from_round + (int)(at / NT_PAIR_PLACES), rank, mine,
					 entry_at(parts, part_bytes, mine->partner, at));
		}
}

static const char *place_name(int place)
{
	return place == NT_PAIR_INSIDE ? "inside" : "between";
}

static const char *what_name(const struct nt_low *low)
{
	return low->wrong ? "results" : low->what == NT_PAIR_LATENCY ? "latency" : "bandwidth";
}

static const char *node_name(const struct nt_pairs_judge *judge, unsigned node)
{
	return judge->head[node * (unsigned)per_node(judge)].node;
}

static void print_middle(const struct nt_low_verdict *verdict, const size_t *bytes)
{
	const char *comma = "";

	printf(",\"pairs\":[");
	for (int place = 0; place < NT_PAIR_PLACES; place++)
		for (int what = 0; what < NT_PAIR_WHATS; what++) {
			const struct nt_low_middle *middle = &verdict->middle[place][what];

			if (middle->us <= 0)
				continue;
			printf("%s{\"place\":\"%s\",\"what\":\"%s\",\"bytes\":%zu,\"us\":%.2f,"
			       "\"algbw_gbs\":%.3f,\"deviation\":%.4f",
			       comma, place_name(place),
			       what == NT_PAIR_LATENCY ? "latency" : "bandwidth", bytes[what],
			       middle->us, (double)bytes[what] / middle->us / 1e3,
			       middle->deviation);
			if (middle->predicted > 0)
				printf(",\"predicted\":%.3f", middle->predicted);
			printf("}");
			comma = ",";
		}
	printf("]");
}

static void print_low(const struct nt_pairs_judge *judge, const struct nt_low *low)
{
	static const char *const parts[] = { "node", "gpu", "nic" };

	printf("{\"node\":\"%s\",\"part\":\"%s\"", node_name(judge, low->node), parts[low->part]);
	if (low->gpu >= 0)
		printf(",\"gpu\":%d", low->gpu);
	printf(",\"what\":\"%s\",\"sure\":%s", what_name(low), low->sure ? "true" : "false");
	if (!low->wrong)
		printf(",\"place\":\"%s\",\"slower\":%.4f,\"error\":%.4f,\"p\":%.2g,"
		       "\"expected\":%s",
		       place_name(low->place), exp(low->slower), exp(low->slower) * low->error,
		       low->p, low->expected ? "true" : "false");
	printf("}");
}

static void print_line(const struct nt_pairs_judge *judge, const struct nt_low_verdict *verdict,
		       int rounds, double elapsed_s)
{
	const struct nt_bench_options *o = judge->gpu->options;
	const int v = judge->gpu->nccl->version;

	printf("{\"nccl\":\"%d.%d.%d\",\"device\":\"%s\",\"gpus\":%d,\"rounds\":%d,"
	       "\"seconds\":%.1f,\"open\":%u",
	       v / 10000, v / 100 % 100, v % 100, judge->gpu->device_name, per_node(judge), rounds,
	       elapsed_s, verdict->open);
	print_middle(verdict, o->size_bytes);
	printf(",\"low\":[");
	for (size_t i = 0; i < verdict->count; i++) {
		printf("%s", i ? "," : "");
		print_low(judge, &verdict->low[i]);
	}
	printf("],\"compared\":[");
	for (unsigned node = 0; node < (unsigned)o->nodes; node++)
		printf("%s\"%s\"", node ? "," : "", node_name(judge, node));
	printf("]}\n");
	fflush(stdout);
}

static void write_times(const struct nt_pairs_judge *judge)
{
	const struct nt_bench_options *o = judge->gpu->options;
	FILE *f = fopen(o->samples_path, "w");

	if (!f)
		nt_bench_die("--samples %s: %s", o->samples_path, strerror(errno));
	fprintf(f, "round,node,gpu,other_node,other_gpu,wrong,latency_us,bandwidth_us,"
		   "latency_predicted_us,bandwidth_predicted_us\n");
	for (size_t i = 0; i < judge->count; i++) {
		const struct nt_pair_time *t = &judge->time[i];

		fprintf(f, "%u,%s,%u,%s,%u,%d,%.2f,%.2f,%.2f,%.2f\n", t->round,
			node_name(judge, t->node[0]), t->gpu[0], node_name(judge, t->node[1]),
			t->gpu[1], t->wrong, (double)t->us[0], (double)t->us[1],
			(double)t->predicted_us[0], (double)t->predicted_us[1]);
	}
	if (fclose(f) != 0)
		nt_bench_die("--samples %s: %s", o->samples_path, strerror(errno));
}

int nt_pairs_judge_look(struct nt_pairs_judge *judge, int rounds)
{
	const struct nt_bench_options *o = judge->gpu->options;
	const double elapsed_s = nt_clock_exact_us() / 1e6 - judge->start_s;
	const double fit = (o->seconds - elapsed_s) * rounds / elapsed_s;
	struct nt_low_verdict verdict;
	struct nt_error err;
	int until = 4;

	if (nt_low_judge(judge->time, judge->count, (unsigned)o->nodes, (unsigned)per_node(judge),
			 &verdict, &err) < 0)
		nt_bench_die("%s", err.text);
	print_line(judge, &verdict, rounds, elapsed_s);
	while (until <= rounds)
		until *= 2;
	if (until - rounds > fit)
		until = rounds + (fit > 0 ? (int)fit : 0);
	if (until > ROUNDS_MOST || until > o->iters || (verdict.open == 0 && rounds > 1))
		until = rounds;
	nt_low_fini(&verdict);
	if (until == rounds && o->samples_path)
		write_times(judge);
	return until;
}
