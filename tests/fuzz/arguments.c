/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c - what nt-recordd is told, and what slurmstepd makes of a user's environment: nothing
 *            is set that is not ours to set
 *
 * Input: a byte that says which, then members or values, a line each.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/names.h"
#include "contract/warm.h"
#include "profiles/variable.h"
#include "spank/step/profile-env.h"
#include "spank/step/env.h"
#include "spank/arguments.h"
#include "tests/fuzz/fuzz.h"
#include "tuner/deadline.h"

#define VARIABLES 24

static void check_parsed(const struct nt_arguments *errand)
{
	static char text[NT_ARGUMENTS_TEXT];
	static struct nt_arguments again;
	size_t bytes = nt_arguments_format(errand, text);

	FUZZ_CHECK(bytes <= sizeof(text));
	FUZZ_CHECK(nt_arguments_parse(&again, text, bytes, NULL) == 0);
	FUZZ_CHECK(memcmp(&again, errand, sizeof(again)) == 0);
}

static void check_members(struct fuzz *in)
{
	static struct nt_arguments errand;
	static char text[2 * NT_ARGUMENTS_TEXT];
	struct nt_error err;
	size_t bytes = 0;
	char *member;

	while ((member = fuzz_part(in, '\n')) != NULL) {
		size_t more = strlen(member) + 1;

		if (bytes + more <= sizeof(text)) {
			memcpy(text + bytes, member, more);
			bytes += more;
		}
		free(member);
	}
	if (nt_arguments_parse(&errand, text, bytes, &err) == 0)
		check_parsed(&errand);
}

/* What slurmstepd would have filled in. */
static void check_made(struct fuzz *in)
{
	static struct nt_arguments errand;

	memset(&errand, 0, sizeof(errand));
	errand.job = (uint32_t)fuzz_odd_number(in);
	errand.tasks = (uint32_t)fuzz_odd_number(in);
	fuzz_word(in, errand.mode + 1, sizeof(errand.mode) - 1);
	fuzz_word(in, errand.dir + 1, sizeof(errand.dir) - 1);
	fuzz_word(in, errand.cluster + 1, sizeof(errand.cluster) - 1);
	fuzz_word(in, errand.ticket + 1, sizeof(errand.ticket) - 1);
	fuzz_word(in, errand.hosts + 1, sizeof(errand.hosts) - 1);
	fuzz_word(in, errand.groups + 1, sizeof(errand.groups) - 1);
	fuzz_word(in, errand.rundir + 1, sizeof(errand.rundir) - 1);
	fuzz_word(in, errand.long_dir + 1, sizeof(errand.long_dir) - 1);
	fuzz_word(in, errand.node + 1, sizeof(errand.node) - 1);
	errand.long_dir[0] = errand.node[0] = '/';
	errand.groups[0] = '-';
	errand.rundir[0] = '/';
	errand.mode[0] = errand.dir[0] = errand.cluster[0] = '/';
	errand.ticket[0] = errand.hosts[0] = errand.spool[0] = errand.record[0] = '-';
	errand.fingerprint[0] = '-';
	check_parsed(&errand);
}

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
	nt_apply(&env, profile, "/nonexistent", &applied);
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
	if (!(nt_env_flags(&env) & NT_PLACE_NO_TUNER) && policy) {
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

	switch (fuzz_below(&in, 4)) {
	case 0: check_members(&in); break;
	case 1: check_made(&in); break;
	case 2: check_applied(&in); break;
	default: check_plugins(&in);
	}
	return 0;
}

FUZZ_TEXT_TARGET("job=1\n", "step=0\n", "uid=", "gid=", "flags=0", "tasks=8", "nodes=2", "here=4",
		 "mode=bandit", "dir=/run", "rundir=/run", "spool=/var", "record=admincomment",
		 "cluster=c", "fingerprint=-", "ticket=-", "hosts=n[1-4,7]", "\n",
		 "v=1;profile=p;why=GAIN;set=", "none", "NCCL_SOCKET_NTHREADS=2",
		 "p NCCL_BUFFSIZE=4M", "v=1 nccl=22809 fabric=any ",
		 "fingerprint=0000000000000000 2r1n.AllReduce.1024=AUTO", "/lib/libnccl-tune.so",
		 "2", "-", "left=NCCL_BUFFSIZE", ";")
