/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* masks.h - the masks of the profiler with which NCCL emits each event
 *
 * Threads:  constants.
 * Host:     src/plugin/profiler.cc@v2.28.9-1
 */
#ifndef NT_FAKE_MASKS_H
#define NT_FAKE_MASKS_H

#include "tuner/abi.h"

/* Masks under which NCCL emits an event because something below it is wanted. */
#define BELOW_COLL                                                                  \
	(NT_PROF_COLL | NT_PROF_PROXY_OP | NT_PROF_PROXY_STEP | NT_PROF_KERNEL_CH | \
	 NT_PROF_NET_PLUGIN)
#define BELOW_P2P                                                                  \
	(NT_PROF_P2P | NT_PROF_PROXY_OP | NT_PROF_PROXY_STEP | NT_PROF_KERNEL_CH | \
	 NT_PROF_NET_PLUGIN)
#define BELOW_P2P_API (BELOW_P2P | NT_PROF_P2P_API)
#define BELOW_GROUP (BELOW_COLL | NT_PROF_GROUP | NT_PROF_P2P)
#define BELOW_COLL_API (BELOW_COLL | NT_PROF_COLL_API)
#define BELOW_GROUP_API                                                         \
	(BELOW_GROUP | NT_PROF_GROUP_API | NT_PROF_P2P_API | NT_PROF_COLL_API | \
	 NT_PROF_KERNEL_LAUNCH)

#endif
