#!/bin/bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# tests/page/screenshots.sh [DIRECTORY]: docs/screenshots, the report of a real job on two GPUs, two pretended nodes that loopback sockets
# join, as text, as a picture of it, and as pictures of the page. They are of the job's long form (tests/page/data/gpu).
# Needs a built tree (NT_PAGE names nt-page, else ./build's) and Chromium.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
to=${1:-$top/docs/screenshots}
page=${NT_PAGE:-$top/build/tests/page/nt-page}
work=$(mktemp -d)
# shellcheck source=tests/lib/chrome.bash
. "$top/tests/lib/chrome.bash"
trap 'chrome_stop; rm -rf "$work"' EXIT

# picture NAME PAGE THEME FROM TO [WIDTH]: elements by their ids, FROM's top to TO's bottom; '' is the page's top
picture() {
	local wide=${6:-1120} from high
	chrome_open "$work/$2.html" "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"$3\"}]}" \
		"{\"width\":$wide,\"height\":900,\"deviceScaleFactor\":1,\"mobile\":false}"
	from=$(chrome_eval "'$4' ? Math.round(document.getElementById('$4').getBoundingClientRect().top + scrollY - 14) : 0")
	high=$(chrome_eval "Math.round(document.getElementById('$5').getBoundingClientRect().bottom + scrollY + 14) - $from")
	chrome_call Page.captureScreenshot "{\"captureBeyondViewport\":true,\"clip\":{\"x\":0,\"y\":$from,\"width\":$wide,\"height\":$high,\"scale\":1}}" |
		jq -r .data | base64 -d >"$to/$1.png"
}

# terminal COMMAND: a page that looks like one in which COMMAND has printed standard input
terminal() {
	cat <<-'END'
		<!DOCTYPE html><html lang="en" data-ready-ms="0"><meta charset="utf-8"><title>Terminal</title><style>
		body { margin: 0; background: #12161c; color: #dde3ea; }
		pre { margin: 0; padding: 18px 22px; font: 14px/1.38 "DejaVu Sans Mono", ui-monospace, monospace; }
		b { color: #7ee08f; }
		</style><body><pre id="screen">
	END
	printf '<b>%s</b>\n%s\n</pre>' "$(jq -rn --arg words "$1" '$words | @html')" "$(jq -rRs '@html')"
}

mkdir -p "$to"
"$page" long 2 "$top/tests/page/data/gpu" >"$work/page.html"
"$page" --report long 2 "$top/tests/page/data/gpu" >"$to/report.txt"
terminal '$ nccl-tune report 2' <"$to/report.txt" >"$work/terminal.html"
chrome_start "$work/chrome"
picture report-light page light '' choice
picture report-dark page dark one course
picture report-text terminal dark '' screen 760
