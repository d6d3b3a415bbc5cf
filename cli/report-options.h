/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* report-options.h - the command line of `nccl-tune report`
 *
 * Threads:  the main thread.
 * Memory:   strings of argv and of places are kept; nt_request_fini frees the rest.
 * Errors:   NT_COMMAND_GO, or an exit status (command.h): help was printed, or what is wrong.
 */
#ifndef NT_REQUEST_H
#define NT_REQUEST_H

#include <argp.h>
#include <stdbool.h>
#include "report/model/joblist.h"
#include "cli/report-output.h"
#include "report/model/record-places.h"

struct nt_request {
	struct nt_joblist jobs;
	struct nt_jobid id; /* of the job at hand, with the step that is wanted */
	bool has_id;
	bool newest; /* no job is named: the newest of the user's that has a record */
	bool own; /* nor that: the job that this runs in */
	bool full; /* several jobs, too */
	enum nt_form form;
	const char *file;
	const char *spool;
	const char *page; /* where the page is to be; "-": standard output */
	char page_name[NT_JOB_LABEL_MAX + 20]; /* by default */
};

extern const struct argp nt_request_argp;

/* places: where records are unless an option says it. */
int nt_request_parse(struct nt_request *request, const struct nt_record_places *places, int argc,
		     char *argv[]);
/* Once the job at hand is known: what the page is called by default. */
void nt_request_name_page(struct nt_request *request);

void nt_request_fini(struct nt_request *request);

#endif
