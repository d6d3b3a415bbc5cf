/* The page put together: what is shown of which step, in which order, in which colours. */

function empty(words) {
	return el("p", { class: "empty" }, words);
}

function tile(name, value, kind) {
	return el("div", {}, el("dt", {}, name), el("dd", { class: kind }, value));
}

function sum(keys, value) {
	const list = keys.map(value).filter(known);

	return list.length ? list.reduce((a, b) => a + b, 0) : null;
}

function tiles(model) {
	const keys = model.keys;
	const number = (state) => count(keys.filter((key) => key.state === state).length);
	const saved = sum(keys, (key) => key.savedMs), spent = sum(keys, (key) => key.spentMs);
	const net = known(saved) || known(spent) ? (saved || 0) - (spent || 0) : null;

	return el("dl", { class: "tiles" },
		tile("net time saved", known(net) ? time(net * 1000) : NONE, net > 0 ? "gain" : net < 0 ? "loss" : null),
		tile("exploring cost", known(spent) ? time(spent * 1000) : NONE),
		tile("keys with a faster arm in force", number("committed")),
		tile("keys where AUTO stays", number("kept")),
		tile("keys not finished", number("exploring")),
		tile("keys not tried", count(keys.filter((key) =>
			key.state === "counted" || key.state === "observed").length)));
}

function verdictSection(model) {
	return [
		model.verdict.length ? el("ul", {}, model.verdict.map((one) => el("li", {}, one.text,
			one.where ? el("span", { class: "where" }, ` ${one.where}`) : null)))
			: empty("The record says nothing in words."),
		tiles(model),
	];
}

function remarksSection(model) {
	if (model.remarks.length === 0)
		return empty("Nothing: all that the record has room for was tuned or has its reason in the table.");
	return plainTable("What was not tuned, and why",
		["step", "what", "why"], model.remarks.map((one) => [one.where, one.kind, one.text]));
}

/* id, heading, what it shows in a sentence, its parts */
function sections(model, detail, press) {
	return [
		["verdict", "Verdict", null, verdictSection(model)],
		["choice", "AUTO against the arm in force",
			"Each size that was timed. AUTO is NCCL’s own choice and the measure: what stands left of 100 is faster.",
			choiceSection(model, press)],
		["one", "One key and its arms", "A key is a collective and a size of one communicator. Click a line of a chart or a name in the table to see it here.",
			detail.parts],
		["course", "Exploration over time", null, courseSection(model, press)],
		["comms", "Communicators", "Which nodes each communicator has its ranks on.", commsSection(model)],
		["volume", "Volume per primitive", null, volumeSection(model)],
		["predicted", "Predicted against measured",
			"NCCL chooses by a model of each arm’s time. On the dashed line the model is right; above it the call takes longer than predicted.",
			predictedSection(model)],
		["all", "All keys", null, tableSection(model, press)],
		["left", "Not tuned", null, remarksSection(model)],
	];
}

function sectionOf([id, heading, about, parts]) {
	return el("section", { id, "aria-labelledby": `${id}-heading` },
		el("h2", { id: `${id}-heading`, tabindex: -1 }, heading), about ? el("p", {}, about) : null, parts);
}

function draw(model) {
	const detail = keySection(model);
	const press = (key) => {
		const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

		detail.show(key);
		byId("one").scrollIntoView({ behavior: still ? "auto" : "smooth" });
		byId("one-heading").focus({ preventScroll: true });
	};
	const list = sections(model, detail, press);

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

function chooseScope(model) {
	const names = model.scopes;
	const choose = byId("scope");

	if (names.length < 2)
		return;
	byId("scope-box").hidden = false;
	choose.append(...["all steps", ...names].map((name) => el("option", {}, name)));
	choose.addEventListener("change", () => {
		draw(choose.selectedIndex ? scoped(model, names[choose.selectedIndex - 1]) : model);
		say(`${choose.value} shown`);
	});
}

function start() {
	const words = byId("report").textContent;
	const model = modelOf(JSON.parse(words));

	document.title = `${model.title} – nccl-tune report`;
	byId("title").textContent = model.title;
	byId("about").textContent = model.about;
	byId("made").textContent = model.made;
	watchTheme();
	watchWidth();
	watchTips();
	watchSave(words);
	chooseScope(model);
	draw(model);
	document.documentElement.dataset.keys = model.keys.length;
	/* Until the first picture of it can be on the screen. */
	requestAnimationFrame(() => setTimeout(() => {
		document.documentElement.dataset.readyMs = Math.round(performance.now());
	}));
}

start();
