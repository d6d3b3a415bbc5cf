/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/record-places.h"

#include <ctype.h>
#include <string.h>
#include "report/model/site-config.h"

void nt_record_places(struct nt_record_places *places)
{
	static struct nt_config config;
	struct nt_error err;

	(void)nt_config_read(&config, NULL, &err);
	*places = (struct nt_record_places){ .sinks = config.conf.sinks };
	memcpy(places->spool, config.conf.site.spooldir, sizeof(places->spool));
	for (size_t i = 0; i < sizeof(places->cluster) && config.stack.cluster[i]; i++)
		places->cluster[i] = (char)tolower((unsigned char)config.stack.cluster[i]);
	places->cluster[sizeof(places->cluster) - 1] = '\0';
}
