#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What a step shows goes into its user's memory, with the user's rights, before the step is let go; and what the memory
# says of the step goes into its record.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	export MADE=$NT_BASE/made PROFILES=$NT_BASE/profiles.conf
	mkdir -m 755 "$MADE"
	cat >"$PROFILES" <<-END
		[wide]
		summary = many channels of many sockets
		fabric = socket
		NCCL_MIN_NCHANNELS = 8
		NCCL_SOCKET_NTHREADS = 2
		NCCL_NSOCKS_PERTHREAD = 4
	END
	cluster_start 2 -p "$(nt_plugstack_line "profiles=$PROFILES")"
	need_pmix
	"$NT_TESTS/nt-launch-trace" --best wide --topology 2x2 --seed 1 --picks "$MADE/picks.csv" >"$MADE/wide.csv"
	export WIDE=NCCL_MIN_NCHANNELS=8+NCCL_SOCKET_NTHREADS=2+NCCL_NSOCKS_PERTHREAD=4
	cat >"$MADE/fake" <<-END
		#!/bin/bash
		exec "$NT_TESTS/nt-fake-nccl" --sizes 16Mx4,64K --iters 120 --realtime 1 --call-gap-us 100 \\
			--trace "$MADE/wide.csv" --auto-picks "$MADE/picks.csv" "\$@" >/dev/null
	END
	# step LAUNCH [option of nt-fake-nccl]...: in the job around it, until it is remembered, which takes a busy machine
	# longer than a step waits; not in a job that is $IMPATIENT
	cat >"$MADE/step" <<-END
		#!/bin/bash
		launch=\$1 rc=0
		shift
		srun --mpi=pmix --nccl-tune=bandit,channels=on,launch="\$launch" "$MADE/fake" "\$@" || rc=\$?
		while [ -z "\$IMPATIENT" ] && pgrep -f "nt-recordd record .*dir=$NT_CLUSTER/.*[.]\$SLURM_JOB_ID[.]" >/dev/null; do sleep 0.1; done
		exit "\$rc"
	END
	# The least that is remembered, for tests that are not about how long anything takes.
	export BRIEF='default --iters 1000 --realtime 0'
	cat >"$MADE/entries" <<-'END'
		#!/bin/bash
		# entries: how many entries the memory has, once the job's steps have been remembered
		while pgrep -f "nt-recordd record .*dir=$NT_CLUSTER/.*[.]$SLURM_JOB_ID[.]" >/dev/null; do sleep 0.1; done
		cat "$NCCL_TUNE_MEMORY"/*.jsonl 2>/dev/null | grep -c '"profile"'
	END
	chmod 755 "$MADE"/fake "$MADE"/step "$MADE"/entries
	chmod a+r "$MADE"/* "$PROFILES"
}

setup() {
	out=$NT_BASE/out.$BATS_TEST_NUMBER
	mkdir -m 777 "$out"
	export NCCL_TUNE_MEMORY=$out/home/memory
}

teardown() {
	[ ! -e "$out/frozen" ] || fsfreeze -u "$out/disk" || :
	if mountpoint -q "$out/disk"; then umount "$out/disk"; fi
}

# batch SCRIPT: a batch job of four ranks on two nodes that runs these lines; sets $id.
batch() {
	printf '#!/bin/bash\n%s\n' "$1" >"$out/job.sh"
	id=$(as_user sbatch --parsable --wait -N2 --ntasks-per-node=2 -t 30 -o "$out/log" "$out/job.sh") ||
		{ cat "$out/log"; false; }
}

# job SCRIPT: the same in an allocation, which comes back sooner.
job() {
	printf '#!/bin/bash\necho "job $SLURM_JOB_ID"\n%s\n' "$1" >"$out/job.sh"
	as_user salloc -Q -N2 --ntasks-per-node=2 -t 30 bash "$out/job.sh" >"$out/log" 2>&1 || { cat "$out/log"; false; }
	id=$(sed -n 's/^job //p' "$out/log")
}

# entries [jq filter]: of the memory, each in a line; fails where a line of it is no JSON.
entries() {
	cat "$NCCL_TUNE_MEMORY"/*.jsonl | jq -rc "select(.profile) | ${1:-.}"
}

record() {
	wait_record "$1" && sacct_field "$1" admincomment
}

# helpers USER: the nt-recordd processes of this cluster that run as USER.
helpers() {
	pgrep -u "$1" -f "nt-recordd record .*dir=$NT_CLUSTER/"
}

# as_calibration: the memory's steps but for their job's first one, as a calibration would have left what they measured
as_calibration() {
	local file
	for file in "$NCCL_TUNE_MEMORY"/*.jsonl; do
		jq -c 'if .profile and .step > 0 then .origin = "calibrate" | del(.asked, .marker, .program) else . end' "$file" >"$out/new"
		cat "$out/new" >"$file"
	done
}

# measured_before: an earlier job with a step of the program, and a calibration for it
measured_before() {
	batch "for i in default default wide; do $MADE/step \$i || exit; $MADE/entries; done"
	run -0 cat "$out/log"
	[ "$(grep -xE '[0-9]+' <<<"$output")" = 1$'\n'2$'\n'3 ] || { echo "$output"; false; }
	run -0 entries '[.step, .profile, .asked // false, .program] | join(" ")'
	[ "$(sort <<<"$output")" = "0 default true fake"$'\n'"1 default true fake"$'\n'"2 wide true fake" ] || { echo "$output"; false; }
	as_calibration
}

@test "a later job uses what was measured for its program" {
	local fingerprint
	measured_before
	batch "$MADE/step auto"
	run -0 entries "select(.job == $id) | [.step, .profile, .asked // false, .program] | join(\" \")"
	[ "$output" = "0 wide false fake" ]
	run -0 entries "select(.job == $id) | [.nodes, .per_node, .origin, .fingerprint, (.keys | length)] | join(\" \")"
	fingerprint=$(as_root "$NT_STAGE/bin/nccl-tune" check-config | sed -n 's/^checked hardware \([0-9a-f]*\):.*/\1/p')
	[ "$output" = "2 2 job $fingerprint 2" ] || { echo "$output"; false; }
	entries '.marker | .coll == "AllReduce" and .bytes == 65536 and (.period_us | length >= 8)' | grep -qx true
	entries '.keys[] | select(.[1] == 16777216) | .[3] == 480 and .[5][3] > 0 and .[6:] == [4, 2]' | grep -qx true
	cat "$NCCL_TUNE_MEMORY"/*.jsonl | jq -e -s '[.[] | select(.host)] | map(.host) | unique == ["n1", "n2"]'
	[ "$(stat -c '%U %a' "$NCCL_TUNE_MEMORY" "$NCCL_TUNE_MEMORY"/*.jsonl | sort -u)" = "$NT_USER 600"$'\n'"$NT_USER 700" ]
}

@test "accounting and the report have the profile, its variables and its gain" {
	measured_before
	run -0 record "$id"
	jq -e '.nccl_tune | .["0"].launch == "default" and (.["0"] | has("measured") | not)' <<<"$output"
	job "$MADE/step auto"
	run -0 record "$id"
	jq -e '.nccl_tune["0"] | .launch == "wide" and .expected > 1.3 and .measured > 1.3 and .steps == 120 and
		.step_us[0] <= .step_us[1] and .step_us[1] <= .step_us[2] and (.from | test("^calibrated .* on 2 x 2$")) and
		(.set | test("NCCL_MIN_NCHANNELS=8"))' <<<"$output" || { echo "$output"; false; }
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report "$id"
	output=$(tr -s ' \n' ' ' <<<"$output") # lines are of 80 columns
	[[ $output = *", 120 steps of "*" ms launch profile wide: calibrated "*" by the program's own steps"* ]] || { echo "$output"; false; }
	[[ $output = *"set: "*"NCCL_SOCKET_NTHREADS=2"* ]]
	run -0 as_user "$NT_STAGE/bin/nccl-tune" report --json "$id.0"
	jq -e '.jobs[0].steps[-1] | .launch == "wide" and .measured > 1.3' <<<"$output"
}

@test "faster calls and slower steps: the next step goes back to the default, and the record says why" {
	# Another job's program makes the default's steps; a calibration finds the calls faster. What is computed takes
	# far longer than what a busy machine adds to a step.
	job "$MADE/step default --compute-us 30000 --iters 100 && $MADE/step default && $MADE/step wide"
	as_calibration
	[ "$(entries .origin | sort | uniq -c | tr -s ' \n' ' ')" = ' 2 calibrate 1 job ' ]
	job "for i in 1 2; do $MADE/step auto --compute-us 30000 --compute-factor 5:$WIDE --iters 100 || exit; done"
	run -0 entries 'select(.job == '"$id"') | [.step, .profile] | join(" ")'
	[ "$(sort <<<"$output")" = "0 wide"$'\n'"1 default" ] || { echo "$output"; cat "$out/log"; false; }
	run -0 record "$id"
	jq -e '.nccl_tune["0"] | .expected > 1.3 and .measured < 0.8 and
		(.remark | test("^launch profile wide was [0-9]+ % slower than the default; not used before it is calibrated again$"))' \
		<<<"$output" || { echo "$output"; entries 'del(.marker.period_us)'; false; }
	jq -e '.nccl_tune["1"].launch == "default"' <<<"$output"
}

@test "eight jobs at once lose nothing, and all lines are complete" {
	local i ids=()
	mkdir -p "$NCCL_TUNE_MEMORY"
	# Old files enough for the first writers to compact in the middle of it all.
	for i in $(seq 100 158); do
		printf '{"v":1,"host":"old%d","fingerprint":"00000000000000f3","when":%d}\n' "$i" "$(date +%s)" \
			>"$NCCL_TUNE_MEMORY/0000000000000000000000000000$i.jsonl"
	done
	chown -R "$NT_USER" "$out/home"
	printf '#!/bin/bash\nfor i in 1 2; do %s default --compute-us 5000 || exit; done\n' "$MADE/step" >"$out/job.sh"
	for i in 1 2 3 4 5 6 7 8; do
		ids+=("$(as_user sbatch --parsable -N1 -n2 -t 30 -o "$out/log.$i" "$out/job.sh")")
	done
	for i in "${ids[@]}"; do
		wait_sacct "$i"
	done
	wait_for 60 no_helpers
	run -0 entries '[.job, .step] | join(" ")'
	[ "$(sort -u <<<"$output" | wc -l)" = 16 ] || { echo "$output"; cat "$out"/log.*; false; }
	[ "$(entries .id | sort -u | wc -l)" = 16 ]
	[ "$(cat "$NCCL_TUNE_MEMORY"/*.jsonl | jq -r '.host // empty' | grep -c '^old' )" -ge 59 ]
	[ "$(compgen -G "$NCCL_TUNE_MEMORY/*.jsonl" | wc -l)" -lt 59 ]	# it was compacted
	[ -z "$(find "$NCCL_TUNE_MEMORY" -name '*.tmp')" ]
}

# begin_held: a job whose step begins when $out/go is there; sets $client, and $helper of root's that waits with it.
begin_held() {
	rm -f "$out/go"
	wait_for 60 no_helpers
	job "srun --mpi=pmix --nccl-tune=bandit,channels=on,launch=default bash -c \
		'until [ -e $out/go ]; do sleep 0.1; done; exec $MADE/fake --iters 200 --realtime 0'" 3>&- &
	client=$!
	wait_for 60 helpers root >/dev/null
	helper=$(helpers root | head -n1)
}

@test "nt-recordd or its child killed at any moment: no partial file is read, and no other entries are lost" {
	local first before client helper tracer call libc calls=(fsync renameat)
	job "$MADE/step $BRIEF"
	run -0 entries .id
	first=$output
	# Of the processes of nt-recordd only the child makes these calls: before there is a file, before it is whole on the
	# disk, before it has its name. From glibc 2.41 on random numbers need no system call.
	libc=$(getconf GNU_LIBC_VERSION)
	((${libc##*.} >= 41)) || calls=(getrandom "${calls[@]}")
	for call in "${calls[@]}"; do
		begin_held
		strace -qq -f -p "$helper" -o "$out/$call" -e "trace=$call" -e "inject=$call:signal=KILL" 3>&- &
		tracer=$!
		wait_for 30 grep -q '^TracerPid:[[:space:]]*[1-9]' "/proc/$helper/status"
		touch "$out/go"
		wait "$client"
		wait "$tracer" || :
		grep -q 'killed by SIGKILL' "$out/$call" || { cat "$out/$call"; false; }
	done
	begin_held
	kill -9 "$helper"
	touch "$out/go"
	wait "$client"
	wait_for 60 no_helpers
	run -0 entries .id	# every line is whole
	[ "$output" = "$first" ] || { echo "$output"; ls -l "$NCCL_TUNE_MEMORY"; false; }
	before=$(wc -l <<<"$output")
	job "$MADE/step $BRIEF; $MADE/entries"
	[ "$(tail -n1 "$out/log")" = $((before + 1)) ]
}

@test "only with the user's rights: not root's directory nor another user's, by name or by link" {
	local dir
	mkdir -m 700 "$out/root"
	mkdir -m 755 "$out/other"
	mkdir -m 755 "$out/home"
	ln -s "$out/root" "$out/home/link"
	chown -h "$NT_USER" "$out/home" "$out/home/link"
	for dir in "$out/root" "$out/root/new" "$out/other" "$out/home/link"; do
		export NCCL_TUNE_MEMORY=$dir
		job "$MADE/step $BRIEF"
		run -0 record "$id"
		jq -e '.nccl_tune["0"].remark | test("^its measurements could not be remembered: .*(Permission denied|denied)")' \
			<<<"$output" || { echo "$output"; false; }
	done
	[ -z "$(find "$out/root" "$out/other" -mindepth 1)" ]
	as_root grep -qE "job $id step 0: the user's memory: its measurements could not be remembered" "$NT_CLUSTER"/log/n1.log
}

@test "a full disk is reported once, and the step is not affected" {
	mkdir -p "$out/disk"
	mount -t tmpfs -o size=4k,nr_inodes=2,mode=777 nt-test "$out/disk" || skip "no tmpfs here"
	export NCCL_TUNE_MEMORY=$out/disk
	as_user touch "$out/disk/full"
	job "$MADE/step $BRIEF"
	run -0 record "$id"
	jq -e '.nccl_tune["0"] | (.remark | test("No space left on device")) and .["4r2n"]' <<<"$output"
	[ "$(grep -c "job $id step 0: the user's memory" "$NT_CLUSTER"/log/n1.log)" = 1 ]
	[ "$(find "$out/disk" -mindepth 1 | wc -l)" = 1 ]
}

@test "a file system that hangs delays the step for a second at most, and blocks no process of root" {
	mkdir -p "$out/disk"
	truncate -s 8M "$out/image"
	mkfs.ext4 -q "$out/image" && mount -o loop "$out/image" "$out/disk" || skip "no loop device here"
	mkdir -m 700 "$out/disk/memory"
	chown "$NT_USER" "$out/disk/memory"
	export NCCL_TUNE_MEMORY=$out/disk/memory
	job "$MADE/step $BRIEF"
	fsfreeze -f "$out/disk"
	touch "$out/frozen"
	# A step that waited for the disk would never end.
	job "export IMPATIENT=1; $MADE/step $BRIEF; $MADE/step $BRIEF"
	# Its helper gives up while the disk still hangs.
	wait_for 30 eval '! helpers root'
	helpers "$NT_USER"
	fsfreeze -u "$out/disk"
	rm "$out/frozen"
	wait_for 20 no_helpers
	# Not remembered, but accounted for.
	run -0 record "$id"
	jq -e '.nccl_tune["0"] | .launch == "default" and .["4r2n"]' <<<"$output"
	run -0 sacct_field "$id" state
	[ "$output" = COMPLETED ]
}

@test "a step that fails, is cancelled, or has no NCCL" {
	job "$MADE/step $BRIEF; srun --nccl-tune=bandit,launch=default hostname"
	[ "$(entries .step)" = 0 ]
	job "srun --mpi=pmix --nccl-tune=bandit,launch=default bash -c '$MADE/fake; exit 3'; $MADE/entries"
	[ "$(tail -n1 "$out/log")" = 2 ]
	# Once something was decided, which nt-recordd says early.
	job "$MADE/step default --iters 100000 &
		until scontrol show job \$SLURM_JOB_ID | grep -q nccl_tune; do sleep 0.3; done
		scancel \$SLURM_JOB_ID.0; wait; $MADE/entries"
	[ "$(tail -n1 "$out/log")" = 3 ]
}

@test "with launch=off nothing is remembered" {
	job "$MADE/step off; srun --mpi=pmix --nccl-tune=bandit $MADE/fake"
	[ ! -e "$out/home" ]
	run -0 record "$id"
	jq -e '.nccl_tune["0"] | has("launch") or has("remark") | not' <<<"$output"
}
