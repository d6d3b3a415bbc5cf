/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* net.c - libnccl-net-fake.so: a network plugin that has a name and nothing else
 *
 * NT_FAKE_NET is the name, NT_FAKE_NET_SETS a variable NAME=VALUE that it sets when it is loaded
 * unless it is set, as aws-ofi-nccl does. The simulated NCCL loads it for NCCL_NET_PLUGIN.
 */
#include <stdlib.h>
#include <string.h>

/* Of ncclNet_v11_t the first member. */
struct net {
	const char *name;
	void *rest[24];
};

extern struct net ncclNetPlugin_v11;
__attribute__((visibility("default"))) struct net ncclNetPlugin_v11;

__attribute__((constructor)) static void begin(void)
{
	const char *sets = getenv("NT_FAKE_NET_SETS");
	const char *equals = sets ? strchr(sets, '=') : NULL;
	char name[64];

	ncclNetPlugin_v11.name = getenv("NT_FAKE_NET");
	if (!equals || (size_t)(equals - sets) >= sizeof(name))
		return;
	memcpy(name, sets, (size_t)(equals - sets));
	name[equals - sets] = '\0';
	setenv(name, equals + 1, 0);
}
