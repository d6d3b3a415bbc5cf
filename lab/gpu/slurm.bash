# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A Slurm of four nodes on this machine: from carried Debian packages where there are any, else the installed one.
# Part of lab/gpu/run.sh; reads $top, $work, $stage, $sl (where packages are unpacked).

readonly LIB_DIR=/usr/lib/x86_64-linux-gnu
readonly PMIX_DIR=$LIB_DIR/pmix2/lib		# Debian's mpi/pmix loads libpmix.so from there and nowhere else

# Package and soname: unpacked only where the machine has no such library, for its own must win.
readonly SPARE='libpmix2 libpmix.so.2
libhwloc15 libhwloc.so.15
libevent-core-2.1-7 libevent_core-2.1.so.7
libevent-pthreads-2.1-7 libevent_pthreads-2.1.so.7
libjson-c5 libjson-c.so.5
libexpat1 libexpat.so.1
liblz4-1 liblz4.so.1
libnuma1 libnuma.so.1
libgcrypt20 libgcrypt.so.20
libgpg-error0 libgpg-error.so.0
libpam0g libpam_misc.so.0
libudev1 libudev.so.1
libbz2-1.0 libbz2.so.1.0
libbpf1 libbpf.so.1
libelf1 libelf.so.1
libmnl0 libmnl.so.0
libbsd0 libbsd.so.0
libmd0 libmd.so.0
libcap2 libcap.so.2
libxtables12 libxtables.so.12
zlib1g libz.so.1'

readonly SLURM_NODES=4

pmix_links=()
slurm_settings=()
site_default=''		# the policy of steps that ask for none

deb_of() {
	find "$top/.debs" -name "$1_*.deb" -print -quit
}

unpack() {
	local package soname file known
	known=$(ldconfig -p)
	mkdir -p "$sl/bin"
	for package in slurmctld slurmd slurm-client slurm-wlm-basic-plugins libslurm38 munge libmunge2; do
		file=$(deb_of "$package")
		[ -n "$file" ] || { echo "no .debs/${package}_*.deb (lab/gpu/pack.sh)" >&2; return 1; }
		dpkg -x "$file" "$sl" || return 1
	done
	while read -r package soname; do
		[[ $known != *"$soname "* ]] || continue
		file=$(deb_of "$package")
		say "$soname: $([ -n "$file" ] && echo unpacked || echo missing)"
		[ -z "$file" ] || dpkg -x "$file" "$sl"
	done <<<"$SPARE"
	if ! command -v ip >/dev/null || ! command -v tc >/dev/null; then
		file=$(deb_of iproute2)
		[ -z "$file" ] || dpkg -x "$file" "$sl"
	fi
	programs_by_name
	pmix_in_place
	export LD_LIBRARY_PATH=$sl$LIB_DIR:$sl$LIB_DIR/slurm-wlm:$sl/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export PATH=$sl/bin:$sl/sbin:$sl/usr/bin:$sl/usr/sbin:$PATH
}

# Debian chooses between Slurm and others by links that a package makes when it is installed. By these names its daemons
# know what they are: a slurmd-wlm finds no GPUs.
programs_by_name() {
	local name
	for name in slurmctld slurmd slurmstepd; do
		ln -sf "$sl/usr/sbin/$name-wlm" "$sl/bin/$name"
	done
	mkdir -p "$sl/bin/by-name"
	mv "$sl/bin/slurmd" "$sl/bin/by-name/slurmd"
	printf '#!/bin/sh\nexec %s -d %s "$@"\n' "$sl/bin/by-name/slurmd" "$sl/bin/slurmstepd" >"$sl/bin/slurmd"
	chmod 755 "$sl/bin/slurmd"
}

pmix_in_place() {
	local from=$PMIX_DIR/libpmix.so.2
	[ ! -e "$PMIX_DIR/libpmix.so" ] || return 0
	[ -e "$from" ] || from=$(ldconfig -p | awk '$1 == "libpmix.so.2" { print $NF; exit }')
	[ -n "$from" ] || from=$sl$PMIX_DIR/libpmix.so.2
	[ -e "$from" ] || return 0
	mkdir -p "$PMIX_DIR" && ln -s "$from" "$PMIX_DIR/libpmix.so" && pmix_links+=("$PMIX_DIR/libpmix.so")
	say "PMIx: $PMIX_DIR/libpmix.so is $from while this runs"
}

missing_libraries() {
	local file
	for file in "$sl"/usr/sbin/*-wlm "$sl/usr/sbin/munged" "$sl/usr/bin/srun" "$stage"/bin/* \
		"$stage/lib/slurm/spank_nccl_tune.so" "$stage/libexec/nccl-tune/nt-recordd"; do
		[ ! -e "$file" ] || ldd "$file" 2>/dev/null | sed -n "s|^[ \t]*\(.*\) => not found|${file##*/} needs \1|p"
	done
}

# Slurm's programs, once: unpacked, or those that are installed.
slurm_programs() {
	[ ${#slurm_settings[@]} = 0 ] || return 0
	slurm_settings=(-c "SlurmdDebug=info")
	if [[ ,$parts, =~ ,(tables|auto|smoke), ]]; then
		slurm_settings+=(-c "TaskProlog=$top/lab/gpu/host.sh")
	fi
	if [ -d "$top/.debs" ]; then
		unpack || return 1
		slurm_settings+=(-c "PluginDir=$sl$LIB_DIR/slurm-wlm")
	elif ! command -v slurmd >/dev/null; then
		echo "no Slurm here and no .debs (lab/gpu/pack.sh makes them)" >&2
		return 1
	fi
	missing_libraries
}

# own_hosts [option of tests/lib/cluster]...: for frameworks, nodes have names of their own, by which NCCL tells hosts apart: a
# TaskProlog would come too late for what tasks measure before their program. Sets host_options.
own_hosts() {
	local word n
	host_options=("$@")
	[[ ,$parts, =~ ,frameworks, ]] && [ -z "$dry" ] || return 0
	for ((n = 1; n <= SLURM_NODES; n++)); do
		grep -qs "[[:blank:]]n$n\$" /etc/hosts || echo "127.0.0.1 n$n" >>/etc/hosts
	done
	for word in "${!host_options[@]}"; do
		if [ "${host_options[word]}" = -w ]; then
			host_options[word + 1]+=" unshare --uts $top/lab/gpu/own-host.sh %n"
			return 0
		fi
	done
	host_options+=(-w "unshare --uts $top/lab/gpu/own-host.sh %n")
}

# slurm_up [option of tests/lib/cluster]...
slurm_up() {
	slurm_programs || return 1
	own_hosts "$@"
	timeout 60 "$top/tests/lib/cluster" up "$SLURM_NODES" -n -d "$work/cluster" "${slurm_settings[@]}" "${host_options[@]}" \
		-p "$(plugstack)" >/dev/null || return 1
	export NT_CLUSTER=$work/cluster SLURM_CONF=$work/cluster/etc/slurm.conf
	say "Slurm: $(sinfo -h -o '%D nodes %t' | tr '\n' ' ')after $SECONDS s"
}

plugstack() {
	{
		printf '%s\n' '[site]' "plugin=$stage/lib/nccl-tune/libnccl-tune.so" "recordd=$stage/libexec/nccl-tune/nt-recordd" \
			"profiles=$stage/share/nccl-tune/profiles.conf" "rundir=$work/cluster/run/nccl-tune" \
			"spooldir=$work/cluster/run/nccl-tune-spool" pmix=default
		[ -z "$site_default" ] || tr , '\n' <<<"mode=$site_default"
	} >"$work/nccl-tune.conf"
	echo "optional $stage/lib/slurm/spank_nccl_tune.so conf=$work/nccl-tune.conf"
}

# slurm_gpus FILE0 [FILE1]: Slurm gives GPUs to jobs that ask for them. Each node has both: its "own", of odd nodes the first
# and of even nodes the second, and the "other". Slurm counts a node's GPUs from 0, so that a node needs both. If there is
# one only, it is each node's own.
slurm_gpus() {
	local etc=$work/cluster/etc name odd=gpu:own:1 even=gpu:own:1
	if [ -z "${2:-}" ]; then
		printf 'NodeName=n[1-4] Name=gpu Type=own File=%s\n' "$1" >"$etc/gres.conf"
	else
		printf 'NodeName=n[1,3] Name=gpu Type=%s File=%s\n' own "$1" other "$2" >"$etc/gres.conf"
		printf 'NodeName=n[2,4] Name=gpu Type=%s File=%s\n' other "$1" own "$2" >>"$etc/gres.conf"
		odd=gpu:own:1,gpu:other:1 even=gpu:other:1,gpu:own:1
	fi
	awk -v nodes="$SLURM_NODES" -v odd="$odd" -v even="$even" '
		!/^NodeName=/ { print; next }
		{
			for (n = 1; n <= nodes; n++) {	# its types in the order of its files
				line = $0
				while (match(line, /\[[0-9]+-[0-9]+\]/))
					line = substr(line, 1, RSTART - 1) (substr(line, RSTART + 1) + n - 1) substr(line, RSTART + RLENGTH)
				print line " Gres=" (n % 2 ? odd : even)
			}
			print "GresTypes=gpu"
		}' "$etc/slurm.conf" >"$etc/slurm.new" && cat "$etc/slurm.new" >"$etc/slurm.conf"
	for name in slurmctld n1 n2 n3 n4; do
		"$top/tests/lib/cluster" stop "$name"
	done
	for name in slurmctld n1 n2 n3 n4; do
		"$top/tests/lib/cluster" start "$name" || return 1
	done
	sinfo -h -o %D%t | grep -qx "${SLURM_NODES}idle" || sleep 2
	timeout 60 srun -N"$SLURM_NODES" --gpus-per-node="$#" true
}

slurm_down() {
	[ -e "$work/cluster/run/settings" ] || return 0
	tail -n 200 "$work"/cluster/log/*.log >>"$work/slurm.log" 2>/dev/null
	timeout 60 "$top/tests/lib/cluster" down -d "$work/cluster" || :
}

slurm_away() {
	local link
	slurm_down
	for link in "${pmix_links[@]}"; do
		rm -f "$link"
	done
}

# ---- an allocation that steps are put into from outside

# allocate NODES TASKS_PER_NODE: sets job.
allocate() {
	job=$(timeout 30 salloc --no-shell -N"$1" --ntasks-per-node="$2" -J gpu-test 2>&1 |
		sed -n 's/.*Granted job allocation \([0-9]*\).*/\1/p')
	[ -n "$job" ]
}

release() {
	timeout 10 scancel "$job" 2>/dev/null
	job=
}

# A step whose srun was ended by its time limit: nothing of it may run on beside the next.
end_steps() {
	local step deadline=$((SECONDS + 15))
	for step in $(timeout 10 squeue -h -s -j "$job" -o %i); do
		case $step in
		*.extern|*.batch|*.Extern) ;;
		*) timeout 10 scancel -s KILL "$step" ;;
		esac
	done
	while [ "$SECONDS" -lt "$deadline" ] && timeout 5 squeue -h -s -j "$job" -o %i | grep -qE '\.[0-9]+$'; do
		sleep 0.2
	done
}

# step DIR LIMIT_S NODES TASKS_PER_NODE MODE CMD...: stdout to DIR/out, stderr to DIR/err, rank records beside them.
# With step_places, a file with a node a task, tasks go there. MODE site: none is asked for. NT_GPU_RANK=none: no rank.sh.
step_places=''
step() {
	local dir=$1 limit=$2 nodes=$3 tasks=$4 rc=0 start spread mode=(--nccl-tune="$5") rank=("${NT_GPU_RANK:-$top/lab/gpu/rank.sh}" "$1")
	shift 5
	[ "${mode[0]}" != --nccl-tune=site ] || mode=()
	[ "${rank[0]}" != none ] || rank=()
	spread=(-N"$nodes" --ntasks-per-node="$tasks" -n$((nodes * tasks)))
	[ -z "$step_places" ] || spread=(-n"$(wc -l <"$step_places")" -m arbitrary -w "$step_places")
	mkdir -p "$dir"
	start=$(date +%s.%N)
	timeout -k 5 "$limit" srun --jobid="$job" "${spread[@]}" \
		--mpi=pmix --kill-on-bad-exit=1 "${mode[@]}" "${rank[@]}" "$@" \
		</dev/null >"$dir/out" 2>"$dir/err" || rc=$?
	case $rc in
	124|137) end_steps ;;
	esac
	echo "$rc $(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')" >"$dir/status"
	return "$rc"
}
