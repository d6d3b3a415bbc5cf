/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* One table describes all members. */
#include "launch/measure/request.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/append.h"
#include "lib/hex.h"
#include "lib/members.h"
#include "lib/number.h"

#define SPLIT_MOST 4096
#define CALLS_MOST UINT64_C(1000000000000)

/* ---- profiles */

int nt_cal_profile_parse(struct nt_cal_profile *profile, const char *text)
{
	size_t name = strcspn(text, " ");

	memset(profile, 0, sizeof(*profile));
	if (name >= sizeof(profile->name))
		return -1;
	memcpy(profile->name, text, name);
	if (!nt_profile_name_valid(profile->name))
		return -1;
	if (strcmp(profile->name, NT_PROFILE_DEFAULT) == 0)
		return text[name] == '\0' ? 0 : -1;
	return text[name] == ' ' && nt_settings_parse(&profile->settings, text + name + 1) == 0
		       ? 0
		       : -1;
}

const char *nt_cal_profile_text(const struct nt_cal_profile *profile, char *out, size_t out_bytes)
{
	int used = snprintf(out, out_bytes, "%s%s", profile->name,
			    nt_settings_any(&profile->settings) ? " " : "");

	if (used > 0 && (size_t)used < out_bytes)
		nt_settings_text(&profile->settings, out + used, out_bytes - (size_t)used);
	return out;
}

/* ---- members */

static bool is_token(const char *value)
{
	return nt_hex_valid(value, NT_CAL_TOKEN);
}

static bool is_address(const char *value)
{
	static const char characters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:_%-";

	return value[0] != '\0' && value[0] != '-' && strspn(value, characters) == strlen(value);
}

static bool is_library(const char *value)
{
	return value[0] == '/';
}

static bool is_split(const char *value)
{
	const char *ranks = strchr(value, ':');
	uint64_t number;

	return ranks && (strncmp(value, "block:", 6) == 0 || strncmp(value, "stride:", 7) == 0) &&
	       nt_number_parse(ranks + 1, 1, SPLIT_MOST, &number) == 0;
}

/* COLLECTIVE:BYTES:CALLS */
static int take_call(struct nt_cal_call *call, char *text)
{
	const char *coll = strsep(&text, ":"), *bytes = text ? strsep(&text, ":") : NULL;

	call->coll = nt_kind_find(coll);
	if (call->coll < 0 || call->coll == NT_P2P_SEND || call->coll == NT_P2P_RECV)
		return -1;
	if (!bytes || !text ||
	    nt_number_parse(bytes, NT_CAL_BYTES_LEAST, NT_CAL_BYTES_MOST, &call->bytes) < 0)
		return -1;
	return call->bytes % 4 == 0 ? nt_number_parse(text, 0, CALLS_MOST, &call->calls) : -1;
}

static bool has_call(const struct nt_cal_request *request, const struct nt_cal_call *call)
{
	for (unsigned i = 0; i < request->calls; i++)
		if (request->call[i].coll == call->coll && request->call[i].bytes == call->bytes)
			return true;
	return false;
}

static int take_calls(void *object, const char *value)
{
	struct nt_cal_request *request = object;
	char copy[NT_MEMBER_TEXT], *rest = copy;

	snprintf(copy, sizeof(copy), "%s", value);
	while (rest) {
		struct nt_cal_call call;

		if (request->calls == NT_CAL_CALLS || take_call(&call, strsep(&rest, ",")) < 0 ||
		    has_call(request, &call))
			return -1;
		request->call[request->calls++] = call;
	}
	return 0;
}

static void put_calls(const void *object, char *out)
{
	const struct nt_cal_request *request = object;

	for (unsigned i = 0; i < request->calls; i++) {
		const struct nt_cal_call *call = &request->call[i];

		nt_append(out, NT_MEMBER_TEXT, "%s%s:%" PRIu64 ":%" PRIu64, i > 0 ? "," : "",
			  nt_coll_name(call->coll), call->bytes, call->calls);
	}
}

static int take_profile(void *object, const char *value)
{
	struct nt_cal_request *request = object;
	struct nt_cal_profile *profile = &request->profile[request->profiles];

	if (request->profiles == NT_CAL_PROFILES || nt_cal_profile_parse(profile, value) < 0 ||
	    strcmp(profile->name, NT_PROFILE_DEFAULT) == 0)
		return -1;
	for (unsigned i = 0; i < request->profiles; i++)
		if (strcmp(request->profile[i].name, profile->name) == 0)
			return -1;
	request->profiles++;
	return 0;
}

/* In the order in which they are printed; profiles follow. */
static const struct nt_member members[] = {
#define AT(name) .offset = offsetof(struct nt_cal_request, name)
#define TEXT(name) AT(name), .size = sizeof(((struct nt_cal_request *)0)->name)
	{ "v", "1", .needed = true, .word = "1" },
	{ "seconds", "1 to 3600", true, AT(seconds), .least = 1, .most = NT_CAL_SECONDS },
	{ "procs", "0 to 64", true, AT(procs), .most = NT_CAL_PROCS },
	{ "token", "32 hexadecimal digits", true, TEXT(token), .valid = is_token },
	{ "address", "a host's name or address", true, TEXT(address), .valid = is_address },
	{ "library", "an absolute path of at most 511 bytes", TEXT(library), .valid = is_library },
	{ "split", "block:K or stride:K", TEXT(split), .valid = is_split },
	{ "calls", "at most 24 different calls, COLLECTIVE:BYTES:CALLS", .take = take_calls,
	  .put = put_calls },
	{ "profile", "at most 16 different profiles with settings that are allowed",
	  .several = true, .take = take_profile },
#undef TEXT
#undef AT
};

#define MEMBERS (sizeof(members) / sizeof(members[0]))

/* ---- the whole */

static int check_text(const char *text, struct nt_error *err)
{
	for (size_t i = 0; i < NT_CAL_REQUEST_MAX && text[i]; i++)
		if (text[i] < 0x20 || text[i] > 0x7e)
			return nt_error_set(err, "byte %zu is not printable", i + 1);
	return 0;
}

int nt_cal_request_parse(struct nt_cal_request *request, const char *text, struct nt_error *err)
{
	memset(request, 0, sizeof(*request));
	if (check_text(text, err) == 0 &&
	    nt_members_take(members, MEMBERS, request, text, NT_CAL_REQUEST_MAX, err) == 0)
		return 0;
	memset(request, 0, sizeof(*request));
	return -1;
}

int nt_cal_request_print(const struct nt_cal_request *request, char *out, size_t out_bytes,
			 struct nt_error *err)
{
	struct nt_cal_request back;
	char value[NT_MEMBER_TEXT];
	int rc = nt_members_put(members, MEMBERS, request, out, out_bytes, err);

	for (unsigned i = 0; i < request->profiles && i < NT_CAL_PROFILES; i++)
		rc |= nt_append(out, out_bytes, ";profile=%s",
				nt_cal_profile_text(&request->profile[i], value, sizeof(value)));
	if (rc < 0)
		return nt_error_set(err, "no room for the request");
	return nt_cal_request_parse(&back, out, err);
}
