/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* site-config.h - the site's settings on this host: its line in plugstack.conf, and the file that
 * this names
 *
 * Threads:  the main thread.
 * Memory:   values; nt_config is of some 50 KiB, and path points into it.
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

/* Read plugstack.conf alone; plugstack: NULL, or another one. conf has the defaults. -1
 * and *err. */
int nt_config_open(struct nt_config *config, const char *plugstack, struct nt_error *err);

/* Where this site has records. */
struct nt_site_records {
	struct nt_sinks sinks;
	char spool[NT_PATH_MAX];
	char record_dir[NT_PATH_MAX]; /* of long forms; "": next to the user's memory */
	uint32_t findings; /* that are told: bits, as nt_findings_parse() has them */
	char cluster[64]; /* as Slurm spells it; "": unknown */
};

/* Read once in a process. The defaults where Slurm's file or the site's cannot be read, as on a
 * host without the plugin. */
const struct nt_site_records *nt_site_records(void);

#endif
