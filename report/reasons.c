/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons in words that need no other page. */
#include "report/reasons.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PARTS_MAX 3 /* '*' in one entry */

#define KEY NT_REASON_KEY
#define COMM NT_REASON_COMM
#define STEP NT_REASON_STEP

#define NOTHING_TO_DO "Nothing needs to be done."
#define LONGER                                                                              \
	"Run longer; or explore once in a short step with --nccl-tune=profile,launch=auto " \
	"and use what it found with --nccl-tune=policy,launch=auto."
#define WITH_PMIX "Start the step with srun --mpi=pmix."
#define ONE_IMAGE \
	"Let all ranks load the same NCCL: look at their containers, modules and LD_LIBRARY_PATH."

/* The first entry whose words fit counts. Words are those of engine/schedule.c and tuner/write.c
 * (keys), pmix-sync and tuner/open.c (communicators), record/ and spank/ (steps). */
static const struct nt_reason reasons[] = {
	/* Collectives and sizes: NCCL's choice stayed. */
	{ KEY, "no_other_arm", "no other arm",
	  "NCCL has no other algorithm or protocol for it here, or none that may be tried.",
	  "If NCCL_ALGO or NCCL_PROTO is set, unset it; algorithms= and protocols= of --nccl-tune "
	  "may be too narrow." },
	{ KEY, "nothing_faster", "nothing looked faster",
	  "{auto} is the fastest: in a first round no other one was faster.",
	  "Nothing needs to be done; other launch profiles may be faster: "
	  "--nccl-tune=bandit,launch=auto." },
	{ KEY, "small_gain", "gain below min_gain",
	  "{auto} stays: {arm} is the best of the others{gain}, and gains less than "
	  "min_gain asks for (3 % of a call's own time, unless it was set).",
	  "To take smaller gains: --nccl-tune=bandit,min_gain=1." },
	{ KEY, "chance", "may be chance",
	  "{auto} stays: {arm} looked better{gain}, but that may be chance{p}.",
	  "To measure more before deciding: --nccl-tune=bandit,confirm_blocks=64." },
	{ KEY, "mean_slower", "faster at best, slower on average",
	  "{auto} stays: {arm} is faster at its best{gain}, and slower on average.",
	  NOTHING_TO_DO },
	{ KEY, "program_slower", "faster, but the program around it slower",
	  "{auto} stays: calls are faster with {arm}{gain}, but the program around them is "
	  "slower.",
	  "Fewer channels leave more of the GPU to the program: "
	  "--nccl-tune=bandit,channels=on tries them." },
	{ KEY, "few_samples", "not enough samples",
	  "{auto} stays: too few of its calls could be timed for a decision.", LONGER },
	{ KEY, "over_budget", "exploring would cost too much",
	  "{auto} stays: exploring any further would have cost more than it may.",
	  "To let it cost more: --nccl-tune=bandit,max_calls=5000 (also budget=, max_extra=)." },
	{ KEY, "remembered", "remembered, not measured here",
	  "An earlier step found this; it was taken over without measuring.",
	  "To measure it again: --nccl-tune=bandit,launch=auto." },
	{ KEY, "nothing_remembered", "nothing better is remembered",
	  "{auto} stays: an earlier step found nothing better.",
	  "To look again: nccl-tune memory forget --all, then --nccl-tune=bandit,launch=auto." },
	{ KEY, "remembered_illegal", "the remembered arm is not legal here",
	  "What an earlier step found better NCCL does not allow here.",
	  "To look anew: --nccl-tune=bandit,launch=auto." },
	{ KEY, "remembered_forbidden", "the policy forbids the remembered arm",
	  "What an earlier step found better is not among the algorithms and protocols that may "
	  "be used.",
	  "Leave out algorithms= and protocols= of --nccl-tune; nccl-tune config says who sets "
	  "them." },
	{ KEY, "captured_before", "captured before the remembered arm was agreed on",
	  "The program captured it in a CUDA graph before its ranks had agreed on what an earlier "
	  "step found better; a graph keeps what it was captured with.",
	  "Let the program make some 20 plain calls of it before it captures." },
	{ KEY, "stalled", "stalled",
	  "Exploring it came to a halt: its ranks made no calls that could be timed.", LONGER },
	/* Collectives and sizes: nothing was decided. */
	{ KEY, "not_worth_it", "not worth it",
	  "It takes too little of the communication time to be worth exploring.",
	  "To explore everything: --nccl-tune=bandit,min_share=0." },
	{ KEY, "few_calls", "too few calls", "It was called too seldom to be explored.",
	  "To begin earlier: --nccl-tune=bandit,min_calls=8." },
	{ KEY, "unfinished", "not decided",
	  "Unfinished: the step ended while others were still being tried.", LONGER },
	{ KEY, "observed", "only measured", "Only measured: mode observe changes nothing.",
	  "To try others: --nccl-tune=bandit." },
	{ KEY, "no_time", "no time",
	  "None of its calls could be timed: they were in CUDA graphs, or too few.",
	  "For calls in graphs use what another step found: --nccl-tune=policy,launch=auto." },

	/* Communicators. */
	{ COMM, "ranks_not_seen", "its ranks were not all seen",
	  "The step ended before its ranks had found each other, or some could not be heard: ranks "
	  "of other nodes are heard over PMIx alone.",
	  "If the step was started without it: srun --mpi=pmix; else let it run longer." },
	{ COMM, "no_pmix", "ranks on other nodes cannot be heard without PMIx*",
	  "Its ranks are on several nodes, and cannot hear each other without PMIx.", WITH_PMIX },
	{ COMM, "no_pmix_server", "no PMIx server answers (*",
	  "Its ranks are on several nodes, and Slurm's PMIx does not answer them.",
	  WITH_PMIX " In a container also let the hook 50-slurm-pmi.sh of enroot run." },
	{ COMM, "no_libpmix", "no libpmix.so.2 on this node*",
	  "Its ranks are on several nodes, and libpmix.so.2 is missing where they run.",
	  "Install libpmix2 on the nodes, or in the container image." },
	{ COMM, "old_libpmix", "libpmix has no *",
	  "The PMIx library on the nodes is too old: it has no {1}.",
	  "Install libpmix2 4.1 or newer on the nodes, or in the container image." },
	{ COMM, "pmix_silent", "PMIx does not say *", "PMIx does not say {1}.", WITH_PMIX },
	{ COMM, "rank_not_seen", "rank * was not seen: *(*)",
	  "Rank {1} did not show up ({3}): it has no plugin, or its node cannot be heard.",
	  "See what that rank says with NCCL_DEBUG=INFO; is nccl-tune installed on its node and "
	  "mounted in its container, and PMIx in use (srun --mpi=pmix)?" },
	{ COMM, "rank_twice", "rank * was seen on two nodes",
	  "Rank {1} was seen on two nodes: two communicators have the same number.",
	  NOTHING_TO_DO },
	{ COMM, "hardware_differs", "rank * differs: hardware *",
	  "Rank {1} has other hardware: {2}.",
	  "Compare nccl-tune fingerprint of the two nodes; it also says whether a node's number "
	  "is out of date." },
	{ COMM, "nccl_differs", "rank * differs: NCCL *", "Rank {1} runs another NCCL: {2}.",
	  ONE_IMAGE },
	{ COMM, "interface_differs", "rank * differs: plugin interface *",
	  "Rank {1} runs another NCCL, which speaks another plugin interface: {2}.", ONE_IMAGE },
	{ COMM, "build_differs", "rank * differs: plugin build *",
	  "Rank {1} has another build of nccl-tune: {2}.",
	  "Install the same nccl-tune on all nodes." },
	{ COMM, "policy_differs", "rank * differs: policy *",
	  "Rank {1} has other settings of nccl-tune: {2}.",
	  "Make plugstack.conf and nccl-tune.conf alike on all nodes; let the job leave "
	  "NCCL_TUNE_POLICY alone." },
	{ COMM, "memory_differs", "rank * differs: remembered arms *",
	  "Rank {1} was given other remembered choices: {2}.",
	  "Let the job leave NCCL_TUNE_WARM alone." },
	{ COMM, "rank_differs", "rank * differs* *", "Rank {1} differs from the others: {3}.",
	  "Start all ranks alike: the same NCCL, nccl-tune and settings." },
	{ COMM, "do_not_match", "its ranks do not match", "Its ranks do not match each other.",
	  "Start all ranks alike: the same NCCL, nccl-tune and settings." },
	{ COMM, "no_speaker", "the first task of a node has no NCCL rank*",
	  "The first task of a node speaks for it to other nodes, and runs no NCCL here.",
	  "Let the first task of each node use NCCL, too." },
	{ COMM, "speaker_left", "the process that spoke for a node has ended",
	  "The process that spoke for a node to the others has ended.",
	  "Let the first task of each node live as long as the others." },
	{ COMM, "speaker_left", "a node's speaker left",
	  "The process that spoke for a node to the others has ended.",
	  "Let the first task of each node live as long as the others." },
	{ COMM, "node_silent", "nothing was heard from the node of rank 0",
	  "The node of its rank 0 was never heard: it is gone, or hangs.",
	  "Look at that node: nccl-tune show in its step's directory, slurmd's log." },
	{ COMM, "node_refuses", "another node takes no plan",
	  "Another node of it could not take part; what was wrong there is told of another "
	  "communicator, or in that node's log.",
	  "Set NCCL_DEBUG=WARN and look at what the ranks say." },
	{ COMM, "node_refuses", "a node takes no plan for it",
	  "A node of it could not take part; what was wrong there is told of another "
	  "communicator, or in that node's log.",
	  "Set NCCL_DEBUG=WARN and look at what the ranks say." },
	{ COMM, "too_many_reads", "too many looks at other nodes",
	  "Its nodes had asked each other as often as they may.",
	  "Nothing needs to be done; fewer communicators at a time would leave more to each." },
	{ COMM, "too_many_nodes", "its nodes are too many and stand in no order",
	  "Its nodes are too many to be named in one message.",
	  "Give its ranks to consecutive nodes (srun --distribution=block)." },
	{ COMM, "no_times", "*gives no GPU times*",
	  "This NCCL tells plugins neither how long the GPU took nor which call is which; 2.28 and "
	  "newer do.",
	  "Use NCCL 2.28 or newer; for 2.27 in a program without CUDA graphs: "
	  "--nccl-tune=bandit,graphs=never." },
	{ COMM, "half_loaded", "NCCL loaded only one half of the plugin",
	  "NCCL loaded nccl-tune only as profiler or only as tuner, and it takes both.",
	  "Unset NCCL_TUNER_PLUGIN and NCCL_PROFILER_PLUGIN in the job, and in nccl.conf; "
	  "NCCL_DEBUG=INFO shows what is loaded." },
	{ COMM, "no_board", "no shared board on a node",
	  "The ranks of a node share no memory: the step's directory is missing there.",
	  "In a container mount /run/nccl-tune; else see slurmd's log of that node." },
	{ COMM, "no_board", "cannot open *",
	  "The ranks of a node share no memory: cannot open {1}.",
	  "In a container mount /run/nccl-tune; else see slurmd's log of that node." },
	{ COMM, "no_board", "*is no * board *",
	  "The ranks of a node share no memory: the file for it is not the step's own.",
	  "See slurmd's log of that node." },
	{ COMM, "no_board", "*the board*",
	  "The ranks of a node share no memory ({1}the file for it{2}).",
	  "Is the step's directory full (dirsize=)? See slurmd's log of that node." },
	{ COMM, "board_full", "no room on the board *",
	  "A node had more communicators at once than can be tuned.",
	  "Nothing needs to be done; those that came first were tuned." },
	{ COMM, "too_many_ranks", "more than * ranks of a communicator on one node",
	  "It has more than {1} ranks on one node.", NOTHING_TO_DO },
	{ COMM, "graphs", "CUDA graphs are captured on this communicator",
	  "The program captures CUDA graphs on it; calls in a graph cannot be timed, and a graph "
	  "keeps what it was captured with.",
	  "Explore in a step without graphs, with launch=auto; then capture with "
	  "--nccl-tune=policy,launch=auto." },
	{ COMM, "asynchronous", "collectives are issued asynchronously to their calls",
	  "Its collectives are issued by another thread, so that ranks could differ in which call "
	  "is which.",
	  "If the program can: no non-blocking communicators (ncclConfig_t blocking=1)." },
	{ COMM, "symmetric", "symmetric kernels may take this communicator's collectives",
	  "NCCL may run its symmetric kernels on it, which no plugin chooses.",
	  "Nothing is lost: NCCL's choice stays. NCCL_WIN_ENABLE=0 leaves it to the algorithms." },
	{ COMM, "ras", "NCCL's RAS service has set the profiler's events",
	  "NCCL's RAS service has taken over the profiler, so that calls cannot be timed.",
	  "Leave the profiler's events alone in ncclras, or set NCCL_RAS_ENABLE=0." },
	{ COMM, "rank_left", "a rank has left", "A rank of it ended before the others.",
	  NOTHING_TO_DO },
	{ COMM, "same_number", "two communicators have one id",
	  "Two communicators have the same number, and cannot be told apart.", NOTHING_TO_DO },
	{ COMM, "same_number", "rank * is *",
	  "Two communicators have the same number, and cannot be told apart (rank {1} is {2}).",
	  NOTHING_TO_DO },
	{ COMM, "same_number", "rank * comes to a communicator that others have left",
	  "Two communicators have the same number, and cannot be told apart.", NOTHING_TO_DO },
	{ COMM, "no_rank", "NCCL does not tell this plugin its rank",
	  "This NCCL does not tell plugins which rank they are.", "Use NCCL 2.28 or newer." },
	{ COMM, "mode_tries_nothing", "the mode tries nothing",
	  "Only measured: this mode tries nothing.", "To try others: --nccl-tune=bandit." },
	{ COMM, "mode_tries_nothing", "mode *: nothing is tried",
	  "Only measured: mode {1} tries nothing.", "To try others: --nccl-tune=bandit." },
	{ COMM, "not_ready", "not ready", "Its ranks were not ready to be tuned.", LONGER },

	/* Steps. */
	{ STEP, "own_tuner", "the user's own NCCL_TUNER_PLUGIN was kept",
	  "NCCL_TUNER_PLUGIN was set to none, or to more than fits, so nccl-tune was not loaded as "
	  "tuner.",
	  "Unset NCCL_TUNER_PLUGIN; a tuner that it names is loaded as well." },
	{ STEP, "own_profiler", "the user's own NCCL_PROFILER_PLUGIN was kept",
	  "NCCL_PROFILER_PLUGIN was set to none, or to more than fits, so nccl-tune was not loaded "
	  "as profiler.",
	  "Unset NCCL_PROFILER_PLUGIN; a profiler that it names is loaded as well." },
	{ STEP, "own_algo", "the user's own NCCL_ALGO was kept",
	  "NCCL_ALGO is set in the job: NCCL may use nothing else, and nothing else was tried.",
	  "Unset NCCL_ALGO, also in nccl.conf." },
	{ STEP, "own_proto", "the user's own NCCL_PROTO was kept",
	  "NCCL_PROTO is set in the job: NCCL may use nothing else, and nothing else was tried.",
	  "Unset NCCL_PROTO, also in nccl.conf." },
	{ STEP, "plugin_not_loaded", "the user's own * plugin was not loaded: *",
	  "The {1} plugin that the job asked for could not be loaded: {2}. The job ran without it.",
	  "Mend or unset the variable that names it (NCCL_TUNER_PLUGIN, NCCL_PROFILER_PLUGIN)." },
	{ STEP, "no_communicator", "no NCCL communicator was made",
	  "The step made no NCCL communicator.",
	  "Nothing needs to be done, if it was to use none." },
	{ STEP, "captured", "every call was graph-captured",
	  "Every call was captured in a CUDA graph; calls in a graph cannot be timed.",
	  "Explore in a step without graphs, with launch=auto; then capture with "
	  "--nccl-tune=policy,launch=auto." },
	{ STEP, "rank_records", "* rank records, *",
	  "What {1} processes left could not be read: {2}.",
	  "nccl-tune show on the node while such a step runs; is the same nccl-tune on all nodes?" },
	{ STEP, "rank_record", "rank.*.json: *",
	  "What a process left could not be read (rank.{1}.json): {2}.",
	  "nccl-tune show on the node while such a step runs; is the same nccl-tune on all nodes?" },
};

struct part {
	const char *at;
	size_t bytes;
};

/* Does text fit words? The shortest parts count, but for the last. */
static bool fits(const char *words, const char *text, struct part *part, unsigned parts)
{
	const char *star = strchr(words, '*');
	size_t fixed = star ? (size_t)(star - words) : strlen(words);

	if (strncmp(words, text, fixed) != 0)
		return false;
	if (!star)
		return text[fixed] == '\0';
	text += fixed;
	if (parts == 0)
		return false;
	for (size_t bytes = 0;; bytes++) {
		*part = (struct part){ text, bytes };
		if (fits(star + 1, text + bytes, part + 1, parts - 1))
			return true;
		if (text[bytes] == '\0')
			return false;
	}
}

struct writer {
	char *out;
	size_t room, used;
};

static void put(struct writer *writer, const char *text, size_t bytes)
{
	if (bytes >= writer->room - writer->used)
		bytes = writer->room - writer->used - 1;
	memcpy(writer->out + writer->used, text, bytes);
	writer->used += bytes;
	writer->out[writer->used] = '\0';
}

static void put_fact(struct writer *writer, const char *name, const struct nt_reason_facts *facts)
{
	char text[64] = "";

	if (strncmp(name, "arm}", 4) == 0)
		snprintf(text, sizeof(text), "%s",
			 facts && facts->arm && facts->arm[0] ? facts->arm : "another one");
	else if (strncmp(name, "auto}", 5) == 0 && facts && facts->auto_arm && facts->auto_arm[0])
		snprintf(text, sizeof(text), "NCCL's choice (%s)", facts->auto_arm);
	else if (strncmp(name, "auto}", 5) == 0)
		snprintf(text, sizeof(text), "NCCL's choice");
	else if (!facts)
		return;
	else if (strncmp(name, "gain}", 5) == 0 && facts->gain_percent > 0)
		snprintf(text, sizeof(text), ", by %.1f %%", facts->gain_percent);
	else if (strncmp(name, "p}", 2) == 0 && !isnan(facts->p))
		snprintf(text, sizeof(text), " (p %.2g)", facts->p);
	put(writer, text, strlen(text));
}

static void fill(char *out, size_t room, const char *says, const struct part *part,
		 const struct nt_reason_facts *facts)
{
	struct writer writer = { out, room, 0 };

	out[0] = '\0';
	while (*says) {
		size_t plain = strcspn(says, "{");

		put(&writer, says, plain);
		says += plain;
		if (*says == '\0')
			break;
		says++;
		if (*says >= '1' && *says <= '0' + PARTS_MAX)
			put(&writer, part[*says - '1'].at, part[*says - '1'].bytes);
		else
			put_fact(&writer, says, facts);
		says += strcspn(says, "}");
		says += *says == '}';
	}
}

void nt_reason_say(struct nt_said *said, const char *why, const struct nt_reason_facts *facts)
{
	*said = (struct nt_said){ .reason = NULL };
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		struct part part[PARTS_MAX] = { { "", 0 }, { "", 0 }, { "", 0 } };

		if (!fits(reasons[i].words, why, part, PARTS_MAX))
			continue;
		said->reason = &reasons[i];
		fill(said->says, sizeof(said->says), reasons[i].says, part, facts);
		snprintf(said->type, sizeof(said->type), "%s", reasons[i].type);
		return;
	}
	snprintf(said->says, sizeof(said->says), "%s", why);
}

const struct nt_reason *nt_reason_find(const char *code)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (strcmp(reasons[i].code, code) == 0)
			return &reasons[i];
	}
	return NULL;
}

const struct nt_reason *nt_reason_at(size_t index)
{
	return index < sizeof(reasons) / sizeof(reasons[0]) ? &reasons[index] : NULL;
}
