/* From the report's JSON to what the page shows. Nothing behind this knows the JSON's names, which
 * are those of `nccl-tune report --json` and, in "record", of nccl-tune-record(5). */

const SAID = {
	committed: (item) => `${item.chosen_arm} taken`,
	kept: () => "AUTO kept",
	exploring: () => "not finished",
	observed: () => "observed only",
	counted: () => "not tried",
};

function onNodes(one) {
	return `${many(one.ranks, "rank")} on ${many(one.nodes, "node")}`;
}

function whereOf(item) {
	return [item.comm_name, onNodes(item), item.comms > 1 ? many(item.comms, "communicator") : null]
		.filter(Boolean).join(", ");
}

/* What is shown as the time of a call: its own, start to end, else from one start to the next. Where
 * only the latter's quartiles are known, they lend their distance to the former's median. */
function timesOf(item, which) {
	const of = (name) => (item.record[name] || [])[which];
	const us = (item.call_us || [])[which], compared = of("us");
	const times = { us, p25: of(item.call_own ? "own_p25" : "p25"), p75: of(item.call_own ? "own_p75" : "p75") };

	if (!known(times.p25) && known(us) && compared > 0 && known(of("p25")) && known(of("p75")))
		return { us, p25: us * of("p25") / compared, p75: us * of("p75") / compared, borrowed: true };
	return times;
}

function armOf(arm) {
	return { name: arm.arm, isAuto: arm.arm === "AUTO", us: arm.us, p25: arm.p25_us, p75: arm.p75_us,
		low: arm.min_us, high: arm.max_us, samples: arm.samples, predicted: arm.predicted_us };
}

/* Where AUTO stays, the times are those of the best other arm; old records do not name it. */
function otherOf(item) {
	const best = (item.arms || []).find((arm) => arm.arm !== "AUTO" && arm.us === item.arm_us);

	if (item.chosen_arm !== "AUTO")
		return item.chosen_arm;
	return item.best_other_arm || (best ? best.arm : known(item.arm_us) ? "the best other arm" : null);
}

/* By the times that are shown. */
function gainOf(item) {
	const [auto, arm] = item.call_us || [];

	return known(auto) && known(arm) && auto > 0 ? 100 * (auto - arm) / auto : item.gain_percent;
}

function keyOf(item, order) {
	const record = item.record;
	const committed = item.state === "committed";
	const inForce = committed ? 1 : 0;
	const key = {
		order, item, job: item.job, step: item.step, coll: item.collective, bytes: item.bytes,
		size: size(item.bytes), name: `${item.collective} ${size(item.bytes)}`,
		where: whereOf(item), short: item.comm_name || onNodes(item), parallel: item.parallel,
		state: item.state, committed, exploring: item.state === "exploring",
		said: (SAID[item.state] || (() => raw(item.state)))(item),
		pick: item.auto_arm, other: otherOf(item), auto: timesOf(item, 0), arm: timesOf(item, 1),
		own: item.call_own, period: (record.period || [])[inForce],
		gain: gainOf(item), p: item.p, calls: item.calls, decided: item.decided_calls,
		share: item.share, busbw: committed ? item.arm_busbw_gbps : item.auto_busbw_gbps, algbw: (item.algbw_gbps || [])[inForce],
		spentCalls: item.spent_calls, spentMs: item.spent_ms, savedMs: item.saved_ms,
		rechecks: item.rechecks, rollbacks: item.rollbacks, from: item.from,
		predictedAuto: item.auto_predicted_us, predictedArm: item.arm_predicted_us,
		why: item.says || item.why, advice: item.advice,
		arms: (item.arms || []).map(armOf),
	};

	key.weight = known(key.share) ? key.share : (key.calls || 0) * (key.auto.us || 0) * 1e-12;
	return key;
}

function commOf(comm) {
	return { job: comm.job, step: comm.step, id: comm.id, name: comm.name, ranks: comm.ranks, nodes: comm.nodes,
		kind: comm.parallel, state: comm.state, why: comm.why, places: comm.places,
		tried: comm.state === "agreed", title: `${comm.name || onNodes(comm)} · ${comm.id.slice(0, 6)}` };
}

function volumesOf(comms) {
	const rows = new Map();

	for (const one of comms.flatMap((comm) => comm.volumes)) {
		const row = rows.get(one.collective) || { coll: one.collective, calls: 0, inside: 0, between: 0 };

		row.calls += one.calls || 0;
		row.inside += one.inside_bytes || 0;
		row.between += one.between_bytes || 0;
		rows.set(one.collective, row);
	}
	return [...rows.values()].sort((a, b) => b.inside + b.between - a.inside - a.between);
}

function linksOf(links) {
	return links && { channels: links.channels, within: links.intra_gbps, between: links.inter_gbps,
		pathWithin: links.intra, pathBetween: links.inter };
}

function topologyOf(one) {
	return { stepName: one.stepName, of: one.of, nodes: one.list.map((node) => ({ name: node.node, nodes: node.nodes,
		gpus: node.gpus, nvlinks: node.nvlinks, pcieSpeed: node.pcie_gts, pcieLanes: node.pcie_lanes, nics: node.nics,
		nicSpeed: node.nics_mbps, ring: linksOf(node.ring), tree: linksOf(node.tree), lack: node.lack, trouble: node.trouble })) };
}

const REMARKS = { untuned: "not tuned", damaged: "damaged", left_out: "left out" };

function remarkOf(item) {
	return { job: item.job, step: item.step, kind: REMARKS[item.state],
		text: [item.says || item.why || `${count(item.more)} more, which had no room in this form of the record`,
			item.advice].filter(Boolean).join(" ") };
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

/* What a step says of itself is of all its keys, those without room, too. */
function totalsOf(steps, keys, name, value) {
	const told = steps.map((step) => step[name]).filter(known);
	const list = told.length ? told : keys.map(value).filter(known);

	return list.length ? list.reduce((a, b) => a + b, 0) : null;
}

/* The page's model of these jobs, or of one step of one of them. */
function modelOf(jobs, only) {
	const several = jobs.length > 1;
	const nameOf = (job, step) => several ? `${job.job}.${step}` : step;
	const wanted = (job) => (one) => !only || nameOf(job, one.step) === only;
	const all = (part) => jobs.flatMap((job) => (job[part] || []).filter(wanted(job))
		.map((one) => ({ ...one, job: job.job, stepName: nameOf(job, one.step) })));
	const items = all("report"), comms = all("communicators"), steps = all("steps");
	const keys = items.filter((item) => item.record).map((item, i) => ({ ...keyOf(item, i), stepName: item.stepName }));

	for (const key of keys)
		key.words = [key.name, key.where, key.parallel, key.pick, key.other, key.said, key.why, `step ${key.stepName}`]
			.filter(Boolean).join(" ").toLowerCase();
	return {
		keys, steps, comms: comms.map(commOf), volumes: volumesOf(comms), manySteps: steps.length > 1,
		topology: all("topology").map(topologyOf),
		title: several ? many(jobs.length, "job") : jobs.length && jobs[0].job ? `Job ${jobs[0].job}` : "Report of a step",
		about: aboutOf(steps),
		verdict: jobs.flatMap((job) => (job.verdict || []).map((one) => ({ ...one, where: several ? `job ${job.job}` : null }))),
		remarks: items.filter((item) => REMARKS[item.state]).map((item) => ({ ...remarkOf(item), where: raw(item.stepName) })),
		saved: totalsOf(steps, keys, "saved_ms", (key) => key.savedMs),
		spent: totalsOf(steps, keys, "spent_ms", (key) => key.spentMs),
	};
}
