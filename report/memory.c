/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune memory: what is remembered of launch profiles, to see, to carry away, to forget. */
#include "report/command.h"

#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "launch/store.h"
#include "record/printable.h"
#include "report/remembered.h"

struct subcommand {
	const char *name;
	int (*run)(struct nt_remembered_ask *ask, int argc, char *argv[]);
	const char *takes; /* letters of the options, but for --memory */
};

static int fail(const struct nt_error *err)
{
	nt_command_complain(&nt_command_memory, "%s", err->text);
	return NT_EXIT_FAILED;
}

static int no_more(int argc, char *argv[])
{
	if (argc == 0)
		return NT_EXIT_OK;
	return nt_command_misuse(&nt_command_memory, "too many arguments: '%s'", argv[0]);
}

static int show(struct nt_remembered_ask *ask, int argc, char *argv[])
{
	struct nt_error err;

	if (no_more(argc, argv) != NT_EXIT_OK)
		return NT_EXIT_USAGE;
	return nt_remembered_show(ask, stdout, &err) < 0 ? fail(&err) : NT_EXIT_OK;
}

static int take_file(struct nt_remembered_ask *ask, int argc, char *argv[])
{
	if (argc == 0)
		return nt_command_misuse(&nt_command_memory, "which file? (- for the standard "
							     "streams)");
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
		return fail(&err);
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
		return fail(&err);
	printf("%zu entries more in %s\n", count, nt_shown(&shown, ask->directory));
	if (skipped == 0)
		return NT_EXIT_OK;
	nt_command_complain(&nt_command_memory, "%u lines were no entries and were left out",
			    skipped);
	return NT_EXIT_FAILED;
}

static int forget(struct nt_remembered_ask *ask, int argc, char *argv[])
{
	struct nt_error err;
	int count;

	if (no_more(argc, argv) != NT_EXIT_OK)
		return NT_EXIT_USAGE;
	if (ask->all == (ask->fingerprint != 0 || ask->profile != NULL))
		return nt_command_misuse(&nt_command_memory,
					 "forget what? (--fingerprint, --profile or both, or "
					 "--all)");
	count = nt_store_forget(ask->directory, ask->fingerprint, ask->profile, ask->now_s, &err);
	if (count < 0)
		return fail(&err);
	printf("%d entries forgotten\n", count);
	return NT_EXIT_OK;
}

static int compact(struct nt_remembered_ask *ask, int argc, char *argv[])
{
	struct nt_error err;

	if (no_more(argc, argv) != NT_EXIT_OK)
		return NT_EXIT_USAGE;
	return nt_store_compact(ask->directory, ask->now_s, &err) < 0 ? fail(&err) : NT_EXIT_OK;
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

static const struct option options[] = {
	{ "memory", required_argument, NULL, 'm' },
	{ "site-memory", required_argument, NULL, 'S' },
	{ "profile-file", required_argument, NULL, 'f' },
	{ "fingerprint", required_argument, NULL, 'F' },
	{ "profile", required_argument, NULL, 'p' },
	{ "nodes", required_argument, NULL, 'N' },
	{ "ntasks-per-node", required_argument, NULL, 'n' },
	{ "like-here", no_argument, NULL, 'L' },
	{ "csv", no_argument, NULL, 'c' },
	{ "all", no_argument, NULL, 'a' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const char *option_name(char letter)
{
	for (size_t i = 0; options[i].name; i++)
		if (options[i].val == letter)
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

/* 16 hexadecimal digits; 0 if it is none. */
static uint64_t fingerprint_of(const char *text)
{
	if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
		return 0;
	return strtoull(text, NULL, 16);
}

static uint32_t count_of(const char *text, unsigned long most)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return 0;
	value = strtoul(text, &end, 10);
	return *end == '\0' && value <= most ? (uint32_t)value : 0;
}

static int take_value(struct nt_remembered_ask *ask, int option)
{
	const char *what = NULL;

	if (option == 'F') {
		ask->fingerprint = fingerprint_of(optarg);
		what = ask->fingerprint ? NULL : "fingerprint (want 16 hexadecimal digits)";
	} else if (option == 'p') {
		ask->profile = optarg;
		what = nt_profile_name_valid(optarg) ? NULL : "name of a profile";
	} else if (option == 'N') {
		ask->nodes = count_of(optarg, 1 << 20);
		what = ask->nodes ? NULL : "number of nodes";
	} else if (option == 'n') {
		ask->per_node = count_of(optarg, 4096);
		what = ask->per_node ? NULL : "number of ranks on each node";
	}
	if (what)
		return nt_command_misuse(&nt_command_memory, "'%s' is no %s", optarg, what);
	return NT_EXIT_OK;
}

static int take_option(struct nt_remembered_ask *ask, int option, char *argv[])
{
	switch (option) {
	case 'm': ask->places.memory = optarg; return NT_EXIT_OK;
	case 'S': ask->places.site_memory = optarg; return NT_EXIT_OK;
	case 'f': ask->places.profiles = optarg; return NT_EXIT_OK;
	case 'L': ask->like_here = true; return NT_EXIT_OK;
	case 'c': ask->csv = true; return NT_EXIT_OK;
	case 'a': ask->all = true; return NT_EXIT_OK;
	case '?':
	case ':': return nt_command_misuse_option(&nt_command_memory, option, argv);
	default: return take_value(ask, option);
	}
}

static int start(struct nt_remembered_ask *ask, const char *given, int argc, char *argv[])
{
	const struct subcommand *sub = find_subcommand(argc > 0 ? argv[0] : "show");
	struct nt_error err;

	if (!sub)
		return nt_command_misuse(&nt_command_memory,
					 "unknown subcommand '%s' (want show, export, import, "
					 "forget, compact or path)",
					 argv[0]);
	for (; *given; given++)
		if (*given != 'm' && !strchr(sub->takes, *given))
			return nt_command_misuse(&nt_command_memory, "--%s is not for %s",
						 option_name(*given), sub->name);
	if (nt_places_memory(&ask->places, ask->directory, &err) < 0)
		return fail(&err);
	return sub->run(ask, argc > 0 ? argc - 1 : 0, argv + 1);
}

static int run(int argc, char *argv[])
{
	struct nt_remembered_ask ask = { .now_s = (int64_t)time(NULL) };
	char given[32] = "";
	int option, rc;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":F:p:N:h", options, NULL)) != -1) {
		if (option == 'h')
			return nt_command_help(&nt_command_memory);
		rc = take_option(&ask, option, argv);
		if (rc != NT_EXIT_OK)
			return rc;
		if (strlen(given) < sizeof(given) - 1)
			given[strlen(given)] = (char)option;
	}
	return nt_command_finish(&nt_command_memory,
				 start(&ask, given, argc - optind, argv + optind));
}

const struct nt_command nt_command_memory = {
	.name = "memory",
	.run = run,
	.summary = "what is remembered of launch profiles: show, export, forget",
	.help = "Usage: nccl-tune memory [show | path | compact] [OPTION...]\n"
		"       nccl-tune memory export FILE|- [--csv] [OPTION...]\n"
		"       nccl-tune memory import FILE|- [--csv] [OPTION...]\n"
		"       nccl-tune memory forget --all | [--fingerprint F] [--profile P]\n"
		"\n"
		"Your memory of launch profiles: what steps and calibrations have measured, on which\n"
		"hardware.\n"
		"\n"
		"  show                    for each place, what is known of its profiles, and what a\n"
		"                          new job there gets, and why\n"
		"  export                  entries as lines of JSON; with --csv, the arms of one place\n"
		"                          and profile as NVIDIA's example tuner reads them\n"
		"  import                  add what was exported; with --csv, arms, to be confirmed\n"
		"  forget                  what is known until now; what comes later counts again\n"
		"  compact                 make one file of all\n"
		"  path                    where it is\n"
		"\n"
		"  -F, --fingerprint F     only of this hardware (nccl-tune fingerprint)\n"
		"  -p, --profile P         only of this profile (import --csv: for this one)\n"
		"  -N, --nodes N           only of so many nodes (import --csv: for so many)\n"
		"      --ntasks-per-node N and so many ranks on each\n"
		"      --like-here         import --csv: for jobs like this one, on such nodes\n"
		"      --memory DIRECTORY  another memory (default: $NCCL_TUNE_MEMORY, else\n"
		"                          nccl-tune/memory in $XDG_STATE_HOME or ~/.local/state)\n"
		"      --site-memory FILE  show: what the site remembers\n"
		"      --profile-file FILE show: profiles from there\n"
		"  -h, --help              print this\n"
		"\n"
		"Exit status: 0; 1 something failed (see stderr); 2 misuse.\n",
};
