#!/bin/bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# tests/page/screenshots.sh [DIRECTORY]: the pictures of docs/screenshots, of the page of a job of nccl-tune-bench on two GPUs,
# two pretended nodes that loopback sockets join (tests/page/data/bench). Needs a built tree (NT_PAGE names nt-page, else ./build's) and Chromium.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
to=${1:-$top/docs/screenshots}
page=${NT_PAGE:-$top/build/tests/page/nt-page}
work=$(mktemp -d)
# shellcheck source=tests/lib/chrome.bash
. "$top/tests/lib/chrome.bash"
trap 'chrome_stop; rm -rf "$work"' EXIT

# picture NAME THEME FROM TO: sections, FROM's top to TO's bottom; '' is the page's top
picture() {
	local wide=1120 from high
	chrome_open "$work/page.html" "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"$2\"}]}" \
		"{\"width\":$wide,\"height\":900,\"deviceScaleFactor\":1,\"mobile\":false}"
	from=$(chrome_eval "'$3' ? Math.round(byId('$3').getBoundingClientRect().top + scrollY - 14) : 0")
	high=$(chrome_eval "Math.round(byId('$4').getBoundingClientRect().bottom + scrollY + 14) - $from")
	chrome_call Page.captureScreenshot "{\"captureBeyondViewport\":true,\"clip\":{\"x\":0,\"y\":$from,\"width\":$wide,\"height\":$high,\"scale\":1}}" |
		jq -r .data | base64 -d >"$to/$1.png"
}

mkdir -p "$to"
"$page" ranks 4711 "$top"/tests/page/data/bench/rank.*.json >"$work/page.html"
chrome_start "$work/chrome"
picture report-light light '' choice
picture report-dark dark one comms
