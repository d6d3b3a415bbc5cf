/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sums.c - nt-sim-sums: a small NCCL program that checks every result
 *
 * usage: nt-sim-sums DIR [CALLS [BYTES]]: ranks meet by a file in DIR, which rank 0 removes. Of
 * each size up to BYTES (1M), CALLS (20) AllReduces, timed; then one of each other collective, and
 * one in a communicator of every other rank. Rank 0 prints a line of JSON.
 *
 * Exit status: 0; 1 a failed call; 3 a wrong result; 2 misuse.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/simlib/api.h"

#define MEET_POLLS 12000 /* of 10 ms */
#define TO_DEVICE 1
#define TO_HOST 2

static int rank, ranks;
static size_t wrong;

static void need(int rc, const char *call)
{
	if (!rc)
		return;
	fprintf(stderr, "nt-sim-sums: rank %d: %s: %d %s\n", rank, call, rc,
		ncclGetLastError(NULL));
	exit(1);
}

#define NEED(call) need(call, #call)

/* An invalid number is misuse. */
static long number(const char *text, long fallback)
{
	char *end;
	long value;

	if (!text)
		return fallback;
	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end || errno || value < 0 || value > INT_MAX) {
		fprintf(stderr, "nt-sim-sums: \"%s\" is not a number from 0 to %d\n", text,
			INT_MAX);
		exit(2);
	}
	return value;
}

static int variable(const char *name, int fallback)
{
	return (int)number(getenv(name), fallback);
}

/* Sends rank 0's id through a file. */
static struct nt_unique_id meet(const char *dir)
{
	struct nt_unique_id id;
	char path[512], part[528];
	FILE *file = NULL;

	snprintf(path, sizeof(path), "%s/sums.%d.%d", dir, variable("SLURM_JOB_ID", 0),
		 variable("SLURM_STEP_ID", 0));
	snprintf(part, sizeof(part), "%s.part", path);
	if (rank == 0) {
		NEED(ncclGetUniqueId(&id));
		file = fopen(part, "w");
		if (!file || fwrite(&id, sizeof(id), 1, file) != 1 || fclose(file) != 0)
			need(1, part);
		need(rename(part, path), path);
		return id;
	}
	for (int i = 0; i < MEET_POLLS && !file; i++) {
		file = fopen(path, "r");
		if (!file)
			usleep(10000);
	}
	if (!file || fread(&id, sizeof(id), 1, file) != 1)
		need(1, path);
	fclose(file);
	return id;
}

static void leave_meeting(const char *dir)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/sums.%d.%d", dir, variable("SLURM_JOB_ID", 0),
		 variable("SLURM_STEP_ID", 0));
	if (rank == 0)
		unlink(path);
}

static float input(int of, size_t i)
{
	return (float)((i * 31 + (size_t)of * 17) % 512);
}

struct buffers {
	float *send, *receive, *host;
	size_t count;
	nt_stream stream;
	nt_event from, to;
};

static void open_buffers(struct buffers *b, size_t count)
{
	b->count = count;
	NEED(cudaSetDevice(0));
	NEED(cudaMalloc((void **)&b->send, count * sizeof(float)));
	NEED(cudaMalloc((void **)&b->receive, count * sizeof(float)));
	b->host = calloc(count, sizeof(float));
	for (size_t i = 0; i < count; i++)
		b->host[i] = input(rank, i);
	NEED(cudaMemcpy(b->send, b->host, count * sizeof(float), TO_DEVICE));
	NEED(cudaStreamCreateWithFlags(&b->stream, 1));
	NEED(cudaEventCreate(&b->from));
	NEED(cudaEventCreate(&b->to));
}

/* A result's element i; first: of the sent buffers. */
static float expected(int coll, int n, int step, size_t i, size_t share)
{
	float sum = 0;

	switch (coll) {
	case 'g': return input((int)(i / share) * step, i % share);
	case 'b': return input(0, i);
	case 't': return input((int)(i / share) * step, (size_t)(rank / step) * share + i % share);
	case 's': i += (size_t)(rank / step) * share; break;
	default: break;
	}
	for (int r = 0; r < n; r++)
		sum += input(r * step, i);
	return sum;
}

static void call(struct buffers *b, int coll, nt_nccl_comm comm, size_t count)
{
	switch (coll) {
	case 'g':
		NEED(ncclAllGather(b->send, b->receive, count, NT_FLOAT32, comm, b->stream));
		break;
	case 't':
		NEED(ncclAlltoAll(b->send, b->receive, count, NT_FLOAT32, comm, b->stream));
		break;
	case 's':
		NEED(ncclReduceScatter(b->send, b->receive, count, NT_FLOAT32, NT_SUM, comm,
				       b->stream));
		break;
	case 'b':
		NEED(ncclBroadcast(b->send, b->receive, count, NT_FLOAT32, 0, comm, b->stream));
		break;
	case 'r':
		NEED(ncclReduce(b->send, b->receive, count, NT_FLOAT32, NT_SUM, 0, comm,
				b->stream));
		break;
	default:
		NEED(ncclAllReduce(b->send, b->receive, count, NT_FLOAT32, NT_SUM, comm,
				   b->stream));
		break;
	}
}

/* On a poisoned buffer; n: ranks of the communicator, of every step-th rank. */
static void check(struct buffers *b, int coll, nt_nccl_comm comm, size_t bytes, int n, int step)
{
	size_t all = bytes / sizeof(float), share = all / (size_t)n, bad = 0;
	size_t count = coll == 'g' || coll == 's' || coll == 't' ? share : all;
	size_t results = coll == 'g' || coll == 't' ? share * (size_t)n : count;

	NEED(cudaMemsetAsync(b->receive, 0xff, b->count * sizeof(float), b->stream));
	call(b, coll, comm, count);
	NEED(cudaStreamSynchronize(b->stream));
	NEED(cudaMemcpy(b->host, b->receive, b->count * sizeof(float), TO_HOST));
	if (coll == 'r' && rank != 0)
		return;
	for (size_t i = 0; i < results; i++)
		bad += !(b->host[i] == expected(coll, n, step, i, share));
	if (bad)
		fprintf(stderr,
			"nt-sim-sums: rank %d: %zu of %zu elements are wrong (%c, %zu bytes)\n",
			rank, bad, results, coll, bytes);
	wrong += bad;
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void time_calls(struct buffers *b, nt_nccl_comm comm, size_t bytes, int calls)
{
	double from_us = now_us();
	float ms = 0;

	NEED(cudaEventRecord(b->from, b->stream));
	for (int i = 0; i < calls; i++)
		call(b, 'a', comm, bytes / sizeof(float));
	NEED(cudaEventRecord(b->to, b->stream));
	NEED(cudaStreamSynchronize(b->stream));
	NEED(cudaEventElapsedTime(&ms, b->from, b->to));
	if (rank == 0)
		printf(",\"%zu\":{\"gpu_us\":%.1f,\"host_us\":%.1f}", bytes,
		       (double)ms * 1e3 / calls, (now_us() - from_us) / calls);
}

static void play(struct buffers *b, nt_nccl_comm world, int calls, size_t most)
{
	nt_nccl_comm half = NULL;

	for (size_t bytes = 1024; bytes <= most; bytes *= 32) {
		check(b, 'a', world, bytes, ranks, 1);
		time_calls(b, world, bytes, calls);
		check(b, 'a', world, bytes, ranks, 1);
	}
	for (const char *coll = "gsbrt"; *coll; coll++) {
		check(b, *coll, world, 4096, ranks, 1);
		check(b, *coll, world, most, ranks, 1);
	}
	if (ranks % 2)
		return;
	NEED(ncclCommSplit(world, rank % 2 ? -1 : 7, rank, &half, NULL));
	for (const char *coll = "agsbt"; half && *coll; coll++)
		check(b, *coll, half, most, ranks / 2, 2);
	NEED(ncclCommDestroy(half));
}

int main(int argc, char **argv)
{
	int calls = (int)number(argc > 2 ? argv[2] : NULL, 20);
	size_t most = (size_t)number(argc > 3 ? argv[3] : NULL, 1 << 20);
	struct nt_unique_id id;
	nt_nccl_comm world;
	struct buffers b;
	int version;

	rank = variable("SLURM_PROCID", 0);
	ranks = variable("SLURM_NTASKS", 1);
	if (argc < 2 || calls < 1 || most < 1024)
		return 2;
	id = meet(argv[1]);
	NEED(ncclCommInitRank(&world, ranks, id, rank));
	leave_meeting(argv[1]);
	NEED(ncclGetVersion(&version));
	if (rank == 0)
		printf("{\"nccl\":%d,\"ranks\":%d", version, ranks);
	open_buffers(&b, most / sizeof(float));
	play(&b, world, calls, most);
	NEED(ncclCommDestroy(world));
	if (rank == 0)
		printf(",\"wrong\":%zu}\n", wrong);
	return wrong ? 3 : 0;
}
