/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune compare: two jobs side by side. */
#include "cli/command.h"

#include <stdbool.h>
#include <stdio.h>
#include "cli/compare-side.h"
#include "report/metrics/compare-json.h"
#include "report/text/compare-text.h"

static int print(const struct nt_compare_job job[2], bool json, struct nt_error *err)
{
	const char *const titles[] = { job[0].title, job[1].title };
	const char *const names[] = { job[0].name, job[1].name };
	const struct nt_step_side *const side[] = { job[0].sides, job[1].sides };
	const size_t count[] = { job[0].count, job[1].count };
	struct nt_job_comparison comparison;
	int rc = nt_job_comparison_make(&comparison, side, count, err);

	if (rc < 0)
		return rc;
	rc = json ? nt_job_comparison_json(stdout, names, &comparison, err)
		  : nt_job_comparison_print(stdout, titles, &comparison, err);
	nt_job_comparison_fini(&comparison);
	return rc;
}

static int compare(char *words[2], bool json)
{
	struct nt_compare_job job[2] = { { .count = 0 }, { .count = 0 } };
	bool failed = false;
	struct nt_error err;
	int rc = 0;

	for (int i = 0; i < 2; i++) {
		if (nt_compare_job_load(&job[i], words[i], &err) == 0) {
			if (job[i].damaged)
				nt_command_complain("%s: the record is damaged", words[i]);
			failed |= job[i].damaged;
			continue;
		}
		nt_command_complain("%s", err.text);
		rc = -1;
	}
	if (rc == 0) {
		rc = print(job, json, &err);
		if (rc < 0)
			nt_command_complain("%s", err.text);
	}
	for (int i = 0; i < 2; i++)
		nt_compare_job_fini(&job[i]);
	return rc < 0 || failed ? NT_EXIT_FAILED : NT_EXIT_OK;
}

struct request {
	bool json;
};

static int run(void *argument, char *argv[])
{
	const struct request *request = argument;

	if (!argv[0] || !argv[1])
		return nt_command_misuse("want two jobs or files");
	return compare(argv, request->json);
}

static const struct nt_option options[] = {
	{ "json", 'j', "Print one JSON object for programs, see nccl-tune(1)",
	  NT_FLAG(struct request, json) },
	{ 0 },
};

const struct nt_command nt_command_compare = {
	.name = "compare",
	.summary = "show two jobs side by side, and which differences exceed noise",
	.options = options,
	.usage = "{JOB[.STEP] | FILE} {JOB[.STEP] | FILE}",
	.doc = "Show two jobs side by side: the time of the program's own step, settings, NCCL, nodes "
	       "and launch profile, and for each collective, size and communicator the time of a "
	       "call, the bus bandwidth and the choice in force. Differences of times are marked as "
	       "beyond or within noise, judged by the spread in the records.\n\n"
	       "JOB is a job id, an array task (12_3) or a component of a heterogeneous job (12+1). "
	       "FILE has a job's record, or the text of an AdminComment that contains one. Steps "
	       "are matched by the name of their program and their order; calibrations are left out."
	       "\vExit status: 0 if both jobs were shown, 1 if one has no record or a part of it "
	       "could not be read (the reason is on stderr), 2 for a usage error.",
	.request_bytes = sizeof(struct request),
	.run = run,
	.arguments = 2,
};
