#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# Calibrations before a step that are killed, and memories that cannot be used: the step runs, and soon. What stands for
# nccl-tune runs a step that sleeps.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # expressions for the shell of the job; what bats sets
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	export MADE=$NT_BASE/made
	mkdir -m 755 "$MADE"
	printf '[wide]\nNCCL_MIN_NCHANNELS = 8\n' >"$MADE/profiles.conf"
	chmod 644 "$MADE/profiles.conf"
	cat >"$MADE/nccl-tune" <<-'END'
		#!/bin/bash
		echo "$@" >arguments
		srun -N "$SLURM_JOB_NUM_NODES" --overlap --job-name=calibration sleep 1000 &
		trap 'kill %1; wait; exit 1' TERM
		echo $$ >calibrating
		wait
	END
	chmod 755 "$MADE/nccl-tune"
	cluster_start 3 -n -p "$(nt_plugstack_line pmix=ask "profiles=$MADE/profiles.conf" "command=$MADE/nccl-tune")"
}

setup() {
	rm -rf "$NT_CLUSTER"/work/{.local,calibrating,arguments,err,out}
	memory=$NT_CLUSTER/work/.local/state/nccl-tune/memory
}

# What hangs is let go before it is unmounted.
teardown() {
	[ -z "${mute:-}" ] || kill -KILL "$mute" || :
	[ -z "${place:-}" ] || umount -l "$place" || :
}

# steps OPTION... <SCRIPT: a job that it runs; launch, in the background, is srun with a calibration of at most a minute
steps() {
	{ printf '#!/bin/bash\nlaunch() { exec srun --nccl-tune=bandit,launch=auto,calibrate=60 "$@"; }\n'; cat; } >"$NT_CLUSTER/work/script"
	as_user salloc -Q -N2 --ntasks-per-node=1 "$@" bash ./script
}

# For scripts: until a calibration runs its step, at most a minute or so
calibrates='for ((i = 0; i < 600; i++)); do [ -s calibrating ] && squeue -h -s -o %j | grep -q calibration && break; sleep 0.1; done'

gone() {
	[ "$(cluster exec -u root squeue -h -s -o %j | grep -c calibration)" = 0 ]
}

@test "a signal to srun ends the calibration, and the step as soon as it is launched" {
	for signal in TERM HUP; do
		rm -f "$NT_CLUSTER/work/calibrating"
		run ! steps <<-END
			launch sleep 1000 &
			$calibrates
			kill -$signal %1
			wait %1
		END
		[[ $output = *'the calibration was interrupted'* ]]
		wait_for 60 gone
		rm -rf "$memory"
	done
}

@test "a killed srun ends its calibration; a step whose srun is alive runs" {
	run -137 steps <<-END
		launch true &
		pid=\$!
		$calibrates
		kill -KILL \$pid
		wait \$pid
	END
	wait_for 60 gone
	rm -rf "$memory" "$NT_CLUSTER/work/calibrating"
	run -0 steps <<-END
		launch echo "the step" &
		$calibrates
		kill -KILL "\$(cat calibrating)"
		wait %1
	END
	[[ $output = *'the calibration failed: '*': exit status 137'*'the step'* ]]
	wait_for 60 gone
}

@test "a job cancelled during its calibration ends" {
	run ! steps <<-END
		launch sleep 1000 &
		$calibrates
		scancel "\$SLURM_JOB_ID"
		wait %1
	END
	wait_for 60 gone
}

@test "a calibration runs on the step's nodes, and not beside another step; not in a heterogeneous job" {
	run -0 steps -N3 <<-END
		launch -N2 -n2 -w n2,n3 echo "the step" &
		$calibrates
		kill "\$(cat calibrating)"
		wait %1
	END
	grep -q -- '--nodelist n\[2-3\]' "$NT_CLUSTER/work/arguments"
	rm -rf "$memory" "$NT_CLUSTER/work/calibrating"
	run -0 steps <<-'END'
		srun --overlap bash -c 'touch began; exec sleep 1000' &
		until [ -e began ]; do sleep 0.1; done
		srun --overlap --nccl-tune=bandit,launch=auto,calibrate=auto echo "the step" 2>&1
		kill %1
		kill %1
	END
	[[ $output = *"no calibration: another step of this job is running; the step uses NCCL's own settings"*'the step'* ]]
	[ ! -e "$NT_CLUSTER/work/calibrating" ]
	run -0 as_user salloc -Q -N1 : -N1 srun -v -N1 -n1 --nccl-tune=bandit,launch=auto,calibrate=60 echo "the step"
	[[ $output = *'launch profiles are not used in a heterogeneous job'*'the step'* ]]
	[ ! -e "$NT_CLUSTER/work/calibrating" ]
}

# in_memory [COMMAND...]: a step where the memory is as it is now, after a command
in_memory() {
	rm -f "$NT_CLUSTER/work/calibrating"
	run -0 as_user env NCCL_TUNE_MEMORY="$place" srun -N2 --nccl-tune=bandit,launch=auto,calibrate=60 echo "the step"
	[[ $output = *'the step'* ]]
	[ ! -e "$NT_CLUSTER/work/calibrating" ]
}

@test "a memory that hangs, is full, read-only or another's: no calibration, and the step runs" {
	place=$NT_CLUSTER/work/place
	as_user mkdir place
	mount -t tmpfs -o size=4k,nr_inodes=4,mode=777 none "$place"
	head -c 4096 /dev/zero >"$place/filler"
	in_memory
	[[ $output = *'no calibration: '*'No space left'* ]]
	umount "$place"
	mount -t tmpfs -o ro,mode=777 none "$place"
	in_memory
	[[ $output = *'no calibration: '*'Read-only'* ]]
	umount "$place"
	mount -t tmpfs -o mode=700 none "$place"
	in_memory
	[[ $output = *'Permission denied'* ]]
	umount "$place"
	coproc MUTE { exec "$NT_TESTS/nt-mute" --take "$place" 3>&-; }
	mute=$MUTE_PID
	read -r -t 600 -u "${MUTE[0]}" || skip "no FUSE here"
	in_memory
	[[ $output = *'no launch profile selected: timed out'* ]]
}

@test "a claim that is a link is replaced" {
	run -0 steps <<-END
		launch echo "the step" &
		$calibrates
		kill "\$(cat calibrating)"
		wait %1
	END
	run -0 ls "$memory"
	claim=$(grep ^claim- <<<"$output")
	[ -n "$claim" ]
	mv "$memory/$claim" "$NT_CLUSTER/work/elsewhere"
	as_user ln -s "$NT_CLUSTER/work/elsewhere" "$memory/$claim"
	rm "$NT_CLUSTER/work/calibrating"
	before=$(cat "$NT_CLUSTER/work/elsewhere")
	run -0 steps <<-END
		launch echo "the step" &
		$calibrates
		kill "\$(cat calibrating)"
		wait %1
	END
	[ "$(cat "$NT_CLUSTER/work/elsewhere")" = "$before" ]
	[ ! -L "$memory/$claim" ]
}
