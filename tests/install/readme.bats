#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The commands of README, and what holds for all commands that README and the guides show.
bats_require_minimum_version 1.5.0
load ../lib/guides

@test "at most a tenth of the commands cannot run here, and all have a prompt" {
	local guide all skipped
	for guide in "${GUIDES[@]}"; do
		commands_of "$guide"
		run ! compgen -G "$NT_BASE/${guide##*/}/*.bare"
	done
	all=$(find "$NT_BASE"/*.md -name '*.user' -o -name '*.root' -o -name '*.skip' | wc -l)
	skipped=$(find "$NT_BASE"/*.md -name '*.skip' | wc -l)
	echo "$skipped of $all"
	[ "$all" -ge 40 ]
	[ $((skipped * 10)) -le "$all" ]
}

@test "README: its commands work, and the packages contain it and the guides that it links to" {
	ready_site
	on_site sh -c 'cd /usr/share/doc/nccl-tune && cat README.md docs/guide-user.md docs/guide-admin.md docs/trouble.md' >"$NT_BASE/docs"
	(cd "$NT_TOP" && cat README.md docs/guide-user.md docs/guide-admin.md docs/trouble.md) | cmp - "$NT_BASE/docs"
	run_guide README.md
}
