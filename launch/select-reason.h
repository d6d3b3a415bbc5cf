/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* select-reason.h - why a step gets a launch profile, or why a profile was not chosen
 *
 * Threads:  pure.
 * Memory:   names and texts are constants.
 * Errors:   "?" for an unknown reason; -1 for an unknown name.
 */
#ifndef NT_LAUNCH_REASON_H
#define NT_LAUNCH_REASON_H

/* name, text for users */
/* clang-format off */
#define NT_WHYS(X) \
	X(NO_HARDWARE, "no measurements of these nodes, or their hardware differs") \
	X(UNEVEN, "its tasks are not the same number on each node") \
	X(NOTHING_KNOWN, "nothing was measured on such nodes") \
	X(GAIN, "it is faster for this program's calls") \
	X(NONE_BETTER, "no profile is better than the default") \
	X(TOO_LITTLE, "too few of this program's calls were measured") \
	X(NOISE, "its gain is within noise") \
	X(SMALL, "its gain is too small") \
	X(SLOWER, "it is slower for this program's calls") \
	X(STEPS_SLOWER, "the program's own steps were slower") \
	X(LEFT_NOTHING, "its last step in this job failed or was too short to tell") \
	X(WRONG_RESULTS, "it gave wrong results here") \
	X(TOO_FEW_SIZES, "its calls are unknown, and small and large sizes were not both measured") \
	X(WORST, "its calls are unknown, and it is slower at some size") \
	X(OTHER_SOFTWARE, "it was measured only with another NCCL or driver") \
	X(WRONG_FORCED, "results were wrong on this hardware: nothing but NCCL's own choice is used") \
	X(LESS, "another profile is better") \
	X(ASKED, "it was requested by name")
/* clang-format on */

enum nt_why {
#define NT_WHY_ID(id, text) NT_WHY_##id,
	NT_WHYS(NT_WHY_ID)
#undef NT_WHY_ID
		NT_WHY_COUNT
};

const char *nt_why_name(int why); /* "GAIN", "NOISE", ... */
const char *nt_why_text(int why);
int nt_why_parse(const char *name); /* -1 if there is no such name */

#endif
