/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* write.c - see write.h */
#include "tuner/write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "contract/record.h"
#include "engine/history_text.h"
#include "tuner/chain.h"
#include "tuner/standing.h"

#define TAIL_BYTES 256u /* kept free for closing what is open */
#define KEY_BYTES 768u /* the longest key */
#define AGREEMENT_BYTES 700u
#define PLUGINS_BYTES 1000u
#define COMM_BYTES 512u /* the longest communicator without its keys */

struct text {
	char *out;
	size_t bytes, used;
	uint32_t cut; /* keys and communicators left out */
};

static void put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(t->out + t->used, t->bytes - t->used, format, args);
	va_end(args);
	if (length > 0)
		t->used += (size_t)length < t->bytes - t->used ? (size_t)length
							       : t->bytes - t->used - 1;
}

/* Printable ASCII without what JSON would have to escape. */
static void put_text(struct text *t, const char *name, const char *value)
{
	put(t, "\"%s\":\"", name);
	for (; *value; value++) {
		bool plain = *value >= ' ' && *value <= '~' && *value != '"' && *value != '\\';

		put(t, "%c", plain ? *value : '?');
	}
	put(t, "\"");
}

static void put_us(struct text *t, const char *name, double us)
{
	if (isfinite(us) && us >= 0)
		put(t, ",\"%s\":%.2f", name, us);
}

static void put_arm(struct text *t, const char *name, int arm)
{
	if (nt_arm_valid(arm))
		put(t, ",\"%s\":\"%s\"", name, nt_arm_name(arm));
}

static bool has_room(struct text *t, size_t bytes)
{
	if (t->used + bytes + TAIL_BYTES < t->bytes)
		return true;
	t->cut++;
	return false;
}

/* Looks at a committed arm since, and what came of them. */
static void put_rechecks(struct text *t, const struct nt_own_key *key)
{
	put(t, ",\"rechecks\":%" PRIu32 ",\"rollbacks\":%" PRIu32 ",\"changes\":%" PRIu32,
	    atomic_load_explicit(&key->decision.rechecks, memory_order_relaxed),
	    atomic_load_explicit(&key->decision.rollbacks, memory_order_relaxed),
	    atomic_load_explicit(&key->decision.changes, memory_order_relaxed));
}

/* What the present arm saves, by what was measured of it, and what those before it did. */
static void put_saved(struct text *t, const struct nt_own_key *key, const struct nt_outcome *o)
{
	uint64_t since = nt_key_calls(key) -
			 atomic_load_explicit(&key->decision.commit_calls, memory_order_relaxed);
	int64_t saved_us = atomic_load_explicit(&key->decision.saved_us, memory_order_relaxed);
	double now_us = 0;

	if (o->chosen_arm != NT_ARM_AUTO && o->samples > 0 && isfinite(o->auto_us) &&
	    isfinite(o->best_us))
		now_us = (double)since * ((double)o->auto_us - (double)o->best_us);
	else if (saved_us == 0)
		return;
	put(t, ",\"saved_ms\":%.3f", ((double)saved_us + now_us) / 1000.0);
}

static void put_outcome(struct text *t, const struct nt_own_key *key, const struct nt_outcome *o,
			bool committed)
{
	put_arm(t, "arm", o->best_arm);
	if (o->samples > 0) {
		put_us(t, "auto_us", o->auto_us);
		put_us(t, "arm_us", o->best_us);
		put_us(t, "auto_p25_us", o->auto_p25_us);
		put_us(t, "arm_p25_us", o->best_p25_us);
		put(t, ",\"samples\":%u", o->samples);
	}
	if (isfinite(o->p) && o->p >= 0 && o->p <= 1)
		put(t, ",\"p\":%.6g", (double)o->p);
	if (o->verdict != NT_VERDICT_FASTER)
		put(t, ",\"why\":\"%s\"", nt_schedule_verdict_name(o->verdict));
	put(t, ",\"spent_calls\":%" PRIu32, o->spent_calls);
	if (isfinite(o->spent_ms))
		put(t, ",\"spent_ms\":%.3f", o->spent_ms > 0 ? (double)o->spent_ms : 0.0);
	if (committed) {
		put_saved(t, key, o);
		put_rechecks(t, key);
	}
	put_us(t, "predicted_auto_us", o->predicted_auto_us);
	put_us(t, "predicted_arm_us", o->predicted_best_us);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Durations of mode observe. Returns whether there are any. */
static bool put_observed(struct text *t, const struct nt_own_key *key)
{
	uint32_t ns[NT_OBSERVED_MAX];
	uint32_t count = 0, median, quartile;

	for (unsigned i = 0; key->fixed.observed_ns && i < NT_OBSERVED_MAX; i++) {
		/* Pairs with the release in keep_time() of tuner/event.c. */
		uint32_t value = atomic_load_explicit(&key->fixed.observed_ns[i],
						      memory_order_acquire);

		if (value != 0)
			ns[count++] = value;
	}
	if (count == 0)
		return false;
	qsort(ns, count, sizeof(ns[0]), by_value);
	median = count / 2;
	quartile = count / 4;
	put_us(t, "auto_us", ns[median] / 1e3);
	put_us(t, "auto_p25_us", ns[quartile] / 1e3);
	put(t, ",\"samples\":%u", count);
	return true;
}

static void put_state(struct text *t, const struct nt_comm *comm, const struct nt_own_key *key)
{
	uint32_t own = nt_key_state(key);
	uint32_t shared;
	const char *state = NT_KEYSTATE_COUNTED;
	struct nt_outcome outcome = { .p = 1, .best_arm = NT_ARM_AUTO };
	bool has_outcome = nt_standing_of_key(comm, key, &shared, &outcome);
	bool committed = nt_key_commits(key, NULL) > 0;

	if (committed)
		state = outcome.chosen_arm == NT_ARM_AUTO ? NT_KEYSTATE_KEPT
							  : NT_KEYSTATE_COMMITTED;
	else if (shared == NT_KEY_CLOSED && has_outcome)
		state = NT_KEYSTATE_KEPT;
	else if (shared != NT_KEY_IDLE || own == NT_OWN_GONE)
		state = NT_KEYSTATE_EXPLORING; /* cut short, where the board has it closed */
	else if (key->fixed.observed_ns &&
		 atomic_load_explicit(&key->laps.observed, memory_order_relaxed) > 0)
		state = NT_KEYSTATE_OBSERVED;
	put(t, "\"state\":\"%s\"", state);
	put_arm(t, "auto",
		has_outcome && outcome.auto_arm < NT_PAIRS ? outcome.auto_arm
							   : key->fixed.auto_arm);
	if (has_outcome && strcmp(state, NT_KEYSTATE_EXPLORING) != 0)
		put_outcome(t, key, &outcome, committed);
	else if (!put_observed(t, key) && key->fixed.auto_arm < NT_PAIRS)
		put_us(t, "predicted_auto_us", key->fixed.cost_us[key->fixed.auto_arm]);
}

/* Only in the first half of the record, so that there is room for every key. */
static void put_trial(struct text *t, const struct nt_comm *comm, uint64_t id)
{
	const struct nt_history *history = nt_histories_find(comm->fixed.process->histories,
							     comm->fixed.id, id);
	static const char name[] = ",\"trial\":";
	size_t length;

	if (!history || t->used + sizeof(name) >= t->bytes / 2)
		return;
	length = nt_trial_text(history, t->out + t->used + sizeof(name) - 1,
			       t->bytes / 2 - t->used - sizeof(name));
	if (length == 0)
		return;
	memcpy(t->out + t->used, name, sizeof(name) - 1);
	t->used += sizeof(name) - 1 + length;
}

static void put_key(struct text *t, const struct nt_comm *comm, const struct nt_own_key *key,
		    uint64_t id)
{
	put(t, "{\"coll\":\"%s\",\"bytes\":%zu,", nt_coll_name((int)nt_key_coll(id)),
	    nt_band_floor(nt_key_band(id)));
	put_state(t, comm, key);
	put(t, ",\"calls\":%" PRIu64, nt_key_calls(key));
	put(t, ",\"forced\":%" PRIu32 ",\"differed\":%" PRIu32,
	    atomic_load_explicit(&key->events.forced, memory_order_relaxed),
	    atomic_load_explicit(&key->events.differed, memory_order_relaxed));
	/* A later arm is from other times. */
	if (nt_key_commits(key, NULL) <= 1)
		put_trial(t, comm, id);
	put(t, "}");
}

static const char *idle_text(uint32_t idle)
{
	switch (idle) {
	case NT_IDLE_API: return "this NCCL gives no GPU times or no sequence numbers to plugins";
	case NT_IDLE_HALF: return "NCCL loaded only one half of the plugin";
	default: return "";
	}
}

static void put_standing(struct text *t, const struct nt_comm *comm)
{
	const char *why = comm->fixed.why[0] ? comm->fixed.why : idle_text(comm->fixed.card.idle),
		   *rejected;
	uint32_t state = nt_standing(comm, &rejected);
	const char *name = NT_COMMSTATE_JOINING;

	if (state == NT_COMM_AGREED)
		name = NT_COMMSTATE_AGREED;
	if (state == NT_COMM_REJECTED) {
		name = NT_COMMSTATE_REJECTED;
		why = rejected;
	} else if (!comm->fixed.board && comm->fixed.tuner_api == 0) {
		why = idle_text(NT_IDLE_HALF);
	}
	put(t, "\"state\":\"%s\",", name);
	put_text(t, "why", why);
}

static void put_comm(struct text *t, const struct nt_comm *comm)
{
	bool first = true;

	put(t,
	    "{\"id\":\"%016" PRIx64 "\",\"rank\":%d,\"ranks\":%" PRIu32 ",\"nodes\":%" PRIu32 ",",
	    comm->fixed.id, comm->fixed.rank < 0 ? 0 : comm->fixed.rank, comm->fixed.ranks,
	    comm->fixed.nodes);
	put_standing(t, comm);
	put(t, ",\"keys\":[");
	for (unsigned i = 0; i < NT_OWN_KEYS; i++) {
		uint64_t id = nt_comm_key_id(comm, i);

		if (id == 0 || !has_room(t, KEY_BYTES))
			continue;
		put(t, "%s", first ? "" : ",");
		first = false;
		put_key(t, comm, &comm->key[i], id);
	}
	put(t, "]}");
}

static void put_head(struct text *t, struct nt_process *process, bool end)
{
	const struct nt_place *place = &process->place;
	char policy[NT_POLICY_MAX];

	put(t,
	    "{\"v\":%d,\"job\":%" PRIu32 ",\"step\":%" PRIu32 ",\"task\":%" PRIu32 ",\"pid\":%d,",
	    NT_RECORD_VERSION, place->job, place->step, process->task, (int)process->pid);
	put_text(t, "node", place->node);
	put(t, ",\"mode\":\"%s\",", nt_mode_name(process->policy.mode));
	if (nt_policy_format_option(&process->policy, policy, sizeof(policy), NULL) < 0)
		policy[0] = '\0';
	put_text(t, "policy", policy);
	put(t, ",\"nccl\":%" PRIu32 ",\"flags\":%" PRIu32 ",\"end\":%s",
	    atomic_load(&process->nccl), place->flags, end ? "true" : "false");
}

static void put_counts(struct text *t, struct nt_process *process)
{
	put(t, "],\"counts\":{\"cut\":%" PRIu32, t->cut);
	for (int i = 0; i < NT_COUNT_ALL; i++) {
		uint64_t value = atomic_load_explicit(&process->count[i], memory_order_relaxed);

		if (value != 0)
			put(t, ",\"%s\":%" PRIu64, nt_count_name((enum nt_count)i), value);
	}
	put(t, "}}\n");
}

/* Plugins behind ours. */
static void put_plugins(struct text *t)
{
	static const char *const names[] = {
		[NT_CHAINED_PROFILER] = "profiler", [NT_CHAINED_TUNER] = "tuner"
	};
	char text[480];
	bool any = false;

	for (enum nt_chained which = 0; which < NT_CHAINED_ALL; which++) {
		nt_chain_describe(which, text, sizeof(text));
		if (!text[0])
			continue;
		put(t, any ? "," : ",\"plugins\":{");
		put_text(t, names[which], text);
		any = true;
	}
	if (any)
		put(t, "}");
}

/* What it took to agree with other nodes. */
static void put_agreement(struct text *t, const struct nt_speaker_counts *c)
{
	uint32_t times = c->agree.timed < NT_AGREE_TIMES ? c->agree.timed : NT_AGREE_TIMES;

	put(t,
	    ",\"agreement\":{\"nodes\":%" PRIu32 ",\"fetches\":%" PRIu32 ",\"appends\":%" PRIu32
	    ",\"bytes\":%" PRIu64 ",\"spent_kib\":%" PRIu64 ",\"commits\":%" PRIu32
	    ",\"aborts\":%" PRIu32 ",\"rejects\":%" PRIu32 ",\"refusals\":%" PRIu32
	    ",\"sessions\":%" PRIu32 ",\"looks\":%" PRIu32 ",\"commit_ms\":[",
	    c->nodes, c->log.fetches, c->log.appends, c->log.bytes, c->log.spent >> 10,
	    c->agree.commits, c->agree.aborts, c->agree.rejects, c->agree.refusals,
	    c->agree.rechecks, c->agree.looks);
	for (uint32_t i = 0; i < times; i++)
		put(t, "%s%u", i ? "," : "", (unsigned)c->agree.commit_ms[i]);
	put(t, "]}");
}

/* What was measured of all arms, in the first half of the record: keys come behind it. */
static void put_findings(struct text *t, const struct nt_histories *histories)
{
	const struct nt_history *first = nt_history_measured(histories->first);
	size_t bytes = 1;

	if (!first)
		return;
	put(t, ",\"explored\":[");
	for (const struct nt_history *h = first; h && bytes > 0; h = nt_history_measured(h->next)) {
		size_t room = t->bytes / 2 > t->used + 2 ? t->bytes / 2 - t->used - 2 : 0;

		bytes = nt_finding_text(h, t->out + t->used + (h != first), room);
		if (bytes > 0 && h != first)
			t->out[t->used++] = ',';
		t->used += bytes;
	}
	put(t, "]");
}

size_t nt_write_text(struct nt_process *process, const struct nt_speaker_counts *agreement,
		     bool end, char *out, size_t out_bytes)
{
	/* Room for the counts is kept back, so that they always fit. */
	const size_t counts = (size_t)48 * (NT_COUNT_ALL + 1);
	struct text t = { .out = out, .bytes = out_bytes };
	bool first = true;

	if (out_bytes <
	    NT_POLICY_MAX + COMM_BYTES + AGREEMENT_BYTES + PLUGINS_BYTES + counts + TAIL_BYTES)
		return 0;
	t.bytes -= counts;
	put_head(&t, process, end);
	put_plugins(&t);
	if (agreement)
		put_agreement(&t, agreement);
	if (process->histories)
		put_findings(&t, process->histories);
	put(&t, ",\"comms\":[");
	for (uint32_t i = 0; i < process->comms; i++) {
		if (!has_room(&t, COMM_BYTES))
			continue;
		put(&t, "%s", first ? "" : ",");
		first = false;
		put_comm(&t, process->comm[i]);
	}
	t.bytes += counts;
	put_counts(&t, process);
	return t.used;
}

static int write_all(int fd, const char *text, size_t bytes)
{
	while (bytes > 0) {
		ssize_t done = write(fd, text, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		text += done;
		bytes -= (size_t)done;
	}
	return 0;
}

/* Under another name first: a reader sees the whole record or the one before. */
static int write_file(const struct nt_process *process, const char *text, size_t bytes)
{
	char path[NT_PATH_MAX + 64], temporary[NT_PATH_MAX + 72];
	int rc = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s%" PRIu32 ".%d%s", process->place.dir, NT_RECORD_PREFIX,
		 process->task, (int)process->pid, NT_RECORD_SUFFIX);
	snprintf(temporary, sizeof(temporary), "%s.tmp", path);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -1;
	if (write_all(fd, text, bytes) == 0)
		rc = 0;
	if (close(fd) < 0)
		rc = -1;
	if (rc == 0 && rename(temporary, path) < 0)
		rc = -1;
	if (rc < 0)
		(void)unlink(temporary);
	return rc;
}

int nt_write_record(struct nt_process *process, const struct nt_speaker *speaker, bool end)
{
	struct nt_speaker_counts agreement;
	char *text = malloc((size_t)NT_RANK_RECORD_MAX);
	size_t bytes;
	int rc = -1;

	if (speaker)
		agreement = nt_speaker_count(speaker);
	if (text) {
		pthread_mutex_lock(&process->lock);
		bytes = nt_write_text(process, speaker ? &agreement : NULL, end, text,
				      NT_RANK_RECORD_MAX);
		pthread_mutex_unlock(&process->lock);
		if (bytes > 0)
			rc = write_file(process, text, bytes);
	}
	free(text);
	if (rc < 0)
		nt_process_count(process, NT_COUNT_RECORD);
	return rc;
}
