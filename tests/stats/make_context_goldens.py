"""Writes context_goldens.json: the answers of numpy, scipy, statsmodels and mpmath for the tests of effect sizes, random
effects, tails, adjusted p values, exact permutation counts and intervals of a proportion.

Usage: python tests/stats/make_context_goldens.py
(scipy and numpy as pinned in env/requirements.txt, and statsmodels 0.14.5, mpmath 1.3.0, which no other test needs)
"""

import json
import pathlib

import mpmath
import numpy as np
from scipy import stats
from statsmodels.stats import meta_analysis, multitest, proportion

mpmath.mp.dps = 60
rng = np.random.default_rng(20210519)


def effect(x, y):
    both = np.concatenate([x, y])
    return {
        "x": x.tolist(),
        "y": y.tolist(),
        "difference": float(x.mean() - y.mean()),
        "deviation": float(both.std(ddof=1)),
        "effect": float((x.mean() - y.mean()) / both.std(ddof=1)),
    }


def by_root(effects, variances, estimator):
    """tau^2 in 60 digits: restricted maximum likelihood or Paule and Mandel, the best point of a grid and then a root."""
    y = [mpmath.mpf(float(v)) for v in effects]
    v = [mpmath.mpf(float(x)) for x in variances]

    def parts(tau):
        w = [1 / (x + tau) for x in v]
        total = sum(w)
        return w, total, sum(a * b for a, b in zip(w, y)) / total

    def likelihood(tau):
        w, total, mean = parts(tau)
        q = sum(a * (b - mean) ** 2 for a, b in zip(w, y))
        return -(sum(mpmath.log(x + tau) for x in v) + mpmath.log(total) + q) / 2

    def score(tau):
        w, total, mean = parts(tau)
        squares = sum(a * a for a in w)
        return sum(a * a * (b - mean) ** 2 for a, b in zip(w, y)) - total + squares / total

    def excess(tau):
        w, _, mean = parts(tau)
        return sum(a * (b - mean) ** 2 for a, b in zip(w, y)) - (len(y) - 1)

    top = float(np.ptp(effects) ** 2 * len(y) + max(variances))
    grid = [mpmath.mpf(0)] + [mpmath.mpf(float(g)) * top for g in np.geomspace(1e-8, 1, 300)]
    tau = mpmath.mpf(0)
    if estimator == "reml":
        best = max(range(len(grid)), key=lambda i: likelihood(grid[i]))
        if best > 0:
            ends = (grid[best - 1], grid[best + 1])
            tau = mpmath.findroot(score, ends, solver="anderson", tol=1e-45, maxsteps=200)
    elif excess(tau) > 0:
        tau = mpmath.findroot(excess, (grid[0], grid[-1]), solver="anderson", tol=1e-45, maxsteps=500)
    _, total, mean = parts(tau)
    return {"tau_squared": float(tau), "effect": float(mean), "error": float(1 / mpmath.sqrt(total))}


def combined(effects, variances):
    answer = meta_analysis.combine_effects(effects, variances, method_re="dl")
    fixed, fixed_error = float(answer.mean_effect_fe), float(answer.sd_eff_w_fe)
    moments = {"tau_squared": 0.0, "effect": fixed, "error": fixed_error}  # statsmodels does not cut off at zero
    if answer.tau2 > 0:
        moments = {
            "tau_squared": float(answer.tau2),
            "effect": float(answer.mean_effect_re),
            "error": float(answer.sd_eff_w_re),
        }
        moments["low"], moments["high"] = map(float, answer.conf_int(alpha=0.05, use_t=False)[1])
    return {
        "effects": list(map(float, effects)),
        "variances": list(map(float, variances)),
        "q": float(answer.q),
        "i_squared": max(0.0, float(answer.i2)),
        "fixed_effect": fixed,
        "fixed_error": fixed_error,
        "dersimonian_laird": moments,
        "reml": by_root(effects, variances, "reml"),
        "paule_mandel": by_root(effects, variances, "paule_mandel"),
    }


# the BCG vaccine trials (Colditz et al. 1994, JAMA 271; also dat.bcg of the R package metafor):
# ill and well with the vaccine, ill and well without
bcg = np.array(
    [
        [4, 119, 11, 128], [6, 300, 29, 274], [3, 228, 11, 209], [62, 13536, 248, 12619], [33, 5036, 47, 5761],
        [180, 1361, 372, 1079], [8, 2537, 10, 619], [505, 87886, 499, 87892], [29, 7470, 45, 7232],
        [17, 1699, 65, 1600], [186, 50448, 141, 27197], [5, 2493, 3, 2338], [27, 16886, 29, 17825],
    ],
    dtype=float,
)  # fmt: skip
ill, well, other_ill, other_well = bcg.T
log_risk = np.log(ill / (ill + well)) - np.log(other_ill / (other_ill + other_well))
log_risk_variance = 1 / ill - 1 / (ill + well) + 1 / other_ill - 1 / (other_ill + other_well)
meta = [combined(log_risk, log_risk_variance)]
for n, spread in ((2, 1.0), (5, 0.0), (12, 0.3), (40, 2.0), (200, 0.05)):
    variances = rng.uniform(0.01, 0.4, n)
    meta.append(combined(rng.normal(0.4, np.sqrt(variances + spread**2)), variances))


def tail(z):
    two = mpmath.log10(mpmath.erfc(abs(mpmath.mpf(z)) / mpmath.sqrt(2)))
    one = mpmath.log10(mpmath.erfc(mpmath.mpf(z) / mpmath.sqrt(2)) / 2)
    return [z, float(one), float(two)]


def adjusted(p):
    case = {"p": list(map(float, p))}
    for name, method in (("holm", "holm"), ("benjamini_hochberg", "fdr_bh"), ("benjamini_yekutieli", "fdr_by")):
        case[name] = multitest.multipletests(p, method=method)[1].tolist()
    return case


def permutation(n, m, levels):
    """Scores of at most `levels` values, so that many sums tie; in eighths, so that sums are exact."""
    pool = rng.integers(-levels, levels + 1, n + m) / 8
    x, y = pool[:n], pool[n:]
    answer = stats.permutation_test(
        (x, y), lambda a, b, axis: a.sum(axis=axis), vectorized=True, n_resamples=np.inf, alternative="greater"
    )
    total = len(answer.null_distribution)
    return {
        "x": x.tolist(),
        "y": y.tolist(),
        "total": total,
        "count": int((answer.null_distribution >= x.sum()).sum()),
        "p": float(answer.pvalue),
    }


goldens = {
    "effects": [effect(rng.normal(0.1, 0.05, n), rng.normal(0.07, 0.05, m)) for n, m in ((1, 1), (2, 3), (8, 8), (32, 25))],
    "meta": meta,
    "tails": [tail(z) for z in (-40.0, -8.0, -1.5, 0.0, 0.3, 1.96, 5.0, 8.3, 10.0, 29.9, 30.1, 38.0, 40.0, 100.0, 1000.0)],
    "adjusted": [
        adjusted(p)
        for p in (
            [0.03],
            [0.01, 0.04, 0.03, 0.005],
            [0.2, 0.2, 0.2],
            rng.uniform(0, 1, 14),
            rng.uniform(0, 1, 60) ** 4,
        )
    ],
    "permutations": [
        permutation(n, m, levels)
        for n, m in ((2, 2), (2, 5), (3, 3), (5, 2), (4, 7), (8, 8), (9, 6))
        for levels in (1, 3, 40)
        for _ in range(4)
    ],
    "proportions": [
        [count, total, confidence]
        + list(map(float, proportion.proportion_confint(count, total, alpha=1 - confidence, method="beta")))
        for count, total in ((0, 10), (10, 10), (3, 17), (1, 1000), (4321, 10000), (50, 10_000_000))
        for confidence in (0.9, 0.95)
    ],
}  # fmt: skip
pathlib.Path(__file__).with_name("context_goldens.json").write_text(json.dumps(goldens) + "\n")
