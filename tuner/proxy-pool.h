/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* proxy-pool.h - is there room for what NCCL opens when GPU times are first asked for?
 *
 * NCCL 2.26 to 2.30: a communicator's first call with KernelCh in the event mask makes each of its
 * ranks open a proxy, unless the network has opened it: a file in /dev/shm, reserved and mapped
 * twice, a thread and some descriptors. NCCL ignores that this fails and walks a null pointer
 * (ncclProfilerNeedsProxy, src/plugin/profiler.cc:677, and ncclLocalOpAppend, src/proxy.cc:481
 * @v2.28.9-1). From 2.31 on there is a thread instead, whatever the mask. docs/hosts.md has the
 * list of all that a plugin makes NCCL take.
 *
 * Threads:  any; nt_proxy_pool_limits() starts and joins a thread, so not under NCCL's calls of a
 *           collective.
 * Host:     /dev/shm of this process' mount namespace.
 */
#ifndef NT_PROXY_POOL_H
#define NT_PROXY_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* sizeof(struct ncclProxyOpsPool) is 34,210,176 in 2.28.9 and 2.30.7, less before: 147,456
 * operations of 232 bytes (src/include/proxy.h:208@v2.28.9-1). */
#define NT_PROXY_POOL_BYTES (UINT64_C(34) << 20)

/* Of /dev/shm. An amount of 0 in all: without a limit */
struct nt_proxy_room {
	bool usable; /* it is there, and files can be made in it */
	uint64_t bytes, free_bytes;
	uint64_t files, free_files;
};

/* Does this NCCL open one? nccl: 22809; 0: unknown. api: of the profiler's interface. */
bool nt_proxy_pool_opened(uint32_t nccl, int api);

void nt_proxy_pool_look(struct nt_proxy_room *room);

/* So many more pools, and a reserve for the program: a quarter of the file system, at most
 * 256 MiB. */
bool nt_proxy_pool_fits(const struct nt_proxy_room *room, unsigned pools);

/* May this process have the descriptors, the address space, the threads and a file so large?
 * ranks: of the node. */
bool nt_proxy_pool_limits(unsigned ranks);

/* Are so many threads of this user left that one of ours takes none from NCCL, of any rank? */
bool nt_proxy_pool_threads(unsigned ranks);

/* Most ranks of a node: the largest number in Slurm's list ("4(x2),3"), or what torchrun says. NULL
 * where they are not set; at least 1. */
unsigned nt_proxy_pool_ranks(const char *tasks_per_node, const char *local_world);

#endif
