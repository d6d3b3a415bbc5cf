/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree.c - the agreement, the engine and a rank's decisions against a log that says anything
 *
 * Input: a byte that says which world, then what happens in it, one thing after the other.
 */
#include "tests/fuzz/world.h"

#define EVENTS 80

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };
	static struct world w;

	world_open(&w, &in);
	for (unsigned n = 0; n < EVENTS && in.left > 0; n++) {
		switch (fuzz_below(&in, 4)) {
		case 0: world_collective(&w, &in); break;
		case 1: world_step(&w, &in); break;
		default: world_entry(&w, &in);
		}
	}
	world_record(&w);
	world_close(&w);
	return 0;
}
