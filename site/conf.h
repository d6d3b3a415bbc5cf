/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* conf.h - nccl-tune.conf, the administrator's file
 *
 * Parsed strictly: an unknown key, a repeated key or an invalid value is an error with its line,
 * and then nothing in the file counts. site/rules.h applies it.
 *
 * Threads:  pure functions, but for the one that reads a file; any thread.
 * Memory:   a value of some 40 KiB, without pointers.
 * Errors:   -1 and *err: "FILE:LINE: what is wrong and what is accepted".
 * Units:    limits as the settings that they bound (contract/setting.h).
 */
#ifndef NT_CONF_H
#define NT_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "contract/policy.h"
#include "contract/setting.h"
#include "lib/ini.h"
#include "site/path.h"
#include "site/sinks.h"

#define NT_CONF_FILE NT_SYSCONFDIR "/nccl-tune.conf"
#define NT_CONF_SECTIONS 64

/* What a section may limit. Those up to PROTOCOLS are bits. */
enum nt_limit {
	NT_LIMIT_OFF, /* 1: no tuning at all */
	NT_LIMIT_MODES, /* allowed: 1 << NT_MODE_* */
	NT_LIMIT_LOCKED, /* settings that users cannot change: 1 << number */
	NT_LIMIT_ALGORITHMS, /* allowed, as the setting */
	NT_LIMIT_PROTOCOLS,
	NT_LIMIT_BUDGET, /* this and the following: the largest values */
	NT_LIMIT_CALLS,
	NT_LIMIT_EXTRA,
	NT_LIMIT_CALIBRATE,
	NT_LIMIT_LL128, /* also the default; NT_LL128_AUTO if it is not given */
	NT_LIMITS,
};

struct nt_conf_section {
	char name[NT_INI_NAME_MAX + 1]; /* of the partition; "": [site] */
	uint16_t line;
	struct nt_policy policy; /* the default settings given here */
	uint16_t setting_line[NT_SETTING_COUNT]; /* 0: not given */
	uint64_t limit[NT_LIMITS];
	uint16_t limit_line[NT_LIMITS]; /* 0: not given */
};

/* Where parts of the product and its directories are: keys of [site] alone. */
struct nt_site {
	char plugin[NT_PATH_MAX]; /* libnccl-tune.so */
	char recordd[NT_PATH_MAX]; /* nt-recordd */
	char rundir[NT_PATH_MAX];
	char spooldir[NT_PATH_MAX];
	char profiles[NT_PATH_MAX]; /* launch profiles that come with the package */
	char site_memory[NT_PATH_MAX]; /* what the site has measured; may be missing */
};

struct nt_conf {
	bool present;
	char path[NT_PATH_MAX];
	unsigned count;
	struct nt_conf_section section[NT_CONF_SECTIONS]; /* the first, [site], always exists */
	/* Of [site] alone. */
	struct nt_site site;
	bool pmix; /* PMIx is the default of every step */
	struct nt_sinks sinks;
	char record_dir[NT_PATH_MAX]; /* for long forms; "": next to the user's memory */
	uint32_t record_mib; /* of a user's long forms; 0: none are written */
	uint32_t findings; /* that are told: bits, as nt_findings_parse() has them */
	uint32_t memory_mib; /* of a user's memory; 0: nothing is remembered */
};

#define NT_CONF_MEMORY_MIB 32
#define NT_CONF_RECORD_MIB 64
#define NT_CONF_RECORD_MIB_MAX 1048576
#define NT_CONF_CALIBRATE_S 120 /* the longest calibration, unless the file has another */

/* As an empty file. */
void nt_conf_init(struct nt_conf *conf);
/* The text of a file; name stands for it in messages. */
int nt_conf_parse(struct nt_conf *conf, const char *name, const char *text, size_t bytes,
		  struct nt_error *err);
/* Read the site's file. It must belong to root, be writable to nobody else, and not be a link. If
 * there is none: an error if it must exist, otherwise as nt_conf_init(). */
int nt_conf_read(struct nt_conf *conf, const char *path, bool must, struct nt_error *err);

const char *nt_limit_key(enum nt_limit limit); /* in the file */
unsigned nt_limit_setting(enum nt_limit limit); /* that it limits; not of OFF and LOCKED */
/* "[partition gpu]" */
const char *nt_conf_title(const struct nt_conf_section *section, char out[NT_PATH_MAX]);
/* The section of that partition, "" for [site]; NULL: there is none. */
const struct nt_conf_section *nt_conf_find(const struct nt_conf *conf, const char *name);

#define NT_CONF_MODES_TEXT 64
/* "off, observe" with the separator ", " */
const char *nt_conf_modes_text(uint64_t modes, const char *separator, char out[NT_CONF_MODES_TEXT]);

#endif
