/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - nccl-tune replay and explain on traces, lists of picks and records: the real engine on
 *            times that anybody may have written
 *
 * Input: a byte that says with which options, then the file.
 */
#include <string.h>
#include "replay/trace.h"
#include "cli/command.h"
#include "tests/fuzz/fuzz.h"

#define BYTES 3000 /* more take long and show nothing new */

struct words {
	const struct nt_command *command;
	const char *option[4];
	const char *file;
};

static const struct words ways[] = {
	{ &nt_command_replay, { NULL }, NULL },
	{ &nt_command_replay, { "--json" }, NULL },
	{ &nt_command_replay, { "--aa", "1" }, NULL },
	{ &nt_command_replay, { "--power", "20", "--trials", "1" }, NULL },
	{ &nt_command_explain, { NULL }, NULL },
	{ &nt_command_explain, { "--collective", "allreduce" }, NULL },
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void run(void *arg)
{
	const struct words *words = arg;
	char *argv[7] = { fuzz_text("nccl-tune", 9) };
	int argc = 1;

	for (int i = 0; i < 4 && words->option[i]; i++)
		argv[argc++] = fuzz_text(words->option[i], strlen(words->option[i]));
	argv[argc] = fuzz_text(words->file, strlen(words->file));
	(void)nt_command_run(words->command, argc + 1, argv);
	/* argp has put them in another order */
	for (int i = 0; i <= argc; i++)
		free(argv[i]);
}

static void check_picks(const char *path)
{
	struct nt_trace picks = { .rows = 0 };
	struct nt_error err;

	if (nt_picks_load(&picks, path, &err) == 0) {
		for (unsigned i = 0; i < picks.rows; i++)
			(void)nt_picks_find(&picks, &picks.row[i]);
	}
	nt_trace_fini(&picks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };
	const uint32_t way = fuzz_below(&in, WAYS + 1);
	const char *path;

	if (in.left > BYTES)
		in.left = BYTES;
	path = fuzz_file(in.at, in.left);
	if (way == WAYS) {
		check_picks(path);
	} else {
		struct words words = ways[way];

		words.file = path;
		fuzz_check_output(run, &words);
	}
	return 0;
}

FUZZ_TEXT_TARGET("AllReduce,2x4,seq,AUTO,AUTO,65536,", "AllReduce,2x4,seq,Ring,Simple,65536,",
		 "AllGather,2x4,ovl,Tree,LL128,1024,", "Ring", "Tree", "Simple", "LL", "/4ch",
		 "/64K", "none,", "NCCL_SOCKET_NTHREADS=2+NCCL_NSOCKS_PERTHREAD=2,", "1.5,2.5,3.5",
		 "100,101,99,100,102,98,100,101", ",", "\n", "#", "1x8", "1e30", "1e-30", "\x1b[2J",
		 "{\"v\":1,", "\"trial\":{", "\"rounds\":[", "\"data\":\"")
