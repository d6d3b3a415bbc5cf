/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fabric.h - a made-up fabric, and what start-up settings do to the times of calls on it
 *
 * Whether a setting helps, harms or does nothing is drawn for each fabric: nothing here was
 * measured, and no vendor's number is in it but the speeds of links.
 *
 * Threads:  pure, with the caller's seed.
 * Memory:   values.
 * Errors:   none.
 * Units:    microseconds, bytes; speeds in bytes a microsecond.
 */
#ifndef NT_LAB_FABRIC_H
#define NT_LAB_FABRIC_H

#include "profiles/profile.h"

struct lab_kind {
	const char *name;
	enum nt_fabric fabric;
	unsigned nodes, nics, gpus; /* of a node */
	double slowest, fastest; /* of a NIC, of a socket's network, or of PCIe */
	double least_us, most_us; /* latency */
	double least_channel, most_channel; /* speed of one channel */
	unsigned channels; /* NCCL's own */
};

struct lab_fabric {
	const struct lab_kind *kind;
	double nic, latency_us, channel;
	double collisions; /* share of speed lost where flows meet; 0: no two do */
	bool rails; /* NICs of the same number are on a switch of their own */
	double channel_us; /* what each channel adds to a call */
	double crowd; /* share of speed that each channel costs beyond those that fill the NICs */
	double qp_us; /* what each further queue pair of a message adds */
	double pxn, cross; /* logarithms: what going without PXN, or across NICs, does to speed */
	double buffers, chunks,
		tree; /* shares of speed lost to small buffers, chunks, NVLSTree's */
	double chunk_us; /* latency of a larger chunk */
	double thread; /* share that a second thread of a socket gains */
};

struct lab_fabric lab_fabric_draw(const struct lab_kind *kind, uint64_t *seed);

/* A call's time with these settings, without noise. */
double lab_fabric_us(const struct lab_fabric *fabric, const struct nt_settings *settings, int coll,
		     uint64_t bytes);

#endif
