/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c - one table of settings; both text forms are read and written from it */
#include "contract/policy.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NT_INT, NT_DEC, NT_ENUM, NT_NAME };

#define NT_MICRO 1000000
#define NAME_DEFAULT "off"

struct setting {
	const char *key;
	size_t offset;
	enum kind kind;
	int64_t min, max, def;
	const char *unit;
};

static const struct setting settings[] = {
#define NT_SETTING_ROW(key, member, kind, min, max, def, unit, doc) \
	{ #key, offsetof(struct nt_policy, member), kind, min, max, def, unit },
	NT_SETTINGS(NT_SETTING_ROW)
#undef NT_SETTING_ROW
};

#define NT_SETTING_COUNT (sizeof(settings) / sizeof(settings[0]))

static const struct {
	const char *key, *word;
	int64_t value;
} words[] = {
	{ "mode", "off", NT_MODE_OFF },
	{ "mode", "observe", NT_MODE_OBSERVE },
	{ "mode", "bandit", NT_MODE_BANDIT },
	{ "mode", "policy", NT_MODE_POLICY },
	{ "mode", "profile", NT_MODE_PROFILE },
	{ "channels", "off", NT_SWITCH_OFF },
	{ "channels", "on", NT_SWITCH_ON },
	{ "chunks", "off", NT_SWITCH_OFF },
	{ "chunks", "on", NT_SWITCH_ON },
	{ "graphs", "may", NT_GRAPHS_MAY },
	{ "graphs", "never", NT_GRAPHS_NEVER },
	{ "reward", "call", NT_REWARD_CALL },
	{ "reward", "period", NT_REWARD_PERIOD },
	{ "rule", "nccl-tune", NT_RULE_OWN },
	{ "rule", "paper-online", NT_RULE_PAPER_ONLINE },
	{ "rule", "paper-offline", NT_RULE_PAPER_OFFLINE },
	{ "rule", "race", NT_RULE_RACE },
};

#define NT_WORD_COUNT (sizeof(words) / sizeof(words[0]))

static int64_t get(const struct nt_policy *policy, const struct setting *s)
{
	int64_t value;

	memcpy(&value, (const char *)policy + s->offset, sizeof(value));
	return value;
}

static void put(struct nt_policy *policy, const struct setting *s, int64_t value)
{
	memcpy((char *)policy + s->offset, &value, sizeof(value));
}

static const char *get_name(const struct nt_policy *policy, const struct setting *s)
{
	return (const char *)policy + s->offset;
}

/* The whole of it is written, so that equal policies are equal bytes. */
static void put_name(struct nt_policy *policy, const struct setting *s, const char *name)
{
	char text[NT_LAUNCH_NAME] = "";

	snprintf(text, sizeof(text), "%s", name);
	memcpy((char *)policy + s->offset, text, sizeof(text));
}

static const struct setting *find(const char *key, size_t key_bytes)
{
	for (size_t i = 0; i < NT_SETTING_COUNT; i++) {
		if (strlen(settings[i].key) == key_bytes &&
		    memcmp(settings[i].key, key, key_bytes) == 0)
			return &settings[i];
	}
	return NULL;
}

static const char *word_of(const char *key, int64_t value)
{
	for (size_t i = 0; i < NT_WORD_COUNT; i++) {
		if (strcmp(words[i].key, key) == 0 && words[i].value == value)
			return words[i].word;
	}
	return "?";
}

static int parse_word(const struct setting *s, const char *text, int64_t *value)
{
	for (size_t i = 0; i < NT_WORD_COUNT; i++) {
		if (strcmp(words[i].key, s->key) == 0 && strcmp(words[i].word, text) == 0) {
			*value = words[i].value;
			return 0;
		}
	}
	return -1;
}

/* Digits only, no sign, no space, no more than 12: far from overflow even after scaling. */
static int parse_digits(const char **text, int64_t *value, int *count)
{
	*count = 0;
	*value = 0;
	while (isdigit((unsigned char)**text) && *count < 12) {
		*value = *value * 10 + (**text - '0');
		(*text)++;
		(*count)++;
	}
	return *count > 0 ? 0 : -1;
}

static int parse_number(const struct setting *s, const char *text, int64_t *value)
{
	int64_t whole, part = 0;
	int count;

	if (parse_digits(&text, &whole, &count) < 0)
		return -1;
	if (s->kind == NT_INT) {
		*value = whole;
		text += *text == 's' && strcmp(s->unit, "seconds") == 0;
		return *text == '\0' ? 0 : -1;
	}
	if (*text == '.') {
		text++;
		if (parse_digits(&text, &part, &count) < 0 || count > 6)
			return -1;
		for (; count < 6; count++)
			part *= 10;
	}
	*value = whole * NT_MICRO + part;
	return *text == '\0' ? 0 : -1;
}

/* A decimal in millionths without trailing zeros: "5", "0.01". */
static void format_decimal(int64_t micro, char *out, size_t out_bytes)
{
	size_t end;

	snprintf(out, out_bytes, "%" PRId64 ".%06" PRId64, micro / NT_MICRO, micro % NT_MICRO);
	end = strlen(out);
	while (out[end - 1] == '0')
		out[--end] = '\0';
	if (out[end - 1] == '.')
		out[end - 1] = '\0';
}

static void format_value(const struct setting *s, int64_t value, char *out, size_t out_bytes)
{
	if (s->kind == NT_ENUM)
		snprintf(out, out_bytes, "%s", word_of(s->key, value));
	else if (s->kind == NT_DEC)
		format_decimal(value, out, out_bytes);
	else
		snprintf(out, out_bytes, "%" PRId64, value);
}

/* "may or never" or "0 to 90 percent": what a message offers. */
static void format_domain(const struct setting *s, char *out, size_t out_bytes)
{
	char low[32], high[32];

	if (s->kind != NT_ENUM) {
		format_value(s, s->min, low, sizeof(low));
		format_value(s, s->max, high, sizeof(high));
		snprintf(out, out_bytes, "%s to %s%s%s", low, high, *s->unit ? " " : "", s->unit);
		return;
	}
	out[0] = '\0';
	for (int64_t v = s->min; v <= s->max; v++) {
		size_t used = strlen(out);

		snprintf(out + used, out_bytes - used, "%s%s",
			 v == s->min ? "" : (v == s->max ? " or " : ", "), word_of(s->key, v));
	}
}

static int parse_value(const struct setting *s, const char *text, int64_t *value,
		       struct nt_error *err)
{
	char domain[80];
	int rc;

	rc = s->kind == NT_ENUM ? parse_word(s, text, value) : parse_number(s, text, value);
	if (rc == 0 && *value >= s->min && *value <= s->max)
		return 0;
	format_domain(s, domain, sizeof(domain));
	return nt_error_set(err, "%s%s '%.40s' (want %s)", s->kind == NT_ENUM ? "unknown " : "bad ",
			    s->key, text, domain);
}

/* "off", "auto", or what may name a launch profile (launch/profile.h). */
static int parse_name(const struct setting *s, const char *text, struct nt_error *err)
{
	size_t length = strlen(text);

	if (length > 0 && length < NT_LAUNCH_NAME && text[0] != '-' &&
	    strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == length)
		return 0;
	return nt_error_set(err, "bad %s '%.40s' (want off, auto or the name of a launch profile)",
			    s->key, text);
}

static int unknown_key(const char *item, struct nt_error *err)
{
	char known[192] = "";

	for (size_t i = 1; i < NT_SETTING_COUNT; i++) {
		size_t used = strlen(known);

		snprintf(known + used, sizeof(known) - used, "%s%s", i > 1 ? " " : "",
			 settings[i].key);
	}
	return nt_error_set(err, "unknown setting '%.24s' (want %s)", item, known);
}

/* Copy the next comma-separated item; returns the rest, or NULL after the last one. */
static const char *next_item(const char *text, char *item, size_t item_bytes, bool *fits)
{
	size_t length = strcspn(text, ",");

	*fits = length < item_bytes;
	if (*fits) {
		memcpy(item, text, length);
		item[length] = '\0';
	}
	return text[length] == ',' ? text + length + 1 : NULL;
}

void nt_policy_default(struct nt_policy *policy)
{
	memset(policy, 0, sizeof(*policy));
	for (size_t i = 0; i < NT_SETTING_COUNT; i++) {
		if (settings[i].kind == NT_NAME)
			put_name(policy, &settings[i], NAME_DEFAULT);
		else
			put(policy, &settings[i], settings[i].def);
	}
}

/* item is key=value; 1 where the key is no setting. */
static int parse_pair(struct nt_policy *policy, uint64_t *seen, const char *item,
		      struct nt_error *err)
{
	const char *equals = strchr(item, '=');
	const struct setting *s;
	int64_t value;

	if (!equals)
		return nt_error_set(err, "'%.40s' is not key=value", item);
	s = find(item, (size_t)(equals - item));
	if (!s)
		return 1;
	if (*seen & (UINT64_C(1) << (s - settings)))
		return nt_error_set(err, "%s is given twice", s->key);
	*seen |= UINT64_C(1) << (s - settings);
	if (s->kind == NT_NAME) {
		if (parse_name(s, equals + 1, err) < 0)
			return -1;
		put_name(policy, s, equals + 1);
		return 0;
	}
	if (parse_value(s, equals + 1, &value, err) < 0)
		return -1;
	put(policy, s, value);
	return 0;
}

int nt_policy_parse_option(struct nt_policy *policy, const char *text, struct nt_error *err)
{
	uint64_t seen = 1; /* the mode, which stands first and without a key */
	char item[NT_PATH_MAX];
	bool fits;
	int64_t mode;
	int rc;

	if (!text || !*text)
		return nt_error_set(err, "no mode (want off, observe, bandit, policy or profile)");
	text = next_item(text, item, sizeof(item), &fits);
	if (!fits)
		return nt_error_set(err, "value too long");
	if (parse_value(&settings[0], item, &mode, err) < 0)
		return -1;
	policy->mode = mode;
	while (text) {
		text = next_item(text, item, sizeof(item), &fits);
		if (!fits)
			return nt_error_set(err, "value too long");
		rc = parse_pair(policy, &seen, item, err);
		if (rc == 1)
			return unknown_key(item, err);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* Append to out; -1 where it does not fit. */
static int append(char *out, size_t out_bytes, size_t *used, const char *key, const char *value)
{
	int n = snprintf(out + *used, out_bytes - *used, "%s%s%s%s", *used ? "," : "", key,
			 *key ? "=" : "", value);

	if (n < 0 || (size_t)n >= out_bytes - *used)
		return -1;
	*used += (size_t)n;
	return 0;
}

/* The text of a setting's value; returns whether it is the default's. */
static bool value_text(const struct nt_policy *policy, const struct setting *s, char *out,
		       size_t out_bytes)
{
	if (s->kind == NT_NAME) {
		snprintf(out, out_bytes, "%s", get_name(policy, s));
		return strcmp(out, NAME_DEFAULT) == 0;
	}
	format_value(s, get(policy, s), out, out_bytes);
	return get(policy, s) == s->def;
}

static int append_settings(const struct nt_policy *policy, bool all, char *out, size_t out_bytes,
			   size_t *used)
{
	char value[40];

	for (size_t i = 0; i < NT_SETTING_COUNT; i++) {
		const struct setting *s = &settings[i];

		if (value_text(policy, s, value, sizeof(value)) && i > 0 && !all)
			continue;
		if (append(out, out_bytes, used, i == 0 && !all ? "" : s->key, value) < 0)
			return -1;
	}
	return 0;
}

int nt_policy_format_option(const struct nt_policy *policy, char *out, size_t out_bytes,
			    struct nt_error *err)
{
	size_t used = 0;

	if (append_settings(policy, false, out, out_bytes, &used) < 0)
		return nt_error_set(err, "policy longer than %zu bytes", out_bytes);
	return 0;
}

int nt_policy_format_task(const struct nt_policy *policy, const struct nt_place *place, char *out,
			  size_t out_bytes, struct nt_error *err)
{
	char number[64];
	size_t used = 0;
	int rc;

	if (strchr(place->dir, ',') || strchr(place->node, ','))
		return nt_error_set(err, "a comma in '%.60s' or '%.40s'", place->dir, place->node);
	rc = append_settings(policy, true, out, out_bytes, &used);
	rc |= append(out, out_bytes, &used, "dir", place->dir);
	rc |= append(out, out_bytes, &used, "node", place->node);
	snprintf(number, sizeof(number), "%016" PRIx64, place->fingerprint);
	rc |= append(out, out_bytes, &used, "fingerprint", number);
	snprintf(number, sizeof(number), "%" PRIu32 ".%" PRIu32, place->job, place->step);
	rc |= append(out, out_bytes, &used, "id", number);
	snprintf(number, sizeof(number), "%" PRIu32, place->flags);
	rc |= append(out, out_bytes, &used, "flags", number);
	if (rc < 0)
		return nt_error_set(err, "policy longer than %zu bytes", out_bytes);
	return 0;
}

static int parse_unsigned(const char *text, int base, uint64_t max, char stop, uint64_t *value,
			  const char **rest)
{
	char *end;

	if (!isxdigit((unsigned char)*text))
		return -1;
	errno = 0;
	*value = strtoull(text, &end, base);
	if (errno || *end != stop || *value > max)
		return -1;
	*rest = end;
	return 0;
}

static int copy_text(const char *value, char *out, size_t out_bytes)
{
	size_t length = strlen(value);

	if (length == 0 || length >= out_bytes)
		return -1;
	memcpy(out, value, length + 1);
	return 0;
}

static int parse_id(struct nt_place *place, const char *value)
{
	uint64_t job, step;

	if (parse_unsigned(value, 10, UINT32_MAX, '.', &job, &value) < 0 ||
	    parse_unsigned(value + 1, 10, UINT32_MAX, '\0', &step, &value) < 0)
		return -1;
	place->job = (uint32_t)job;
	place->step = (uint32_t)step;
	return 0;
}

static int parse_place(struct nt_place *place, const char *item, struct nt_error *err)
{
	const char *value = strchr(item, '=') + 1;
	size_t key_bytes = (size_t)(value - item);
	uint64_t number = 0;
	int rc;

	if (strncmp(item, "dir=", key_bytes) == 0) {
		rc = copy_text(value, place->dir, sizeof(place->dir));
	} else if (strncmp(item, "node=", key_bytes) == 0) {
		rc = copy_text(value, place->node, sizeof(place->node));
	} else if (strncmp(item, "fingerprint=", key_bytes) == 0) {
		rc = parse_unsigned(value, 16, UINT64_MAX, '\0', &number, &value);
		place->fingerprint = number;
	} else if (strncmp(item, "id=", key_bytes) == 0) {
		rc = parse_id(place, value);
	} else if (strncmp(item, "flags=", key_bytes) == 0) {
		rc = parse_unsigned(value, 10, UINT32_MAX, '\0', &number, &value);
		place->flags = (uint32_t)number;
	} else {
		return unknown_key(item, err);
	}
	return rc == 0 ? 0 : nt_error_set(err, "bad value in '%.60s'", item);
}

int nt_policy_parse_task(struct nt_policy *policy, struct nt_place *place, const char *text,
			 struct nt_error *err)
{
	char item[NT_PATH_MAX + 16];
	uint64_t seen = 0;
	bool fits;
	int rc;

	nt_policy_default(policy);
	memset(place, 0, sizeof(*place));
	while (text) {
		text = next_item(text, item, sizeof(item), &fits);
		if (!fits)
			return nt_error_set(err, "value too long");
		rc = parse_pair(policy, &seen, item, err);
		if (rc == 1)
			rc = parse_place(place, item, err);
		if (rc < 0)
			return -1;
	}
	if (seen != (UINT64_C(1) << NT_SETTING_COUNT) - 1 || !place->dir[0] || !place->node[0])
		return nt_error_set(err, "incomplete policy");
	return 0;
}

uint32_t nt_policy_hash(const struct nt_policy *policy)
{
	char text[NT_POLICY_MAX] = "";
	uint32_t hash = 2166136261u;

	(void)nt_policy_format_option(policy, text, sizeof(text), NULL);
	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	return hash;
}

const char *nt_mode_name(int64_t mode)
{
	return word_of("mode", mode);
}

const char *nt_policy_rule_name(int64_t rule)
{
	return word_of("rule", rule);
}
