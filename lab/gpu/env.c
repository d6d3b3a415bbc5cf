/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* env.c - an env plugin of NCCL: can two communicators of a process start with different variables?
 *
 * Where no wide set is in force, NCCL gets its variables from the environment, as without a
 * plugin. It reads a variable once a process; from 2.29.7 on, those that NCCL_NO_CACHE lists are
 * read at each use (src/param/param.cc:20@v2.30.7-1), and a plugin can answer that, too.
 *
 * Threads:  nt_env_wide() from the program's thread; NCCL asks on any thread.
 * Host:     ncclEnvPlugin_v1 since 2.28.7, _v2 since 2.30.7 (plugins/env/example/nccl/env_v2.h).
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct variable {
	const char *name, *value;
	_Atomic unsigned asked, given;
};

static struct variable wide[] = {
	{ "NCCL_MIN_NCHANNELS", "8", 0, 0 },
	{ "NCCL_SOCKET_NTHREADS", "2", 0, 0 },
	{ "NCCL_NSOCKS_PERTHREAD", "4", 0, 0 },
};

#define WIDE (sizeof(wide) / sizeof(wide[0]))

static _Atomic int in_force;

/* For the program: the wide set, or none, from now on. */
void nt_env_wide(int on);
void nt_env_wide(int on)
{
	atomic_store(&in_force, on);
}

/* How often NCCL has asked for a variable of the set, and got the set's value. */
void nt_env_print(void);
void nt_env_print(void)
{
	for (unsigned i = 0; i < WIDE; i++)
		fprintf(stderr, "env: %s: asked %u times, given %s %u times\n", wide[i].name,
			atomic_load(&wide[i].asked), wide[i].value, atomic_load(&wide[i].given));
}

static const char *get(const char *name)
{
	if (strcmp(name, "NCCL_NO_CACHE") == 0)
		return "NCCL_MIN_NCHANNELS,NCCL_SOCKET_NTHREADS,NCCL_NSOCKS_PERTHREAD";
	for (unsigned i = 0; i < WIDE; i++) {
		if (strcmp(name, wide[i].name) != 0)
			continue;
		atomic_fetch_add(&wide[i].asked, 1);
		if (!atomic_load(&in_force))
			break;
		atomic_fetch_add(&wide[i].given, 1);
		return wide[i].value;
	}
	return getenv(name);
}

static unsigned init(uint8_t major, uint8_t minor, uint8_t patch, const char *suffix, void *log)
{
	(void)major;
	(void)minor;
	(void)patch;
	(void)suffix;
	(void)log;
	return 0;
}

static unsigned finalize(void)
{
	return 0;
}

extern const struct env_plugin {
	const char *name;
	unsigned (*init)(uint8_t, uint8_t, uint8_t, const char *, void *);
	unsigned (*finalize)(void);
	const char *(*get)(const char *);
} ncclEnvPlugin_v2;
const struct env_plugin ncclEnvPlugin_v2 = { "nt-env", init, finalize, get };
