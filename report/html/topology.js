/* What NCCL found on each node: nodes that are alike share a column, one that has less is marked. */

const NODES_NAMED = 6; /* of a column */

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

/* name, what a node has of it; which lists of nodes it is for, if not for all */
const NODE_FIGURES = [
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
	["Not read", (node) => raw(node.trouble), (nodes) => nodes.some((node) => node.trouble)],
	["Against most nodes", (node) => node.lack ? `less: ${node.lack}` : "nothing less", (nodes) => nodes.length > 1],
];

/* Nodes with the same figures, those that have less first. */
function nodeKinds(nodes, figures) {
	const kinds = new Map();

	for (const node of nodes) {
		const cells = figures.map(([, cell]) => cell(node));
		const key = JSON.stringify(cells);

		if (!kinds.has(key))
			kinds.set(key, { names: [], cells, poor: Boolean(node.lack) });
		kinds.get(key).names.push(node.name);
	}
	return [...kinds.values()].sort((a, b) => b.poor - a.poor);
}

function namesWords(names) {
	const most = names.length > NODES_NAMED + 1 ? NODES_NAMED : names.length;

	return names.slice(0, most).join(", ") + (most < names.length ? ` and ${names.length - most} more` : "");
}

function nodesTable(one, manySteps) {
	const figures = NODE_FIGURES.filter(([, , where]) => !where || where(one.nodes));
	const kinds = nodeKinds(one.nodes, figures);
	const table = plainTable(`${manySteps ? `Step ${one.stepName}, for` : "For"} ${one.of}`,
		["Nodes", ...kinds.map((kind) => namesWords(kind.names))],
		figures.map(([name], i) => [name, ...kinds.map((kind) => kind.cells[i])]));

	kinds.forEach((kind, i) => table.querySelectorAll(`tr > :nth-child(${i + 2})`)
		.forEach((cell) => cell.classList.toggle("poor", kind.poor)));
	return table;
}

function topologySection(model) {
	return model.topology.length ? model.topology.map((one) => nodesTable(one, model.manySteps)) : null;
}
