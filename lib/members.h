/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* members.h - a struct as one line, "key=value;key=value", described by a table
 *
 * The text comes from others, so the reader checks it: each member once, none unknown or empty,
 * none that is needed missing, each value within its bounds.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   -1 and *err; the object is then partly filled. No value of the text is in *err.
 */
#ifndef NT_MEMBERS_H
#define NT_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

#define NT_MEMBER_TEXT 2048 /* longest value, with its NUL */

/* A text, a number (an unsigned of 32 bits), a flag that one word stands for, that word alone, or
 * a member with functions of its own. What is "", 0 or false is not printed, unless it is needed. */
struct nt_member {
	const char *key;
	const char *want; /* for the user; NULL: nothing more is said */
	bool needed, several;
	size_t offset; /* in the struct */
	size_t size; /* of a text ... */
	bool (*valid)(const char *value); /* ... which this checks */
	uint64_t least, most; /* of a number; most 0: it is none */
	const char *word;
	bool flag; /* the word is stored */
	int (*take)(void *object, const char *value);
	void (*put)(const void *object, char *out); /* out has NT_MEMBER_TEXT bytes, and is "" */
};

int nt_members_take(const struct nt_member *members, size_t count, void *object, const char *text,
		    size_t text_bytes, struct nt_error *err);

/* In the table's order, but for members with neither put nor a kind. */
int nt_members_put(const struct nt_member *members, size_t count, const void *object, char *out,
		   size_t out_bytes, struct nt_error *err);

#endif
