/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/site-config.h"

#include <string.h>

int nt_config_open(struct nt_config *config, const char *path, struct nt_error *err)
{
	memset(config, 0, sizeof(*config));
	nt_conf_init(&config->conf);
	if (nt_plugstack_read(&config->stack, path, err) < 0)
		return -1;
	if (!config->stack.tune.found)
		return nt_error_set(err, "%.150s has no line for " NT_PLUGSTACK_PLUGIN,
				    config->stack.path);
	return nt_site_parse(&config->site, config->stack.tune.argc, config->stack.tune.argv, err);
}
