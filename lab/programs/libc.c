/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* libc.c - what a plugin asks the system about time and threads, answered by vtime.h
 *
 * The program's own symbols come before libc's in what it loads.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "lab/programs/vtime.h"

#define NS_PER_S UINT64_C(1000000000)
#define BOOT_NS (1000 * NS_PER_S) /* the monotonic clock at program time 0 */

static uint64_t to_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_nsec;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	uint64_t ns = BOOT_NS + nt_vtime_ns();

	if (!nt_vtime_is_on() || clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		return (int)syscall(SYS_clock_gettime, clock, now);
	now->tv_sec = (time_t)(ns / NS_PER_S);
	now->tv_nsec = (long)(ns % NS_PER_S);
	return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	if (!nt_vtime_is_on())
		return (int)syscall(SYS_nanosleep, wanted, left);
	nt_vtime_sleep(nt_vtime_ns() + to_ns(wanted));
	return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	(void)attr;
	nt_vtime_helper_start(thread, start, arg);
	return 0;
}

/* It has told that it ended. */
int pthread_join(pthread_t thread, void **result)
{
	(void)thread;
	if (result)
		*result = NULL;
	return 0;
}

int pthread_setname_np(pthread_t thread, const char *name)
{
	(void)thread;
	(void)name;
	return 0;
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
			   const struct timespec *until)
{
	uint64_t ns = to_ns(until);

	return nt_vtime_wait(cond, mutex, ns > BOOT_NS ? ns - BOOT_NS : 0);
}

int pthread_cond_signal(pthread_cond_t *cond)
{
	nt_vtime_signal(cond);
	return 0;
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
	nt_vtime_signal(cond);
	return 0;
}

/* Locks of whole files are between simulated processes, which are one to the kernel: of those of an
 * open file it keeps apart as many as there are. */
int fcntl(int fd, int command, ...)
{
	va_list args;
	long value;

	va_start(args, command);
	value = va_arg(args, long);
	va_end(args);
	if (nt_vtime_is_on() && command == F_SETLK)
		command = F_OFD_SETLK;
	return (int)syscall(SYS_fcntl, fd, command, value);
}

int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));
