/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Asking nt-launch for the user's file. */
#include "spank/userfile.h"

#include <stdio.h>
#include <string.h>
#include "lib/child.h"

#define OUTPUT_MAX (2 * NT_POLICY_MAX)

static int take_answer(char text[NT_POLICY_MAX], const struct nt_child *child, struct nt_error *err)
{
	const char *out = child->out ? child->out : "";
	const size_t bytes = strcspn(out, "\n");

	if (child->status != 0)
		return nt_error_set(err, "%s",
				    child->complaint[0] ? child->complaint
							: "your nccl-tune.conf cannot be read");
	if (out[bytes] != '\n' || bytes >= NT_POLICY_MAX)
		return nt_error_set(err, "your nccl-tune.conf: " NT_LAUNCH_PROGRAM
					 " gave an invalid answer");
	memcpy(text, out, bytes);
	text[bytes] = '\0';
	return 0;
}

int nt_userfile_read(const struct nt_site *site, char text[NT_POLICY_MAX], bool *late,
		     struct nt_error *err)
{
	static char what[] = "user-file";
	char program[NT_LAUNCH_PATH];
	char *const argv[] = { program, what, NULL };
	const int64_t deadline_ms = nt_clock_ms() + NT_USERFILE_MS;
	struct nt_child child;
	struct nt_error why;
	int rc;

	text[0] = '\0';
	nt_site_launch_program(site, program);
	rc = nt_child_run(&child, argv, OUTPUT_MAX, NT_USERFILE_MS, &why);
	*late = rc < 0 && nt_clock_ms() >= deadline_ms;
	if (*late)
		nt_error_set(err, "your nccl-tune.conf could not be read within %d s",
			     NT_USERFILE_MS / 1000);
	else if (rc < 0)
		nt_error_set(err, "%.150s: %s", program, why.text);
	else
		rc = take_answer(text, &child, err);
	nt_child_fini(&child);
	return rc;
}
