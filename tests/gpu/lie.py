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


def entries(memory):
    for path in sorted(memory.glob("*.jsonl")):
        for text in path.read_text().splitlines():
            line = json.loads(text) if text.startswith("{") else {}
            if "profile" in line and "keys" in line:
                yield line


def default_times(lines):
    """Of each key the default's quantiles; collective, bytes and what says whose ranks they are."""
    return {(key[0], key[1], *key[6:]): key for line in lines if line["profile"] == "default" for key in line["keys"]}


def lie(line, known, factor):
    for key in line["keys"]:
        base = known.get((key[0], key[1], *key[6:]))
        for place in (4, 5) if base else ():
            key[place] = [us / factor for us in base[place][:3]] + [max(base[place][3], 32)]
    line["origin"] = "calibrate"
    line.pop("candidate", None)
    line.pop("marker", None)


def main(memory, new, profile, factor):
    lines = list(entries(pathlib.Path(memory)))
    known = default_times(lines)
    mine = [line for line in lines if line["profile"] == profile]
    if not known or not mine:
        print(f"lie.py: {memory} knows {', '.join(sorted({line['profile'] for line in lines})) or 'nothing'}; "
              f"want default and {profile}", file=sys.stderr)
        return 1
    for line in mine:
        lie(line, known, float(factor))
    new = pathlib.Path(new)
    new.mkdir(mode=0o700, parents=True)
    new.joinpath(f"{'0' * 24}.jsonl").write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    print(f"{len(mine)} entries of {profile} of {len(lines)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
