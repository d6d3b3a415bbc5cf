/* A chart of rows: a label, a lane with marks on one scale, a value in words. On a narrow screen
 * label and value stand above the lane. Most charts of the page are of this kind. */

const LANE_LEAST = 190;
const AXIS_HEIGHT = 34;

/* parts: items; label, value, tip of an item; marks(item, x, y) in its lane; press(item)
 *        labelWidth, valueWidth, height of a lane
 *        ticks, tick(value), axis (what the scale is of), name (for screen readers) */
function rowsOf(parts) {
	return (width) => {
		const narrow = width - parts.labelWidth - parts.valueWidth < LANE_LEAST;
		const left = narrow ? 6 : parts.labelWidth;
		const right = width - (narrow ? 14 : parts.valueWidth);
		const above = narrow ? 18 : 0;
		const high = parts.height + above;
		const bottom = parts.items.length * high + 4;
		const x = linear(parts.ticks[0], parts.ticks[parts.ticks.length - 1], left, right);
		const at = { x, left, right, narrow, above, high, width };

		return canvas(width, bottom + AXIS_HEIGHT, parts.name,
			axisOf(parts, at, bottom),
			parts.items.map((item, i) => rowOf(parts, at, item, i * high)));
	};
}

function axisOf(parts, at, bottom) {
	const room = (at.right - at.left) / (parts.ticks.length - 1);
	const every = Math.ceil(44 / room);

	return [
		parts.ticks.map((value, i) => [
			line(value === parts.base ? "base" : "grid", at.x(value), 0, at.x(value), bottom),
			i % every ? null : text(`soft ${endOf(at, at.x(value))}`, at.x(value), bottom + 14,
				parts.tick(value)),
		]).flat(),
		text("soft mid", (at.left + at.right) / 2, bottom + 30, parts.axis),
	].flat();
}

/* Words at the edge of the drawing stay in it. */
function endOf(at, x) {
	return x > at.width - 20 ? "end" : x < 20 ? "" : "mid";
}

function rowOf(parts, at, item, top) {
	const middle = top + at.above + parts.height / 2;
	const words = at.narrow ? top + 14 : middle + 4;

	return shape("g", {
		class: parts.press ? "pressable" : null,
		"data-tip": parts.tip ? parts.tip(item) : null,
		click: parts.press ? () => parts.press(item) : null,
	},
	shape("rect", { class: "row", x: 0, y: top, width: at.width, height: at.high }),
	text(parts.labelKind || "", at.narrow ? 6 : 0, words,
		shorten(parts.label(item), labelRoom(parts, at, item))),
	parts.marks(item, at.x, middle, at),
	valueOf(parts.value(item), at.width, words));
}

/* Beside the lane its column; above it what the value leaves. */
function labelRoom(parts, at, item) {
	return at.narrow ? at.width - widthOf(valuePieces(parts.value(item)).map(([words]) => words).join(" ")) - 20
		: parts.labelWidth - 10;
}

const ruler = document.createElement("canvas").getContext("2d");

function widthOf(words) {
	ruler.font = `12.5px ${getComputedStyle(document.body).fontFamily}`;
	return ruler.measureText(words).width;
}

/* What fits into the room, in letters of a drawing's own size. */
function shorten(words, room) {
	let most = words.length;

	while (most > 3 && widthOf(most < words.length ? `${words.slice(0, most)}…` : words) > room)
		most--;
	return most < words.length ? `${words.slice(0, most)}…` : words;
}

/* One text, or [text, kind] pairs, the last one outermost. */
function valuePieces(value) {
	return Array.isArray(value) ? value : [[value, ""]];
}

function valueOf(value, x, y) {
	return shape("text", { class: "end", x, y }, valuePieces(value).map(([words, kind], i) =>
		shape("tspan", { class: kind, dx: i ? 8 : null }, words)));
}

/* A box from..to with its middle marked: quartiles and median. Where only the median is known, that. */
function spread(kind, x, y, tall, from, to, middle) {
	const marks = [];

	if (known(from) && known(to) && to >= from)
		marks.push(shape("rect", { class: kind, x: x(from), y: y - tall / 2, rx: 2,
			width: Math.max(1, x(to) - x(from)), height: tall }));
	if (known(middle))
		marks.push(line(`${kind} bold`, x(middle), y - tall / 2 - 1.5, x(middle), y + tall / 2 + 1.5));
	return marks;
}

function diamond(kind, x, y, half) {
	return shape("path", { class: kind, d: `M${x} ${y - half}l${half} ${half}l${-half} ${half}l${-half} ${-half}z` });
}

function triangle(kind, x, y) {
	return shape("path", { class: kind, d: `M${x - 4.5} ${y - 8}h9l-4.5 7z` });
}
