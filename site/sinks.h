/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sinks.h - the site's list of sinks for records: the first one that accepts a record gets it
 *
 * "admincomment extra comment file:DIRECTORY" in the site's order, or "none". spank/delivery/sink.h
 * describes sinks, and which of them this release of Slurm has.
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

enum nt_sink {
	NT_SINK_ADMINCOMMENT,
	NT_SINK_EXTRA,
	NT_SINK_COMMENT,
	NT_SINK_FILE,
	NT_SINK_KINDS,
};

struct nt_sinks {
	unsigned count; /* 0: no records */
	enum nt_sink at[NT_SINK_KINDS];
	char directory[NT_PATH_MAX]; /* of NT_SINK_FILE */
};

#define NT_SINKS_TEXT (NT_PATH_MAX + 40) /* a list as a text, with its NUL */

/* AdminComment alone. */
void nt_sinks_init(struct nt_sinks *sinks);

/* Words are separated by blanks, commas or +; a directory ends at the next blank or comma. */
int nt_sinks_parse(struct nt_sinks *sinks, const char *value, struct nt_error *err);

/* The list as one word, which nt_sinks_parse() accepts. */
const char *nt_sinks_text(const struct nt_sinks *sinks, char out[NT_SINKS_TEXT]);

bool nt_sinks_have(const struct nt_sinks *sinks, enum nt_sink sink);

#endif
