# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A network for the pretended nodes: a namespace each, joined by a bridge, what leaves a node shaped to a link's rate.
# Part of lab/gpu/run.sh; needs root, ip and tc (Debian's iproute2, carried where the machine has none).

readonly NET=nt-gpu NET_DEVICE=nt0	# NET-n1 ...; the name of the device inside each
readonly NET_PREFIX=10.77.83 NET_HOST=10.77.83.254
readonly NET_BURST_KB=26 NET_LATENCY=10ms	# for each Gbit/s
readonly NET_CONNECTIONS=4			# of the measurement: one fills no fast link
readonly NET_LEAST=0.7 NET_MOST=1.2		# what is measured outside of that is no such link

nets_made=''
net_rate=10	# Gbit/s

# net_shape: the options of tbf
net_shape() {
	echo "rate ${net_rate}gbit burst $((net_rate * NET_BURST_KB))kb latency $NET_LATENCY"
}

# nets_possible: says why not.
nets_possible() {
	local program
	for program in ip tc nsenter; do
		command -v "$program" >/dev/null || { say "no network namespaces: no $program"; return 1; }
	done
	if ! ip netns add "$NET-try" 2>"$work/nets.err"; then
		say "no network namespaces: $(head -n 1 "$work/nets.err")"
		return 1
	fi
	ip netns del "$NET-try"
}

# net_shaped NAMESPACE
net_shaped() {
	local shape
	read -ra shape < <(net_shape)
	tc -n "$1" qdisc replace dev "$NET_DEVICE" root tbf "${shape[@]}"
}

# One node: a pair of devices, one end in the bridge.
net_node() {
	local n=$1 space=$NET-n$1
	ip netns add "$space" &&
		ip link add "ntv$n" type veth peer name "$NET_DEVICE" netns "$space" &&
		ip link set "ntv$n" master ntbr up &&
		ip -n "$space" link set lo up &&
		ip -n "$space" addr add "$NET_PREFIX.$n/24" dev "$NET_DEVICE" &&
		ip -n "$space" link set "$NET_DEVICE" up &&
		net_shaped "$space"
}

# nets_up NODES: false, and nothing left, where it cannot be had.
nets_up() {
	local n
	nets_possible || return 1
	nets_made=$1
	if ! { ip link add ntbr type bridge && ip addr add "$NET_HOST/24" dev ntbr && ip link set ntbr up; } \
		2>"$work/nets.err"; then
		say "no bridge: $(head -n 1 "$work/nets.err")"
		nets_down
		return 1
	fi
	for ((n = 1; n <= $1; n++)); do
		net_node "$n" 2>"$work/nets.err" && continue
		say "no shaped network: $(head -n 1 "$work/nets.err")"
		nets_down
		return 1
	done
	nets_right && return 0
	nets_down
	return 1
}

# nets_change: the nodes' links get the rate $net_rate.
nets_change() {
	local n
	for ((n = 1; n <= nets_made; n++)); do
		net_shaped "$NET-n$n" 2>"$work/nets.err" && continue
		say "no link of $net_rate Gbit/s: $(head -n 1 "$work/nets.err")"
		return 1
	done
	nets_right
}

# Is it a link of that rate?
nets_right() {
	local one rate
	one=$(nets_rate 1 2 1)
	rate=$(nets_rate 1 2 "$NET_CONNECTIONS")
	say "shaped network: $nets_made nodes, $net_rate Gbit/s out of each; measured ${rate:-nothing} Gbit/s from n1 to n2," \
		"${one:-nothing} by one connection"
	echo "shaped network: tbf $(net_shape), measured ${rate:-0} Gbit/s by $NET_CONNECTIONS connections, ${one:-0} by one" \
		>>"$out/versions.txt"
	awk -v r="${rate:-0}" -v want="$net_rate" -v least="$NET_LEAST" -v most="$NET_MOST" \
		'BEGIN { exit !(r >= least * want && r <= most * want) }' && return 0
	say "this is no link of $net_rate Gbit/s: left out"
	return 1
}

# nets_try RATE...: which links this machine can make
nets_try() {
	for net_rate; do
		if [ -n "$nets_made" ]; then
			nets_change
		else
			nets_up 2
		fi
	done
	nets_down
}

# nets_rate FROM TO CONNECTIONS: what a second of TCP brings across, in Gbit/s.
nets_rate() {
	local pid rate
	timeout 10 nsenter --net="/run/netns/$NET-n$2" python3 "$here/wire.py" receive "$NET_PREFIX.$2" "$3" >"$work/rate" &
	pid=$!
	timeout 10 nsenter --net="/run/netns/$NET-n$1" python3 "$here/wire.py" send "$NET_PREFIX.$2" "$3" ||
		kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	read -r rate <"$work/rate"
	echo "$rate"
}

# Deleting one end of a pair deletes the other; a namespace goes once nothing runs in it.
nets_down() {
	local n
	for ((n = 1; n <= ${nets_made:-0}; n++)); do
		ip link del "ntv$n" 2>/dev/null
		ip netns del "$NET-n$n" 2>/dev/null
	done
	[ -z "$nets_made" ] || ip link del ntbr 2>/dev/null
	nets_made=''
}

# The options of tests/lib/cluster that put slurmd and all that it starts into the namespaces; sets net_options.
net_cluster_options() {
	local nodes=$1 host
	host=$(hostname -s)
	net_options=(-w "nsenter --net=/run/netns/$NET-%n"
		-c "SlurmctldHost=$host($NET_HOST)"
		-c "NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=$NET_PREFIX.[1-$nodes] Port=[16818-$((16817 + nodes))] CPUs=8 RealMemory=1000 State=UNKNOWN")
}

# Slurm's nodes into namespaces, and back.
to_shaped() {
	slurm_down
	if nets_up "$SLURM_NODES"; then
		net_cluster_options "$SLURM_NODES"
		export NCCL_SOCKET_IFNAME=$NET_DEVICE
		if slurm_up "${net_options[@]}" && timeout 30 srun -N"$SLURM_NODES" -n"$SLURM_NODES" true; then
			return 0
		fi
		say "shaped network: Slurm did not come up in it"
	fi
	to_loopback
	return 1
}

to_loopback() {
	slurm_down
	nets_down
	export NCCL_SOCKET_IFNAME=lo
	slurm_up || say "Slurm did not come up again"
}
