/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/shell-words.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define BLANKS " \t\r"
#define SEPARATORS "\n;&|()"

struct scan {
	const char *at;
	char *to;
};

/* Up to a word, the end of the command or of the text */
static void skip_blanks(struct scan *s)
{
	for (;;) {
		s->at += strspn(s->at, BLANKS);
		if (s->at[0] == '\\' && s->at[1] == '\n')
			s->at += 2;
		else
			break;
	}
	if (*s->at == '#')
		s->at += strcspn(s->at, "\n");
}

static void keep(struct scan *s)
{
	*s->to++ = *s->at++;
}

/* A backslash and what it protects, inside quotes only one of those that have a meaning there */
static void take_escape(struct scan *s, const char *only)
{
	if (s->at[1] == '\0' || (only && !strchr(only, s->at[1]))) {
		keep(s);
		return;
	}
	s->at++;
	if (*s->at == '\n')
		s->at++;
	else
		keep(s);
}

/* $(...), ${...} or `...`, as it is */
static void take_expansion(struct scan *s)
{
	const char open = *s->at == '`' ? '\0' : s->at[1];
	const char close = open == '(' ? ')' : open == '{' ? '}' : '`';
	int depth = 1;

	if (*s->at == '$')
		keep(s);
	if (*s->at && (open == '\0' || open == '(' || open == '{'))
		keep(s);
	else
		return;
	for (; *s->at && depth > 0; keep(s))
		depth += (*s->at == open) - (*s->at == close);
}

static void take_quoted(struct scan *s)
{
	const char quote = *s->at++;

	while (*s->at && *s->at != quote) {
		if (quote == '"' && *s->at == '\\')
			take_escape(s, "\"\\$`\n");
		else if (quote == '"' && (*s->at == '$' || *s->at == '`'))
			take_expansion(s);
		else
			keep(s);
	}
	s->at += *s->at == quote;
}

static char *take_word(struct scan *s)
{
	char *word = s->to;

	while (*s->at && !strchr(BLANKS SEPARATORS "<>", *s->at)) {
		switch (*s->at) {
		case '\\': take_escape(s, NULL); break;
		case '\'':
		case '"': take_quoted(s); break;
		case '$':
		case '`': take_expansion(s); break;
		default: keep(s);
		}
	}
	*s->to++ = '\0';
	return word;
}

static bool is_redirection(const char *at)
{
	at += *at == '&';
	return *at == '<' || *at == '>';
}

/* The operator with its file; or the here-document, with the rest of its line */
static void skip_redirection(struct scan *s)
{
	const bool here = strncmp(s->at, "<<", 2) == 0 && s->at[2] != '<';
	char *const to = s->to;
	const char *end;
	char *word;

	s->at += strspn(s->at, "<>&|");
	s->at += here && *s->at == '-';
	skip_blanks(s);
	word = take_word(s);
	if (here && *word) {
		for (end = strstr(s->at, word); end && end[-1] != '\n' && end[-1] != '\t';)
			end = strstr(end + 1, word);
		s->at = end ? end + strlen(word) : s->at + strlen(s->at);
	}
	s->to = to;
}

int nt_shell_words(const char **text, char *buffer, char *words[], int max)
{
	struct scan s = { *text, buffer };
	int count = 0;

	if (!*s.at)
		return -1;
	for (;;) {
		char *word = s.to;

		skip_blanks(&s);
		if (is_redirection(s.at)) {
			skip_redirection(&s);
			continue;
		}
		if (!*s.at || strchr(SEPARATORS, *s.at))
			break;
		take_word(&s);
		/* A descriptor of a redirection is no word. */
		if (count == max || (is_redirection(s.at) && *s.at != '&' &&
				     word[strspn(word, "0123456789")] == '\0'))
			s.to = word;
		else
			words[count++] = word;
	}
	*text = s.at + (*s.at != '\0');
	return count;
}
