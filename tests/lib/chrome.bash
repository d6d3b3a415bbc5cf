# shellcheck shell=bash disable=SC2034
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# A headless Chromium, spoken to over its debugging pipe: JSON messages, each ended by a zero byte. Needs jq, and no network.
#
#	chrome_start DIRECTORY		once; its profile, pipes and log are in there
#	chrome_join DIRECTORY		in each other process that speaks to it, one at a time
#	chrome_open FILE		a page, until it says that it is drawn (data-ready-ms)
#	chrome_eval EXPRESSION		its value as JSON
#	chrome_call METHOD [PARAMS]	of the page; the result as JSON
#	chrome_complaints		what the console, the log and exceptions said since chrome_open
#	chrome_stop

chrome_program() {
	command -v chromium || command -v chromium-browser || command -v google-chrome
}

chrome_start() {
	local program
	program=$(chrome_program) || return 1
	mkdir -p "$1"
	mkfifo "$1/in" "$1/out"
	# Both ends of both pipes stay open in it, so that nobody waits for the other to open them.
	"$program" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-extensions \
		--disable-background-networking --disable-component-update --disable-sync --disable-default-apps \
		--force-color-profile=srgb --hide-scrollbars --user-data-dir="$1/profile" --remote-debugging-pipe about:blank \
		3<>"$1/in" 4<>"$1/out" >"$1/log" 2>&1 </dev/null &
	echo $! >"$1/pid"
	chrome_join "$1"
}

chrome_join() {
	chrome_dir=$1 chrome_page=''
	exec {chrome_to}<>"$1/in" {chrome_from}<>"$1/out"
	chrome_number=$((BASHPID * 1000))	# answers to an earlier process are not taken for ours
	if [ ! -e "$1/page" ]; then
		chrome_attach >"$1/page.new" && mv "$1/page.new" "$1/page"
	fi
	chrome_page=$(cat "$1/page")
}

# The one page that there is; who joins later speaks to the same.
chrome_attach() {
	local domain
	chrome_ask Target.getTargets '{}' '' || return
	chrome_ask Target.attachToTarget "$(jq -c '{ flatten: true, targetId:
		(.result.targetInfos | map(select(.type == "page")) | .[0].targetId) }' <<<"$chrome_answer")" '' || return
	chrome_page=$(jq -r .result.sessionId <<<"$chrome_answer")
	for domain in Runtime Log Page; do
		chrome_ask "$domain.enable" '{}' "$chrome_page" || return
	done
	echo "$chrome_page"
}

# chrome_send METHOD PARAMS SESSION
chrome_send() {
	chrome_number=$((chrome_number + 1))
	printf '{"id":%d,"method":"%s","params":%s%s}\0' "$chrome_number" "$1" "$2" "${3:+,\"sessionId\":\"$3\"}" >&"$chrome_to"
}

# The answer to what was sent last, in $chrome_answer; events before it are kept.
chrome_wait() {
	local message
	while IFS= read -r -d '' -t 120 -u "$chrome_from" message; do
		case $message in
		"{\"id\":$chrome_number,"*)
			chrome_answer=$message
			[[ $message != *'"error":{'* ]] || { echo "chromium: $message" >&2; return 1; }
			return 0 ;;
		*'"method":"Runtime.exceptionThrown"'*|*'"method":"Runtime.consoleAPICalled"'*|*'"method":"Log.entryAdded"'*)
			printf '%s\n' "$message" >>"$chrome_dir/events" ;;
		esac
	done
	echo "chromium does not answer: $(tail -n 5 "$chrome_dir/log")" >&2
	return 1
}

chrome_ask() {
	chrome_send "$@" && chrome_wait
}

chrome_call() {
	local params=${2:-}
	chrome_ask "$1" "${params:-"{}"}" "$chrome_page" && jq -c .result <<<"$chrome_answer"
}

chrome_eval() {
	local text=${1//\\/\\\\}
	text=${text//\"/\\\"}
	text=${text//$'\n'/\\n}
	text=${text//$'\t'/\\t}
	chrome_ask Runtime.evaluate "{\"expression\":\"$text\",\"returnByValue\":true,\"awaitPromise\":true}" "$chrome_page" || return
	jq -c 'if .result.exceptionDetails then error(.result.exceptionDetails.exception.description)
		else .result.result.value end' <<<"$chrome_answer"
}

# chrome_open FILE [MEDIA [METRICS]]: the parameters of Emulation.setEmulatedMedia and setDeviceMetricsOverride
chrome_open() {
	rm -f "$chrome_dir/events"
	[ -z "${2:-}" ] || chrome_ask Emulation.setEmulatedMedia "$2" "$chrome_page"
	[ -z "${3:-}" ] || chrome_ask Emulation.setDeviceMetricsOverride "$3" "$chrome_page"
	chrome_ask Page.navigate "{\"url\":\"file://$1\"}" "$chrome_page"
	chrome_eval 'new Promise((done) => { const look = () =>
		document.documentElement?.dataset.readyMs ? done(true) : setTimeout(look, 20); look(); })' >/dev/null
}

chrome_complaints() {
	[ ! -e "$chrome_dir/events" ] || cat "$chrome_dir/events"
}

chrome_stop() {
	local pid
	pid=$(cat "$chrome_dir/pid")
	chrome_send Browser.close '{}' ''
	for _ in {1..50}; do
		kill -0 "$pid" 2>/dev/null || return 0
		sleep 0.1
	done
	kill -9 "$pid"
}
