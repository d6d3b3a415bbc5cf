/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* driver-client.h - one task's part in a calibration
 *
 * It says what the task is to do, in a line: "use NAME NCCL_A=1 ...", "default", "none WHY" or
 * "exit WHY". Before it promises the server to follow the choice it says "doubt": from then on
 * its end without another line means exit, because the other tasks may have a profile.
 *
 * Threads:  one.
 * Errors:   in what is said.
 */
#ifndef NT_DRIVER_CLIENT_H
#define NT_DRIVER_CLIENT_H

#include <sys/types.h>
#include "bench/driver.h"

/* Says it on out_fd. */
void nt_client_run(const struct nt_driver *driver, int out_fd);

#endif
