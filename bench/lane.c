/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/lane.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench/driver-link.h"
#include "lib/append.h"
#include "lib/clock.h"
#include "lib/hex.h"
#include "lib/write-all.h"

#define MEET_S 120 /* how long processes may take to start */
#define HEAD "id "

static struct nt_lane *add_lane(struct nt_bench_gpu *g, const char *name, int count)
{
	struct nt_lane *lane = &g->lane[g->lanes++];

	*lane = (struct nt_lane){ .name = name, .count = count };
	lane->ranks = nt_bench_allocate((size_t)count, sizeof(int));
	return lane;
}

/* Rank 0 sends this to the others before they join. */
struct invitation {
	int version; /* of its NCCL */
	nt_nccl_id id;
};

static int send_id(int fd, const unsigned char *data, size_t bytes, struct nt_error *err)
{
	char line[NT_LINK_LINE] = HEAD;

	for (size_t i = 0; i < bytes; i++)
		nt_append(line, sizeof(line), "%02x", data[i]);
	nt_append(line, sizeof(line), "\n");
	return nt_write_all(fd, line, strlen(line)) < 0 ? nt_error_set(err, "channel: %m") : 0;
}

/* A line, without its end. Nothing follows it. */
static int read_line(int fd, char *line, size_t size, struct nt_error *err)
{
	const int64_t until_ms = nt_clock_ms() + MEET_S * 1000;
	size_t used = 0;

	while (used == 0 || line[used - 1] != '\n') {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		const int64_t left_ms = until_ms - nt_clock_ms();
		ssize_t got;

		if (left_ms <= 0 || used == size)
			return nt_error_set(err, "channel: no id from rank 0");
		if (poll(&ready, 1, (int)left_ms) <= 0)
			continue;
		got = read(fd, line + used, size - used);
		if (got == 0 || (got < 0 && errno != EINTR))
			return nt_error_set(err, "channel: the driver has ended");
		used += got > 0 ? (size_t)got : 0;
	}
	line[used - 1] = '\0';
	return 0;
}

static int receive_id(int fd, unsigned char *data, size_t bytes, struct nt_error *err)
{
	char line[NT_LINK_LINE], *digits = line + strlen(HEAD);

	if (read_line(fd, line, sizeof(line), err) < 0)
		return -1;
	if (strncmp(line, HEAD, strlen(HEAD)) != 0 || !nt_hex_valid(digits, 2 * bytes))
		return nt_error_set(err, "channel: not an id");
	for (size_t i = 0; i < bytes; i++) {
		const char byte[3] = { digits[2 * i], digits[2 * i + 1], '\0' };

		data[i] = (unsigned char)strtoul(byte, NULL, 16);
	}
	return 0;
}

/* Through the driver of a calibration: rank 0 writes a line, "id HEX", which it sends to the other
 * ranks. At most 256 bytes. */
static int exchange_id(const struct nt_bench_options *o, void *data, size_t bytes,
		       struct nt_error *err)
{
	return o->rank == 0 ? send_id(o->channel, data, bytes, err)
			    : receive_id(o->channel, data, bytes, err);
}

static void compare_versions(const struct nt_bench_gpu *g, int first)
{
	const int mine = g->nccl->version;

	if (first != mine)
		nt_bench_die("NCCL " NT_NCCL_TEXT " here, " NT_NCCL_TEXT
			     " on rank 0: choose one for all ranks with --nccl",
			     NT_NCCL_PARTS(mine), NT_NCCL_PARTS(first));
}

static void join_all(struct nt_bench_gpu *g, struct nt_lane *lane)
{
	const struct nt_bench_options *o = g->options;
	struct invitation invitation = { .version = g->nccl->version };
	struct nt_error err;
	char name[48];

	snprintf(name, sizeof(name), "id.%d.%d", g->generation, g->lanes);
	lane->me = o->rank;
	for (int r = 0; r < o->ranks; r++)
		lane->ranks[r] = r;
	if (o->rank == 0)
		NCCL_CHECK(GetUniqueId(&invitation.id));
	if (o->channel) {
		if (exchange_id(o, &invitation, sizeof(invitation), &err) < 0)
			nt_bench_die("%s", err.text);
	} else if (o->rank == 0) {
		if (nt_meet_put(&g->meet, name, &invitation, sizeof(invitation), &err) < 0)
			nt_bench_die("%s", err.text);
	} else if (nt_meet_get(&g->meet, name, &invitation, sizeof(invitation), MEET_S, &err) < 0) {
		nt_bench_die("%s", err.text);
	}
	compare_versions(g, invitation.version);
	NCCL_CHECK(CommInitRank(&lane->comm, o->ranks, invitation.id, o->rank));
	/* The communicator is complete, so all ranks have read the file. */
	if (o->rank == 0 && !o->channel)
		nt_meet_remove(&g->meet, name);
}

static void split_world(struct nt_bench_gpu *g)
{
	const struct nt_bench_options *o = g->options;
	const bool block = o->split == NT_SPLIT_BLOCK;
	const int color = block ? o->rank / o->split_ranks : o->rank % o->split_ranks;
	struct nt_lane *lane = add_lane(g, "part",
					block ? o->split_ranks : o->ranks / o->split_ranks);

	for (int i = 0; i < lane->count; i++) {
		lane->ranks[i] = block ? color * o->split_ranks + i : color + i * o->split_ranks;
		if (lane->ranks[i] == o->rank)
			lane->me = i;
	}
	NCCL_CHECK(CommSplit(g->lane[0].comm, color, o->rank, &lane->comm, NULL));
}

static void open_all(struct nt_bench_gpu *g)
{
	/* A variable, because the layout of ncclConfig_t changes with the release. */
	if (g->options->split_share)
		setenv("NCCL_COMM_SPLIT_SHARE_RESOURCES", "1", 1);
	join_all(g, add_lane(g, "world", g->options->ranks));
	if (g->options->split != NT_SPLIT_NONE)
		split_world(g);
	g->generation++;
}

void nt_lanes_open(struct nt_bench_gpu *g)
{
	double start_us = nt_clock_exact_us();

	open_all(g);
	g->init_ms = (nt_clock_exact_us() - start_us) / 1e3;
	nt_gpu_measure_memory(&g->init_mib);
}

/* Children first, as programs do. */
static void end_all(struct nt_bench_gpu *g, bool abort)
{
	while (g->lanes > 0) {
		struct nt_lane *lane = &g->lane[--g->lanes];

		if (abort)
			NCCL_CHECK(CommAbort(lane->comm));
		else
			NCCL_CHECK(CommDestroy(lane->comm));
		free(lane->ranks);
	}
}

void nt_lanes_close(struct nt_bench_gpu *g)
{
	end_all(g, false);
}

void nt_lanes_abort(struct nt_bench_gpu *g)
{
	end_all(g, true);
	nt_gpu_wait(g);
	open_all(g);
}
