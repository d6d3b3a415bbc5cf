/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "contract/reason.h"
#include "lib/printable.h"

enum sure { LIKELY, CERTAIN };

static const struct {
	const char *code;
	enum sure sure;
	const char *fields, *sentence, *advice;
} findings[NT_FINDING_COUNT] = {
#define FINDING(id, code, sure, fields, sentence, advice) { code, sure, fields, sentence, advice },
#include "contract/findings.def"
#undef FINDING
};

static bool is_known(int id)
{
	return id >= 0 && id < NT_FINDING_COUNT;
}

const char *nt_finding_code(int id)
{
	return is_known(id) ? findings[id].code : "";
}

bool nt_finding_certain(int id)
{
	return is_known(id) && findings[id].sure == CERTAIN;
}

static int find_finding(const char *code, size_t bytes)
{
	for (int id = 0; id < NT_FINDING_COUNT; id++) {
		if (strlen(findings[id].code) == bytes &&
		    memcmp(findings[id].code, code, bytes) == 0)
			return id;
	}
	return -1;
}

void nt_finding_set(struct nt_finding *finding, int id, const char *format, ...)
{
	size_t used;
	va_list args;

	finding->id = id;
	snprintf(finding->text, sizeof(finding->text), "%s:", findings[id].code);
	used = strlen(finding->text);
	va_start(args, format);
	vsnprintf(finding->text + used, sizeof(finding->text) - used, format, args);
	va_end(args);
	nt_printable_json(finding->text);
}

int nt_finding_read(struct nt_finding *finding, const char *text, size_t bytes)
{
	if (bytes >= sizeof(finding->text))
		bytes = sizeof(finding->text) - 1;
	memset(finding, 0, sizeof(*finding));
	memcpy(finding->text, text, bytes);
	nt_printable_json(finding->text);
	finding->id = find_finding(finding->text, strcspn(finding->text, ":"));
	return finding->id < 0 ? -1 : 0;
}

/* Besides arguments, {name} is the name of {variable}. */
static const char *fill_sentence(const struct nt_finding *finding, const char *says, char *out,
				 size_t out_bytes)
{
	char name[64] = "";
	const struct nt_reason_fact facts[] = { { "name", name } };

	if (!is_known(finding->id)) {
		out[0] = '\0';
		return out;
	}
	if (finding->id == NT_FINDING_LEFT) {
		nt_reason_fill(findings[finding->id].fields, finding->text, "{variable}", NULL, 0,
			       name, sizeof(name));
		name[strcspn(name, "=")] = '\0';
	}
	return nt_reason_fill(findings[finding->id].fields, finding->text, says, facts, 1, out,
			      out_bytes);
}

const char *nt_finding_say(const struct nt_finding *finding, char *out, size_t out_bytes)
{
	return fill_sentence(finding, is_known(finding->id) ? findings[finding->id].sentence : "",
			     out, out_bytes);
}

const char *nt_finding_advise(const struct nt_finding *finding, char *out, size_t out_bytes)
{
	return fill_sentence(finding, is_known(finding->id) ? findings[finding->id].advice : "",
			     out, out_bytes);
}

const char *nt_finding_node(const struct nt_finding *finding, char out[NT_FINDING_NODE_MAX])
{
	const char *at = strchr(finding->text, ':');
	size_t bytes = at ? strcspn(at + 1, ":") : 0;

	if (bytes >= NT_FINDING_NODE_MAX)
		bytes = 0;
	memcpy(out, at ? at + 1 : "", bytes);
	out[bytes] = '\0';
	/* "n1 and 3 more nodes" */
	out[strcspn(out, " ")] = '\0';
	return out;
}

int nt_findings_parse(const char *text, uint32_t *codes, const char **word)
{
	static const char space[] = " \t,";

	*codes = 0;
	for (text += strspn(text, space); *text; text += strspn(text, space)) {
		size_t bytes = strcspn(text, space);
		bool take = *text == '-';
		int id = find_finding(text + take, bytes - take);
		uint32_t bits = id >= 0 ? UINT32_C(1) << id : 0;

		*word = text;
		if (bytes == 3 && memcmp(text, "all", 3) == 0)
			bits = NT_FINDINGS_ALL;
		else if (id < 0 && !(bytes == 4 && memcmp(text, "none", 4) == 0))
			return -1;
		*codes = take ? *codes & ~bits : *codes | bits;
		text += bytes;
	}
	return 0;
}
