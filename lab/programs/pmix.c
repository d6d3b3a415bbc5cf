/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pmix.c - stands in for libpmix, which a plugin looks for in its process first:
 * what was committed is read by others a moment later, and a read of what is not there says so
 */
#include "lab/programs/pmix.h"

#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lab/programs/vtime.h"

#define READ_NS 500000 /* of another node's log */

struct entry {
	pmix_key_t key;
	char *bytes;
	size_t count;
};

/* One task's log. */
struct store {
	struct entry *entry;
	size_t entries, committed;
	size_t seen[NT_PMIX_TASKS]; /* what each has fetched of it */
};

static struct {
	unsigned tasks, nodes;
	struct store store[NT_PMIX_TASKS];
} kvs;

struct read {
	unsigned reader, target;
	pmix_key_t key;
	pmix_value_cbfunc_t callback;
	void *arg;
};

void nt_pmix_begin(unsigned tasks, unsigned nodes)
{
	kvs.tasks = tasks;
	kvs.nodes = nodes;
	setenv("PMIX_NAMESPACE", "programs", 1);
	setenv("PMIX_SERVER_URI41", "programs.0;tcp4://127.0.0.1:1", 1);
}

pmix_status_t PMIx_Init(pmix_proc_t *me, pmix_info_t *info, size_t count)
{
	(void)info;
	(void)count;
	memset(me, 0, sizeof(*me));
	snprintf(me->nspace, sizeof(me->nspace), "programs");
	me->rank = nt_vtime_process();
	return PMIX_SUCCESS;
}

pmix_status_t PMIx_Finalize(const pmix_info_t *info, size_t count)
{
	(void)info;
	(void)count;
	return PMIX_SUCCESS;
}

const char *PMIx_Error_string(pmix_status_t status)
{
	return status == PMIX_SUCCESS ? "success" : "not found";
}

pmix_status_t PMIx_Put(pmix_scope_t scope, const char *key, pmix_value_t *value)
{
	struct store *s = &kvs.store[nt_vtime_process()];
	struct entry *e;

	(void)scope;
	if (value->type != PMIX_BYTE_OBJECT)
		return PMIX_ERR_BAD_PARAM;
	s->entry = realloc(s->entry, (s->entries + 1) * sizeof(s->entry[0]));
	if (!s->entry)
		abort();
	e = &s->entry[s->entries++];
	memset(e, 0, sizeof(*e));
	snprintf(e->key, sizeof(e->key), "%s", key);
	e->count = value->data.bo.size;
	e->bytes = malloc(e->count + 1);
	if (!e->bytes)
		abort();
	memcpy(e->bytes, value->data.bo.bytes, e->count);
	return PMIX_SUCCESS;
}

pmix_status_t PMIx_Commit(void)
{
	struct store *s = &kvs.store[nt_vtime_process()];

	s->committed = s->entries;
	return PMIX_SUCCESS;
}

/* Newest first: logs are read at their ends. */
static const struct entry *find(const struct store *s, size_t entries, const char *key)
{
	for (size_t i = entries; i-- > 0;) {
		if (strcmp(s->entry[i].key, key) == 0)
			return &s->entry[i];
	}
	return NULL;
}

static pmix_value_t *text_value(const char *text)
{
	pmix_value_t *value = calloc(1, sizeof(*value));

	if (!value)
		abort();
	value->type = PMIX_STRING;
	value->data.string = strdup(text);
	return value;
}

/* What the server tells every client at its start. */
static pmix_value_t *job_value(const char *key)
{
	pmix_value_t *value;
	char text[NT_PMIX_TASKS * 8] = "";
	size_t n = 0;

	if (strcmp(key, PMIX_JOB_SIZE) == 0) {
		value = calloc(1, sizeof(*value));
		if (!value)
			abort();
		value->type = PMIX_UINT32;
		value->data.uint32 = kvs.tasks;
		return value;
	}
	if (strcmp(key, PMIX_ANL_MAP) == 0) {
		snprintf(text, sizeof(text), "(vector,(0,%u,%u))", kvs.nodes,
			 kvs.tasks / kvs.nodes);
		return text_value(text);
	}
	if (strcmp(key, PMIX_NODE_LIST) != 0)
		return NULL;
	for (unsigned i = 0; i < kvs.nodes; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%sn%u", i ? "," : "", i);
	return text_value(text);
}

static pmix_value_t *entry_value(const struct entry *e)
{
	pmix_value_t *value = calloc(1, sizeof(*value));
	char *bytes = malloc(e->count + 1);

	if (!value || !bytes)
		abort();
	memcpy(bytes, e->bytes, e->count);
	value->type = PMIX_BYTE_OBJECT;
	value->data.bo.bytes = bytes;
	value->data.bo.size = e->count;
	return value;
}

/* Without leaving the node: what an earlier read brought along. */
pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
		       size_t count, pmix_value_t **value)
{
	const struct entry *e = NULL;

	(void)info;
	(void)count;
	*value = NULL;
	if (proc->rank == PMIX_RANK_WILDCARD) {
		*value = job_value(key);
	} else if (proc->rank < kvs.tasks) {
		const struct store *s = &kvs.store[proc->rank];

		e = find(s, s->seen[nt_vtime_process()], key);
		*value = e ? entry_value(e) : NULL;
	}
	return *value ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

static void answer(void *arg)
{
	struct read *r = arg;
	struct store *s = &kvs.store[r->target];
	const struct entry *e;
	pmix_value_t value = { .type = PMIX_BYTE_OBJECT };

	s->seen[r->reader] = s->committed;
	e = find(s, s->committed, r->key);
	if (e) {
		value.data.bo.bytes = e->bytes;
		value.data.bo.size = e->count;
	}
	r->callback(e ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, e ? &value : NULL, r->arg);
	free(r);
}

pmix_status_t PMIx_Get_nb(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
			  size_t count, pmix_value_cbfunc_t callback, void *arg)
{
	struct read *r = calloc(1, sizeof(*r));

	(void)info;
	(void)count;
	if (!r || proc->rank >= kvs.tasks) {
		free(r);
		return PMIX_ERR_BAD_PARAM;
	}
	r->reader = nt_vtime_process();
	r->target = proc->rank;
	snprintf(r->key, sizeof(r->key), "%s", key);
	r->callback = callback;
	r->arg = arg;
	nt_vtime_at(nt_vtime_ns() + READ_NS, answer, r);
	return PMIX_SUCCESS;
}
