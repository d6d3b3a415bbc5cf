/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/list.h"
#include "lib/trim.h"

#define DEPTH_MAX 4 /* texts and wrappers within each other */
#define WORDS_MAX 256 /* of a command that are looked at */

enum kind {
	NOTHING, /* it starts nothing else */
	PLAIN, /* a command follows */
	MODULES, /* or -m and a module */
	RANKS, /* likewise; it starts ranks */
	PYTHON, /* a script, -m and a module, or a text that names nothing */
	SHELL, /* a script, or -c and a text */
};

/* What starts another program; without the version at a name's end */
static const struct {
	enum kind kind;
	const char *names;
} launchers[] = {
	{ PLAIN,
	  "if elif while until then else do ! { env exec time command which builtin nohup setsid eval "
	  "nice ionice chrt taskset timeout stdbuf numactl nsys ncu apptainer singularity docker "
	  "podman podman-hpc enroot shifter conda mamba micromamba pixi poetry pipenv pdm" },
	{ MODULES, "uv cProfile pdb debugpy kernprof" },
	{ RANKS,
	  "mpirun mpiexec mpiexec.hydra orterun prterun horovodrun torchrun torch.distributed.run "
	  "torch.distributed.launch accelerate accelerate-launch accelerate.commands.launch "
	  "deepspeed deepspeed.launcher.runner lightning fabric tune" },
	{ PYTHON, "python pypy ipython julia Rscript perl node" },
	{ SHELL, "bash sh dash zsh ksh ash fish" },
};

/* What some want before the command */
static const char verbs[] = "run exec start launch profile";

/* Options with two words */
static const char two_words[] = "-mca --mca -gmca --gmca --prtemca -env -genv";

/* What a text only prepares with, prints or copies */
static const char idle[] =
	". [ [[ ] ]] } : activate alias awk basename break builtin case cat cd chmod chown clear continue cp "
	"curl date declare df dirname done dirs disown du echo egrep esac exit export false fi "
	"find for free function getopts git grep gunzip gzip head hash history hostname "
	"huggingface-cli id install jobs kill let ln local ls lscpu lspci make mapfile mkdir mktemp "
	"ml module mount mv nproc nvcc nvidia-smi pip popd printenv printf ps pushd pwd read "
	"readarray readonly realpath return rm rmdir rocm-smi rsync scontrol sed select set shift "
	"shopt sleep sort source squeue stat sync tail tar tee test touch tr trap true tty type "
	"typeset ulimit umask unalias uname unset unzip venv wait wandb wc wget whereis who "
	"whoami xargs yes";

struct name {
	char text[NT_PROGRAM_NAME];
	enum weight { NONE, BARE, SCRIPT, STARTS_RANKS } weight;
};

struct walk {
	char *const *word; /* the next one */
	int left;
	int depth;
	enum kind kind; /* of the newest launcher */
	bool ranks; /* one of them starts ranks */
	bool module; /* the next word that is no option is a module */
};

static struct name find(char *const words[], int count, int depth);

static const char *base_of(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash ? slash + 1 : word;
}

static bool in_list(const char *list, const char *word)
{
	return nt_list_has(list, ' ', word, strlen(word));
}

static enum kind kind_of(const char *word)
{
	const char *base = base_of(word);
	size_t length = strlen(base);

	while (length > 0 && strchr("0123456789.", base[length - 1]))
		length--;
	for (size_t i = 0; length > 0 && i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (nt_list_has(launchers[i].names, ' ', base, length))
			return launchers[i].kind;
	return NOTHING;
}

static bool is_assignment(const char *word)
{
	static const char name[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
	const size_t length = strspn(word, name);

	return length > 0 && word[length] == '=';
}

/* A list of processors, a priority, a time; or an option whose launcher was left behind */
static bool is_value(const char *word)
{
	const size_t length = strspn(word, "0123456789,.:-");

	return *word == '-' || strncmp(word, "0x", 2) == 0 ||
	       (length > 0 && strlen(word + strspn(word + length, "smhd") + length) == 0);
}

static bool is_idle(const char *word, const struct walk *w)
{
	return w->depth > 0 && in_list(idle, word);
}

static void step(struct walk *w, int words)
{
	if (words > w->left)
		words = w->left;
	w->word += words;
	w->left -= words;
}

/* With the words that it takes: those that do not look like what runs. */
static int option_words(const struct walk *w)
{
	const char *word = w->word[0], *next = w->left > 1 ? w->word[1] : "-";

	if (strchr(word, '=') || strcmp(word, "--") == 0 || *next == '-' ||
	    nt_ends_with(next, ".py") || strncmp(next, "./", 2) == 0 || kind_of(next) != NOTHING)
		return 1;
	if (w->kind == PYTHON && word[1] != '-' && word[1] != 'W' && word[1] != 'X')
		return 1;
	return in_list(two_words, word) ? 3 : 2;
}

static bool is_module_option(const struct walk *w)
{
	const char *word = *w->word;

	return (w->kind == MODULES || w->kind == RANKS || w->kind == PYTHON) &&
	       (strcmp(word, "--module") == 0 || (word[1] != '-' && nt_ends_with(word, "m")));
}

/* Python's own text, or standard input */
static bool is_text_option(const struct walk *w)
{
	const char *word = *w->word;

	return w->kind == PYTHON && word[1] != '-' && (!word[1] || nt_ends_with(word, "c"));
}

/* A word that says what runs. Not: a whole command, an address, what a shell would replace. */
static struct name name_of(const char *word, const struct walk *w)
{
	const char *base = base_of(word);
	const size_t length = strlen(base);
	struct name name = { .weight = NONE };

	if (length == 0 || strpbrk(word, " \t\r\n") || strstr(word, "://") ||
	    strpbrk(base, "$`\"'*?=:;|&<>(){}[]!\\@") || is_value(base) || is_idle(word, w))
		return name;
	snprintf(name.text, sizeof(name.text), "%s",
		 base + (length < sizeof(name.text) ? 0 : length - sizeof(name.text) + 1));
	for (char *c = name.text; *c; c++)
		if (!strchr(NT_PLAIN_WORD, *c))
			*c = '_';
	if (w->ranks)
		name.weight = STARTS_RANKS;
	else if (base != word || w->kind == PYTHON || w->kind == SHELL || nt_ends_with(base, ".py"))
		name.weight = SCRIPT;
	else
		name.weight = BARE;
	return name;
}

/* What a wrapper that is not known here starts: the first such word among its arguments */
static struct name search(const struct walk *w)
{
	for (int i = 1; i < w->left && w->depth < DEPTH_MAX; i++) {
		if (nt_ends_with(w->word[i], ".py"))
			return name_of(w->word[i], w);
		if (kind_of(w->word[i]) > PLAIN)
			return find(w->word + i, w->left - i, w->depth + 1);
	}
	return (struct name){ .weight = NONE };
}

static struct name find_program(const struct walk *w)
{
	struct name own = name_of(*w->word, w), behind = { .weight = NONE };

	if (is_idle(*w->word, w))
		return own;
	if (w->kind != PYTHON && !nt_ends_with(*w->word, ".py"))
		behind = search(w);
	return behind.weight != NONE ? behind : own;
}

/* The words of a text's next command, without quotes; -1 at its end. Redirections are left out.
 * buffer is as long as the text, and is used up. */
static int next_command(const char **text, char **buffer, char *words[], int max)
{
	static const char blanks[] = " \t\r'\"\\", ends[] = "\n;&|()`",
			  all[] = " \t\r'\"\\\n;&|()`<>";
	const char *at = *text;
	int count = 0;

	if (!*at)
		return -1;
	for (;;) {
		size_t length;

		at += strspn(at, blanks);
		if (*at == '#')
			at += strcspn(at, "\n");
		if (!*at || (strchr(ends, *at) && at[-(at > *text)] != '\\'))
			break;
		if (*at == '<' || *at == '>') {
			at += strspn(at, "<>&|- ");
			at += strcspn(at, all);
			continue;
		}
		length = strcspn(at, all);
		if (length > 0 && count < max) {
			words[count++] = memcpy(*buffer, at, length);
			(*buffer)[length] = '\0';
			*buffer += length + 1;
		}
		at += length > 0 ? length : 1;
	}
	*text = at + (*at != '\0');
	return count;
}

static struct name find_in_text(const char *text, int depth)
{
	struct name best = { .weight = NONE };
	char *buffer = depth < DEPTH_MAX ? malloc(strlen(text) + 2) : NULL, *to = buffer;
	char *words[WORDS_MAX];
	int count;

	while (buffer && (count = next_command(&text, &to, words, WORDS_MAX)) >= 0) {
		const struct name name = find(words, count, depth + 1);

		/* It begins with an option where another command's output was put in. */
		if (count > 0 && *words[0] == '-' && name.weight == BARE)
			continue;
		if (name.weight != NONE && name.weight >= best.weight)
			best = name;
	}
	free(buffer);
	return best;
}

/* -c may be among others: -lc */
static struct name find_in_shell(struct walk *w)
{
	struct name name = { .weight = NONE };
	bool text = false;

	while (w->left > 0 && (**w->word == '-' || **w->word == '+')) {
		const char *word = *w->word;
		const bool cluster = *word == '-' && word[1] && word[1] != '-';

		text |= cluster && strchr(word, 'c');
		step(w, nt_ends_with(word, "o") || nt_ends_with(word, "file") ? 2 : 1);
	}
	if (w->left == 0)
		return name;
	if (!text)
		return find_program(w);
	name = find_in_text(*w->word, w->depth);
	/* The text may be "$@", with $0 before it. */
	if (name.weight == NONE && w->left > 2 && w->depth < DEPTH_MAX)
		name = find(w->word + 2, w->left - 2, w->depth + 1);
	return name;
}

static void pass(struct walk *w, enum kind kind)
{
	step(w, 1);
	w->kind = kind;
	w->ranks |= kind == RANKS;
	w->module = false;
	if (w->left > 0 && kind != PYTHON && in_list(verbs, *w->word))
		step(w, 1);
}

static struct name find(char *const words[], int count, int depth)
{
	struct walk w = { .word = words, .left = count, .depth = depth };

	while (w.left > 0) {
		const char *word = *w.word;
		const enum kind kind = kind_of(word);

		if (kind == SHELL) {
			step(&w, 1);
			w.kind = SHELL;
			return find_in_shell(&w);
		}
		if (kind != NOTHING) {
			pass(&w, kind);
		} else if (*word == '-' && is_text_option(&w)) {
			break;
		} else if (*word == '-') {
			const bool module = is_module_option(&w);

			step(&w, module || w.kind == NOTHING ? 1 : option_words(&w));
			w.module |= module;
		} else if (w.module) {
			w.kind = PYTHON;
			return name_of(word, &w);
		} else if (is_assignment(word) || is_value(word)) {
			step(&w, 1);
		} else {
			return find_program(&w);
		}
	}
	return (struct name){ .weight = NONE };
}

char *nt_program_name(int count, char *const words[], char *out, size_t out_bytes)
{
	const struct name name = find(words, count < WORDS_MAX ? count : WORDS_MAX, 0);

	snprintf(out, out_bytes, "%s", name.text);
	return out;
}

bool nt_program_valid(const char *name, size_t size)
{
	const size_t length = strlen(name);

	return length > 0 && length < size && strspn(name, NT_PLAIN_WORD) == length;
}
