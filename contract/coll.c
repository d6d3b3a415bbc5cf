/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* coll.c - names of collectives, algorithms, protocols and arms */
#include "contract/coll.h"

#include <stdio.h>
#include <string.h>

static const char *const coll_names[NT_COLLS] = {
	[NT_BROADCAST] = "Broadcast",
	[NT_REDUCE] = "Reduce",
	[NT_ALLGATHER] = "AllGather",
	[NT_REDUCESCATTER] = "ReduceScatter",
	[NT_ALLREDUCE] = "AllReduce",
};

static const char *const algo_names[NT_ALGOS] = {
	"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT",
};

static const char *const proto_names[NT_PROTOS] = { "LL", "LL128", "SIMPLE" };

static const char *const arm_names[NT_PAIRS] = {
	"TREE/LL", "TREE/LL128", "TREE/SIMPLE",
	"RING/LL", "RING/LL128", "RING/SIMPLE",
	"COLLNET_DIRECT/LL", "COLLNET_DIRECT/LL128", "COLLNET_DIRECT/SIMPLE",
	"COLLNET_CHAIN/LL", "COLLNET_CHAIN/LL128", "COLLNET_CHAIN/SIMPLE",
	"NVLS/LL", "NVLS/LL128", "NVLS/SIMPLE",
	"NVLS_TREE/LL", "NVLS_TREE/LL128", "NVLS_TREE/SIMPLE",
	"PAT/LL", "PAT/LL128", "PAT/SIMPLE",
};

static const struct {
	const char *name;
	size_t bytes;
} datatypes[] = {
	{ "ncclInt8", 1 },	{ "ncclUint8", 1 },	{ "ncclInt32", 4 },
	{ "ncclUint32", 4 },	{ "ncclInt64", 8 },	{ "ncclUint64", 8 },
	{ "ncclFloat16", 2 },	{ "ncclFloat32", 4 },	{ "ncclFloat64", 8 },
	{ "ncclBfloat16", 2 },	{ "ncclFloat8e4m3", 1 }, { "ncclFloat8e5m2", 1 },
};

static const char *by_number(const char *const *names, int count, int number)
{
	return number >= 0 && number < count ? names[number] : "?";
}

static int by_name(const char *const *names, int count, const char *name)
{
	for (int i = 0; name && i < count; i++) {
		if (strcmp(names[i], name) == 0)
			return i;
	}
	return -1;
}

const char *nt_coll_name(int coll)
{
	return by_number(coll_names, NT_COLLS, coll);
}

int nt_coll_parse(const char *name)
{
	return by_name(coll_names, NT_COLLS, name);
}

const char *nt_algo_name(int algo)
{
	return by_number(algo_names, NT_ALGOS, algo);
}

int nt_algo_parse(const char *name)
{
	return by_name(algo_names, NT_ALGOS, name);
}

const char *nt_proto_name(int proto)
{
	return by_number(proto_names, NT_PROTOS, proto);
}

int nt_proto_parse(const char *name)
{
	return by_name(proto_names, NT_PROTOS, name);
}

const char *nt_arm_name(int arm)
{
	return arm == NT_ARM_AUTO ? "AUTO" : by_number(arm_names, NT_PAIRS, arm);
}

int nt_arm_parse(const char *name)
{
	if (name && strcmp(name, "AUTO") == 0)
		return NT_ARM_AUTO;
	return by_name(arm_names, NT_PAIRS, name);
}

size_t nt_datatype_bytes(const char *name)
{
	for (size_t i = 0; name && i < sizeof(datatypes) / sizeof(datatypes[0]); i++) {
		if (strcmp(datatypes[i].name, name) == 0)
			return datatypes[i].bytes;
	}
	return 0;
}

size_t nt_band_floor(unsigned band)
{
	size_t octave = (size_t)1 << (band / 2);

	if (band == 0)
		return 0;
	return band % 2 ? octave + octave / 2 : octave;
}

const char *nt_size_text(size_t bytes, char *out, size_t out_bytes)
{
	static const char units[] = "KMGT";
	int unit = -1;

	while (unit < 3 && bytes >= 1024 && (bytes * 2) % 1024 == 0 && bytes / 1024 > 0) {
		size_t half = bytes * 2 / 1024;

		unit++;
		if (half % 2) {
			snprintf(out, out_bytes, "%zu.5%c", half / 2, units[unit]);
			return out;
		}
		bytes = half / 2;
	}
	if (unit < 0)
		snprintf(out, out_bytes, "%zu", bytes);
	else
		snprintf(out, out_bytes, "%zu%c", bytes, units[unit]);
	return out;
}
