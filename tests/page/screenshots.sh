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

# picture NAME THEME WIDTH HEIGHT TOP
picture() {
	chrome_open "$work/page.html" "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"$2\"}]}" \
		"{\"width\":$3,\"height\":900,\"deviceScaleFactor\":1,\"mobile\":false}"
	chrome_call Page.captureScreenshot "{\"captureBeyondViewport\":true,\"clip\":{\"x\":0,\"y\":$5,\"width\":$3,\"height\":$4,\"scale\":1}}" |
		jq -r .data | base64 -d >"$to/$1.png"
}

mkdir -p "$to"
"$page" ranks 4711 "$top"/tests/page/data/bench/rank.*.json >"$work/page.html"
chrome_start "$work/chrome"
picture report-light light 1120 1100 0
picture report-dark dark 1120 1100 0
