#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tune summary with a sacct of our own, and what reads it: the manual page, the dashboard, the timer's example.
bats_require_minimum_version 1.5.0

load ../lib/sacct

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	top=$PWD
	fake_sacct
}

@test "text, and the same figures in JSON and for Prometheus" {
	some
	run -0 nccl-tune summary --since now-1hour
	[[ ${lines[0]} = '7 jobs ended from '* ]]
	[[ $output = *'4 of them, of 1 user, have a record. Of these'*'4  100.0 %  saved more than exploring cost'* ]]
	[[ $output = *'Net time saved: 5.1 s (saved 5.2 s, spent 128.0 ms).
Launch profiles account for 3.6 s of it.'* ]]
	[[ $(tr -s ' ' <<<"$output") = *$'\ngpu 4 '*$'\nann 4 '* ]]
	run -0 nccl-tune summary --since now-1hour --json
	"$NT_STAGE/libexec/nccl-tune/tests/nt-record" check docs/schema/summary.schema.json /dev/stdin < <(jq -c . <<<"$output")
	jq -e '.jobs.gained == 4 and .jobs.no_record == 1 and .jobs.other_text == 1 and .jobs.damaged == 1 and
		.saved_rank_s == 5.2 and .net_rank_s == 5.072 and .launch_saved_rank_s == 3.6 and .by.user[0].name == "ann" and
		(.by | keys) == ["cluster", "nccl", "partition", "user"] and .by.nccl[0].keys == 8 and .by.partition[0].saved_rank_s == 5.2' <<<"$output"
	run -0 nccl-tune summary --since now-1hour --prometheus
	[[ $output = *'nccl_tune_partition_saved_rank_seconds{cluster="nt",partition="gpu"} 5.200000'* ]]
	[[ $output = *'nccl_tune_partition_launch_saved_rank_seconds{cluster="nt",partition="gpu"} 3.600000'* ]]
	[[ $output = *'nccl_tune_user_saved_rank_seconds{cluster="nt",user="ann"} 5.200000'* ]]
}

@test "promtool finds nothing wrong with the metrics of a summary and of a job" {
	command -v promtool >/dev/null || skip "no promtool here (Debian: apt-get install prometheus)"
	some
	nccl-tune summary --since now-1hour --prometheus | promtool check metrics
	promtool check metrics <"$top/tests/unit/data/report/full.prom"
}

@test "the time of a calibration is spent by its step" {
	texts "$(record wide ',"measured":1.25')" "$(record default ',"calibration_s":2.5')"
	run -0 nccl-tune summary --since now-1hour
	[[ $output = *'Net time saved: -18.1 s (saved 2.0 s, spent 20.1 s).'*'Calibrations account for 20.0 s of what was spent.'* ]]
	run -0 nccl-tune summary --since now-1hour --json
	jq -e '.calibration_rank_s == 20 and .spent_rank_s == 20.064 and .saved_rank_s == 2' <<<"$output"
	run -0 nccl-tune summary --since now-1hour --prometheus
	[[ $output = *'nccl_tune_partition_calibration_rank_seconds{cluster="nt",partition="gpu"} 20.000000'* ]]
}

@test "a failed query is reported, and the file is unchanged" {
	some
	run -0 nccl-tune summary --since now-1hour --prometheus -o "$BATS_TEST_TMPDIR/x.prom"
	[ -z "$output" ]
	cp "$BATS_TEST_TMPDIR/x.prom" "$BATS_TEST_TMPDIR/before"
	[ "$(stat -c %a "$BATS_TEST_TMPDIR/x.prom")" = 644 ]
	printf '#!/bin/sh\necho "sacct: error: slurmdbd is away" >&2\nexit 1' >"$BATS_TEST_TMPDIR/bin/more"
	run -1 nccl-tune summary --since now-1hour --prometheus -o "$BATS_TEST_TMPDIR/x.prom"
	[ "$output" = 'nccl-tune summary: sacct: error: slurmdbd is away' ]
	cmp "$BATS_TEST_TMPDIR/x.prom" "$BATS_TEST_TMPDIR/before"
	[ "$(find "$BATS_TEST_TMPDIR" -maxdepth 1 -name '*x.prom*' | wc -l)" = 1 ]
}

@test "invalid arguments are refused" {
	run -2 nccl-tune summary 12
	[[ $output = *"unexpected argument '12'"* ]]
	run -2 nccl-tune summary --since yesterday
	[[ $output = *"unknown time 'yesterday' (want one like now-30days"* ]]
	run -2 nccl-tune summary --since now --until now-1day
	[[ $output = *'now is not before now-1day'* ]]
	run -2 nccl-tune summary --csv
}

# What is printed where all metrics have a value, in out; their names in metrics.
print_metrics() {
	some
	nccl-tune summary --since now-1hour --prometheus >"$BATS_TEST_TMPDIR/out"
	sed -n 's/^# TYPE \([a-z_]*\) gauge$/\1/p' "$BATS_TEST_TMPDIR/out" | sort >"$BATS_TEST_TMPDIR/metrics"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/metrics")" -gt 35 ]
	[ -z "$(uniq -d "$BATS_TEST_TMPDIR/metrics")" ]
}

@test "the dashboard names only metrics and labels that are printed" {
	local name
	print_metrics
	cd "$BATS_TEST_TMPDIR" || exit 1
	jq -e '.panels | length > 10' "$top/etc/grafana/nccl-tune-summary.json"
	jq -r '.. | strings' "$top/etc/grafana/nccl-tune-summary.json" | grep -oE 'nccl_tune_[a-z_]+' | sort -u >used
	[ "$(wc -l <used)" -gt 12 ]
	[ -z "$(comm -23 used metrics)" ] || { comm -23 used metrics; false; }
	jq -r '.. | .expr? // empty' "$top/etc/grafana/nccl-tune-summary.json" >exprs
	for name in $( { jq -r '.. | .legendFormat? // empty' "$top/etc/grafana/nccl-tune-summary.json" | grep -oE '\{\{[a-z_]+\}\}'
		grep -oE 'by \([a-z_, ]+\)' exprs | sed 's/^by//'; } | tr '{}(),' '     ' | tr ' ' '\n' | sort -u); do
		grep -qE "[{,]$name=\"" out || { echo "no label $name"; false; }
	done
	for name in $(grep -oE 'outcome=~?"[a-z_|]+"' exprs | sed 's/.*=~*"//; s/"//' | tr '|' '\n' | sort -u); do
		grep -q "outcome=\"$name\"" out || { echo "no outcome $name"; false; }
	done
}

@test "the manual page has every metric and every outcome" {
	local name by
	print_metrics
	while read -r name; do
		name=${name#nccl_tune_}
		for by in cluster partition user nccl; do
			name=${name#"${by}_"}
		done
		grep -qw -- "$name" "$top/docs/man/nccl-tune.1" || { echo "$name"; false; }
	done <"$BATS_TEST_TMPDIR/metrics"
	while read -r name; do
		grep -qw -- "$name" "$top/docs/man/nccl-tune.1" || { echo "$name"; false; }
	done < <(grep -o 'outcome="[a-z_]*' "$BATS_TEST_TMPDIR/out" | sed 's/.*"//' | sort -u)
}

@test "the example of the timer runs unchanged" {
	local command words
	some
	command=$(sed -n 's,^ExecStart=/usr/bin/,,p' etc/systemd/nccl-tune-summary.service)
	[[ $command = 'nccl-tune summary '*'--prometheus '* ]]
	command=${command/\/var\/lib\/prometheus\/node-exporter/$BATS_TEST_TMPDIR}
	read -ra words <<<"$command"
	run -0 "${words[@]}"
	grep -q '^nccl_tune_users 1$' "$BATS_TEST_TMPDIR/nccl-tune.prom"
	[[ $(sed -n 's/^ReadWritePaths=//p' etc/systemd/nccl-tune-summary.service) = /var/lib/prometheus/node-exporter ]]
}
