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
 * Errors:   write errors stay on the stream for the caller (ferror).
 */
#ifndef NT_HTML_H
#define NT_HTML_H

#include <json.h>
#include <stdio.h>

/* jobs: as nt_summary_json() has them (report/metrics/report-json.h). */
void nt_html_write(FILE *out, json_object *jobs);

/* What stands before the JSON and after it. */
extern const char nt_html_head[], nt_html_tail[];

#endif
