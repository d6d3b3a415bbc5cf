/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune memory: show, export, import or forget what was measured of launch profiles. */
#include "cli/command.h"

#include <string.h>
#include <time.h>
#include "lib/hex.h"
#include "lib/list.h"
#include "lib/plural.h"
#include "launch/memory-store.h"
#include "lib/printable.h"
#include "cli/memory-forms.h"

struct subcommand {
	const char *name;
	int (*run)(struct nt_remembered_ask *ask, char *argv[]);
	const char *takes; /* options, but for --memory */
};

static int no_more(char *argv[])
{
	if (!argv[0])
		return NT_EXIT_OK;
	return nt_command_misuse("too many arguments: '%s'", argv[0]);
}

static int show(struct nt_remembered_ask *ask, char *argv[])
{
	struct nt_error err;

	if (no_more(argv) != NT_EXIT_OK)
		return NT_EXIT_USAGE;
	return nt_command_status(nt_remembered_show(ask, stdout, &err), &err);
}

static int take_file(struct nt_remembered_ask *ask, char *argv[])
{
	if (!argv[0])
		return nt_command_misuse("no file (want FILE, or - for standard output or input)");
	ask->file = argv[0];
	return no_more(argv + 1);
}

static int export(struct nt_remembered_ask *ask, char *argv[])
{
	struct nt_shown shown;
	struct nt_error err;
	size_t count;

	if (take_file(ask, argv) != NT_EXIT_OK)
		return NT_EXIT_USAGE;
	if (nt_remembered_export(ask, &count, &err) < 0)
		return nt_command_fail(&err);
	if (strcmp(ask->file, "-") != 0)
		printf("%zu entr%s in %s\n", count, count == 1 ? "y" : "ies",
		       nt_shown(&shown, ask->file));
	return NT_EXIT_OK;
}

static int import(struct nt_remembered_ask *ask, char *argv[])
{
	struct nt_shown shown;
	struct nt_error err;
	unsigned skipped;
	size_t count;

	if (take_file(ask, argv) != NT_EXIT_OK)
		return NT_EXIT_USAGE;
	if (nt_remembered_import(ask, &count, &skipped, &err) < 0)
		return nt_command_fail(&err);
	printf("%zu entr%s added to %s\n", count, count == 1 ? "y" : "ies",
	       nt_shown(&shown, ask->directory));
	if (skipped == 0)
		return NT_EXIT_OK;
	nt_command_complain("%u line%s of %s %s no entry and %s ignored", skipped,
			    nt_plural(skipped), nt_shown(&shown, ask->file),
			    skipped == 1 ? "is" : "are", skipped == 1 ? "was" : "were");
	return NT_EXIT_FAILED;
}

static int forget(struct nt_remembered_ask *ask, char *argv[])
{
	struct nt_error err;
	int count;

	if (no_more(argv) != NT_EXIT_OK)
		return NT_EXIT_USAGE;
	if (ask->all == (ask->fingerprint != 0 || ask->profile != NULL))
		return nt_command_misuse("nothing selected (want --fingerprint, --profile or both, "
					 "or "
					 "--all)");
	count = nt_store_forget(ask->directory,
				&(struct nt_which){ ask->fingerprint, ask->profile }, ask->now_s,
				&err);
	if (count < 0)
		return nt_command_fail(&err);
	printf("%d entr%s forgotten\n", count, count == 1 ? "y" : "ies");
	return NT_EXIT_OK;
}

static const struct subcommand subcommands[] = {
	{ "show", show, "site-memory profile-file fingerprint profile" },
	{ "export", export, "fingerprint profile" },
	{ "import", import, "" },
	{ "forget", forget, "fingerprint profile all" },
};

static const struct subcommand *find_subcommand(const char *name)
{
	for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
		if (strcmp(subcommands[i].name, name) == 0)
			return &subcommands[i];
	return NULL;
}

static int take_fingerprint(void *argument, const char *text)
{
	struct nt_remembered_ask *ask = argument;

	if (nt_hex_parse(text, NT_HEX_U64, &ask->fingerprint) == 0 && ask->fingerprint != 0)
		return 0;
	return nt_command_misuse("'%s' is not a fingerprint (want 16 hexadecimal digits)", text);
}

static int take_profile(void *argument, const char *text)
{
	struct nt_remembered_ask *ask = argument;

	ask->profile = text;
	if (nt_profile_name_valid(text))
		return 0;
	return nt_command_misuse("'%s' is not the name of a profile", text);
}

static const struct nt_option options[] = {
	{ "memory", 0,
	  "Another memory (default: $NCCL_TUNE_MEMORY, or nccl-tune/memory in $XDG_STATE_HOME or "
	  "~/.local/state)",
	  NT_TEXT(struct nt_remembered_ask, paths.memory, "DIRECTORY") },
	{ "fingerprint", 'F', "Only of this hardware (nccl-tune check-config)",
	  NT_TAKE(take_fingerprint, "F") },
	{ "profile", 'p', "Only of this profile", NT_TAKE(take_profile, "P") },
	{ "all", 0, "forget: everything", NT_FLAG(struct nt_remembered_ask, all) },
	{ "site-memory", 0, "show: the site's memory",
	  NT_TEXT(struct nt_remembered_ask, paths.site_memory, "FILE") },
	{ "profile-file", 0, "show: profiles from FILE",
	  NT_TEXT(struct nt_remembered_ask, paths.profiles, "FILE") },
	{ 0 },
};

static void init(void *argument)
{
	struct nt_remembered_ask *ask = argument;

	ask->now_s = (int64_t)time(NULL);
}

static int run(void *argument, char *argv[])
{
	struct nt_remembered_ask *ask = argument;
	const struct subcommand *sub = find_subcommand(argv[0] ? argv[0] : "show");
	struct nt_error err;

	if (!sub)
		return nt_command_misuse(
			"unknown subcommand '%s' (want show, export, import or forget)", argv[0]);
	for (const struct nt_option *option = options + 1; option->name; option++)
		if (nt_command_given(option) &&
		    !nt_list_has(sub->takes, ' ', option->name, strlen(option->name)))
			return nt_command_misuse("--%s is not for %s", option->name, sub->name);
	if (nt_launch_paths_memory(&ask->paths, ask->directory, &err) < 0)
		return nt_command_fail(&err);
	return sub->run(ask, argv[0] ? argv + 1 : argv);
}

const struct nt_command nt_command_memory = {
	.name = "memory",
	.summary = "show, export, import or forget what was measured of launch profiles",
	.options = options,
	.usage = "[show]\nexport FILE\nimport FILE\nforget",
	.doc = "Your memory of launch profiles: what steps and calibrations have measured, "
	       "on which hardware.\n\n"
	       "show     print the measurements of each place, and the profile for a new job\n"
	       "export   write entries as lines of JSON\n"
	       "import   add exported entries\n"
	       "forget   delete all entries, or those of a fingerprint or profile\n\n"
	       "FILE - is standard output or input."
	       "\vExit status: 0, 1 if something failed (see stderr), 2 for a usage error.",
	.request_bytes = sizeof(struct nt_remembered_ask),
	.init = init,
	.run = run,
	.arguments = NT_ANY_NUMBER,
};
