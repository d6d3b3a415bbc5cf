/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/reason.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "lib/append.h"
#include "lib/printable.h"

#define BETWEEN ':'

static const struct {
	const char *code;
	enum nt_reason_of about;
	const char *fields, *sentence, *advice;
} reasons[] = {
#define REASON(id, code, about, fields, sentence, advice) \
	{ code, NT_ABOUT_##about, fields, sentence, advice },
#include "contract/reasons.def"
#undef REASON
};

#define REASON(id, code, about, fields, sentence, advice)                      \
	_Static_assert(sizeof(code) <= NT_REASON_CODE_MAX, "a code is short"); \
	_Static_assert(sizeof(advice) <= NT_REASON_ADVICE_MAX, "an advice fits its room");
#include "contract/reasons.def"
#undef REASON

static int known_or_none(int id)
{
	return id > NT_REASON_NONE && id < NT_REASON_COUNT ? id : NT_REASON_NONE;
}

const char *nt_reason_code(int id)
{
	return reasons[known_or_none(id)].code;
}

const char *nt_reason_fields(int id)
{
	return reasons[known_or_none(id)].fields;
}

const char *nt_reason_sentence(int id)
{
	return reasons[known_or_none(id)].sentence;
}

const char *nt_reason_advice(int id)
{
	return reasons[known_or_none(id)].advice;
}

enum nt_reason_of nt_reason_about(int id)
{
	return reasons[known_or_none(id)].about;
}

int nt_reason_parse(const char *code)
{
	for (int id = 0; id < NT_REASON_COUNT; id++) {
		if (strcmp(reasons[id].code, code) == 0)
			return id;
	}
	return NT_REASON_OTHER;
}

int nt_reason_set(struct nt_reason *why, int id)
{
	if (!why)
		return -1;
	memset(why, 0, sizeof(*why));
	why->id = known_or_none(id);
	snprintf(why->text, sizeof(why->text), "%s", nt_reason_code(id));
	return -1;
}

int nt_reason_setf(struct nt_reason *why, int id, const char *format, ...)
{
	const int saved = errno;
	size_t used;
	va_list args;

	if (!why)
		return -1;
	(void)nt_reason_set(why, id);
	used = strlen(why->text);
	why->text[used++] = BETWEEN;
	va_start(args, format);
	vsnprintf(why->text + used, sizeof(why->text) - used, format, args);
	va_end(args);
	nt_printable_json(why->text);
	errno = saved;
	return -1;
}

void nt_reason_read(struct nt_reason *why, const char *text, size_t bytes)
{
	char copy[NT_REASON_BYTES] = "", code[NT_REASON_CODE_MAX] = "";
	size_t length;

	memset(why, 0, sizeof(*why));
	if (bytes >= sizeof(copy))
		bytes = sizeof(copy) - 1;
	if (bytes > 0)
		memcpy(copy, text, bytes);
	nt_printable_json(copy);
	length = strcspn(copy, ":");
	if (length < sizeof(code))
		memcpy(code, copy, length);
	why->id = copy[0] ? nt_reason_parse(code) : NT_REASON_NONE;
	if (why->id == NT_REASON_NONE && copy[0])
		why->id = NT_REASON_OTHER; /* too long, or empty */
	if (why->id == NT_REASON_OTHER && strcmp(code, nt_reason_code(NT_REASON_OTHER)) != 0)
		(void)nt_reason_setf(why, NT_REASON_OTHER, "%.*s", (int)length, copy);
	else
		memcpy(why->text, copy, sizeof(copy));
}

static bool is_name(const char *name, const char *at, size_t bytes)
{
	return strlen(name) == bytes && memcmp(name, at, bytes) == 0;
}

/* Returns the argument's bytes. The last field has the rest of the text. */
static size_t find_argument(const char *field, const char *text, const char *name, size_t bytes,
			    const char **found)
{
	const char *at = strchr(text, BETWEEN);

	while (at && *field) {
		size_t length = strcspn(field, " ");
		bool last = field[length] == '\0';

		at++;
		*found = at;
		if (length == bytes && memcmp(field, name, bytes) == 0)
			return last ? strlen(at) : strcspn(at, ":");
		at = last ? NULL : strchr(at, BETWEEN);
		field += length + !last;
	}
	return 0;
}

static void put_named(char *out, size_t out_bytes, const char *fields, const char *text,
		      const char *name, size_t bytes, const struct nt_reason_fact *facts,
		      size_t count)
{
	const char *found = NULL;
	size_t length = find_argument(fields, text, name, bytes, &found);

	for (size_t i = 0; i < count; i++) {
		if (is_name(facts[i].name, name, bytes) && facts[i].value[0]) {
			(void)nt_append(out, out_bytes, "%s", facts[i].value);
			return;
		}
	}
	if (length > 0)
		(void)nt_append(out, out_bytes, "%.*s", (int)length, found);
	else if (is_name("auto", name, bytes))
		(void)nt_append(out, out_bytes, "NCCL's choice");
	else if (is_name("arm", name, bytes))
		(void)nt_append(out, out_bytes, "another choice");
	else if (!is_name("gain", name, bytes) && !is_name("p", name, bytes))
		(void)nt_append(out, out_bytes, "?");
}

const char *nt_reason_fill(const char *fields, const char *text, const char *says,
			   const struct nt_reason_fact *facts, size_t count, char *out,
			   size_t out_bytes)
{
	out[0] = '\0';
	while (*says) {
		size_t bytes = strcspn(says, "{");

		(void)nt_append(out, out_bytes, "%.*s", (int)bytes, says);
		says += bytes;
		if (*says == '\0')
			break;
		bytes = strcspn(++says, "}");
		put_named(out, out_bytes, fields, text, says, bytes, facts, facts ? count : 0);
		says += bytes + 1;
	}
	return out;
}

const char *nt_reason_say(const struct nt_reason *why, const struct nt_reason_fact *facts,
			  size_t count, char *out, size_t out_bytes)
{
	return nt_reason_fill(nt_reason_fields(why->id), why->text, nt_reason_sentence(why->id),
			      facts, count, out, out_bytes);
}
