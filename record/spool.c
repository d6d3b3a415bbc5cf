/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/compare.h"
#include "lib/dirstream.h"
#include "lib/file.h"
#include "lib/number.h"
#include "record/member-names.h"
#include "record/read.h"
#include "record/step.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define NAME_BYTES 128

#define LINE_ROW(...) NT_FIELD_ROW(struct nt_spooled, __VA_ARGS__)
const struct nt_fields nt_spool_fields = NT_FIELDS(NT_SPOOL_FIELDS(LINE_ROW));

static const char *name_of(enum nt_spool_part part)
{
	return part == NT_PART_SENT ? NT_SPOOL_SENT : NULL;
}

/* Who can write here can put any text into accounting. */
static int check_owner(int fd, const char *path, struct nt_error *err)
{
	struct stat status;

	if (fstat(fd, &status) == 0 && (status.st_uid == geteuid() || status.st_uid == 0) &&
	    !(status.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	close(fd);
	errno = EPERM;
	return nt_error_set(
		err, "%.150s must belong to the daemon's user and be writable to nobody else",
		path);
}

/* Whatever the daemon's umask. */
static int open_at(int parent_fd, const char *path, bool make, mode_t mode, struct nt_error *err)
{
	bool made = make && mkdirat(parent_fd, path, mode) == 0;
	int fd;

	if (make && !made && errno != EEXIST)
		return nt_error_set(err, "cannot make %.150s: %m", path);
	fd = openat(parent_fd, path, DIR_FLAGS);
	if (fd < 0)
		return nt_error_set(err, "cannot open %.150s: %m", path);
	if (made)
		(void)fchmod(fd, mode);
	return check_owner(fd, path, err);
}

int nt_spool_open(const char *directory, enum nt_spool_part part, bool make, struct nt_error *err)
{
	int parent_fd = open_at(AT_FDCWD, directory, make, part == NT_PART_FILES ? 0755 : 0700,
				err);
	int fd, problem;

	if (parent_fd < 0 || !name_of(part))
		return parent_fd;
	fd = open_at(parent_fd, name_of(part), make, 0700, err);
	problem = errno;
	close(parent_fd);
	errno = problem;
	return fd;
}

static int file_name(const struct nt_spool_entry *entry, char name[NAME_BYTES],
		     struct nt_error *err)
{
	int n = snprintf(name, NAME_BYTES, "%s.%" PRIu32 ".%s.u%" PRIu32 ".json", entry->cluster,
			 entry->job, entry->step, entry->uid);

	if (n < 0 || n >= NAME_BYTES || name[0] == NT_SPOOL_UNFINISHED || strpbrk(name, "/\"\\"))
		return nt_error_set(err, "no file name for cluster '%.60s'", entry->cluster);
	return 0;
}

static int copy(char *out, size_t out_bytes, const char *text)
{
	int n = snprintf(out, out_bytes, "%s", text);

	return n < 0 || (size_t)n >= out_bytes ? -1 : 0;
}

static int format(const struct nt_spool_entry *entry, char *text, size_t text_bytes,
		  struct nt_error *err)
{
	struct nt_spooled line = {
		.version = NT_RECORD_VERSION,
		.job = entry->job,
		.uid = entry->uid == NT_SPOOL_NO_UID ? -1 : (int64_t)entry->uid,
	};
	struct nt_json_writer put;

	if (copy(line.cluster, sizeof(line.cluster), entry->cluster) < 0 ||
	    copy(line.step, sizeof(line.step), entry->step) < 0)
		return nt_error_set(err, "the cluster's or the step's name is too long");
	if (copy(line.record, sizeof(line.record), entry->record) < 0)
		return nt_error_set(err, "the record is too long");
	nt_json_put_begin(&put, text, text_bytes - 1, 1);
	nt_json_put_open(&put, NULL, '{');
	nt_fields_put(&put, &nt_spool_fields, &line);
	nt_json_put_close(&put);
	if (put.full)
		return nt_error_set(err, "the record is too long");
	memcpy(text + put.used, "\n", 2);
	return 0;
}

/* ---- lists */

/* Not an unfinished file, and not a part of the spool. */
static int is_finished_file(const struct dirent *file)
{
	size_t bytes = strlen(file->d_name);

	return file->d_name[0] != NT_SPOOL_UNFINISHED && strcmp(file->d_name, NT_SPOOL_SENT) != 0 &&
	       (bytes < 4 || strcmp(file->d_name + bytes - 4, ".tmp") != 0);
}

/* The user in "cluster.12.0.u1000.json". */
static uint32_t uid_of(const char *name)
{
	const char *mark = strrchr(name, '.');
	const char *end;
	uint64_t uid;

	while (mark && mark > name && mark[-1] != '.')
		mark--;
	if (!mark || mark[0] != 'u')
		return NT_SPOOL_NO_UID;
	end = nt_number_read(mark + 1, NT_SPOOL_NO_UID - 1, &uid);
	return end && strcmp(end, ".json") == 0 ? (uint32_t)uid : NT_SPOOL_NO_UID;
}

static int compare_items(const void *left, const void *right)
{
	const struct nt_spool_item *a = left;
	const struct nt_spool_item *b = right;

	NT_COMPARE(a->time_ns, b->time_ns);
	return strverscmp(a->name, b->name);
}

static int add_item(struct nt_spool_list *list, int part_fd, const char *name)
{
	struct nt_spool_item *item;
	struct stat status;

	if (fstatat(part_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	item = nt_array_add(&list->items, &list->count, SIZE_MAX, sizeof(*item));
	if (!item)
		return -1;
	*item = (struct nt_spool_item){
		.name = strdup(name),
		.uid = uid_of(name),
		.time_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec,
	};
	return item->name ? 0 : -1;
}

int nt_spool_list(struct nt_spool_list *list, int part_fd, const char *cluster, uint32_t job,
		  struct nt_error *err)
{
	DIR *directory = nt_dirstream_open(part_fd);
	const struct dirent *entry;
	char prefix[96] = "";
	int rc = 0;

	*list = (struct nt_spool_list){ .count = 0 };
	if (cluster)
		snprintf(prefix, sizeof(prefix), "%.64s.%" PRIu32 ".", cluster, job);
	if (!directory)
		return nt_error_set(err, "cannot list it: %m");
	while (rc == 0 && (entry = readdir(directory)) != NULL) {
		if (is_finished_file(entry) && strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			rc = add_item(list, part_fd, entry->d_name);
	}
	closedir(directory);
	if (rc < 0) {
		nt_spool_list_fini(list);
		return nt_error_set(err, "no memory for a list of it");
	}
	if (list->count > 0)
		qsort(list->items, list->count, sizeof(list->items[0]), compare_items);
	return 0;
}

void nt_spool_list_fini(struct nt_spool_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].name);
	free(list->items);
	*list = (struct nt_spool_list){ .count = 0 };
}

/* Names alone are looked at unless there are too many. */
static size_t files_of(int part_fd, uint32_t uid)
{
	DIR *directory = nt_dirstream_open(part_fd);
	const struct dirent *entry;
	size_t count = 0;

	while (directory && (entry = readdir(directory)) != NULL)
		count += is_finished_file(entry) && uid_of(entry->d_name) == uid;
	if (directory)
		closedir(directory);
	return count;
}

int nt_spool_limit(int part_fd, uint32_t uid)
{
	size_t count = files_of(part_fd, uid);
	struct nt_spool_list list;
	int gone = 0;

	if (count <= NT_SPOOL_USER_FILES || nt_spool_list(&list, part_fd, NULL, 0, NULL) < 0)
		return 0;
	for (size_t i = 0; i < list.count && count > NT_SPOOL_USER_FILES; i++) {
		if (list.items[i].uid != uid)
			continue;
		gone += unlinkat(part_fd, list.items[i].name, 0) == 0;
		count--;
	}
	nt_spool_list_fini(&list);
	return gone;
}

/* ---- files */

int nt_spool_put(int part_fd, const struct nt_spool_entry *entry, bool sync, struct nt_error *err)
{
	char name[NAME_BYTES];
	char line[NT_SPOOL_FILE_MAX];
	struct nt_error why;
	int rc;

	if (file_name(entry, name, err) < 0 || format(entry, line, sizeof(line), err) < 0)
		return -1;
	rc = sync ? nt_file_replace(part_fd, name, line, strlen(line), 0600, &why)
		  : nt_file_put(part_fd, name, line, strlen(line), 0600, &why);
	return rc < 0 ? nt_error_set(err, "cannot write %.200s", why.text)
		      : nt_spool_limit(part_fd, entry->uid);
}

int nt_spool_open_file(int part_fd, const struct nt_spool_entry *entry)
{
	char name[NAME_BYTES];

	if (file_name(entry, name, NULL) < 0)
		return -1;
	return openat(part_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

int nt_spool_sync(int part_fd, const struct nt_spool_entry *entry)
{
	int fd = nt_spool_open_file(part_fd, entry);

	if (fd < 0)
		return -1;
	(void)fsync(fd);
	(void)fsync(part_fd);
	close(fd);
	return 0;
}

void nt_spool_forget(int part_fd, const struct nt_spool_entry *entry)
{
	char name[NAME_BYTES];

	if (part_fd >= 0 && file_name(entry, name, NULL) == 0)
		(void)unlinkat(part_fd, name, 0);
}

bool nt_spool_has(int part_fd, const struct nt_spool_entry *entry)
{
	char name[NAME_BYTES];

	return file_name(entry, name, NULL) == 0 && faccessat(part_fd, name, F_OK, 0) == 0;
}

/* ---- read */

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
