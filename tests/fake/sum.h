/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sum.h - a rank's statistics, and the job's summary, which rank 0 prints
 *
 * Threads:  nt_sum_ran on the GPU thread, nt_fake_sum_decided on the deciding thread, the rest
 *           after both.
 * Units:    microseconds of simulated time; decisions in nanoseconds of real time.
 */
#ifndef NT_FAKE_SUM_H
#define NT_FAKE_SUM_H

#include "tests/fake/fake.h"

struct nt_sum;

struct nt_sum *nt_sum_create(struct nt_job *job);
void nt_sum_destroy(struct nt_sum *s);

void nt_sum_ran(struct nt_sum *s, unsigned comm_kind, const struct nt_task *t, double us);
/* By the simulated host's clock, and in real time (--realtime). */
void nt_sum_round(struct nt_sum *s, double us, double wall_us);
void nt_fake_sum_decided(struct nt_sum *s, uint64_t ns);

/* The interfaces in use; call it while they are. */
void nt_sum_loaded(struct nt_sum *s, unsigned rank);

/* Publishes this rank's statistics for rank 0. */
void nt_sum_publish(struct nt_sum *s, unsigned rank, uint64_t calls);

/* Rank 0: waits for the others, prints one line of JSON to stdout, a table to stderr; returns the
 * exit code. */
int nt_sum_print(struct nt_sum *s);

#endif
