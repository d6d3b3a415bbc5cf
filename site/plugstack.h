/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* plugstack.h - our line in plugstack.conf, as Slurm reads it on this host
 *
 * Threads:  any.
 * Memory:   a value; words point into its text.
 * Errors:   -1 and *err if a file cannot be read; a missing line is no error.
 * Host:     slurm.conf is $SLURM_CONF, otherwise where packages have it; ClusterName,
 *           PlugStackConfig, PluginDir and SlurmctldParameters are read from it, but not from files
 *           that it includes. slurmd and sackd keep in /run/slurm/conf what slurmctld has served.
 */
#ifndef NT_PLUGSTACK_H
#define NT_PLUGSTACK_H

#include <stdbool.h>
#include "lib/error.h"
#include "contract/names.h"

#define NT_PLUGSTACK_WORDS 32
#define NT_PLUGSTACK_PLUGIN "spank_nccl_tune.so"

struct nt_plugstack_line {
	bool found, required;
	unsigned line;
	unsigned others; /* earlier lines for the same plugin */
	char file[NT_PATH_MAX]; /* that has the line */
	char include
		[NT_PATH_MAX]; /* how plugstack.conf names that file; "": it is plugstack.conf */
	char plugin[NT_PATH_MAX]; /* that it loads */
	char text[1024];
	int argc;
	char *argv[NT_PLUGSTACK_WORDS];
};

struct nt_plugstack {
	char slurm_conf[NT_PATH_MAX];
	char path[NT_PATH_MAX]; /* of plugstack.conf */
	char plugin_dirs[1024]; /* separated by ':' */
	char cluster[64]; /* as slurm.conf names it; "": it does not */
	bool served; /* slurmctld serves plugstack.conf (configless), or is to serve this one */
	unsigned files; /* that were read */
	char include[NT_PATH_MAX]; /* while one is read that plugstack.conf includes */
	struct nt_plugstack_line tune; /* the last one counts */
};

/* path: of plugstack.conf; NULL: Slurm's own. */
int nt_plugstack_read(struct nt_plugstack *stack, const char *path, struct nt_error *err);

#endif
