/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - what nccl-tune prints of records that anybody may have written: nothing that moves a
 *            cursor, whole or damaged, as a table, as JSON and as metrics
 *
 * Input: a byte that says which command, then the file that it reads.
 */
#include <string.h>
#include "profiles/memory.h"
#include "cli/command.h"
#include "report/summary/site-memory.h"
#include "tests/fuzz/fuzz.h"

struct words {
	const struct nt_command *command;
	char *argv[7];
	int argc;
};

static void run(void *arg)
{
	struct words *words = arg;

	(void)nt_command_run(words->command, words->argc, words->argv);
}

/* command OPTION FILE; option may be NULL */
static void check_command(const struct nt_command *command, const char *option, const char *file)
{
	struct words words = { .command = command };
	char *word[] = { fuzz_text("nccl-tune", 9),
			 option ? fuzz_text(option, strlen(option)) : NULL,
			 fuzz_text(file, strlen(file)) };

	words.argv[words.argc++] = word[0];
	if (option)
		words.argv[words.argc++] = word[1];
	if (command == &nt_command_report)
		words.argv[words.argc++] = (char[]){ "--file" };
	words.argv[words.argc++] = word[2];
	fuzz_check_output(run, &words);
	for (int i = 0; i < 3; i++)
		free(word[i]);
}

/* What a site would learn of it is read back. */
static void check_learned(const struct fuzz *in)
{
	const struct nt_site_memory_rules rules = { .jobs = 1, .user_jobs = 10 };
	struct nt_site_memory learned;
	struct nt_summary summary;
	struct nt_memory memory;
	size_t lines = 0, bytes = 0;
	struct nt_error err;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);

	FUZZ_CHECK(out != NULL);
	nt_site_memory_init(&learned);
	nt_summary_init(&summary);
	FUZZ_CHECK(nt_summary_parse(&summary, (const char *)in->at, in->left, NULL, &err) == 0);
	FUZZ_CHECK(nt_site_memory_add(&learned, "a", 12, 1763769600, &summary, &err) == 0);
	FUZZ_CHECK(nt_site_memory_add(&learned, "b", 13, 1763769601, &summary, &err) == 0);
	FUZZ_CHECK(nt_site_memory_print(&learned, &rules, out, &lines, &err) == 0);
	fclose(out);
	fuzz_check_plain(text, bytes);
	nt_memory_init(&memory);
	FUZZ_CHECK(nt_memory_read_text(&memory, text, bytes, &err) == 0);
	FUZZ_CHECK(memory.entries == lines);
	nt_memory_fini(&memory);
	nt_summary_fini(&summary);
	nt_site_memory_fini(&learned);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const forms[] = { "--json", "--prometheus" };
	struct fuzz in = { data, size };
	const uint32_t which = fuzz_below(&in, 3);

	switch (which) {
	case 0:
	case 1:
		check_command(&nt_command_report, which == 0 ? NULL : forms[in.left % 2],
			      fuzz_file(in.at, in.left));
		break;
	default: check_learned(&in);
	}
	return 0;
}

FUZZ_TEXT_TARGET("{\"nccl_tune\":{\"v\":1,", "\"0\":{\"mode\":\"bandit\"}", "\"8r2n\":{",
		 "\"more\":3", "\"AllReduce 256K\":{", "\"auto\":\"RING/SIMPLE\"",
		 "\"arm\":\"TREE/LL\"", "\"us\":[1,2]", "\"gain\":", "\"own_us\":[1,2]",
		 "\"period_us\":[1]", "\"p\":0.01", "\"samples\":", "\"calls\":",
		 "\"spent_calls\":", "\"saved_ms\":", "\"why\":[\"\\u001b[2J\"]",
		 "\"launch\":\"wide\"", "\"set\":\"NCCL_A=1\"", "\"step_us\":[1,2,3]",
		 "\"expected\":2", "\"fp\":\"00000000000000ab\"", "\"fabric\":\"socket\"",
		 "\"per_node\":4", "\"ranks\":8", "\"nodes\":2", "\"nccl\":\"2.28.9\"",
		 "\"\\u009b\\u202e\"", "\"explored\":[", "null", "\"calibration\":1",
		 "\"communicators\":[")
