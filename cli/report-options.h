/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* report-options.h - the command line of `nccl-tune report`
 *
 * Threads:  the main thread.
 * Memory:   strings of argv are kept; the caller frees jobs.
 * Errors:   NT_EXIT_OK, or what nt_command_misuse() returns.
 */
#ifndef NT_REQUEST_H
#define NT_REQUEST_H

#include <stdbool.h>
#include "cli/command.h"
#include "report/model/joblist.h"
#include "cli/report-output.h"
#include "report/model/site-config.h"

struct nt_request {
	struct nt_record_places places; /* of this site */
	struct nt_joblist jobs;
	struct nt_jobid id; /* of the job at hand, with the step that is wanted */
	bool has_id;
	bool newest; /* no job is named: the newest of the user's that has a record */
	bool own; /* no job is named: the one that this runs in */
	bool full; /* also of several jobs */
	bool follow; /* until the job ends */
	enum nt_form form;
	const char *file;
	const char *spool;
	const char *page; /* where the page is to be; "-": standard output */
	char page_name[NT_JOB_LABEL_MAX + 20]; /* by default */
};

extern const struct nt_option nt_request_options[];

/* Take the jobs from the arguments; without any, choose one. */
int nt_request_take_jobs(struct nt_request *request, char *argv[]);

/* The page's default name, once the job is known. */
void nt_request_name_page(struct nt_request *request);

#endif
