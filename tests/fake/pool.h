/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - what NCCL 2.26 to 2.30 opens in /dev/shm for a rank of a communicator
 *
 * Only with --proxy-pool, in its real size: ordinary tests run many ranks. Without the option the
 * plugin is shown a /dev/shm without a limit (main.c).
 *
 * Threads:  the host thread.
 * Errors:   the network's pool: NCCL returns an error. The profiler's: NCCL dies by SIGSEGV.
 * Host:     proxyProgressInit, src/proxy.cc:1359, ncclShmOpen, src/misc/shmutils.cc:48,
 *           ncclProfilerNeedsProxy, src/plugin/profiler.cc:677@v2.28.9-1
 */
#ifndef NT_FAKE_POOL_H
#define NT_FAKE_POOL_H

#include "tests/fake/fake.h"

/* Before a launch: its tasks may want kernel times, or need the network. */
void nt_pool_need(struct nt_plan *p);
void nt_pool_free(struct nt_comm *c);

#endif
