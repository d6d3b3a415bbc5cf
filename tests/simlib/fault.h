/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fault.h - faults on request, by environment variables of the simulated NCCL
 *
 *   NT_SIM_WRONG=[TASK][@FACTOR]|SET|ARM  results of that task (each communicator's last rank) have
 *                                   wrong elements, but for those under 1 KiB, and
 *                                   take so much of their time (0.5)
 *   NT_SIM_HANG=TASK[@CALL]|SET|ARM the task never comes to such a call, the CALL-th of its
 *                                   communicator or a later one
 *   NT_SIM_FAIL=TASK|SET            its ncclCommInitRank fails
 *
 * SET is a set of launch variables (tests/fake/launch.h) and ARM an arm; left out, or "any": any.
 *
 * Threads:  nt_sim_faults_read() once, before the others; the others anywhere.
 * Errors:   -1 and *err: an invalid value.
 */
#ifndef NT_SIMLIB_FAULT_H
#define NT_SIMLIB_FAULT_H

#include "tests/fake/launch.h"
#include "tests/simlib/sim.h"

enum nt_sim_fault { NT_SIM_WRONG, NT_SIM_HANG, NT_SIM_FAIL, NT_SIM_FAULTS };

/* names: launch variables that are used; those in the sets are added. */
int nt_sim_faults_read(struct nt_launch_names *names, struct nt_error *err);

bool nt_sim_fails(unsigned task);

/* Does the fault hit a task of the plan, on any rank? For HANG: on this rank. */
bool nt_sim_fault_hits(enum nt_sim_fault fault, const struct nt_plan *plan);
bool nt_sim_fault_here(enum nt_sim_fault fault, const struct ncclComm *c);
bool nt_sim_fault_sends(enum nt_sim_fault fault); /* does it hit sends and receives? */
double nt_sim_fault_number(enum nt_sim_fault fault); /* the number after '@' */

#endif
