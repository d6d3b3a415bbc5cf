/* The page put together: what is shown of which step, in which order, in which colours. */

function empty(words) {
	return el("p", { class: "empty" }, words);
}

function tile(name, value, kind) {
	return el("div", {}, el("dt", {}, name), el("dd", { class: kind }, value));
}

function tiles(model) {
	const keys = model.keys;
	const number = (state) => count(keys.filter((key) => key.state === state).length);
	const { saved, spent, gain } = model;
	const net = known(saved) || known(spent) ? (saved || 0) - (spent || 0) : null;

	return el("dl", { class: "tiles" },
		gain && known(gain.step_us) ? tile(gain.profile ? `the program’s step with ${gain.profile}` : "the program’s step", time(gain.step_us),
			gain.without_us > gain.step_us ? "gain" : gain.without_us < gain.step_us ? "loss" : null) : null,
		gain && known(gain.without_us) ? tile(`without it, as ${gain.without_by === "job" ? "this job’s steps took" : "remembered"}`,
			time(gain.without_us)) : null,
		tile("net time saved", known(net) ? time(net * 1000) : NONE, net > 0 ? "gain" : net < 0 ? "loss" : null),
		tile("exploring and calibrating cost", known(spent) ? time(spent * 1000) : NONE),
		tile("collectives and sizes with another choice in use", number("committed")),
		tile("where NCCL’s choice stays", number("kept")),
		tile("not finished", number("exploring")),
		tile("only counted or observed", count(keys.filter((key) =>
			key.state === "counted" || key.state === "observed").length)));
}

/* Words to type stay on one line. */
function unbroken(words) {
	return words.split(/(--[\w-]+(?:=[\w=,.-]*\w)?)/).map((part) => part.startsWith("--") ? el("span", { class: "typed" }, part) : part);
}

function verdictSection(model) {
	return [
		model.verdict.length ? el("ul", {}, model.verdict.map((one) => el("li", {}, unbroken(one.text),
			one.type ? el("span", { class: "advice" }, " ", unbroken(one.type)) : null,
			one.where ? el("span", { class: "where" }, ` ${one.where}`) : null)))
			: null,
		tiles(model),
	];
}

function remarksSection(model) {
	if (model.remarks.length === 0)
		return null;
	return plainTable("What was not tuned, and why",
		["step", "what", "why"], model.remarks.map((one) => [one.where, one.kind, one.text]));
}

function stacksSection(model) {
	if (model.stacks.length === 0)
		return null;
	return model.stacks.flatMap((one) => [
		el("h3", {}, `${model.manySteps ? `Step ${one.stepName}, r` : "R"}ank ${one.rank} on ${one.node}${one.top ? `: ${one.top}` : ""}`),
		one.why ? el("p", {}, `${one.tool ? `${one.tool}: ` : ""}${one.why}`) : null,
		one.lines && one.lines.length ? el("pre", { tabindex: 0 }, one.lines.join("\n")) : null]);
}

/* id, heading, what it shows in a sentence, its parts; null where the record has nothing of it */
function sections(model, detail, press) {
	return [
		["time", "Steps in time", null, timeSection(model)],
		["verdict", "Summary", null, verdictSection(model)],
		["steps", "Step time", "The program’s own steps in each step of the job: from one call to the next of the collective that is called least often.",
			stepsSection(model)],
		["choice", "Bus bandwidth by message size",
			"As nccl-tests counts it, of calls whose own time is known: from start to end on the slowest rank. NCCL reports that end too early except for rings; the time of others is that to the next call, less what a ring leaves between calls. A size stands for the half octave from it on.",
			choiceSection(model, press)],
		["calibration", "Calibration", "What the tasks of a step measured with a benchmark before its program, or for later jobs.", calibrationSection(model)],
		["launch", "Launch profiles", "Variables of NCCL’s that each step was started with.", launchSection(model)],
		["one", "One collective and size", "A point or line of a chart or a name in the table, clicked, shows it here.",
			detail.parts],
		["course", "Exploration over time", null, courseSection(model, press)],
		["comms", "Communicators", "Which nodes each communicator has its ranks on.", commsSection(model)],
		["late", "Ranks that others wait for",
			"Ranks of a collective end together: the one whose call is the shortest came last. Darker: the others waited longer for that rank, by the middle of them, in the mean over the measured calls of that part of the step.",
			lateSection(model)],
		["stacks", "Stacks of ranks that others wait for", "Where they were when the step had stalled, as py-spy or gdb printed it.", stacksSection(model)],
		["topology", "What NCCL found on each node",
			"As NCCL saw GPUs, links and NICs when the communicator was made. Rings and trees are how its algorithms run through a node; of what nodes have, all use what the poorest has.",
			topologySection(model)],
		["volume", "Volume per collective", "What all ranks send, if each sends what a ring would have it send: NCCL does not tell what it really moves. Of sends and all-to-alls, which are only seen: what was sent.",
			volumeSection(model)],
		["predicted", "Predicted and measured time of calls",
			"NCCL chooses by a model of a call’s time. Measured is the call’s own time, as above. On the dashed line the model is right; above it the call takes longer than predicted.",
			predictedSection(model)],
		["all", "All collectives and sizes", null, tableSection(model, press)],
		["left", "Not tuned", null, remarksSection(model)],
	];
}

function sectionOf([id, heading, about, parts]) {
	return el("section", { id, "aria-labelledby": `${id}-heading` },
		el("h2", { id: `${id}-heading`, tabindex: -1 }, heading), about ? el("p", {}, about) : null, parts);
}

/* What this record does not have is named in one place; but for what is there only where asked for. */
function missing(list) {
	const names = list.filter(([id, , , parts]) => parts === null && !["left", "topology", "launch", "late", "stacks", "time", "calibration"].includes(id)).map(([, heading]) => heading);

	if (names.length === 0)
		return [];
	return [["missing", "Not in this record", null,
		empty(`Nothing to show for: ${names.join("; ")}. The short record in accounting has only what fits; the long one, where it was kept, has all.`)]];
}

function draw(model) {
	const detail = keySection(model);
	const press = (key) => {
		const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

		detail.show(key);
		byId("one").scrollIntoView({ behavior: still ? "auto" : "smooth" });
		byId("one-heading").focus({ preventScroll: true });
	};
	const every = sections(model, detail, press);
	const list = [...every.filter(([, , , parts]) => parts !== null), ...missing(every)];

	byId("main").replaceChildren(...list.map(sectionOf));
	byId("toc").replaceChildren(...list.map(([id, heading]) =>
		el("li", {}, el("a", { href: `#${id}` }, heading))));
	detail.start();
	redraw();
}

/* ---- the page's own controls */

function watchTheme() {
	const system = matchMedia("(prefers-color-scheme: dark)");
	const choose = byId("theme");
	const apply = () => {
		document.documentElement.dataset.theme = choose.value !== "auto" ? choose.value
			: system.matches ? "dark" : "light";
	};

	choose.addEventListener("change", apply);
	system.addEventListener("change", apply);
	apply();
}

function watchWidth() {
	let width = innerWidth, timer = 0;

	addEventListener("resize", () => {
		if (innerWidth === width)
			return;
		width = innerWidth;
		clearTimeout(timer);
		timer = setTimeout(() => redraw(), 120);
	});
}

function watchSave(words) {
	byId("save").addEventListener("click", () => {
		const link = el("a", { download: "nccl-tune-report.json",
			href: URL.createObjectURL(new Blob([words], { type: "application/json" })) });

		link.click();
		URL.revokeObjectURL(link.href);
	});
}

function chooseScope(jobs, whole) {
	const names = [...new Set(whole.names)];
	const choose = byId("scope");

	if (names.length < 2)
		return;
	byId("scope-box").hidden = false;
	choose.append(...["all steps", ...names].map((name) => el("option", {}, name)));
	choose.addEventListener("change", () => {
		draw(choose.selectedIndex ? modelOf(jobs, names[choose.selectedIndex - 1]) : whole);
		say(`${choose.value} shown`);
	});
}

function start() {
	const words = byId("report").textContent;
	const { jobs, version } = JSON.parse(words);
	const model = modelOf(jobs);

	document.title = `${model.title} – nccl-tune report`;
	byId("title").textContent = model.title;
	byId("about").textContent = model.about;
	byId("facts").replaceChildren(...model.facts.map(([name, words]) => el("div", {}, el("dt", {}, name), el("dd", {}, words))));
	byId("made").textContent = `Written by nccl-tune ${version}.`;
	watchTheme();
	watchWidth();
	watchTips();
	watchSave(words);
	chooseScope(jobs, model);
	draw(model);
	document.documentElement.dataset.keys = model.keys.length;
	/* Until the first picture of it can be on the screen. */
	requestAnimationFrame(() => setTimeout(() => {
		document.documentElement.dataset.readyMs = Math.round(performance.now());
	}));
}

start();
