/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fake-event.c - the simulated NCCL's late events: the profiler may be closed during one */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "tests/fake/event.h"

#define CTX_BYTES 65536 /* more than nt-fake-plugin keeps for a communicator */
#define CLOSINGS 300

struct late {
	struct nt_job job;
	struct nt_rank rank;
	struct nt_comm comm;
	_Atomic bool enough;
	_Atomic uint64_t told, silent;
};

static void *tell(void *arg)
{
	struct late *late = arg;

	while (!atomic_load(&late->enough)) {
		if (nt_event_kernel_start(&late->comm, NULL, 0, 32))
			atomic_fetch_add(&late->told, 1);
		else
			atomic_fetch_add(&late->silent, 1);
	}
	return NULL;
}

/* Until one more is reported while the profiler is open, or while it is closed. */
static void wait_for_more(const _Atomic uint64_t *count)
{
	uint64_t before = atomic_load(count);

	while (atomic_load(count) == before)
		sched_yield();
}

static void late_events_survive_the_profiler(void **state)
{
	const char *top = getenv("top_builddir");
	struct late *late = calloc(1, sizeof(*late));
	char path[512];
	pthread_t proxy;

	(void)state;
	assert_non_null(late);
	snprintf(path, sizeof(path), "%s/tests/fake/nt-fake-plugin.so", top ? top : ".");
	setenv("NCCL_PROFILER_PLUGIN", path, 1);
	late->job.release = nt_release_find("2.28.9");
	(void)nt_load_setup(late->job.release);
	late->rank.job = &late->job;
	late->comm.owner = &late->rank;
	late->comm.prof_ctx = calloc(1, CTX_BYTES);
	assert_non_null(late->comm.prof_ctx);
	assert_int_equal(pthread_create(&proxy, NULL, tell, late), 0);
	for (int i = 0; i < CLOSINGS; i++) {
		assert_non_null(nt_load_profiler());
		wait_for_more(&late->told);
		nt_load_profiler_drop();
		wait_for_more(&late->silent);
	}
	atomic_store(&late->enough, true);
	pthread_join(proxy, NULL);
	free(late->comm.prof_ctx);
	free(late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_events_survive_the_profiler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
