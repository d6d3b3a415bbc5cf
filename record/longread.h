/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longread.h - read a part of a step's long form (long.h), line by line
 *
 * Nothing in it is trusted: it may be truncated, or grow without end. One line is in memory at a
 * time; a part has at most NT_LONG_TEXT_MAX bytes and NT_LONG_LINES_MAX lines. Lines before damage
 * have been visited when it is found.
 *
 * Threads:  no state of its own; any thread.
 * Memory:   a visitor's arguments are valid during its call.
 * Errors:   -1 and *err: what is wrong with the part.
 * Units:    bytes.
 */
#ifndef NT_LONGREAD_H
#define NT_LONGREAD_H

#include <stdbool.h>
#include "lib/error.h"
#include "record/long.h"
#include "lib/json-scanner.h"

/* {"name":value}. -1 and *err end the reading. */
typedef int nt_long_visit(void *argument, struct nt_text name, struct nt_text value,
			  struct nt_error *err);

/* Reads from the file's position. visit NULL: only the first line. *text_bytes, if not NULL, is
 * increased by the size of the text. */
int nt_long_read(int fd, struct nt_long_head *head, nt_long_visit *visit, void *argument,
		 size_t *text_bytes, struct nt_error *err);

/* Does the file begin as a part does? Its position does not change. */
bool nt_long_begins(int fd);

#endif
