/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* entry.h - the measurements of one profile in one step or calibration, and their text form
 *
 * An entry holds measurements, no decision: times of collectives and of the program's own step,
 * with place and time. Its text is one line of JSON, the same in a user's memory, a site's file and
 * an export. The reader checks everything: bounds, characters, order of quantiles.
 *
 * Threads:  pure functions.
 * Memory:   an entry owns its keys: nt_entry_fini(). Parsing and printing use heap memory.
 * Errors:   -1 and *err set; the entry is then empty.
 * Units:    microseconds, bytes, seconds since 1970; added_us in microseconds since 1970.
 */
#ifndef NT_LAUNCH_ENTRY_H
#define NT_LAUNCH_ENTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "contract/coll.h"
#include "contract/names.h"
#include "lib/error.h"
#include "launch/profile.h"
#include "launch/program.h"

#define NT_ENTRY_VERSION 1
#define NT_ENTRY_ID 25 /* 24 hexadecimal digits and a NUL */
#define NT_ENTRY_KEYS 128
#define NT_ENTRY_LAPS 10000
#define NT_ENTRY_PERIODS 64 /* of the step marker, spread over the step in time order */
#define NT_ENTRY_LINE_MAX 32768
/* Largest values that a reader takes. */
#define NT_ENTRY_TIME_MAX_US 1e12 /* eleven days */
#define NT_ENTRY_BYTES_MAX (INT64_C(1) << 50) /* also of calls */
#define NT_ENTRY_NODES_MAX (1 << 20)
#define NT_ENTRY_PER_NODE_MAX 4096
#define NT_ENTRY_NCCL_MAX 999999
#define NT_WHERE_DRIVER 24
#define NT_HOST_NAME 64

enum nt_entry_origin { NT_ORIGIN_JOB = 0, NT_ORIGIN_CALIBRATE = 1 };

/* Where something was measured: hardware, shape and software. The shape is that of the largest
 * communicator: a launcher such as torchrun starts several ranks in a task of Slurm's. */
struct nt_where {
	uint64_t fingerprint; /* of every node; 0: unknown or mixed, which matches nothing */
	uint32_t nodes, per_node; /* nodes, ranks on each */
	uint32_t nccl; /* 22809 for 2.28.9 */
	char driver[NT_WHERE_DRIVER]; /* the GPU driver's version; "" if unknown */
	enum nt_fabric fabric; /* NT_FABRIC_ANY if unknown */
	/* Hash of the user's own variables among those of launch/variable.h; 0: none. They change
	 * NCCL's default and every profile. */
	uint32_t user_env;
	/* The program's file name, as launch/program.h finds it; "": any, as of a calibration. */
	char program[NT_PROGRAM_NAME];
};

struct nt_quantiles {
	double p25_us, median_us, p75_us;
	uint32_t samples; /* 0: nothing was measured */
};

struct nt_known_key {
	uint32_t ranks, nodes; /* of the communicator; 0, 0: of all ranks of the step */
	int coll;
	uint64_t bytes; /* floor of the size band */
	/* The best arm. Without times of best nothing else was tried. */
	int arm;
	uint64_t calls; /* of a rank */
	struct nt_quantiles best, untuned; /* times of arm, and of AUTO */
};

/* Was another arm found, or NCCL's own choice compared with others? */
bool nt_known_key_decided(const struct nt_known_key *key);

/* Of the best arm; else of AUTO. */
static inline const struct nt_quantiles *nt_key_times(const struct nt_known_key *key)
{
	return key->best.samples > 0 ? &key->best : &key->untuned;
}

struct nt_memory_entry {
	char id[NT_ENTRY_ID];
	enum nt_entry_origin origin;
	struct nt_where where;
	char profile[NT_PROFILE_NAME]; /* NT_PROFILE_DEFAULT for NCCL's own settings */
	bool asked; /* its profile was requested by name, not chosen */
	bool wrong; /* its results were wrong: it has no keys and is never dropped */
	uint32_t job, step;
	/* How its step was started; 0, 0: unknown. A later step of the program that is started in
	 * the same way will have the same place. */
	uint32_t start_nodes, start_tasks;
	double share; /* of the program's time that its collectives took; 0: unknown */
	/* How many steps it is the mean of: those of a calibration with one profile. */
	uint32_t laps;
	/* Between them, of the logarithm of a call's time; 0: unknown, as of one step. */
	double deviation;
	char library[NT_LIBRARY_MAX]; /* path of NCCL's library on the step's nodes; "": unknown */
	int64_t when_s; /* when it was measured */
	int64_t added_us; /* when it was added to this memory */
	size_t keys;
	struct nt_known_key *key;
	/* The step marker, and the step's period. */
	int marker_coll; /* -1: none was found */
	uint64_t marker_bytes;
	uint64_t marker_calls; /* in a step; at least 1 */
	unsigned periods;
	float period_us[NT_ENTRY_PERIODS];
};

/* The median period of the step marker; periods must not be 0. */
double nt_entry_period_us(const struct nt_memory_entry *entry);
/* Both have a marker: is it the same? */
bool nt_entry_same_marker(const struct nt_memory_entry *a, const struct nt_memory_entry *b);
/* What all calls of the key took in its step, in microseconds; with no time known, as at 1 GB/s. */
double nt_key_cost_us(const struct nt_known_key *key);
/* Sends alone and receives alone are measured as both. */
static inline int nt_measured_kind(int coll)
{
	return coll == NT_P2P_SEND || coll == NT_P2P_RECV ? NT_P2P_SENDRECV : coll;
}

void nt_entry_init(struct nt_memory_entry *entry);
void nt_entry_fini(struct nt_memory_entry *entry);
int nt_entry_copy(struct nt_memory_entry *to, const struct nt_memory_entry *from,
		  struct nt_error *err);
/* The communicator's shape; 0, 0 also stands for all ranks of where. */
struct nt_comm_shape {
	uint32_t ranks, nodes;
};
struct nt_comm_shape nt_key_shape(const struct nt_known_key *key, const struct nt_where *where);
/* Do they have the same shape (each at its entry's place), collective and size band? */
bool nt_key_same(const struct nt_known_key *a, const struct nt_where *where_a,
		 const struct nt_known_key *b, const struct nt_where *where_b);
/* Add a key, zeroed except for arm = AUTO; NULL without memory. */
struct nt_known_key *nt_entry_add_key(struct nt_memory_entry *entry);
/* Is it a valid library of an entry? An absolute path of printable ASCII without quotes. */
bool nt_entry_library_valid(const char *path);
/* Is a of a later step than b? Of any, if b is NULL. */
bool nt_entry_newer(const struct nt_memory_entry *a, const struct nt_memory_entry *b);
/* Random hexadecimal digits, an even number up to 32, and a NUL. */
int nt_random_digits(char *out, size_t digits, struct nt_error *err);
/* A fresh id: unique in the world, from the kernel's random numbers. */
int nt_entry_name(struct nt_memory_entry *entry, struct nt_error *err);

/* Print one line without a newline; -1 if it does not fit. */
int nt_entry_print(const struct nt_memory_entry *entry, FILE *out);
struct json_object; /* of json-c */
/* -1: it is none that makes sense. */
int nt_entry_parse(struct nt_memory_entry *entry, struct json_object *line);

/* Do they have the same fingerprint, nodes, ranks and user's variables, and the same fabric if both
 * are known? */
bool nt_where_same_place(const struct nt_where *a, const struct nt_where *b);
/* And the same NCCL, driver and program, as far as both are known? Only then does evidence count in
 * full. */
bool nt_where_same(const struct nt_where *a, const struct nt_where *b);

const char *nt_origin_name(int origin);

#endif
