/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune config: every setting with the value that a step of this user would get. */
#include "cli/command.h"

#include <stdlib.h>
#include "report/model/site-config.h"
#include "site/settings-table.h"

struct wish {
	const char *plugstack, *text;
	struct nt_step_where where;
};

/* What a file of the user's says counts here, too. */
static void take_user_file(struct nt_effective_policy *settle)
{
	char text[NT_POLICY_MAX];
	struct nt_error err;

	if (nt_conf_user_text(text, &err) < 0)
		nt_command_complain("%s; the file is ignored", err.text);
	nt_effective_policy_take_user(settle, text);
}

static int show(const struct wish *wish)
{
	static struct nt_config config;
	struct nt_effective_policy settle = {
		.site = &config.site,
		.conf = &config.conf,
		.text = wish->text ? wish->text : getenv(NT_ENV_SRUN),
		.rank = wish->text ? NT_RANK_OPTION : NT_RANK_VARIABLE,
	};
	struct nt_step_settings outcome;
	struct nt_site_rules rules;
	struct nt_error err;

	if (settle.text && !settle.text[0])
		settle.text = NULL;
	if (nt_config_open(&config, wish->plugstack, &err) < 0 ||
	    nt_conf_read(&config.conf, config.site.config, config.site.config_given, &err) < 0)
		return nt_command_fail(&err);
	take_user_file(&settle);
	if (nt_effective_policy(&settle, &wish->where, NT_UNKNOWN_NONE, &rules, &outcome, &err) <
	    0) {
		nt_command_complain("%s", err.text);
		return wish->text ? NT_EXIT_USAGE : NT_EXIT_FAILED;
	}
	nt_site_show(stdout, &rules, &outcome, &wish->where);
	return NT_EXIT_OK;
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	struct wish *wish = state->input;

	switch (key) {
	case 'p': wish->where.partition = arg; return 0;
	case 'A': wish->where.account = arg; return 0;
	case 'q': wish->where.qos = arg; return 0;
	case 's': wish->plugstack = arg; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int run(int argc, char *argv[])
{
	struct wish wish = { .where = nt_where_environment() };
	int first, status = nt_command_parse(&nt_command_config, argc, argv, &wish, &first);

	if (status != NT_COMMAND_GO)
		return status;
	if (first + 1 < argc)
		return nt_command_misuse("too many arguments: '%s' (want one)", argv[first + 1]);
	if (first < argc)
		wish.text = argv[first];
	return nt_command_finish(show(&wish));
}

static const struct argp_option options[] = {
	{ "partition", 'p', "NAME", 0, "In this partition (default: that of this job, if any)", 0 },
	{ "account", 'A', "NAME", 0, "With this account", 0 },
	{ "qos", 'q', "NAME", 0, "With this QOS", 0 },
	{ "plugstack", 's', "FILE", 0, "Read FILE instead of Slurm's plugstack.conf", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = take_option,
	.args_doc = "[MODE[,SETTING=VALUE...]]",
	.doc = "Print the settings of a step that is started with this --nccl-tune=... "
	       "(or without the option), the default and the accepted values of each, and "
	       "the limits of the site. The same as srun --nccl-tune=help."
	       "\vExit status: 0 if it was printed, 1 if this host has no settings or they "
	       "are broken, 2 for a usage error, or if the site does not allow what was "
	       "asked for (the reason is on stderr).",
};

const struct nt_command nt_command_config = {
	.name = "config",
	.run = run,
	.summary = "show every setting, its value here, and where that comes from",
	.argp = &argp,
};
