#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# nccl-tune.conf: which of all values counts, what is refused, brought down or locked, and where that holds whatever a user
# puts into his environment. Tables of cases; the unit tests site-conf and site-rules have the rest.
bats_require_minimum_version 1.5.0
load ../lib/cluster

setup_file() {
	cluster_setup
	export FILE=$NT_BASE/nccl-tune.conf TUNE=$NT_STAGE/bin/nccl-tune
	cluster_start 2 -n -p "$(line)"
	scontrol create PartitionName=gpu Nodes=ALL
	scontrol create PartitionName=debug Nodes=ALL
	export work=$NT_CLUSTER/work
}

line() {
	nt_plugstack_line pmix=ask "spooldir=$NT_CLUSTER/run/spool" "conf=$FILE" default=off,alpha=0.2 "$@"
}

# file [LINE]...: the site's file from now on.
file() {
	site_file "$FILE" "$@"
}

# What a task has: the mode, and some settings that differ from the built-in ones.
show='p=,${NCCL_TUNE_POLICY:-mode=none},; t=; for k in mode min_gain alpha channels budget max_calls calibrate algorithms protocols ll128
do v=${p#*,$k=}; [ "$v" = "$p" ] || t="$t $k=${v%%,*}"; done; echo $t'
plain=' min_gain=3 alpha=0.2 channels=off budget=0 max_calls=1000 calibrate=auto algorithms=all protocols=all ll128=auto'

# one [VARIABLE=VALUE]... [OPTION]...: an srun; its output, words and status in $output, $words and $status.
one() {
	local variables=()
	while [[ ${1:-} = [A-Z_]*=* ]]; do
		variables+=("$1")
		shift
	done
	output=$(as_user env "${variables[@]}" srun "$@" /bin/bash -c "$show" </dev/null 2>"$BATS_TEST_TMPDIR/words") && status=0 || status=$?
	words=$(grep -F nccl-tune: "$BATS_TEST_TMPDIR/words" || :)
}

# expected MODE [KEY=VALUE]...: what a task then shows.
expected() {
	local all=" mode=$1$plain" pair
	[ "$1" != none ] || { echo mode=none; return; }
	for pair in "${@:2}"; do
		all=$(sed -E "s/ ${pair%%=*}=[^ ]*/ $pair/" <<<"$all")
	done
	echo "${all# }"
}

# sruns <<TABLE: a case a line, "WORDS | TASK | SAID". WORDS are what one() takes; TASK is what expected() takes, or "refused",
# with an exit status other than 0; SAID is the one line of ours on standard error, a part of it, or nothing.
sruns() {
	local given task said option failed=0 count=0
	while IFS='|' read -r given task said; do
		read -ra option <<<"$given"
		read -ra task <<<"$task"
		said=$(sed 's/^ *//; s/ *$//' <<<"$said")
		one "${option[@]}"
		count=$((count + 1))
		if [ "${task[0]}" = refused ] && [ "$status" != 0 ] && [ -z "$output" ] && one_line "$said"; then
			continue
		elif [ "$status" = 0 ] && [ "$output" = "$(expected "${task[@]}")" ] && one_line "$said"; then
			continue
		fi
		printf '%s\n' "case: $given" "status $status, $output" "$words" "not: ${task[*]} | $said" >&2
		failed=1
	done
	[ "$failed" = 0 ] && [ "$count" -gt 0 ]
}

# one_line PART: ours are one line with this part, or none at all.
one_line() {
	if [ -z "$1" ]; then
		[ -z "$words" ]
	else
		[ "$(wc -l <<<"$words")" = 1 ] && [[ $words = *"$1"* ]]
	fi
}

@test "the precedence: lock, command line, variable, the job's option, site, built-in" {
	file
	sruns <<-'END'
		| none |
		--nccl-tune=bandit | bandit |
	END
	file '[site]' 'mode = observe' 'min_gain = 4'
	sruns <<-'END'
		| observe min_gain=4 |
		SLURM_NCCL_TUNE=bandit,min_gain=6 | bandit min_gain=6 |
		SLURM_NCCL_TUNE=off --nccl-tune=policy,alpha=0.1 | policy min_gain=4 alpha=0.1 |
		SLURM_NCCL_TUNE=policy --export=NONE | policy min_gain=4 |
	END
	file '[site]' 'mode = observe' 'min_gain = 4' 'lock = min_gain'
	sruns <<-'END'
		--nccl-tune=bandit,min_gain=5 | bandit min_gain=4 | min_gain is locked at this site: 4, not 5
	END
}

@test "a job's option ranks between the variable and the site's file" {
	local script="srun /bin/bash -c '$show'
SLURM_NCCL_TUNE=observe,min_gain=6 srun /bin/bash -c '$show'
srun --nccl-tune=policy /bin/bash -c '$show'"
	file '[site]' 'min_gain = 4'
	printf '#!/bin/bash\n%s\n' "$script" >"$work/script"
	run -0 as_user sbatch -Q -W -n1 -o "$work/output" --nccl-tune=bandit,min_gain=5 script
	# srun may say that it has to wait for the step before.
	[ "$(grep -v '^srun: ' "$work/output")" = "$(expected bandit min_gain=5
		expected observe min_gain=6; expected policy min_gain=4)" ]
}

@test "a user's mistake is reported once, with what is accepted" {
	file '[site]' 'budget_max = 10'
	sruns <<-'END'
		SLURM_NCCL_TUNE=bandid | refused | SLURM_NCCL_TUNE=bandid: unknown mode 'bandid' (want off, observe, bandit, policy or profile)
		--nccl-tune=bandit,alpha=2 | refused | bad alpha '2' (want 0.000001 to 0.5)
	END
	run ! as_user env SLURM_NCCL_TUNE=bandid srun true
	[ "$(wc -l <<<"$output")" = 1 ]
	run ! as_user env SBATCH_NCCL_TUNE=bandid sbatch --wrap true
	[ "$(wc -l <<<"$output")" = 1 ]
	[[ $output = *"nccl-tune: SBATCH_NCCL_TUNE=bandid: unknown mode 'bandid' (want off, "* ]]
	run ! as_user env SALLOC_NCCL_TUNE=bandid salloc true
	[ "$(wc -l <<<"$output")" = 1 ]
	run -0 as_user env SBATCH_NCCL_TUNE=bandid SALLOC_NCCL_TUNE=bandid SLURM_NCCL_TUNE= srun true
	[ -z "$output" ]
	run -0 as_user squeue -h -t PENDING,RUNNING
	[ -z "$output" ]
}

@test "a value over a limit is reduced to it with one message, not refused" {
	file '[site]' 'budget_max = 10'
	run -0 as_user srun --nccl-tune=bandit,budget=11 true
	[ "$(grep -c 'budget 11 is not allowed at this site (want more than 0, up to 10 percent): it is 10$' <<<"$output")" = 1 ]
}

@test "a partition's section applies to its steps" {
	file '[site]' 'mode = observe' 'modes = observe' 'min_gain = 4' \
		'[partition gpu]' 'modes = observe bandit' 'min_gain = 5' 'protocols = ll simple' 'lock = alpha' 'budget_max = 10' \
		'[partition debug]' 'tuning = off'
	sruns <<-'END'
		| observe min_gain=4 |
		--nccl-tune=bandit | none | mode bandit is not allowed at this site (allowed: off, observe); the step will not be tuned
		-p gpu --nccl-tune=bandit,protocols=ll+ll128 | bandit min_gain=5 protocols=ll budget=10 | protocols ll+ll128 is not allowed in [partition gpu] (allowed: ll+simple)
		-p debug | none |
		-p debug --nccl-tune=bandit | none | tuning is switched off in [partition debug]
		-p gpu --export=NONE | observe min_gain=5 protocols=ll+simple budget=10 |
		SLURM_JOB_PARTITION=debug -p gpu | observe min_gain=5 protocols=ll+simple budget=10 |
	END
	printf '#!/bin/bash\n%s\n' "$show" "srun /bin/bash -c '$show'" >"$work/script"
	run -0 as_user sbatch -Q -W -n1 -p gpu -o "$work/output" --export=ALL,SLURM_JOB_PARTITION=debug script
	[ "$(grep -v '^srun: ' "$work/output")" = "$(expected observe min_gain=5 protocols=ll+simple budget=10
		expected observe min_gain=5 protocols=ll+simple budget=10)" ]
}

# Slurm tells the components of a heterogeneous job each other's.
@test "if a step's partition is unknown the strictest section applies" {
	file '[site]' 'mode = bandit' '[partition gpu]' 'min_gain = 9' 'protocols = simple ll' '[partition debug]' 'modes = observe'
	run -0 as_user srun -Q -p gpu /bin/bash -c "$show" : -p debug /bin/bash -c "$show"
	[ "$output" = $'mode=none\nmode=none' ]
	run -0 as_user srun -Q --nccl-tune=observe,min_gain=2 -p gpu /bin/bash -c "$show" : --nccl-tune=observe,min_gain=2 -p debug /bin/bash -c "$show"
	[ "$output" = "$(expected observe min_gain=2 protocols=ll+simple; expected observe min_gain=2 protocols=ll+simple)" ]
	grep -qh 'the partition of job .* is not known; the strictest section applies' "$NT_CLUSTER"/log/n?.log
}

# What srun is made to believe is not what the nodes do; and srun sets the partition that slurmctld has told it.
@test "a user's environment cannot change a step's limits or partition" {
	local forged=_SLURM_SPANK_OPTION_nccl_tune_nccl_tune
	file '[site]' 'mode = observe' 'modes = observe' 'lock = min_gain' '[partition gpu]' 'modes = observe bandit' \
		'[partition debug]' 'tuning = off'
	sruns <<-END
		$forged=bandit | none |
		$forged=bandit --export=ALL,SLURM_JOB_PARTITION=gpu | none |
		$forged=observe,min_gain=50 | observe |
		$forged=observe -p debug | none |
	END
	run -0 as_user env SLURM_JOB_PARTITION=gpu sbatch -Q -W -n1 -o "$work/output" \
		--export=ALL,SLURM_JOB_PARTITION=gpu --wrap "SLURM_JOB_PARTITION=gpu srun --nccl-tune=bandit /bin/bash -c '$show'"
	grep -qx mode=none "$work/output"
}

@test "a broken file disables tuning, fails no job, and its line is reported once per step" {
	local broken
	for broken in 'mode = bandid' 'min_gian = 3' 'modes' '[partition]' 'budget_max = 0' ' mode = off' "$(printf '#%0200d' 0)"; do
		file '[site]' 'mode = observe' "$broken"
		one
		[ "$status $output $words" = '0 mode=none ' ]
		[ "$(grep -hc "nccl-tune: $FILE:[0-9]*: .*; the step runs untuned" "$NT_CLUSTER/log/n1.log")" -ge 1 ]
		run -1 as_user "$TUNE" check-config
		[[ $output =~ "$FILE:"[0-9]+": " ]]
	done
	sruns <<-'END'
		--nccl-tune=bandit | none | nccl-tune.conf:3: the line is longer than 190 bytes; the step will not be tuned
	END
}

@test "a file that others can write to, or a named file that is missing, counts as broken" {
	local how
	for how in 'chown nt-test' 'chmod g+w' 'chmod o+w' 'link' 'fifo' 'rm'; do
		rm -f "$FILE"
		file '[site]' 'mode = observe'
		case $how in
		link) mv "$FILE" "$FILE.real"; ln -s "$FILE.real" "$FILE" ;;
		fifo) rm "$FILE"; mkfifo "$FILE" ;;
		chown*) chown "$NT_USER" "$FILE" ;;
		*) $how "$FILE" ;;
		esac
		one
		[ "$status $output $words" = '0 mode=none ' ]
		one --nccl-tune=bandit
		[ "$status $output" = '0 mode=none' ]
		one_line 'the step will not be tuned'
		run -1 as_user "$TUNE" check-config
	done
	rm -f "$FILE" "$FILE.real"
	file '[site]' 'mode = observe'
	sruns <<<'| observe |'
}

@test "the switch takes effect for the next step, also in a running job" {
	local batch
	file '[site]' 'mode = observe'
	printf '#!/bin/bash\n%s\n' "srun /bin/bash -c '$show'; touch first; until [ -e second ]; do sleep 0.1; done
srun --nccl-tune=bandit /bin/bash -c '$show'" >"$work/script"
	rm -f "$work"/{first,second}
	as_user sbatch -Q -W -n1 -o "$work/output" script &
	batch=$!
	wait_for 60 test -e "$work/first"
	file '[site]' 'mode = observe' 'tuning = off'
	as_user touch "$work/second"
	wait "$batch"
	[ "$(grep -v '^srun: ' "$work/output")" = "$(expected observe)
mode=none" ]
}

@test "help prints every setting with its value and source, and starts nothing" {
	local command
	file '[site]' 'mode = observe' 'lock = alpha' 'budget_max = 5' '[partition gpu]' 'min_gain = 9'
	for command in srun 'sbatch --wrap true' salloc; do
		# shellcheck disable=SC2086 # words
		run -0 as_user $command --nccl-tune=help
		[[ $output = *'mode            observe      off       '"$FILE:2 [site]"*'off, observe, bandit, policy or profile'* ]]
		[[ $output = *"alpha           0.2          0.01      $FILE:3 [site], locked"* ]]
		[[ $output = *"budget          5            0         $FILE:4 [site], limit"* ]]
		[[ $output = *'reward          call         call      built-in'* ]]
		[[ $output = *'partition unknown (some have sections)'*$'\nIn [partition gpu]:\nmin_gain = 9    ('"$FILE:"*')'* ]]
	done
	run -0 as_user squeue -h -t PENDING,RUNNING
	[ -z "$output" ]
	run -0 as_user salloc -Q -n1 -p gpu srun --nccl-tune=help
	[[ $output = *"nccl-tune.conf, partition gpu"* ]]
	grep -qE "^min_gain +9 +3 +$FILE:[0-9]+ \[partition gpu\]" <<<"$output"
	run -0 as_user env SLURM_NCCL_TUNE=bandit,reward=period srun --nccl-tune=help
	grep -E '^ *reward +period +call +the variable' <<<"$output"
}

@test "check-config finds mistakes that Slurm ignores silently" {
	local draft=$work/draft
	file '[site]' 'mode = observe'
	run -0 as_user "$TUNE" check-config
	[ "$(tail -1 <<<"$output")" = "$FILE: 0 sections, in order" ]
	[ "$(grep -vc '^checked ' <<<"$output")" = 1 ]
	printf '[site]\nmodes = observ\n' >"$draft"
	run -1 as_user "$TUNE" check-config "$draft"
	[[ $output = *"nccl-tune check-config: $draft:2: modes: 'observ' (want "* ]]
	printf '[site]\nmodes = observe\n' >"$draft"
	chown "$NT_USER" "$draft"
	run -0 as_user "$TUNE" check-config "$draft"
	[[ $output = *"note: $draft is writable by others than root"* ]]
	printf '%s\n' '[site]' 'launch = default' '[partition gpu]' 'launch = wied' >"$draft"
	run -1 as_user "$TUNE" check-config "$draft"
	[[ $output = *"$draft:4: no launch profile 'wied' (there are: default"* ]]
	printf '[site]\nrecord = admincomment file:%s\n' "$NT_CLUSTER/work" >"$draft"
	run -1 as_user "$TUNE" check-config "$draft"
	[[ $output = *"record: $NT_CLUSTER/work must be a directory owned by root and writable by nobody else"* ]]
	chmod 640 "$FILE"
	run -1 as_root "$TUNE" check-config
	[[ $output = *"$FILE cannot be read by all users (mode 0640)"* ]]
	chmod 644 "$FILE"
	file
	cluster plugstack
	run -1 as_user "$TUNE" check-config
	[[ $output = *"has no line for spank_nccl_tune.so: no step is tuned on this host"* ]]
	cluster plugstack 'optional /nonexistent/spank_nccl_tune.so'
	run -1 as_user "$TUNE" check-config
	[[ $output = *":1: /nonexistent/spank_nccl_tune.so: No such file or directory (optional: jobs run without it"* ]]
	cluster plugstack 'optional /etc/hostname/spank_nccl_tune.so'
	run -1 as_user "$TUNE" check-config
	cluster plugstack "$(line) rundir=/tmp"
	run -1 as_user "$TUNE" check-config
	[[ $output = *"plugstack argument 'rundir=/tmp' (want conf=PATH, or nothing; settings belong in "* ]]
	cluster plugstack "$(line plugin=/nonexistent/libnccl-tune.so)"
	run -1 as_user "$TUNE" check-config
	[[ $output = *"plugin /nonexistent/libnccl-tune.so: No such file or directory"* ]]
	cluster plugstack "$(line)" "$(line)"
	run -1 as_user "$TUNE" check-config
	[[ $output = *":2: 1 more line loads this plugin: keep one"* ]]
	run -2 as_user "$TUNE" check-config a b
	cluster plugstack "$(line)"
	run -0 as_user "$TUNE" check-config
}

# served WORD INCLUDE...: check-config, where slurm.conf has that word among SlurmctldParameters, and plugstack.conf these
# includes.
served() {
	local dir=$NT_BASE/served
	rm -rf "$dir" && mkdir -p "$dir/plugstack.conf.d"
	printf 'ClusterName=nt\nSlurmctldParameters=cloud_dns%s\n' "$1" >"$dir/slurm.conf"
	line >"$dir/plugstack.conf.d/spank-nccl-tune.conf"
	cp "$dir/plugstack.conf.d/spank-nccl-tune.conf" "$dir/spank-nccl-tune.conf"
	printf '%s\n' "${@:2}" >"$dir/plugstack.conf"
	chmod -R a+rX "$dir"
	run as_user env SLURM_CONF="$dir/slurm.conf" "$TUNE" check-config
}

@test "check-config says what slurmctld does not serve, and where the plugin's line belongs" {
	local dir=$NT_BASE/served
	file '[site]'
	served '' "include $dir/plugstack.conf.d/*.conf"
	[[ $output != *configless* ]]
	served ,enable_configless "include $dir/plugstack.conf.d/*.conf"
	[ "$status" = 1 ]
	[[ $output = *"$dir/plugstack.conf.d/spank-nccl-tune.conf:1: slurmctld serves this cluster's configuration (configless), and does not serve what \"include $dir/plugstack.conf.d/*.conf\" names: write this line itself into plugstack.conf on slurmctld's host; then: scontrol reconfigure"* ]]
	served ,enable_configless 'include spank-nccl-tune.conf'
	[[ $output != *configless* ]]
	served ,enable_configless "$(line)"
	[[ $output != *configless* ]]
	served ,enable_configless
	[[ $output = *'note: slurmctld serves this cluster'*'"optional spank_nccl_tune.so" belongs in plugstack.conf on slurmctld'* ]]
	# A node that slurmctld has served.
	run as_user env SLURM_CONF=/run/slurm/conf/slurm.conf "$TUNE" check-config
	[[ $output = *'/run/slurm/conf/plugstack.conf: '*'note: slurmctld serves this cluster'* ]]
}

# The linker's -z now does the same to the plugin alone, as packages have it.
@test "check-config loads a plugin that binds its symbols at once, and reports a missing library" {
	local lib=$NT_BASE/lacks
	file '[site]'
	run -0 as_user env LD_BIND_NOW=1 "$TUNE" check-config
	mkdir -p "$lib"
	echo 'int nowhere(void); int f(void) { return nowhere(); }' >"$lib/lacks.c"
	gcc -shared -fPIC -Wl,-z,now -o "$lib/spank_nccl_tune.so" "$lib/lacks.c"
	cluster plugstack "optional $lib/spank_nccl_tune.so conf=$FILE"
	run -1 as_user "$TUNE" check-config
	[[ $output = *':1: cannot be loaded: '*'undefined symbol: nowhere'* ]]
	cluster plugstack "$(line)"
}

@test "check-config checks profiles, the site's memory and the names of sections, and prints what it checked" {
	local fake=$NT_BASE/fake
	file '[site]' '[partition gpu]' 'mode = off' '[partition gpus]' 'mode = off'
	cluster plugstack "$(line)"
	run -1 as_user "$TUNE" check-config
	[[ $output = *"nccl-tune check-config: $FILE:"*": Slurm has no partition named gpus"* ]]
	[ "$(grep -c 'nccl-tune check-config: ' <<<"$output")" = 1 ]
	grep -qE '^checked 2 partitions against Slurm.s [0-9]+$' <<<"$output"
	grep -qE "^checked profiles $NT_STAGE/.*: [1-9][0-9]*\$" <<<"$output"
	grep -qE "^checked $NT_CLUSTER/.*:1: $NT_STAGE/lib/slurm/spank_nccl_tune.so\$" <<<"$output"
	mkdir -p "$fake"
	printf '#!/bin/sh\nexec sleep 1000\n' >"$fake/sinfo"
	chmod 755 "$fake/sinfo"
	run -0 as_root env PATH="$fake:$PATH" "$TUNE" check-config
	[[ $output = *'note: partitions could not be looked up: sinfo: timed out'* ]]
	file '[site]'
	printf 'profil wide\n' >"$NT_BASE/profiles"
	printf '{"v":1\n' >"$NT_BASE/memory"
	cluster plugstack "$(line profiles="$NT_BASE/profiles" site_memory="$NT_BASE/memory")"
	run -1 as_user "$TUNE" check-config
	[[ $output = *"profiles: $NT_BASE/profiles:1: "*"site_memory $NT_BASE/memory: 1 malformed line is ignored"* ]]
	chmod o+w "$NT_BASE/memory"
	run -1 as_user "$TUNE" check-config
	[[ $output = *"site_memory: $NT_BASE/memory is writable by others than root"* ]]
	cluster plugstack "$(line)"
}
