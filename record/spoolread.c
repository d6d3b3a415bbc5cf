/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The reading half. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/file.h"
#include "record/member-names.h"
#include "record/read.h"
#include "record/spool.h"
#include "record/step.h"

/* An argument of sacct, where a comma separates names. */
static const char cluster_characters[] = "abcdefghijklmnopqrstuvwxyz"
					 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

static int check_line(const struct nt_spooled *line, struct nt_error *err)
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
	if (line->uid >= NT_SPOOL_NO_UID)
		return nt_error_set(err, "uid is %lld (want a user's)", (long long)line->uid);
	return 0;
}

/* As it was before it was made printable. */
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
	else if ((status->st_uid != geteuid() && status->st_uid != 0) ||
		 (status->st_mode & (S_IWGRP | S_IWOTH)))
		nt_error_set(err, "another user owns it or may write it");
	else
		rc = nt_file_read_fd(fd, spooled->name, NT_SPOOL_FILE_MAX, text, text_bytes, err);
	close(fd);
	return rc;
}

int nt_spooled_parse(struct nt_spooled *spooled, const char *text, size_t text_bytes,
		     struct nt_error *err)
{
	json_object *object = NULL;
	int rc = nt_json_parse(text, text_bytes, &object, err);

	nt_fields_clear(&nt_spool_fields, spooled);
	if (rc == 0)
		rc = nt_fields_read(&nt_spool_fields, object, spooled, NT_READ_TO_SHOW, err);
	if (rc == 0)
		rc = check_line(spooled, err);
	if (rc == 0)
		rc = check_record(object, err);
	/* Older releases' reasons; accounting gets these bytes. */
	for (char *bar = strchr(spooled->record, '|'); bar; bar = strchr(bar, '|'))
		*bar = ':';
	if (spooled->uid < 0)
		spooled->uid = NT_SPOOL_NO_UID;
	json_object_put(object);
	return rc;
}

int nt_spooled_read(struct nt_spooled *spooled, int part_fd, const char *name, struct nt_error *err)
{
	char *text = NULL;
	size_t text_bytes = 0;
	int rc;

	*spooled = (struct nt_spooled){ .directory_fd = part_fd, .name = name };
	if (read_text(spooled, &text, &text_bytes, err) < 0)
		return -1;
	rc = nt_spooled_parse(spooled, text, text_bytes, err);
	free(text);
	return rc;
}

/* 1: yes; 0: it is gone or another. */
static int is_unchanged(const struct nt_spooled *spooled, struct nt_error *err)
{
	struct stat now;

	if (fstatat(spooled->directory_fd, spooled->name, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : nt_error_set(err, "cannot look at it again: %m");
	return now.st_ino == spooled->status.st_ino && now.st_size == spooled->status.st_size &&
	       now.st_mtim.tv_sec == spooled->status.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == spooled->status.st_mtim.tv_nsec;
}

int nt_spooled_remove(const struct nt_spooled *spooled, struct nt_error *err)
{
	int rc = is_unchanged(spooled, err);

	if (rc > 0 && unlinkat(spooled->directory_fd, spooled->name, 0) < 0)
		return nt_error_set(err, "cannot remove it: %m");
	return rc < 0 ? -1 : 0;
}

int nt_spooled_move(const struct nt_spooled *spooled, int to_fd, struct nt_error *err)
{
	int rc = is_unchanged(spooled, err);

	if (rc > 0 && renameat(spooled->directory_fd, spooled->name, to_fd, spooled->name) < 0)
		return nt_error_set(err, "cannot move it: %m");
	return rc < 0 ? -1 : 0;
}
