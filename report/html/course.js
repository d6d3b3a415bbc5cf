/* Exploration over time: of each key when it was explored and when it was decided. */

const COURSE_ROWS = 25;

const COURSE_MARKS = [
	[() => [band("other", 2, 32, 7)], "exploring"],
	[() => [band("chosen", 2, 32, 7)], "another choice in use"],
	[() => [band("auto", 2, 32, 7)], "NCCL’s choice"],
	[() => [diamond("commit", 17, 7, 5)], "decision for another choice"],
];

function band(kind, from, to, y) {
	return shape("rect", { class: kind, x: from, y: y - 5, width: Math.max(1, to - from), height: 10 });
}

function courseRow(key, x, y) {
	const decided = known(key.decided) ? 100 * key.decided / key.calls : null;
	const until = key.exploring ? 100 : decided;
	const marks = [];

	if (!known(until))
		return [band("auto", x(0), x(100), y)];
	if (until > 0)
		marks.push(band("other", x(0), x(until), y));
	if (until < 100)
		marks.push(band(key.committed ? "chosen" : "auto", x(until), x(100), y));
	if (!key.exploring && key.committed)
		marks.push(diamond("commit", x(until), y, 6));
	return marks;
}

function courseWords(key) {
	if (key.exploring)
		return "not finished";
	if (!known(key.decided))
		return "not explored";
	return `${key.committed ? "decided" : "stays"} at ${count(key.decided)} of ${count(key.calls)}`;
}

function courseTip(key) {
	return [`${key.name}, ${key.stepWhere}`, key.said,
		known(key.decided) ? `decided at call ${count(key.decided)} of ${count(key.calls)}` : null,
		known(key.spentCalls) ? `${many(key.spentCalls, "call")} explored` : null,
		key.rechecks ? `rechecked ${many(key.rechecks, "time")}` : null,
		key.rollbacks ? `returned to NCCL’s choice ${many(key.rollbacks, "time")}` : null].filter(Boolean).join("\n");
}

function courseFigure(keys, press) {
	return figure({
		title: "When each collective and size was decided",
		note: "those with the most time first",
		legend: COURSE_MARKS,
		draw: rowsOf({
			items: keys, labelWidth: 440, valueWidth: 190, height: 24,
			label: (key) => `${key.name}, ${key.stepWhere}`, value: (key) => [[courseWords(key), "soft"]],
			tip: courseTip, press, marks: courseRow,
			ticks: [0, 20, 40, 60, 80, 100], tick: (value) => `${value}`,
			axis: "percent of its calls in this step",
			name: `Exploring and decision of ${sizes(keys)} over their calls`,
		}),
		table: () => [["collective and size", "communicator and step", "calls", "explored", "decided at call", "decision", "rechecks", "returns to NCCL’s choice"],
			keys.map((key) => [key.name, key.stepWhere, count(key.calls), count(key.spentCalls), count(key.decided),
				key.said, raw(key.rechecks), raw(key.rollbacks)])],
	});
}

function courseSection(model, press) {
	const keys = model.keys.filter((key) => key.calls > 0 && (key.exploring || known(key.decided)));
	keys.sort((a, b) => b.cost - a.cost);
	const box = el("div", {}, keys.length ? courseFigure(keys.slice(0, COURSE_ROWS), press) : []);

	if (keys.length === 0)
		return null;
	if (keys.length <= COURSE_ROWS)
		return box;
	return [box, el("button", { type: "button", class: "more", click: (event) => {
		box.replaceChildren(openFigure(courseFigure(keys, press)));
		event.target.remove();
		say(`All ${sizes(keys)} are shown`);
	} }, `Show all ${sizes(keys)}`)];
}
