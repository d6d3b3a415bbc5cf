/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* orders-main.c - search the scenarios of orders.c
 *
 * orders           each to its end; prints the run that is wrong
 * orders litmus    small programs of which C11's outcomes are known
 * orders mutants   each access of the code with each weaker order, and the scenario that finds it
 */
#include <stdio.h>

#include "tests/model/orders-explorer.h"
#include "tests/model/orders-litmus.h"

#define LIMIT 4000000 /* runs of a scenario */

/* The next weaker order of an access. */
static int weaker(const struct model_site *site, int order)
{
	if (order == memory_order_seq_cst && site->access >= MODEL_CAS)
		return memory_order_acq_rel;
	if (order == memory_order_seq_cst)
		return site->access == MODEL_LOAD ? memory_order_acquire : memory_order_release;
	return memory_order_relaxed;
}

static const char *access_name(const struct model_site *site)
{
	static const char *const name[] = { "load", "store", "cas", "or", "add" };

	return name[site->access];
}

static int search_all(void)
{
	int rc = 0;

	printf("1..%u\n", model_case_count);
	for (unsigned s = 0; s < model_case_count; s++) {
		const struct model_count c = model_search(&model_cases[s], LIMIT, true);

		printf("# %-24s %8llu runs, %3u steps, %s\n", model_cases[s].name,
		       (unsigned long long)(c.runs - c.pruned), c.steps,
		       c.wrong ? c.wrong : "none");
		printf("%s %u - %s\n", c.wrong ? "not ok" : "ok", s + 1, model_cases[s].name);
		rc |= c.wrong != NULL;
	}
	return rc;
}

/* Scenarios in which each access is made, by bits. */
static uint32_t used[MODEL_SITES];

/* What is found in any of these scenarios, and in which. */
static const char *find(uint32_t scenarios, const char **by)
{
	*by = "-";
	for (unsigned s = 0; s < model_case_count; s++) {
		struct model_count c;

		if (!(scenarios & 1u << s))
			continue;
		c = model_search(&model_cases[s], LIMIT, false);
		if (c.wrong) {
			*by = model_cases[s].name;
			return c.wrong;
		}
	}
	return "none";
}

/* One access with another order; true: nothing is found. */
static bool mutant(const struct model_site *site, int order)
{
	const char *found, *by;

	model_weaken(site->id, order);
	found = find(used[site->id], &by);
	model_weaken(site->id, site->order);
	printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", model_word(site), access_name(site),
	       model_order_name(site->order), site->file, site->function, model_order_name(order),
	       found, by);
	return strcmp(found, "none") == 0;
}

static int mutants(void)
{
	const struct model_site *site;
	bool spare[MODEL_SITES] = { false }; /* need not be seq_cst, each alone */
	const char *found, *by;

	for (unsigned s = 0; s < model_case_count; s++) {
		(void)model_search(&model_cases[s], LIMIT, false);
		for (int i = 1; model_site(i) != NULL; i++)
			used[i] |= (uint32_t)model_used(i) << s;
	}
	for (int i = 1; (site = model_site(i)) != NULL; i++) {
		if (strncmp(site->file, "tests/", 6) == 0)
			continue;
		for (int order = site->order; order != memory_order_relaxed;) {
			const bool first = order == memory_order_seq_cst;

			order = weaker(site, order);
			spare[i] |= mutant(site, order) && first;
		}
	}
	for (int i = 1; (site = model_site(i)) != NULL; i++) {
		if (spare[i])
			model_weaken(i, weaker(site, site->order));
	}
	found = find(UINT32_MAX, &by);
	printf("all of these without seq_cst\t-\tseq_cst\t-\t-\tone weaker\t%s\t%s\n", found, by);
	return 0;
}

static int litmus(void)
{
	int rc = 0;

	model_litmus_memory();
	printf("1..%u\n", model_litmus_count);
	for (unsigned i = 0; i < model_litmus_count; i++) {
		const struct model_litmus *test = &model_litmus[i];
		const bool seen = model_search(&test->scenario, LIMIT, !test->allowed).wrong !=
				  NULL;

		printf("%s %u - %s: %s\n", seen == test->allowed ? "ok" : "not ok", i + 1,
		       test->scenario.name, test->allowed ? "allowed" : "forbidden");
		rc |= seen != test->allowed;
	}
	return rc;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "litmus") == 0)
		return litmus();
	model_cases_memory();
	return argc > 1 && strcmp(argv[1], "mutants") == 0 ? mutants() : search_all();
}
