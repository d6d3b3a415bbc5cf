/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* settings-table.h - print, for people, every setting with its value here, its source and the
 * accepted values
 *
 * Threads:  any.
 * Memory:   none is kept.
 * Errors:   those of the stream.
 */
#ifndef NT_SETTINGS_TABLE_H
#define NT_SETTINGS_TABLE_H

#include <stdio.h>
#include "site/rules.h"

/* partition: of the step; NULL: unknown. */
void nt_site_show(FILE *out, const struct nt_site_rules *rules,
		  const struct nt_step_settings *outcome, const char *partition);

#endif
