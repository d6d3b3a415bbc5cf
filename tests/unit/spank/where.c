/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What a command line says of a step. */
#include "spank/where.h"

#include "tests/lib/unit.h"

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

	for (size_t i = 0; i < LENGTH(het); i++)
		assert_true(nt_where_is_het(args, words_of(het[i], args)));
	for (size_t i = 0; i < LENGTH(others); i++)
		assert_false(nt_where_is_het(args, words_of(others[i], args)));
}

/* Nor is anything read beyond the end of what is there. */
static void a_last_word_without_its_end_is_left_out(void **state)
{
	static const char args[] = "srun\0-n\0004\0--async";

	assert_false(nt_where_is_async(args, 0));
	assert_false(nt_where_is_async(args, sizeof(args) - 1));
	assert_true(nt_where_is_async(args, sizeof(args)));
}

UNIT_TESTS(a_step_that_srun_does_not_wait_for_is_known, a_heterogeneous_step_is_known,
	   a_last_word_without_its_end_is_left_out);
