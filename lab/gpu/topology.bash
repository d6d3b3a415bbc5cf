# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What NCCL writes of its topology, and what becomes of it: a short job with topology=on in each topology, with its dump
# files as NCCL has left them, the long form, and the report. Part of lab/gpu/run.sh.

readonly TOPOLOGY_LIMIT_S=90

topology_command() {
	if [ -n "$dry" ]; then
		command_line=("$stage/libexec/nccl-tune/tests/nt-fake-nccl" --sizes 256K,4M --iters 400 --call-gap-us 200)
	else
		command_line=("$bench" --coll allreduce,allgather,reducescatter --sizes 64K,256K,1M,4M,16M --even 256K
			--iters 1500 --warmup 3 --rendezvous "$work/meet" --stall 30)
	fi
}

# topology_run DIR NODES TASKS OPTION
topology_run() {
	local dir=$1
	mkdir -p "$dir/records"
	chmod 700 "$dir/records"
	NCCL_TUNE_RECORD_DIR=$dir/records NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,ENV NT_GPU_DUMPS=$dir \
		step "$dir" "$TOPOLOGY_LIMIT_S" "$2" "$3" "$4" "${command_line[@]}" || say "${dir##*/}: exit status $?"
}

# topology_report DIR JOB: a long form is there some time after its step has ended.
topology_report() {
	local dir=$1 i
	for ((i = 0; i < 100; i++)); do
		compgen -G "$dir/records/*/*.gz" >/dev/null && break
		sleep 0.1
	done
	sleep 1
	NCCL_TUNE_RECORD_DIR=$dir/records timeout 30 "$stage/bin/nccl-tune" report "$2" >"$dir/report.txt" 2>&1
	zcat "$dir"/records/*/*.gz 2>/dev/null | grep '^{"topology"' >"$dir/topology.jsonl"
	say "${dir##*/}: $(cat "$dir"/nccl-*.xml.* 2>/dev/null | wc -c) bytes of dumps," \
		"$(wc -l <"$dir/topology.jsonl") of the record's lines"
}

# topology SECONDS
topology() {
	local end=$((SECONDS + $1)) at dir number
	for at in "${topologies[@]}"; do
		if [ $((SECONDS + TOPOLOGY_LIMIT_S / 3)) -gt "$end" ]; then
			say "topology $at: no time"
			continue
		fi
		allocate "${at%x*}" "${at#*x}" || { say "topology $at: no allocation"; continue; }
		topology_command
		dir=$raw/topology.$at number=$job
		topology_run "$dir" "${at%x*}" "${at#*x}" bandit,topology=on
		release
		topology_report "$dir" "$number"
		write_results
	done
	tail -n 40 "$raw"/topology.*/report.txt 2>/dev/null | tee "$out/topology.txt"
}
