/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* html.h - a report as one page that needs nothing else
 *
 * The page is made of report/html/ when this is built; what is written here is the report's JSON
 * into it, as ASCII, so that no text of a record can end the element that it is in.
 *
 * Threads:  any.
 * Memory:   report stays the caller's.
 * Errors:   -1 when memory runs out; write errors stay on the stream for the caller (ferror).
 */
#ifndef NT_HTML_H
#define NT_HTML_H

#include <json.h>
#include <stdio.h>
#include "contract/error.h"

int nt_html_write(FILE *out, json_object *report, struct nt_error *err);

/* What stands before the JSON and after it. */
extern const char nt_html_head[], nt_html_tail[];

#endif
