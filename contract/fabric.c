/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/fabric.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const names[NT_FABRIC_COUNT] = { "any", "socket", "ib",  "efa",
						    "cxi", "tcpx",   "tls", "pcie" };

const char *nt_fabric_name(int fabric)
{
	return fabric >= 0 && fabric < NT_FABRIC_COUNT ? names[fabric] : "?";
}

int nt_fabric_parse(const char *name)
{
	for (int i = 0; i < NT_FABRIC_COUNT; i++) {
		if (strcmp(names[i], name) == 0)
			return i;
	}
	return -1;
}

static bool begins_with(const char *net, const char *prefix)
{
	return strncasecmp(net, prefix, strlen(prefix)) == 0;
}

static enum nt_fabric of_libfabric(const struct nt_fabric_devices *devices)
{
	if (devices->cxi)
		return NT_FABRIC_CXI;
	return devices->efa ? NT_FABRIC_EFA : NT_FABRIC_ANY;
}

enum nt_fabric nt_fabric_of_net(const char *net, const struct nt_fabric_devices *devices)
{
	if (strcasecmp(net, "Socket") == 0)
		return NT_FABRIC_SOCKET;
	if (strcasecmp(net, "IB") == 0)
		return NT_FABRIC_IB;
	if (net[0] == '\0' || begins_with(net, "IBext") || strcasecmp(net, "gIB") == 0)
		return devices->ib ? NT_FABRIC_IB : NT_FABRIC_SOCKET;
	if (begins_with(net, "FasTrak") || begins_with(net, "GPUDirectTCPX"))
		return NT_FABRIC_TCPX;
	if (begins_with(net, "Libfabric") || begins_with(net, "AWS Libfabric"))
		return of_libfabric(devices);
	return NT_FABRIC_ANY;
}
