#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The long form of a step's record: a part from each node, written at the end with the user's rights, where the
# user or the site says, and read by report.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	unset NCCL_TUNE_RECORD_DIR
	export FILE=$NT_BASE/nccl-tune.conf TUNE=$NT_STAGE/bin/nccl-tune
	cluster_start 2 -p "$(nt_plugstack_line "conf=$FILE")"
	export RANK=$NT_CLUSTER/work/rank RECORDS=$NT_CLUSTER/work/.local/state/nccl-tune/records
	install -m 755 "$BATS_TEST_DIRNAME/20-record-rank.sh" "$RANK"
}

teardown_file() {
	wait_for 20 no_helpers
	cluster_check_and_stop
}

# submit OPTION... <SCRIPT: a batch job with the option; its id is in $job.
submit() {
	{ echo '#!/bin/bash'; cat; } >"$NT_CLUSTER/work/script"
	job=$(as_user sbatch --parsable -o "$NT_CLUSTER/work/output" --nccl-tune=bandit "$@" script)
}

# A communicator of each node's own, which no other node knows.
apart='RANK_COMM=$SLURMD_NODENAME SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_NNODES=1'

head_of() {
	zcat "$1" | head -n 1
}

# ended JOB: its end is in accounting, and its helpers are gone.
ended() {
	wait_sacct "$1" && wait_for 60 no_helpers
}

step() {
	sacct_field "$job" admincomment | jq -c --arg step "$1" '.nccl_tune[$step]'
}

@test "both nodes write a part, and report reads them" {
	local dir before
	need_pmix
	cp -R "$NT_TOP/tests/traces" "$NT_BASE/traces"
	chmod -R a+rX "$NT_BASE/traces"
	run -0 --separate-stderr as_user srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune=bandit \
		bash -c '[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID" >&2; exec "$@" >/dev/null' - "$NT_TESTS/nt-fake-nccl" \
		--trace "$NT_BASE/traces/h200-2x4-seq.csv,2x4" --sizes 64K,256K --iters 2000 --call-gap-us 100
	job=$(grep -m1 -xE '[0-9]+' <<<"$stderr")
	wait_record "$job"
	dir=$(echo "$RECORDS"/*."$job")
	[ "$(step 0 | jq -r .long)" = "$dir" ]
	[ "$(cd "$dir" && echo *)" = '0.n1.jsonl.gz 0.n2.jsonl.gz' ]
	[ "$(stat -c '%a %U' "$RECORDS" "$dir" "$dir"/* | sort -u)" = "600 $NT_USER"$'\n'"700 $NT_USER" ]
	head_of "$dir/0.n2.jsonl.gz" | jq -e --argjson job "$job" \
		'.nccl_tune_long == 1 and .job == $job and .step == "0" and .node == "n2" and .nodes == 2 and .final and .records == 2'
	run -0 as_user "$TUNE" report --json "$job"
	before=$output
	# A home may be several clusters', and each has a job of this number.
	as_user mkdir "$RECORDS/other.$job"
	zcat "$dir/0.n1.jsonl.gz" | sed 's/"node":"n1"/"node":"x1"/; s/"id":"/"id":"f/' | gzip |
		as_user tee "$RECORDS/other.$job/0.x1.jsonl.gz" >/dev/null
	run -0 as_user "$TUNE" report --json "$job"
	[ "$output" = "$before" ]
	[ "$(zcat "$dir"/*.gz | jq -c '.rank // empty | .task' | sort | xargs)" = '0 1 2 3' ]
	# Nobody else.
	run ! setpriv --reuid 65534 --clear-groups cat "$dir/0.n2.jsonl.gz"
}

@test "a communicator wholly on the second node is in the report" {
	run -0 as_user srun -N2 -n2 --nccl-tune=bandit bash -c 'echo "$SLURM_JOB_ID"; '"$apart exec $RANK"
	job=${lines[0]}
	wait_record "$job"
	run -0 as_user "$TUNE" report "$job"
	[[ $output =~ AllReduce\ +256K ]]
	[ "$(zcat "$RECORDS"/*."$job"/*.gz | jq -r 'select(.rank) | .rank.comms[].id' | sort | paste -sd ' ')" = 'n1 n2' ]
	# Where the first node runs no NCCL accounting has nothing.
	run -0 as_user srun -N2 -n2 --nccl-tune=bandit bash -c 'echo "$SLURM_JOB_ID"; [ "$SLURMD_NODENAME" = n1 ] || '"$apart exec $RANK"
	job=${lines[0]}
	ended "$job"
	[ -z "$(sacct_field "$job" admincomment)" ]
	as_user "$TUNE" report "$job" >"$BATS_TEST_TMPDIR/out" 2>&1 || { cat "$BATS_TEST_TMPDIR/out"; find "$RECORDS"; false; }
	grep -E 'AllReduce +256K' "$BATS_TEST_TMPDIR/out"
	run -0 as_user test -e "$RECORDS/nt.$job/0.n2.jsonl.gz"
	run -1 as_user test -e "$RECORDS/nt.$job/0.n1.jsonl.gz"
}

@test "parts are written when the step ends, also if the job is cancelled or requeued; not by a node that goes down" {
	local dir
	rm -f "$NT_CLUSTER/work"/at.*
	submit -N2 -n2 --requeue <<-'END'
		srun ./rank committed bash -c ': >at.$SLURM_PROCID.${SLURM_RESTART_COUNT:-0}; sleep 1200'
	END
	wait_for 60 are_at 0
	run ! compgen -G "$RECORDS/*.$job/*"
	# The second node's helper goes as with the machine.
	pkill -KILL -f "nt-recordd record .*dir=$NT_CLUSTER/run/nccl-tune step=n2\.$job\."
	as_root scontrol requeue "$job"
	wait_for 60 job_waits
	wait_for 60 no_helpers
	dir=$(echo "$RECORDS"/*."$job")
	[ "$(head_of "$dir/0.n1.jsonl.gz" | jq .final)" = true ]
	[ ! -e "$dir/0.n2.jsonl.gz" ]
	wait_for 110 has_run_again
	as_user scancel "$job"
	ended "$job"
	wait_for 20 last_run_is_final "$dir"
	run -0 as_user "$TUNE" report "$job"
}

# are_at RUN
are_at() {
	[ -e "$NT_CLUSTER/work/at.0.$1" ] && [ -e "$NT_CLUSTER/work/at.1.$1" ]
}

job_waits() {
	[ "$(timeout 60 squeue -h -j "$job" -o %t)" = PD ]
}

# Slurm would wait for two minutes before the second run; in the second in which a node was told of the end of the first
# it refuses what runs next.
has_run_again() {
	if job_waits; then
		pending_s=${pending_s:-$SECONDS}
		((SECONDS - pending_s < 3)) || as_root scontrol update jobid="$job" starttime=now
	fi
	are_at 1
}

last_run_is_final() {
	[ "$(zcat "$1/0.n1.r1.jsonl.gz" "$1/0.n2.r1.jsonl.gz" | jq -c 'select(.nccl_tune_long) | .final' | sort -u)" = true ]
}

@test "a user's limit: the oldest jobs are removed" {
	local old=$RECORDS/nt.900001 older=$RECORDS/nt.900002
	site_file "$FILE" '[site]' 'record_max = 1'
	as_user mkdir -p "$old" "$older"
	as_user head -c 600000 /dev/zero >"$old/0.n1.jsonl.gz"
	as_user head -c 600000 /dev/zero >"$older/0.n1.jsonl.gz"
	touch -d '2 days ago' "$old"
	touch -d '3 days ago' "$older"
	run -0 as_user srun -N1 -n1 --nccl-tune=bandit "$RANK" committed bash -c 'echo "$SLURM_JOB_ID"'
	job=${lines[0]}
	ended "$job"
	[ -e "$(echo "$RECORDS"/*."$job"/0.n*.jsonl.gz)" ]
	[ -e "$old" ]
	[ ! -e "$older" ]
	site_file "$FILE" '[site]' 'record_max = 0'
	run -0 as_user srun -N2 -n2 --nccl-tune=bandit "$RANK" committed bash -c 'echo "$SLURM_JOB_ID"'
	job=${lines[0]}
	wait_record "$job"
	[ "$(step 0 | jq -r '.long, .no_long')" = $'null\nnull' ]
	[ -z "$(compgen -G "$RECORDS/*.$job")" ]
	site_file "$FILE"
}

# Each directory is tried by a step of one job; what the job's record says of it.
@test "unusable directories are reported, and no step fails" {
	local base=$NT_BASE/dirs
	mkdir -p "$base"/{other,full,victim}
	chmod 755 "$base"
	chmod 700 "$base/other"
	chmod 777 "$base/victim"
	mount -t tmpfs -o size=4k,nr_inodes=2,mode=1777 none "$base/full"
	head -c 4096 /dev/zero >"$base/full/rest"
	ln -s victim "$base/link"
	mkfifo "$base/fifo"
	cat >"$NT_CLUSTER/work/dirs" <<-END
	$base/other
	$base/full
	$base/fifo
	/proc/self/records
	relative
	/dev/null
	none
	$base/link
	END
	submit -n1 --export=ALL,BASE="$base" <<-'END'
		mkdir "$BASE/victim/own"
		ln -s /tmp "$BASE/victim/own/nt.$SLURM_JOB_ID"
		while read -r dir; do
			NCCL_TUNE_RECORD_DIR=$dir srun -Q ./rank </dev/null || echo failed
		done <dirs
		NCCL_TUNE_RECORD_DIR=$BASE/victim/own srun -Q ./rank || echo failed
	END
	wait_record "$job"
	umount "$base/full"
	[ ! -s "$NT_CLUSTER/work/output" ] || { cat "$NT_CLUSTER/work/output"; false; }
	sacct_field "$job" admincomment | jq -c '.nccl_tune[] | objects | {long, no_long}'
	for at in 0 1 2 3 4 5 8; do
		[ "$(step $at | jq '.long == null and (.no_long | length > 10)')" = true ] || { step $at; false; }
	done
	step 1 | jq -e '.no_long | test("No space left")'
	[ "$(step 6 | jq '.long == null and .no_long == null')" = true ]
	[ "$(step 7 | jq -r .long)" = "$base/link/nt.$job" ] # the user's own word
	[ -z "$(find "$base/other" "$base/fifo" /tmp -maxdepth 1 -name '*.jsonl.gz*' 2>/dev/null)" ]
	run -0 as_user "$TUNE" report "$job"
	[[ $output = *"The full record was not kept"* ]]
}

# site_step NODES: a step of that many nodes; its job is in $job.
site_step() {
	run -0 as_user srun -N"$1" -n"$1" --nccl-tune=bandit "$RANK" committed bash -c 'echo "$SLURM_JOB_ID"'
	job=${lines[0]}
	wait_record "$job"
}

@test "a site's directory: root creates a user's own in it, and nobody else can" {
	local base=$NT_BASE/site uid
	uid=$(id -u "$NT_USER")
	install -d -m 755 -o root "$base"
	site_file "$FILE" '[site]' "record_dir = $base"
	site_step 2
	[ "$(stat -c '%a %u' "$base/$uid")" = "700 $uid" ]
	[ "$(cd "$base/$uid"/*."$job" && echo *)" = '0.n1.jsonl.gz 0.n2.jsonl.gz' ]
	run -1 as_user mkdir "$base/65534"
	# What root has left half made is the user's the next time.
	rm -r "${base:?}/$uid"
	mkdir -m 700 "$base/$uid"
	site_step 1
	[ "$(stat -c '%a %u' "$base/$uid")" = "700 $uid" ]
	compgen -G "$base/$uid/*.$job/0.n*.jsonl.gz"
	# Where root cannot, as on a read-only file system, the record says why.
	rm -r "${base:?}/$uid"
	mount -t tmpfs -o ro,mode=755 none "$base"
	site_step 1
	umount "$base"
	step 0 | jq -e '.long == null and (.no_long | test("cannot be made: Read-only"))'
	site_file "$FILE"
}

believes_him() {
	as_root "$TUNE" report "$job" | grep -F RING/LL
}

@test "in a world-writable directory other users' parts are ignored" {
	local base=$NT_BASE/open uid dir
	uid=$(id -u "$NT_USER")
	mkdir -m 1777 "$base"
	site_file "$FILE" '[site]' "record_dir = $base"
	site_step 2
	dir=$(echo "$base/$uid"/*."$job")
	[ "$(stat -c '%a %u' "$base/$uid")" = "700 $uid" ]
	run -0 as_root "$TUNE" report "$job"
	[[ $output = *TREE/SIMPLE* ]]
	# Whoever was there first has nothing of it.
	mv "$base/$uid" "$base/kept"
	install -d -m 777 -o 65534 "$base/$uid"
	site_step 1
	step 0 | jq -e '.no_long | test("belongs to another user")'
	[ -z "$(ls -A "$base/$uid")" ]
	# Nor is believed: with the job's own parts made another's, RING/LL in the place of what was measured.
	mkdir "$base/$uid/nt.$job"
	zcat "$base/kept"/*/0.n1.jsonl.gz | sed "s,\"job\":[0-9]*,\"job\":$job,; s,TREE/SIMPLE,RING/LL,g" |
		gzip >"$base/$uid/nt.$job/0.n1.jsonl.gz"
	chown -R 65534 "$base/$uid"
	chmod -R a+rX "$base/$uid"
	for who in as_root as_user; do
		run -0 "$who" "$TUNE" report "$job"
		[[ $output = *TREE/SIMPLE* && $output != *RING/LL* ]]
	done
	# His file in the user's own directory, and the user's in his.
	chown "$NT_USER" "$base/$uid" "$base/$uid/nt.$job"
	run -0 as_root "$TUNE" report "$job"
	[[ $output = *TREE/SIMPLE* && $output != *RING/LL* ]]
	chown -R "$NT_USER" "$base/$uid"
	chown 65534 "$base/$uid"
	run -0 as_root "$TUNE" report "$job"
	[[ $output = *TREE/SIMPLE* && $output != *RING/LL* ]]
	# The job's user may say what he likes; accounting names him late.
	chown "$NT_USER" "$base/$uid"
	wait_for 60 believes_him
	site_file "$FILE"
}

# topology [VARIABLE=VALUE]...: a step of 4 ranks with topology=on, the second node of which has fewer links. Its job is in
# $job, its parts in $dir.
topology() {
	run -0 --separate-stderr as_user env "$@" srun -N2 --ntasks-per-node=2 -t 20 --mpi=pmix --nccl-tune=bandit,topology=on \
		bash -c '[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID" >&2; exec "$@" >/dev/null' - "$NT_TESTS/nt-fake-nccl" \
		--sizes 256K --iters 100 --call-gap-us 100 --poor-node 2
	job=$(grep -m1 -xE '[0-9]+' <<<"$stderr")
	wait_record "$job"
	dir=$(echo "$RECORDS"/*."$job")
}

# told NODE FILTER: of what that node's part has of its topology
told() {
	zcat "$dir/0.$1.jsonl.gz" | jq -c "select(.topology).topology | $2"
}

@test "with topology=on both nodes' graphs and devices are in the long form, and the slower node is named" {
	need_pmix
	topology
	[ "$(told n1 '[.rank, .ranks, .nodes, (.gpus | length), .nics[1].mbps, .graphs[0].name, .graphs[0].channels]')" = \
		'[0,4,2,2,400000,"ring",16]' ]
	[ "$(told n2 '[.rank, .ranks, .nodes, .gpus[1].rank, .gpus[0].nvlinks, .graphs[1].name, (.graphs[1].paths | length)]')" = \
		'[2,4,2,3,16,"tree",8]' ]
	# The communicator's name is the record's.
	[ "$(told n2 .id)" = "$(zcat "$dir/0.n2.jsonl.gz" | jq -c 'select(.rank).rank.comms[0].id' | head -n 1)" ]
	run -0 as_user "$TUNE" report "$job"
	[[ ${output//$'\n' / } = *"Node n2 has fewer channels or slower links than the other one: "*"--exclude=n2"* ]]
	[[ $output =~ n1\ +2\ +18\ +2\ +800\ +'16 x 24 NVL/PIX' ]]
	run -0 as_user "$TUNE" report --json "$job"
	jq -e '[.jobs[0].steps[0].topology.nodes[] | [.node, .ring.channels]] == [["n1", 16], ["n2", 8]]' <<<"$output"
}

@test "a topology file that the user has named is left alone" {
	need_pmix
	topology NCCL_GRAPH_DUMP_FILE="$NT_CLUSTER/work/mine.xml"
	[[ $(<"$NT_CLUSTER/work/mine.xml") = '<graphs version="1">'* ]]
	[ "$(told n1 '[.no_graphs, (.graphs | length), (.gpus | length)]')" = '["there is none",0,2]' ]
}
