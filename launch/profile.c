/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/profile.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/append.h"

void nt_profiles_init(struct nt_profiles *profiles)
{
	memset(profiles, 0, sizeof(*profiles));
}

bool nt_profile_fits(const struct nt_profile *profile, enum nt_fabric fabric)
{
	return !profile->disabled &&
	       (profile->fabric == NT_FABRIC_ANY || profile->fabric == fabric);
}

bool nt_profile_name_valid(const char *name)
{
	size_t length = strlen(name);

	if (length == 0 || length >= NT_PROFILE_NAME || name[0] == '-')
		return false;
	return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

const struct nt_profile *nt_profiles_find(const struct nt_profiles *profiles, const char *name)
{
	for (unsigned i = 0; i < profiles->count; i++)
		if (strcmp(profiles->profile[i].name, name) == 0)
			return profiles->profile[i].disabled ? NULL : &profiles->profile[i];
	return NULL;
}

/* "default a b": whole names, and "and 3 more" if there is no room for all. */
static void list_names(const struct nt_profiles *profiles, char *out, size_t out_bytes)
{
	unsigned more = 0;

	snprintf(out, out_bytes, NT_PROFILE_DEFAULT);
	for (unsigned i = 0; i < profiles->count; i++) {
		const char *name = profiles->profile[i].name;

		if (profiles->profile[i].disabled)
			continue;
		if (more > 0 ||
		    strlen(out) + 1 + strlen(name) + sizeof(" and 100 more") > out_bytes)
			more++;
		else
			nt_append(out, out_bytes, " %s", name);
	}
	if (more > 0)
		nt_append(out, out_bytes, " and %u more", more);
}

const struct nt_profile *nt_profiles_want(const struct nt_profiles *profiles, const char *name,
					  struct nt_error *err)
{
	const struct nt_profile *found = nt_profiles_find(profiles, name);
	char names[120];

	if (found != NULL)
		return found;
	list_names(profiles, names, sizeof(names));
	nt_error_set(err, "no launch profile '%.40s' (there are: %s)", name, names);
	return NULL;
}

/* The variable itself or the first of its others that is set; NULL if none is. The result points
 * into constants of the allow-list. */
static const char *found_set(const struct nt_variable *variable, nt_is_set *is_set, void *context)
{
	const char *next = variable->others;
	char name[40];

	if (is_set(variable->name, context))
		return variable->name;
	while (next[0] != '\0') {
		size_t length = strcspn(next, " ");

		if (length < sizeof(name)) {
			memcpy(name, next, length);
			name[length] = '\0';
			if (is_set(name, context))
				return next;
		}
		next += length + (next[length] == ' ');
	}
	return NULL;
}

void nt_profile_resolve(const struct nt_profile *profile, nt_is_set *is_set, void *context,
			struct nt_resolved *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++) {
		if (!profile->settings.set[i])
			continue;
		out->because[i] = found_set(nt_variable_get(i), is_set, context);
		out->apply.set[i] = out->because[i] == NULL;
		if (out->apply.set[i])
			out->apply.value[i] = profile->settings.value[i];
	}
}

/* Is there an active port of InfiniBand or RoCE that NCCL may use? */
static bool has_active_port(void)
{
	const char *off = getenv("NCCL_IB_DISABLE"), *net = getenv("NCCL_NET");
	bool found = false;
	glob_t ports;

	if ((off && strcmp(off, "0") != 0) || (net && strcmp(net, "Socket") == 0))
		return false;
	if (glob("/sys/class/infiniband/*/ports/*/state", 0, NULL, &ports) != 0)
		return false;
	for (size_t i = 0; i < ports.gl_pathc; i++) {
		char line[32] = "";
		FILE *state = fopen(ports.gl_pathv[i], "re");

		if (state && fgets(line, sizeof(line), state))
			found = found || strstr(line, "ACTIVE") != NULL;
		if (state)
			fclose(state);
	}
	globfree(&ports);
	return found;
}

enum nt_fabric nt_profiles_guess_fabric(void)
{
	return has_active_port() ? NT_FABRIC_IB : NT_FABRIC_SOCKET;
}
