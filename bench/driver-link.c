/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/driver-link.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "lib/clock.h"

/* ---- lines */

void nt_link_init(struct nt_link *link, int fd)
{
	const int on = 1;

	memset(link, 0, sizeof(*link));
	link->fd = fd;
	if (fd < 0)
		return;
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void nt_link_close(struct nt_link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
}

static void flush(struct nt_link *link)
{
	while (link->fd >= 0 && link->out_bytes > 0) {
		ssize_t sent = write(link->fd, link->out, link->out_bytes);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && errno == EAGAIN)
			return;
		if (sent <= 0) {
			nt_link_close(link);
			return;
		}
		link->out_bytes -= (size_t)sent;
		memmove(link->out, link->out + sent, link->out_bytes);
	}
}

void nt_link_say(struct nt_link *link, const char *format, ...)
{
	const size_t size = sizeof(link->out) - link->out_bytes;
	va_list args;
	int bytes;

	if (link->fd < 0)
		return;
	va_start(args, format);
	bytes = vsnprintf(link->out + link->out_bytes, size, format, args);
	va_end(args);
	if (bytes < 0 || (size_t)bytes + 1 >= size) {
		nt_link_close(link);
		return;
	}
	link->out_bytes += (size_t)bytes;
	link->out[link->out_bytes++] = '\n';
	flush(link);
}

struct pollfd nt_link_poll(const struct nt_link *link)
{
	const bool full = link->in_bytes == sizeof(link->in);

	return (struct pollfd){
		.fd = link->fd,
		.events = (short)((full ? 0 : POLLIN) | (link->out_bytes > 0 ? POLLOUT : 0)),
	};
}

void nt_link_attend(struct nt_link *link, short revents)
{
	ssize_t got;

	if (link->fd < 0 || revents == 0)
		return;
	flush(link);
	if (link->fd < 0 || !(revents & (POLLIN | POLLHUP | POLLERR)) ||
	    link->in_bytes == sizeof(link->in))
		return;
	got = read(link->fd, link->in + link->in_bytes, sizeof(link->in) - link->in_bytes);
	if (got > 0)
		link->in_bytes += (size_t)got;
	else if (got == 0 || (errno != EINTR && errno != EAGAIN))
		nt_link_close(link);
}

static bool is_plain(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

bool nt_link_line(struct nt_link *link, char line[NT_LINK_LINE])
{
	const char *end = memchr(link->in, '\n', link->in_bytes);
	const size_t bytes = end ? (size_t)(end - link->in) : link->in_bytes;

	if (!is_plain(link->in, bytes) || (!end && link->in_bytes == sizeof(link->in))) {
		nt_link_close(link);
		link->in_bytes = 0;
		return false;
	}
	if (!end)
		return false;
	memcpy(line, link->in, bytes);
	line[bytes] = '\0';
	link->in_bytes -= bytes + 1;
	memmove(link->in, end + 1, link->in_bytes);
	return true;
}

/* ---- connections */

static int bind_any(int family, unsigned port)
{
	const struct sockaddr_in6 six = { .sin6_family = AF_INET6,
					  .sin6_port = htons((uint16_t)port) };
	const struct sockaddr_in four = { .sin_family = AF_INET,
					  .sin_port = htons((uint16_t)port) };
	const int on = 1, off = 0;
	const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc;

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (family == AF_INET6) {
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
		rc = bind(fd, (const struct sockaddr *)&six, sizeof(six));
	} else {
		rc = bind(fd, (const struct sockaddr *)&four, sizeof(four));
	}
	if (rc == 0 && listen(fd, SOMAXCONN) == 0)
		return fd;
	close(fd);
	return -1;
}

int nt_link_listen(unsigned port, struct nt_error *err)
{
	for (unsigned i = 0; i < NT_LINK_PORTS; i++) {
		int fd = bind_any(AF_INET6, port + i);

		if (fd < 0 && errno == EAFNOSUPPORT)
			fd = bind_any(AF_INET, port + i);
		if (fd >= 0)
			return fd;
	}
	return nt_error_set(err, "no port from %u to %u is free: %m", port,
			    port + NT_LINK_PORTS - 1);
}

static int connect_one(const struct addrinfo *to, int64_t until_ms)
{
	const int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	const int64_t left_ms = until_ms - nt_clock_ms();
	int failure = 0;
	socklen_t bytes = sizeof(failure);

	if (fd < 0)
		return -1;
	if (connect(fd, to->ai_addr, to->ai_addrlen) == 0)
		return fd;
	if (errno == EINPROGRESS && poll(&ready, 1, left_ms > 0 ? (int)left_ms : 0) == 1 &&
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &bytes) == 0 && failure == 0)
		return fd;
	close(fd);
	return -1;
}

int nt_link_connect(const char *address, unsigned port, int64_t until_ms)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	char service[8];
	int fd = -1;

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(address, service, &hints, &found) != 0)
		return -1;
	for (const struct addrinfo *to = found; to && fd < 0; to = to->ai_next)
		fd = connect_one(to, until_ms);
	freeaddrinfo(found);
	return fd;
}
