/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c - what slurmstepd makes of a user's environment: nothing is set that is not ours to
 *            set
 *
 * Input: a byte that says which, then values, a line each.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/names.h"
#include "contract/warm.h"
#include "launch/variable.h"
#include "spank/step/profile-env.h"
#include "spank/step/env.h"
#include "tests/fuzz/fuzz.h"
#include "tuner/process.h"

#define VARIABLES 24

/* ---- the environment */

/* Four of our own first. */
static const char *const names[] = {
	NT_ENV_TICKET,		NT_ENV_SLURM_WARM,	 NT_ENV_LAUNCH,	       NT_ENV_WARM,
	"NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD", "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS",
	"NCCL_BUFFSIZE",	"NCCL_MIN_CTAS",	 "NCCL_MAX_CTAS",      "NCCL_CROSS_NIC",
};

#define NAMES (sizeof(names) / sizeof(names[0]))

struct environment {
	char *value[NAMES]; /* NULL: not set */
};

static size_t place_of(const char *name)
{
	size_t at = 0;

	while (at < NAMES && strcmp(names[at], name) != 0)
		at++;
	return at;
}

static int get(void *context, const char *name, char *out, size_t out_bytes)
{
	const struct environment *env = context;
	const size_t at = place_of(name);

	if (at == NAMES || !env->value[at])
		return -1;
	if (strlen(env->value[at]) >= out_bytes)
		return 1;
	memcpy(out, env->value[at], strlen(env->value[at]) + 1);
	return 0;
}

/* Variables of the allow-list within their bounds, and two of our own, which are plain. */
static void set(void *context, const char *name, const char *value)
{
	const int id = nt_variable_find(name);
	int64_t number;

	(void)context;
	fuzz_check_plain(value, strlen(value));
	FUZZ_CHECK(strchr(value, '\n') == NULL);
	if (id >= 0)
		FUZZ_CHECK(nt_variable_parse((unsigned)id, value, &number, NULL) == 0);
	else
		FUZZ_CHECK(strcmp(name, NT_ENV_LAUNCH) == 0 || strcmp(name, NT_ENV_WARM) == 0);
}

static void unset(void *context, const char *name)
{
	(void)context;
	FUZZ_CHECK(nt_variable_find(name) >= 0 || place_of(name) < 4);
}

static void check_applied(struct fuzz *in)
{
	static struct environment environment;
	static struct nt_applied applied;
	struct nt_task_env env = {
		.get = get, .set = set, .unset = unset, .context = &environment
	};
	const bool profile = fuzz_below(in, 4) != 0;

	for (size_t i = 0; i < NAMES; i++)
		environment.value[i] = fuzz_part(in, '\n');
	nt_profile_env_apply(&env, profile, "/nonexistent", &applied);
	fuzz_check_plain(applied.text, strlen(applied.text));
	fuzz_check_plain(applied.trouble.text, strlen(applied.trouble.text));
	for (size_t i = 0; i < NAMES; i++)
		free(environment.value[i]);
}

static const char *const plugin_names[] = { NT_ENV_NCCL_TUNER,	  NT_ENV_NCCL_PROFILER,
					    NT_ENV_CHAINED_TUNER, NT_ENV_CHAINED_PROFILER,
					    NT_ENV_POLICY,	  "NCCL_ALGO",
					    "NCCL_PROTO" };

#define PLUGIN_NAMES (sizeof(plugin_names) / sizeof(plugin_names[0]))

static char **plugin_place(char **values, const char *name)
{
	for (size_t i = 0; i < PLUGIN_NAMES; i++) {
		if (strcmp(plugin_names[i], name) == 0)
			return &values[i];
	}
	abort();
}

static int get_plugin(void *context, const char *name, char *out, size_t out_bytes)
{
	char **value = plugin_place(context, name);

	if (!value || !*value)
		return -1;
	return snprintf(out, out_bytes, "%s", *value) >= (int)out_bytes;
}

static void set_plugin(void *context, const char *name, const char *value)
{
	char **place = plugin_place(context, name);

	FUZZ_CHECK(place && value);
	free(*place);
	*place = strdup(value);
}

static void unset_plugin(void *context, const char *name)
{
	char **place = plugin_place(context, name);

	FUZZ_CHECK(place && *place);
	free(*place);
	*place = NULL;
}

static void check_plugins(struct fuzz *in)
{
	char *value[PLUGIN_NAMES];
	const struct nt_task_env env = { get_plugin, set_plugin, unset_plugin, value };
	const char *policy = fuzz_below(in, 2) ? "mode=bandit" : NULL;
	bool chained;

	for (size_t i = 0; i < PLUGIN_NAMES; i++) {
		value[i] = fuzz_part(in, '\n');
		if (value[i] && value[i][0] == '-') {
			free(value[i]);
			value[i] = NULL;
		}
	}
	(void)nt_deadline_us(value[0], 1763769600, 1000000);
	if (!(nt_env_flags(&env) & NT_FLAG_NO_TUNER) && policy) {
		chained = value[0] && value[0][0] && strcmp(value[0], "/lib/libnccl-tune.so") != 0;
		nt_env_tune(&env, "/lib/libnccl-tune.so", policy);
		FUZZ_CHECK(strcmp(value[0], "/lib/libnccl-tune.so") == 0);
		FUZZ_CHECK(!chained || value[2]);
	}
	nt_env_tune(&env, "/lib/libnccl-tune.so", NULL);
	FUZZ_CHECK(!value[4]);
	for (size_t i = 0; i < PLUGIN_NAMES; i++)
		free(value[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };

	if (fuzz_below(&in, 2) == 0)
		check_applied(&in);
	else
		check_plugins(&in);
	return 0;
}

FUZZ_TEXT_TARGET("\n", "v=1;profile=p;why=GAIN;set=", "none", "NCCL_SOCKET_NTHREADS=2",
		 "p NCCL_BUFFSIZE=4M", "v=1 nccl=22809 fabric=any ",
		 "fingerprint=0000000000000000 2r1n.AllReduce.1024=AUTO", "/lib/libnccl-tune.so",
		 "2", "-", "left=NCCL_BUFFSIZE", ";")
