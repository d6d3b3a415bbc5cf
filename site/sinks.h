/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sinks.h - where the site wants records: AdminComment, a directory of files, both, or nowhere
 *
 * "admincomment", "file:DIRECTORY", "admincomment file:DIRECTORY" or "none". With both, files get
 * what AdminComment does not accept.
 *
 * Threads:  pure functions, any thread.
 * Memory:   a value without pointers.
 * Errors:   -1 and *err has the word and what is accepted; the value is then unspecified.
 */
#ifndef NT_SINKS_H
#define NT_SINKS_H

#include <stdbool.h>
#include "lib/error.h"
#include "contract/names.h"

struct nt_sinks {
	bool admincomment;
	char directory[NT_PATH_MAX]; /* of files; "": none */
};

#define NT_SINKS_TEXT (NT_PATH_MAX + 24) /* as a text, with its NUL */

/* AdminComment alone. */
void nt_sinks_init(struct nt_sinks *sinks);
bool nt_sinks_none(const struct nt_sinks *sinks);

/* Words are separated by blanks, commas or +; a directory ends at the next blank or comma. */
int nt_sinks_parse(struct nt_sinks *sinks, const char *value, struct nt_error *err);

/* As one word, which nt_sinks_parse() accepts. */
const char *nt_sinks_text(const struct nt_sinks *sinks, char out[NT_SINKS_TEXT]);

#endif
