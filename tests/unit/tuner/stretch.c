/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* stretch.c - noted calls: all of them, in order, as far as there is room; and of which clocks

 */
#include "tests/lib/unit.h"

#include <pthread.h>
#include <unistd.h>
#include "tuner/stretch.h"

#define THREADS 4u
#define EACH 3000u

static struct nt_stretch stretch;

static void note(uint32_t comm, uint32_t number)
{
	nt_stretch_note(&stretch, &(struct nt_period_call){
					  .key = 7, .comm = comm, .ranks = 8, .number = number });
}

static void nothing_is_noted_before_and_after(void **state)
{
	unsigned count = 1;

	note(1, 1);
	assert_null(nt_stretch_read(&stretch, &count));
	assert_int_equal(count, 0);
	assert_true(nt_stretch_begin(&stretch));
	note(1, 2);
	nt_stretch_end(&stretch);
	note(1, 3);
	assert_int_equal(nt_stretch_read(&stretch, &count)->number, 2);
	assert_int_equal(count, 1);
	/* The next one does not have the old calls. */
	assert_true(nt_stretch_begin(&stretch));
	nt_stretch_read(&stretch, &count);
	assert_int_equal(count, 0);
	note(1, 4);
	assert_int_equal(nt_stretch_read(&stretch, &count)->number, 4);
	nt_stretch_clear(&stretch);
}

static void *note_many(void *arg)
{
	for (uint32_t i = 1; i <= EACH; i++)
		note((uint32_t)(uintptr_t)arg, i);
	return NULL;
}

static void threads_note_together(void **state)
{
	uint32_t newest[THREADS + 1] = { 0 };
	const struct nt_period_call *call;
	pthread_t thread[THREADS];
	unsigned count;

	assert_true(nt_stretch_begin(&stretch));
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, note_many, (void *)(i + 1)), 0);
	do
		call = nt_stretch_read(&stretch, &count);
	while (count < NT_PERIOD_CALLS);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(nt_stretch_count(&stretch), NT_PERIOD_CALLS);
	for (unsigned i = 0; i < count; i++) {
		assert_in_range(call[i].comm, 1, THREADS);
		assert_int_equal(call[i].number, ++newest[call[i].comm]);
		assert_int_equal(call[i].key, 7);
		assert_int_equal(call[i].ranks, 8);
		assert_true(call[i].ns > 0);
	}
	nt_stretch_clear(&stretch);
}

static bool is_cheap(const char *name)
{
	char path[] = "/tmp/nt-clock.XXXXXX";
	int fd = mkstemp(path);
	bool cheap;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, name, strlen(name)), strlen(name));
	close(fd);
	cheap = nt_stretch_clock_is_cheap(path);
	unlink(path);
	return cheap;
}

static void slow_clocks_are_not_used(void **state)
{
	assert_true(is_cheap("tsc\n"));
	assert_true(is_cheap("arch_sys_counter\n"));
	assert_false(is_cheap("hpet\n"));
	assert_false(is_cheap("acpi_pm\n"));
	assert_false(is_cheap(""));
	assert_false(nt_stretch_clock_is_cheap("/nonexistent"));
}

UNIT_TESTS(nothing_is_noted_before_and_after, threads_note_together, slow_clocks_are_not_used);
