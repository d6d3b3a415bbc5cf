#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""lie.py MEMORY NEW PROFILE FACTOR - a memory in which a launch profile is FACTOR times as fast as the default

Reads a user's memory, writes another: of PROFILE's entries all times are the default's own by FACTOR, and they count as
calibrated. Exit status 1 if the memory does not know both.
"""
import json
import pathlib
import sys


def lines_of(memory):
    for path in sorted(memory.glob("*.jsonl")):
        for text in path.read_text().splitlines():
            if text.startswith("{"):
                yield json.loads(text)


def profile(line):
    """Of an entry; other lines say what hosts are, and are kept."""
    return line.get("profile") if "keys" in line else None


def place(key):
    """Collective, bytes, and what says whose ranks they are."""
    return (key[0], key[1], *key[6:])


def default_times(lines):
    """Of each key that was measured the default's quartiles."""
    found = {}
    for line in lines:
        for key in line["keys"] if profile(line) == "default" else ():
            for us in key[4], key[5]:
                if us[3]:
                    found[place(key)] = us[:3]
    return found


def lie(line, known, factor):
    for key in line["keys"]:
        base = known.get(place(key))
        if base:
            key[4] = key[5] = [us / factor for us in base] + [32]
    line["origin"] = "calibrate"
    line.pop("candidate", None)
    line.pop("marker", None)


def main(memory, new, name, factor):
    lines = list(lines_of(pathlib.Path(memory)))
    known = default_times(lines)
    mine = [line for line in lines if profile(line) == name]
    if not known or not mine:
        names = ", ".join(sorted({profile(line) for line in lines} - {None}))
        print(f"lie.py: {memory} knows {names or 'nothing'}; want default and {name}", file=sys.stderr)
        return 1
    for line in mine:
        lie(line, known, float(factor))
    new = pathlib.Path(new)
    new.mkdir(mode=0o700, parents=True)
    new.joinpath(f"{'0' * 24}.jsonl").write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    print(f"{len(mine)} entries of {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
