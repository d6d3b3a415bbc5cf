/* Bus bandwidth by message size, NCCL's choice and the one in use: a panel for each communicator,
 * step and collective. */

const PANEL_POINTS = 48; /* sizes drawn at once; what is beyond stands in panels that open */
const PANELS_FOLDED = 8; /* shown by name; the others stand behind one more */
const CURVE_HEIGHT = 190;
const CURVE_LEFT = 46;

const CHOICE_MARKS = [
	[() => [line("curve auto", 2, 7, 32, 7), dot("auto", 17, 7)], "NCCL’s choice"],
	[() => [line("chosen thick", 2, 7, 32, 7), diamond("chosen full", 17, 7, 5)], "another choice, in use"],
	[() => [triangle("other full", 17, 12)], "the best other choice, not in use"],
];

function dot(kind, x, y) {
	return shape("circle", { class: `hollow ${kind}`, cx: x, cy: y, r: 4 });
}

/* What the step ended with, where that was decided. */
function inUse(key) {
	return key.committed ? key.arm : key.state === "kept" ? key.auto : {};
}

function choiceTip(key) {
	const one = (name, times) => known(times.busbw) ? `${name}: ${digits(times.busbw)} GB/s, ${time(times.us)}` : null;

	return [`${key.name}, ${key.stepWhere}`, one(`NCCL’s choice (${key.pick})`, key.auto), one(key.other, key.arm),
		known(key.gain) ? `time ${percent(-key.gain, true)}` : null, key.said, key.why || null].filter(Boolean).join("\n");
}

/* With a gap where a size has no such value. */
function curve(kind, keys, x, y, value) {
	const has = (key) => key && known(value(key));

	return shape("path", { class: `curve ${kind}`, d: keys.map((key, i) => has(key)
		? `${has(keys[i - 1]) ? "L" : "M"}${x(key.bytes).toFixed(1)} ${y(value(key)).toFixed(1)}` : "").join("") });
}

/* Of bandwidths that span much, a small one is to be seen, too. */
function curveScale(keys) {
	const all = keys.flatMap((key) => [key.auto.busbw, key.arm.busbw]).filter((gbs) => gbs > 0);

	return largest(all) > 20 * smallest(all) ? { scale: powers(all), place: logarithmic, note: ", logarithmic" }
		: { scale: ticks(0, largest(all), 4), place: linear, note: "" };
}

function curveAxes(keys, x, y, scale, width) {
	const room = (x(keys[keys.length - 1].bytes) - x(keys[0].bytes)) / Math.max(1, Math.log2(keys[keys.length - 1].bytes / keys[0].bytes));
	const every = Math.max(1, Math.ceil(40 / (room || 40)));
	const first = Math.ceil(Math.log2(keys[0].bytes)), last = Math.log2(keys[keys.length - 1].bytes);
	const marks = [];

	for (let power = first; power <= last; power += every)
		marks.push(line("grid", x(2 ** power), 8, x(2 ** power), CURVE_HEIGHT),
			text("soft mid", x(2 ** power), CURVE_HEIGHT + 15, size(2 ** power)));
	return [marks, scale.map((gbs) => [line("grid", CURVE_LEFT, y(gbs), width - 16, y(gbs)),
		text("soft end", CURVE_LEFT - 6, y(gbs) + 4, String(+gbs.toPrecision(3)))]),
	text("soft mid", (CURVE_LEFT + width - 16) / 2, CURVE_HEIGHT + 32, "message size, bytes")];
}

function curvePoint(key, x, y, press) {
	const at = x(key.bytes);

	return shape("g", { class: "pressable", "data-tip": choiceTip(key), click: () => press(key) },
		shape("rect", { class: "row", x: at - 9, y: 8, width: 18, height: CURVE_HEIGHT - 8 }),
		known(key.auto.busbw) ? dot("auto", at, y(key.auto.busbw)) : null,
		!known(key.arm.busbw) ? null : key.committed ? diamond("chosen full", at, y(key.arm.busbw), 5)
			: triangle("other full", at, y(key.arm.busbw) + 4));
}

function curveDrawing(panel, width, press) {
	const keys = panel.keys;
	const { scale, place } = curveScale(keys);
	const y = place(scale[0], scale[scale.length - 1], CURVE_HEIGHT, 8);
	const lone = keys[0].bytes === keys[keys.length - 1].bytes;
	const x = lone ? () => (CURVE_LEFT + width) / 2
		: logarithmic(keys[0].bytes, keys[keys.length - 1].bytes, CURVE_LEFT + 16, width - 32);

	return canvas(width, CURVE_HEIGHT + 38, `${panel.coll}, ${panel.where}: bus bandwidth at ${many(keys.length, "size")}`,
		curveAxes(keys, x, y, scale, width),
		curve("auto", keys, x, y, (key) => key.auto.busbw), curve("chosen", keys, x, y, (key) => inUse(key).busbw),
		keys.map((key) => curvePoint(key, x, y, press)));
}

function choiceFigure(panel, press) {
	return figure({
		title: panel.coll,
		note: `${panel.where}; GB/s${curveScale(panel.keys).note}`,
		name: `${panel.coll}, ${panel.where}: NCCL’s choice and the one in use`,
		draw: (width) => curveDrawing(panel, width, press),
		table: () => [["size", "NCCL’s choice", "µs", "busbw GB/s", "other choice", "its µs", "its busbw GB/s", "its time against NCCL’s choice", "decision"],
			panel.keys.map((key) => [key.size, raw(key.pick), raw(key.auto.us), decimals(key.auto.busbw, 3), raw(key.other), raw(key.arm.us),
				decimals(key.arm.busbw, 3), known(key.gain) ? percent(-key.gain, true) : NONE, key.said])],
	});
}

/* Panels of keys with bandwidths; those that take most of the time first, sizes ascending. */
function choicePanels(model) {
	const panels = new Map();

	for (const key of model.keys.filter((one) => one.auto.busbw > 0)) {
		const where = [key.stepWhere, key.parallel ? `looks like ${key.parallel} parallel` : null].filter(Boolean).join(", ");
		const name = `${key.coll} ${where}`;

		if (!panels.has(name))
			panels.set(name, { coll: key.coll, where, keys: [], cost: 0 });
		panels.get(name).keys.push(key);
		panels.get(name).cost += key.cost;
	}
	for (const panel of panels.values())
		panel.keys.sort((a, b) => a.bytes - b.bytes || a.order - b.order);
	return [...panels.values()].sort((a, b) => b.cost - a.cost);
}

function choiceSection(model, press) {
	const panels = choicePanels(model);
	const folded = (panel) => later(`${panel.coll}, ${panel.where} (${many(panel.keys.length, "size")})`, "panel",
		() => openFigure(choiceFigure(panel, press)));
	let points = 0, open = 0;

	if (panels.length === 0)
		return null;
	while (open < panels.length && (open === 0 || points + panels[open].keys.length <= PANEL_POINTS))
		points += panels[open++].keys.length;
	const last = panels.length - open > PANELS_FOLDED + 2 ? open + PANELS_FOLDED : panels.length;
	return [
		legend(CHOICE_MARKS),
		el("div", { class: "panels" }, panels.slice(0, open).map((panel) => choiceFigure(panel, press)),
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
