#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# --nccl-tune on srun, sbatch and salloc: what is refused and where, and which of several values counts.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	unset NCCL_TUNE_RECORD_DIR # the variables of a task are looked at
	cluster_start 2 -n
}

setup() {
	site
}

# site [KEY=VALUE]...: keys of the site's file, for the steps from now on.
site() {
	cluster plugstack "$(nt_plugstack_line pmix=ask "spooldir=$NT_CLUSTER/run/spool" "$@")"
}

# What a task shows of its policy: NAME MODE MIN_GAIN.
show='[[ ${NCCL_TUNE_POLICY:-mode=none,min_gain=} =~ ^mode=([a-z]*),min_gain=([0-9.]*) ]]
echo "$0 ${BASH_REMATCH[1]} ${BASH_REMATCH[2]}"'

task() {
	as_user srun "$@" /bin/bash -c "$show" task
}

# batch NAME=VALUE... OPTION... <SCRIPT: submit, wait, print the output. Assignments are for sbatch's environment.
batch() {
	local words=()
	while [[ ${1:-} = [A-Z]*=* ]]; do
		words+=("$1")
		shift
	done
	{ printf '#!/bin/bash\nshow=%q\n' "$show"; cat; } >"$NT_CLUSTER/work/script"
	as_user env "${words[@]}" sbatch -Q -W -n1 -o "$NT_CLUSTER/work/output" "$@" script
	without_waits <"$NT_CLUSTER/work/output"
}

log_has() {
	grep -qh "$1" "$NT_CLUSTER"/log/n*.log
}

@test "--help lists the option and its modes" {
	for command in srun sbatch salloc; do
		run -0 as_user "$command" --help
		[[ $output = *'--nccl-tune=MODE[,key=value...]'*'off, observe'*'bandit'*'nccl-tune(7)'* ]]
	done
}

@test "an invalid value is refused before anything is launched" {
	local wrong
	run ! as_user srun --nccl-tune=Tune touch "$NT_CLUSTER/work/ran"
	[[ ${lines[0]} = *"nccl-tune: --nccl-tune=Tune: unknown mode 'Tune' (want off, observe, bandit, policy or profile)" ]]
	for wrong in '' bandit,min_gian=3 bandit,min_gain=91 bandit,min_gain=1,min_gain=2 bandit,dir=/tmp 'bandit,'; do
		run ! as_user srun "--nccl-tune=$wrong" touch "$NT_CLUSTER/work/ran"
		[[ ${lines[0]} = *"nccl-tune: --nccl-tune=$wrong: "* ]]
	done
	run ! as_user sbatch --nccl-tune=fast --wrap 'touch ran'
	[[ ${lines[0]} = *"nccl-tune: --nccl-tune=fast: unknown mode 'fast' (want off, observe, bandit, policy or profile)" ]]
	run ! as_user salloc --nccl-tune=fast touch ran
	[[ ${lines[0]} = *"nccl-tune: --nccl-tune=fast: unknown mode 'fast' (want off, observe, bandit, policy or profile)" ]]
	run -0 as_user squeue -h -t PENDING,RUNNING
	[ -z "$output" ]
	[ ! -e "$NT_CLUSTER/work/ran" ]
}

@test "without the option nothing happens" {
	run -0 task
	[ "$output" = 'task none ' ]
}

steps_of_a_job='
/bin/bash -c "$show" batch
srun /bin/bash -c "$show" inherits
srun --nccl-tune=observe /bin/bash -c "$show" overrides
SLURM_NCCL_TUNE=observe,min_gain=4 srun /bin/bash -c "$show" environment
SLURM_NCCL_TUNE=observe srun --nccl-tune=off /bin/bash -c "$show" off
srun --nccl-tune=off /bin/bash -c "env | grep ^NCCL_ || echo nothing of NCCL"'

@test "sruns in a batch job inherit its option and can override it" {
	run -0 batch --nccl-tune=bandit,min_gain=6 <<<"$steps_of_a_job"
	[ "$output" = 'batch bandit 6
inherits bandit 6
overrides observe 3
environment observe 4
off none 
nothing of NCCL' ]
	run -0 batch SBATCH_NCCL_TUNE=bandit --nccl-tune=observe,min_gain=1 <<<"$steps_of_a_job"
	[[ $output = 'batch observe 1'*'inherits observe 1'* ]]
}

@test "an option of sbatch, or its variable, reaches the sruns with any --export" {
	run -0 batch SBATCH_NCCL_TUNE=bandit --export=NONE <<<'srun /bin/bash -c "$show" inherits'
	[ "$output" = 'inherits bandit 3' ]
}

@test "srun in an allocation of salloc" {
	SALLOC_NCCL_TUNE=observe run -0 as_user salloc -Q -n1 --nccl-tune=bandit srun /bin/bash -c "$show" task
	[ "$output" = 'task bandit 3' ]
	SALLOC_NCCL_TUNE=observe run -0 as_user salloc -Q -n1 srun --nccl-tune=off /bin/bash -c "$show" task
	[ "$output" = 'task none ' ]
}

@test "a forged invalid value leaves the step untuned" {
	_SLURM_SPANK_OPTION_nccl_tune_nccl_tune=$'%n%s\x1b[31m' run -0 task
	[ "$output" = 'task none ' ]
	log_has 'nccl-tune: job .*: --nccl-tune=.* is not valid; the step runs untuned'
	_SLURM_SPANK_OPTION_nccl_tune_nccl_tune=bandit,alpha=$(printf '%02000d' 1) run -0 task
	[ "$output" = 'task none ' ]
	_SLURM_SPANK_OPTION_nccl_tune_nccl_tune=observe run -0 task
	[ "$output" = 'task observe 3' ]
}

@test "a mistake in plugstack.conf fails no step and is reported to those who ask for tuning" {
	cluster plugstack "$(nt_plugstack_line pmix=ask) rundri=/tmp"
	run -0 task
	[ "$output" = 'task none ' ]
	log_has "nccl-tune: plugstack argument 'rundri=/tmp' (want conf=PATH, or nothing; settings belong in "
	run -0 --separate-stderr task --nccl-tune=bandit
	[ "$output" = 'task none ' ]
	[[ $stderr = *"nccl-tune: plugstack argument 'rundri=/tmp'"*'; the step will not be tuned'* ]]
	site default=observ
	run -0 task
	[ "$output" = 'task none ' ]
}

pmix='echo ${PMIX_RANK-none} $0'

# Its plugins are all of this Slurm's but those for PMIx.
@test "a Slurm without PMIx, or with one that does not load, starts its steps, whatever the site's default is" {
	local plugins=$NT_BASE/plugins conf=$NT_BASE/slurm.conf of_slurm
	of_slurm=$(scontrol show config | awk '$1 == "PluginDir" { print $3 }')
	mkdir -m 755 "$plugins"
	ln -s "$of_slurm"/* "$plugins"
	rm -f "$plugins"/mpi_pmix*
	{ cat "$SLURM_CONF"; echo "PluginDir=$plugins"; } >"$conf"
	site pmix=default
	chmod 644 "$conf"
	run ! as_user env SLURM_CONF="$conf" srun --mpi=pmix true
	run -0 as_user env SLURM_CONF="$conf" srun /bin/bash -c "$pmix" task
	[ "$output" = 'none task' ]
	echo damaged >"$plugins/mpi_pmix.so"
	run ! as_user env SLURM_CONF="$conf" srun --mpi=pmix true
	run -0 as_user env SLURM_CONF="$conf" srun /bin/bash -c "$pmix" task
	[ "${lines[-1]}" = 'none task' ]
}

@test "PMIx is the default of a step if the site says so; the user's choice overrides it" {
	run -0 as_user srun /bin/bash -c "$pmix" task
	[ "$output" = 'none task' ]
	need_pmix
	site pmix=default
	run -0 as_user srun /bin/bash -c "$pmix" task
	[ "$output" = '0 task' ]
	run -0 as_user srun --mpi=none bash -c "$pmix" task
	[ "$output" = 'none task' ]
	SLURM_MPI_TYPE=none run -0 as_user srun /bin/bash -c "$pmix" task
	[ "$output" = 'none task' ]
	run -0 batch <<<"srun /bin/bash -c '$pmix' step"
	[ "$output" = '0 step' ]
}

@test "PMIx is not the default of a heterogeneous step with a Slurm whose srun can hang after it" {
	local with=none
	need_pmix
	site pmix=default
	slurm_is_at_least 24.05.4 && with=0
	run -0 as_user salloc -Q -N2 srun -N1 -n1 /bin/bash -c "$pmix" a : -N1 -n1 /bin/bash -c "$pmix" b
	[ "$(sed 's/^[1-9]/0/' <<<"$output" | sort)" = "$with a"$'\n'"$with b" ]
}
