/* The steps of the job: when they calibrated and ran, how long the program's own steps took, and with
 * which launch profile. */

const TIMED_MARKS = [
	[() => [band("other", 2, 32, 7)], "calibration"],
	[() => [band("auto", 2, 32, 7)], "program with NCCL’s own settings"],
	[() => [band("chosen", 2, 32, 7)], "program with a launch profile"],
];

/* One after another, in seconds: what calibrated, and what ran as far as its own steps tell. */
function courseOfSteps(model) {
	let at = 0;

	return model.steps.flatMap((step) => [
		[`calibration ${step.calibrates ? "in" : "before"} ${step.name}`, "other", step.calibrated, calibrationWords(step)],
		[[step.name, step.profile].filter(Boolean).join(", "), step.profile && step.profile !== "default" ? "chosen" : "auto",
			step.calibrates ? 0 : step.count * step.us / 1e6, known(step.us) ? `${time(step.us)} a step` : ""],
	]).filter(([, , seconds]) => seconds > 0).map(([label, kind, seconds, words]) => {
		const from = at;

		at += seconds;
		return { label, kind, from, to: at, seconds, words };
	});
}

function timeSection(model) {
	const bars = courseOfSteps(model);
	const scale = ticks(0, largest([1, ...bars.map((bar) => bar.to)]), 6);

	if (!model.steps.some((step) => step.calibrated > 0))
		return null;
	return figure({
		title: null,
		name: "Calibration and steps in time",
		legend: TIMED_MARKS,
		draw: rowsOf({
			items: bars, labelWidth: 300, valueWidth: 260, height: 26, label: (bar) => bar.label,
			value: (bar) => [[bar.words, "soft"], [time(bar.seconds * 1e6), ""]],
			tip: (bar) => `${bar.label}\n${time(bar.seconds * 1e6)}\n${bar.words}`,
			marks: (bar, x, y) => [band(bar.kind, x(bar.from), x(bar.to), y)],
			ticks: scale, tick: (seconds) => digits(seconds), axis: "seconds, without what is between them",
			name: `${many(bars.length, "part")} of the job in time`,
		}),
		table: () => [["part of the job", "from, s", "seconds", "what it did"],
			bars.map((bar) => [bar.label, decimals(bar.from, 1), decimals(bar.seconds, 1), raw(bar.words)])],
	});
}

function calibrationWords(step) {
	return step.why ? "no result" : step.gain > 1 ? `${decimals(step.gain, 2)} times as fast with ${step.profile}` : "nothing was faster";
}

function calibrationSection(model) {
	const steps = model.steps.filter((step) => step.calibrated > 0);

	if (steps.length === 0)
		return null;
	return plainTable("Calibrations", ["step of the job", "when", "seconds", "ranks", "result", "deviation", "why not"],
		steps.map((step) => [step.name, step.calibrates ? "in it" : "before its program", decimals(step.calibrated, 1), raw(step.ranks),
			calibrationWords(step), known(step.deviation) ? percent(100 * step.deviation) : raw(null), raw(step.why)]));
}

function stepsSection(model) {
	const steps = model.steps.filter((step) => known(step.us) && !step.calibrates);
	const scale = ticks(0, largest([1, ...steps.flatMap((step) => [step.us, step.p75]).filter(known)]), 6);
	const last = scale[scale.length - 1];
	const label = (step) => [step.name, step.profile].filter(Boolean).join(", ");

	if (steps.length === 0)
		return null;
	return figure({
		title: null,
		name: "Time of the program’s own steps",
		draw: rowsOf({
			items: steps, labelWidth: 300, valueWidth: 190, height: 26, label,
			value: (step) => [[known(step.count) ? many(step.count, "step") : "", "soft"], [time(step.us), ""]],
			tip: (step) => `${label(step)}\n${spreadWords(step)}`,
			marks: (step, x, y) => spread(step.profile && step.profile !== "default" ? "chosen" : "auto", x, y, 14, step.p25, step.p75, step.us),
			ticks: scale, tick: (us) => tickTime(us, last), axis: `median and middle half, ${timeUnit(last)}`,
			name: `Time of the program’s own steps, ${many(steps.length, "step")} of the job`,
		}),
		table: () => [["step of the job", "steps of the program", "p25 µs", "median µs", "p75 µs", "launch profile"],
			steps.map((step) => [step.name, step.count, step.p25, step.us, step.p75, step.profile].map(raw))],
	});
}

function launchSection(model) {
	const steps = model.steps.filter((step) => step.profile);
	const columns = [
		["launch profile", (step) => step.profile], ["variables it sets", (step) => step.set],
		["left as the job sets them", (step) => step.left], ["where it came from", (step) => step.from],
		["expected, times as fast", (step) => step.expected], ["measured, times as fast", (step) => step.measured],
		["remark", (step) => step.remark],
	].filter(([, value]) => steps.some((step) => raw(value(step)) !== NONE));

	if (steps.length === 0)
		return null;
	return plainTable("Launch profiles", ["step of the job", ...columns.map(([name]) => name)],
		steps.map((step) => [step.name, ...columns.map(([, value]) => raw(value(step)))]));
}
