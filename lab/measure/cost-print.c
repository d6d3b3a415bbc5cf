/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cost-print.c - nt-cost's command line, and its result as one line of JSON */
#include <stdio.h>
#include <string.h>
#include "lib/number.h"
#include "lib/quantile.h"
#include "lab/measure/cost.h"
#include "contract/shm-layout.h"

static const char *const state_name[NT_COST_STATES] = { "created", "called", "decided" };
static const char *const class_name[NT_COST_CLASSES] = { "plugin", "shm", "heap", "other" };

static int count_of(const char *text, uint32_t most, uint32_t *out)
{
	uint64_t value;

	if (nt_number_parse(text, 0, most, &value) < 0)
		return -1;
	*out = (uint32_t)value;
	return 0;
}

int nt_cost_parse(struct nt_cost_options *options, int argc, char **argv)
{
	*options = (struct nt_cost_options){ .comms = 200, .processes = 1 };
	if (argc > 1 && strcmp(argv[argc - 1], "--populate") == 0) {
		options->populate = true;
		argc--;
	}
	if (argc < 2 || argc > 5 ||
	    (argc > 2 && count_of(argv[2], NT_COST_COMMS_MAX, &options->comms) < 0) ||
	    (argc > 3 && count_of(argv[3], NT_COST_PROCESSES_MAX, &options->processes) < 0) ||
	    (argc > 4 && count_of(argv[4], 3600, &options->idle_s) < 0) || options->comms == 0 ||
	    options->processes == 0) {
		fprintf(stderr,
			"usage: nt-cost PLUGIN [COMMS [PROCESSES [IDLE_S]]] [--populate]\n");
		return -1;
	}
	options->plugin = argv[1];
	return 0;
}

/* Median and 99th percentile; sorts. */
static void print_spread(const char *name, const char *unit, uint32_t *value, uint32_t count,
			 double scale)
{
	if (count == 0)
		return;
	nt_sort_u32(value, count);
	printf(",\"%s_p50%s\":%.2f,\"%s_p99%s\":%.2f", name, unit, value[count / 2] / scale, name,
	       unit, value[count - 1 - count / 100] / scale);
}

/* The first communicator opens the shared memory and starts the thread; those beyond the shared
 * memory's places get none. */
static void print_times(const struct nt_cost_options *options, struct nt_cost_rank *r)
{
	uint32_t joined = options->comms < NT_SHM_COMMS ? options->comms : NT_SHM_COMMS;

	printf(",\"seated\":%u,\"first_us\":%.2f,\"first_faults\":%u", joined, r->init_ns[0] / 1e3,
	       r->init_faults[0]);
	print_spread("finalize", "_us", r->finalize_ns, options->comms, 1e3);
	print_spread("init_faults", "", r->init_faults + 1, joined - 1, 1);
	print_spread("unseated", "_us", r->init_ns + joined, options->comms - joined, 1e3);
	print_spread("init", "_us", r->init_ns + 1, joined - 1, 1e3);
}

static void print_memory(const char *name, const struct nt_cost_memory *from,
			 const struct nt_cost_memory *to)
{
	int64_t rss = 0, pss = 0, private = 0;

	printf(",\"%s\":{", name);
	for (int c = 0; c < NT_COST_CLASSES; c++) {
		printf("\"%s\":{\"rss\":%lld,\"pss\":%lld,\"private_dirty\":%lld},", class_name[c],
		       (long long)(to->rss_kib[c] - from->rss_kib[c]),
		       (long long)(to->pss_kib[c] - from->pss_kib[c]),
		       (long long)(to->private_kib[c] - from->private_kib[c]));
		rss += to->rss_kib[c] - from->rss_kib[c];
		pss += to->pss_kib[c] - from->pss_kib[c];
		private += to->private_kib[c] - from->private_kib[c];
	}
	printf("\"all\":{\"rss\":%lld,\"pss\":%lld,\"private_dirty\":%lld}}", (long long)rss,
	       (long long)pss, (long long)private);
}

static void print_idle(const struct nt_cost_options *options, const struct nt_cost_rank *r)
{
	printf(",\"idle\":{\"s\":%u", options->idle_s);
	for (int s = 0; s < NT_COST_STATES; s++) {
		if (r->measured & (1u << s))
			printf(",\"%s\":{\"cpu_ms\":%.3f,\"wakes_per_s\":%.1f}", state_name[s],
			       (double)r->idle[s].cpu_ns / 1e6,
			       (double)r->idle[s].wakes / options->idle_s);
	}
	printf("}");
}

static void print_rank(const struct nt_cost_options *options, struct nt_cost_rank *r)
{
	printf("{\"speaks\":%s,\"threads_added\":%d", r->speaks ? "true" : "false",
	       (int)r->threads - (int)r->threads_before);
	print_times(options, r);
	print_memory("kib_loaded", &r->before, &r->loaded);
	print_memory("kib", &r->before, &r->after);
	if (options->idle_s > 0)
		print_idle(options, r);
	printf("}");
}

void nt_cost_print(const struct nt_cost_options *options, struct nt_cost_rank *rank)
{
	printf("{\"comms\":%u,\"processes\":%u,\"populated\":%s,\"shm_kib\":%zu,\"ranks\":[",
	       options->comms, options->processes, options->populate ? "true" : "false",
	       (sizeof(struct nt_shm) - (size_t)NT_SHM_COMMS * (NT_SHM_KEYS - NT_SHM_KEYS_AT_ONCE) *
						sizeof(struct nt_shm_key)) /
		       1024);
	for (uint32_t p = 0; p < options->processes; p++) {
		printf("%s", p ? "," : "");
		print_rank(options, &rank[p]);
	}
	printf("]}\n");
}
