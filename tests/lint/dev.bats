#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# ./dev COMMAND --help helps and starts nothing; what cannot be meant is refused with a hint.
bats_require_minimum_version 1.5.0

COMMANDS=(setup build test cluster demo bench gpu fuzz run format lint clean)

# In a copy with nothing to build, so that whatever starts is seen.
setup() {
	local top=$BATS_TEST_DIRNAME/../..
	copy=$BATS_TEST_TMPDIR/copy
	mkdir -p "$copy"
	(cd "$top" && tar -c dev tests/lib lab/measure lab/gpu tests/unit/contract/policy.c tests/cluster) | tar -x -C "$copy"
	(cd "$copy" && find . | sort) >"$BATS_TEST_TMPDIR/before"
	cd "$copy" || exit 1
}

nothing_started() {
	find . | sort | diff "$BATS_TEST_TMPDIR/before" -
}

@test "every command prints help, with both spellings, and starts nothing" {
	local command
	run -0 ./dev --help
	for command in "${COMMANDS[@]}"; do
		[[ $output = *"./dev $command "* ]]
	done
	for command in "${COMMANDS[@]}"; do
		run -0 ./dev "$command" --help
		[ "${#lines[@]}" -ge 2 ]
		run -0 ./dev "$command" -h
	done
	for command in "bench hot" "bench cost" "bench agree" "bench --coll allreduce" "cluster 3" "test unit/policy"; do
		# shellcheck disable=SC2086 # words
		run -0 ./dev $command --help
		[ "${#lines[@]}" -ge 2 ]
	done
	nothing_started
}

# refused HINT WORD...
refused() {
	local hint=$1
	shift
	run -2 ./dev "$@"
	[[ $output = "dev: "*"$hint"* ]] || { echo "$* said: $output"; return 1; }
}

@test "an unknown command or option is refused with a hint, and starts nothing" {
	refused "./dev --help" tset
	refused "./dev build --help" build --fast
	refused "./dev lint --help" lint tests
	refused "./dev test --help" test --quick
	refused "./dev test --help" test unit now
	refused "want quick, unit, cluster, all or a test" test policy
	refused "in tests/unit are: policy" test unit/polcy
	refused "in tests/nowhere are: none" test nowhere/policy
	refused "runs as a whole" test unit/policy 3
	refused "has no test 99" test cluster/50-job 99
	refused "no test that matches" test cluster/50-job 'no such words'
	refused "want trixie sid" test --on
	refused "want trixie sid" test --on bookworm unit/policy
	refused "in tests/unit are: policy" test --on trixie unit/polcy
	refused "want arm64 arm64-64k" test --arch
	refused "want arm64 arm64-64k" test --arch i386 unit/policy
	refused "in tests/unit are: policy" test --arch arm64 unit/polcy
	refused "./dev clean --help" clean --all
	refused "./dev clean --help" clean --chroots trixie
	refused "want 1 to 8" cluster 9
	refused "goes behind --" cluster 2 srun
	refused "no command after --" cluster 2 --
	refused "want hot, cost, agree" bench warm
	refused "no target 'polcy' (want admincomment-merge agree" fuzz polcy
	refused "wants a number of seconds" fuzz --seconds soon
	refused "fuzz has no option" fuzz --quick
	refused "which program" run
	nothing_started
}

@test "a command that exceeds its time is ended, with a message" {
	sed -i '$d' dev
	echo 'bounded 1 "the long sleep" sleep 20 || exit 3' >>dev
	run -3 ./dev
	[[ $output = *"dev: the long sleep was ended after 1 s"* ]]
}

@test "clean --chroots removes only what test --on keeps, and nothing that is in use" {
	export NT_CHROOTS=$BATS_TEST_TMPDIR/chroots
	run -0 ./dev clean --chroots	# there are none
	mkdir -p "$NT_CHROOTS"/{trixie/etc,sid.new,arm64-sid,mine} build
	touch "$NT_CHROOTS/arm64-sid.lock"
	run -1 flock -s "$NT_CHROOTS/trixie.lock" ./dev clean --chroots
	[[ $output = "dev: a run on trixie is under way"* ]]
	[ -d "$NT_CHROOTS/trixie/etc" ]
	run -0 ./dev clean --chroots
	[ "$(ls "$NT_CHROOTS")" = mine ]
	[ -d build ]
}
