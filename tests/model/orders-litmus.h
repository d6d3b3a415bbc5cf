/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* orders-litmus.h - tests of the explorer itself */
#ifndef NT_MODEL_ORDERS_LITMUS_H
#define NT_MODEL_ORDERS_LITMUS_H

#include "tests/model/orders-explorer.h"

struct model_litmus {
	struct model_case scenario;
	bool allowed; /* its "wrong" outcome */
};

extern const struct model_litmus model_litmus[];
extern const unsigned model_litmus_count;
/* Use its memory from now on. */
void model_litmus_memory(void);

#endif
