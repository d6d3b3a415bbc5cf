/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - nt-fake-job.so: the simulated NCCL job of nt-fake-nccl for programs that load it
 *
 * int nt_fake_main(int argc, char **argv) is nt-fake-nccl's main(). An MPI program or Python
 * thereby becomes the process that loads the plugin, as it does with a real NCCL.
 */
#include "config.h"

NT_EXPORT int nt_fake_main(int argc, char **argv);

#define main nt_fake_main
#include "tests/fake/main.c"
