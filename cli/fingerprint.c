/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune fingerprint: print the number that identifies this node's hardware, and what it is
 * computed from. The code is nt-recordd's, so jobs get the same number. */
#include "cli/command.h"
#include "report/model/site-config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "contract/names.h"
#include "lib/json.h"
#include "lib/printable.h"
#include "cli/inventory.h"
#include "spank/cache.h"
#include "spank/node-fingerprint.h"

extern char **environ;

struct answer {
	char *material;
	uint64_t value;
	const char *rundir;
	char file[NT_CACHE_NAME_MAX]; /* of the cache, below rundir */
	uint64_t cached; /* 0: nothing */
	const char *state; /* of the cache, a word for programs */
	struct nt_error why; /* the cache is not used, or missing */
};

/* These variables can make hwloc read another machine's description. Jobs do not have them. */
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

/* Nodes without a problem print identical lines. */
static void print_cache(const struct answer *answer)
{
	struct nt_shown shown;

	printf(NT_INVENTORY_LABEL "%s", "cache", answer->state);
	if (strcmp(answer->state, "stale") == 0)
		printf(": jobs get %016" PRIx64 " until %s/%s is removed", answer->cached,
		       nt_shown(&shown, answer->rundir), answer->file);
	else if (strcmp(answer->state, "unused") == 0)
		printf(": holds %016" PRIx64 ", but %s; the next job recomputes it", answer->cached,
		       nt_shown(&shown, answer->why.text));
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

static int print_json(const struct answer *answer)
{
	int rc = 0;
	json_object *object = nt_json_object(&rc);
	json_object *cache = nt_json_object(&rc);
	char number[20];

	snprintf(number, sizeof(number), "%016" PRIx64, answer->value);
	nt_json_string(object, "fingerprint", number, &rc);
	nt_json_string(object, "material", answer->material, &rc);
	rc |= nt_inventory_json(object, answer->material);
	nt_json_string(cache, "state", answer->state, &rc);
	snprintf(number, sizeof(number), "%016" PRIx64, answer->cached);
	nt_json_string(cache, "fingerprint", answer->cached ? number : NULL, &rc);
	nt_json_string(cache, "why", answer->why.text[0] ? answer->why.text : NULL, &rc);
	nt_json_add(object, "cache", cache, &rc);
	if (rc == 0)
		rc = nt_json_print(stdout, object);
	json_object_put(object);
	return rc;
}

static int fingerprint(const char *rundir, bool json)
{
	struct answer answer = { .rundir = rundir };
	struct nt_error err;
	int rc;

	forget_hwloc_variables();
	if (nt_fingerprint_explain(&answer.material, &err) < 0)
		return nt_command_fail(&err);
	answer.value = nt_fingerprint_hash(answer.material);
	read_cache(&answer);
	rc = json ? print_json(&answer) : print_text(&answer);
	free(answer.material);
	return nt_command_status(rc, &(struct nt_error){ "no memory for the answer" });
}

/* From nccl-tune.conf; the built-in one if that cannot be read. */
static void find_rundir(char out[NT_PATH_MAX])
{
	struct nt_config *config = malloc(sizeof(*config));
	bool known = config && nt_config_read(config, NULL, NULL) == 0;

	snprintf(out, NT_PATH_MAX, "%s", known ? config->conf.site.rundir : NT_RUN_DIR);
	free(config);
}

struct request {
	const char *rundir; /* NULL: as nccl-tune.conf says */
	bool json;
};

static int run(void *argument, char *argv[])
{
	struct request *request = argument;
	char site[NT_PATH_MAX];

	(void)argv;
	find_rundir(site);
	return fingerprint(request->rundir ? request->rundir : site, request->json);
}

static const struct nt_option options[] = {
	{ "json", 'j', "Print a JSON object for programs, see nccl-tune(1)",
	  NT_FLAG(struct request, json) },
	{ "rundir", 'r',
	  "Directory of the cache (default: rundir in nccl-tune.conf, or " NT_RUN_DIR ")",
	  NT_TEXT(struct request, rundir, "DIRECTORY") },
	{ 0 },
};

const struct nt_command nt_command_fingerprint = {
	.name = "fingerprint",
	.summary = "show the number that identifies this node's hardware",
	.options = options,
	.doc = "Print the fingerprint of this node's hardware, what it was computed from, and "
	       "whether the node's cache gives jobs the same one. It differs between nodes with "
	       "different GPUs or NICs, or with different placement of these. Communicators whose "
	       "nodes have different fingerprints are not tuned. To see how two nodes differ:\n\n"
	       "  diff <(ssh n1 nccl-tune fingerprint) <(ssh n2 nccl-tune fingerprint)"
	       "\vExit status: 0 if it was printed, whatever the cache contains, 1 if the "
	       "hardware cannot be read (the reason is on stderr), 2 for a usage error.",
	.request_bytes = sizeof(struct request),
	.run = run,
};
