# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A network for the pretended nodes: a namespace each, joined by a bridge, what leaves a node shaped to a link's rate.
# Part of lab/gpu/run.sh; needs root, ip and tc (Debian's iproute2, carried where the machine has none).

readonly NET=nt-gpu NET_DEVICE=nt0	# NET-n1 ...; the name of the device inside each
readonly NET_PREFIX=10.77.83 NET_HOST=10.77.83.254
readonly NET_RATE=10gbit NET_BURST=256kb NET_LATENCY=10ms
readonly NET_MOST_GBIT=12		# what is measured above that was not shaped

nets_made=''

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

# One node: a pair of devices, one end in the bridge.
net_node() {
	local n=$1 space=$NET-n$1
	ip netns add "$space" &&
		ip link add "ntv$n" type veth peer name "$NET_DEVICE" netns "$space" &&
		ip link set "ntv$n" master ntbr up &&
		ip -n "$space" link set lo up &&
		ip -n "$space" addr add "$NET_PREFIX.$n/24" dev "$NET_DEVICE" &&
		ip -n "$space" link set "$NET_DEVICE" up &&
		tc -n "$space" qdisc add dev "$NET_DEVICE" root tbf rate "$NET_RATE" burst "$NET_BURST" \
			latency "$NET_LATENCY"
}

# nets_up NODES: false, and nothing left, where it cannot be had.
nets_up() {
	local n rate
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
	rate=$(nets_rate 1 2)
	say "shaped network: $1 nodes, $NET_RATE out of each; measured ${rate:-nothing} Gbit/s from n1 to n2"
	echo "shaped network: tbf rate $NET_RATE burst $NET_BURST latency $NET_LATENCY, measured ${rate:-0} Gbit/s" \
		>>"$out/versions.txt"
	if ! awk -v r="${rate:-0}" -v most="$NET_MOST_GBIT" 'BEGIN { exit !(r > 0 && r <= most) }'; then
		say "this is no link of $NET_RATE: left out"
		nets_down
		return 1
	fi
}

# nets_rate FROM TO: what a second of TCP brings across, in Gbit/s.
nets_rate() {
	local pid rate
	timeout 10 nsenter --net="/run/netns/$NET-n$2" python3 "$here/wire.py" receive "$NET_PREFIX.$2" >"$work/rate" &
	pid=$!
	timeout 10 nsenter --net="/run/netns/$NET-n$1" python3 "$here/wire.py" send "$NET_PREFIX.$2" ||
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
