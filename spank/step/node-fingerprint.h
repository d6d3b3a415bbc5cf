/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* node-fingerprint.h - a number that is equal on nodes with the same GPUs, NICs and placement of
 * these
 *
 * It depends on the number of packages and NUMA nodes, and for each GPU, NVSwitch and NIC on its
 * PCI vendor and device, the NUMA nodes near it, and the devices with which it shares a PCI bridge.
 * It does not depend on serial numbers, MAC and PCI addresses, virtual functions of a card whose
 * physical function is present, link states, MIG, drivers and what only they know, what this
 * process is allowed to use, or anything else in the machine.
 *
 * Threads:  any, one at a time.
 * Memory:   the caller's buffers; the caller frees *material.
 * Errors:   -1 and *err.
 * Host:     hwloc >= 2.2, which reads HWLOC_* from the environment: callers clear them. Reads sysfs
 *           for tens of milliseconds, sometimes for half a second: a step must not wait for it.
 */
#ifndef NT_NODE_FINGERPRINT_H
#define NT_NODE_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

struct hwloc_topology;

/* Of this machine. text gets a short description: "8x10de:2335 4x15b3:1021 2 packages 2 NUMA
 * nodes". Never 0. */
int nt_fingerprint_compute(uint64_t *out, char *text, size_t text_bytes, struct nt_error *err);

/* Of a loaded topology with PCI devices. */
int nt_fingerprint_of(struct hwloc_topology *topology, uint64_t *out, char *text, size_t text_bytes,
		      struct nt_error *err);

/* The text of which the number of this machine is the hash. After "packages=2;numa=2;" it has one
 * entry for each object with devices, "@NODES:DEVICE,DEVICE;", in hwloc's order; NODES is a list
 * such as "0-1". A device is 'g' (GPU), 's' (NVSwitch) or 'n' (NIC) and "vendor:device" in
 * hexadecimal; devices that share a bridge are in brackets, which nest. Devices of one object or
 * bracket are sorted. */
int nt_fingerprint_explain(char **material, struct nt_error *err);
uint64_t nt_fingerprint_hash(const char *material);

#endif
