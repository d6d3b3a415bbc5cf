#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The commands of the users' guide.
bats_require_minimum_version 1.5.0
load ../lib/guides

@test "the users' guide: its commands work" {
	ready_site
	run_guide docs/guide-user.md
}
