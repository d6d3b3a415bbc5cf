/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* precheck.c - environments and files with which PMIx is started or not started */
#include "tests/lib/unit.h"
#include "pmix-sync/precheck.h"

#define URI "PMIX_SERVER_URI41=pmix-server.4167;tcp4://127.0.0.1:52363"

/* The environment of task 3 from Slurm 22.05 with PMIx 4.2, with one variable added or changed. */
static int check(const char *variable, struct nt_reason *why)
{
	static const char *const slurms[] = {
		"HOME=/home/user",
		"SLURM_PROCID=3",
		"PMIX_RANK=3",
		"PMIX_NAMESPACE=slurm.pmix.1.0",
		"PMIX_SECURITY_MODE=native",
		"PMIX_BFROP_BUFFER_TYPE=PMIX_BFROP_BUFFER_NON_DESC",
		"PMIX_GDS_MODULE=ds21,ds12,hash",
		"PMIX_SERVER_TMPDIR=/var/spool/slurmd/pmix.1.0/",
		"PMIX_SYSTEM_TMPDIR=/tmp",
		"PMIX_VERSION=4.2.2rc2",
		URI,
	};
	size_t name = strcspn(variable, "=") + 1, count = 0;
	char *env[LENGTH(slurms) + 2];

	for (size_t i = 0; i < LENGTH(slurms); i++) {
		if (strncmp(slurms[i], variable, name) != 0)
			env[count++] = (char *)(uintptr_t)slurms[i];
	}
	env[count++] = (char *)(uintptr_t)variable;
	env[count] = NULL;
	return nt_precheck_env(env, why);
}

static void what_does_no_harm_is_let_through(void **state)
{
	static const char *const variables[] = {
		"OTHER=1",
		URI,
		"PMIX_SERVER_URI6=slurm.pmix.1.0.4167;tcp6://[::1]:1",
		"PMIX_SERVER_URI2=a.1;tcp6://::1:65535",
		"PMIX_SECURITY_MODE=munge,native",
		"PMIX_HOSTNAME=",
		"PMIX_DEBUG=0",
		"PMIX_MCA_psec=",
		"PMIX_MCA_psec=native",
		"PMIX_MCA_psec=munge,native",
		"PMIX_MCA_psec=^munge",
		"PMIX_MCA_gds=hash",
		"PMIX_MCA_gds=^ds12,ds21",
		"PMIX_MCA_pcompress_base_silence_warning=1",
		"PMIX_MCA_mca_base_component_show_load_errors=0",
		"PMIX_MCA_mca_base_component_show_load_errors=1",
	};
	struct nt_reason why;

	for (size_t i = 0; i < LENGTH(variables); i++) {
		if (check(variables[i], &why) < 0)
			fail_msg("%s: %s", variables[i], why.text);
	}
}

static void what_may_harm_is_named(void **state)
{
	static const char *const variables[] = {
		"PMIX_MCA_psec=none",
		"PMIX_MCA_psec=none,native",
		"PMIX_MCA_psec=nativ",
		"PMIX_MCA_psec=munge",
		"PMIX_MCA_psec=native,",
		"PMIX_MCA_psec=^native",
		"PMIX_MCA_psec=^munge,native",
		"PMIX_MCA_psec=^munge,^none",
		"PMIX_MCA_gds=ds12",
		"PMIX_MCA_gds=hash,ds12",
		"PMIX_MCA_gds=^hash",
		"PMIX_MCA_gds= hash",
		"PMIX_MCA_ptl=usock",
		"PMIX_MCA_bfrops=v41",
		"PMIX_MCA_mca_base_component_path=/nonexistent",
		"PMIX_MCA_ptl_base_verbose=10",
		"PMIX_MCA_=",
		"PMIX_DEBUG=5",
	};
	struct nt_reason why;

	for (size_t i = 0; i < LENGTH(variables); i++) {
		if (check(variables[i], &why) == 0)
			fail_msg("%s passes", variables[i]);
		assert_int_equal(why.id, NT_REASON_PMIX_UNSAFE);
		assert_true(strlen(why.text) < 120);
	}
	assert_int_equal(check("PMIX_MCA_psec=none", &why), -1);
	assert_string_equal(why.text, "pmixunsafe:PMIX_MCA_psec=none");
}

static void damage_is_seen(void **state)
{
	static const char *const variables[] = {
		"PMIX_RANK=",
		"PMIX_RANK=2",
		"PMIX_RANK=-1",
		"PMIX_RANK=3x",
		"PMIX_RANK=03",
		"PMIX_NAMESPACE=",
		"PMIX_SECURITY_MODE=garbage",
		"PMIX_SECURITY_MODE=",
		"PMIX_SERVER_URI41=",
		"PMIX_SERVER_URI41=garbage",
		"PMIX_SERVER_URI41=a;tcp4://127.0.0.1:1",
		"PMIX_SERVER_URI41=a.1;tcp4:",
		"PMIX_SERVER_URI41=a.1;tcp4://",
		"PMIX_SERVER_URI41=a.1;tcp4://127.0.0.1",
		"PMIX_SERVER_URI41=a.1;tcp4://127.0.0.1:",
		"PMIX_SERVER_URI41=a.1;tcp4://127.0.0.1:65536",
		"PMIX_SERVER_URI41=a.1;tcp4://host:1",
		"PMIX_SERVER_URI41=a.1;tcp4://127.0.0.1:1;4.2.2",
		"PMIX_SERVER_URI41=a.1;tcp6://[::1:1",
		"PMIX_SERVER_URI41=a.1;tcp6://[:1",
		"PMIX_SERVER_URI41=a.1;tcp6://:1",
		"PMIX_SERVER_URI3=\"'\\\n\033[31m{}",
	};
	struct nt_reason why;

	for (size_t i = 0; i < LENGTH(variables); i++) {
		if (check(variables[i], &why) == 0)
			fail_msg("%s passes", variables[i]);
		assert_int_equal(why.id, NT_REASON_PMIX_ALTERED);
		assert_true(strlen(why.text) < 120);
		assert_null(strpbrk(why.text, "\"'\\\n\033{}"));
	}
}

static void long_variables_are_cut(void **state)
{
	char variable[4096] = "PMIX_NAMESPACE=";
	struct nt_reason why;

	memset(variable + strlen(variable), 'x', sizeof(variable) - strlen(variable) - 1);
	variable[sizeof(variable) - 1] = '\0';
	assert_int_equal(check(variable, &why), -1);
	assert_true(strlen(why.text) < 120);
	variable[strlen("PMIX_NAMESPACE=") + 255] = '\0';
	assert_int_equal(check(variable, &why), 0);
	memset(variable, 'P', 2048);
	memcpy(variable, "PMIX_", 5);
	assert_int_equal(check(variable, &why), -1);
	assert_true(strlen(why.text) < 120);
}

static void a_server_must_be_named(void **state)
{
	char rank[] = "PMIX_RANK=0", *env[] = { rank, NULL };
	struct nt_reason why;

	assert_int_equal(nt_precheck_env(env, &why), -1);
	assert_string_equal(why.text, "pmixaltered:PMIX_SERVER_URI (unset)");
}

static void files_of_parameters(void **state)
{
	static const char *const good[] = {
		"",
		"\n",
		"# psec = none\n",
		"  # none",
		"gds = hash",
		"gds=hash\n\npsec=^munge\n",
		" pcompress_base_silence_warning = 1 \n",
	};
	static const char *const bad[] = {
		"psec = none\n",
		"gds = hash\npsec = none",
		"gds",
		"gds hash",
		"gds =",
		"gds = hash more",
		"= hash",
		"-mca gds hash",
		"ptl_base_verbose = 5\n",
		"\001\002\377",
	};
	struct nt_reason why;

	for (size_t i = 0; i < LENGTH(good); i++) {
		if (nt_precheck_params(good[i], &why) < 0)
			fail_msg("'%s': %s", good[i], why.text);
	}
	for (size_t i = 0; i < LENGTH(bad); i++) {
		if (nt_precheck_params(bad[i], &why) == 0)
			fail_msg("'%s' passes", bad[i]);
		assert_string_equal(why.text, "pmixunsafe:~/.pmix/mca-params.conf");
	}
}

UNIT_TESTS(what_does_no_harm_is_let_through, what_may_harm_is_named, damage_is_seen,
	   long_variables_are_cut, a_server_must_be_named, files_of_parameters);
