/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* platform.h - what a process runs on, for its record: the GPU driver, what NCCL most likely uses
 *              between nodes, and the launch profile in force
 *
 * The fabric is a guess, since NCCL tells its plugins nothing of it: NCCL_NET where it names one of
 * NCCL's own transports; "any" where NCCL_NET or NCCL_NET_PLUGIN names another, or a library named
 * libnccl-net* is loaded; "socket" with NCCL_IB_DISABLE; "ib" (InfiniBand or RoCE) where a port is
 * active and its devices can be opened from here; else "socket". Which interfaces NCCL is told to
 * use, and whether it fails to, is not looked at.
 *
 * Threads:  nt_platform_ask() where the environment may be read; nt_platform_look() on the helper
 *           thread, since it reads files; the others are pure functions.
 * Memory:   the caller's.
 * Errors:   what is not known is "", as in a container that lacks the files.
 * Host:     /proc/driver/nvidia/version of NVIDIA's drivers, open ones included;
 *           /sys/class/infiniband and /dev/infiniband of Linux.
 */
#ifndef NT_PLATFORM_H
#define NT_PLATFORM_H

#include <stdbool.h>
#include "contract/names.h"

#define NT_DRIVER_MAX 24
#define NT_FABRIC_MAX 8

struct nt_platform {
	char driver[NT_DRIVER_MAX]; /* "580.95.05" */
	char fabric[NT_FABRIC_MAX]; /* "socket", "ib" or "any" */
	char launch[NT_LAUNCH_NAME]; /* name of a launch profile */
};

struct nt_platform_paths {
	const char *driver, *ports, *devices, *maps;
};

extern const struct nt_platform_paths nt_platform_paths; /* the system's */

/* From the environment: the launch profile, and the fabric where it is told there. */
void nt_platform_ask(struct nt_platform *platform);
/* From files: the driver, and the fabric where it is not known yet. */
void nt_platform_look(struct nt_platform *platform, const struct nt_platform_paths *paths);

/* The version in /proc/driver/nvidia/version, "" if there is none. */
void nt_driver_version(const char *text, char out[NT_DRIVER_MAX]);
/* By NCCL_NET, NCCL_NET_PLUGIN and NCCL_IB_DISABLE, each NULL where it is not set; "" if they do
 * not tell. */
const char *nt_fabric_told(const char *net, const char *plugin, const char *ib_disable);
/* By what is there. */
const char *nt_fabric_seen(bool plugin, bool active_port, bool devices);
/* The profile in NT_ENV_LAUNCH's text, "" if there is none that can be its name. */
void nt_launch_name(const char *text, char out[NT_LAUNCH_NAME]);

#endif
