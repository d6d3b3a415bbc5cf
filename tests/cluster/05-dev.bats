#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# ./dev cluster: a command, or a shell with lines that can be typed as they are.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
}

# A directory of /tmp that a cluster of ./dev lived in is gone.
ended() {
	local place
	place=$(sed -n 's,.*\(/tmp/nt-dev[^/]*\)/cluster.*,\1,p' <<<"$output" | head -n 1)
	[ -n "$place" ] && [ ! -e "$place" ] && no_leftovers "$place/cluster"
}

@test "a command runs in it as the user, and its exit status is returned" {
	run -0 "$NT_TOP/dev" cluster 2 -- srun -N2 bash -c 'echo "$SLURMD_NODENAME $(id -un) ${SLURM_CONF}"'
	[ "$(grep -c "^n[12] $NT_USER /" <<<"$output")" = 2 ]
	ended
	run -7 "$NT_TOP/dev" cluster 1 -- srun -n1 bash -c 'echo "$SLURM_CONF"; exit 7'
	ended
}

# Accounting has it some seconds after the step. (srun would read what else is typed here.)
wait_for_record='for i in {1..240}; do sacct -n -X -P -o state,admincomment | grep -q "COMPLETED.*nccl_tune" && break; sleep 0.5; done'

@test "the commands that it suggests work in its shell" {
	local typed
	run -0 "$NT_TOP/dev" cluster <<<$'srun --mpi=list\nexit'
	grep -qE '^[[:space:]]*pmix' <<<"$output" || skip "this Slurm was built without PMIx"
	typed=$(sed -n '/To begin with/,/As root/s/^  \([a-z]\)/\1/p' <<<"$output")
	[ "$(wc -l <<<"$typed")" = 3 ]
	run -0 --separate-stderr "$NT_TOP/dev" cluster <<<"${typed/$'\n'/" </dev/null"$'\n'"$wait_for_record"$'\n'}"$'\nexit'
	[[ $output = *'"mismatches":0'* ]]
	[[ $output = *COMPLETED*nccl_tune* ]]
	[[ $output = *AllReduce*TREE/SIMPLE* ]] || { echo "$output"; false; }
	ended
}

@test "the demo: a job and its report, a job whose first step calibrates, and an array of which one task calibrates" {
	local said=$BATS_TEST_TMPDIR/said page
	if ! "$NT_TOP/dev" demo >"$said" 2>&1; then
		! grep -q "this Slurm was built without PMIx" "$said" || skip "this Slurm was built without PMIx"
		cat "$said"
		false
	fi
	output=$(cat "$said")
	[[ $output = *"Step 0: mode bandit"* ]]
	# On a busy machine the calibration may find less than it does in the time that it was made for.
	[ "$(grep -c '^step [0-2]: [0-9]* s$' <<<"$output")" = 3 ] || { echo "$output"; false; }
	[ "$(grep '^step [0-2]: measuring launch profiles' <<<"$output")" = "step 0: measuring launch profiles for at most 30 s before the program (once)" ]
	grep -qE '^step 0: (no )?launch profile .* laps in |^step 0: calibration without a result: undecided' <<<"$output"
	[[ $output = *"nccl-tune report 2: what it came to"* ]]
	[ "$(grep -c '^task [0-3]: [0-9]* s$' <<<"$output")" = 4 ] || { echo "$output"; false; }
	[ "$(grep -c '^task [0-3]: measuring launch profiles for at most 30 s' <<<"$output")" = 1 ]
	[ "$(grep -c '^task [0-3]: not calibrated: ' <<<"$output")" = 3 ]
	# It ends with the first job's verdict.
	[[ ${output##*what the first job came to} = *"Net time saved: "*"AllReduce 256K on the 8 ranks across 2 nodes"*" instead of NCCL's "* ]]
	# The page that it names is one, of this job.
	page=$(sed -n 's/^== the same as a page: open \(.*\) in a browser$/\1/p' <<<"$output")
	[[ $(head -c 15 "$page") = '<!DOCTYPE html>' ]] || { head -c 200 "$page"; false; }
	grep -q '"AllReduce' "$page"
	rm "$page"
}
