/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune memory: show, export, import or forget what was measured of launch profiles. */
#include "cli/command.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "lib/file.h"
#include "lib/hex.h"
#include "lib/list.h"
#include "profiles/memory-store.h"
#include "lib/printable.h"
#include "cli/memory-show.h"

static bool to_stream(const char *file)
{
	return strcmp(file, "-") == 0;
}

/* ---- out */

static int pick(const struct nt_remembered_ask *ask, const struct nt_memory *from,
		struct nt_memory *to, struct nt_error *err)
{
	for (size_t i = 0; i < from->entries; i++) {
		if (nt_remembered_takes(ask, &from->entry[i]) &&
		    nt_memory_add_copy(to, &from->entry[i], err) < 0)
			return -1;
	}
	/* Paths of a user's programs are private. */
	for (size_t i = 0; i < to->entries; i++)
		to->entry[i].library[0] = '\0';
	for (size_t i = 0; i < from->hosts; i++)
		if (ask->fingerprint == 0 || ask->fingerprint == from->host[i].fingerprint)
			if (nt_memory_add_host(to, from->host[i].name, from->host[i].fingerprint,
					       from->host[i].when_s, err) < 0)
				return -1;
	nt_memory_sort(to, ask->now_s);
	return 0;
}

static int write_entries(const struct nt_remembered_ask *ask, size_t *count, struct nt_error *err)
{
	struct nt_memory memory, picked;
	int rc = -1;

	nt_memory_init(&memory);
	nt_memory_init(&picked);
	if (nt_store_read(ask->directory, &memory, ask->now_s, err) < 0 ||
	    pick(ask, &memory, &picked, err) < 0)
		goto out;
	*count = picked.entries;
	rc = to_stream(ask->file) ? nt_memory_print(&picked, stdout, err)
				  : nt_memory_write_file(&picked, ask->file, err);
out:
	nt_memory_fini(&memory);
	nt_memory_fini(&picked);
	return rc;
}

/* ---- in */

/* Takes entries and hosts, but not the requests to forget. */
static int take_lines(struct nt_memory *to, const char *text, size_t bytes, int64_t now_us,
		      struct nt_error *err)
{
	int skipped = nt_memory_read_text(to, text, bytes, err);

	if (skipped < 0)
		return -1;
	to->forgets = 0;
	for (size_t i = 0; i < to->entries; i++)
		to->entry[i].added_us = now_us;
	if (to->entries == 0 && to->hosts == 0 && skipped > 0)
		return nt_error_set(err, "it has no entries: line %u is not one",
				    to->first_skipped);
	if (to->entries == 0 && to->hosts == 0)
		return nt_error_set(err, "it has no entries");
	return 0;
}

/* *skipped: lines that are not entries; *first: the number of the first of them. */
static int read_entries(const struct nt_remembered_ask *ask, size_t *count, unsigned *skipped,
			unsigned *first, struct nt_error *err)
{
	struct nt_memory memory;
	struct nt_shown shown;
	struct nt_error why;
	char *text = NULL;
	size_t bytes = 0;
	int rc;

	nt_memory_init(&memory);
	rc = to_stream(ask->file)
		     ? nt_file_read("-", NT_MEMORY_BYTES, &text, &bytes, err)
		     : nt_file_read_at(AT_FDCWD, ask->file, 0, NT_MEMORY_BYTES, &text, &bytes, err);
	if (rc == 0) {
		rc = take_lines(&memory, text, bytes, nt_store_now_us(), &why);
		if (rc < 0)
			nt_error_set(err, "%.80s: %.170s", nt_shown(&shown, ask->file), why.text);
	}
	if (rc == 0) {
		*skipped = memory.skipped_lines;
		*first = memory.first_skipped;
		nt_memory_sort(&memory, ask->now_s);
		*count = memory.entries;
		rc = nt_store_add(ask->directory, &memory, ask->now_s, err);
	}
	nt_memory_fini(&memory);
	free(text);
	return rc;
}

/* ---- subcommands */

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
		return nt_command_misuse("no file (want FILE, or - for standard input or output)");
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
	if (write_entries(ask, &count, &err) < 0)
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
	unsigned skipped = 0, first = 0;
	size_t count = 0;

	if (take_file(ask, argv) != NT_EXIT_OK)
		return NT_EXIT_USAGE;
	if (read_entries(ask, &count, &skipped, &first, &err) < 0)
		return nt_command_fail(&err);
	printf("%zu entr%s added to %s\n", count, count == 1 ? "y" : "ies",
	       nt_shown(&shown, ask->directory));
	if (skipped == 0)
		return NT_EXIT_OK;
	if (skipped == 1)
		nt_command_complain("line %u is not an entry and was ignored", first);
	else
		nt_command_complain(
			"%u lines are not entries and were ignored, the first is line %u", skipped,
			first);
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
	count = nt_store_forget(ask->directory, ask->fingerprint, ask->profile, ask->now_s, &err);
	if (count < 0)
		return nt_command_fail(&err);
	printf("%d entr%s forgotten\n", count, count == 1 ? "y" : "ies");
	return NT_EXIT_OK;
}

struct subcommand {
	const char *name;
	int (*run)(struct nt_remembered_ask *ask, char *argv[]);
	const char *takes; /* options, but for --memory */
};

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
	  NT_TEXT(struct nt_remembered_ask, places.memory, "DIRECTORY") },
	{ "fingerprint", 'F', "Only of this hardware (nccl-tune check-config)",
	  NT_TAKE(take_fingerprint, "F") },
	{ "profile", 'p', "Only of this profile", NT_TAKE(take_profile, "P") },
	{ "all", 0, "forget: everything", NT_FLAG(struct nt_remembered_ask, all) },
	{ "site-memory", 0, "show: the site's memory",
	  NT_TEXT(struct nt_remembered_ask, places.site_memory, "FILE") },
	{ "profile-file", 0, "show: profiles from FILE",
	  NT_TEXT(struct nt_remembered_ask, places.profiles, "FILE") },
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
		return nt_command_misuse("unknown subcommand '%s' (want show, export, import "
					 "or forget)",
					 argv[0]);
	for (const struct nt_option *option = options + 1; option->name; option++)
		if (nt_command_given(option) &&
		    !nt_list_has(sub->takes, ' ', option->name, strlen(option->name)))
			return nt_command_misuse("--%s is not for %s", option->name, sub->name);
	if (nt_places_memory(&ask->places, ask->directory, &err) < 0)
		return nt_command_fail(&err);
	return sub->run(ask, argv[0] ? argv + 1 : argv);
}

const struct nt_command nt_command_memory = {
	.name = "memory",
	.summary = "show, export or forget what was measured of launch profiles",
	.options = options,
	.usage = "[show]\nexport FILE\nimport FILE\nforget",
	.doc = "Your memory of launch profiles: what steps and calibrations have measured, "
	       "on which hardware.\n\n"
	       "show     print the measurements of each place, and the profile for a new job\n"
	       "export   write entries as lines of JSON\n"
	       "import   add exported entries\n"
	       "forget   delete all entries, or those of a fingerprint or profile\n\n"
	       "FILE - is standard input or output."
	       "\vExit status: 0, 1 if something failed (see stderr), 2 for a usage error.",
	.request_bytes = sizeof(struct nt_remembered_ask),
	.init = init,
	.run = run,
	.arguments = NT_ANY_NUMBER,
};
