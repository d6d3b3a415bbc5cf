/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pick.h - the choice for one step, with all the reading that it takes
 *
 * srun's helper and the commands ask here. What is known of a step before it is launched: its
 * hosts, and so their hardware as steps before it found it; nodes and tasks; not its NCCL, driver
 * and fabric. These are taken to be those of the newest entry on the same hardware, of this job if
 * there is one; the tuner, which knows them, refuses what was remembered with others.
 *
 * Threads:  any; a pick belongs to its caller. Files may be on file systems that hang: whoever
 *           must not wait does this in a process of its own.
 * Memory:   nt_pick_fini() frees. launch, choice and what they point to live inside the pick,
 *           which must not be copied.
 * Errors:   -1 and *err only for a profile that is asked for by its name and is not there. What
 *           cannot be read is left out, and trouble says so.
 * Units:    seconds since 1970.
 */
#ifndef NT_LAUNCH_PICK_H
#define NT_LAUNCH_PICK_H

#include "contract/names.h"
#include "contract/warm.h"
#include "launch/choose.h"
#include "launch/own.h"
#include "launch/ticket.h"

#define NT_LAUNCH_OFF "off"
#define NT_LAUNCH_AUTO "auto"

/* Site files may be missing; "" is none at all. */
struct nt_pick_paths {
	char memory[NT_PATH_MAX]; /* the user's directory */
	char site_memory[NT_PATH_MAX];
	char profiles[NT_PATH_MAX], site_profiles[NT_PATH_MAX];
	unsigned site_flags; /* of site_memory: launch/file.h's */
};

struct nt_pick_ask {
	const char *launch; /* NT_LAUNCH_OFF, NT_LAUNCH_AUTO or a profile's name */
	const char *hosts; /* the step's, as Slurm lists them; NULL or "": unknown */
	uint32_t nodes, tasks; /* of the step */
	uint32_t job;
	int64_t array_task; /* -1: no array */
	int64_t now_s;
	bool calibration; /* a calibration has started this step */
	/* Names of the profiles that may be chosen, joined by +; NULL: all. */
	const char *allowed;
	const struct nt_own *own; /* the user's own variables; NULL: none */
	nt_test *test; /* launch/feel.h */
};

struct nt_pick {
	struct nt_pick_ask ask;
	struct nt_pick_paths paths;
	struct nt_profiles profiles;
	struct nt_memory memory[NT_LEVELS];
	struct nt_launch_limits limits;
	struct nt_launch_case launch;
	struct nt_launch_choice choice;
	unsigned hosts, hosts_unknown; /* of the step */
	bool hosts_mixed;
	struct nt_error trouble; /* what could not be read; "" */
};

/* Reads, and chooses. *ask's texts must live as long as the pick. */
int nt_pick_open(struct nt_pick *pick, const struct nt_pick_paths *paths,
		 const struct nt_pick_ask *ask, struct nt_error *err);
void nt_pick_fini(struct nt_pick *pick);

/* The hardware of a list of hosts, from the user's memory or else the site's; 0 where a host is
 * unknown or they are mixed. */
uint64_t nt_pick_fingerprint(struct nt_pick *pick, const char *hosts);

/* What goes to the step's nodes. Variables that a file of the user's sets are left out. */
void nt_pick_ticket(const struct nt_pick *pick, struct nt_ticket *ticket);
/* The arms that are remembered for the chosen profile at this very place, the newest of each key;
 * false: none are. */
bool nt_pick_warm(const struct nt_pick *pick, struct nt_warm *warm);
/* The choice in one line, and what is left alone. Returns out. */
const char *nt_pick_text(const struct nt_pick *pick, char *out, size_t out_bytes);

/* Whether a calibration would tell something: nothing was calibrated here nor won in three jobs,
 * and this job has not calibrated yet, with whatever success. */
bool nt_pick_may_calibrate(const struct nt_pick *pick);
/* An entry without keys that says: this job has calibrated. */
int nt_pick_note_calibration(const struct nt_pick *pick, struct nt_error *err);

#endif
