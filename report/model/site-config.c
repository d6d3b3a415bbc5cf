/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/site-config.h"

#include <ctype.h>
#include <string.h>
#include "spank/option.h"

int nt_config_open(struct nt_config *config, const char *plugstack, struct nt_error *err)
{
	memset(config, 0, sizeof(*config));
	nt_conf_init(&config->conf);
	config->path = NT_CONF_FILE;
	if (nt_plugstack_read(&config->stack, plugstack, err) < 0)
		return -1;
	if (!config->stack.tune.found)
		return nt_error_set(err, "%.150s has no line for " NT_PLUGSTACK_PLUGIN,
				    config->stack.path);
	return nt_line_parse(config->stack.tune.argc, config->stack.tune.argv, &config->path,
			     &config->given, err);
}

static void read_records(struct nt_site_records *records)
{
	static struct nt_config config;
	struct nt_error err;

	if (nt_config_open(&config, NULL, &err) == 0 &&
	    nt_conf_read(&config.conf, config.path, config.given, &err) < 0)
		nt_conf_init(&config.conf);
	*records = (struct nt_site_records){ .sinks = config.conf.sinks };
	records->findings = config.conf.findings;
	memcpy(records->spool, config.conf.site.spooldir, sizeof(records->spool));
	memcpy(records->record_dir, config.conf.record_dir, sizeof(records->record_dir));
	for (size_t i = 0; i < sizeof(records->cluster) && config.stack.cluster[i]; i++)
		records->cluster[i] = (char)tolower((unsigned char)config.stack.cluster[i]);
	records->cluster[sizeof(records->cluster) - 1] = '\0';
}

const struct nt_site_records *nt_site_records(void)
{
	static struct nt_site_records records;
	static bool known;

	if (!known)
		read_records(&records);
	known = true;
	return &records;
}
