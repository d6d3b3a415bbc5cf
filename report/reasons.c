/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons in words that need no other page. */
#include "report/reasons.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define PARTS_MAX 3 /* '*' in one entry */

#define NOTHING_TO_DO "Nothing needs to be done."
#define LONGER                                                                              \
	"Run longer; or explore once in a short step with --nccl-tune=profile,launch=auto " \
	"and use what it found with --nccl-tune=policy,launch=auto."
#define WITH_PMIX "Start the step with srun --mpi=pmix."
#define ONE_NCCL \
	"Let all ranks load the same NCCL: look at their containers, modules and LD_LIBRARY_PATH."
#define ALIKE "Start all ranks alike: the same NCCL, nccl-tune and settings."
/* In place of a record's words, where no other node is to be heard. */
#define INSIDE_A_NODE "its ranks were not all seen, on one node"
#define SEE_LOG "Look at what NCCL says with NCCL_DEBUG=WARN, and at slurmd's log of the nodes."

/* The first entry whose words fit counts, else the one of the reason that has none. Words are those
 * of rank records: engine/schedule.c, tuner/write.c, tuner/open.c, pmix-sync. */
static const struct nt_reason_words reasons[] = {
	{ NT_REASON_ALONE, NULL,
	  "NCCL has no other algorithm or protocol for it here, or none that may be tried.",
	  "If NCCL_ALGO or NCCL_PROTO is set, unset it; algorithms= and protocols= of "
	  "--nccl-tune may be too narrow." },
	{ NT_REASON_SCREENED, NULL,
	  "{auto} is the fastest: in a first round no other one was faster.",
	  "Other settings at NCCL's start may be faster: --nccl-tune=bandit,launch=auto tries "
	  "some." },
	{ NT_REASON_SMALL, NULL,
	  "{auto} stays: {arm} is the best of the others{gain}, but in the fastest quarter of its "
	  "calls, which is what counts, it gains less than min_gain asks for (3 %, unless it was "
	  "set).",
	  "To take smaller gains: --nccl-tune=bandit,min_gain=1." },
	{ NT_REASON_CHANCE, NULL,
	  "{auto} stays: {arm} looked better{gain}, but that may be chance{p}.",
	  "To measure more before deciding: --nccl-tune=bandit,confirm_blocks=64." },
	{ NT_REASON_MEAN, NULL,
	  "{auto} stays: {arm} is faster at its best{gain}, but slower on average.",
	  NOTHING_TO_DO },
	{ NT_REASON_PERIOD, NULL,
	  "{auto} stays: calls are faster with {arm}{gain}, but the program around them is "
	  "slower.",
	  "Fewer channels leave more of the GPU to the program; to try them: "
	  "--nccl-tune=bandit,channels=on." },
	{ NT_REASON_SAMPLES, NULL,
	  "{auto} stays: too few of its calls could be timed for a decision.", LONGER },
	{ NT_REASON_BUDGET, NULL,
	  "{auto} stays: exploring on would have cost more than it may, or could bring.",
	  "To let it cost more: --nccl-tune=bandit,max_calls=5000 (also budget=, max_extra=)." },
	{ NT_REASON_ROLLED_BACK, NULL,
	  "{auto} is back: {arm} was used for a while, and was no longer faster when it was "
	  "looked at again.",
	  "Nothing needs to be done; it is looked at again while the step runs." },
	{ NT_REASON_REMEMBERED, NULL,
	  "An earlier step found it; it was taken over, and not measured here.",
	  "To measure it again: --nccl-tune=bandit,launch=auto." },
	{ NT_REASON_NOTHING_BETTER, NULL, "{auto} stays: an earlier step found nothing better.",
	  "To look anew: nccl-tune memory forget --all, then --nccl-tune=bandit,launch=auto." },
	{ NT_REASON_UNFINISHED, NULL,
	  "Unfinished: the step ended while others were still being tried.", LONGER },
	{ NT_REASON_UNWORTHY, "* *: not worth it",
	  "{1} {2} take too little of the communication time to be worth exploring.",
	  "To explore everything: --nccl-tune=bandit,min_share=0." },
	{ NT_REASON_UNWORTHY, NULL,
	  "It takes too little of the communication time to be worth exploring.",
	  "To explore everything: --nccl-tune=bandit,min_share=0." },
	{ NT_REASON_COUNTED, NULL,
	  "It was not explored: it was called too seldom, or its turn had not come when the "
	  "step ended.",
	  "Run longer, or begin earlier: --nccl-tune=bandit,min_calls=8." },
	{ NT_REASON_OBSERVED, NULL, "Only measured: mode observe changes nothing.",
	  "To try other choices: --nccl-tune=bandit." },
	{ NT_REASON_COMM_NOT_TUNED, NULL,
	  "Its communicator was not tuned, for a reason of its own.",
	  "See the reason that is told of its communicator." },
	{ NT_REASON_ILLEGAL, NULL, "What an earlier step found better NCCL does not allow here.",
	  "To look anew: --nccl-tune=bandit,launch=auto." },
	{ NT_REASON_FORBIDDEN, NULL,
	  "What an earlier step found better is not among the algorithms and protocols that "
	  "may be used.",
	  "Leave out algorithms= and protocols= of --nccl-tune; nccl-tune config says who sets "
	  "them." },
	{ NT_REASON_NOT_REMEMBERED, NULL,
	  "Mode policy explores nothing, and no earlier step has found anything for it with this "
	  "NCCL, network and hardware.",
	  "Explore in a step with --nccl-tune=profile,launch=auto; later ones of mode policy use "
	  "what it found." },
	{ NT_REASON_CAPTURED, NULL,
	  "The program captured it in a CUDA graph before its ranks had agreed on what an "
	  "earlier step found better; a graph keeps what it was captured with.",
	  "Let the program make some 20 plain calls of it before it captures." },
	{ NT_REASON_NO_PMIX, "no PMIx server answers (*",
	  "Its ranks are on several nodes, and Slurm's PMIx does not answer them.",
	  WITH_PMIX " In a container see that enroot's hook 50-slurm-pmi.sh runs." },
	{ NT_REASON_NO_PMIX, "no libpmix.so.2 on this node*",
	  "Its ranks are on several nodes, and libpmix.so.2 is missing where they run.",
	  "Install libpmix2 on the nodes, or in the container's image." },
	{ NT_REASON_NO_PMIX, "libpmix has no *",
	  "The PMIx library where its ranks run is too old: it has no {1}.",
	  "Install libpmix2 4.1 or newer on the nodes, or in the container's image." },
	{ NT_REASON_NO_PMIX, "PMIx does not say *", "PMIx does not say {1}.", WITH_PMIX },
	{ NT_REASON_NO_PMIX, NULL,
	  "Its ranks are on several nodes, and cannot hear each other without PMIx.", WITH_PMIX },
	{ NT_REASON_JOINING, NULL,
	  "The step ended before its ranks had found each other, or some could not be heard: "
	  "ranks on other nodes are heard over PMIx alone.",
	  "If the step was started without it: srun --mpi=pmix; else let it run longer." },
	{ NT_REASON_JOINING, INSIDE_A_NODE,
	  "The step ended before its ranks, all on one node, had found each other.",
	  "Let it run longer." },
	{ NT_REASON_UNSEEN, "rank * was not seen: *(*)",
	  "Rank {1} did not show up ({3}): it has no plugin, or its node cannot be heard.",
	  "See what that rank says with NCCL_DEBUG=INFO: is nccl-tune installed on its node, "
	  "mounted in its container, and PMIx in use (srun --mpi=pmix)?" },
	{ NT_REASON_UNSEEN, NULL,
	  "One of its ranks did not show up: it has no plugin, or its node cannot be heard.",
	  "See what its ranks say with NCCL_DEBUG=INFO: is nccl-tune installed on all nodes, "
	  "mounted in containers, and PMIx in use (srun --mpi=pmix)?" },
	{ NT_REASON_SILENT, NULL, "The node of its rank 0 was never heard: it is gone, or hangs.",
	  "Look at slurmd's log of that node." },
	{ NT_REASON_HARDWARE, "rank * differs: hardware *", "Rank {1} has other hardware: {2}.",
	  "Compare nccl-tune fingerprint of the two nodes; it also says whether a node's "
	  "number is out of date." },
	{ NT_REASON_HARDWARE, NULL, "One of its ranks has other hardware.",
	  "Compare nccl-tune fingerprint of the two nodes; it also says whether a node's "
	  "number is out of date." },
	{ NT_REASON_NCCL, "rank * differs: NCCL *", "Rank {1} runs another NCCL: {2}.", ONE_NCCL },
	{ NT_REASON_NCCL, NULL, "One of its ranks runs another NCCL.", ONE_NCCL },
	{ NT_REASON_INTERFACE, "rank * differs: plugin interface *",
	  "Rank {1} runs another NCCL, with another plugin interface: {2}.", ONE_NCCL },
	{ NT_REASON_INTERFACE, NULL,
	  "One of its ranks runs another NCCL, with another plugin interface.", ONE_NCCL },
	{ NT_REASON_BUILD, "rank * differs: plugin build *",
	  "Rank {1} has another build of nccl-tune: {2}.",
	  "Install the same nccl-tune on all nodes." },
	{ NT_REASON_BUILD, NULL, "One of its ranks has another build of nccl-tune.",
	  "Install the same nccl-tune on all nodes." },
	{ NT_REASON_POLICY, "rank * differs: policy *",
	  "Rank {1} has other settings of nccl-tune: {2}.",
	  "Make plugstack.conf and nccl-tune.conf alike on all nodes; let the job leave "
	  "NCCL_TUNE_POLICY alone." },
	{ NT_REASON_POLICY, NULL, "One of its ranks has other settings of nccl-tune.",
	  "Make plugstack.conf and nccl-tune.conf alike on all nodes; let the job leave "
	  "NCCL_TUNE_POLICY alone." },
	{ NT_REASON_WARM, "rank * differs: remembered arms *",
	  "Rank {1} was given other remembered choices: {2}.",
	  "Let the job leave NCCL_TUNE_WARM alone." },
	{ NT_REASON_WARM, NULL, "One of its ranks was given other remembered choices.",
	  "Let the job leave NCCL_TUNE_WARM alone." },
	{ NT_REASON_DIFFERS, "rank * was seen on two nodes",
	  "Rank {1} was seen on two nodes: two communicators have the same number.",
	  NOTHING_TO_DO },
	{ NT_REASON_DIFFERS, "rank * differs* *", "Rank {1} differs from the others: {3}.", ALIKE },
	{ NT_REASON_DIFFERS, NULL, "Its ranks do not match each other.", ALIKE },
	{ NT_REASON_API, NULL,
	  "This NCCL tells plugins neither how long the GPU took nor which call is which; 2.28 "
	  "and newer do.",
	  "Use NCCL 2.28 or newer; 2.27, if the program captures no CUDA graphs: "
	  "--nccl-tune=bandit,graphs=never." },
	{ NT_REASON_HALF, NULL,
	  "NCCL loaded nccl-tune only as profiler or only as tuner; it takes both.",
	  "Unset NCCL_TUNER_PLUGIN and NCCL_PROFILER_PLUGIN in the job and in nccl.conf; "
	  "NCCL_DEBUG=INFO shows what is loaded." },
	{ NT_REASON_BOARD, "cannot open *", "The ranks of a node share no memory: cannot open {1}.",
	  "In a container mount /run/nccl-tune; else see slurmd's log of that node." },
	{ NT_REASON_BOARD, NULL,
	  "The ranks of a node share no memory: the step's directory is missing there, or full.",
	  "In a container mount /run/nccl-tune; else see slurmd's log of that node." },
	{ NT_REASON_RANK_UNKNOWN, NULL, "This NCCL does not tell plugins which rank they are.",
	  "Use NCCL 2.28 or newer." },
	{ NT_REASON_LIMIT, "too many looks at other nodes",
	  "Its nodes had asked each other as often as they may.",
	  "Nothing needs to be done; with fewer communicators at a time each can ask more." },
	{ NT_REASON_LIMIT, "its nodes are too many and stand in no order",
	  "Its nodes are too many to be named in one message.",
	  "Give its ranks to nodes in order: srun --distribution=block." },
	{ NT_REASON_LIMIT, NULL,
	  "There were more communicators, ranks or nodes than can be tuned, or two had the "
	  "same number.",
	  "Nothing needs to be done: those that came first were tuned." },
	{ NT_REASON_REFUSED, NULL,
	  "A node of it could not take part; why is told of another communicator, or in that "
	  "node's log.",
	  SEE_LOG },
	{ NT_REASON_MODE, "mode *: nothing is tried", "Only measured: mode {1} tries nothing.",
	  "To try other choices: --nccl-tune=bandit." },
	{ NT_REASON_MODE, NULL, "Only measured: this mode tries nothing.",
	  "To try other choices: --nccl-tune=bandit." },
	{ NT_REASON_OTHER, "no reason",
	  "{auto} stays; an older release wrote this record, without its reasons.", "" },
	{ NT_REASON_GRAPHS, NULL,
	  "The program captures CUDA graphs on it: calls in a graph cannot be timed, and a "
	  "graph keeps what it was captured with.",
	  "Explore in a step without graphs, with launch=auto; then capture with "
	  "--nccl-tune=policy,launch=auto." },
	{ NT_REASON_GRAPHS, "every call was graph-captured",
	  "Every call was captured in a CUDA graph; calls in a graph cannot be timed.",
	  "Explore in a step without graphs, with launch=auto; then capture with "
	  "--nccl-tune=policy,launch=auto." },
	{ NT_REASON_ASYNCHRONOUS, NULL,
	  "Its collectives are issued by another thread than its calls: which call is which "
	  "cannot be told.",
	  "If the program can, let it use blocking communicators (ncclConfig_t, blocking=1)." },
	{ NT_REASON_SYMMETRIC, NULL,
	  "NCCL may run its symmetric kernels on it, which no plugin chooses.",
	  "Nothing is lost: NCCL's choice stays. NCCL_WIN_ENABLE=0 switches these kernels off." },
	{ NT_REASON_RAS, NULL,
	  "NCCL's RAS service has taken over the profiler, so that calls cannot be timed.",
	  "Let ncclras leave the profiler alone, or set NCCL_RAS_ENABLE=0." },
	{ NT_REASON_LEFT, NULL, "A rank of it ended before the others.", NOTHING_TO_DO },
	{ NT_REASON_OTHER, "two communicators have one id",
	  "Two communicators have the same number, and cannot be told apart.", NOTHING_TO_DO },
	{ NT_REASON_OTHER, "rank * is of a communicator that is decided already",
	  "Two communicators have the same number, and cannot be told apart.", NOTHING_TO_DO },
	{ NT_REASON_OTHER, "rank * is on the board already",
	  "Two communicators have the same number, and cannot be told apart.", NOTHING_TO_DO },
	{ NT_REASON_OTHER, "rank * comes to a communicator that others have left",
	  "Two communicators have the same number, and cannot be told apart.", NOTHING_TO_DO },
	{ NT_REASON_OTHER, "no room on the board for another communicator*",
	  "A node had more communicators at once than can be tuned.",
	  "Nothing needs to be done: those that came first were tuned." },
	{ NT_REASON_OTHER, "more than * ranks of a communicator on one node",
	  "It has more than {1} ranks on one node, which is more than can be tuned.",
	  NOTHING_TO_DO },
	{ NT_REASON_OTHER, "*the board*",
	  "The ranks of a node share no memory ({1}the file for it{2}).",
	  "In a container mount /run/nccl-tune; else see slurmd's log of that node." },
	{ NT_REASON_OTHER, "*is no*board*",
	  "The ranks of a node share no memory: the file for it is not the step's own.",
	  "In a container mount /run/nccl-tune; else see slurmd's log of that node." },
	{ NT_REASON_SPEAKER, "the first task of a node has no NCCL rank*",
	  "The first task of a node speaks for it to other nodes, and runs no NCCL here.",
	  "Let the first task of each node use NCCL, too." },
	{ NT_REASON_SPEAKER, NULL, "The process that spoke for a node to the others has ended.",
	  "Let the first task of each node live as long as the others." },
	{ NT_REASON_SPEAKER, "a node's speaker left",
	  "The process that spoke for a node to the others has ended.",
	  "Let the first task of each node live as long as the others." },
	{ NT_REASON_OTHER, "task * is not the first of its node",
	  "PMIx and Slurm number the tasks of a node differently.", WITH_PMIX },
	{ NT_REASON_OTHER, "MPI has not been started yet",
	  "The program loaded an MPI library and had not started it when the step ended.",
	  "Call MPI_Init() before NCCL's communicators are made." },
	{ NT_REASON_OTHER, "not ready", "Its ranks were not ready to be tuned.", LONGER },
	{ NT_REASON_OTHER, "out of memory", "The node of a rank had no memory left.",
	  "Leave the job's processes more memory (--mem)." },
	{ NT_REASON_NOT_LOADED, "the user's own * plugin was not loaded: *",
	  "The {1} plugin that the job asks for could not be loaded, and the job ran without it: "
	  "{2}.",
	  "Mend or unset what names it: NCCL_TUNER_PLUGIN, NCCL_PROFILER_PLUGIN." },
	{ NT_REASON_NOT_LOADED, NULL,
	  "A plugin that the job asks for could not be loaded, and the job ran without it.",
	  "Mend or unset what names it: NCCL_TUNER_PLUGIN, NCCL_PROFILER_PLUGIN." },
	{ NT_REASON_OWN_TUNER, NULL,
	  "NCCL_TUNER_PLUGIN was none, or too long a name, so that nccl-tune was not loaded as "
	  "tuner.",
	  "Unset NCCL_TUNER_PLUGIN; a tuner that it names is loaded as well." },
	{ NT_REASON_OWN_PROFILER, NULL,
	  "NCCL_PROFILER_PLUGIN was none, or too long a name, so that nccl-tune was not loaded "
	  "as profiler.",
	  "Unset NCCL_PROFILER_PLUGIN; a profiler that it names is loaded as well." },
	{ NT_REASON_OWN_ALGO, NULL, "NCCL_ALGO is set in the job: what it forbids is not tried.",
	  "Unset NCCL_ALGO, also in nccl.conf." },
	{ NT_REASON_OWN_PROTO, NULL, "NCCL_PROTO is set in the job: what it forbids is not tried.",
	  "Unset NCCL_PROTO, also in nccl.conf." },
	{ NT_REASON_UNUSABLE, "* rank records, *",
	  "What {1} processes left could not be read: {2}.",
	  "Look with nccl-tune show on the node while such a step runs; is the same nccl-tune "
	  "installed on all nodes?" },
	{ NT_REASON_UNUSABLE, "rank.*.json: *",
	  "What a process left could not be read (rank.{1}.json): {2}.",
	  "Look with nccl-tune show on the node while such a step runs; is the same nccl-tune "
	  "installed on all nodes?" },
	{ NT_REASON_UNUSABLE, NULL, "What processes left could not be read.",
	  "Look with nccl-tune show on the node while such a step runs; is the same nccl-tune "
	  "installed on all nodes?" },
	{ NT_REASON_OTHER, NT_NOT_IN_FULL ": *", NT_NOT_IN_FULL ": {1}.",
	  "Let NCCL_TUNE_RECORD_DIR name a directory that you can write to on all nodes." },
	{ NT_REASON_OTHER, "no NCCL communicator was made", "The step made no NCCL communicator.",
	  "Nothing needs to be done, unless it was to use NCCL." },
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

void nt_reason_say(struct nt_said *said, int reason, const char *words,
		   const struct nt_reason_facts *facts)
{
	struct part part[PARTS_MAX] = { { "", 0 }, { "", 0 }, { "", 0 } };
	const struct nt_reason_words *found = NULL;

	*said = (struct nt_said){ .reason = reason };
	for (size_t i = 0; i < LENGTH(reasons) && !found; i++) {
		if (words && reasons[i].words && fits(reasons[i].words, words, part, PARTS_MAX))
			found = &reasons[i];
	}
	for (size_t i = 0; i < LENGTH(reasons) && !found; i++) {
		if (reasons[i].reason == reason && !reasons[i].words)
			found = &reasons[i];
	}
	if (!found) {
		snprintf(said->says, sizeof(said->says), "%s", words ? words : "");
		return;
	}
	fill(said->says, sizeof(said->says), found->says, part, facts);
	snprintf(said->type, sizeof(said->type), "%s", found->type);
}

void nt_remark_say(struct nt_said *said, const struct nt_remark *remark)
{
	const char *words = remark->text + remark->words;

	if (remark->reason == NT_REASON_JOINING && remark->nodes == 1)
		words = INSIDE_A_NODE;
	nt_reason_say(said, remark->reason, words, NULL);
}

const struct nt_reason_words *nt_reason_at(size_t index)
{
	return index < LENGTH(reasons) ? &reasons[index] : NULL;
}
