#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What the shipped modules show to their hosts and what they ask of the system.
bats_require_minimum_version 1.5.0

setup_file() {
	export NT_STAGE=${NT_STAGE:-$BATS_TEST_DIRNAME/../../build/stage}
	export TUNER=$NT_STAGE/lib/nccl-tune/libnccl-tune.so
	export SPANK=$NT_STAGE/lib/slurm/spank_nccl_tune.so
}

exported() {
	nm -D --defined-only "$1" | awk '{ print $3 }' | sed 's/@.*//' | sort
}

needed() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort
}

@test "libnccl-tune.so exports NCCL's tuner v2 to v7 and profiler v4 to v7, nothing else" {
	run -0 exported "$TUNER"
	diff -u - <(printf '%s\n' "$output") < <(
		printf 'ncclProfiler_v%d\n' 4 5 6 7
		printf 'ncclTunerPlugin_v%d\n' 2 3 4 5 6 7)
}

@test "libnccl-tune.so needs libc and libm only, and stays loaded" {
	[ -e "$TUNER" ]
	run -0 needed "$TUNER"
	run -1 grep -vE '^(libc|libm|libpthread|libdl|librt)\.so|^ld-linux' <<<"$output"
	run -0 readelf -d "$TUNER"
	[[ $output = *NODELETE* ]]
}

# newest_glibc FILE: the newest version of glibc that it asks for.
newest_glibc() {
	objdump -T "$1" | sed -n 's/.*(GLIBC_\([0-9.]*\)).*/\1/p' | sort -V | tail -n 1
}

# NCCL's own wheels want 2.17 or 2.28. How it is kept: tuner/glibc.c.
@test "libnccl-tune.so loads in containers with glibc 2.17" {
	local newest
	case $(uname -m) in
	x86_64|aarch64|ppc64le) ;;
	*) skip "the oldest versions of glibc's functions are not known for $(uname -m)" ;;
	esac
	newest=$(newest_glibc "$TUNER")
	[ -n "$newest" ]
	[ "$(printf '%s\n' "$newest" 2.17 | sort -V | tail -n 1)" = 2.17 ] ||
		{ objdump -T "$TUNER" | grep -F "$newest)"; false; }
}

@test "spank_nccl_tune.so exports only Slurm's names" {
	run -0 exported "$SPANK"
	[[ $output = *plugin_name*plugin_type*plugin_version*slurm_spank_init* ]]
	run -1 grep -vE '^(plugin_(name|type|version)|spank_plugin(_version)?|slurm_spank_[a-z_]+)$' <<<"$output"
}

# Slurm binds them lazily: what is missing would be seen at the first call only.
@test "Slurm's plugin contains or links all functions that it calls, except Slurm's own" {
	run -0 nm -D --undefined-only "$SPANK"
	run -1 awk '$1 == "U" && $2 !~ /@/ && $2 !~ /^(slurm|spank)_/ && $2 !~ /^(ini_|__(a|ub|t)san)/ { print; found = 1 }
		END { exit !found }' <<<"$output"
}

# A node that lacks a library would run its jobs untuned, and nobody would be told.
@test "Slurm's plugin contains inih if its archive is installed" {
	[ -r "$(pkg-config --variable=libdir inih)/libinih.a" ] || skip "no libinih.a here"
	run -0 needed "$SPANK"
	run -1 grep -vE '^libc\.so|^ld-linux|^lib(asan|ubsan|tsan)' <<<"$output"
}

@test "spank_nccl_tune.so is not bound to one libslurm" {
	[ -e "$SPANK" ]
	run -0 needed "$SPANK"
	[[ $output != *libslurm* ]]
}
