/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* process-life.c - whole processes, as NCCL starts and ends them: valid and invalid policies,
 * forks, records, exits */
#include "tests/unit/tuner/process-child.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "record/rankread.h"
#include "recordd/collect.h"
#include "tuner/chain.h"

/* The one record in the directory, false: none. */
#define TRIES 20

static int open_memory(struct nt_shm_map *map)
{
	struct nt_node_step place = { .node = "n1" };

	snprintf(place.shm, sizeof(place.shm), "%s/shm", dir);
	return nt_shm_open(map, &place, NULL);
}

static unsigned found;

static void keep_record(void *rank, struct nt_collected *item)
{
	struct nt_error err = { "" };

	if (item->kind != NT_COLLECTED_RECORD)
		return;
	assert_non_null(item->text);
	found++;
	if (nt_rank_parse(rank, item->text, item->bytes, &err) < 0)
		fail_msg("%s in %s", err.text, item->text);
}

/* The only process's, if there is one. */
static bool read_record(struct nt_rank *rank)
{
	struct nt_shm_map map;

	found = 0;
	assert_int_equal(open_memory(&map), 0);
	assert_int_equal(nt_collect_each(map.fd, keep_record, rank, NULL), 0);
	nt_shm_close(&map);
	assert_true(found <= 1);
	return found > 0;
}

static uint32_t seat_state(unsigned member)
{
	struct nt_shm_map map;
	uint32_t state;

	assert_int_equal(open_memory(&map), 0);
	assert_int_equal(nt_shm_map(&map, NULL), 0);
	state = atomic_load(&map.shm->comm[0].slot[member].state);
	nt_shm_close(&map);
	return state;
}

static void check_inert(void)
{
	struct nt_prof_descr_v5 descr = { .type = NT_PROF_COLL };
	void *event = UNTOUCHED;

	init_v5();
	CHECK(tuner_ctx == NULL && profiler_ctx == NULL && mask == 0);
	CHECK(decide_v5() == 0);
	CHECK(memcmp(table, fresh, sizeof(table)) == 0);
	CHECK(ncclProfiler_v5.start(profiler_ctx, &event, &descr) == 0 && event == NULL);
	CHECK(ncclProfiler_v5.stop(event) == 0);
	finalize_v5();
}

static void case_no_policy(void)
{
	unsetenv(NT_ENV_POLICY);
	check_inert();
	CHECK(host_said[0] == '\0');
}

static void case_bad_policy(void)
{
	setenv(NT_ENV_POLICY, "mode=Bandit", 1);
	check_inert();
	CHECK(strstr(host_said, "nccl-tune: not tuning: NCCL_TUNE_POLICY: unknown mode 'Bandit'"));
	host_said[0] = '\0';
	check_inert();
	CHECK(host_said[0] == '\0');
}

static void case_mode_off(void)
{
	set_policy("off");
	check_inert();
	CHECK(host_said[0] == '\0');
}

static void without_a_policy_nothing_happens(void **state)
{
	struct nt_rank rank;

	in_child(case_no_policy);
	in_child(case_bad_policy);
	in_child(case_mode_off);
	assert_false(read_record(&rank));
}

/* The process waits for its last record, for NT_END_MS at most: on a busy machine one of some runs
 * has it. */
static void in_child_to_its_end(void (*run)(void), struct nt_rank *rank)
{
	bool whole = false;

	for (int i = 0; i < TRIES && !whole; i++) {
		assert_int_equal(remove_dir(NULL), 0);
		assert_int_equal(mkdir(dir, 0700), 0);
		in_child(run);
		assert_true(read_record(rank));
		whole = rank->end;
		if (!whole)
			nt_rank_fini(rank);
	}
	assert_true(whole);
}

static void case_job(void)
{
	set_policy("bandit");
	init_v5();
	CHECK(tuner_ctx != NULL && tuner_ctx == profiler_ctx && mask == (int)NT_PROF_P2P_API);
	for (int i = 0; i < 100; i++)
		CHECK(decide_v5() == 0 && memcmp(table, fresh, sizeof(table)) == 0);
	finalize_v5();
}

static void a_job_leaves_a_record(void **state)
{
	struct nt_rank rank;

	in_child_to_its_end(case_job, &rank);
	assert_int_equal(rank.job, 12);
	assert_int_equal(rank.task, 3);
	assert_string_equal(rank.mode, "bandit");
	assert_int_equal(rank.comm_count, 1);
	assert_string_equal(rank.comms[0].id, "0000000000000abc");
	assert_int_equal(rank.comms[0].rank, 3);
	assert_int_equal(rank.comms[0].key_count, 1);
	assert_int_equal(rank.comms[0].keys[0].state, NT_KEYSTATE_COUNTED);
	assert_int_equal(rank.comms[0].keys[0].calls, 100);
	assert_int_equal(rank.comms[0].keys[0].auto_arm, RING_SIMPLE);
	nt_rank_fini(&rank);
	assert_int_equal(seat_state(0), NT_PARTICIPANT_LEFT);
}

static void case_no_destroy(void)
{
	set_policy("bandit");
	init_v5();
	CHECK(decide_v5() == 0);
}

static void an_end_without_destroy_is_an_end(void **state)
{
	struct nt_rank rank;

	in_child_to_its_end(case_no_destroy, &rank);
	nt_rank_fini(&rank);
	assert_int_equal(seat_state(0), NT_PARTICIPANT_LEFT);
}

static void case_quick_exit(void)
{
	case_no_destroy();
	quick_exit(0);
}

static void a_quick_exit_is_an_end_too(void **state)
{
	struct nt_rank rank;

	in_child(case_quick_exit);
	assert_true(read_record(&rank));
	nt_rank_fini(&rank);
}

static void case_fork(void)
{
	struct nt_prof_descr_v5 descr = { .type = NT_PROF_COLL_API,
					  .coll_api.graph_captured = true };
	void *event = UNTOUCHED;
	int status = -1;
	pid_t pid;

	set_policy("bandit");
	init_v5();
	CHECK(decide_v5() == 0);
	fflush(NULL);
	pthread_mutex_lock(&nt_chain.lock); /* as a thread of the parent may have it */
	pid = fork();
	if (pid != 0)
		pthread_mutex_unlock(&nt_chain.lock);
	if (pid == 0) {
		alarm(300);
		CHECK(decide_v5() == 0 && memcmp(table, fresh, sizeof(table)) == 0);
		CHECK(ncclProfiler_v5.start(profiler_ctx, &event, &descr) == 0 && event == NULL);
		finalize_v5();
		init_v5();
		CHECK(tuner_ctx == NULL && profiler_ctx == NULL);
		exit(0); /* with its handlers */
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(nt_key_calls(&ours_of(tuner_ctx)->key[0]) +
		      nt_key_calls(nt_comm_key(ours_of(tuner_ctx),
					       nt_key_id(NT_ALLREDUCE, nt_band(SIZE),
							 1u << RING_SIMPLE | 1u << TREE_SIMPLE),
					       &(struct nt_call){ .cost = fresh, .algos = 7 })) >=
	      1);
	CHECK(atomic_load(&ours_of(tuner_ctx)->fixed.shm->slot[0].state) == NT_PARTICIPANT_JOINED);
	CHECK(atomic_load(&ours_of(tuner_ctx)->fixed.shm->slot[0].flags) == 0);
	CHECK(decide_v5() == 0);
	finalize_v5();
}

__attribute__((unused)) static void a_forked_child_touches_nothing(void **state)
{
	struct nt_rank rank;

	in_child(case_fork);
	assert_true(read_record(&rank));
	assert_int_equal(rank.comms[0].keys[0].calls, 2);
	nt_rank_fini(&rank);
}

static _Atomic int in_start; /* 1: the lock is held there; 2: go on */

static void slow_log(int level, unsigned long subsystems, const char *file, int line,
		     const char *format, ...)
{
	(void)level, (void)subsystems, (void)file, (void)line, (void)format;
	if (atomic_load(&in_start) == 0)
		atomic_store(&in_start, 1);
	while (atomic_load(&in_start) == 1)
		usleep(1000);
}

static void *start_slowly(void *arg)
{
	(void)arg;
	(void)ncclTunerPlugin_v5.init(&tuner_ctx, 0xabc, 8, 2, slow_log, NULL, NULL);
	return NULL;
}

/* A thread forks while another one starts the plugin, in its first call or before a policy is
 * understood. */
static void fork_in_start(void)
{
	int status = -1;
	pthread_t thread;
	pid_t pid;

	CHECK(pthread_create(&thread, NULL, start_slowly, NULL) == 0);
	while (atomic_load(&in_start) == 0)
		usleep(1000);
	pid = fork();
	if (pid == 0) {
		alarm(300);
		init_v5();
		CHECK(tuner_ctx == NULL && profiler_ctx == NULL);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	atomic_store(&in_start, 2);
	CHECK(pthread_join(thread, NULL) == 0);
}

static void case_fork_in_start(void)
{
	set_policy("bandit");
	fork_in_start();
	CHECK(tuner_ctx != NULL);
	CHECK(ncclTunerPlugin_v5.finalize(tuner_ctx) == 0);
}

static void case_fork_in_bad_start(void)
{
	setenv(NT_ENV_POLICY, "mode=what", 1);
	fork_in_start();
	CHECK(tuner_ctx == NULL);
}

__attribute__((unused)) static void a_child_forked_while_another_thread_starts_goes_on(void **state)
{
	in_child(case_fork_in_start);
	in_child(case_fork_in_bad_start);
}

static void case_no_dir(void)
{
	set_policy("bandit");
	CHECK(rmdir(dir) == 0);
	init_v5();
	CHECK(decide_v5() == 0 && memcmp(table, fresh, sizeof(table)) == 0);
	finalize_v5();
	CHECK(mkdir(dir, 0700) == 0);
}

static void without_its_memory_nothing_is_tuned(void **state)
{
	struct nt_rank rank;

	in_child(case_no_dir);
	assert_false(read_record(&rank));
}

static void case_no_files(void)
{
	set_policy("bandit");
	init_v5();
	CHECK(decide_v5() == 0);
	/* No file of the process's may grow. The node's memory need not. */
	CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, 0 }) == 0);
}

static void a_limit_of_files_takes_no_record(void **state)
{
	struct nt_rank rank;

	in_child(case_no_files);
	assert_true(read_record(&rank));
	nt_rank_fini(&rank);
}

/* More communicators than fit: the oldest ended ones are replaced, living ones never. */
static void case_many(void)
{
	void *kept_tuner, *kept_profiler;

	set_policy("bandit");
	init_v5();
	kept_tuner = tuner_ctx;
	kept_profiler = profiler_ctx;
	for (int i = 0; i < 2 * NT_COMMS_MAX; i++) {
		CHECK(ncclProfiler_v5.init(&profiler_ctx, 0x1000 + (uint64_t)i, &mask, "", 2, 8, 3,
					   host_log) == 0);
		CHECK(ncclTunerPlugin_v5.init(&tuner_ctx, 0x1000 + (uint64_t)i, 8, 2, host_log,
					      NULL, NULL) == 0);
		CHECK(tuner_ctx != NULL && tuner_ctx != kept_tuner && tuner_ctx == profiler_ctx);
		CHECK(decide_v5() == 0 && memcmp(table, fresh, sizeof(table)) == 0);
		finalize_v5();
	}
	tuner_ctx = kept_tuner;
	profiler_ctx = kept_profiler;
	CHECK(ours_of(tuner_ctx)->fixed.id == 0xabc);
	CHECK(decide_v5() == 0);
	finalize_v5();
}

static void many_communicators_come_and_go(void **state)
{
	struct nt_rank rank;

	in_child(case_many);
	assert_true(read_record(&rank));
	assert_int_equal(rank.comm_count, NT_COMMS_MAX);
	nt_rank_fini(&rank);
}

/* A tuner or profiler without its other half is not joined to the next communicator. */
static void case_halves(void)
{
	void *lonely, *other;

	set_policy("bandit");
	CHECK(ncclProfiler_v5.init(&lonely, 0x111, &mask, "a", 2, 8, 3, host_log) == 0);
	CHECK(ncclTunerPlugin_v5.init(&other, 0x222, 8, 2, host_log, NULL, NULL) == 0);
	CHECK(lonely != other);
	CHECK(ours_of(other)->fixed.rank == -1 && !ours_of(other)->fixed.joined);
	tuner_ctx = other;
	CHECK(decide_v5() == 0 && memcmp(table, fresh, sizeof(table)) == 0);
	CHECK(ncclTunerPlugin_v5.finalize(other) == 0 && ncclProfiler_v5.finalize(lonely) == 0);
}

static void halves_of_two_communicators_stay_apart(void **state)
{
	in_child(case_halves);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(without_a_policy_nothing_happens),
		CASE(a_job_leaves_a_record),
		CASE(an_end_without_destroy_is_an_end),
		CASE(a_quick_exit_is_an_end_too),
#if !defined(__SANITIZE_ADDRESS__) /* its allocator may be locked in a child of threads */
		CASE(a_forked_child_touches_nothing),
		CASE(a_child_forked_while_another_thread_starts_goes_on),
#endif
		CASE(without_its_memory_nothing_is_tuned),
		CASE(a_limit_of_files_takes_no_record),
		CASE(many_communicators_come_and_go),
		CASE(halves_of_two_communicators_stay_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
