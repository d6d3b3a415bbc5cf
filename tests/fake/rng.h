/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rng.h - the numbers of replay/rng.h, under the simulation's own roof */
#ifndef NT_FAKE_RNG_H
#define NT_FAKE_RNG_H

#include "replay/rng.h"

#endif
