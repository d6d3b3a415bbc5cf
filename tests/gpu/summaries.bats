#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What the GPU tests say about their runs, on runs that are made up: no GPU.
bats_require_minimum_version 1.5.0

@test "the summaries say of made-up runs what is known of them" {
	run -0 env PYTHONDONTWRITEBYTECODE=1 python3 "$BATS_TEST_DIRNAME/made_up.py"
}
