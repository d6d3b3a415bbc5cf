#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# The page of nccl-tune report --html in a browser: it says what the JSON says, quietly, to everybody. Needs Chromium;
# what needs none is the first test.
#
bats_require_minimum_version 1.5.0
load ../lib/chrome

setup_file() {
	local page=$NT_STAGE/libexec/nccl-tune/tests/nt-page here=$BATS_TEST_DIRNAME n
	export pages=$BATS_FILE_TMPDIR
	"$page" ranks 4711 "$here"/data/fsdp/rank.*.json >"$pages/ranks.html"
	"$page" --json ranks 4711 "$here"/data/fsdp/rank.*.json >"$pages/ranks.json"
	"$page" long 2 "$here/data/gpu" >"$pages/gpu.html"
	"$page" --json long 2 "$here/data/gpu" >"$pages/gpu.json"
	"$page" text 12 "$here/../unit/data/report/full.json" >"$pages/text.html"
	"$page" text 13 "$here/../unit/data/report/launch.json" >"$pages/launch.html"
	"$page" --json text 13 "$here/../unit/data/report/launch.json" >"$pages/launch.json"
	printf '{"nccl_tune":{"v":1,"0":%s,"1":%s}}' \
		'{"mode":"bandit","program":"t.py","launch":"default","step_us":[61000,62700,64000],"steps":118}' \
		'{"mode":"bandit","program":"t.py","launch":"wide","step_us":[32000,33400,35000],"steps":118,"calibration_s":50.9,"calibration_ranks":8,"calibration_gain":2.58,"calibration_deviation":0.053}' \
		>"$pages/calibrated"
	"$page" text 14 "$pages/calibrated" >"$pages/calibrated.html"
	"$page" --json text 14 "$pages/calibrated" >"$pages/calibrated.json"
	for n in 0 1 30 1000; do
		jq -cn --argjson n "$n" -f "$here/keys.jq" >"$pages/keys$n.json"
		"$page" made <"$pages/keys$n.json" >"$pages/keys$n.html"
	done
	jq -c '.[0].steps[0].communicators[1].members[0].name = $evil | .[0].steps[0].communicators[0].name = $evil |
		.[0].verdict[0].says = $evil | .[0].job = $evil | .[0].steps[0].communicators[0].keys[0].says = $evil' --arg evil "$(evil)" "$pages/keys30.json" |
		"$page" made >"$pages/evil.html"
	echo '[]' | "$page" made >"$pages/bare.html"
	chrome_program >/dev/null || return 0
	chrome_start "$pages/chrome"
}

teardown_file() {
	[ ! -e "$BATS_FILE_TMPDIR/chrome/pid" ] || { chrome_join "$BATS_FILE_TMPDIR/chrome"; chrome_stop; }
}

browser() {
	chrome_program >/dev/null || skip "no Chromium here (Debian: apt-get install chromium)"
	chrome_join "$pages/chrome"
}

# open NAME [WIDTH [FEATURE VALUE]]
open() {
	chrome_open "$pages/$1.html" "{\"features\":[{\"name\":\"${3:-prefers-color-scheme}\",\"value\":\"${4:-light}\"}]}" \
		"{\"width\":${2:-1280},\"height\":900,\"deviceScaleFactor\":1,\"mobile\":false}"
}

# is WANTED EXPRESSION
is() {
	local value
	value=$(chrome_eval "$2")
	[ "$value" = "$1" ] || { printf '%s\nis     %s\nwanted %s\n' "$2" "$value" "$1"; return 1; }
}

# comes EXPRESSION: is true, now or later
comes() {
	is true "new Promise((done) => { const look = () => $1 ? done(true) : setTimeout(look, 20); look(); })"
}

press() {
	chrome_call Input.dispatchKeyEvent "{\"type\":\"keyDown\",\"key\":\"$1\",\"code\":\"$1\",\"windowsVirtualKeyCode\":$2${3:+,\"modifiers\":$3}${4:+,\"text\":\"$4\"}}" >/dev/null
	chrome_call Input.dispatchKeyEvent "{\"type\":\"keyUp\",\"key\":\"$1\",\"code\":\"$1\",\"windowsVirtualKeyCode\":$2}" >/dev/null
}

evil() {
	printf '</script><img src=x onerror="window.pwned=1"><!-- \342\200\250 &lt; "'
}

@test "the page without data is small, complete, and loads nothing" {
	local found
	[ "$(wc -c <"$pages/bare.html")" -le 153600 ]
	echo "# $(wc -c <"$pages/bare.html") bytes without data" >&3
	# The name of SVG is an address that nobody visits.
	found=$(grep -noE '(https?:)?//[a-z][a-z0-9.]+\.[a-z]{2,}[^ ]*|@import|url\(|<link[^>]*stylesheet|src=' "$pages/bare.html" |
		grep -v 'http://www.w3.org/2000/svg') || :
	[ -z "$found" ] || { echo "$found"; false; }
	run ! grep -nE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc' "$pages/bare.html"
	run ! grep -q '@[A-Z_]*@' "$pages/bare.html"
	grep -q "default-src 'none'; script-src 'sha256-[A-Za-z0-9+/]\{43\}='; style-src 'sha256-[A-Za-z0-9+/]\{43\}='" "$pages/bare.html"
	# Nothing of a record can end the element that holds it, or begin another.
	sed -n 's/.*id="report">\(.*\)<\/script>$/\1/p' "$pages/evil.html" >"$pages/data"
	[ "$(wc -l <"$pages/data")" = 1 ]
	run ! grep -qE '[<>&]' "$pages/data"
	run ! env LC_ALL=C grep -q '[[:cntrl:]]' "$pages/data"
	jq -e --arg evil "$(evil)" '.jobs[0].job == $evil' "$pages/data"
}

@test "the command writes the page to the given file, and writes nothing without data" {
	local record=$BATS_TEST_DIRNAME/../unit/data/report/full.json
	cd "$BATS_TEST_TMPDIR"
	run -0 "$NT_STAGE/bin/nccl-tune" report --file "$record" 12 --html
	[ "$output" = "The page is in nccl-tune-12.html: open it in a browser." ]
	cmp nccl-tune-12.html "$pages/text.html"
	"$NT_STAGE/bin/nccl-tune" report --file "$record" 12 --html named.html
	"$NT_STAGE/bin/nccl-tune" report --file "$record" 12 --html=- | cmp - named.html
	run -1 --separate-stderr "$NT_STAGE/bin/nccl-tune" report --file "$record" 12.77 --html none.html
	[ ! -e none.html ]
	run -1 "$NT_STAGE/bin/nccl-tune" report --file "$record" 12 --html=/nonexistent/page.html
	[[ $output = *"/nonexistent/page.html: No such file or directory" ]]
	# What somebody else has put in the place of the name that it takes by itself is left as it is.
	echo mine >mine
	ln -sf mine nccl-tune-12.html
	run -1 "$NT_STAGE/bin/nccl-tune" report --file "$record" 12 --html
	[[ $output = *"nccl-tune-12.html: it is a link" ]]
	ln -f mine nccl-tune-12.html
	run -1 "$NT_STAGE/bin/nccl-tune" report --file "$record" 12 --html
	[[ $output = *"nccl-tune-12.html is not your file: choose another with --html=FILE" ]]
	[ "$(cat mine)" = mine ]
}

@test "every page is drawn without console messages" {
	local name
	browser
	for name in bare text ranks gpu keys0 keys1 keys30 keys1000 evil; do
		open "$name"
		[ -z "$(chrome_complaints)" ] || { echo "$name:"; chrome_complaints; false; }
		is '"none"' 'getComputedStyle(document.querySelector("noscript") || byId("tip")).display'
	done
}

@test "a record's text is never markup" {
	browser
	open evil
	is false 'window.pwned === 1'
	is 0 'document.images.length'
	is 1 'document.querySelectorAll("main").length'
	is "$(jq -nc --arg evil "Job $(evil)" '$evil')" 'byId("title").textContent'
	is "$(jq -nc --arg evil "$(evil)" '$evil')" 'document.querySelector("#verdict li").firstChild.data'
}

# table_is_json NAME
table_is_json() {
	open "$1"
	# As the table has them: [size of the key, calls, AUTO us, gain, cost, saved], "" for what is not known.
	jq -c 'def cut($n): if . == null then "" else . * pow(10; $n) | round / pow(10; $n) end;
		[.jobs[].steps[].communicators[].keys[] | [.coll, .calls // "", (if .call_own then .own_us[0] | cut(2) else "" end),
			(if .call_own and (.own_us | length) == 2 then .own_us | 100 * (.[0] - .[1]) / .[0] | cut(1) else "" end),
			(.spent_ms | cut(3)), (.saved_ms | cut(3))]]' "$pages/$1.json" >"$pages/wanted"
	[ "$(jq length "$pages/wanted")" -gt 5 ]
	is "$(cat "$pages/wanted")" '(() => {
		const head = [...document.querySelectorAll("#keys thead th")].map((cell) => cell.textContent.replaceAll(" ", ""));
		const at = (name) => head.findIndex((one) => one.startsWith(name));
		const number = (row, name) => { const words = at(name) < 0 ? "–" : row.cells[at(name)].textContent;
			return words === "–" ? "" : Number(words); };
		return [...document.querySelectorAll("#keys tbody tr")].map((row) => [row.cells[0].textContent.split(" ")[0],
			...["Calls", "Callµs", "Gain", "Cost", "Saved"].map((name) => number(row, name))]);
	})()'
	# And the sums of the verdict.
	is "$(jq '[.. | objects | select(.state? == "committed")] | length' "$pages/$1.json")" \
		'Number([...document.querySelectorAll(".tiles dt")].find((one) => one.textContent.startsWith("collectives and sizes with another")).nextSibling.textContent)'
}

@test "the figures are the JSON's" {
	browser
	table_is_json ranks
	table_is_json gpu
}

@test "a time to the next call is no call's time: no bandwidth, no gain, and no prediction beside it" {
	browser
	open ranks
	[ "$(jq '[.. | objects | select(.call_own?)] | length' "$pages/ranks.json")" = 0 ]
	is '[null,null]' '[byId("choice"), byId("predicted")]'
	is '[]' '[...document.querySelectorAll("#keys thead th")].map((one) => one.textContent).filter((one) => /^(Call µs|Its call|Gain|Busbw)/.test(one))'
	is '[]' '[...document.querySelectorAll("#one dt")].map((one) => one.textContent).filter((one) => /^(Time of a call|Gain|Algbw)/.test(one))'
	open gpu
	# The points are the bandwidths of the JSON, and predictions stand beside calls' own times alone.
	for part in choice predicted; do
		comes "(byId('$part').querySelectorAll('details').forEach((one) => { one.open = true; }), byId('$part').querySelector('table'))"
	done
	jq -c '[.jobs[].steps[].communicators[].keys[] | select(.busbw_gbs) | .busbw_gbs[0] * 1000 | round] | sort' "$pages/gpu.json" >"$pages/wanted"
	is "$(cat "$pages/wanted")" '[...document.querySelectorAll("#choice tbody tr")].map((row) => Math.round(1000 * row.cells[3].textContent)).sort((a, b) => a - b)'
	jq -c '[.jobs[].steps[].communicators[].keys[] | select(.call_own and .predicted_us) | [.own_us, .predicted_us] | transpose[] |
		select(.[0] and .[1]) | .[0]] | sort' "$pages/gpu.json" >"$pages/wanted"
	is "$(cat "$pages/wanted")" '[...document.querySelectorAll("#predicted tbody tr")].map((row) => Number(row.cells[4].textContent)).sort((a, b) => a - b)'
}

@test "the head says what is known of the job; steps and launch profiles stand under it" {
	browser
	open keys30
	is '["Name","llama 70b","User","ada","State","completed","Nodes","2","Elapsed","1-01:01:01","Started","2026-11-22 10:00 UTC"]' \
		'[...document.querySelectorAll("#facts dt, #facts dd")].map((one) => one.textContent)'
	open launch
	is 0 'byId("facts").childElementCount'
	comes '(byId("steps").querySelector("details").open = true, byId("steps").querySelector("table"))'
	jq -c '[.jobs[].steps[] | select(.step_us) | "step \(.step)", (.step_us[1] | tostring)]' "$pages/launch.json" >"$pages/wanted"
	is "$(cat "$pages/wanted")" '[...byId("steps").querySelectorAll("tbody tr")].flatMap((row) => [row.cells[0].textContent, row.cells[3].textContent])'
	jq -c '[.jobs[].steps[] | select(.launch) | .launch, (.set // "–")]' "$pages/launch.json" >"$pages/wanted"
	is "$(cat "$pages/wanted")" '[...byId("launch").querySelectorAll("tbody tr")].flatMap((row) => [row.cells[1].textContent, row.cells[2].textContent])'
}

@test "a job that calibrated opens with its course; the summary has the step with and without the launch profile" {
	local wanted
	browser
	open calibrated
	[ -z "$(chrome_complaints)" ]
	is '"time"' 'document.querySelector("main section").id'
	comes '(byId("time").querySelector("details").open = true, byId("time").querySelector("table"))'
	is '["step 0, default","calibration before step 1","step 1, wide"]' '[...byId("time").querySelectorAll("tbody tr")].map((row) => row.cells[0].textContent)'
	is '["7.4","50.9","3.9"]' '[...byId("time").querySelectorAll("tbody tr")].map((row) => row.cells[2].textContent)'
	wanted=$(jq -c '.jobs[0].gain | [.step_us, .without_us] | map(. / 100 | round / 10 | tostring | . + " ms")' "$pages/calibrated.json")
	is "$wanted" '[...document.querySelectorAll(".tiles dd")].slice(0, 2).map((one) => one.textContent)'
	is '["step 1","before its program","50.9","8","2.58 times as fast with wide"]' '[...byId("calibration").querySelector("tbody tr").cells].slice(0, 5).map((cell) => cell.textContent)'
	open text
	is false '[...document.querySelectorAll("main section")].some((one) => one.id === "time" || one.id === "calibration")'
}

@test "what accounting has of a job is in the JSON, and what it does not know is left out" {
	cd "$BATS_TEST_TMPDIR"
	printf '%s\n' ClusterName=nt SlurmctldHost=localhost AuthType=auth/none CredType=cred/none >slurm.conf
	tr -d '\n' <"$BATS_TEST_DIRNAME/../unit/data/report/full.json" >record
	cat >sacct <<-'END'
		#!/bin/bash
		for word; do
			case $word in
			--delimiter=*) d=${word#*=} ;;
			--format=*) columns=${word#*=} ;;
			esac
		done
		[ "$columns" = JobID,JobIDRaw,User,JobName,State,NNodes,AdminComment,Cluster,Partition,ElapsedRaw,Start,End ] || exit 0
		. ./job
		printf '%s' "7${d}7${d}ann${d}$name${d}$state${d}$nodes${d}$(<record)${d}$d$d$elapsed${d}$start${d}1795431661"$'\n'
	END
	chmod +x sacct
	printf '%s\n' "name=$'llama\\t70b'" 'state="CANCELLED by 0" nodes=2 start=1795341600 elapsed=90061' >job
	run -0 --separate-stderr env PATH="$PWD:$PATH" SLURM_CONF="$PWD/slurm.conf" "$NT_STAGE/bin/nccl-tune" report 7 --json
	jq -e '.jobs[0] | [.name, .user, .state, .nodes, .start, .elapsed_s] == ["llama?70b", "ann", "cancelled", 2, 1795341600, 90061]' <<<"$output"
	printf '%s\n' name= 'state=NEW_STATE nodes= start=Unknown elapsed=' >job
	run -0 --separate-stderr env PATH="$PWD:$PATH" SLURM_CONF="$PWD/slurm.conf" "$NT_STAGE/bin/nccl-tune" report 7 --json
	jq -e '.jobs[0] | [.name, .user, .state, .nodes, .start, .elapsed_s] == [null, "ann", null, null, null, null]' <<<"$output"
}

@test "printed, it is one sheet" {
	local name
	browser
	for name in gpu launch text ranks keys30 keys1000; do
		open "$name"
		chrome_call Page.printToPDF '{"preferCSSPageSize":true}' | jq -r .data | base64 -d >"$pages/$name.pdf"
		[ "$(grep -ac '/Type */Page$' "$pages/$name.pdf")" = 1 ] || { echo "$name"; false; }
	done
}

# The columns of the table of nodes by what its lines are called.
@test "how long others waited for each rank, over time, is as the JSON has it; without, there is no such section" {
	browser
	open keys30
	is 64 'document.querySelectorAll("#late rect[data-tip]").length'
	is '"rank 5, n2\n1.00 ms a call\n1 of 8, from 0 s on"' 'document.querySelectorAll("#late rect[data-tip]")[40].dataset.tip'
	is true '(() => { const of = (i) => +document.querySelectorAll("#late rect[data-tip]")[i].getAttribute("fill-opacity");
		return of(47) > of(40) && of(40) > of(7) && of(7) > of(0); })()'
	comes '(byId("late").querySelector("details").open = true, byId("late").querySelector("table"))'
	jq -c '[.[0].steps[0].communicators[1].members[0].lateness.ranks[] | "rank \(.rank), \(.node)", (.us[] | tostring)]' \
		"$pages/keys30.json" >"$pages/wanted"
	is "$(cat "$pages/wanted")" '[...byId("late").querySelectorAll("tbody tr")].flatMap((row) => [...row.cells].map((cell) => cell.textContent))'
	open keys1000 390
	is true 'document.documentElement.scrollWidth <= 390'
	open bare
	is null 'byId("late")'
}

nodes='(() => { const rows = [...document.querySelector("#topology table").rows];
	return [...rows[0].cells].slice(1).map((head, i) => ({ poor: head.classList.contains("poor"),
		...Object.fromEntries(rows.map((row) => [row.cells[0].textContent, row.cells[i + 1].textContent])) })); })()'

@test "what NCCL found on each node matches the JSON; a node with less is marked; without data the section is absent" {
	local figures='["GPUs", "NVLinks of a GPU", "NICs", "Gbit/s of all NICs", "Ring channels", "GB/s of a ring channel",
		"Tree channels", "GB/s of a tree channel"]'
	browser
	open gpu
	jq -c '[.jobs[].steps[].topology.nodes[]] | group_by(del(.node)) | map([(map(.node) | join(", ")), (.[0] |
		.gpus, .nvlinks, .nics, .nics_mbps / 1000, .ring.channels, .ring.inter_gbs, .tree.channels, .tree.inter_gbs)])' \
		"$pages/gpu.json" >"$pages/wanted"
	[ "$(cat "$pages/wanted")" = '[["n1, n2",1,18,1,10,1,1.2,1,1.2]]' ]
	is "$(cat "$pages/wanted")" "$nodes.map((line) => [line.Nodes, ...$figures.map((name) => Number(line[name]))])"
	is '"LOC (the GPU itself), PHB (PCIe and a processor)"' \
		"$nodes.map((line) => line['Farthest path in the node'] + ', ' + line['Farthest path to others']).join()"
	open keys30
	is '[[true,"n3","8","less: 8 channels instead of 16"],[false,"n1, n2","16","nothing less"]]' \
		"$nodes.map((line) => [line.poor, line.Nodes, line['Ring channels'], line['Against most nodes']])"
	open ranks
	is '[null,false]' '[byId("topology"), byId("main").textContent.includes("NCCL found")]'
}

@test "a thousand keys: the number of elements is limited" {
	browser
	open keys1000
	is 1000 'Number(document.documentElement.dataset.keys)'
	is true 'document.getElementsByTagName("*").length < 9000'
	echo "# 1000 keys: $(chrome_eval '`drawn ${document.documentElement.dataset.readyMs} ms after the page was asked for, ${document.getElementsByTagName("*").length} elements`')" >&3
	is 200 'document.querySelectorAll("#keys tbody tr").length'
	is '"Show all 1,000 collectives and sizes"' 'document.querySelector("#all button.more").textContent'
	is 1000 '(document.querySelector("#all button.more").click(), document.querySelectorAll("#keys tbody tr").length)'
	# What is folded is drawn when it is opened.
	comes '(() => { const panel = document.querySelector("details.panel"); panel.open = true;
		return panel.querySelectorAll("svg rect").length > 2; })()'
	is true '(() => { const choose = byId("scope"); choose.selectedIndex = 2; choose.dispatchEvent(new Event("change"));
		return document.querySelectorAll("#keys tbody tr").length === 192; })()'
}

@test "the table sorts by any column, unknown last, and can be searched" {
	browser
	open keys30
	is '["descending","ascending"]' '(() => { const cell = [...document.querySelectorAll("#keys thead th")]
			.find((one) => one.textContent.startsWith("Saved")), got = [];
		for (let i = 0; i < 2; i++) { cell.querySelector("button").click(); got.push(cell.getAttribute("aria-sort")); }
		return got; })()'
	is true '(() => { const at = document.querySelector("#keys th[aria-sort]").cellIndex;
		const saved = [...document.querySelectorAll("#keys tbody tr")].map((row) => row.cells[at].textContent);
		const known = saved.filter((one) => one !== "–").map(Number);
		return known.length === 6 && saved.slice(6).every((one) => one === "–") && known.every((one, i) => !i || one >= known[i - 1]); })()'
	is '"2 collectives and sizes found. 2"' '(() => { byId("search").value = "BROADCAST dp"; byId("search").dispatchEvent(new Event("input"));
		return document.querySelector("#all [role=status]").textContent + ` ${document.querySelectorAll("#keys tbody tr").length}`; })()'
	is 30 '(() => { byId("search").value = ""; byId("search").dispatchEvent(new Event("input"));
		return document.querySelectorAll("#keys tbody tr").length; })()'
}

@test "the keyboard reaches everything in reading order" {
	browser
	open keys30
	press Tab 9
	is '"Skip to the report"' 'document.activeElement.textContent'
	is true 'document.activeElement.getBoundingClientRect().left >= 0'
	press Enter 13 0 '\r'
	is '"main"' 'document.activeElement.id || location.hash.slice(1)'
	# Whatever takes a click takes the focus, but for marks whose keys stand in the list and in the table.
	is '[]' '[...document.querySelectorAll("button, select, input, a[href], summary, [tabindex=\"0\"]")].filter((one) =>
		one.offsetParent && !one.disabled && one.tabIndex < 0).map((one) => one.outerHTML)'
	is true '(() => { const seen = [...document.querySelectorAll("header select, #toc a, main select, main summary, main button")]
		.filter((one) => one.offsetParent); return seen.every((one, i) => !i ||
			seen[i - 1].compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING) && seen.every((one) => one.tabIndex === 0); })()'
	# Sort and choose without a pointer.
	is true '(document.querySelectorAll("#keys thead button")[2].focus(), true)'
	press Enter 13 0 '\r'
	is '"Decision"' '(document.querySelector("#keys th[aria-sort]") || document.body).textContent.trim().slice(0, 8)'
	is true '(document.querySelector("#keys tbody th button").focus(), getComputedStyle(document.activeElement).outlineStyle !== "none")'
	is true '(window.wanted = document.activeElement.textContent, true)'
	press Enter 13 0 '\r'
	is '"one-heading"' 'document.activeElement.id'
	is true 'byId("key").value.startsWith(wanted) && byId("said").textContent.startsWith(wanted)'
}

@test "screen readers: landmarks, names, headings in order, a table behind each chart" {
	browser
	open keys30
	is '[1,1,1,1]' '["header", "nav[aria-label]", "main", "footer"].map((one) => document.querySelectorAll(one).length)'
	is '"en"' 'document.documentElement.lang'
	is '[]' '[...document.querySelectorAll("section")].filter((one) => !byId(one.getAttribute("aria-labelledby"))).map((one) => one.id)'
	is '[]' '(() => { let last = 0; return [...document.querySelectorAll("h1, h2, h3")].filter((one) => {
		const level = Number(one.tagName[1]), bad = level > last + 1; last = level; return bad; }).map((one) => one.textContent); })()'
	is '[]' '[...document.querySelectorAll(".plot svg")].filter((one) => one.getAttribute("role") !== "img" || !one.getAttribute("aria-label"))
		.map((one) => one.outerHTML.slice(0, 99))'
	is '[]' '[...document.querySelectorAll("figure")].filter((one) => !one.querySelector("details")).length ? ["a figure"] : []'
	is '[]' '[...document.querySelectorAll("select, input")].filter((one) => one.labels.length === 0).map((one) => one.id)'
	comes '(() => { for (const one of document.querySelectorAll("details")) one.open = true;
		return [...document.querySelectorAll("details")].every((one) => one.childElementCount > 1); })()'
	is true '[...document.querySelectorAll("table")].every((table) => table.caption && table.querySelector("th[scope=col]") &&
		table.querySelector("tbody th[scope=row]"))'
	is '[]' '(() => { const seen = new Set(); return [...document.querySelectorAll("[id]")].map((one) => one.id)
		.filter((id) => seen.has(id) || (seen.add(id), false)); })()'
}

# Text against what is behind it, marks against the panel; as WCAG 2.1 counts it.
contrast='(() => {
	const root = getComputedStyle(document.documentElement);
	const rgb = (words) => { const at = document.createElement("canvas").getContext("2d"); at.fillStyle = words;
		const hex = at.fillStyle; return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255); };
	const light = (words) => { const [r, g, b] = rgb(words).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const of = (a, b) => { const [x, y] = [light(root.getPropertyValue(a)), light(root.getPropertyValue(b))].sort((p, q) => q - p);
		return (x + 0.05) / (y + 0.05); };
	const low = [];
	for (const behind of ["--paper", "--panel"]) {
		for (const name of ["--ink", "--muted", "--link", "--good", "--bad"]) if (of(name, behind) < 4.5) low.push(name + " on " + behind);
		for (const name of ["--auto", "--chosen", "--other", "--focus"]) if (of(name, behind) < 3) low.push(name + " on " + behind);
	}
	return low; })()'

@test "light and dark: as in the system, or as chosen; contrast in both" {
	local theme
	browser
	for theme in light dark; do
		open keys30 1280 prefers-color-scheme "$theme"
		is "\"$theme\"" 'document.documentElement.dataset.theme'
		is "\"$theme\"" 'getComputedStyle(document.documentElement).colorScheme'
		is '[]' "$contrast"
	done
	is '"light"' '(byId("theme").value = "light", byId("theme").dispatchEvent(new Event("change")), getComputedStyle(document.documentElement).colorScheme)'
	# On paper it is light, whatever the screen is.
	is '"dark"' '(byId("theme").value = "dark", byId("theme").dispatchEvent(new Event("change")), getComputedStyle(document.documentElement).colorScheme)'
	chrome_call Emulation.setEmulatedMedia '{"media":"print"}' >/dev/null
	is '"light"' 'getComputedStyle(document.documentElement).colorScheme'
	open keys30 1280 prefers-reduced-motion reduce
	is '"auto"' 'getComputedStyle(document.documentElement).scrollBehavior'
}

# Words of a drawing that leave it, or lie on each other.
crowded='[...document.querySelectorAll(".plot svg")].flatMap((svg) => {
	const all = svg.getBoundingClientRect();
	const words = [...svg.querySelectorAll("text")].filter((one) => one.textContent).map((one) => [one.textContent, one.getBoundingClientRect()]);
	const out = words.filter(([, box]) => box.left < all.left - 1 || box.right > all.right + 1 || box.bottom > all.bottom + 1);
	const on = words.filter(([, a], i) => words.some(([, b], j) => j > i && a.left < b.right - 1 && b.left < a.right - 1 &&
		a.top + 3 < b.bottom - 3 && b.top + 3 < a.bottom - 3));
	return [...out, ...on].map(([text]) => svg.getAttribute("aria-label") + ": " + text);
})'

@test "from a telephone to a wide screen: nothing overlaps or is cut off" {
	local name width
	browser
	for name in ranks gpu keys30 launch; do
		open "$name" 1600
		for width in 1600 768 390 360; do
			chrome_call Emulation.setDeviceMetricsOverride "{\"width\":$width,\"height\":900,\"deviceScaleFactor\":1,\"mobile\":false}" >/dev/null
			is true "(redraw(), document.documentElement.scrollWidth <= $width)"
			is '[]' "$crowded"
		done
	done
}

@test "at 1280 pixels no word of a chart is shortened and no table scrolls" {
	local name
	browser
	for name in ranks gpu keys30 keys1000 launch text; do
		open "$name" 1280
		is '[]' '[...document.querySelectorAll("svg text")].map((one) => one.textContent).filter((one) => one.includes("…"))'
		is '[]' '[...document.querySelectorAll(".scroll")].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent.slice(0, 40))'
	done
}
