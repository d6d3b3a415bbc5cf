/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/record-places.h"

#include <ctype.h>
#include <string.h>
#include "report/model/site-config.h"

void nt_record_places(struct nt_record_places *places)
{
	static struct nt_config config;
	const struct nt_site *site = &config.site;
	struct nt_error err;

	*places = (struct nt_record_places){ .spool = NT_SPOOL_DIR };
	nt_sinks_init(&places->sinks);
	if (nt_config_open(&config, NULL, &err) == 0) {
		if (nt_conf_read(&config.conf, site->config, site->config_given, &err) == 0)
			nt_site_overrule(&config.site, &config.conf);
		places->sinks = site->sinks;
		memcpy(places->spool, site->spooldir, sizeof(places->spool));
	}
	for (size_t i = 0; i < sizeof(places->cluster) && config.stack.cluster[i]; i++)
		places->cluster[i] = (char)tolower((unsigned char)config.stack.cluster[i]);
	places->cluster[sizeof(places->cluster) - 1] = '\0';
}
