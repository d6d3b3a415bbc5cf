/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune backfill: bring what waits in the spool into accounting. */
#include "report/command.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "report/accounting.h"
#include "report/database.h"
#include "report/spool.h"
#include "spank/splice.h"

#define FILES_MAX 1000 /* of one run; the next takes the rest */

struct work {
	bool dry_run;
	size_t written, present, later, failed;
};

enum fate { FATE_WRITTEN, FATE_PRESENT, FATE_LATER, FATE_FAILED };

/* The job in accounting that spooled is about; NULL and *err if there is none. */
static const struct nt_jobtext *find_job(const struct nt_jobtexts *texts,
					 const struct nt_spooled *spooled, struct nt_error *err)
{
	/* The bare number of an array or a heterogeneous job finds all of it. */
	for (size_t i = 0; i < texts->count; i++) {
		if (texts->items[i].job == spooled->job)
			return &texts->items[i];
	}
	nt_error_set(err, "accounting of cluster %s does not know the job", spooled->cluster);
	return NULL;
}

static int load_job(struct nt_jobtexts *texts, const struct nt_spooled *spooled,
		    const struct nt_jobtext **job, struct nt_error *err)
{
	const struct nt_jobid id = { .job = spooled->job, .task = -1, .component = -1 };

	if (nt_accounting_load(texts, &id, spooled->cluster, err) < 0)
		return -1;
	*job = find_job(texts, spooled, err);
	return *job ? 0 : -1;
}

/* Accounting must now say what was meant. */
static int verify(const struct nt_spooled *spooled, const char *expected, struct nt_error *err)
{
	struct nt_jobtexts texts = { .count = 0 };
	const struct nt_jobtext *job;
	int rc = load_job(&texts, spooled, &job, err);

	if (rc == 0 && strcmp(job->comment, expected) != 0)
		rc = nt_error_set(err, "accounting does not hold what was written to it");
	nt_jobtexts_fini(&texts);
	return rc;
}

static int write_job(const struct nt_spooled *spooled, const struct nt_jobtext *job,
		     const char *text, struct nt_error *err)
{
	struct nt_jobid id;

	if (nt_jobid_parse(&id, job->label, err) < 0)
		return -1;
	if (nt_database_write(spooled->cluster, &id, text, err) < 0)
		return -1;
	return verify(spooled, text, err);
}

/* *text is what accounting should say, or NULL where it says so already. */
static int merge(const struct nt_spooled *spooled, const char *comment, char **text,
		 struct nt_error *err)
{
	switch (nt_splice_step(comment, spooled->step, spooled->record, text)) {
	case NT_SPLICED:
	case NT_SPLICE_UNCHANGED: return 0;
	case NT_SPLICE_FOREIGN:
		return nt_error_set(err, "its AdminComment holds what is not ours to change");
	case NT_SPLICE_NO_ROOM: return nt_error_set(err, "its AdminComment has no room for it");
	case NT_SPLICE_NO_MEMORY: break;
	}
	return nt_error_set(err, "no memory for the merged text");
}

static enum fate settle_job(const struct work *work, const struct nt_spooled *spooled,
			    const struct nt_jobtext *job, struct nt_error *err)
{
	enum fate fate = FATE_WRITTEN;
	char *text;

	/* When the job ends, slurmctld writes its own text over whatever accounting holds. */
	if (!job->ended)
		return FATE_LATER;
	if (merge(spooled, job->comment, &text, err) < 0)
		return FATE_FAILED;
	if (!text)
		fate = FATE_PRESENT;
	else if (!work->dry_run && write_job(spooled, job, text, err) < 0)
		fate = FATE_FAILED;
	free(text);
	if (fate != FATE_FAILED && !work->dry_run && nt_spooled_remove(spooled, err) < 0)
		fate = FATE_FAILED;
	return fate;
}

static void account_for(struct work *work, const struct nt_spooled *spooled, enum fate fate,
			const struct nt_error *err)
{
	switch (fate) {
	case FATE_WRITTEN:
		work->written++;
		printf("job %u, step %s: %s\n", spooled->job, spooled->step,
		       work->dry_run ? "would be written" : "written");
		break;
	case FATE_PRESENT:
		work->present++;
		printf("job %u, step %s: accounting has it\n", spooled->job, spooled->step);
		break;
	case FATE_LATER:
		work->later++;
		printf("job %u, step %s: left for later, the job has not ended\n", spooled->job,
		       spooled->step);
		break;
	case FATE_FAILED:
		work->failed++;
		nt_command_complain(&nt_command_backfill, "job %u, step %s: %s", spooled->job,
				    spooled->step, err->text);
		break;
	}
}

static int settle(void *argument, const struct nt_spooled *spooled, struct nt_error *err)
{
	struct nt_jobtexts texts = { .count = 0 };
	struct work *work = argument;
	const struct nt_jobtext *job;
	enum fate fate = FATE_FAILED;
	struct nt_error problem;

	if (work->written + work->present + work->later + work->failed >= FILES_MAX)
		return nt_error_set(err, "%d files are enough for one run: run it again",
				    FILES_MAX);
	if (spooled->problem) {
		nt_command_complain(&nt_command_backfill, "%s: %s", spooled->name,
				    spooled->problem);
		work->failed++;
		return 0;
	}
	if (load_job(&texts, spooled, &job, &problem) == 0)
		fate = settle_job(work, spooled, job, &problem);
	account_for(work, spooled, fate, &problem);
	nt_jobtexts_fini(&texts);
	return 0;
}

static int open_spool(const char *directory, struct nt_error *err)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return nt_error_set(err, "%.100s: %m", directory);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return nt_error_set(err, "%.100s: another backfill is at work", directory);
	}
	return fd;
}

static int backfill(const char *directory, bool dry_run)
{
	struct work work = { .dry_run = dry_run };
	struct nt_error err;
	int directory_fd = open_spool(directory, &err);
	int rc;

	/* The plugin makes the directory when it first needs it. */
	if (directory_fd < 0 && errno == ENOENT && strcmp(directory, NT_SPOOL_DIR) == 0) {
		puts("nothing to do: there is no " NT_SPOOL_DIR);
		return NT_EXIT_OK;
	}
	if (directory_fd < 0) {
		nt_command_complain(&nt_command_backfill, "%s", err.text);
		return NT_EXIT_FAILED;
	}
	rc = nt_spooled_each(directory_fd, settle, &work, &err);
	close(directory_fd);
	if (rc < 0)
		nt_command_complain(&nt_command_backfill, "%s", err.text);
	printf("%zu %s, %zu there already, %zu left for later, %zu failed\n", work.written,
	       dry_run ? "to be written" : "written", work.present, work.later, work.failed);
	return rc < 0 || work.failed > 0 ? NT_EXIT_FAILED : NT_EXIT_OK;
}

static int run(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "dry-run", no_argument, NULL, 'n' },
		{ "spool", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *directory = NT_SPOOL_DIR;
	bool dry_run = false;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":ns:h", options, NULL)) != -1) {
		if (option == 'n')
			dry_run = true;
		else if (option == 's')
			directory = optarg;
		else if (option == 'h')
			return nt_command_help(&nt_command_backfill);
		else
			return nt_command_misuse_option(&nt_command_backfill, option, argv);
	}
	if (optind < argc)
		return nt_command_misuse(&nt_command_backfill, "no argument is wanted, not '%s'",
					 argv[optind]);
	if (geteuid() != 0) {
		nt_command_complain(&nt_command_backfill, "only root may read the spool and write "
							  "to accounting");
		return NT_EXIT_FAILED;
	}
	return nt_command_finish(&nt_command_backfill, backfill(directory, dry_run));
}

const struct nt_command nt_command_backfill = {
	.name = "backfill",
	.run = run,
	.summary = "bring records that wait in the spool into accounting (root)",
	.help = "Usage: nccl-tune backfill [--dry-run] [--spool DIRECTORY]\n"
		"\n"
		"Add the records that could not reach slurmctld when their steps ended to the\n"
		"AdminComment of their jobs in accounting, check it there, and remove them from the\n"
		"spool. A job that has not ended is left for later; another program's text is never\n"
		"changed.\n"
		"\n"
		"  -n, --dry-run          say what would be done, and do nothing\n"
		"  -s, --spool DIRECTORY  the spool (default: " NT_SPOOL_DIR ")\n"
		"  -h, --help             print this\n"
		"\n"
		"Exit status: 0 all settled or left for later, 1 something failed (see stderr),\n"
		"2 misuse.\n",
};
