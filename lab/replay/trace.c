/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/replay/trace.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "lib/array.h"
#include "lib/number.h"
#include "lib/trim.h"

/* "Ring", "Simple": traces spell names in mixed case; a "4ch" after them is kept. */
static int arm_of(const char *algo, const char *proto)
{
	char name[64];
	size_t length;

	if (strcasecmp(algo, "AUTO") == 0)
		return NT_ARM_BASELINE;
	snprintf(name, sizeof(name), "%.20s/%.30s", algo, proto);
	length = strlen(name) - strlen(proto) + strcspn(proto, "/");
	for (size_t i = 0; i < length && name[i]; i++)
		name[i] = (char)toupper((unsigned char)name[i]);
	return nt_arm_parse(name);
}

/* Cuts the next field off *line and trims it; NULL at the end. */
static char *cut(char **line)
{
	char *field = strsep(line, ",");

	return field ? nt_trim(field) : NULL;
}

static int parse_samples(struct nt_trace_row *r, char *rest, struct nt_error *err)
{
	unsigned room = 0;
	char *field;

	while ((field = cut(&rest)) != NULL) {
		float value;
		char *end;

		if (*field == 0 && !rest && r->samples > 0) /* a comma at the end of the line */
			break;
		value = strtof(field, &end);
		if (end == field || *end || !isfinite(value) || !(value > 0))
			return nt_error_set(err, "sample %u is '%.24s' (want microseconds above 0)",
					    r->samples + 1, field);
		if (r->samples == NT_TRACE_SAMPLES)
			return nt_error_set(err, "more than %d samples", NT_TRACE_SAMPLES);
		if (r->samples == room) {
			float *grown;

			room = room ? 2 * room : 64;
			grown = realloc(r->sample_us, room * sizeof(grown[0]));
			if (!grown)
				return nt_error_set(err, "no memory");
			r->sample_us = grown;
		}
		r->sample_us[r->samples++] = value;
	}
	return r->samples > 0 ? 0 : nt_error_set(err, "no samples");
}

static int parse_bytes(struct nt_trace_row *r, const char *text, struct nt_error *err)
{
	if (nt_number_parse(text, 1, UINT64_MAX, &r->bytes) < 0)
		return nt_error_set(err, "bad size '%.24s' (want bytes)", text);
	return 0;
}

static int copy(char *out, size_t out_bytes, const char *text, const char *what,
		struct nt_error *err)
{
	size_t length = strlen(text);

	if (length >= out_bytes)
		return nt_error_set(err, "%s '%.24s...' is longer than %zu bytes", what, text,
				    out_bytes - 1);
	for (size_t i = 0; i <= length; i++)
		out[i] = text[i] == 0 || (text[i] >= ' ' && text[i] <= '~') ? text[i] : '?';
	return 0;
}

static int parse_coll(struct nt_trace_row *r, char **line, struct nt_error *err)
{
	const char *first = cut(line);
	const char *second;

	r->coll = nt_coll_find(first);
	if (r->coll >= 0)
		return copy(r->collective, sizeof(r->collective), first, "collective", err);
	second = cut(line);
	r->coll = second ? nt_coll_find(second) : -1;
	if (r->coll < 0)
		return nt_error_set(err, "unknown collective '%.24s'", first);
	(void)copy(r->collective, sizeof(r->collective), second, "collective", err);
	return copy(r->launch, sizeof(r->launch), first, "launch variables", err);
}

static int parse_row(struct nt_trace_row *r, char *line, struct nt_error *err)
{
	char *field[5];

	if (parse_coll(r, &line, err) < 0)
		return -1;
	for (int i = 0; i < 5; i++)
		field[i] = cut(&line);
	if (!field[4])
		return nt_error_set(err,
				    "too few fields (want collective, topology, mode, algorithm, "
				    "protocol, bytes and samples)");
	if (copy(r->topology, sizeof(r->topology), field[0], "topology", err) < 0 ||
	    copy(r->mode, sizeof(r->mode), field[1], "mode", err) < 0 ||
	    parse_bytes(r, field[4], err) < 0)
		return -1;
	r->arm = arm_of(field[2], field[3]);
	if (r->arm < 0)
		return nt_error_set(err, "unknown algorithm or protocol '%.16s,%.16s'", field[2],
				    field[3]);
	return parse_samples(r, line, err);
}

/* Adds a pair, or a protocol with every algorithm. */
static int parse_masked(struct nt_trace_row *r, char *text, struct nt_error *err)
{
	char *proto = strchr(text, '/');
	uint32_t masked = 0;

	if (proto)
		*proto++ = 0;
	for (int algo = 0; algo < NT_ALGOS; algo++) {
		int arm = arm_of(nt_algo_name(algo), proto ? proto : text);

		if (arm >= 0 && arm < NT_PAIRS &&
		    (!proto || strcasecmp(text, nt_algo_name(algo)) == 0))
			masked |= 1u << arm;
	}
	r->masked |= masked;
	return masked != 0 ? 0 : nt_error_set(err, "unknown protocol or pair '%.16s'", text);
}

static int parse_pick(struct nt_trace_row *r, char *line, struct nt_error *err)
{
	char *field[5];

	for (int i = 0; i < 5; i++)
		field[i] = cut(&line);
	if (!field[4])
		return nt_error_set(err,
				    "want collective, topology, bytes, algorithm and protocol");
	r->coll = nt_coll_find(field[0]);
	r->arm = arm_of(field[3], field[4]);
	if (r->coll < 0 || r->arm < 0)
		return nt_error_set(err, "unknown collective, algorithm or protocol");
	if (copy(r->topology, sizeof(r->topology), field[1], "topology", err) < 0)
		return -1;
	while (line) {
		if (parse_masked(r, cut(&line), err) < 0)
			return -1;
	}
	return parse_bytes(r, field[2], err);
}

typedef int parse_line(struct nt_trace_row *row, char *line, struct nt_error *err);

static int load_lines(struct nt_trace *t, FILE *f, parse_line *parse, const char *name,
		      struct nt_error *err)
{
	struct nt_error inner = { "" };
	unsigned number = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int rc = 0;

	while (rc == 0 && (length = getline(&line, &size, f)) > 0) {
		struct nt_trace_row *row;

		number++;
		if (line[0] == '#' || line[strspn(line, " \t\r\n")] == 0)
			continue;
		row = nt_array_add(&t->row, &t->rows, NT_TRACE_ROWS, sizeof(*row));
		if (!row)
			rc = nt_error_set(&inner, "more than %d rows, or no memory", NT_TRACE_ROWS);
		else if (strlen(line) != (size_t)length)
			rc = nt_error_set(&inner, "not text");
		else
			rc = parse(row, line, &inner);
		if (rc < 0)
			nt_error_set(err, "%.60s:%u: %.90s", name, number, inner.text);
	}
	if (rc == 0 && ferror(f))
		rc = nt_error_set(err, "%.100s: %m", name);
	if (rc == 0 && t->rows == 0)
		rc = nt_error_set(err, "%.100s: no measurement in it", name);
	free(line);
	return rc;
}

static bool same_arm(const struct nt_trace_row *a, const struct nt_trace_row *b)
{
	return a->arm == b->arm && nt_trace_same_cell(a, b);
}

/* If an arm of a cell is in several lines, it gets the samples of all. */
static int merge(struct nt_trace *t, struct nt_error *err)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < t->rows; i++) {
		struct nt_trace_row *from = &t->row[i], *to;
		unsigned k = 0;
		float *grown;

		while (k < kept && !same_arm(&t->row[k], from))
			k++;
		to = &t->row[k];
		if (k == kept) {
			struct nt_trace_row moved = *from;

			from->sample_us = NULL;
			t->row[kept++] = moved;
			continue;
		}
		grown = realloc(to->sample_us,
				((size_t)to->samples + from->samples) * sizeof(grown[0]));
		if (!grown)
			return nt_error_set(err, "no memory");
		memcpy(grown + to->samples, from->sample_us, from->samples * sizeof(grown[0]));
		to->sample_us = grown;
		to->samples += from->samples;
		free(from->sample_us);
		from->sample_us = NULL;
	}
	t->rows = kept;
	return 0;
}

static int read_stream(struct nt_trace *t, FILE *from, const char *name, struct nt_error *err)
{
	*t = (struct nt_trace){ .rows = 0 };
	if (load_lines(t, from, parse_row, name, err) == 0 && merge(t, err) == 0)
		return 0;
	nt_trace_fini(t);
	return -1;
}

int nt_trace_load(struct nt_trace *t, const char *path, struct nt_error *err)
{
	FILE *f = fopen(path, "re");
	int rc;

	if (!f)
		return nt_error_set(err, "%.80s: %m", path);
	rc = read_stream(t, f, path, err);
	fclose(f);
	return rc;
}

int nt_trace_read(struct nt_trace *t, char *text, size_t bytes, const char *name,
		  struct nt_error *err)
{
	FILE *f = bytes > 0 ? fmemopen(text, bytes, "r") : NULL;
	int rc;

	*t = (struct nt_trace){ .rows = 0 };
	if (!f)
		return nt_error_set(err, bytes > 0 ? "no memory" : "%.100s: empty", name);
	rc = read_stream(t, f, name, err);
	fclose(f);
	return rc;
}

int nt_picks_load(struct nt_trace *t, const char *path, struct nt_error *err)
{
	FILE *f = fopen(path, "re");
	int rc;

	*t = (struct nt_trace){ .rows = 0 };
	if (!f)
		return nt_error_set(err, "%.80s: %m", path);
	rc = load_lines(t, f, parse_pick, path, err);
	fclose(f);
	if (rc < 0)
		nt_trace_fini(t);
	return rc;
}

bool nt_trace_same_cell(const struct nt_trace_row *a, const struct nt_trace_row *b)
{
	return a->coll == b->coll && a->bytes == b->bytes &&
	       strcmp(a->topology, b->topology) == 0 && strcmp(a->mode, b->mode) == 0 &&
	       strcmp(a->launch, b->launch) == 0;
}

void nt_trace_fini(struct nt_trace *t)
{
	for (unsigned i = 0; i < t->rows; i++)
		free(t->row[i].sample_us);
	free(t->row);
	*t = (struct nt_trace){ .rows = 0 };
}

const struct nt_trace_row *nt_picks_find(const struct nt_trace *picks,
					 const struct nt_trace_row *cell)
{
	struct nt_trace_row want = { .coll = cell->coll, .arm = -1, .bytes = cell->bytes };
	int at;

	if (cell->launch[0] && strcmp(cell->launch, "none") != 0)
		return NULL;
	memcpy(want.topology, cell->topology, sizeof(want.topology));
	at = nt_trace_find(picks, &want);
	return at < 0 ? NULL : &picks->row[at];
}

int nt_trace_find(const struct nt_trace *t, const struct nt_trace_row *want)
{
	double nearest = INFINITY;
	int found = -1;

	for (unsigned i = 0; i < t->rows; i++) {
		const struct nt_trace_row *r = &t->row[i];
		double far = fabs(log((double)r->bytes / (double)want->bytes));
		bool smaller = found >= 0 && far == nearest && r->bytes < t->row[found].bytes;

		if (r->coll != want->coll || (want->arm >= 0 && r->arm != want->arm) ||
		    strcmp(r->launch, want->launch) != 0 || strcmp(r->mode, want->mode) != 0 ||
		    strcmp(r->topology, want->topology) != 0)
			continue;
		if (far < nearest || smaller) {
			nearest = far;
			found = (int)i;
		}
	}
	return found;
}
