/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c - files of launch profiles, NCCL's own configuration files, and the user's environment
 *
 * Input: a byte that says which, then the text: of the files, or a variable a line.
 */
#include <string.h>
#include "launch/user-env.h"
#include "launch/profile.h"
#include "tests/fuzz/fuzz.h"

static bool is_set(const char *name, void *context)
{
	return nt_user_env_has(context, name);
}

static void check_profile(const struct nt_profiles *profiles, const struct nt_profile *profile,
			  struct nt_user_env *own)
{
	struct nt_resolved resolved;
	char text[512];

	FUZZ_CHECK(nt_profile_name_valid(profile->name));
	FUZZ_CHECK(strcmp(profile->name, NT_PROFILE_DEFAULT) != 0);
	FUZZ_CHECK(profile->disabled || nt_settings_check(&profile->settings, NULL) == 0);
	FUZZ_CHECK(nt_profiles_find(profiles, profile->name) ==
		   (profile->disabled ? NULL : profile));
	nt_profile_resolve(profile, is_set, own, &resolved);
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++) {
		const struct nt_variable *variable = nt_variable_get(i);

		FUZZ_CHECK(!resolved.apply.set[i] || profile->settings.set[i]);
		FUZZ_CHECK(!resolved.apply.set[i] || !nt_user_env_has(own, variable->name));
		FUZZ_CHECK(!resolved.apply.set[i] ||
			   (resolved.apply.value[i] >= variable->least &&
			    resolved.apply.value[i] <= variable->largest));
	}
	(void)nt_settings_text(&resolved.apply, text, sizeof(text));
	fuzz_check_plain(text, strlen(text));
}

static void check_profiles(const char *text, size_t bytes)
{
	static struct nt_profiles profiles;
	struct nt_error err = { "" };
	struct nt_user_env own;

	nt_user_env_init(&own);
	own.count = 1;
	snprintf(own.variable[0].name, sizeof(own.variable[0].name), "NCCL_NSOCKS_PERTHREAD");
	nt_profiles_init(&profiles);
	if (nt_profiles_parse(&profiles, "file", text, bytes, &err) == 0) {
		FUZZ_CHECK(profiles.count <= NT_PROFILES_MAX);
		for (unsigned i = 0; i < profiles.count; i++)
			check_profile(&profiles, &profiles.profile[i], &own);
		(void)nt_profiles_want(&profiles, "sockets-wide", &err);
	}
}

static void check_environment(struct fuzz *in)
{
	char *variables[NT_USER_ENV_MAX + 9];
	struct nt_user_env own;
	unsigned count = 0;

	while (count < NT_USER_ENV_MAX + 8 && (variables[count] = fuzz_part(in, '\n')) != NULL)
		count++;
	variables[count] = NULL;
	nt_user_env_init(&own);
	nt_user_env_environment(&own, variables, count ? variables[0] : NULL);
	FUZZ_CHECK(own.count <= NT_USER_ENV_MAX);
	(void)nt_user_env_hash(&own);
	while (count > 0)
		free(variables[--count]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data + 1, size ? size - 1 : 0 };
	struct nt_error err;
	struct nt_user_env own;
	char *text;

	if (size == 0)
		return 0;
	switch (data[0] % 3) {
	case 0:
		text = fuzz_text(in.at, in.left);
		check_profiles(text, in.left);
		free(text);
		break;
	case 1:
		nt_user_env_init(&own);
		(void)nt_user_env_file(&own, fuzz_file(in.at, in.left), 0, &err);
		FUZZ_CHECK(own.count <= NT_USER_ENV_MAX);
		(void)nt_user_env_hash(&own);
		break;
	default: check_environment(&in);
	}
	return 0;
}

FUZZ_TEXT_TARGET("[sockets-wide]\n", "[", "]", "summary = ", "fabric = socket", "fabric = ib",
		 "fabric = any", "measured = yes", "measured = no", "disabled = yes", "\n", " = ",
		 "#", "NCCL_SOCKET_NTHREADS = 2", "NCCL_NSOCKS_PERTHREAD = 4",
		 "NCCL_MIN_NCHANNELS = 8", "NCCL_MAX_NCHANNELS = 16", "NCCL_BUFFSIZE = 8M",
		 "NCCL_IB_QPS_PER_CONNECTION=4", "NCCL_IB_SPLIT_DATA_ON_QPS=1",
		 "NCCL_IB_AR_THRESHOLD=0", "NCCL_CROSS_NIC=2", "NCCL_NCHANNELS_PER_NET_PEER=4",
		 "NCCL_MIN_CTAS=1", "16K", "default")
