/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* long.c - a part of a record's long form, as a report reads it: nothing in it ends the reader, and
 *          what it makes of it is plain text
 *
 * Input: a byte that says where the compressed file is damaged (0: nowhere) and one by how much,
 * then its lines; or, with a byte 255 at the beginning, the file itself.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "record/longset.h"
#include "tests/fuzz/fuzz.h"

#define FILE_MAX 65536

static size_t squeeze(z_stream *stream, const char *line, size_t bytes, unsigned char *out,
		      size_t room)
{
	deflateReset(stream);
	stream->next_in = (unsigned char *)(uintptr_t)line;
	stream->avail_in = (uInt)bytes;
	stream->next_out = out;
	stream->avail_out = (uInt)room;
	return deflate(stream, Z_FINISH) == Z_STREAM_END ? room - stream->avail_out : 0;
}

/* As record/longwrite.c does. */
static size_t make_part(struct fuzz *in, unsigned char out[FILE_MAX])
{
	z_stream stream = { .zalloc = Z_NULL };
	size_t used = 0;
	char *line;

	FUZZ_CHECK(deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	while ((line = fuzz_part(in, '\n')) != NULL) {
		size_t bytes = strlen(line);

		line[bytes] = '\n';
		used += squeeze(&stream, line, bytes + 1, out + used, FILE_MAX - used);
		free(line);
	}
	deflateEnd(&stream);
	return used;
}

static void complain(void *argument, const char *path, const char *why)
{
	(void)argument;
	(void)path;
	FUZZ_CHECK(why[0] != '\0');
}

static void check_summary(const struct nt_summary *summary)
{
	for (size_t i = 0; i < summary->remark_count; i++) {
		const struct nt_remark *remark = &summary->remarks[i];

		fuzz_check_plain(remark->text, strlen(remark->text));
		fuzz_check_plain(remark->why.text, strlen(remark->why.text));
	}
	for (size_t i = 0; i < summary->node_count; i++)
		fuzz_check_plain(summary->nodes[i].name, strlen(summary->nodes[i].name));
	for (size_t i = 0; i < summary->stacks_count; i++) {
		char frames[NT_STACKS_TOP];

		fuzz_check_plain(nt_stacks_top(&summary->stacks[i], frames), strlen(frames));
		fuzz_check_plain(summary->stacks[i].why, strlen(summary->stacks[i].why));
	}
	for (size_t i = 0; i < summary->step_count; i++) {
		fuzz_check_plain(summary->steps[i].mode, strlen(summary->steps[i].mode));
		fuzz_check_plain(summary->steps[i].remark, strlen(summary->steps[i].remark));
	}
}

static void read_all(const char *path)
{
	struct nt_summary summary;
	struct nt_long_set set;
	struct nt_error err;

	nt_long_set_init(&set);
	nt_summary_init(&summary);
	set.complain = complain;
	if (nt_long_set_add(&set, path, &err) == 0) {
		fuzz_check_plain(set.parts[0].head.node, strlen(set.parts[0].head.node));
		nt_long_set_sort(&set, 0);
		FUZZ_CHECK(nt_long_set_summary(&set, &summary, NULL, NULL, &err) == 0);
		check_summary(&summary);
	}
	nt_summary_fini(&summary);
	nt_long_set_fini(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char part[FILE_MAX];
	struct fuzz in = { data, size };
	uint8_t where = (uint8_t)fuzz_number(&in, 1);
	uint8_t by;
	size_t bytes;

	if (where == 255) {
		read_all(fuzz_file(in.at, in.left));
		return 0;
	}
	by = (uint8_t)fuzz_number(&in, 1);
	bytes = make_part(&in, part);
	if (where > 0 && bytes > 0)
		part[where * bytes / 256] ^= by;
	read_all(fuzz_file(part, bytes));
	return 0;
}

FUZZ_TEXT_TARGET(
	"\n", "{\"nccl_tune_long\":1,\"cluster\":\"c\",\"job\":12,\"step\":\"0\",\"node\":\"n1\"",
	"\"nodes\":2", "\"final\":true}", "\"records\":1", "\"run\":1",
	"{\"rank\":", "{\"step\":", "{\"v\":1,\"job\":12,\"step\":0,\"node\":\"n1\",\"comms\":[]}",
	"\"comms\":[{\"id\":\"a\"", "\"state\":\"agreed\"", "\"mode\":\"bandit\"",
	"\"remark\":\"x\"", "}", "[", "{")
