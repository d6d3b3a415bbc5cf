/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/chain.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "tuner/nccl-log.h"

#define OURS "nccl-tune" /* the name in our tables */
#define NAME_BYTES 255 /* MAX_STR_LEN, src/plugin/plugin_open.cc:16@v2.30.7-1 */
/* tasks under way still bring events that their profiler no longer wants */
#define LINGER_MS 1000u

struct nt_chain nt_chain = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const struct {
	const char *word, *variable, *prefix, *symbol;
	int oldest;
} kinds[NT_CHAINED_ALL] = {
	[NT_CHAINED_PROFILER] = { "profiler", NT_ENV_CHAINED_PROFILER, "libnccl-profiler",
				  "ncclProfiler_v", 4 },
	[NT_CHAINED_TUNER] = { "tuner", NT_ENV_CHAINED_TUNER, "libnccl-tuner", "ncclTunerPlugin_v",
			       2 },
};

/* The types that this profiler version knows (tuner/abi.h) */
static uint32_t types_of(int version)
{
	static const uint32_t types[] = { [4] = 0xff, 0xfff, 0x7fff, 0xffff };

	return types[version];
}

/* NCCL's rule: no path, and not lib*.so */
static bool is_bare(const char *name)
{
	size_t length = strlen(name);

	return !strchr(name, '/') && (strncmp(name, "lib", 3) != 0 || length < 3 ||
				      strcmp(name + length - 3, ".so") != 0);
}

static void *open_name(const char *name, const char *prefix, int flags, struct nt_error *err)
{
	/* Any prefix of the word means the program itself with its libraries. */
	bool self = strncasecmp(name, "STATIC_PLUGIN", strlen(name)) == 0;
	void *library = dlopen(self ? NULL : name, RTLD_NOW | RTLD_LOCAL | flags);
	char file[NAME_BYTES];

	if (!library)
		nt_error_set(err, "%.140s", dlerror());
	if (library || !is_bare(name))
		return library;
	snprintf(file, sizeof(file), "%s-%s.so", prefix, name);
	return dlopen(file, RTLD_NOW | RTLD_LOCAL | flags);
}

/* The network plugin, if NCCL has opened one: it may contain the others. */
static void *open_net(char *file, size_t file_bytes)
{
	const char *at = getenv("NCCL_NET_PLUGIN");
	void *library = NULL;

	if (!at || !*at)
		at = "libnccl-net.so";
	while (!library && *at) {
		size_t length = strcspn(at, ",");

		if (length > 0 && length < file_bytes) {
			snprintf(file, file_bytes, "%.*s", (int)length, at);
			if (strcasecmp(file, "none") != 0)
				library = open_name(file, "libnccl-net", RTLD_NOLOAD, NULL);
		}
		at += length + (at[length] == ',');
	}
	return library;
}

/* The newest one that NCCL would use */
static bool find_table(struct nt_chain_plugin *plugin, void *library, enum nt_chained which,
		       int api)
{
	char symbol[32];

	for (int version = api; version >= kinds[which].oldest; version--) {
		const char *const *table;

		snprintf(symbol, sizeof(symbol), "%s%d", kinds[which].symbol, version);
		table = dlsym(library, symbol);
		/* A table begins with its plugin's name: this may be a copy of ours. */
		if (!table || !*table || strcmp(*table, OURS) == 0)
			continue;
		plugin->table = table;
		plugin->version = version;
		snprintf(plugin->name, sizeof(plugin->name), "%s", *table);
		return true;
	}
	return false;
}

static void find_plugin(enum nt_chained which, int api)
{
	struct nt_chain_plugin *plugin = &nt_chain.plugin[which];
	const char *value = getenv(kinds[which].variable);
	bool asked = value && *value;
	void *library;

	if (asked && strcasecmp(value, "none") == 0)
		return;
	if (asked)
		snprintf(plugin->file, sizeof(plugin->file), "%.*s", NAME_BYTES - 1, value);
	else
		snprintf(plugin->file, sizeof(plugin->file), "%s.so", kinds[which].prefix);
	library = open_name(plugin->file, kinds[which].prefix, 0, &plugin->error);
	if (!library)
		library = open_net(plugin->file, sizeof(plugin->file));
	if (library && !find_table(plugin, library, which, api)) {
		nt_error_set(&plugin->error,
			     "it has no %s interface of version %d to %d, those of this NCCL",
			     kinds[which].word, kinds[which].oldest, api);
		dlclose(library);
	}
	if (plugin->table || !asked)
		plugin->error.text[0] = '\0';
	else
		snprintf(plugin->file, sizeof(plugin->file), "%.*s", NAME_BYTES - 1, value);
}

/* Once per plugin, with its first logger: it is chained, or why it is not. */
static void log_result(enum nt_chained which, nt_nccl_log log)
{
	const struct nt_chain_plugin *plugin = &nt_chain.plugin[which];
	bool first;

	if (!log)
		return;
	pthread_mutex_lock(&nt_chain.lock);
	first = nt_chain.tried[which] && !nt_chain.said[which];
	nt_chain.said[which] |= first;
	pthread_mutex_unlock(&nt_chain.lock);
	if (!first)
		return;
	if (plugin->error.text[0])
		NT_WARN(log, "the %s plugin %s is not loaded: %s", kinds[which].word, plugin->file,
			plugin->error.text);
	else if (plugin->table)
		NT_INFO(log, "the %s plugin %s (%s, v%d) is chained", kinds[which].word,
			plugin->name, plugin->file, plugin->version);
}

bool nt_chain_load(enum nt_chained which, int api, nt_nccl_log log)
{
	bool on;

	pthread_mutex_lock(&nt_chain.lock);
	if (!nt_chain.tried[which]) {
		nt_chain.tried[which] = true;
		find_plugin(which, api);
		if (which == NT_CHAINED_PROFILER && nt_chain.plugin[which].table)
			nt_chain.types = types_of(nt_chain.plugin[which].version);
		atomic_store_explicit(&nt_chain.on[which], nt_chain.plugin[which].table != NULL,
				      memory_order_release);
	}
	on = nt_chain_on(which);
	pthread_mutex_unlock(&nt_chain.lock);
	log_result(which, log);
	return on;
}

void nt_chain_describe(enum nt_chained which, char *out, size_t out_bytes)
{
	const struct nt_chain_plugin *plugin = &nt_chain.plugin[which];
	struct nt_reason why;

	out[0] = '\0';
	pthread_mutex_lock(&nt_chain.lock);
	if (plugin->table) {
		int refused = atomic_load_explicit(&plugin->refused, memory_order_relaxed);

		snprintf(out, out_bytes, "%s (v%d)", plugin->name, plugin->version);
		if (refused != 0) {
			nt_reason_setf(&why, NT_REASON_PLUGIN_FAILED, "%s:%.70s (v%d):%d",
				       kinds[which].word, plugin->name, plugin->version, refused);
			snprintf(out, out_bytes, "%s", why.text);
		}
	} else if (plugin->error.text[0]) {
		nt_reason_setf(&why, NT_REASON_NOT_LOADED, "%s:%.80s:%s", kinds[which].word,
			       plugin->file, plugin->error.text);
		snprintf(out, out_bytes, "%s", why.text);
	}
	pthread_mutex_unlock(&nt_chain.lock);
}

struct nt_ctx *nt_chain_wrap(struct nt_comm *comm)
{
	struct nt_ctx *ctx = calloc(1, sizeof(*ctx));

	if (ctx)
		ctx->ours = comm;
	return ctx;
}

struct nt_ctx *nt_chain_plain(struct nt_comm *comm)
{
	return comm ? &comm->fixed.ctx : NULL;
}

void nt_chain_count(int rc)
{
	struct nt_process *process = rc == NT_NCCL_OK ? NULL : nt_process_now();

	if (process)
		nt_process_count(process, NT_COUNT_CHAINED_ERRORS);
}

void nt_chain_started(enum nt_chained which, struct nt_ctx *ctx, int rc)
{
	nt_chain_count(rc);
	if (rc != NT_NCCL_OK)
		atomic_store_explicit(&nt_chain.plugin[which].refused, rc, memory_order_relaxed);
	/* Its calls start only after this init. */
	atomic_store_explicit(&ctx->told, rc == NT_NCCL_OK, memory_order_relaxed);
}

/* The lock is held. */
static void follow_mask(void)
{
	struct nt_process *process = nt_process_now();
	int before = atomic_load_explicit(&nt_chain.seen, memory_order_relaxed);
	int now = __atomic_load_n(&nt_chain.wish, __ATOMIC_RELAXED);
	uint32_t shown = atomic_load_explicit(&nt_chain.shown, memory_order_relaxed);

	if (now == before)
		return;
	/* Show more first: an event that is newly wanted may come at once. */
	atomic_store_explicit(&nt_chain.shown, (shown | (uint32_t)now) & nt_chain.types,
			      memory_order_relaxed);
	nt_chain.dropped_ms = 0;
	atomic_store_explicit(&nt_chain.seen, now, memory_order_relaxed);
	if (process && !nt_process_inert(process))
		nt_mask_chain(&process->mask, now & (int)nt_chain.types);
}

/* The threads that may have held the lock do not exist here. A plugin that was being loaded stays
 * out. */
void nt_chain_forked(void)
{
	pthread_mutex_init(&nt_chain.lock, NULL);
}

void nt_chain_follow(void)
{
	pthread_mutex_lock(&nt_chain.lock);
	follow_mask();
	pthread_mutex_unlock(&nt_chain.lock);
}

void nt_chain_tick(uint64_t ms)
{
	uint32_t wanted;

	if (!nt_chain_on(NT_CHAINED_PROFILER))
		return;
	pthread_mutex_lock(&nt_chain.lock);
	follow_mask();
	wanted = (uint32_t)atomic_load_explicit(&nt_chain.seen, memory_order_relaxed) &
		 nt_chain.types;
	if (atomic_load_explicit(&nt_chain.shown, memory_order_relaxed) != wanted) {
		if (nt_chain.dropped_ms == 0)
			nt_chain.dropped_ms = ms;
		else if (ms - nt_chain.dropped_ms >= LINGER_MS)
			atomic_store_explicit(&nt_chain.shown, wanted, memory_order_relaxed);
	}
	pthread_mutex_unlock(&nt_chain.lock);
}
