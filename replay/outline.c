/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/outline.h"

#include <inttypes.h>
#include "engine/confirm.h"
#include "engine/screen.h"

static double percent(int64_t micro)
{
	return (double)micro / 1e6;
}

static void exact_test(FILE *out, double alpha)
{
	fprintf(out,
		"    an exact paired test gives p below %g (alpha) times 1/%d for one choice, 1/%d for two,\n"
		"    as each may be looked at %d times: below %.3g, or %.3g;\n",
		alpha, NT_CONFIRM_PAID, NT_CONFIRM_PAID * NT_CONFIRM_ARMS, NT_CONFIRM_LOOKS,
		alpha / NT_CONFIRM_PAID, alpha / (NT_CONFIRM_PAID * NT_CONFIRM_ARMS));
}

static void gates(FILE *out, const struct nt_policy *p)
{
	fprintf(out,
		"  In the second round, a choice replaces NCCL's if all of this holds:\n"
		"    its lower quartile is at least %g %% below that of NCCL's (min_gain), in percent of a call's\n"
		"    own time, or of the time to the next one where NCCL does not tell its end; if times have\n"
		"    several modes, its median in one of them;\n",
		percent(p->min_gain_micro));
	exact_test(out, percent(p->alpha_micro));
	fprintf(out,
		"    its mean is lower beyond chance, or nothing speaks for more stalls than NCCL's has%s\n",
		p->reward == NT_REWARD_PERIOD
			? "."
			: ";\n    nothing speaks for the program's taking longer from call to call.");
	fputs("  A round is begun only where what is left of the job could save what it is expected to cost;\n"
	      "  an hour, where Slurm does not tell.\n",
	      out);
}

void nt_outline_policy(FILE *out, const struct nt_policy *policy)
{
	char text[NT_POLICY_MAX] = "";

	(void)nt_policy_format_option(policy, text, sizeof(text));
	fprintf(out, "policy: %s\n", text);
	if (policy->mode == NT_MODE_OFF) {
		fputs("  Mode off: NCCL runs without the plugin.\n", out);
		return;
	}
	if (policy->mode == NT_MODE_OBSERVE) {
		fputs("  Mode observe: NCCL's choice is measured and stays; no other is tried.\n",
		      out);
		return;
	}
	if (policy->mode == NT_MODE_POLICY) {
		fputs("  Mode policy: remembered choices are used as they are; no other is tried.\n",
		      out);
		return;
	}
	fprintf(out,
		"  A collective and size is explored after %" PRId64
		" calls (min_calls), where all ranks have agreed.\n",
		policy->min_calls);
	fprintf(out,
		"  What is compared is the time from a call's start to the next %s (reward).\n",
		policy->reward == NT_REWARD_PERIOD ? "one of the same kind and size"
						   : "collective on its communicator");
	gates(out, policy);
}

static void print_arm(FILE *out, const struct nt_outline_key *key, unsigned arm)
{
	double median_us = key->median_us[arm == NT_ARM_BASELINE ? NT_PAIRS : arm];
	double fitted_us = key->fitted_us[arm == NT_ARM_BASELINE ? NT_PAIRS : arm];
	unsigned priced = arm == NT_ARM_BASELINE ? key->key.auto_arm : arm;

	fprintf(out, "    %-22s", arm == NT_ARM_BASELINE ? "NCCL's choice" : nt_arm_name((int)arm));
	if (arm == NT_ARM_BASELINE && key->key.auto_arm < NT_PAIRS)
		fprintf(out, " is %s,", nt_arm_name((int)key->key.auto_arm));
	if (priced < NT_PAIRS && key->key.cost_us[priced] >= 0)
		fprintf(out, " NCCL predicts %.1f us", (double)key->key.cost_us[priced]);
	if (median_us > 0)
		fprintf(out, " median %.1f us", median_us);
	if (fitted_us > 0)
		fprintf(out, " fit %.1f us", fitted_us);
	fputc('\n', out);
}

static bool scheduled(const struct nt_schedule *s, unsigned arm)
{
	for (unsigned i = 0; i < s->count; i++) {
		if (s->arm[i] == arm)
			return true;
	}
	return false;
}

/* Why an arm is not in the first round. */
static void print_left_out(FILE *out, const struct nt_outline_key *key, const struct nt_schedule *s)
{
	float auto_us = key->key.auto_arm < NT_PAIRS ? key->key.cost_us[key->key.auto_arm] : -1;

	for (unsigned arm = 0; arm < NT_PAIRS; arm++) {
		float cost_us = key->key.cost_us[arm];

		if (!(key->known & (1u << arm)) || scheduled(s, arm))
			continue;
		fprintf(out, "    %-22s left out: ", nt_arm_name((int)arm));
		if (arm == key->key.auto_arm)
			fputs("it is NCCL's choice\n", out);
		else if (auto_us > 0 && cost_us > NT_SCREEN_COST_FACTOR * auto_us)
			fprintf(out,
				"NCCL predicts %.1f us, over %d times the %.1f us of its choice\n",
				(double)cost_us, NT_SCREEN_COST_FACTOR, (double)auto_us);
		else if (nt_screen_ll_hopeless(arm, key->key.size_bytes, cost_us, auto_us))
			fprintf(out,
				"NCCL predicts %.1f us, for its choice %.1f us, and half of LL's bytes are data\n",
				(double)cost_us, (double)auto_us);
		else
			fprintf(out, "a round has room for %d choices and NCCL's\n",
				NT_SCHEDULE_ARMS - 1);
	}
}

/* The cost of the first round beyond AUTO's, if all medians are known. */
static void print_cost(FILE *out, const struct nt_outline_key *key, const struct nt_schedule *s)
{
	double auto_us = key->median_us[NT_PAIRS], more_us = 0;

	for (unsigned i = 0; i < s->count; i++) {
		double us = key->median_us[s->arm[i] == NT_ARM_BASELINE ? NT_PAIRS : s->arm[i]];

		if (!(us > 0) || !(auto_us > 0))
			return;
		more_us += (us - auto_us) * s->blocks;
	}
	fprintf(out, "  That round takes %.2f ms %s than NCCL's choice would, by the medians.\n",
		(more_us < 0 ? -more_us : more_us) / 1000, more_us < 0 ? "less" : "more");
}

/* The arms that refine.h makes of the best two pairs, AUTO's among them. Returns the largest number
 * of calls. */
static unsigned print_refined(FILE *out, const struct nt_policy *policy,
			      const struct nt_schedule *first)
{
	bool channels = policy->channels == NT_SWITCH_ON, chunks = policy->chunks == NT_SWITCH_ON;
	unsigned arms = 1 + NT_CONFIRM_ARMS * (1 + 3u * channels + 2u * chunks);
	struct nt_schedule most = *first;

	if (!channels && !chunks)
		return 0;
	most.count = (uint8_t)(arms < NT_SCHEDULE_ARMS ? arms : NT_SCHEDULE_ARMS);
	while (most.blocks > 1 && nt_schedule_positions(&most) > NT_RUN_POSITIONS)
		most.blocks--;
	fprintf(out, "  Then a round like the first, up to %u calls, of the best two%s%s.\n",
		nt_schedule_positions(&most),
		channels ? "\n    with half, a quarter and twice the channels that NCCL gave them"
			 : "",
		chunks ? "\n    with smaller chunks, where NCCL asks for their size" : "");
	return nt_schedule_positions(&most);
}

static void print_rounds(FILE *out, const struct nt_policy *policy, const struct nt_schedule *first)
{
	unsigned calls = nt_schedule_positions(first);
	unsigned blocks = (unsigned)policy->confirm_blocks + NT_SCHEDULE_WARM_UP;
	unsigned looks = 1u << (NT_CONFIRM_LOOKS - 1);
	unsigned most = first->count - 1u < NT_CONFIRM_ARMS ? first->count - 1u : NT_CONFIRM_ARMS;
	unsigned refined = print_refined(out, policy, first);

	fprintf(out,
		"  Choices that could win go on, %d at most. Second round: NCCL's and these, %u blocks (the first\n"
		"  to warm up), %u to %u calls; while the answer is near another that is as long as all before,\n"
		"  until there are %u times as many blocks, or a minute or a hundred steps are over.\n"
		"  In all %u calls where nothing looks faster, else %u to %u.\n",
		NT_CONFIRM_ARMS, blocks, 2 * blocks, (1 + most) * blocks, looks, calls + refined,
		calls + refined + 2 * blocks, calls + refined + looks * (1 + most) * blocks);
}

void nt_outline_print(FILE *out, struct nt_drive *drive, const struct nt_outline_key *key)
{
	const struct nt_policy *policy = &drive->engine.policy;
	struct nt_schedule first = { .count = 0 };

	fprintf(out, "\n%s\n", key->name);
	if (policy->mode != NT_MODE_BANDIT && policy->mode != NT_MODE_PROFILE)
		return;
	if (key->key.mask == 0 || !nt_drive_first(drive, &key->key, &first)) {
		fputs("  Nothing to try: NCCL's choice stays.\n", out);
		print_left_out(out, key, &first);
		return;
	}
	fprintf(out,
		"  First round: %u choices, %u blocks (the first to warm up), %u calls; the order changes from block to block.\n",
		first.count, first.blocks, nt_schedule_positions(&first));
	for (unsigned i = 0; i < first.count; i++)
		print_arm(out, key, first.arm[i]);
	print_left_out(out, key, &first);
	print_cost(out, key, &first);
	print_rounds(out, policy, &first);
}
