#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# outputs.sh DIRECTORY - every kept record in every form that the tools have, to compare by
# diff -r before and after a change
#
# Uses ./build, which must be built with its tests. Of each record NAME: NAME.text, .json, .csv,
# .prom and .html.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?usage: outputs.sh DIRECTORY}
page=$PWD/build/tests/page/nt-page
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# render NAME KIND JOB FILE...: all forms of it
render() {
	local name=$out/$1
	shift
	"$page" --report "$@" >"$name.text" 2>&1 || true
	"$page" --json "$@" >"$name.json" 2>&1 || true
	"$page" --csv "$@" >"$name.csv" 2>&1 || true
	"$page" --prometheus "$@" >"$name.prom" 2>&1 || true
	"$page" "$@" >"$name.html" 2>&1 || true
}

for file in tests/unit/data/report/{damaged,differs,empty,full,launch,reasons,short,wide}.json \
	tests/unit/data/kept/*-job.json; do
	render "$(basename "$file" .json)" text 4711 "$file"
done
for data in tests/page/data/*/; do
	name=page-$(basename "$data")
	if compgen -G "$data*.jsonl.gz" >/dev/null; then
		render "$name" long 4711 "$data"
	else
		render "$name" ranks 4711 "$data"rank.*.json
	fi
done
for part in tests/unit/data/kept/*-part.jsonl; do
	mkdir -p "$work/part"
	gzip -nc "$part" >"$work/part/0.n1.jsonl.gz"
	render "$(basename "$part" .jsonl)" long 4711 "$work/part"
done
number=0
while read -r run && read -r record; do
	number=$((number + 1))
	mkdir -p "$work/$run"
	printf '%s\n' "$record" >"$work/$run/rank.$number.json"
done < <(jq -r '.run, (.record | tojson)' docs/results/h200-x4/records.json)
for run in "$work"/*.*/; do
	render "h200-x4-$(basename "$run")" ranks 4711 "$run"rank.*.json
done
find "$out" -type f | wc -l
