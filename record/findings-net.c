/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/findings-net.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/list.h"
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

/* Of Ethernet it needs an address, beside the two GIDs that Linux gives itself: a port of a virtual
 * machine has none. */
static bool may_be_used(const struct nt_port_seen *port)
{
	const long gids = strtol(port->gids, NULL, 10);

	return nt_port_active(port) && (strcmp(port->kind, "eth") != 0 || gids == 0 || gids > 2);
}

/* IP over InfiniBand is far slower than its port; where no speed is known, Ethernet may be the very
 * link. */
static bool is_better(const struct nt_port_seen *port, const struct nt_facts *facts, int64_t mbps)
{
	if (strncmp(facts->link, "ib", 2) == 0 && strcmp(port->kind, "ib") == 0)
		return true;
	return mbps > 0 ? port->gbits * 1e3 > (double)mbps
			: port->gbits >= 100 && strcmp(port->kind, "eth") != 0;
}

/* Cards for storage are, unless they are slow. */
static bool has_better_port(const struct nt_facts_seen *node, char out[64])
{
	const int64_t mbps = used_speed(&node->facts);
	struct nt_port_seen port;

	for (const char *at = node->facts.ports; nt_port_next(&at, &port);) {
		if (!may_be_used(&port) || !is_better(&port, &node->facts, mbps))
			continue;
		snprintf(out, 64, "%s, %.0f Gbit/s", port.name, port.gbits);
		return true;
	}
	return false;
}

bool nt_findings_better_port(const struct nt_facts_seen *seen, size_t count, int64_t nodes,
			     char out[64])
{
	char other[64];
	int64_t known = 0;

	for (size_t i = 0; i < count; i = nt_findings_node_end(seen, count, i)) {
		if (!has_better_port(&seen[i], i == 0 ? out : other))
			return false;
		known++;
	}
	return known > 0 && known >= nodes;
}

/* Where the site has chosen them, they are meant. */
static void judge_sockets(struct nt_findings *findings, const struct nt_facts_seen *seen,
			  size_t count, int64_t nodes)
{
	struct nt_finding finding;
	char port[64];

	for (size_t i = 0; i < count; i++) {
		if (!nt_findings_by_sockets(&seen[i]) ||
		    nt_findings_is_site(&seen[i], "NCCL_IB_DISABLE") ||
		    nt_findings_is_site(&seen[i], "NCCL_NET"))
			return;
	}
	if (!nt_findings_better_port(seen, count, nodes, port))
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

struct link {
	char name[20];
	int64_t mbps;
	struct in6_addr address; /* of IPv4 the one that stands for it */
	int prefix; /* bits of it that name the network; 0: not known */
};

/* "10.1.0.7/16" */
static void read_network(struct link *link, const char *text)
{
	char address[64];
	struct in_addr in;
	int bits = 0;

	link->prefix = 0;
	if (sscanf(text, "%63[0-9a-fA-F.:]/%d", address, &bits) != 2 || bits < 1 || bits > 128)
		return;
	if (inet_pton(AF_INET, address, &in) == 1 && bits <= 32) {
		link->address = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
		memcpy(&link->address.s6_addr[12], &in, sizeof(in));
		link->prefix = 96 + bits;
	} else if (inet_pton(AF_INET6, address, &link->address) == 1) {
		link->prefix = bits;
	}
}

/* The next of nt_facts.links that may connect nodes; *links moves behind it. */
static bool next_link(const char **links, struct link *link)
{
	struct nt_findings_pair pair;

	while (nt_findings_next(links, &pair)) {
		char value[96], *end;

		snprintf(link->name, sizeof(link->name), "%.*s", pair.name_bytes, pair.name);
		snprintf(value, sizeof(value), "%.*s", pair.value_bytes, pair.value);
		link->mbps = strtoll(value, &end, 10);
		read_network(link, *end == ',' ? end + 1 : "");
		if (!is_virtual(link->name))
			return true;
	}
	return false;
}

/* Addresses that each machine gives itself: 169.254.0.0/16, as of a management controller */
static bool is_own_address(const struct link *link)
{
	const unsigned char *bytes = link->address.s6_addr;

	return IN6_IS_ADDR_V4MAPPED(&link->address) && bytes[12] == 169 && bytes[13] == 254;
}

/* Neighbours in one network; if that is not known of one, as in records of an older release, by
 * their names. Two with one address are each node's own. */
static bool are_connected(const struct link *a, const struct link *b)
{
	const int bytes = a->prefix / 8, bits = a->prefix % 8;
	const unsigned char *from = a->address.s6_addr, *to = b->address.s6_addr;

	if (a->prefix == 0 || b->prefix == 0)
		return strcmp(a->name, b->name) == 0;
	return a->prefix == b->prefix && memcmp(from, to, (size_t)bytes) == 0 &&
	       (bits == 0 || (from[bytes] ^ to[bytes]) >> (8 - bits) == 0) &&
	       memcmp(from, to, 16) != 0 && !is_own_address(a);
}

#define OTHER_BYTES 64

/* Adds the name, unless it is there. False: no room. */
static bool add_name(char names[OTHER_BYTES], const char *name)
{
	const size_t used = strlen(names);

	if (nt_list_has(names, ',', name, strlen(name)))
		return true;
	if (used + strlen(name) + 2 > OTHER_BYTES)
		return false;
	snprintf(names + used, OTHER_BYTES - used, "%s%s", used > 0 ? "," : "", name);
	return true;
}

/* The speed of its slowest link to the network of this one; 0: a node has none. names: of all. */
static int64_t find_network(const struct nt_findings_nodes *nodes, const struct link *link,
			    char names[OTHER_BYTES])
{
	int64_t slowest = link->mbps;

	names[0] = '\0';
	(void)add_name(names, link->name);
	for (size_t i = 1; i < nodes->count; i++) {
		struct link other, best = { .mbps = 0 };

		for (const char *at = nodes->node[i]->facts.links; next_link(&at, &other);) {
			if (are_connected(link, &other) && other.mbps > best.mbps)
				best = other;
		}
		slowest = best.mbps < slowest ? best.mbps : slowest;
		if (best.mbps == 0 || !add_name(names, best.name))
			return 0;
	}
	return slowest;
}

/* The fastest by which all nodes are connected, by its slowest; out: its names */
static int64_t best_link(const struct nt_findings_nodes *nodes, char out[OTHER_BYTES])
{
	char names[OTHER_BYTES];
	struct link link;
	int64_t best = 0;

	for (const char *at = nodes->node[0]->facts.links; next_link(&at, &link);) {
		const int64_t mbps = find_network(nodes, &link, names);

		if (mbps > best) {
			best = mbps;
			memcpy(out, names, sizeof(names));
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

/* Of sockets for data: with RDMA, NCCL connects over any link, and sends little there. Where the
 * site has chosen the link, it is meant. */
static bool uses_slow_link(const struct nt_findings_nodes *nodes, int64_t best)
{
	for (size_t i = 0; i < nodes->count; i++) {
		const struct nt_facts_seen *node = nodes->node[i];
		const int64_t used = speed_of(&node->facts, node->facts.link);

		if (!nt_findings_by_sockets(node) || !node->facts.link[0] || used <= 0 ||
		    used * 10 > best || nt_findings_is_site(node, "NCCL_SOCKET_IFNAME"))
			return false;
	}
	return true;
}

/* count: of the step's nodes, also of those without facts */
static void judge_interface(struct nt_findings *findings, const struct nt_findings_nodes *nodes,
			    int64_t count)
{
	char other[OTHER_BYTES] = "", what[96], rest[96];
	const int64_t best = (int64_t)nodes->count < count ? 0 : best_link(nodes, other);
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
	return strcmp(node->fabric, "ib") == 0 && node->facts.gdr[0] && !node->facts.geforce;
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
	if (2 * (int64_t)all.count > nodes)
		nt_findings_judge_ports(findings, &all);
	for (size_t i = 0; i < sizeof(detours) / sizeof(detours[0]); i++)
		judge_detour(findings, &all, &detours[i]);
	judge_sockets(findings, seen, count, nodes);
	judge_interface(findings, &all, nodes);
}
