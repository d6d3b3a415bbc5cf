#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A real Prometheus reads what nccl-tune writes for it, through the node exporter's textfile collector as the guide has it, and
# answers every query of the dashboard.
bats_require_minimum_version 1.5.0
load ../lib/sacct

setup() {
	local program
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	top=$PWD dir=$BATS_TEST_TMPDIR pids=()
	for program in prometheus prometheus-node-exporter curl; do
		command -v "$program" >/dev/null || skip "no $program here (Debian: apt-get install prometheus prometheus-node-exporter curl)"
	done
	fake_sacct
}

teardown() {
	[ ${#pids[@]} = 0 ] || kill "${pids[@]}"
}

# free_port: a port of 127.0.0.1 on which nobody listens
free_port() {
	local port
	while port=$((20000 + RANDOM % 10000)); do
		(: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
	done
	echo "$port"
}

# until_yes SECONDS CMD...: an upper bound, for a busy machine
until_yes() {
	local until=$((SECONDS + $1))
	until "${@:2}"; do
		((SECONDS < until)) || { cat "$dir"/*.log; return 1; }
		sleep 0.2
	done
}

# start_both: the exporter on $dir/text and Prometheus, which asks it every second
start_both() {
	exporter=127.0.0.1:$(free_port)
	server=127.0.0.1:$(free_port)
	prometheus-node-exporter --web.listen-address="$exporter" --collector.disable-defaults --collector.textfile \
		--collector.textfile.directory="$dir/text" >"$dir/exporter.log" 2>&1 3>&- &
	pids+=($!)
	cat >"$dir/prometheus.yml" <<-END
	global: {scrape_interval: 1s}
	scrape_configs:
	  - job_name: node
	    static_configs: [{targets: ["$exporter"]}]
	END
	prometheus --config.file="$dir/prometheus.yml" --storage.tsdb.path="$dir/data" --web.listen-address="$server" \
		>"$dir/server.log" 2>&1 3>&- &
	pids+=($!)
}

# ask QUERY: Prometheus' answer
ask() {
	curl -sS -m 10 "http://$server/api/v1/query" --data-urlencode "query=$1"
}

# has QUERY: it has an answer with a value in it
has() {
	ask "$1" 2>/dev/null | jq -e '.status == "success" and (.data.result | length) > 0' >/dev/null 2>&1
}

@test "Prometheus reads a site's summary and a job's report, and answers all queries of the dashboard" {
	local expression
	some
	mkdir "$dir/text"
	nccl-tune summary --since now-1hour --prometheus -o "$dir/text/nccl-tune.prom"
	cp "$top/tests/unit/data/report/full.prom" "$dir/text/job.prom"
	start_both
	for expression in nccl_tune_cluster_keys 'nccl_tune_partition_saved_rank_seconds{partition="gpu"} == 5.2' nccl_tune_call_seconds \
		'node_textfile_scrape_error == 0' 'up == 1'; do
		until_yes 120 has "$expression"
	done
	jq -e '.templating.list[] | select(.name == "cluster").query.query == "label_values(nccl_tune_cluster_keys, cluster)"' \
		"$top/etc/grafana/nccl-tune-summary.json"
	jq -r '.. | .expr? // empty' "$top/etc/grafana/nccl-tune-summary.json" >"$dir/queries"
	[ "$(wc -l <"$dir/queries")" -ge 12 ]
	while IFS= read -r expression; do
		expression=${expression//\$cluster/.*}
		until_yes 10 has "$expression" || { echo "$expression"; ask "$expression"; return 1; }
	done <"$dir/queries"
}
