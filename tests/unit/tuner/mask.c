/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mask.c - events are on while they are wanted, and GPU times never again after a possible graph
 * capture */
#include "tests/lib/unit.h"
#include "tuner/abi.h"
#include "tuner/mask.h"

/* NCCL's RAS service writes the same int. */
static void what_somebody_else_stores_is_seen(void **state)
{
	struct nt_mask_hold hold = { false };
	struct nt_mask mask;
	int target = 0, other = 9;

	nt_mask_init(&mask);
	nt_mask_attach(&mask, &target);
	nt_mask_attach(&mask, &other);
	nt_mask_chain(&mask, (int)NT_PROF_PROXY_OP);
	nt_mask_open(&mask, 1);
	assert_true(nt_mask_intact(&mask) && target == other);
	/* More than ours: nothing is lost, and it stays when ours goes. */
	target |= (int)NT_PROF_CE_COLL;
	assert_false(nt_mask_intact(&mask));
	nt_mask_restore(&mask);
	assert_true(nt_mask_intact(&mask) && target & (int)NT_PROF_COLL && target == other);
	assert_int_equal(nt_mask_losses(&mask), 0);
	assert_false(nt_mask_overridden(&mask));
	/* Our own store finds it, too. */
	target = (int)NT_PROF_P2P;
	nt_mask_measure(&mask, &hold, true);
	assert_int_equal(nt_mask_losses(&mask), 1);
	assert_true(nt_mask_overridden(&mask) && nt_mask_intact(&mask));
	assert_true(target & (int)NT_PROF_COLL && target & (int)NT_PROF_P2P);
	assert_false(target & (int)(NT_PROF_CE_COLL | NT_PROF_PROXY_OP));
	nt_mask_measure(&mask, &hold, false);
	nt_mask_open(&mask, -1);
	assert_int_equal(target, NT_PROF_P2P);
	assert_int_equal(other, NT_PROF_P2P);
	nt_mask_fini(&mask);
}

/* NCCL has read the int in a communicator's init, and writes it back after a store of ours. */
static void what_nccl_writes_back_is_put_right(void **state)
{
	struct nt_mask mask;
	int target = 0;

	nt_mask_init(&mask);
	nt_mask_attach(&mask, &target);
	nt_mask_open(&mask, 1);
	target = 0;
	nt_mask_restore(&mask);
	assert_true(target & (int)NT_PROF_COLL);
	assert_int_equal(nt_mask_losses(&mask), 1);
	assert_false(nt_mask_overridden(&mask));
	/* Much later it is another program's mask. */
	mask.attached_ms -= 10000; /* long ago */
	target = 0;
	nt_mask_restore(&mask);
	assert_true(target & (int)NT_PROF_COLL && nt_mask_overridden(&mask));
	nt_mask_open(&mask, -1);
	assert_int_equal(target, 0);
	nt_mask_fini(&mask);
}

/* A chained profiler's KernelPhase events come with KernelCh alone. */
static void phases_bring_their_kernels(void **state)
{
	struct nt_mask mask;
	int target = 0;

	nt_mask_init(&mask);
	nt_mask_attach(&mask, &target);
	nt_mask_chain(&mask, (int)NT_PROF_KERNEL_PHASE);
	assert_true(target & (int)NT_PROF_KERNEL_CH && target & (int)NT_PROF_KERNEL_LAUNCH);
	nt_mask_fini(&mask);
}

UNIT_TESTS(what_somebody_else_stores_is_seen, what_nccl_writes_back_is_put_right,
	   phases_bring_their_kernels);
