/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a step by its command line. */
#include "spank/where.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Words separated by blanks become those of /proc/self/cmdline. */
static size_t words_of(const char *line, char args[256])
{
	const size_t bytes = strlen(line) + 1;

	assert_true(bytes <= 256);
	memcpy(args, line, bytes);
	for (size_t i = 0; i < bytes; i++) {
		if (args[i] == ' ')
			args[i] = '\0';
	}
	return bytes;
}

static struct nt_step_where told(const char *line, const char *variable)
{
	static char args[256];

	return nt_where_told(args, words_of(line, args), variable);
}

static void a_step_that_srun_does_not_wait_for_is_known(void **state)
{
	static const char *const async[] = { "srun --async program",
					     "srun -N2 --mpi none --asy program",
					     "srun -n 4 --parsable --async" };
	static const char *const others[] = { "srun",
					      "srun program --async",
					      "srun -- --async",
					      "srun -n4 program --async",
					      "srun --a program",
					      "srun --asynchronous x",
					      "srun -N 2 program --async" };
	char args[256];

	(void)state;
	for (size_t i = 0; i < LENGTH(async); i++)
		assert_true(nt_where_is_async(args, words_of(async[i], args)));
	for (size_t i = 0; i < LENGTH(others); i++)
		assert_false(nt_where_is_async(args, words_of(others[i], args)));
}

static void a_heterogeneous_step_is_known(void **state)
{
	static const char *const het[] = { "srun -N1 a : -N1 b", "srun a : b",
					   "srun --het-group=0,1 a", "srun -n 2 --het-group 0-1 a",
					   "srun --het-g=0,2 a" };
	static const char *const others[] = { "srun",
					      "srun a b:c",
					      "srun --het-group=1 a",
					      "srun --het-group 1 -n2 a",
					      "srun --het-group",
					      "srun --het-groups=0,1 a",
					      "srun --h=0,1 a",
					      "srun a --het-group=0,1",
					      "srun -n4 -w n1,n2 a" };
	char args[256];

	(void)state;
	for (size_t i = 0; i < LENGTH(het); i++)
		assert_true(nt_where_is_het(args, words_of(het[i], args)));
	for (size_t i = 0; i < LENGTH(others); i++)
		assert_false(nt_where_is_het(args, words_of(others[i], args)));
}

static void same(const char *got, const char *wanted, const char *line)
{
	if (strcmp(got ? got : "-", wanted) != 0)
		fail_msg("%s: %s, not %s", line, got ? got : "-", wanted);
}

static void the_command_line_is_read(void **state)
{
	static const struct {
		const char *line, *partition, *account, *qos;
	} lines[] = {
		{ "srun", "-", "-", "-" },
		{ "srun -p all --nccl-tune=help", "all", "-", "-" },
		{ "srun --nccl-tune=help -pall", "all", "-", "-" },
		{ "srun --nccl-tune help -N 2 --partition all -A me -q long", "all", "me", "long" },
		{ "srun --partition=all --account=me --qos=long", "all", "me", "long" },
		{ "srun --part=all --acco me", "all", "me", "-" },
		{ "srun --p=all --parsable -v -n4 -p b", "b", "-", "-" },
		{ "srun -p a -p b", "b", "-", "-" },
		{ "srun -n4 program -p 80", "-", "-", "-" },
		{ "srun -- -p 80", "-", "-", "-" },
		{ "srun --nccl-tune=help program -p 80", "-", "-", "-" },
		{ "srun -p a,b -A me", "-", "me", "-" },
		{ "srun --partition=", "-", "-", "-" },
		{ "srun -", "-", "-", "-" },
		{ "srun --", "-", "-", "-" },
		{ "srun -p", "-", "-", "-" },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(lines); i++) {
		const struct nt_step_where where = told(lines[i].line, "SLURM_NCCL_TUNE");

		same(where.partition, lines[i].partition, lines[i].line);
		same(where.account, lines[i].account, lines[i].line);
		same(where.qos, lines[i].qos, lines[i].line);
	}
}

static void the_variables_come_behind_it(void **state)
{
	(void)state;
	setenv("SLURM_PARTITION", "s", 1);
	setenv("SBATCH_QOS", "b", 1);
	same(told("srun", "SLURM_NCCL_TUNE").partition, "s", "srun");
	same(told("srun -p x", "SLURM_NCCL_TUNE").partition, "x", "srun -p x");
	same(told("srun", "SLURM_NCCL_TUNE").qos, "-", "srun");
	same(told("sbatch", "SBATCH_NCCL_TUNE").qos, "b", "sbatch");
	same(told("sbatch", "SBATCH_NCCL_TUNE").partition, "-", "sbatch");
	same(told("other", NULL).partition, "-", "other");
	unsetenv("SLURM_PARTITION");
	unsetenv("SBATCH_QOS");
}

/* Nor is anything read beyond the end of what is there. */
static void a_last_word_without_its_end_is_left_out(void **state)
{
	static const char args[] = "srun\0-p\0all";

	(void)state;
	assert_null(nt_where_words(args, 0).partition);
	assert_null(nt_where_words(args, sizeof(args) - 1).partition);
	assert_string_equal(nt_where_words(args, sizeof(args)).partition, "all");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_that_srun_does_not_wait_for_is_known),
		cmocka_unit_test(a_heterogeneous_step_is_known),
		cmocka_unit_test(the_command_line_is_read),
		cmocka_unit_test(the_variables_come_behind_it),
		cmocka_unit_test(a_last_word_without_its_end_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
