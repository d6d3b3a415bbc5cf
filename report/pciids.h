/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pciids.h - what a PCI device is called, from the list that pciutils and hwdata install
 *
 * Threads:  any.
 * Memory:   the caller's buffer; a long name is cut, what cannot be printed becomes '?'.
 * Errors:   -1 where the list or the device is not there; out is then "".
 */
#ifndef NT_PCIIDS_H
#define NT_PCIIDS_H

#include <stddef.h>

int nt_pciids_name(unsigned vendor, unsigned device, char *out, size_t out_bytes);

/* The same from one list. */
int nt_pciids_name_in(const char *path, unsigned vendor, unsigned device, char *out,
		      size_t out_bytes);

#endif
