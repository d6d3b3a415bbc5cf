/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own variables, in the environment and in NCCL's files; and lists of hosts */
#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "lib/append.h"
#include "lib/file.h"
#include "spank/hosts.h"
#include "launch/user-env.h"
#include "tests/unit/sanitized.h"

static struct nt_error err;
static struct nt_user_env own;

static void own_variables_are_those_that_profiles_have(void **state)
{
	char *variables[] = { "HOME=/h",
			      "NCCL_BUFFSIZE=8M",
			      "NCCL_DEBUG=INFO",
			      "NCCL_MIN_CTAS=4",
			      "NCCL_CROSS_NIC=",
			      "NCCL_SOCKET_NTHREADS=2",
			      "NCCL_MIN_NCHANNELS=8",
			      "garbage",
			      NULL };

	nt_user_env_init(&own);
	nt_user_env_environment(&own, variables, NULL);
	assert_int_equal(own.count, 4);
	assert_true(nt_user_env_has(&own, "NCCL_BUFFSIZE") &&
		    nt_user_env_has(&own, "NCCL_MIN_CTAS"));
	assert_false(nt_user_env_has(&own, "NCCL_CROSS_NIC"));
	/* A variable that a profile has set is not the user's, unless it was changed since. */
	nt_user_env_init(&own);
	nt_user_env_environment(
		&own, variables,
		"wide NCCL_SOCKET_NTHREADS=2 NCCL_MIN_NCHANNELS=16 NCCL_MIN_CTAS=4x");
	assert_int_equal(own.count, 3);
	assert_false(nt_user_env_has(&own, "NCCL_SOCKET_NTHREADS"));
	assert_true(nt_user_env_has(&own, "NCCL_MIN_NCHANNELS") &&
		    nt_user_env_has(&own, "NCCL_MIN_CTAS"));
}

static uint32_t hash_of(char *first, char *second)
{
	char *variables[] = { first, second, NULL };

	nt_user_env_init(&own);
	nt_user_env_environment(&own, variables, NULL);
	return nt_user_env_hash(&own);
}

static void a_hash_tells_names_and_values_but_not_their_order(void **state)
{
	uint32_t hash = hash_of("NCCL_BUFFSIZE=8M", "NCCL_CROSS_NIC=1");

	assert_int_equal(hash_of("A=1", "NCCL_DEBUG=INFO"), 0);
	assert_int_not_equal(hash, 0);
	assert_int_equal(hash_of("NCCL_CROSS_NIC=1", "NCCL_BUFFSIZE=8M"), hash);
	assert_int_not_equal(hash_of("NCCL_CROSS_NIC=2", "NCCL_BUFFSIZE=8M"), hash);
	assert_int_not_equal(hash_of("NCCL_BUFFSIZE=8M", "A=1"), hash);
}

static void files_are_read_as_nccl_reads_them(void **state)
{
	static const char text[] =
		"# NCCL_CROSS_NIC=1\nNCCL_BUFFSIZE=4M\n  NCCL_MIN_CTAS = 4 \n"
		"NCCL_IB_HCA=mlx5\nnothing\n=1\nNCCL_CROSS_NIC=\nNCCL_BUFFSIZE=8M";
	char path[] = "/tmp/nt-own-XXXXXX";
	int fd = mkstemp(path);

	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	nt_user_env_init(&own);
	assert_int_equal(nt_user_env_file(&own, path, 0, &err), 0);
	assert_int_equal(own.count, 2);
	assert_string_equal(own.variable[0].value, "4M");
	assert_string_equal(own.variable[1].value, "4");
	assert_true(own.variable[0].from_file);
	assert_int_equal(nt_user_env_file(&own, "/nonexistent/nccl.conf", 0, &err), 0);
	assert_int_equal(nt_user_env_file(&own, "/tmp", 0, &err), -1);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(nt_user_env_file(&own, path, NT_FILE_ROOT_ONLY, &err), -1);
	assert_int_equal(ftruncate(fd, NT_USER_ENV_FILE_MAX + 1), 0);
	assert_int_equal(nt_user_env_file(&own, path, 0, &err), -1);
	close(fd);
	unlink(path);
}

static void more_than_fit_do_no_harm(void **state)
{
	char path[] = "/tmp/nt-own-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");

	for (unsigned i = 0; i < 200; i++)
		fprintf(file, "NCCL_BUFFSIZE%u=%u\nNCCL_MIN_NCHANNELS=%0200u\n", i, i, i);
	fclose(file);
	nt_user_env_init(&own);
	assert_int_equal(nt_user_env_file(&own, path, 0, &err), 0);
	assert_int_equal(own.count, 1);
	assert_int_equal(strlen(own.variable[0].value), NT_USER_ENV_VALUE - 1);
	unlink(path);
}

static void users_have_a_file(void **state)
{
	char path[64];

	setenv("HOME", "/h", 1);
	unsetenv("NCCL_CONF_FILE");
	nt_user_env_user_file(path, sizeof(path));
	assert_string_equal(path, "/h/.nccl.conf");
	setenv("NCCL_CONF_FILE", "/c", 1);
	nt_user_env_user_file(path, sizeof(path));
	assert_string_equal(path, "/c");
}

/* ---- hosts */

static const char *joined(const char *list)
{
	char **names = nt_hosts_names(list, 20, &err);
	static char text[256];

	text[0] = '\0';
	for (size_t i = 0; names && names[i]; i++)
		nt_append(text, sizeof(text), "%s%s", i > 0 ? " " : "", names[i]);
	nt_hosts_free(names);
	return names ? text : NULL;
}

static void lists_of_hosts_are_taken_apart(void **state)
{
	static const char *const bad[] = { "", "n[3-1]", "n[0-20]" };

	assert_string_equal(joined("n1"), "n1");
	assert_string_equal(joined("n[1-3],login,gpu[07-09,11]"),
			    "n1 n2 n3 login gpu07 gpu08 gpu09 gpu11");
	assert_string_equal(joined("n[9-11]"), "n9 n10 n11");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (joined(bad[i]) != NULL)
			fail_msg("taken: %s", bad[i]);
}

UNIT_TESTS(own_variables_are_those_that_profiles_have,
	   a_hash_tells_names_and_values_but_not_their_order, files_are_read_as_nccl_reads_them,
	   more_than_fit_do_no_harm, users_have_a_file, lists_of_hosts_are_taken_apart);
