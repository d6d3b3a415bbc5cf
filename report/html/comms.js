/* Communicators and where their ranks are; volume per collective. */

const MATRIX_COMMS = 40, MATRIX_NODES = 32;
const CELL = 13;

function commName(comm) {
	return comm.name ? `${comm.name} (${comm.id})` : comm.id;
}

function ranksOn(comm, node) {
	const place = comm.places.find((one) => one.node === node);

	return place ? place.ranks : [];
}

/* 0, 1, 2, 5: 0–2, 5 */
function rangesOf(numbers) {
	const parts = [];

	for (const number of [...numbers].sort((a, b) => a - b)) {
		const part = parts[parts.length - 1];

		if (part && part[1] === number - 1)
			part[1] = number;
		else
			parts.push([number, number]);
	}
	return parts.map(([from, to]) => from === to ? `${from}` : `${from}–${to}`).join(", ");
}

function commTip(comm) {
	return [commName(comm), `${many(comm.ranks, "rank")} on ${many(comm.nodes, "node")}`, comm.kind || null,
		...comm.places.slice(0, 12).map((place) => `${place.node}: rank ${rangesOf(place.ranks)}`),
		comm.why || null].filter(Boolean).join("\n");
}

/* A line a communicator, a column a node, a square a rank: what spans nodes is seen as such. */
function matrixDrawing(comms, nodes, width) {
	const left = Math.min(250, width * 0.4);
	const most = largest([1, ...comms.flatMap((comm) => comm.places.map((place) => place.ranks.length))]);
	const column = (width - left) / nodes.length;
	const across = Math.max(1, Math.min(most, Math.floor((column - 10) / (CELL + 2))));
	const high = Math.ceil(most / across) * (CELL + 2) + 12;
	const height = comms.length * high + 22;

	return canvas(width, height, `${many(comms.length, "communicator")} on ${many(nodes.length, "node")}`,
		nodes.map((node, i) => [
			text("soft mid", left + (i + 0.5) * column, 12, shorten(node, column)),
			line("grid", left + i * column, 0, left + i * column, height),
		]).flat(),
		comms.map((comm, i) => shape("g", { "data-tip": commTip(comm) },
			shape("rect", { class: "row", x: 0, y: 20 + i * high, width, height: high }),
			text("", 0, 20 + i * high + high / 2 + 4, shorten(comm.title, left - 14)),
			nodes.map((node, n) => squares(comm, ranksOn(comm, node),
				left + (n + 0.5) * column, 20 + i * high + 6, across)))));
}

function squares(comm, ranks, middle, top, across) {
	const wide = Math.min(across, ranks.length) * (CELL + 2);

	return ranks.map((rank, i) => shape("rect", {
		class: `full ${comm.tried ? "chosen" : "auto"}`, width: CELL, height: CELL, rx: 2,
		x: middle - wide / 2 + (i % across) * (CELL + 2) + 1, y: top + Math.floor(i / across) * (CELL + 2),
	}));
}

function commsTable(comms) {
	return [["communicator", "ranks", "nodes", "looks like", "state", "where its ranks are", "why"],
		comms.map((comm) => [commName(comm), count(comm.ranks), count(comm.nodes), comm.kind || NONE,
			comm.state || NONE,
			comm.places.map((place) => `${place.node}: ${rangesOf(place.ranks)}`).join("; ") || NONE,
			comm.why || NONE])];
}

function commsSection(model) {
	const comms = [...model.comms].sort((a, b) => b.ranks - a.ranks || a.nodes - b.nodes || compare(a.name, b.name));
	const nodes = [...new Set(comms.flatMap((comm) => comm.places.map((place) => place.node)))]
		.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));

	if (comms.length === 0)
		return null;
	if (nodes.length === 0 || nodes.length > MATRIX_NODES || comms.length > MATRIX_COMMS)
		return plainTable(`${many(comms.length, "communicator")}`, ...commsTable(comms));
	return figure({
		title: null,
		note: null,
		name: "Communicators and where their ranks are",
		legend: [
			[() => [shape("rect", { class: "full chosen", x: 10, y: 1, width: CELL, height: CELL, rx: 2 })], "a rank of a communicator that was tuned"],
			[() => [shape("rect", { class: "full auto", x: 10, y: 1, width: CELL, height: CELL, rx: 2 })], "of one that was not"],
		],
		draw: (width) => matrixDrawing(comms, nodes, width),
		table: () => commsTable(comms),
	});
}

/* ---- volume */

const VOLUME_MARKS = [
	[() => [band("chosen full", 2, 32, 7)], "between nodes"],
	[() => [band("auto full", 2, 32, 7)], "inside a node"],
	[() => [band("other full", 2, 32, 7)], "sent, not known where to"],
];

function volumeSection(model) {
	const rows = model.volumes;
	const all = (row) => row.inside + row.between + row.sent;
	const marks = VOLUME_MARKS.slice(0, rows.some((row) => row.sent) ? 3 : 2);
	const scale = ticks(0, largest([1, ...rows.map(all)]), 5);
	const last = scale[scale.length - 1];

	if (rows.length === 0)
		return null;
	return figure({
		title: null,
		name: "Volume per collective",
		legend: marks,
		draw: rowsOf({
			items: rows, labelWidth: 130, valueWidth: 190, height: 26,
			label: (row) => row.coll,
			value: (row) => [[many(row.calls, "call"), "soft"], [volume(all(row)), ""]],
			tip: (row) => row.sent ? `${row.coll}\n${volume(row.sent)} sent`
				: `${row.coll}\n${volume(row.between)} between nodes\n${volume(row.inside)} inside a node`,
			marks: (row, x, y) => [
				row.between ? band("chosen full", x(0), x(row.between), y) : null,
				row.inside ? band("auto full", x(row.between), x(row.between + row.inside), y) : null,
				row.sent ? band("other full", x(row.between + row.inside), x(all(row)), y) : null],
			ticks: scale, tick: (bytes) => volumeTick(bytes, last), axis: `bytes of all ranks, ${volume(last).split(" ")[1]}`,
			name: `Volume of ${many(rows.length, "collective")}`,
		}),
		table: () => [["collective", "calls", "bytes inside a node", "bytes between nodes", "bytes sent, not known where to"],
			rows.map((row) => [row.coll, count(row.calls), count(row.inside), count(row.between), count(row.sent)])],
	});
}

function volumeTick(bytes, most) {
	let by = 1;

	while (most / by >= 1000)
		by *= 1000;
	return String(+(bytes / by).toPrecision(4));
}
