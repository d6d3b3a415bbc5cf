/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* select-input.h - read the files and select the launch profile of one step
 *
 * Before a launch, the step's hosts, nodes and tasks are known, and the hosts' hardware if earlier
 * steps recorded it. The ranks of its communicators are those of the program's newest step that was
 * started in the same way; before the first, a rank for each task, or for each GPU where there is
 * one task a node. NCCL, driver and fabric are assumed to be those of the newest entry on the
 * same hardware, preferably of this job. The tuner knows the real ones, and rejects choices that
 * were remembered with others.
 *
 * Threads:  any; a selection belongs to its caller. Files may be on file systems that hang: whoever
 *           must not wait does this in a process of its own.
 * Memory:   nt_selection_fini() frees. launch, choice and what they point to live inside the
 *           selection, which must not be copied.
 * Errors:   -1 and *err only for a profile that is asked for by its name and is not there. What
 *           cannot be read is left out, and trouble says so.
 * Units:    seconds since 1970.
 */
#ifndef NT_LAUNCH_SELECT_INPUT_H
#define NT_LAUNCH_SELECT_INPUT_H

#include "contract/names.h"
#include "contract/warm.h"
#include "launch/select.h"
#include "launch/user-env.h"
#include "launch/ticket.h"

#define NT_LAUNCH_OFF "off"
#define NT_LAUNCH_AUTO "auto"

/* Site files may be missing; "": none. The texts must live as long as the selection. */
struct nt_selection_paths {
	const char *memory; /* the user's directory */
	const char *site_memory, *profiles, *site_profiles;
	unsigned site_flags; /* for site_memory, of lib/file.h */
};

struct nt_selection_request {
	const char *launch; /* NT_LAUNCH_OFF, NT_LAUNCH_AUTO or a profile's name */
	char *const *hosts; /* the step's, the last one NULL; NULL: unknown */
	uint32_t nodes, tasks; /* of the step */
	uint32_t job;
	const char *program; /* launch/program.h; NULL: unknown */
	int64_t now_s;
	uint32_t node_gpus; /* of the job on each node; 0: unknown */
	const struct nt_user_env *user_env; /* the user's own variables; NULL: none */
};

struct nt_selection {
	struct nt_selection_request ask;
	struct nt_selection_paths paths;
	struct nt_profiles profiles;
	struct nt_memory memory[NT_LEVELS];
	/* Its step: the program's newest one that was started in the same way and made calls. */
	struct nt_launch_case launch;
	struct nt_launch_choice choice;
	bool hosts_mixed; /* their hardware differs */
	struct nt_error trouble; /* what could not be read; "" */
};

/* Read and choose. *ask's texts must live as long as the selection. */
int nt_selection_open(struct nt_selection *selection, const struct nt_selection_paths *paths,
		      const struct nt_selection_request *ask, struct nt_error *err);
void nt_selection_fini(struct nt_selection *selection);

/* The ticket for the step's nodes, without variables that one of the user's files sets. */
void nt_selection_ticket(const struct nt_selection *selection, struct nt_ticket *ticket);
/* The arms remembered for the chosen profile at exactly this place, the newest of each key; false:
 * none. */
bool nt_selection_warm(const struct nt_selection *selection, struct nt_warm *warm);
/* The choice and the variables left alone, in one line. Returns out. */
const char *nt_selection_text(const struct nt_selection *selection, char *out, size_t out_bytes);

#endif
