/* For which ranks the others wait: a line a rank, a column a part of the measured calls. */

const LATE_HEIGHT = 20;

function lateWords(one) {
	const share = known(one.waiting) ? `${percent(100 * one.waiting)} of the time in ${many(one.calls, "measured call")} is waiting` : many(one.calls, "measured call");

	return `${one.of}; ${share}`;
}

function sliceName(one, i) {
	return `${i + 1} of ${one.from.length}, from ${digits(one.from[i])} s on`;
}

function lateDrawing(one, width) {
	const left = Math.min(190, width * 0.35);
	const column = (width - left) / one.from.length;
	const most = largest([1, ...one.ranks.flatMap((rank) => rank.us)]);
	const height = one.ranks.length * LATE_HEIGHT + 24;
	const named = Math.ceil(58 / column); /* every so many columns */

	return canvas(width, height, `Lateness of ${many(one.ranks.length, "rank")} over time`,
		one.ranks.map((rank, r) => [
			text("", 0, r * LATE_HEIGHT + LATE_HEIGHT / 2 + 4, shorten(rank.name, left - 10)),
			rank.us.map((us, i) => shape("rect", { class: "full chosen", x: left + i * column + 1, y: r * LATE_HEIGHT + 1,
				width: column - 2, height: LATE_HEIGHT - 2, "fill-opacity": 0.05 + 0.95 * us / most, "stroke-opacity": 0.2,
				"data-tip": `${rank.name}\n${time(us)} a call\n${sliceName(one, i)}` })),
		]),
		one.from.map((from, i) => i % named ? null : text("soft mid", left + (i + 0.5) * column, height - 6, `${digits(from)} s`)));
}

function lateTable(one) {
	return [["rank", ...one.from.map((_, i) => `${sliceName(one, i)}, µs`)],
		one.ranks.map((rank) => [rank.name, ...rank.us.map((us) => decimals(us, 1))])];
}

function lateSection(model) {
	const all = model.comms.filter((comm) => comm.lateness && comm.lateness.late).map((comm) => comm.lateness);

	return all.length === 0 ? null : all.slice(0, 4).map((one) => figure({
		title: one.of === all[0].of && all.length === 1 ? null : one.of,
		note: lateWords(one),
		name: `How long the others waited for each rank, ${one.of}`,
		draw: (width) => lateDrawing(one, width),
		table: () => lateTable(one),
	}));
}
