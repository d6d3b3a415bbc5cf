/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* One table describes all members. */
#include "launch/ticket.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/setting.h"
#include "lib/hex.h"
#include "lib/list.h"
#include "lib/members.h"
#include "launch/memory-dir.h"

#define EXPECTED_MAX 1000
#define WORD_MAX 64 /* in a member of several, with its NUL */

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

static int take_why(void *object, const char *value)
{
	struct nt_ticket *ticket = object;
	int why = nt_why_parse(value);

	ticket->why = (enum nt_why)why;
	return why >= 0 ? 0 : -1;
}

static void put_why(const void *object, char *out)
{
	const struct nt_ticket *ticket = object;

	snprintf(out, NT_MEMBER_TEXT, "%s", nt_why_name((int)ticket->why));
}

/* "2.800": digits, a point, three digits; whatever the locale. */
static int take_expected(void *object, const char *value)
{
	struct nt_ticket *ticket = object;
	size_t whole = strspn(value, "0123456789");

	if (whole == 0 || whole > 4 || value[whole] != '.' ||
	    strspn(value + whole + 1, "0123456789") != 3 || value[whole + 4] != '\0')
		return -1;
	ticket->expected = (double)strtoul(value, NULL, 10) +
			   (double)strtoul(value + whole + 1, NULL, 10) / 1000;
	return ticket->expected > 0 && ticket->expected <= EXPECTED_MAX ? 0 : -1;
}

static void put_expected(const void *object, char *out)
{
	const struct nt_ticket *ticket = object;
	double expected = ticket->expected < EXPECTED_MAX ? ticket->expected : EXPECTED_MAX;
	uint64_t thousandths = expected > 0 ? (uint64_t)(expected * 1000 + 0.5) : 0;

	if (thousandths > 0)
		snprintf(out, NT_MEMBER_TEXT, "%" PRIu64 ".%03" PRIu64, thousandths / 1000,
			 thousandths % 1000);
}

static int take_settings(void *object, const char *value)
{
	struct nt_ticket *ticket = object;

	return nt_settings_parse(&ticket->settings, value);
}

static void put_settings(const void *object, char *out)
{
	const struct nt_ticket *ticket = object;

	nt_settings_text(&ticket->settings, out, NT_MEMBER_TEXT);
}

static int take_left(void *object, const char *value)
{
	char copy[NT_TICKET_LEFT], *rest = copy;

	if (strlen(value) >= sizeof(copy))
		return -1;
	memcpy(copy, value, strlen(value) + 1);
	while (rest != NULL) {
		const char *word = strsep(&rest, " ");

		if (word[0] == '\0' || strlen(word) >= WORD_MAX ||
		    strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != strlen(word))
			return -1;
		nt_ticket_leave(object, word);
	}
	return 0;
}

static void put_left(const void *object, char *out)
{
	const struct nt_ticket *ticket = object;

	snprintf(out, NT_MEMBER_TEXT, "%s", ticket->left);
}

static int take_own(void *object, const char *value)
{
	struct nt_ticket *ticket = object;
	uint64_t hash;

	if (nt_hex_parse(value, NT_HEX_U32, &hash) < 0)
		return -1;
	ticket->user_env = (uint32_t)hash;
	return ticket->user_env != 0 ? 0 : -1;
}

static void put_own(const void *object, char *out)
{
	const struct nt_ticket *ticket = object;

	if (ticket->user_env != 0)
		snprintf(out, NT_MEMBER_TEXT, "%08" PRIx32, ticket->user_env);
}

/* In the order in which they are printed. */
static const struct nt_member members[] = {
#define AT(name) .offset = offsetof(struct nt_ticket, name)
#define TEXT(name) AT(name), .size = sizeof(((struct nt_ticket *)0)->name)
	{ "v", .needed = true, .word = "1" },
	{ "profile", .needed = true, TEXT(profile), .valid = nt_profile_name_valid },
	{ "why", .needed = true, .take = take_why, .put = put_why },
	{ "force", AT(observe), .word = "never", .flag = true },
	{ "from", TEXT(from), .valid = is_source },
	{ "expected", .take = take_expected, .put = put_expected },
	{ "set", .take = take_settings, .put = put_settings },
	{ "left", .take = take_left, .put = put_left },
	{ "own", .take = take_own, .put = put_own },
	{ "calibrate", AT(calibrate_s), .least = 1, .most = NT_CALIBRATE_MAX_S },
	{ "program", TEXT(program), .valid = is_program },
	{ "memory", TEXT(memory), .valid = nt_memory_path_valid },
#undef TEXT
#undef AT
};

#define MEMBERS (sizeof(members) / sizeof(members[0]))

static int parse(struct nt_ticket *ticket, const char *text, struct nt_error *err)
{
	if (nt_members_take(members, MEMBERS, ticket, text, NT_TICKET_MAX, err) < 0)
		return -1;
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
	size_t used;

	if (nt_members_put(members, MEMBERS, ticket, text, sizeof(text), err) < 0)
		return -1;
	if (nt_ticket_parse(&back, text, err) < 0)
		return -1;
	used = strlen(text);
	if (used >= out_bytes)
		return nt_error_set(err, "no room for a ticket of %zu bytes", used);
	memcpy(out, text, used + 1);
	return 0;
}

void nt_ticket_leave(struct nt_ticket *ticket, const char *name)
{
	size_t used = strlen(ticket->left), size = sizeof(ticket->left) - used;
	size_t length = strcspn(name, " ");
	int added;

	if (nt_list_has(ticket->left, ' ', name, length))
		return;
	added = snprintf(ticket->left + used, size, "%s%.*s", used > 0 ? " " : "", (int)length,
			 name);
	if (added < 0 || (size_t)added >= size)
		ticket->left[used] = '\0';
}

void nt_ticket_leave_all(struct nt_ticket *ticket, const struct nt_resolved *resolved)
{
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++)
		if (resolved->because[i] != NULL)
			nt_ticket_leave(ticket, resolved->because[i]);
}
