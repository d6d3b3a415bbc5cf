/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "profiles/shell-words.h"

#define DEPTH_MAX 4 /* texts and wrappers within each other */
#define WORDS_MAX 256 /* of a command that are looked at */

enum kind {
	PLAIN, /* a command follows */
	MODULES, /* or -m and a module */
	RANKS, /* likewise; it starts ranks */
	PYTHON, /* a script, -m and a module, or a text that names nothing */
	SHELL, /* a script, or -c and a text */
};

/* What starts another program */
struct launcher {
	const char *names; /* without the version at a name's end */
	enum kind kind;
	const char *verbs; /* one of them must follow; NULL: none */
	/* Options that take the next word, with a '+' two; behind a '*' those that take none. */
	const char *options;
	int skip; /* words before the command: a container's image */
};

static const struct launcher launchers[] = {
	{ "if elif while until then else do ! { env exec time command builtin nohup setsid eval",
	  PLAIN, NULL, "-a -f -o -u -C --format --output --unset --chdir", 0 },
	{ "nice ionice chrt taskset timeout stdbuf", PLAIN, NULL,
	  "-n -c -k -s -i -o -e --adjustment --class --classdata --cpu-list --kill-after --signal "
	  "--input --output --error",
	  0 },
	{ "numactl", PLAIN, NULL,
	  "-i -p -m -N -C -w --interleave --preferred --preferred-many --weighted-interleave "
	  "--membind --cpunodebind --physcpubind",
	  0 },
	{ "nsys", PLAIN, "profile launch", "*", 0 },
	{ "ncu", PLAIN, NULL, "*-f --force-overwrite --nvtx --call-stack --csv --quiet --verbose",
	  0 },
	{ "apptainer singularity", PLAIN, "exec run",
	  "-B -H -W -S -o --app --apply-cgroups --bind --config --cwd --env --env-file --home "
	  "--hostname --mount --network --overlay --pwd --scratch --security --workdir",
	  1 },
	{ "docker podman podman-hpc", PLAIN, "run exec",
	  "*-d -i -t -it -ti --detach --init --interactive --privileged --read-only --rm --tty",
	  1 },
	{ "enroot", PLAIN, "start", "-c -e -m --conf --env --mount --rc", 1 },
	{ "shifter", PLAIN, NULL, "-e -i -m -V -w --env --image --module --volume --workdir", 0 },
	{ "conda mamba micromamba pixi poetry pipenv pdm", PLAIN, "run",
	  "-n -p -e --cwd --name --prefix --environment --manifest-path --project --directory", 0 },
	{ "uv", MODULES, "run",
	  "-p --directory --env-file --extra --group --index --index-url --only-group --package "
	  "--project --python --with --with-editable --with-requirements",
	  0 },
	{ "mpirun mpiexec mpiexec.hydra orterun prterun horovodrun", RANKS, NULL,
	  "-np -n -c -x -H -N -f -host --host -hosts -hostfile --hostfile -machinefile "
	  "--machinefile -ppn -npernode --npernode -map-by --map-by -bind-to --bind-to -rank-by "
	  "--rank-by -rf --rankfile -wdir --wdir --prefix -bootstrap -launcher -iface -mca+ --mca+ "
	  "-gmca+ --gmca+ --prtemca+ -env+ -genv+",
	  0 },
	{ "torchrun torch.distributed.run torch.distributed.launch", RANKS, NULL,
	  "*--standalone --no-python --no_python --run-path --run_path --use-env --use_env "
	  "--virtual-local-rank --virtual_local_rank",
	  0 },
	{ "accelerate", RANKS, "launch",
	  "*-q --quiet --cpu --multi_gpu --tpu --ipex --use_xpu --use_mps_device --use_deepspeed "
	  "--use_fsdp --use_megatron_lm --use_parallelism_config --debug --same_network "
	  "--no_python --downcast_bf16 --enable_cpu_affinity --tpu_use_cluster --tpu_use_sudo",
	  0 },
	{ "accelerate-launch accelerate.commands.launch", RANKS, NULL,
	  "*-q --quiet --cpu --multi_gpu --use_deepspeed --use_fsdp --use_megatron_lm --debug "
	  "--same_network --no_python",
	  0 },
	{ "deepspeed deepspeed.launcher.runner", RANKS, NULL,
	  "*--no_python --no_local_rank --no_ssh --no_ssh_check --force_multi --save_pid "
	  "--bind_cores_to_rank --elastic_training",
	  0 },
	{ "lightning fabric", RANKS, "run", "*", 0 },
	{ "tune", RANKS, "run", "*--standalone --no-python", 0 },
	{ "python pypy ipython", PYTHON, NULL, "-W -X --check-hash-based-pycs", 0 },
	{ "cProfile pdb debugpy kernprof", MODULES, NULL, "-o -s -c --listen", 0 },
	{ "julia Rscript perl node", PYTHON, NULL, "-t -p -L -J --threads --procs --sysimage", 0 },
	{ "bash sh dash zsh ksh ash fish", SHELL, NULL, "-o -O +o +O --rcfile --init-file", 0 },
};

/* What a text only prepares with, prints or copies */
static const char idle[] =
	". [ [[ ] ]] } : alias awk basename break builtin case cat cd chmod chown clear continue cp "
	"curl date declare df dirname done dirs disown du echo egrep esac exit export false fi "
	"find for free function getopts git grep gunzip gzip head hash history hostname "
	"huggingface-cli id install jobs kill let ln local ls lscpu lspci make mapfile mkdir mktemp "
	"ml module mount mv nproc nvcc nvidia-smi pip popd printenv printf ps pushd pwd read "
	"readarray readonly realpath return rm rmdir rocm-smi rsync scontrol sed select set shift "
	"shopt sleep sort source squeue stat sync tail tar tee test touch tr trap true tty type "
	"typeset ulimit umask unalias uname unset unzip venv wait wandb wc wget whereis which who "
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
};

static struct name find(char *const words[], int count, int depth);

static bool ends_with(const char *word, const char *suffix)
{
	const size_t length = strlen(word), tail = strlen(suffix);

	return length > tail && strcmp(word + length - tail, suffix) == 0;
}

static const char *base_of(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash ? slash + 1 : word;
}

/* The words that follow an option of this list; -1: it is not there. */
static int follow(const char *list, const char *word, size_t length)
{
	for (const char *at = list; *at; at += strspn(at, " *")) {
		const size_t item = strcspn(at, " *+");

		if (item > 0 && item == length && strncmp(at, word, length) == 0)
			return at[item] == '+' ? 2 : 1;
		at += strcspn(at, " *");
	}
	return -1;
}

static bool in_list(const char *list, const char *word)
{
	return follow(list, word, strlen(word)) > 0;
}

static const struct launcher *launcher_of(const char *word)
{
	const char *base = base_of(word);
	size_t length = strlen(base);

	while (length > 0 && strchr("0123456789.", base[length - 1]))
		length--;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (follow(launchers[i].names, base, length) > 0)
			return &launchers[i];
	return NULL;
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

static int option_words(const struct launcher *launcher, const struct walk *w)
{
	const char *word = w->word[0], *next = w->left > 1 ? w->word[1] : "-";
	const int listed = follow(launcher->options, word, strlen(word));

	if (strchr(word, '='))
		return 1;
	if (*launcher->options != '*')
		return listed > 0 ? 1 + listed : 1;
	/* An option that is new here may take no word. */
	return listed > 0 || *next == '-' || ends_with(next, ".py") ? 1 : 2;
}

static bool is_module_option(const struct launcher *launcher, const char *word)
{
	return launcher->kind != PLAIN &&
	       (strcmp(word, "--module") == 0 || (word[1] != '-' && ends_with(word, "m")));
}

/* Up to the next word that is no option; false: it is a module. */
static bool skip_options(struct walk *w, const struct launcher *launcher)
{
	bool module = false;

	while (w->left > 0 && **w->word == '-') {
		const char *word = *w->word;

		if (is_module_option(launcher, word)) {
			module = true;
			step(w, 1);
			/* What starts ranks may have more options of its own. */
			if (launcher->kind != RANKS)
				break;
			continue;
		}
		if (launcher->kind == PYTHON && word[1] != '-' &&
		    (!word[1] || ends_with(word, "c"))) {
			step(w, w->left);
			break;
		}
		step(w, option_words(launcher, w));
		if (strcmp(word, "--") == 0)
			break;
	}
	return !module;
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
	else if (base != word || w->kind == PYTHON || w->kind == SHELL || ends_with(base, ".py"))
		name.weight = SCRIPT;
	else
		name.weight = BARE;
	return name;
}

/* What a wrapper that is not known here starts: the first such word among its arguments */
static struct name search(const struct walk *w)
{
	for (int i = 1; i < w->left && w->depth < DEPTH_MAX; i++) {
		const struct launcher *launcher = launcher_of(w->word[i]);

		if (ends_with(w->word[i], ".py"))
			return name_of(w->word[i], w);
		if (launcher && launcher->kind != PLAIN)
			return find(w->word + i, w->left - i, w->depth + 1);
	}
	return (struct name){ .weight = NONE };
}

static struct name find_program(const struct walk *w)
{
	struct name own = name_of(*w->word, w), behind = { .weight = NONE };

	if (is_idle(*w->word, w))
		return own;
	if (w->kind != PYTHON && !ends_with(*w->word, ".py"))
		behind = search(w);
	return behind.weight != NONE ? behind : own;
}

/* $(which PROGRAM) and the like in the text's own words */
static void take_which(char **word)
{
	static const char *const starts[] = { "$(which ", "`which ", "$(command -v " };
	char *last = strrchr(*word, ' ');

	for (size_t i = 0; last && i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (strncmp(*word, starts[i], strlen(starts[i])) != 0)
			continue;
		*word = last + 1;
		(*word)[strcspn(*word, ")`")] = '\0';
		return;
	}
}

static struct name find_in_text(const char *text, int depth)
{
	struct name best = { .weight = NONE };
	char *room = depth < DEPTH_MAX ? malloc(strlen(text) + 2) : NULL;
	char *words[WORDS_MAX];
	int count;

	while (room && (count = nt_shell_words(&text, room, words, WORDS_MAX)) >= 0) {
		struct name name;

		for (int i = 0; i < count; i++)
			take_which(&words[i]);
		name = find(words, count, depth + 1);
		if (name.weight != NONE && name.weight >= best.weight)
			best = name;
	}
	free(room);
	return best;
}

/* -c may be among others: -lc */
static struct name find_in_shell(struct walk *w, const struct launcher *launcher)
{
	struct name name = { .weight = NONE };
	bool text = false;

	while (w->left > 0 && (**w->word == '-' || **w->word == '+')) {
		const char *word = *w->word;
		const bool cluster = *word == '-' && word[1] && word[1] != '-';

		text |= cluster && strchr(word, 'c');
		step(w, cluster && ends_with(word, "o") ? 2 : option_words(launcher, w));
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

/* False: the module is the next word. */
static bool pass(struct walk *w, const struct launcher *launcher)
{
	step(w, 1);
	w->kind = launcher->kind;
	w->ranks |= launcher->kind == RANKS;
	if (launcher->verbs) {
		(void)skip_options(w, launcher);
		if (w->left == 0 || !in_list(launcher->verbs, *w->word)) {
			w->left = 0;
			return true;
		}
		step(w, 1);
	}
	if (!skip_options(w, launcher))
		return false;
	step(w, launcher->skip);
	return true;
}

static struct name find(char *const words[], int count, int depth)
{
	struct walk w = { .word = words, .left = count, .depth = depth };

	while (w.left > 0) {
		const struct launcher *launcher = launcher_of(*w.word);

		if (launcher && launcher->kind == SHELL) {
			step(&w, 1);
			w.kind = SHELL;
			return find_in_shell(&w, launcher);
		}
		if (launcher && !pass(&w, launcher) && w.left > 0 && !launcher_of(*w.word)) {
			w.kind = PYTHON;
			return name_of(*w.word, &w);
		}
		if (launcher)
			continue;
		if (!is_assignment(*w.word) && !is_value(*w.word))
			return find_program(&w);
		step(&w, 1);
	}
	return (struct name){ .weight = NONE };
}

char *nt_program_name(int count, char *const words[], char *out, size_t out_bytes)
{
	const struct name name = find(words, count < WORDS_MAX ? count : WORDS_MAX, 0);

	snprintf(out, out_bytes, "%s", name.text);
	return out;
}

bool nt_program_valid(const char *name, size_t room)
{
	const size_t length = strlen(name);

	return length > 0 && length < room && strspn(name, NT_PLAIN_WORD) == length;
}
