/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* memory-text.c - a memory as text and as one file */
#include "launch/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <json-c/json.h>
#include "lib/file.h"
#include "lib/hex.h"

/* Deeper than any line that we write: {"keys":[[...,[...]]]} */
#define DEPTH 6

/* The fingerprint in a member; *out is unchanged if there is none; -1 if it is malformed. */
static int take_fingerprint(struct json_object *in, uint64_t *out)
{
	struct json_object *value;
	const char *text;

	if (!json_object_object_get_ex(in, "fingerprint", &value))
		return 0;
	if (!json_object_is_type(value, json_type_string))
		return -1;
	text = json_object_get_string(value);
	return nt_hex_parse(text, NT_HEX_U64, out);
}

static int take_time(struct json_object *in, const char *key, int64_t *out)
{
	struct json_object *value;

	if (!json_object_object_get_ex(in, key, &value) ||
	    !json_object_is_type(value, json_type_int))
		return -1;
	*out = json_object_get_int64(value);
	return *out >= 0 && *out < INT64_C(1) << 60 ? 0 : -1;
}

static int take_host(struct nt_memory *memory, struct json_object *line, struct json_object *name)
{
	uint64_t fingerprint = 0;
	int64_t when_s;

	if (!json_object_is_type(name, json_type_string) ||
	    take_fingerprint(line, &fingerprint) < 0 || fingerprint == 0 ||
	    take_time(line, "when", &when_s) < 0)
		return -1;
	return nt_memory_add_host(memory, json_object_get_string(name), fingerprint, when_s, NULL);
}

static int take_object(struct nt_memory *memory, struct json_object *line)
{
	struct json_object *member;
	struct nt_memory_entry entry;
	int64_t version;

	if (!json_object_is_type(line, json_type_object) || take_time(line, "v", &version) < 0 ||
	    version != NT_ENTRY_VERSION)
		return -1;
	if (json_object_object_get_ex(line, "host", &member))
		return take_host(memory, line, member);
	if (nt_entry_parse(&entry, line) < 0)
		return -1;
	return nt_memory_add_take(memory, &entry, NULL);
}

/* 0 if the line was understood. */
static int take_line(struct nt_memory *memory, struct json_tokener *tokener, const char *text,
		     size_t bytes)
{
	struct json_object *line;
	int rc = -1;

	if (bytes == 0 || text[0] == '#')
		return 0;
	if (bytes > NT_ENTRY_LINE_MAX)
		return -1;
	json_tokener_reset(tokener);
	line = json_tokener_parse_ex(tokener, text, (int)bytes);
	if (json_tokener_get_error(tokener) == json_tokener_success)
		rc = take_object(memory, line);
	json_object_put(line);
	return rc;
}

int nt_memory_read_text(struct nt_memory *memory, const char *text, size_t bytes,
			struct nt_error *err)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH);
	int skipped = 0;

	if (tokener == NULL)
		return nt_error_set(err, "out of memory");
	for (size_t at = 0; at < bytes;) {
		const char *end = memchr(text + at, '\n', bytes - at);
		size_t length = end != NULL ? (size_t)(end - (text + at)) : bytes - at;

		if (take_line(memory, tokener, text + at, length) < 0)
			skipped++;
		at += length + 1;
	}
	json_tokener_free(tokener);
	memory->bytes += bytes;
	memory->skipped_lines += (unsigned)skipped;
	return skipped;
}

int nt_memory_print(const struct nt_memory *memory, FILE *out, struct nt_error *err)
{
	for (size_t i = 0; i < memory->hosts; i++)
		fprintf(out,
			"{\"v\":%d,\"host\":\"%s\",\"fingerprint\":\"%016" PRIx64
			"\",\"when\":%" PRId64 "}\n",
			NT_ENTRY_VERSION, memory->host[i].name, memory->host[i].fingerprint,
			memory->host[i].when_s);
	for (size_t i = 0; i < memory->entries; i++) {
		nt_entry_print(&memory->entry[i], out);
		fputc('\n', out);
	}
	if (fflush(out) != 0 || ferror(out))
		return nt_error_set(err, "cannot write: %s", strerror(errno));
	return 0;
}

int nt_memory_read_file(struct nt_memory *memory, const char *path, unsigned flags,
			struct nt_error *err)
{
	char *text;
	size_t bytes;
	int rc;

	if (nt_file_read_at(AT_FDCWD, path, flags, NT_MEMORY_BYTES, &text, &bytes, err) < 0)
		return -1;
	rc = nt_memory_read_text(memory, text, bytes, err);
	free(text);
	if (rc >= 0)
		memory->files++;
	return rc < 0 ? -1 : 0;
}

static const char head[] =
	"# Launch profiles as nccl-tune has measured them, one line for each step or calibration.\n"
	"# These are measurements, not settings: each launch selects from them anew, for jobs with the\n"
	"# same hardware (fingerprint), nodes and ranks per node. Sorted by these, then by profile and\n"
	"# time, so that two versions can be compared with diff; a line that is deleted is no longer\n"
	"# used. keys: collective, bytes, best arm, calls, times of that arm and of\n"
	"# NCCL's own choice (quartiles in microseconds, samples). See nccl-tune-memory(5).\n";

int nt_memory_replace(const struct nt_memory *memory, const char *comments, int directory,
		      const char *name, mode_t mode, struct nt_error *err)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int rc;

	if (out == NULL)
		return nt_error_set(err, "out of memory");
	fputs(comments, out);
	rc = nt_memory_print(memory, out, err);
	if (fclose(out) != 0)
		rc = nt_error_set(err, "out of memory");
	if (rc == 0)
		rc = nt_file_replace(directory, name, text, bytes, mode, err);
	free(text);
	return rc;
}

int nt_memory_write_file(const struct nt_memory *memory, const char *path, struct nt_error *err)
{
	return nt_memory_replace(memory, head, AT_FDCWD, path, 0644, err);
}
