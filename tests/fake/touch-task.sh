#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# touch-task.sh SECONDS RECORDS KEYS PAUSE - a task that leaves RECORDS rank records of KEYS keys each (1000 fill the largest
# that is read), and writes one of them again every PAUSE s
#
# Prints the job, the groups that processes of nt-recordd as this user were seen in, how many there were, what each was seen
# to have taken of a processor, at most, and how long all of it was, in milliseconds. For touch.sh and for
# tests/cluster/86-helper.bats.
set -eu

seconds=$1 files=$2 keys=$3 pause=$4
shm=${NCCL_TUNE_POLICY##*,shm=}
[[ ,$NCCL_TUNE_POLICY, =~ ,id=([0-9]+)\.([0-9]+), ]]
head='"job":'${BASH_REMATCH[1]}',"step":'${BASH_REMATCH[2]}
cd "$(mktemp -d)"
echo "job $SLURM_JOB_ID"

# A file for each such process: the groups it was in last, since it is moved into them when it runs already. Beside it what
# it had taken then, in ticks.
user=$(id -u) seen=$(mktemp -d) used=$(mktemp -d) began=${EPOCHREALTIME/./}
watch() {
	local pid line fields
	while [ ! -e "$seen/end" ]; do
		for pid in $(pgrep -u "$user" -x nt-recordd); do
			sed 's/^/reader /' "/proc/$pid/cgroup" >first.groups 2>/dev/null && mv first.groups "$seen/$pid"
			read -r line 2>/dev/null <"/proc/$pid/stat" || continue
			read -ra fields <<<"${line##*) }"
			echo $((fields[11] + fields[12])) >"$used/$pid"
		done
	done
}
watch &

{
	printf '{"v":1,%s,"task":0,"pid":1,"mode":"bandit","policy":"bandit","nccl":22809,"flags":0,"end":true,' "$head"
	printf '"counts":{},"comms":[{"id":"00f3","rank":0,"ranks":1,"nodes":1,"state":"agreed","why":"","keys":['
	for ((key = 1; key <= keys; key++)); do
		((key == 1)) || printf ,
		printf '{"coll":"AllReduce","bytes":%d,"state":"committed","auto":"RING/SIMPLE",' $((1024 * key))
		printf '"arm":"TREE/SIMPLE","us":[280.1,173.2],"p":0.0001,"samples":24,'
		printf '"spent_calls":135,"spent_ms":12.3,"saved_ms":456.7,"calls":10000}'
	done
	printf ']}]}\n'
} >first.tmp
for ((file = 1; file < files; file++)); do
	sed "s/00f3/f$file/" first.tmp | "$NT_TESTS/nt-record" put "$shm" "$file" $((1000 + file))
done

touch_for() {
	local end=$((SECONDS + $1))
	while ((SECONDS < end)); do
		"$NT_TESTS/nt-record" put "$shm" 0 1 <first.tmp
		sleep "$pause"
	done
}

# A reader that works where the step does, if that can be told here.
seen_within() {
	! grep -q /step_ /proc/self/cgroup || grep -qs /step_ "$seen"/*
}

touch_for "$seconds"
readers=$(find "$seen" -type f | wc -l)
# It may have been looked at only before it was moved; and on a busy machine the first reading comes late.
for ((more = 0; more < 120; more++)); do
	[ -z "$(ls "$seen")" ] || ! seen_within || break
	touch_for 1
done
touch "$seen/end"
wait
rm "$seen/end"
cat "$seen"/* | sort -u
echo "readers $readers"
for file in "$used"/*; do
	[ ! -s "$file" ] || echo "used $(($(<"$file") * 1000 / $(getconf CLK_TCK)))"
done
echo "all $(((${EPOCHREALTIME/./} - began) / 1000))"
rm -r "$seen" "$used" "$PWD"
