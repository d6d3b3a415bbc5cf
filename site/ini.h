/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ini.h - texts of "[section]" and "key = value", strictly
 *
 * inih does the reading. What it would pass over in silence is refused here before it sees the
 * line: one longer than its buffer, one that continues the line before, a section without a key, a
 * name that it would cut, and what is not printable ASCII.
 *
 * Threads:  any.
 * Memory:   what the caller is told lasts for that call.
 * Errors:   -1 and *err: "NAME:LINE: what is wrong". The first mistake ends it.
 * Host:     libinih 53 or newer, built without options, as distributions have it.
 */
#ifndef NT_INI_H
#define NT_INI_H

#include <stddef.h>
#include "contract/error.h"

#define NT_INI_LINE_MAX 190 /* bytes; inih's buffer has 200 */
#define NT_INI_NAME_MAX 48 /* of a section; inih has room for 49 */
#define NT_INI_FILE_MAX 65535 /* so that lines are numbers of 16 bits */

/* key and value are NULL where a section begins; section is "" before the first. -1 and *err, without
 * a place, refuses. */
typedef int nt_ini_take(void *context, unsigned line, const char *section, const char *key,
			const char *value, struct nt_error *err);

/* name stands for the text in messages. */
int nt_ini_read(const char *name, const char *text, size_t bytes, nt_ini_take *take, void *context,
		struct nt_error *err);

#endif
