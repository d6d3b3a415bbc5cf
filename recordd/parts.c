/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recordd/parts.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "lib/clock.h"
#include "record/step.h"
#include "recordd/longform.h"
#include "spank/hosts.h"
#include "spank/step/step-name.h"

#define PAUSE_MS 10
#define OLD_S 600 /* an older part is of an earlier job with the same number */

static bool is_last(const struct nt_long_head *head, const struct nt_long_head *wanted)
{
	const int64_t age_s = time(NULL) - head->written_s;

	return head->final && head->job == wanted->job && head->run == wanted->run &&
	       strcmp(head->step, wanted->step) == 0 && strcmp(head->node, wanted->node) == 0 &&
	       age_s > -OLD_S && age_s < OLD_S;
}

/* Adds a node's. False: it is not there yet. */
static bool add_part(struct nt_long_set *set, const char *directory,
		     const struct nt_long_head *wanted)
{
	char name[NT_LONG_NAME_MAX], path[NT_LONG_PATH_MAX];
	const size_t before = set->count;

	nt_long_part_name(name, wanted);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (nt_long_set_add(set, path, NULL) == 0 && set->count == before + 1 &&
	    is_last(&set->parts[before].head, wanted))
		return true;
	set->count = before;
	return false;
}

/* names: of the nodes; NULL: unknown */
static int add_parts(const struct nt_arguments *arguments, struct nt_long_set *set, char **names,
		     int64_t until_ms)
{
	char directory[NT_STEP_LONG_MAX];
	struct nt_long_head wanted = { .job = arguments->job, .run = arguments->run };
	size_t count = 0;

	nt_step_name(arguments->step, arguments->component, wanted.step);
	if (nt_longform_directory(arguments, directory, sizeof(directory)) < 0)
		return -1;
	while (names && names[count]) {
		snprintf(wanted.node, sizeof(wanted.node), "%s", names[count]);
		if (add_part(set, directory, &wanted))
			count++;
		else if (nt_clock_ms() + PAUSE_MS > until_ms)
			return -1;
		else
			usleep(PAUSE_MS * 1000);
	}
	return count == arguments->nodes ? 0 : -1;
}

int nt_parts_gather(const struct nt_arguments *arguments, struct nt_long_set *set, int64_t until_ms)
{
	char **names;
	int rc;

	if (!nt_longform_of_nodes(arguments))
		return -1;
	set->owner[0] = arguments->uid;
	set->owners = 1;
	names = nt_hosts_names(arguments->hosts, NT_LONGFORM_NODES, NULL);
	rc = add_parts(arguments, set, names, until_ms);
	nt_hosts_free(names);
	if (rc == 0)
		nt_long_set_sort(set, arguments->job);
	return rc < 0 || set->count != arguments->nodes ? -1 : 0;
}

struct alike {
	const char *fingerprint;
	size_t same, others; /* lines */
};

static int take_line(void *argument, const struct nt_long_part *part, struct nt_text name,
		     struct nt_text value, struct nt_error *err)
{
	struct alike *alike = argument;
	char quoted[32];

	(void)part, (void)err;
	snprintf(quoted, sizeof(quoted), "\"%s\"", alike->fingerprint);
	if (nt_text_is(name, NT_LONG_FINGERPRINT) && nt_text_is(value, quoted))
		alike->same++;
	else if (nt_text_is(name, NT_LONG_FINGERPRINT))
		alike->others++;
	return 0;
}

bool nt_parts_alike(const struct nt_arguments *arguments, const struct nt_long_set *set)
{
	struct alike alike = { .fingerprint = arguments->fingerprint };

	return arguments->fingerprint[0] != '-' &&
	       nt_long_set_each(set, take_line, &alike, NULL) == 0 && alike.others == 0 &&
	       alike.same == arguments->nodes;
}
