/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - CUDA's and NCCL's headers, which our warnings are not meant for */
#ifndef NT_BENCH_HOST_H
#define NT_BENCH_HOST_H

#pragma GCC system_header /* the headers included from here as well */

#include <cuda_runtime.h>
#include <nccl.h>

#endif
