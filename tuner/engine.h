/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - what the agreement asks of the tuner: which keys to explore, with which plans, and
 *            what came out
 *
 * A key is explored in two rounds. The first, SCREEN, measures AUTO and every legal arm that NCCL
 * does not predict to be many times slower; it finds the one or two arms that could win. The
 * second, CONFIRM, measures these and AUTO, and only it is evidence. Where samples are missing or
 * the answer is near, it is repeated, twice at most, and the evidence pooled; the test pays for
 * all three looks from the start.
 *
 * Threads:  the speaker's helper thread.
 * Memory:   an engine is a value that must outlive the agreement; each open key takes some 60 KiB
 *           of heap.
 * Errors:   out of memory closes the key; samples from other nodes that do not fit the plan are
 *           ignored.
 */
#ifndef NT_ENGINE_H
#define NT_ENGINE_H

#include "contract/policy.h"
#include "pmix-sync/agree.h"
#include "tuner/finding.h"
#include "tuner/trial.h"

#define NT_ENGINE_FINALISTS 2 /* arms of the second round beside AUTO */
#define NT_ENGINE_LOOKS 3 /* at most so many second rounds; the evidence is pooled */
#define NT_ENGINE_SCREENS 2 /* at most so many first rounds: one more where samples are missing */
/* arms are not tried that NCCL predicts so many times slower than its pick */
#define NT_ENGINE_COST_FACTOR 5
/* Nor LL from so many bytes on that it predicts so many times slower
 * (docs/decisions/0010-ll.md). */
#define NT_ENGINE_LL_BYTES ((size_t)16 << 20)
#define NT_ENGINE_LL_FACTOR 1.5f

struct nt_engine {
	struct nt_policy policy;
	unsigned open; /* keys being explored; 0 at first */
	/* of this node, whose communicators take turns; NULL: they do not */
	const struct nt_board *board;
	struct nt_findings *findings; /* where what was found is kept; NULL: nowhere */
	struct nt_trials *trials; /* where decisions' times are kept; NULL: nowhere */
};

/* Whether LL is not tried at that size, by the times that NCCL predicts for it and for its pick;
 * < 0: none. Pure. */
bool nt_engine_ll_hopeless(unsigned arm, size_t bytes, float cost_us, float auto_us);

struct nt_agree_hooks nt_engine_hooks(struct nt_engine *engine);

#endif
