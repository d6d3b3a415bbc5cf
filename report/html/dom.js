"use strict";
/* Elements of the page. What a record holds goes in as text and as plain attributes only: there is
 * no way from it to markup, nor to an address. */

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (typeof value === "function")
			node.addEventListener(name, value);
		else if (value !== undefined && value !== null && value !== false)
			node.setAttribute(name, value === true ? "" : value);
	}
	node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
	return node;
}

/* el("p", { class: "empty" }, "text", child, ...); a function among the attributes is a listener */
function el(name, attributes, ...children) {
	return fill(document.createElement(name), attributes, children);
}

function shape(name, attributes, ...children) {
	return fill(document.createElementNS(SVG, name), attributes, children);
}

function line(kind, x1, y1, x2, y2) {
	return shape("line", { class: kind, x1, y1, x2, y2 });
}

function text(kind, x, y, words) {
	return shape("text", { class: kind, x, y }, words);
}

function byId(id) {
	return document.getElementById(id);
}

/* For screen readers alone. */
function say(words) {
	byId("said").textContent = words;
}

/* A table, as it stands behind a chart. Numbers are columns whose first cell is one. */
function plainTable(title, head, rows) {
	const numeric = head.map((_, i) => i > 0 && rows.length > 0 && /^[-−+]?[\d.,]+( ?%)?$/.test(rows[0][i]));
	const kind = (i) => ({ class: numeric[i] ? "number" : null });

	return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title },
		el("table", {},
			el("caption", {}, title),
			el("thead", {}, el("tr", {}, head.map((name, i) =>
				el("th", { scope: "col", ...kind(i) }, name)))),
			el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, i) =>
				el(i ? "td" : "th", { scope: i ? null : "row", ...kind(i) }, cell)))))));
}

/* Made when it is opened, so that a page of many keys stays small. */
function later(summary, kind, make) {
	const box = el("details", { class: kind }, el("summary", {}, summary));

	box.addEventListener("toggle", () => {
		if (box.open && box.childElementCount === 1)
			box.append(make());
	});
	return box;
}

/* ---- charts: drawn at the width that they have, and again when that changes */

const drawn = new Set();
const VIEW_WIDTH = 640; /* where a chart has no width of its own yet */

function redraw(only) {
	for (const chart of drawn) {
		if (!chart.plot.isConnected)
			drawn.delete(chart);
		else if (!only || only.contains(chart.plot))
			chart.plot.replaceChildren(chart.draw(chart.plot.clientWidth || VIEW_WIDTH));
	}
}

/* parts: title, note, legend, draw(width), table() of [head, rows] */
function figure(parts) {
	const plot = el("div", { class: `plot ${parts.kind || ""}` });
	const name = [parts.title, parts.note].filter(Boolean).join(", ");

	drawn.add({ plot, draw: parts.draw });
	return el("figure", {},
		el("figcaption", {},
			parts.title ? el("h3", {}, parts.title) : null,
			parts.note ? el("p", {}, parts.note) : null),
		parts.legend ? legend(parts.legend) : null,
		plot,
		later("As a table", null, () => plainTable(parts.name || name, ...parts.table())));
}

function canvas(width, height, name, ...children) {
	return shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
		"aria-label": name }, ...children);
}

/* items: [[marks...], words] */
function legend(items) {
	return el("ul", { class: "legend" }, items.map(([marks, words]) =>
		el("li", {}, shape("svg", { viewBox: "0 0 34 14", "aria-hidden": "true" }, marks()), words)));
}

/* One tip for all marks: what carries data-tip shows it under the pointer. */
function watchTips() {
	const tip = byId("tip");

	document.addEventListener("pointermove", (event) => {
		const mark = event.target.closest ? event.target.closest("[data-tip]") : null;

		tip.hidden = !mark;
		if (!mark)
			return;
		tip.textContent = mark.dataset.tip;
		const box = tip.getBoundingClientRect();
		const left = Math.min(event.clientX + 14, innerWidth - box.width - 8);
		const below = event.clientY + 18 + box.height < innerHeight;

		tip.style.left = `${Math.max(8, left)}px`;
		tip.style.top = `${below ? event.clientY + 18 : event.clientY - box.height - 12}px`;
	});
	document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
	document.addEventListener("keydown", (event) => {
		if (event.key === "Escape")
			tip.hidden = true;
	});
}
