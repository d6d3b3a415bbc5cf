#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Nothing reaches a log or a terminal but through the few functions that clean it (lib/printable.h).
bats_require_minimum_version 1.5.0
load sources

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

@test "Slurm's log functions are called only through say.h" {
	local file found
	for file in $(grep -lE '\bslurm_(error|info|verbose)\(' {spank,spank/*,recordd,accounting}/*.c); do
		grep -qE '^#include "spank/say\.h"' "$file" || found+="$file"$'\n'
	done
	none "${found:-}"
	none "$(grep -nE '\bslurm_(debug[0-9]?|spank_log)\(' {spank,spank/*,recordd,accounting}/*.[ch] || :)"
}

@test "NCCL's logger and the system's log have one caller each" {
	none "$(grep -nE '(\blog|->log)\((level|NT_NCCL)' tuner/*.[ch] | grep -v '^tuner/nccl-log\.c:' || :)"
	none "$(product_files | xargs grep -nE '\bsyslog\(' | grep -v '^recordd/recordd-log\.c:' || :)"
}

# stdout is cleaned as a whole.
@test "nccl-tune's error messages go through cli/command.c" {
	none "$(product_files | grep -E '^(cli|report)/' | xargs grep -nE 'fprintf\(stderr.*%[-0-9.*]*s|\bperror\(|\bdprintf\(2' |
		grep -vE '^(cli/(command|main|calibrate)|report/model/database)\.c:' || :)"
	grep -q '	clean_stdout();' cli/main.c
}
