/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/replay/job-word.h"

#include <fcntl.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/printable.h"
#include "report/model/jobload.h"
#include "report/model/longform-search.h"

static bool is_job(const char *word, struct nt_jobid *id)
{
	return nt_jobid_parse(id, word, NULL) == 0 && access(word, F_OK) < 0;
}

/* The job's records, as Slurm has them. It is an error if there is no such job. */
static int load_texts(struct nt_jobtexts *texts, const struct nt_jobid *id, struct nt_error *err)
{
	char label[NT_JOB_LABEL_MAX];
	int rc;

	slurm_init(NULL);
	rc = nt_job_load(texts, id, err);
	slurm_fini();
	if (rc == 0 && texts->count == 0)
		rc = nt_error_set(err,
				  "no job %s: slurmctld and accounting have no such job, or hide "
				  "it from you",
				  nt_jobid_text(id, label, sizeof(label)));
	return rc;
}

/* The records of one step in a long form; "": of all steps. */
struct of_step {
	const struct nt_rank_visitor *visitor;
	const char *step;
};

static int visit_rank(void *argument, const struct nt_long_part *part, struct nt_text name,
		      struct nt_text value, struct nt_error *err)
{
	const struct of_step *of = argument;

	if (!nt_text_is(name, NT_LONG_RANK) ||
	    (of->step[0] && strcmp(part->head.step, of->step) != 0))
		return 0;
	return of->visitor->visit(of->visitor->argument, part, value, err);
}

static void complain(void *argument, const char *path, const char *why)
{
	const struct nt_rank_visitor *visitor = ((const struct of_step *)argument)->visitor;

	struct nt_shown shown_path, shown_why;

	fprintf(stderr, "nt-replay: %s: %s\n", nt_shown(&shown_path, path),
		nt_shown(&shown_why, why));
	*visitor->damaged = true;
}

static void init_set(struct nt_long_set *set, struct of_step *of)
{
	nt_long_set_init(set);
	set->complain = complain;
	set->argument = of;
}

/* Visit the long form of a job in accounting; adds the number of its parts to *parts. */
static int visit_text(const struct nt_jobtext *text, const char *step,
		      const struct nt_rank_visitor *visitor, size_t *parts, struct nt_error *err)
{
	const struct nt_long_job job = { .job = text->job, .user = text->user, .run = text->run };
	struct of_step of = { visitor, step };
	struct nt_summary named;
	struct nt_long_set set;
	int rc;

	init_set(&set, &of);
	nt_summary_init(&named);
	rc = nt_summary_parse(&named, text->comment, strlen(text->comment), NULL, err);
	if (rc == 0) {
		nt_long_find(&set, &job, &named);
		for (size_t i = 0; i < set.count; i++)
			*parts += !step[0] || strcmp(set.parts[i].head.step, step) == 0;
		rc = nt_long_set_each(&set, visit_rank, &of, err);
	}
	nt_summary_fini(&named);
	nt_long_set_fini(&set);
	return rc;
}

static int visit_job(const struct nt_jobid *id, const struct nt_rank_visitor *visitor,
		     size_t *parts, struct nt_error *err)
{
	struct nt_jobtexts texts = { .count = 0 };
	char label[NT_JOB_LABEL_MAX];
	int rc = load_texts(&texts, id, err);

	for (size_t i = 0; rc == 0 && i < texts.count; i++)
		rc = visit_text(&texts.items[i], id->step, visitor, parts, err);
	nt_jobtexts_fini(&texts);
	nt_jobid_text(id, label, sizeof(label));
	if (rc == 0 && *parts == 0)
		rc = nt_error_set(err,
				  "job %s%s%s has no rank records that you can read; 'nccl-tune "
				  "report %s' shows its short record",
				  label, id->step[0] ? "." : "", id->step, label);
	return rc;
}

/* Is it a part, or a directory? */
static bool is_long(const char *path)
{
	int fd = strcmp(path, "-") == 0 ? -1
					: open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;
	unsigned char magic[2];
	bool is = false;

	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0)
		is = S_ISDIR(status.st_mode) ||
		     (S_ISREG(status.st_mode) && pread(fd, magic, 2, 0) == 2 && magic[0] == 0x1f &&
		      magic[1] == 0x8b);
	close(fd);
	return is;
}

bool nt_job_word_is_long(const char *word)
{
	struct nt_jobid id;

	return is_job(word, &id) || is_long(word);
}

int nt_job_word_visit(const char *word, const struct nt_rank_visitor *visitor, size_t *parts,
		      struct nt_error *err)
{
	struct of_step of = { visitor, "" };
	struct nt_long_set set;
	struct nt_jobid id;
	int rc;

	*parts = 0;
	if (is_job(word, &id))
		return visit_job(&id, visitor, parts, err);
	init_set(&set, &of);
	rc = nt_long_set_add(&set, word, err);
	nt_long_set_sort(&set, 0);
	*parts = set.count;
	if (rc == 0)
		rc = nt_long_set_each(&set, visit_rank, &of, err);
	nt_long_set_fini(&set);
	return rc;
}
