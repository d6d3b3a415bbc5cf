/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A file of three lines, <rundir>/job-<node>.<job>. */
#include "site/place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/append.h"
#include "lib/file.h"
#include "lib/list.h"

#define FILE_MAX (4 * NT_PLACE_TEXT)

static int name_of(char out[NT_PATH_MAX], const char *node, uint32_t job, struct nt_error *err)
{
	int length = snprintf(out, NT_PATH_MAX, "job-%s.%" PRIu32, node, job);

	if (length < 0 || length >= NT_PATH_MAX - 8 || strchr(node, '/')) {
		errno = EINVAL;
		return nt_error_set(err, "'%.60s' is not a node name", node);
	}
	return 0;
}

/* The value of the line "key=value"; NULL: there is none. */
static const char *line_of(const char *text, const char *key, char out[NT_PLACE_TEXT])
{
	for (; *text; text += *text == '\n') {
		const char *value = nt_value_of(text, key);

		text += strcspn(text, "\n");
		if (value && text - value < NT_PLACE_TEXT) {
			snprintf(out, NT_PLACE_TEXT, "%.*s", (int)(text - value), value);
			return out;
		}
	}
	return NULL;
}

int nt_place_read(struct nt_job_place *place, int rundir_fd, const char *node, uint32_t job,
		  struct nt_error *err)
{
	char name[NT_PATH_MAX];
	char *text;
	size_t bytes;

	memset(place, 0, sizeof(*place));
	if (name_of(name, node, job, err) < 0 ||
	    nt_file_read_at(rundir_fd, name, NT_FILE_ROOT_ONLY | NT_FILE_NO_LINK, FILE_MAX, &text,
			    &bytes, err) < 0)
		return -1;
	place->where.partition = line_of(text, "partition", place->partition);
	place->where.account = line_of(text, "account", place->account);
	place->where.qos = line_of(text, "qos", place->qos);
	free(text);
	return 0;
}

static void add_line(char *text, size_t text_bytes, const char *key, const char *value)
{
	if (value && strlen(value) < NT_PLACE_TEXT && !strchr(value, '\n'))
		nt_append(text, text_bytes, "%s=%s\n", key, value);
}

/* Not synced to disk: a reboot ends the job, too. */
int nt_place_write(const struct nt_step_where *where, int rundir_fd, const char *node, uint32_t job,
		   struct nt_error *err)
{
	char name[NT_PATH_MAX], text[FILE_MAX] = "";

	if (name_of(name, node, job, err) < 0)
		return -1;
	add_line(text, sizeof(text), "partition", where->partition);
	add_line(text, sizeof(text), "account", where->account);
	add_line(text, sizeof(text), "qos", where->qos);
	return nt_file_put(rundir_fd, name, text, strlen(text), 0600, err);
}

void nt_place_forget(int rundir_fd, const char *node, uint32_t job)
{
	char name[NT_PATH_MAX];

	if (name_of(name, node, job, NULL) == 0)
		unlinkat(rundir_fd, name, 0);
}
