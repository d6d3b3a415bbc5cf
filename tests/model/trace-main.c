/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trace-main.c - nt-trace-check: does the model allow what a traced step did?
 *
 * nt-trace-check --make FILE    an empty trace, for any user to write
 * nt-trace-check --names        the transitions, one a line
 * nt-trace-check FILE           exit 0: each event is allowed; 1: one is not; 2: usage, or no trace
 *
 * Prints one JSON object: the events, how often each transition was made, and the first that is not
 * allowed. What comes behind the death of a process in the middle of an event is not judged.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/model/trace-check.h"
#include "tests/model/trace-file.h"

static void *map(int fd, size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static int make(const char *path)
{
	const size_t bytes = sizeof(struct trace_file) +
			     TRACE_FILE_EVENTS * sizeof(struct trace_event);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	pthread_mutexattr_t shared;
	struct trace_file *file;

	if (fd < 0 || fchmod(fd, 0666) < 0 || ftruncate(fd, (off_t)bytes) < 0)
		return 2;
	file = map(fd, bytes);
	if (!file)
		return 2;
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&file->lock, &shared);
	file->head.magic = TRACE_MAGIC;
	return 0;
}

static int print(const struct trace_check *check, const struct trace_head *head, uint64_t judged)
{
	const char *wrong = trace_check_wrong(check);

	printf("{\"events\":%llu,\"judged\":%llu,\"full\":%llu,\"transitions\":{",
	       (unsigned long long)head->count, (unsigned long long)judged,
	       (unsigned long long)head->full);
	for (unsigned i = 0; i < TRACE_IS_COUNT; i++)
		printf("%s\"%s\":%llu", i ? "," : "", trace_transition_name(i),
		       (unsigned long long)trace_check_counts(check)[i]);
	printf("},\"wrong\":\"%s\"}\n", wrong ? wrong : "");
	return wrong ? 1 : 0;
}

static int check_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), rc;
	struct trace_check *check;
	const struct trace_file *file;
	struct stat st;
	uint64_t judged, i = 0;

	if (fd < 0 || fstat(fd, &st) < 0 || (size_t)st.st_size < sizeof(*file))
		return 2;
	file = map(fd, (size_t)st.st_size);
	if (!file || file->head.magic != TRACE_MAGIC)
		return 2;
	judged = file->head.torn ? file->head.torn - 1 : file->head.count;
	check = trace_check_create();
	while (i < judged && trace_check_event(check, &file->event[i]))
		i++;
	rc = print(check, &file->head, judged);
	trace_check_destroy(check);
	return rc;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--make") == 0)
		return make(argv[2]);
	if (argc == 2 && strcmp(argv[1], "--names") == 0) {
		for (unsigned i = 0; i < TRACE_IS_COUNT; i++)
			puts(trace_transition_name(i));
		return 0;
	}
	if (argc == 2 && argv[1][0] != '-')
		return check_file(argv[1]);
	fprintf(stderr, "usage: nt-trace-check --make FILE | --names | FILE\n");
	return 2;
}
