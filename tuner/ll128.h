/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ll128.h - where LL128 may be forced (docs/decisions/arms.md)
 *
 * NCCL allows LL128 on some machines where it gives wrong results: what a NIC writes over
 * NVLink-C2C, or through a third-party network plugin, may become visible out of order. There it is
 * forced only if NCCL itself chooses it for some call of the communicator, or the site sets
 * ll128=on. Each rank tells its risks in its capabilities; those of all count.
 *
 * Threads:  look: in NCCL's init, without a lock of ours; the others are pure functions.
 * Memory:   nothing is allocated.
 * Errors:   none: what is unknown counts as a risk.
 * Host:     NCCL_NET and NCCL_NET_PLUGIN as NCCL reads them; libraries by the names under which
 *           they were loaded; uname(): GPUs of a 64-bit Arm machine are assumed to be on C2C.
 */
#ifndef NT_LL128_H
#define NT_LL128_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/shm-layout.h"
#include "contract/policy.h"

/* NT_RISK_* of this process. loaded: tuner/platform.h has found a network plugin, which NCCL loads
 * before its tuner. */
uint32_t nt_ll128_look(bool loaded);

/* Is the network other than NCCL's own? net, plugin: NCCL_NET and NCCL_NET_PLUGIN, or NULL; loaded:
 * a library libnccl-net* is there. */
bool nt_ll128_is_external(const char *net, const char *plugin, bool loaded);

/* Those that count on so many nodes, where NCCL has chosen these pairs itself; 0: LL128 may be
 * forced, or the policy forbids it anyway. */
uint32_t nt_ll128_risks(const struct nt_policy *policy, uint32_t risks, uint32_t nodes,
			uint32_t baseline_pairs);

#endif
