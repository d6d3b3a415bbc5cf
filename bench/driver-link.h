/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* driver-link.h - lines of text over a descriptor that never blocks
 *
 * Threads:  one.
 * Memory:   a value, bounded; nt_link_close closes the descriptor.
 * Errors:   fd is -1 after the end, a failure, a line that is too long or has other than printable
 *           characters, or if the other side does not read. Lines that came before are still there.
 */
#ifndef NT_DRIVER_LINK_H
#define NT_DRIVER_LINK_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

#define NT_LINK_LINE 768 /* longest line, with its end; the benchmark's, too */

struct nt_link {
	int fd; /* -1: closed */
	size_t in_bytes, out_bytes;
	char in[NT_LINK_LINE], out[2 * NT_LINK_LINE];
};

void nt_link_init(struct nt_link *link, int fd); /* fd -1: none */
void nt_link_close(struct nt_link *link);
void nt_link_say(struct nt_link *link, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
struct pollfd nt_link_poll(const struct nt_link *link);
/* After poll(): send and receive. */
void nt_link_attend(struct nt_link *link, short revents);
/* The next whole line, without its end. */
bool nt_link_line(struct nt_link *link, char line[NT_LINK_LINE]);

#define NT_LINK_PORTS 8

/* Listen on the first free port of NT_LINK_PORTS; a descriptor, or -1 and *err. */
int nt_link_listen(unsigned port, struct nt_error *err);
/* Of a host's name or address and a port; a descriptor, or -1. */
int nt_link_connect(const char *address, unsigned port, int64_t until_ms);

#endif
