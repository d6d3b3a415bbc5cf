/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* html.h - a report as one page that needs nothing else
 *
 * The page is made of the files of report/html when this is built. What is written here is the
 * report's JSON into it, as ASCII without angle brackets, so that no text of a record can end the
 * element that it is in.
 *
 * Threads:  any.
 * Memory:   jobs stays the caller's.
 * Errors:   nt_html_add -1 when memory runs out; write errors stay on the stream for the caller
 *           (ferror).
 */
#ifndef NT_HTML_H
#define NT_HTML_H

#include <json.h>
#include <stdio.h>
#include "contract/error.h"
#include "record/summary.h"

/* Append to jobs, an array, what the page is to show of a job: its sentences, its steps, its rows
 * as nt_summary_json() has them and with what only rank records tell, its communicators and
 * remarks. job: as nt_summary_json(). */
int nt_html_add(json_object *jobs, const char *job, const struct nt_summary *summary,
		struct nt_error *err);

void nt_html_write(FILE *out, json_object *jobs);

/* What stands before the JSON and after it. */
extern const char nt_html_head[], nt_html_tail[];

#endif
