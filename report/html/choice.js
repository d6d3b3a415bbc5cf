/* AUTO against the chosen arm, size by size: a panel for each communicator and collective. */

const PANEL_ROWS = 48; /* drawn at once; what is beyond stands in panels that open */
const PANELS_FOLDED = 8; /* shown by name; the others stand behind one more */

const CHOICE_MARKS = [
	[() => spread("auto", (v) => v, 7, 8, 6, 28, 16), "NCCL’s own choice (AUTO): median, and the middle half of its calls"],
	[() => spread("chosen", (v) => v, 7, 8, 6, 28, 16), "the arm in force"],
	[() => spread("other", (v) => v, 7, 8, 6, 28, 16), "the best other arm, where AUTO stays or it is not decided"],
	[() => [arrow("other", 24, 7)], "beyond the scale"],
];

function share(key, us) {
	return known(us) && known(key.auto.us) && key.auto.us > 0 ? 100 * us / key.auto.us : null;
}

/* One scale for all panels, so that they can be compared. */
function choiceScale(keys) {
	const all = keys.flatMap((key) => [key.auto.p25, key.auto.p75, key.arm.p25, key.arm.p75, key.arm.us]
		.map((us) => share(key, us))).filter(known);
	const from = within(smallest([80, ...all]), 0, 80);
	const to = within(largest([110, ...all]), 110, 200);

	return ticks(from, to, 6);
}

function isBeyond(key, scale) {
	return share(key, key.arm.us) > scale[scale.length - 1];
}

function choiceRow(key, x, y, scale) {
	const kind = key.committed ? "chosen" : "other";
	const place = (us) => x(within(share(key, us), scale[0], scale[scale.length - 1]));

	return [
		spread("auto", place, y - 5.5, 8, key.auto.p25, key.auto.p75, key.auto.us),
		isBeyond(key, scale) ? [arrow(kind, place(key.arm.us), y + 5.5)] : known(key.arm.us)
			? spread(kind, place, y + 5.5, 8, key.arm.p25, key.arm.p75, key.arm.us) : [],
	].flat();
}

/* What is off the scale is at its end, and no mark of a time. */
function arrow(kind, x, y) {
	return shape("path", { class: `full ${kind}`, d: `M${x - 8} ${y - 4}l8 4l-8 4z` });
}

function choiceValue(key) {
	if (!known(key.arm.us))
		return [[`${time(key.auto.us)}${key.own ? "" : " to the next call"}`, "soft"]];
	const gain = percent(share(key, key.arm.us) - 100, true);

	return key.committed ? [[times(key.auto.us, key.arm.us), ""], [gain, key.arm.us < key.auto.us ? "good" : "bad"]]
		: [[time(key.auto.us), ""], [`best other ${gain}`, "soft"]];
}

function choiceTip(key) {
	return [`${key.name}, ${key.where}`, `AUTO (${key.pick}): ${spreadWords(key.auto)}`,
		known(key.arm.us) ? `${key.other}: ${spreadWords(key.arm)}` : null,
		key.own ? null : "times to the next call of any kind: the end of calls is not known", key.said, key.why || null].filter(Boolean).join("\n");
}

function spreadWords(times) {
	return time(times.us) + (known(times.p25) && known(times.p75) && !times.borrowed
		? ` (half of them ${time(times.p25)} to ${time(times.p75)})` : "");
}

function choiceFigure(panel, scale, press) {
	const name = `${panel.coll}, ${panel.where}`;

	return figure({
		title: panel.coll,
		note: panel.where,
		name: `${name}: AUTO against the arm in force`,
		draw: rowsOf({
			items: panel.keys, labelWidth: 56, valueWidth: 188, height: 30, labelKind: "strong",
			label: (key) => key.size, value: choiceValue, tip: choiceTip, press,
			marks: (key, x, y) => choiceRow(key, x, y, scale),
			ticks: scale, tick: (value) => `${+value.toFixed(1)}`, base: 100,
			axis: "percent of AUTO’s time: less is faster",
			name: `${name}: ${many(panel.keys.length, "size")}, time of the arm in force against AUTO’s`,
		}),
		table: () => [["size", "AUTO µs", "AUTO p25–p75", "arm", "arm µs", "arm p25–p75", "time against AUTO", "decision"],
			panel.keys.map((key) => [key.size, raw(key.auto.us), rangeWords(key.auto), raw(key.other),
				raw(key.arm.us), rangeWords(key.arm),
				known(key.arm.us) ? percent(share(key, key.arm.us) - 100, true) : NONE, key.said])],
	});
}

function rangeWords(times) {
	return known(times.p25) && known(times.p75) && !times.borrowed ? `${times.p25}–${times.p75}` : NONE;
}

/* Panels of keys with times; those that take most of the time first, sizes ascending. */
function choicePanels(model) {
	const panels = new Map();

	for (const key of model.keys.filter((one) => known(one.auto.us))) {
		const where = [key.where, key.parallel ? `looks like ${key.parallel} parallel` : null,
			model.manySteps ? `step ${key.stepName}` : null].filter(Boolean).join(", ");
		const name = `${key.coll} ${where}`;

		if (!panels.has(name))
			panels.set(name, { coll: key.coll, where, keys: [], weight: 0 });
		panels.get(name).keys.push(key);
		panels.get(name).cost += key.cost;
	}
	for (const panel of panels.values())
		panel.keys.sort((a, b) => a.bytes - b.bytes || a.order - b.order);
	return [...panels.values()].sort((a, b) => b.cost - a.cost);
}

function choiceSection(model, press) {
	const panels = choicePanels(model);
	const scale = choiceScale(panels.flatMap((panel) => panel.keys));
	const folded = (panel) => later(`${panel.coll}, ${panel.where} (${many(panel.keys.length, "size")})`, "panel",
		() => openFigure(choiceFigure(panel, scale, press)));
	let rows = 0, open = 0;

	if (panels.length === 0)
		return null;
	while (open < panels.length && (open === 0 || rows + panels[open].keys.length <= PANEL_ROWS))
		rows += panels[open++].keys.length;
	const last = panels.length - open > PANELS_FOLDED + 2 ? open + PANELS_FOLDED : panels.length;
	return [
		legend(CHOICE_MARKS.slice(0, panels.some((panel) => panel.keys.some((key) => isBeyond(key, scale))) ? 4 : 3)),
		panels.some((panel) => panel.keys.some((key) => key.auto.borrowed || key.arm.borrowed))
			? el("p", { class: "where" }, "Marks are the time of a call; boxes are as wide, in proportion, as the times that were compared, from one call to the next.")
			: null,
		el("div", { class: "panels" }, panels.slice(0, open).map((panel) => choiceFigure(panel, scale, press)),
			panels.slice(open, last).map(folded)),
		last < panels.length ? later(`${panels.length - last} more, which take less of the time`, "panel",
			() => el("div", { class: "panels" }, panels.slice(last).map(folded))) : null,
	];
}

/* A figure that was made after the page was drawn. */
function openFigure(made) {
	requestAnimationFrame(() => redraw(made));
	return made;
}
