/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* variable.h - the NCCL start-up variables that a profile may set, and the values they may have
 *
 * A profile can set nothing else. The list has variables that change how fast data moves; none
 * names a device, a path or a file, selects an algorithm or a protocol, switches a transport on or
 * off, or prints. So no profile changes results or keeps NCCL from starting.
 *
 * Threads:  pure functions, any thread.
 * Memory:   nothing is allocated; names are constants.
 * Errors:   -1 and *err set, with what is accepted.
 * Units:    sizes in bytes; their text may end in K or M.
 * Host:     NCCL's documentation of environment variables (docs/userguide/source/env.rst), 2.30;
 *           for those that it lacks, NCCL's source, 2.28.9 and 2.30.7: SOCKET_MIN_TASKSIZE and
 *           SOCKET_INLINE, since 2.27.3 (src/transport/net_socket.cc), MIN_P2P_NCHANNELS, since
 *           2.7.3 (src/graph/paths.cc), NVLSTREE_MAX_CHUNKSIZE, since 2.20.3
 *           (src/transport/nvls.cc). An NCCL that does not know one ignores it.
 */
#ifndef NT_LAUNCH_VARIABLE_H
#define NT_LAUNCH_VARIABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "contract/fabric.h"

enum nt_variable_kind { NT_VARIABLE_INT = 0, NT_VARIABLE_SIZE = 1, NT_VARIABLE_FLAG = 2 };

/* id, name, kind, least, largest, fabric, measured by us, other variables, meaning. If the task has
 * set one of the "other variables", this one is left alone as well: NCCL reads them together, and
 * one alone was never measured. */
/* clang-format off */
#define NT_VARIABLES(X) \
	X(SOCKET_NTHREADS, "NCCL_SOCKET_NTHREADS", INT, 1, 16, SOCKET, true, \
	  "NCCL_NSOCKS_PERTHREAD", "helper threads per connection") \
	X(NSOCKS_PERTHREAD, "NCCL_NSOCKS_PERTHREAD", INT, 1, 16, SOCKET, true, \
	  "NCCL_SOCKET_NTHREADS", "sockets per helper thread") \
	X(SOCKET_MIN_TASKSIZE, "NCCL_SOCKET_MIN_TASKSIZE", SIZE, 65536, 4194304, SOCKET, true, \
	  "NCCL_SOCKET_NTHREADS NCCL_NSOCKS_PERTHREAD NCCL_SOCKET_INLINE", \
	  "smallest part of a message that is sent over a socket of its own") \
	X(SOCKET_INLINE, "NCCL_SOCKET_INLINE", SIZE, 128, 131072, SOCKET, true, \
	  "NCCL_SOCKET_NTHREADS NCCL_NSOCKS_PERTHREAD NCCL_SOCKET_MIN_TASKSIZE", \
	  "largest message that is sent with its header, without a helper thread") \
	X(MIN_NCHANNELS, "NCCL_MIN_NCHANNELS", INT, 1, 32, ANY, true, \
	  "NCCL_MIN_CTAS NCCL_MIN_NRINGS NCCL_MAX_NCHANNELS NCCL_MAX_CTAS NCCL_MAX_NRINGS", \
	  "minimum number of channels") \
	X(MAX_NCHANNELS, "NCCL_MAX_NCHANNELS", INT, 1, 64, ANY, false, \
	  "NCCL_MAX_CTAS NCCL_MAX_NRINGS NCCL_MIN_NCHANNELS NCCL_MIN_CTAS NCCL_MIN_NRINGS", \
	  "maximum number of channels") \
	X(BUFFSIZE, "NCCL_BUFFSIZE", SIZE, 262144, 33554432, ANY, true, \
	  "", "size of a channel's buffer between two GPUs") \
	X(IB_QPS, "NCCL_IB_QPS_PER_CONNECTION", INT, 1, 16, IB, false, \
	  "NCCL_IB_SPLIT_DATA_ON_QPS", "queue pairs per connection") \
	X(IB_SPLIT, "NCCL_IB_SPLIT_DATA_ON_QPS", FLAG, 0, 1, IB, false, \
	  "NCCL_IB_QPS_PER_CONNECTION", \
	  "1 splits each message over all queue pairs, 0 uses them in turn") \
	X(IB_AR_THRESHOLD, "NCCL_IB_AR_THRESHOLD", SIZE, 0, 33554432, IB, false, \
	  "NCCL_IB_ADAPTIVE_ROUTING", "smallest message that may be routed adaptively") \
	X(CROSS_NIC, "NCCL_CROSS_NIC", INT, 0, 2, IB, false, \
	  "", \
	  "whether a ring may use different NICs on different nodes: 0 no, 1 yes, 2 only if necessary") \
	X(PXN_DISABLE, "NCCL_PXN_DISABLE", FLAG, 0, 1, IB, false, \
	  "NCCL_P2P_PXN_LEVEL", "1 sends no messages through the NIC of another GPU of the node") \
	X(NVLSTREE_CHUNK, "NCCL_NVLSTREE_MAX_CHUNKSIZE", SIZE, 32768, 524288, EFA, false, \
	  "NCCL_NVLS_CHUNKSIZE", "largest chunk of NVLSTree") \
	X(PER_NET_PEER, "NCCL_NCHANNELS_PER_NET_PEER", INT, 1, 32, ANY, false, \
	  "", "channels to each peer on another node, for sends and receives") \
	X(MIN_P2P_NCHANNELS, "NCCL_MIN_P2P_NCHANNELS", INT, 1, 32, ANY, false, \
	  "NCCL_MAX_P2P_NCHANNELS", "minimum number of channels for sends and receives") \
	X(P2P_NET_CHUNK, "NCCL_P2P_NET_CHUNKSIZE", SIZE, 65536, 524288, ANY, false, \
	  "", "size of the parts in which sends and receives are sent over the network")
/* clang-format on */

enum nt_variable_id {
#define NT_VARIABLE_ID(id, ...) NT_VARIABLE_##id,
	NT_VARIABLES(NT_VARIABLE_ID)
#undef NT_VARIABLE_ID
		NT_VARIABLE_COUNT
};

struct nt_variable {
	const char *name;
	enum nt_variable_kind kind;
	int64_t least, largest;
	enum nt_fabric fabric;
	bool measured;
	const char *others; /* separated by spaces */
	const char *meaning;
};

/* The variables of a profile: value[i] counts if set[i]. */
struct nt_settings {
	bool set[NT_VARIABLE_COUNT];
	int64_t value[NT_VARIABLE_COUNT];
};

const struct nt_variable *nt_variable_get(unsigned id); /* NULL from NT_VARIABLE_COUNT on */
int nt_variable_find(const char *name); /* an id, or -1 */

/* Is it listed, or an "other variable" of a listed one? */
bool nt_variable_concerns(const char *name);

/* Parse a value and check the variable's bounds. */
int nt_variable_parse(unsigned id, const char *text, int64_t *value, struct nt_error *err);

/* Is any of them set? */
bool nt_settings_any(const struct nt_settings *settings);
/* Whether they change nothing but sends and receives, which nccl-tune-bench does not measure. */
bool nt_settings_are_for_sends(const struct nt_settings *settings);
/* Check the limits that concern several of a profile's variables. */
int nt_settings_check(const struct nt_settings *settings, struct nt_error *err);
/* "NCCL_A=1 NCCL_B=2", in the list's order; "" if nothing is set. Cut at out_bytes. */
const char *nt_settings_text(const struct nt_settings *settings, char *out, size_t out_bytes);
/* Of such a text, in any order: each variable once, within its bounds and those of several. -1
 * also if there is none. */
int nt_settings_parse(struct nt_settings *settings, const char *text);

#endif
