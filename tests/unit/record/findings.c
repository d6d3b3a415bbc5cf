/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Set-ups with one thing wrong, and set-ups that come near. */
#include "record/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/step.h"
#include "tests/lib/unit.h"

#define RANKS_MAX 16
#define SLOWER "11:NCCL 2.27.5:2026-10-02:4711" /* what the memory says */

struct setup {
	const char *name;
	int nodes, per_node;
	/* "WHO: NAME=VALUE;NAME=VALUE|WHO: ...", of all ranks (*), of one (3), of a node (n1); or
	 * "small_shm" */
	const char *change;
	const char *found; /* codes, the worst first; "": nothing */
	const char *says; /* what the first one's text contains */
};

static void set_number(int64_t *out, const char *value)
{
	*out = strcmp(value, "unlimited") == 0 ? NT_COUNT_MAX : strtoll(value, NULL, 10);
}

static void set_rest(struct nt_facts_seen *seen, const char *name, const char *value)
{
	if (strcmp(name, "quota") == 0)
		seen->facts.quota = strtod(value, NULL);
	else if (strcmp(name, "far") == 0)
		seen->facts.gpu_far = true;
	else if (strcmp(name, "smt") == 0)
		seen->facts.smt = true;
	else if (strcmp(name, "geforce") == 0)
		seen->facts.geforce = true;
	else if (strcmp(name, "blocking") == 0)
		seen->facts.blocking = true;
	else
		fail_msg("no fact is called %s", name);
}

static void set(struct nt_facts_seen *seen, const char *name, const char *value)
{
	const struct {
		const char *name;
		char *at;
		size_t bytes;
	} texts[] = {
		{ "cpus", seen->facts.cpus, sizeof(seen->facts.cpus) },
		{ "gpus", seen->facts.gpus, sizeof(seen->facts.gpus) },
		{ "preload", seen->facts.preload, sizeof(seen->facts.preload) },
		{ "debug", seen->facts.debug, sizeof(seen->facts.debug) },
		{ "ports", seen->facts.ports, sizeof(seen->facts.ports) },
		{ "links", seen->facts.links, sizeof(seen->facts.links) },
		{ "link", seen->facts.link, sizeof(seen->facts.link) },
		{ "ifname", seen->facts.ifname, sizeof(seen->facts.ifname) },
		{ "gdr", seen->facts.gdr, sizeof(seen->facts.gdr) },
		{ "profile", seen->facts.profile, sizeof(seen->facts.profile) },
		{ "site", seen->facts.site, sizeof(seen->facts.site) },
		{ "comm", seen->comm, sizeof(seen->comm) },
		{ "root", seen->facts.seen_by_root, sizeof(seen->facts.seen_by_root) },
		{ "driver", seen->driver, sizeof(seen->driver) },
		{ "fabric", seen->fabric, sizeof(seen->fabric) },
		{ "library", seen->library, sizeof(seen->library) },
		{ "variables", seen->variables, sizeof(seen->variables) },
		{ "inside", seen->inside, sizeof(seen->inside) },
	};
	const struct {
		const char *name;
		int64_t *at;
	} numbers[] = {
		{ "cpu_count", &seen->facts.cpu_count },
		{ "quota_cgroup", &seen->facts.quota_cgroup },
		{ "nodes", &seen->nodes },
		{ "online", &seen->facts.online },
		{ "job_cpus", &seen->facts.job_cpus },
		{ "shm_mb", &seen->facts.shm_mb },
		{ "gpu_count", &seen->facts.gpu_count },
		{ "visible", &seen->facts.visible },
		{ "memlock_kib", &seen->facts.memlock_kib },
		{ "nofile", &seen->facts.nofile },
		{ "stack_kib", &seen->facts.stack_kib },
		{ "threads", &seen->facts.threads },
		{ "task", &seen->task },
		{ "ranks", &seen->ranks },
	};

	for (size_t i = 0; i < LENGTH(texts); i++) {
		if (strcmp(texts[i].name, name) == 0) {
			snprintf(texts[i].at, texts[i].bytes, "%s", value);
			return;
		}
	}
	for (size_t i = 0; i < LENGTH(numbers); i++) {
		if (strcmp(numbers[i].name, name) == 0) {
			set_number(numbers[i].at, value);
			return;
		}
	}
	set_rest(seen, name, value);
}

static void set_all(struct nt_facts_seen *seen, const char *what)
{
	char copy[1024], *at = copy, *pair;

	snprintf(copy, sizeof(copy), "%s", what);
	while ((pair = strsep(&at, ";")) != NULL) {
		char *value = strchr(pair, '=');

		assert_non_null(value);
		*value++ = '\0';
		set(seen, pair, value);
	}
}

/* A node of 16 processors and 8 GPUs with two InfiniBand ports; a job that has it all. */
static const char healthy[] =
	"online=16;job_cpus=16;shm_mb=64000;gpu_count=8;gpus=0-7;memlock_kib=unlimited;"
	"nofile=65536;stack_kib=8192;fabric=ib;library=/usr/lib/libnccl.so.2.28.9;"
	"ports=mlx5_0/1=ACTIVE,400,ib mlx5_1/1=ACTIVE,400,ib;links=eth0=25000;link=eth0;gdr=peermem";

static void change(struct nt_facts_seen *seen, const char *changes)
{
	char copy[1024], rank[16], *at = copy, *who;

	snprintf(rank, sizeof(rank), "%d", (int)seen->rank);
	assert_true((size_t)snprintf(copy, sizeof(copy), "%s", changes) < sizeof(copy));
	while ((who = strsep(&at, "|")) != NULL) {
		char *what = strstr(who, ": ");

		if (!what) {
			assert_true(!*who || strcmp(who, "small_shm") == 0);
			continue;
		}
		*what = '\0';
		who += strspn(who, " ");
		if (strcmp(who, "*") == 0 || strcmp(who, rank) == 0 || strcmp(who, seen->node) == 0)
			set_all(seen, what + 2);
	}
}

static void make(struct nt_facts_seen seen[RANKS_MAX], const struct setup *setup)
{
	const int count = setup->nodes * setup->per_node, own = 16 / setup->per_node;

	for (int i = 0; i < count; i++) {
		const int local = i % setup->per_node;

		memset(&seen[i], 0, sizeof(seen[i]));
		nt_fields_clear(&nt_facts_fields, &seen[i].facts);
		seen[i].rank = seen[i].task = i;
		seen[i].ranks = count;
		snprintf(seen[i].node, sizeof(seen[i].node), "n%d", i / setup->per_node);
		snprintf(seen[i].facts.cpus, sizeof(seen[i].facts.cpus), "%d-%d", local * own,
			 local * own + own - 1);
		seen[i].facts.cpu_count = own;
		set_all(&seen[i], healthy);
		change(&seen[i], setup->change);
	}
}

static void judge(const struct setup *setup, struct nt_findings *findings)
{
	static struct nt_facts_seen seen[RANKS_MAX];
	char found[256] = "";
	int64_t nodes = setup->nodes; /* of the step: also those that have told nothing */

	make(seen, setup);
	for (int i = 0; i < setup->nodes * setup->per_node; i++)
		nodes = seen[i].nodes > nodes ? seen[i].nodes : nodes;
	nt_findings_judge(findings, seen, (size_t)(setup->nodes * setup->per_node), nodes,
			  strstr(setup->change, "small_shm"),
			  strcmp(setup->found, "slower") == 0 ? SLOWER : "");
	for (size_t i = 0; i < findings->count; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s",
			 i > 0 ? " " : "", nt_finding_code(findings->item[i].id));
	if (strcmp(found, setup->found) != 0)
		fail_msg("%s: found '%s' (%s), want '%s'", setup->name, found,
			 findings->count > 0 ? findings->item[0].text : "", setup->found);
}

/* clang-format off */
#define IB "ACTIVE,400,ib,0,0,"
#define PORTS(a, b) "ports=mlx5_0/1=" a " mlx5_1/1=" b

static const struct setup planted[] = {
	{ "-c1 is not passed on", 1, 8, "*: cpus=0;cpu_count=1",
	  "cpus", "8 ranks:share 1 processor, of the 16 that the job has there:NCCL and the program wait for each other:srun --cpus-per-task=2" },
	{ "a processor each", 2, 4, "*: cpu_count=1|0: cpus=0|1: cpus=1|2: cpus=2|3: cpus=3",
	  "cpus", "have 1 processor" },
	{ "one task for all ranks of a node, of one processor", 1, 4, "*: cpus=3;cpu_count=1;task=0",
	  "cpus", "share 1 processor, of the 16" },
	{ "a job that has asked for one processor, and runs torchrun", 1, 4, "*: cpus=3;cpu_count=1;task=0;job_cpus=1",
	  "cpus", "4 ranks:share 1 processor, of the 16 that the node has:NCCL and the program wait for each other:sbatch and srun --cpus-per-task=8" },
	{ "a cgroup's quota", 1, 2, "*: quota=1", "cpus", "have 1 processor each, of the 16" },
	{ "one rank is bound to one processor", 1, 4, "2: cpus=8;cpu_count=1", "cpus", "A rank:has 1 processor, of" },
	{ "GPU times have no room", 1, 2, "small_shm|*: shm_mb=64", "shm", "n0:64:2" },
	{ "... on one node", 2, 2, "small_shm|n1: shm_mb=64", "shm", "n1:64:2" },
	{ "another algorithm on one rank", 2, 2, "3: variables=NCCL_NVLS_ENABLE=0",
	  "differs", "n1:NCCL_NVLS_ENABLE is 0:rank 3 (n1):not set on 3 others" },
	{ "NCCL_ALGO on one rank", 2, 2, "1: variables=NCCL_ALGO=Tree", "left differs", "NCCL_ALGO=Tree" },
	{ "a node lacks a variable", 4, 2, "*: variables=NCCL_CROSS_NIC=1|n2: variables=",
	  "differs", "n2:NCCL_CROSS_NIC is not set:2 ranks of n2:1 on 6 others" },
	{ "the program sets a variable in one rank", 1, 4, "0: inside=NCCL_NTHREADS=64", "differs", "rank 0 (n0)" },
	{ "another NCCL in one container", 2, 1, "n1: library=/opt/libnccl.so.2.27.5", "differs", "NCCL's library" },
	{ "LD_PRELOAD on one node", 3, 1, "n2: preload=libfoo.so", "differs", "n2:LD_PRELOAD is libfoo.so" },
	{ "a node sees fewer devices", 3, 1, "*: visible=8|n1: visible=4",
	  "differs", "n1:CUDA_VISIBLE_DEVICES is 4 devices" },
	{ "a node's limit of files is low", 3, 1, "n1: nofile=4096",
	  "differs", "n1:the limit of open files is 4096" },
	{ "P2P is off", 1, 4, "*: variables=NCCL_P2P_DISABLE=1",
	  "left", ":NCCL_P2P_DISABLE=1:in the job or its image:" },
	{ "SHM is off", 2, 2, "*: inside=NCCL_SHM_DISABLE=1", "left", "by the program, a plugin or nccl.conf" },
	{ "IB is off", 2, 1, "*: variables=NCCL_IB_DISABLE=1;fabric=socket", "sockets left", "mlx5_0/1" },
	{ "GPUDirect is kept to one PCIe switch less", 2, 1, "*: variables=NCCL_NET_GDR_LEVEL=LOC",
	  "left", "NCCL_NET_GDR_LEVEL=LOC" },
	{ "a protocol is left over", 2, 1, "*: variables=NCCL_DEBUG_X=1 NCCL_PROTO=Simple",
	  "left", "NCCL_PROTO=Simple" },
	{ "many channels", 1, 4, "*: variables=NCCL_MIN_NCHANNELS=32", "left", "" },
	{ "small buffers", 1, 4, "*: variables=NCCL_BUFFSIZE=131072", "left", "" },
	{ "CUDA_LAUNCH_BLOCKING", 1, 4, "*: blocking=1", "left", "CUDA_LAUNCH_BLOCKING" },
	{ "a trace", 1, 4, "*: debug=TRACE", "left", "NCCL_DEBUG=TRACE" },
	{ "INFO into a shared file system", 2, 4, "*: debug=INFO shared", "left", "NCCL_DEBUG_FILE" },
	{ "no device files in the container", 2, 1, "*: fabric=socket", "sockets", "mlx5_0/1, 400 Gbit/s" },
	{ "EFA without its plugin", 2, 1, "*: fabric=socket;ports=rdmap0/1=ACTIVE,100,efa;gdr=",
	  "sockets", "rdmap0/1" },
	{ "the slow one of two links", 2, 1, "*: fabric=socket;ports=;gdr=;links=eth0=1000 eth1=100000",
	  "interface", ":NCCL sends between nodes over eth0:eth1: with 1000 Mbit/s, although all nodes also have eth1 with 100000" },
	{ "an interface that one node has not", 2, 1, "*: ifname=ib0|n1: ifname=-ib0",
	  "interface", "n1:NCCL_SOCKET_IFNAME=ib0 names no interface:eth0:" },
	{ "a container's bridge", 2, 1, "*: ifname=docker0", "interface", "NCCL_SOCKET_IFNAME takes docker0" },
	{ "a port is down on one of three nodes", 3, 1, "n1: " PORTS("ACTIVE,400,ib", "DOWN,10,ib"),
	  "ports", "n1:port mlx5_1/1 is DOWN:ACTIVE on 2 others" },
	{ "... of two", 2, 1, "n0: " PORTS("INIT,400,ib", "ACTIVE,400,ib"), "ports", "n0:port mlx5_0/1 is INIT" },
	{ "a slower rail", 4, 1, "n3: " PORTS("ACTIVE,400,ib", "ACTIVE,100,ib"),
	  "ports", "n3:port mlx5_1/1 has 100 Gbit/s:400 on 3 others" },
	{ "two nodes of four with a port down", 4, 1, "n0: " PORTS("ACTIVE,400,ib", "DOWN,10,ib") "|n3: " PORTS("ACTIVE,400,ib", "DOWN,10,ib"),
	  "ports ports", "n0:port mlx5_1/1 is DOWN:ACTIVE on 2" },
	{ "no nvidia_peermem", 2, 1, "*: gdr=none",
	  "gdr", "gdr:n0 and 1 more node:host memory:modprobe nvidia_peermem, or NVIDIA's open kernel modules:nvidia_peermem is not loaded" },
	{ "... on one node", 3, 1, "n2: gdr=none", "gdr", "nvidia_peermem is not loaded, and not on the others" },
	{ "ACS at the bridges of all nodes", 2, 2, "*: root=gpus=8 iommu=off acs=0000:17:01.0+8",
	  "gdr", "gdr:n0 and 1 more node:the processor:off for bridges, in the firmware or by setpci:PCIe ACS is on at 0000:17:01.0 and others, in all 8" },
	{ "... at one bridge of one node", 3, 1, "*: root=gpus=8 iommu=off|n2: root=gpus=8 iommu=off acs=0000:17:01.0",
	  "gdr", "n2:the processor:" },
	{ "an IOMMU that one node has left on", 4, 1, "*: root=gpus=8 iommu=identity|n1: root=gpus=8 iommu=DMA-FQ",
	  "gdr", "n1:the IOMMU:iommu=pt for Linux:it translates addresses, and not on the others" },
	{ "... of two nodes", 2, 1, "n0: root=gpus=8 iommu=DMA|n1: root=gpus=8 iommu=off", "gdr", "n0:the IOMMU:" },
	{ "a GPU has left the bus", 3, 1, "*: root=gpus=8 iommu=off|n1: root=gpus=7 iommu=off",
	  "ports", "n1:there are 7 GPUs:8 on 2 others" },
	{ "three of four GPUs", 4, 1, "*: root=gpus=4|n3: root=gpus=3",
	  "ports", "n3:there are 3 GPUs:4 on 3 others" },
	{ "another driver on one node", 3, 1, "*: driver=570.86.15|n0: driver=550.54.14",
	  "ports", "n0:the GPU driver is 550.54.14:570.86.15 on 2 others" },
	{ "old firmware of one node", 4, 1, "*: " PORTS(IB "28.43.1014", IB "28.43.1014") "|n2: " PORTS(IB "28.39.1002", IB "28.39.1002"),
	  "ports", "n2:port mlx5_0/1 has firmware 28.39.1002:28.43.1014 on 3 others" },
	{ "... of its second card", 3, 1, "*: " PORTS(IB "28.43.1014", IB "28.43.1014") "|n2: " PORTS(IB "28.43.1014", IB "28.39.1002"),
	  "ports", "n2:port mlx5_1/1 has firmware 28.39.1002" },
	{ "a small MTU on one node", 3, 1, "*: " PORTS("ACTIVE,200,eth,9000,4,26.1", "ACTIVE,200,eth,9000,4,26.1") "|n1: " PORTS("ACTIVE,200,eth,9000,4,26.1", "ACTIVE,200,eth,1500,4,26.1"),
	  "ports", "n1:port mlx5_1/1 has an MTU of 1500:9000 on 2 others" },
	{ "a port of RoCE without an address", 4, 1, "*: " PORTS("ACTIVE,200,eth,9000,4,26.1", "ACTIVE,200,eth,9000,4,26.1") "|n3: " PORTS("ACTIVE,200,eth,9000,2,26.1", "ACTIVE,200,eth,9000,2,26.1"),
	  "ports", "n3:port mlx5_0/1 has 2 GIDs:4 on 3 others" },
	{ "a limit of threads", 1, 4, "*: threads=128", "limits", "4 ranks:have only 128 threads" },
	{ "an earlier NCCL was faster", 1, 2, "", "slower", "slower::" SLOWER },
	{ "hetjob: the second component has a processor a task", 2, 4, "n1: cpus=0;cpu_count=1",
	  "cpus", "n1:4 ranks:share 1 processor" },
	{ "processors of the socket that the GPU is not at", 2, 2, "1: far=1|2: far=1",
	  "cpus", "n0 and 1 more node:2 ranks:have only processors of another socket than their GPU's:" },
	{ "a cpuset of two threads of one core for two ranks", 1, 2, "*: cpus=0,8;cpu_count=2",
	  "cpus", "share 2 processors" },
	{ "NCCL's channels are few", 1, 4, "*: variables=NCCL_MAX_NCHANNELS=1", "left", "NCCL_MAX_NCHANNELS=1" },
	{ "a GPU for each rank, by cgroups", 1, 2, "0: gpus=0;gpu_count=1|1: gpus=1;gpu_count=1",
	  "gpus", "n0:2:1:2" },
	{ "... on all nodes", 2, 2, "*: gpu_count=1|0: gpus=0|1: gpus=1|2: gpus=0|3: gpus=1",
	  "gpus", "n0 and 1 more node:2:1:2" },
	{ "locked memory with RDMA", 2, 1, "*: memlock_kib=64", "limits", "lock only 64 KiB" },
	{ "few files", 2, 8, "*: nofile=256", "limits", "have only 256 files" },
	{ "stacks without a limit", 2, 1, "*: stack_kib=unlimited", "limits", "stacks" },
	{ "a quota that all ranks share", 1, 4, "*: quota=4;quota_cgroup=77",
	  "cpus", "4 ranks:share 4 processors, of the 16 that the job has there:NCCL and the program wait for each other:raise cpu.max" },
	{ "two tasks of two ranks and two GPUs each, by cgroups", 1, 4, "*: gpus=0-1;gpu_count=2|2: gpus=2-3;task=2|3: gpus=2-3;task=2",
	  "gpus", "n0:4:2:4" },
	{ "P2P is allowed nowhere", 1, 4, "*: variables=NCCL_P2P_LEVEL=LOC", "left", "NCCL_P2P_LEVEL=LOC" },
	{ "many and few CTAs", 1, 4, "*: variables=NCCL_MIN_CTAS=64 NCCL_MAX_CTAS=1", "left left", "" },
	{ "a process that has loaded OpenSSL, by sockets", 2, 1, "*: fabric=tls", "sockets", "mlx5_0/1" },
	{ "... over the slow link", 2, 1, "*: fabric=tls;ports=;gdr=;links=eth0=1000 ib0=200000",
	  "interface", "over eth0:ib0:" },
	{ "EFA's cards, where the link's speed is not known", 2, 1, "*: fabric=socket;ports=rdmap0/1=ACTIVE,100,efa;gdr=;links=;link=ens5",
	  "sockets", "rdmap0/1" },
	{ "nccl.conf sets one thing, and the user another", 2, 1, "*: site=NCCL_IB_DISABLE=0;variables=NCCL_IB_DISABLE=1;fabric=socket",
	  "sockets left", "" },
	{ "another value in one of two programs' ranks", 1, 4, "*: comm=a|2: comm=b|3: comm=b;variables=NCCL_NVLS_ENABLE=0",
	  "differs", "rank 3 (n0)" },
	{ "a node whose ranks' memory may not be locked", 3, 1, "n1: memlock_kib=524288",
	  "differs", "n1:the limit of locked memory (KiB) is 524288" },
	{ "a slow card of the same kind", 2, 1, "*: " PORTS(IB "28.43.1014", IB "28.43.1014") "|n1: " PORTS("ACTIVE,200,ib,0,0,28.43.1014", IB "28.43.1014"),
	  "ports", "n1:port mlx5_0/1 has 200 Gbit/s:400 on 1 other" },
	{ "ports that are down, one of them slow when it was up", 3, 1, "n1: " PORTS("ACTIVE,100,ib", "DOWN,10,ib"),
	  "ports ports", "n1:port mlx5_0/1 has 100" },
	{ "the slow one of two links, which have other names on each node", 2, 1, "*: fabric=socket;ports=;gdr=|n0: links=eth0=1000,10.0.0.1/24 eth1=100000,10.1.0.1/24;link=eth0|n1: links=enp3s0=100000,10.1.0.2/24 eno1=1000,10.0.0.2/24;link=eno1",
	  "interface", "over eth0:eth1,enp3s0: with 1000 Mbit/s, although all nodes also have eth1,enp3s0 with 100000" },
	{ "... and networks of IPv6", 2, 1, "*: fabric=socket;ports=;gdr=|n0: links=eth0=1000,fd00::1/64 hsn0=200000,fd00:0:0:1::1/63;link=eth0|n1: links=eth0=1000,fd00::2/64 hsn0=200000,fd00::9/63;link=eth0",
	  "interface", "over eth0:hsn0:" },
	{ "sockets by IP over InfiniBand", 2, 2, "*: fabric=socket;links=eth0=1000 ibp12s0=400000;link=ibp12s0",
	  "sockets", "mlx5_0/1, 400 Gbit/s" },
	{ "RoCE with addresses, and a slower link of the computer centre", 2, 1, "*: fabric=socket;ports=mlx5_bond_0/1=ACTIVE,200,eth,9000,4,22.1;gdr=;links=eno1=1000;link=eno1",
	  "sockets", "mlx5_bond_0/1, 200 Gbit/s" },
	{ "a processor for each rank, of cores with two threads of which the job has many", 2, 4, "*: smt=1;cpu_count=1|0: cpus=0|1: cpus=1|2: cpus=2|3: cpus=3",
	  "cpus", "4 ranks:have 1 processor each, of the 16" },
	{ "all ranks on one thread, of cores with two", 1, 4, "*: smt=1;cpus=0;cpu_count=1;job_cpus=8",
	  "cpus", "4 ranks:share 1 processor, of the 8" },
	{ "one processor for the ranks of a node, one of which was killed before it told anything", 1, 4, "*: nodes=1;ranks=5;cpus=0;cpu_count=1",
	  "cpus", "4 ranks:share 1 processor, of the 16" },
	{ "a port is down, and one node of four has told nothing", 3, 1, "*: nodes=4;ranks=4|n1: " PORTS("ACTIVE,400,ib", "DOWN,10,ib"),
	  "ports", "n1:port mlx5_1/1 is DOWN:ACTIVE on 2 others" },
};

static const struct setup fine[] = {
	{ "nothing is wrong", 2, 8, "", "", "" },
	{ "one rank alone, with one processor", 1, 1, "*: cpus=0;cpu_count=1", "", "" },
	{ "docker --gpus 1", 1, 1, "*: gpus=3;gpu_count=1;shm_mb=64;job_cpus=-1;visible=1", "", "" },
	{ "a laptop", 1, 1, "*: gpus=0;gpu_count=1;ports=;fabric=any;memlock_kib=64;nofile=1024;job_cpus=-1", "", "" },
	{ "the job has no more processors", 1, 8, "*: cpus=0-7;cpu_count=8;job_cpus=8", "", "" },
	{ "all processors of a small node, of which Slurm thinks it is large", 2, 2, "*: cpus=0-1;cpu_count=2;online=2;job_cpus=64", "", "" },
	{ "two processors each", 1, 8, "*: cpus=0-15;cpu_count=16", "", "" },
	{ "no task binding at all", 1, 4, "*: cpus=0-127;cpu_count=128;online=128;job_cpus=128", "", "" },
	{ "a job of one processor without GPUs", 1, 4, "*: cpus=3;cpu_count=1;task=0;job_cpus=1;gpus=;gpu_count=0", "", "" },
	{ "a job of one processor on a small node", 1, 4, "*: cpus=1;cpu_count=1;task=0;job_cpus=1;online=4", "", "" },
	{ "not started by Slurm", 1, 4, "*: cpus=0;cpu_count=1;job_cpus=-1", "", "" },
	{ "a quota that is enough", 1, 4, "*: quota=4", "", "" },
	{ "a small /dev/shm that is enough", 1, 2, "*: shm_mb=64", "", "" },
	{ "a large /dev/shm that cannot be written to", 1, 2, "small_shm|*: shm_mb=256", "", "" },
	{ "files of each rank's own", 1, 4, "0: variables=NCCL_TOPO_DUMP_FILE=/a NCCL_GRAPH_DUMP_FILE=/b", "", "" },
	{ "an interface of each node's own", 2, 1, "n0: variables=NCCL_SOCKET_IFNAME=eno1 NCCL_IB_HCA=mlx5_0|n1: variables=NCCL_SOCKET_IFNAME=enp3s0 NCCL_IB_HCA=mlx5_2", "", "" },
	{ "a rank's number", 1, 2, "0: variables=NCCL_LOCAL_RANK=0|1: variables=NCCL_LOCAL_RANK=1", "", "" },
	{ "hosts' ids", 2, 1, "0: variables=NCCL_HOSTID=a|1: variables=NCCL_HOSTID=b", "", "" },
	{ "another program in a smaller communicator", 2, 2, "3: ranks=2;variables=NCCL_ALGO=Tree;blocking=1", "", "" },
	{ "P2P is off, with one rank a node", 2, 1, "*: variables=NCCL_P2P_DISABLE=1", "", "" },
	{ "P2P is on", 1, 4, "*: variables=NCCL_P2P_DISABLE=0", "", "" },
	{ "IB is off where there is none", 2, 1, "*: variables=NCCL_IB_DISABLE=1;fabric=socket;ports=;gdr=", "", "" },
	{ "IB is off on one node", 1, 4, "*: variables=NCCL_IB_DISABLE=1;fabric=any", "", "" },
	{ "GPUDirect is allowed further", 2, 1, "*: variables=NCCL_NET_GDR_LEVEL=SYS", "", "" },
	{ "an algorithm is excluded", 2, 1, "*: variables=NCCL_ALGO=^NVLS NCCL_PROTO=^LL128", "", "" },
	{ "some channels", 1, 4, "*: variables=NCCL_MIN_NCHANNELS=8 NCCL_MAX_NCHANNELS=16", "", "" },
	{ "large buffers", 1, 4, "*: variables=NCCL_BUFFSIZE=8388608", "", "" },
	{ "a launch profile's variables", 1, 4, "*: variables=NCCL_BUFFSIZE=131072;profile=NCCL_BUFFSIZE=131072", "", "" },
	{ "INFO on the standard output", 2, 4, "*: debug=INFO", "", "" },
	{ "sockets on one node", 1, 8, "*: fabric=socket", "", "" },
	{ "a node without RDMA", 2, 1, "*: fabric=socket|n1: ports=;gdr=", "", "" },
	{ "a slow port for storage", 2, 1, "*: fabric=socket;ports=mlx5_0/1=ACTIVE,100,ib;gdr=;links=eth0=400000", "", "" },
	{ "a slow link for connecting, with RDMA", 2, 1, "*: links=eth0=1000 eth1=100000", "", "" },
	{ "a link that is a little slower", 2, 1, "*: fabric=socket;ports=;gdr=;links=eth0=25000 eth1=100000", "", "" },
	{ "a fast link that one node lacks", 2, 1, "*: fabric=socket;ports=;gdr=;links=eth0=1000|n0: links=eth0=1000 eth1=100000", "", "" },
	{ "an interface that is chosen well", 2, 1, "*: ifname=eth0", "", "" },
	{ "a link whose speed is not known", 2, 1, "*: fabric=socket;ports=;gdr=;links=eth1=100000;link=br0", "", "" },
	{ "the second port is unused on all nodes", 3, 1, "*: " PORTS("ACTIVE,400,ib", "DOWN,10,ib"), "", "" },
	{ "... and used on one", 3, 1, "*: " PORTS("ACTIVE,400,ib", "DOWN,10,ib") "|n1: " PORTS("ACTIVE,400,ib", "ACTIVE,400,ib"), "", "" },
	{ "nodes of two kinds", 2, 1, "n1: ports=mlx5_bond_0/1=ACTIVE,200,eth", "", "" },
	{ "half of the nodes are slower", 2, 1, "n0: gdr=dmabuf", "", "" },
	{ "a port is down, on one node", 1, 8, "*: " PORTS("ACTIVE,400,ib", "DOWN,10,ib"), "", "" },
	{ "no nvidia_peermem, over sockets", 2, 1, "*: gdr=none;fabric=socket;ports=mlx5_0/1=ACTIVE,10,ib", "", "" },
	{ "a device for each rank, in CUDA alone", 1, 4, "*: visible=1", "", "" },
	{ "MIG: two ranks on one GPU", 1, 2, "*: gpus=0;gpu_count=1", "", "" },
	{ "one GPU and one rank a node", 2, 1, "*: gpus=0;gpu_count=1", "", "" },
	{ "little locked memory without RDMA", 2, 1, "*: memlock_kib=64;fabric=socket;ports=;gdr=", "", "" },
	{ "1024 files for a few ranks", 2, 8, "*: nofile=1024", "", "" },
	{ "a program that raises its own limit", 1, 4, "0: nofile=131072", "", "" },
	{ "an IOMMU on all nodes, as on Grace", 2, 2, "*: root=gpus=4 iommu=DMA-FQ", "", "" },
	{ "... on most nodes", 3, 1, "*: root=gpus=8 iommu=DMA|n1: root=gpus=8 iommu=identity", "", "" },
	{ "ACS, over sockets", 2, 1, "*: root=gpus=8 acs=0000:17:01.0+8;fabric=socket;ports=;gdr=", "", "" },
	{ "ACS on one node that is all of the step", 1, 8, "*: root=gpus=8 acs=0000:17:01.0+8", "", "" },
	{ "nodes with four and with eight GPUs", 3, 1, "*: root=gpus=8|n2: root=gpus=4", "", "" },
	{ "a node with more GPUs", 3, 1, "*: root=gpus=7|n2: root=gpus=8", "", "" },
	{ "two nodes: which of both lacks a GPU?", 2, 1, "n0: root=gpus=8|n1: root=gpus=7", "", "" },
	{ "a driver is being updated", 4, 1, "*: driver=570.86.15|n0: driver=550.54.14|n1: driver=550.54.14", "", "" },
	{ "the driver of a node is not known", 3, 1, "*: driver=570.86.15|n0: driver=", "", "" },
	{ "firmware is being updated", 4, 1, "*: " PORTS(IB "28.43.1014", IB "28.43.1014") "|n2: " PORTS(IB "28.39.1002", IB "28.39.1002") "|n3: " PORTS(IB "28.39.1002", IB "28.39.1002"), "", "" },
	{ "records of an older release on one node", 3, 1, "*: " PORTS(IB "28.43.1014", IB "28.43.1014") "|n2: " PORTS("ACTIVE,400,ib", "ACTIVE,400,ib"), "", "" },
	{ "an MTU that is larger on one node", 3, 1, "*: ports=mlx5_0/1=ACTIVE,200,eth,1500,4,26.1|n1: ports=mlx5_0/1=ACTIVE,200,eth,9000,4,26.1", "", "" },
	{ "an address more on most nodes", 3, 1, "*: ports=mlx5_0/1=ACTIVE,200,eth,9000,8,26.1|n1: ports=mlx5_0/1=ACTIVE,200,eth,9000,6,26.1", "", "" },
	{ "ports of a network for storage only, slow and without a driver for it", 2, 4, "*: fabric=socket;ports=mlx5_0/1=ACTIVE,25,eth,9000,4,22.1;gdr=none;links=bond0=200000 ens1=25000;link=bond0;memlock_kib=64", "", "" },
	{ "a bond, whose speed is that of its parts", 2, 1, "*: fabric=socket;ports=mlx5_bond_0/1=ACTIVE,100,eth,9000,6,22.1;gdr=;links=bond0=200000;link=bond0", "", "" },
	{ "a VLAN, whose speed Linux does not tell", 2, 1, "*: fabric=socket;ports=;gdr=;links=bond0=200000;link=bond0.17;ifname=bond0.17", "", "" },
	{ "a cpuset with both threads of a core for each rank", 1, 2, "0: cpus=0,8;cpu_count=2|1: cpus=1,9;cpu_count=2", "", "" },
	{ "one task, which starts a rank on each of eight GPUs", 1, 8, "*: task=0;cpus=0-15;cpu_count=16", "", "" },
	{ "UUIDs in CUDA_VISIBLE_DEVICES, one for each rank", 1, 4, "*: visible=1", "", "" },
	{ "a log for each host, by %h, on the node's disk", 2, 4, "*: debug=INFO;variables=NCCL_DEBUG_FILE=/tmp/%h", "", "" },
	{ "MIG: an instance of each of two GPUs for each rank, both may open both", 1, 2, "*: gpus=0-1;gpu_count=2;visible=1", "", "" },
	{ "a container of one GPU on each of four nodes", 4, 1, "*: gpus=0;gpu_count=1;visible=1;shm_mb=64;root=|n2: gpus=5", "", "" },
	{ "hetjob: components of two kinds of nodes", 2, 4, "n1: ports=;links=eth0=10000;gdr=;fabric=socket;gpu_count=4;gpus=0-3;online=8;root=gpus=4;driver=550.54.14", "", "" },
	{ "many threads are allowed", 1, 8, "*: threads=4096", "", "" },
	{ "a firmware with an odd name", 3, 1, "*: " PORTS(IB "=a:b", IB ",,"), "", "" },
	{ "a quota of each task's own cgroup", 1, 2, "*: quota=2|0: quota_cgroup=7|1: quota_cgroup=8", "", "" },
	{ "a cgroup for each rank's GPU, of GeForce", 1, 2, "*: geforce=1;gpu_count=1|0: gpus=0|1: gpus=1", "", "" },
	{ "P2P is off for GeForce, as accelerate does it", 1, 4, "*: geforce=1;variables=NCCL_P2P_DISABLE=1;ports=;gdr=;fabric=any", "", "" },
	{ "some ranks may open all GPUs, and one its own", 1, 2, "0: gpus=0-1;gpu_count=2|1: gpus=1;gpu_count=1", "", "" },
	{ "one task for each pair of GPUs, all of which it may open", 1, 4, "*: gpus=0-3;gpu_count=4;visible=2", "", "" },
	{ "the site has switched InfiniBand off", 2, 2, "*: site=NCCL_DEBUG=WARN NCCL_IB_DISABLE=1 NCCL_ALGO=Ring;fabric=socket;inside=NCCL_IB_DISABLE=1 NCCL_ALGO=Ring", "", "" },
	{ "InfiniBand is off, and storage's card slower than the link", 2, 1, "*: variables=NCCL_IB_DISABLE=1;fabric=socket;ports=mlx5_0/1=ACTIVE,25,eth,9000,4;gdr=;links=bond0=200000;link=bond0", "", "" },
	{ "a card for storage, where the link's speed is not known", 2, 1, "*: fabric=socket;ports=mlx5_0/1=ACTIVE,25,eth,9000,4;gdr=;links=;link=bond0.17", "", "" },
	{ "... where its connections are not known", 2, 1, "*: fabric=socket;ports=mlx5_0/1=ACTIVE,100,ib;gdr=;links=eth0=1000 eth1=200000;link=", "", "" },
	{ "what Google's network asks for", 2, 2, "*: fabric=tcpx;variables=NCCL_PROTO=Simple NCCL_ALGO=Ring;ports=;gdr=", "", "" },
	{ "GPUDirect is off, over sockets", 2, 1, "*: variables=NCCL_NET_GDR_LEVEL=0;fabric=socket;ports=;gdr=", "", "" },
	{ "each node trains alone, over no network", 2, 2, "*: ranks=2;nodes=1;fabric=socket|n0: comm=a;variables=NCCL_NVLS_ENABLE=0|n1: comm=b;" PORTS("ACTIVE,400,ib", "DOWN,10,ib"), "", "" },
	{ "two programs of as many ranks in one step", 1, 4, "*: comm=a;ranks=2|2: comm=b;variables=NCCL_NVLS_ENABLE=0;preload=liba.so|3: comm=b;variables=NCCL_NVLS_ENABLE=0;preload=liba.so", "", "" },
	{ "the order of LD_PRELOAD, and a profiler at one rank", 1, 4, "*: preload=liba.so libb.so|1: preload=libb.so liba.so|0: preload=libToolsInjectionProxy64.so liba.so libb.so", "", "" },
	{ "a variable that says what is so anyway, and one in capitals", 1, 4, "*: inside=NCCL_NET=Socket|2: variables=NCCL_P2P_DISABLE=0;inside=NCCL_NET=SOCKET", "", "" },
	{ "nodes of eight and of four GPUs, all visible", 2, 4, "*: visible=8|n1: visible=4;gpu_count=4;gpus=0-3", "", "" },
	{ "three GPUs on one node and one on the other, without cgroups", 2, 2, "*: visible=2;comm=a;ranks=3|3: ranks=1|2: visible=1", "", "" },
	{ "an UUID of each node's own, and a path", 2, 1, "n0: variables=NCCL_MNNVL_UUID=1 NCCL_TUNER_CONFIG_PATH=/a NCCL_IB_ADDR_RANGE=10.1.0.0/16|n1: variables=NCCL_MNNVL_UUID=2 NCCL_TUNER_CONFIG_PATH=/b NCCL_IB_ADDR_RANGE=10.2.0.0/16", "", "" },
	{ "limits that differ and are high", 3, 1, "*: nofile=1048576|n1: nofile=65536;memlock_kib=67108864", "", "" },
	{ "locked memory that differs, over sockets", 3, 1, "*: fabric=socket;ports=;gdr=|n1: memlock_kib=64", "", "" },
	{ "a container's bridge is the fastest link", 2, 1, "*: fabric=socket;ports=;gdr=;links=docker0=10000 br-1a2b=10000 eth0=1000", "", "" },
	{ "Slurm's nodes on one host, over the loopback", 2, 1, "*: ifname=lo;link=;fabric=socket;ports=;gdr=", "", "" },
	{ "a bridge by which NCCL is connected", 2, 1, "*: ifname=cni0;link=cni0;fabric=socket;ports=;gdr=", "", "" },
	{ "cards of two kinds with the same names", 2, 1, "*: " PORTS(IB "28.43.1014", IB "28.43.1014") "|n1: " PORTS("ACTIVE,200,ib,0,0,20.41.1000", "ACTIVE,200,ib,0,0,20.41.1000"), "", "" },
	{ "MTUs that RDMA cannot tell from each other", 3, 1, "*: ports=mlx5_0/1=ACTIVE,200,eth,9000,4,26.1|n1: ports=mlx5_0/1=ACTIVE,200,eth,4200,4,26.1", "", "" },
	{ "a port that is down on all nodes, in two ways", 3, 1, "*: " PORTS("ACTIVE,400,ib", "DOWN,10,ib") "|n1: " PORTS("ACTIVE,400,ib", "INIT,10,ib"), "", "" },
	{ "links with one name in networks of each node's own", 2, 1, "*: fabric=socket;ports=;gdr=|n0: links=eth0=1000,10.0.0.1/24 eth1=100000,10.1.0.1/24;link=eth0|n1: links=eth0=1000,10.0.0.2/24 eth1=100000,10.2.0.1/24;link=eth0", "", "" },
	{ "a link of each node to its own card, always with one address", 2, 1, "*: fabric=socket;ports=;gdr=;link=eth0|n0: links=eth0=1000,10.0.0.1/24 tmfifo_net0=100000,192.168.100.2/30|n1: links=eth0=1000,10.0.0.2/24 tmfifo_net0=100000,192.168.100.2/30", "", "" },
	{ "a management controller's link, by addresses that each machine gives itself", 2, 1, "*: fabric=socket;ports=;gdr=;link=eth0|n0: links=eth0=1000,10.0.0.1/24 usb0=10000,169.254.3.1/24|n1: links=eth0=1000,10.0.0.2/24 usb0=10000,169.254.3.2/24", "", "" },
	{ "the site has chosen the slow link", 2, 1, "*: site=NCCL_SOCKET_IFNAME=eth0;inside=NCCL_SOCKET_IFNAME=eth0;fabric=socket;ports=;gdr=;links=eth0=1000 eth1=100000", "", "" },
	{ "virtual machines whose network cards are ports of RoCE without an address", 2, 1, "*: fabric=socket;ports=mlx5_an0/1=ACTIVE,100,eth,1500,2,16.30;gdr=;links=eth0=50000,10.0.0.4/24;link=eth0", "", "" },
	{ "sockets over RoCE's own card, by a VLAN of a bond", 2, 1, "*: fabric=socket;ports=mlx5_bond_0/1=ACTIVE,200,eth,9000,6,22.1;gdr=;links=;link=bond0.17", "", "" },
	{ "IP over InfiniBand for connecting, and RDMA for data", 2, 4, "*: links=ib0=400000,10.9.0.1/16 eno1=1000,10.0.0.1/24;link=ib0;ifname=ib0", "", "" },
	{ "--hint=nomultithread: a thread of an own core for each rank", 1, 4, "*: smt=1;cpu_count=1;job_cpus=8;online=16|0: cpus=0|1: cpus=1|2: cpus=2|3: cpus=3", "", "" },
	{ "a processor for each of eight ranks of a job of eight, four of them killed before they told", 1, 4, "*: nodes=1;ranks=8;cpu_count=1;job_cpus=8|0: cpus=0|1: cpus=1|2: cpus=2|3: cpus=3", "", "" },
	{ "as many devices as ranks, and one rank has told nothing", 2, 3, "*: visible=4;nodes=2;ranks=8|5: ranks=1;nodes=1", "", "" },
	{ "sockets where a node with no RDMA has told nothing", 2, 1, "*: nodes=3;ranks=3;fabric=socket;variables=NCCL_IB_DISABLE=1", "", "" },
	{ "a slow link where a node without the fast one has told nothing", 2, 1, "*: nodes=3;ranks=3;fabric=socket;ports=;gdr=;links=eth0=1000 eth1=100000", "", "" },
	{ "a port that two nodes of eight use, of which one has told, and the most have not", 2, 1, "*: nodes=8;ranks=8|n1: " PORTS("ACTIVE,400,ib", "DOWN,10,ib"), "", "" },
	{ "EFA's plugin asks for its protocol", 2, 4, "*: fabric=efa;ports=rdmap0/1=ACTIVE,100,efa;gdr=;inside=NCCL_PROTO=simple", "", "" },
	{ "Slingshot: ports of no class infiniband, by libfabric", 2, 4, "*: fabric=cxi;ports=;gdr=;links=hsn0=200000,10.150.0.1/16;link=hsn0;ifname=hsn0;variables=NCCL_NET_GDR_LEVEL=PHB NCCL_CROSS_NIC=1 NCCL_SOCKET_IFNAME=hsn", "", "" },
	{ "GeForce with InfiniBand, which has no GPUDirect", 2, 2, "*: geforce=1;gdr=none", "", "" },
	{ "WSL: no device files, no ports, one rank", 1, 1, "*: gpus=;gpu_count=-1;ports=;links=;link=;gdr=;fabric=any;job_cpus=-1;smt=1", "", "" },
	{ "gres/shard: four ranks on a GPU", 1, 4, "*: gpus=2;gpu_count=1;visible=1", "", "" },
	{ "a profiler of events at one rank", 1, 4, "0: variables=NCCL_PROFILE_EVENT_MASK=15 NCCL_INSPECTOR_ENABLE=1", "", "" },
	{ "srun --overlap: one rank more, of a debugger's own communicator, on a processor of the job", 1, 4, "3: ranks=1;cpus=0;cpu_count=1;nofile=1024;variables=NCCL_P2P_DISABLE=1", "", "" },
	{ "enroot: another LD_PRELOAD and library, the same on all nodes", 2, 4, "*: preload=libhook.so;library=/usr/local/lib/libnccl.so.2.27.5;shm_mb=64000;visible=8", "", "" },
	{ "cores of two threads, both of each core for a rank", 1, 4, "*: smt=1;cpu_count=2;job_cpus=8|0: cpus=0,8|1: cpus=1,9|2: cpus=2,10|3: cpus=3,11", "", "" },
	{ "nothing is known", 2, 2, "*: cpus=;cpu_count=-1;online=-1;job_cpus=-1;shm_mb=-1;gpus=;gpu_count=-1;memlock_kib=-1;nofile=-1;stack_kib=-1;fabric=;library=;ports=;links=;link=;gdr=", "", "" },
};
/* clang-format on */

static void what_is_wrong_is_found(void **state)
{
	struct nt_findings findings;

	for (size_t i = 0; i < LENGTH(planted); i++) {
		judge(&planted[i], &findings);
		if (!strstr(findings.item[0].text, planted[i].says))
			fail_msg("%s: '%s' does not say '%s'", planted[i].name,
				 findings.item[0].text, planted[i].says);
	}
}

static void what_is_not_is_silent(void **state)
{
	struct nt_findings findings;

	for (size_t i = 0; i < LENGTH(fine); i++)
		judge(&fine[i], &findings);
}

/* All arguments are there, and fit. */
static void every_finding_can_be_said(void **state)
{
	bool said[NT_FINDING_COUNT] = { false };

	for (size_t i = 0; i < LENGTH(planted); i++) {
		struct nt_findings findings;

		judge(&planted[i], &findings);
		for (size_t k = 0; k < findings.count; k++) {
			const struct nt_finding *finding = &findings.item[k];
			char says[NT_FINDING_SENTENCE_MAX], advice[NT_FINDING_ADVICE_MAX];
			struct nt_finding again;

			said[finding->id] = true;
			assert_true(strlen(finding->text) + 1 < NT_FINDING_BYTES);
			assert_null(strpbrk(nt_finding_say(finding, says, sizeof(says)), "{?"));
			assert_null(
				strpbrk(nt_finding_advise(finding, advice, sizeof(advice)), "{?"));
			assert_true(strlen(says) > 20 && strlen(advice) > 20);
			assert_int_equal(
				nt_finding_read(&again, finding->text, strlen(finding->text)), 0);
			assert_string_equal(again.text, finding->text);
			assert_int_equal(again.id, finding->id);
		}
	}
	for (int id = 0; id < NT_FINDING_COUNT; id++)
		assert_true(said[id]);
}

static void sentences_name_what_was_seen(void **state)
{
	char text[NT_FINDING_SENTENCE_MAX], node[NT_FINDING_NODE_MAX];
	struct nt_finding finding;

	nt_finding_set(
		&finding, NT_FINDING_CPUS,
		"n1 and 3 more nodes:8 ranks:share 1 processor:they wait:srun --cpus-per-task=8");
	assert_string_equal(nt_finding_say(&finding, text, sizeof(text)),
			    "8 ranks on n1 and 3 more nodes share 1 processor: they wait.");
	assert_non_null(
		strstr(nt_finding_advise(&finding, text, sizeof(text)), "srun --cpus-per-task=8"));
	assert_string_equal(nt_finding_node(&finding, node), "n1");
	nt_finding_set(&finding, NT_FINDING_LEFT, ":NCCL_P2P_DISABLE=1:in the job:it is slow");
	assert_string_equal(nt_finding_node(&finding, node), "");
	assert_non_null(
		strstr(nt_finding_advise(&finding, text, sizeof(text)), "Unset NCCL_P2P_DISABLE,"));
	assert_true(nt_finding_read(&finding, "moon:n1:full", 12) < 0);
	assert_true(nt_finding_read(&finding, "", 0) < 0);
}

static void codes_are_switched(void **state)
{
	const char *word = NULL;
	uint32_t codes;

	assert_int_equal(nt_findings_parse("all -left, -gdr", &codes, &word), 0);
	assert_int_equal(codes, NT_FINDINGS_ALL & ~(1u << NT_FINDING_LEFT | 1u << NT_FINDING_GDR));
	assert_int_equal(nt_findings_parse("none", &codes, &word), 0);
	assert_int_equal(codes, 0);
	assert_int_equal(nt_findings_parse("ports cpus", &codes, &word), 0);
	assert_int_equal(codes, 1u << NT_FINDING_PORTS | 1u << NT_FINDING_CPUS);
	assert_int_equal(nt_findings_parse("all -lefty", &codes, &word), -1);
	assert_string_equal(word, "-lefty");
}

static void a_step_without_facts_has_none(void **state)
{
	struct nt_findings findings = { .count = 7 };

	nt_findings_judge(&findings, NULL, 0, 2, true, "");
	assert_int_equal(findings.count, 0);
}

/* A step's record, with the findings of all its nodes in place of those of the first. */
static void those_of_all_nodes_replace_those_of_one(void **state)
{
	static const struct {
		const char *record;
		size_t room, count; /* of the findings below */
		const char *want;
	} cases[] = {
		{ "{\"mode\":\"observe\"}", 999, 0, "{\"mode\":\"observe\"}" },
		{ "{\"mode\":\"observe\"}", 999, 2,
		  "{\"mode\":\"observe\",\"findings\":[\"ports:n2:x:y\",\"left::z\"]}" },
		{ "{\"a\":1,\"findings\":[\"cpus:n1:q\",\"left::z\"],\"more\":3}", 999, 2,
		  "{\"a\":1,\"more\":3,\"findings\":[\"ports:n2:x:y\",\"left::z\"]}" },
		{ "{\"a\":1,\"findings\":[\"cpus:n1:q\"]}", 999, 0, "{\"a\":1}" },
		/* What only the first node knows, in its place */
		{ "{\"a\":1,\"findings\":[\"cpus:n1:q\",\"slower::11\"]}", 999, 2,
		  "{\"a\":1,\"findings\":[\"ports:n2:x:y\",\"slower::11\",\"left::z\"]}" },
		{ "{\"a\":1,\"findings\":[\"slower::11\"]}", 999, 0,
		  "{\"a\":1,\"findings\":[\"slower::11\"]}" },
		/* As many as have room */
		{ "{\"a\":1}", 44, 2, "{\"a\":1,\"findings\":[\"ports:n2:x:y\"]}" },
		{ "{\"a\":1}", 35, 2, "{\"a\":1,\"findings\":[\"ports:n2:x:y\"]}" },
		{ "{\"a\":1}", 34, 2, "{\"a\":1}" },
		/* Not as we write it */
		{ "{\"findings\":[\"cpus:n1:q\"]}", 999, 2, "{\"findings\":[\"cpus:n1:q\"]}" },
		{ "{\"a\":1, \"findings\" : 7}", 999, 2, "{\"a\":1, \"findings\" : 7}" },
		{ "", 999, 2, "" },
	};
	struct nt_finding found[2];

	nt_finding_set(&found[0], NT_FINDING_PORTS, "n2:x:y");
	nt_finding_set(&found[1], NT_FINDING_LEFT, ":z");
	for (size_t i = 0; i < LENGTH(cases); i++) {
		char record[1000];

		snprintf(record, sizeof(record), "%s", cases[i].record);
		nt_step_put_findings(record, cases[i].room, found, cases[i].count);
		assert_string_equal(record, cases[i].want);
	}
}

UNIT_TESTS(those_of_all_nodes_replace_those_of_one, what_is_wrong_is_found, what_is_not_is_silent,
	   every_finding_can_be_said, sentences_name_what_was_seen, codes_are_switched,
	   a_step_without_facts_has_none);
