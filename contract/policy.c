/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c - both text forms, driven by the table of settings */
#include "contract/policy.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "lib/append.h"
#include "lib/hash.h"
#include "lib/hex.h"
#include "lib/number.h"

/* Copies the next item; returns the rest, or NULL after the last one. */
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
	for (unsigned i = 0; i < NT_SETTING_COUNT; i++)
		nt_setting_default(policy, i);
}

/* item is key=value; 1 if the key is not a setting. */
static int parse_pair(struct nt_policy *policy, uint64_t *seen, const char *item,
		      struct nt_error *err)
{
	const char *equals = strchr(item, '=');
	int i;

	if (!equals)
		return nt_error_set(err, "'%.40s' is not key=value", item);
	i = nt_setting_find(item, (size_t)(equals - item));
	if (i < 0)
		return 1;
	if (*seen & (UINT64_C(1) << i))
		return nt_error_set(err, "%s is given twice", nt_setting_key((unsigned)i));
	*seen |= UINT64_C(1) << i;
	return nt_setting_parse(policy, (unsigned)i, equals + 1, err);
}

static int parse_pairs(struct nt_policy *policy, uint64_t *given, const char *text,
		       struct nt_error *err)
{
	char item[NT_PATH_MAX];
	bool fits;
	int rc;

	while (text) {
		text = next_item(text, item, sizeof(item), &fits);
		if (!fits)
			return nt_error_set(err, "value too long");
		rc = parse_pair(policy, given, item, err);
		if (rc == 1)
			return nt_setting_unknown(item, err);
		if (rc < 0)
			return -1;
	}
	return 0;
}

int nt_policy_parse_given(struct nt_policy *policy, uint64_t *given, const char *text,
			  struct nt_error *err)
{
	char item[NT_PATH_MAX];
	bool fits;

	*given = 1; /* the mode is first and has no key */
	if (!text || !*text)
		return nt_error_set(err, "no mode (want off, observe, bandit, policy or profile)");
	text = next_item(text, item, sizeof(item), &fits);
	if (!fits)
		return nt_error_set(err, "value too long");
	if (nt_setting_parse(policy, 0, item, err) < 0)
		return -1;
	return parse_pairs(policy, given, text, err);
}

int nt_policy_parse_option(struct nt_policy *policy, const char *text, struct nt_error *err)
{
	uint64_t given;

	return nt_policy_parse_given(policy, &given, text, err);
}

static int append_value(char *out, size_t out_bytes, const char *key, const char *value)
{
	return nt_append(out, out_bytes, "%s%s%s%s", out[0] ? "," : "", key, key[0] ? "=" : "",
			 value);
}

static int append_settings(const struct nt_policy *policy, bool all, char *out, size_t out_bytes)
{
	char value[NT_SETTING_TEXT];

	out[0] = '\0';
	for (unsigned i = 0; i < NT_SETTING_COUNT; i++) {
		if (nt_setting_format(policy, i, value) && i > 0 && !all)
			continue;
		if (append_value(out, out_bytes, i == 0 && !all ? "" : nt_setting_key(i), value) <
		    0)
			return -1;
	}
	return 0;
}

int nt_policy_format_option(const struct nt_policy *policy, char *out, size_t out_bytes)
{
	return append_settings(policy, false, out, out_bytes);
}

int nt_policy_format_task(const struct nt_policy *policy, const struct nt_node_step *node_step,
			  char *out, size_t out_bytes, struct nt_error *err)
{
	if (strchr(node_step->shm, ',') || strchr(node_step->node, ','))
		return nt_error_set(err, "a comma in '%.60s' or '%.40s'", node_step->shm,
				    node_step->node);
	if (append_settings(policy, true, out, out_bytes) < 0 ||
	    nt_append(out, out_bytes,
		      ",node=%s,fingerprint=%016" PRIx64 ",id=%" PRIu32 ".%" PRIu32
		      ",flags=%" PRIu32 "%s%s",
		      node_step->node, node_step->fingerprint, node_step->job, node_step->step,
		      node_step->flags, node_step->shm[0] ? "," NT_POLICY_SHM "=" : "",
		      node_step->shm) < 0)
		return nt_error_set(err, "policy longer than %zu bytes", out_bytes);
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

static int parse_id(struct nt_node_step *node_step, const char *value)
{
	uint64_t job, step;

	value = nt_number_read(value, UINT32_MAX, &job);
	if (!value || *value != '.' || nt_number_parse(value + 1, 0, UINT32_MAX, &step) < 0)
		return -1;
	node_step->job = (uint32_t)job;
	node_step->step = (uint32_t)step;
	return 0;
}

static int parse_node_step(struct nt_node_step *node_step, const char *item, struct nt_error *err)
{
	const char *value = strchr(item, '=') + 1;
	size_t key_bytes = (size_t)(value - item);
	uint64_t number = 0;
	int rc;

	if (strncmp(item, NT_POLICY_SHM "=", key_bytes) == 0) {
		rc = copy_text(value, node_step->shm, sizeof(node_step->shm));
	} else if (strncmp(item, "node=", key_bytes) == 0) {
		rc = copy_text(value, node_step->node, sizeof(node_step->node));
	} else if (strncmp(item, "fingerprint=", key_bytes) == 0) {
		rc = nt_hex_parse(value, NT_HEX_U64, &node_step->fingerprint);
	} else if (strncmp(item, "id=", key_bytes) == 0) {
		rc = parse_id(node_step, value);
	} else if (strncmp(item, "flags=", key_bytes) == 0) {
		rc = nt_number_parse(value, 0, UINT32_MAX, &number);
		node_step->flags = (uint32_t)number;
	} else {
		return nt_setting_unknown(item, err);
	}
	return rc == 0 ? 0 : nt_error_set(err, "bad value in '%.60s'", item);
}

int nt_policy_parse_task(struct nt_policy *policy, struct nt_node_step *node_step, const char *text,
			 struct nt_error *err)
{
	char item[NT_PATH_MAX + 16];
	uint64_t seen = 0;
	bool fits;
	int rc;

	nt_policy_default(policy);
	memset(node_step, 0, sizeof(*node_step));
	while (text) {
		text = next_item(text, item, sizeof(item), &fits);
		if (!fits)
			return nt_error_set(err, "value too long");
		rc = parse_pair(policy, &seen, item, err);
		if (rc == 1)
			rc = parse_node_step(node_step, item, err);
		if (rc < 0)
			return -1;
	}
	if (seen != (UINT64_C(1) << NT_SETTING_COUNT) - 1 || !node_step->node[0])
		return nt_error_set(err, "incomplete policy");
	return 0;
}

uint32_t nt_policy_hash(const struct nt_policy *policy)
{
	char text[NT_POLICY_MAX] = "";

	(void)nt_policy_format_option(policy, text, sizeof(text));
	return nt_hash32_text(text);
}

uint32_t nt_policy_forbidden(const struct nt_policy *policy)
{
	uint32_t forbidden = policy->ll128 == NT_LL128_OFF ? NT_PAIRS_LL128 : 0;

	for (int pair = 0; pair < NT_PAIRS; pair++) {
		if (!(policy->algorithms >> (pair / NT_PROTOS) & 1) ||
		    !(policy->protocols >> (pair % NT_PROTOS) & 1))
			forbidden |= 1u << pair;
	}
	return forbidden;
}
