/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/trim.h"
#include "lib/number.h"
#include "profiles/memory-csv.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define LINE_MAX_BYTES 256
#define FIELDS 10
#define BAND_MAX 72 /* 64 GiB */

static void print_lower(const char *text, FILE *out)
{
	for (; *text != '\0'; text++)
		fputc(tolower((unsigned char)*text), out);
}

static void print_line(const struct nt_known_key *key, const struct nt_where *where, FILE *out)
{
	unsigned band = nt_band(key->bytes);
	int pair = nt_arm_pair(key->arm);
	unsigned channels = nt_arm_channels(key->arm);
	uint32_t nodes = key->nodes > 0 ? key->nodes : where->nodes;
	uint32_t ranks = key->ranks > 0 ? key->ranks : where->nodes * where->per_node;

	print_lower(nt_coll_name(key->coll), out);
	fprintf(out, ",%zu,%zu,", nt_band_floor(band), nt_band_floor(band + 1) - 1);
	print_lower(nt_algo_name(pair / NT_PROTOS), out);
	fputc(',', out);
	print_lower(nt_proto_name(pair % NT_PROTOS), out);
	fprintf(out, ",%d,%" PRIu32 ",%" PRIu32 ",-1,-1\n", channels > 0 ? (int)channels : -1,
		nodes, ranks);
}

/* Has a newer entry at this place decided this key, too? Mode policy uses keys without deciding. */
static bool outdated(const struct nt_memory *memory, size_t at, const struct nt_known_key *key)
{
	const struct nt_memory_entry *entry = &memory->entry[at];

	for (size_t i = at + 1; i < memory->entries; i++) {
		const struct nt_memory_entry *other = &memory->entry[i];

		if (!nt_where_same(&other->where, &entry->where) ||
		    strcmp(other->profile, entry->profile) != 0)
			continue;
		for (unsigned j = 0; j < other->keys; j++)
			if (nt_known_key_decided(&other->key[j]) &&
			    nt_key_same(&other->key[j], &other->where, key, &entry->where))
				return true;
	}
	return false;
}

int nt_csv_print(const struct nt_memory *memory, const struct nt_where *where, const char *profile,
		 FILE *out, struct nt_error *err)
{
	fputs("# collective,minBytes,maxBytes,algorithm,protocol,channels,nNodes,nRanks,"
	      "numPipeOps,regBuff\n",
	      out);
	for (size_t i = 0; i < memory->entries; i++) {
		const struct nt_memory_entry *entry = &memory->entry[i];

		if (!nt_where_same(&entry->where, where) || strcmp(entry->profile, profile) != 0)
			continue;
		for (unsigned j = 0; j < entry->keys; j++)
			if (entry->key[j].arm != NT_ARM_BASELINE &&
			    !outdated(memory, i, &entry->key[j]))
				print_line(&entry->key[j], &entry->where, out);
	}
	if (fflush(out) != 0 || ferror(out))
		return nt_error_set(err, "cannot write: %s", strerror(errno));
	return 0;
}

/* A parsed line. */
struct csv_row {
	int coll, pair;
	int64_t least, most, channels, nodes, ranks;
};

static int find_name(const char *text, int count, const char *(*name)(int))
{
	for (int i = 0; i < count; i++)
		if (strcasecmp(text, name(i)) == 0)
			return i;
	return -1;
}

/* -1 for any, or a number of at least least. */
static int take_number(const char *text, uint64_t least, int64_t *out)
{
	uint64_t number = 0;
	bool any = strcmp(text, "-1") == 0;
	int rc = any ? 0 : nt_number_parse(text, least, UINT64_C(1) << 40, &number);

	*out = any ? -1 : (int64_t)number;
	return rc;
}

static unsigned split(char *line, char *field[FIELDS])
{
	unsigned count = 0;
	char *next;

	while ((next = strsep(&line, ",")) != NULL) {
		if (count == FIELDS)
			return FIELDS + 1;
		field[count++] = nt_trim(next);
	}
	return count;
}

static int take_row(char *line, struct csv_row *row, struct nt_error *err)
{
	char *field[FIELDS];
	unsigned count = split(line, field);
	int algo, proto;

	if (count < 8 || count > FIELDS)
		return nt_error_set(err, "%u columns (want 8 to 10)", count);
	row->coll = nt_coll_find(field[0]);
	algo = find_name(field[3], NT_ALGOS, nt_algo_name);
	proto = find_name(field[4], NT_PROTOS, nt_proto_name);
	if (row->coll < 0)
		return nt_error_set(err,
				    "unknown collective '%.32s' (want broadcast, reduce, "
				    "allgather, reducescatter or allreduce)",
				    field[0]);
	if (algo < 0)
		return nt_error_set(err,
				    "unknown algorithm '%.32s' (want tree, ring, collnet_direct, "
				    "collnet_chain, nvls, nvls_tree or pat)",
				    field[3]);
	if (proto < 0)
		return nt_error_set(err, "unknown protocol '%.32s' (want ll, ll128 or simple)",
				    field[4]);
	row->pair = algo * NT_PROTOS + proto;
	if (take_number(field[1], 0, &row->least) < 0 || take_number(field[2], 0, &row->most) < 0 ||
	    take_number(field[5], 1, &row->channels) < 0 ||
	    take_number(field[6], 1, &row->nodes) < 0 || take_number(field[7], 1, &row->ranks) < 0)
		return nt_error_set(err, "a number is malformed or out of range (-1: any)");
	return 0;
}

/* Both are known and not larger than where: a communicator of a job at where. */
static bool fits_into(const struct csv_row *row, const struct nt_where *where)
{
	return row->nodes > 0 && row->ranks >= row->nodes && row->nodes <= where->nodes &&
	       row->ranks <= row->nodes * (int64_t)where->per_node;
}

/* The place of a row: where, unless the row names a larger communicator. */
static int place_of(const struct csv_row *row, const struct nt_where *where, struct nt_where *out,
		    struct nt_error *err)
{
	*out = *where;
	if (fits_into(row, where))
		return 0;
	if (row->nodes > 0)
		out->nodes = (uint32_t)(row->nodes < UINT16_MAX ? row->nodes : UINT16_MAX);
	if (row->ranks <= 0)
		return 0;
	if (row->nodes <= 0 && row->ranks % out->per_node == 0 &&
	    row->ranks / out->per_node <= UINT16_MAX) {
		out->nodes = (uint32_t)(row->ranks / out->per_node);
		return 0;
	}
	if (row->ranks % out->nodes != 0 || row->ranks / out->nodes > NT_ENTRY_PER_NODE_MAX)
		return nt_error_set(
			err, "%" PRId64 " ranks are not the same number on %" PRIu32 " nodes",
			row->ranks, out->nodes);
	out->per_node = (uint32_t)(row->ranks / out->nodes);
	return 0;
}

/* This import's entry for the place, or a new one. */
static struct nt_memory_entry *entry_for(struct nt_memory *memory, size_t first,
					 const struct nt_where *where, const char *profile,
					 int64_t now_us, struct nt_error *err)
{
	struct nt_memory_entry entry;

	for (size_t i = first; i < memory->entries; i++)
		if (memory->entry[i].where.nodes == where->nodes &&
		    memory->entry[i].where.per_node == where->per_node)
			return &memory->entry[i];
	nt_entry_init(&entry);
	entry.origin = NT_ORIGIN_IMPORT;
	entry.where = *where;
	entry.when_s = now_us / 1000000;
	entry.added_us = now_us;
	snprintf(entry.profile, sizeof(entry.profile), "%s", profile);
	if (nt_entry_name(&entry, err) < 0 || nt_memory_add_take(memory, &entry, err) < 0)
		return NULL;
	return &memory->entry[memory->entries - 1];
}

static bool has_key(const struct nt_memory_entry *entry, const struct nt_known_key *key)
{
	for (unsigned i = 0; i < entry->keys; i++)
		if (nt_key_same(&entry->key[i], &entry->where, key, &entry->where))
			return true;
	return false;
}

/* Adds a key for each band that begins within the row's sizes, unless an earlier row has it. */
static int add_keys(struct nt_memory_entry *entry, const struct csv_row *row, struct nt_error *err)
{
	int arm = row->channels > 0 ? nt_arm_make(row->pair, (unsigned)row->channels, 0)
				    : row->pair;
	unsigned first = row->least > 0 ? nt_band((size_t)row->least) : 0;
	unsigned last = row->most >= 0 ? nt_band((size_t)row->most) : BAND_MAX;
	struct nt_known_key wanted = { .coll = row->coll, .arm = arm };

	if (arm < 0)
		return nt_error_set(err, "this algorithm takes no number of channels (want -1)");
	if (fits_into(row, &entry->where)) {
		wanted.ranks = (uint32_t)row->ranks;
		wanted.nodes = (uint32_t)row->nodes;
	}
	for (unsigned band = first; band <= last && band <= BAND_MAX; band++) {
		struct nt_known_key *key;

		wanted.bytes = nt_band_floor(band);
		if (has_key(entry, &wanted))
			continue;
		key = nt_entry_add_key(entry);
		if (key == NULL)
			return nt_error_set(err, "too many sizes for one place (want at most %d)",
					    NT_ENTRY_KEYS);
		*key = wanted;
	}
	return 0;
}

static int read_line(struct nt_memory *memory, size_t first, char *line,
		     const struct nt_where *where, const char *profile, int64_t now_us,
		     struct nt_error *err)
{
	struct nt_memory_entry *entry;
	struct nt_where place;
	struct csv_row row = { 0 };

	line = nt_trim(line);
	if (line[0] == '\0' || line[0] == '#')
		return 0;
	if (take_row(line, &row, err) < 0 || place_of(&row, where, &place, err) < 0)
		return -1;
	entry = entry_for(memory, first, &place, profile, now_us, err);
	return entry != NULL ? add_keys(entry, &row, err) : -1;
}

int nt_csv_read(struct nt_memory *memory, const char *text, size_t bytes,
		const struct nt_where *where, const char *profile, int64_t now_us,
		struct nt_error *err)
{
	size_t first = memory->entries;
	struct nt_error why;
	unsigned number = 0;
	char line[LINE_MAX_BYTES];

	if (bytes > NT_CSV_BYTES)
		return nt_error_set(err, "longer than %d bytes", NT_CSV_BYTES);
	if (where->nodes == 0 || where->per_node == 0)
		return nt_error_set(err, "the shape to import for is unknown");
	for (size_t at = 0; at < bytes;) {
		const char *end = memchr(text + at, '\n', bytes - at);
		size_t length = end != NULL ? (size_t)(end - (text + at)) : bytes - at;

		number++;
		if (length >= sizeof(line) || memchr(text + at, '\0', length) != NULL ||
		    number > NT_CSV_LINES)
			return nt_error_set(err, "line %u: too long, or too many", number);
		memcpy(line, text + at, length);
		line[length] = '\0';
		if (read_line(memory, first, line, where, profile, now_us, &why) < 0)
			return nt_error_set(err, "line %u: %.200s", number, why.text);
		at += length + 1;
	}
	return 0;
}
