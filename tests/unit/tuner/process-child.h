/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* process-child.h - a separate process for each case, through the tables that NCCL looks up
 *
 * The plugin's state is one for each process. A failed CHECK is the child's exit status.
 */
#ifndef NT_TEST_PROCESS_CHILD_H
#define NT_TEST_PROCESS_CHILD_H

#include "tests/unit/tuner/decide-host.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define SIZE 262144u
#define UNTOUCHED ((void *)0x5a5a5a5a5a5aul)
#define CASE_SECONDS 600u /* against a hang: a busy machine takes its time */

extern const struct nt_tuner_v2 ncclTunerPlugin_v2;
extern const struct nt_tuner_v3 ncclTunerPlugin_v3;
extern const struct nt_tuner_v4 ncclTunerPlugin_v4;
extern const struct nt_tuner_v5 ncclTunerPlugin_v5;
extern const struct nt_tuner_v6 ncclTunerPlugin_v6;
extern const struct nt_tuner_v7 ncclTunerPlugin_v7;
extern const struct nt_prof_v4 ncclProfiler_v4;
extern const struct nt_prof_v5 ncclProfiler_v5;
extern const struct nt_prof_v6 ncclProfiler_v6;
extern const struct nt_prof_v7 ncclProfiler_v7;

#define CHECK(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1);                                                       \
		}                                                                       \
	} while (0)

static char dir[64];
static int mask = 77;
static float table[NT_PAIRS], fresh[NT_PAIRS];

static inline int make_dir(void **state)
{
	(void)state;
	for (int i = 0; i < NT_PAIRS; i++)
		fresh[i] = i == RING_SIMPLE ? 40.0f : i == TREE_SIMPLE ? 50.0f : -1.0f;
	snprintf(dir, sizeof(dir), "/tmp/nt-process.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static inline void set_policy(const char *option)
{
	char text[NT_POLICY_MAX];

	host_policy(dir, option, text, sizeof(text));
	setenv(NT_ENV_POLICY, text, 1);
	setenv("SLURM_PROCID", "3", 1);
	setenv("SLURM_LOCALID", "1", 1);
}

/* Runs a case in a child that ends by exit(0), so that exit handlers run. */
static inline void in_child(void (*run)(void))
{
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(CASE_SECONDS);
		run();
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* One communicator through v5, as NCCL 2.28 does it. */
static void *tuner_ctx, *profiler_ctx;

/* Our context, from NCCL's pointer. */
static inline struct nt_comm *ours_of(void *ctx)
{
	return ((const struct nt_ctx *)ctx)->ours;
}

static inline void init_v5(void)
{
	tuner_ctx = profiler_ctx = UNTOUCHED;
	CHECK(ncclProfiler_v5.init(&profiler_ctx, 0xabc, &mask, "dp", 2, 8, 3, host_log) == 0);
	CHECK(ncclTunerPlugin_v5.init(&tuner_ctx, 0xabc, 8, 2, host_log, NULL, NULL) == 0);
}

static inline int decide_v5(void)
{
	int channels = 0;

	memcpy(table, fresh, sizeof(table));
	return ncclTunerPlugin_v5.get_coll_info(tuner_ctx, NT_ALLREDUCE, SIZE, 1, (float **)table,
						7, 3, 0, &channels) |
	       channels;
}

static inline void finalize_v5(void)
{
	CHECK(ncclTunerPlugin_v5.finalize(tuner_ctx) == 0);
	CHECK(ncclProfiler_v5.finalize(profiler_ctx) == 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

#endif
