/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* setting.c - parsing and printing of values, driven by the table of settings */
#include "contract/setting.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "lib/append.h"
#include "lib/number.h"

enum setting_kind { NT_INT, NT_DEC, NT_ENUM, NT_NAME, NT_SET };

#define NT_MICRO 1000000
#define NAME_DEFAULT "off"

struct setting {
	const char *key;
	size_t offset, bytes;
	enum setting_kind kind;
	int64_t min, max, def;
	const char *const *words; /* of the values from min on; NULL: none */
	const char *unit, *doc;
};

static const struct setting settings[] = {
#define NT_SETTING_ROW(key, member, kind, min, max, def, words, unit, doc) \
	{ #key,                                                            \
	  offsetof(struct nt_policy, member),                              \
	  sizeof(((struct nt_policy *)NULL)->member),                      \
	  kind,                                                            \
	  min,                                                             \
	  max,                                                             \
	  def,                                                             \
	  words,                                                           \
	  unit,                                                            \
	  doc },
	NT_SETTINGS(NT_SETTING_ROW)
#undef NT_SETTING_ROW
};

_Static_assert(NT_SETTING_COUNT < 64, "a bit for each in a word of 64");

static int64_t get_value(const struct nt_policy *policy, const struct setting *s)
{
	int64_t value;

	memcpy(&value, (const char *)policy + s->offset, sizeof(value));
	return value;
}

static void set_value(struct nt_policy *policy, const struct setting *s, int64_t value)
{
	memcpy((char *)policy + s->offset, &value, sizeof(value));
}

static const char *get_name(const struct nt_policy *policy, const struct setting *s)
{
	return (const char *)policy + s->offset;
}

/* Every byte, so that equal policies are equal bytes. */
static void put_name(struct nt_policy *policy, const struct setting *s, const char *name)
{
	char text[NT_LAUNCH_NAME] = "";

	snprintf(text, sizeof(text), "%s", name);
	memcpy((char *)policy + s->offset, text, sizeof(text));
}

static size_t word_count(const struct setting *s)
{
	size_t count = 0;

	while (s->words && s->words[count])
		count++;
	return count;
}

static const char *word_of(const struct setting *s, int64_t value)
{
	const int64_t at = value - s->min;

	return at >= 0 && at < (int64_t)word_count(s) ? s->words[at] : NULL;
}

/* ---- sets: the names are NCCL's in small letters */

static const char *member_of(const struct setting *s, int bit, char out[24])
{
	const char *name = strcmp(s->key, "protocols") == 0 ? nt_proto_name(bit)
							    : nt_algo_name(bit);
	size_t i = 0;

	for (; name[i] && i < 23; i++)
		out[i] = (char)tolower((unsigned char)name[i]);
	out[i] = '\0';
	return out;
}

static bool is_member(const struct setting *s, int bit)
{
	return (s->max >> bit & 1) != 0;
}

static int parse_set(const struct setting *s, const char *text, int64_t *value)
{
	char name[24];

	*value = s->max;
	if (strcmp(text, "all") == 0)
		return 0;
	*value = 0;
	for (;;) {
		size_t length = strcspn(text, "+");
		int bit = 0;

		while (is_member(s, bit) && (strlen(member_of(s, bit, name)) != length ||
					     memcmp(name, text, length) != 0))
			bit++;
		if (!is_member(s, bit))
			return -1;
		*value |= INT64_C(1) << bit;
		if (text[length] == '\0')
			return 0;
		text += length + 1;
	}
}

static void list_members(const struct setting *s, int64_t value, const char *between, char *out,
			 size_t out_bytes)
{
	char name[24];

	out[0] = '\0';
	for (int bit = 0; is_member(s, bit); bit++)
		if (value >> bit & 1)
			nt_append(out, out_bytes, "%s%s", out[0] ? between : "",
				  member_of(s, bit, name));
}

/* ---- values */

static int parse_word(const struct setting *s, const char *text, int64_t *value)
{
	for (size_t i = 0; i < word_count(s); i++) {
		if (strcmp(s->words[i], text) == 0) {
			*value = s->min + (int64_t)i;
			return 0;
		}
	}
	return -1;
}

#define NUMBER_MAX UINT64_C(999999999999) /* far from overflow even in millionths */

static int parse_number(const struct setting *s, const char *text, int64_t *value)
{
	uint64_t whole, part = 0;
	const char *end = nt_number_read(text, NUMBER_MAX, &whole);

	if (!end)
		return -1;
	*value = (int64_t)whole;
	if (s->kind == NT_INT) {
		end += *end == 's' && strcmp(s->unit, "seconds") == 0;
		return *end == '\0' ? 0 : -1;
	}
	if (*end == '.') {
		text = end + 1;
		end = nt_number_read(text, NT_MICRO - 1, &part);
		if (!end || end - text > 6)
			return -1;
		for (ptrdiff_t digits = end - text; digits < 6; digits++)
			part *= 10;
	}
	*value = *value * NT_MICRO + (int64_t)part;
	return *end == '\0' ? 0 : -1;
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
	const char *word = word_of(s, value);

	if (word)
		snprintf(out, out_bytes, "%s", word);
	else if (s->kind == NT_DEC)
		format_decimal(value, out, out_bytes);
	else if (s->kind == NT_SET && value == s->max)
		snprintf(out, out_bytes, "all");
	else if (s->kind == NT_SET)
		list_members(s, value, "+", out, out_bytes);
	else
		snprintf(out, out_bytes, "%" PRId64, value);
}

static void list_words(const struct setting *s, char *out, size_t out_bytes)
{
	out[0] = '\0';
	for (int64_t v = s->min; v <= s->max; v++)
		nt_append(out, out_bytes, "%s%s", v == s->min ? "" : (v == s->max ? " or " : ", "),
			  word_of(s, v));
}

const char *nt_setting_domain(unsigned i, char out[NT_SETTING_DOMAIN])
{
	const struct setting *s = &settings[i];
	char low[24], high[24];

	if (s->kind == NT_ENUM) {
		list_words(s, out, NT_SETTING_DOMAIN);
	} else if (s->kind == NT_SET) {
		snprintf(out, NT_SETTING_DOMAIN, "all, or some joined by + of ");
		list_members(s, s->max, ", ", out + strlen(out), NT_SETTING_DOMAIN - strlen(out));
	} else if (s->kind == NT_NAME) {
		snprintf(out, NT_SETTING_DOMAIN, "off, auto or the name of a launch profile");
	} else if (strcmp(s->key, "calibrate") == 0) {
		snprintf(out, NT_SETTING_DOMAIN, "auto, off or 1 to %" PRId64 " seconds", s->max);
	} else {
		format_value(s, s->min, low, sizeof(low));
		format_value(s, s->max, high, sizeof(high));
		snprintf(out, NT_SETTING_DOMAIN, "%s to %s%s%s", low, high, *s->unit ? " " : "",
			 s->unit);
	}
	return out;
}

static int refuse_value(unsigned i, const char *text, struct nt_error *err)
{
	const struct setting *s = &settings[i];
	char domain[NT_SETTING_DOMAIN];

	return nt_error_set(err, "%s%s '%.40s' (want %s)", s->kind == NT_ENUM ? "unknown " : "bad ",
			    s->key, text, nt_setting_domain(i, domain));
}

/* "off", "auto", or what may name a launch profile (launch/profile.h). */
static bool is_name(const char *text)
{
	size_t length = strlen(text);

	return length > 0 && length < NT_LAUNCH_NAME && text[0] != '-' &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

int nt_setting_parse(struct nt_policy *policy, unsigned i, const char *text, struct nt_error *err)
{
	const struct setting *s = &settings[i];
	int64_t value = 0;
	int rc;

	if (s->kind == NT_NAME) {
		if (!is_name(text))
			return refuse_value(i, text, err);
		put_name(policy, s, text);
		return 0;
	}
	rc = parse_word(s, text, &value);
	if (rc < 0 && s->kind != NT_ENUM)
		rc = s->kind == NT_SET ? parse_set(s, text, &value) : parse_number(s, text, &value);
	if (rc < 0 || value < s->min || value > s->max)
		return refuse_value(i, text, err);
	set_value(policy, s, value);
	return 0;
}

bool nt_setting_format(const struct nt_policy *policy, unsigned i, char out[NT_SETTING_TEXT])
{
	const struct setting *s = &settings[i];

	if (s->kind == NT_NAME) {
		snprintf(out, NT_SETTING_TEXT, "%s", get_name(policy, s));
		return strcmp(out, NAME_DEFAULT) == 0;
	}
	format_value(s, get_value(policy, s), out, NT_SETTING_TEXT);
	return get_value(policy, s) == s->def;
}

void nt_setting_default(struct nt_policy *policy, unsigned i)
{
	if (settings[i].kind == NT_NAME)
		put_name(policy, &settings[i], NAME_DEFAULT);
	else
		set_value(policy, &settings[i], settings[i].def);
}

void nt_setting_copy(struct nt_policy *to, const struct nt_policy *from, unsigned i)
{
	memcpy((char *)to + settings[i].offset, (const char *)from + settings[i].offset,
	       settings[i].bytes);
}

bool nt_setting_same(const struct nt_policy *a, const struct nt_policy *b, unsigned i)
{
	return memcmp((const char *)a + settings[i].offset, (const char *)b + settings[i].offset,
		      settings[i].bytes) == 0;
}

int64_t nt_setting_number(const struct nt_policy *policy, unsigned i)
{
	return get_value(policy, &settings[i]);
}

void nt_setting_put(struct nt_policy *policy, unsigned i, int64_t value)
{
	set_value(policy, &settings[i], value);
}

/* ---- names */

const char *nt_setting_key(unsigned i)
{
	return settings[i].key;
}

const char *nt_setting_unit(unsigned i)
{
	return settings[i].unit;
}

const char *nt_setting_doc(unsigned i)
{
	return settings[i].doc;
}

int nt_setting_find(const char *key, size_t key_bytes)
{
	for (unsigned i = 0; i < NT_SETTING_COUNT; i++) {
		if (strlen(settings[i].key) == key_bytes &&
		    memcmp(settings[i].key, key, key_bytes) == 0)
			return (int)i;
	}
	return -1;
}

int nt_setting_unknown(const char *item, struct nt_error *err)
{
	char known[224] = "";

	for (unsigned i = 1; i < NT_SETTING_COUNT; i++)
		nt_append(known, sizeof(known), "%s%s", i > 1 ? " " : "", settings[i].key);
	return nt_error_set(err, "unknown setting '%.24s' (want %s)", item, known);
}

const char *nt_mode_name(int64_t mode)
{
	const char *word = word_of(&settings[0], mode);

	return word ? word : "?";
}

int nt_mode_parse(const char *name, size_t bytes)
{
	for (int mode = NT_MODE_OFF; mode <= NT_MODE_PROFILE; mode++) {
		if (strlen(nt_mode_name(mode)) == bytes &&
		    memcmp(nt_mode_name(mode), name, bytes) == 0)
			return mode;
	}
	return -1;
}

int64_t nt_calibrate_auto_s(uint32_t nodes)
{
	int64_t quarters = 4;

	for (uint64_t n = 2; n < nodes; n *= 2)
		quarters++;
	return 60 * quarters / 4;
}
