/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* answer.h - find the records that a request asks for, and print them
 *
 * Threads, host: as joblist.h and jobload.h.
 * Memory:   the caller opens the output before and closes it afterwards, and frees the request's
 *           jobs; strings are argv's.
 * Errors:   -1 and *err. What is shown in part only is reported, and sets partial.
 */
#ifndef NT_ANSWER_H
#define NT_ANSWER_H

#include "cli/report-output.h"
#include "report/model/joblist.h"

/* What the command line asks for. */
struct nt_request {
	struct nt_joblist jobs;
	struct nt_jobid id; /* of the job at hand, with the step that is wanted */
	bool has_id;
	bool newest; /* no job is named: the newest of the user's that has a record */
	bool own; /* no job is named: the one that this runs in */
	bool full; /* also of several jobs */
	bool findings; /* as text: these alone */
	bool follow; /* until the job ends */
	enum nt_form form;
	const char *file;
	const char *page; /* where the page is to be; "-": standard output */
	char page_name[NT_JOB_LABEL_MAX + 20]; /* by default */
};

/* What is printed, and what there was to print. */
struct nt_answer {
	struct nt_request *request;
	struct nt_output output;
	size_t known; /* jobs */
	size_t missing; /* jobs that were named and do not exist */
	size_t shown; /* records */
	size_t other; /* texts of somebody else */
	size_t unreadable; /* jobs with a record that the caller cannot read, which was said */
	size_t running; /* jobs that have not ended */
	bool partial;
};

/* From the file or of the jobs that are asked for. */
int nt_answer_find(struct nt_answer *answer, struct nt_error *err);

#endif
