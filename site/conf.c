/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Parse the administrator's file. */
#include "site/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/finding.h"
#include "lib/append.h"
#include "lib/file.h"
#include "lib/number.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define BLANKS " \t,+"

/* The keys that are not settings: a limit each, another way to say NT_LIMIT_LOCKED, and those that
 * only [site] has. */
enum {
	KEY_KEYS = NT_LIMITS,
	KEY_SITE,
	KEY_PMIX = KEY_SITE,
	KEY_RECORD,
	KEY_RECORD_DIR,
	KEY_RECORD_MAX,
	KEY_MEMORY_MAX,
	KEY_PLUGIN,
	KEY_RECORDD,
	KEY_RUNDIR,
	KEY_SPOOLDIR,
	KEY_PROFILES,
	KEY_SITE_MEMORY,
	KEY_FINDINGS,
	KEYS
};

struct conf_reader {
	struct nt_conf *conf;
	struct nt_conf_section *open; /* NULL: before the first section */
	bool seen_site;
	uint16_t line[KEYS]; /* of a key in this section; 0: not there yet */
};

/* ---- words of a value */

/* false: there is no other word. */
static bool next_word(const char **text, char *word, size_t word_bytes)
{
	size_t length;

	*text += strspn(*text, BLANKS);
	length = strcspn(*text, BLANKS);
	if (length == 0)
		return false;
	snprintf(word, word_bytes, "%.*s", (int)length, *text);
	*text += length;
	return true;
}

static int parse_modes(uint64_t *modes, const char *value, struct nt_error *err)
{
	char word[NT_INI_NAME_MAX];

	*modes = 1u << NT_MODE_OFF;
	while (next_word(&value, word, sizeof(word))) {
		int mode = nt_mode_parse(word, strlen(word));

		if (mode < 0)
			return nt_error_set(err,
					    "'%.60s' (want off, observe, bandit, policy and "
					    "profile, joined by +)",
					    word);
		*modes |= UINT64_C(1) << mode;
	}
	return 0;
}

const char *nt_conf_modes_text(uint64_t modes, const char *separator, char out[NT_CONF_MODES_TEXT])
{
	out[0] = '\0';
	for (int mode = NT_MODE_OFF; mode <= NT_MODE_PROFILE; mode++)
		if (modes >> mode & 1)
			nt_append(out, NT_CONF_MODES_TEXT, "%s%s", out[0] ? separator : "",
				  nt_mode_name(mode));
	return out;
}

static int parse_whole(uint32_t *out, const char *value, uint32_t least, uint32_t most,
		       struct nt_error *err)
{
	uint64_t number;

	if (nt_number_parse(value, least, most, &number) < 0)
		return nt_error_set(err, "'%.40s' (want %u to %u)", value, least, most);
	*out = (uint32_t)number;
	return 0;
}

static int parse_pmix(bool *pmix, const char *value, struct nt_error *err)
{
	*pmix = strcmp(value, "default") == 0;
	if (*pmix || strcmp(value, "ask") == 0)
		return 0;
	return nt_error_set(err, "'%.60s' (want default or ask)", value);
}

/* Settings by name; "all" is all of them. */
static int parse_settings(uint64_t *mask, const char *value, struct nt_error *err)
{
	char word[NT_INI_NAME_MAX];

	if (strcmp(value, "all") == 0) {
		*mask = (UINT64_C(1) << NT_SETTING_COUNT) - 1;
		return 0;
	}
	*mask = 0;
	while (next_word(&value, word, sizeof(word))) {
		const int i = nt_setting_find(word, strlen(word));

		if (i < 0)
			return nt_setting_unknown(word, err);
		*mask |= UINT64_C(1) << i;
	}
	return *mask != 0 ? 0 : nt_error_set(err, "no setting (want some, or all)");
}

/* ---- limits */

static int take_tuning(struct conf_reader *r, unsigned limit, const char *value,
		       struct nt_error *err)
{
	const bool off = strcmp(value, "off") == 0;

	r->open->limit[limit] = off;
	if (off || strcmp(value, "on") == 0)
		return 0;
	return nt_error_set(err, "'%.60s' (want on or off)", value);
}

static int take_modes(struct conf_reader *r, unsigned limit, const char *value,
		      struct nt_error *err)
{
	return parse_modes(&r->open->limit[limit], value, err);
}

static int take_lock(struct conf_reader *r, unsigned limit, const char *value, struct nt_error *err)
{
	uint64_t mask;

	if (parse_settings(&mask, value, err) < 0)
		return -1;
	r->open->limit[limit] |= mask;
	return 0;
}

/* The settings that users may change; all others are locked, except the mode, which "lock" and
 * "modes" restrict. */
static int take_keys(struct conf_reader *r, unsigned key, const char *value, struct nt_error *err)
{
	uint64_t allowed = 0;

	(void)key;
	if (strcmp(value, "none") != 0 && parse_settings(&allowed, value, err) < 0)
		return -1;
	r->open->limit[NT_LIMIT_LOCKED] |= ((UINT64_C(1) << NT_SETTING_COUNT) - 2) & ~allowed;
	return 0;
}

/* A set of algorithms or protocols, or ll128: both the default and the limit. */
static int take_default(struct conf_reader *r, unsigned limit, const char *value,
			struct nt_error *err)
{
	const unsigned i = nt_limit_setting((enum nt_limit)limit);
	char joined[NT_SETTING_TEXT] = "", word[NT_INI_NAME_MAX];

	while (next_word(&value, word, sizeof(word)))
		nt_append(joined, sizeof(joined), "%s%s", joined[0] ? "+" : "", word);
	if (nt_setting_parse(&r->open->policy, i, joined, err) < 0)
		return -1;
	r->open->limit[limit] = (uint64_t)nt_setting_number(&r->open->policy, i);
	return 0;
}

/* A cap is a value of the setting that it bounds, but not 0, which means no limit there. */
static int take_cap(struct conf_reader *r, unsigned limit, const char *value, struct nt_error *err)
{
	const unsigned i = nt_limit_setting((enum nt_limit)limit);
	struct nt_policy policy;
	char domain[NT_SETTING_DOMAIN];

	nt_setting_default(&policy, i);
	if (nt_setting_parse(&policy, i, value, NULL) == 0 && nt_setting_number(&policy, i) > 0) {
		r->open->limit[limit] = (uint64_t)nt_setting_number(&policy, i);
		return 0;
	}
	return nt_error_set(err, "'%.40s' (want %s but not 0, which means no limit)", value,
			    nt_setting_domain(i, domain));
}

/* A number of seconds, 0 included; auto would be no limit. */
static int take_calibrate(struct conf_reader *r, unsigned limit, const char *value,
			  struct nt_error *err)
{
	const bool is_number = value[0] >= '0' && value[0] <= '9';
	const unsigned i = nt_limit_setting((enum nt_limit)limit);
	struct nt_policy policy;

	nt_setting_default(&policy, i);
	if (!is_number || nt_setting_parse(&policy, i, value, NULL) < 0)
		return nt_error_set(err, "'%.40s' (want 0 to %d seconds)", value,
				    NT_CALIBRATE_MAX_S);
	r->open->limit[limit] = (uint64_t)nt_setting_number(&policy, i);
	return 0;
}

static int parse_findings(uint32_t *codes, const char *value, struct nt_error *err)
{
	const char *word = "";

	if (nt_findings_parse(value, codes, &word) < 0)
		return nt_error_set(
			err, "'%.40s' is no finding (want all, none, or codes, as in all -left)",
			word);
	return 0;
}

static char *path_of(struct nt_site *site, unsigned key)
{
	switch (key) {
	case KEY_PLUGIN: return site->plugin;
	case KEY_RECORDD: return site->recordd;
	case KEY_RUNDIR: return site->rundir;
	case KEY_SPOOLDIR: return site->spooldir;
	case KEY_PROFILES: return site->profiles;
	default: return site->site_memory;
	}
}

static int take_site(struct conf_reader *r, unsigned key, const char *value, struct nt_error *err)
{
	struct nt_conf *conf = r->conf;

	switch (key) {
	case KEY_PMIX: return parse_pmix(&conf->pmix, value, err);
	case KEY_RECORD: return nt_sinks_parse(&conf->sinks, value, err);
	case KEY_RECORD_DIR: return nt_conf_directory(conf->record_dir, value, err);
	case KEY_RECORD_MAX:
		return parse_whole(&conf->record_mib, value, 0, NT_CONF_RECORD_MIB_MAX, err);
	case KEY_MEMORY_MAX:
		return parse_whole(&conf->memory_mib, value, 0, NT_CONF_MEMORY_MIB, err);
	case KEY_FINDINGS: return parse_findings(&conf->findings, value, err);
	case KEY_RUNDIR:
	case KEY_SPOOLDIR: return nt_conf_directory(path_of(&conf->site, key), value, err);
	default: return nt_conf_path(path_of(&conf->site, key), value, err);
	}
}

static const struct {
	const char *name;
	int (*take)(struct conf_reader *r, unsigned key, const char *value, struct nt_error *err);
	const char *setting; /* that it bounds */
} keys[KEYS] = {
	[NT_LIMIT_OFF] = { "tuning", take_tuning, NULL },
	[NT_LIMIT_MODES] = { "modes", take_modes, "mode" },
	[NT_LIMIT_LOCKED] = { "lock", take_lock, NULL },
	[NT_LIMIT_ALGORITHMS] = { "algorithms", take_default, "algorithms" },
	[NT_LIMIT_PROTOCOLS] = { "protocols", take_default, "protocols" },
	[NT_LIMIT_BUDGET] = { "budget_max", take_cap, "budget" },
	[NT_LIMIT_CALLS] = { "calls_max", take_cap, "max_calls" },
	[NT_LIMIT_EXTRA] = { "extra_max", take_cap, "max_extra" },
	[NT_LIMIT_CALIBRATE] = { "calibrate_max", take_calibrate, "calibrate" },
	[NT_LIMIT_LL128] = { "ll128", take_default, "ll128" },
	[KEY_KEYS] = { "keys", take_keys, NULL },
	[KEY_PMIX] = { "pmix", take_site, NULL },
	[KEY_RECORD] = { "record", take_site, NULL },
	[KEY_RECORD_DIR] = { "record_dir", take_site, NULL },
	[KEY_RECORD_MAX] = { "record_max", take_site, NULL },
	[KEY_MEMORY_MAX] = { "memory_max", take_site, NULL },
	[KEY_PLUGIN] = { "plugin", take_site, NULL },
	[KEY_RECORDD] = { "recordd", take_site, NULL },
	[KEY_RUNDIR] = { "rundir", take_site, NULL },
	[KEY_SPOOLDIR] = { "spooldir", take_site, NULL },
	[KEY_PROFILES] = { "profiles", take_site, NULL },
	[KEY_SITE_MEMORY] = { "site_memory", take_site, NULL },
	[KEY_FINDINGS] = { "findings", take_site, NULL },
};

const char *nt_limit_key(enum nt_limit limit)
{
	return keys[limit].name;
}

unsigned nt_limit_setting(enum nt_limit limit)
{
	return (unsigned)nt_setting_find(keys[limit].setting, strlen(keys[limit].setting));
}

/* ---- pairs and sections */

static int note_line(uint16_t *at, unsigned line, const char *key, struct nt_error *err)
{
	if (*at)
		return nt_error_set(err, "duplicate %.40s in this section, first in line %u", key,
				    *at);
	*at = (uint16_t)line;
	return 0;
}

static int unknown_key(const struct conf_reader *r, const char *key, struct nt_error *err)
{
	const bool site = r->open == &r->conf->section[0];

	return nt_error_set(
		err,
		"unknown key '%.40s' (want tuning, modes, lock, keys, budget_max, calls_max, extra_max, calibrate_max, %sor a setting of "
		"nccl-tune(7))",
		key, site ? "a key of [site] in nccl-tune.conf(5) " : "");
}

static int take_setting(struct conf_reader *r, unsigned line, const char *key, const char *value,
			struct nt_error *err)
{
	const int setting = nt_setting_find(key, strlen(key));

	if (setting < 0)
		return unknown_key(r, key, err);
	if (note_line(&r->open->setting_line[setting], line, key, err) < 0)
		return -1;
	return nt_setting_parse(&r->open->policy, (unsigned)setting, value, err);
}

/* "lock" and "keys" share a line, that of "lock" if both are there. */
static void note_source(struct conf_reader *r, unsigned key)
{
	if (key < NT_LIMITS)
		r->open->limit_line[key] = r->line[key];
	else if (key == KEY_KEYS && r->line[NT_LIMIT_LOCKED] == 0)
		r->open->limit_line[NT_LIMIT_LOCKED] = r->line[key];
}

static int take_pair(struct conf_reader *r, unsigned line, const char *name, const char *value,
		     struct nt_error *err)
{
	struct nt_error why;
	unsigned key = 0;

	if (!r->open)
		return nt_error_set(err, "a key before the first section (want [site])");
	while (key < KEYS && strcmp(keys[key].name, name) != 0)
		key++;
	if (key == KEYS)
		return take_setting(r, line, name, value, err);
	if (key >= KEY_SITE && r->open != &r->conf->section[0])
		return nt_error_set(err, "%s belongs in [site]", name);
	if (note_line(&r->line[key], line, name, &why) < 0 ||
	    keys[key].take(r, key, value, &why) < 0)
		return nt_error_set(err, "%s: %.200s", name, why.text);
	note_source(r, key);
	return 0;
}

static const char partition[] = "partition";

/* The name in "partition NAME", "" of "site"; NULL: neither. */
static const char *name_in(const char *title)
{
	const size_t length = strcspn(title, " \t");
	const char *name = title + length + strspn(title + length, " \t");

	if (strcmp(title, "site") == 0)
		return "";
	if (length != strlen(partition) || strncmp(title, partition, length) != 0 ||
	    name[0] == '\0' || strpbrk(name, " \t"))
		return NULL;
	return name;
}

static int open_section(struct conf_reader *r, unsigned line, const char *title,
			struct nt_error *err)
{
	struct nt_conf *conf = r->conf;
	const char *name = name_in(title);
	const struct nt_conf_section *same = name ? nt_conf_find(conf, name) : NULL;

	memset(r->line, 0, sizeof(r->line));
	if (!name)
		return nt_error_set(err, "section [%.48s] (want [site] or [partition NAME])",
				    title);
	if (name[0] ? same != NULL : r->seen_site)
		return nt_error_set(err, "duplicate section [%s] in this file, first in line %u",
				    title, same->line);
	if (!name[0]) {
		r->open = &conf->section[0];
		r->seen_site = true;
	} else {
		if (conf->count == NT_CONF_SECTIONS)
			return nt_error_set(err, "more than %d sections", NT_CONF_SECTIONS);
		r->open = &conf->section[conf->count++];
	}
	r->open->line = (uint16_t)line;
	snprintf(r->open->name, sizeof(r->open->name), "%s", name);
	return 0;
}

static int take_line(void *context, unsigned line, const char *section, const char *key,
		     const char *value, struct nt_error *err)
{
	struct conf_reader *r = context;

	return key ? take_pair(r, line, key, value, err) : open_section(r, line, section, err);
}

/* ---- the whole */

static void init_site(struct nt_site *site)
{
	*site = (struct nt_site){
		.plugin = NT_LIBDIR "/libnccl-tune.so",
		.recordd = NT_LIBEXECDIR "/nt-recordd",
		.rundir = NT_RUN_DIR,
		.spooldir = NT_SPOOL_DIR,
		.profiles = NT_DATADIR "/profiles.conf",
		.site_memory = NT_SYSCONFDIR "/nccl-tune/memory.jsonl",
	};
}

void nt_conf_init(struct nt_conf *conf)
{
	memset(conf, 0, sizeof(*conf));
	conf->count = 1;
	conf->memory_mib = NT_CONF_MEMORY_MIB;
	conf->findings = NT_FINDINGS_ALL;
	conf->record_mib = NT_CONF_RECORD_MIB;
	init_site(&conf->site);
	nt_sinks_init(&conf->sinks);
	for (unsigned i = 0; i < NT_CONF_SECTIONS; i++) {
		for (unsigned s = 0; s < NT_SETTING_COUNT; s++)
			nt_setting_default(&conf->section[i].policy, s);
	}
}

/* A default mode that its own section does not allow would silently become off. */
static int check_mode(const struct nt_conf *conf, const char *name, struct nt_error *err)
{
	const struct nt_conf_section *site = &conf->section[0];

	for (unsigned i = 0; i < conf->count; i++) {
		const struct nt_conf_section *section = &conf->section[i];
		const struct nt_conf_section *limit = section->limit_line[NT_LIMIT_MODES] ? section
											  : site;

		if (!section->setting_line[0] || !limit->limit_line[NT_LIMIT_MODES] ||
		    limit->limit[NT_LIMIT_MODES] >> section->policy.mode & 1)
			continue;
		return nt_error_set(err, "%.80s:%u: mode %s is not in the modes of line %u", name,
				    section->setting_line[0], nt_mode_name(section->policy.mode),
				    limit->limit_line[NT_LIMIT_MODES]);
	}
	return 0;
}

int nt_conf_parse(struct nt_conf *conf, const char *name, const char *text, size_t bytes,
		  struct nt_error *err)
{
	struct conf_reader r = { .conf = conf };

	nt_conf_init(conf);
	conf->present = true;
	snprintf(conf->path, sizeof(conf->path), "%s", name);
	if (nt_ini_read(name, text, bytes, take_line, &r, err) < 0)
		return -1;
	return check_mode(conf, name, err);
}

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

const char *nt_conf_title(const struct nt_conf_section *section, char out[NT_PATH_MAX])
{
	snprintf(out, NT_PATH_MAX, section->name[0] ? "[%s %s]" : "[site]", partition,
		 section->name);
	return out;
}

const struct nt_conf_section *nt_conf_find(const struct nt_conf *conf, const char *name)
{
	for (unsigned i = 0; i < conf->count; i++) {
		if (strcmp(conf->section[i].name, name) == 0)
			return &conf->section[i];
	}
	return NULL;
}
