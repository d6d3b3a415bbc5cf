/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* record-places.h - where this site has records, by its line in plugstack.conf and its file
 *
 * Threads:  the main thread.
 * Memory:   a value.
 * Errors:   none: the defaults where these cannot be read, as on a host without the plugin.
 */
#ifndef NT_RECORDPLACES_H
#define NT_RECORDPLACES_H

#include "contract/names.h"
#include "site/sinks.h"

struct nt_record_places {
	struct nt_sinks sinks;
	char spool[NT_PATH_MAX];
	char cluster[64]; /* as Slurm spells it; "": unknown */
};

void nt_record_places(struct nt_record_places *places);

#endif
