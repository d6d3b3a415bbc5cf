/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* platform.c - the driver's version, the fabric, NCCL's variables, from texts and files */
#include "tests/lib/unit.h"
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>
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

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		nt_driver_version(cases[i][0], version);
		assert_string_equal(version, cases[i][1]);
	}
}

static void the_network_is_what_nccl_is_told(void **state)
{
	assert_string_equal(nt_net_told(NULL, NULL, NULL, ""), "");
	assert_string_equal(nt_net_told("", "", "", ""), "");
	assert_string_equal(nt_net_told("socket", "libx.so", "0", "Libfabric"), "socket");
	assert_string_equal(nt_net_told("AWS Libfabric", NULL, "1", ""), "AWS Libfabric");
	assert_string_equal(nt_net_told(NULL, "aws-ofi", "1", "Libfabric"), "Libfabric");
	assert_string_equal(nt_net_told(NULL, NULL, NULL, "FasTrak"), "FasTrak");
	assert_string_equal(nt_net_told(NULL, "x", "1", ""), "?");
	assert_string_equal(nt_net_told(NULL, "none", NULL, "IBext_v8"), "");
	assert_string_equal(nt_net_told(NULL, "none", "1", "IBext_v8"), "Socket");
	assert_string_equal(nt_net_told(NULL, NULL, "1", ""), "Socket");
	assert_string_equal(nt_net_told(NULL, NULL, "0", ""), "");
}

/* The name tells; the devices, too, where a plugin serves several networks or found none. */
static void the_fabric_follows_from_name_and_devices(void **state)
{
	static const struct {
		const char *net;
		bool ib, efa, cxi;
		enum nt_fabric fabric;
	} cases[] = {
		{ "", false, false, false, NT_FABRIC_SOCKET },
		{ "", true, false, false, NT_FABRIC_IB },
		{ "", false, true, true, NT_FABRIC_SOCKET },
		{ "Socket", true, true, true, NT_FABRIC_SOCKET },
		{ "ib", false, false, false, NT_FABRIC_IB },
		{ "IBext_v10", true, false, false, NT_FABRIC_IB },
		{ "IBext_v10", false, false, false, NT_FABRIC_SOCKET },
		{ "gIB", true, false, false, NT_FABRIC_IB },
		{ "AWS Libfabric", false, true, false, NT_FABRIC_EFA },
		{ "Libfabric", false, true, false, NT_FABRIC_EFA },
		{ "Libfabric", true, false, true, NT_FABRIC_CXI },
		{ "Libfabric", true, false, false, NT_FABRIC_ANY },
		{ "FasTrak", false, false, false, NT_FABRIC_TCPX },
		{ "GPUDirectTCPX_v7", false, false, false, NT_FABRIC_TCPX },
		{ "UCX", true, true, true, NT_FABRIC_ANY },
		{ "?", true, true, true, NT_FABRIC_ANY },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct nt_fabric_devices devices = { .ib = cases[i].ib,
							   .efa = cases[i].efa,
							   .cxi = cases[i].cxi };

		assert_int_equal(nt_fabric_of_net(cases[i].net, &devices), cases[i].fabric);
	}
	for (int fabric = 0; fabric < NT_FABRIC_COUNT; fabric++) {
		assert_int_equal(nt_fabric_parse(nt_fabric_name(fabric)), fabric);
		assert_non_null(strstr(NT_FABRIC_NAMES, nt_fabric_name(fabric)));
	}
	assert_int_equal(nt_fabric_parse("myrinet"), -1);
	assert_string_equal(nt_fabric_name(NT_FABRIC_COUNT), "?");
}

struct elf {
	Elf64_Ehdr head;
	char constants[32], names[32];
	Elf64_Shdr section[3];
};

static struct elf make_elf(const char *constants)
{
	struct elf elf = { .names = "\0.rodata\0.shstrtab" };

	memcpy(elf.head.e_ident, ELFMAG, SELFMAG);
	elf.head.e_ident[EI_CLASS] = ELFCLASS64;
	elf.head.e_shoff = offsetof(struct elf, section);
	elf.head.e_shentsize = sizeof(elf.section[0]);
	elf.head.e_shnum = 3;
	elf.head.e_shstrndx = 2;
	snprintf(elf.constants, sizeof(elf.constants), "x%s", constants);
	elf.section[1] = (Elf64_Shdr){ .sh_name = 1,
				       .sh_type = SHT_PROGBITS,
				       .sh_offset = offsetof(struct elf, constants),
				       .sh_size = sizeof(elf.constants) };
	elf.section[2] = (Elf64_Shdr){ .sh_name = 9,
				       .sh_type = SHT_STRTAB,
				       .sh_offset = offsetof(struct elf, names),
				       .sh_size = sizeof(elf.names) };
	return elf;
}

static void whether_nccl_can_encrypt_is_in_its_constants(void **state)
{
	struct elf elf = make_elf("libssl.so.3"), other = make_elf("libssl.so.33"), bad;

	assert_true(nt_constants_have(&elf, sizeof(elf), "libssl.so.3"));
	assert_false(nt_constants_have(&other, sizeof(other), "libssl.so.3"));
	for (size_t bytes = 0; bytes < sizeof(elf); bytes++)
		assert_false(nt_constants_have(&elf, bytes, "libssl.so.3"));
	/* Damaged: whatever a number is, nothing beside the file is read. */
	for (size_t at = 0; at < sizeof(elf); at++) {
		bad = elf;
		memset((char *)&bad + at, 0xff, at + 8 <= sizeof(bad) ? 8 : 1);
		(void)nt_constants_have(&bad, sizeof(bad), "libssl.so.3");
	}
}

/* What aws-ofi-nccl sets in its init is not what the process was started with. */
static void variables_set_inside_are_told_apart(void **state)
{
	struct nt_variables now = { .cut = false }, started = { .cut = false };
	char outside[NT_VARIABLES_MAX], inside[NT_VARIABLES_MAX], word[128];

	nt_variables_add(&started, "NCCL_MIN_NCHANNELS=8");
	nt_variables_add(&started, "NCCL_BUFFSIZE=4194304");
	nt_variables_add(&now, "NCCL_MIN_NCHANNELS=8");
	nt_variables_add(&now, "NCCL_BUFFSIZE=8388608");
	nt_variables_add(&now, "NCCL_TUNE_POLICY=x");
	nt_variables_add(&now, "NCCL_TUNER_PLUGIN=x");
	nt_variables_add(&now, "NCCL_PROFILER_PLUGIN=x");
	nt_variables_add(&now, "NCCL_DEBUG=INFO");
	nt_variables_add(&now, "NCCL_P2P_LEVEL=");
	nt_variables_add(&now, "PATH=/bin");
	nt_variables_add(&now, "NCCL_NET=AWS Lib\nfabric");
	assert_string_equal(now.text, "NCCL_MIN_NCHANNELS=8 NCCL_BUFFSIZE=8388608 "
				      "NCCL_NET=AWS?Lib?fabric");
	nt_variables_split(&now, &started, outside, inside);
	assert_string_equal(outside, "NCCL_MIN_NCHANNELS=8");
	assert_string_equal(inside, "NCCL_BUFFSIZE=8388608 NCCL_NET=AWS?Lib?fabric");
	/* Of what did not fit nothing is claimed. */
	for (unsigned i = 0; i < 64; i++) {
		snprintf(word, sizeof(word), "NCCL_X%u=%064u", i, i);
		nt_variables_add(&started, word);
	}
	assert_true(started.cut);
	nt_variables_split(&now, &started, outside, inside);
	assert_string_equal(outside, now.text);
	assert_string_equal(inside, "");
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

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		nt_launch_name(cases[i][0], name);
		assert_string_equal(name, cases[i][1]);
	}
}

static void the_environment_is_asked(void **state)
{
	struct nt_platform platform;

	unsetenv("NCCL_NET_PLUGIN");
	unsetenv("NCCL_IB_DISABLE");
	setenv("NCCL_NET", "IB", 1);
	setenv(NT_ENV_LAUNCH, "wide NCCL_MIN_NCHANNELS=8", 1);
	nt_platform_ask(&platform, "Libfabric");
	assert_string_equal(platform.net, "IB");
	assert_string_equal(platform.launch, "wide");
	assert_non_null(strstr(platform.now.text, "NCCL_NET=IB"));
	unsetenv("NCCL_NET");
	unsetenv(NT_ENV_LAUNCH);
	nt_platform_ask(&platform, "Libfabric");
	assert_string_equal(platform.net, "Libfabric");
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

static void assert_look(const char *net, const char *fabric, const char *driver)
{
	const struct nt_platform_paths paths = {
		.driver = at("version"),
		.ports = at("class"),
		.devices = at("dev"),
		.cxi = at("cxi"),
		.start = at("start"),
	};
	/* This program is no NCCL that can encrypt. */
	struct nt_platform platform = { .new_sockets = true };

	snprintf(platform.net, sizeof(platform.net), "%s", net);
	nt_variables_add(&platform.now, "NCCL_A=1");
	nt_variables_add(&platform.now, "NCCL_B=2");
	nt_platform_look(&platform, &paths);
	assert_string_equal(platform.fabric, fabric);
	assert_string_equal(platform.driver, driver);
	assert_string_equal(platform.inside, driver[0] ? "NCCL_B=2" : "");
}

static void files_are_read_where_there_are_any(void **state)
{
	static const char *const dirs[] = { "class",
					    "class/mlx5_0",
					    "class/mlx5_0/device",
					    "class/mlx5_0/ports",
					    "class/mlx5_0/ports/1",
					    "class/mlx5_0/ports/2",
					    "dev",
					    "cxi" };
	static const char *const files[] = { "class/mlx5_0/ports/1/state",
					     "class/mlx5_0/ports/2/state",
					     "class/mlx5_0/device/driver",
					     "dev/uverbs0",
					     "version",
					     "start",
					     "cxi/cxi0" };

	assert_non_null(mkdtemp(root));
	assert_look("", "socket", "");
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		assert_int_equal(mkdir(at(dirs[i]), 0700), 0);
	put("class/mlx5_0/ports/1/state", "1: DOWN\n");
	put("class/mlx5_0/ports/2/state", "4: ACTIVE\n");
	put("version", OPEN_DRIVER);
	put("start", "NCCL_A=1");
	assert_look("", "socket", "580.95.05");
	put("dev/uverbs0", "");
	assert_look("", "ib", "580.95.05");
	assert_look("Libfabric", "any", "580.95.05");
	/* A port of EFA is none that NCCL uses by itself. */
	assert_int_equal(symlink("../../bus/pci/drivers/efa", at("class/mlx5_0/device/driver")), 0);
	assert_look("", "socket", "580.95.05");
	assert_look("Libfabric", "efa", "580.95.05");
	assert_int_equal(remove(at("class/mlx5_0/device/driver")), 0);
	assert_int_equal(symlink("../mlx5_core", at("class/mlx5_0/device/driver")), 0);
	assert_look("IBext_v8", "ib", "580.95.05");
	put("class/mlx5_0/ports/2/state", "2: INIT\n");
	assert_look("", "socket", "580.95.05");
	put("cxi/cxi0", "");
	assert_look("Libfabric", "cxi", "580.95.05");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		assert_int_equal(remove(at(files[i])), 0);
	for (size_t i = sizeof(dirs) / sizeof(dirs[0]); i-- > 0;)
		assert_int_equal(remove(at(dirs[i])), 0);
	assert_int_equal(remove(root), 0);
}

UNIT_TESTS(a_driver_has_its_version, the_network_is_what_nccl_is_told,
	   whether_nccl_can_encrypt_is_in_its_constants, the_fabric_follows_from_name_and_devices,
	   variables_set_inside_are_told_apart, a_profile_is_a_word, the_environment_is_asked,
	   files_are_read_where_there_are_any);
