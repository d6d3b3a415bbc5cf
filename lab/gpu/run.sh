#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# run.sh - the tests that need GPUs: real NCCL under a real Slurm, several nodes pretended on this machine
#
#   --parts LIST       of slurm, correct, settle (these), groups, tables, auto, smoke, frameworks, shm, ncclperf, nets
#   --topologies LIST  NODESxGPUS,... (by the GPUs found: 2x4,4x2,1x8 or 2x2,4x1,1x4 or 2x1,1x2)
#   --group-runs N     of groups, by srun and by torchrun each (20)
#   --tables LIST      of tables: arms, rules, uneven, train (all)
#   --tables-networks LIST    loopback,shaped
#   --tables-topologies LIST  NODESxGPUS,... (by the GPUs found); MPS as above
#   --tables-runs N    of rules and train, repetitions (3)
#   --tables-first K   number of the first repetition (1)
#   --auto-networks LIST      loopback,shaped
#   --auto-programs LIST      ddp,fsdp,tp; mesh
#   --auto-topology NODESxGPUS    2x1
#   --auto-runs N      of auto, repetitions on each network (3)
#   --auto-first K     number of the first repetition (1)
#   --fw-networks LIST   of frameworks: loopback and Gbit/s (loopback,10,25,50)
#   --fw-programs LIST   ddp,fsdp,lightning,jax,trainer,trainer4,ddpx2,fsdpx2; x2: two ranks in each task, by CUDA MPS
#   --fw-ways LIST       off,observe,site1,typed1,site2,typed2: launch=auto as the site's default and typed, first and second
#                        job (these); cpus,left,differs: mode observe, with what is wrong with the set-up
#   --fw-steps N         training steps (by program and network)
#   --fw-runs N          repetitions (3)
#   --fw-first K         number of the first repetition (1)
#   --shm-sizes LIST     MB, full, none (8,48,64,96,128,256,full,none)
#   --shm-modes LIST     off,observe,bandit
#   --shm-runs N         repetitions (1)
#   --shm-at-once N      jobs at the same time (6)
#   --perf-runs N        of ncclperf, repetitions (3)
#   --nccl-tests PATH    all_reduce_perf, or the directory of its sources (.gpu/all_reduce_perf, .gpu/nccl-tests)
#   --nccl DIR         another NCCL for all programs, PyTorch's too: libnccl.so.2 there
#   --budget S         seconds for all of it; what does not fit is left out, and said (540)
#   --out DIR          where results go (gpu-results)
#   --dry              no GPU: a simulated NCCL in place of nccl-tune-bench, no settle
#
# Needs: the installed tree (NT_STAGE, .gpu/stage or build/stage), NCCL, python3; Slurm, or Debian's packages of it in
# .debs. No network. GPU settings are left as they are; NVLink multicast is not used. docs/gpu.md says more.
set -uo pipefail

# Parts in their order, and the seconds that a part leaves to each that comes after it; less where time is short.
readonly PARTS=(slurm nets smoke shm ncclperf frameworks groups correct tables auto settle)
readonly -A LEFT_S=([slurm]=0 [nets]=20 [smoke]=100 [shm]=150 [ncclperf]=120 [frameworks]=500 [groups]=240 [correct]=150 [tables]=160 [auto]=500 [settle]=90)
readonly END_S=15

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$top/lab/gpu
sl=/opt/sl
parts=slurm,correct,settle topologies=() groups_each=20 budget=540
tables_pieces=(arms rules uneven train) tables_networks=(loopback shaped) tables_topologies=() tables_runs=3 tables_first=1
auto_networks=(loopback shaped) auto_programs=(ddp fsdp tp) auto_topology=2x1 auto_runs=3 auto_first=1
fw_networks=(loopback 10 25 50) fw_programs=() fw_ways=() fw_steps=0 fw_runs=3 fw_first=1
shm_sizes=(8 48 64 96 128 256 full none) shm_modes=(off observe bandit) shm_runs=1 shm_at_once=6
perf_runs=3 nccl_tests=''
out=gpu-results dry='' job='' nccl='' python_nccl=''

say() {
	printf '== %s\n' "$*"
}

die() {
	printf 'run.sh: %s\n' "$*" >&2
	exit 1
}

usage() {
	sed -n '5,/^[^#]/{s/^# \{0,1\}//p}' "$0"
	exit "${1:-2}"
}

# shellcheck source=lab/gpu/slurm.bash
. "$here/slurm.bash"
# shellcheck source=lab/gpu/groups.bash
. "$here/groups.bash"
# shellcheck source=lab/gpu/nets.bash
. "$here/nets.bash"
# shellcheck source=lab/gpu/correct.bash
. "$here/correct.bash"
# shellcheck source=lab/gpu/mps.bash
. "$here/mps.bash"
# shellcheck source=lab/gpu/batch.bash
. "$here/batch.bash"
# shellcheck source=lab/gpu/tables.bash
. "$here/tables.bash"
# shellcheck source=lab/gpu/auto.bash
. "$here/auto.bash"
# shellcheck source=lab/gpu/frameworks.bash
. "$here/frameworks.bash"
# shellcheck source=lab/gpu/shm.bash
. "$here/shm.bash"
# shellcheck source=lab/gpu/ncclperf.bash
. "$here/ncclperf.bash"
# shellcheck source=lab/gpu/settle.bash
. "$here/settle.bash"

number() {
	[[ $2 =~ ^[0-9]+$ ]] || die "$1 '$2' (want a number)"
}

read_options() {
	local word
	while [ $# -gt 0 ]; do
		case $1 in
		-h|--help) usage 0 ;;
		--dry)
			dry=1
			shift
			continue ;;
		esac
		[ $# -ge 2 ] || usage >&2
		case $1 in
		--parts) parts=$2 ;;
		--topologies) IFS=, read -ra topologies <<<"$2" ;;
		--group-runs) number "$1" "$2"; groups_each=$2 ;;
		--tables) IFS=, read -ra tables_pieces <<<"$2" ;;
		--tables-networks) IFS=, read -ra tables_networks <<<"$2" ;;
		--tables-topologies) IFS=, read -ra tables_topologies <<<"$2" ;;
		--tables-runs) number "$1" "$2"; tables_runs=$2 ;;
		--tables-first) number "$1" "$2"; tables_first=$2 ;;
		--auto-networks) IFS=, read -ra auto_networks <<<"$2" ;;
		--auto-programs) IFS=, read -ra auto_programs <<<"$2" ;;
		--auto-topology) auto_topology=$2 ;;
		--auto-runs) number "$1" "$2"; auto_runs=$2 ;;
		--auto-first) number "$1" "$2"; auto_first=$2 ;;
		--fw-networks) IFS=, read -ra fw_networks <<<"$2" ;;
		--fw-programs) IFS=, read -ra fw_programs <<<"$2" ;;
		--fw-ways) IFS=, read -ra fw_ways <<<"$2" ;;
		--fw-steps) number "$1" "$2"; fw_steps=$2 ;;
		--fw-runs) number "$1" "$2"; fw_runs=$2 ;;
		--fw-first) number "$1" "$2"; fw_first=$2 ;;
		--shm-sizes) IFS=, read -ra shm_sizes <<<"$2" ;;
		--shm-modes) IFS=, read -ra shm_modes <<<"$2" ;;
		--shm-runs) number "$1" "$2"; shm_runs=$2 ;;
		--shm-at-once) number "$1" "$2"; shm_at_once=$2 ;;
		--perf-runs) number "$1" "$2"; perf_runs=$2 ;;
		--nccl-tests) nccl_tests=$2 ;;
		--nccl) nccl=$2 ;;
		--budget) number "$1" "$2"; budget=$2 ;;
		--out) out=$2 ;;
		*) usage >&2 ;;
		esac
		shift 2
	done
	listed --parts "$parts" "${PARTS[@]}"
	listed --tables "$(IFS=,; echo "${tables_pieces[*]}")" arms rules uneven train
	listed --tables-networks "$(IFS=,; echo "${tables_networks[*]}")" loopback shaped
	listed --auto-networks "$(IFS=,; echo "${auto_networks[*]}")" loopback shaped
	listed --auto-programs "$(IFS=,; echo "${auto_programs[*]}")" ddp fsdp tp mesh
	[ ${#fw_programs[@]} -gt 0 ] || fw_programs=("${FW_PROGRAMS[@]}")
	[ ${#fw_ways[@]} -gt 0 ] || fw_ways=("${FW_WAYS[@]:0:6}")
	listed --fw-programs "$(IFS=,; echo "${fw_programs[*]}")" "${FW_PROGRAMS[@]}"
	listed --fw-ways "$(IFS=,; echo "${fw_ways[*]}")" "${FW_WAYS[@]}"
	for word in "${fw_networks[@]}"; do
		[ "$word" = loopback ] || number --fw-networks "$word"
	done
}

# listed OPTION LIST WORD...: is the list one of these words?
listed() {
	local option=$1 list=$2 word some
	shift 2
	IFS=, read -ra some <<<"$list"
	[ ${#some[@]} -gt 0 ] || die "$option '' (want $*)"
	for word in "${some[@]}"; do
		[[ " $* " = *" $word "* ]] || die "$option '$list' (want $*)"
	done
}

wanted() {
	[[ ,$parts, = *",$1,"* ]]
}

find_gpus() {
	local topology
	gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
	if [ -n "$dry" ]; then
		gpus=4
	elif [ "$gpus" -lt 2 ] && { ! [[ $parts =~ ^(tables|auto|frameworks)$ ]] || [ "$gpus" = 0 ]; }; then
		die "$gpus GPUs found, two are needed (--dry runs the rest of it)"
	fi
	[[ $auto_topology =~ ^[24]x[1248]$ ]] || die "--auto-topology '$auto_topology' (want NODESxGPUS, 2 or 4 nodes)"
	tables_default_topologies
	for topology in "${tables_topologies[@]}"; do
		if ! [[ $topology =~ ^[124]x[1248]$ ]] || { wanted tables && [ "${topology#*x}" -gt "$gpus" ]; }; then
			die "--tables-topologies '$topology' (want NODESxGPUS, up to 4 nodes, each with up to $gpus GPUs)"
		fi
	done
	if [ ${#topologies[@]} = 0 ]; then
		case $gpus in
		1) return ;;
		[2-3]) topologies=(2x1 1x2) ;;
		[4-7]) topologies=(2x2 4x1 1x4) ;;
		*) topologies=(2x4 4x2 1x8) ;;
		esac
	fi
	for topology in "${topologies[@]}"; do
		if ! [[ $topology =~ ^[124]x[1248]$ ]] || [ $((${topology%x*} * ${topology#*x})) -gt "$gpus" ]; then
			die "topology '$topology' (want NODESxGPUS, up to 4 nodes and $gpus GPUs)"
		fi
	done
}

find_programs() {
	local candidate
	for candidate in "${NT_STAGE:-}" "$top/.gpu/stage" "$top/build/stage"; do
		[ -n "$candidate" ] && [ -e "$candidate/bin/nccl-tune" ] && stage=$candidate && break
	done
	[ -n "${stage:-}" ] || die "no installed tree (./dev build, or lab/gpu/pack.sh)"
	bench=$stage/bin/nccl-tune-bench
	plugins=$stage/libexec/nccl-tune/tests
	[ -e "$plugins/nt-probe.so" ] || plugins=${NT_BUILD:-$top/build}/lab/gpu
	probe=$plugins/nt-probe.so fixed=$plugins/nt-fixed.so
	[ -n "$dry" ] || [ -x "$bench" ] || die "no $bench"
	command -v python3 >/dev/null || die "no python3"
	for candidate in "$top/.gpu/all_reduce_perf" "$top/.gpu/nccl-tests"; do
		[ -n "$nccl_tests" ] || [ ! -e "$candidate" ] || nccl_tests=$candidate
	done
}

# NCCL and the CUDA runtime are where the linker finds them, or in Python's packages.
find_nccl() {
	local dir
	python_nccl=$(timeout 60 python3 -c 'import nvidia.nccl as n; print(list(n.__path__)[0] + "/lib")' 2>/dev/null)
	dir=${python_nccl%/nccl/lib}
	for dir in ${python_nccl:+"$python_nccl" "$dir"/cu13/lib "$dir"/cuda_runtime/lib}; do
		[ ! -d "$dir" ] || export LD_LIBRARY_PATH=$dir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	done
	if [ -n "$nccl" ]; then
		[ -e "$nccl/libnccl.so.2" ] || die "--nccl '$nccl': no libnccl.so.2 there"
		# PyTorch finds its own by a path of its own: tasks load this one first (rank.sh, host.sh).
		NT_GPU_NCCL=$(cd "$nccl" && pwd)
		export NT_GPU_NCCL LD_LIBRARY_PATH=$NT_GPU_NCCL:${LD_LIBRARY_PATH:-}
	fi
	# What it needs of Debian's; Slurm's own are unpacked later.
	if [ -z "$dry" ] && ldd "$bench" | grep -q 'libjson-c.*not found' && [ -n "$(deb_of libjson-c5)" ]; then
		dpkg -x "$(deb_of libjson-c5)" "$sl"
		export LD_LIBRARY_PATH=$sl$LIB_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	fi
	[ -n "$dry" ] || ! ldd "$bench" | grep 'not found' || die "nccl-tune-bench: libraries are missing"
}

# Nothing of the caller's job or NCCL settings; several nodes meet over loopback sockets.
set_environment() {
	local name
	for name in $(compgen -e); do
		case $name in
		SLURM*|SBATCH*|SALLOC*|SPANK*|PMI*|NCCL*|OMPI*) unset "$name" ;;
		esac
	done
	export NCCL_NET=Socket NCCL_SOCKET_IFNAME=lo NCCL_NVLS_ENABLE=0
	export TORCH_SYMM_MEM_DISABLE_MULTICAST=1 NVSHMEM_DISABLE_NVLS=1
}

write_versions() {
	{
		echo "date: $(date -u +%Y-%m-%dT%H:%MZ)"
		echo "nccl-tune: $("$stage/bin/nccl-tune" --version 2>&1 | head -n 1)"
		nvidia-smi --query-gpu=index,name,driver_version --format=csv,noheader 2>/dev/null | sed 's/^/gpu: /'
		nvidia-smi topo -m 2>/dev/null | sed 's/\x1b\[[0-9;]*m//g; s/^/topology: /'
		echo "slurm: $(srun --version 2>/dev/null)"
		echo "kernel: $(uname -sr)"
		echo "cpus: $(nproc)"
		echo "pmix: $(readlink -f "$PMIX_DIR/libpmix.so" 2>/dev/null)"
		echo "another NCCL: ${NT_GPU_NCCL:-no}"
		echo "environment: $(env | grep -E '^NCCL_' | sort | tr '\n' ' ')"
		echo "options: parts $parts, topologies ${topologies[*]}," \
			"group runs $groups_each, budget $budget s," \
			"tables ${tables_pieces[*]} ${tables_topologies[*]} ${tables_networks[*]} runs $tables_runs from $tables_first," \
			"auto ${auto_networks[*]} ${auto_programs[*]} $auto_topology runs $auto_runs from $auto_first," \
			"frameworks ${fw_networks[*]} ${fw_programs[*]} ${fw_ways[*]} steps $fw_steps runs $fw_runs from $fw_first," \
			"shm ${shm_sizes[*]} ${shm_modes[*]} runs $shm_runs, ncclperf runs $perf_runs"
	} >"$out/versions.txt"
}

# results_resume: what an earlier run has left in $out counts.
results_resume() {
	[ ! -e "$out/raw.tar.gz" ] || tar -C "$work" -xzf "$out/raw.tar.gz"
}

# summarise NAME SCRIPT: its tables to NAME.txt, where there are runs of that name.
summarise() {
	compgen -G "$raw/$1*" >/dev/null || return 0
	timeout 60 python3 "$here/$2" "$raw" "$out" >"$out/$1.new" 2>&1
	local rc=$?
	mv "$out/$1.new" "$out/$1.txt"
	return "$rc"
}

# What there is so far: a run that is cut short must leave it.
write_results() {
	local rc=0
	summarise correct correct_summary.py || rc=1
	summarise tables tables_summary.py || rc=1
	summarise auto auto_summary.py || rc=1
	summarise frameworks frameworks_summary.py || rc=1
	summarise shm shm_summary.py || rc=1
	summarise ncclperf ncclperf_summary.py || rc=1
	tar -C "$work" -czf "$out/raw.new" raw 2>/dev/null && mv "$out/raw.new" "$out/raw.tar.gz"
	return "$rc"
}

finish() {
	local rc=$? name
	trap - EXIT
	trap '' INT TERM
	[ -z "$job" ] || release
	slurm_away
	nets_down
	mps_down
	if wanted groups; then
		timeout 60 python3 "$here/groups_summary.py" "$raw" "$out" | tee "$out/groups.txt"
		[ "${PIPESTATUS[0]}" = 0 ] || rc=1
	fi
	if compgen -G "$raw/settle.*" >/dev/null; then
		timeout 60 python3 "$here/settle.py" "$raw" | tee "$out/settle.txt"
	fi
	write_results || rc=1
	for name in correct tables auto shm ncclperf frameworks; do
		[ ! -e "$out/$name.txt" ] || cat "$out/$name.txt"
	done
	[ ! -e "$work/slurm.log" ] || cp "$work/slurm.log" "$out/"
	rm -rf "$work" "$sl"
	say "exit status $rc after $SECONDS s"
	exit "$rc"
}

# What is left for a part once later ones have their share.
share() {
	local left=$((budget - SECONDS - END_S)) later=0 part past='' least
	for part in "${PARTS[@]}"; do
		if [ -n "$past" ] && wanted "$part" && [ "$part$dry" != settle1 ]; then
			later=$((later + ${LEFT_S[$part]}))
		fi
		[ "$part" != "$1" ] || past=1
	done
	[ "$left" -gt 0 ] || left=0
	least=$((left * ${LEFT_S[$1]} / (${LEFT_S[$1]} + later)))
	echo $((left - later > least ? left - later : least))
}

main() {
	local rc=0
	read_options "$@"
	find_gpus
	find_programs
	set_environment
	mkdir -p "$out" && out=$(cd "$out" && pwd)
	work=$(mktemp -d /tmp/nt-gpu.XXXXXX)
	raw=$work/raw
	# Where Slurm is installed it is unpacked beside, for a try; else where pack.sh's programs look for it.
	[ -z "$dry" ] || ! slurmd -V >/dev/null 2>&1 || sl=$work/sl
	[ ! -e "$sl" ] || die "$sl exists"
	mkdir -p "$raw" "$work/meet"
	chmod 755 "$work"
	trap finish EXIT
	trap 'exit 130' INT TERM
	find_nccl
	if [[ ,$parts, =~ ,(slurm|groups|correct|tables|auto|smoke|frameworks|shm|ncclperf|nets), ]]; then
		with_slurm || rc=1
	fi
	[ -e "$out/versions.txt" ] || write_versions
	if wanted settle && [ -z "$dry" ]; then
		settle "$(share settle)" || rc=1
	fi
	return "$rc"
}

with_slurm() {
	if ! slurm_up || ! timeout 30 srun -N"$SLURM_NODES" -n"$SLURM_NODES" hostname >/dev/null; then
		say "Slurm did not come up"
		return 1
	fi
	write_versions
	[[ ! ,$parts, =~ ,(tables|frameworks|shm|ncclperf), ]] || results_resume
	! wanted nets || nets_try 10 25 50 100
	! wanted smoke || smoke "$(share smoke)"
	! wanted shm || shm "$(share shm)"
	! wanted ncclperf || ncclperf_runs "$(share ncclperf)"
	! wanted frameworks || frameworks "$(share frameworks)"
	! wanted groups || group_runs "$(share groups)"
	! wanted correct || correct "$(share correct)"
	! wanted tables || tables "$(share tables)"
	! wanted auto || auto "$(share auto)"
}

main "$@"
