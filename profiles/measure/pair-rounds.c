/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/measure/pair-rounds.h"

unsigned nt_pair_rounds(unsigned count)
{
	return count < 2 ? 0 : (count - 1) | 1;
}

/* The last one stays in its place, and the others move around it. */
int nt_pair_partner(unsigned count, unsigned round, unsigned one)
{
	const unsigned moving = nt_pair_rounds(count);
	unsigned turn, other;

	if (moving == 0)
		return -1;
	turn = round % moving;
	if (one == moving)
		return (int)turn;
	other = (2 * turn + moving - one) % moving;
	if (other == one)
		other = moving;
	return other < count ? (int)other : -1;
}
