/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Names, one a line, from Slurm's own command. */
#include "cli/slurm-names.h"

#include <string.h>
#include "lib/child.h"

#define TIMEOUT_MS 5000
#define OUTPUT_MAX (16u << 20)
#define NAMES_MAX 100000

static char *const command[] = { "sinfo", "-a", "-h", "-o", "%R", NULL };

static int take_lines(struct nt_names *names, char *text, struct nt_error *err)
{
	char *rest = NULL;

	for (char *line = strtok_r(text, " \n", &rest); line; line = strtok_r(NULL, " \n", &rest)) {
		if (nt_names_add(names, line) < 0)
			return nt_error_set(err, "there are too many");
	}
	return 0;
}

int nt_known_partitions(struct nt_names *names, struct nt_error *err)
{
	struct nt_child child;
	struct nt_error why;
	int rc;

	nt_names_init(names, NAMES_MAX);
	rc = nt_child_run(&child, command, OUTPUT_MAX, TIMEOUT_MS, &why);
	if (rc == 0 && child.status != 0)
		rc = nt_error_set(&why, "%s", child.complaint[0] ? child.complaint : "it failed");
	if (rc == 0 && child.out)
		rc = take_lines(names, child.out, &why);
	if (rc < 0)
		nt_error_set(err, "%s: %s", command[0], why.text);
	nt_child_fini(&child);
	if (rc < 0)
		nt_names_fini(names);
	return rc;
}
