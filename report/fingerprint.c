/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune fingerprint: the number that stands for this node's hardware in jobs, and what is
 * behind it. Computed by the code of nt-recordd, so that it is the number that jobs get. */
#include "report/command.h"
#include "report/config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "contract/names.h"
#include "record/printable.h"
#include "report/inventory.h"
#include "spank/cache.h"
#include "spank/fingerprint.h"

extern char **environ;

struct answer {
	char *material;
	uint64_t value;
	const char *rundir;
	char file[NT_CACHE_NAME_MAX]; /* of the cache, below rundir */
	uint64_t cached; /* 0: nothing */
	const char *state; /* of the cache, a word for programs */
	struct nt_error why; /* it does not count, or is not there */
};

/* hwloc can be told to read another machine's description; jobs' helpers are not told so. */
static void forget_hwloc_variables(void)
{
	char name[64];
	size_t i = 0;

	while (environ[i]) {
		size_t bytes = strcspn(environ[i], "=");

		if (strncmp(environ[i], "HWLOC_", 6) != 0 || bytes >= sizeof(name)) {
			i++;
			continue;
		}
		memcpy(name, environ[i], bytes);
		name[bytes] = '\0';
		unsetenv(name);
	}
}

static void read_cache(struct answer *answer)
{
	int fd = open(answer->rundir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		answer->state = errno == ENOENT ? "none" : "unreadable";
		nt_error_set(&answer->why, "%.100s: %m", answer->rundir);
		return;
	}
	answer->state = "none";
	if (nt_cache_name(answer->file, &answer->why) < 0)
		answer->file[0] = '\0';
	else if (nt_cache_read(fd, &answer->cached, &answer->why) == 0)
		answer->state = answer->cached == answer->value ? "agrees" : "stale";
	else if (answer->cached)
		answer->state = "unused";
	else if (errno != ENOENT)
		answer->state = "unreadable";
	close(fd);
}

/* A node that is in order gets the same line as all others. */
static void print_cache(const struct answer *answer)
{
	struct nt_shown shown;

	printf(NT_INVENTORY_LABEL "%s", "cache", answer->state);
	if (strcmp(answer->state, "stale") == 0)
		printf(": jobs get %016" PRIx64 " until %s/%s is removed", answer->cached,
		       nt_shown(&shown, answer->rundir), answer->file);
	else if (strcmp(answer->state, "unused") == 0)
		printf(": holds %016" PRIx64 ", but %s; the next job computes it anew",
		       answer->cached, nt_shown(&shown, answer->why.text));
	else if (strcmp(answer->state, "unreadable") == 0)
		printf(": %s", nt_shown(&shown, answer->why.text));
	else if (strcmp(answer->state, "none") == 0)
		fputs(": slurmd's start or the next job computes it", stdout);
	putchar('\n');
}

static int print_text(const struct answer *answer)
{
	printf(NT_INVENTORY_LABEL "%016" PRIx64 "\n", "fingerprint", answer->value);
	if (nt_inventory_print(stdout, answer->material) < 0)
		return -1;
	print_cache(answer);
	return 0;
}

static json_object *number_text(uint64_t value)
{
	char text[20];

	snprintf(text, sizeof(text), "%016" PRIx64, value);
	return json_object_new_string(text);
}

static int print_json(const struct answer *answer)
{
	json_object *object = json_object_new_object();
	json_object *cache = json_object_new_object();
	json_object *inventory = nt_inventory_json(answer->material);
	bool good = object && cache && inventory;

	if (good) {
		json_object_object_add(cache, "state", json_object_new_string(answer->state));
		json_object_object_add(cache, "fingerprint",
				       answer->cached ? number_text(answer->cached) : NULL);
		json_object_object_add(
			cache, "why",
			answer->why.text[0] ? json_object_new_string(answer->why.text) : NULL);
		json_object_object_add(object, "fingerprint", number_text(answer->value));
		json_object_object_add(object, "material",
				       json_object_new_string(answer->material));
		json_object_object_foreach(inventory, name, value)
			json_object_object_add(object, name, json_object_get(value));
		json_object_object_add(object, "cache", json_object_get(cache));
		puts(json_object_to_json_string_ext(
			object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	}
	json_object_put(object);
	json_object_put(cache);
	json_object_put(inventory);
	return good ? 0 : -1;
}

static int fingerprint(const char *rundir, bool json)
{
	struct answer answer = { .rundir = rundir };
	struct nt_error err;
	int rc;

	forget_hwloc_variables();
	if (nt_fingerprint_explain(&answer.material, &err) < 0) {
		nt_command_complain(&nt_command_fingerprint, "%s", err.text);
		return NT_EXIT_FAILED;
	}
	answer.value = nt_fingerprint_hash(answer.material);
	read_cache(&answer);
	rc = json ? print_json(&answer) : print_text(&answer);
	free(answer.material);
	if (rc == 0)
		return NT_EXIT_OK;
	nt_command_complain(&nt_command_fingerprint, "no memory for the answer");
	return NT_EXIT_FAILED;
}

/* As plugstack.conf says; the built-in one where it has no line, or cannot be read. */
static void find_rundir(char out[NT_PATH_MAX])
{
	struct nt_config *config = malloc(sizeof(*config));
	struct nt_error err;
	bool known = config && nt_config_open(config, NULL, &err) == 0;

	snprintf(out, NT_PATH_MAX, "%s", known ? config->site.rundir : NT_RUN_DIR);
	free(config);
}

static int run(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "rundir", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	char site[NT_PATH_MAX];
	const char *rundir = NULL;
	bool json = false;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":jr:h", options, NULL)) != -1) {
		if (option == 'j')
			json = true;
		else if (option == 'r')
			rundir = optarg;
		else if (option == 'h')
			return nt_command_help(&nt_command_fingerprint);
		else
			return nt_command_misuse_option(&nt_command_fingerprint, option, argv);
	}
	if (optind < argc)
		return nt_command_misuse(&nt_command_fingerprint, "no argument is wanted, not '%s'",
					 argv[optind]);
	find_rundir(site);
	return nt_command_finish(&nt_command_fingerprint,
				 fingerprint(rundir ? rundir : site, json));
}

const struct nt_command nt_command_fingerprint = {
	.name = "fingerprint",
	.run = run,
	.summary = "show what stands for this node's hardware when ranks agree",
	.help = "Usage: nccl-tune fingerprint [--json] [--rundir DIRECTORY]\n"
		"\n"
		"Print the number that tells nodes with different GPUs, NICs or places of them apart, what\n"
		"it was computed from, and whether jobs get the same number from the node's cache.\n"
		"Communicators whose nodes differ in it are not tuned. To see how two nodes differ:\n"
		"\n"
		"  diff <(ssh n1 nccl-tune fingerprint) <(ssh n2 nccl-tune fingerprint)\n"
		"\n"
		"  -j, --json              print a JSON object for programs, see nccl-tune(1)\n"
		"  -r, --rundir DIRECTORY  where the cache is (default: rundir= of\n"
		"                          plugstack.conf, else " NT_RUN_DIR ")\n"
		"  -h, --help              print this\n"
		"\n"
		"Exit status: 0 shown, whatever the cache holds, 1 the hardware cannot be read (the\n"
		"reason is on stderr), 2 misuse.\n",
};
