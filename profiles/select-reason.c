/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* select-reason.c - see select-reason.h */
#include "profiles/select-reason.h"

#include <string.h>

static const char *const names[NT_WHY_COUNT] = {
#define NT_WHY_NAME(id, text) [NT_WHY_##id] = #id,
	NT_WHYS(NT_WHY_NAME)
#undef NT_WHY_NAME
};

static const char *const texts[NT_WHY_COUNT] = {
#define NT_WHY_TEXT(id, text) [NT_WHY_##id] = text,
	NT_WHYS(NT_WHY_TEXT)
#undef NT_WHY_TEXT
};

const char *nt_why_name(int why)
{
	return why >= 0 && why < NT_WHY_COUNT ? names[why] : "?";
}

const char *nt_why_text(int why)
{
	return why >= 0 && why < NT_WHY_COUNT ? texts[why] : "?";
}

int nt_why_parse(const char *name)
{
	for (int why = 0; why < NT_WHY_COUNT; why++)
		if (strcmp(name, names[why]) == 0)
			return why;
	return -1;
}
