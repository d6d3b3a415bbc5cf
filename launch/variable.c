/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/variable.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "lib/list.h"
#include "lib/number.h"
#include "lib/size.h"

static const struct nt_variable variables[NT_VARIABLE_COUNT] = {
#define NT_VARIABLE_ROW(id, name, kind, least, largest, fabric, measured, others, meaning)        \
	[NT_VARIABLE_##id] = {                                                                    \
		name,	NT_VARIABLE_##kind, least, largest, NT_FABRIC_##fabric, measured, others, \
		meaning                                                                           \
	},
	NT_VARIABLES(NT_VARIABLE_ROW)
#undef NT_VARIABLE_ROW
};

/* NCCL's limits and ours. Each peer takes sockets, which are file descriptors, and buffers in GPU
 * memory. Our limits keep a job below the usual soft limit of 1,024 descriptors and a gigabyte of
 * buffers. Sends have 16 parts a channel (NCCL_SHARED_STEPS), at most 256 MiB. */
#define SOCKETS_PER_CHANNEL 64
#define SOCKETS_PER_PEER 256
#define BUFFERS_PER_PEER ((int64_t)256 << 20)

#define WORD_MAX 64 /* longest NAME=VALUE, with its NUL */

const struct nt_variable *nt_variable_get(unsigned id)
{
	return id < NT_VARIABLE_COUNT ? &variables[id] : NULL;
}

int nt_variable_find(const char *name)
{
	for (int i = 0; i < NT_VARIABLE_COUNT; i++)
		if (strcmp(name, variables[i].name) == 0)
			return i;
	return -1;
}

bool nt_variable_concerns(const char *name)
{
	for (int i = 0; i < NT_VARIABLE_COUNT; i++)
		if (strcmp(name, variables[i].name) == 0 ||
		    nt_list_has(variables[i].others, ' ', name, strlen(name)))
			return true;
	return false;
}

/* Digits only, or a size. */
static int parse_number(const char *text, bool size, int64_t *value)
{
	uint64_t number;
	int rc = size ? nt_size_parse(text, &number) : nt_number_parse(text, 0, INT64_MAX, &number);

	if (rc < 0 || number > INT64_MAX)
		return -1;
	*value = (int64_t)number;
	return 0;
}

static bool is_for_sends(unsigned id)
{
	return id == NT_VARIABLE_PER_NET_PEER || id == NT_VARIABLE_MIN_P2P_NCHANNELS ||
	       id == NT_VARIABLE_P2P_NET_CHUNK;
}

int nt_variable_parse(unsigned id, const char *text, int64_t *value, struct nt_error *err)
{
	const struct nt_variable *variable = nt_variable_get(id);

	if (variable == NULL)
		return nt_error_set(err, "no such variable");
	if (parse_number(text, variable->kind == NT_VARIABLE_SIZE, value) < 0 ||
	    *value < variable->least || *value > variable->largest)
		return nt_error_set(err, "%s is '%.40s' (want %s from %" PRId64 " to %" PRId64 ")",
				    variable->name, text,
				    variable->kind == NT_VARIABLE_SIZE ? "bytes" : "a number",
				    variable->least, variable->largest);
	return 0;
}

static int64_t value_or(const struct nt_settings *settings, unsigned id, int64_t usual)
{
	return settings->set[id] ? settings->value[id] : usual;
}

int nt_settings_check(const struct nt_settings *settings, struct nt_error *err)
{
	int64_t sockets = value_or(settings, NT_VARIABLE_SOCKET_NTHREADS, 1) *
			  value_or(settings, NT_VARIABLE_NSOCKS_PERTHREAD, 1);
	int64_t channels = value_or(settings, NT_VARIABLE_MIN_NCHANNELS, 2);
	int64_t buffer = value_or(settings, NT_VARIABLE_BUFFSIZE, 4 << 20);

	if (sockets > SOCKETS_PER_CHANNEL)
		return nt_error_set(err,
				    "NCCL_SOCKET_NTHREADS times NCCL_NSOCKS_PERTHREAD is %" PRId64
				    " (want at most %d)",
				    sockets, SOCKETS_PER_CHANNEL);
	if (sockets * channels > SOCKETS_PER_PEER)
		return nt_error_set(
			err, "sockets of all channels to a peer are %" PRId64 " (want at most %d)",
			sockets * channels, SOCKETS_PER_PEER);
	if (buffer * channels > BUFFERS_PER_PEER)
		return nt_error_set(err,
				    "buffers of all channels to a peer are %" PRId64
				    " MiB (want at most %" PRId64 ")",
				    (buffer * channels) >> 20, BUFFERS_PER_PEER >> 20);
	if (settings->set[NT_VARIABLE_MAX_NCHANNELS] && settings->set[NT_VARIABLE_MIN_NCHANNELS] &&
	    settings->value[NT_VARIABLE_MAX_NCHANNELS] < channels)
		return nt_error_set(
			err, "NCCL_MAX_NCHANNELS is %" PRId64 ", below NCCL_MIN_NCHANNELS=%" PRId64,
			settings->value[NT_VARIABLE_MAX_NCHANNELS], channels);
	return 0;
}

bool nt_settings_any(const struct nt_settings *settings)
{
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++)
		if (settings->set[i])
			return true;
	return false;
}

bool nt_settings_are_for_sends(const struct nt_settings *settings)
{
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++)
		if (settings->set[i] && !is_for_sends(i))
			return false;
	return true;
}

const char *nt_settings_text(const struct nt_settings *settings, char *out, size_t out_bytes)
{
	size_t used = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++) {
		int more;

		if (!settings->set[i])
			continue;
		more = snprintf(out + used, out_bytes - used, "%s%s=%" PRId64, used > 0 ? " " : "",
				variables[i].name, settings->value[i]);
		if (more < 0 || (size_t)more >= out_bytes - used)
			break;
		used += (size_t)more;
	}
	return out;
}

static int take_setting(struct nt_settings *settings, const char *word, size_t length)
{
	char copy[WORD_MAX], *value = copy;
	int id;

	if (length == 0 || length >= sizeof(copy))
		return -1;
	memcpy(copy, word, length);
	copy[length] = '\0';
	id = nt_variable_find(strsep(&value, "="));
	if (id < 0 || value == NULL || settings->set[id] ||
	    nt_variable_parse((unsigned)id, value, &settings->value[id], NULL) < 0)
		return -1;
	settings->set[id] = true;
	return 0;
}

int nt_settings_parse(struct nt_settings *settings, const char *text)
{
	memset(settings, 0, sizeof(*settings));
	for (;; text++) {
		const size_t length = strcspn(text, " ");

		if (take_setting(settings, text, length) < 0)
			return -1;
		text += length;
		if (*text == '\0')
			return nt_settings_check(settings, NULL);
	}
}
