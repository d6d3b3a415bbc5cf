/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a process, from a tree of files that stands for the system's. */
#include "tuner/facts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/lib/unit.h"

static char root[64];

static const char *at(const char *path)
{
	static char whole[256];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return whole;
}

/* With its directories */
static void put(const char *path, const char *text)
{
	char whole[256];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s", at(path));
	for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(whole, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	f = fopen(whole, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_port(const char *device, const char *state, const char *rate, const char *layer)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/state", device);
	put(path, state);
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/rate", device);
	put(path, rate);
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/link_layer", device);
	put(path, layer);
}

static int begin(void **state)
{
	snprintf(root, sizeof(root), "/tmp/nt-facts.XXXXXX");
	unsetenv("LD_PRELOAD");
	unsetenv("CUDA_VISIBLE_DEVICES");
	unsetenv("CUDA_LAUNCH_BLOCKING");
	unsetenv("NCCL_DEBUG");
	unsetenv("NCCL_DEBUG_FILE");
	unsetenv("SLURM_JOB_CPUS_PER_NODE");
	return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command) == 0 ? 0 : -1;
}

static void an_empty_system_tells_nothing(void **state)
{
	struct nt_facts facts;

	nt_facts_look(&facts, root, 1);
	assert_true(isnan(facts.quota));
	assert_int_equal(facts.shm_mb, -1);
	assert_int_equal(facts.gpu_count, -1);
	assert_int_equal(facts.visible, -1);
	assert_int_equal(facts.job_cpus, -1);
	assert_string_equal(facts.ports, "");
	assert_string_equal(facts.gdr, "");
	assert_string_equal(facts.preload, "");
	assert_string_equal(facts.debug, "");
	assert_string_equal(facts.links, "");
	/* These are the process's own. */
	assert_true(facts.cpu_count >= 1 && facts.cpus[0] && facts.online >= facts.cpu_count);
	assert_true(facts.nofile > 0 && facts.stack_kib > 0 && facts.memlock_kib >= 0);
}

static void processors_are_those_of_all_threads(void **state)
{
	cpu_set_t all, one;
	struct nt_facts facts;
	int first = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(first, &all))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	nt_facts_look(&facts, root, 1);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(facts.cpu_count, 1);
	assert_int_equal(strtol(facts.cpus, NULL, 10), first);
	nt_facts_look(&facts, root, 1);
	assert_int_equal(facts.cpu_count, CPU_COUNT(&all));
}

static void lists_are_as_linux_writes_them(void **state)
{
	const unsigned char bits[] = { 0x0f, 0x81, 0x01 };
	char text[16];

	assert_true(nt_facts_list(bits, sizeof(bits), text, sizeof(text)));
	assert_string_equal(text, "0-3,8,15-16");
	assert_false(nt_facts_list(bits, sizeof(bits), text, 8));
	assert_string_equal(text, "");
	assert_true(nt_facts_list(bits, 0, text, sizeof(text)));
	assert_string_equal(text, "");
}

static void the_fewest_processors_of_a_node_count(void **state)
{
	assert_int_equal(nt_facts_fewest("72(x2),36"), 36);
	assert_int_equal(nt_facts_fewest("8"), 8);
	assert_int_equal(nt_facts_fewest("8,x"), -1);
	assert_int_equal(nt_facts_fewest(""), -1);
	assert_int_equal(nt_facts_fewest(NULL), -1);
}

static void the_smallest_quota_of_the_groups_counts(void **state)
{
	struct nt_facts facts;
	struct stat group;

	put("/proc/self/cgroup", "0::/job/step\n");
	put("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
	nt_facts_look(&facts, root, 1);
	assert_true(isnan(facts.quota));
	put("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");
	put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
	nt_facts_look(&facts, root, 1);
	assert_true(fabs(facts.quota - 1.5) < 1e-9);
	assert_int_equal(stat(at("/sys/fs/cgroup/job"), &group), 0);
	assert_true(facts.quota_cgroup == (int64_t)group.st_ino);
	put("/proc/self/cgroup", "0::/\n");
	nt_facts_look(&facts, root, 1);
	assert_true(fabs(facts.quota - 4) < 1e-9);
}

static void groups_of_the_first_kind_count(void **state)
{
	struct nt_facts facts;

	put("/proc/self/cgroup", "7:memory:/job/step\n4:cpu,cpuacct:/job/step\n0::/\n");
	put("/sys/fs/cgroup/cpu/job/step/cpu.cfs_quota_us", "-1\n");
	put("/sys/fs/cgroup/cpu/job/step/cpu.cfs_period_us", "100000\n");
	nt_facts_look(&facts, root, 1);
	assert_true(isnan(facts.quota));
	put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "250000\n");
	put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
	nt_facts_look(&facts, root, 1);
	assert_true(fabs(facts.quota - 2.5) < 1e-9);
	put("/proc/self/cgroup", "5:cpuset:/job\n4:cpuacct,cpu:/job\n");
	nt_facts_look(&facts, root, 1);
	assert_true(fabs(facts.quota - 2.5) < 1e-9);
	put("/proc/self/cgroup", "5:cpuset:/job\n4:cpu:/\n");
	nt_facts_look(&facts, root, 1);
	assert_true(isnan(facts.quota));
}

/* What root of the system may lock has no limit; root of a container's user namespace is a user. */
static void root_may_lock_all_memory(void **state)
{
	struct rlimit before, limit;
	struct nt_facts facts;

	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &before), 0);
	limit = before;
	limit.rlim_cur = 65536;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	put("/proc/self/status",
	    "Name:\tx\nCapPrm:\t0000000000004000\nCapEff:\t0000000000004000\n");
	nt_facts_look(&facts, root, 1);
	assert_int_equal(facts.memlock_kib, 64);
	put("/proc/self/uid_map", "         0          0 4294967295\n");
	nt_facts_look(&facts, root, 1);
	assert_true(facts.memlock_kib == NT_COUNT_MAX);
	put("/proc/self/status", "CapEff:\t0000000000000400\n");
	nt_facts_look(&facts, root, 1);
	assert_int_equal(facts.memlock_kib, 64);
	put("/proc/self/status", "CapEff:\t0000000000004000\n");
	put("/proc/self/uid_map", "0 1000 1\n");
	nt_facts_look(&facts, root, 1);
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
	assert_int_equal(facts.memlock_kib, 64);
}

static void the_sites_variables_are_those_of_its_file(void **state)
{
	struct nt_facts facts;

	put("/etc/nccl.conf", "# site\nNCCL_IB_DISABLE=1 # no\nOTHER=2\nNCCL_ALGO=Ring\n");
	nt_facts_look(&facts, root, 1);
	assert_string_equal(facts.site, "NCCL_IB_DISABLE=1 NCCL_ALGO=Ring");
	unlink(at("/etc/nccl.conf"));
	nt_facts_look(&facts, root, 1);
	assert_string_equal(facts.site, "");
}

static void what_a_gpu_is_decides_what_it_reaches(void **state)
{
	struct nt_facts facts;

	put("/dev/nvidia0", "");
	put("/proc/driver/nvidia/gpus/0000:17:00.0/information", "Model: \t NVIDIA H100\n");
	nt_facts_look(&facts, root, 1);
	assert_false(facts.geforce);
	assert_int_equal(facts.gpu_count, 1);
	put("/proc/driver/nvidia/gpus/0000:a7:00.0/information",
	    "Model: \t NVIDIA GeForce RTX 4090\n");
	setenv("CUDA_VISIBLE_DEVICES", "MIG-a1-b2", 1);
	nt_facts_look(&facts, root, 1);
	assert_true(facts.geforce);
	assert_int_equal(facts.gpu_count, -1);
	assert_string_equal(facts.gpus, "");
}

/* Slurm's cpuset has the processors of one socket; the GPU is at the other one. */
static void a_gpu_at_another_socket_is_far(void **state)
{
	struct nt_facts facts;
	char path[128];

	put("/dev/nvidia3", "");
	put("/proc/driver/nvidia/gpus/0000:17:00.0/information",
	    "Model: \t\t NVIDIA\nDevice Minor: \t 2\n");
	put("/proc/driver/nvidia/gpus/0000:a7:00.0/information",
	    "Model: \t\t NVIDIA\nDevice Minor: \t 3\n");
	put("/sys/bus/pci/devices/0000:17:00.0/local_cpulist", "0-4000\n");
	put("/sys/bus/pci/devices/0000:a7:00.0/local_cpulist", "5000-5031\n");
	for (int cpu = 0; cpu < get_nprocs_conf(); cpu++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
		put(path, "0\n");
	}
	nt_facts_look(&facts, root, 1);
	assert_false(facts.gpu_far); /* of which socket is not known */
	for (int cpu = 5000; cpu < 5032; cpu++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
		put(path, "1\n");
	}
	/* A virtual machine that does not say where its GPU is */
	put("/sys/bus/pci/devices/0000:a7:00.0/local_cpulist", "0-0,5000-5031\n");
	nt_facts_look(&facts, root, 1);
	assert_false(facts.gpu_far);
	put("/sys/bus/pci/devices/0000:a7:00.0/local_cpulist", "5000-5031\n");
	nt_facts_look(&facts, root, 1);
	assert_true(facts.gpu_far);
	put("/dev/nvidia2", ""); /* which of both? */
	nt_facts_look(&facts, root, 1);
	assert_false(facts.gpu_far);
}

static void devices_that_may_be_opened_count(void **state)
{
	struct nt_facts facts;

	put("/dev/nvidia0", "");
	put("/dev/nvidia1", "");
	put("/dev/nvidia5", "");
	put("/dev/nvidiactl", "");
	nt_facts_look(&facts, root, 1);
	assert_int_equal(facts.gpu_count, 3);
	assert_string_equal(facts.gpus, "0-1,5");
}

static void ports_are_read_in_order(void **state)
{
	struct nt_facts facts;

	put_port("mlx5_1", "1: DOWN\n", "10 Gb/sec (4X SDR)\n", "Ethernet\n");
	put_port("mlx5_0", "4: ACTIVE\n", "400 Gb/sec (4X NDR)\n", "InfiniBand\n");
	put_port("rdmap9", "4: ACTIVE\n", "100 Gb/sec\n", "Unspecified\n");
	assert_int_equal(mkdir(at("/sys/class/infiniband/rdmap9/device"), 0755), 0);
	assert_int_equal(
		symlink("../../drivers/efa", at("/sys/class/infiniband/rdmap9/device/driver")), 0);
	nt_facts_look(&facts, root, 1);
	assert_string_equal(facts.ports, "mlx5_0/1=ACTIVE,400,ib,0,0 mlx5_1/1=DOWN,10,eth,0,0 "
					 "rdmap9/1=ACTIVE,100,efa,0,0");
	put("/sys/class/infiniband/mlx5_0/fw_ver", "28.43.1014\n");
	put("/sys/class/infiniband/rdmap9/fw_ver", "a,b c\n");
	put("/sys/class/infiniband/mlx5_1/ports/1/gids/0", "fe80:0000:0000:0000:1:2:3:4\n");
	put("/sys/class/infiniband/mlx5_1/ports/1/gids/1",
	    "0000:0000:0000:0000:0000:0000:0000:0000\n");
	put("/sys/class/infiniband/mlx5_1/ports/1/gids/2",
	    "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
	put("/sys/class/infiniband/mlx5_1/ports/1/gid_attrs/ndevs/0", "ens1np0\n");
	put("/sys/class/net/ens1np0/mtu", "9000\n");
	nt_facts_look(&facts, root, 1);
	assert_string_equal(facts.ports,
			    "mlx5_0/1=ACTIVE,400,ib,0,0,28.43.1014 "
			    "mlx5_1/1=DOWN,10,eth,9000,2 rdmap9/1=ACTIVE,100,efa,0,0,a");
	assert_string_equal(facts.gdr, ""); /* there is no driver */
}

static void the_driver_tells_how_it_reaches_ports(void **state)
{
	struct nt_facts facts;

	put("/proc/driver/nvidia/version",
	    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.1\n");
	nt_facts_look(&facts, root, 1);
	assert_string_equal(facts.gdr, ""); /* there are no ports */
	put_port("mlx5_0", "4: ACTIVE\n", "400 Gb/sec (4X NDR)\n", "InfiniBand\n");
	nt_facts_look(&facts, root, 1);
	assert_string_equal(facts.gdr, "none");
	put("/sys/module/nvidia_peermem/version", "1");
	nt_facts_look(&facts, root, 1);
	assert_string_equal(facts.gdr, "peermem");
}

static void the_environment_tells_names_alone(void **state)
{
	struct nt_facts facts;

	setenv("LD_PRELOAD", "/home/alice/secret/liba.so:libb.so /x/libc.so", 1);
	setenv("CUDA_VISIBLE_DEVICES", "0,3,MIG-1234", 1);
	setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	setenv("SLURM_JOB_CPUS_PER_NODE", "64(x2)", 1);
	setenv("NCCL_TUNE_LAUNCH", "wide NCCL_MIN_NCHANNELS=32", 1);
	setenv("NCCL_TUNE_NODE", "gpus=8 iommu=off\n", 1);
	nt_facts_look(&facts, root, 1);
	unsetenv("LD_PRELOAD");
	unsetenv("NCCL_TUNE_LAUNCH");
	unsetenv("NCCL_TUNE_NODE");
	assert_string_equal(facts.seen_by_root, "gpus=8 iommu=off?");
	assert_string_equal(facts.preload, "liba.so libb.so libc.so");
	assert_int_equal(facts.visible, 3);
	assert_true(facts.blocking);
	assert_int_equal(facts.job_cpus, 64);
	assert_string_equal(facts.profile, "NCCL_MIN_NCHANNELS=32");
	setenv("CUDA_VISIBLE_DEVICES", "", 1);
	setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
	nt_facts_look(&facts, root, 1);
	assert_int_equal(facts.visible, 0);
	assert_false(facts.blocking);
}

static void a_log_in_a_shared_file_system_is_told(void **state)
{
	struct nt_facts facts;

	put("/proc/self/mountinfo", "1 0 0:1 / / rw - ext4 /dev/sda rw\n"
				    "2 1 0:2 / /home rw shared:3 - nfs4 server:/home rw\n"
				    "3 2 0:3 / /home/local rw - xfs /dev/sdb rw\n");
	setenv("NCCL_DEBUG", "info", 1);
	nt_facts_look(&facts, root, 1);
	assert_string_equal(facts.debug, "INFO");
	setenv("NCCL_DEBUG_FILE", "/home/alice/log.%h", 1);
	nt_facts_look(&facts, root, 1);
	assert_string_equal(facts.debug, "INFO shared");
	setenv("NCCL_DEBUG_FILE", "/home/local/log", 1);
	nt_facts_look(&facts, root, 1);
	assert_string_equal(facts.debug, "INFO");
	put("/proc/self/mountinfo", "1 0 0:1 / / rw - lustre server:/root rw\n");
	setenv("NCCL_DEBUG_FILE", "nccl.%h.%p.log", 1); /* in this directory */
	nt_facts_look(&facts, root, 1);
	assert_string_equal(facts.debug, "INFO shared");
	setenv("NCCL_DEBUG_FILE", "stderr", 1);
	nt_facts_look(&facts, root, 1);
	assert_string_equal(facts.debug, "INFO");
	put("/proc/self/mountinfo", "1 0 0:1 / / rw - ext4 /dev/sda rw\n"
				    "2 1 0:2 / /home rw shared:3 - nfs4 server:/home rw\n");
	setenv("NCCL_DEBUG_FILE", "/homes/log", 1);
	nt_facts_look(&facts, root, 1);
	assert_string_equal(facts.debug, "INFO");
	setenv("NCCL_DEBUG", "WARN", 1);
	nt_facts_look(&facts, root, 1);
	assert_string_equal(facts.debug, "");
}

static void limits_are_the_processs(void **state)
{
	struct rlimit before, limit;
	struct nt_facts facts;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = 200;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	nt_facts_look(&facts, root, 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(facts.nofile, 200);
}

/* ---- the link to other nodes: two network namespaces, which only root can make */

static bool has_namespaces(void)
{
	return system("ip link >/dev/null 2>&1 && unshare --net true 2>/dev/null && "
		      "command -v nsenter >/dev/null") == 0;
}

static struct sockaddr_in address_of(const char *text)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(7000) };

	assert_int_equal(inet_pton(AF_INET, text, &address.sin_addr), 1);
	return address;
}

/* The other node: its end of the link comes later. */
static void be_peer(int told)
{
	const struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(7000) };
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		_exit(1);
	fd = socket(AF_INET6, SOCK_STREAM, 0); /* for both */
	if (bind(fd, (const struct sockaddr *)&any, sizeof(any)) < 0 || listen(fd, 4) < 0 ||
	    write(told, "x", 1) != 1)
		_exit(1);
	alarm(60);
	for (;;)
		pause();
}

static int join(pid_t peer, const char *name, const char *net)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "ip link add %s type veth peer name %s netns %d && ip addr add %s.2/24 dev %s && "
		 "ip link set %s up && nsenter -t %d -n ip addr add %s.1/24 dev %s && "
		 "nsenter -t %d -n ip link set %s up",
		 name, name, (int)peer, net, name, name, (int)peer, net, name, (int)peer, name);
	return system(command);
}

static void join_by_ipv6(pid_t peer)
{
	char command[512];

	snprintf(
		command, sizeof(command),
		"ip addr add fd77::2/64 dev fast0 nodad && nsenter -t %d -n ip addr add fd77::1/64 "
		"dev fast0 nodad && ip link add bare0 type veth peer name bare0 netns %d && "
		"ip link set bare0 up && nsenter -t %d -n ip link set bare0 up",
		(int)peer, (int)peer, (int)peer);
	assert_int_equal(system(command), 0);
}

/* Over the other link; one that has only the address that Linux gives it connects no nodes. */
static void look_by_ipv6(void)
{
	struct sockaddr_in6 other = { .sin6_family = AF_INET6, .sin6_port = htons(7000) };
	struct nt_facts facts;
	int fd = socket(AF_INET6, SOCK_STREAM, 0);

	assert_int_equal(inet_pton(AF_INET6, "fd77::1", &other.sin6_addr), 1);
	assert_int_equal(connect(fd, (const struct sockaddr *)&other, sizeof(other)), 0);
	put("/sys/class/net/bare0/speed", "400000\n");
	nt_facts_look(&facts, root, 2);
	assert_string_equal(facts.link, "fast0");
	assert_null(strstr(facts.links, "bare0"));
	assert_non_null(strstr(facts.links, "fast0=100000"));
	close(fd);
}

static void look_from_node(pid_t peer)
{
	static const struct {
		const char *list, *first;
	} taken[] = {
		{ "fast", "fast0" },	 { "=fast0", "fast0" },
		{ "=fast", "-=fast" },	 { "ib,fast", "fast0" },
		{ "ib", "-ib" },	 { "^lo,slow", "fast0" },
		{ "^fast,lo", "slow0" }, { "", "" },
	};
	const struct sockaddr_in other = address_of("10.77.1.1");
	struct nt_facts facts;
	int fd;

	assert_int_equal(unshare(CLONE_NEWNET), 0);
	assert_int_equal(join(peer, "slow0", "10.77.1"), 0);
	assert_int_equal(join(peer, "fast0", "10.77.2"), 0);
	join_by_ipv6(peer);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&other, sizeof(other)), 0);
	put("/sys/class/net/slow0/speed", "1000\n");
	put("/sys/class/net/fast0/speed", "100000\n");
	nt_facts_look(&facts, root, 2);
	assert_string_equal(facts.link, "slow0");
	assert_string_equal(facts.links, "slow0=1000 fast0=100000");
	put("/sys/class/net/slow0/speed", "-1\n"); /* as of some virtual ones */
	nt_facts_look(&facts, root, 2);
	assert_string_equal(facts.link, "slow0");
	assert_string_equal(facts.links, "fast0=100000");
	for (size_t i = 0; i < LENGTH(taken); i++) {
		setenv("NCCL_SOCKET_IFNAME", taken[i].list, 1);
		nt_facts_look(&facts, root, 2);
		assert_string_equal(facts.ifname, taken[i].first);
	}
	nt_facts_look(&facts, root, 1);
	unsetenv("NCCL_SOCKET_IFNAME");
	assert_string_equal(facts.ifname, "");
	assert_string_equal(facts.link, "");
	close(fd);
	look_by_ipv6();
}

static void the_link_is_that_of_its_own_connections(void **state)
{
	int told[2], was = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	char byte;
	pid_t peer;

	if (!has_namespaces())
		skip();
	assert_int_equal(pipe(told), 0);
	peer = fork();
	if (peer == 0)
		be_peer(told[1]);
	assert_int_equal(read(told[0], &byte, 1), 1);
	look_from_node(peer);
	assert_int_equal(setns(was, CLONE_NEWNET), 0);
	kill(peer, SIGKILL);
	waitpid(peer, NULL, 0);
	close(was);
}

UNIT_TESTS_EACH(begin, end, an_empty_system_tells_nothing, processors_are_those_of_all_threads,
		lists_are_as_linux_writes_them, the_fewest_processors_of_a_node_count,
		the_smallest_quota_of_the_groups_counts, groups_of_the_first_kind_count,
		root_may_lock_all_memory, the_sites_variables_are_those_of_its_file,
		what_a_gpu_is_decides_what_it_reaches, a_gpu_at_another_socket_is_far,
		devices_that_may_be_opened_count, ports_are_read_in_order,
		the_driver_tells_how_it_reaches_ports, the_environment_tells_names_alone,
		a_log_in_a_shared_file_system_is_told, limits_are_the_processs,
		the_link_is_that_of_its_own_connections);
