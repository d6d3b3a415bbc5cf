/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* As in NCCL 2.28: Tree has AllReduce, PAT has AllGather and ReduceScatter. */
static bool nccl_has(int coll, const char *algo)
{
	if (!nt_kind_tunable(coll))
		return false;
	if (strcasecmp(algo, "TREE") == 0)
		return coll == NT_ALLREDUCE;
	if (strcasecmp(algo, "PAT") == 0)
		return coll == NT_ALLGATHER || coll == NT_REDUCESCATTER;
	return true;
}

static int parse_line(const char *text, struct nt_plan_line *line)
{
	char coll[32];
	int end = 0;

	if (sscanf(text, "%31s %zu %23s %n", coll, &line->bytes, line->arm, &end) != 3 || text[end])
		return -1;
	line->coll = nt_coll_find(coll);
	return line->coll >= 0 ? 0 : -1;
}

static int add(struct nt_bench_plan *plan, const char *text)
{
	struct nt_plan_line *more = realloc(plan->line, (plan->lines + 1) * sizeof(*more));

	if (!more)
		return -1;
	plan->line = more;
	if (parse_line(text, &more[plan->lines]) < 0)
		return -1;
	plan->lines++;
	return 0;
}

int nt_plan_read(struct nt_bench_plan *plan, const char *path, struct nt_error *err)
{
	FILE *f = fopen(path, "r");
	char text[128];
	int rc = 0;

	*plan = (struct nt_bench_plan){ .line = NULL };
	if (!f)
		return nt_error_set(err, "%s: %s", path, strerror(errno));
	while (rc == 0 && fgets(text, sizeof(text), f)) {
		rc = add(plan, text);
		if (rc < 0)
			nt_error_set(err, "%s: line %zu is not COLLECTIVE BYTES ARM", path,
				     plan->lines + 1);
	}
	fclose(f);
	if (rc == 0 && plan->lines == 0)
		rc = nt_error_set(err, "%s: empty", path);
	if (rc < 0)
		nt_plan_free(plan);
	return rc;
}

void nt_plan_free(struct nt_bench_plan *plan)
{
	free(plan->line);
	*plan = (struct nt_bench_plan){ .line = NULL };
}

bool nt_plan_has(const struct nt_bench_plan *plan, int coll, size_t bytes,
		 const struct nt_bench_arm *arm)
{
	char name[sizeof(plan->line->arm)];

	if (!nccl_has(coll, arm->algo))
		return false;
	if (!plan->line)
		return true;
	snprintf(name, sizeof(name), "%s/%s", arm->algo, arm->proto);
	for (size_t i = 0; i < plan->lines; i++) {
		const struct nt_plan_line *line = &plan->line[i];

		if (line->coll == coll && line->bytes == bytes && strcasecmp(line->arm, name) == 0)
			return true;
	}
	return false;
}
