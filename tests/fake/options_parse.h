/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* options_parse.h - parse option values with several parts
 *
 * Errors:   -1 and *err: the value and what is accepted.
 */
#ifndef NT_FAKE_OPTIONS_PARSE_H
#define NT_FAKE_OPTIONS_PARSE_H

#include "tests/fake/options.h"

typedef int (*nt_option_parser)(struct nt_options *o, const char *text, struct nt_error *err);

int nt_parse_number(const char *text, double low, double high, double *out, struct nt_error *err);
int nt_parse_colls(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_p2p(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_sizes(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_order(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_sync(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_churn(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_abort_every(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_idle(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_comms(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_trace(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_noise(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_truth(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_selected(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_drag(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_capture(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_late(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_expected(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_slow(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_compute(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_ras(struct nt_options *o, const char *text, struct nt_error *err);
int nt_parse_env(struct nt_options *o, const char *text, struct nt_error *err);

#endif
