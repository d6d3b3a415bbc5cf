/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Read slurm.conf, plugstack.conf and what that includes. */
#include "site/plugstack.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define DEPTH_MAX 8 /* of includes */
#define FILES_MAX 256
#define SERVED "/run/slurm/conf/"

static void copy(char *out, size_t out_bytes, const char *text)
{
	snprintf(out, out_bytes, "%s", text);
}

/* ---- slurm.conf */

static void find_slurm_conf(struct nt_plugstack *stack)
{
	static const char *const paths[] = { "/etc/slurm/slurm.conf", SERVED "slurm.conf",
					     "/usr/local/etc/slurm.conf" };
	const char *own = getenv("SLURM_CONF");

	copy(stack->slurm_conf, sizeof(stack->slurm_conf), own && own[0] ? own : paths[0]);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]) && !(own && own[0]); i++) {
		if (access(paths[i], R_OK) != 0)
			continue;
		copy(stack->slurm_conf, sizeof(stack->slurm_conf), paths[i]);
		return;
	}
}

/* "Key=value ..." */
static void take_setting(struct nt_plugstack *stack, char *line, char parameters[1024])
{
	const struct {
		const char *key;
		char *out;
		size_t size;
	} wanted[] = {
		{ "PlugStackConfig=", stack->path, sizeof(stack->path) },
		{ "PluginDir=", stack->plugin_dirs, sizeof(stack->plugin_dirs) },
		{ "ClusterName=", stack->cluster, sizeof(stack->cluster) },
		{ "SlurmctldParameters=", parameters, 1024 },
	};

	line += strspn(line, " \t");
	line[strcspn(line, " \t\r\n#")] = '\0';
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const size_t bytes = strlen(wanted[i].key);

		if (strncasecmp(line, wanted[i].key, bytes) == 0 && line[bytes])
			copy(wanted[i].out, wanted[i].size, line + bytes);
	}
}

static void read_slurm_conf(struct nt_plugstack *stack)
{
	char line[1024], parameters[1024] = "", *slash;
	char beside[NT_PATH_MAX];
	FILE *file;

	find_slurm_conf(stack);
	copy(stack->plugin_dirs, sizeof(stack->plugin_dirs), NT_SLURM_PLUGIN_DIR);
	copy(stack->path, sizeof(stack->path), stack->slurm_conf);
	slash = strrchr(stack->path, '/');
	if (slash && (size_t)(slash - stack->path) + sizeof("/plugstack.conf") < NT_PATH_MAX)
		copy(slash, NT_PATH_MAX - (size_t)(slash - stack->path), "/plugstack.conf");
	copy(beside, sizeof(beside), stack->path);
	file = fopen(stack->slurm_conf, "re");
	while (file && fgets(line, sizeof(line), file))
		take_setting(stack, line, parameters);
	if (file)
		fclose(file);
	/* PlugStackConfig names a file of each host's own. */
	stack->served = strcmp(beside, stack->path) == 0 &&
			(strncmp(stack->slurm_conf, SERVED, strlen(SERVED)) == 0 ||
			 (!getenv("SLURM_CONF") && access(SERVED "slurm.conf", F_OK) == 0) ||
			 strcasestr(parameters, "enable_configless"));
}

/* ---- plugstack.conf */

static void resolve_plugin(const struct nt_plugstack *stack, const char *name,
			   char out[NT_PATH_MAX])
{
	const char *dirs = stack->plugin_dirs;

	copy(out, NT_PATH_MAX, name);
	while (name[0] != '/' && *dirs) {
		const size_t length = strcspn(dirs, ":");

		snprintf(out, NT_PATH_MAX, "%.*s/%s", (int)length, dirs, name);
		if (access(out, F_OK) == 0)
			return;
		dirs += length + (dirs[length] == ':');
	}
}

static void take_plugin(struct nt_plugstack *stack, const char *file, unsigned line, bool required,
			const char *name, char *arguments)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	struct nt_plugstack_line *out = &stack->tune;
	char *rest = NULL;
	unsigned others;

	if (strcmp(base, NT_PLUGSTACK_PLUGIN) != 0)
		return;
	others = out->found ? out->others + 1 : 0;
	memset(out, 0, sizeof(*out));
	out->found = true;
	out->others = others;
	out->required = required;
	out->line = line;
	copy(out->file, sizeof(out->file), file);
	copy(out->include, sizeof(out->include), stack->include);
	resolve_plugin(stack, name, out->plugin);
	copy(out->text, sizeof(out->text), arguments);
	for (char *word = strtok_r(out->text, " \t\r\n", &rest);
	     word && out->argc < NT_PLUGSTACK_WORDS; word = strtok_r(NULL, " \t\r\n", &rest))
		out->argv[out->argc++] = word;
}

static int read_file(struct nt_plugstack *stack, const char *path, unsigned depth,
		     struct nt_error *err);

static int include(struct nt_plugstack *stack, const char *from, const char *pattern,
		   unsigned depth, struct nt_error *err)
{
	char path[2 * NT_PATH_MAX];
	const char *slash = strrchr(from, '/');
	glob_t found;
	int rc = 0;

	if (depth == 0)
		copy(stack->include, sizeof(stack->include), pattern);
	snprintf(path, sizeof(path), "%.*s%s",
		 pattern[0] == '/' || !slash ? 0 : (int)(slash - from) + 1, from, pattern);
	if (glob(path, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc && rc == 0; i++)
			rc = read_file(stack, found.gl_pathv[i], depth + 1, err);
		globfree(&found);
	}
	if (depth == 0)
		stack->include[0] = '\0';
	return rc;
}

static int take_line(struct nt_plugstack *stack, const char *file, unsigned number, char *line,
		     unsigned depth, struct nt_error *err)
{
	char *rest = NULL, *word, *name;

	line[strcspn(line, "#\r\n")] = '\0';
	word = strtok_r(line, " \t", &rest);
	name = word ? strtok_r(NULL, " \t", &rest) : NULL;
	if (!name)
		return 0;
	if (strcasecmp(word, "include") == 0)
		return include(stack, file, name, depth, err);
	if (strcasecmp(word, "optional") == 0 || strcasecmp(word, "required") == 0)
		take_plugin(stack, file, number, tolower((unsigned char)word[0]) == 'r', name,
			    rest ? rest : line + strlen(line));
	return 0;
}

static int read_file(struct nt_plugstack *stack, const char *path, unsigned depth,
		     struct nt_error *err)
{
	char line[2048];
	unsigned number = 0;
	FILE *file;
	int rc = 0;

	if (depth > DEPTH_MAX || stack->files++ > FILES_MAX)
		return nt_error_set(err, "%.150s: includes too many files", path);
	file = fopen(path, "re");
	if (!file)
		return nt_error_set(err, "%.150s: %s", path, strerror(errno));
	while (rc == 0 && fgets(line, sizeof(line), file))
		rc = take_line(stack, path, ++number, line, depth, err);
	fclose(file);
	return rc;
}

int nt_plugstack_read(struct nt_plugstack *stack, const char *path, struct nt_error *err)
{
	memset(stack, 0, sizeof(*stack));
	read_slurm_conf(stack);
	if (path)
		copy(stack->path, sizeof(stack->path), path);
	return read_file(stack, stack->path, 0, err);
}
