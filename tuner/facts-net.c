/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/facts-net.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "lib/append.h"
#include "lib/number.h"
#include "lib/printable.h"
#include "tuner/platform.h"

#define PATH_BYTES 1024
#define SOCKETS_MAX 256 /* of this process */
#define FILES_MAX 8192 /* of this process, looked at */
#define GIDS 16 /* of a port that are looked at: NCCL takes one of the first */
#define LINES_MAX 20000 /* connections of the network namespace, looked at */
#define TCP_ESTABLISHED_STATE 1

bool nt_facts_line(const char *root, const char *path, char *line, size_t line_bytes)
{
	char whole[PATH_BYTES];
	FILE *f;
	bool read;

	if ((size_t)snprintf(whole, sizeof(whole), "%s%s", root, path) >= sizeof(whole))
		return false;
	f = fopen(whole, "re");
	read = f && fgets(line, (int)line_bytes, f);
	if (f)
		fclose(f);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read;
}

/* ---- ports of class infiniband */

/* Sorted, so that nodes can be compared. */
static int list_directory(const char *root, const char *path, struct dirent ***names)
{
	char whole[PATH_BYTES];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return scandir(whole, names, NULL, alphasort);
}

static void free_names(struct dirent **names, int count)
{
	for (int i = 0; i < count; i++)
		free(names[i]);
	if (count >= 0)
		free(names);
}

static bool is_efa(const char *root, const char *device)
{
	char class[PATH_BYTES];

	snprintf(class, sizeof(class), "%s/sys/class/infiniband", root);
	return nt_port_is_efa(class, device);
}

/* "": it is not there. */
static void read_of(const char *root, const char *directory, const char *file, char *line,
		    size_t line_bytes)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	if (!nt_facts_line(root, path, line, line_bytes))
		line[0] = '\0';
}

/* Of a port of Ethernet. "": unknown. */
static void look_at_mtu(const char *root, const char *port, char mtu[8])
{
	char path[PATH_BYTES], interface[32];

	snprintf(path, sizeof(path), "%s/gid_attrs/ndevs/0", port);
	if (!nt_facts_line(root, path, interface, sizeof(interface)))
		interface[0] = '\0';
	snprintf(path, sizeof(path), "/sys/class/net/%s/mtu", interface);
	if (!interface[0] || !nt_facts_line(root, path, mtu, 8))
		mtu[0] = '\0';
}

static unsigned count_gids(const char *root, const char *port)
{
	char path[PATH_BYTES], gid[48];
	unsigned count = 0;

	for (int i = 0; i < GIDS; i++) {
		snprintf(path, sizeof(path), "%s/gids/%d", port, i);
		if (!nt_facts_line(root, path, gid, sizeof(gid)))
			break;
		count += strspn(gid, "0:") != strlen(gid);
	}
	return count;
}

/* "4: ACTIVE" */
static void add_port(struct nt_facts *facts, const char *root, const char *device, const char *port)
{
	char directory[PATH_BYTES / 2], state[64], rate[64], layer[32], firmware[32], mtu[8] = "";
	char text[160];
	bool ethernet;

	snprintf(directory, sizeof(directory), "/sys/class/infiniband/%.64s/ports/%.8s", device,
		 port);
	read_of(root, directory, "state", state, sizeof(state));
	if (!strchr(state, ' '))
		return;
	read_of(root, directory, "rate", rate, sizeof(rate));
	read_of(root, directory, "link_layer", layer, sizeof(layer));
	read_of(root, directory, "../../fw_ver", firmware, sizeof(firmware));
	firmware[strcspn(firmware, " ,")] = '\0';
	ethernet = strcmp(layer, "Ethernet") == 0;
	if (ethernet)
		look_at_mtu(root, directory, mtu);
	snprintf(text, sizeof(text), "%s%.32s/%.4s=%.16s,%.0f,%s,%.5s,%u%s%.19s",
		 facts->ports[0] ? " " : "", device, port, strchr(state, ' ') + 1,
		 strtod(rate, NULL),
		 is_efa(root, device)		    ? "efa"
		 : strcmp(layer, "InfiniBand") == 0 ? "ib"
						    : "eth",
		 mtu[0] ? mtu : "0", ethernet ? count_gids(root, directory) : 0,
		 firmware[0] ? "," : "", firmware);
	if (strlen(facts->ports) + strlen(text) < sizeof(facts->ports))
		(void)nt_append(facts->ports, sizeof(facts->ports), "%s", text);
}

static void look_at_ports(struct nt_facts *facts, const char *root)
{
	struct dirent **devices, **ports;
	int count = list_directory(root, "/sys/class/infiniband", &devices);

	for (int i = 0; i < count; i++) {
		char path[PATH_BYTES];
		int port_count;

		if (devices[i]->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports", devices[i]->d_name);
		port_count = list_directory(root, path, &ports);
		for (int k = 0; k < port_count; k++) {
			if (ports[k]->d_name[0] != '.')
				add_port(facts, root, devices[i]->d_name, ports[k]->d_name);
		}
		free_names(ports, port_count);
	}
	free_names(devices, count);
	nt_printable_json(facts->ports);
}

/* ---- GPUDirect RDMA */

static bool has_module(const char *root, const char *module)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/sys/module/%s", root, module);
	return access(path, F_OK) == 0;
}

/* Linux exports a GPU's memory as a dma-buf from 5.12 on, of NVIDIA's drivers the open ones. */
static bool has_dmabuf(const char *driver)
{
	struct utsname name;
	char *end;
	long major, minor;

	if (!strstr(driver, "Open Kernel Module") || uname(&name) < 0)
		return false;
	major = strtol(name.release, &end, 10);
	minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	return major > 5 || (major == 5 && minor >= 12);
}

static void look_at_gdr(struct nt_facts *facts, const char *root)
{
	char driver[512];

	if (!strstr(facts->ports, "=ACTIVE,") ||
	    !nt_facts_line(root, "/proc/driver/nvidia/version", driver, sizeof(driver)))
		return;
	if (has_module(root, "nvidia_peermem") || has_module(root, "nv_peer_mem"))
		snprintf(facts->gdr, sizeof(facts->gdr), "peermem");
	else
		snprintf(facts->gdr, sizeof(facts->gdr), has_dmabuf(driver) ? "dmabuf" : "none");
}

/* ---- interfaces */

static struct in6_addr mapped(uint32_t address)
{
	struct in6_addr out = { .s6_addr = { [10] = 0xff, [11] = 0xff } };

	memcpy(&out.s6_addr[12], &address, sizeof(address));
	return out;
}

static bool has_link(const struct nt_facts *facts, const char *name)
{
	const size_t bytes = strlen(name);
	const char *at = facts->links;

	while (*at) {
		if (strncmp(at, name, bytes) == 0 && at[bytes] == '=')
			return true;
		at += strcspn(at, " ");
		at += *at == ' ';
	}
	return false;
}

/* An address of IPv4 is that of IPv6 that stands for it. False: it is none of both, or connects
 * only neighbours. */
static bool read_address(const struct ifaddrs *one, struct in6_addr *out)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET) {
		memcpy(&in, one->ifa_addr, sizeof(in));
		*out = mapped(in.sin_addr.s_addr);
		return true;
	}
	if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET6)
		return false;
	memcpy(&in6, one->ifa_addr, sizeof(in6));
	*out = in6.sin6_addr;
	return !IN6_IS_ADDR_LINKLOCAL(out);
}

/* Of its mask */
static unsigned prefix_of(const struct ifaddrs *one)
{
	const bool in6 = one->ifa_addr->sa_family == AF_INET6;
	struct sockaddr_in6 mask = { .sin6_family = 0 };
	const unsigned char *bytes = (const unsigned char *)&mask;
	const size_t at = in6 ? offsetof(struct sockaddr_in6, sin6_addr)
			      : offsetof(struct sockaddr_in, sin_addr);
	unsigned bits = 0;

	if (one->ifa_netmask)
		memcpy(&mask, one->ifa_netmask, in6 ? sizeof(mask) : sizeof(struct sockaddr_in));
	for (size_t i = 0; i < (in6 ? 16 : 4); i++)
		bits += (unsigned)__builtin_popcount(bytes[at + i]);
	return bits;
}

/* "10.1.0.7/16" */
static void write_address(const struct ifaddrs *one, char out[64])
{
	const bool in6 = one->ifa_addr->sa_family == AF_INET6;
	const size_t at = in6 ? offsetof(struct sockaddr_in6, sin6_addr)
			      : offsetof(struct sockaddr_in, sin_addr);
	char text[INET6_ADDRSTRLEN];

	if (!inet_ntop(one->ifa_addr->sa_family, (const char *)one->ifa_addr + at, text,
		       sizeof(text)))
		text[0] = '\0';
	snprintf(out, 64, "%s/%u", text, prefix_of(one));
}

/* Those whose speed is known */
static void add_link(struct nt_facts *facts, const char *root, const struct ifaddrs *address)
{
	char path[PATH_BYTES], line[32], text[64];
	struct in6_addr unused;
	uint64_t mbps;

	if (!read_address(address, &unused) || !(address->ifa_flags & IFF_RUNNING) ||
	    address->ifa_flags & IFF_LOOPBACK || has_link(facts, address->ifa_name))
		return;
	snprintf(path, sizeof(path), "/sys/class/net/%.15s/speed", address->ifa_name);
	if (!nt_facts_line(root, path, line, sizeof(line)) ||
	    nt_number_parse(line, 1, 100000000, &mbps) < 0)
		return;
	write_address(address, text);
	if (strlen(facts->links) + strlen(text) + 40 > sizeof(facts->links))
		return;
	(void)nt_append(facts->links, sizeof(facts->links), "%s%.15s=%" PRIu64 ",%s",
			facts->links[0] ? " " : "", address->ifa_name, mbps, text);
}

/* Inodes of this process' sockets */
static unsigned list_sockets(uint64_t inode[SOCKETS_MAX])
{
	DIR *files = opendir("/proc/self/fd");
	const struct dirent *entry;
	unsigned count = 0;

	for (int i = 0;
	     files && i < FILES_MAX && count < SOCKETS_MAX && (entry = readdir(files)) != NULL;
	     i++) {
		char target[64];
		ssize_t length = readlinkat(dirfd(files), entry->d_name, target,
					    sizeof(target) - 1);

		if (length < 9 || memcmp(target, "socket:[", 8) != 0)
			continue;
		target[length] = '\0';
		inode[count++] = strtoull(target + 8, NULL, 10);
	}
	if (files)
		closedir(files);
	return count;
}

static bool is_own(const uint64_t *inode, unsigned count, uint64_t wanted)
{
	for (unsigned i = 0; i < count; i++) {
		if (inode[i] == wanted)
			return true;
	}
	return false;
}

/* Which interface has this address? */
static const struct ifaddrs *link_of(const struct ifaddrs *all, const struct in6_addr *address)
{
	for (; all; all = all->ifa_next) {
		struct in6_addr own;

		if (read_address(all, &own) && IN6_ARE_ADDR_EQUAL(&own, address))
			return all;
	}
	return NULL;
}

struct tally {
	const struct ifaddrs *link;
	unsigned connections;
};

#define LINKS_MAX 16

/* One more connection from this address to another node */
static void count_connection(struct tally tally[LINKS_MAX], const struct ifaddrs *all,
			     const struct in6_addr *local, const struct in6_addr *remote)
{
	const struct ifaddrs *link = link_of(all, local);

	if (!link || link->ifa_flags & IFF_LOOPBACK || link_of(all, remote))
		return;
	for (unsigned i = 0; i < LINKS_MAX; i++) {
		if (tally[i].link && strcmp(tally[i].link->ifa_name, link->ifa_name) != 0)
			continue;
		tally[i].link = link;
		tally[i].connections++;
		return;
	}
}

/* 8 hexadecimal digits, or 4 times as many; -1: neither. */
static int parse_address(const char *digits, struct in6_addr *out)
{
	uint32_t word[4];
	const int words = (int)strlen(digits) / 8;

	for (int i = 0; i < words && i < 4; i++) {
		if (sscanf(digits + 8 * (size_t)i, "%8" SCNx32, &word[i]) != 1)
			return -1;
	}
	if (words != 1 && words != 4)
		return -1;
	*out = mapped(word[0]);
	if (words == 4)
		memcpy(out, word, sizeof(*out));
	return 0;
}

/* path: /proc/self/net/tcp or tcp6 */
static void count_connections(struct tally tally[LINKS_MAX], const struct ifaddrs *all,
			      const char *path, const uint64_t *inode, unsigned count)
{
	FILE *f = fopen(path, "re");
	char line[512], local[40], remote[40];

	for (int i = 0; f && i < LINES_MAX && fgets(line, sizeof(line), f); i++) {
		struct in6_addr from, to;
		unsigned state;
		uint64_t number;

		if (sscanf(line,
			   " %*s %39[0-9A-F]:%*x %39[0-9A-F]:%*x %x %*s %*s %*s %*s %*s %" SCNu64,
			   local, remote, &state, &number) == 4 &&
		    state == TCP_ESTABLISHED_STATE && is_own(inode, count, number) &&
		    parse_address(local, &from) == 0 && parse_address(remote, &to) == 0)
			count_connection(tally, all, &from, &to);
	}
	if (f)
		fclose(f);
}

/* The link with the most of this process' connections to other nodes. Those of others, and of the
 * program itself to a store, are few next to NCCL's. */
static void find_link(struct nt_facts *facts, const struct ifaddrs *all)
{
	struct tally tally[LINKS_MAX] = { { .link = NULL } };
	uint64_t inode[SOCKETS_MAX];
	unsigned count = list_sockets(inode), most = 0;

	count_connections(tally, all, "/proc/self/net/tcp", inode, count);
	count_connections(tally, all, "/proc/self/net/tcp6", inode, count);
	for (unsigned i = 0; i < LINKS_MAX; i++) {
		if (tally[i].connections <= most)
			continue;
		most = tally[i].connections;
		(void)nt_printable_copy(facts->link, sizeof(facts->link), tally[i].link->ifa_name,
					strlen(tally[i].link->ifa_name));
	}
}

/* Does NCCL's list take this interface? "eth,ib": beginnings; "=eth0": whole names; "^docker": all
 * others (src/misc/socket.cc@v2.28.9-1). */
static bool is_taken(const char *list, const char *name)
{
	const bool others = list[0] == '^', whole = list[others] == '=';
	const char *at = list + others + whole;
	bool named = false;

	while (*at) {
		const size_t bytes = strcspn(at, ",");

		named = named ||
			(strncmp(name, at, bytes) == 0 && (!whole || strlen(name) == bytes));
		at += bytes;
		at += *at == ',';
	}
	return named != others;
}

static void look_at_ifname(struct nt_facts *facts, const struct ifaddrs *all)
{
	const char *list = getenv("NCCL_SOCKET_IFNAME");

	if (!list || !list[0])
		return;
	snprintf(facts->ifname, sizeof(facts->ifname), "-%.30s", list);
	for (; all; all = all->ifa_next) {
		if (!all->ifa_addr ||
		    (all->ifa_addr->sa_family != AF_INET && all->ifa_addr->sa_family != AF_INET6))
			continue;
		if (!is_taken(list, all->ifa_name))
			continue;
		snprintf(facts->ifname, sizeof(facts->ifname), "%.15s", all->ifa_name);
		break;
	}
	nt_printable_json(facts->ifname);
}

void nt_facts_look_at_net(struct nt_facts *facts, const char *root, unsigned nodes)
{
	struct ifaddrs *all = NULL;

	look_at_ports(facts, root);
	look_at_gdr(facts, root);
	if (nodes < 2 || getifaddrs(&all) < 0)
		return;
	for (const struct ifaddrs *one = all; one; one = one->ifa_next)
		add_link(facts, root, one);
	nt_printable_json(facts->links);
	look_at_ifname(facts, all);
	find_link(facts, all);
	freeifaddrs(all);
}
