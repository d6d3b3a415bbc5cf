/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The spool, read. */
#include "report/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "contract/names.h"
#include "report/fields.h"
#include "report/file.h"
#include "spank/splice.h"

#define FILE_MAX_BYTES 16384 /* the record is quoted inside: it may grow */

struct entry {
	struct nt_spooled spooled;
	int64_t version, job;
};

#define NUMBER(member) offsetof(struct entry, member), 0
#define TEXT(member) \
	offsetof(struct entry, spooled.member), sizeof(((struct nt_spooled *)0)->member)
static const struct nt_field entry_fields[] = {
	{ "v", NUMBER(version), NT_FIELD_COUNT, true },
	{ "cluster", TEXT(cluster), NT_FIELD_TEXT, true },
	{ "job", NUMBER(job), NT_FIELD_COUNT, true },
	{ "step", TEXT(step), NT_FIELD_TEXT, true },
	{ "record", TEXT(record), NT_FIELD_TEXT, true },
};

/* It becomes an argument of sacct, where a comma would mean several. */
static const char cluster_characters[] = "abcdefghijklmnopqrstuvwxyz"
					 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

static int check_entry(struct entry *entry, struct nt_error *err)
{
	if (entry->version != NT_RECORD_VERSION)
		return nt_error_set(err, "v is %lld (this nccl-tune reads version %d)",
				    (long long)entry->version, NT_RECORD_VERSION);
	if (entry->job < 1 || entry->job > UINT32_MAX)
		return nt_error_set(err, "job is %lld (want a job id)", (long long)entry->job);
	if (!entry->spooled.cluster[0] ||
	    strspn(entry->spooled.cluster, cluster_characters) != strlen(entry->spooled.cluster))
		return nt_error_set(err, "cluster is \"%s\" (want a cluster's name)",
				    entry->spooled.cluster);
	if (!nt_step_name_valid(entry->spooled.step))
		return nt_error_set(err, "step is \"%s\" (want a number or batch)",
				    entry->spooled.step);
	entry->spooled.job = (uint32_t)entry->job;
	return 0;
}

/* The text before it was made printable. */
static int check_record(json_object *object, struct nt_error *err)
{
	json_object *record;

	json_object_object_get_ex(object, "record", &record);
	return nt_record_check(json_object_get_string(record),
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
		rc = nt_file_read_fd(fd, spooled->name, FILE_MAX_BYTES, text, text_bytes, err);
	close(fd);
	return rc;
}

int nt_spooled_parse(struct nt_spooled *spooled, const char *text, size_t text_bytes,
		     struct nt_error *err)
{
	struct entry entry = { .version = 0 };
	json_object *object = NULL;
	int rc = nt_json_parse(text, text_bytes, &object, err);

	if (rc == 0)
		rc = nt_fields_read(entry_fields, sizeof(entry_fields) / sizeof(entry_fields[0]),
				    object, &entry, err);
	if (rc == 0)
		rc = check_entry(&entry, err);
	if (rc == 0)
		rc = check_record(object, err);
	if (rc == 0)
		*spooled = entry.spooled;
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

	return file->d_name[0] != '.' &&
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
