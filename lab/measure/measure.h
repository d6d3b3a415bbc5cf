/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - what programs that time the plugin share: a clock, a logger that says nothing, a
 * policy, and NCCL's version
 *
 * Threads:  any.
 * Units:    nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef NT_LAB_MEASURE_H
#define NT_LAB_MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "contract/policy.h"

static inline uint64_t nt_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Of NCCL's type for a plugin's logger. */
static inline void nt_quiet(int level, unsigned long subsystems, const char *file, int line,
			    const char *format, ...)
{
	(void)level;
	(void)subsystems;
	(void)file;
	(void)line;
	(void)format;
}

/* A task's place; the node's memory is a file in this directory. */
static inline struct nt_node_step nt_measure_place(const char *dir)
{
	struct nt_node_step place = { .node = "n1" };

	snprintf(place.shm, sizeof(place.shm), "%s/shm", dir);
	return place;
}

/* Puts such a task's policy into the environment: bandit, and ranks that never come are waited for.
 * -1: the directory's name does not fit. */
static inline int nt_measure_policy(const char *dir)
{
	const struct nt_node_step place = nt_measure_place(dir);
	struct nt_policy policy;
	char text[NT_POLICY_MAX];

	nt_policy_default(&policy);
	policy.mode = NT_MODE_BANDIT;
	policy.join_timeout_s = 3600;
	if (nt_policy_format_task(&policy, &place, text, sizeof(text), NULL) < 0)
		return -1;
	return setenv(NT_ENV_POLICY, text, 1);
}

/* The plugin looks for it in the process: of an unknown NCCL it takes no LL on one node, and no key
 * whose own choice that is (tuner/open.c). */
__attribute__((visibility("default"))) int ncclGetVersion(int *version);

#endif
