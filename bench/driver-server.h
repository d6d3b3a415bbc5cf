/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* driver-server.h - the server of a calibration: which profile is next, and what all tasks choose
 *
 * All tasks get the same choice, or none gets one: the choice is used once every driver has said
 * that it is ready for it. A driver that is ready and loses its connection before it knows the
 * outcome comes back for it, and the server waits for that long.
 *
 * Threads:  one; a process of its own.
 * Memory:   freed at its end.
 * Errors:   end with the choice of none, with the reason, which all drivers get.
 */
#ifndef NT_DRIVER_SERVER_H
#define NT_DRIVER_SERVER_H

#include "bench/driver.h"

/* Returns when all drivers know the outcome, or cannot be told. listener is closed. */
void nt_server_run(const struct nt_driver *driver, int listener);

#endif
