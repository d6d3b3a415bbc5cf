/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* settled.h - has the plugin come to an end with what it was told, or is it still about to?
 *
 * How long nodes take to agree depends on the machine, not on the program's calls. The board tells:
 * communicators that are joining, keys that are open, and a speaker that has looked since.
 *
 * Threads:  one for each nt_settled.
 * Memory:   the board stays mapped until the process ends.
 * Errors:   without a board, or with one that cannot be read, all is settled.
 */
#ifndef NT_FAKE_SETTLED_H
#define NT_FAKE_SETTLED_H

#include <stdbool.h>
#include <stdint.h>

struct nt_settled { /* zeros at first */
	const struct nt_board *board;
	bool looked;
	uint64_t beat; /* of the speaker, when nothing was pending for the first time; 0: not yet */
};

bool nt_settled(struct nt_settled *s);

#endif
