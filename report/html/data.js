/* From the report's JSON to what the page shows. Nothing behind this knows the JSON's names. */

const SAID = {
	committed: (row) => `${row.chosen_arm} taken`,
	kept: () => "AUTO kept",
	exploring: () => "not finished",
	observed: () => "observed only",
	counted: () => "not tried",
};

function rowsOnNodes(row) {
	return `${many(row.ranks, "rank")} on ${many(row.nodes, "node")}`;
}

function whereOf(row) {
	return [row.comm_name, rowsOnNodes(row)].filter(Boolean).join(", ");
}

/* Times of one arm: of a call itself, where that is known, else from one call to the next. */
function timesOf(row, who) {
	return { us: row[`${who}_us`], p25: row[`${who}_p25_us`], p75: row[`${who}_p75_us`] };
}

function armOf(arm) {
	return { name: arm.arm, isAuto: arm.arm === "AUTO", us: arm.us, p25: arm.p25_us, p75: arm.p75_us,
		low: arm.low_us, high: arm.high_us, samples: arm.samples, predicted: arm.predicted_us };
}

function keyOf(row, order) {
	const key = {
		order, job: row.job, step: row.step, coll: row.collective, bytes: row.bytes,
		size: size(row.bytes), name: `${row.collective} ${size(row.bytes)}`, where: whereOf(row), short: row.comm_name || rowsOnNodes(row),
		state: row.state, committed: row.state === "committed", exploring: row.state === "exploring",
		pick: row.auto_arm, other: row.chosen_arm,
		auto: timesOf(row, "auto"), arm: timesOf(row, "arm"),
		timeIs: row.time_is, period: row.auto_period_us,
		gain: row.gain_percent, p: row.p, calls: row.calls, decided: row.decided,
		share: row.share, algbw: row.algbw, busbw: row.busbw,
		spentCalls: row.spent_calls, spentMs: row.spent_ms, savedMs: row.saved_ms,
		rechecks: row.rechecks, rollbacks: row.rollbacks,
		predictedAuto: row.predicted_auto_us, predictedArm: row.predicted_arm_us,
		why: row.why, advice: row.advice, arms: (row.arms || []).map(armOf), trials: [],
	};

	key.said = (SAID[key.state] || (() => raw(key.state)))(row);
	key.weight = (key.calls || 0) * (key.auto.us || 0);
	return key;
}

/* Steps of one job are "0"; of several the job is told, too. */
function nameSteps(keys) {
	const jobs = new Set(keys.map((key) => key.job));

	for (const key of keys) {
		key.stepName = jobs.size > 1 ? `${key.job}.${key.step}` : key.step;
		key.words = [key.name, key.where, key.pick, key.other, key.said, key.why, `step ${key.stepName}`]
			.filter(Boolean).join(" ").toLowerCase();
	}
}

function commOf(comm) {
	const places = (comm.places || []).map((place) => ({ node: place.node, ranks: place.ranks || [] }));

	return { id: comm.id, name: comm.name, ranks: comm.ranks, nodes: comm.nodes, kind: comm.parallelism,
		state: comm.state, why: comm.why, step: comm.step, job: comm.job, places,
		tried: comm.state === "agreed", title: `${comm.name || comm.id}${comm.parallelism ? `, ${comm.parallelism}` : ""}` };
}

const REMARKS = { untuned: "not tuned", damaged: "damaged", left_out: "left out" };

function remarkOf(item) {
	return { job: item.job, step: item.step, where: raw(item.step), kind: REMARKS[item.state],
		text: item.why || `${count(item.more)} more, which had no room in the record` };
}

function modelOf(json) {
	const items = json.report || [];
	const keys = items.filter((item) => item.collective).map(keyOf);
	const jobs = [...new Set(items.map((item) => item.job).filter(Boolean))];

	nameSteps(keys);
	return {
		keys,
		title: jobs.length === 1 ? `Job ${jobs[0]}` : jobs.length ? `${jobs.length} jobs` : "Report",
		about: json.about || "",
		made: json.made || "",
		verdict: json.verdict || [],
		comms: (json.communicators || []).map(commOf),
		volumes: json.volumes || [],
		remarks: items.filter((item) => REMARKS[item.state]).map(remarkOf),
		scopes: [...new Set(keys.map((key) => key.stepName))],
	};
}

/* The part of one step. */
function scoped(model, stepName) {
	const keys = model.keys.filter((key) => key.stepName === stepName);
	const mine = (one) => keys.length > 0 && one.step === keys[0].step && (!one.job || one.job === keys[0].job);

	return { ...model, keys, comms: model.comms.filter(mine), remarks: model.remarks.filter(mine),
		verdict: model.verdict.filter((one) => !one.step || mine(one)), volumes: model.volumes.filter((one) => !one.step || mine(one)) };
}
