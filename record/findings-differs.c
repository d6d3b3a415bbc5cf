/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/findings-differs.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "lib/append.h"
#include "lib/hash.h"
#include "lib/plural.h"
#include "lib/trim.h"

#define VALUE_BYTES 80
#define NAME_BYTES 48
#define COMM_PARTS 128
#define NAMES_MAX 64 /* of variables */
#define FULL_TEXT 900 /* bytes of variables: others may have been left out */
#define UNSET "not set"

/* A property of a process as text; "": not known. */
typedef void get_value(const struct nt_facts_seen *seen, const char *name, char out[VALUE_BYTES]);

static void get_variable(const struct nt_facts_seen *seen, const char *name, char out[VALUE_BYTES])
{
	if (nt_findings_value(seen->variables, name, out, VALUE_BYTES) == 0 ||
	    nt_findings_value(seen->inside, name, out, VALUE_BYTES) == 0) {
		if (nt_ends_with(name, "_DISABLE") && strcmp(out, "0") == 0)
			snprintf(out, VALUE_BYTES, UNSET);
		return;
	}
	snprintf(out, VALUE_BYTES, "%s",
		 strlen(seen->variables) > FULL_TEXT || strlen(seen->inside) > FULL_TEXT ? ""
											 : UNSET);
}

static void get_library(const struct nt_facts_seen *seen, const char *name, char out[VALUE_BYTES])
{
	const char *slash = strrchr(seen->library, '/');

	(void)name;
	snprintf(out, VALUE_BYTES, "%.79s", slash ? slash + 1 : seen->library);
}

/* In the alphabet's order, each once; without the libraries of profilers, which often look at a
 * single rank. */
static void get_preload(const struct nt_facts_seen *seen, const char *name, char out[VALUE_BYTES])
{
	char words[sizeof(seen->facts.preload)], *at = words, *word, *list[16];
	size_t count = 0;

	(void)name;
	memcpy(words, seen->facts.preload, sizeof(words));
	while ((word = strsep(&at, " ")) != NULL && count < 16) {
		size_t i = count;

		if (!word[0] || strstr(word, "Injection") || strstr(word, "TreeLauncher"))
			continue;
		for (; i > 0 && strcmp(list[i - 1], word) > 0; i--)
			list[i] = list[i - 1];
		list[i] = word;
		count++;
	}
	snprintf(out, VALUE_BYTES, "%s", count == 0 ? UNSET : "");
	for (size_t i = 0; i < count; i++)
		(void)nt_append(out, VALUE_BYTES, "%s%s", i > 0 ? " " : "", list[i]);
}

static void get_blocking(const struct nt_facts_seen *seen, const char *name, char out[VALUE_BYTES])
{
	(void)name;
	snprintf(out, VALUE_BYTES, "%s", seen->facts.blocking ? "1" : UNSET);
}

/* Of devices, the number: which they are differs between ranks. All that there are, or one for each
 * rank, is what Slurm gives. */
static void get_visible(const struct nt_facts_seen *seen, const char *name, char out[VALUE_BYTES])
{
	(void)name;
	if (seen->facts.visible >= 0 && seen->facts.visible != seen->facts.gpu_count &&
	    seen->facts.visible != seen->local)
		snprintf(out, VALUE_BYTES, "%" PRId64 " devices", seen->facts.visible);
	else
		snprintf(out, VALUE_BYTES, UNSET);
}

/* ---- one property of all ranks */

struct sides {
	char value[2][VALUE_BYTES];
	size_t count[2];
	size_t first[2]; /* the first rank's index */
	bool one_node[2];
	uint32_t comms[2][COMM_PARTS]; /* bits of their communicators */
};

static void note_comm(uint32_t comms[COMM_PARTS], const char *comm)
{
	const uint32_t bit = nt_hash32_text(comm) % (32 * COMM_PARTS);

	comms[bit / 32] |= UINT32_C(1) << bit % 32;
}

/* Two programs in one step may be started differently. */
static bool in_one_comm(const struct sides *sides)
{
	for (size_t i = 0; i < COMM_PARTS; i++) {
		if (sides->comms[0][i] & sides->comms[1][i])
			return true;
	}
	return false;
}

/* False: all have one, or there is no two that they have. */
static bool split_by_value(struct sides *sides, const struct nt_facts_seen *seen, size_t count,
			   get_value *get, const char *name)
{
	memset(sides, 0, sizeof(*sides));
	for (size_t i = 0; i < count; i++) {
		char value[VALUE_BYTES];
		unsigned g = 0;

		get(&seen[i], name, value);
		if (!value[0])
			return false;
		while (g < 2 && sides->count[g] > 0 && strcasecmp(sides->value[g], value) != 0)
			g++;
		if (g == 2)
			return false;
		if (sides->count[g]++ == 0) {
			memcpy(sides->value[g], value, sizeof(value));
			sides->first[g] = i;
			sides->one_node[g] = true;
		}
		note_comm(sides->comms[g], seen[i].comm);
		if (strcmp(seen[sides->first[g]].node, seen[i].node) != 0)
			sides->one_node[g] = false;
	}
	return sides->count[1] > 0 && in_one_comm(sides);
}

static void tell(struct nt_findings *findings, const struct nt_facts_seen *seen,
		 const struct sides *sides, const char *name)
{
	/* The fewer; of as many, those that have set it */
	const bool second = sides->count[1] < sides->count[0] ||
			    (sides->count[1] == sides->count[0] &&
			     strcmp(sides->value[0], UNSET) == 0);
	const unsigned odd = second, most = !second;
	const struct nt_facts_seen *first = &seen[sides->first[odd]];
	char who[96], value[2][VALUE_BYTES];
	struct nt_finding finding;

	memcpy(value, sides->value, sizeof(value));
	if (sides->count[odd] == 1)
		snprintf(who, sizeof(who), "rank %" PRId64 " (%.40s)", first->rank, first->node);
	else if (sides->one_node[odd])
		snprintf(who, sizeof(who), "%zu ranks of %.40s", sides->count[odd], first->node);
	else
		snprintf(who, sizeof(who), "%zu ranks, as rank %" PRId64 " (%.40s)",
			 sides->count[odd], first->rank, first->node);
	nt_finding_set(&finding, NT_FINDING_DIFFERS, "%.60s:%s is %.40s:%s:%.40s on %zu other%s",
		       sides->one_node[odd] ? first->node : "", name,
		       nt_findings_argument(value[odd]), who, nt_findings_argument(value[most]),
		       sides->count[most], nt_plural(sides->count[most]));
	nt_findings_add(findings, &finding);
}

static void compare(struct nt_findings *findings, const struct nt_facts_seen *seen, size_t count,
		    get_value *get, const char *name)
{
	struct sides sides;

	if (split_by_value(&sides, seen, count, get, name))
		tell(findings, seen, &sides, name);
}

/* ---- variables */

/* What may differ: names of a rank's own files, addresses and devices; and ranks themselves. */
static bool is_own(const char *name)
{
	static const char *const own[] = { "_FILE", "_DIR",   "_PATH",	 "_HOME", "_ROOT",
					   "_ADDR", "_RANGE", "_IFNAME", "_HCA",  "_INDEX",
					   "_ID",   "_UUID",  "_PLUGIN" };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (nt_ends_with(name, own[i]))
			return true;
	}
	return strstr(name, "RANK") || strstr(name, "HOST") || strstr(name, "DUMP");
}

struct names {
	char name[NAMES_MAX][NAME_BYTES];
	size_t count;
};

static void add_names(struct names *names, const char *text)
{
	struct nt_findings_pair pair;

	while (nt_findings_next(&text, &pair)) {
		char name[NAME_BYTES];
		size_t i = 0;

		if (pair.name_bytes >= NAME_BYTES)
			continue;
		snprintf(name, sizeof(name), "%.*s", pair.name_bytes, pair.name);
		while (i < names->count && strcmp(names->name[i], name) != 0)
			i++;
		if (i == names->count && i < NAMES_MAX && !is_own(name))
			memcpy(names->name[names->count++], name, sizeof(name));
	}
}

static void compare_variables(struct nt_findings *findings, const struct nt_facts_seen *seen,
			      size_t count)
{
	struct names names = { .count = 0 };

	for (size_t i = 0; i < count; i++) {
		add_names(&names, seen[i].variables);
		add_names(&names, seen[i].inside);
	}
	for (size_t i = 0; i < names.count; i++)
		compare(findings, seen, count, get_variable, names.name[i]);
}

/* ---- limits: a program may raise its own, so only much less counts, of what may be needed */

struct limit {
	const char *name;
	int64_t enough;
	bool of_rdma;
	int64_t (*get)(const struct nt_facts *facts);
};

static int64_t get_memlock(const struct nt_facts *facts)
{
	return facts->memlock_kib;
}

static int64_t get_nofile(const struct nt_facts *facts)
{
	return facts->nofile;
}

static int64_t get_stack(const struct nt_facts *facts)
{
	return facts->stack_kib;
}

static void compare_limit(struct nt_findings *findings, const struct nt_facts_seen *seen,
			  size_t count, const struct limit *limit)
{
	int64_t most = 0;
	struct sides sides = { .one_node = { true, true } };

	for (size_t i = 0; i < count; i++) {
		if (limit->get(&seen[i].facts) < 0 ||
		    (limit->of_rdma && !nt_findings_by_rdma(&seen[i])))
			return;
		if (limit->get(&seen[i].facts) > most)
			most = limit->get(&seen[i].facts);
	}
	for (size_t i = 0; i < count; i++) {
		const int64_t here = limit->get(&seen[i].facts);
		const unsigned g = here < most / 4 && here < limit->enough;
		char *value = sides.value[g];

		if (sides.count[g]++ == 0) {
			sides.first[g] = i;
			snprintf(value, VALUE_BYTES, "%" PRId64, here);
			if (here == NT_COUNT_MAX)
				snprintf(value, VALUE_BYTES, "unlimited");
		}
		if (strcmp(seen[sides.first[g]].node, seen[i].node) != 0)
			sides.one_node[g] = false;
	}
	if (sides.count[1] > 0 && sides.count[1] <= sides.count[0])
		tell(findings, seen, &sides, limit->name);
}

void nt_findings_judge_differs(struct nt_findings *findings, const struct nt_facts_seen *seen,
			       size_t count)
{
	static const struct limit limits[] = {
		{ "the limit of locked memory (KiB)", 1 << 20, true, get_memlock },
		{ "the limit of open files", 8192, false, get_nofile },
		{ "the limit of the stack (KiB)", 8192, false, get_stack },
	};

	compare_variables(findings, seen, count);
	compare(findings, seen, count, get_library, "NCCL's library");
	compare(findings, seen, count, get_preload, "LD_PRELOAD");
	compare(findings, seen, count, get_blocking, "CUDA_LAUNCH_BLOCKING");
	compare(findings, seen, count, get_visible, "CUDA_VISIBLE_DEVICES");
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		compare_limit(findings, seen, count, &limits[i]);
}
