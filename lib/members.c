/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/members.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "lib/append.h"
#include "lib/number.h"

static int take_value(const struct nt_member *member, void *object, const char *value)
{
	char *at = (char *)object + member->offset;
	uint64_t number;

	if (value[0] == '\0')
		return -1;
	if (member->take)
		return member->take(object, value);
	if (member->word) {
		if (member->flag)
			*(bool *)at = true;
		return strcmp(value, member->word) == 0 ? 0 : -1;
	}
	if (member->most > 0) {
		if (nt_number_parse(value, member->least, member->most, &number) < 0)
			return -1;
		*(uint32_t *)(void *)at = (uint32_t)number;
		return 0;
	}
	if (strlen(value) >= member->size || !member->valid(value))
		return -1;
	memcpy(at, value, strlen(value) + 1);
	return 0;
}

static void put_value(const struct nt_member *member, const void *object, char *out)
{
	const char *at = (const char *)object + member->offset;

	out[0] = '\0';
	if (member->put)
		member->put(object, out);
	else if (member->word && (!member->flag || *(const bool *)at))
		snprintf(out, NT_MEMBER_TEXT, "%s", member->word);
	else if (member->size > 0)
		snprintf(out, NT_MEMBER_TEXT, "%s", at);
	else if (member->most > 0 && (member->needed || *(const uint32_t *)(const void *)at > 0))
		snprintf(out, NT_MEMBER_TEXT, "%" PRIu32, *(const uint32_t *)(const void *)at);
}

/* Which member an item of that many bytes is, and a copy of its value; count: none. */
static size_t find_member(const struct nt_member *members, size_t count, const char *item,
			  size_t length, char value[NT_MEMBER_TEXT])
{
	for (size_t i = 0; i < count; i++) {
		const size_t key = strlen(members[i].key);

		if (length <= key || memcmp(item, members[i].key, key) != 0 || item[key] != '=' ||
		    length - key - 1 >= NT_MEMBER_TEXT)
			continue;
		memcpy(value, item + key + 1, length - key - 1);
		value[length - key - 1] = '\0';
		return i;
	}
	return count;
}

static int unknown_member(const struct nt_member *members, size_t count, struct nt_error *err)
{
	char names[128] = "";

	for (size_t i = 0; i < count; i++)
		nt_append(names, sizeof(names), "%s%s", i > 0 ? ", " : "", members[i].key);
	return nt_error_set(err, "a member is unknown or too long (want %s)", names);
}

int nt_members_take(const struct nt_member *members, size_t count, void *object, const char *text,
		    size_t text_bytes, struct nt_error *err)
{
	char value[NT_MEMBER_TEXT];
	unsigned seen = 0;

	if (strnlen(text, text_bytes) == text_bytes)
		return nt_error_set(err, "longer than %zu bytes", text_bytes - 1);
	for (;; text++) {
		const size_t length = strcspn(text, ";");
		const size_t i = find_member(members, count, text, length, value);

		if (i == count)
			return unknown_member(members, count, err);
		if (!members[i].several && seen & (1u << i))
			return nt_error_set(err, "%s is given twice", members[i].key);
		seen |= 1u << i;
		if (take_value(&members[i], object, value) < 0)
			return members[i].want
				       ? nt_error_set(err,
						      "%s is malformed or not allowed (want %s)",
						      members[i].key, members[i].want)
				       : nt_error_set(err, "%s is malformed or not allowed",
						      members[i].key);
		text += length;
		if (*text == '\0')
			break;
	}
	for (size_t i = 0; i < count; i++)
		if (members[i].needed && !(seen & (1u << i)))
			return nt_error_set(err, "%s is missing", members[i].key);
	return 0;
}

int nt_members_put(const struct nt_member *members, size_t count, const void *object, char *out,
		   size_t out_bytes, struct nt_error *err)
{
	char value[NT_MEMBER_TEXT];

	out[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		put_value(&members[i], object, value);
		if (value[0] != '\0' &&
		    nt_append(out, out_bytes, "%s%s=%s", out[0] != '\0' ? ";" : "", members[i].key,
			      value) < 0)
			return nt_error_set(err, "longer than %zu bytes", out_bytes - 1);
	}
	return 0;
}
