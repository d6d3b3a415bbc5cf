/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* reason.h - why a step gets its launch profile, or why a profile was not taken
 *
 * Threads:  pure.
 * Memory:   names and texts are constants.
 * Errors:   "?" for what is no reason; -1 for a name of none.
 */
#ifndef NT_LAUNCH_REASON_H
#define NT_LAUNCH_REASON_H

/* name, text for people */
/* clang-format off */
#define NT_WHYS(X) \
	X(NO_HARDWARE, "the nodes' hardware is unknown or mixed") \
	X(CONTROL, "this task of the array stays with the default, as control") \
	X(NOTHING_KNOWN, "nothing is known here") \
	X(FIRST, "the default is measured first") \
	X(CHECK, "the default runs once, so that the program's own steps can be compared") \
	X(TRY, "it has not been tried here") \
	X(GAIN, "it is faster on this job's mix") \
	X(FELT, "the program's own steps were faster") \
	X(NONE_BETTER, "no profile is better than the default") \
	X(TOO_LITTLE, "too little of this job's mix was measured") \
	X(NOISE, "its gain is within noise") \
	X(SMALL, "its gain is too small") \
	X(SLOWER, "it is slower on this job's mix") \
	X(FELT_SLOWER, "the program's own steps were slower") \
	X(LEFT_NOTHING, "its last step in this job failed, or was too short to tell") \
	X(QUARANTINED, "the program felt it slower twice") \
	X(UNPROVEN, "a job's first step takes only what was calibrated or has won in three jobs") \
	X(WORST, "without a known mix it must not lose at any size") \
	X(OTHER_SOFTWARE, "it was measured with another NCCL or driver") \
	X(CANNOT_WIN, "what is known of its neighbours leaves it no chance") \
	X(FABRIC, "it is for another fabric") \
	X(LESS, "another one is better") \
	X(ASKED, "it was asked for by its name")
/* clang-format on */

enum nt_why {
#define NT_WHY_ID(id, text) NT_WHY_##id,
	NT_WHYS(NT_WHY_ID)
#undef NT_WHY_ID
		NT_WHY_COUNT
};

const char *nt_why_name(int why); /* "GAIN", "NOISE", ... */
const char *nt_why_text(int why);
int nt_why_parse(const char *name); /* -1 if there is none of this name */

#endif
