/* What NCCL predicted of calls against their measured times: why measuring pays. */

const CLOUD_HEIGHT = 330;
const NEAR = 14; /* of the pointer */

/* Many circles, one element. */
function dots(kind, points) {
	return shape("path", { class: `cloud ${kind}`, d: points.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("") });
}

function predictedPoints(keys) {
	return keys.flatMap((key) => [
		{ ...key.auto, name: "NCCL’s choice", isAuto: true }, { ...key.arm, name: key.other }]
		.filter((arm) => arm.us > 0 && arm.predicted > 0).map((arm) => ({ key, arm, kind: armKind(key, arm) })));
}

function predictedDrawing(points, width) {
	const all = points.flatMap((point) => [point.arm.us, point.arm.predicted]);
	const scale = powers(all);
	const [from, to] = [scale[0], scale[scale.length - 1]];
	const x = logarithmic(from, to, 62, width - 14);
	const y = logarithmic(from, to, CLOUD_HEIGHT, 10);
	const clouds = { auto: [], other: [], chosen: [] };

	for (const point of points) {
		point.x = x(point.arm.predicted);
		point.y = y(point.arm.us);
		clouds[point.kind].push([point.x, point.y]);
	}
	const most = Math.ceil(46 * scale.length / (width - 76));
	const drawing = canvas(width, CLOUD_HEIGHT + 38,
		`Predicted against measured time of calls, ${many(points.length, "choice")}; ${offWords(points)}`,
		shape("rect", { class: "row", x: 0, y: 0, width, height: CLOUD_HEIGHT + 38 }),
		scale.map((us, i) => [
			line("grid", x(us), 10, x(us), CLOUD_HEIGHT), line("grid", 62, y(us), width - 14, y(us)),
			i % most ? null : text(`soft ${us === to ? "end" : us === from ? "" : "mid"}`, x(us) + (us === to ? 14 : 0),
				CLOUD_HEIGHT + 15, roundTime(us)),
			text("soft end", 56, y(us) + 4, roundTime(us)),
		]),
		line("rule", x(from), y(from), x(to), y(to)),
		text("soft", x(from) + (x(to) - x(from)) * 0.14 + 8, y(from) + (y(to) - y(from)) * 0.14 + 8, "as predicted"),
		text("soft mid", (62 + width - 14) / 2, CLOUD_HEIGHT + 33, "predicted by NCCL"),
		text("soft", 68, 22, "measured"),
		Object.entries(clouds).map(([kind, list]) => dots(kind, list)));

	drawing.addEventListener("pointermove", (event) => nearest(drawing, points, event), true);
	return drawing;
}

/* Thousands of points are three paths; the one that is meant is looked for. */
function nearest(drawing, points, event) {
	const box = drawing.getBoundingClientRect();
	const scale = drawing.viewBox.baseVal.width / box.width;
	const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
	let best = null, least = NEAR;

	for (const point of points) {
		const far = Math.hypot(point.x - x, point.y - y);

		if (far < least)
			[best, least] = [point, far];
	}
	if (best)
		drawing.dataset.tip = `${best.key.name}, ${best.key.stepWhere}\n${best.arm.name}\npredicted ${
			time(best.arm.predicted)}, measured ${time(best.arm.us)}`;
	else
		delete drawing.dataset.tip;
}

/* The middle of how many times off predictions are. */
function offWords(points) {
	const off = points.map(({ arm }) => Math.max(arm.us / arm.predicted, arm.predicted / arm.us))
		.sort((a, b) => a - b);

	return `half of the predictions are off by more than ${digits(off[off.length >> 1])} times`;
}

function predictedSection(model) {
	const points = predictedPoints(model.keys);

	if (points.length === 0)
		return null;
	return figure({
		note: `${offWords(points).replace(/^h/, "H")}.`,
		name: "Predicted and measured times",
		legend: [["auto", "NCCL’s choice"], ["chosen", "another choice in use"], ["other", "the best other choice, not in use"]]
			.map(([kind, words]) => [() => [dots(kind, [[17, 7]])], words]),
		kind: "square",
		draw: (width) => predictedDrawing(points, width),
		table: () => [["collective and size", "communicator and step", "choice", "predicted µs", "measured µs", "measured / predicted"],
			points.map(({ key, arm }) => [key.name, key.stepWhere, arm.name, raw(arm.predicted), raw(arm.us),
				digits(arm.us / arm.predicted)])],
	});
}
