/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* site-config.h - the site's settings on this host
 *
 * Threads:  the main thread.
 * Memory:   a value of some 50 KiB; site points into it.
 * Errors:   -1 and *err.
 */
#ifndef NT_CONFIG_H
#define NT_CONFIG_H

#include "site/plugstack.h"
#include "spank/effective-policy.h"

struct nt_config {
	struct nt_plugstack stack;
	struct nt_site site; /* the arguments of the line, or the defaults */
	struct nt_conf conf;
};

/* plugstack.conf and the arguments of the line in it; path: NULL, or another plugstack.conf. */
int nt_config_open(struct nt_config *config, const char *path, struct nt_error *err);

#endif
