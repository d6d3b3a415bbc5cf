/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* One table describes all members. */
#include "profiles/ticket.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/setting.h"
#include "lib/number.h"
#include "lib/hex.h"
#include "lib/list.h"
#include "profiles/memory-dir.h"

#define EXPECTED_MAX 1000
#define VALUE_MAX 512 /* longest member, with its NUL */
#define WORD_MAX 64 /* likewise, in a member of several */

/* Text for users, which goes into JSON and logs. */
static bool is_source(const char *value)
{
	for (const char *c = value; *c != '\0'; c++)
		if (*c < 0x20 || *c > 0x7e || *c == '"' || *c == '\\')
			return false;
	return true;
}

static bool is_program(const char *value)
{
	return nt_program_valid(value, NT_PROGRAM_NAME);
}

static int take_version(struct nt_ticket *ticket, const char *value)
{
	(void)ticket;
	return strcmp(value, "1") == 0 ? 0 : -1;
}

static void put_version(const struct nt_ticket *ticket, char *out)
{
	(void)ticket;
	snprintf(out, VALUE_MAX, "1");
}

static int take_why(struct nt_ticket *ticket, const char *value)
{
	int why = nt_why_parse(value);

	ticket->why = (enum nt_why)why;
	return why >= 0 ? 0 : -1;
}

static void put_why(const struct nt_ticket *ticket, char *out)
{
	snprintf(out, VALUE_MAX, "%s", nt_why_name((int)ticket->why));
}

/* "2.800": digits, a point, three digits; whatever the locale. */
static int take_expected(struct nt_ticket *ticket, const char *value)
{
	size_t whole = strspn(value, "0123456789");

	if (whole == 0 || whole > 4 || value[whole] != '.' ||
	    strspn(value + whole + 1, "0123456789") != 3 || value[whole + 4] != '\0')
		return -1;
	ticket->expected = (double)strtoul(value, NULL, 10) +
			   (double)strtoul(value + whole + 1, NULL, 10) / 1000;
	return ticket->expected > 0 && ticket->expected <= EXPECTED_MAX ? 0 : -1;
}

static void put_expected(const struct nt_ticket *ticket, char *out)
{
	double expected = ticket->expected < EXPECTED_MAX ? ticket->expected : EXPECTED_MAX;
	uint64_t thousandths = expected > 0 ? (uint64_t)(expected * 1000 + 0.5) : 0;

	if (thousandths > 0)
		snprintf(out, VALUE_MAX, "%" PRIu64 ".%03" PRIu64, thousandths / 1000,
			 thousandths % 1000);
}

/* Passes each space-separated word to take(); -1 if one is refused, or there is none. */
static int take_words(const char *value, int (*take)(void *context, char *word), void *context)
{
	char copy[VALUE_MAX];
	char *rest = copy;

	snprintf(copy, sizeof(copy), "%s", value);
	while (rest != NULL) {
		char *word = strsep(&rest, " ");

		if (word[0] == '\0' || strlen(word) >= WORD_MAX || take(context, word) < 0)
			return -1;
	}
	return 0;
}

static int take_settings(struct nt_ticket *ticket, const char *value)
{
	return nt_settings_parse(&ticket->settings, value);
}

static void put_settings(const struct nt_ticket *ticket, char *out)
{
	nt_settings_text(&ticket->settings, out, VALUE_MAX);
}

static int leave_word(void *ticket, char *word)
{
	if (strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != strlen(word))
		return -1;
	nt_ticket_leave(ticket, word);
	return 0;
}

static int take_left(struct nt_ticket *ticket, const char *value)
{
	return strlen(value) < sizeof(ticket->left) ? take_words(value, leave_word, ticket) : -1;
}

static int take_own(struct nt_ticket *ticket, const char *value)
{
	uint64_t hash;

	if (nt_hex_parse(value, NT_HEX_U32, &hash) < 0)
		return -1;
	ticket->user_env = (uint32_t)hash;
	return ticket->user_env != 0 ? 0 : -1;
}

static void put_own(const struct nt_ticket *ticket, char *out)
{
	if (ticket->user_env != 0)
		snprintf(out, VALUE_MAX, "%08" PRIx32, ticket->user_env);
}

static int take_calibrate(struct nt_ticket *ticket, const char *value)
{
	uint64_t seconds;

	if (nt_number_parse(value, 1, NT_CALIBRATE_MAX_S, &seconds) < 0)
		return -1;
	ticket->calibrate_s = (uint32_t)seconds;
	return 0;
}

static void put_calibrate(const struct nt_ticket *ticket, char *out)
{
	if (ticket->calibrate_s > 0)
		snprintf(out, VALUE_MAX, "%" PRIu32, ticket->calibrate_s);
}

/* In the order in which they are printed. A member is a text of the ticket's, a flag that one word
 * stands for, or has functions of its own; what is "" or false is not printed. */
static const struct ticket_member {
	const char *key;
	bool needed;
	size_t offset, room; /* of the text in the ticket, or of the flag */
	bool (*valid)(const char *value);
	const char *word;
	int (*take)(struct nt_ticket *ticket, const char *value);
	void (*put)(const struct nt_ticket *ticket, char *out);
} members[] = {
#define TEXT(name) .offset = offsetof(struct nt_ticket, name), .room = ROOM(name)
#define ROOM(name) sizeof(((struct nt_ticket *)0)->name)
	{ "v", true, .take = take_version, .put = put_version },
	{ "profile", true, TEXT(profile), .valid = nt_profile_name_valid },
	{ "why", true, .take = take_why, .put = put_why },
	{ "force", .offset = offsetof(struct nt_ticket, observe), .word = "never" },
	{ "from", TEXT(from), .valid = is_source },
	{ "expected", .take = take_expected, .put = put_expected },
	{ "set", .take = take_settings, .put = put_settings },
	{ "left", TEXT(left), .take = take_left },
	{ "own", .take = take_own, .put = put_own },
	{ "calibrate", .take = take_calibrate, .put = put_calibrate },
	{ "program", TEXT(program), .valid = is_program },
	{ "memory", TEXT(memory), .valid = nt_memory_path_valid },
#undef TEXT
#undef ROOM
};

#define MEMBERS (sizeof(members) / sizeof(members[0]))

static int take(struct nt_ticket *ticket, const struct ticket_member *member, const char *value)
{
	char *at = (char *)ticket + member->offset;

	if (member->take)
		return member->take(ticket, value);
	if (member->word) {
		*(bool *)at = strcmp(value, member->word) == 0;
		return *(bool *)at ? 0 : -1;
	}
	if (value[0] == '\0' || strlen(value) >= member->room || !member->valid(value))
		return -1;
	memcpy(at, value, strlen(value) + 1);
	return 0;
}

static void put(const struct nt_ticket *ticket, const struct ticket_member *member, char *out)
{
	const char *at = (const char *)ticket + member->offset;

	if (member->put)
		member->put(ticket, out);
	else if (member->room > 0)
		snprintf(out, VALUE_MAX, "%s", at);
	else if (*(const bool *)at)
		snprintf(out, VALUE_MAX, "%s", member->word);
}

/* The member in an item of that many bytes, and a copy of its value; NULL if there is none. */
static const struct ticket_member *find_member(const char *item, size_t length,
					       char value[VALUE_MAX])
{
	for (size_t i = 0; i < MEMBERS; i++) {
		size_t key = strlen(members[i].key);

		if (length <= key || memcmp(item, members[i].key, key) != 0 || item[key] != '=' ||
		    length - key - 1 >= VALUE_MAX)
			continue;
		memcpy(value, item + key + 1, length - key - 1);
		value[length - key - 1] = '\0';
		return &members[i];
	}
	return NULL;
}

static int parse(struct nt_ticket *ticket, const char *text, struct nt_error *err)
{
	char value[VALUE_MAX];
	unsigned seen = 0;

	if (strnlen(text, NT_TICKET_MAX) == NT_TICKET_MAX)
		return nt_error_set(err, "longer than %d bytes", NT_TICKET_MAX - 1);
	for (const char *item = text;; item++) {
		size_t length = strcspn(item, ";");
		const struct ticket_member *member = find_member(item, length, value);

		if (member == NULL)
			return nt_error_set(err, "a member is unknown or has no value");
		if (seen & (1u << (member - members)))
			return nt_error_set(err, "%s is given twice", member->key);
		seen |= 1u << (member - members);
		if (take(ticket, member, value) < 0)
			return nt_error_set(err, "%s is malformed or not allowed", member->key);
		item += length;
		if (*item == '\0')
			break;
	}
	for (size_t i = 0; i < MEMBERS; i++)
		if (members[i].needed && !(seen & (1u << i)))
			return nt_error_set(err, "%s is missing", members[i].key);
	if (strcmp(ticket->profile, NT_PROFILE_DEFAULT) == 0 && nt_settings_any(&ticket->settings))
		return nt_error_set(err, "the default sets a variable");
	return 0;
}

int nt_ticket_parse(struct nt_ticket *ticket, const char *text, struct nt_error *err)
{
	memset(ticket, 0, sizeof(*ticket));
	if (parse(ticket, text, err) == 0)
		return 0;
	memset(ticket, 0, sizeof(*ticket));
	return -1;
}

int nt_ticket_print(const struct nt_ticket *ticket, char *out, size_t out_bytes,
		    struct nt_error *err)
{
	struct nt_ticket back;
	char text[NT_TICKET_MAX];
	size_t used = 0;

	for (size_t i = 0; i < MEMBERS; i++) {
		char value[VALUE_MAX] = "";
		int more;

		put(ticket, &members[i], value);
		if (value[0] == '\0')
			continue;
		more = snprintf(text + used, sizeof(text) - used, "%s%s=%s", used > 0 ? ";" : "",
				members[i].key, value);
		if (more < 0 || (size_t)more >= sizeof(text) - used)
			return nt_error_set(err, "a ticket longer than %d bytes",
					    NT_TICKET_MAX - 1);
		used += (size_t)more;
	}
	if (nt_ticket_parse(&back, text, err) < 0)
		return -1;
	if (used >= out_bytes)
		return nt_error_set(err, "no room for a ticket of %zu bytes", used);
	memcpy(out, text, used + 1);
	return 0;
}

void nt_ticket_leave(struct nt_ticket *ticket, const char *name)
{
	size_t used = strlen(ticket->left), room = sizeof(ticket->left) - used;
	size_t length = strcspn(name, " ");
	int added;

	if (nt_list_has(ticket->left, ' ', name, length))
		return;
	added = snprintf(ticket->left + used, room, "%s%.*s", used > 0 ? " " : "", (int)length,
			 name);
	if (added < 0 || (size_t)added >= room)
		ticket->left[used] = '\0';
}

void nt_ticket_leave_all(struct nt_ticket *ticket, const struct nt_resolved *resolved)
{
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++)
		if (resolved->because[i] != NULL)
			nt_ticket_leave(ticket, resolved->because[i]);
}
