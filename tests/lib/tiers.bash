# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What ./dev test runs, and how it counts. Part of dev; reads $top, $stage and $scratch.

# Hang guards, not tests of speed: with two busy loops beside it everything takes two to three times as long. A test is
# to take at most 150 s on a quiet machine, a file seven minutes.
readonly UNIT_S=3000 BATS_FILE_S=2400 BATS_TEST_S=1200
readonly SLOWEST=10

passed=0 failed=0 skipped=0 counted_at=0
took=()		# "SECONDS WHAT" of each
beside_pid=	# of what runs beside the others

# count PASSED FAILED SKIPPED WHAT [SECONDS]
count() {
	local seconds=${5:-$((SECONDS - counted_at))}
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
	say "$4: $1 passed, $2 failed, $3 skipped ($seconds s)"
	took+=("$seconds $4")
	counted_at=$SECONDS
}

say_slowest() {
	[ ${#took[@]} -gt 1 ] || return 0
	say "the slowest"
	printf '%s\n' "${took[@]}" | sort -rn | head -n "$SLOWEST" | sed 's/^\([0-9]*\) /\1 s\t/'
}

# The sum comes last even when a step ends the script; a broken step is a failure.
finish_test() {
	local rc=$?
	set +e
	[ -z "$beside_pid" ] || end_tree "$beside_pid"
	[ -z "$fuzz_pid" ] || end_tree "$fuzz_pid"
	fuzz_pid=
	clean_scratch
	[ "$rc" = 0 ] || [ "$failed" -gt 0 ] || failed=1
	if [ "$rc" = 0 ] && [ $((passed + failed)) = 0 ]; then
		echo "dev: no test was run" >&2
		rc=1
	fi
	[ "$failed" = 0 ] || rc=1
	say_slowest
	echo "$passed passed, $failed failed, $skipped skipped"
	exit "$rc"
}

# test_command [--on HOST] [TIER|TEST...]
test_command() {
	local files=() which=() host=''
	if [ "${1:-}" = --on ]; then
		host=${2:-}
		chroot_known "$host" || wrong "no host '$host' to test on (want ${CHROOT_HOSTS[*]})" test
		shift 2
	fi
	case ${1:-all} in
	unit|cluster|all) [ $# -le 1 ] || wrong "test $1 takes no more arguments, not '$2'" test ;;
	*) name_some "$@"
		check_some ;;
	esac
	[ -z "$host" ] || test_on "$host" "$@"
	begin_test
	if [ ${#files[@]} -gt 0 ]; then
		run_some
	else
		test_tiers "${1:-all}"
	fi
}

begin_test() {
	trap finish_test EXIT
	trap 'exit 130' INT TERM
	make_scratch
}

# ---- everything

test_tiers() {
	setup "${TEST_PACKAGES[@]}"
	counted_at=$SECONDS
	build
	case $1 in
	unit) unit_tier ;;
	all) unit_tier start_lanes ;;
	*) say "unit: not asked for" ;;
	esac
	case $1 in
	cluster|all) cluster_tier ;;
	*) say "cluster: not asked for" ;;
	esac
	finish_fuzz
	say "gpu: not part of this; $(gpu_state)"
}

# unit_tier [COMMAND]: that is run when what bounds times is done.
unit_tier() {
	local file
	unit_programs build "unit"
	"${1:-:}"
	configure_in build-asan --enable-werror --enable-sanitizers=address,undefined
	compile build-asan all >/dev/null
	unit_programs build-asan "unit, with address and undefined behaviour sanitizers"
	say "unit, with the thread sanitizer"
	build_tsan
	bats_file tests/tsan/threads.bats
	for file in tests/{lint,fake,programs,chain,gpu,model,replay,page}/*.bats; do
		[ -e "$file" ] && bats_file "$file"
	done
	return 0
}

build_tsan() {
	configure_in build-tsan --enable-sanitizers=thread CFLAGS='-O1 -g'
	compile build-tsan libnccl-tune.la tests/fake/nt-fake-nccl tests/chain/nt-chain-new.la \
		tests/unit/board tests/unit/mask tests/unit/process-life >/dev/null
}

# unit_programs DIR NAME: automake's TAP driver counts a crash or a missing result as an error.
unit_programs() {
	local log=$scratch/unit.log rc=0 tally
	say "$2"
	CMOCKA_MESSAGE_OUTPUT=TAP bounded "$UNIT_S" "$2" \
		make -s -k -C "$1" -j"$(nproc)" check-TESTS VERBOSE=1 >"$log" 2>&1 || rc=$?
	tally=$(awk '
		/^# (PASS|XFAIL): /       { pass += $3 }
		/^# (FAIL|XPASS|ERROR): / { fail += $3 }
		/^# SKIP: /               { skip += $3 }
		END { print pass + 0, fail + 0, skip + 0 }' < <(awk '/^Testsuite summary/ { on = 1 } on' "$log"))
	[ "$rc" = 0 ] || cat "$log"
	case $rc:$tally in
	0:*|*' '[1-9]*' '*) ;;
	*) tally="${tally%% *} 1 0" ;;
	esac
	# shellcheck disable=SC2086 # three numbers
	count $tally "$2"
}

# They mostly wait, and bound no time closely: they run beside all others but the first unit tests, which are about times.
# Two files at a time and no more: the others measure.
readonly BESIDE=(70-launch 55-shapes 57-recheck 60-failures 76-launch-job 77-calibrate 22-record-controller
	10-spank-option 30-report-job 30-report-backfill 20-record-write 35-fingerprint 40-log 05-dev 75-launch-profile
	78-memory-command 84-container 85-packages)

cluster_tier() {
	local file name
	[ -n "$beside_pid" ] || start_beside
	for file in tests/cluster/*.bats; do
		name=${file##*/}
		[[ " ${BESIDE[*]} " = *" ${name%.bats} "* ]] || bats_file "$file"
	done
	finish_beside
}

start_lanes() {
	start_beside
	start_fuzz
}

start_beside() {
	mkdir -m 1777 "$scratch/beside"
	run_beside &
	beside_pid=$!
}

run_beside() {
	local name began
	for name in "${BESIDE[@]}"; do
		began=$SECONDS
		{ run_bats "tests/cluster/$name.bats" "$scratch/beside" || echo "bats failed"; } \
			>"$scratch/beside.$name.log" 2>&1
		echo $((SECONDS - began)) >"$scratch/beside.$name.seconds"
		end_clusters "$scratch/beside"
	done
}

# end_tree PID: it and what it has started. Stopped first: a shell whose child has ended would start the next.
end_tree() {
	local child
	kill -STOP "$1" 2>/dev/null
	for child in $(pgrep -P "$1"); do
		end_tree "$child"
	done
	kill "$1" 2>/dev/null
	kill -CONT "$1" 2>/dev/null
}

finish_beside() {
	local name log rc
	wait "$beside_pid" || :
	beside_pid=
	for name in "${BESIDE[@]}"; do
		say "tests/cluster/$name.bats, beside the others"
		log=$scratch/beside.$name.log rc=0
		! grep -qx "bats failed" "$log" || rc=1
		cat "$log"
		count_bats "tests/cluster/$name.bats" "$log" "$rc" "$(cat "$scratch/beside.$name.seconds")"
	done
}

# run_bats FILE TMPDIR [option of bats]...
run_bats() {
	NT_SLOW=1 NT_STAGE=$stage NT_BUILD=$top/build TMPDIR=$2 BATS_TEST_TIMEOUT=$BATS_TEST_S \
		bounded "$BATS_FILE_S" "$1" bats --tap "${@:3}" "$1" </dev/null 2>&1
}

# bats_file FILE [option of bats]...
bats_file() {
	local log=$scratch/bats.log rc=0
	say "$1"
	run_bats "$1" "$scratch" "${@:2}" | tee "$log" || rc=1
	count_bats "$1" "$log" "$rc"
	end_clusters "$scratch"
}

# count_bats FILE LOG STATUS [SECONDS]: results that the plan promised and that did not come are failures.
count_bats() {
	local tally
	tally=$(awk -v rc="$3" '
		/^1\.\.[0-9]+/ { split($1, range, "."); plan = range[3] }
		/^ok .*# skip/ { skip++; next }
		/^ok /         { pass++ }
		/^not ok /     { fail++ }
		END {
			missing = plan - pass - fail - skip
			fail += missing > 0 ? missing : 0
			if (rc && !fail)
				fail = 1
			print pass + 0, fail + 0, skip + 0
		}' "$2")
	# shellcheck disable=SC2086 # three numbers
	count $tally "$1" "${@:4}"
}

gpu_state() {
	if command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then
		echo "GPUs are here: ./dev gpu"
	else
		echo "no GPU found, the GPU tests (./dev gpu) were skipped"
	fi
}

# ---- some, by their names

# name_some TEST [NUMBER|REGEX] ...: a word with a slash is a test, any other says which tests of that file.
name_some() {
	local word
	for word; do
		case $word in
		-*) wrong "test has no option '$word'" test ;;
		*/*) files+=("$(test_named "$word")") || exit 2
			which+=('') ;;
		*) [ ${#files[@]} -gt 0 ] || wrong "no tier '$word' (want unit, cluster, all or a test such as unit/policy)" test
			which[-1]=$word ;;
		esac
	done
}

# Before anything is built. Makes a filter for bats of a number.
check_some() {
	local i
	for i in "${!files[@]}"; do
		[ -n "${which[i]}" ] || continue
		[[ ${files[i]} = *.bats ]] || wrong "'${which[i]}': ${files[i]} runs as a whole" test
		which[i]=$(bats_filter "${files[i]}" "${which[i]}") || exit 2
	done
}

run_some() {
	local i
	for i in "${!files[@]}"; do
		case ${files[i]} in
		tests/fuzz/*.c) fuzz_file "${files[i]}" ;;
		*.c) unit_test "${files[i]}" ;;
		*.bats) one_bats_file "${files[i]}" "${which[i]}" ;;
		*) script_test "${files[i]}" ;;
		esac
	done
}

# test_named WORD: its file. WORD may have been completed by a shell.
test_named() {
	local name=${1#./} file
	name=${name#tests/}
	for file in "tests/$name" "tests/$name.bats" "tests/$name.c"; do
		case $file in
		tests/unit/*.c|tests/fuzz/*.c|*.bats|tests/sim/agree-quick|tests/stats/figures-scipy)
			[ ! -f "$file" ] || { echo "$file"; return; } ;;
		esac
	done
	echo "dev: no test '$1'; in tests/${name%/*} are: $(tests_in "tests/${name%/*}")" >&2
	return 2
}

tests_in() {
	local file names=''
	for file in "$1"/*.bats tests/unit/*.c; do
		[ "${file%/*}" = "$1" ] || continue
		file=${file##*/}
		[ "$file" = "*.bats" ] || names+="${file%.*} "
	done
	echo "${names:-none}"
}

# unit_test FILE.c: only what it links with is built.
unit_test() {
	local program=${1%.c}
	setup "${BUILD_PACKAGES[@]}"
	configure_in build --prefix="$stage" --enable-werror
	compile build "$program"
	tap_program "$1" "build/$program"
}

script_test() {
	build
	tap_program "$1" "$1"
}

# tap_program NAME PROGRAM
tap_program() {
	local log=$scratch/tap.log rc=0
	say "$1"
	counted_at=$SECONDS
	CMOCKA_MESSAGE_OUTPUT=TAP top_srcdir=$top top_builddir=$top/build \
		bounded "$UNIT_S" "$1" "$2" 2>&1 | tee "$log" || rc=1
	count_bats "$1" "$log" "$rc"
}

# one_bats_file FILE FILTER: that may be empty.
one_bats_file() {
	local options=()
	[ -z "$2" ] || options=(--filter "$2")
	case $1 in
	tests/lint/exports.bats|tests/lint/archive.bats) build ;;
	tests/lint/*|tests/gpu/*|tests/model/*) ;;	# sources only
	tests/tsan/*) build_tsan ;;
	*) build ;;
	esac
	setup "${TEST_PACKAGES[@]}"
	counted_at=$SECONDS
	bats_file "$1" "${options[@]}"
}

# bats_filter FILE NUMBER|REGEX: what bats --filter wants.
bats_filter() {
	local name
	if [[ $2 =~ ^[0-9]+$ ]]; then
		name=$(sed -n 's/^@test "\(.*\)" {$/\1/p' "$1" | sed -n "$2p")
		[ -n "$name" ] || wrong "$1 has no test $2" test
		sed 's/[][\\.*^$+?(){}|]/\\&/g; s/^/^/; s/$/$/' <<<"$name"
	else
		grep -E '^@test ' "$1" | grep -qE -- "$2" || wrong "$1 has no test that matches '$2'" test
		echo "$2"
	fi
}
