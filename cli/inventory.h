/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.h - print the text that a node's fingerprint is computed from, as text and as JSON
 *
 * Both forms are identical on nodes with the same fingerprint. Devices are numbers, as in lspci -n,
 * because their names depend on the lists that a node has installed.
 *
 * Threads:  pure; any thread.
 * Errors:   -1 for a text that is not as spank/node-fingerprint.h says, and without memory.
 */
#ifndef NT_INVENTORY_H
#define NT_INVENTORY_H

#include <json.h>
#include <stdio.h>

/* Lines of a label and a value, as "GPU           8 x 10de:2335". */
int nt_inventory_print(FILE *out, const char *material);

#define NT_INVENTORY_LABEL "%-13s "

/* Adds "packages":2,"numa_nodes":2,"devices":[{"kind":"GPU","id":"10de:2335","count":8}],
 * "places":[{"numa":"0","devices":["GPU 10de:2335",["GPU 10de:2335","NIC 15b3:1021"]]}] */
int nt_inventory_json(json_object *object, const char *material);

#endif
