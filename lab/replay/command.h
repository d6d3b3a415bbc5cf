/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - the command nt-replay: run the engine on measured times, and count its errors
 *
 * Threads:  the main thread.
 * Memory:   none is kept.
 * Errors:   the exit status: 0, 1 (failed, or a decision differs), 2 (usage); messages on stderr.
 */
#ifndef NT_REPLAY_COMMAND_H
#define NT_REPLAY_COMMAND_H

#include "lab/replay/replay.h"

/* argv[0] is not looked at. */
int nt_replay_command(int argc, char *argv[]);

#endif
