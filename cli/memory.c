/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune memory: what is remembered of launch profiles, to see, to carry away, to forget. */
#include "cli/command.h"

#include <string.h>
#include <time.h>
#include "lib/hex.h"
#include "profiles/memory-store.h"
#include "lib/printable.h"
#include "cli/memory-forms.h"

struct subcommand {
	const char *name;
	int (*run)(struct nt_remembered_ask *ask, int argc, char *argv[]);
	const char *takes; /* letters of the options, but for --memory */
};

static int no_more(int argc, char *argv[])
{
	if (argc == 0)
		return NT_EXIT_OK;
	return nt_command_misuse("too many arguments: '%s'", argv[0]);
}

static int show(struct nt_remembered_ask *ask, int argc, char *argv[])
{
	struct nt_error err;

	if (no_more(argc, argv) != NT_EXIT_OK)
		return NT_EXIT_USAGE;
	return nt_remembered_show(ask, stdout, &err) < 0 ? nt_command_fail(&err) : NT_EXIT_OK;
}

static int take_file(struct nt_remembered_ask *ask, int argc, char *argv[])
{
	if (argc == 0)
		return nt_command_misuse("no file (want FILE, or - for standard input or output)");
	ask->file = argv[0];
	return no_more(argc - 1, argv + 1);
}

static int export(struct nt_remembered_ask *ask, int argc, char *argv[])
{
	struct nt_shown shown;
	struct nt_error err;
	size_t count;

	if (take_file(ask, argc, argv) != NT_EXIT_OK)
		return NT_EXIT_USAGE;
	if (nt_remembered_export(ask, &count, &err) < 0)
		return nt_command_fail(&err);
	if (strcmp(ask->file, "-") != 0)
		printf("%zu entries in %s\n", count, nt_shown(&shown, ask->file));
	return NT_EXIT_OK;
}

static int import(struct nt_remembered_ask *ask, int argc, char *argv[])
{
	struct nt_shown shown;
	struct nt_error err;
	unsigned skipped;
	size_t count;

	if (take_file(ask, argc, argv) != NT_EXIT_OK)
		return NT_EXIT_USAGE;
	if (nt_remembered_import(ask, &count, &skipped, &err) < 0)
		return nt_command_fail(&err);
	printf("%zu entries added to %s\n", count, nt_shown(&shown, ask->directory));
	if (skipped == 0)
		return NT_EXIT_OK;
	nt_command_complain("%u lines are not entries and were ignored", skipped);
	return NT_EXIT_FAILED;
}

static int forget(struct nt_remembered_ask *ask, int argc, char *argv[])
{
	struct nt_error err;
	int count;

	if (no_more(argc, argv) != NT_EXIT_OK)
		return NT_EXIT_USAGE;
	if (ask->all == (ask->fingerprint != 0 || ask->profile != NULL))
		return nt_command_misuse("nothing selected (want --fingerprint, --profile or both, "
					 "or "
					 "--all)");
	count = nt_store_forget(ask->directory, ask->fingerprint, ask->profile, ask->now_s, &err);
	if (count < 0)
		return nt_command_fail(&err);
	printf("%d entries forgotten\n", count);
	return NT_EXIT_OK;
}

static int compact(struct nt_remembered_ask *ask, int argc, char *argv[])
{
	struct nt_error err;

	if (no_more(argc, argv) != NT_EXIT_OK)
		return NT_EXIT_USAGE;
	return nt_store_compact(ask->directory, ask->now_s, &err) < 0 ? nt_command_fail(&err)
								      : NT_EXIT_OK;
}

static int path(struct nt_remembered_ask *ask, int argc, char *argv[])
{
	struct nt_shown shown;

	if (no_more(argc, argv) != NT_EXIT_OK)
		return NT_EXIT_USAGE;
	puts(nt_shown(&shown, ask->directory));
	return NT_EXIT_OK;
}

static const struct subcommand subcommands[] = {
	{ "show", show, "SfFp" },    { "export", export, "FpcNn" }, { "import", import, "FpcNnL" },
	{ "forget", forget, "Fpa" }, { "compact", compact, "" },    { "path", path, "" },
};

static const struct argp_option options[] = {
	{ "fingerprint", 'F', "F", 0, "Only of this hardware (nccl-tune fingerprint)", 0 },
	{ "profile", 'p', "P", 0, "Only of this profile (import --csv: for this one)", 0 },
	{ "nodes", 'N', "N", 0, "Only of N nodes (import --csv: for N nodes)", 0 },
	{ "ntasks-per-node", NT_LONG('n'), "N", 0, "Only with N ranks on each node", 0 },
	{ "like-here", NT_LONG('L'), NULL, 0, "import --csv: for jobs like this one, on such nodes",
	  0 },
	{ "csv", NT_LONG('c'), NULL, 0,
	  "export, import: choices of one place and profile, as NVIDIA's example tuner reads them",
	  0 },
	{ "all", NT_LONG('a'), NULL, 0, "forget: everything", 0 },
	{ "memory", NT_LONG('m'), "DIRECTORY", 0,
	  "Another memory (default: $NCCL_TUNE_MEMORY, or nccl-tune/memory in $XDG_STATE_HOME or "
	  "~/.local/state)",
	  0 },
	{ "site-memory", NT_LONG('S'), "FILE", 0, "show: the site's memory", 0 },
	{ "profile-file", NT_LONG('f'), "FILE", 0, "show: profiles from FILE", 0 },
	{ 0 },
};

static const char *option_name(char letter)
{
	for (size_t i = 0; options[i].name; i++)
		if ((options[i].key & 0xff) == letter)
			return options[i].name;
	return "?";
}

static const struct subcommand *find_subcommand(const char *name)
{
	for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
		if (strcmp(subcommands[i].name, name) == 0)
			return &subcommands[i];
	return NULL;
}

static int take_fingerprint(struct nt_remembered_ask *ask, const char *text)
{
	if (nt_hex_parse(text, NT_HEX_U64, &ask->fingerprint) == 0 && ask->fingerprint != 0)
		return 0;
	return nt_command_misuse("'%s' is not a fingerprint (want 16 hexadecimal digits)", text);
}

static int take_profile(struct nt_remembered_ask *ask, const char *text)
{
	ask->profile = text;
	if (nt_profile_name_valid(text))
		return 0;
	return nt_command_misuse("'%s' is not the name of a profile", text);
}

struct asked {
	struct nt_remembered_ask ask;
	char given[32]; /* letters of the options */
};

static int take_value(struct nt_remembered_ask *ask, int key, char *arg)
{
	switch (key) {
	case 'F': return take_fingerprint(ask, arg);
	case 'p': return take_profile(ask, arg);
	case 'N': return nt_command_count("--nodes", arg, 1 << 20, &ask->nodes);
	case NT_LONG('n'): return nt_command_count("--ntasks-per-node", arg, 4096, &ask->per_node);
	case NT_LONG('m'): ask->places.memory = arg; return 0;
	case NT_LONG('S'): ask->places.site_memory = arg; return 0;
	case NT_LONG('f'): ask->places.profiles = arg; return 0;
	case NT_LONG('L'): ask->like_here = true; return 0;
	case NT_LONG('c'): ask->csv = true; return 0;
	case NT_LONG('a'): ask->all = true; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	struct asked *asked = state->input;
	int status = take_value(&asked->ask, key, arg);
	size_t count = strlen(asked->given);

	if (status == 0 && count < sizeof(asked->given) - 1)
		asked->given[count] = (char)(key & 0xff);
	return status;
}

static int start(struct nt_remembered_ask *ask, const char *given, int argc, char *argv[])
{
	const struct subcommand *sub = find_subcommand(argc > 0 ? argv[0] : "show");
	struct nt_error err;

	if (!sub)
		return nt_command_misuse("unknown subcommand '%s' (want show, export, import, "
					 "forget, compact or path)",
					 argv[0]);
	for (; *given; given++)
		if (*given != 'm' && !strchr(sub->takes, *given))
			return nt_command_misuse("--%s is not for %s", option_name(*given),
						 sub->name);
	if (nt_places_memory(&ask->places, ask->directory, &err) < 0)
		return nt_command_fail(&err);
	return sub->run(ask, argc > 0 ? argc - 1 : 0, argv + 1);
}

static int run(int argc, char *argv[])
{
	struct asked asked = { .ask = { .now_s = (int64_t)time(NULL) } };
	int first, status = nt_command_parse(&nt_command_memory, argc, argv, &asked, &first);

	if (status != NT_COMMAND_GO)
		return status;
	return nt_command_finish(start(&asked.ask, asked.given, argc - first, argv + first));
}

static const struct argp argp = {
	.options = options,
	.parser = take_option,
	.args_doc = "[show | path | compact]\nexport FILE\nimport FILE\nforget",
	.doc = "Your memory of launch profiles: what steps and calibrations have measured, "
	       "on which hardware.\n\n"
	       "show     print the measurements of each place, and the profile for a new job\n"
	       "export   write entries as lines of JSON; with --csv, choices\n"
	       "import   add exported entries; with --csv, choices, which jobs confirm first\n"
	       "forget   delete all entries, or those of a fingerprint or profile\n"
	       "compact  merge all files into one\n"
	       "path     print the directory\n\n"
	       "FILE - is standard input or output."
	       "\vExit status: 0, 1 if something failed (see stderr), 2 for a usage error.",
};

const struct nt_command nt_command_memory = {
	.name = "memory",
	.run = run,
	.summary = "show, export or forget what was measured of launch profiles",
	.argp = &argp,
};
