/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - what nccl-tune prints of records that anybody may have written: nothing that moves a
 *            cursor, whole or damaged, as a table, as JSON and as metrics
 *
 * Input: a byte that says in which form, then the file.
 */
#include <string.h>
#include "cli/command.h"
#include "tests/fuzz/fuzz.h"

struct words {
	char *argv[5]; /* ends with NULL */
	int argc;
};

static void run(void *arg)
{
	struct words *words = arg;

	(void)nt_command_run(&nt_command_report, words->argc, words->argv);
}

/* OPTION FILE; option may be NULL */
static void check_report(const char *option, const char *file)
{
	struct words words = { .argc = 0 };
	char *word[] = { fuzz_text("nccl-tune", 9),
			 option ? fuzz_text(option, strlen(option)) : NULL,
			 fuzz_text(file, strlen(file)) };

	words.argv[words.argc++] = word[0];
	if (option)
		words.argv[words.argc++] = word[1];
	words.argv[words.argc++] = (char[]){ "--file" };
	words.argv[words.argc++] = word[2];
	fuzz_check_output(run, &words);
	for (int i = 0; i < 3; i++)
		free(word[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const forms[] = { "--json", "--prometheus" };
	struct fuzz in = { data, size };
	const uint32_t which = fuzz_below(&in, 3);

	check_report(which == 0 ? NULL : forms[which - 1], fuzz_file(in.at, in.left));
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
