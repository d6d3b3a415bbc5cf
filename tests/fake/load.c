/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - one tuner and one profiler for each process, with a count of communicators */
#include "tests/fake/load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define CLOSE_S 2 /* how long closing waits for calls in progress */
#define NAME_BYTES 255 /* MAX_STR_LEN, src/plugin/plugin_open.cc@v2.28.9-1 */

static const struct nt_release releases[] = {
	{ "2.21.5", 22105, 2, 0, NT_TUNER_ALGOS_OLD },
	{ "2.22.3", 22203, 3, 0, NT_TUNER_ALGOS_OLD },
	{ "2.24.3", 22403, 4, 0, 7 },
	{ "2.26.2", 22602, 4, 0, 7 },
	{ "2.27.7", 22707, 4, 4, 7 },
	{ "2.28.9", 22809, 5, 5, 7 },
	{ "2.29.7", 22907, 5, 6, 7 },
	{ "2.30.7", 23007, 6, 6, 7 },
	{ "2.31.2", 23102, 6, 7, 7 },
	{ "2.32.6", 23206, 7, 7, 7 },
};

enum status { READY, LOADED, FAILED };

struct slot {
	const char *variable;
	const char *prefix; /* of file names */
	void *library;
	int references;
	int version;
	enum status status;
};

static struct {
	pthread_mutex_t lock;
	const struct nt_release *release;
	struct slot tuner;
	struct slot profiler;
	const struct nt_tuner_v7 *tuner_table;
	_Atomic(const struct nt_prof_v7 *) profiler_table;
	/* read: a call of the profiler is in progress. A read lock orders nothing between readers,
	 * so the thread sanitizer still sees the plugin's own races */
	pthread_rwlock_t calls;
	_Atomic int mask;
	_Atomic bool ras; /* RAS has set the mask */
	_Atomic int ras_mask;
} load = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.calls = PTHREAD_RWLOCK_INITIALIZER,
	.tuner = { .variable = "NCCL_TUNER_PLUGIN", .prefix = "libnccl-tuner" },
	.profiler = { .variable = "NCCL_PROFILER_PLUGIN", .prefix = "libnccl-profiler" },
};

const struct nt_release *nt_release_find(const char *name)
{
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		if (strcmp(releases[i].name, name) == 0)
			return &releases[i];
	}
	return NULL;
}

static void *open_net(const char *value)
{
	char name[NAME_BYTES];
	void *library;

	if (!value || !*value)
		return dlopen("libnccl-net.so", RTLD_NOW | RTLD_LOCAL);
	if (strcasecmp(value, "none") == 0)
		return NULL;
	snprintf(name, sizeof(name), "libnccl-net-%s.so", value);
	library = dlopen(value, RTLD_NOW | RTLD_LOCAL);
	return library ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/* It stays, also where its init fails. Then the next network is taken, unless NCCL_NET names this
 * one (ncclNetInit, src/plugin/net.cc@v2.28.9-1). */
static int load_net(void)
{
	void *library = open_net(getenv("NCCL_NET_PLUGIN"));
	const struct net {
		const char *name;
		int (*init)(void **ctx, uint64_t comm, void *config, nt_nccl_log log,
			    void *profile);
	} *net = library ? dlsym(library, "ncclNetPlugin_v11") : NULL;
	const char *wanted = getenv("NCCL_NET");
	void *ctx = NULL;

	if (!net || !net->init || net->init(&ctx, 0, NULL, nt_load_log, NULL) == NT_NCCL_OK)
		return 0;
	return wanted && strcasecmp(wanted, net->name) == 0 ? -1 : 0;
}

int nt_load_setup(const struct nt_release *release)
{
	load.release = release;
	return load_net();
}

int ncclGetVersion(int *version)
{
	*version = load.release ? load.release->code : 0;
	return NT_NCCL_OK;
}

const struct nt_release *nt_load_release(void)
{
	return load.release;
}

static int debug_level(void)
{
	static const char *const names[] = { "NONE", "VERSION", "WARN", "INFO", "ABORT", "TRACE" };
	const char *text = getenv("NCCL_DEBUG");

	for (int i = 0; text && i < 6; i++) {
		if (strcasecmp(text, names[i]) == 0)
			return i;
	}
	return NT_NCCL_LOG_NONE;
}

void nt_load_log(int level, unsigned long subsystems, const char *file, int line,
		 const char *format, ...)
{
	char text[1024];
	va_list args;

	(void)subsystems;
	if (level > debug_level())
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "simulated NCCL %s [%d] %s:%d %s %s\n", load.release->name, (int)getpid(),
		file, line, level == NT_NCCL_LOG_WARN ? "WARN" : "INFO", text);
}

#define INFO(...) nt_load_log(NT_NCCL_LOG_INFO, NT_NCCL_SUB_INIT, __func__, __LINE__, __VA_ARGS__)

static void *try_open(const char *name, bool tuner)
{
	/* A prefix of this word, in any case, means the program itself (since 2.22). */
	bool self = load.release->code >= 22203 &&
		    strncasecmp(name, "STATIC_PLUGIN", strlen(name)) == 0;
	/* The tuner was bound lazily until 2.24. */
	int flags = (tuner && load.release->code < 22602 ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL;
	void *library = dlopen(self ? NULL : name, flags);

	if (!library)
		INFO("%s: %s", name, dlerror());
	return library;
}

/* Bare names are also tried between prefix and ".so"; before 2.26 any names. */
static bool may_be_bare(const char *name)
{
	size_t n = strlen(name);

	if (load.release->code < 22602)
		return true;
	return !strchr(name, '/') &&
	       (strncmp(name, "lib", 3) != 0 || n < 3 || strcmp(name + n - 3, ".so") != 0);
}

static void *open_library(const struct slot *s)
{
	const char *value = getenv(s->variable);
	bool given = value && *value;
	bool tuner = s == &load.tuner;
	char name[NAME_BYTES];
	void *library;

	if (value && strcasecmp(value, "none") == 0)
		return NULL;
	if (given)
		snprintf(name, sizeof(name), "%s", value);
	else
		snprintf(name, sizeof(name), "%s.so", s->prefix);
	library = try_open(name, tuner);
	if (!library && given && may_be_bare(value)) {
		snprintf(name, sizeof(name), "%s-%s.so", s->prefix, value);
		library = try_open(name, tuner);
	}
	/* The external network plugin may contain them as well. */
	value = getenv("NCCL_NET_PLUGIN");
	if (!library && value && strcasecmp(value, "none") != 0 && *value)
		library = try_open(value, tuner);
	return library;
}

static void fail(struct slot *s)
{
	if (s->library)
		dlclose(s->library);
	s->library = NULL;
	s->status = FAILED;
}

const struct nt_tuner_v7 *nt_load_tuner(bool *owner)
{
	const struct nt_tuner_v7 *table = NULL;
	struct slot *s = &load.tuner;

	*owner = false;
	pthread_mutex_lock(&load.lock);
	if (s->status == LOADED) {
		s->references++;
		table = load.tuner_table;
	} else if (s->status == READY) {
		s->library = open_library(s);
		for (s->version = load.release->tuner; s->library && s->version >= 2;
		     s->version--) {
			table = nt_shim_tuner(s->library, s->version);
			if (table)
				break;
		}
		load.tuner_table = table;
		if (table) {
			s->status = LOADED;
			s->references++;
			*owner = true;
			INFO("TUNER/Plugin: Using %s (v%d)", table->name, s->version);
		} else {
			fail(s);
		}
	}
	pthread_mutex_unlock(&load.lock);
	return table;
}

void nt_load_tuner_drop(bool owner)
{
	struct slot *s = &load.tuner;

	pthread_mutex_lock(&load.lock);
	/* Only the communicator that loaded it counts down (tuner.cc:104@v2.28.9-1). */
	if (owner && --s->references == 0) {
		INFO("TUNER/Plugin: Closing %s", load.tuner_table->name);
		dlclose(s->library);
		s->library = NULL;
		s->status = READY;
		load.tuner_table = NULL;
	}
	pthread_mutex_unlock(&load.lock);
}

static int version_of(const struct slot *s)
{
	int version;

	pthread_mutex_lock(&load.lock);
	version = s->status == LOADED ? s->version : 0;
	pthread_mutex_unlock(&load.lock);
	return version;
}

int nt_load_tuner_version(void)
{
	return version_of(&load.tuner);
}

const struct nt_prof_v7 *nt_load_profiler(void)
{
	const struct nt_prof_v7 *table = NULL;
	struct slot *s = &load.profiler;

	pthread_mutex_lock(&load.lock);
	if (s->status == LOADED) {
		s->references++;
	} else if (s->status == READY && load.release->profiler) {
		s->library = open_library(s);
		for (s->version = load.release->profiler; s->library && s->version; s->version--) {
			table = nt_shim_profiler(s->library, s->version);
			if (table)
				break;
		}
		atomic_store(&load.profiler_table, table);
		if (table) {
			s->status = LOADED;
			s->references++;
			INFO("PROFILER/Plugin: Loaded %s (v%d)", table->name, s->version);
		} else {
			fail(s);
		}
	}
	pthread_mutex_unlock(&load.lock);
	return atomic_load(&load.profiler_table);
}

const struct nt_prof_v7 *nt_load_profiler_now(void)
{
	return atomic_load_explicit(&load.profiler_table, memory_order_acquire);
}

const struct nt_prof_v7 *nt_load_profiler_use(void)
{
	const struct nt_prof_v7 *table;

	pthread_rwlock_rdlock(&load.calls);
	table = nt_load_profiler_now();
	if (!table)
		pthread_rwlock_unlock(&load.calls);
	return table;
}

void nt_load_profiler_done(void)
{
	pthread_rwlock_unlock(&load.calls);
}

/* A call that never returns (of a thread that a fork left behind) keeps the library open. */
static void close_profiler(struct slot *s)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += CLOSE_S;
	if (pthread_rwlock_timedwrlock(&load.calls, &until) == 0) {
		dlclose(s->library);
		pthread_rwlock_unlock(&load.calls);
	}
	s->library = NULL;
}

void nt_load_profiler_drop(void)
{
	struct slot *s = &load.profiler;

	pthread_mutex_lock(&load.lock);
	if (s->status == LOADED && --s->references == 0) {
		INFO("PROFILER/Plugin: Closing %s", atomic_load(&load.profiler_table)->name);
		atomic_store(&load.profiler_table, NULL);
		close_profiler(s);
		s->status = READY;
	}
	pthread_mutex_unlock(&load.lock);
}

int nt_load_profiler_version(void)
{
	return version_of(&load.profiler);
}

int *nt_load_mask(void)
{
	return (int *)&load.mask;
}

int nt_load_mask_now(void)
{
	return atomic_load_explicit(&load.mask, memory_order_relaxed);
}

void nt_load_ras(int mask)
{
	atomic_store_explicit(&load.mask, mask, memory_order_relaxed);
	atomic_store_explicit(&load.ras_mask, mask, memory_order_relaxed);
	atomic_store_explicit(&load.ras, true, memory_order_release);
}

void nt_load_ras_again(void)
{
	if (atomic_load_explicit(&load.ras, memory_order_acquire))
		atomic_store_explicit(&load.mask,
				      atomic_load_explicit(&load.ras_mask, memory_order_relaxed),
				      memory_order_relaxed);
}
