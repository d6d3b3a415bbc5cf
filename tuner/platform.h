/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* platform.h - the process's platform, for its record: driver, probable network, NCCL's variables
 *
 * The fabric is a guess, since NCCL tells no plugin which network it uses. It follows from the
 * names (NCCL_NET, else the name that a loaded library libnccl-net* gives its network, else
 * NCCL_IB_DISABLE) and the node's devices (contract/fabric.h); "any" where a plugin is unknown.
 * Which interfaces NCCL takes, and which of them fail, is not considered. Whether NVLink connects a
 * node's GPUs follows from NCCL's cost tables (tuner/rank-record.c).
 *
 * May NCCL encrypt what it sends over TCP sockets? From 2.32 on a program can ask for that by
 * ncclSetEncryption(), and nobody else is told. NCCL can do it if it was built for it: its
 * constants then name OpenSSL's library, which it loads when the first connection is encrypted. So
 * a library that cannot is known for certain; one that can, in a process that has loaded OpenSSL
 * for something else, looks encrypted.
 *
 * A network plugin may set some of NCCL's variables in its init where they are not set, as
 * aws-ofi-nccl does; NCCL sets those of its own files, and a program its own. So the record tells
 * what was in force, not only what a launch profile has set. Those that name our plugins, and
 * NCCL_DEBUG*, are left out. A value is cut at 64 characters; what does not fit is left out.
 *
 * Threads:  nt_platform_ask() where the environment may be read; nt_net_plugin() in NCCL's init,
 *           without a lock of ours, since it calls the loader; nt_platform_look() on the helper
 *           thread, since it reads files; the others are pure functions.
 * Memory:   the caller's. NCCL's file is mapped while it is looked at.
 * Errors:   what is unknown is "", for example in a container that lacks the files. An NCCL whose
 *           file cannot be read, or is no ELF file of 64 bits, cannot encrypt.
 * Host:     /proc/driver/nvidia/version of NVIDIA's drivers, including the open ones;
 *           /sys/class/infiniband, /dev/infiniband and /sys/class/cxi of Linux; a port of EFA is
 *           one of class infiniband by its driver. ncclNetPlugin_v4 to v20: the first member of
 *           each is the name (src/include/plugin/net/net_v*.h of 2.28.9 and 2.30.7).
 *           cryptLoadOpenSslSymbols(), src/crypt.cc of 2.32.3; TLS_BACKEND in its makefiles.
 */
#ifndef NT_PLATFORM_H
#define NT_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include "contract/fabric.h"
#include "contract/names.h"

#define NT_DRIVER_MAX 24
#define NT_NET_MAX 32
#define NT_FABRIC_MAX 8
#define NT_VARIABLES_MAX 1024

/* NCCL's, of a process */
struct nt_variables {
	char text[NT_VARIABLES_MAX]; /* "NCCL_A=1 NCCL_B=x" */
	bool cut; /* not all are there */
};

struct nt_platform {
	char driver[NT_DRIVER_MAX]; /* "580.95.05" */
	/* NCCL's word: "IB", "Libfabric"; "?": a plugin's without a name; "": not told. */
	char net[NT_NET_MAX];
	/* NCCL's file; "": perhaps a part of the program. */
	char library[NT_LIBRARY_MAX];
	bool new_sockets; /* it is of a release that can encrypt its sockets */
	char fabric[NT_FABRIC_MAX]; /* contract/fabric.h; "" before the look */
	char launch[NT_LAUNCH_NAME]; /* the launch profile's */
	struct nt_variables now; /* NCCL's, when asked */
	/* Of these: the process was started with them, and they were set in it since. */
	char outside[NT_VARIABLES_MAX], inside[NT_VARIABLES_MAX];
};

struct nt_platform_paths {
	const char *driver, *ports, *devices, *cxi,
		*start; /* start: the environment at the start */
};

extern const struct nt_platform_paths nt_platform_paths; /* the system's */

/* From the environment. plugin: of nt_net_plugin() */
void nt_platform_ask(struct nt_platform *platform, const char *plugin);
/* From files */
void nt_platform_look(struct nt_platform *platform, const struct nt_platform_paths *paths);

/* Is EFA the driver of this device? directory: of class infiniband. */
bool nt_port_is_efa(const char *directory, const char *device);

/* From the text of /proc/driver/nvidia/version; "": none. */
void nt_driver_version(const char *text, char out[NT_DRIVER_MAX]);
/* What a loaded library libnccl-net* calls its network; "?": nothing, "": there is no such
 * library. */
void nt_net_plugin(char out[NT_NET_MAX]);
/* By NCCL_NET, NCCL_NET_PLUGIN and NCCL_IB_DISABLE, NULL if not set, and by the loaded plugin's
 * name, or ""; "": they do not tell. */
const char *nt_net_told(const char *net, const char *plugin, const char *ib_disable,
			const char *loaded);
/* From NT_ENV_LAUNCH's text; "": it cannot be a profile's name. */
void nt_launch_name(const char *text, char out[NT_LAUNCH_NAME]);

/* If word is NAME=VALUE of one of NCCL's */
void nt_variables_add(struct nt_variables *variables, const char *word);
/* Each of those of now goes into one text: outside if the process was started with it, or if not
 * all that it was started with are known; else inside. */
void nt_variables_split(const struct nt_variables *now, const struct nt_variables *started,
			char outside[NT_VARIABLES_MAX], char inside[NT_VARIABLES_MAX]);

/* Does the section .rodata of this ELF file contain the text? */
bool nt_constants_have(const void *file, size_t bytes, const char *text);

#endif
