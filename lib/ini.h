/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ini.h - a strict parser of "[section]" and "key = value"
 *
 * inih reads the lines. What it would silently skip or misread is refused first: long lines,
 * continuation lines, sections without a key, long names, and bytes that are not printable ASCII.
 *
 * Threads:  any.
 * Memory:   texts are valid during the callback.
 * Errors:   -1 and *err: "NAME:LINE: what is wrong". Ends at the first mistake.
 * Host:     libinih 53 or newer, built without options, as distributions do.
 */
#ifndef NT_INI_H
#define NT_INI_H

#include <stddef.h>
#include "lib/error.h"

#define NT_INI_LINE_MAX 190 /* bytes; inih's buffer has 200 */
#define NT_INI_NAME_MAX 48 /* of a section; inih has room for 49 */
#define NT_INI_FILE_MAX 65535 /* line numbers fit into 16 bits */

/* key and value are NULL at the start of a section; section is "" before the first. Return -1 and
 * *err, without a position, to refuse. */
typedef int nt_ini_take(void *context, unsigned line, const char *section, const char *key,
			const char *value, struct nt_error *err);

/* name: for messages. */
int nt_ini_read(const char *name, const char *text, size_t bytes, nt_ini_take *take, void *context,
		struct nt_error *err);

#endif
