/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/channel.h"

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

#define ID_S 120 /* how long rank 0 may take to start */
#define HEAD "id "

static int send_id(int fd, const unsigned char *data, size_t bytes, struct nt_error *err)
{
	char line[NT_LINK_LINE] = HEAD;

	for (size_t i = 0; i < bytes; i++)
		nt_append(line, sizeof(line), "%02x", data[i]);
	nt_append(line, sizeof(line), "\n");
	return nt_write_all(fd, line, strlen(line)) < 0 ? nt_error_set(err, "channel: %m") : 0;
}

/* A line, without its end. Nothing follows it. */
static int read_line(int fd, char *line, size_t room, struct nt_error *err)
{
	const int64_t until_ms = nt_clock_ms() + ID_S * 1000;
	size_t used = 0;

	while (used == 0 || line[used - 1] != '\n') {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		const int64_t left_ms = until_ms - nt_clock_ms();
		ssize_t got;

		if (left_ms <= 0 || used == room)
			return nt_error_set(err, "channel: no id from rank 0");
		if (poll(&ready, 1, (int)left_ms) <= 0)
			continue;
		got = read(fd, line + used, room - used);
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

int nt_channel_id(const struct nt_bench_options *o, void *data, size_t bytes, struct nt_error *err)
{
	return o->rank == 0 ? send_id(o->channel, data, bytes, err)
			    : receive_id(o->channel, data, bytes, err);
}
