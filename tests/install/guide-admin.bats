#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The commands of the administrators' guide.
bats_require_minimum_version 1.5.0
load ../lib/guides

@test "the administrators' guide: its commands work, from the packages to their removal" {
	fresh_site
	run_guide docs/guide-admin.md
	[ -z "$(on_site find /usr /etc -xdev -name '*nccl*tune*' ! -path '/etc/nccl-tune*')" ]
}
