/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* jobstate.h - a job's state in words
 *
 * Threads:  pure functions, any thread.
 * Memory:   constant texts; NULL: a state that is not known here.
 */
#ifndef NT_JOBSTATE_H
#define NT_JOBSTATE_H

#include <stdint.h>
#include "lib/json-scanner.h"

/* As slurmctld has it (enum job_states, with or without flags). */
const char *nt_job_state(uint32_t state);
/* As sacct prints it: "COMPLETED", "CANCELLED by 1000". */
const char *nt_job_state_named(struct nt_text name);

#endif
