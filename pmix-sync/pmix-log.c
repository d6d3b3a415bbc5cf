/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/pmix-log.h"

#include <dlfcn.h>
#include <pmix.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pmix-sync/mpi-library.h"
#include "pmix-sync/read-pace.h"
#include "pmix-sync/precheck.h"

/* The functions used, of whatever libpmix the process has. */
struct pmix_calls {
	pmix_status_t (*init)(pmix_proc_t *, pmix_info_t *, size_t);
	pmix_status_t (*finalize)(const pmix_info_t *, size_t);
	pmix_status_t (*put)(pmix_scope_t, const pmix_key_t, pmix_value_t *);
	pmix_status_t (*commit)(void);
	pmix_status_t (*get)(const pmix_proc_t *, const pmix_key_t, const pmix_info_t *, size_t,
			     pmix_value_t **);
	pmix_status_t (*get_nb)(const pmix_proc_t *, const pmix_key_t, const pmix_info_t *, size_t,
				pmix_value_cbfunc_t, void *);
	const char *(*error_string)(pmix_status_t);
	const char *(*version)(void); /* NULL: not known */
};

/* Another node's log, as far as it was read. */
struct tail {
	struct nt_log *log;
	uint32_t next; /* number of the next entry */
	uint64_t bytes; /* bytes of the entries before it */
	/* of the read: PMIx_Get_nb keeps pointers until it answers */
	pmix_proc_t proc;
	pmix_key_t key;
	bool asked; /* a remote read is under way; lock */
	uint8_t *arrived; /* its answer; lock */
	size_t arrived_count;
	bool ready; /* more may be there without a remote read */
};

struct nt_log {
	struct pmix_calls pmix;
	/* Check only once: outcomes of acknowledged plans must be read whatever the program
	 * changes. */
	bool checked;
	pmix_proc_t me;
	struct nt_nodes nodes;
	uint32_t self;
	bool awake; /* a PMIx client now */
	bool failed; /* PMIx_Init failed: another one could crash the process */
	/* not now: MPI must start first, or is starting (PMIx >= 6.1) */
	bool later;
	struct nt_mpi mpi;
	struct nt_log_counts count;
	bool uncommitted;
	struct tail *tail; /* by node */
	pthread_mutex_t lock;
};

static int find_calls(struct pmix_calls *pmix, struct nt_reason *why)
{
	const struct {
		void **at;
		const char *name;
	} wanted[] = {
		{ (void **)&pmix->init, "PMIx_Init" },
		{ (void **)&pmix->finalize, "PMIx_Finalize" },
		{ (void **)&pmix->put, "PMIx_Put" },
		{ (void **)&pmix->commit, "PMIx_Commit" },
		{ (void **)&pmix->get, "PMIx_Get" },
		{ (void **)&pmix->get_nb, "PMIx_Get_nb" },
		{ (void **)&pmix->error_string, "PMIx_Error_string" },
	};
	void *library = RTLD_DEFAULT;

	if (!dlsym(RTLD_DEFAULT, "PMIx_Init")) {
		library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
		if (!library)
			library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
		if (!library)
			return nt_reason_set(why, NT_REASON_NO_LIBPMIX);
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		*wanted[i].at = dlsym(library, wanted[i].name);
		if (!*wanted[i].at)
			return nt_reason_setf(why, NT_REASON_OLD_LIBPMIX, "%s", wanted[i].name);
	}
	*(void **)&pmix->version = dlsym(library, "PMIx_Get_version");
	return 0;
}

static pmix_proc_t proc_of(const struct nt_log *log, pmix_rank_t rank)
{
	pmix_proc_t proc = log->me;

	proc.rank = rank;
	return proc;
}

/* libpmix allocates each part with malloc. */
static void value_free(pmix_value_t *value)
{
	if (!value)
		return;
	if (value->type == PMIX_STRING)
		free(value->data.string);
	else if (value->type == PMIX_BYTE_OBJECT)
		free(value->data.bo.bytes);
	free(value);
}

static int get_u32(struct nt_log *log, pmix_rank_t rank, const char *key, uint32_t *out)
{
	pmix_proc_t proc = proc_of(log, rank);
	pmix_value_t *value = NULL;
	pmix_status_t rc = log->pmix.get(&proc, key, NULL, 0, &value);

	if (rc != PMIX_SUCCESS)
		return -1;
	rc = value->type == PMIX_UINT32 || value->type == PMIX_PROC_RANK ? PMIX_SUCCESS
									 : PMIX_ERR_BAD_PARAM;
	if (rc == PMIX_SUCCESS)
		*out = value->type == PMIX_UINT32 ? value->data.uint32 : value->data.rank;
	value_free(value);
	return rc == PMIX_SUCCESS ? 0 : -1;
}

/* A copy of a text that the server gave every client at its start; NULL: it did not. */
static char *get_text(struct nt_log *log, const char *key)
{
	pmix_proc_t proc = proc_of(log, PMIX_RANK_WILDCARD);
	pmix_value_t *value = NULL;
	char *text = NULL;

	if (log->pmix.get(&proc, key, NULL, 0, &value) != PMIX_SUCCESS)
		return NULL;
	if (value->type == PMIX_STRING && value->data.string)
		text = strdup(value->data.string);
	value_free(value);
	return text;
}

/* Without communication. PMIx 4 also knows each task's host, PMIx 5 only this. */
static int map_tasks(struct nt_log *log, uint32_t tasks, struct nt_reason *why)
{
	char *map = get_text(log, PMIX_ANL_MAP), *names = get_text(log, PMIX_NODE_LIST);
	int rc = nt_nodes_read(&log->nodes, tasks, map, getenv("SLURM_STEP_TASKS_PER_NODE"));

	nt_nodes_name(&log->nodes, names);
	free(map);
	free(names);
	if (rc < 0)
		return nt_reason_set(why, NT_REASON_PMIX_MAP);
	log->self = log->nodes.node_of[log->me.rank];
	if (log->nodes.first[log->self] != log->me.rank)
		return nt_reason_setf(why, NT_REASON_TASK_ORDER, "%u", log->me.rank);
	return 0;
}

/* After PMIx_Init. Once a first key is committed, reads of this log are answered at once. */
static int introduce_node(struct nt_log *log, uint32_t task, struct nt_reason *why)
{
	static const uint8_t hello[] = "nccl-tune";
	uint32_t tasks;

	if (log->me.rank != task)
		return nt_reason_setf(why, NT_REASON_TASK_ORDER, "%u", task);
	if (get_u32(log, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &tasks) < 0 || tasks <= task)
		return nt_reason_set(why, NT_REASON_PMIX_MAP);
	if (map_tasks(log, tasks, why) < 0)
		return -1;
	log->tail = calloc(log->nodes.nodes, sizeof(*log->tail));
	if (!log->tail)
		return nt_reason_set(why, NT_REASON_MEMORY);
	for (uint32_t n = 0; n < log->nodes.nodes; n++) {
		log->tail[n].log = log;
		log->tail[n].next = 1;
	}
	return nt_log_append(log, hello, sizeof(hello), why);
}

/* From 6.1 on, PMIX_ERR_INIT may mean that another thread is initialising, and a second PMIx_Init
 * is safe. In older releases it is a failure, and a second one crashes (4.2.2). */
static bool may_retry(const struct pmix_calls *pmix, pmix_status_t rc)
{
	const char *text = pmix->version ? pmix->version() : "";
	const char *number = strpbrk(text, "0123456789");
	unsigned major, minor;

	return rc == PMIX_ERR_INIT && number && sscanf(number, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 1));
}

static int wake_server(struct nt_log *log, struct nt_reason *why)
{
	pmix_status_t rc;

	if (log->awake)
		return 0;
	if (log->failed)
		return nt_reason_setf(why, NT_REASON_PMIX, "PMIx_Init has failed before");
	log->later = true;
	if (nt_mpi_comes_first(&log->mpi))
		return nt_reason_set(why, NT_REASON_MPI);
	log->later = false;
	if (!log->checked && nt_precheck(why) < 0)
		return -1;
	log->checked = true;
	rc = log->pmix.init(&log->me, NULL, 0);
	if (rc != PMIX_SUCCESS) {
		log->later = may_retry(&log->pmix, rc);
		log->failed = !log->later;
		return nt_reason_setf(why, NT_REASON_PMIX, "%s", log->pmix.error_string(rc));
	}
	log->awake = true;
	return 0;
}

/* A tail must stay as it is while a read is under way. */
static bool reads_so_far(struct nt_log *log)
{
	bool any = false;

	pthread_mutex_lock(&log->lock);
	for (uint32_t n = 0; log->tail && n < log->nodes.nodes; n++)
		any |= log->tail[n].asked;
	pthread_mutex_unlock(&log->lock);
	return any;
}

void nt_log_leave(struct nt_log *log)
{
	/* After we finalize ours, a client that Open MPI 4 starts fails (docs/hosts.md). With MPI,
	 * a client stays until the program ends. */
	if (!log->awake || log->uncommitted || reads_so_far(log) || nt_mpi_is_loaded(&log->mpi))
		return;
	(void)log->pmix.finalize(NULL, 0);
	log->awake = false;
	log->count.leaves++;
}

/* If only some tasks of a node were clients and one leaves, Slurm's PMIx server miscounts, and
 * MPI's first fence never ends. That MPI aborts at once is better. */
static bool leaves_nobody(const struct nt_log *log)
{
	uint32_t here = 0;

	for (uint32_t task = 0; task < log->nodes.tasks; task++)
		here += log->nodes.node_of[task] == log->self;
	return here == 1;
}

/* This loses puts without a commit, and reads under way. */
void nt_log_stand_aside(struct nt_log *log)
{
	if (!log->awake || !nt_mpi_comes_first(&log->mpi) || !leaves_nobody(log))
		return;
	(void)log->pmix.finalize(NULL, 0);
	log->awake = false;
	log->uncommitted = false;
	log->count.leaves++;
	pthread_mutex_lock(&log->lock);
	for (uint32_t n = 0; n < log->nodes.nodes; n++)
		log->tail[n].asked = false;
	pthread_mutex_unlock(&log->lock);
}

bool nt_log_is_away(const struct nt_log *log)
{
	return !log->awake;
}

void nt_log_elsewhere(struct nt_reason *why)
{
	nt_reason_set(why, getenv("SLURM_PROCID") ? NT_REASON_OTHER_STEP : NT_REASON_PMIX_REMOVED);
}

struct nt_log *nt_log_open(uint32_t task, bool *later, struct nt_reason *why)
{
	const char *type = getenv("SLURM_MPI_TYPE"); /* as srun has started the step */
	struct nt_log *log;

	*later = false;
	if (!getenv("PMIX_NAMESPACE") || !getenv("PMIX_RANK")) {
		nt_reason_set(why, type && strncmp(type, "pmix", 4) == 0 ? NT_REASON_PMIX_REMOVED
									 : NT_REASON_NO_PMIX);
		return NULL;
	}
	log = calloc(1, sizeof(*log));
	if (!log) {
		nt_reason_set(why, NT_REASON_MEMORY);
		return NULL;
	}
	pthread_mutex_init(&log->lock, NULL);
	if (find_calls(&log->pmix, why) == 0 && wake_server(log, why) == 0 &&
	    introduce_node(log, task, why) == 0)
		return log;
	*later = log->later;
	nt_log_close(log);
	return NULL;
}

void nt_log_close(struct nt_log *log)
{
	if (!log)
		return;
	if (log->awake)
		(void)log->pmix.finalize(NULL, 0);
	/* A libpmix that the program keeps loaded may still have a read under way: keep its
	 * tail. */
	if (reads_so_far(log))
		return;
	for (uint32_t n = 0; log->tail && n < log->nodes.nodes; n++)
		free(log->tail[n].arrived);
	nt_nodes_free(&log->nodes);
	free(log->tail);
	pthread_mutex_destroy(&log->lock);
	free(log);
}

const struct nt_nodes *nt_log_nodes(const struct nt_log *log)
{
	return &log->nodes;
}

uint32_t nt_log_self(const struct nt_log *log)
{
	return log->self;
}

struct nt_log_counts nt_log_count(const struct nt_log *log)
{
	return log->count;
}

uint64_t nt_log_read_cost(const struct nt_log *log, uint32_t node)
{
	return nt_pace_read_cost(log->tail[node].next, log->tail[node].bytes);
}

static void key_name(pmix_key_t key, uint32_t sequence)
{
	memset(key, 0, sizeof(pmix_key_t));
	snprintf(key, sizeof(pmix_key_t), "nt/%u", sequence);
}

int nt_log_append(struct nt_log *log, const uint8_t *bytes, size_t count, struct nt_reason *why)
{
	pmix_value_t value = { .type = PMIX_BYTE_OBJECT };
	pmix_status_t rc;
	pmix_key_t key;

	if (wake_server(log, why) < 0)
		return -1;
	if (!log->uncommitted) {
		key_name(key, log->count.appends);
		value.data.bo.bytes = (char *)(uintptr_t)bytes;
		value.data.bo.size = count;
		rc = log->pmix.put(PMIX_GLOBAL, key, &value);
		if (rc != PMIX_SUCCESS)
			return nt_reason_setf(why, NT_REASON_PMIX, "PMIx_Put: %s",
					      log->pmix.error_string(rc));
		log->uncommitted = true; /* its bytes are fixed now: a retry only commits */
	}
	rc = log->pmix.commit();
	if (rc != PMIX_SUCCESS)
		return nt_reason_setf(why, NT_REASON_PMIX, "PMIx_Commit: %s",
				      log->pmix.error_string(rc));
	log->uncommitted = false;
	log->count.appends++;
	log->count.bytes += count;
	return 0;
}

/* Called on PMIx's thread. */
static void on_value(pmix_status_t status, pmix_value_t *value, void *arg)
{
	struct tail *tail = arg;
	bool asked;

	pthread_mutex_lock(&tail->log->lock);
	asked = tail->asked; /* not if PMIx was left for MPI: read again later */
	tail->asked = false;
	if (asked && status == PMIX_SUCCESS && value && value->type == PMIX_BYTE_OBJECT &&
	    !tail->arrived) {
		tail->arrived = malloc(value->data.bo.size + 1);
		if (tail->arrived) {
			memcpy(tail->arrived, value->data.bo.bytes, value->data.bo.size);
			tail->arrived_count = value->data.bo.size;
		}
	}
	pthread_mutex_unlock(&tail->log->lock);
}

void nt_log_poll(struct nt_log *log, uint32_t node, bool urgent)
{
	struct tail *tail = &log->tail[node];
	bool busy;

	pthread_mutex_lock(&log->lock);
	busy = tail->asked || tail->arrived || tail->ready ||
	       (!urgent &&
		nt_pace_spent(log->count.fetches, log->count.spent + nt_log_read_cost(log, node),
			      log->nodes.nodes));
	if (!busy)
		tail->asked = true;
	pthread_mutex_unlock(&log->lock);
	if (busy)
		return;
	if (wake_server(log, NULL) < 0) {
		pthread_mutex_lock(&log->lock);
		tail->asked = false;
		pthread_mutex_unlock(&log->lock);
		return;
	}
	log->count.fetches++;
	log->count.spent += nt_log_read_cost(log, node);
	tail->proc = proc_of(log, log->nodes.first[node]);
	key_name(tail->key, tail->next);
	if (log->pmix.get_nb(&tail->proc, tail->key, NULL, 0, on_value, tail) != PMIX_SUCCESS) {
		pthread_mutex_lock(&log->lock);
		tail->asked = false;
		pthread_mutex_unlock(&log->lock);
	}
}

/* A remote read brings the whole log: read further entries locally. */
static size_t take_at_hand(struct nt_log *log, uint32_t node, uint8_t *out, size_t cap)
{
	pmix_proc_t proc = proc_of(log, log->nodes.first[node]);
	pmix_info_t optional;
	pmix_value_t *value = NULL;
	size_t count = 0;
	pmix_key_t key;

	memset(&optional, 0, sizeof(optional));
	snprintf(optional.key, sizeof(optional.key), "%s", PMIX_OPTIONAL);
	optional.value.type = PMIX_BOOL;
	optional.value.data.flag = true;
	key_name(key, log->tail[node].next);
	if (log->awake && log->pmix.get(&proc, key, &optional, 1, &value) == PMIX_SUCCESS &&
	    value->type == PMIX_BYTE_OBJECT && value->data.bo.size <= cap) {
		count = value->data.bo.size;
		memcpy(out, value->data.bo.bytes, count);
	}
	value_free(value);
	return count;
}

static size_t take_arrived(struct nt_log *log, struct tail *tail, uint8_t *out, size_t cap)
{
	size_t count = 0;

	pthread_mutex_lock(&log->lock);
	if (tail->arrived && tail->arrived_count <= cap) {
		count = tail->arrived_count;
		memcpy(out, tail->arrived, count);
	}
	free(tail->arrived);
	tail->arrived = NULL;
	pthread_mutex_unlock(&log->lock);
	return count;
}

size_t nt_log_take(struct nt_log *log, uint32_t *node, uint8_t *out, size_t cap)
{
	for (uint32_t n = 0; n < log->nodes.nodes; n++) {
		struct tail *tail = &log->tail[n];
		size_t count = take_arrived(log, tail, out, cap);

		if (count == 0 && tail->ready)
			count = take_at_hand(log, n, out, cap);
		tail->ready = count > 0;
		if (count > 0) {
			tail->next++;
			tail->bytes += count;
			/* part of the cost of the read that brought it */
			log->count.spent += NT_PACE_KEY_BYTES + count;
			*node = n;
			return count;
		}
	}
	return 0;
}
