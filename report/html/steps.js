/* The steps of the job: how long the program's own steps took, and with which launch profile. */

function stepsSection(model) {
	const steps = model.steps.filter((step) => known(step.us));
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
