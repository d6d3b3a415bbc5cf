/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spoolread.c - see spool.h: reading */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "record/file.h"
#include "record/label.h"
#include "record/read.h"
#include "record/spool.h"
#include "record/step.h"

/* It becomes an argument of sacct, where a comma would mean several. */
static const char cluster_characters[] = "abcdefghijklmnopqrstuvwxyz"
					 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

static int check_line(const struct nt_spool_line *line, struct nt_error *err)
{
	if (line->version != NT_RECORD_VERSION)
		return nt_error_set(err, "v is %lld (this nccl-tune reads version %d)",
				    (long long)line->version, NT_RECORD_VERSION);
	if (line->job < 1 || line->job > UINT32_MAX)
		return nt_error_set(err, "job is %lld (want a job id)", (long long)line->job);
	if (!line->cluster[0] || strspn(line->cluster, cluster_characters) != strlen(line->cluster))
		return nt_error_set(err, "cluster is \"%s\" (want a cluster's name)",
				    line->cluster);
	if (!nt_step_name_valid(line->step))
		return nt_error_set(err, "step is \"%s\" (want a number or batch)", line->step);
	return 0;
}

/* The text before it was made printable. */
static int check_record(json_object *object, struct nt_error *err)
{
	json_object *record;

	json_object_object_get_ex(object, "record", &record);
	return nt_step_check(json_object_get_string(record),
			     (size_t)json_object_get_string_len(record), err);
}

static int read_text(struct nt_spooled *spooled, char **text, size_t *text_bytes,
		     struct nt_error *err)
{
	const struct stat *status = &spooled->status;
	int fd = openat(spooled->directory_fd, spooled->name,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int rc = -1;

	if (fd < 0)
		return nt_error_set(err, "cannot open it: %m");
	if (fstat(fd, &spooled->status) < 0)
		nt_error_set(err, "cannot look at it: %m");
	else if (!S_ISREG(status->st_mode))
		nt_error_set(err, "not a plain file");
	else if (status->st_uid != geteuid() || (status->st_mode & (S_IWGRP | S_IWOTH)))
		nt_error_set(err, "another user owns it or may write it");
	else
		rc = nt_file_read_fd(fd, spooled->name, NT_SPOOL_FILE_MAX, text, text_bytes, err);
	close(fd);
	return rc;
}

int nt_spooled_parse(struct nt_spooled *spooled, const char *text, size_t text_bytes,
		     struct nt_error *err)
{
	struct nt_spool_line line;
	json_object *object = NULL;
	int rc = nt_json_parse(text, text_bytes, &object, err);

	if (rc == 0)
		rc = nt_fields_read(&nt_spool_fields, object, &line, NT_READ_TO_SHOW, err);
	if (rc == 0)
		rc = check_line(&line, err);
	if (rc == 0)
		rc = check_record(object, err);
	if (rc == 0) {
		*spooled = (struct nt_spooled){ .job = (uint32_t)line.job };
		memcpy(spooled->cluster, line.cluster, sizeof(spooled->cluster));
		memcpy(spooled->step, line.step, sizeof(spooled->step));
		memcpy(spooled->record, line.record, sizeof(spooled->record));
	}
	json_object_put(object);
	return rc;
}

static int read_file(struct nt_spooled *spooled, int directory_fd, const char *name,
		     struct nt_error *err)
{
	struct nt_spooled found = { .directory_fd = directory_fd, .name = name };
	char *text = NULL;
	size_t text_bytes = 0;
	int rc;

	if (read_text(&found, &text, &text_bytes, err) < 0)
		return -1;
	rc = nt_spooled_parse(spooled, text, text_bytes, err);
	spooled->directory_fd = directory_fd;
	spooled->status = found.status;
	free(text);
	return rc;
}

static int is_finished_file(const struct dirent *file)
{
	size_t bytes = strlen(file->d_name);

	return file->d_name[0] != NT_SPOOL_UNFINISHED &&
	       (bytes < 4 || strcmp(file->d_name + bytes - 4, ".tmp") != 0);
}

int nt_spooled_each(int directory_fd, nt_spooled_visit *visit, void *argument, struct nt_error *err)
{
	struct dirent **files = NULL;
	int count = scandirat(directory_fd, ".", &files, is_finished_file, versionsort);
	struct nt_error problem;
	int rc = 0;

	if (count < 0)
		return nt_error_set(err, "cannot list the spool: %m");
	for (int i = 0; i < count; i++) {
		struct nt_spooled spooled = { .problem = NULL };

		if (rc == 0) {
			if (read_file(&spooled, directory_fd, files[i]->d_name, &problem) < 0)
				spooled.problem = problem.text;
			spooled.name = files[i]->d_name;
			rc = visit(argument, &spooled, err);
		}
		free(files[i]);
	}
	free(files);
	return rc;
}

int nt_spooled_remove(const struct nt_spooled *spooled, struct nt_error *err)
{
	struct stat now;

	if (fstatat(spooled->directory_fd, spooled->name, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : nt_error_set(err, "cannot look at it again: %m");
	if (now.st_ino != spooled->status.st_ino || now.st_size != spooled->status.st_size ||
	    now.st_mtim.tv_sec != spooled->status.st_mtim.tv_sec ||
	    now.st_mtim.tv_nsec != spooled->status.st_mtim.tv_nsec)
		return 0;
	if (unlinkat(spooled->directory_fd, spooled->name, 0) < 0)
		return nt_error_set(err, "cannot remove it: %m");
	return 0;
}
