/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fabric.h - the networks that launch profiles are made for, and NCCL's names for them
 *
 * Threads:  pure functions, any thread.
 * Memory:   names are constants.
 * Errors:   an unknown name is no error: the fabric is then unknown.
 * Host:     the first member of NCCL's ncclNet_v*_t is a network's name; NCCL logs it, and compares
 *           NCCL_NET with it regardless of case. Plugins' names are from their sources: "AWS
 *           Libfabric" and, since 1.14, "Libfabric" (aws-ofi-nccl, EFA and Slingshot alike),
 *           "IBext_v*" (HPC-X), "gIB", "FasTrak" and "GPUDirectTCPX_v*" (Google).
 */
#ifndef NT_FABRIC_H
#define NT_FABRIC_H

#include <stdbool.h>

enum nt_fabric {
	NT_FABRIC_ANY = 0, /* unknown; of a profile: all */
	NT_FABRIC_SOCKET,
	NT_FABRIC_IB, /* InfiniBand and RoCE */
	NT_FABRIC_EFA,
	NT_FABRIC_CXI, /* Slingshot */
	NT_FABRIC_TCPX,
	NT_FABRIC_TLS, /* sockets that NCCL may encrypt (tuner/platform.h) */
	NT_FABRIC_PCIE, /* none: one node whose GPUs are not all connected by NVLink */
	NT_FABRIC_COUNT
};

#define NT_FABRIC_NAMES "any, socket, ib, efa, cxi, tcpx, tls or pcie"

/* A node's devices, not tried by NCCL. */
struct nt_fabric_devices {
	bool ib; /* an active port of InfiniBand or RoCE that may be opened */
	bool efa, cxi;
};

const char *nt_fabric_name(int fabric); /* "any", "socket", ...; "?" if there is none */
int nt_fabric_parse(const char *name); /* -1 if unknown */

/* The fabric of NCCL's network net. "": NCCL chooses between its own two. NCCL skips a plugin that
 * finds no device, so the name alone is not enough. */
enum nt_fabric nt_fabric_of_net(const char *net, const struct nt_fabric_devices *devices);

#endif
