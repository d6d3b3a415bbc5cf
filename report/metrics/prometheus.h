/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* prometheus.h - summaries as metrics for the textfile collector of Prometheus' node exporter
 *
 * Text format 0.0.4: for each metric HELP, TYPE, then all of its samples; no two have the same
 * labels. Labels are named, and formed, as those of NCCL's Inspector (slurm_job_id, comm_name,
 * n_nodes, nranks, collective, message_size, algo_proto), so that one dashboard can join them, and
 * slurm_step_id and choice ("nccl" or "chosen") beside them.
 *
 * Threads:  no state of its own.
 * Memory:   nt_samples_fini frees all.
 * Errors:   -1 when memory runs out; write errors stay on the stream for the caller (ferror).
 * Host:     names of labels: plugins/profiler/inspector/inspector_prom.cc (NCCL 2.30).
 */
#ifndef NT_PROMETHEUS_H
#define NT_PROMETHEUS_H

#include <stdio.h>
#include "lib/error.h"
#include "record/job-summary.h"

struct nt_metric;

struct nt_samples { /* all 0: none */
	struct nt_metric *items;
	size_t count;
};

int nt_samples_add(struct nt_samples *samples, const char *job, const struct nt_summary *summary,
		   struct nt_error *err);
void nt_samples_print(FILE *out, struct nt_samples *samples);
void nt_samples_fini(struct nt_samples *samples);

/* HELP and TYPE of a gauge. */
void nt_metric_head(FILE *out, const char *name, const char *help);
/* before, which is "{", "," or "", then NAME="VALUE", escaped */
void nt_metric_label(FILE *out, const char *before, const char *name, const char *value);

#endif
