/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* vendor.c - stand-ins for the network plugins and tuners of clouds, as these behave towards NCCL
 *
 * One source, three libraries by VENDOR:
 *
 * aws        libnccl-net-ofi.so, network and tuner in one (aws-ofi-nccl 1.21, platform-aws.cpp,
 *            tuner/nccl_ofi_tuner.cpp). When it is initialised it replaces `environ` by a copy with
 *            what its platform wants unless that is set, and with NCCL_TUNER_PLUGIN. Tuner v2, v3
 *            and v6. Its tuner leaves everything to NCCL, with a NULL context, on platforms that it
 *            does not know, and v2 with NCCL_ALGO or NCCL_PROTO; else it forces a pair for some
 *            sizes. v6 shortens chunks.
 * google     libnccl-tuner.so (GPUDirect-TCPXO): tuner v3 to v5, whose init fails without the file
 *            that NCCL_TUNER_CONFIG_PATH names.
 * fastrak    libnccl-net.so: a network called FasTrak, whose init fails, and with it NCCL's, where
 *            NCCL_SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE has lines NAME=VALUE and the variable
 *            has another value.
 *
 * NT_VENDOR_PLATFORM=p5     the platform that aws finds; otherwise one that it does not know
 * NT_VENDOR_LOG=FILE        gets a line for each call
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "config.h"
#include "contract/coll.h"
#include "tuner/abi.h"

#define AWS 1
#define GOOGLE 2
#define FASTRAK 3

#define EXPORT __attribute__((visibility("default")))

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	const char *path = getenv("NT_VENDOR_LOG");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
	char line[200];
	va_list args;
	int used;

	va_start(args, format);
	used = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (fd >= 0) {
		if (write(fd, line, (size_t)used) != used)
			abort();
		close(fd);
	}
}

#if VENDOR != FASTRAK

static int end(void *ctx)
{
	note("tuner end%s\n", ctx ? "" : " of nothing");
	return NT_NCCL_OK;
}

#endif

#if VENDOR == AWS || VENDOR == FASTRAK

/* Of ncclNet_v11_t the first two members, and room. */
struct net {
	const char *name;
	int (*init)(void **ctx, uint64_t comm, void *config, nt_nccl_log log, void *profile);
	void *rest[23];
};

extern struct net ncclNetPlugin_v11;

#endif

#if VENDOR == AWS

static bool on_p5(void)
{
	const char *platform = getenv("NT_VENDOR_PLATFORM");

	return platform && strcmp(platform, "p5") == 0;
}

/* A copy of the environment replaces the old one: getenv() in another thread stays safe. */
static int init_net(void **ctx, uint64_t comm, void *config, nt_nccl_log log, void *profile)
{
	static char *const wanted[] = { "NCCL_BUFFSIZE=8388608", "NCCL_P2P_NET_CHUNKSIZE=524288",
					"NCCL_NVLS_CHUNKSIZE=524288",
					"NCCL_TUNER_PLUGIN=libnccl-net-ofi.so", NULL };
	size_t count = 0, more = 0;
	char **copy;

	(void)ctx, (void)comm, (void)config, (void)log, (void)profile;
	while (environ[count])
		count++;
	copy = calloc(count + sizeof(wanted) / sizeof(wanted[0]), sizeof(*copy));
	if (!copy)
		abort();
	memcpy(copy, environ, count * sizeof(*copy));
	for (size_t i = 0; on_p5() && wanted[i]; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(wanted[i], "="), wanted[i]);
		if (!getenv(name))
			copy[count + more++] = wanted[i];
	}
	environ = copy;
	note("net init, %zu set\n", more);
	return NT_NCCL_OK;
}

EXPORT struct net ncclNetPlugin_v11 = { "Libfabric", init_net, { NULL } };

/* Versions up to 1.11 are called so; scripts with that name in NCCL_NET still work. */
__attribute__((constructor)) static void take_old_name(void)
{
	const char *net = getenv("NCCL_NET");

	if (net && strcmp(net, "AWS Libfabric") == 0)
		ncclNetPlugin_v11.name = "AWS Libfabric";
}

#define FORCED "RING/LL128"
#define FROM_BYTES ((size_t)128 << 10)

static int context; /* its address stands for a tuner that has something to say */

static int init_tuner(size_t ranks, size_t nodes, nt_nccl_log log, void **ctx)
{
	(void)log;
	*ctx = on_p5() && nodes > 1 ? &context : NULL;
	note("tuner init %zu on %zu: %s\n", ranks, nodes, *ctx ? "region" : "NCCL's own");
	return NT_NCCL_OK;
}

static int init_v2(size_t ranks, size_t nodes, nt_nccl_log log, void **ctx)
{
	if (!getenv("NCCL_ALGO") && !getenv("NCCL_PROTO"))
		return init_tuner(ranks, nodes, log, ctx);
	*ctx = NULL;
	note("tuner init %zu on %zu: NCCL_ALGO or NCCL_PROTO\n", ranks, nodes);
	return NT_NCCL_OK;
}

static int init_v6(void **ctx, uint64_t comm, size_t ranks, size_t nodes, nt_nccl_log log,
		   struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v5 *constants)
{
	(void)comm, (void)nvl, (void)constants;
	return init_tuner(ranks, nodes, log, ctx);
}

static bool wants(const void *ctx, int coll, size_t bytes)
{
	return ctx && coll == NT_ALLREDUCE && bytes >= FROM_BYTES;
}

static int decide_v3(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost, int algos,
		     int protos, int *channels)
{
	const int arm = nt_arm_parse(FORCED);
	float *table = (float *)cost;

	(void)pipe_ops, (void)channels, (void)algos, (void)protos;
	if (wants(ctx, coll, bytes) && table[arm] >= 0)
		table[arm] = 0;
	return NT_NCCL_OK;
}

static int decide_v6(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost, int algos,
		     int protos, int registered, int *channels)
{
	(void)registered;
	return decide_v3(ctx, coll, bytes, pipe_ops, cost, algos, protos, channels);
}

static int decide_v2(void *ctx, int coll, size_t bytes, int collnet, int nvls, int pipe_ops,
		     int *algo, int *proto, int *channels)
{
	(void)collnet, (void)nvls, (void)pipe_ops, (void)channels;
	if (wants(ctx, coll, bytes)) {
		*algo = nt_arm_parse(FORCED) / NT_PROTOS;
		*proto = nt_arm_parse(FORCED) % NT_PROTOS;
	}
	return NT_NCCL_OK;
}

static int chunk_v6(void *ctx, int coll, size_t bytes, int algo, int proto, int channels,
		    size_t *chunk_bytes)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;

	(void)coll, (void)bytes, (void)channels;
	if (ctx && algo * NT_PROTOS + proto == nt_arm_parse(FORCED) && *chunk_bytes > 18432) {
		*chunk_bytes = 18432;
		if (!atomic_flag_test_and_set(&told))
			note("tuner shortens chunks\n");
	}
	return NT_NCCL_OK;
}

#define NAME "nccl_ofi_tuner"
extern const struct nt_tuner_v2 ncclTunerPlugin_v2;
extern const struct nt_tuner_v3 ncclTunerPlugin_v3;
extern const struct nt_tuner_v6 ncclTunerPlugin_v6;
EXPORT const struct nt_tuner_v2 ncclTunerPlugin_v2 = { NAME, init_v2, decide_v2, end };
EXPORT const struct nt_tuner_v3 ncclTunerPlugin_v3 = { NAME, init_tuner, decide_v3, end };
EXPORT const struct nt_tuner_v6 ncclTunerPlugin_v6 = { NAME, init_v6, decide_v6, end, chunk_v6 };

#elif VENDOR == GOOGLE

static int begin(void **ctx)
{
	const char *path = getenv("NCCL_TUNER_CONFIG_PATH");

	if (!path || access(path, R_OK) != 0) {
		note("tuner init failed\n");
		return NT_NCCL_INVALID_ARGUMENT;
	}
	note("tuner init\n");
	*ctx = note;
	return NT_NCCL_OK;
}

static int init_v4(size_t ranks, size_t nodes, nt_nccl_log log, void **ctx)
{
	(void)ranks, (void)nodes, (void)log;
	return begin(ctx);
}

static int init_v5(void **ctx, uint64_t comm, size_t ranks, size_t nodes, nt_nccl_log log,
		   struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v5 *constants)
{
	(void)comm, (void)ranks, (void)nodes, (void)log, (void)nvl, (void)constants;
	return begin(ctx);
}

static int decide(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost, int algos,
		  int protos, int registered, int *channels)
{
	const int arm = nt_arm_parse("TREE/SIMPLE");
	float *table = (float *)cost;

	(void)coll, (void)bytes, (void)pipe_ops, (void)algos, (void)protos, (void)registered;
	if (!ctx)
		abort();
	if (table[arm] >= 0)
		table[arm] = 0;
	*channels = 2;
	return NT_NCCL_OK;
}

static int decide_v3(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost, int algos,
		     int protos, int *channels)
{
	return decide(ctx, coll, bytes, pipe_ops, cost, algos, protos, 0, channels);
}

#define NAME "tcpxo tuner"
extern const struct nt_tuner_v3 ncclTunerPlugin_v3;
extern const struct nt_tuner_v4 ncclTunerPlugin_v4;
extern const struct nt_tuner_v5 ncclTunerPlugin_v5;
EXPORT const struct nt_tuner_v3 ncclTunerPlugin_v3 = { NAME, init_v4, decide_v3, end };
EXPORT const struct nt_tuner_v4 ncclTunerPlugin_v4 = { NAME, init_v4, decide, end };
EXPORT const struct nt_tuner_v5 ncclTunerPlugin_v5 = { NAME, init_v5, decide, end };

#else

static bool is_wanted(char *line)
{
	char *equals = strchr(line, '=');
	const char *value;

	line[strcspn(line, "\n")] = '\0';
	if (!equals)
		return true;
	*equals = '\0';
	value = getenv(line);
	if (!value || strcmp(value, equals + 1) == 0)
		return true;
	fprintf(stderr, "NCCL/NET (shim) mismatch enforced: %s=%s (expected %s)\n", line, value,
		equals + 1);
	return false;
}

static int init_net(void **ctx, uint64_t comm, void *config, nt_nccl_log log, void *profile)
{
	const char *path = getenv("NCCL_SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE");
	FILE *f = path ? fopen(path, "re") : NULL;
	char line[200];
	bool well = true;

	(void)ctx, (void)comm, (void)config, (void)log, (void)profile;
	while (f && fgets(line, sizeof(line), f))
		well = is_wanted(line) && well;
	if (f)
		fclose(f);
	note("net init %s\n", well ? "well" : "failed");
	return well ? NT_NCCL_OK : NT_NCCL_INVALID_ARGUMENT;
}

EXPORT struct net ncclNetPlugin_v11 = { "FasTrak", init_net, { NULL } };

#endif
