/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - reads CSV files of measured times */
#include "tests/fake/trace.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_SAMPLES 1024

static int coll_of(const char *name)
{
	for (int c = 0; c < NT_COLLS; c++) {
		if (strcasecmp(nt_coll_name(c), name) == 0)
			return c;
	}
	return -1;
}

/* "Ring", "Simple": the measurements spell names in mixed case. */
static int arm_of(const char *algo, const char *proto)
{
	char name[48];

	if (strcmp(algo, "AUTO") == 0)
		return NT_ARM_AUTO;
	snprintf(name, sizeof(name), "%s/%s", algo, proto);
	for (char *c = name; *c; c++) {
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
	}
	return nt_arm_parse(name);
}

/* Cuts the next field off *line; NULL at the end. */
static char *cut(char **line)
{
	char *field = *line;
	char *end;

	if (!field)
		return NULL;
	end = field + strcspn(field, ",\n");
	*line = *end == ',' ? end + 1 : NULL;
	*end = 0;
	return field;
}

static int parse_samples(struct nt_trace_row *r, char *rest)
{
	float us[MAX_SAMPLES];
	char *field;

	while ((field = cut(&rest)) != NULL) {
		char *end;
		float value = strtof(field, &end);

		if (end == field || *end || !(value > 0) || r->samples == MAX_SAMPLES)
			return -1;
		us[r->samples++] = value;
	}
	if (!r->samples)
		return -1;
	r->sample_us = malloc(r->samples * sizeof(us[0]));
	if (!r->sample_us)
		return -1;
	memcpy(r->sample_us, us, r->samples * sizeof(us[0]));
	return 0;
}

static int parse_bytes(struct nt_trace_row *r, const char *text)
{
	char *end;

	if (!text)
		return -1;
	r->bytes = strtoull(text, &end, 10);
	return *end || !r->bytes ? -1 : 0;
}

static int parse_row(struct nt_trace_row *r, char *line)
{
	char *first = cut(&line);
	char *field[5];

	r->coll = coll_of(first);
	if (r->coll < 0) {
		snprintf(r->launch, sizeof(r->launch), "%s", first);
		first = cut(&line);
		r->coll = first ? coll_of(first) : -1;
	}
	for (int i = 0; i < 5; i++)
		field[i] = cut(&line);
	if (r->coll < 0 || !field[4] || !line)
		return -1;
	snprintf(r->topology, sizeof(r->topology), "%s", field[0]);
	snprintf(r->mode, sizeof(r->mode), "%s", field[1]);
	r->arm = arm_of(field[2], field[3]);
	if (r->arm < 0 || parse_bytes(r, field[4]) < 0)
		return -1;
	return parse_samples(r, line);
}

static int parse_pick(struct nt_trace_row *r, char *line)
{
	char *field[5];

	for (int i = 0; i < 5; i++)
		field[i] = cut(&line);
	if (!field[4] || line)
		return -1;
	r->coll = coll_of(field[0]);
	snprintf(r->topology, sizeof(r->topology), "%s", field[1]);
	r->arm = arm_of(field[3], field[4]);
	return r->coll < 0 || r->arm < 0 ? -1 : parse_bytes(r, field[2]);
}

static int load(struct nt_trace *t, const char *path, int (*parse)(struct nt_trace_row *, char *),
		struct nt_error *err)
{
	char *line = NULL;
	size_t room = 0;
	int number = 0;
	int rc = -1;
	FILE *f;

	t->rows = 0;
	t->row = calloc(NT_MAX_ROWS, sizeof(t->row[0]));
	f = fopen(path, "re");
	if (!f || !t->row) {
		nt_error_set(err, "cannot read %s: %m", path);
		goto out;
	}
	while (getline(&line, &room, f) > 0) {
		number++;
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (t->rows == NT_MAX_ROWS || parse(&t->row[t->rows], line) < 0) {
			nt_error_set(err, "%s:%d: malformed, or more than %d rows", path, number,
				     NT_MAX_ROWS);
			goto out;
		}
		t->rows++;
	}
	rc = 0;
out:
	free(line);
	if (f)
		fclose(f);
	if (rc < 0)
		nt_trace_fini(t);
	return rc;
}

int nt_trace_load(struct nt_trace *t, const char *path, struct nt_error *err)
{
	return load(t, path, parse_row, err);
}

int nt_picks_load(struct nt_trace *t, const char *path, struct nt_error *err)
{
	return load(t, path, parse_pick, err);
}

void nt_trace_fini(struct nt_trace *t)
{
	for (unsigned i = 0; t->row && i < NT_MAX_ROWS; i++)
		free(t->row[i].sample_us);
	free(t->row);
	t->row = NULL;
	t->rows = 0;
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
