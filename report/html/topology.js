/* What NCCL found on each node: nodes that are alike share a line, one that has less is marked. */

const NODES_NAMED = 6; /* of a line */

/* NCCL's names of how two devices are joined. */
const PATHS = {
	LOC: "the GPU itself", NVL: "NVLink", NVB: "NVLink by another GPU", C2C: "chip to chip",
	PIX: "one PCIe switch", PXB: "several PCIe switches", P2C: "chip to chip, then PCIe",
	PXN: "a NIC of another GPU", PHB: "PCIe and a processor", SYS: "processor to processor",
};

function pathWords(name) {
	return name ? PATHS[name] ? `${name} (${PATHS[name]})` : name : NONE;
}

function pcieWords(node) {
	if (!known(node.pcieSpeed))
		return NONE;
	return `${node.pcieLanes > 0 ? `${node.pcieLanes} lanes\u00a0of ` : ""}${node.pcieSpeed}\u00a0GT/s`;
}

/* One channel of a ring or tree; where there are several nodes, between them. */
function speedOf(node, links) {
	return links ? node.nodes > 1 ? links.between : links.within : null;
}

/* heading, what stands in it; which nodes of a list it is for, if not for all */
const NODE_COLUMNS = [
	["GPUs", (node) => raw(node.gpus)],
	["NVLinks of a GPU", (node) => raw(node.nvlinks)],
	["PCIe of a GPU", pcieWords],
	["NICs", (node) => raw(node.nics)],
	["Gbit/s of all NICs", (node) => known(node.nicSpeed) ? String(node.nicSpeed / 1000) : NONE],
	["Ring channels", (node) => raw(node.ring && node.ring.channels)],
	["GB/s of a ring channel", (node) => raw(speedOf(node, node.ring))],
	["Tree channels", (node) => raw(node.tree && node.tree.channels)],
	["GB/s of a tree channel", (node) => raw(speedOf(node, node.tree))],
	["Farthest path in the node", (node) => pathWords(node.ring && node.ring.pathWithin)],
	["Farthest path to others", (node) => pathWords(node.ring && node.ring.pathBetween),
		(nodes) => nodes.some((node) => node.nodes > 1)],
	["Against most nodes", (node) => node.lack ? `less: ${node.lack}` : "nothing less", (nodes) => nodes.length > 1],
	["Not read", (node) => node.trouble || "", (nodes) => nodes.some((node) => node.trouble)],
];

/* Nodes with the same cells, those that have less first. */
function nodeLines(nodes, columns) {
	const lines = new Map();

	for (const node of nodes) {
		const cells = columns.map(([, cell]) => cell(node));
		const key = JSON.stringify(cells);

		if (!lines.has(key))
			lines.set(key, { names: [], cells, poor: Boolean(node.lack) });
		lines.get(key).names.push(node.name);
	}
	return [...lines.values()].sort((a, b) => b.poor - a.poor);
}

function namesWords(names) {
	const most = names.length > NODES_NAMED + 1 ? NODES_NAMED : names.length;

	return names.slice(0, most).join(", ") + (most < names.length ? ` and ${names.length - most} more` : "");
}

function nodesTable(one, manySteps) {
	const columns = NODE_COLUMNS.filter(([, , where]) => !where || where(one.nodes));
	const lines = nodeLines(one.nodes, columns);
	const table = plainTable(`${manySteps ? `Step ${one.stepName}, for` : "For"} ${one.of}`,
		["Nodes", ...columns.map(([name]) => name)], lines.map((line) => [namesWords(line.names), ...line.cells]));

	table.querySelectorAll("tbody tr").forEach((row, i) => row.classList.toggle("poor", lines[i].poor));
	return table;
}

function topologySection(model) {
	return model.topology.length ? model.topology.map((one) => nodesTable(one, model.manySteps)) : null;
}
