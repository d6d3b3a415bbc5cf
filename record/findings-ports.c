/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/findings-ports.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/plural.h"

bool nt_port_next(const char **ports, struct nt_port_seen *port)
{
	struct nt_findings_pair pair;
	char value[96];

	memset(port, 0, sizeof(*port));
	if (!nt_findings_next(ports, &pair) || pair.name_bytes >= (int)sizeof(port->name))
		return false;
	snprintf(port->name, sizeof(port->name), "%.*s", pair.name_bytes, pair.name);
	snprintf(value, sizeof(value), "%.*s", pair.value_bytes, pair.value);
	return sscanf(value, "%19[^,],%lf,%3[a-z],%7[0-9],%7[0-9],%19s", port->state, &port->gbits,
		      port->kind, port->mtu, port->gids, port->firmware) >= 3;
}

bool nt_port_active(const struct nt_port_seen *port)
{
	return strcmp(port->state, "ACTIVE") == 0;
}

static bool find_port(struct nt_port_seen *port, const char *ports, const char *name)
{
	while (nt_port_next(&ports, port)) {
		if (strcmp(port->name, name) == 0)
			return true;
	}
	return false;
}

/* "28.43.1014": the number before the first dot is the kind of card. */
static bool same_card(const struct nt_port_seen *a, const struct nt_port_seen *b)
{
	const size_t bytes = strcspn(a->firmware, ".");

	return !a->firmware[0] || !b->firmware[0] ||
	       (strcspn(b->firmware, ".") == bytes && memcmp(a->firmware, b->firmware, bytes) == 0);
}

/* Have all nodes the same ports? Else they are of different kinds. */
static bool same_ports(const struct nt_findings_nodes *nodes)
{
	struct nt_port_seen port, other;

	for (size_t i = 1; i < nodes->count; i++) {
		const char *a = nodes->node[0]->facts.ports, *b = nodes->node[i]->facts.ports;
		bool more = true;

		while (more) {
			more = nt_port_next(&a, &port);
			if (nt_port_next(&b, &other) != more ||
			    strcmp(port.name, other.name) != 0 ||
			    strcmp(port.kind, other.kind) != 0 || !same_card(&port, &other))
				return false;
		}
	}
	return true;
}

static void add(struct nt_findings *findings, const char *node, char *what, const char *others)
{
	struct nt_finding finding;

	nt_finding_set(&finding, NT_FINDING_PORTS, "%.60s:%s:%s", node, nt_findings_argument(what),
		       others);
	nt_findings_add(findings, &finding);
}

/* ---- what is one word for each node */

#define VALUE_BYTES 24

/* "" or "0": not known. name: of a port; NULL: it is the node's. */
typedef void get_value(const struct nt_facts_seen *node, const char *name, char out[VALUE_BYTES]);

static void get_state(const struct nt_facts_seen *node, const char *name, char out[VALUE_BYTES])
{
	struct nt_port_seen port;

	(void)find_port(&port, node->facts.ports, name);
	snprintf(out, VALUE_BYTES, "%s", port.state);
}

static void get_rate(const struct nt_facts_seen *node, const char *name, char out[VALUE_BYTES])
{
	struct nt_port_seen port;

	(void)find_port(&port, node->facts.ports, name);
	out[0] = '\0';
	if (nt_port_active(&port))
		snprintf(out, VALUE_BYTES, "%.0f", port.gbits);
}

static void get_driver(const struct nt_facts_seen *node, const char *name, char out[VALUE_BYTES])
{
	(void)name;
	snprintf(out, VALUE_BYTES, "%s", node->driver);
}

static void get_gpus(const struct nt_facts_seen *node, const char *name, char out[VALUE_BYTES])
{
	(void)name;
	if (nt_findings_value(node->facts.seen_by_root, "gpus", out, VALUE_BYTES) < 0)
		out[0] = '\0';
}

static void get_mtu(const struct nt_facts_seen *node, const char *name, char out[VALUE_BYTES])
{
	struct nt_port_seen port;

	(void)find_port(&port, node->facts.ports, name);
	snprintf(out, VALUE_BYTES, "%s", nt_port_active(&port) ? port.mtu : "");
}

static void get_gids(const struct nt_facts_seen *node, const char *name, char out[VALUE_BYTES])
{
	struct nt_port_seen port;

	(void)find_port(&port, node->facts.ports, name);
	snprintf(out, VALUE_BYTES, "%s", nt_port_active(&port) ? port.gids : "");
}

static void get_firmware(const struct nt_facts_seen *node, const char *name, char out[VALUE_BYTES])
{
	struct nt_port_seen port;

	(void)find_port(&port, node->facts.ports, name);
	snprintf(out, VALUE_BYTES, "%s", port.firmware);
}

enum usual {
	MOST, /* what two thirds of the nodes have; nothing where one is not known */
	BEST, /* the best, if half of those that are known have it */
};

static const struct property {
	const char *before, *after; /* the value */
	get_value *get;
	enum usual usual;
	bool of_port;
	bool less; /* only less than the others have is wrong, */
	long most; /* not more than this; 0: at least half of theirs */
} properties[] = {
	{ "is ", "", get_state, BEST, true, false, 0 },
	{ "has ", " Gbit/s", get_rate, BEST, true, true, LONG_MAX },
	{ "there are ", " GPUs", get_gpus, MOST, false, true, 0 },
	{ "the GPU driver is ", "", get_driver, MOST, false, false, 0 },
	/* RDMA uses at most 4096 bytes and its headers. */
	{ "has an MTU of ", "", get_mtu, MOST, true, true, 4199 },
	/* Two for each address; the first is the one that Linux gives itself. */
	{ "has ", " GIDs", get_gids, MOST, true, true, 2 },
	{ "has firmware ", "", get_firmware, MOST, true, false, 0 },
};

static bool is_active(const char *value)
{
	return strcmp(value, "ACTIVE") == 0;
}

static bool is_odd(const struct property *property, const char *value, const char *usual)
{
	const long here = strtol(value, NULL, 10), others = strtol(usual, NULL, 10);

	if (!value[0] || strcmp(value, usual) == 0)
		return false;
	if (!property->less)
		return property->usual == MOST || is_active(usual);
	return here < others && (property->most > 0 ? here <= property->most : 2 * here > others);
}

/* Moves on to this node's value if that is better, or in more votes than the last one. */
static void vote(const struct property *property, char usual[VALUE_BYTES], const char *value,
		 size_t *votes)
{
	if (property->usual == BEST
		    ? is_active(value) || strtol(value, NULL, 10) > strtol(usual, NULL, 10)
		    : *votes == 0)
		memcpy(usual, value, VALUE_BYTES);
	*votes += strcmp(value, usual) == 0 ? 1 : (size_t)-1;
}

/* How many nodes have what is usual; 0: nothing is. */
static size_t find_usual(const struct property *property, const struct nt_findings_nodes *nodes,
			 const char *name, char usual[VALUE_BYTES])
{
	char value[VALUE_BYTES];
	size_t votes = 0, count = 0, known = 0;

	for (size_t i = 0; i < nodes->count; i++) {
		property->get(nodes->node[i], name, value);
		if (value[0] && strcmp(value, "0") != 0) {
			vote(property, usual, value, &votes);
			known++;
		} else if (property->usual == MOST) {
			return 0;
		}
	}
	for (size_t i = 0; i < nodes->count; i++) {
		property->get(nodes->node[i], name, value);
		count += value[0] && strcmp(value, usual) == 0;
	}
	return property->usual == BEST ? (2 * count >= known ? count : 0)
				       : (3 * count >= 2 * known ? count : 0);
}

/* True: somebody is odd. */
static bool compare(struct nt_findings *findings, const struct property *property,
		    const struct nt_findings_nodes *nodes, const char *name)
{
	char usual[VALUE_BYTES] = "", value[VALUE_BYTES], what[96], others[64];
	const size_t count = find_usual(property, nodes, name, usual);
	bool found = false;

	for (size_t i = 0; i < nodes->count && count > 0; i++) {
		property->get(nodes->node[i], name, value);
		if (!is_odd(property, value, usual))
			continue;
		found = true;
		snprintf(what, sizeof(what), "%s%s%s%s%s%s", name ? "port " : "", name ? name : "",
			 name ? " " : "", property->before, value, property->after);
		snprintf(others, sizeof(others), "%s on %zu other%s", usual, count,
			 nt_plural(count));
		add(findings, nodes->node[i]->node, what, others);
	}
	return found;
}

void nt_findings_judge_ports(struct nt_findings *findings, const struct nt_findings_nodes *nodes)
{
	const bool same = same_ports(nodes);
	struct nt_port_seen port;

	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		const struct property *property = &properties[i];
		const char *at = property->of_port ? nodes->node[0]->facts.ports : "";
		bool found = !property->of_port && compare(findings, property, nodes, NULL);

		/* Of what a node's cards have in common one port is enough. */
		while (same && !(found && property->usual == MOST) && nt_port_next(&at, &port))
			found = compare(findings, property, nodes, port.name);
	}
}
