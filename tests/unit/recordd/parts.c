/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a step's nodes, in a directory that they share: only all of them tell anything. */
#include "recordd/parts.h"

#include <time.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "lib/clock.h"
#include "record/longwrite.h"
#include "recordd/longform.h"
#include "spank/step/step-name.h"
#include "tests/unit/scratch.h"

#define OURS "00f3000000000001"

static struct nt_arguments arguments;
static struct nt_long_set set;

static void begin_step(void)
{
	arguments = (struct nt_arguments){ .job = 12,
					   .step = 3,
					   .component = NT_STEP_WHOLE,
					   .uid = getuid(),
					   .nodes = 3,
					   .long_mib = 64,
					   .cluster = "c",
					   .fingerprint = OURS,
					   .hosts = "n[1-3]" };
	snprintf(arguments.long_dir, sizeof(arguments.long_dir), "%s/records", top);
	arguments.long_parents = 1;
}

static void write_part(const char *node, const char *fingerprint, bool final, int64_t age_s,
		       uint32_t run)
{
	struct nt_long_head head = { .version = NT_LONG_VERSION,
				     .cluster = "c",
				     .job = 12,
				     .step = "3",
				     .nodes = 3,
				     .run = run,
				     .final = final,
				     .written_s = time(NULL) - age_s };
	int fd = nt_long_open(arguments.long_dir, true, NULL), job_fd;
	struct nt_long_out out;
	struct nt_error err;
	char text[32];
	bool made;

	snprintf(head.node, sizeof(head.node), "%s", node);
	snprintf(text, sizeof(text), "\"%s\"", fingerprint);
	job_fd = nt_long_open_job(fd, "c.12", &made, &err);
	assert_true(job_fd >= 0);
	assert_int_equal(nt_long_begin(&out, 1 << 20, &err), 0);
	if (fingerprint[0])
		assert_true(nt_long_add(&out, NT_LONG_FINGERPRINT, text, strlen(text)));
	assert_int_equal(nt_long_save(&out, job_fd, &head, &err), 0);
	nt_long_end(&out);
	close(job_fd);
	close(fd);
}

static void write_parts(void)
{
	begin_step();
	write_part("n1", OURS, true, 0, 0);
	write_part("n2", OURS, true, 1, 0);
	write_part("n3", OURS, true, 2, 0);
}

/* Without waiting */
static bool are_there(void)
{
	bool there;

	nt_long_set_init(&set);
	there = nt_parts_gather(&arguments, &set, nt_clock_ms()) == 0;
	if (!there)
		nt_long_set_fini(&set);
	return there;
}

/* All are there: are their nodes alike? */
static bool are_alike(void)
{
	bool alike;

	assert_true(are_there());
	alike = nt_parts_alike(&arguments, &set);
	nt_long_set_fini(&set);
	return alike;
}

static void all_nodes_have_to_be_there(void **state)
{
	begin_step();
	assert_false(are_there()); /* nor a directory */
	write_part("n1", OURS, true, 0, 0);
	write_part("n3", OURS, true, 0, 0);
	assert_false(are_there());
	write_part("n4", OURS, true, 0, 0);
	assert_false(are_there());
	write_parts();
	assert_true(are_there());
	assert_int_equal(set.count, 3);
	nt_long_set_fini(&set);
	arguments.nodes = 2; /* Slurm's list has another number */
	assert_false(are_there());
}

static void a_part_of_another_time_is_none(void **state)
{
	write_parts();
	write_part("n2", OURS, false, 0, 0); /* the step has stalled */
	assert_false(are_there());
	write_parts();
	write_part("n2", OURS, true, 3600 * 24, 0); /* the number was another job's */
	assert_false(are_there());
	write_parts();
	arguments.run = 1; /* the job was requeued */
	assert_false(are_there());
	for (int i = 1; i <= 3; i++)
		write_part(i == 1 ? "n1" : i == 2 ? "n2" : "n3", OURS, true, 0, 1);
	assert_true(are_there());
	nt_long_set_fini(&set);
}

static void nodes_are_alike_if_all_say_so(void **state)
{
	write_parts();
	assert_true(are_alike());
	write_part("n2", "00f3000000000002", true, 0, 0);
	assert_false(are_alike());
	write_parts();
	write_part("n3", "", true, 0, 0); /* it does not know */
	assert_false(are_alike());
	write_parts();
	snprintf(arguments.fingerprint, sizeof(arguments.fingerprint), "-");
	assert_false(are_alike());
}

static void one_that_comes_late_is_waited_for(void **state)
{
	pid_t writer;
	int64_t from_ms;

	begin_step();
	write_parts();
	snprintf(arguments.hosts, sizeof(arguments.hosts), "n[1-2,5]");
	writer = fork();
	if (writer == 0) {
		usleep(100000);
		write_part("n5", OURS, true, 0, 0);
		_exit(0);
	}
	nt_long_set_init(&set);
	assert_int_equal(nt_parts_gather(&arguments, &set, nt_clock_ms() + 20000), 0);
	nt_long_set_fini(&set);
	snprintf(arguments.hosts, sizeof(arguments.hosts), "n[1-2,6]");
	nt_long_set_init(&set);
	from_ms = nt_clock_ms();
	assert_int_equal(nt_parts_gather(&arguments, &set, from_ms + 50), -1);
	assert_true(nt_clock_ms() - from_ms < 1000);
	nt_long_set_fini(&set);
}

static void without_a_long_form_there_are_none(void **state)
{
	write_parts();
	snprintf(arguments.long_dir, sizeof(arguments.long_dir), "no home");
	assert_false(are_there());
	write_parts();
	snprintf(arguments.hosts, sizeof(arguments.hosts), "-");
	assert_false(are_there());
	write_parts();
	arguments.nodes = NT_LONGFORM_NODES + 1;
	assert_false(are_there());
}

UNIT_TESTS_EACH(make_top, remove_top, all_nodes_have_to_be_there, a_part_of_another_time_is_none,
		nodes_are_alike_if_all_say_so, one_that_comes_late_is_waited_for,
		without_a_long_form_there_are_none);
