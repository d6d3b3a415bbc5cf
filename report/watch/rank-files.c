/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/watch/rank-files.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/compare.h"
#include "lib/number.h"
#include "record/sum.h"
#include "spank/recordd/collect.h"
#include "spank/step-dir.h"

#define DIRECTORIES_MAX 128

/* The user's directory of a step, in root's directory NODE.JOB.STEP. */
struct step_directory {
	uint32_t step;
	char path[NT_PATH_MAX + NT_STEP_HOLDER_MAX];
};

struct places {
	struct step_directory *items;
	size_t count;
	int64_t newest_s;
};

static int take_number(const char *text, const char *end, uint32_t *number)
{
	uint64_t value;

	if (nt_number_read(text, UINT32_MAX, &value) != end)
		return -1;
	*number = (uint32_t)value;
	return 0;
}

/* From the right: node names may have dots. */
static bool holder_is_of(const char *name, uint32_t job, uint32_t *step)
{
	const char *last = strrchr(name, '.'), *middle = last;
	uint32_t found;

	while (middle && middle > name && middle[-1] != '.')
		middle--;
	return middle && middle > name && name[0] != '.' &&
	       take_number(middle, last, &found) == 0 && found == job &&
	       take_number(last + 1, name + strlen(name), step) == 0;
}

/* The name of a directory does not have the step's component. */
static bool step_is_wanted(uint32_t step, const char *wanted)
{
	char name[NT_STEP_NAME_MAX];
	size_t digits = strcspn(wanted, "+");

	nt_step_name(step, NT_STEP_WHOLE, name);
	return !wanted[0] || (strlen(name) == digits && strncmp(name, wanted, digits) == 0);
}

/* Only the caller's own: root does not read a user's files here. */
static bool is_ours(const char *path, int64_t *written_s)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	bool ours = fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid();

	if (ours && status.st_mtim.tv_sec > *written_s)
		*written_s = status.st_mtim.tv_sec;
	if (fd >= 0)
		close(fd);
	return ours;
}

static int add_place(struct places *places, const char *rundir, const char *holder, uint32_t step)
{
	struct step_directory place = { .step = step }, *added;

	snprintf(place.path, sizeof(place.path), "%s/%.*s/" NT_STEP_FS "/" NT_STEP_USERS, rundir,
		 NT_STEP_HOLDER_MAX - 1, holder);
	if (places->count == DIRECTORIES_MAX || !is_ours(place.path, &places->newest_s))
		return 0;
	added = nt_array_add(&places->items, &places->count, NT_SUMMARY_MAX, sizeof(*added));
	if (!added)
		return -1;
	*added = place;
	return 0;
}

static int find_places(struct places *places, const char *rundir, uint32_t job, const char *wanted)
{
	DIR *directory = opendir(rundir);
	const struct dirent *entry;
	uint32_t step;
	int rc = 0;

	if (!directory)
		return 0;
	while (rc == 0 && (entry = readdir(directory)) != NULL) {
		if (holder_is_of(entry->d_name, job, &step) && step_is_wanted(step, wanted))
			rc = add_place(places, rundir, entry->d_name, step);
	}
	closedir(directory);
	return rc;
}

/* One machine may be several nodes, each with a directory of the step. */
static int add_step(struct nt_summary *summary, const struct places *places, size_t first,
		    uint32_t job, struct nt_error *err)
{
	const uint32_t step = places->items[first].step;
	struct nt_step head = { .more = 0 };
	struct nt_sum sum;
	int rc = 0;

	for (size_t i = 0; i < first; i++) {
		if (places->items[i].step == step)
			return 0;
	}
	nt_sum_init(&sum);
	for (size_t i = first; i < places->count; i++) {
		/* It may have been removed: no error. */
		if (places->items[i].step == step)
			(void)nt_collect_directory(&sum, places->items[i].path, job, step, err);
	}
	nt_fields_clear(&nt_step_fields, &head);
	nt_step_name(step, NT_STEP_WHOLE, head.name);
	head.early = 1;
	if (sum.records > 0)
		rc = nt_summary_add_sum(summary, &sum, &head, err);
	nt_sum_fini(&sum);
	return rc;
}

static int by_step(const void *a, const void *b)
{
	const struct step_directory *x = a, *y = b;

	NT_COMPARE(x->step, y->step);
	return 0;
}

int nt_watch_load_files(struct nt_summary *summary, const char *rundir, uint32_t job,
			const char *step, int64_t *newest_s, struct nt_error *err)
{
	struct places places = { .count = 0 };
	int rc = find_places(&places, rundir, job, step);

	if (rc < 0)
		nt_error_set(err, "no memory for the steps' directories");
	if (places.count > 0)
		qsort(places.items, places.count, sizeof(places.items[0]), by_step);
	for (size_t i = 0; i < places.count && rc == 0; i++)
		rc = add_step(summary, &places, i, job, err);
	nt_summary_sort(summary);
	*newest_s = places.newest_s;
	free(places.items);
	return rc < 0 ? -1 : (int)places.count;
}
