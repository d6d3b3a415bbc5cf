/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/fabrics/fabric.h"

#include <math.h>
#include "contract/coll.h"
#include "tests/unit/select-world.h"

#define OWN_PEER_CHANNELS 2

static double between(double least, double most, uint64_t *seed)
{
	return least + (most - least) * world_random(seed);
}

/* Half of all fabrics have none of it. */
static double maybe(double most, uint64_t *seed)
{
	const double value = between(0, most, seed);

	return world_random(seed) < 0.5 ? 0 : value;
}

struct lab_fabric lab_fabric_draw(const struct lab_kind *kind, uint64_t *seed)
{
	struct lab_fabric f = { .kind = kind };

	f.nic = between(kind->slowest, kind->fastest, seed);
	f.latency_us = between(kind->least_us, kind->most_us, seed);
	f.channel = between(kind->least_channel, kind->most_channel, seed);
	f.collisions = maybe(0.4, seed);
	f.rails = world_random(seed) < 0.5;
	f.channel_us = between(0.1, 1.5, seed);
	f.crowd = maybe(0.02, seed);
	f.qp_us = between(0, 3, seed);
	f.pxn = kind->nics > 1 ? 0.1 * world_normal(seed) : 0;
	f.cross = kind->nics < 2 ? 0 : f.rails ? -between(0, 0.3, seed) : between(0, 0.2, seed);
	f.buffers = maybe(0.3, seed);
	f.chunks = maybe(0.3, seed);
	f.tree = maybe(0.5, seed);
	f.chunk_us = between(0, 15, seed);
	f.thread = between(0, 0.8, seed);
	return f;
}

static double value(const struct nt_settings *settings, unsigned id, double own)
{
	return settings->set[id] ? (double)settings->value[id] : own;
}

/* Sockets: a channel is as fast as its sockets, and their threads, let it be. */
static double channel_speed(const struct lab_fabric *f, const struct nt_settings *settings)
{
	const double threads = value(settings, NT_VARIABLE_SOCKET_NTHREADS, 1);
	const double sockets = threads * value(settings, NT_VARIABLE_NSOCKS_PERTHREAD, 1);

	if (f->kind->fabric != NT_FABRIC_SOCKET)
		return f->channel;
	return f->channel * (1 + f->thread * log2(threads)) * pow(sockets / threads, 0.3);
}

/* Channels cost latency each, and what they are too many by. */
static double channels_speed(const struct lab_fabric *f, double channels, double speed, double wire)
{
	const double idle = channels - wire / speed;

	return fmin(wire, channels * speed) * exp(-f->crowd * fmax(idle, 0));
}

/* Flows that meet lose; several queue pairs spread them. */
static double paths(const struct lab_fabric *f, const struct nt_settings *settings)
{
	return 1 - f->collisions / sqrt(value(settings, NT_VARIABLE_IB_QPS, 1));
}

static double common_us(const struct lab_fabric *f, const struct nt_settings *settings)
{
	const double qps = value(settings, NT_VARIABLE_IB_QPS, 1);
	const bool split = value(settings, NT_VARIABLE_IB_SPLIT, 0) > 0;

	return f->latency_us + (split ? (qps - 1) * f->qp_us : 0);
}

static double collective_us(const struct lab_fabric *f, const struct nt_settings *settings,
			    int coll, uint64_t bytes)
{
	const double ranks = f->kind->nodes * f->kind->gpus;
	const double least = value(settings, NT_VARIABLE_MIN_NCHANNELS, f->kind->channels);
	const double channels = fmin(fmax(least, f->kind->channels),
				     value(settings, NT_VARIABLE_MAX_NCHANNELS, 64));
	const double wire = f->nic * f->kind->nics * paths(f, settings);
	const double part = coll == NT_ALLREDUCE ? 2 * (ranks - 1) / ranks : (ranks - 1) / ranks;
	double speed = channels_speed(f, channels, channel_speed(f, settings), wire);

	if (value(settings, NT_VARIABLE_CROSS_NIC, 2) == 1)
		speed *= exp(f->cross);
	if (value(settings, NT_VARIABLE_PXN_DISABLE, 0) > 0)
		speed *= exp(f->pxn / 2);
	speed *= 1 - (value(settings, NT_VARIABLE_BUFFSIZE, 4 << 20) > (4 << 20) ? 0 : f->buffers);
	if (bytes >= 64 << 20 && coll == NT_ALLREDUCE && f->kind->fabric == NT_FABRIC_EFA)
		speed *= 1 - (value(settings, NT_VARIABLE_NVLSTREE_CHUNK, 0) > 0 ? 0 : f->tree);
	return 2 * common_us(f, settings) + channels * f->channel_us + part * (double)bytes / speed;
}

static double sends_us(const struct lab_fabric *f, const struct nt_settings *settings, int coll,
		       uint64_t bytes)
{
	const bool all = coll == NT_P2P_ALLTOALL;
	const double ranks = f->kind->nodes * f->kind->gpus, peers = all ? ranks - 1 : 1;
	const double peer = fmax(value(settings, NT_VARIABLE_PER_NET_PEER, OWN_PEER_CHANNELS),
				 all ? value(settings, NT_VARIABLE_MIN_P2P_NCHANNELS, 1) / 8 : 1);
	const double wire = f->nic * f->kind->nics / f->kind->gpus * paths(f, settings);
	double speed = channels_speed(f, peer * sqrt(peers), channel_speed(f, settings), wire);
	double us = common_us(f, settings) + peer * f->channel_us * (all ? sqrt(peers) : 1);

	if (value(settings, NT_VARIABLE_P2P_NET_CHUNK, 128 << 10) > (128 << 10))
		us += f->chunk_us;
	else
		speed *= 1 - f->chunks;
	if (all && value(settings, NT_VARIABLE_PXN_DISABLE, 0) > 0)
		speed *= exp(f->pxn);
	return us + (all ? peers / ranks : 1) * (double)bytes / speed;
}

double lab_fabric_us(const struct lab_fabric *fabric, const struct nt_settings *settings, int coll,
		     uint64_t bytes)
{
	return nt_kind_tunable(coll) ? collective_us(fabric, settings, coll, bytes)
				     : sends_us(fabric, settings, coll, bytes);
}
