/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* glibc.c - lets libnccl-tune.so load in containers whose glibc is older than the build's
 *
 * glibc gives a function a new symbol version when it moves to another library (dlopen and threads
 * to libc.so, 2.34) or sets errno differently (exp, log, 2.29), and older loaders refuse a module
 * that needs it. Every newer glibc keeps the old versions, so the module asks for those: the
 * linker's --wrap (list in tuner/local.mk) leads its calls here. It then needs glibc 2.17 at most;
 * tests/lint/exports.bats checks that.
 *
 * Only the installed module is linked with this. The oldest versions differ by architecture; where
 * they are not known here, configure leaves the file out, and containers must be as new as the
 * build.
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#if defined(__x86_64__)
#define FIRST "GLIBC_2.2.5"
#define CONDATTR "GLIBC_2.3.3"
#define SETNAME "GLIBC_2.12"
#define STAT_VERSION 1 /* of struct stat, glibc's sysdeps/unix/sysv/linux/x86/bits */
#elif defined(__aarch64__) || (defined(__powerpc64__) && defined(__LITTLE_ENDIAN__))
#define FIRST "GLIBC_2.17"
#define CONDATTR FIRST
#define SETNAME FIRST
#if defined(__aarch64__)
#define STAT_VERSION 0
#else
#define STAT_VERSION 1
#endif
#endif

/* --wrap=NAME makes these names. */
#define WRAP(type, name, version, parameters, arguments)                          \
	__asm__(".symver old_" #name "," #name "@" version);                      \
	extern type old_##name parameters;                                        \
	type __wrap_##name parameters; /* NOLINT(bugprone-reserved-identifier) */ \
	type __wrap_##name parameters                                             \
	{                                                                         \
		return old_##name arguments;                                      \
	}

WRAP(void *, dlopen, FIRST, (const char *file, int mode), (file, mode))
WRAP(void *, dlsym, FIRST, (void *handle, const char *name), (handle, name))
WRAP(int, dlclose, FIRST, (void *handle), (handle))
WRAP(char *, dlerror, FIRST, (void), ())
WRAP(int, dladdr, FIRST, (const void *address, Dl_info *info), (address, info))

WRAP(int, pthread_create, FIRST,
     (pthread_t * thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg),
     (thread, attr, run, arg))
WRAP(int, pthread_attr_getstacksize, FIRST, (const pthread_attr_t *attr, size_t *bytes),
     (attr, bytes))
WRAP(int, pthread_attr_setstacksize, FIRST, (pthread_attr_t * attr, size_t bytes), (attr, bytes))
WRAP(int, pthread_join, FIRST, (pthread_t thread, void **value), (thread, value))
WRAP(int, pthread_sigmask, FIRST, (int how, const sigset_t *set, sigset_t *old), (how, set, old))
WRAP(int, pthread_mutex_timedlock, FIRST, (pthread_mutex_t * mutex, const struct timespec *until),
     (mutex, until))
WRAP(int, pthread_condattr_setclock, CONDATTR, (pthread_condattr_t * attr, clockid_t clock),
     (attr, clock))
WRAP(int, pthread_setname_np, SETNAME, (pthread_t thread, const char *name), (thread, name))

WRAP(double, exp, FIRST, (double x), (x))
WRAP(double, exp2, FIRST, (double x), (x))
WRAP(double, log, FIRST, (double x), (x))
WRAP(double, log2, FIRST, (double x), (x))
WRAP(double, lgamma, FIRST, (double x), (x))

/* Before 2.33 there was no symbol fstat: callers had a copy of it that called this one. */
__asm__(".symver old_fxstat,__fxstat@" FIRST);
extern int old_fxstat(int version, int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status); /* NOLINT(bugprone-reserved-identifier) */

int __wrap_fstat(int fd, struct stat *status)
{
	return old_fxstat(STAT_VERSION, fd, status);
}
