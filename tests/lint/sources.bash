# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Which files the lint tests look at, from the top of the tree.

PRODUCT=(contract lib pmix-sync engine record launch site tuner spank recordd accounting report bench cli)

c_files_in() {
	local dir
	for dir; do
		[ ! -d "$dir" ] || find "$dir" -name '*.[ch]' -o -name '*.cu'
	done | sort
}

# C files that are shipped.
product_files() {
	c_files_in "${PRODUCT[@]}"
}

# All C files.
sources() {
	c_files_in "${PRODUCT[@]}" tests lab
}

none() {
	[ -z "$1" ] || { printf '%s\n' "$1" >&2; return 1; }
}
