/* One key: what was decided and why, and its choices as box plots. */

const ARM_MARKS = [
	[() => spread("auto", (v) => v, 7, 10, 6, 28, 16), "NCCL’s choice"],
	[() => spread("chosen", (v) => v, 7, 10, 6, 28, 16), "in use"],
	[() => spread("other", (v) => v, 7, 10, 6, 28, 16), "tried"],
];

function armKind(key, arm) {
	return arm.isAuto ? "auto" : key.committed && arm.name === key.other ? "chosen" : "other";
}

function facts(key) {
	const list = [
		["Decision", key.said, "wide"],
		["Why", [key.why, key.advice].filter(Boolean).join(" "), "wide"],
		["Calls", many(key.calls, "call")],
		["Time of a call", known(key.auto.us) ? times(key.auto.us, key.committed ? key.arm.us : null) : null],
		["From a call’s start to that of the next", known(key.auto.toNext)
			? times(key.auto.toNext, key.committed ? key.arm.toNext : null) : null],
		["To the next of this collective and size", known(key.period) ? time(key.period) : null],
		["Looks like", key.parallel ? `${key.parallel} parallel` : null],
		["Of the communication time", known(key.share) ? percent(key.share * 100) : null],
		[key.committed ? "Gain" : "Gain of the best other choice", known(key.gain) ? percent(key.gain, true) : null],
		["Chance that this is noise (p)", known(key.p) ? chance(key.p) : null],
		["Algbw, busbw", known(key.algbw) ? `${digits(key.algbw)}, ${digits(key.busbw)} GB/s` : null],
		["Exploring cost", known(key.spentMs) ? `${time(key.spentMs * 1000)}${
			known(key.spentCalls) ? `, ${many(key.spentCalls, "call")}` : ""}` : null],
		["Saved", known(key.savedMs) ? time(key.savedMs * 1000) : null],
		["Rechecked", known(key.rechecks)
			? `${many(key.rechecks, "time")}, ${many(key.rollbacks || 0, "return")} to NCCL’s choice` : null],
	];

	return el("dl", { class: "facts" }, list.filter(([, words]) => words).map(([name, words, kind]) =>
		el("div", { class: kind }, el("dt", {}, name), el("dd", {}, words))));
}

function armRow(key, arm, x, y) {
	const marks = [];

	if (known(arm.low) && known(arm.high))
		marks.push(line(armKind(key, arm), x(arm.low), y, x(arm.high), y),
			line(armKind(key, arm), x(arm.low), y - 4, x(arm.low), y + 4),
			line(armKind(key, arm), x(arm.high), y - 4, x(arm.high), y + 4));
	marks.push(...spread(armKind(key, arm), x, y, 14, arm.p25, known(arm.p75) ? arm.p75 : arm.us, arm.us));
	return marks;
}

function armTip(arm) {
	return [arm.name, spreadWords(arm),
		known(arm.samples) ? many(arm.samples, "sample") : null].filter(Boolean).join("\n");
}

function spreadWords(times) {
	return time(times.us) + (known(times.p25) && known(times.p75) ? ` (half of them ${time(times.p25)} to ${time(times.p75)})` : "");
}

function armScale(arms) {
	const all = arms.flatMap((arm) => [arm.low, arm.p25, arm.us, arm.p75, arm.high]).filter(known);
	const first = smallest(all), last = largest(all);

	return ticks(first > 0.4 * last ? first : 0, last, 6);
}

function armsFigure(key) {
	const arms = key.arms.filter((arm) => known(arm.us)).sort((a, b) => a.us - b.us);
	const scale = armScale(arms);
	const last = scale[scale.length - 1];

	return figure({
		title: "Its choices",
		note: `by what was compared, not the call’s own time: from its start to that of the next call, the program’s work between them included; the fastest first; box: ${arms.some((arm) => known(arm.p75))
			? "the middle half of them" : "the quarter below the median, all that this record has"}`,
		name: `Choices of ${key.name}, ${key.stepWhere}`,
		legend: ARM_MARKS,
		draw: rowsOf({
			items: arms, labelWidth: 190, valueWidth: 150, height: 28, labelKind: "mono",
			label: (arm) => arm.name, tip: armTip,
			value: (arm) => [[known(arm.samples) ? `n = ${arm.samples}` : "", "soft"], [time(arm.us), ""]],
			marks: (arm, x, y) => armRow(key, arm, x, y),
			ticks: scale, tick: (us) => tickTime(us, last), axis: `from a call’s start to that of the next, ${timeUnit(last)}`,
			name: `Times of ${many(arms.length, "choice")} of ${key.name}`,
		}),
		table: () => [["choice", "median µs", "p25 µs", "p75 µs", "samples"],
			arms.map((arm) => [arm.name, arm.us, arm.p25, arm.p75, arm.samples].map(raw))],
	});
}

/* An axis has one unit. */
function timeUnit(most) {
	return most >= 6e7 ? "min" : most >= 1e6 ? "s" : most >= 1e3 ? "ms" : "µs";
}

function tickTime(us, most) {
	const by = { min: 6e7, s: 1e6, ms: 1e3, "µs": 1 }[timeUnit(most)];

	return String(+(us / by).toPrecision(6));
}

function keyDetail(key) {
	return [
		facts(key),
		key.arms.some((arm) => known(arm.us)) ? armsFigure(key)
			: empty(key.state === "counted" || key.exploring ? "No choice was measured to the end here."
				: "The times of single choices are not in this form of the record."),
	];
}

/* What is shown first: the key that saved most, else the one with most of the time. */
function worthiest(keys) {
	return [...keys].sort((a, b) => (b.savedMs || 0) - (a.savedMs || 0) || b.arms.length - a.arms.length ||
		b.cost - a.cost)[0];
}

function keySection(model) {
	const keys = model.keys;
	const box = el("div", {});
	const back = el("button", { type: "button", click: () => show(at - 1) }, "Previous");
	const next = el("button", { type: "button", click: () => show(at + 1) }, "Next");
	const choose = el("select", { id: "key", change: () => show(choose.selectedIndex) },
		keys.map((key) => el("option", {}, `${key.name}, ${key.stepWhere}`)));
	let at = 0;

	function show(which) {
		at = within(which, 0, keys.length - 1);
		choose.selectedIndex = at;
		back.disabled = at === 0;
		next.disabled = at === keys.length - 1;
		box.replaceChildren(...keyDetail(keys[at]).filter(Boolean));
		redraw(box);
		say(`${keys[at].name}, ${keys[at].stepWhere}: ${keys[at].said}`);
	}

	if (keys.length === 0)
		return { parts: null, show: () => {}, start: () => {} };
	return {
		parts: [el("div", { class: "chooser" }, el("label", {}, "Collective and size", choose), back, next), box],
		show: (key) => show(keys.indexOf(key)),
		start: () => show(keys.indexOf(worthiest(keys))),
	};
}
