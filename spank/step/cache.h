/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - the node's fingerprint and facts, kept in the run directory until the next boot, or the
 * next version of nccl-tune
 *
 * <rundir>/fingerprint.<version>.<boot id> has one line: 16 hexadecimal digits, a space and the
 * description. It is not used if its owner is neither the reader nor root, or if others may write
 * to it. <rundir>/facts.<version>.<boot id> has one line (node-facts.h), as of slurmd's start.
 *
 * Threads:  any; writers replace the whole file.
 * Errors:   -1 and *err.
 */
#ifndef NT_CACHE_H
#define NT_CACHE_H

#include <stdint.h>
#include "lib/error.h"
#include "spank/step/node-facts.h"

#define NT_CACHE_NAME_MAX 64

/* The name of this boot's file in the run directory. */
int nt_cache_name(char name[NT_CACHE_NAME_MAX], struct nt_error *err);

/* On an error *fingerprint is 0. */
int nt_cache_read(int rundir_fd, uint64_t *fingerprint, struct nt_error *err);

int nt_cache_write(int rundir_fd, uint64_t fingerprint, const char *text, struct nt_error *err);

/* "": there are none. */
void nt_cache_read_facts(int rundir_fd, char facts[NT_NODE_FACTS_MAX]);
int nt_cache_write_facts(int rundir_fd, const char *facts, struct nt_error *err);

#endif
