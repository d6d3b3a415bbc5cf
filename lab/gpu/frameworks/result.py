# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""What each program here writes at its end: the times of its training steps, and its losses."""
import json


def median(times):
    return round(1e3 * sorted(times)[len(times) // 2], 2)


def nccl():
    """The file that this process has loaded."""
    with open("/proc/self/maps") as f:
        return next((line.split()[-1] for line in f if "libnccl.so" in line), None)


def write(path, world, times, losses, starts):
    """Milliseconds: ms is the median of the last third, first that of steps 5 to 25, period that from start to start of all
    (and of the last third); total is in seconds."""
    last = sorted(times[-(len(times) // 3):])
    periods = [b - a for a, b in zip(starts, starts[1:])]
    with open(path, "w") as f:
        json.dump({"world": world, "steps": len(times), "ms": median(last), "q1": round(1e3 * last[len(last) // 4], 2),
                   "q3": round(1e3 * last[3 * len(last) // 4], 2), "first": median(times[5:25] or times),
                   "total": round(sum(times), 2), "period": median(periods),
                   "period_last": median(periods[-(len(periods) // 3):]), "losses": losses, "nccl": nccl()}, f)
