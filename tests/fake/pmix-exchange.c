/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A step's ranks each publish a value over PMIx and read everyone else's: does PMIx work across
 * nodes? */
#include <dlfcn.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	__typeof__(PMIx_Init) *init;
	__typeof__(PMIx_Put) *put;
	__typeof__(PMIx_Commit) *commit;
	__typeof__(PMIx_Fence) *fence;
	__typeof__(PMIx_Get) *get;
	__typeof__(PMIx_Finalize) *finalize;
} pmix;

static void fail(const char *what, long code)
{
	fprintf(stderr, "pmix-exchange: %s: %ld\n", what, code);
	exit(1);
}

static void *symbol(void *library, const char *name)
{
	void *address = dlsym(library, name);

	if (!address)
		fail(name, 0);
	return address;
}

static void load(void)
{
	void *library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_GLOBAL);

	if (!library)
		fail(dlerror(), 0);
	pmix.init = symbol(library, "PMIx_Init");
	pmix.put = symbol(library, "PMIx_Put");
	pmix.commit = symbol(library, "PMIx_Commit");
	pmix.fence = symbol(library, "PMIx_Fence");
	pmix.get = symbol(library, "PMIx_Get");
	pmix.finalize = symbol(library, "PMIx_Finalize");
}

static uint32_t get_u32(const pmix_proc_t *proc, const char *key)
{
	pmix_value_t *value = NULL;
	pmix_status_t rc = pmix.get(proc, key, NULL, 0, &value);
	uint32_t number;

	if (rc != PMIX_SUCCESS)
		fail(key, rc);
	if (value->type != PMIX_UINT32)
		fail("type of the value", value->type);
	number = value->data.uint32;
	free(value);
	return number;
}

static void publish(pmix_rank_t rank)
{
	pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = rank * 7 + 1 };
	pmix_status_t rc = pmix.put(PMIX_GLOBAL, "nt-test", &value);

	if (rc == PMIX_SUCCESS)
		rc = pmix.commit();
	if (rc != PMIX_SUCCESS)
		fail("put and commit", rc);
}

int main(void)
{
	pmix_info_t collect = { .key = PMIX_COLLECT_DATA,
				.value = { .type = PMIX_BOOL, .data.flag = true } };
	pmix_proc_t self, peer;
	pmix_status_t rc;
	uint32_t ranks;

	load();
	rc = pmix.init(&self, NULL, 0);
	if (rc != PMIX_SUCCESS)
		fail("init", rc);
	peer = self;
	peer.rank = PMIX_RANK_WILDCARD;
	ranks = get_u32(&peer, PMIX_JOB_SIZE);
	publish(self.rank);
	rc = pmix.fence(NULL, 0, &collect, 1);
	if (rc != PMIX_SUCCESS)
		fail("fence", rc);
	for (peer.rank = 0; peer.rank < ranks; peer.rank++) {
		if (get_u32(&peer, "nt-test") != peer.rank * 7 + 1)
			fail("wrong value of rank", peer.rank);
	}
	printf("rank %u of %u has all values\n", self.rank, ranks);
	rc = pmix.finalize(NULL, 0);
	return rc == PMIX_SUCCESS ? 0 : 1;
}
