/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/findings-net.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/plural.h"

#define NODES_MAX 1024 /* compared */
#define PORT_BYTES 48

/* A node's first process, which sees what all of its see */
struct nodes {
	const struct nt_facts_seen *node[NODES_MAX];
	size_t count;
};

static void find_nodes(struct nodes *nodes, const struct nt_facts_seen *seen, size_t count)
{
	nodes->count = 0;
	for (size_t i = 0; i < count && nodes->count < NODES_MAX;
	     i = nt_findings_node_end(seen, count, i))
		nodes->node[nodes->count++] = &seen[i];
}

/* ---- ports */

struct port {
	char name[PORT_BYTES]; /* "mlx5_0/1" */
	char state[20], kind[4];
	double gbits;
};

/* One of "NAME=STATE,GBITS,KIND ..."; returns what follows it, NULL at the end. */
static const char *read_port(struct port *port, const char *text)
{
	const size_t length = strcspn(text, " ");
	int used = 0;

	memset(port, 0, sizeof(*port));
	if (length == 0)
		return NULL;
	if (sscanf(text, "%47[^= ]=%19[^, ],%lf,%3[a-z]%n", port->name, port->state, &port->gbits,
		   port->kind, &used) != 4 ||
	    (size_t)used != length)
		return NULL;
	text += length;
	return text + (*text == ' ');
}

static bool find_port(struct port *port, const char *ports, const char *name)
{
	for (const char *at = ports; (at = read_port(port, at)) != NULL;) {
		if (strcmp(port->name, name) == 0)
			return true;
	}
	return false;
}

static bool is_active(const struct port *port)
{
	return strcmp(port->state, "ACTIVE") == 0;
}

static bool any_active(const struct nt_facts_seen *seen)
{
	struct port port;

	for (const char *at = seen->facts.ports; (at = read_port(&port, at)) != NULL;) {
		if (is_active(&port))
			return true;
	}
	return false;
}

/* Have all nodes the same ports? Else they are of different kinds. */
static bool same_ports(const struct nodes *nodes)
{
	struct port port, other;

	for (size_t i = 1; i < nodes->count; i++) {
		const char *a = nodes->node[0]->facts.ports, *b = nodes->node[i]->facts.ports;

		while ((a = read_port(&port, a)) != NULL && (b = read_port(&other, b)) != NULL) {
			if (strcmp(port.name, other.name) != 0 ||
			    strcmp(port.kind, other.kind) != 0)
				return false;
		}
		if (a == NULL && read_port(&other, b) != NULL)
			return false;
		if (a != NULL && b == NULL)
			return false;
	}
	return nodes->count > 1;
}

static void add_port(struct nt_findings *findings, const char *node, const char *what,
		     const char *others)
{
	struct nt_finding finding;

	nt_finding_set(&finding, NT_FINDING_PORTS, "%.60s:%s:%s", node, what, others);
	nt_findings_add(findings, &finding);
}

/* Of one port on all nodes: where most are active at a rate, those that are not. */
static void compare_port(struct nt_findings *findings, const struct nodes *nodes, const char *name)
{
	double best = 0;
	size_t active = 0, slow = 0;
	struct port port;

	for (size_t i = 0; i < nodes->count; i++) {
		if (!find_port(&port, nodes->node[i]->facts.ports, name))
			return;
		active += is_active(&port);
		best = is_active(&port) && port.gbits > best ? port.gbits : best;
	}
	for (size_t i = 0; i < nodes->count; i++) {
		(void)find_port(&port, nodes->node[i]->facts.ports, name);
		slow += is_active(&port) && port.gbits < best;
	}
	for (size_t i = 0; i < nodes->count; i++) {
		char what[96], others[64];

		(void)find_port(&port, nodes->node[i]->facts.ports, name);
		if (!is_active(&port) && 2 * (nodes->count - active) <= nodes->count) {
			snprintf(what, sizeof(what), "port %s is %s", name, port.state);
			snprintf(others, sizeof(others), "it is active on %zu other node%s", active,
				 nt_plural(active));
			add_port(findings, nodes->node[i]->node, what, others);
		} else if (is_active(&port) && port.gbits < best && 2 * slow <= nodes->count) {
			snprintf(what, sizeof(what), "port %s has %.0f Gbit/s", name, port.gbits);
			snprintf(others, sizeof(others), "it has %.0f on others", best);
			add_port(findings, nodes->node[i]->node, what, others);
		}
	}
}

static void judge_ports(struct nt_findings *findings, const struct nodes *nodes)
{
	struct port port;

	if (!same_ports(nodes))
		return;
	for (const char *at = nodes->node[0]->facts.ports; (at = read_port(&port, at)) != NULL;)
		compare_port(findings, nodes, port.name);
}

/* ---- sockets */

/* Mbit/s; 0: not known. */
static int64_t speed_of(const struct nt_facts *facts, const char *link)
{
	char value[24];

	return nt_findings_value(facts->links, link, value, sizeof(value)) == 0
		       ? strtoll(value, NULL, 10)
		       : 0;
}

/* All nodes must have a port that is faster than what they use. Cards for storage are. */
static bool has_better_port(const struct nt_facts_seen *node, char out[64])
{
	const int64_t mbps = node->facts.link[0] ? speed_of(&node->facts, node->facts.link) : 0;
	struct port port;

	for (const char *at = node->facts.ports; (at = read_port(&port, at)) != NULL;) {
		if (!is_active(&port) || port.gbits * 1e3 <= (double)mbps)
			continue;
		snprintf(out, 64, "%s, %.0f Gbit/s", port.name, port.gbits);
		return true;
	}
	return false;
}

static void judge_sockets(struct nt_findings *findings, const struct nodes *nodes)
{
	struct nt_finding finding;
	char port[64] = "", other[64];

	for (size_t i = 0; i < nodes->count; i++) {
		if (strcmp(nodes->node[i]->fabric, "socket") != 0 ||
		    !has_better_port(nodes->node[i], i == 0 ? port : other))
			return;
	}
	nt_finding_set(&finding, NT_FINDING_SOCKETS, ":%s", port);
	nt_findings_add(findings, &finding);
}

/* ---- interface */

/* The fastest that all nodes have, by its slowest */
static int64_t best_link(const struct nodes *nodes, char out[20])
{
	int64_t best = 0;

	for (const char *at = nodes->node[0]->facts.links; *at;) {
		const size_t length = strcspn(at, " "), bytes = strcspn(at, "=");
		int64_t slowest = INT64_MAX;
		char name[20];

		snprintf(name, sizeof(name), "%.*s", bytes < length ? (int)bytes : 0, at);
		for (size_t i = 0; i < nodes->count; i++) {
			const int64_t mbps = speed_of(&nodes->node[i]->facts, name);

			slowest = mbps < slowest ? mbps : slowest;
		}
		if (slowest > best) {
			best = slowest;
			memcpy(out, name, sizeof(name));
		}
		at += length;
		at += *at == ' ';
	}
	return best;
}

/* Bridges of containers and virtual machines, and the loopback, connect processes of one node. */
static bool is_inside(const char *link)
{
	static const char *const names[] = { "docker", "virbr", "veth", "cni", "lxcbr" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(link, names[i], strlen(names[i])) == 0)
			return true;
	}
	return strcmp(link, "lo") == 0;
}

static void add_interface(struct nt_findings *findings, const char *node, const char *what,
			  const char *other, const char *rest)
{
	struct nt_finding finding;

	nt_finding_set(&finding, NT_FINDING_INTERFACE, "%.60s:%s:%s:%s", node, what,
		       other[0] ? other : "INTERFACE", rest);
	nt_findings_add(findings, &finding);
}

/* What NCCL_SOCKET_IFNAME takes on some node */
static bool judge_ifname(struct nt_findings *findings, const struct nodes *nodes, const char *other)
{
	for (size_t i = 0; i < nodes->count; i++) {
		const struct nt_facts_seen *node = nodes->node[i];
		char name[40], what[96];

		snprintf(name, sizeof(name), "%s", node->facts.ifname);
		(void)nt_findings_argument(name);
		if (name[0] == '-')
			snprintf(what, sizeof(what), "NCCL_SOCKET_IFNAME=%s names no interface",
				 name + 1);
		else if (is_inside(name))
			snprintf(what, sizeof(what), "NCCL_SOCKET_IFNAME takes %s", name);
		else
			continue;
		add_interface(findings, node->node, what, other,
			      name[0] == '-' ? " that has an address there"
					     : ", which connects no nodes");
		return true;
	}
	return false;
}

/* Of sockets for data: with RDMA, NCCL connects over any link, and sends little there. */
static bool uses_slow_link(const struct nodes *nodes, int64_t best)
{
	for (size_t i = 0; i < nodes->count; i++) {
		const struct nt_facts_seen *node = nodes->node[i];
		const int64_t used = speed_of(&node->facts, node->facts.link);

		if (strcmp(node->fabric, "socket") != 0 || !node->facts.link[0] || used <= 0 ||
		    used * 10 > best)
			return false;
	}
	return true;
}

static void judge_interface(struct nt_findings *findings, const struct nodes *nodes)
{
	char other[20] = "", what[96], rest[96];
	const int64_t best = best_link(nodes, other);
	const struct nt_facts *facts = &nodes->node[0]->facts;

	if (judge_ifname(findings, nodes, other) || !uses_slow_link(nodes, best))
		return;
	snprintf(what, sizeof(what), "NCCL sends between nodes over %s", facts->link);
	snprintf(rest, sizeof(rest),
		 " with %" PRId64 " Mbit/s, although all nodes also have %s with %" PRId64,
		 speed_of(facts, facts->link), other, best);
	add_interface(findings, "", what, other, rest);
}

/* ---- gdr */

static void judge_gdr(struct nt_findings *findings, const struct nodes *nodes)
{
	struct nt_finding finding;
	const char *node = NULL;
	size_t off = 0, known = 0;
	char place[NT_FINDINGS_PLACE];

	for (size_t i = 0; i < nodes->count; i++) {
		const struct nt_facts_seen *seen = nodes->node[i];

		if (strcmp(seen->fabric, "ib") != 0 || !seen->facts.gdr[0])
			continue;
		known++;
		if (strcmp(seen->facts.gdr, "none") != 0)
			continue;
		if (off++ == 0)
			node = seen->node;
	}
	if (off == 0)
		return;
	nt_finding_set(&finding, NT_FINDING_GDR, "%s:nvidia_peermem is not loaded%s",
		       nt_findings_place(node, off, place),
		       off < known ? " there, as it is on the others"
				   : ", and this driver has no other way");
	nt_findings_add(findings, &finding);
}

void nt_findings_judge_net(struct nt_findings *findings, const struct nt_facts_seen *seen,
			   size_t count, int64_t nodes)
{
	struct nodes all;

	find_nodes(&all, seen, count);
	if (nodes < 2 || all.count < 2)
		return;
	judge_ports(findings, &all);
	if (any_active(all.node[0]))
		judge_gdr(findings, &all);
	judge_sockets(findings, &all);
	judge_interface(findings, &all);
}
