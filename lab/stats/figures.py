# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""Figures and p values of random times, as nt-figures has them and as scipy has them. TAP."""
import subprocess
import sys

import numpy as np
from scipy import stats

AT = (0, 0.125, 0.25, 0.5, 0.75, 1)


def rows(rng):
    """Pairs of rows of times: even, skewed, with two modes, with equal times."""
    for number in range(400):
        count = int(rng.integers(2, 60 if number % 4 else 9))
        base = 1000 * np.exp(0.1 * rng.standard_normal(count))
        arm = 950 * np.exp(0.1 * rng.standard_normal(count))
        if number % 3 == 1:
            base *= np.where(rng.random(count) < 0.38, 2.3, 1)
            arm *= np.where(rng.random(count) < 0.38, 2.3, 1)
        if number % 5 == 2:
            base, arm = np.round(base, -2), np.round(arm, -2)
        yield base.astype(np.float32), arm.astype(np.float32)


def flips_p(base, arm, score):
    """Exchanging the two of a pair leaves their scores as they are: sum(base) - sum(arm) decides."""
    pooled = np.concatenate((base, arm))
    scores = score(pooled)
    result = stats.permutation_test(
        (scores[: len(base)], scores[len(base):]), lambda x, y, axis: (x - y).sum(axis=axis),
        permutation_type="samples", n_resamples=np.inf, alternative="greater", vectorized=True)
    return result.pvalue


def lower_half(pooled):
    """Ranks of the lower half; all above share the middle one."""
    return np.minimum(stats.rankdata(pooled), (len(pooled) + 1) / 2)


def main():
    pairs = list(rows(np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)))
    text = "".join(f"{len(b)} " + " ".join(f"{x:.9g}" for x in (*b, *a)) + "\n" for b, a in pairs)
    out = subprocess.run([sys.argv[1]], input=text, text=True, capture_output=True, check=True).stdout
    ours = np.array([line.split() for line in out.splitlines()], dtype=float)
    assert len(ours) == len(pairs), "a line is missing"
    worst = {}

    def compare(name, mine, theirs, scale):
        worst[name] = max(worst.get(name, 0), abs(mine - theirs) / scale)

    exact = 0
    for line, (base, arm) in zip(ours, pairs):
        base, arm = base.astype(float), arm.astype(float)
        for i, q in enumerate(AT):
            compare("quantiles", line[i], np.quantile(base, q), base.mean())
        if len(base) <= 11:  # scipy counts all 2^n exchanges
            exact += 1
            compare("paired permutation p of the lower half", line[6], flips_p(base, arm, lower_half), 1)
            # Ours rounds differences to 1/5000 of their sum: ties may fall on the other side, of 2^n exchanges.
            compare("paired permutation p of the mean", line[7], flips_p(base, arm, lambda x: x), 1)
    bound = {"paired permutation p of the mean": 0.05}
    print(f"1..{len(worst)}")
    for number, (name, off) in enumerate(worst.items(), 1):
        cases = exact if "permutation" in name else len(pairs)
        print(f"{'ok' if off <= bound.get(name, 1e-6) else 'not ok'} {number} - {name}: "
              f"{cases} random inputs, at most {off:.1e} from scipy's")


main()
