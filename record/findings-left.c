/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/findings-left.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/findings-net.h"

/* What the step has to be for a variable to matter */
enum where {
	ANYWHERE,
	ON_A_NODE, /* ranks on one node */
	BETTER_PORTS, /* several nodes, whose RDMA ports are faster than what they use */
	BY_RDMA, /* several nodes that use such ports */
	BY_CHOICE, /* a network whose vendor does not ask for it */
};

static bool is_on(const char *value)
{
	return strtol(value, NULL, 0) != 0;
}

static bool is_off(const char *value)
{
	char *end;

	return (strtol(value, &end, 0) == 0 && end != value) || strcmp(value, "LOC") == 0;
}

/* Only one, or some; "^NVLS" works around something. */
static bool restricts(const char *value)
{
	return value[0] != '^' && strcmp(value, "AUTO") != 0;
}

static bool is_many(const char *value)
{
	return strtol(value, NULL, 0) >= 32;
}

static bool is_few(const char *value)
{
	const long channels = strtol(value, NULL, 0);

	return channels > 0 && channels <= 2;
}

static bool is_small(const char *value)
{
	const long bytes = strtol(value, NULL, 0);

	return bytes > 0 && bytes < 1 << 20;
}

static const struct rule {
	const char *name;
	enum where where;
	bool (*slows)(const char *value);
	const char *effect;
} rules[] = {
	{ "NCCL_P2P_DISABLE", ON_A_NODE, is_on, "GPUs of a node cannot use NVLink or PCIe" },
	{ "NCCL_P2P_LEVEL", ON_A_NODE, is_off, "GPUs of a node cannot use NVLink or PCIe" },
	{ "NCCL_SHM_DISABLE", ON_A_NODE, is_on, "ranks of a node may have to use the network" },
	{ "NCCL_IB_DISABLE", BETTER_PORTS, is_on, "nodes use TCP although RDMA ports are active" },
	{ "NCCL_NET_GDR_LEVEL", BY_RDMA, is_off, "data passes through host memory" },
	{ "NCCL_ALGO", BY_CHOICE, restricts, "NCCL and nccl-tune cannot choose others" },
	{ "NCCL_PROTO", BY_CHOICE, restricts, "NCCL and nccl-tune cannot choose others" },
	{ "NCCL_MIN_NCHANNELS", ANYWHERE, is_many, "collectives take much of the GPU" },
	{ "NCCL_MAX_NCHANNELS", ANYWHERE, is_few, "collectives are narrower than the links" },
	{ "NCCL_MIN_CTAS", ANYWHERE, is_many, "collectives take much of the GPU" },
	{ "NCCL_MAX_CTAS", ANYWHERE, is_few, "collectives are narrower than the links" },
	{ "NCCL_BUFFSIZE", ANYWHERE, is_small, "large calls are cut into small parts" },
};

struct step {
	const struct nt_facts_seen *seen;
	size_t count;
	bool better_ports, rdma, vendor, together;
};

static bool matters(const struct step *step, enum where where)
{
	return (where != ON_A_NODE || step->together) &&
	       (where != BETTER_PORTS || step->better_ports) && (where != BY_RDMA || step->rdma) &&
	       (where != BY_CHOICE || !step->vendor);
}

static void add(struct nt_findings *findings, const char *variable, const char *by,
		const char *effect)
{
	struct nt_finding finding;

	nt_finding_set(&finding, NT_FINDING_LEFT, ":%.60s:%s:%s", variable, by, effect);
	nt_findings_add(findings, &finding);
}

/* In any rank: if they differ, that is another finding. */
static void look_for(struct nt_findings *findings, const struct step *step, const struct rule *rule)
{
	for (size_t i = 0; i < step->count; i++) {
		const struct nt_facts_seen *seen = &step->seen[i];
		char value[48], variable[96];
		bool outside = nt_findings_value(seen->variables, rule->name, value,
						 sizeof(value)) == 0;

		if ((!outside &&
		     nt_findings_value(seen->inside, rule->name, value, sizeof(value)) < 0) ||
		    !rule->slows(value))
			continue;
		if (nt_findings_value(seen->facts.profile, rule->name, variable,
				      sizeof(variable)) == 0 ||
		    nt_findings_is_site(seen, rule->name))
			continue;
		snprintf(variable, sizeof(variable), "%s=%s", rule->name, value);
		add(findings, nt_findings_argument(variable),
		    outside ? "in the job or its image" : "by the program, a plugin or nccl.conf",
		    rule->effect);
		return;
	}
}

static void look_at_debugging(struct nt_findings *findings, const struct step *step)
{
	bool blocking = false, trace = false, shared = false;

	for (size_t i = 0; i < step->count; i++) {
		const struct nt_facts *facts = &step->seen[i].facts;

		blocking = blocking || facts->blocking;
		trace = trace || strncmp(facts->debug, "TRACE", 5) == 0;
		shared = shared || strstr(facts->debug, " shared") != NULL;
	}
	if (blocking)
		add(findings, "CUDA_LAUNCH_BLOCKING", "in the job or its image",
		    "the program waits for each kernel");
	if (trace)
		add(findings, "NCCL_DEBUG=TRACE", "in the job or its image",
		    "NCCL writes lines for each call");
	else if (shared)
		add(findings, "NCCL_DEBUG_FILE", "in the job or its image",
		    "all ranks write to a shared file system");
}

void nt_findings_judge_left(struct nt_findings *findings, const struct nt_facts_seen *seen,
			    size_t count, int64_t nodes)
{
	char port[64];
	struct step step = {
		.seen = seen,
		.count = count,
		.better_ports = nodes > 1 && nt_findings_better_port(seen, count, nodes, port),
		.rdma = nodes > 1,
	};

	for (size_t i = 0; i < count; i++) {
		step.rdma = step.rdma && nt_findings_by_rdma(&seen[i]);
		step.vendor = step.vendor || strcmp(seen[i].fabric, "tcpx") == 0 ||
			      strcmp(seen[i].fabric, "efa") == 0;
		step.together = step.together || (seen[i].local > 1 && !seen[i].facts.geforce);
	}
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (matters(&step, rules[i].where))
			look_for(findings, &step, &rules[i]);
	}
	look_at_debugging(findings, &step);
}
