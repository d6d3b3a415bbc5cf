/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Make a memory's entry from the sum of a step's rank records. These are a user's: numbers that a
 * reader of memories would refuse are left out. */
#include "recordd/step-entry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contract/policy.h"
#include "lib/compare.h"
#include "launch/program.h"
#include "launch/step-ratio.h"

#define UNEVEN "its tasks or ranks are not spread evenly over its nodes"
#define BYTES_A_US 1e4 /* to compare keys without times with others */

_Static_assert(NT_RANK_PERIODS_MAX <= NT_ENTRY_PERIODS, "a marker fits into an entry");

/* A key of one communicator, or of all communicators of its shape. */
struct entry_row {
	int64_t ranks, nodes;
	const struct nt_key *key;
	double calls; /* of an average rank */
	double worth;
};

static struct nt_quantiles quantiles(double p25_us, double median_us, double p75_us,
				     int64_t samples)
{
	const struct nt_quantiles out = { p25_us, median_us, p75_us, (uint32_t)samples };

	/* Comparisons with NAN are false. */
	if (samples > 0 && samples <= UINT32_MAX && p25_us > 0 && p25_us <= median_us &&
	    median_us <= p75_us && p75_us <= NT_ENTRY_TIME_MAX_US)
		return out;
	return (struct nt_quantiles){ 0 };
}

static struct nt_quantiles auto_times(const struct nt_key *key)
{
	/* Only the slowest rank's median is known. */
	if (!nt_kind_tunable(key->coll))
		return quantiles(key->auto_own_us, key->auto_own_us, key->auto_own_us,
				 key->samples);
	return quantiles(key->auto_p25_us, key->auto_us, key->auto_p75_us, key->samples);
}

static struct nt_quantiles arm_times(const struct nt_key *key)
{
	return quantiles(key->arm_p25_us, key->arm_us, key->arm_p75_us, key->samples);
}

static bool is_committed(const struct nt_key *key)
{
	return key->state == NT_KEYSTATE_COMMITTED && nt_arm_valid(key->arm) &&
	       key->arm != NT_ARM_BASELINE && arm_times(key).samples > 0;
}

/* ---- keys */

static bool is_whole(const struct nt_comm_seen *comm, const struct nt_key *key)
{
	return comm->nodes >= 1 && comm->nodes <= comm->ranks && comm->ranks <= 1 << 20 &&
	       key->coll >= 0 && key->coll < NT_KINDS && key->bytes >= 0 &&
	       key->bytes <= NT_ENTRY_BYTES_MAX && key->calls > 0;
}

/* A process may have several ranks of a communicator, or none. */
static double ranks_here(const struct nt_sum *sum)
{
	size_t most = sum->records > 0 ? sum->records : 1;

	for (size_t i = 0; i < sum->comm_count; i++)
		if (sum->comms[i].place_count > most)
			most = sum->comms[i].place_count;
	return (double)most;
}

static size_t gather(const struct nt_sum *sum, struct entry_row *rows)
{
	double ranks = ranks_here(sum);
	size_t count = 0;

	for (size_t i = 0; i < sum->comm_count; i++) {
		const struct nt_comm_seen *comm = &sum->comms[i];

		for (size_t k = 0; k < comm->key_count; k++) {
			const struct nt_key *key = &comm->keys[k];

			if (is_whole(comm, key))
				rows[count++] = (struct entry_row){
					.ranks = comm->ranks,
					.nodes = comm->nodes,
					.key = key,
					.calls = (double)key->calls * (double)comm->place_count /
						 ranks,
				};
		}
	}
	return count;
}

static int by_key(const void *left, const void *right)
{
	const struct entry_row *a = left, *b = right;

	NT_COMPARE(a->ranks, b->ranks);
	NT_COMPARE(a->nodes, b->nodes);
	NT_COMPARE(a->key->coll, b->key->coll);
	NT_COMPARE(a->key->bytes, b->key->bytes);
	NT_COMPARE(b->key->state, a->key->state); /* the firmest first */
	NT_COMPARE(b->key->calls, a->key->calls);
	NT_COMPARE(a->key->rank, b->key->rank);
	return 0;
}

static bool same_key(const struct entry_row *a, const struct entry_row *b)
{
	return a->ranks == b->ranks && a->nodes == b->nodes && a->key->coll == b->key->coll &&
	       a->key->bytes == b->key->bytes;
}

/* The time in its calls. */
static double worth_of(const struct entry_row *row)
{
	struct nt_quantiles us = auto_times(row->key);

	if (us.samples == 0)
		us = arm_times(row->key);
	return row->calls *
	       (us.samples > 0 ? us.median_us : 1 + (double)row->key->bytes / BYTES_A_US);
}

/* Of a key's rows the first, which has the firmest decision, stays, with the calls of all. */
static size_t merge(struct entry_row *rows, size_t count)
{
	size_t kept = 0;

	qsort(rows, count, sizeof(*rows), by_key);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && same_key(&rows[kept - 1], &rows[i]))
			rows[kept - 1].calls += rows[i].calls;
		else
			rows[kept++] = rows[i];
	}
	for (size_t i = 0; i < kept; i++)
		rows[i].worth = worth_of(&rows[i]);
	return kept;
}

static int by_worth(const void *left, const void *right)
{
	const struct entry_row *a = left, *b = right;

	NT_COMPARE(b->worth, a->worth);
	return by_key(left, right);
}

static int put_key(struct nt_memory_entry *entry, const struct entry_row *row)
{
	struct nt_known_key *key = nt_entry_add_key(entry);
	double calls = row->calls < 1 ? 1 : row->calls;

	if (!key)
		return -1;
	key->ranks = (uint32_t)row->ranks;
	key->nodes = (uint32_t)row->nodes;
	key->coll = row->key->coll;
	key->bytes = (uint64_t)row->key->bytes;
	key->calls = calls < (double)NT_ENTRY_BYTES_MAX ? (uint64_t)(calls + 0.5)
							: (uint64_t)NT_ENTRY_BYTES_MAX;
	key->untuned = auto_times(row->key);
	/* Otherwise no better one was searched for (launch/entry.h). */
	if (row->key->state >= NT_KEYSTATE_KEPT)
		key->best = key->untuned;
	if (is_committed(row->key)) {
		key->arm = row->key->arm;
		key->best = arm_times(row->key);
	}
	return 0;
}

/* From start to end; if no ring has told, as NCCL predicts it. */
static double own_us_of(const struct nt_key *key)
{
	return key->auto_own_us > 0 ? key->auto_own_us : key->auto_predicted_us;
}

/* Of the time from each call to the next, which is the program's own as well. 0: unknown. */
static double share_of(const struct entry_row *rows, size_t count)
{
	double own_us = 0, all_us = 0;

	for (size_t i = 0; i < count; i++) {
		const struct nt_key *key = rows[i].key;

		if (!nt_kind_tunable(key->coll) || auto_times(key).samples == 0 ||
		    !(own_us_of(key) > 0))
			continue;
		own_us += rows[i].calls * fmin(own_us_of(key), key->auto_us);
		all_us += rows[i].calls * key->auto_us;
	}
	return all_us > 0 ? own_us / all_us : 0;
}

static int put_keys(struct nt_memory_entry *entry, const struct nt_sum *sum, struct nt_error *err)
{
	size_t count = 0;
	struct entry_row *rows;
	int rc = 0;

	for (size_t i = 0; i < sum->comm_count; i++)
		count += sum->comms[i].key_count;
	if (count == 0)
		return 0;
	rows = calloc(count, sizeof(*rows));
	if (!rows)
		return nt_error_set(err, "out of memory");
	count = merge(rows, gather(sum, rows));
	if (count > NT_ENTRY_KEYS) {
		qsort(rows, count, sizeof(*rows), by_worth);
		count = NT_ENTRY_KEYS;
		qsort(rows, count, sizeof(*rows), by_key);
	}
	entry->share = share_of(rows, count);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = put_key(entry, &rows[i]);
	free(rows);
	return rc == 0 ? 0 : nt_error_set(err, "out of memory");
}

/* ---- the rest of an entry */

static void put_marker(struct nt_memory_entry *entry, const struct nt_rank_marker *marker)
{
	if (marker->coll < 0 || marker->coll >= NT_COLLS || marker->bytes < 0 ||
	    marker->bytes > NT_ENTRY_BYTES_MAX)
		return;
	entry->marker_coll = marker->coll;
	entry->marker_bytes = (uint64_t)marker->bytes;
	entry->marker_calls = marker->a_step > 1 ? (uint64_t)marker->a_step : 1;
	for (size_t i = 0; i < marker->periods; i++) {
		float us = (float)marker->period_us[i];

		if (us > 0 && us <= (float)NT_ENTRY_TIME_MAX_US)
			entry->period_us[entry->periods++] = us;
	}
}

static const char *word_of(const struct nt_sum_word *word)
{
	return word->known && !word->mixed ? word->text : "";
}

static void put_software(struct nt_where *where, const struct nt_sum *sum)
{
	const char *driver = word_of(&sum->driver);
	int fabric = nt_fabric_parse(word_of(&sum->fabric));

	where->nccl = sum->nccl > 0 && sum->nccl <= NT_ENTRY_NCCL_MAX ? (uint32_t)sum->nccl : 0;
	where->fabric = fabric > 0 ? (enum nt_fabric)fabric : NT_FABRIC_ANY;
	if (strlen(driver) < sizeof(where->driver) &&
	    strspn(driver, NT_PLAIN_WORD) == strlen(driver))
		snprintf(where->driver, sizeof(where->driver), "%s", driver);
}

/* The one with the most ranks; NULL: there is none. */
static const struct nt_comm_seen *largest_comm(const struct nt_sum *sum)
{
	const struct nt_comm_seen *largest = NULL;

	for (size_t i = 0; i < sum->comm_count; i++)
		if (sum->comms[i].nodes > 0 && (!largest || sum->comms[i].ranks > largest->ranks))
			largest = &sum->comms[i];
	return largest;
}

/* Without a communicator a rank is a task. false: tasks or ranks are not spread evenly over the
 * nodes, as far as this node shows. */
static bool put_place(struct nt_where *where, const struct nt_sum *sum,
		      const struct nt_arguments *arguments, const struct nt_ticket *ticket)
{
	const struct nt_comm_seen *comm = largest_comm(sum);
	const int64_t nodes = comm ? comm->nodes : arguments->nodes;
	const int64_t ranks = comm ? comm->ranks : arguments->tasks;

	if (arguments->nodes == 0 || arguments->tasks % arguments->nodes != 0 ||
	    (arguments->here > 0 && arguments->here != arguments->tasks / arguments->nodes))
		return false;
	if (nodes == 0 || ranks == 0 || ranks % nodes != 0 || nodes > NT_ENTRY_NODES_MAX ||
	    ranks / nodes > NT_ENTRY_PER_NODE_MAX)
		return false;
	where->nodes = (uint32_t)nodes;
	where->per_node = (uint32_t)(ranks / nodes);
	where->user_env = ticket->user_env;
	snprintf(where->program, sizeof(where->program), "%s", ticket->program);
	where->fingerprint = strtoull(arguments->fingerprint, NULL, 16);
	return !comm || comm->place_count <= where->per_node;
}

bool nt_ranks_alike(const struct nt_sum *sum, uint32_t nodes)
{
	if (nodes == 1)
		return true;
	for (size_t i = 0; i < sum->comm_count; i++)
		if (sum->comms[i].alike && sum->comms[i].nodes == nodes)
			return true;
	return false;
}

/* Does a communicator span all nodes, whose ranks have not compared their hardware? */
static bool ranks_not_compared(const struct nt_sum *sum, uint32_t nodes)
{
	bool found = false;

	for (size_t i = 0; i < sum->comm_count; i++) {
		if (sum->comms[i].nodes != nodes)
			continue;
		if (sum->comms[i].state == NT_COMM_REJECTED)
			return false;
		found = true;
	}
	return found;
}

/* Do all ranks report the ticket's profile? */
static bool ran_with(const struct nt_sum *sum, const char *profile)
{
	const char *text = word_of(&sum->launch);

	if (!sum->launch.known || strcmp(text, profile) == 0)
		return true;
	return !sum->launch.mixed && text[0] == '\0' && strcmp(profile, NT_PROFILE_DEFAULT) == 0;
}

/* Why the step is no evidence; "": it is. */
static const char *doubt_of(const struct nt_sum *sum, const struct nt_arguments *arguments,
			    const struct nt_ticket *ticket, const struct nt_where *where,
			    bool remembered)
{
	if (where->fingerprint == 0)
		return "the hardware of its node is unknown";
	if (ticket->left[0] &&
	    ticket->user_env == 0) /* otherwise these variables are part of the place */
		return "its launch profile was set only in part";
	if (!ran_with(sum, ticket->profile))
		return "not all its ranks ran with its launch profile";
	if (arguments->flags & (NT_FLAG_USER_ALGO | NT_FLAG_USER_PROTO))
		return "NCCL_ALGO or NCCL_PROTO is set";
	if (sum->comm_count > 0 && !nt_ranks_alike(sum, arguments->nodes) &&
	    !(remembered && ranks_not_compared(sum, arguments->nodes)))
		return "it is unknown whether all its nodes have the same hardware";
	return "";
}

static bool shows_anything(const struct nt_memory_entry *entry)
{
	if (entry->marker_coll >= 0 && entry->periods >= NT_STEPS_PERIODS)
		return true;
	for (unsigned i = 0; i < entry->keys; i++)
		if (entry->key[i].best.samples > 0 || entry->key[i].untuned.samples > 0)
			return true;
	return false;
}

static void put_head(struct nt_memory_entry *entry, const struct nt_arguments *arguments,
		     const struct nt_ticket *ticket, int64_t now_us)
{
	entry->origin = NT_ORIGIN_JOB;
	entry->asked = ticket->why == NT_WHY_ASKED;
	entry->job = arguments->job;
	entry->step = arguments->step;
	entry->start_nodes = arguments->nodes;
	entry->start_tasks = arguments->tasks;
	entry->when_s = now_us / 1000000;
	entry->added_us = now_us;
	snprintf(entry->profile, sizeof(entry->profile), "%s", ticket->profile);
}

/* An entry without keys tells this job that a step with the profile made no call. */
static bool is_to_be_marked(const struct nt_sum *sum, const struct nt_ticket *ticket)
{
	if (strcmp(ticket->profile, NT_PROFILE_DEFAULT) == 0)
		return false;
	for (size_t i = 0; i < sum->comm_count; i++)
		if (sum->comms[i].key_count > 0)
			return false;
	return sum->started;
}

int nt_step_entry_make(const struct nt_sum *sum, const struct nt_arguments *arguments,
		       const struct nt_ticket *ticket, bool remembered, int64_t now_us,
		       struct nt_memory_entry *entry, char why[NT_LEARN_WHY], struct nt_error *err)
{
	nt_entry_init(entry);
	why[0] = '\0';
	put_head(entry, arguments, ticket, now_us);
	if (!put_place(&entry->where, sum, arguments, ticket)) {
		snprintf(why, NT_LEARN_WHY, UNEVEN);
		return 0;
	}
	put_software(&entry->where, sum);
	if (nt_entry_library_valid(sum->library))
		snprintf(entry->library, sizeof(entry->library), "%s", sum->library);
	if (arguments->ended != NT_ENDED_WELL && strcmp(ticket->profile, NT_PROFILE_DEFAULT) != 0) {
		snprintf(why, NT_LEARN_WHY, "it failed");
		return entry->where.fingerprint != 0;
	}
	snprintf(why, NT_LEARN_WHY, "%s",
		 doubt_of(sum, arguments, ticket, &entry->where, remembered));
	/* An entry without a name would count for all. */
	if (!why[0] && ticket->program[0] == '\0')
		snprintf(why, NT_LEARN_WHY, "which program it ran is unknown");
	if (!why[0]) {
		put_marker(entry, &sum->marker);
		if (put_keys(entry, sum, err) < 0) {
			nt_entry_fini(entry);
			return -1;
		}
	}
	if (shows_anything(entry))
		return 1;
	nt_entry_fini(entry);
	if (!is_to_be_marked(sum, ticket))
		return 0;
	put_head(entry, arguments, ticket, now_us);
	(void)put_place(&entry->where, sum, arguments, ticket);
	put_software(&entry->where, sum);
	return entry->where.fingerprint != 0;
}

const char *nt_step_entry_where(const struct nt_sum *sum, const struct nt_arguments *arguments,
				const struct nt_ticket *ticket, bool remembered,
				struct nt_where *where)
{
	const char *doubt;

	memset(where, 0, sizeof(*where));
	if (!put_place(where, sum, arguments, ticket))
		return UNEVEN;
	put_software(where, sum);
	doubt = doubt_of(sum, arguments, ticket, where, remembered);
	return doubt[0] ? doubt : NULL;
}
