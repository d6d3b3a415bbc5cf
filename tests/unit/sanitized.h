/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sanitized.h - whether this is built with the address or the thread sanitizer of gcc; and what is
 * not our leak: Slurm 22.05 keeps a copy of a list of hosts that it cannot read. For a test's one
 * source. */
#ifndef NT_TESTS_SANITIZED_H
#define NT_TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

const char *__lsan_default_suppressions(void);

__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
	return "leak:slurm_hostlist_create";
}

#endif
