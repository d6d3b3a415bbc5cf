/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: valid and invalid files, and a task's own variables */
#include <unistd.h>
#include <sys/stat.h>
#include "tests/lib/unit.h"
#include "lib/append.h"
#include "lib/file.h"
#include "launch/profile.h"

static struct nt_profiles profiles;
static struct nt_error err;

static int parse(const char *text)
{
	nt_profiles_init(&profiles);
	err.text[0] = '\0';
	return nt_profiles_parse(&profiles, "f", text, strlen(text), &err);
}

static const char *path_of(const char *name, char *out, size_t room)
{
	const char *top = getenv("top_srcdir");

	snprintf(out, room, "%s/%s", top != NULL ? top : ".", name);
	return out;
}

static void the_shipped_file_is_read(void **state)
{
	const struct nt_profile *wide;
	unsigned of_fabric[NT_FABRIC_COUNT] = { 0 }, sources = 0;
	char path[512], text[256];
	FILE *file;

	nt_profiles_init(&profiles);
	assert_int_equal(
		nt_profiles_read(&profiles,
				 path_of("etc/nccl-tune/profiles.conf", path, sizeof(path)), 0,
				 &err),
		0);
	assert_int_equal(profiles.count, 21);
	wide = nt_profiles_find(&profiles, "sockets-wide");
	assert_non_null(wide);
	assert_int_equal(wide->fabric, NT_FABRIC_SOCKET);
	assert_string_equal(nt_settings_text(&wide->settings, text, sizeof(text)),
			    "NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=4 "
			    "NCCL_SOCKET_MIN_TASKSIZE=262144 NCCL_MIN_NCHANNELS=8");
	for (unsigned i = 0; i < profiles.count; i++) {
		const struct nt_profile *profile = &profiles.profile[i];

		assert_int_not_equal(profile->fabric, NT_FABRIC_ANY);
		of_fabric[profile->fabric]++;
	}
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(text, sizeof(text), file))
		sources += strncmp(text, "source = ", 9) == 0;
	fclose(file);
	assert_int_equal(sources, profiles.count);
	/* What is encrypted nobody has measured. */
	of_fabric[NT_FABRIC_TLS]++;
	for (int fabric = NT_FABRIC_SOCKET; fabric < NT_FABRIC_COUNT; fabric++)
		assert_int_not_equal(of_fabric[fabric], 0);
}

/* Such profiles are told from others: a calibration measures collectives. */
static void profiles_for_sends_are_known(void **state)
{
	assert_int_equal(parse("[a]\nNCCL_P2P_NET_CHUNKSIZE=512K\nNCCL_MIN_P2P_NCHANNELS=8\n"
			       "[b]\nNCCL_NCHANNELS_PER_NET_PEER=4\nNCCL_MIN_NCHANNELS=8\n"),
			 0);
	assert_true(nt_settings_are_for_sends(&profiles.profile[0].settings));
	assert_false(nt_settings_are_for_sends(&profiles.profile[1].settings));
}

/* Names that have no room are counted, and none is cut. */
static void a_wrong_name_is_answered_with_whole_names(void **state)
{
	char text[1024] = "";

	for (int i = 0; i < 20; i++)
		nt_append(text, sizeof(text), "[profile-%02d]\nNCCL_BUFFSIZE=8M\n", i);
	assert_int_equal(parse(text), 0);
	assert_null(nt_profiles_want(&profiles, "wide", &err));
	assert_string_equal(
		err.text,
		"no launch profile 'wide' (there are: default profile-00 profile-01 "
		"profile-02 profile-03 profile-04 profile-05 profile-06 profile-07 profile-08 and 11 more)");
}

static void later_files_add_replace_and_switch_off(void **state)
{
	static const char site[] = "[a]\nNCCL_MIN_NCHANNELS = 4\n[b]\ndisabled = yes\n"
				   "[c]\nNCCL_BUFFSIZE=8M\n";

	assert_int_equal(parse("[a]\nfabric=socket\nNCCL_NSOCKS_PERTHREAD=2\n"
			       "[b]\nNCCL_MIN_NCHANNELS=8\n"),
			 0);
	assert_int_equal(nt_profiles_parse(&profiles, "site", site, strlen(site), &err), 0);
	assert_int_equal(profiles.count, 3);
	assert_false(nt_profiles_find(&profiles, "a")->settings.set[NT_VARIABLE_NSOCKS_PERTHREAD]);
	assert_null(nt_profiles_find(&profiles, "b"));
	assert_int_equal(nt_profiles_find(&profiles, "c")->settings.value[NT_VARIABLE_BUFFSIZE],
			 8 << 20);
	assert_null(nt_profiles_want(&profiles, "d", &err));
	assert_non_null(strstr(err.text, "there are: default a c"));
}

static void mistakes_are_named(void **state)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{ "x = 1\n", "f:1: a key before the first [name]" },
		{ "[A]\n", "f:1: bad profile name" },
		{ "[a] b\n", "f:1: want [section] and nothing after it" },
		{ "[default]\n", "f:1: 'default' means NCCL's own settings" },
		{ "[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]\n", "f:1: bad profile name" },
		{ "[a]\n[b]\nNCCL_BUFFSIZE=4M\n", "f:1: profile sets no variable" },
		{ "[a]\nNCCL_BUFFSIZE=4M\n[a]\n", "f:3: duplicate profile in this file" },
		{ "[a]\nNCCL_BUFSIZE=4M\n", "f:2: unknown key 'NCCL_BUFSIZE' (want summary" },
		{ "[a]\nNCCL_ALGO=Ring\n", "f:2: unknown key 'NCCL_ALGO'" },
		{ "[a]\nNCCL_IB_HCA=mlx5\n", "f:2: unknown key 'NCCL_IB_HCA'" },
		{ "[a]\nLD_PRELOAD=/tmp/x.so\n", "f:2: unknown key 'LD_PRELOAD'" },
		{ "[a]\nNCCL_BUFFSIZE=4G\n", "f:2: NCCL_BUFFSIZE is '4G' (want bytes" },
		{ "[a]\nNCCL_MIN_NCHANNELS=33\n", "want a number from 1 to 32" },
		{ "[a]\nNCCL_MIN_NCHANNELS=-1\n", "want a number from 1 to 32" },
		{ "[a]\nNCCL_MIN_NCHANNELS=99999999999999999999\n", "want a number from 1 to 32" },
		{ "[a]\nNCCL_MIN_NCHANNELS=4\nNCCL_MIN_NCHANNELS=4\n", "f:3: duplicate variable" },
		{ "[a]\nfabric=tcp\n",
		  "f:2: unknown fabric (want any, socket, ib, efa, cxi, tcpx, tls or "
		  "pcie)" },
		{ "[a]\nNCCL_MIN_P2P_NCHANNELS=32\nNCCL_P2P_NET_CHUNKSIZE=512K\n"
		  "NCCL_MIN_NCHANNELS=8\n[b]\nNCCL_P2P_NET_CHUNKSIZE=1M\n",
		  "f:6: NCCL_P2P_NET_CHUNKSIZE is '1M'" },
		{ "[a]\nfabric=ib\nNCCL_NVLSTREE_MAX_CHUNKSIZE=512K\n",
		  "valid with fabric = efa only" },
		{ "[a]\nNCCL_P2P_LEVEL=5\n", "f:2: unknown key 'NCCL_P2P_LEVEL'" },
		{ "[a]\nNCCL_IB_SL=2\n", "f:2: unknown key 'NCCL_IB_SL'" },
		{ "[a]\ndisabled=maybe\n", "f:2: want yes or no" },
		{ "[a]\nNCCL_NSOCKS_PERTHREAD=2\n",
		  "f:1: NCCL_NSOCKS_PERTHREAD is valid with fabric = "
		  "socket only" },
		{ "[a]\nfabric=socket\nNCCL_SOCKET_NTHREADS=16\nNCCL_NSOCKS_PERTHREAD=8\n",
		  "is 128 (want at most 64)" },
		{ "[a]\nfabric=socket\nNCCL_SOCKET_NTHREADS=8\nNCCL_NSOCKS_PERTHREAD=8\n"
		  "NCCL_MIN_NCHANNELS=8\n",
		  "to a peer are 512 (want at most 256)" },
		{ "[a]\nNCCL_MIN_NCHANNELS=32\nNCCL_BUFFSIZE=32M\n", "are 1024 MiB (want at most" },
		{ "[a]\nNCCL_MIN_NCHANNELS=8\nNCCL_MAX_NCHANNELS=4\n",
		  "below NCCL_MIN_NCHANNELS=8" },
		{ "[a]\nsummary=\x1b[2J\n", "f:2: the line has a character" },
		{ "[a]\nwhat\n", "f:2: want [section] or key = value" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(bad[i].text), -1);
		if (strstr(err.text, bad[i].error) == NULL)
			fail_msg("%s: said '%s', not '%s'", bad[i].text, err.text, bad[i].error);
	}
}

static void too_many_and_too_long_are_refused(void **state)
{
	char *text = calloc(1, 2 * NT_PROFILE_FILE_MAX), line[512];

	for (unsigned i = 0; i < 65; i++)
		snprintf(text + strlen(text), 64, "[p%u]\nNCCL_MIN_NCHANNELS=2\n", i);
	assert_int_equal(parse(text), -1);
	assert_non_null(strstr(err.text, "f:129: too many profiles"));
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	assert_int_equal(parse(line), -1);
	memset(text, '#', NT_PROFILE_FILE_MAX + 1);
	assert_int_equal(nt_profiles_parse(&profiles, "f", text, NT_PROFILE_FILE_MAX + 1, &err),
			 -1);
	free(text);
}

static void only_roots_file_will_do(void **state)
{
	char name[] = "/tmp/nt-profiles-XXXXXX";
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "[a]\nNCCL_CROSS_NIC=1\nfabric=ib\n", 31), 31);
	nt_profiles_init(&profiles);
	assert_int_equal(nt_profiles_read(&profiles, name, 0, &err), 0);
	fchmod(fd, 0666);
	assert_int_equal(nt_profiles_read(&profiles, name, NT_FILE_ROOT_ONLY, &err), -1);
	assert_non_null(strstr(err.text, "writable by others than root"));
	assert_int_equal(nt_profiles_read(&profiles, "/tmp", 0, &err), -1);
	assert_int_equal(nt_profiles_read(&profiles, "/nonexistent", 0, &err), -1);
	close(fd);
	unlink(name);
}

static bool is_listed(const char *name, void *context)
{
	return strstr(context, name) != NULL;
}

static unsigned count_left(const struct nt_resolved *resolved)
{
	unsigned count = 0;

	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++)
		count += resolved->because[i] != NULL;
	return count;
}

static void what_is_set_is_left_alone(void **state)
{
	struct nt_resolved out;

	assert_int_equal(parse("[w]\nfabric=socket\nNCCL_MIN_NCHANNELS=8\n"
			       "NCCL_SOCKET_NTHREADS=2\nNCCL_NSOCKS_PERTHREAD=4\n"),
			 0);
	nt_profile_resolve(&profiles.profile[0], is_listed, "", &out);
	assert_int_equal(count_left(&out), 0);
	assert_int_equal(out.apply.value[NT_VARIABLE_MIN_NCHANNELS], 8);
	/* One of a pair, and the newer name of another. */
	nt_profile_resolve(&profiles.profile[0], is_listed, "NCCL_SOCKET_NTHREADS,NCCL_MAX_CTAS",
			   &out);
	assert_int_equal(count_left(&out), 3);
	assert_false(out.apply.set[NT_VARIABLE_NSOCKS_PERTHREAD]);
	assert_memory_equal(out.because[NT_VARIABLE_MIN_NCHANNELS], "NCCL_MAX_CTAS", 13);
}

/* The table in the manual page matches the list. */
static void the_manual_page_has_every_variable(void **state)
{
	char path[512], want[160];
	char *text;
	size_t bytes;

	path_of("docs/man/nccl-tune-profiles.5", path, sizeof(path));
	assert_int_equal(nt_file_read_at(-100, path, 0, 1 << 20, &text, &bytes, &err), 0);
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++) {
		const struct nt_variable *variable = nt_variable_get(i);

		snprintf(want, sizeof(want), ".It Ev %s\n%lld to %lld, fabric %s, %s",
			 variable->name, (long long)variable->least, (long long)variable->largest,
			 nt_fabric_name((int)variable->fabric),
			 variable->measured ? "measured" : "not measured by us");
		if (strstr(text, want) == NULL)
			fail_msg("the page lacks '%s'", want);
	}
	free(text);
}

UNIT_TESTS(the_shipped_file_is_read, profiles_for_sends_are_known,
	   a_wrong_name_is_answered_with_whole_names, later_files_add_replace_and_switch_off,
	   mistakes_are_named, too_many_and_too_long_are_refused, only_roots_file_will_do,
	   what_is_set_is_left_alone, the_manual_page_has_every_variable);
