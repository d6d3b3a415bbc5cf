/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* log-peer.c - one task of a step that writes its node's log and reads all others', over the
 * PMIx it really has
 *
 * nt-log-peer ENTRIES [SILENT_NODE]: the first task of each node appends ENTRIES entries and
 * reads as many of every other node; the named node says nothing, and nobody may wait for it.
 * One JSON line a node; exit 1 if an entry was missing or different.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "pmix-sync/pmix-log.h"

#define GUARD_MS 300000 /* against hanging */
#define LINGER_MS 60000 /* for others that have not read all */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static uint32_t number(const char *name, uint32_t missing)
{
	const char *text = getenv(name);

	return text ? (uint32_t)strtoul(text, NULL, 10) : missing;
}

static void sleep_ms(unsigned ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

static size_t compose(uint8_t *out, size_t cap, uint32_t node, uint32_t entry)
{
	int n = snprintf((char *)out, cap, "entry %u of node %u", entry, node);

	return (size_t)n + 1;
}

/* Entries of other nodes that have arrived; -1 if one is not what its node wrote. */
static int hear(struct nt_log *log, uint32_t *heard)
{
	uint8_t bytes[256], wanted[256];
	uint32_t node;
	size_t count;

	while ((count = nt_log_take(log, &node, bytes, sizeof(bytes))) > 0) {
		size_t length = compose(wanted, sizeof(wanted), node, heard[node]++);

		if (count != length || memcmp(bytes, wanted, length) != 0)
			return -1;
	}
	return 0;
}

/* How many nodes have so many entries, this one and the silent one among them. */
static uint32_t with(const struct nt_log *log, const uint32_t *heard, uint32_t entries, int silent)
{
	uint32_t nodes = 0;

	for (uint32_t n = 0; n < nt_log_nodes(log)->nodes; n++)
		nodes += n == nt_log_self(log) || (int)n == silent || heard[n] >= entries;
	return nodes;
}

/* One more entry says that a node has all of the others': until then they are there to be read. */
static int exchange(struct nt_log *log, uint32_t entries, int silent)
{
	uint32_t nodes = nt_log_nodes(log)->nodes, written = 0, done = 0;
	uint32_t *heard = calloc(nodes, sizeof(*heard));
	uint64_t start = now_ms(), done_ms = 0;
	uint8_t bytes[256];
	int rc = 0;

	while (heard && rc == 0 && now_ms() - start < GUARD_MS &&
	       (done_ms == 0 || now_ms() - done_ms < LINGER_MS) &&
	       (written <= entries || with(log, heard, entries + 1, silent) < nodes)) {
		if ((written < entries || (written == entries && done >= nodes)) &&
		    nt_log_append(log, bytes,
				  compose(bytes, sizeof(bytes), nt_log_self(log), written),
				  NULL) == 0)
			written++;
		for (uint32_t n = 0; n < nodes; n++) {
			if (n != nt_log_self(log) && heard[n] <= entries)
				nt_log_poll(log, n, false);
		}
		rc = hear(log, heard);
		done = with(log, heard, entries, silent);
		if (done >= nodes && written >= entries && done_ms == 0)
			done_ms = now_ms();
		sleep_ms(10);
	}
	printf("{\"node\":\"%s\",\"nodes\":%u,\"fetches\":%u,\"ms\":%llu,\"complete\":%s}\n",
	       nt_log_nodes(log)->name[nt_log_self(log)], nodes, nt_log_count(log).fetches,
	       (unsigned long long)(now_ms() - start), rc == 0 && done >= nodes ? "true" : "false");
	free(heard);
	return rc == 0 && done >= nodes ? 0 : 1;
}

int main(int argc, char **argv)
{
	uint32_t entries = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10;
	int silent = argc > 2 ? (int)strtol(argv[2], NULL, 10) : -1;
	struct nt_reason why;
	struct nt_log *log;
	bool later;
	int rc;

	if (number("SLURM_LOCALID", 0) != 0 || (int)number("SLURM_NODEID", 0) == silent) {
		sleep_ms(3000);
		return 0;
	}
	log = nt_log_open(number("SLURM_PROCID", 0), &later, &why);
	if (!log) {
		printf("{\"error\":\"%s\"}\n", why.text);
		return 1;
	}
	rc = exchange(log, entries, silent);
	sleep_ms(500); /* others may still read the last entry */
	nt_log_close(log);
	return rc;
}
