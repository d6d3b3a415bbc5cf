/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* entry.h - what one step, or one calibration, showed about one profile; and its text
 *
 * An entry is evidence and not a decision: times of collectives and of the program's own step,
 * with where and when. Its text is one line of JSON, the same in a user's memory, a site's file
 * and an export. Everything that is read is checked: bounds, characters, order of quantiles.
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
#include "contract/error.h"
#include "launch/profile.h"

#define NT_ENTRY_VERSION 1
#define NT_ENTRY_ID 25 /* 24 hexadecimal digits and a NUL */
#define NT_ENTRY_KEYS 128
#define NT_ENTRY_PERIODS 64 /* of the step marker, spread over the step in time order */
#define NT_ENTRY_LINE_MAX 32768
#define NT_WHERE_DRIVER 24
#define NT_HOST_NAME 64

enum nt_entry_origin { NT_ORIGIN_JOB = 0, NT_ORIGIN_CALIBRATE = 1, NT_ORIGIN_IMPORT = 2 };

/* Where something was measured: hardware, shape and software. */
struct nt_where {
	uint64_t fingerprint; /* of every node; 0: unknown or mixed, which matches nothing */
	uint32_t nodes, per_node; /* nodes, ranks on each */
	uint32_t nccl; /* 22809 for 2.28.9 */
	char driver[NT_WHERE_DRIVER]; /* the GPU driver's version; "" if unknown */
	enum nt_fabric fabric; /* NT_FABRIC_ANY if unknown */
	/* Hash of the user's own variables out of launch/variable.h; 0: none. With them NCCL's
	 * default is another one, and so is every profile. */
	uint32_t own;
};

struct nt_quantiles {
	double p25_us, median_us, p75_us;
	uint32_t samples; /* 0: nothing was measured */
};

struct nt_known_key {
	uint32_t ranks, nodes; /* of the communicator; 0, 0: of all ranks of the step */
	int coll;
	uint64_t bytes; /* floor of the size band */
	/* The best one there. NT_ARM_AUTO without times of best: nobody has looked for a better
	 * one; any other without: an arm that was imported. */
	int arm;
	uint64_t calls; /* of a rank */
	struct nt_quantiles best, untuned; /* times of arm, and of AUTO */
};

struct nt_memory_entry {
	char id[NT_ENTRY_ID];
	enum nt_entry_origin origin;
	struct nt_where where;
	char profile[NT_PROFILE_NAME]; /* NT_PROFILE_DEFAULT for NCCL's own settings */
	bool candidate; /* run to find out, not because it was thought to be better */
	uint32_t job, step;
	int64_t when_s; /* when it was measured */
	int64_t added_us; /* when it came into this memory */
	unsigned keys;
	struct nt_known_key *key;
	/* The step marker: the steady key with the fewest calls; period from one to the next. */
	int marker_coll; /* -1: none was found */
	uint64_t marker_bytes;
	unsigned periods;
	float period_us[NT_ENTRY_PERIODS];
};

void nt_entry_init(struct nt_memory_entry *entry);
void nt_entry_fini(struct nt_memory_entry *entry);
int nt_entry_copy(struct nt_memory_entry *to, const struct nt_memory_entry *from,
		  struct nt_error *err);
/* The communicator's shape, 0, 0 for all ranks of where, however it is written. */
struct nt_comm_shape {
	uint32_t ranks, nodes;
};
struct nt_comm_shape nt_key_shape(const struct nt_known_key *key, const struct nt_where *where);
/* Same shape (each at its own entry's place), collective and size band. */
bool nt_key_same(const struct nt_known_key *a, const struct nt_where *where_a,
		 const struct nt_known_key *b, const struct nt_where *where_b);
/* Room for a key more, zeroed but for arm = AUTO; NULL if there is none. */
struct nt_known_key *nt_entry_add_key(struct nt_memory_entry *entry);
/* A fresh id: unique in the world, from the kernel's random numbers. */
int nt_entry_name(struct nt_memory_entry *entry, struct nt_error *err);

/* One line without its end; -1 if it cannot be written whole. */
int nt_entry_print(const struct nt_memory_entry *entry, FILE *out);
struct json_object; /* of json-c */
int nt_entry_parse(struct nt_memory_entry *entry, struct json_object *line, struct nt_error *err);

/* Same fingerprint, nodes, ranks and own variables; and the same fabric, where both know it. */
bool nt_where_same_place(const struct nt_where *a, const struct nt_where *b);
/* And the same NCCL and driver, where both know them: only then is evidence used as it is. */
bool nt_where_same(const struct nt_where *a, const struct nt_where *b);

const char *nt_origin_name(int origin);

#endif
