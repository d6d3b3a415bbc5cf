/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/layout.h"

static void mark_node(const struct nt_layout *s, int64_t node, uint8_t *likely)
{
	if (node >= 0 && node < s->nodes)
		likely[node] = 1;
}

/* Rank r is task base + r * stride: one task to a rank, as srun starts them. */
static void by_task(const struct nt_layout *s, int64_t stride, int every, uint8_t *likely)
{
	int64_t base, last;

	if (stride < 1 || stride > s->tasks)
		return;
	base = (int64_t)s->slot[0].task - (int64_t)s->slot[0].rank * stride;
	last = base + ((int64_t)s->ranks - 1) * stride;
	if (base < 0 || last >= s->tasks)
		return;
	for (uint32_t i = 1; i < s->slots; i++) {
		if (s->slot[i].task != base + s->slot[i].rank * stride)
			return;
	}
	for (int64_t task = base; task <= (every ? last : base); task += stride)
		mark_node(s, s->node_of_task(s->arg, (uint32_t)task), likely);
}

/* Equal numbers of consecutive ranks on nodes `stride` apart. */
static void by_node(const struct nt_layout *s, int64_t stride, int every, uint8_t *likely)
{
	int64_t nodes = s->ranks / s->slots;
	int64_t base, last;

	if (stride < 1 || stride > s->nodes)
		return;
	base = (int64_t)s->self - s->slot[0].rank / s->slots * stride;
	last = base + (nodes - 1) * stride;
	if (base < 0 || last >= s->nodes)
		return;
	for (int64_t node = base; node <= (every ? last : base); node += stride)
		mark_node(s, node, likely);
}

static int is_one_block(const struct nt_layout *s)
{
	for (uint32_t i = 1; i < s->slots; i++) {
		if (s->slot[i].rank != s->slot[0].rank + i)
			return 0;
	}
	return s->ranks % s->slots == 0 && s->slot[0].rank % s->slots == 0;
}

/* Distinct ranks of the communicator? Other processes have written them. */
static int is_sound(const struct nt_layout *s)
{
	for (uint32_t i = 0; i < s->slots; i++) {
		if (s->slot[i].rank >= s->ranks || s->slot[i].rank > INT32_MAX ||
		    (i > 0 && s->slot[i].rank <= s->slot[i - 1].rank))
			return 0;
	}
	return s->slots > 0;
}

void nt_layout_likely(const struct nt_layout *s, int every, uint8_t *likely)
{
	int64_t apart = 0;

	mark_node(s, s->self, likely);
	if (!is_sound(s))
		return;
	if (s->slots > 1)
		apart = ((int64_t)s->slot[1].task - s->slot[0].task) /
			((int64_t)s->slot[1].rank - s->slot[0].rank);
	if (apart > 0) {
		by_task(s, apart, every, likely);
		return;
	}
	if (s->slots == 1) {
		by_task(s, 1, every, likely);
		by_task(s, s->tasks / s->ranks, every, likely);
	}
	if (!is_one_block(s))
		return;
	by_node(s, (int64_t)s->nodes * s->slots / s->ranks, every, likely);
	for (int64_t stride = 1; stride < s->nodes; stride *= 2)
		by_node(s, stride, every, likely);
}
