/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/step/step-name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "lib/number.h"

#define COMPONENT_MAX 999 /* Slurm has at most 128 */

void nt_step_name(uint32_t step, uint32_t component, char out[NT_STEP_NAME_MAX])
{
	if (step == NT_STEP_BATCH)
		snprintf(out, NT_STEP_NAME_MAX, "batch");
	else if (component <= COMPONENT_MAX)
		snprintf(out, NT_STEP_NAME_MAX, "%" PRIu32 "+%" PRIu32, step, component);
	else
		snprintf(out, NT_STEP_NAME_MAX, "%" PRIu32, step);
}

uint32_t nt_step_component(const char *title, uint32_t job, uint32_t step)
{
	const char *found, *end;
	uint64_t component;
	char wanted[40];

	snprintf(wanted, sizeof(wanted), "[%" PRIu32 ".%" PRIu32 "+", job, step);
	found = strstr(title, wanted);
	end = found ? nt_number_read(found + strlen(wanted), COMPONENT_MAX, &component) : NULL;
	return end && *end == ']' ? (uint32_t)component : NT_STEP_WHOLE;
}
