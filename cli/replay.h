/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - nccl-tune replay, with any rule
 *
 * Threads:  the main thread.
 * Memory:   none is kept.
 * Errors:   the exit status; messages are on stderr.
 */
#ifndef NT_CLI_REPLAY_H
#define NT_CLI_REPLAY_H

#include "replay/replay.h"

int nt_replay_command(const struct nt_replay_rule *rule, int argc, char *argv[]);

#endif
