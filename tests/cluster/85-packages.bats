#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The packages: built from the archive, installed into a copy of this machine, switched on, used by a job, removed.
# NT_PACKAGES: a directory for the Debian packages, or one that has them.
bats_require_minimum_version 1.5.0
load ../lib/cluster
load ../lib/copy
load ../lib/packages

PACKAGES=(slurm-spank-nccl-tune libnccl-tune-plugin nccl-tune)
SNIPPET=/etc/slurm/plugstack.conf.d/spank-nccl-tune.conf
TIMER=nccl-tune-backfill.timer

setup_file() {
	local missing
	cluster_setup
	unset NCCL_TUNE_RECORD_DIR # the variables of a task are looked at
	[ -f /etc/debian_version ] || skip "this is not Debian"
	missing=$(missing_programs dpkg-buildpackage dh fakeroot)
	[ -z "$missing" ] || skip "not installed: $missing (./dev setup installs it)"
	export archive packages rpms=$NT_BASE/rpms
	copy_start "$NT_BASE/copy" || skip "no copy of this machine can be mounted: $(tail -n 1 "$NT_BASE/copy.log")"
	need_packages
	build_rpm
	cluster_start 2 -w "nsenter --target $NT_COPY --mount --root --wd --" -p "include $(dirname "$SNIPPET")/*.conf"
}

teardown_file() {
	cluster_stop
	copy_stop
}

setup() {
	out=$BATS_TEST_TMPDIR/out
	err=$BATS_TEST_TMPDIR/err
}

# What is looked at is the spec: without optimisation it takes half the time. How it ended is the last test's.
build_rpm() {
	command -v rpmbuild >/dev/null || return 0
	mkdir "$NT_BASE/rpm"
	echo '%optflags -O0' >"$NT_BASE/rpm/.rpmmacros"
	HOME=$NT_BASE/rpm "$NT_TOP/packaging/build" rpm -k -n -a "$archive" -o "$rpms" >"$NT_BASE/rpm.log" 2>&1 ||
		touch "$NT_BASE/rpm-failed"
}

user_in_copy() {
	in_copy timeout "$NT_TIMEOUT_S" "$NT_CLUSTER_PROGRAM" exec -u "$NT_USER" "$@"
}

job() {
	user_in_copy srun -N2 --ntasks-per-node=2 -t 20 "$@" bash -c \
		'[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID" >&2; exec "$@"' - "$NT_TESTS/nt-fake-nccl" \
		--arm RING/SIMPLE=0.4 --sizes 256K --iters 3000 --more 40000 --settled --call-gap-us 100 >"$out" 2>"$err" ||
		{ echo "exit status $?"; cat "$out" "$err"; return 1; }
	number=$(grep -m1 -xE '[0-9]+' "$err")
}

# What was written in the copy and is there still, but for dpkg's own notes: files, and directories that the machine has not.
left_in_copy() {
	local upper=$NT_BASE/copy/upper type path
	nsenter --target "$NT_COPY" --mount find "$upper" \( -path "$upper/var/lib/dpkg" -o -path "$upper/var/log" -o \
		-path "$upper/var/cache" -o -path "$upper/tmp" -o -path "$upper/var/tmp" \) -prune -o ! -type c -printf '%y %P\n' |
		while read -r type path; do
			[ "$type" = d ] && [ -d "/$path" ] || echo "/$path"
		done
	in_copy find /run -mindepth 1 \( -path /run/systemd -o -path "/$COPY_MARK" \) -prune -o -print
}

install_packages() {
	in_copy dpkg --no-triggers -i "$packages"/{nccl-tune,libnccl-tune-plugin,slurm-spank-nccl-tune}_*.deb >"$out" 2>&1 ||
		{ cat "$out"; false; }
}

@test "they install, and nothing is loaded or started before it is enabled" {
	[ -z "$(left_in_copy)" ]
	install_packages
	[[ $(left_in_copy) = */usr/bin/nccl-tune$'\n'* ]]
	# Without a GPU it starts.
	run -0 user_in_copy nccl-tune-bench --help
	[[ $output = *--rendezvous* ]]
	in_copy test -d /run/nccl-tune -a -d /var/spool/nccl-tune
	[ "$(in_copy stat -c '%a %U' /run/nccl-tune /var/spool/nccl-tune)" = $'755 root\n700 root' ]
	run -0 in_copy grep -c . "$SNIPPET"
	[ "$output" -gt 10 ]
	run -1 in_copy grep -v '^#\|^$' "$SNIPPET"
	run -0 user_in_copy srun --help
	[[ $output != *nccl-tune* ]]
	run -0 user_in_copy srun -n1 env
	[[ $output != *NCCL_TUNE* ]]
	run -1 in_copy test -e "/etc/systemd/system/timers.target.wants/$TIMER"
}

@test "systemd accepts the timer and its service, can enable them, and would run the installed command" {
	command -v systemd-analyze >/dev/null || skip "no systemd-analyze here"
	run -0 in_copy systemd-analyze verify --man=no /lib/systemd/system/nccl-tune-backfill.{service,timer}
	[[ $output != *nccl-tune* ]] || { echo "$output"; false; }
	run -0 in_copy sed -n 's/^ExecStart=//p' /lib/systemd/system/nccl-tune-backfill.service
	[ "$output" = "/usr/bin/nccl-tune backfill" ]
	run -0 user_in_copy nccl-tune --version
	run -0 in_copy systemctl enable "$TIMER"
	in_copy test -L "/etc/systemd/system/timers.target.wants/$TIMER"
}

@test "with the line enabled a job is tuned by the installed packages" {
	in_copy sed -i 's/^#\(optional spank_nccl_tune.so\)$/\1/' "$SNIPPET"
	in_copy sh -c "printf '%s\n' '[site]' 'pmix = default' 'mode = observe' >/etc/nccl-tune.conf"
	run -0 user_in_copy srun --help
	[[ $output = *--nccl-tune* ]]
	need_pmix
	job --nccl-tune=bandit,launch=auto
	jq -e '.mismatches == 0 and .keys[0].arm == "RING/SIMPLE" and .forced > 0' "$out" >/dev/null || { cat "$out" "$err"; false; }
	wait_sacct "$number"
	wait_for 60 record_is_there "$number"
	run -0 in_copy "$NT_CLUSTER_PROGRAM" exec nccl-tune report "$number"
	[[ $output = *"Step 0: mode bandit"*RING/SIMPLE* ]] || { echo "$output"; false; }
}

record_is_there() {
	in_copy "$NT_CLUSTER_PROGRAM" exec nccl-tune backfill >/dev/null 2>&1
	[[ $(sacct_field "$1" admincomment) = *nccl_tune* ]]
}

@test "ranks and nodes run the installed files" {
	local library
	library=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
	run -0 user_in_copy srun -n1 --nccl-tune=observe env
	grep -x "NCCL_TUNER_PLUGIN=$library/nccl-tune/libnccl-tune.so" <<<"$output"
	grep -E '^NCCL_TUNE_POLICY=.*,shm=/proc/' <<<"$output"
	run -0 in_copy sed -n 's/^\(\/[^\t]*\)\t.*/\1/p' /usr/share/nccl-tune/50-nccl-tune.fstab
	[ "$output" = "$library/nccl-tune" ]
	in_copy test -e "$library/slurm-wlm/spank_nccl_tune.so"
}

@test "they depend on the release of Slurm for which they were built, and on each other" {
	local release version
	release=$(dpkg-query -W -f '${source:Upstream-Version}' libslurm-dev | cut -d. -f1,2)
	version=$(dpkg-deb -f "$packages"/slurm-spank-nccl-tune_*.deb Version)
	run -0 dpkg-deb -f "$packages"/slurm-spank-nccl-tune_*.deb Depends
	[[ $output = *"slurm-wlm-basic-plugins (>= $release), slurm-wlm-basic-plugins (<< $release.99)"* ]]
	[[ $output = *"libnccl-tune-plugin (= $version)"* && $output = *libslurm[0-9]* ]]
	run -0 dpkg-deb -f "$packages"/libnccl-tune-plugin_*.deb Depends
	[[ $output =~ ^libc6\ \(\>=\ 2\.([0-9]+)\)$ ]]
	[ "${BASH_REMATCH[1]}" -le 17 ]
}

@test "removed and purged they leave nothing except records that were not seen in accounting, with a message" {
	run -0 in_copy dpkg --no-triggers -r "${PACKAGES[@]}"
	run -0 user_in_copy srun -n1 true
	install_packages
	in_copy touch /var/spool/nccl-tune/nt.1.0.json
	run -0 in_copy dpkg --no-triggers -P "${PACKAGES[@]}"
	[[ $output = *"/var/spool/nccl-tune has records that were not seen in accounting"* ]]
	in_copy test -e /var/spool/nccl-tune/nt.1.0.json
	in_copy rm -r /var/spool/nccl-tune /etc/nccl-tune.conf # the file is the administrator's own
	run -0 left_in_copy
	[ -z "$output" ] || { echo "left: $output"; false; }
	run -0 user_in_copy srun -n1 true
	[ -z "$output" ] || { echo "$output"; false; }
}

@test "the spec builds the same packages, each file in one of them" {
	local file
	command -v rpmbuild >/dev/null || skip "not installed: rpm (./dev setup installs it)"
	[ ! -e "$NT_BASE/rpm-failed" ] || { tail -n 50 "$NT_BASE/rpm.log"; false; }
	for file in "${PACKAGES[@]/libnccl-tune-plugin/libnccl-tune}"; do
		rpm -qlp "$rpms/$file"-[0-9]*.rpm 2>/dev/null | sort >"$BATS_TEST_TMPDIR/$file"
	done
	cd "$BATS_TEST_TMPDIR"
	grep -q '/spank_nccl_tune.so$' slurm-spank-nccl-tune
	grep -qx "$SNIPPET" slurm-spank-nccl-tune
	grep -qx "/usr/lib/systemd/system/$TIMER" slurm-spank-nccl-tune
	grep -q '/nccl-tune/libnccl-tune.so$' libnccl-tune
	grep -qx /usr/bin/nccl-tune nccl-tune
	grep -qx /usr/bin/nccl-tune-bench nccl-tune
	run -0 rpm -qp --conflicts "$rpms"/slurm-spank-nccl-tune-[0-9]*.rpm
	[[ $output = "slurm >= "[0-9]*.100* ]] || { echo "$output"; false; }
	mkdir root
	run -0 rpm --root "$PWD/root" --nodeps --noscripts -i "$rpms"/*.rpm
	test -e root/usr/bin/nccl-tune
	run -0 rpm --root "$PWD/root" --nodeps --noscripts -e slurm-spank-nccl-tune libnccl-tune nccl-tune
	run -0 find root -name '*nccl*'
	[ -z "$output" ] || { echo "$output"; false; }
}
