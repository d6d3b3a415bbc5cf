/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* site-config.h - the site's settings on this host: its line in plugstack.conf, and the file that
 * this names
 *
 * Threads:  the main thread.
 * Memory:   a value of some 50 KiB; path points into it.
 * Errors:   -1 and *err.
 */
#ifndef NT_CONFIG_H
#define NT_CONFIG_H

#include "site/plugstack.h"
#include "site/conf.h"

struct nt_config {
	struct nt_plugstack stack;
	const char *path; /* of nccl-tune.conf */
	bool given; /* by the line: it must exist */
	struct nt_conf conf;
};

/* Read plugstack.conf alone; plugstack: NULL, or another one. conf has the defaults. */
int nt_config_open(struct nt_config *config, const char *plugstack, struct nt_error *err);

/* The same, and the site's file. If that fails, conf has the defaults, and stack what was read. */
int nt_config_read(struct nt_config *config, const char *plugstack, struct nt_error *err);

/* Where this site has records. */
struct nt_record_places {
	struct nt_sinks sinks;
	char spool[NT_PATH_MAX];
	char record_dir[NT_PATH_MAX]; /* of long forms; "": next to the user's memory */
	char cluster[64]; /* as Slurm spells it; "": unknown */
};

/* The defaults where Slurm's file or the site's cannot be read, as on a host without the plugin. */
void nt_record_places(struct nt_record_places *places);

#endif
