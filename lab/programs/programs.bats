#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Step programs with the real plugin in virtual time: small ones, each some seconds of a machine.
bats_require_minimum_version 1.5.0
load ../../tests/lib/policy

setup_file() {
	alone_environment
	export PROGRAMS=$TESTS/nt-programs
}

setup() {
	cat >"$BATS_TEST_TMPDIR/small.program" <<-'END'
		about two communicators across two nodes, and one key that is called now and then
		ranks 8
		per-node 4
		seconds 30
		spread 0
		comm tp 4
		comm dp rest by 4 times 0.2
		true dp AllReduce 16M RING/SIMPLE 0.7

		step
			compute 3ms
			dp AllReduce 16M
			every 100+7 tp AllGather 64
		end
	END
}

# key COLL BYTES FILTER: of the JSON in $output.
key() {
	jq -e ".keys[] | select(.coll == \"$1\" and .bytes == $2) | $3" <<<"$output" >/dev/null ||
		{ printf '%s\n' "$*" "$output" >&2; return 1; }
}

@test "what is faster is found on all communicators of a name, and the program is" {
	run -0 --separate-stderr "$PROGRAMS" --json "$BATS_TEST_TMPDIR/small.program"
	key AllReduce $((16 << 20)) '.groups == 4 and .decided == 4 and .arm == "RING/SIMPLE" and .best == .arm'
	key AllReduce $((16 << 20)) '.gain_percent == 30 and .regret_percent == 0 and .saved_s > 0'
	jq -e '.tuned_s < .auto_s and .best_s <= .tuned_s and .wrong == 0 and .after_percent < -5' <<<"$output"
}

@test "what is faster is found in bursts, whose last call alone is followed by another at once" {
	cat >"$BATS_TEST_TMPDIR/bursts.program" <<-'END'
		ranks 8
		per-node 4
		seconds 60
		spread 0
		comm dp rest times 0.2
		true dp AllReduce 256M RING/SIMPLE 0.85

		step
			repeat 4
				compute 100ms
				dp AllReduce 256M
			end
			dp AllReduce 4
			compute 50ms
		end
	END
	run -0 --separate-stderr "$PROGRAMS" --json "$BATS_TEST_TMPDIR/bursts.program"
	key AllReduce $((256 << 20)) '.auto == "TREE/SIMPLE" and .arm == "RING/SIMPLE" and .wrong == 0'
}

@test "a run comes out the same again, and by another seed another way" {
	run -0 --separate-stderr "$PROGRAMS" --json --seed 3 "$BATS_TEST_TMPDIR/small.program"
	first=$output
	run -0 --separate-stderr "$PROGRAMS" --json --seed 3 "$BATS_TEST_TMPDIR/small.program"
	[ "$output" = "$first" ]
	run -0 --separate-stderr "$PROGRAMS" --json --seed 4 "$BATS_TEST_TMPDIR/small.program"
	[ "$output" != "$first" ]
}

@test "keys of start-up, evaluation and checkpoints leave no events on for the others" {
	cat >"$BATS_TEST_TMPDIR/rare.program" <<-'END'
		ranks 4
		per-node 2
		seconds 20
		spread 0
		comm dp rest times 0.2
		comm world rest
		step
			repeat 5
				compute 100us
				dp AllReduce 4K
			end
			compute 1ms
			repeat 20
				every 1000000 dp AllReduce 1K
				every 1000000 dp AllGather 64K
				every 1000000 world AllReduce 1M
			end
			repeat 3
				every 2000+1999 dp AllReduce 256K
			end
		end
	END
	# The first calls of all, the windows of this key, half a second with the start-up's events, and a second once with an
	# evaluation's.
	run -0 --separate-stderr "$PROGRAMS" --json --policy observe "$BATS_TEST_TMPDIR/rare.program"
	key AllReduce $((4 << 10)) '.calls > 40000 and .measured >= 30 and .events < 3000'
	key AllReduce $((1 << 20)) '.calls == 20 and .measured >= 15'
	run -0 --separate-stderr "$PROGRAMS" --json "$BATS_TEST_TMPDIR/rare.program"
	key AllReduce $((4 << 10)) '.decided == 1 and .events < 2000'
}

# held LINE...: a program of 40 steps of 100 ms with these lines in its head.
held() {
	printf '%s\n' "ranks 4" "per-node 2" "steps 40" "jitter 0" "noise none" "comm dp rest" "$@" \
		step "compute 100ms" "dp AllReduce 64K" end >"$BATS_TEST_TMPDIR/held.program"
}

# takes FILTER LINE...: does its length on AUTO pass?
takes() {
	local filter=$1
	shift
	held "$@"
	run -0 --separate-stderr "$PROGRAMS" --json --policy observe "$BATS_TEST_TMPDIR/held.program"
	jq -e ".auto_s | $filter" <<<"$output" >/dev/null || { printf '%s\n' "$*" "$output" >&2; return 1; }
}

@test "a choice that becomes slower is dropped long before the next recheck by the clock" {
	cat >"$BATS_TEST_TMPDIR/later.program" <<-'END'
		ranks 4
		per-node 2
		seconds 170
		spread 0
		comm dp rest
		true dp AllReduce 100M RING/SIMPLE 0.8
		later 110s dp AllReduce 100M 1.6
		step
			compute 150ms
			repeat 4
				dp AllReduce 100M
			end
		end
	END
	# The rechecks by the clock come after about 65 s and 185 s.
	run -0 --separate-stderr "$PROGRAMS" --json "$BATS_TEST_TMPDIR/later.program"
	jq -e '.decided == 1 and .change_percent > 0.5 and .change_percent < 1.7' <<<"$output"
	key AllReduce $((100 << 20)) '.arm == .auto'
	run -0 --separate-stderr "$PROGRAMS" --json --policy bandit,recheck=0 "$BATS_TEST_TMPDIR/later.program"
	jq -e '.change_percent > 2' <<<"$output"
	key AllReduce $((100 << 20)) '.arm == "RING/SIMPLE"'
}

@test "each rank a process of its own: one speaks for its node, and they agree" {
	mkdir "$BATS_TEST_TMPDIR/tmp"
	TMPDIR=$BATS_TEST_TMPDIR/tmp run -0 --separate-stderr "$PROGRAMS" --json --process-per-rank --keep \
		"$BATS_TEST_TMPDIR/small.program"
	key AllReduce $((16 << 20)) '.decided == 4 and .arm == "RING/SIMPLE"'
	rank_records "$BATS_TEST_TMPDIR"/tmp/*/n? >"$BATS_TEST_TMPDIR/records"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/records")" = 8 ]
	[ "$(jq -r 'select(.agreement) | .node' "$BATS_TEST_TMPDIR/records" | sort)" = $'n0\nn1' ]
}

# steps NAME: runs the program of that name; the marker of each record is right.
steps() {
	mkdir "$BATS_TEST_TMPDIR/$1"
	TMPDIR=$BATS_TEST_TMPDIR/$1 run -0 --separate-stderr "$PROGRAMS" --json --process-per-rank --keep \
		"$BATS_TEST_TMPDIR/$1.program"
	rank_records "$BATS_TEST_TMPDIR/$1"/*/n? >"$BATS_TEST_TMPDIR/records"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/records")" = 2 ]
	jq <"$BATS_TEST_TMPDIR/records" -es --argjson run "${lines[0]}" "
		(\$run.tuned_s * 1e6 / \$run.steps) as \$us | all(.[]; .marker.a_step == $2 and
			(.marker.calls / $2 - \$run.steps | fabs) <= 2 and
			((.marker.periods_us | sort | .[length / 2 | floor]) / \$us | . > 0.98 and . < 1.02))"
}

@test "a step of equal calls is told by its gaps: DDP with two buckets, JAX with eight" {
	local head='ranks 2\nper-node 1\nseconds 60\njitter 0.1\nspread 0\ncomm dp rest times 0.1\nstep\n'
	printf "$head%b" 'compute 20ms\ndp AllReduce 64M\ncompute 14ms\ndp AllReduce 64M\ncompute 25ms\nend\n' \
		>"$BATS_TEST_TMPDIR/ddp.program"
	printf "$head%b" 'repeat 8\ndp AllReduce 16M async\nend\ncompute 30ms\nwait dp\nend\n' \
		>"$BATS_TEST_TMPDIR/jax.program"
	steps ddp 2
	steps jax 8
}

@test "ranks that choose differently end the run" {
	mkdir "$BATS_TEST_TMPDIR/tmp"
	TMPDIR=$BATS_TEST_TMPDIR/tmp NT_FAKE_PLUGIN=odd:1:17:RING/LL run -70 "$PROGRAMS" --seconds 1 \
		--plugin "$TESTS/nt-fake-plugin.so" "$BATS_TEST_TMPDIR/small.program"
	[[ $output = *" of a dp communicator chose TREE/SIMPLE and RING/LL"* ]]
	[ -z "$(ls "$BATS_TEST_TMPDIR/tmp")" ]
}
