/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* vtime.h - virtual time: one thing runs at a time, and the clock moves only when nothing is left
 * to do at that moment
 *
 * Events, fibers (the programs' ranks) and helpers (what a plugin takes for threads that it has
 * started) take turns on one thread: of those that are due at one moment the one that was told
 * first. So a run comes out the same on any machine, however slow. From nt_vtime_begin() on, the
 * process's clock_gettime(CLOCK_MONOTONIC), nanosleep, pthread_create and pthread_cond_timedwait
 * are ours (libc.c): what a library asks for in seconds it gets in seconds of program time.
 *
 * Threads:  everything on the thread that called nt_vtime_begin().
 * Memory:   fibers are freed when their body ends.
 * Errors:   none that a caller could handle: a line on stderr, and the process ends.
 * Units:    nanoseconds of program time, from 0.
 */
#ifndef NT_PROGRAMS_VTIME_H
#define NT_PROGRAMS_VTIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define NT_VTIME_NEVER UINT64_MAX

/* Again: time is 0 once more; only where no helper lives. */
void nt_vtime_begin(void);
bool nt_vtime_is_on(void);
uint64_t nt_vtime_ns(void);

void nt_vtime_at(uint64_t ns, void (*fire)(void *arg), void *arg);
/* Until *done, or nothing is left that could happen: then false. */
bool nt_vtime_run(const bool *done);

struct nt_fiber;
struct nt_fiber *nt_fiber_start(void (*body)(void *arg), void *arg);
struct nt_fiber *nt_fiber_self(void); /* NULL: not on a fiber */
void nt_fiber_sleep(uint64_t until_ns);
void nt_fiber_block(void); /* until somebody wakes it */
void nt_fiber_wake(struct nt_fiber *fiber, uint64_t at_ns);

/* What libc.c needs. */
void nt_vtime_sleep(uint64_t until_ns); /* whoever runs */
int nt_vtime_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until_ns);
void nt_vtime_signal(const pthread_cond_t *cond);
void nt_vtime_helper_start(pthread_t *thread, void *(*start)(void *), void *arg);

/* Helpers belong to the simulated process for which they were started. */
void nt_vtime_set_process(unsigned process);
unsigned nt_vtime_process(void);

#endif
