/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Read the site's file and a user's. */
#include "site/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/file.h"

int nt_conf_read(struct nt_conf *conf, const char *path, bool must, struct nt_error *err)
{
	char *text;
	size_t bytes;
	int rc;

	nt_conf_init(conf);
	snprintf(conf->path, sizeof(conf->path), "%s", path);
	errno = 0;
	if (nt_file_read_at(AT_FDCWD, path, NT_FILE_ROOT_ONLY | NT_FILE_NO_LINK, NT_INI_FILE_MAX,
			    &text, &bytes, err) < 0)
		return errno == ENOENT && !must ? 0 : -1;
	rc = nt_conf_parse(conf, path, text, bytes, err);
	free(text);
	return rc;
}

struct user_reader {
	struct nt_policy *policy;
	uint64_t *given;
};

static int take(void *context, unsigned line, const char *section, const char *key,
		const char *value, struct nt_error *err)
{
	struct user_reader *r = context;
	int i = key ? nt_setting_find(key, strlen(key)) : -1;

	(void)line;
	if (!key)
		return nt_error_set(err, "section [%.48s] (want settings alone)", section);
	if (i < 0)
		return nt_setting_unknown(key, err);
	if (*r->given >> i & 1)
		return nt_error_set(err, "%s is given twice", key);
	*r->given |= UINT64_C(1) << i;
	return nt_setting_parse(r->policy, (unsigned)i, value, err);
}

int nt_conf_parse_user(struct nt_policy *policy, uint64_t *given, const char *name,
		       const char *text, size_t bytes, struct nt_error *err)
{
	struct user_reader r = { policy, given };

	*given = 0;
	for (unsigned i = 0; i < NT_SETTING_COUNT; i++)
		nt_setting_default(policy, i);
	return nt_ini_read(name, text, bytes, take, &r, err);
}

/* false: its place is unknown. */
static bool find_user_file(char path[NT_PATH_MAX])
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	bool own = config && config[0] == '/';
	int length = 0;

	if (own || (home && home[0] == '/'))
		length = snprintf(path, NT_PATH_MAX, "%s%s/nccl-tune.conf", own ? config : home,
				  own ? "" : "/.config");
	return length > 0 && length < NT_PATH_MAX;
}

int nt_conf_user_text(char out[NT_POLICY_MAX], struct nt_error *err)
{
	char path[NT_PATH_MAX];
	struct nt_policy policy;
	uint64_t given;
	char *text;
	size_t bytes;
	int rc;

	out[0] = '\0';
	if (!find_user_file(path))
		return 0;
	if (nt_file_read_at(AT_FDCWD, path, 0, NT_INI_FILE_MAX, &text, &bytes, err) < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -1;
	rc = nt_conf_parse_user(&policy, &given, path, text, bytes, err);
	free(text);
	if (rc == 0)
		rc = nt_policy_format_pairs(&policy, given, out, NT_POLICY_MAX, err);
	if (rc < 0)
		out[0] = '\0';
	return rc;
}
