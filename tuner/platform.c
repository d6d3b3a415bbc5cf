/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* platform.c - see platform.h */
#include "tuner/platform.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LINE_MAX_BYTES 512

const struct nt_platform_paths nt_platform_paths = {
	.driver = "/proc/driver/nvidia/version",
	.ports = "/sys/class/infiniband",
	.devices = "/dev/infiniband",
	.maps = "/proc/self/maps",
};

/* Digits and single dots between them, one at least: the architecture before it begins with a
 * letter. */
static bool is_version(const char *word, size_t bytes)
{
	unsigned dots = 0;

	for (size_t i = 0; i < bytes; i++) {
		bool dot = word[i] == '.';

		if (!dot && (word[i] < '0' || word[i] > '9'))
			return false;
		if (dot && (i == 0 || i + 1 == bytes || word[i - 1] == '.'))
			return false;
		dots += dot;
	}
	return dots > 0;
}

void nt_driver_version(const char *text, char out[NT_DRIVER_MAX])
{
	const char *word = strstr(text, "NVRM version:");

	out[0] = '\0';
	while (word && *word && *word != '\n') {
		size_t bytes = strcspn(word, " \t\n");

		if (bytes < NT_DRIVER_MAX && is_version(word, bytes)) {
			memcpy(out, word, bytes);
			out[bytes] = '\0';
			return;
		}
		word += bytes;
		word += strspn(word, " \t");
	}
}

static bool is_set(const char *text)
{
	return text && *text;
}

const char *nt_fabric_told(const char *net, const char *plugin, const char *ib_disable)
{
	if (is_set(net) && strcasecmp(net, "Socket") == 0)
		return "socket";
	if (is_set(net) && strcasecmp(net, "IB") == 0)
		return "ib";
	if (is_set(net) || (is_set(plugin) && strcasecmp(plugin, "none") != 0))
		return "any";
	if (is_set(ib_disable) && strtol(ib_disable, NULL, 0) != 0)
		return "socket";
	return "";
}

const char *nt_fabric_seen(bool plugin, bool active_port, bool devices)
{
	if (plugin)
		return "any";
	return active_port && devices ? "ib" : "socket";
}

void nt_launch_name(const char *text, char out[NT_LAUNCH_NAME])
{
	size_t bytes = strcspn(text, " ");

	out[0] = '\0';
	if (bytes >= NT_LAUNCH_NAME ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") != bytes)
		return;
	memcpy(out, text, bytes);
	out[bytes] = '\0';
}

void nt_platform_ask(struct nt_platform *platform)
{
	const char *launch = getenv(NT_ENV_LAUNCH);

	memset(platform, 0, sizeof(*platform));
	snprintf(platform->fabric, sizeof(platform->fabric), "%s",
		 nt_fabric_told(getenv("NCCL_NET"), getenv("NCCL_NET_PLUGIN"),
				getenv("NCCL_IB_DISABLE")));
	if (launch)
		nt_launch_name(launch, platform->launch);
}

static void look_for_driver(const char *path, char out[NT_DRIVER_MAX])
{
	char line[LINE_MAX_BYTES];
	FILE *f = fopen(path, "re");

	if (!f)
		return;
	if (fgets(line, sizeof(line), f))
		nt_driver_version(line, out);
	fclose(f);
}

/* Some line of a file holds the text. */
static bool file_holds(const char *path, const char *text)
{
	char line[LINE_MAX_BYTES];
	FILE *f = fopen(path, "re");
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, text) != NULL;
	if (f)
		fclose(f);
	return found;
}

/* A look at one entry of a directory. */
typedef bool look(const char *directory, const char *name);

static bool any_entry(const char *directory, look *is_it)
{
	DIR *d = opendir(directory);
	const struct dirent *entry;
	bool found = false;

	while (d && !found && (entry = readdir(d)) != NULL)
		found = entry->d_name[0] != '.' && is_it(directory, entry->d_name);
	if (d)
		closedir(d);
	return found;
}

static bool is_active(const char *directory, const char *port)
{
	char path[2 * NT_PATH_MAX];
	int bytes = snprintf(path, sizeof(path), "%s/%s/state", directory, port);

	return bytes > 0 && (size_t)bytes < sizeof(path) && file_holds(path, "ACTIVE");
}

static bool has_active_port(const char *directory, const char *device)
{
	char path[2 * NT_PATH_MAX];
	int bytes = snprintf(path, sizeof(path), "%s/%s/ports", directory, device);

	return bytes > 0 && (size_t)bytes < sizeof(path) && any_entry(path, is_active);
}

static bool is_verbs(const char *directory, const char *name)
{
	(void)directory;
	return strncmp(name, "uverbs", strlen("uverbs")) == 0;
}

void nt_platform_look(struct nt_platform *platform, const struct nt_platform_paths *paths)
{
	look_for_driver(paths->driver, platform->driver);
	if (platform->fabric[0])
		return;
	snprintf(platform->fabric, sizeof(platform->fabric), "%s",
		 nt_fabric_seen(file_holds(paths->maps, "/libnccl-net"),
				any_entry(paths->ports, has_active_port),
				any_entry(paths->devices, is_verbs)));
}
