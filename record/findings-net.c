/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/findings-net.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/findings-ports.h"

static void find_nodes(struct nt_findings_nodes *nodes, const struct nt_facts_seen *seen,
		       size_t count)
{
	nodes->count = 0;
	for (size_t i = 0; i < count && nodes->count < NT_FINDINGS_NODES;
	     i = nt_findings_node_end(seen, count, i))
		nodes->node[nodes->count++] = &seen[i];
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

/* Of what it uses; if that is not known, of its fastest link; 0: that is not known either. */
static int64_t used_speed(const struct nt_facts *facts)
{
	struct nt_findings_pair link;
	int64_t most = 0;

	if (facts->link[0])
		return speed_of(facts, facts->link);
	for (const char *at = facts->links; nt_findings_next(&at, &link);) {
		const int64_t mbps = strtoll(link.value, NULL, 10);

		most = mbps > most ? mbps : most;
	}
	return most;
}

/* All nodes must have a port that is faster than what they use. Cards for storage are, unless they
 * are slow. */
static bool has_better_port(const struct nt_facts_seen *node, char out[64])
{
	const int64_t mbps = used_speed(&node->facts);
	struct nt_port_seen port;

	for (const char *at = node->facts.ports; nt_port_next(&at, &port);) {
		if (!nt_port_active(&port) || port.gbits * 1e3 <= (double)mbps ||
		    (mbps <= 0 && port.gbits < 100))
			continue;
		snprintf(out, 64, "%s, %.0f Gbit/s", port.name, port.gbits);
		return true;
	}
	return false;
}

bool nt_findings_better_port(const struct nt_facts_seen *seen, size_t count, char out[64])
{
	char other[64];

	for (size_t i = 0; i < count; i = nt_findings_node_end(seen, count, i)) {
		if (!has_better_port(&seen[i], i == 0 ? out : other))
			return false;
	}
	return count > 0;
}

/* Where the site has chosen them, they are meant. */
static void judge_sockets(struct nt_findings *findings, const struct nt_facts_seen *seen,
			  size_t count)
{
	struct nt_finding finding;
	char port[64];

	for (size_t i = 0; i < count; i++) {
		if (!nt_findings_by_sockets(&seen[i]) ||
		    nt_findings_is_site(&seen[i], "NCCL_IB_DISABLE") ||
		    nt_findings_is_site(&seen[i], "NCCL_NET"))
			return;
	}
	if (!nt_findings_better_port(seen, count, port))
		return;
	nt_finding_set(&finding, NT_FINDING_SOCKETS, ":%s", port);
	nt_findings_add(findings, &finding);
}

/* ---- interface */

static bool begins_with_any(const char *link, const char *const *names)
{
	for (; *names; names++) {
		if (strncmp(link, *names, strlen(*names)) == 0)
			return true;
	}
	return false;
}

/* Bridges of containers and virtual machines connect processes of one node. So does the loopback,
 * but with it NCCL starts only where all nodes are one machine. */
static bool is_inside(const char *link)
{
	static const char *const names[] = { "docker", "virbr", "veth", "cni", "lxcbr", NULL };

	return begins_with_any(link, names);
}

/* Their speed is that of nothing. */
static bool is_virtual(const char *link)
{
	static const char *const names[] = { "br-", "podman", "flannel", "cali", "cilium",
					     "tun", "tap",    "vnet",	 "wg",	 NULL };

	return is_inside(link) || begins_with_any(link, names);
}

/* The fastest that all nodes have, by its slowest */
static int64_t best_link(const struct nt_findings_nodes *nodes, char out[20])
{
	struct nt_findings_pair link;
	int64_t best = 0;

	for (const char *at = nodes->node[0]->facts.links; nt_findings_next(&at, &link);) {
		int64_t slowest = INT64_MAX;
		char name[20];

		snprintf(name, sizeof(name), "%.*s", link.name_bytes, link.name);
		if (is_virtual(name))
			continue;
		for (size_t i = 0; i < nodes->count; i++) {
			const int64_t mbps = speed_of(&nodes->node[i]->facts, name);

			slowest = mbps < slowest ? mbps : slowest;
		}
		if (slowest > best) {
			best = slowest;
			memcpy(out, name, sizeof(name));
		}
	}
	return best;
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
static bool judge_ifname(struct nt_findings *findings, const struct nt_findings_nodes *nodes,
			 const char *other)
{
	for (size_t i = 0; i < nodes->count; i++) {
		const struct nt_facts_seen *node = nodes->node[i];
		char name[40], what[96];

		snprintf(name, sizeof(name), "%s", node->facts.ifname);
		(void)nt_findings_argument(name);
		if (name[0] == '-')
			snprintf(what, sizeof(what), "NCCL_SOCKET_IFNAME=%s names no interface",
				 name + 1);
		else if (is_inside(name) && strcmp(name, node->facts.link) != 0)
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
static bool uses_slow_link(const struct nt_findings_nodes *nodes, int64_t best)
{
	for (size_t i = 0; i < nodes->count; i++) {
		const struct nt_facts_seen *node = nodes->node[i];
		const int64_t used = speed_of(&node->facts, node->facts.link);

		if (!nt_findings_by_sockets(node) || !node->facts.link[0] || used <= 0 ||
		    used * 10 > best)
			return false;
	}
	return true;
}

static void judge_interface(struct nt_findings *findings, const struct nt_findings_nodes *nodes)
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

/* What data between GPUs and ports passes through, and what to do */
static const struct detour {
	const char *through, *why, *fix;
	bool few; /* where most nodes have it, the site wants it */
} detours[] = {
	{ "host memory", "nvidia_peermem is not loaded",
	  "modprobe nvidia_peermem, or NVIDIA's open kernel modules", false },
	{ "the processor", "PCIe ACS is on at", "off for bridges, in the firmware or by setpci",
	  false },
	{ "the IOMMU", "it translates addresses", "iommu=pt for Linux", true },
};

static bool knows_gdr(const struct nt_facts_seen *node)
{
	return strcmp(node->fabric, "ib") == 0 && node->facts.gdr[0];
}

/* NULL: none. where: of the bridges that root has seen. */
static const struct detour *detour_of(const struct nt_facts_seen *node, char where[64])
{
	const char *seen = node->facts.seen_by_root;
	char value[40];

	where[0] = '\0';
	if (!knows_gdr(node))
		return NULL;
	if (strcmp(node->facts.gdr, "none") == 0)
		return &detours[0];
	if (nt_findings_value(seen, "acs", value, sizeof(value)) == 0) {
		char *plus = strchr(value, '+');

		snprintf(where, 64, " %.*s%s%s", (int)strcspn(value, "+"), value,
			 plus ? " and others, in all " : "", plus ? plus + 1 : "");
		return &detours[1];
	}
	if (nt_findings_value(seen, "iommu", value, sizeof(value)) == 0 &&
	    strncmp(value, "DMA", 3) == 0)
		return &detours[2];
	return NULL;
}

static void judge_detour(struct nt_findings *findings, const struct nt_findings_nodes *nodes,
			 const struct detour *detour)
{
	const char *first = NULL;
	char here[64], where[64] = "", on[NT_FINDINGS_ON];
	size_t count = 0, known = 0;
	struct nt_finding finding;

	for (size_t i = 0; i < nodes->count; i++) {
		known += knows_gdr(nodes->node[i]);
		if (detour_of(nodes->node[i], here) != detour)
			continue;
		if (count++ == 0) {
			first = nodes->node[i]->node;
			memcpy(where, here, sizeof(where));
		}
	}
	if (count == 0 || (detour->few && 2 * count > known))
		return;
	nt_finding_set(&finding, NT_FINDING_GDR, "%s:%s:%s:%s%s%s",
		       nt_findings_on(first, count, on), detour->through, detour->fix, detour->why,
		       where, count < known ? ", and not on the others" : "");
	nt_findings_add(findings, &finding);
}

void nt_findings_judge_net(struct nt_findings *findings, const struct nt_facts_seen *seen,
			   size_t count, int64_t nodes)
{
	struct nt_findings_nodes all;

	find_nodes(&all, seen, count);
	if (nodes < 2 || all.count < 2)
		return;
	nt_findings_judge_ports(findings, &all);
	for (size_t i = 0; i < sizeof(detours) / sizeof(detours[0]); i++)
		judge_detour(findings, &all, &detours[i]);
	judge_sockets(findings, seen, count);
	judge_interface(findings, &all);
}
