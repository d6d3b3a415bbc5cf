/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* linkshare.h - how much of its rings' bandwidth a collective uses
 *
 * What rings carry is NCCL's own figure, from the graph that it dumped (topology=on): channels
 * times the speed of one, of the poorest node. It knows which NICs NCCL has picked, and that is
 * the only place which tells. NCCL takes 10 Gbit/s where a network says nothing of its speed
 * (src/graph/topo.cc, ncclTopoAddNet), so that a share may come out too large.
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_REPORT_LINKSHARE_H
#define NT_REPORT_LINKSHARE_H

#include "record/summary.h"

/* Of the busbw of NCCL's own choice, 0 to 1. NAN: that is no ring, either figure is not known, or
 * the share would be larger than 1, so that NCCL's figure is none. */
double nt_link_share(const struct nt_summary *summary, const struct nt_row *row);

#endif
