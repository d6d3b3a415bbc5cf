/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* node-facts.h - what only root can see of a node's set-up, for findings (record/findings.h)
 *
 *	gpus=8 iommu=identity acs=0000:17:01.0+4
 *
 * gpus: NVIDIA's GPUs. iommu: of the first GPU's domain (off, identity, DMA, DMA-FQ). acs: a bridge
 * below which is a GPU, and which sends what that exchanges with another GPU or an RDMA port of
 * its switch through the processor; +4: four such bridges in all. What is unknown, or no such
 * thing, is absent.
 *
 * Threads:  any, one at a time.
 * Memory:   the caller's.
 * Errors:   what cannot be read is unknown.
 * Host:     Linux: /sys/bus/pci/devices, whose config of PCIe is whole for root alone;
 *           /sys/class/infiniband. Nothing of a user's. A device that sleeps is woken, which can
 *           take long: a step must not wait for it.
 */
#ifndef NT_NODE_FACTS_H
#define NT_NODE_FACTS_H

#include <stddef.h>

#define NT_NODE_FACTS_MAX 96 /* with its NUL */

/* root: "" for this system, or a directory that stands for /, in tests. */
void nt_node_facts(const char *root, char out[NT_NODE_FACTS_MAX]);

#endif
