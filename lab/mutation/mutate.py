#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# mutate.py - small mutants of engine/ and pmix-sync/, and which unit tests see them
#
#   lab/mutation/mutate.py --list                    the mutants, without running them
#   lab/mutation/mutate.py [--out CSV]               all of them, into docs/results/mutation/mutants.csv
#   lab/mutation/mutate.py --only ID[,ID]...         some, without writing
#
# A mutant is one changed place of one file: a comparison turned, a bound moved by one, a condition's halves joined
# otherwise, a statement left out. They are drawn from all such places by --seed, so that a list is the same on every
# machine; an ID is made from the file, the function and the text around the place, and stays while these do.
#
# Each is compiled alone and linked before the libraries with every unit test that has the file in it; the tests begin with
# the fastest. One that takes ten times its usual processor time has seen the mutant. For files of pmix-sync that no test
# minds, nt-agree-sim runs after them. Needs a built tree: ./dev build, then make -C build unit-tests.
import argparse
import csv
import hashlib
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COLUMNS = ["id", "file", "line", "function", "change", "result", "killed_by"]
TEST_S = 20		# longest usual time of a test that takes part: others are for rates, not for rules
OFTEN = 10		# times its usual processor time, after which a test hangs
WAIT_S = 300		# ... or so long, if it waits
SIM = [("--mix --runs 150 --faults all", 60), ("--mix --brief --runs 150 --faults all", 60),
	("--mix --calls 1500 --runs 40", 60)]

# ---- where a mutant may be

# A pattern, and what becomes of the match. Each place of each pattern is a mutant; comments, strings, declarations of
# constants and preprocessor lines have none.
CHANGES = [
	("compare", r"(?<=[\w)\]] )<(?= [\w(*&-])", "<="),
	("compare", r"(?<=[\w)\]] )>(?= [\w(*&-])", ">="),
	("compare", r"(?<=[\w)\]] )<=(?= )", "<"),
	("compare", r"(?<=[\w)\]] )>=(?= )", ">"),
	("equal", r"(?<= )==(?= )", "!="),
	("equal", r"(?<= )!=(?= )", "=="),
	("join", r"(?<= )&&", "||"),
	("join", r"(?<= )\|\|", "&&"),
	("by one", r"(?<=[\w)\]]) \+ 1\b(?![.\w])", ""),
	("by one", r"(?<=[\w)\]]) - 1\b(?![.\w])", ""),
	("sign", r"(?<=[\w)\]] )\+(?= [\w(])", "-"),
	("sign", r"(?<=[\w)\]] )-(?= [\w(])", "+"),
	("sign", r"(?<=[\w)\]] )\*(?= [\w(])", "/"),
	("truth", r"(?<=return )true(?=;)", "false"),
	("truth", r"(?<=return )false(?=;)", "true"),
	("truth", r"(?<== )true(?=;)", "false"),
	("truth", r"(?<== )false(?=;)", "true"),
	("negate", r"(?<=\()!(?=\w)", ""),
]
STATEMENT = re.compile(r"^\t+((?:\(void\))?[\w.>\[\]&*-]+(?:\([^;{}]*\)|(?: [-+|&]?= |\+\+|--)[^;{}]*|\+\+|--);)\s*$")
RETURN = re.compile(r"^\t+(return(?: (?!rc)[^;{}]+)?;)\s*$")
DECLARES = re.compile(r"^\t+(?:static |const |struct |enum |unsigned |u?int\w* |bool |double |float |char |size_t |void |_Static)")


def blanked(text):
	"""The same text with comments, strings and characters in blanks."""
	parts = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
	return parts.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def functions(lines):
	"""For each line the name of the function that it is in, or None."""
	name, inside, names = None, False, []
	for line in lines:
		if not inside:
			m = re.match(r"^(?:[a-z_][\w *]*\W)?(\w+)\(", line)
			if m and not line.startswith(("\t", "#", " ")):
				name = m.group(1)
			inside = line.startswith("{") and name is not None
			names.append(None)
		else:
			names.append(name)
			if line.startswith("}"):
				inside, name = False, None
	return names


def places(path):
	with open(os.path.join(TOP, path)) as f:
		text = f.read()
	plain, lines = blanked(text).split("\n"), text.split("\n")
	inside = functions(plain)
	for number, line in enumerate(plain):
		if inside[number] is None or line.lstrip().startswith("#") or "static const" in line or "case " in line:
			continue
		for kind, pattern, becomes in CHANGES:
			for m in re.finditer(pattern, line):
				new = lines[number][:m.start()] + becomes + lines[number][m.end():]
				yield mutant(path, number, inside[number], kind, lines, new, m.start())
		m = RETURN.match(line)
		if m and number + 1 < len(plain) and not plain[number + 1].startswith("}") and "case" not in plain[number - 1]:
			yield mutant(path, number, inside[number], "no return", lines, lines[number].replace("return", ";//", 1), 0)
		m = STATEMENT.match(line)
		if m and not DECLARES.match(line) and not line.strip().startswith(("return", "goto", "else")):
			yield mutant(path, number, inside[number], "left out", lines, re.match(r"^\t+", line).group() + ";", 0)


def mutant(path, number, function, kind, lines, new, column):
	around = "\n".join(lines[max(0, number - 1):number + 2])
	mark = "%s %s %s %s %d %s" % (path, function, kind, around, column, new.strip())
	return {"id": hashlib.sha256(mark.encode()).hexdigest()[:8], "file": path, "line": number + 1, "function": function,
		"kind": kind, "was": lines[number].strip(), "new": new}


def sources():
	for folder in ("engine", "pmix-sync"):
		for name in sorted(os.listdir(os.path.join(TOP, folder))):
			# PMIx itself is not in unit tests; headers with functions are.
			if name.endswith(".c") and name not in ("pmix-log.c", "node-leader.c", "nodes.c"):
				yield folder + "/" + name
	yield from ("pmix-sync/turn.h", "pmix-sync/task-log.h", "pmix-sync/call-interval.h", "pmix-sync/read-pace.h")


def drawn(seed, count):
	"""So many, three of five of the engine, and of each file about as many as it has places: by the order of a hash."""
	found = {}
	for path in sources():
		for m in places(path):
			found.setdefault(path.split("/")[0], {})[m["id"]] = m
	chosen = []
	for folder, share in (("engine", 3), ("pmix-sync", 2)):
		each = sorted(found[folder].values(),
			key=lambda m: hashlib.sha256(("%s %s" % (seed, m["id"])).encode()).hexdigest())
		chosen += each[:count * share // 5]
	return sorted(chosen, key=lambda m: (m["file"], m["line"], m["id"])), sum(len(f) for f in found.values())


# ---- what has a file in it, and how it is linked

def quiet(command, **more):
	return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


class Tree:
	def __init__(self, build, work):
		self.build, self.work = build, work
		with open(os.path.join(build, "Makefile")) as f:
			make = f.read()
		self.cflags = re.search(r"^CFLAGS = (.*)$", make, re.M).group(1)
		names = re.search(r"^unit_tests = ((?:.*\\\n)*.*)$", make, re.M).group(1)
		self.tests = [t for t in re.findall(r"tests/unit/[\w-]+", names) if os.access(os.path.join(build, t), os.X_OK)]
		self.symbols, self.links, self.usual = {}, {}, {}

	def globals_of(self, path):
		out = quiet(["nm", "--defined-only", path]).stdout
		return {line.split()[2] for line in out.splitlines() if len(line.split()) == 3}

	def object_of(self, path, folder, out):
		"""Compile TOP/path, with files in `folder` instead of the tree's."""
		source = os.path.join(folder, path) if os.path.exists(os.path.join(folder, path)) else os.path.join(TOP, path)
		return quiet(shlex.split("gcc -std=gnu11 -w -O1 -fPIC -DHAVE_CONFIG_H -D_GNU_SOURCE") +
			["-I", folder, "-I", self.build, "-I", TOP, "-c", "-o", out, source])

	def tests_with(self, path):
		"""Tests that have the file in them, with the objects that must be compiled anew for each: {test: [source]}."""
		if path.endswith(".h"):
			users = [f for f in quiet(["git", "-C", TOP, "grep", "-l", '#include "%s"' % path, "--", "*.c", "*.h"])
				.stdout.split()]
			for header in [u for u in users if u.endswith(".h")]:
				users += quiet(["git", "-C", TOP, "grep", "-l", '#include "%s"' % header, "--", "*.c"]).stdout.split()
			users = sorted({u for u in users if u.endswith(".c") and u.startswith(("pmix-sync/", "tuner/", "tests/unit/"))})
		else:
			users = [path]
		has = {}
		for user in users:
			if user.startswith("tests/unit/"):
				if user[:-2] in self.tests:
					has.setdefault(user[:-2], []).append(user)
				continue
			for test in self.tests:
				if self.has_source(test, user):
					has.setdefault(test, []).append(user)
		return {t: s for t, s in has.items() if self.usual_s(t) is not None}

	def has_source(self, test, source):
		if source not in self.symbols:
			out = os.path.join(self.work, "plain.o")
			self.object_of(source, "/nonexistent", out)
			text = quiet(["nm", "--defined-only", "--extern-only", out]).stdout
			self.symbols[source] = {l.split()[2] for l in text.splitlines() if len(l.split()) == 3}
		if test not in self.symbols:
			self.symbols[test] = self.globals_of(os.path.join(self.build, test))
		return bool(self.symbols[source] & self.symbols[test])

	def link_of(self, test):
		if test not in self.links:
			source = os.path.join(TOP, test + ".c")
			said = quiet(["make", "-n", "-s", "V=1", "-W", source, test], cwd=self.build).stdout
			line = [l for l in said.splitlines() if " -o %s " % test in l and " -c " not in l]
			if not line:
				return None
			self.links[test] = shlex.split(line[0])
		return self.links[test]

	def link(self, test, objects, out):
		command = [w for w in self.link_of(test) or ["false"] if not w.startswith("-flto")]
		own = [i for i, w in enumerate(command) if w.endswith(os.path.basename(test) + ".o")]
		command[command.index("-o") + 1] = out
		if any(o.endswith("tests_unit.o") for o in objects) and own:	# the test itself is compiled anew
			del command[own[0]]
		at = command.index("-o") + 2
		return quiet(command[:at] + objects + command[at:], cwd=self.build)

	def run(self, program, cpu_s):
		"""Its status, and the processor time that it took: how busy the machine is does not count."""
		before = resource.getrusage(resource.RUSAGE_CHILDREN)
		limit = int(cpu_s) + 1
		try:
			done = subprocess.run([program], cwd=self.build, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
				stdin=subprocess.DEVNULL, timeout=WAIT_S,
				preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)),
				env={**os.environ, "srcdir": TOP, "top_srcdir": TOP, "top_builddir": self.build})
			rc = "hangs" if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL) else done.returncode
		except subprocess.TimeoutExpired:
			rc = "hangs"
		after = resource.getrusage(resource.RUSAGE_CHILDREN)
		return rc, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

	def usual_s(self, test):
		"""None: it fails without a mutant, or takes too long."""
		if test not in self.usual:
			rc, took = self.run(os.path.join(self.build, test), 6 * TEST_S)
			self.usual[test] = took if rc == 0 and took <= TEST_S else None
			if self.usual[test] is None:
				print("mutate.py: %s takes no part: status %s after %.1f s" % (test, rc, took), file=sys.stderr)
		return self.usual[test]


# ---- a mutant

def judge(tree, m, every):
	folder = os.path.join(tree.work, "mutant")
	quiet(["rm", "-rf", folder])
	os.makedirs(os.path.join(folder, os.path.dirname(m["file"])))
	with open(os.path.join(TOP, m["file"])) as f:
		lines = f.read().split("\n")
	lines[m["line"] - 1] = m["new"]
	with open(os.path.join(folder, m["file"]), "w") as f:
		f.write("\n".join(lines))
	began, killers, ran = time.monotonic(), [], 0
	result = "survived"
	objects = {}
	has = tree.tests_with(m["file"])
	for test in sorted(has, key=tree.usual_s):
		files = []
		for source in has[test]:
			if source not in objects:
				name = "tests_unit.o" if source.startswith("tests/unit/") else source.replace("/", "_") + ".o"
				objects[source] = os.path.join(folder, source.replace("/", "_") + "." + name)
				done = tree.object_of(source, folder, objects[source])
				if done.returncode != 0:
					return {"result": "not built", "killed_by": "", "tests": 0, "seconds": "0"}
			files.append(objects[source])
		program = os.path.join(folder, "test")
		done = tree.link(test, files, program)
		if done.returncode != 0:
			print("mutate.py: %s does not link with %s: %s" % (test, m["file"], done.stdout[-300:]), file=sys.stderr)
			continue
		ran += 1
		rc, _ = tree.run(program, max(5, OFTEN * tree.usual_s(test)))
		if rc != 0:
			result = "killed"
			killers.append(os.path.basename(test) + (" (hangs)" if rc == "hangs" else ""))
			if not every or rc == "hangs":
				break
	if result == "survived" and m["file"].startswith("pmix-sync/"):
		said = simulate(tree, folder)
		if said:
			result, killers = "killed", [said]
	return {"result": result, "killed_by": " ".join(killers), "tests": ran, "seconds": "%.1f" % (time.monotonic() - began)}


def simulate(tree, folder):
	"""nt-agree-sim with the mutant: None where all its runs are right."""
	quiet(["cp", "-Rn", os.path.join(TOP, "pmix-sync"), folder])
	program = os.path.join(folder, "sim")
	done = quiet([os.path.join(TOP, "lab/sim/build.sh"), program, folder, "-w"])
	if done.returncode != 0:
		sys.exit("mutate.py: nt-agree-sim is not built: " + done.stdout[-300:])
	for options, limit in SIM:
		try:
			done = quiet([program, "--until-bad"] + options.split(), timeout=20 * limit)
		except subprocess.TimeoutExpired:
			return "nt-agree-sim (hangs)"
		if done.returncode != 0:
			return "nt-agree-sim"
	return None


def main():
	parser = argparse.ArgumentParser(usage="mutate.py [--list] [--only ID,...] [--count N] [--seed N] [--build DIR] [--out CSV]")
	parser.add_argument("--list", action="store_true")
	parser.add_argument("--every", action="store_true", help="all tests that see a mutant, not the first alone")
	parser.add_argument("--only", default="")
	parser.add_argument("--count", type=int, default=100)
	parser.add_argument("--seed", type=int, default=1)
	parser.add_argument("--build", default=os.path.join(TOP, "build"))
	parser.add_argument("--out", default=os.path.join(TOP, "docs/results/mutation/mutants.csv"))
	o = parser.parse_args()
	mutants, of = drawn(o.seed, o.count)
	if o.only:
		mutants = [m for m in mutants if m["id"] in o.only.split(",")]
	print("mutate.py: %d of %d places" % (len(mutants), of), file=sys.stderr)
	if o.list:
		for m in mutants:
			print("%s %s:%d %s, %s: %s" % (m["id"], m["file"], m["line"], m["function"], m["kind"], m["new"].strip()))
		return 0
	os.nice(10)
	rows = []
	with tempfile.TemporaryDirectory(prefix="nt-mutation.") as work:
		tree = Tree(os.path.abspath(o.build), work)
		for m in mutants:
			row = {**m, "change": "%s: %s -> %s" % (m["kind"], m["was"], m["new"].strip() or "(nothing)"),
				**judge(tree, m, o.every)}
			rows.append({c: row[c] for c in COLUMNS})
			print("%(id)s %(file)s:%(line)s %(result)s %(killed_by)s %(seconds)s s" % row, flush=True)
	if not o.only:
		os.makedirs(os.path.dirname(o.out), exist_ok=True)
		with open(o.out, "w", newline="") as f:
			writer = csv.DictWriter(f, COLUMNS, lineterminator="\n")
			writer.writeheader()
			writer.writerows(rows)
	killed = sum(r["result"] == "killed" for r in rows)
	print("%d mutants, %d killed, %d survived" % (len(rows), killed, sum(r["result"] == "survived" for r in rows)))
	return 0


if __name__ == "__main__":
	sys.exit(main())
