/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/select-reason.h"

#include <string.h>

static const struct {
	const char *name, *text;
} whys[NT_WHY_COUNT] = {
#define NT_WHY_ROW(id, text) [NT_WHY_##id] = { #id, text },
	NT_WHYS(NT_WHY_ROW)
#undef NT_WHY_ROW
};

const char *nt_why_name(int why)
{
	return why >= 0 && why < NT_WHY_COUNT ? whys[why].name : "?";
}

const char *nt_why_text(int why)
{
	return why >= 0 && why < NT_WHY_COUNT ? whys[why].text : "?";
}

int nt_why_parse(const char *name)
{
	for (int why = 0; why < NT_WHY_COUNT; why++)
		if (strcmp(name, whys[why].name) == 0)
			return why;
	return -1;
}
