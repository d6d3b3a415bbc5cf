/* From the report's JSON to what the page shows. Nothing behind this knows the JSON's names, which
 * are those of `nccl-tune report --json` (docs/schema/report.schema.json). */

const SAID = {
	committed: (key) => `${key.arm} in use`,
	kept: () => "NCCL’s choice stays",
	exploring: () => "not finished",
	observed: () => "observed only",
	counted: () => "only counted",
};

function onNodes(one) {
	return `${many(one.ranks, "rank")} on ${many(one.nodes, "node")}`;
}

function whereOf(comm, key) {
	return [comm.name, onNodes(comm), key.comms > 1 ? many(key.comms, "communicator") : null]
		.filter(Boolean).join(", ");
}

/* Of NCCL's choice (0) or of the other one (1). us and busbw are of a call itself, from its start to
 * its end; toNext is what was compared, from its start to that of the next call, with the program's
 * work between them. */
function timesOf(key, which) {
	const of = (name) => (key[name] || [])[which];
	const own = (name) => key.call_own ? of(name) : null;

	return { us: own("call_us"), algbw: own("algbw_gbs"), busbw: own("busbw_gbs"), toNext: of("us"), predicted: of("predicted_us") };
}

function armOf(arm) {
	const isAuto = arm.arm === "AUTO";

	return { name: isAuto ? "NCCL’s choice" : arm.arm, isAuto, us: arm.us, p25: arm.p25_us, p75: arm.p75_us,
		low: arm.min_us, high: arm.max_us, samples: arm.samples };
}

/* Where NCCL's choice stays, the times are those of the best other one; a record may not name it. */
function otherOf(key) {
	if (key.arm !== "AUTO")
		return key.arm;
	return key.best || (key.us && known(key.us[1]) ? "the best other choice" : null);
}

/* By the times of calls. */
function gainOf(auto, arm) {
	return known(auto.us) && known(arm.us) && auto.us > 0 ? 100 * (auto.us - arm.us) / auto.us : null;
}

function keyOf(step, comm, item, order) {
	const committed = item.state === "committed";
	const [auto, arm] = [timesOf(item, 0), timesOf(item, 1)];
	const used = committed ? arm : auto;
	const key = {
		order, item, job: step.job, step: step.step, stepName: step.stepName, coll: item.coll, bytes: item.bytes,
		size: size(item.bytes), name: `${item.coll} ${size(item.bytes)}`,
		where: whereOf(comm, item), parallel: comm.parallel,
		state: item.state, committed, exploring: item.state === "exploring",
		said: (SAID[item.state] || (() => raw(item.state)))(item),
		pick: item.auto, other: otherOf(item), auto, arm, period: (item.period_us || [])[committed ? 1 : 0],
		gain: gainOf(auto, arm), p: item.p, calls: item.calls, decided: item.decided,
		share: item.share, busbw: used.busbw, algbw: used.algbw,
		spentCalls: item.spent_calls, spentMs: item.spent_ms, savedMs: item.saved_ms,
		rechecks: item.rechecks, rollbacks: item.rollbacks, from: item.from,
		why: item.says, advice: item.advice,
		arms: (item.arms || []).map(armOf),
	};

	key.cost = known(key.share) ? key.share : (key.calls || 0) * (auto.toNext || 0) * 1e-12;
	key.stepWhere = `${key.where}, step ${key.stepName}`;
	key.words = [key.name, key.where, key.parallel, key.pick, key.other, key.said, key.why, `step ${key.stepName}`]
		.filter(Boolean).join(" ").toLowerCase();
	return key;
}

/* For whom the communicator's ranks wait. */
function latenessOf(of, one) {
	return one && { of, late: one.late, calls: one.calls, waiting: one.waiting, from: one.from_s,
		ranks: one.ranks.map((rank) => ({ name: `rank ${rank.rank}, ${rank.node}`, us: rank.us })) };
}

function commOf(step, family, comm) {
	return { job: step.job, step: step.step, stepName: step.stepName, id: comm.id, name: comm.name, ranks: family.ranks, nodes: family.nodes,
		kind: family.parallel, state: comm.state, why: comm.why, places: comm.places, volumes: comm.volumes,
		lateness: latenessOf(`${comm.name || onNodes(family)}, step ${step.stepName}`, comm.lateness), tried: comm.state === "agreed", title: `${comm.name || onNodes(family)} · ${comm.id.slice(0, 6)}` };
}

function volumesOf(comms) {
	const rows = new Map();

	for (const one of comms.flatMap((comm) => comm.volumes)) {
		const row = rows.get(one.coll) || { coll: one.coll, calls: 0, inside: 0, between: 0, sent: 0 };

		row.calls += one.calls || 0;
		row.inside += one.inside_bytes || 0;
		row.between += one.between_bytes || 0;
		row.sent += known(one.inside_bytes) ? 0 : one.bytes || 0;
		rows.set(one.coll, row);
	}
	return [...rows.values()].sort((a, b) => b.inside + b.between + b.sent - a.inside - a.between - a.sent);
}

function linksOf(links) {
	return links && { channels: links.channels, within: links.intra_gbs, between: links.inter_gbs,
		pathWithin: links.intra, pathBetween: links.inter };
}

function topologyOf(stepName, one) {
	return { stepName, of: one.of, nodes: one.nodes.map((node) => ({ name: node.node, nodes: node.nodes,
		gpus: node.gpus, nvlinks: node.nvlinks, pcieSpeed: node.pcie_gts, pcieLanes: node.pcie_lanes, nics: node.nics,
		nicSpeed: node.nics_mbps, ring: linksOf(node.ring), tree: linksOf(node.tree), lack: node.lack, trouble: node.trouble })) };
}

/* What was not tuned, what is damaged and what had no room: of a job (step null) or of a step. */
function remarksOf(one, stepName) {
	const remark = (kind, text) => ({ kind, text, where: raw(stepName) });

	const kindOf = (why) => ({ behind: "stalled", lastcalls: "ended" }[why] || "not tuned");

	return [...(one.findings || []).map((found) => remark("set-up", `${found.says} ${found.advice}`)),
		...(one.untuned || []).map((why) => remark(kindOf(why.why), [why.says || why.text, why.advice].filter(Boolean).join(" "))),
		...(one.damaged || []).map((text) => remark("damaged", text)),
		...(one.more ? [remark("left out", `${count(one.more)} more, which had no room in this form of the record`)] : [])];
}

/* "2.28.9, mode bandit, ...": of the steps, where all say the same. */
function aboutOf(steps) {
	const same = (words) => {
		const all = new Set(steps.map(words).filter(Boolean));

		return all.size === 1 ? [...all][0] : null;
	};

	return [same((step) => step.nccl && `NCCL ${step.nccl}`), same((step) => step.mode && `mode ${step.mode}`),
		same((step) => step.ranks > 0 && onNodes(step)), same((step) => step.fabric && `fabric ${step.fabric}`),
		same((step) => step.driver && `driver ${step.driver}`),
		steps.length === 1 ? `step ${steps[0].step}` : many(steps.length, "step")].filter(Boolean).join(", ");
}

/* Of the program's own steps (us), and its launch profile. */
function stepOf(step) {
	const [p25, us, p75] = step.step_us || [];

	return { name: `step ${step.stepName}`, p25, us, p75, count: step.steps, profile: step.launch, set: step.set, left: step.left,
		from: step.from, expected: step.expected, measured: step.measured, remark: step.remark, calibrates: step.calibrates,
		calibrated: step.calibration_s, ranks: step.calibration_ranks, gain: step.calibration_gain,
		deviation: step.calibration_deviation, why: step.calibration_why };
}

/* What Slurm knows of the job. */
function factsOf(job) {
	const started = known(job.start) ? new Date(job.start * 1000).toISOString().slice(0, 16).replace("T", " ") : null;

	return [["Name", job.name], ["User", job.user], ["State", job.state], ["Nodes", known(job.nodes) ? count(job.nodes) : null],
		["Elapsed", known(job.elapsed_s) ? clock(job.elapsed_s) : null], ["Started", started && `${started} UTC`]]
		.filter(([, words]) => words);
}

/* What a step says of itself is of all its keys, those without room, too. */
function totalsOf(steps, keys, name, value) {
	const told = steps.map((step) => step[name]).filter(known);
	const list = told.length ? told : keys.map(value).filter(known);

	return list.length ? list.reduce((a, b) => a + b, 0) : null;
}

/* Of whole jobs as the report says it; of one step what that says of itself. */
function sumsOf(jobs, only, steps, keys) {
	const gains = jobs.map((job) => job.gain).filter(Boolean);
	const plus = (value) => gains.reduce((sum, gain) => sum + (value(gain) || 0), 0);

	if (!only && gains.length && gains.length === jobs.length)
		return { gain: gains.length === 1 ? gains[0] : null, saved: plus((gain) => gain.saved_ms),
			spent: plus((gain) => (gain.explored_ms || 0) + (gain.calibrated_ms || 0)) };
	return { gain: null, saved: totalsOf(steps, keys, "saved_ms", (key) => key.savedMs),
		spent: totalsOf(steps, keys, "spent_ms", (key) => key.spentMs) };
}

/* The page's model of these jobs, or of one step of one of them. */
function modelOf(jobs, only) {
	const several = jobs.length > 1;
	const nameOf = (job, step) => several ? `${job.job}.${step}` : step;
	const steps = jobs.flatMap((job) => job.steps.map((step) => ({ ...step, job: job.job, stepName: nameOf(job, step.step) })))
		.filter((step) => !only || step.stepName === only);
	const keys = steps.filter((step) => !step.calibrates).flatMap((step) => step.communicators.flatMap((comm) => comm.keys.map((key) => [step, comm, key])))
		.map(([step, comm, key], i) => keyOf(step, comm, key, i));
	const comms = steps.flatMap((step) => step.communicators.flatMap((family) =>
		(family.members || []).map((comm) => commOf(step, family, comm))));

	return {
		keys, steps: steps.map(stepOf), names: steps.map((step) => step.stepName), comms, facts: several || !jobs.length ? [] : factsOf(jobs[0]), volumes: volumesOf(comms),
		manySteps: steps.length > 1,
		topology: steps.filter((step) => step.topology).map((step) => topologyOf(step.stepName, step.topology)),
		title: several ? many(jobs.length, "job") : jobs.length && jobs[0].job ? `Job ${jobs[0].job}` : "Report of a step",
		about: aboutOf(steps),
		verdict: jobs.flatMap((job) => (job.verdict || []).map((one) => ({ text: one.says, type: one.advice, where: several ? `job ${job.job}` : null }))),
		remarks: [...steps.flatMap((step) => remarksOf(step, step.stepName)), ...only ? [] : jobs.flatMap((job) => remarksOf(job, null))],
		...sumsOf(jobs, only, steps, keys),
	};
}
