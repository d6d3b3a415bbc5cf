/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Random texts of other programs, valid and damaged: merging keeps every byte, and accepted text is
 * JSON. */
#include "record/admincomment-merge.h"

#include <json.h>
#include <stdbool.h>
#include "tests/lib/unit.h"
#include "contract/names.h"
#include "lib/json-scanner.h"

#define STEP "{\"mode\":\"bandit\"}"

static uint64_t seed = 20260101;

static uint32_t random_below(uint32_t limit)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % limit;
}

struct text {
	char at[65536];
	size_t used;
};

static void put(struct text *text, const char *word)
{
	size_t bytes = strlen(word);

	if (text->used + bytes < sizeof(text->at)) {
		memcpy(text->at + text->used, word, bytes + 1);
		text->used += bytes;
	}
}

static void put_space(struct text *text)
{
	static const char *const spaces[] = { "", "", "", "", " ", "\n", "\t ", "\r" };

	put(text, spaces[random_below(LENGTH(spaces))]);
}

static void put_value(struct text *text, int depth)
{
	static const char *const scalars[] = {
		"0",
		"-1",
		"12.5",
		"1e9",
		"-0.5E-2",
		"true",
		"false",
		"null",
		"\"\"",
		"\"x\"",
		"\"\\\"{\\\\\"",
		"\"}],:\"",
		"\"\\u00e9\\n\"",
		"\"\xc3\xa9\"",
		"\"nccl_tune\"",
		"\"{\\\"v\\\":1}\"",
	};
	uint32_t what = random_below(depth > 5 ? 1 : 3);
	uint32_t count = random_below(4);

	put_space(text);
	if (what == 0) {
		put(text, scalars[random_below(LENGTH(scalars))]);
	} else {
		put(text, what == 1 ? "[" : "{");
		for (uint32_t i = 0; i < count; i++) {
			char name[24];

			put(text, i ? "," : "");
			put_space(text);
			snprintf(name, sizeof(name), "\"k%u\"", i);
			if (what == 2) {
				put(text, name);
				put_space(text);
				put(text, ":");
			}
			put_value(text, depth + 1);
		}
		put_space(text);
		put(text, what == 1 ? "]" : "}");
	}
	put_space(text);
}

static void put_object(struct text *text)
{
	uint32_t count = random_below(5);

	text->used = 0;
	text->at[0] = '\0';
	put_space(text);
	put(text, "{");
	for (uint32_t i = 0; i < count; i++) {
		char name[24];

		snprintf(name, sizeof(name), "%s\"m%u\":", i ? "," : "", i);
		put(text, name);
		put_value(text, 0);
	}
	put(text, count ? "" : " ");
	put(text, "}");
	put_space(text);
}

/* Removing our member by hand gives the original text. */
static void check_others_kept(const char *before, const char *after, const char *record)
{
	char ours[256];
	const char *at;
	size_t head;

	snprintf(ours, sizeof(ours), "\"nccl_tune\":{\"v\":1,\"3\":%s}", record);
	at = strstr(after, ours);
	assert_non_null(at);
	head = (size_t)(at - after);
	if (head > 0 && after[head - 1] == ',')
		head--;
	assert_memory_equal(before, after, head);
	assert_string_equal(before + head, at + strlen(ours));
}

static void random_objects_keep_every_byte(void **state)
{
	static struct text text;

	for (int i = 0; i < 8000; i++) {
		json_object *root;
		char *once, *twice;

		put_object(&text);
		assert_int_equal(nt_admincomment_merge_step(text.at, "3", STEP, &once),
				 NT_ADMINCOMMENT_MERGE_DONE);
		check_others_kept(text.at, once, STEP);
		root = json_tokener_parse(once);
		assert_true(json_object_object_get_ex(root, NT_RECORD_KEY, NULL));
		json_object_put(root);
		assert_int_equal(nt_admincomment_merge_step(once, "3", STEP, &twice),
				 NT_ADMINCOMMENT_MERGE_UNCHANGED);
		assert_int_equal(nt_admincomment_merge_step(once, "4", "{}", &twice),
				 NT_ADMINCOMMENT_MERGE_DONE);
		assert_int_equal(strlen(twice), strlen(once) + strlen(",\"4\":{}"));
		free(once);
		free(twice);
	}
}

/* One byte changed, removed or added: a text is accepted only if a strict parser also accepts
 * it. */
static void damaged_objects_are_judged_like_a_parser_does(void **state)
{
	static struct text text;
	int accepted = 0;

	for (int i = 0; i < 20000; i++) {
		static const char bytes[] = "{}[]\",:\\0159.-eEtn xu\x01\x7f";
		struct json_tokener *tokener = json_tokener_new_ex(NT_JSON_SCAN_DEPTH);
		json_object *root;
		size_t at;

		put_object(&text);
		at = random_below((uint32_t)text.used);
		if (random_below(2))
			text.at[at] = bytes[random_below(sizeof(bytes) - 1)];
		else
			memmove(text.at + at, text.at + at + 1, text.used - at);
		if (nt_json_scan_is(nt_text_of(text.at), '{')) {
			accepted++;
			json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
			root = json_tokener_parse_ex(tokener, text.at, (int)strlen(text.at) + 1);
			if (!json_object_is_type(root, json_type_object))
				fail_msg("accepted: %s", text.at);
			json_object_put(root);
		}
		json_tokener_free(tokener);
	}
	assert_in_range(accepted, 2000, 18000);
}

static void noise_is_survived(void **state)
{
	static const char alphabet[] = "{}[]\",:\\u0159.-eE truefalsn\xff\"\"{}";
	char text[64];
	char *out;

	for (int i = 0; i < 60000; i++) {
		size_t bytes = random_below(sizeof(text));
		/* Nothing beyond the end may be read: with a copy of exactly that size a sanitizer
		 * detects it. */
		char *exact = malloc(bytes + 1);

		for (size_t k = 0; k < bytes; k++)
			exact[k] = alphabet[random_below(sizeof(alphabet) - 1)];
		exact[bytes] = '\0';
		(void)nt_json_scan_is((struct nt_text){ exact, bytes }, '{');
		if (nt_admincomment_merge_step(exact, "0", STEP, &out) ==
		    NT_ADMINCOMMENT_MERGE_DONE)
			free(out);
		free(exact);
	}
}

UNIT_TESTS(random_objects_keep_every_byte, damaged_objects_are_judged_like_a_parser_does,
	   noise_is_survived);
