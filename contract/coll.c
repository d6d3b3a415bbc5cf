/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/coll.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "lib/append.h"
#include "lib/number.h"

enum { TREE = 0, RING = 1, PAT = 6, LL = 0, LL128 = 1 };

#define CAP_SHIFT 8
#define TEXTS 9 /* number of name buffers: one more than coll.h promises */

static const char *const coll_names[NT_KINDS] = {
	[NT_BROADCAST] = "Broadcast",	[NT_REDUCE] = "Reduce",
	[NT_ALLGATHER] = "AllGather",	[NT_REDUCESCATTER] = "ReduceScatter",
	[NT_ALLREDUCE] = "AllReduce",	[NT_P2P_SEND] = "Send",
	[NT_P2P_RECV] = "Recv",		[NT_P2P_SENDRECV] = "SendRecv",
	[NT_P2P_ALLTOALL] = "AllToAll",
};

static const char *const algo_names[] = {
	"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT",
};

static const char *const proto_names[] = { "LL", "LL128", "SIMPLE" };

#define PAIRS_OF(algo) algo "/LL", algo "/LL128", algo "/SIMPLE"

static const char *const arm_names[] = {
	PAIRS_OF("TREE"),	   PAIRS_OF("RING"), PAIRS_OF("COLLNET_DIRECT"),
	PAIRS_OF("COLLNET_CHAIN"), PAIRS_OF("NVLS"), PAIRS_OF("NVLS_TREE"),
	PAIRS_OF("PAT"),
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

_Static_assert(COUNT(algo_names) == NT_ALGOS && COUNT(proto_names) == NT_PROTOS &&
		       COUNT(arm_names) == NT_PAIRS,
	       "each has a name");
_Static_assert((NT_PAIRS_LL >> LL & 1) && (NT_PAIRS_LL128 >> LL128 & 1), "the masks are theirs");

/* From class 1. */
static const uint8_t caps[] = { 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, NT_ARM_CHANNELS_MAX };

#define CAP_CLASSES ((int)sizeof(caps) - 1)

_Static_assert(CAP_CLASSES < 16, "four bits");

static const struct {
	const char *name;
	size_t bytes;
} datatypes[] = {
	{ "ncclInt8", 1 },     { "ncclUint8", 1 },	{ "ncclInt32", 4 },
	{ "ncclUint32", 4 },   { "ncclInt64", 8 },	{ "ncclUint64", 8 },
	{ "ncclFloat16", 2 },  { "ncclFloat32", 4 },	{ "ncclFloat64", 8 },
	{ "ncclBfloat16", 2 }, { "ncclFloat8e4m3", 1 }, { "ncclFloat8e5m2", 1 },
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
	return by_number(coll_names, NT_KINDS, coll);
}

int nt_coll_parse(const char *name)
{
	return by_name(coll_names, NT_COLLS, name);
}

int nt_kind_parse(const char *name)
{
	return by_name(coll_names, NT_KINDS, name);
}

double nt_coll_bus_factor(int coll, double ranks)
{
	switch (coll) {
	case NT_ALLREDUCE: return 2 * (ranks - 1) / ranks;
	case NT_ALLGATHER:
	case NT_REDUCESCATTER:
	case NT_P2P_ALLTOALL: return (ranks - 1) / ranks;
	case NT_BROADCAST:
	case NT_REDUCE:
	case NT_P2P_SEND:
	case NT_P2P_RECV:
	case NT_P2P_SENDRECV: return 1;
	default: return NAN;
	}
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

int nt_kind_find(const char *name)
{
	for (int kind = 0; kind < NT_KINDS; kind++) {
		if (strcasecmp(coll_names[kind], name) == 0)
			return kind;
	}
	return -1;
}

int nt_coll_find(const char *name)
{
	const int kind = nt_kind_find(name);

	return kind < NT_COLLS ? kind : -1;
}

int nt_pair_takes_channels(int pair)
{
	int algo = pair / NT_PROTOS;

	return pair >= 0 && (algo == TREE || algo == RING || algo == PAT);
}

static int cap_class(int arm)
{
	return arm >> CAP_SHIFT & 15;
}

unsigned nt_arm_channels(int arm)
{
	int class = cap_class(arm);

	return class <= CAP_CLASSES ? caps[class] : 0;
}

int nt_arm_make(int pair, unsigned channels)
{
	int cap = 0;

	while (cap < CAP_CLASSES && caps[cap + 1] <= channels)
		cap++;
	if (pair < 0 || pair >= NT_PAIRS || (cap && !nt_pair_takes_channels(pair)))
		return -1;
	return pair | cap << CAP_SHIFT;
}

int nt_arm_valid(int arm)
{
	return arm == NT_ARM_BASELINE || (arm >= 0 && arm < NT_PAIRS) ||
	       (arm >= 0 && arm == nt_arm_make(nt_arm_pair(arm), nt_arm_channels(arm)));
}

static const char *capped_name(int arm)
{
	static _Thread_local char text[TEXTS][NT_ARM_TEXT];
	static _Thread_local unsigned next;
	char *out = text[next++ % TEXTS];

	snprintf(out, NT_ARM_TEXT, "%s/%uch", arm_names[nt_arm_pair(arm)], nt_arm_channels(arm));
	return out;
}

const char *nt_arm_name(int arm)
{
	if (arm == NT_ARM_BASELINE)
		return "AUTO";
	if (arm < NT_PAIRS || !nt_arm_valid(arm))
		return by_number(arm_names, NT_PAIRS, arm);
	return capped_name(arm);
}

/* "/8ch", what follows the pair in an arm's name. */
static int parse_cap(int pair, const char *name, const char *rest)
{
	uint64_t channels;
	const char *end = nt_number_read(rest + 1, NT_ARM_CHANNELS_MAX, &channels);
	const int arm = end ? nt_arm_make(pair, (unsigned)channels) : -1;

	return arm >= 0 && strcmp(nt_arm_name(arm), name) == 0 ? arm : -1;
}

int nt_arm_parse(const char *name)
{
	char pair_name[NT_ARM_TEXT];
	const char *slash = name ? strchr(name, '/') : NULL;
	int pair;

	if (name && strcmp(name, "AUTO") == 0)
		return NT_ARM_BASELINE;
	if (!slash || strlen(name) >= NT_ARM_TEXT)
		return -1;
	slash += 1 + strcspn(slash + 1, "/");
	snprintf(pair_name, sizeof(pair_name), "%.*s", (int)(slash - name), name);
	pair = by_name(arm_names, NT_PAIRS, pair_name);
	return pair < 0 || !*slash ? pair : parse_cap(pair, name, slash);
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
