# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Every command that README or a guide shows, as it is printed there, on a fresh Debian that the packages are installed on:
# "$" is an ordinary user, "#" root. NCCL and CUDA are simulated. NT_PACKAGES: a directory for the packages. For bats.

# shellcheck source=cluster.bash
. "${BASH_SOURCE[0]%/*}/cluster.bash"
# shellcheck source=packages.bash
. "$NT_TOP/tests/lib/packages.bash"
# shellcheck source=site.bash
. "$NT_TOP/tests/lib/site.bash"

# shellcheck disable=SC2034 # read by those that load this
GUIDES=(README.md docs/guide-user.md docs/guide-admin.md)
SIMULATED=libexec/nccl-tune/tests/simulated

setup_file() {
	scrub_environment
	NT_BASE=$(mktemp -d "${TMPDIR:-/tmp}/nt-test.XXXXXX")
	export NT_BASE packages cannot
	cannot=$(why_not)
	[ -z "$cannot" ] || return 0
	use_stage
	need_packages
}

# why_not: what is missing to install anything; nothing where all is there
why_not() {
	local missing
	[ "$(id -u)" = 0 ] || { echo "installing needs root"; return; }
	[ -d "${NT_FRESH:-}" ] || { echo "no fresh system of Debian was made: it needs a mirror of Debian"; return; }
	missing=$(missing_programs dpkg-buildpackage dh fakeroot)
	[ -z "$missing" ] || echo "not installed: $missing (./dev setup installs it)"
}

teardown_file() {
	rm -rf "$NT_BASE"
}

teardown() {
	site_stop
}

# commands_of GUIDE: in $NT_BASE/NAME
commands_of() {
	local to=$NT_BASE/${1##*/}
	mkdir -p "$to"
	awk -v to="$to" -f "$NT_TOP/tests/install/commands.awk" "$NT_TOP/$1"
}

# A site with the simulated libraries and the packages in root's directory; none is installed.
fresh_site() {
	[ -z "$cannot" ] || skip "$cannot"
	site_start "$NT_BASE/site.$BATS_TEST_NUMBER"
	to_site "$NT_STAGE/$SIMULATED"/* /usr/local/lib/
	to_site "$packages"/{nccl-tune,libnccl-tune-plugin,slurm-spank-nccl-tune}_*.deb "$NT_TOP"/tests/install/{as-printed,site-up,systemctl} /root/
	on_site ldconfig
	on_site install /root/{as-printed,systemctl} /usr/local/bin/
	on_site sh -c "echo 'APT::Get::Assume-Yes \"true\";' >/etc/apt/apt.conf.d/99yes"	# whoever types would answer
	on_site /root/site-up
}

# The same with the packages installed and switched on, as the administrators' guide says.
ready_site() {
	fresh_site
	on_site bash -c 'apt-get -q install -y ./*.deb' >"$NT_BASE/apt.log" 2>&1 || { cat "$NT_BASE/apt.log"; return 1; }
	on_site sed -i 's/^#\(optional spank_nccl_tune.so\)$/\1/' /etc/slurm/plugstack.conf.d/spank-nccl-tune.conf
	on_site sh -c "printf '%s\\n' '[site]' 'pmix = default' >/etc/nccl-tune.conf"
}

# run_guide GUIDE: fails if a command of it does; the ones after it are run, too
run_guide() {
	local file rc=0
	commands_of "$1"
	for file in "$NT_BASE/${1##*/}"/*; do
		case $file in
		*.user) run_printed "$1" "$file" alice || rc=1 ;;
		*.root) run_printed "$1" "$file" root || rc=1 ;;
		*.file) install_printed "$file" || rc=1 ;;
		esac
	done
	[ "$rc" = 0 ] || on_site sh -c 'tail -n 20 /var/log/slurm/slurm*.log'
	return "$rc"
}

# run_printed GUIDE FILE USER
run_printed() {
	local rc line=${2##*/} began=$SECONDS
	line=${line#*.}
	line=${line%.*}
	to_site "$2" /run/nt-command
	# On a machine that is busy elsewhere the time of a calibration may be too short for anything to be remembered.
	for _ in 1 2 3; do
		rc=0
		on_site_as "$3" as-printed /run/nt-command >"$NT_BASE/out" 2>"$NT_BASE/err" || rc=$?
		[ -z "${NT_GUIDE_LOG:-}" ] || cat "$2" "$NT_BASE/out" "$NT_BASE/err" >>"$NT_GUIDE_LOG"
		{ [ "$rc" = 1 ] && grep 'on each node: nothing of it was remembered' "$NT_BASE/err" >&3; } || break
	done
	case $(<"$2") in
	srun*|sbatch*|salloc*) wait_for 120 settled || return 1 ;;
	esac
	echo "# $1:$line ($((SECONDS - began)) s): $(head -n 1 "$2")" >&3
	if [ "$rc" != 0 ] || grep -iE '(^|[^a-z-])error([^a-z-]|$)' "$NT_BASE/err"; then
		printf '%s\n' "$1:$line: exit status $rc of:" "$(cat "$2")" "--- stdout" "$(tail -n 60 "$NT_BASE/out")" \
			"--- stderr" "$(tail -n 60 "$NT_BASE/err")"
		return 1
	fi
}

# Who reads a guide takes longer: all jobs are accounted, and what the timer would have brought is there.
settled() {
	on_site bash -uc '! command -v nccl-tune || nccl-tune backfill || exit
		ended() { sacct -a -X -n -P -S now-1day -o jobid,end | sed -n "s/|[0-9].*//p" | sort; }
		[ -z "$(squeue -h; pgrep -x nt-recordd; compgen -G "/var/spool/nccl-tune/nt.*.json")" ] &&
			[ -z "$(comm -23 <(squeue -h -t all -o %A | sort) <(ended))" ]'
}

# install_printed FILE: what a guide shows as a file's content
install_printed() {
	sed 1d "$1" >"$NT_BASE/content"
	to_site "$NT_BASE/content" /run/nt-content
	on_site install -D -m 644 /run/nt-content "$(head -n 1 "$1")"
}
