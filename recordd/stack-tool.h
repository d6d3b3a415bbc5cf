/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* stack-tool.h - read the stacks of a process with what is installed, py-spy or gdb
 *
 * Runs in a process with the user's rights only, as collect.h does. What is started belongs to
 * root, in directories of root's; it gets an environment of its own and no descriptors of ours.
 * py-spy reads the memory of a process that goes on running; gdb stops it meanwhile.
 *
 * Threads:  one process of its own.
 * Memory:   the caller frees *text.
 * Errors:   as text, for the report.
 * Host:     Yama lets a process be read by one that it has named and by that one's descendants
 *           (task_is_descendant in security/yama/yama_lsm.c), until the named one has ended.
 */
#ifndef NT_STACK_TOOL_H
#define NT_STACK_TOOL_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "contract/names.h"
#include "lib/error.h"
#include "record/stacks.h"

#define NT_STACK_TOOLS "/usr/local/bin:/usr/bin:/bin"
#define NT_STACK_MS 5000 /* for a rank */

/* A program in one of the directories. -1: none that root alone can change. */
int nt_stack_find(const char *directories, const char *name, char out[NT_PATH_MAX]);

/* Is it a running process that has this memory mapped? *python: it maps Python, too. */
int nt_stack_look(pid_t pid, const struct stat *memory, bool *python, struct nt_error *err);

/* May this process read it? */
bool nt_stack_permitted(pid_t pid);

/* Sets tool and why, and *text: the tool's lines from the first thread on; NULL: none. */
void nt_stack_read(struct nt_stacks *stacks, const char *directories, bool python, char **text);

#endif
