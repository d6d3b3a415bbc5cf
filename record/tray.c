/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tray.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "lib/reserve.h"

static bool is_the_memory(const struct nt_tray_out *out)
{
	struct stat status;

	return fstat(out->fd, &status) == 0 && status.st_dev == out->device &&
	       status.st_ino == out->inode;
}

/* With memory for the first `used` bytes. */
static void *map_part(int fd, size_t at, size_t used, size_t bytes)
{
	void *map;

	if (nt_reserve(fd, at, at + used) != 0)
		return NULL;
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
	return map == MAP_FAILED ? NULL : map;
}

static int claim(struct nt_tray_out *out, uint32_t pid)
{
	for (uint32_t i = 0; i < NT_TRAYS; i++) {
		uint32_t nobody = 0;

		if (!atomic_compare_exchange_strong(&out->trays->owner[i], &nobody, pid))
			continue;
		out->index = i;
		return 0;
	}
	atomic_fetch_add(&out->trays->refused, 1);
	atomic_fetch_add(&out->trays->changes, 1);
	return -1;
}

int nt_tray_open(struct nt_tray_out *out, int fd, enum nt_tray_kind kind, const char *about,
		 uint32_t pid)
{
	struct stat status;

	memset(out, 0, sizeof(*out));
	if (fstat(fd, &status) < 0 || status.st_size != (off_t)NT_SHM_BYTES)
		return -1;
	out->fd = fd;
	out->device = status.st_dev;
	out->inode = status.st_ino;
	out->trays = map_part(fd, NT_TRAYS_AT, sizeof(struct nt_trays), sizeof(struct nt_trays));
	if (!out->trays)
		return -1;
	if (claim(out, pid) == 0)
		out->tray = map_part(fd, NT_TRAY_AT(out->index), sizeof(struct nt_tray),
				     NT_TRAY_BYTES);
	if (!out->tray) {
		nt_tray_close(out);
		return -1;
	}
	snprintf(out->tray->about, sizeof(out->tray->about), "%s", about);
	atomic_store_explicit(&out->tray->kind, kind, memory_order_release);
	return 0;
}

int nt_tray_put(struct nt_tray_out *out, const char *text, size_t bytes)
{
	uint32_t next, half;
	size_t at;

	if (!out->tray || bytes > NT_TRAY_TEXT || !is_the_memory(out))
		return -1;
	/* The text before is published before its other half changes. */
	atomic_thread_fence(memory_order_seq_cst);
	next = atomic_load_explicit(&out->tray->written, memory_order_relaxed) + 1;
	half = next & 1;
	at = NT_TRAY_TEXT_AT(out->index, half);
	if (nt_reserve(out->fd, at, at + bytes) != 0)
		return -1;
	memcpy((char *)out->tray + (at - NT_TRAY_AT(out->index)), text, bytes);
	out->tray->bytes[half] = (uint32_t)bytes;
	/* Readers take the half that this names. */
	atomic_store_explicit(&out->tray->written, next, memory_order_release);
	atomic_fetch_add(&out->trays->changes, 1);
	return 0;
}

void nt_tray_close(struct nt_tray_out *out)
{
	if (out->tray)
		munmap(out->tray, NT_TRAY_BYTES);
	if (out->trays)
		munmap(out->trays, sizeof(struct nt_trays));
	out->tray = NULL;
	out->trays = NULL;
}

int nt_tray_leave(int fd, enum nt_tray_kind kind, const char *about, uint32_t pid, const char *text,
		  size_t bytes)
{
	struct nt_tray_out out;
	int rc;

	if (nt_tray_open(&out, fd, kind, about, pid) < 0)
		return -1;
	rc = nt_tray_put(&out, text, bytes);
	nt_tray_close(&out);
	return rc;
}
