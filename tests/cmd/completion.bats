#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What bash offers for nccl-tune and for --nccl-tune= of srun: all that there is, and nothing else. Needs an installed tree
# (NT_STAGE).
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	stage=${NT_STAGE:-$PWD/build/stage}
	load=". etc/bash-completion/nccl-tune"
}

# offered WORD...: what bash would offer for the last word of a line, which it cuts at "=" as well.
offered() {
	PATH=$stage/bin:$PATH bash -c "$load"'
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
		rule=$(complete -p "$1" | sed "s/.* -F \([^ ]*\) .*/\1/")
		last=${COMP_WORDS[COMP_CWORD]}
		[ "$last" != = ] || last=
		compopt() { :; }
		"$rule" "$1" "$last" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}

# The settings of the product as KEY=DEFAULT, and those that have words as KEY=WORD,WORD.
settings_of_source() {
	awk -F'[,(] *' '/^\tX\(/ && $2 != "mode" {
		value = $7
		if ($4 == "NT_DEC") value = $7 / 1000000
		if ($4 == "NT_ENUM" || $7 ~ /^NT_/) value = ""
		if ($4 == "NT_NAME") value = "off"
		if ($4 == "NT_SET") value = "all"
		print $2 "=" value }' contract/setting.h
}

words_of_source() {
	sed -n 's/^\tX('"$1"', .*NT_WORDS(\([^)]*\)).*/\1/p' contract/setting.h | tr -d ' "' | tr , '\n'
}

@test "every mode and every setting is offered, with its words or its default" {
	local setting key
	[ "$(offered srun --nccl-tune = | sort)" = "$( (words_of_source mode; echo help) | sort)" ]
	[ "$(settings_of_source | wc -l)" -gt 15 ]
	for setting in $(settings_of_source); do
		key=${setting%%=*}
		run -0 offered srun --nccl-tune = "bandit,$key"
		grep -qxF "bandit,$key=" <<<"$output" || { echo "$key: $output"; false; }
		run -0 offered srun --nccl-tune = "bandit,$key" =
		if [ "$key" = launch ]; then
			[[ $output = off$'\n'auto* ]]
		elif [ "${setting#*=}" = all ]; then
			[[ $output = all$'\n'* ]]
		elif [ -z "${setting#*=}" ]; then
			[ "$(sort <<<"$output")" = "$(words_of_source "$key" | sort)" ] || { echo "$key: $output"; false; }
		else
			[ "$output" = "${setting#*=}" ] || { echo "$setting: $output"; false; }
		fi
	done
	[ "$(offered srun --nccl-tune = bandit, | wc -l)" = "$(settings_of_source | wc -l)" ]
}

@test "words already typed are kept and not offered again" {
	run -0 offered sbatch --nccl-tune = bandit,launch = off,ch
	[ "$output" = off,channels= ]
	run -0 offered srun --nccl-tune = o
	[ "$output" = $'off\nobserve' ]
	run -0 offered srun --nccl-tune = bandit,reward = pe
	[ "$output" = period ]
}

@test "the option is offered, and only where an option is typed" {
	[[ $(offered srun --ncc) = *--nccl-tune=* ]]
	run -0 offered srun ./pro
	[[ $output != *nccl-tune* ]]
}

@test "every command and every option of the command is offered" {
	local command option
	for command in $("$stage/bin/nccl-tune" --help | sed -n '/^Commands:/,$s/^  \([a-z-]*\) .*/\1/p'); do
		offered nccl-tune "${command:0:2}" | grep -qx -- "$command"
		for option in $("$stage/bin/nccl-tune" "$command" --help | grep -oE '^ *(-[A-Za-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
			offered nccl-tune "$command" -- | grep -qx -- "$option" || { echo "$command $option"; false; }
		done
	done
}

@test "jobs are offered where one is wanted" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\nprintf "%%s\\n" 4711 4712_3\n' >"$BATS_TEST_TMPDIR/bin/sacct"
	chmod +x "$BATS_TEST_TMPDIR/bin/sacct"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run -0 offered nccl-tune report 471
	[ "$output" = $'4711\n4712_3' ] || { echo "$output"; false; }
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run -0 offered nccl-tune summary 471
	[ -z "$output" ]
}

@test "Slurm's own completion still works, whichever of its commands comes first" {
	local first
	[ -e /usr/share/bash-completion/bash_completion ] || skip "no bash-completion here"
	[ -e /usr/share/bash-completion/completions/srun ] || skip "Slurm's has no completion here"
	mkdir -p "$BATS_TEST_TMPDIR/bash-completion/completions"
	cp etc/bash-completion/nccl-tune "$BATS_TEST_TMPDIR/bash-completion/completions"
	for first in srun sinfo; do
		load="XDG_DATA_DIRS=$BATS_TEST_TMPDIR:/usr/share; . /usr/share/bash-completion/bash_completion
			. etc/bash-completion/nccl-tune-slurm; _nccl_tune_first $first"
		run -0 offered srun --n
		[[ $output = *--nccl-tune=* && $output = *--nodes* ]] || { echo "$first: $output"; false; }
		run -0 offered srun --nccl-tune = b
		[ "$output" = bandit ]
	done
}
