# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Hostile input: the targets of tests/fuzz under libFuzzer, for ./dev fuzz and, shortly, for ./dev test all. Part of dev;
# reads $top and $scratch.

readonly FUZZ_TARGETS=(admincomment-merge agree arguments host log-entry long memory option page policy profile record report shm site
	summary ticket topology)
readonly FUZZ_SECONDS=600	# of each target, by ./dev fuzz
# In ./dev test: so many inputs (test_runs), so much processor time, or so long, whichever comes first. None of them can fail
# on a slow machine.
readonly FUZZ_CPU_S=20 FUZZ_WALL_S=60
readonly FUZZ_MAKE_S=14400	# hang guard of a build that gets only what others leave
readonly FUZZ_INPUT_S=300	# hang guard of one input, which takes milliseconds
readonly FUZZ_MEMORY_MB=4096
readonly FUZZ_KEPT=12	# inputs of a target in the tree; tests/lint/sources.bats looks

# Why there is nothing to build targets with; nothing where there is.
fuzz_lacks() {
	local program
	command -v clang >/dev/null || { echo "no clang here (./dev setup installs it)"; return; }
	program=$(mktemp)
	clang -fsanitize=fuzzer,address,undefined -x c -o "$program" - >/dev/null 2>&1 <<-'END' ||
		int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size);
		int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { return data && size > 9; }
		END
		echo "clang has no libFuzzer here (package libclang-rt-dev; ./dev setup installs it)"
	rm -f "$program"
}

fuzz_configure() {
	configure_in build-fuzz --enable-sanitizers=address,undefined CC=clang CFLAGS='-O1 -g -fsanitize=fuzzer-no-link'
}

# fuzz_make TARGET...: the product's sources are built once for all of them.
fuzz_make() {
	bounded "$FUZZ_MAKE_S" "make in ./build-fuzz" make -s -C build-fuzz -j"$(nproc)" "${@/#/tests/fuzz/}" >/dev/null
}

# fuzz_build TARGET...
fuzz_build() {
	fuzz_configure
	fuzz_make "$@"
}

# input_bytes TARGET: how long its inputs may be. Those that are many events are slow.
input_bytes() {
	case $1 in
	agree|shm) echo 1024 ;;
	*) echo 8192 ;;
	esac
}

# test_runs TARGET: inputs in ./dev test, some two seconds of processor time each: what is kept, and a little more. ./dev fuzz
# looks for what is new.
test_runs() {
	case $1 in
	agree|shm) echo 600 ;;
	host|long|record|topology) echo 2000 ;;
	site|memory|page|summary) echo 4000 ;;
	profile|report) echo 8000 ;;
	*) echo 20000 ;;
	esac
}

# run_target TARGET DIR [option]...: begins with all that is kept, and puts what is new into DIR/corpus, findings into
# DIR/found. One at a time in a DIR.
run_target() {
	local target=$1 dir=$2 kept_dir from=()
	shift 2
	mkdir -p "$dir/corpus" "$dir/found"
	for kept_dir in "tests/fuzz/corpus/$target" "tests/fuzz/crashes/$target"; do
		[ ! -d "$kept_dir" ] || from+=("$kept_dir")
	done
	ASAN_OPTIONS=allocator_may_return_null=1 "build-fuzz/tests/fuzz/$target" -print_final_stats=1 \
		-timeout="$FUZZ_INPUT_S" -report_slow_units="$FUZZ_INPUT_S" -rss_limit_mb="$FUZZ_MEMORY_MB" \
		-malloc_limit_mb="$FUZZ_MEMORY_MB" -max_len="$(input_bytes "$target")" -artifact_prefix="$dir/found/" "$@" \
		"$dir/corpus" "${from[@]}" >"$dir/log" 2>&1
}

# told TARGET DIR: executions, coverage and findings in one line
told() {
	local target=$1 dir=$2
	awk -v target="$target" -v found="$(find "$dir/found" -type f | wc -l)" '
		/ cov: / { for (i = 1; i < NF; i++) { if ($i == "cov:") cov = $(i + 1); if ($i == "ft:") features = $(i + 1) } }
		/^stat::number_of_executed_units/ { runs = $2 }
		/^#[0-9]+/ { last = substr($1, 2) + 0 }
		END { printf "%-8s %10d executions, coverage %d edges, %d features, %d findings\n",
			target, runs ? runs : last, cov, features, found }' "$dir/log"
}

# ---- ./dev fuzz

fuzz_command() {
	local seconds=$FUZZ_SECONDS targets=() lacks
	while [ $# -gt 0 ]; do
		case $1 in
		--seconds)
			[[ ${2:-} =~ ^[1-9][0-9]{0,5}$ ]] || wrong "--seconds wants a number of seconds, not '${2:-}'" fuzz
			seconds=$2
			shift ;;
		-*) wrong "fuzz has no option '$1'" fuzz ;;
		*)
			[[ " ${FUZZ_TARGETS[*]} " = *" $1 "* ]] || wrong "no target '$1' (want ${FUZZ_TARGETS[*]})" fuzz
			targets+=("$1") ;;
		esac
		shift
	done
	[ ${#targets[@]} -gt 0 ] || targets=("${FUZZ_TARGETS[@]}")
	setup "${BUILD_PACKAGES[@]}" "${FUZZ_PACKAGES[@]}"
	lacks=$(fuzz_lacks)
	[ -z "$lacks" ] || die "$lacks"
	say "build"
	fuzz_build "${targets[@]}"
	fuzz_for "$seconds" "${targets[@]}"
}

# fuzz_for SECONDS TARGET...: as many at a time as there are processors
fuzz_for() {
	local seconds=$1 target running=0 found=0
	shift
	trap 'kill $(jobs -p) 2>/dev/null || :' EXIT
	trap 'exit 130' INT TERM
	say "$# targets, $seconds s each"
	for target; do
		[ "$running" -lt "$(nproc)" ] || { wait -n || :; running=$((running - 1)); }
		fuzz_one "$target" "$seconds" &
		running=$((running + 1))
	done
	wait
	for target; do
		[ -z "$(ls "build-fuzz/run/$target/found")" ] || found=1
	done
	return "$found"
}

fuzz_one() {
	local target=$1 dir=build-fuzz/run/$1 file
	rm -rf "$dir/found"
	run_target "$target" "$dir" -max_total_time="$2" || :
	told "$target" "$dir"
	for file in "$dir"/found/*; do
		[ -e "$file" ] || continue
		mkdir -p "tests/fuzz/crashes/$target"
		cp "$file" "tests/fuzz/crashes/$target/"
		echo "dev: $target: tests/fuzz/crashes/$target/${file##*/}; what it did is in $dir/log" >&2
	done
	keep_corpus "$target" "$dir"
}

# keep_corpus TARGET DIR: of all inputs at most FUZZ_KEPT, those that together reach most
keep_corpus() {
	local target=$1 dir=$2 kept=tests/fuzz/corpus/$1 file
	rm -rf "$dir/merged" "$dir/none" "$dir/kept" "$dir/merge.control"
	mkdir -p "$dir/merged" "$dir/none" "$dir/kept" "$kept"
	{ merge_inputs "$target" -merge=1 "$dir/merged" "$kept" "$dir/corpus" &&
		merge_inputs "$target" -set_cover_merge=1 -merge_control_file="$dir/merge.control" "$dir/none" "$dir/merged"
	} >"$dir/merge.log" 2>&1 || return 0
	while read -r file; do
		cp "$file" "$dir/kept/"
	done < <(reach_most "$FUZZ_KEPT" "$dir/merge.control")
	rm -rf "$kept"
	mv "$dir/kept" "$kept"
}

# merge_inputs TARGET OPTION... DIRECTORY...
merge_inputs() {
	"build-fuzz/tests/fuzz/$1" -use_counters=0 -timeout="$FUZZ_INPUT_S" -rss_limit_mb="$FUZZ_MEMORY_MB" "${@:2}"
}

# reach_most N CONTROL: at most N files, each next one that which reaches most of what those before it do not. CONTROL is what
# libFuzzer leaves of -set_cover_merge: the number of files, that of those kept before, their names, and lines
# "FT NUMBER FEATURE..." for each.
reach_most() {
	awk -v most="$1" '
		NR == 1 { files = $1; next }
		NR == 2 { next }
		NR <= files + 2 { name[NR - 3] = $0; next }
		$1 == "FT" { for (i = 3; i <= NF; i++) has[$2] = has[$2] " " $i }
		END {
			for (; most > 0; most--) {
				best = ""
				best_new = 0
				for (file in has) {
					n = split(has[file], features, " ")
					new = 0
					for (i = 1; i <= n; i++)
						new += !(features[i] in seen)
					if (new > best_new || new == best_new && new && file + 0 < best + 0) {
						best = file
						best_new = new
					}
				}
				if (!best_new)
					break
				print name[best]
				n = split(has[best], features, " ")
				for (i = 1; i <= n; i++)
					seen[features[i]]
			}
		}' "$2"
}

# ---- in ./dev test

# test_target TARGET DIR: what is kept once more, then for a while what comes of it.
test_target() {
	local target=$1 dir=$2
	(ulimit -S -t "$FUZZ_CPU_S" && run_target "$target" "$dir" -runs="$(test_runs "$target")" -max_total_time="$FUZZ_WALL_S")
}

# fuzz_test TARGET DIR: and say it
fuzz_test() {
	local rc=0
	test_target "$1" "$2" || rc=$?
	told "$1" "$2"
	[ "$rc" != 0 ] || return 0
	tail -n 40 "$2/log"
	return 1
}

# fuzz_job: all targets, one after the other; each is a test.
fuzz_job() {
	local target lacks good=0 bad=0
	lacks=$(fuzz_lacks)
	if [ -n "$lacks" ]; then
		echo "1..0 # skip $lacks"
		echo "0 0 ${#FUZZ_TARGETS[@]}" >"$job_dir/tally"
		return
	fi
	fuzz_configure && fuzz_make "${FUZZ_TARGETS[@]}" || return 1
	for target in "${FUZZ_TARGETS[@]}"; do
		if fuzz_test "$target" "$job_dir/$target"; then
			good=$((good + 1))
		else
			bad=$((bad + 1))
		fi
	done
	echo "$good $bad 0" >"$job_dir/tally"
}

# fuzz_file FILE.c: one target, as a test by its name
fuzz_file() {
	local target=${1##*/} lacks rc=0
	target=${target%.c}
	setup "${BUILD_PACKAGES[@]}" "${FUZZ_PACKAGES[@]}"
	say "$1"
	lacks=$(fuzz_lacks)
	if [ -n "$lacks" ]; then
		echo "skipped: $lacks"
		count 0 0 1 "$1"
		return
	fi
	fuzz_build "$target"
	# shellcheck disable=SC2034 # read by count
	counted_at=$SECONDS
	fuzz_test "$target" "$scratch/fuzz-$target" || rc=1
	count $((1 - rc)) "$rc" 0 "$1"
}
