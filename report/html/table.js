/* The whole table: every key with the record's own figures, sorted by any column. */

const TABLE_ROWS = 200; /* shown at once; sorting and filtering see all */

/* name, unit, value of a key (what is sorted by and shown), kind: "number", "words"; decimals */
const COLUMNS = [
	["Communicator", "", (key) => key.where],
	["Communicator and step", "", (key) => key.stepWhere],
	["Decision", "", (key) => key.said],
	["Calls", "", (key) => key.calls, "number"],
	["Share of time", "%", (key) => known(key.share) ? 100 * key.share : null, "number", 2],
	["NCCL’s choice", "", (key) => key.pick],
	["Call", "µs", (key) => key.auto.us, "number", 2],
	["Other choice", "", (key) => key.other],
	["Its call", "µs", (key) => key.arm.us, "number", 2],
	["Gain", "%", (key) => key.gain, "number", 1],
	["p", "", (key) => key.p, "number", 6],
	["Busbw", "GB/s", (key) => key.busbw, "number", 2],
	["Cost", "ms", (key) => key.spentMs, "number", 3],
	["Saved", "ms", (key) => key.savedMs, "number", 3],
	["Why", "", (key) => [key.why, key.advice].filter(Boolean).join(" "), "words"],
];

function compare(a, b) {
	if (a === b)
		return 0;
	if (typeof a === "number" && typeof b === "number")
		return a - b;
	return String(a).localeCompare(String(b), "en", { numeric: true });
}

/* What is not known stands last, whichever way it is sorted. */
function sorted(keys, value, down) {
	const gone = (one) => one === null || one === undefined || one === "";

	return [...keys].sort((a, b) => {
		const [left, right] = [value(a), value(b)];

		if (gone(left) || gone(right))
			return gone(left) - gone(right);
		return (down ? -1 : 1) * compare(left, right) || a.order - b.order;
	});
}

function tableRow(key, columns, press) {
	return el("tr", {},
		el("th", { scope: "row" },
			el("button", { type: "button", "aria-label": `${key.name}, ${key.where}: details`, click: () => press(key) }, key.name)),
		columns.map(([, , value, kind, places]) => el("td", { class: kind },
			kind === "number" ? decimals(value(key), places) : raw(value(key)))));
}

function headOf(columns, sort) {
	const all = [["Collective and size", "", (key) => `${key.coll} ${String(key.bytes).padStart(16, "0")}`], ...columns];

	return all.map(([name, unit, value, kind]) => {
		const cell = el("th", { scope: "col", class: kind === "number" ? kind : null },
			el("button", { type: "button", click: () => sort(cell, value, kind === "number") }, name,
				unit ? el("span", {}, ` ${unit}`) : null));
		return cell;
	});
}

function tableSection(model, press) {
	const alike = new Set(model.keys.map((key) => key.where)).size < 2;
	const columns = COLUMNS.filter(([name]) => name === "Communicator and step" ? model.manySteps : name !== "Communicator" || !(alike || model.manySteps))
		.filter(([, , value]) => model.keys.some((key) => raw(value(key)) !== NONE));
	const body = el("tbody", {});
	const told = el("p", { role: "status" });
	const search = el("input", { type: "search", id: "search", autocomplete: "off", input: () => show() });
	const all = el("button", { type: "button", class: "more", click: () => { most = Infinity; show(); } });
	let order = model.keys, most = TABLE_ROWS;

	function show() {
		const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
		const found = order.filter((key) => words.every((word) => key.words.includes(word)));

		body.replaceChildren(...found.slice(0, most).map((key) => tableRow(key, columns, press)));
		told.textContent = found.length > most ? `The first ${most} of ${sizes(found)} are shown.`
			: `${sizes(found)}${words.length ? " found" : ""}.`;
		all.textContent = `Show all ${sizes(found)}`;
		all.hidden = found.length <= most;
	}

	function sort(cell, value, downFirst) {
		const was = cell.getAttribute("aria-sort");
		const down = was ? was === "ascending" : downFirst;

		for (const other of head)
			other.removeAttribute("aria-sort");
		cell.setAttribute("aria-sort", down ? "descending" : "ascending");
		order = sorted(model.keys, value, down);
		show();
	}

	const head = headOf(columns, sort);
	if (model.keys.length === 0)
		return null;
	show();
	return [
		el("div", { class: "filter" }, el("label", { for: "search" }, "Only lines with", search), told),
		el("div", { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": "all-caption" },
			el("table", { id: "keys" },
				el("caption", { id: "all-caption" }, `Every collective and size${alike && !model.manySteps ? ` (${model.keys[0].where})` : ""}; a column’s heading sorts by it, a line’s name shows its choices`),
				el("thead", {}, el("tr", {}, head)), body)),
		all,
	];
}
