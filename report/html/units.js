/* Figures as people read them. NONE stands for what is not known. */

const NONE = "–";

function known(value) {
	return typeof value === "number" && Number.isFinite(value);
}

/* At least three digits that count, and no more decimals than that takes. */
function digits(value) {
	const size = Math.abs(value);

	if (size >= 1000 || size === 0)
		return Math.round(value).toLocaleString("en-US");
	return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/* A Latin minus is too short beside figures. */
function minus(words) {
	return words.replace(/^-/, "−");
}

function time(us) {
	if (!known(us))
		return NONE;
	const size = Math.abs(us);
	const [by, unit] = size >= 6e7 ? [6e7, "min"] : size >= 1e6 ? [1e6, "s"]
		: size >= 1e3 ? [1e3, "ms"] : [1, "µs"];

	return `${minus(digits(us / by))} ${unit}`;
}

/* Of a round number, as at an axis. */
function roundTime(us) {
	return time(us).replace(/\.0+ /, " ");
}

function times(a, b) {
	if (!known(a) || !known(b))
		return time(known(a) ? a : b);
	const [from, to] = [time(a), time(b)];
	const unit = to.split(" ")[1];

	return `${from.endsWith(` ${unit}`) ? from.split(" ")[0] : from} → ${to}`;
}

/* Sizes of calls are powers of two; what was moved in all is told in powers of ten. */
function size(bytes) {
	const units = ["", "K", "M", "G", "T"];
	let step = 0;

	if (!known(bytes))
		return NONE;
	while (bytes >= 1024 && step < units.length - 1) {
		bytes /= 1024;
		step++;
	}
	return `${Number.isInteger(bytes) ? bytes : bytes.toFixed(1)}${units[step]}`;
}

function volume(bytes) {
	const units = ["B", "kB", "MB", "GB", "TB", "PB"];
	let step = 0;

	if (!known(bytes))
		return NONE;
	while (bytes >= 1000 && step < units.length - 1) {
		bytes /= 1000;
		step++;
	}
	return `${step ? digits(bytes) : bytes} ${units[step]}`;
}

function count(value) {
	return known(value) ? value.toLocaleString("en-US") : NONE;
}

function many(value, one, more) {
	return `${count(value)} ${value === 1 ? one : more || `${one}s`}`;
}

function sizes(keys) {
	return many(keys.length, "collective and size", "collectives and sizes");
}

/* 1-02:03:04, as Slurm has it */
function clock(seconds) {
	const two = (value) => String(Math.floor(value)).padStart(2, "0");
	const days = Math.floor(seconds / 86400);

	return `${days ? `${days}-` : ""}${two(seconds / 3600 % 24)}:${two(seconds / 60 % 60)}:${two(seconds % 60)}`;
}

function percent(value, signed) {
	if (!known(value))
		return NONE;
	const words = Math.abs(value) >= 9.95 ? value.toFixed(0) : value.toFixed(1);

	return `${signed && value > 0 ? "+" : ""}${minus(words)} %`;
}

/* As the JSON has it: tables hold the record's own figures. */
function raw(value) {
	return value === null || value === undefined || value === "" ? NONE : String(value);
}

/* The same, without decimals that say nothing. */
function decimals(value, places) {
	return known(value) ? String(places === undefined ? value : +value.toFixed(places)) : NONE;
}

function chance(p) {
	return p < 0.0001 ? "below 0.0001" : decimals(p, 4);
}

/* ---- axes */

/* Round numbers, about so many, that cover from..to. */
function ticks(from, to, about) {
	const span = to - from || 1;
	const rough = span / about;
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 2.5, 5, 10].find((by) => by * power >= rough) * power;
	const list = [];

	for (let i = Math.floor(from / step + 1e-9); i * step < to + step * 0.999; i++)
		list.push(i * step);
	return list;
}

/* Round numbers of a logarithmic scale that cover all: 1, 2, 5 of each power of ten, or, where that
 * is too much, the powers alone. */
function powers(all) {
	const [from, to] = [smallest(all), largest(all)];
	const wide = to / from > 300;
	const list = [];

	for (let i = Math.floor(Math.log10(from)); i <= Math.ceil(Math.log10(to)); i++)
		list.push(...(wide ? [1] : [1, 2, 5]).map((by) => by * 10 ** i));
	const first = list.findLastIndex((value) => value <= from * 1.0001);
	const last = list.findIndex((value, i) => i > first && value >= to * 0.9999);

	return list.slice(first, last + 1);
}

/* Of a long list, too, which is no list of arguments. */
function smallest(all) {
	return all.reduce((a, b) => Math.min(a, b), Infinity);
}

function largest(all) {
	return all.reduce((a, b) => Math.max(a, b), -Infinity);
}

function linear(from, to, left, right) {
	return (value) => left + (right - left) * (value - from) / (to - from || 1);
}

function logarithmic(from, to, left, right) {
	const place = linear(Math.log10(from), Math.log10(to), left, right);

	return (value) => place(Math.log10(value));
}

function within(value, from, to) {
	return Math.min(to, Math.max(from, value));
}
