/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/member-names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "contract/names.h"
#include "record/field.h"
#include "lib/number.h"
#include "lib/printable.h"

#define COMPONENT_DIGITS 3 /* of a heterogeneous step; Slurm has at most 128 */

/* The length of a number of at most max digits without leading zeros; else 0. */
static size_t count_digits(const char *text, size_t max)
{
	size_t digits = strspn(text, "0123456789");

	return digits <= max && (digits == 1 || text[0] != '0') ? digits : 0;
}

bool nt_step_name_valid(const char *name)
{
	size_t digits = count_digits(name, 10);

	if (strcmp(name, "batch") == 0)
		return true;
	if (digits == 0 || strtoull(name, NULL, 10) > UINT32_MAX)
		return false;
	if (name[digits] == '\0')
		return true;
	name += digits + 1;
	digits = name[-1] == '+' ? count_digits(name, COMPONENT_DIGITS) : 0;
	return digits > 0 && name[digits] == '\0';
}

bool nt_step_member_is(const struct nt_json_member *member)
{
	char name[NT_STEP_NAME_MAX];

	if (member->name.bytes >= sizeof(name) || member->value.at[0] != '{')
		return false;
	memcpy(name, member->name.at, member->name.bytes);
	name[member->name.bytes] = '\0';
	return nt_step_name_valid(name);
}

int nt_step_name_order(const char *left, const char *right)
{
	bool left_number = isdigit((unsigned char)left[0]);
	bool right_number = isdigit((unsigned char)right[0]);

	if (left_number != right_number)
		return left_number ? -1 : 1;
	return strverscmp(left, right);
}

bool nt_step_name_matches(const char *name, const char *wanted)
{
	size_t bytes = strlen(wanted);

	return strncmp(name, wanted, bytes) == 0 && (name[bytes] == '\0' || name[bytes] == '+');
}

int nt_shape_parse(const char *text, uint32_t *ranks, uint32_t *nodes)
{
	uint64_t parts[2];

	for (int i = 0; i < 2; i++) {
		text = nt_number_read(text, UINT32_MAX, &parts[i]);
		if (!text || parts[i] < 1 || *text++ != "rn"[i])
			return -1;
	}
	*ranks = (uint32_t)parts[0];
	*nodes = (uint32_t)parts[1];
	return *text == '\0' ? 0 : -1;
}

int nt_family_parse(const char *text, uint32_t *ranks, uint32_t *nodes, char *name)
{
	size_t bytes = strcspn(text, " ");
	char shape[32];

	if (bytes >= sizeof(shape) ||
	    (text[bytes] &&
	     nt_printable_copy(name, NT_COMM_NAME, text + bytes + 1, strlen(text + bytes + 1)) < 0))
		return -1;
	if (!text[bytes])
		name[0] = '\0';
	memcpy(shape, text, bytes);
	shape[bytes] = '\0';
	return nt_shape_parse(shape, ranks, nodes);
}

int nt_member_name_parse(const char *text, int *coll, size_t *bytes)
{
	const char *space = strchr(text, ' ');
	uint64_t size;
	char name[32];

	if (!space || (size_t)(space - text) >= sizeof(name))
		return -1;
	memcpy(name, text, (size_t)(space - text));
	name[space - text] = '\0';
	*coll = nt_kind_parse(name);
	if (*coll < 0 || nt_size_parse(space + 1, &size) < 0)
		return -1;
	*bytes = (size_t)size;
	return 0;
}
