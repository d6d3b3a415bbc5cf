/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* option.c - the plugin's line of plugstack.conf, and what a user says where the site has its
 *            built-in limits: nobody gets more
 *
 * Input: arguments of the line, one a line, until an empty one; then the option's text.
 */
#include <string.h>
#include "spank/option.h"
#include "tests/fuzz/fuzz.h"

#define ARGUMENTS 16

static void check_resolved(const char *text)
{
	static struct nt_site_rules rules;
	static struct nt_step_settings outcome;
	static struct nt_conf conf;
	const struct nt_asked asked = { text, NT_RANK_OPTION };
	struct nt_error err = { "" };
	char line[120];

	nt_conf_init(&conf);
	if (nt_rules_settle(&rules, &conf, NULL, NT_UNKNOWN_STRICT, &asked, &outcome, &err) < 0) {
		for (int rank = NT_RANK_JOB; rank <= NT_RANK_OPTION; rank++)
			nt_option_complain(
				line, sizeof(line), (enum nt_precedence)rank,
				nt_option_variable(rank == NT_RANK_JOB ? "sbatch" : "srun"),
				text ? text : "", &err);
		FUZZ_CHECK(outcome.policy.mode == NT_MODE_OFF);
	}
	FUZZ_CHECK(outcome.policy.mode >= 0 && outcome.policy.mode <= NT_MODE_PROFILE);
	FUZZ_CHECK(outcome.policy.calibrate_s <= NT_CONF_CALIBRATE_S);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };
	char *argv[ARGUMENTS], *text;
	const char *conf;
	struct nt_error err = { "" };
	bool given;
	int argc = 0;

	while (argc < ARGUMENTS) {
		text = fuzz_part(&in, '\n');
		if (!text || !text[0]) {
			free(text);
			break;
		}
		argv[argc++] = text;
	}
	if (nt_line_parse(argc, argv, &conf, &given, &err) < 0) {
		FUZZ_CHECK(err.text[0] != '\0');
	} else {
		FUZZ_CHECK(conf[0] == '/' && strlen(conf) < NT_PATH_MAX);
		text = in.left > 0 ? fuzz_text(in.at, in.left) : NULL;
		check_resolved(text);
		free(text);
	}
	while (argc > 0)
		free(argv[--argc]);
	return 0;
}

FUZZ_TEXT_TARGET("conf=/", "default=", "modes=", "config=/", "rundir=/", "off", "observe", "policy",
		 "profile", "channels=on", "launch=auto", "calibrate=30", "min_gain=5", ",", "\n\n",
		 "bandit")
