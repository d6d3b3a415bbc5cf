/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* finding.h - what is wrong with a step's set-up: a code with arguments, as a reason (reason.h)
 *
 * findings.def lists all. In records a finding is "code:argument:argument", in the same alphabet as
 * a reason. Reading trusts nobody; a later release's code is none.
 *
 * Threads:  pure functions, any thread; libc only.
 * Memory:   values.
 */
#ifndef NT_FINDING_H
#define NT_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The worst first. */
enum nt_finding_id {
#define FINDING(id, code, sure, fields, sentence, advice) NT_FINDING_##id,
#include "contract/findings.def"
#undef FINDING
	NT_FINDING_COUNT
};

#define NT_FINDING_BYTES 192 /* as text, with its NUL */
#define NT_FINDING_SENTENCE_MAX 480
#define NT_FINDING_ADVICE_MAX 320
#define NT_FINDING_NODE_MAX 64
#define NT_FINDINGS_ALL ((UINT32_C(1) << NT_FINDING_COUNT) - 1)

struct nt_finding {
	int id; /* enum nt_finding_id; -1: none */
	char text[NT_FINDING_BYTES]; /* "code:argument:..." */
};

/* Arguments, separated by ':'. */
void nt_finding_set(struct nt_finding *finding, int id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* From untrusted text. -1: no finding of this release. */
int nt_finding_read(struct nt_finding *finding, const char *text, size_t bytes);

/* Return out. */
const char *nt_finding_say(const struct nt_finding *finding, char *out, size_t out_bytes);
const char *nt_finding_advise(const struct nt_finding *finding, char *out, size_t out_bytes);
/* The node that it is about; "": the step. */
const char *nt_finding_node(const struct nt_finding *finding, char out[NT_FINDING_NODE_MAX]);

const char *nt_finding_code(int id); /* "" if there is none */
bool nt_finding_certain(int id);

/* "all", "none", or words that add or, after '-', take away: "all -left -gdr". Bits are 1 << id.
 * -1: *word is the first that is unknown. */
int nt_findings_parse(const char *text, uint32_t *codes, const char **word);

#endif
