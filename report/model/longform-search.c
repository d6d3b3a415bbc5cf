/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/longform-search.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "launch/memory-dir.h"
#include "launch/record-dir.h"
#include "report/model/site-config.h"

/* ---- where to look */

/* own: the user's directory inside the site's, which must be the user's, and no link; else a path
 * that the user chose. */
static bool is_usable(const struct nt_long_set *set, const struct nt_records *records)
{
	int fd = open(records->path,
		      O_PATH | O_DIRECTORY | O_CLOEXEC | (records->parents ? 0 : O_NOFOLLOW));
	bool usable = fd >= 0 && (records->parents || nt_long_set_trusts(set, fd, NULL));

	if (fd >= 0)
		close(fd);
	return usable;
}

/* A directory that is missing or not readable is skipped. Clusters may share a home and use the
 * same job ids; who wrote it may not have known the cluster (spank/step/stepd.c). */
static void look_below(struct nt_long_set *set, const struct nt_records *records,
		       const char *cluster, uint32_t job)
{
	const char *const clusters[] = { NT_CLUSTER_UNKNOWN, cluster };
	char name[NT_LONG_NAME_MAX], path[NT_RECORDS_PATH_MAX + NT_LONG_NAME_MAX];

	for (size_t i = 0; i < 2 && clusters[i][0]; i++) {
		nt_long_job_name(name, clusters[i], job);
		snprintf(path, sizeof(path), "%s/%s", records->path, name);
		(void)nt_long_set_add_named(set, path, NULL);
	}
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

/* Where a step of that user's would write it. own: as the caller's environment says. */
static void look_where_put(struct nt_long_set *set, uint32_t job, const char *own,
			   const struct owner *owner)
{
	const struct nt_site_records *site = nt_site_records();
	char memory[NT_PATH_MAX];
	const struct nt_records_asked asked = {
		.own = own, .site = site->record_dir, .uid = owner->uid, .memory = memory
	};
	struct nt_records records;

	if ((owner->home[0] ? nt_memory_directory_of(memory, NULL, NULL, owner->home, NULL)
			    : nt_memory_directory(memory, NULL)) < 0)
		memory[0] = '\0';
	if (nt_records_choose(&records, &asked, NULL) == 0 && is_usable(set, &records))
		look_below(set, &records, site->cluster, job);
}

/* Each directory that the job's record names. */
static bool look_where_named(struct nt_long_set *set, const struct nt_summary *named)
{
	const char *last = "";

	for (size_t i = 0; named && i < named->step_count; i++) {
		const char *directory = named->steps[i].long_form;

		if (directory[0] == '/' && strcmp(directory, last) != 0)
			(void)nt_long_set_add_named(set, last = directory, NULL);
	}
	return last[0];
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
	const struct owner caller = { .uid = getuid() };
	struct owner owner;
	bool known = find_owner(&owner, job->user);
	int64_t run;

	trust(set, &owner);
	if (!look_where_named(set, named)) {
		/* The caller's in any case: accounting may name another user at first. */
		look_where_put(set, job->job, getenv(NT_ENV_RECORD_DIR), &caller);
		if (known && owner.uid != caller.uid)
			look_where_put(set, job->job, NULL, &owner);
	}
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
