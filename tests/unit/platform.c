/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* platform.c - the driver's version, the fabric and the launch profile, from texts and files */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/stat.h>
#include "tuner/platform.h"

#define OPEN_DRIVER                                                                           \
	"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  " \
	"(dvs-builder@U22-I3-AE18-23-3)  Tue Sep 23 10:11:16 UTC 2025\n"

static void a_driver_has_its_version(void **state)
{
	static const char *const cases[][2] = {
		{ "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
		  "GCC version:  gcc version 11.4.0\n",
		  "535.104.05" },
		{ OPEN_DRIVER, "580.95.05" },
		{ "NVRM version: NVIDIA UNIX aarch64 Kernel Module  550.54  Tue\n", "550.54" },
		{ "NVRM version: NVIDIA UNIX x86_64 Kernel Module\nGCC version: 11.4.0\n", "" },
		{ "GCC version: 11.4.0\n", "" },
		{ "NVRM version: 1..2 .5 5. 7 550.1x 123456789.123456789.12345678\n", "" },
		{ "", "" },
	};
	char version[NT_DRIVER_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		nt_driver_version(cases[i][0], version);
		assert_string_equal(version, cases[i][1]);
	}
}

static void the_fabric_is_what_nccl_is_told(void **state)
{
	(void)state;
	assert_string_equal(nt_fabric_told(NULL, NULL, NULL), "");
	assert_string_equal(nt_fabric_told("", "", ""), "");
	assert_string_equal(nt_fabric_told("Socket", NULL, NULL), "socket");
	assert_string_equal(nt_fabric_told("socket", "libx.so", "0"), "socket");
	assert_string_equal(nt_fabric_told("IB", NULL, "0"), "ib");
	assert_string_equal(nt_fabric_told("AWS Libfabric", NULL, NULL), "any");
	assert_string_equal(nt_fabric_told(NULL, "aws-ofi", "1"), "any");
	assert_string_equal(nt_fabric_told(NULL, "none", NULL), "");
	assert_string_equal(nt_fabric_told(NULL, NULL, "1"), "socket");
	assert_string_equal(nt_fabric_told(NULL, "none", "1"), "socket");
	assert_string_equal(nt_fabric_told(NULL, NULL, "0"), "");
}

static void else_it_is_what_is_there(void **state)
{
	(void)state;
	assert_string_equal(nt_fabric_seen(false, false, false), "socket");
	assert_string_equal(nt_fabric_seen(false, true, false), "socket");
	assert_string_equal(nt_fabric_seen(false, false, true), "socket");
	assert_string_equal(nt_fabric_seen(false, true, true), "ib");
	assert_string_equal(nt_fabric_seen(true, true, true), "any");
}

static void a_profile_is_a_word(void **state)
{
	static const char *const cases[][2] = {
		{ "sockets-wide NCCL_MIN_NCHANNELS=8 NCCL_NSOCKS_PERTHREAD=4", "sockets-wide" },
		{ "default", "default" },
		{ "a2345678901234567890123456789012", "a2345678901234567890123456789012" },
		{ "a23456789012345678901234567890123", "" },
		{ "Wide", "" },
		{ "wide\tNCCL_X=1", "" },
		{ "wi\"de NCCL_X=1", "" },
		{ " wide", "" },
		{ "", "" },
	};
	char name[NT_LAUNCH_NAME];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		nt_launch_name(cases[i][0], name);
		assert_string_equal(name, cases[i][1]);
	}
}

static void the_environment_is_asked(void **state)
{
	struct nt_platform platform;

	(void)state;
	unsetenv("NCCL_NET_PLUGIN");
	unsetenv("NCCL_IB_DISABLE");
	setenv("NCCL_NET", "IB", 1);
	setenv(NT_ENV_LAUNCH, "wide NCCL_MIN_NCHANNELS=8", 1);
	nt_platform_ask(&platform);
	assert_string_equal(platform.fabric, "ib");
	assert_string_equal(platform.launch, "wide");
	unsetenv("NCCL_NET");
	unsetenv(NT_ENV_LAUNCH);
	nt_platform_ask(&platform);
	assert_string_equal(platform.fabric, "");
	assert_string_equal(platform.launch, "");
}

static char root[] = "/tmp/nt-platform.XXXXXX";

static const char *at(const char *path)
{
	static char whole[8][128];
	static unsigned next;
	char *out = whole[next++ % 8];

	snprintf(out, sizeof(whole[0]), "%s/%s", root, path);
	return out;
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(at(path), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_look(const char *fabric, const char *driver)
{
	const struct nt_platform_paths paths = {
		.driver = at("version"),
		.ports = at("class"),
		.devices = at("dev"),
		.maps = at("maps"),
	};
	struct nt_platform platform = { .fabric = "" };

	nt_platform_look(&platform, &paths);
	assert_string_equal(platform.fabric, fabric);
	assert_string_equal(platform.driver, driver);
	snprintf(platform.fabric, sizeof(platform.fabric), "any");
	nt_platform_look(&platform, &paths);
	assert_string_equal(platform.fabric, "any");
}

static void files_are_read_where_there_are_any(void **state)
{
	static const char *const dirs[] = { "class",
					    "class/mlx5_0",
					    "class/mlx5_0/ports",
					    "class/mlx5_0/ports/1",
					    "class/mlx5_0/ports/2",
					    "dev" };
	static const char *const files[] = { "class/mlx5_0/ports/1/state",
					     "class/mlx5_0/ports/2/state", "dev/uverbs0", "version",
					     "maps" };

	(void)state;
	assert_non_null(mkdtemp(root));
	assert_look("socket", "");
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		assert_int_equal(mkdir(at(dirs[i]), 0700), 0);
	put("class/mlx5_0/ports/1/state", "1: DOWN\n");
	put("class/mlx5_0/ports/2/state", "4: ACTIVE\n");
	put("version", OPEN_DRIVER);
	assert_look("socket", "580.95.05");
	put("dev/uverbs0", "");
	put("maps", "7f00-7f01 r-xp 00000000 00:01 7 /usr/lib/libnccl.so.2\n");
	assert_look("ib", "580.95.05");
	put("class/mlx5_0/ports/2/state", "2: INIT\n");
	assert_look("socket", "580.95.05");
	put("maps", "7f00-7f01 r-xp 00000000 00:01 7 /opt/lib/libnccl-net.so\n");
	assert_look("any", "580.95.05");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		assert_int_equal(remove(at(files[i])), 0);
	for (size_t i = sizeof(dirs) / sizeof(dirs[0]); i-- > 0;)
		assert_int_equal(remove(at(dirs[i])), 0);
	assert_int_equal(remove(root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_driver_has_its_version),
		cmocka_unit_test(the_fabric_is_what_nccl_is_told),
		cmocka_unit_test(else_it_is_what_is_there),
		cmocka_unit_test(a_profile_is_a_word),
		cmocka_unit_test(the_environment_is_asked),
		cmocka_unit_test(files_are_read_where_there_are_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
