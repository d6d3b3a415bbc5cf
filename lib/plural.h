/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* plural.h - regular English plurals: "%u node%s" */
#ifndef NT_PLURAL_H
#define NT_PLURAL_H

#include <stdint.h>

static inline const char *nt_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

#endif
