/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/longform-search.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "profiles/memory-dir.h"
#include "profiles/record-dir.h"
#include "report/model/site-config.h"

#define NAMED_MAX 64 /* directories that a short record names; steps of a job share one */

/* ---- where to look */

struct search {
	struct nt_long_set *set;
	uint32_t job;
	const char *cluster; /* "": unknown */
	size_t tried;
	char seen[NAMED_MAX][NT_PATH_MAX]; /* directories that were looked at */
};

/* A directory that is missing or not readable is skipped. */
static void look_at(struct search *search, const char *directory)
{
	struct nt_error err;

	for (size_t i = 0; i < search->tried; i++) {
		if (strcmp(search->seen[i], directory) == 0)
			return;
	}
	if (search->tried == NAMED_MAX || strlen(directory) >= NT_PATH_MAX)
		return;
	snprintf(search->seen[search->tried++], NT_PATH_MAX, "%s", directory);
	(void)nt_long_set_add_named(search->set, directory, &err);
}

/* Is it of the job, on this cluster? Clusters may share a home and use the same job ids. Whoever
 * wrote it may not have known the cluster (spank/plugin.c), and this host may not either. */
static bool is_of_job(const struct search *search, const char *name)
{
	char wanted[NT_LONG_NAME_MAX], ending[16];
	const char *dot = strrchr(name, '.');

	snprintf(ending, sizeof(ending), ".%" PRIu32, search->job);
	if (!dot || strcmp(dot, ending) != 0)
		return false;
	nt_long_job_name(wanted, search->cluster, search->job);
	return !search->cluster[0] || strcasecmp(name, wanted) == 0 ||
	       strncmp(name, NT_CLUSTER_UNKNOWN ".", sizeof(NT_CLUSTER_UNKNOWN)) == 0;
}

/* own: the user's directory inside one of the site's; else a path that the user chose. */
static DIR *open_records(const struct search *search, const char *records, bool own)
{
	int fd = records[0] == '/' ? open(records, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC |
							   (own ? O_NOFOLLOW : 0))
				   : -1;
	DIR *directory = NULL;
	struct nt_error err;

	if (fd >= 0 && (!own || nt_long_set_trusts(search->set, fd, &err)))
		directory = fdopendir(fd);
	if (fd >= 0 && !directory)
		close(fd);
	return directory;
}

static void look_below(struct search *search, const char *records, bool own)
{
	DIR *directory = open_records(search, records, own);
	const struct dirent *entry;
	char path[NT_PATH_MAX];

	while (directory && (entry = readdir(directory)) != NULL) {
		if (is_of_job(search, entry->d_name) &&
		    snprintf(path, sizeof(path), "%s/%s", records, entry->d_name) <
			    (int)sizeof(path))
			look_at(search, path);
	}
	if (directory)
		closedir(directory);
}

/* Copied, because getpwnam() reuses its memory. */
struct owner {
	uint32_t uid;
	char home[NT_PATH_MAX];
};

static bool find_owner(struct owner *owner, const char *name)
{
	const struct passwd *user = name && name[0] ? getpwnam(name) : NULL;

	*owner = (struct owner){ .uid = getuid() };
	if (!user)
		return false;
	owner->uid = user->pw_uid;
	snprintf(owner->home, sizeof(owner->home), "%s", user->pw_dir);
	return true;
}

static const struct nt_record_places *record_places(void)
{
	static struct nt_record_places places;
	static bool known;

	if (!known)
		nt_record_places(&places);
	known = true;
	return &places;
}

/* Where a step of that user's would write it. own: as the caller's environment says. */
static void look_where_put(struct search *search, const char *own, uint32_t uid, const char *home)
{
	char memory[NT_PATH_MAX];
	const struct nt_records_asked asked = {
		.own = own, .site = record_places()->record_dir, .uid = uid, .memory = memory
	};
	struct nt_records records;

	if ((home ? nt_memory_directory_of(memory, NULL, NULL, home, NULL)
		  : nt_memory_directory(memory, NULL)) < 0)
		memory[0] = '\0';
	if (nt_records_choose(&records, &asked, NULL) == 0)
		look_below(search, records.path, !records.parents);
}

/* The run of a requeued job that the steps are of; -1: not known. */
static int64_t run_of(const struct nt_long_job *job, const struct nt_summary *named)
{
	int64_t run = -1;

	for (size_t i = 0; named && i < named->step_count; i++) {
		if (named->steps[i].run > run)
			run = named->steps[i].run;
	}
	return run < 0 && job->run > 0 ? job->run : run;
}

/* The job's user, root, and the caller, since accounting may not know the user yet. */
static void trust(struct nt_long_set *set, const struct owner *owner)
{
	set->owner[0] = owner->uid;
	set->owner[1] = geteuid();
	set->owner[2] = 0;
	set->owners = 3;
}

void nt_long_find(struct nt_long_set *set, const struct nt_long_job *job,
		  const struct nt_summary *named)
{
	static struct search search;
	struct owner owner;
	bool known = find_owner(&owner, job->user);
	int64_t run;

	trust(set, &owner);
	memset(&search, 0, sizeof(search));
	search.set = set;
	search.job = job->job;
	search.cluster = record_places()->cluster;
	for (size_t i = 0; named && i < named->step_count; i++) {
		if (named->steps[i].long_form[0] == '/')
			look_at(&search, named->steps[i].long_form);
	}
	/* The caller's in any case: accounting may name another user at first. */
	look_where_put(&search, getenv(NT_ENV_RECORD_DIR), getuid(), NULL);
	if (known && owner.uid != getuid())
		look_where_put(&search, NULL, owner.uid, owner.home);
	run = run_of(job, named);
	if (run >= 0)
		nt_long_set_take_run(set, run);
	nt_long_set_sort(set, job->job);
}

/* ---- in place of the short form */

/* Add the steps that only the short form has. */
static int add_others(struct nt_summary *full, const struct nt_summary *known, const char *text,
		      size_t text_bytes, struct nt_error *err)
{
	for (size_t i = 0; i < known->step_count; i++) {
		if (!nt_summary_step(full, known->steps[i].name) &&
		    nt_summary_parse(full, text, text_bytes, known->steps[i].name, err) < 0)
			return -1;
	}
	return 0;
}

int nt_long_prefer(struct nt_summary *summary, const struct nt_long_job *job, const char *text,
		   size_t text_bytes, struct nt_error *err)
{
	struct nt_long_set set;
	struct nt_summary full;
	size_t steps;
	int rc;

	nt_long_set_init(&set);
	nt_summary_init(&full);
	nt_long_find(&set, job, summary);
	rc = nt_long_set_summary(&set, &full, job->step, summary, err);
	steps = full.step_count;
	if (rc == 0 && steps > 0 && text)
		rc = add_others(&full, summary, text, text_bytes, err);
	if (rc == 0 && steps > 0) {
		nt_summary_fini(summary);
		*summary = full;
		nt_summary_init(&full);
	}
	nt_summary_fini(&full);
	nt_long_set_fini(&set);
	return rc < 0 ? -1 : (int)steps;
}
