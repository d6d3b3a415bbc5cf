/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Run nt-launch and read its answers. */
#include "spank/submit/ask-launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "lib/argv.h"
#include "lib/child.h"
#include "lib/list.h"

#define ANSWER_MAX 32768

/* ---- a question and its answer */

/* claim: NULL for a question that needs none. */
static int ask_it(const char *program, const char *what, const struct nt_launch_ask *ask,
		  const struct nt_launch_claim *claim, struct nt_child *child, struct nt_error *err)
{
	struct nt_argv words = { .count = 0 };
	int rc = -1;

	nt_argv_add(&words, "%s", program);
	nt_argv_add(&words, "%s", what);
	nt_argv_add(&words, "launch=%s", ask->launch);
	nt_argv_add(&words, "hosts=%s", ask->hosts);
	nt_argv_add(&words, "nodes=%" PRIu32, ask->nodes);
	nt_argv_add(&words, "tasks=%" PRIu32, ask->tasks);
	nt_argv_add(&words, "job=%" PRIu32, ask->job);
	nt_argv_add(&words, "node_gpus=%" PRIu32, ask->node_gpus);
	nt_argv_add(&words, "typed=%d", ask->typed);
	nt_argv_add(&words, "limit=%" PRId64, ask->limit_s);
	if (claim) {
		nt_argv_add(&words, "gpus=%d", claim->gpus);
		if (claim->left_s >= 0)
			nt_argv_add(&words, "left=%" PRId64, claim->left_s);
		nt_argv_add(&words, "address=%s", claim->address);
	}
	if (ask->program[0])
		nt_argv_add(&words, "program=%s", ask->program);
	nt_argv_add(&words, "profiles=%s", ask->profiles);
	nt_argv_add(&words, "site_memory=%s", ask->site_memory);
	memset(child, 0, sizeof(*child));
	if (words.failed)
		nt_error_set(err, "out of memory");
	else
		rc = nt_child_run(child, words.word, ANSWER_MAX, NT_LAUNCH_MS, err);
	nt_argv_fini(&words);
	if (rc == 0 && child->status != 0)
		rc = nt_error_set(err, "%s",
				  child->complaint[0] ? child->complaint : "it has failed");
	return rc;
}

/* Unknown keys, of another version, are ignored. */
static int take_line(struct nt_launch_answer *answer, const char *line)
{
	const struct {
		const char *key;
		char *text;
		size_t size;
	} texts[] = {
		{ "ticket", answer->ticket, sizeof(answer->ticket) },
		{ "warm", answer->warm, sizeof(answer->warm) },
		{ "text", answer->text, sizeof(answer->text) },
		{ "trouble", answer->trouble, sizeof(answer->trouble) },
		{ "not_due", answer->not_due, sizeof(answer->not_due) },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *value = nt_value_of(line, texts[i].key);

		if (value && strlen(value) >= texts[i].size)
			return -1;
		if (value)
			memcpy(texts[i].text, value, strlen(value) + 1);
	}
	return strchr(line, '=') ? 0 : -1;
}

static int take_answer(struct nt_launch_answer *answer, char *out)
{
	const size_t bytes = strlen(out);
	char *line;

	if (bytes == 0 || out[bytes - 1] != '\n')
		return -1;
	out[bytes - 1] = '\0';
	while ((line = strsep(&out, "\n")) != NULL) {
		if (take_line(answer, line) < 0)
			return -1;
	}
	return answer->ticket[0] != '\0' ? 0 : -1;
}

int nt_launch_select(const char *program, const struct nt_launch_ask *ask,
		     struct nt_launch_answer *answer, struct nt_error *err)
{
	struct nt_child child;
	int rc = ask_it(program, "choose", ask, NULL, &child, err);

	memset(answer, 0, sizeof(*answer));
	if (rc == 0 && (child.out == NULL || take_answer(answer, child.out) < 0)) {
		memset(answer, 0, sizeof(*answer));
		rc = nt_error_set(err, "%.100s gave an invalid answer", program);
	}
	nt_child_fini(&child);
	return rc;
}

int nt_launch_calibrate(const char *program, const struct nt_launch_ask *ask,
			const struct nt_launch_claim *claim, char request[NT_CAL_REQUEST_MAX],
			char why[NT_LAUNCH_LINE], struct nt_error *err)
{
	struct nt_child child;
	int rc = ask_it(program, "calibrate", ask, claim, &child, err);
	char *line = rc == 0 && child.out ? child.out : NULL;
	const char *value;

	request[0] = why[0] = '\0';
	if (line)
		line[strcspn(line, "\n")] = '\0';
	value = line ? nt_value_of(line, "request") : NULL;
	if (value && strlen(value) < NT_CAL_REQUEST_MAX) {
		memcpy(request, value, strlen(value) + 1);
		rc = 1;
	} else if (rc == 0) {
		value = line ? nt_value_of(line, "why") : NULL;
		snprintf(why, NT_LAUNCH_LINE, "%s", value ? value : "no answer");
	}
	nt_child_fini(&child);
	return rc;
}
