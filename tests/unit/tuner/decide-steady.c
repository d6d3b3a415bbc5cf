/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* decide-steady.c - the steady state: a decision allocates nothing, takes no lock, makes no system
 * call
 *
 * Allocation and locks are counted by functions of the same names in this program; system calls end
 * the process by a seccomp filter. Both are first tested on something that must be caught.
 * Sanitizers bring their own allocator and make system calls of their own: under them only the
 * behaviour is checked.
 */
#include "tests/unit/tuner/decide-host.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "tests/unit/tuner/steady.h"

#define SIZE 262144u
#define DECISIONS 1000000u

enum steady { COUNTED, KEPT, COMMITTED, SHAPED };

/* A rank whose key has its final state: only counted, baseline kept, or an arm committed, also with
 * a limit of channels. */
static void settle(struct host *h, enum steady kind)
{
	const char *arm = kind == SHAPED ? "TREE/SIMPLE/4ch" : "TREE/SIMPLE";
	const struct nt_schedule final = host_final(nt_arm_parse(arm));
	struct nt_plan plan;

	host_open_api(h, "bandit,channels=on", 6, 6);
	host_collective(h, NT_ALLREDUCE, SIZE);
	if (kind == COUNTED)
		return;
	plan = host_plan(1, host_open_key(h, NT_ALLREDUCE, SIZE), &final);
	if (kind == KEPT)
		atomic_store(&host_key(h, NT_ALLREDUCE, SIZE)->state, NT_KEY_CLOSED);
	else
		host_commit(host_key(h, NT_ALLREDUCE, SIZE), &plan);
	for (int i = 0; i < 2 * NT_CONFIRM_CALLS; i++)
		host_collective(h, NT_ALLREDUCE, SIZE);
	assert_int_equal(h->mask, 0);
}

static void decide_many(struct host *h, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		host_decide(h, NT_ALLREDUCE, SIZE);
}

static void nothing_is_allocated_or_locked(void **state)
{
	unsigned long allocations_before, locks_before;
	static struct host h;

	for (enum steady kind = COUNTED; kind <= SHAPED; kind++) {
		settle(&h, kind);
#if !SANITIZED
		free(malloc(100));
		assert_true(allocations > 0);
		assert_true(locks > 0); /* opening took some: the count works */
#endif
		allocations_before = allocations;
		locks_before = locks;
		decide_many(&h, DECISIONS);
		assert_int_equal(allocations, allocations_before);
		assert_int_equal(locks, locks_before);
		assert_int_equal(nt_stretch_count(&h.process.stretch) > 0,
				 nt_stretch_clock_is_cheap(NT_STRETCH_CLOCK));
		assert_int_equal(host_picked(&h), kind >= COMMITTED ? TREE_SIMPLE : RING_SIMPLE);
		host_close(&h);
	}
}

#if !SANITIZED
static int status_of_child(enum steady kind, bool with_call)
{
	static struct host h;
	int status = -1;
	pid_t pid;

	settle(&h, kind);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		/* The library thinks that it is the parent: it was not told of this fork. */
		if (forbid_system_calls() < 0)
			syscall(SYS_exit_group, 77);
		for (unsigned i = 0; i < DECISIONS; i++)
			host_decide(&h, NT_ALLREDUCE, SIZE);
		if (with_call)
			(void)getppid();
		syscall(SYS_exit_group, host_picked(&h));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	host_close(&h);
	return status;
}

static void no_system_call_is_made(void **state)
{
	int status;

	status = status_of_child(COUNTED, true);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message(
			"# this kernel has no seccomp filters: system calls were not looked for\n");
		skip();
	}
	assert_true(WIFSIGNALED(status)); /* the filter bites */
	assert_int_equal(WTERMSIG(status), SIGSYS);
	for (enum steady kind = COUNTED; kind <= SHAPED; kind++) {
		status = status_of_child(kind, false);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status),
				 kind >= COMMITTED ? TREE_SIMPLE : RING_SIMPLE);
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_allocated_or_locked),
#if !SANITIZED
		cmocka_unit_test(no_system_call_is_made),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
