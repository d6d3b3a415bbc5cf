/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rng.h - the same numbers as replay/rng.h */
#ifndef NT_FAKE_RNG_H
#define NT_FAKE_RNG_H

#include "lab/replay/rng.h"

#endif
