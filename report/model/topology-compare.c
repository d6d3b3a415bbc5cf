/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/topology-compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/append.h"
#include "lib/quantile.h"
#include "report/text/words.h"

#define EVEN 1.001 /* values closer than this are equal */

/* ---- the communicator */

static bool is_larger(const struct nt_topology_seen *a, const struct nt_topology_seen *b)
{
	if (a->ranks != b->ranks)
		return a->ranks > b->ranks;
	return a->nodes > b->nodes;
}

void nt_nodes_fini(struct nt_node_table *nodes)
{
	free(nodes->item);
	*nodes = (struct nt_node_table){ .count = 0 };
}

const struct nt_comm_seen *nt_topology_comm(const struct nt_summary *summary,
					    const struct nt_topology_seen *seen)
{
	const struct nt_comm_seen *found = NULL;

	for (size_t i = 0; i < summary->comm_count; i++) {
		const struct nt_comm_seen *comm = &summary->comms[i];

		if (comm->step == seen->step && strcmp(comm->id, seen->id) == 0)
			found = comm;
	}
	return found;
}

const char *nt_nodes_words(const struct nt_node_table *nodes, const struct nt_summary *summary,
			   char *out, size_t out_bytes)
{
	const struct nt_topology_seen *seen = nodes->item[0];
	const struct nt_comm_seen *comm = nt_topology_comm(summary, seen);
	const struct nt_family shape = { .ranks = seen->ranks, .nodes = seen->nodes };

	return nt_family_words(comm ? &summary->families[comm->family] : &shape, out, out_bytes);
}

/* ---- measures; NAN: not known */

double nt_topology_ring_gbs(const struct nt_topology_seen *seen)
{
	const struct nt_links *ring = &seen->ring;
	double gbs = seen->nodes > 1 ? ring->inter_gbs : ring->intra_gbs;

	return ring->channels > 0 ? (double)ring->channels * gbs : NAN;
}

static double ring_inside(const struct nt_topology_seen *seen)
{
	const struct nt_links *ring = &seen->ring;

	return ring->channels > 0 ? (double)ring->channels * ring->intra_gbs : NAN;
}

static double channels(const struct nt_topology_seen *seen)
{
	return seen->ring.channels > 0 ? (double)seen->ring.channels : NAN;
}

static double known(int64_t count)
{
	return count >= 0 ? (double)count : NAN;
}

static double nics_gbs(const struct nt_topology_seen *seen)
{
	/* On one node no NIC is needed. */
	return seen->nodes > 1 ? known(seen->nics_mbps) / 1e3 : NAN;
}

static double nvlinks(const struct nt_topology_seen *seen)
{
	return known(seen->nvlinks);
}

static double lanes(const struct nt_topology_seen *seen)
{
	return seen->gpu_lanes > 0 ? (double)seen->gpu_lanes : NAN;
}

static double lane_speed(const struct nt_topology_seen *seen)
{
	return seen->gpu_gts;
}

struct measure {
	double (*of)(const struct nt_topology_seen *seen);
	const char *before, *behind; /* around the node's value; " channel", of a count */
	bool counts; /* it has a plural */
};

static const struct measure measures[NT_NODES_MEASURES] = {
	{ channels, "", " channel", true },
	{ nt_topology_ring_gbs, "rings of ", " GB/s in all", false },
	{ ring_inside, "rings of ", " GB/s inside the node", false },
	{ nics_gbs, "NICs of ", " Gbit/s in all", false },
	{ nvlinks, "a GPU with ", " NVLink", true },
	{ lanes, "a GPU on ", " PCIe lane", true },
	{ lane_speed, "a GPU on PCIe of ", " GT/s", false },
};

/* The median of the known values; NAN: none is known. */
static double usual(const struct nt_node_table *nodes, const struct measure *measure,
		    double *values)
{
	size_t count = 0;

	for (size_t i = 0; i < nodes->count; i++) {
		double value = measure->of(nodes->item[i]);

		if (!isnan(value))
			values[count++] = value;
	}
	if (count == 0)
		return NAN;
	nt_sort_doubles(values, count);
	return values[count / 2];
}

static int find_usual(struct nt_node_table *nodes, struct nt_error *err)
{
	double *values = calloc(nodes->count, sizeof(*values));

	if (!values)
		return nt_error_set(err, "no memory for %zu nodes", nodes->count);
	for (size_t i = 0; i < NT_NODES_MEASURES; i++)
		nodes->usual[i] = usual(nodes, &measures[i], values);
	free(values);
	return 0;
}

int nt_nodes_find(struct nt_node_table *nodes, const struct nt_summary *summary, size_t step,
		  struct nt_error *err)
{
	const struct nt_topology_seen *largest = NULL;

	*nodes = (struct nt_node_table){ .count = 0 };
	for (size_t i = 0; i < summary->topology_count; i++) {
		const struct nt_topology_seen *seen = &summary->topologies[i];

		if (seen->step == step && (!largest || is_larger(seen, largest)))
			largest = seen;
	}
	if (!largest)
		return 0;
	nodes->item = calloc(summary->topology_count, sizeof(nodes->item[0]));
	if (!nodes->item)
		return nt_error_set(err, "no memory for %zu nodes", summary->topology_count);
	for (size_t i = 0; i < summary->topology_count; i++) {
		const struct nt_topology_seen *seen = &summary->topologies[i];

		if (seen->step == step && strcmp(seen->id, largest->id) == 0)
			nodes->item[nodes->count++] = seen;
	}
	return find_usual(nodes, err);
}

const char *nt_nodes_lack(const struct nt_node_table *nodes, size_t which, char out[NT_LACK_TEXT])
{
	out[0] = '\0';
	for (size_t i = 0; i < NT_NODES_MEASURES; i++) {
		const struct measure *measure = &measures[i];
		double own = measure->of(nodes->item[which]);
		double others = nodes->usual[i];

		/* The same as the bandwidth of all rings. */
		if (measure->of == ring_inside && nodes->item[which]->nodes <= 1)
			continue;
		if (isnan(own) || isnan(others) || own * EVEN >= others)
			continue;
		nt_append(out, NT_LACK_TEXT, "%s%s%g%s%s instead of %g", out[0] ? ", " : "",
			  measure->before, own, measure->behind,
			  measure->counts && own != 1 ? "s" : "", others);
	}
	return out;
}
