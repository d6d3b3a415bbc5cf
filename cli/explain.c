/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune explain: show what a job would do, without running it. */
#include <stdlib.h>
#include <string.h>
#include "engine/screen.h"
#include "lib/size.h"
#include "replay/fitted.h"
#include "replay/outline.h"
#include "replay/source.h"
#include "cli/command.h"
#include "cli/job-word.h"
#include "lib/file.h"
#include "record/rankread.h"

#define FILE_BYTES ((size_t)64 << 20)
#define SIZES 32
#define SIZE_LARGEST (UINT64_C(1) << 40)

struct asked {
	struct nt_policy policy;
	bool policy_given;
	unsigned colls; /* bits */
	const char *topology;
	uint64_t size[SIZES];
	unsigned sizes, printed;
	bool deciders; /* skip records without a trial */
	struct nt_drive drive;
};

static int take_sizes(void *argument, const char *text)
{
	struct asked *asked = argument;
	uint64_t *size = asked->size + asked->sizes;
	int count = nt_sizes_parse(text, size, SIZES - asked->sizes);

	for (int i = 0; i < count; i++) {
		if (size[i] < 1 || size[i] > SIZE_LARGEST)
			count = -1;
	}
	if (count < 0)
		return nt_command_misuse(
			"bad sizes '%.60s' (want 1 to %d sizes, such as 65536, 256K or 1.5M)", text,
			SIZES);
	asked->sizes += (unsigned)count;
	return 0;
}

/* "2x4": nodes and ranks on each. */
static int parse_topology(const char *text, unsigned *nodes, unsigned *per_node)
{
	char end;

	if (sscanf(text, "%4ux%4u%c", nodes, per_node, &end) != 2 || !*nodes || !*per_node)
		return -1;
	return 0;
}

static int take_collective(void *argument, const char *text)
{
	struct asked *asked = argument;
	const int coll = nt_coll_find(text);

	if (coll >= 0) {
		asked->colls = 1u << coll;
		return 0;
	}
	return nt_command_misuse(
		"unknown collective '%.40s' (want AllReduce, AllGather, ReduceScatter, "
		"Broadcast or Reduce)",
		text);
}

static int take_topology(void *argument, const char *text)
{
	struct asked *asked = argument;
	unsigned nodes, per_node;

	asked->topology = text;
	if (parse_topology(text, &nodes, &per_node) == 0)
		return 0;
	return nt_command_misuse("bad topology '%.40s' (want NODESxRANKS, as 2x4)", text);
}

static int take_policy(void *argument, const char *text)
{
	struct asked *asked = argument;
	struct nt_error err;

	asked->policy_given = true;
	if (nt_policy_parse_option(&asked->policy, text, &err) == 0)
		return 0;
	return nt_command_misuse("%s", err.text);
}

static bool asked_for(const struct asked *asked, int coll, const char *topology, uint64_t bytes)
{
	if (!(asked->colls & (1u << coll)) ||
	    (asked->topology && strcmp(asked->topology, topology) != 0))
		return false;
	for (unsigned i = 0; i < asked->sizes; i++) {
		if (nt_band(asked->size[i]) == nt_band(bytes))
			return true;
	}
	return asked->sizes == 0;
}

static void name_key(struct nt_outline_key *key, int coll, const char *topology, const char *more)
{
	char size[24];

	snprintf(key->name, sizeof(key->name), "%s %s on %s%s%s", nt_coll_name(coll),
		 nt_size_text((size_t)key->key.size_bytes, size, sizeof(size)), topology,
		 *more ? ", " : "", more);
}

static void print(struct asked *asked, struct nt_outline_key *key)
{
	key->known |= key->key.mask;
	nt_outline_print(stdout, &asked->drive, key);
	asked->printed++;
}

static void init_key(struct nt_outline_key *key, uint64_t bytes)
{
	*key = (struct nt_outline_key){ .key = { .size_bytes = bytes } };
	key->key.auto_arm = NT_ARM_BASELINE;
	for (unsigned arm = 0; arm < NT_PAIRS; arm++)
		key->key.cost_us[arm] = -1;
}

static void explain_trace(struct asked *asked, const struct nt_trace *trace)
{
	for (unsigned i = 0; i < trace->rows; i++) {
		const struct nt_trace_row *row = &trace->row[i];
		struct nt_source source;
		struct nt_outline_key key;

		if (!nt_source_starts(trace, i) ||
		    !asked_for(asked, row->coll, row->topology, row->bytes))
			continue;
		nt_source_init(&source, trace, NULL, i);
		init_key(&key, row->bytes);
		memcpy(key.median_us, source.median_us, sizeof(key.median_us));
		nt_fitted_trace(trace, i, key.fitted_us);
		for (unsigned arm = 0; arm < NT_PAIRS; arm++)
			key.key.mask |= source.row[arm] ? 1u << arm : 0;
		name_key(&key, row->coll, row->topology, row->mode);
		print(asked, &key);
	}
}

/* The arms that the job screened, and NCCL's predictions. */
static void record_arms(const struct nt_key *from, struct nt_outline_key *key)
{
	json_object *arms = NULL, *costs = NULL;

	if (from->auto_arm >= 0 && from->auto_arm < NT_PAIRS) {
		key->key.auto_arm = (uint32_t)from->auto_arm;
		key->known |= 1u << from->auto_arm;
		if (from->auto_predicted_us >= 0)
			key->key.cost_us[from->auto_arm] = (float)from->auto_predicted_us;
	}
	if (!from->trial || !json_object_object_get_ex(from->trial, "arms", &arms) ||
	    !json_object_object_get_ex(from->trial, "cost", &costs) ||
	    !json_object_is_type(arms, json_type_array) ||
	    !json_object_is_type(costs, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(arms); i++) {
		const char *name = json_object_get_string(json_object_array_get_idx(arms, i));
		int arm = name ? nt_arm_parse(name) : -1;

		if (arm < 0 || arm >= NT_PAIRS)
			continue;
		key->key.mask |= 1u << arm;
		key->key.cost_us[arm] = (float)json_object_get_double(
			json_object_array_get_idx(costs, i));
	}
}

static void explain_record_key(struct asked *asked, const struct nt_rank *rank,
			       const struct nt_comm_seen *comm, const struct nt_key *from)
{
	struct nt_outline_key key;
	char topology[48];

	if (comm->nodes > 0 && comm->ranks % comm->nodes == 0)
		snprintf(topology, sizeof(topology), "%dx%d", (int)comm->nodes,
			 (int)(comm->ranks / comm->nodes));
	else
		snprintf(topology, sizeof(topology), "%d ranks", (int)comm->ranks);
	if (!asked_for(asked, from->coll, topology, (uint64_t)from->bytes))
		return;
	init_key(&key, (uint64_t)from->bytes);
	record_arms(from, &key);
	nt_fitted_record(rank, comm, from, key.fitted_us);
	name_key(&key, from->coll, topology, nt_keystate_name(from->state));
	if (!from->trial) {
		printf("\n%s\n  The record does not list the available arms.\n", key.name);
		asked->printed++;
		return;
	}
	print(asked, &key);
}

static bool has_trial(const struct nt_rank *rank)
{
	for (size_t c = 0; c < rank->comm_count; c++) {
		for (size_t k = 0; k < rank->comms[c].key_count; k++) {
			if (rank->comms[c].keys[k].trial)
				return true;
		}
	}
	return false;
}

static int explain_record(struct asked *asked, const char *text, size_t bytes, struct nt_error *err)
{
	struct nt_rank rank = { .root = NULL };
	int rc = nt_rank_parse(&rank, text, bytes, err);

	if (rc == 0 && asked->deciders && !has_trial(&rank)) {
		nt_rank_fini(&rank);
		return 0;
	}
	if (rc == 0 && !asked->policy_given)
		rc = nt_policy_parse_option(&asked->drive.engine.policy, rank.policy, err);
	asked->drive.engine.policy = nt_engine_policy(&asked->drive.engine.policy);
	if (rc == 0)
		nt_outline_policy(stdout, &asked->drive.engine.policy);
	for (size_t c = 0; rc == 0 && c < rank.comm_count; c++) {
		for (size_t k = 0; k < rank.comms[c].key_count; k++)
			explain_record_key(asked, &rank, &rank.comms[c], &rank.comms[c].keys[k]);
	}
	nt_rank_fini(&rank);
	return rc;
}

/* What NCCL 2.23 and newer can offer; PAT and NVLS also depend on the machine. */
static uint32_t legal_arms(int coll, unsigned nodes, unsigned per_node)
{
	const uint32_t all = (1u << NT_PROTOS) - 1;
	const unsigned simple = (unsigned)nt_proto_parse("SIMPLE");
	uint32_t mask = all << (nt_algo_parse("RING") * NT_PROTOS);

	if (coll == NT_ALLREDUCE)
		mask |= all << (nt_algo_parse("TREE") * NT_PROTOS);
	if (coll == NT_ALLREDUCE && nodes > 1)
		mask |= 1u << ((unsigned)nt_algo_parse("NVLS_TREE") * NT_PROTOS + simple);
	if (coll == NT_ALLREDUCE ||
	    (nodes == 1 && (coll == NT_ALLGATHER || coll == NT_REDUCESCATTER)))
		mask |= nodes == 1 ? 1u << ((unsigned)nt_algo_parse("NVLS") * NT_PROTOS + simple)
				   : 0;
	if (per_node == 1 && (coll == NT_ALLGATHER || coll == NT_REDUCESCATTER))
		mask |= 1u << ((unsigned)nt_algo_parse("PAT") * NT_PROTOS + simple);
	return mask;
}

static void explain_alone(struct asked *asked)
{
	static const uint64_t usual[] = { 1 << 16, 1 << 20, 1 << 26 };
	const char *topology = asked->topology ? asked->topology : "2x8";
	unsigned nodes = 0, per_node = 0;

	(void)parse_topology(topology, &nodes, &per_node);
	if (asked->sizes == 0) {
		memcpy(asked->size, usual, sizeof(usual));
		asked->sizes = sizeof(usual) / sizeof(usual[0]);
	}
	nt_outline_policy(stdout, &asked->policy);
	if (asked->policy.mode == NT_MODE_BANDIT || asked->policy.mode == NT_MODE_PROFILE)
		printf("  Choices are what NCCL can have there, NVLS where there are NVSwitches and PAT from NCCL 2.23 on.\n"
		       "  In a job, NCCL says which there are, and what it expects of them: the cheapest come first, and\n"
		       "  those over %d times the time of NCCL's choice are left out; from %zu MiB on, LL over %g times of it.\n",
		       NT_SCREEN_COST_FACTOR, NT_SCREEN_LL_BYTES >> 20,
		       (double)NT_SCREEN_LL_FACTOR);
	for (int coll = NT_COLLS - 1; coll >= 0; coll--) {
		for (unsigned i = 0; asked->colls & (1u << coll) && i < asked->sizes; i++) {
			struct nt_outline_key key;

			init_key(&key, asked->size[i]);
			key.key.mask = legal_arms(coll, nodes, per_node);
			name_key(&key, coll, topology, "");
			print(asked, &key);
		}
	}
}

static int explain_rank(void *argument, const struct nt_long_part *part, struct nt_text record,
			struct nt_error *err)
{
	struct nt_error reason;

	if (explain_record(argument, record.at, record.bytes, &reason) == 0)
		return 0;
	return nt_error_set(err, "%.150s: %.100s", part->path, reason.text);
}

/* Only ranks that decided something. */
static int explain_long(struct asked *asked, const char *word, struct nt_error *err)
{
	const struct nt_rank_visitor visitor = { explain_rank, asked, NULL, false };
	size_t parts;

	asked->deciders = true;
	return nt_job_word_visit(word, &visitor, &parts, err);
}

static int explain_file(struct asked *asked, const char *path, struct nt_error *err)
{
	struct nt_trace trace;
	size_t bytes = 0;
	char *text = NULL;
	int rc = nt_file_read(path, FILE_BYTES, &text, &bytes, err);

	if (rc == 0 && bytes > 0 && text[strspn(text, " \t\r\n")] == '{') {
		rc = explain_record(asked, text, bytes, err);
	} else if (rc == 0) {
		rc = nt_trace_read(&trace, text, bytes, path, err);
		if (rc == 0) {
			nt_outline_policy(stdout, &asked->policy);
			explain_trace(asked, &trace);
			nt_trace_fini(&trace);
		}
	}
	free(text);
	return rc;
}

static int explain_word(struct asked *asked, const char *word)
{
	struct nt_error err;
	int rc = nt_job_word_is_long(word) ? explain_long(asked, word, &err)
					   : explain_file(asked, word, &err);

	if (rc == 0 && asked->printed == 0)
		rc = nt_error_set(&err, "%.100s: no data for this collective, topology and size",
				  word);
	return nt_command_status(rc, &err);
}

static void init(void *argument)
{
	struct asked *asked = argument;

	nt_policy_default(&asked->policy);
	asked->policy.mode = NT_MODE_BANDIT;
}

static int run(void *argument, char *argv[])
{
	struct asked *asked = argument;

	asked->policy = nt_engine_policy(&asked->policy);
	nt_drive_init(&asked->drive, &nt_rule_own, &asked->policy);
	if (!asked->colls)
		asked->colls = argv[0] ? (1u << NT_COLLS) - 1 : 1u << NT_ALLREDUCE;
	if (argv[0])
		return explain_word(asked, argv[0]);
	explain_alone(asked);
	return NT_EXIT_OK;
}

static const struct nt_option options[] = {
	{ "policy", 'p', "Settings, as srun --nccl-tune takes them (default: bandit)",
	  NT_TAKE(take_policy, "POLICY") },
	{ "topology", 't',
	  "Nodes and ranks per node, as in 2x4 (default: all in FILE; without FILE 2x8)",
	  NT_TAKE(take_topology, "TOPO") },
	{ "sizes", 's',
	  "Sizes, as in 65536,256K,1.5M (default: all in FILE; without FILE 64K,1M,64M)",
	  NT_TAKE(take_sizes, "LIST") },
	{ "collective", 'c', "A collective (default: all in FILE; without FILE AllReduce)",
	  NT_TAKE(take_collective, "NAME") },
	{ 0 },
};

const struct nt_command nt_command_explain = {
	.name = "explain",
	.summary = "show what a job would explore, at what cost, and how it decides",
	.options = options,
	.usage = "[JOB[.STEP] | FILE]",
	.doc = "Show what a job would do, without doing it: which choices (algorithms and protocols) "
	       "it would try and in which order, which it would not try and why, how many calls "
	       "that takes, and by how much a choice must be faster to replace NCCL's.\n\n"
	       "FILE is a trace (see replay), the record of a process, or a job's long form; - is "
	       "standard input. The policy of such a record, or of JOB, applies. Without an "
	       "argument, all choices of NCCL are used.",
	.request_bytes = sizeof(struct asked),
	.init = init,
	.run = run,
	.arguments = 1,
};
