/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Usage: reasons-table markdown|mdoc. All reasons as a table of docs/trouble.md, or as the lists of
 * nccl-tune-record(5); see build-aux/update-reasons. */
#include <stdio.h>
#include <string.h>
#include "contract/reason.h"

/* The sentence with each {field} between before and after; what only a report knows is left out. */
static void put_sentence(int id, const char *before, const char *after)
{
	const char *at = nt_reason_sentence(id);

	while (*at) {
		size_t bytes = strcspn(at, "{");

		printf("%.*s", (int)bytes, at);
		at += bytes;
		if (!*at)
			break;
		bytes = strcspn(++at, "}");
		if (strncmp(at, "auto}", 5) == 0)
			fputs("NCCL's choice", stdout);
		else if (strncmp(at, "arm}", 4) == 0)
			printf("%schoice%s", before, after);
		else if (strncmp(at, "gain}", 5) != 0 && strncmp(at, "p}", 2) != 0)
			printf("%s%.*s%s", before, (int)bytes, at, after);
		at += bytes + 1;
	}
}

static void put_markdown(void)
{
	puts("| the report says | what to do |\n|---|---|");
	for (int id = NT_REASON_OTHER; id < NT_REASON_COUNT; id++) {
		fputs("| ", stdout);
		put_sentence(id, "*", "*");
		printf(" | %s%s|\n", nt_reason_advice(id), nt_reason_advice(id)[0] ? " " : "");
	}
}

static void put_item(int id)
{
	printf(".It Li %s\n\\&", nt_reason_code(id));
	put_sentence(id, "\\fI", "\\fR");
	putchar('\n');
}

static void put_mdoc(void)
{
	static const struct {
		enum nt_reason_of about;
		const char *title;
	} parts[] = {
		{ NT_ABOUT_KEY, "Reasons of rows that were decided:" },
		{ NT_ABOUT_OPEN_KEY, "Of those that were not:" },
		{ NT_ABOUT_COMM, "Of communicators; some stand in rows as well:" },
		{ NT_ABOUT_STEP, "Of steps:" },
		{ NT_ABOUT_CALLS, "How far a communicator got:" },
		{ NT_ABOUT_NOTHING, "Of a later release:" },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		printf(".Pp\n%s\n.Bl -tag -width \"forbidden\" -compact\n", parts[i].title);
		for (int id = NT_REASON_OTHER; id < NT_REASON_COUNT; id++) {
			if (nt_reason_about(id) == parts[i].about)
				put_item(id);
		}
		puts(".El");
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "markdown") == 0)
		put_markdown();
	else if (argc == 2 && strcmp(argv[1], "mdoc") == 0)
		put_mdoc();
	else
		return 2;
	return 0;
}
