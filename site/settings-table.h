/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* settings-table.h - for people: every setting, its value here, where that comes from, what is
 * accepted
 *
 * Threads:  any.
 * Memory:   none is kept.
 * Errors:   none but the stream's own.
 */
#ifndef NT_SETTINGS_TABLE_H
#define NT_SETTINGS_TABLE_H

#include <stdio.h>
#include "site/rules.h"

void nt_show(FILE *out, const struct nt_site_rules *rules, const struct nt_step_settings *outcome,
	     const struct nt_step_where *where);

#endif
