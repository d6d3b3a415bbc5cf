# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What ./dev test runs (tests/lib/plan tells which bats files), and how it counts. Part of dev; reads $top, $stage and $scratch.

# Hang guards, not tests of speed: with two busy loops beside it everything takes two to three times as long. A test is
# to take at most 150 s on a quiet machine, a file seven minutes.
readonly UNIT_S=3000 BATS_FILE_S=2400 BATS_TEST_S=2100
readonly SLOWEST=10
readonly PLAN=tests/lib/plan

passed=0 failed=0 skipped=0 counted_at=0
took=()		# "SECONDS WHAT" of each
why_skipped=()	# "WHAT: N: REASON"

# count PASSED FAILED SKIPPED WHAT [SECONDS]
count() {
	local seconds=${5:-$((SECONDS - counted_at))}
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
	say "$4: $1 passed, $2 failed, $3 skipped ($seconds s)"
	took+=("$seconds $4")
	counted_at=$SECONDS
}

# note_skipped WHAT LOG: of TAP, why tests were skipped
note_skipped() {
	local line
	while read -r line; do
		why_skipped+=("$1: $line")
	done < <(sed -nE 's/^(ok|1\.\.0).* # (skip|SKIP) ?//p' "$2" | sort | uniq -c | sed -E 's/^ *([0-9]+) /\1: /')
}

say_skipped() {
	[ ${#why_skipped[@]} -gt 0 ] || return 0
	say "skipped"
	printf '%s\n' "${why_skipped[@]}"
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
	end_jobs
	clean_scratch
	[ "$rc" = 0 ] || [ "$failed" -gt 0 ] || failed=1
	if [ "$rc" = 0 ] && [ $((passed + failed)) = 0 ]; then
		echo "dev: no test was run" >&2
		rc=1
	fi
	[ "$failed" = 0 ] || rc=1
	say_skipped
	say_again
	say_slowest
	say_load
	echo "$passed passed, $failed failed, $skipped skipped"
	exit "$rc"
}

# test_command [--on HOST | --arch ARCH] [TIER|TEST...]
test_command() {
	local files=() which=() host='' arch=''
	case ${1:-} in
	--on) host=${2:-}
		chroot_known "$host" || wrong "no host '$host' to test on (want ${CHROOT_HOSTS[*]})" test
		shift 2 ;;
	--arch) arch=${2:-}
		arch_known "$arch" || wrong "no architecture '$arch' to test (want ${ARCHES[*]})" test
		shift 2 ;;
	esac
	case ${1:-quick} in
	quick|unit|cluster|all) [ $# -le 1 ] || wrong "test $1 takes no more arguments, not '$2'" test ;;
	*) name_some "$@"
		check_some ;;
	esac
	[ -z "$host" ] || test_on "$host" "$@"
	[ -z "$arch" ] || { test_arch "$arch" "$@"; return; }
	begin_test
	if [ ${#files[@]} -gt 0 ]; then
		run_some
	else
		test_tier "${1:-quick}"
	fi
}

begin_test() {
	trap finish_test EXIT
	trap 'exit 130' INT TERM
	make_scratch
}

# ---- a tier

test_tier() {
	check_plan
	setup "${TEST_PACKAGES[@]}"
	prepare_fresh "$1"
	export NT_PACKAGES=$scratch/packages	# built by the first that needs them
	counted_at=$SECONDS
	build
	took+=("$((SECONDS - counted_at)) build")
	[ "$1" = cluster ] || add_units "$1"
	[ "$1" != all ] || job_add work 250 tests/fuzz fuzz_job
	[ "$1" != all ] || job_add work 120 "arm64, in an emulator" arm64_job
	add_planned "$1"
	run_jobs
	say "gpu: not part of this; $(gpu_state)"
}

# add_units TIER: of the thread sanitizer quick has what most threads of a job do.
add_units() {
	local filter=
	[ "$1" != quick ] || filter='unit.tests|explore,.agree|created.and.destroyed'
	job_add work 300 "unit, with address and undefined behaviour sanitizers" sanitized_units
	job_add work 60 "unit, what is different without sanitizers" plain_units "$1"
	job_add work 200 tests/tsan/threads.bats tsan_job ${filter:+--filter "$filter"}
}

# The plan has a line for each bats file, and no other.
check_plan() {
	local odd
	odd=$(comm -3 <(plan_lines | cut -d' ' -f1 | sort) \
		<(find tests lab -name '*.bats' ! -path 'tests/tsan/*' | sed 's,^tests/,,; s/[.]bats$//' | sort))
	[ -z "$odd" ] || die "$PLAN and the bats files of tests/ and lab/ do not agree: ${odd//[$'\n\t']/ }"
}

# plan_lines: FILE SECONDS TIER [...]
plan_lines() {
	sed -E '/^(#|$)/d; s/[[:blank:]]+/ /g' "$PLAN"
}

# add_planned TIER
add_planned() {
	local file seconds tier filter kind
	while read -r file seconds tier _; do
		kind='work' filter=''
		[[ $file != @(cluster|install)/* ]] || kind='wait'
		case $1:$tier in
		unit:*) [ "$kind" = work ] || continue ;;
		cluster:*) [ "$kind" = wait ] || continue ;;
		quick:all) continue ;;
		quick:quick=*) filter=${tier#quick=} ;;
		esac
		[[ $file = lab/* ]] || file=tests/$file
		job_add "$kind" "$seconds" "$file.bats" bats_job "$file.bats" ${filter:+--filter "$filter"}
	done < <(plan_lines)
}

# bats_job FILE [option of bats]...
bats_job() {
	local rc=0
	run_bats "$1" "$job_dir" "${@:2}" | tee "$job_dir/log" || rc=1
	tally_bats "$job_dir/log" "$rc" >"$job_dir/tally"
}

# prepare_fresh TIER|FILE: what cannot be made is told by the test that is skipped.
prepare_fresh() {
	wants_fresh "$1" || return 0
	if (fresh_chroot); then
		fresh_chroot
	else
		say "no fresh system to install on"
	fi
}

# Warnings are those of the plain build. Compiling takes most of the time, of which -O1 takes up to five times as much, and -O0
# as much.
sanitized_units() {
	configure_in build-asan --enable-sanitizers=address,undefined CFLAGS='-Og -g1 -w' || return 1
	compile build-asan unit-tests >/dev/null || return 1
	unit_programs build-asan
}

# plain_units TIER: those that count what a sanitizer does itself, or try less where one makes them slow. How often a rule is
# right takes most of that; quick has the few tries under sanitizers.
plain_units() {
	local programs without=none
	[ "$1" != quick ] || without=engine-rates
	mapfile -t programs < <(grep -lE 'SANITIZED|__SANITIZE_' tests/unit/*/*.c | grep -vE "/($without)[.]c" | sed 's/[.]c$//')
	compile build unit-needs "${programs[@]}" >/dev/null || return 1
	unit_programs build check_PROGRAMS= TESTS="${programs[*]}"
}

tsan_job() {
	build_tsan && bats_job tests/tsan/threads.bats "$@"
}

build_tsan() {
	configure_in build-tsan --enable-sanitizers=thread CFLAGS='-O1 -g1 -w -DNT_END_MS=100000' || return 1
	compile build-tsan libnccl-tune.so tests/fake/nt-fake-nccl tests/chain/nt-chain-new.so \
		tests/unit/pmix-sync/shm tests/unit/tuner/mask tests/unit/tuner/process-life >/dev/null
}

# unit_programs DIR [VARIABLE=VALUE]: automake's TAP driver counts a crash or a missing result as an error. cmocka before 2
# says `not ok` of what it skips.
unit_programs() {
	local log=$job_dir/log rc=0 tally skips
	CMOCKA_MESSAGE_OUTPUT=TAP bounded "$UNIT_S" "the tests in ./$1" \
		make -s -k -C "$1" -j"$(nproc)" check-TESTS VERBOSE=1 "${@:2}" >"$log" 2>&1 || rc=$?
	skips=$(find "$1/tests" "$1/lab" -name '*.log' -newer "$job_dir" -exec grep -hE '^(not ok [0-9]+|1[.][.]0) # SKIP' {} + |
		sed 's/^not //' || :)
	tally=$(awk '
		/^# (PASS|XFAIL): /       { pass += $3 }
		/^# (FAIL|XPASS|ERROR): / { fail += $3 }
		/^# SKIP: /               { skip += $3 }
		/^ok [0-9]+ # SKIP/       { fail--; skip++ }
		END { print pass + 0, fail + 0, skip + 0 }' < <(awk '/^Testsuite summary/ { on = 1 } on' "$log"; echo "$skips"))
	[[ $tally != [1-9]*' 0 '* ]] || rc=0
	[ "$rc" = 0 ] || cat "$log"
	[ -z "$skips" ] || echo "$skips"
	echo "$tally" >"$job_dir/tally"
	return "$rc"
}

# run_bats FILE TMPDIR [option of bats]...
run_bats() {
	NT_SLOW=1 NT_STAGE=$stage NT_BUILD=$top/build TMPDIR=$2 BATS_TEST_TIMEOUT=$BATS_TEST_S \
		bounded "$BATS_FILE_S" "$1" bats --tap "${@:3}" "$1" </dev/null 2>&1
}

# bats_file FILE [option of bats]...: at once
bats_file() {
	local log=$scratch/bats.log rc=0
	say "$1"
	run_bats "$1" "$scratch" "${@:2}" | tee "$log" || rc=1
	count_bats "$1" "$log" "$rc"
	end_clusters "$scratch"
}

# count_bats FILE LOG STATUS
count_bats() {
	note_skipped "$1" "$2"
	# shellcheck disable=SC2046 # three numbers
	count $(tally_bats "$2" "$3") "$1"
}

# tally_bats LOG STATUS: PASSED FAILED SKIPPED; results that the plan promised and that did not come are failures.
tally_bats() {
	awk -v rc="$2" '
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
		}' "$1"
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
		*) [ ${#files[@]} -gt 0 ] || wrong "no tier '$word' (want quick, unit, cluster, all or a test such as unit/policy)" test
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

# test_named WORD: its file. WORD may have been completed by a shell; a unit test is found in any room.
test_named() {
	local name=${1#./} file
	[[ $name = @(tests|lab)/* ]] || name=tests/$name
	for file in "$name" "$name.bats" "$name.c" tests/unit/*/"${name#tests/unit/}.c"; do
		case $file in
		tests/unit/*.c|tests/fuzz/*.c|*.bats|lab/sim/agree-quick)
			[ ! -f "$file" ] || { echo "$file"; return; } ;;
		esac
	done
	echo "dev: no test '$1'; in ${name%/*} are: $(tests_in "${name%/*}")" >&2
	return 2
}

tests_in() {
	local file names=''
	for file in "$1"/*.bats tests/unit/*/*.c; do
		[[ ${file%/*} = "$1" || ${file%/*/*} = "$1" ]] || continue
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
	compile build unit-needs "$program"
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
	tests/lint/*|lab/gpu/*|tests/model/*) ;;	# sources only
	tests/tsan/*) build_tsan ;;
	*) build ;;
	esac
	setup "${TEST_PACKAGES[@]}"
	prepare_fresh "$1"
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
