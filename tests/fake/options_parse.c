/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake/options_parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "lib/size.h"
#include "tests/fake/launch.h"

int nt_parse_size(const char *text, uint64_t *bytes, struct nt_error *err)
{
	if (nt_size_parse(text, bytes) < 0 || *bytes < 1 || *bytes > UINT64_C(1) << 40)
		return nt_error_set(err, "size '%s' (want 1 to 1024G, as in 96, 64K or 1.5M)",
				    text);
	return 0;
}

int nt_parse_number(const char *text, double low, double high, double *out, struct nt_error *err)
{
	char *end;

	errno = 0;
	*out = strtod(text, &end);
	if (end == text || *end || errno || !(*out >= low && *out <= high))
		return nt_error_set(err, "value '%s' (want %.10g to %.10g)", text, low, high);
	return 0;
}

/* Copies the next part of a comma-separated list to out; NULL at the end or if it is too long. */
static const char *next_part(const char **list, char *out, size_t out_bytes)
{
	size_t n = strcspn(*list, ",");

	if (!**list || n >= out_bytes)
		return NULL;
	memcpy(out, *list, n);
	out[n] = 0;
	*list += n + ((*list)[n] == ',');
	return out;
}

static int coll_named(const char *text, size_t length)
{
	for (int c = 0; c < NT_COLLS; c++) {
		const char *name = nt_coll_name(c);

		if (strlen(name) == length && strncasecmp(name, text, length) == 0)
			return c;
	}
	return -1;
}

int nt_parse_colls(struct nt_options *o, const char *text, struct nt_error *err)
{
	const char *rest = text;
	char part[32];

	o->colls = 0;
	while (next_part(&rest, part, sizeof(part)) && o->colls < NT_COLLS) {
		o->coll[o->colls] = coll_named(part, strlen(part));
		if (o->coll[o->colls] < 0)
			return nt_error_set(err,
					    "unknown collective '%s' (want allreduce, allgather, "
					    "reducescatter, broadcast or reduce)",
					    part);
		o->colls++;
	}
	if (*rest || !o->colls)
		return nt_error_set(err, "collectives '%s' (want 1 to %d)", text, NT_COLLS);
	return 0;
}

/* SIZE or SIZExTIMES */
static int parse_size(struct nt_options *o, char *part, struct nt_error *err)
{
	char *times = strchr(part, 'x');
	double value = 1;

	if (times) {
		*times++ = 0;
		if (nt_parse_number(times, 1, NT_MAX_CALLS, &value, err) < 0)
			return -1;
	}
	o->repeat[o->sizes] = (unsigned)value;
	return nt_parse_size(part, &o->size_bytes[o->sizes], err);
}

int nt_parse_sizes(struct nt_options *o, const char *text, struct nt_error *err)
{
	const char *rest = text;
	char part[32];

	o->sizes = 0;
	while (o->sizes < NT_MAX_SIZES && next_part(&rest, part, sizeof(part))) {
		if (parse_size(o, part, err) < 0)
			return -1;
		o->sizes++;
	}
	if (*rest || !o->sizes)
		return nt_error_set(err, "sizes '%s' (want 1 to %d)", text, NT_MAX_SIZES);
	return 0;
}

int nt_parse_p2p(struct nt_options *o, const char *text, struct nt_error *err)
{
	struct nt_sends *sends = &o->p2p[o->p2ps];
	const char *size = strchr(text, ':');
	const char *times = size ? strchr(size, 'x') : NULL;
	double calls = 1;
	char number[24];
	int kind = NT_COLLS;

	while (size && kind < NT_KINDS &&
	       (strlen(nt_coll_name(kind)) != (size_t)(size - text) ||
		strncasecmp(nt_coll_name(kind), text, (size_t)(size - text)) != 0))
		kind++;
	if (!size || kind == NT_KINDS || kind == NT_P2P_RECV || o->p2ps == NT_MAX_SENDS)
		return nt_error_set(
			err, "'%s' (want send, sendrecv or alltoall, a colon and a size)", text);
	snprintf(number, sizeof(number), "%.*s",
		 times ? (int)(times - size - 1) : (int)strlen(size + 1), size + 1);
	if (nt_parse_size(number, &sends->bytes, err) < 0 ||
	    (times && nt_parse_number(times + 1, 1, NT_MAX_CALLS, &calls, err) < 0))
		return -1;
	sends->kind = kind;
	sends->calls = (unsigned)calls;
	o->p2ps++;
	return 0;
}

int nt_parse_order(struct nt_options *o, const char *text, struct nt_error *err)
{
	o->shuffle = strcmp(text, "shuffle") == 0;
	if (!o->shuffle && strcmp(text, "seq") != 0)
		return nt_error_set(err, "order '%s' (want seq or shuffle)", text);
	return 0;
}

int nt_parse_sync(struct nt_options *o, const char *text, struct nt_error *err)
{
	double value = 1;

	if (strcmp(text, "never") == 0)
		value = 0;
	else if (strcmp(text, "every") != 0 && nt_parse_number(text, 1, 1e9, &value, err) < 0)
		return -1;
	o->sync_every = (uint64_t)value;
	return 0;
}

int nt_parse_comms(struct nt_options *o, const char *text, struct nt_error *err)
{
	char list[256], part[64];
	const char *rest = list;

	/* "world+node" equals "world,node". */
	snprintf(list, sizeof(list), "%s", text);
	for (char *c = list; *c; c++)
		*c = *c == '+' ? ',' : *c;
	o->splits = 0;
	while (o->splits < NT_MAX_SPLITS && next_part(&rest, part, sizeof(part))) {
		if (nt_split_parse(&o->split[o->splits++], part, err) < 0)
			return -1;
	}
	if (*rest || !o->splits)
		return nt_error_set(err, "communicators '%s' (want 1 to %d)", text, NT_MAX_SPLITS);
	return 0;
}

/* Numbers of tasks below 64, or every:N for the N-th, 2N-th, ... */
int nt_parse_idle(struct nt_options *o, const char *text, struct nt_error *err)
{
	const char *rest = text;
	char part[24];
	double number;

	o->idle_tasks = 0;
	if (strncmp(text, "every:", 6) == 0) {
		if (nt_parse_number(text + 6, 2, 64, &number, err) < 0)
			return -1;
		for (unsigned t = (unsigned)number - 1; t < 64; t += (unsigned)number)
			o->idle_tasks |= UINT64_C(1) << t;
		return 0;
	}
	while (next_part(&rest, part, sizeof(part))) {
		if (nt_parse_number(part, 0, 63, &number, err) < 0)
			return -1;
		o->idle_tasks |= UINT64_C(1) << (unsigned)number;
	}
	return *rest ? nt_error_set(err, "tasks '%s' (want a list or every:N)", text) : 0;
}

/* FILE[,TOPOLOGY[,MODE]] */
int nt_parse_trace(struct nt_options *o, const char *text, struct nt_error *err)
{
	static char path[512];
	const char *rest = text;

	if (!next_part(&rest, path, sizeof(path)))
		return nt_error_set(err, "trace '%s' (want FILE[,TOPOLOGY[,MODE]])", text);
	o->trace_path = path;
	next_part(&rest, o->trace_topology, sizeof(o->trace_topology));
	next_part(&rest, o->trace_mode, sizeof(o->trace_mode));
	if (*rest)
		return nt_error_set(err, "trace '%s' (want FILE[,TOPOLOGY[,MODE]])", text);
	return 0;
}

/* Up to three numbers after colons; returns their number, or -1. */
static int parse_tail(const char *text, double *value)
{
	int given = 0;

	while (*text == ':' && given < 3) {
		char *end;

		value[given] = strtod(text + 1, &end);
		if (end == text + 1 || !(value[given] >= 0 && value[given] <= 1000))
			return -1;
		given++;
		text = end;
	}
	return *text ? -1 : given;
}

/* none, gaussian[:WIDTH], lognormal[:WIDTH], bimodal[:SHARE:RATIO[:WIDTH]] */
int nt_parse_noise(struct nt_options *o, const char *text, struct nt_error *err)
{
	static const char *const names[] = { "none", "gaussian", "lognormal", "bimodal" };
	size_t n = strcspn(text, ":");
	double value[3];
	int given = parse_tail(text + n, value);
	int kind = 0;

	while (kind < 4 && (strlen(names[kind]) != n || strncmp(names[kind], text, n) != 0))
		kind++;
	if (given < 0 || kind == 4 || (kind == NT_NOISE_NONE && given) ||
	    (kind == NT_NOISE_BIMODAL ? given == 1 || (given && value[0] > 1) : given > 1))
		return nt_error_set(err,
				    "noise '%s' (want none, gaussian[:WIDTH], lognormal[:WIDTH] or "
				    "bimodal[:SHARE:RATIO[:WIDTH]])",
				    text);
	o->noise = (enum nt_noise)kind;
	if (kind == NT_NOISE_BIMODAL && given) {
		o->fast_share = value[0];
		o->slow_ratio = value[1];
	}
	if (kind == NT_NOISE_BIMODAL ? given == 3 : given == 1)
		o->noise_width = value[given - 1];
	return 0;
}

/* [COLL:]ALGO/PROTO=FACTOR[@OP] */
int nt_parse_truth(struct nt_options *o, const char *text, struct nt_error *err)
{
	struct nt_arm_truth *t = &o->truth[o->truths];
	const char *colon = strchr(text, ':');
	const char *arm = colon ? colon + 1 : text;
	const char *equals = strchr(text, '=');
	char name[32];
	char *end;

	if (o->truths == NT_MAX_TRUTHS)
		return nt_error_set(err, "more than %d --arm", NT_MAX_TRUTHS);
	t->coll = colon ? coll_named(text, (size_t)(colon - text)) : -1;
	if (!equals || equals < arm || (size_t)(equals - arm) >= sizeof(name) ||
	    (colon && t->coll < 0))
		return nt_error_set(err, "arm '%s' (want [COLL:]ALGO/PROTO=FACTOR[@OP])", text);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - arm), arm);
	t->arm = nt_arm_parse(name);
	t->factor = strtod(equals + 1, &end);
	t->from_op = *end == '@' ? strtoull(end + 1, &end, 10) : 0;
	if (t->arm < 0 || t->arm == NT_ARM_BASELINE || *end || !(t->factor > 0 && t->factor < 1e6))
		return nt_error_set(err, "arm '%s' (want [COLL:]ALGO/PROTO=FACTOR[@OP])", text);
	o->truths++;
	return 0;
}

/* FACTOR[:SET] */
static int parse_effect(struct nt_launch_effect *e, const char *text, const char *want,
			struct nt_error *err)
{
	struct nt_launch_names names = { .count = 0 };
	char *end;

	e->factor = strtod(text, &end);
	if (end == text || (*end && *end != ':') || !(e->factor > 0 && e->factor < 1e6))
		return nt_error_set(err, "'%s' (want %s)", text, want);
	e->set = *end ? end + 1 : NULL;
	return e->set ? nt_launch_names_add(&names, e->set, err) : 0;
}

/* ROUNDS:FACTOR[:SET] */
int nt_parse_slow(struct nt_options *o, const char *text, struct nt_error *err)
{
	struct nt_launch_effect *e = &o->slow[o->slows];
	char *end;

	if (o->slows == NT_MAX_EFFECTS)
		return nt_error_set(err, "more than %d of them", NT_MAX_EFFECTS);
	e->from_round = strtoull(text, &end, 10);
	if (end == text || *end != ':')
		return nt_error_set(err, "'%s' (want ROUNDS:FACTOR[:SET])", text);
	o->slows++;
	return parse_effect(e, end + 1, "ROUNDS:FACTOR[:SET]", err);
}

int nt_parse_compute(struct nt_options *o, const char *text, struct nt_error *err)
{
	if (o->compute_factors == NT_MAX_EFFECTS)
		return nt_error_set(err, "more than %d of them", NT_MAX_EFFECTS);
	return parse_effect(&o->compute_factor[o->compute_factors++], text, "FACTOR[:SET]", err);
}

int nt_parse_drag(struct nt_options *o, const char *text, struct nt_error *err)
{
	const char *equals = strchr(text, '=');
	char name[32];
	char *end = NULL;

	if (equals && (size_t)(equals - text) < sizeof(name)) {
		snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
		o->drag.arm = nt_arm_parse(name);
		o->drag.us = strtod(equals + 1, &end);
	}
	if (!end || *end || o->drag.arm < 0 || o->drag.arm == NT_ARM_BASELINE ||
	    !(o->drag.us > 0 && o->drag.us < 1e6))
		return nt_error_set(err, "drag '%s' (want ALGO/PROTO=US)", text);
	return 0;
}

/* EVERY:ARM[+ARM...] */
int nt_parse_selected(struct nt_options *o, const char *text, struct nt_error *err)
{
	char *end, *word, *rest = NULL;
	char names[256];

	o->selected.every = strtoull(text, &end, 10);
	snprintf(names, sizeof(names), "%s", *end == ':' ? end + 1 : "");
	for (word = strtok_r(names, "+", &rest); word; word = strtok_r(NULL, "+", &rest)) {
		int arm = nt_arm_parse(word);

		if (arm < 0 || arm >= NT_PAIRS)
			return nt_error_set(err, "'%s' (want EVERY:ARM[+ARM...])", text);
		o->selected.pairs |= 1u << arm;
	}
	if (o->selected.every == 0 || o->selected.pairs == 0)
		return nt_error_set(err, "'%s' (want EVERY:ARM[+ARM...])", text);
	return 0;
}

/* EVERY[xREPLAYS] */
int nt_parse_capture(struct nt_options *o, const char *text, struct nt_error *err)
{
	char *end;

	o->capture_every = strtoull(text, &end, 10);
	if (*end == 'x')
		o->replays = (unsigned)strtoul(end + 1, &end, 10);
	if (*end || !o->capture_every || o->replays > 1000)
		return nt_error_set(err, "capture '%s' (want EVERY[xREPLAYS])", text);
	return 0;
}

int nt_parse_late(struct nt_options *o, const char *text, struct nt_error *err)
{
	if (strcmp(text, "tuner") == 0)
		o->late_kernelch = NT_LATE_TUNER;
	else if (strcmp(text, "profiler") == 0)
		o->late_kernelch = NT_LATE_PROFILER;
	else
		return nt_error_set(err, "late events '%s' (want tuner or profiler)", text);
	return 0;
}

/* COLL:SIZE=ARM */
int nt_parse_expected(struct nt_options *o, const char *text, struct nt_error *err)
{
	struct nt_expected *e = &o->expected[o->expectations];
	const char *colon = strchr(text, ':');
	const char *equals = strchr(text, '=');
	char size[24];

	if (o->expectations == NT_MAX_SIZES || !colon || !equals || equals < colon ||
	    (size_t)(equals - colon) > sizeof(size))
		return nt_error_set(err, "expected '%s' (want COLL:SIZE=ALGO/PROTO)", text);
	snprintf(size, sizeof(size), "%.*s", (int)(equals - colon - 1), colon + 1);
	e->coll = coll_named(text, (size_t)(colon - text));
	e->arm = nt_arm_parse(equals + 1);
	if (e->coll < 0 || e->arm < 0)
		return nt_error_set(err, "expected '%s' (want COLL:SIZE=ALGO/PROTO or AUTO)", text);
	o->expectations++;
	return nt_parse_size(size, &e->bytes, err);
}

int nt_parse_env(struct nt_options *o, const char *text, struct nt_error *err)
{
	if (!strchr(text, '=') || o->envs == NT_MAX_ENV)
		return nt_error_set(err, "environment '%s' (want NAME=VALUE, %d at most)", text,
				    NT_MAX_ENV);
	o->env[o->envs++] = text;
	return 0;
}

/* ROUNDS[xTIMES] */
static int parse_renewal(struct nt_renewal *r, const char *text, struct nt_error *err)
{
	char *end;

	r->rounds = strtoull(text, &end, 10);
	r->times = *end == 'x' ? strtoull(end + 1, &end, 10) : UINT64_MAX;
	if (*end || !r->rounds || !r->times)
		return nt_error_set(err, "renewal '%s' (want ROUNDS[xTIMES])", text);
	return 0;
}

int nt_parse_churn(struct nt_options *o, const char *text, struct nt_error *err)
{
	return parse_renewal(&o->churn, text, err);
}

int nt_parse_abort_every(struct nt_options *o, const char *text, struct nt_error *err)
{
	return parse_renewal(&o->abort_every, text, err);
}

int nt_parse_ras(struct nt_options *o, const char *text, struct nt_error *err)
{
	char *end;

	o->ras.mask = (int)strtol(text, &end, 0);
	o->ras.call = *end == '@' ? strtoull(end + 1, &end, 10) : 0;
	if (*end || !o->ras.call)
		return nt_error_set(err, "mask '%s' (want MASK@CALL, calls counted from 1)", text);
	return 0;
}
