/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* entry-read.c reads them. */
#include "launch/entry.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "lib/array.h"
#include "lib/quantile.h"

double nt_entry_period_us(const struct nt_memory_entry *entry)
{
	float sorted[NT_ENTRY_PERIODS];

	memcpy(sorted, entry->period_us, entry->periods * sizeof(sorted[0]));
	nt_sort_floats(sorted, entry->periods);
	return nt_quantile_floats(sorted, entry->periods, 0.5);
}

bool nt_entry_same_marker(const struct nt_memory_entry *a, const struct nt_memory_entry *b)
{
	return a->marker_coll == b->marker_coll && a->marker_bytes == b->marker_bytes &&
	       a->marker_calls == b->marker_calls;
}

double nt_key_cost_us(const struct nt_known_key *key)
{
	const struct nt_quantiles *us = nt_key_times(key);

	return (double)key->calls *
	       (us->samples > 0 ? us->median_us : 50 + (double)key->bytes / 1000);
}

void nt_entry_init(struct nt_memory_entry *entry)
{
	memset(entry, 0, sizeof(*entry));
	entry->marker_coll = -1;
	entry->marker_calls = 1;
	entry->laps = 1;
}

void nt_entry_fini(struct nt_memory_entry *entry)
{
	free(entry->key);
	nt_entry_init(entry);
}

int nt_entry_copy(struct nt_memory_entry *to, const struct nt_memory_entry *from,
		  struct nt_error *err)
{
	*to = *from;
	to->key = NULL;
	if (from->keys == 0)
		return 0;
	to->key = calloc(from->keys, sizeof(*to->key));
	if (to->key == NULL) {
		nt_entry_init(to);
		return nt_error_set(err, "out of memory");
	}
	memcpy(to->key, from->key, from->keys * sizeof(*to->key));
	return 0;
}

struct nt_known_key *nt_entry_add_key(struct nt_memory_entry *entry)
{
	struct nt_known_key *key = nt_array_add(&entry->key, &entry->keys, NT_ENTRY_KEYS,
						sizeof(*key));

	if (key != NULL)
		key->arm = NT_ARM_BASELINE;
	return key;
}

struct nt_comm_shape nt_key_shape(const struct nt_known_key *key, const struct nt_where *where)
{
	struct nt_comm_shape shape = { key->ranks, key->nodes };

	if (key->nodes == where->nodes &&
	    (uint64_t)key->ranks == (uint64_t)where->nodes * where->per_node)
		shape = (struct nt_comm_shape){ 0, 0 };
	return shape;
}

bool nt_key_same(const struct nt_known_key *a, const struct nt_where *where_a,
		 const struct nt_known_key *b, const struct nt_where *where_b)
{
	struct nt_comm_shape of_a = nt_key_shape(a, where_a), of_b = nt_key_shape(b, where_b);

	return a->coll == b->coll && of_a.ranks == of_b.ranks && of_a.nodes == of_b.nodes &&
	       nt_band(a->bytes) == nt_band(b->bytes);
}

bool nt_entry_library_valid(const char *path)
{
	const size_t length = strlen(path);

	if (path[0] != '/' || length >= NT_LIBRARY_MAX)
		return false;
	for (size_t i = 0; i < length; i++)
		if (path[i] < ' ' || path[i] > '~' || path[i] == '"' || path[i] == '\\')
			return false;
	return true;
}

int nt_random_digits(char *out, size_t digits, struct nt_error *err)
{
	unsigned char random[16];

	if (getrandom(random, digits / 2, 0) != (ssize_t)digits / 2)
		return nt_error_set(err, "cannot get random numbers");
	for (size_t i = 0; i < digits / 2; i++)
		snprintf(out + 2 * i, 3, "%02x", random[i]);
	return 0;
}

int nt_entry_name(struct nt_memory_entry *entry, struct nt_error *err)
{
	return nt_random_digits(entry->id, NT_ENTRY_ID - 1, err);
}

bool nt_entry_newer(const struct nt_memory_entry *a, const struct nt_memory_entry *b)
{
	return b == NULL || a->when_s > b->when_s || (a->when_s == b->when_s && a->step > b->step);
}

static const char *const origins[] = { "job", "calibrate" };

const char *nt_origin_name(int origin)
{
	return origin >= 0 && origin <= NT_ORIGIN_CALIBRATE ? origins[origin] : "?";
}

bool nt_where_same_place(const struct nt_where *a, const struct nt_where *b)
{
	return a->fingerprint != 0 && a->fingerprint == b->fingerprint && a->nodes == b->nodes &&
	       a->per_node == b->per_node && a->user_env == b->user_env &&
	       (a->fabric == b->fabric || a->fabric == NT_FABRIC_ANY || b->fabric == NT_FABRIC_ANY);
}

/* Equal, or unknown to one of the two. */
static bool same_word(const char *a, const char *b)
{
	return a[0] == '\0' || b[0] == '\0' || strcmp(a, b) == 0;
}

bool nt_where_same(const struct nt_where *a, const struct nt_where *b)
{
	bool nccl = a->nccl == b->nccl || a->nccl == 0 || b->nccl == 0;

	return nccl && same_word(a->driver, b->driver) && same_word(a->program, b->program) &&
	       nt_where_same_place(a, b);
}

static void print_quantiles(FILE *out, const struct nt_quantiles *us)
{
	fprintf(out, "[%.6g,%.6g,%.6g,%" PRIu32 "]", us->p25_us, us->median_us, us->p75_us,
		us->samples);
}

static void print_key(FILE *out, const struct nt_known_key *key)
{
	fprintf(out, "[\"%s\",%" PRIu64 ",\"%s\",%" PRIu64 ",", nt_coll_name(key->coll), key->bytes,
		nt_arm_name(key->arm), key->calls);
	print_quantiles(out, &key->best);
	fputc(',', out);
	print_quantiles(out, &key->untuned);
	if (key->ranks > 0)
		fprintf(out, ",%" PRIu32 ",%" PRIu32, key->ranks, key->nodes);
	fputc(']', out);
}

static void print_marker(FILE *out, const struct nt_memory_entry *entry)
{
	fprintf(out, ",\"marker\":{\"coll\":\"%s\",\"bytes\":%" PRIu64,
		nt_coll_name(entry->marker_coll), entry->marker_bytes);
	if (entry->marker_calls > 1)
		fprintf(out, ",\"a_step\":%" PRIu64, entry->marker_calls);
	fputs(",\"period_us\":[", out);
	for (unsigned i = 0; i < entry->periods; i++)
		fprintf(out, "%s%.6g", i > 0 ? "," : "", (double)entry->period_us[i]);
	fputs("]}", out);
}

/* The first members are the sort key of a site's file. */
int nt_entry_print(const struct nt_memory_entry *entry, FILE *out)
{
	const struct nt_where *where = &entry->where;

	fprintf(out,
		"{\"v\":%d,\"fingerprint\":\"%016" PRIx64 "\",\"fabric\":\"%s\",\"nodes\":%" PRIu32
		",\"per_node\":%" PRIu32 ",\"profile\":\"%s\",\"when\":%" PRId64,
		NT_ENTRY_VERSION, where->fingerprint, nt_fabric_name((int)where->fabric),
		where->nodes, where->per_node, entry->profile, entry->when_s);
	fprintf(out,
		",\"origin\":\"%s\",\"job\":%" PRIu32 ",\"step\":%" PRIu32 ",\"nccl\":%" PRIu32
		",\"driver\":\"%s\",\"id\":\"%s\",\"added\":%" PRId64 ",\"keys\":[",
		nt_origin_name((int)entry->origin), entry->job, entry->step, where->nccl,
		where->driver, entry->id, entry->added_us);
	for (unsigned i = 0; i < entry->keys; i++) {
		if (i > 0)
			fputc(',', out);
		print_key(out, &entry->key[i]);
	}
	fputc(']', out);
	if (entry->laps > 1)
		fprintf(out, ",\"laps\":%" PRIu32 ",\"deviation\":%.4g", entry->laps,
			entry->deviation);
	if (where->user_env != 0)
		fprintf(out, ",\"own\":%" PRIu32, where->user_env);
	if (entry->start_tasks > 0)
		fprintf(out, ",\"start\":[%" PRIu32 ",%" PRIu32 "]", entry->start_nodes,
			entry->start_tasks);
	if (entry->share > 0)
		fprintf(out, ",\"share\":%.3g", entry->share);
	if (entry->library[0])
		fprintf(out, ",\"library\":\"%s\"", entry->library);
	if (where->program[0] != '\0')
		fprintf(out, ",\"program\":\"%s\"", where->program);
	if (entry->asked)
		fputs(",\"asked\":true", out);
	if (entry->wrong)
		fputs(",\"wrong\":true", out);
	if (entry->marker_coll >= 0)
		print_marker(out, entry);
	fputc('}', out);
	return ferror(out) ? -1 : 0;
}

bool nt_known_key_decided(const struct nt_known_key *key)
{
	return key->arm != NT_ARM_BASELINE || key->best.samples > 0;
}
