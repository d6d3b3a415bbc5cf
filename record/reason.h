/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* reason.h - why something runs as it does: one list, of keys, communicators and steps
 *
 * A record spells a reason by its code, which never changes; what a reader says of it, and what
 * there is to do, is the report's. Rank records spell it in words, which nt_reason_find() knows.
 * A new reason is one line in NT_REASONS, and one in the report's table of words.
 *
 * Threads:  pure functions, any thread; libc only.
 */
#ifndef NT_REASON_H
#define NT_REASON_H

/* What a reason is about. */
enum nt_reason_of {
	NT_ABOUT_NOTHING,
	NT_ABOUT_KEY, /* decided: NCCL's pick stays, or a remembered arm is used */
	NT_ABOUT_OPEN_KEY, /* nothing was decided */
	NT_ABOUT_COMM,
	NT_ABOUT_STEP,
};

/* clang-format off */
#define NT_REASONS(X) \
	X(NONE, "", NOTHING) /* there is nothing to explain: an arm was measured and is used */ \
	X(OTHER, "other", NOTHING) /* of a later release, or in words that are not known */ \
	/* decided */ \
	X(ALONE, "alone", KEY) /* no other arm was worth a try */ \
	X(SCREENED, "screened", KEY) /* none looked faster in the first round */ \
	X(SMALL, "small", KEY) /* the gain is below min_gain */ \
	X(CHANCE, "chance", KEY) /* p is not below alpha */ \
	X(MEAN, "mean", KEY) /* faster at best, slower on average */ \
	X(PERIOD, "period", KEY) /* faster, but the program around it was slower */ \
	X(SAMPLES, "samples", KEY) /* too few samples to tell */ \
	X(BUDGET, "budget", KEY) /* exploring on would have cost more than it could bring */ \
	X(ROLLED_BACK, "back", KEY) /* an arm was used, and was no longer faster later */ \
	X(REMEMBERED, "known", KEY) /* an earlier step's arm is used, and was not measured here */ \
	X(NOTHING_BETTER, "best", KEY) /* an earlier step found nothing better */ \
	/* not decided */ \
	X(UNFINISHED, "open", OPEN_KEY) /* the step ended while it was explored */ \
	X(UNWORTHY, "little", OPEN_KEY) /* it takes too little of the time: below min_share */ \
	X(COUNTED, "counted", OPEN_KEY) /* its turn to be explored did not come */ \
	X(OBSERVED, "observed", OPEN_KEY) /* mode observe measures and changes nothing */ \
	X(COMM_NOT_TUNED, "comm", OPEN_KEY) /* its communicator is not tuned, which has a reason */ \
	X(ILLEGAL, "illegal", OPEN_KEY) /* the remembered arm is not possible here */ \
	X(FORBIDDEN, "forbidden", OPEN_KEY) /* the policy forbids the remembered arm */ \
	X(NOT_REMEMBERED, "new", OPEN_KEY) /* mode policy, and nothing is remembered of it */ \
	X(CAPTURED, "captured", OPEN_KEY) /* a CUDA graph was captured before it was agreed on */ \
	/* communicators */ \
	X(MODE, "mode", COMM) /* the mode tries nothing */ \
	X(API, "api", COMM) /* this NCCL gives plugins no GPU times or sequence numbers */ \
	X(HALF, "half", COMM) /* NCCL uses only the tuner or only the profiler of the plugin */ \
	X(BOARD, "board", COMM) /* no shared board on a node */ \
	X(RANK_UNKNOWN, "rank", COMM) /* NCCL does not tell the plugin its rank */ \
	X(UNSEEN, "unseen", COMM) /* a rank was not seen: no plugin there, or it is not heard */ \
	X(NO_PMIX, "nopmix", COMM) /* the step has no PMIx, by which nodes would hear each other */ \
	X(SILENT, "silent", COMM) /* nothing was heard from the node of rank 0 */ \
	X(JOINING, "joining", COMM) /* the step ended before all ranks were seen */ \
	X(HARDWARE, "hardware", COMM) /* ranks differ in ... */ \
	X(NCCL, "nccl", COMM) \
	X(INTERFACE, "interface", COMM) \
	X(BUILD, "build", COMM) \
	X(POLICY, "policy", COMM) \
	X(WARM, "warm", COMM) /* ... in remembered arms */ \
	X(DIFFERS, "differs", COMM) /* ... in something else */ \
	X(LIMIT, "limit", COMM) /* too many communicators or nodes, or an id twice */ \
	X(REFUSED, "refused", COMM) /* a node takes no plan for it */ \
	X(GRAPHS, "graphs", COMM) /* CUDA graphs are captured on it */ \
	X(ASYNCHRONOUS, "async", COMM) /* which call is which collective cannot be told */ \
	X(SYMMETRIC, "symmetric", COMM) /* NCCL's symmetric kernels may take its collectives */ \
	X(RAS, "ras", COMM) /* NCCL's RAS service has set the profiler's events */ \
	X(LEFT, "left", COMM) /* a rank of it ended before the others */ \
	X(SPEAKER, "speaker", COMM) /* no process speaks for one of its nodes */ \
	/* steps */ \
	X(OWN_TUNER, "tuner", STEP) /* the user's own NCCL_TUNER_PLUGIN was kept */ \
	X(OWN_PROFILER, "profiler", STEP) \
	X(OWN_ALGO, "algo", STEP) /* NCCL_ALGO is set */ \
	X(OWN_PROTO, "proto", STEP) \
	X(UNUSABLE, "unusable", STEP) /* rank records that could not be used */ \
	X(NOT_LOADED, "noload", STEP) /* a plugin of the user's, behind ours, was not loaded */
/* clang-format on */

#define NT_REASON_ID(id, code, of) NT_REASON_##id,
enum nt_reason { NT_REASONS(NT_REASON_ID) NT_REASON_COUNT };
#undef NT_REASON_ID

#define NT_REASON_CODE_MAX 12 /* with its NUL */

/* "" for what is no reason. */
const char *nt_reason_code(int reason);
enum nt_reason_of nt_reason_about(int reason);
/* NT_REASON_OTHER for a code that is not known here: a later release's. */
int nt_reason_parse(const char *code);
/* What the words of a rank record, or of a step's, mean: by what they hold. NT_REASON_NONE for "",
 * NT_REASON_OTHER for what is not known. */
int nt_reason_find(const char *words);

#endif
