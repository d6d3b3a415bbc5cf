/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/trim.h"
#include "lib/number.h"
#include "launch/memory-csv.h"
#include "launch/known-arms.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LINE_MAX_BYTES 1024
#define NUMBER_MAX (UINT64_C(1) << 36) /* larger ones count as this */

static void print_lower(const char *text, FILE *out)
{
	for (; *text != '\0'; text++)
		fputc(tolower((unsigned char)*text), out);
}

static void print_line(const struct nt_warm_key *key, FILE *out)
{
	const uint64_t last = key->last > 0 ? key->last : key->bytes;
	const int pair = nt_arm_pair(key->arm);
	const unsigned channels = nt_arm_channels(key->arm);

	print_lower(nt_coll_name(key->coll), out);
	fprintf(out, ",%" PRIu64 ",%zu,", key->bytes,
		nt_band_floor(nt_band_next(nt_band(last))) - 1);
	print_lower(nt_algo_name(pair / NT_PROTOS), out);
	fputc(',', out);
	print_lower(nt_proto_name(pair % NT_PROTOS), out);
	fprintf(out, ",%d,%" PRIu32 ",%" PRIu32 ",-1,-1\n", channels > 0 ? (int)channels : -1,
		key->nodes, key->ranks);
}

int nt_csv_print(const struct nt_memory *memory, const struct nt_where *where, const char *profile,
		 FILE *out, struct nt_error *err)
{
	struct nt_known_arms *arms = calloc(1, sizeof(*arms));

	if (!arms)
		return nt_error_set(err, "out of memory");
	fputs("# collective,minBytes,maxBytes,algorithm,protocol,channels,nNodes,nRanks,"
	      "numPipeOps,regBuff\n",
	      out);
	nt_known_arms_add(arms, memory, where, profile);
	for (unsigned i = 0; i < arms->count; i++)
		arms->arm[i].key.gain_ns = 0; /* it has no column, so it separates no rules */
	nt_known_arms_join(arms);
	for (unsigned i = 0; i < arms->count; i++) {
		if (arms->arm[i].key.arm != NT_ARM_BASELINE)
			print_line(&arms->arm[i].key, out);
	}
	free(arms);
	if (fflush(out) != 0 || ferror(out))
		return nt_error_set(err, "cannot write: %s", strerror(errno));
	return 0;
}

enum { COLL, LEAST, MOST, ALGO, PROTO, CHANNELS, NODES, RANKS, PIPE_OPS, REG_BUFF, FIELDS };

static const struct {
	const char *name, *want;
	uint64_t least; /* of a number */
} columns[FIELDS] = {
	[COLL] = { "collective", "broadcast, reduce, allgather, reducescatter or allreduce", 0 },
	[LEAST] = { "minBytes", "a number of bytes", 0 },
	[MOST] = { "maxBytes", "a number of bytes", 0 },
	[ALGO] = { "algorithm", "tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree or pat",
		   0 },
	[PROTO] = { "protocol", "ll, ll128 or simple", 0 },
	[CHANNELS] = { "channels", "a number, or -1 for NCCL's", 1 },
	[NODES] = { "nNodes", "a number, or -1 for any", 1 },
	[RANKS] = { "nRanks", "a number, or -1 for any", 1 },
	[PIPE_OPS] = { "numPipeOps", "a number, or -1 for any", 0 },
	[REG_BUFF] = { "regBuff", "0, 1, or -1 for any", 0 },
};

/* A parsed line. */
struct csv_row {
	int coll, pair;
	int64_t number[FIELDS]; /* -1: any */
};

static int refuse(int column, const char *text, struct nt_error *err)
{
	return nt_error_set(err, "%s is '%.32s' (want %s)", columns[column].name, text,
			    columns[column].want);
}

static int find_name(const char *text, int count, const char *(*name)(int))
{
	for (int i = 0; i < count; i++)
		if (strcasecmp(text, name(i)) == 0)
			return i;
	return -1;
}

static int take_number(const char *text, int column, int64_t *out)
{
	uint64_t number = 0;
	const bool any = strcmp(text, "-1") == 0;

	if (!any && nt_number_parse(text, columns[column].least, UINT64_MAX, &number) < 0)
		return -1;
	*out = any ? -1 : (int64_t)(number < NUMBER_MAX ? number : NUMBER_MAX);
	return 0;
}

/* One too many if there are more. */
static int split(char *line, char *field[FIELDS])
{
	int count = 0;
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
	const int count = split(line, field);
	int algo, proto;

	if (count < PIPE_OPS || count > FIELDS)
		return nt_error_set(err,
				    "%s%d columns (want collective,minBytes,maxBytes,algorithm,"
				    "protocol,channels,nNodes,nRanks, perhaps with "
				    "numPipeOps,regBuff)",
				    count > FIELDS ? "over " : "", count > FIELDS ? FIELDS : count);
	row->coll = nt_coll_find(field[COLL]);
	algo = find_name(field[ALGO], NT_ALGOS, nt_algo_name);
	proto = find_name(field[PROTO], NT_PROTOS, nt_proto_name);
	if (row->coll < 0)
		return refuse(COLL, field[COLL], err);
	if (algo < 0)
		return refuse(ALGO, field[ALGO], err);
	if (proto < 0)
		return refuse(PROTO, field[PROTO], err);
	row->pair = algo * NT_PROTOS + proto;
	row->number[PIPE_OPS] = row->number[REG_BUFF] = -1;
	for (int i = 0; i < count; i++) {
		if (i != COLL && i != ALGO && i != PROTO &&
		    take_number(field[i], i, &row->number[i]) < 0)
			return refuse(i, field[i], err);
	}
	return 0;
}

/* Both are known and not larger than where: a communicator of a job at where. */
static bool fits_into(const struct csv_row *row, const struct nt_where *where)
{
	return row->number[NODES] > 0 && row->number[RANKS] >= row->number[NODES] &&
	       row->number[NODES] <= where->nodes &&
	       row->number[RANKS] <= row->number[NODES] * (int64_t)where->per_node;
}

/* The place of a row: where, unless the row names a larger communicator. */
static int place_of(const struct csv_row *row, const struct nt_where *where, struct nt_where *out,
		    struct nt_error *err)
{
	*out = *where;
	if (fits_into(row, where))
		return 0;
	if (row->number[NODES] > 0)
		out->nodes = (uint32_t)(row->number[NODES] < UINT16_MAX ? row->number[NODES]
									: UINT16_MAX);
	if (row->number[RANKS] <= 0)
		return 0;
	if (row->number[NODES] <= 0 && row->number[RANKS] % out->per_node == 0 &&
	    row->number[RANKS] / out->per_node <= UINT16_MAX) {
		out->nodes = (uint32_t)(row->number[RANKS] / out->per_node);
		return 0;
	}
	if (row->number[RANKS] % out->nodes != 0 ||
	    row->number[RANKS] / out->nodes > NT_ENTRY_PER_NODE_MAX)
		return nt_error_set(
			err, "%" PRId64 " ranks are not the same number on %" PRIu32 " nodes",
			row->number[RANKS], out->nodes);
	out->per_node = (uint32_t)(row->number[RANKS] / out->nodes);
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

/* A key for the bands that begin within the row's sizes, or else for the one that they are in.
 * The first key of a band counts (launch/known-arms.h). */
static int add_key(struct nt_memory_entry *entry, const struct csv_row *row, struct nt_error *err)
{
	const int64_t channels = row->number[CHANNELS], most = row->number[MOST];
	const int arm = channels > 0 ? nt_arm_make(row->pair, (unsigned)channels) : row->pair;
	const size_t least = row->number[LEAST] > 0 ? (size_t)row->number[LEAST] : 0;
	const unsigned last = nt_band(most >= 0 ? (size_t)most : NUMBER_MAX);
	unsigned first = nt_band(least);
	struct nt_known_key *key;

	if (arm < 0)
		return nt_error_set(err,
				    "channels is '%" PRId64 "' (want -1: this algorithm and "
				    "protocol take no number)",
				    channels);
	if (most >= 0 && (size_t)most < least)
		return nt_error_set(err, "maxBytes is less than minBytes");
	if (nt_band_floor(first) < least && first < last)
		first = nt_band_next(first);
	key = nt_entry_add_key(entry);
	if (!key)
		return nt_error_set(err, "too many rules for one place (want at most %d)",
				    NT_ENTRY_KEYS);
	*key = (struct nt_known_key){ .coll = row->coll,
				      .arm = arm,
				      .bytes = nt_band_floor(first) };
	if (last > first)
		key->last = nt_band_floor(last);
	if (fits_into(row, &entry->where)) {
		key->ranks = (uint32_t)row->number[RANKS];
		key->nodes = (uint32_t)row->number[NODES];
	}
	return 0;
}

/* 1: the row has a condition that is not known here. */
static int read_line(struct nt_memory *memory, size_t first, char *line,
		     const struct nt_where *where, const char *profile, int64_t now_us,
		     struct nt_error *err)
{
	struct nt_memory_entry *entry;
	struct nt_where place;
	struct csv_row row = { 0 };

	line[strcspn(line, "#")] = '\0';
	line = nt_trim(line);
	if (line[0] == '\0' || strncasecmp(line, "collective", 10) == 0) /* a heading */
		return 0;
	if (take_row(line, &row, err) < 0 || place_of(&row, where, &place, err) < 0)
		return -1;
	entry = entry_for(memory, first, &place, profile, now_us, err);
	if (!entry || add_key(entry, &row, err) < 0)
		return -1;
	return row.number[PIPE_OPS] >= 0 || row.number[REG_BUFF] >= 0;
}

int nt_csv_read(struct nt_memory *memory, const char *text, size_t bytes,
		const struct nt_where *where, const char *profile, int64_t now_us,
		struct nt_error *err)
{
	size_t first = memory->entries;
	struct nt_error why;
	unsigned number = 0;
	char line[LINE_MAX_BYTES];
	int rc;

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
			return nt_error_set(
				err, "line %u: want at most %d lines of text, of at most %d bytes",
				number, NT_CSV_LINES, LINE_MAX_BYTES - 1);
		memcpy(line, text + at, length);
		line[length] = '\0';
		rc = read_line(memory, first, line, where, profile, now_us, &why);
		if (rc < 0)
			return nt_error_set(err, "line %u: %.200s", number, why.text);
		if (rc > 0 && memory->skipped_lines++ == 0)
			memory->first_skipped = number;
		at += length + 1;
	}
	return 0;
}
