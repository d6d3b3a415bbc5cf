/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune config: every setting with the value that a step of this user would get. */
#include "report/config.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "report/command.h"
#include "site/show.h"

int nt_config_open(struct nt_config *config, const char *path, struct nt_error *err)
{
	memset(config, 0, sizeof(*config));
	nt_conf_init(&config->conf);
	if (nt_plugstack_read(&config->stack, path, err) < 0)
		return -1;
	if (!config->stack.tune.found)
		return nt_error_set(err, "%.150s has no line for " NT_PLUGSTACK_PLUGIN,
				    config->stack.path);
	return nt_site_parse(&config->site, config->stack.tune.argc, config->stack.tune.argv, err);
}

struct wish {
	const char *plugstack, *text;
	struct nt_step_where where;
};

/* What a file of the user's says counts here, too. */
static void take_user_file(struct nt_settle *settle)
{
	struct nt_error err;

	if (nt_settle_read_user(settle, &err) < 0)
		nt_command_complain(&nt_command_config, "%s; the file is left out", err.text);
}

static int show(const struct wish *wish)
{
	static struct nt_config config;
	struct nt_settle settle = {
		.site = &config.site,
		.conf = &config.conf,
		.text = wish->text ? wish->text : getenv(NT_ENV_SRUN),
		.rank = wish->text ? NT_RANK_OPTION : NT_RANK_VARIABLE,
	};
	struct nt_outcome outcome;
	struct nt_site_rules rules;
	struct nt_error err;
	int status = NT_EXIT_OK;

	if (settle.text && !settle.text[0])
		settle.text = NULL;
	if (nt_config_open(&config, wish->plugstack, &err) < 0 ||
	    nt_conf_read(&config.conf, config.site.config, config.site.config_given, &err) < 0) {
		nt_command_complain(&nt_command_config, "%s", err.text);
		return NT_EXIT_FAILED;
	}
	take_user_file(&settle);
	if (nt_settle(&settle, &wish->where, NT_UNKNOWN_NONE, &rules, &outcome, &err) < 0) {
		nt_command_complain(&nt_command_config, "%s", err.text);
		return wish->text ? NT_EXIT_USAGE : NT_EXIT_FAILED;
	}
	nt_show(stdout, &rules, &outcome, &wish->where);
	return status;
}

static int run(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "partition", required_argument, NULL, 'p' },
		{ "account", required_argument, NULL, 'A' },
		{ "qos", required_argument, NULL, 'q' },
		{ "plugstack", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct wish wish = { .where = nt_settle_environment() };
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":p:A:q:s:h", options, NULL)) != -1) {
		if (option == 'p')
			wish.where.partition = optarg;
		else if (option == 'A')
			wish.where.account = optarg;
		else if (option == 'q')
			wish.where.qos = optarg;
		else if (option == 's')
			wish.plugstack = optarg;
		else if (option == 'h')
			return nt_command_help(&nt_command_config);
		else
			return nt_command_misuse_option(&nt_command_config, option, argv);
	}
	if (optind + 1 < argc)
		return nt_command_misuse(&nt_command_config, "one option of srun's, not also '%s'",
					 argv[optind + 1]);
	if (optind < argc)
		wish.text = argv[optind];
	return nt_command_finish(&nt_command_config, show(&wish));
}

const struct nt_command nt_command_config = {
	.name = "config",
	.run = run,
	.summary = "show every setting, its value here, and where that comes from",
	.help = "Usage: nccl-tune config [OPTION...] [MODE[,SETTING=VALUE...]]\n"
		"\n"
		"Print what a step gets that is started with this --nccl-tune=... (without: that asks for\n"
		"nothing on its command line), each setting's default and what it accepts, and the limits\n"
		"of the site. The same as srun --nccl-tune=help.\n"
		"\n"
		"  -p, --partition NAME  in this partition; the default is the job's, if this is one\n"
		"  -A, --account NAME    with this account\n"
		"  -q, --qos NAME        with this QOS\n"
		"  -s, --plugstack FILE  in place of Slurm's own plugstack.conf\n"
		"  -h, --help            print this\n"
		"\n"
		"Exit status: 0 printed, 1 this host has no settings or they are broken, 2 misuse, or\n"
		"what was asked for is refused (the reason is on stderr).\n",
};
