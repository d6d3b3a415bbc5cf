/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* marked.c - see marked.h */
#include "report/marked.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include "record/child.h"

#define OUTPUT_MAX (64u << 20)
#define MARK_BYTES 20
#define FORMAT_MAX 128

static int make_mark(char mark[MARK_BYTES], struct nt_error *err)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return nt_error_set(err, "no random number: %m");
	snprintf(mark, MARK_BYTES, "\x1f%016" PRIx64 "\x1f", number);
	return 0;
}

/* One row; what follows it, or NULL. A line's end behind the last mark is the row's. */
static const char *read_row(const char *at, const char *mark, size_t count, nt_marked_visit *visit,
			    void *argument)
{
	struct nt_text columns[NT_MARKED_COLUMNS];

	for (size_t i = 0; i < count; i++) {
		const char *end = strstr(at, mark);

		if (!end)
			return NULL;
		columns[i] = (struct nt_text){ at, (size_t)(end - at) };
		at = end + strlen(mark);
	}
	at = strchr(at, '\n');
	return at && visit(argument, columns) == 0 ? at + 1 : NULL;
}

int nt_marked_ask(const struct nt_marked *question, nt_marked_visit *visit, void *argument,
		  struct nt_error *err)
{
	char mark[MARK_BYTES], delimiter[MARK_BYTES + 16], format[FORMAT_MAX], clusters[96];
	char jobs[] = "-j", every[] = "-D";
	char *argv[12] = { "sacct", "-n", "-P", "-X", delimiter, format, jobs };
	struct nt_error reason;
	struct nt_child child;
	const char *at = NULL;
	size_t used = 8;

	if (make_mark(mark, err) < 0)
		return -1;
	argv[7] = (char *)(uintptr_t)question->jobs;
	snprintf(delimiter, sizeof(delimiter), "--delimiter=%s", mark);
	/* The last column holds nothing of users': a line's end there is one. */
	snprintf(format, sizeof(format), "--format=%s,JobIDRaw", question->columns);
	if (question->every_run)
		argv[used++] = every;
	if (question->cluster) {
		snprintf(clusters, sizeof(clusters), "--clusters=%s", question->cluster);
		argv[used] = clusters;
	}
	if (nt_child_run(&child, argv, OUTPUT_MAX, question->timeout_ms, &reason) < 0)
		nt_error_set(err, "sacct: %.140s", reason.text);
	else if (child.status != 0)
		nt_error_set(err, "sacct: %.140s", child.complaint);
	else {
		for (at = child.out; at && *at;)
			at = read_row(at, mark, question->count, visit, argument);
		if (!at)
			nt_error_set(err, "sacct: its answer could not be read");
	}
	nt_child_fini(&child);
	return at ? 0 : -1;
}
