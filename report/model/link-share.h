/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* link-share.h - how much of its rings' bandwidth a collective uses
 *
 * The bandwidth of rings is NCCL's own figure from its graph dump (topology=on): channels times the
 * speed of one, on the slowest node. Only the dump tells which NICs NCCL selected. NCCL assumes 10
 * Gbit/s for networks of unknown speed (src/graph/topo.cc, ncclTopoAddNet), so a share can be too
 * large.
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_REPORT_LINKSHARE_H
#define NT_REPORT_LINKSHARE_H

#include "record/job-summary.h"

/* For the busbw of NCCL's own choice: 0 to 1. NAN: the choice is not a ring, a figure is unknown,
 * or the share is over 1, so NCCL's figure must be wrong. */
double nt_link_share(const struct nt_summary *summary, const struct nt_key *row);

#endif
