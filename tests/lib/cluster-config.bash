# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Ports and configuration files of the mini cluster.
# Part of tests/lib/cluster; reads $dir, $ME, $nodes, $gpus, $with_db, $slurm_user and $cgroup_lines, sets $port.

readonly PORT_FIRST=17000 PORT_LAST=31000 PORT_BLOCK=16	# below the range that outgoing connections take
readonly CPUS_PER_NODE=8

# A block of ports is reserved by a link /tmp/nt-cluster-port-N to the cluster's directory, made while
# holding a lock on /tmp itself; a link whose directory is gone is void. Sets port.
reserve_ports() {
	local lock link used
	exec {lock}</tmp
	flock -w "$READY_S" "$lock" || return 1
	used=" $(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
		while read -r _ local _; do
			[ "$local" != local_address ] && printf '%d ' "0x${local##*:}"
		done) "
	for ((port = PORT_FIRST; port < PORT_LAST; port += PORT_BLOCK)); do
		link=/tmp/nt-cluster-port-$port
		[ -L "$link" ] && [ ! -d "$link" ] && rm -f "$link"
		[ -L "$link" ] && continue
		block_is_free "$used" "$port" && ln -s "$dir" "$link" && break
	done
	exec {lock}<&-
	if [ "$port" -ge "$PORT_LAST" ]; then
		echo "cluster: no $PORT_BLOCK free ports between $PORT_FIRST and $PORT_LAST" >&2
		return 1
	fi
	echo "$port" >"$dir/run/port"
}

block_is_free() {
	local p
	for ((p = $2; p < $2 + PORT_BLOCK; p++)); do
		[[ $1 = *" $p "* ]] && return 1
	done
	return 0
}

release_ports() {
	local link
	for link in /tmp/nt-cluster-port-*; do
		[ "$(readlink "$link")" = "$dir" ] && rm -f "$link"
	done
	return 0
}

# Lines of the caller take the place of the default lines with the same key.
merge_settings() {
	given_lines=$(printf "%s\n" "$@") awk -F= '
		BEGIN { lines = ENVIRON["given_lines"]; n = split(lines, given, "\n")
			for (i = 1; i <= n; i++) { split(given[i], pair, "="); replaced[tolower(pair[1])] = 1 } }
		!(tolower($1) in replaced)
		END { if (lines != "") print lines }'
}

write_slurm_conf() {
	local gres='' host accounting=AccountingStorageType=accounting_storage/none
	host=$(hostname -s)
	if [ "$gpus" != 0 ]; then
		gres=" Gres=gpu:$gpus"
		set -- GresTypes=gpu "$@"
	fi
	if [ "$with_db" = 1 ]; then
		accounting="AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((port + 1))
AccountingStoragePass=$dir/run/munge.socket
AccountingStoreFlags=job_comment"
	fi
	merge_settings "$@" >"$dir/etc/slurm.conf" <<-END
	ClusterName=nt
	SlurmctldHost=$host(127.0.0.1)
	SlurmUser=$slurm_user
	SlurmdUser=$ME
	AuthType=auth/munge
	AuthInfo=socket=$dir/run/munge.socket
	CredType=cred/munge
	SlurmctldPort=$port
	SlurmctldPidFile=$dir/state/slurmctld.own-pid
	SlurmdPidFile=$dir/state/%n.own-pid
	SlurmctldLogFile=$dir/log/slurmctld.log
	SlurmdLogFile=$dir/log/%n.log
	SlurmctldDebug=info
	SlurmdDebug=info
	StateSaveLocation=$dir/state
	SlurmdSpoolDir=$dir/spool/%n
	SwitchType=switch/none
	MpiDefault=none
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	JobAcctGatherType=jobacct_gather/none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_CPU
	SlurmdParameters=config_overrides
	ReturnToService=2
	KillWait=2
	MinJobAge=300
	InactiveLimit=0
	Waittime=0
	TCPTimeout=2
	MessageTimeout=10
	TmpFS=$dir/tmp/%n
	PlugStackConfig=$dir/etc/plugstack.conf
	$accounting
	NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 8))-$((port + 7 + nodes))] CPUs=$CPUS_PER_NODE RealMemory=1000$gres State=UNKNOWN
	PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	END
}

# No cgroups: what a container or an old kernel has of them must not matter. Before 23.11 there is
# no "disabled", but v1 touches nothing until a plugin asks for a controller, and none of ours does.
write_cgroup_conf() {
	local year month plugin=disabled
	IFS=' .' read -r _ year month _ < <(slurmd -V)
	((10#$year * 100 + 10#$month < 2311)) && plugin=cgroup/v1
	printf '%s\n' "CgroupPlugin=$plugin" "${cgroup_lines[@]}" >"$dir/etc/cgroup.conf"
}

write_gres_conf() {
	local i
	for ((i = 0; i < gpus; i++)); do
		: >"$dir/etc/gpu$i"
	done
	echo "Name=gpu File=$dir/etc/gpu[0-$((gpus - 1))]" >"$dir/etc/gres.conf"
}

write_slurmdbd_conf() {
	cat >"$dir/etc/slurmdbd.conf" <<-END
	AuthType=auth/munge
	AuthInfo=socket=$dir/run/munge.socket
	DbdHost=$(hostname -s)
	DbdAddr=127.0.0.1
	DbdPort=$((port + 1))
	SlurmUser=$slurm_user
	LogFile=$dir/log/slurmdbd.log
	PidFile=$dir/state/slurmdbd.own-pid
	DebugLevel=info
	StorageType=accounting_storage/mysql
	StorageHost=127.0.0.1
	StoragePort=$((port + 2))
	StorageUser=slurm
	StoragePass=$(cat "$dir/etc/dbpass")
	StorageLoc=slurm_acct
	END
	chmod 600 "$dir/etc/slurmdbd.conf"
	[ "$slurm_user" = "$ME" ] || chown "$slurm_user" "$dir/etc/slurmdbd.conf"
}

write_plugstack() {
	{ [ $# -eq 0 ] || printf '%s\n' "$@"; } >"$dir/etc/plugstack.conf.new"
	mv "$dir/etc/plugstack.conf.new" "$dir/etc/plugstack.conf"
}

make_directories() {
	local n
	mkdir -p "$dir"/{etc,run,log,state,spool,tmp,work} "$dir"/db || die "cannot make $dir"
	chmod 755 "$dir" "$dir"/{etc,run,log,spool,tmp}
	chmod 1777 "$dir/work"
	for ((n = 1; n <= nodes; n++)); do
		mkdir -p "$dir/spool/n$n" "$dir/tmp/n$n"
		chmod 1777 "$dir/tmp/n$n"
	done
	[ "$slurm_user" = "$ME" ] || chown "$slurm_user" "$dir"/{state,log}
	(umask 077
	head -c 128 /dev/urandom >"$dir/etc/munge.key"
	od -An -N12 -tx1 /dev/urandom | tr -d ' \n' >"$dir/etc/dbpass")
}
