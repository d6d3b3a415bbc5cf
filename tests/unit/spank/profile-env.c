/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A ticket in a task's environment: variables that are set, kept, removed and refused */
#include <stdbool.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "spank/step/profile-env.h"
#include "tests/unit/task-env.h"

#define WIDE "v=1;profile=wide;why=GAIN;set=NCCL_SOCKET_NTHREADS=4 NCCL_MIN_NCHANNELS=8"
#define WARM "v=1 nccl=22809 fabric=socket fingerprint=00000000000000f3 2r2n.AllReduce.262144=AUTO"
#define NO_FILE "/nonexistent/nccl.conf"

extern char **environ;
static struct nt_applied applied;

static bool is_a_tasks(const char *variable)
{
	return strncmp(variable, "NCCL_", 5) == 0 || strncmp(variable, "SLURM_", 6) == 0;
}

static unsigned count(void)
{
	unsigned variables = 0;

	for (char **variable = environ; *variable; variable++)
		variables += is_a_tasks(*variable);
	return variables;
}

static int clean(void **state)
{
	char name[64];

	for (unsigned i = 0; environ[i];) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(environ[i], "="), environ[i]);
		if (!is_a_tasks(environ[i]) || unsetenv(name) < 0)
			i++;
	}
	return 0;
}

static void a_profile_is_set_and_said(void **state)
{
	set(NULL, "SLURM_NCCL_TUNE_TICKET", WIDE);
	set(NULL, "SLURM_NCCL_TUNE_WARM", WARM);
	nt_profile_env_apply(&env, true, NO_FILE, &applied);
	assert_true(applied.valid);
	assert_string_equal(applied.trouble.text, "");
	assert_string_equal(value_of("NCCL_SOCKET_NTHREADS"), "4");
	assert_string_equal(value_of("NCCL_MIN_NCHANNELS"), "8");
	assert_string_equal(value_of("NCCL_TUNE_LAUNCH"),
			    "wide NCCL_SOCKET_NTHREADS=4 NCCL_MIN_NCHANNELS=8");
	assert_string_equal(value_of("NCCL_TUNE_WARM"), WARM);
	assert_string_equal(applied.text, WIDE);
	assert_int_equal(count(), 4);
}

static void the_users_own_stay(void **state)
{
	set(NULL, "SLURM_NCCL_TUNE_TICKET", WIDE);
	set(NULL, "NCCL_SOCKET_NTHREADS", "1");
	set(NULL, "NCCL_MAX_CTAS", "2");
	nt_profile_env_apply(&env, true, NO_FILE, &applied);
	assert_string_equal(value_of("NCCL_SOCKET_NTHREADS"), "1");
	assert_string_equal(value_of("NCCL_MIN_NCHANNELS"), "(unset)");
	assert_string_equal(value_of("NCCL_TUNE_LAUNCH"), "wide");
	assert_string_equal(applied.text,
			    "v=1;profile=wide;why=GAIN;left=NCCL_SOCKET_NTHREADS NCCL_MAX_CTAS");
	/* Variables that are not left alone are set; an empty value counts as unset. */
	clean(NULL);
	set(NULL, "SLURM_NCCL_TUNE_TICKET", WIDE);
	set(NULL, "NCCL_MIN_NCHANNELS", "");
	set(NULL, "NCCL_NSOCKS_PERTHREAD",
	    "9999999999999999999999999999999999999999999999999999"
	    "99999999999999999999999999999999999");
	nt_profile_env_apply(&env, true, NO_FILE, &applied);
	assert_string_equal(value_of("NCCL_MIN_NCHANNELS"), "8");
	assert_string_equal(value_of("NCCL_SOCKET_NTHREADS"), "(unset)");
}

static void what_srun_has_set_is_none_of_the_users(void **state)
{
	set(NULL, "SLURM_NCCL_TUNE_TICKET",
	    "v=1;profile=wide;why=GAIN;set=NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=2");
	set(NULL, "NCCL_SOCKET_NTHREADS", "4");
	set(NULL, "NCCL_NSOCKS_PERTHREAD", "2");
	nt_profile_env_apply(&env, true, NO_FILE, &applied);
	assert_string_equal(applied.ticket.left, "");
	assert_string_equal(value_of("NCCL_TUNE_LAUNCH"),
			    "wide NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=2");
}

static void the_sites_file_counts_if_it_is_roots_alone(void **state)
{
	char path[] = "/tmp/nt-apply-XXXXXX";
	int fd = mkstemp(path);

	if (geteuid() != 0) {
		close(fd);
		unlink(path);
		skip();
	}
	assert_int_equal(write(fd, "NCCL_MIN_NCHANNELS=2\n", 21), 21);
	set(NULL, "SLURM_NCCL_TUNE_TICKET", WIDE);
	nt_profile_env_apply(&env, true, path, &applied);
	assert_string_equal(value_of("NCCL_MIN_NCHANNELS"), "(unset)");
	assert_string_equal(value_of("NCCL_SOCKET_NTHREADS"), "4");
	assert_string_equal(applied.ticket.left, "NCCL_MIN_NCHANNELS");
	assert_int_equal(fchown(fd, 12345, 12345), 0);
	clean(NULL);
	set(NULL, "SLURM_NCCL_TUNE_TICKET", WIDE);
	nt_profile_env_apply(&env, true, path, &applied);
	assert_true(applied.valid);
	assert_non_null(strstr(applied.trouble.text, "writable by others than root"));
	assert_string_equal(value_of("NCCL_MIN_NCHANNELS"), "8");
	close(fd);
	unlink(path);
}

static void what_a_step_around_had_goes(void **state)
{
	set(NULL, "NCCL_TUNE_LAUNCH", "many NCCL_SOCKET_NTHREADS=8 NCCL_BUFFSIZE=8388608");
	set(NULL, "NCCL_SOCKET_NTHREADS", "8");
	set(NULL, "NCCL_BUFFSIZE", "8388608");
	set(NULL, "SLURM_NCCL_TUNE_TICKET", WIDE);
	nt_profile_env_apply(&env, true, NO_FILE, &applied);
	assert_string_equal(value_of("NCCL_SOCKET_NTHREADS"), "4");
	assert_string_equal(value_of("NCCL_BUFFSIZE"), "(unset)");
	assert_string_equal(applied.ticket.left, "");
	/* Without a profile its variables are removed, except those that the user has changed. */
	set(NULL, "NCCL_MIN_NCHANNELS", "16");
	set(NULL, "NCCL_TUNE_WARM", WARM);
	nt_profile_env_apply(&env, false, NO_FILE, &applied);
	assert_int_equal(count(), 1);
	assert_string_equal(value_of("NCCL_MIN_NCHANNELS"), "16");
	assert_string_equal(applied.text, "-");
}

static void what_was_measured_takes_its_place(void **state)
{
	struct nt_cal_profile measured;

	assert_int_equal(nt_cal_profile_parse(&measured, "nic NCCL_SOCKET_NTHREADS=2"), 0);
	set(NULL, "SLURM_NCCL_TUNE_TICKET", WIDE);
	nt_profile_env_apply(&env, true, NO_FILE, &applied);
	nt_profile_env_apply_measured(&env, &measured, NO_FILE);
	assert_string_equal(value_of("NCCL_SOCKET_NTHREADS"), "2");
	assert_string_equal(value_of("NCCL_MIN_NCHANNELS"), "(unset)");
	assert_string_equal(value_of("NCCL_TUNE_LAUNCH"), "nic NCCL_SOCKET_NTHREADS=2");
}

static void a_batch_script_gets_none(void **state)
{
	set(NULL, "SLURM_NCCL_TUNE_TICKET", WIDE);
	set(NULL, "SLURM_NCCL_TUNE_WARM", WARM);
	nt_profile_env_apply(&env, false, NO_FILE, &applied);
	assert_false(applied.valid);
	assert_int_equal(count(), 0);
}

static void what_is_forged_sets_nothing(void **state)
{
	static char huge[1100];
	static const char *const bad[] = {
		"\x1b[31m%n%s",
		"v=1;profile=wide;why=GAIN;set=LD_PRELOAD=/tmp/x.so",
		"v=1;profile=wide;why=GAIN;set=NCCL_SOCKET_NTHREADS=17",
		huge,
	};

	memset(huge, 'x', sizeof(huge) - 1);
	memcpy(huge, WIDE, strlen(WIDE));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		clean(NULL);
		set(NULL, "SLURM_NCCL_TUNE_TICKET", bad[i]);
		set(NULL, "SLURM_NCCL_TUNE_WARM", "v=1 nonsense");
		set(NULL, "NCCL_TUNE_LAUNCH", "old");
		set(NULL, "NCCL_TUNE_WARM", "old");
		nt_profile_env_apply(&env, true, NO_FILE, &applied);
		assert_false(applied.valid);
		assert_int_equal(count(), 0);
		assert_string_not_equal(applied.trouble.text, "");
		assert_string_equal(applied.text, "-");
		for (const char *c = applied.trouble.text; *c; c++)
			assert_true(*c >= ' ' && *c <= '~');
	}
}

/* An error in remembered arms quotes a part of them. */
static void trouble_has_no_control_characters(void **state)
{
	set(NULL, "SLURM_NCCL_TUNE_WARM", "v=1 \x1b[2J\nFORGED \xe1");
	nt_profile_env_apply(&env, true, NO_FILE, &applied);
	assert_non_null(strstr(applied.trouble.text, "remembered arms"));
	for (const char *c = applied.trouble.text; *c; c++)
		assert_true(*c >= ' ' && *c <= '~');
}

static void without_a_ticket_nothing_happens(void **state)
{
	set(NULL, "NCCL_SOCKET_NTHREADS", "4");
	set(NULL, "SLURM_JOB_ID", "7");
	set(NULL, "SLURM_NCCL_TUNE_TICKET", "");
	set(NULL, "SLURM_NCCL_TUNE_WARM", "");
	nt_profile_env_apply(&env, true, NO_FILE, &applied);
	assert_int_equal(count(), 2);
	assert_string_equal(applied.trouble.text, "");
	assert_string_equal(applied.text, "-");
}

/* ---- NCCL's plugins */

#define TUNER "NCCL_TUNER_PLUGIN"
#define PROFILER "NCCL_PROFILER_PLUGIN"
#define CHAINED_TUNER "NCCL_TUNE_CHAINED_TUNER"
#define CHAINED_PROFILER "NCCL_TUNE_CHAINED_PROFILER"

static void expect_plugins(const char *tuner, const char *profiler, const char *chained_tuner,
			   const char *chained_profiler, const char *policy)
{
	assert_string_equal(value_of(TUNER), tuner);
	assert_string_equal(value_of(PROFILER), profiler);
	assert_string_equal(value_of(CHAINED_TUNER), chained_tuner);
	assert_string_equal(value_of(CHAINED_PROFILER), chained_profiler);
	assert_string_equal(value_of("NCCL_TUNE_POLICY"), policy);
}

static void tuned_step_sets_all(void **state)
{
	assert_int_equal(nt_env_flags(&env), 0);
	nt_env_tune(&env, "/p.so", "mode=bandit");
	expect_plugins("/p.so", "/p.so", "(unset)", "(unset)", "mode=bandit");
	assert_int_equal(count(), 3);
}

static void users_own_plugins_are_chained(void **state)
{
	set(NULL, TUNER, "/their.so");
	set(NULL, "NCCL_TUNE_POLICY", "stray");
	assert_int_equal(nt_env_flags(&env), 0);
	nt_env_tune(&env, "/p.so", "mode=bandit");
	expect_plugins("/p.so", "/p.so", "/their.so", "(unset)", "mode=bandit");
	/* A name of another time goes; a new one takes its place. */
	set(NULL, TUNER, "/newer.so");
	set(NULL, PROFILER, "");
	set(NULL, CHAINED_PROFILER, "/older.so");
	nt_env_tune(&env, "/p.so", "mode=bandit");
	expect_plugins("/p.so", "/p.so", "/newer.so", "(unset)", "mode=bandit");
}

static void none_stays_none(void **state)
{
	static char too_long[NT_PATH_MAX + 1];

	memset(too_long, 'x', NT_PATH_MAX);
	set(NULL, TUNER, too_long);
	assert_int_equal(nt_env_flags(&env), NT_FLAG_NO_TUNER);
	nt_env_tune(&env, "/p.so", "mode=bandit");
	expect_plugins(too_long, "/p.so", "(unset)", "(unset)", "mode=bandit");
	set(NULL, PROFILER, "None");
	set(NULL, CHAINED_PROFILER, "/older.so");
	set(NULL, "NCCL_ALGO", "Ring");
	set(NULL, "NCCL_PROTO", "");
	assert_int_equal(nt_env_flags(&env),
			 NT_FLAG_NO_TUNER | NT_FLAG_NO_PROFILER | NT_FLAG_USER_ALGO);
	nt_env_tune(&env, "/p.so", NULL);
	expect_plugins(too_long, "None", "(unset)", "(unset)", "(unset)");
	/* The user, who has no plugin, asks for no chaining. */
	clean(state);
	set(NULL, CHAINED_TUNER, "none");
	nt_env_tune(&env, "/p.so", "mode=bandit");
	expect_plugins("/p.so", "/p.so", "none", "(unset)", "mode=bandit");
}

static void inherited_values_are_ours(void **state)
{
	set(NULL, TUNER, "/p.so");
	set(NULL, PROFILER, "/p.so");
	set(NULL, CHAINED_PROFILER, "/their.so");
	set(NULL, "NCCL_TUNE_POLICY", "mode=bandit");
	assert_int_equal(nt_env_flags(&env), 0);
	nt_env_tune(&env, "/p.so", "mode=observe");
	expect_plugins("/p.so", "/p.so", "(unset)", "/their.so", "mode=observe");
	/* In an untuned step the user's own value is restored. */
	nt_env_tune(&env, "/p.so", NULL);
	expect_plugins("(unset)", "/their.so", "(unset)", "(unset)", "(unset)");
}

static void off_touches_nothing_of_the_users(void **state)
{
	set(NULL, TUNER, "/their.so");
	set(NULL, "NCCL_ALGO", "Ring");
	set(NULL, CHAINED_PROFILER, "None");
	nt_env_tune(&env, "/p.so", NULL);
	expect_plugins("/their.so", "(unset)", "(unset)", "None", "(unset)");
	assert_int_equal(count(), 3);
}

UNIT_TESTS_EACH(clean, NULL, a_profile_is_set_and_said, the_users_own_stay,
		what_srun_has_set_is_none_of_the_users, the_sites_file_counts_if_it_is_roots_alone,
		what_a_step_around_had_goes, what_was_measured_takes_its_place,
		a_batch_script_gets_none, what_is_forged_sets_nothing,
		trouble_has_no_control_characters, without_a_ticket_nothing_happens,
		tuned_step_sets_all, users_own_plugins_are_chained, none_stays_none,
		inherited_values_are_ours, off_touches_nothing_of_the_users);
