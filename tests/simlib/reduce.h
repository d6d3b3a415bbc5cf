/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.h - the types and operations of a collective
 *
 * Threads:  pure functions.
 * Units:    elements.
 */
#ifndef NT_SIMLIB_REDUCE_H
#define NT_SIMLIB_REDUCE_H

#include <stdbool.h>
#include <stddef.h>

const char *nt_sim_type_name(int type); /* spelled as in NCCL; NULL: there is none */
size_t nt_sim_type_bytes(int type);
bool nt_sim_reduces(int type, int op); /* else it is not simulated */

/* into = into op from */
void nt_sim_reduce(int type, int op, void *into, const void *from, size_t count);
void nt_sim_divide(int type, void *into, size_t count, unsigned by); /* for an average */

#endif
