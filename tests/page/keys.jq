# $n keys as nt_summary_json() has them, none of them measured by anybody: for how a page of many is drawn.

def us($f): . * $f * 100 | round / 100;
def arm($name; $us; $n): { arm: $name, us: ($us | us(1)), p25_us: ($us | us(0.94)), p75_us: ($us | us(1.1)),
	min_us: ($us | us(0.9)), max_us: ($us | us(1.5)), samples: $n, predicted_us: ($us | us(0.4)) };

def known: with_entries(select(.value != null));
def key($i):
	["AllReduce", "AllGather", "ReduceScatter", "Broadcast"][$i % 4] as $coll |
	pow(2; 12 + ($i / 12 | floor) % 16) as $bytes |
	["committed", "kept", "exploring", "counted", "kept"][$i % 5] as $state |
	(20 + $bytes / 20000 + $i % 7) as $auto | ($auto * (if $state == "committed" then 0.7 else 1.1 end)) as $arm |
	($state != "counted") as $timed |
	(if $timed then [($auto | us(1)), ($arm | us(1))] else [($auto | us(1))] end) as $us |
	{ coll: $coll, bytes: $bytes, state: $state, auto: "RING/LL",
		arm: (if $state == "committed" then "TREE/SIMPLE/12ch" else "AUTO" end), best: (if $timed then "TREE/SIMPLE/12ch" else null end),
		us: ($us | map(us(1.6))), p25_us: ($us | map(us(1.52))), p75_us: ($us | map(us(1.84))), period_us: ($us | map(us(1.6))),
		gain_percent: (if $timed then ($auto - $arm) / $auto | us(100) else null end),
		p: (if $timed then 0.0001 else null end), samples: 48, calls: (800 + $i * 37 % 40000),
		spent_calls: (if $timed then 200 else null end), spent_ms: (if $timed then 12.5 + $i % 9 else null end),
		saved_ms: (if $state == "committed" then 100.25 + $i else null end), rechecks: 1, rollbacks: 0,
		decided: (if $state == "committed" or $state == "kept" then 300 + $i % 400 else null end), share: 0.001,
		call_us: $us, call_own: true, predicted_us: ($us | map(. * 0.4)), algbw_gbs: [1.5, 2], busbw_gbs: [2.6, 3.5],
		says: (if $state == "kept" then "gain below min_gain" else null end),
		arms: (if $timed then [arm("AUTO"; $auto; 48), arm("TREE/SIMPLE/12ch"; $arm; 24), arm("RING/SIMPLE"; $auto * 1.3; 8),
			arm("COLLNET_DIRECT/SIMPLE"; $auto * 2; 8)] else null end) } | known;

# Rank 5 is late most of the time.
def lateness: { calls: 48, waiting: 0.29, late: "steady", rank: 5, node: "n2", late_calls: 40, late_us: 1180.5,
	from_s: [range(8) | . * 2.5], ranks: [range(8) | . as $rank | { rank: $rank, node: (if $rank < 4 then "n1" else "n2" end),
		us: [range(8) | if $rank == 5 then 1000.5 + . * 20 else . * 3.2 end | us(1)] }] };

def member($i): { id: "\(1000 + $i)abcdef", name: "dp", state: "agreed",
	places: [{ node: "n1", ranks: [0, 1, 2, 3] }, { node: "n2", ranks: [4, 5, 6, 7] }],
	volumes: [{ coll: "AllReduce", calls: 1000, bytes: 1e9, inside_bytes: 3e9, between_bytes: 4e9 }],
	lateness: (if $i == 0 then lateness else null end) } | known;

# The keys of a step: 192, each four of a communicator.
def comms($n; $step):
	[range(3) as $which | [["tp", 4, 1, "tensor"], ["dp", 8, 2, "data"], [null, 8, 2, null]][$which] as $comm |
		{ name: $comm[0], ranks: $comm[1], nodes: $comm[2], parallel: $comm[3],
			keys: [range(192 * $step; [$n, 192 * ($step + 1)] | min) | select((. / 4 | floor) % 3 == $which) | key(.)],
			members: (if $step == 0 and $which == 1 and $n > 0 then [range(4) | member(.)] else null end) } | known];

def links($n): { channels: $n, intra_gbs: 24, inter_gbs: 24, intra: "NVL", inter: "PIX" };
def node($name; $n): { node: $name, id: "1000abcdef", ranks: 24, nodes: 3, gpus: 8, nvlinks: 18, pcie_lanes: 16, pcie_gts: 32,
	nics: 8, nics_mbps: 3200000, ring: links($n), tree: links($n), trouble: null,
	lack: (if $n < 16 then "8 channels instead of 16" else null end) };
def topology: { of: "the 24 ranks across 3 nodes", nodes: [node("n1"; 16), node("n2"; 16), node("n3"; 8)] };

[{ job: "1", name: "llama 70b", user: "ada", state: "completed", nodes: 2, start: 1795341600, elapsed_s: 90061, verdict: [{ says: "AllReduce 4K on the 8 ranks across 2 nodes: Tree/Simple takes 14 us instead of NCCL's 20." }],
	steps: [range(if $n > 0 then ($n - 1) / 192 | floor + 1 else 1 end) | . as $step |
		{ step: "\(.)", mode: "tune", nccl: "2.28.9", ranks: 8, nodes: 2, communicators: comms($n; $step),
			topology: (if $step == 0 and $n > 0 then topology else null end) } | known] }]
