#!/usr/bin/env python3
"""Reference values of the tests of harness/stats, made with NumPy and SciPy.

    python3 scripts/stats/reference.py > harness/stats/testdata/reference.json

The committed file was made with SciPy 1.10.1 and NumPy 1.24.2 (Debian 12: python3-scipy).
The input is fixed, so a second run writes the same file. Where SciPy has no exact answer
(signed ranks with ties or zeros) all sign patterns are counted; what it does not have at
all (Holm, Nadeau and Bengio, Iman and Davenport, GRIM) is written out from its definition.
"""

import itertools
import json
import sys
from fractions import Fraction

import numpy as np
import scipy
from scipy import special, stats

# Eight paired accuracies. Their differences are multiples of 0.001 that tie up to the last bits.
X = [.912, .918, .903, .927, .909, .915, .921, .906]
Y = [.897, .921, .891, .912, .912, .900, .903, .897]
Z = [.9, .91, .9, .92, .905, .9, .92, .906]

# The columns of the paper's Table 1, in its order.
STANFORD40 = ["66.0", "70.1", "67.7", "65.3", "66.9", "74.8", "73.3", "67.7", "73.3", "72.9", "72.7", "75.9"]
UIUC_SE = ["88.4", "94.2", "89.7", "93.4", "90.2", "95.7", "94.2", "89.1", "91.3", "91.8", "92.4", "96.4"]


def t_quantile(df):
    """The 0.975 quantile; stats.t.ppf is good to 1e-9 only."""
    v = special.betaincinv(df / 2, .5, .05)
    return (df * (1 - v) / v) ** .5


def summary(x):
    m, half = np.mean(x), t_quantile(len(x) - 1) * stats.sem(x)
    return dict(x=x, mean=m, sd=np.std(x, ddof=1), low=m - half, high=m + half)


def corrected_t(x, y, ratio):
    d = np.subtract(x, y)
    n = len(d)
    se = np.std(d, ddof=1) * (1 / n + ratio) ** .5
    t, half = d.mean() / se, t_quantile(n - 1) * se
    if ratio == 0:
        plain = stats.ttest_rel(x, y)
        assert abs(plain.statistic - t) < 1e-12 * abs(t)
    return dict(x=x, y=y, ratio=ratio, mean=d.mean(), t=t, p=2 * stats.t.sf(abs(t), n - 1),
                low=d.mean() - half, high=d.mean() + half)


def signed_rank(name, d, how):
    d = np.asarray(d, float)
    kept = d[d != 0]
    r = stats.rankdata(abs(kept))
    w = r[kept > 0].sum()
    if how == "count":
        s = np.array([np.dot(r, g) for g in itertools.product([0, 1], repeat=len(r))])
        p = min(1, 2 * min((s <= w).mean(), (s >= w).mean()))
    elif how == "exact":
        p = stats.wilcoxon(kept, method="exact").pvalue
    else:
        p = stats.wilcoxon(d, zero_method="wilcox", correction=False, method="approx").pvalue
    return dict(name=name, d=d.tolist(), n=len(kept), plus=w, p=p, exact=how != "approx")


def holm(p):
    """Holm: each p times the number of p not below it, at least the adjusted value of smaller ones."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    out, worst = [0.] * len(p), 0.
    for k, i in enumerate(order):
        worst = max(worst, min(1., (len(p) - k) * p[i]))
        out[i] = worst
    return dict(p=p, adjusted=out)


def correlations(name, x, y):
    return dict(name=name, x=x, y=y, spearman=stats.spearmanr(x, y)[0])


def friedman(name, x):
    k, n = len(x), len(x[0])
    ranks = np.mean([stats.rankdata([-v for v in block]) for block in zip(*x)], 0)
    if k > 2:
        chi, p = stats.friedmanchisquare(*x)
    else:  # SciPy wants three; the definition, without ties
        chi = 12 * n / (k * (k + 1)) * sum((r - (k + 1) / 2) ** 2 for r in ranks)
        p = stats.chi2.sf(chi, k - 1)
    f = (n - 1) * chi / (n * (k - 1) - chi)
    se = (k * (k + 1) / (12 * n)) ** .5  # of a mean rank; the q of Nemenyi is over √2 of it
    return dict(name=name, x=x, ranks=ranks.tolist(), chi=chi, p=p, f=f,
                pf=stats.f.sf(f, k - 1, (k - 1) * (n - 1)),
                critical=stats.studentized_range.ppf(.95, k, np.inf) * se,
                nemenyi=[stats.studentized_range.sf(abs(ranks[0] - r) / se, k, np.inf) for r in ranks[1:]])


def grim(name, column, splits):
    """The test sizes from 200 to 699 at which all values of a column are possible."""
    def possible(printed, n):
        v, half = Fraction(printed), Fraction(1, 20)
        near = int(v * n / 100)
        return any(abs(Fraction(100 * k, n) - v) <= half for k in (near, near + 1))
    sizes = [s for s in range(200, 700) if all(possible(v, s * splits) for v in column)]
    return dict(name=name, column=column, splits=splits, sizes=len(sizes), smallest=sizes[0] if sizes else 0)


def write(sections):
    """JSON with one case per line."""
    parts = []
    for name, v in sections.items():
        if isinstance(v, list):
            v = "[\n  " + ",\n  ".join(json.dumps(c, default=float) for c in v) + "\n ]"
        else:
            v = json.dumps(v)
        parts.append(f' "{name}": {v}')
    sys.stdout.write("{\n" + ",\n".join(parts) + "\n}\n")


def main():
    plants = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]  # Darwin's, as Wilcoxon has them
    sixty = (np.arange(1, 61) * np.where(np.arange(60) % 3 == 0, -1, 1)).tolist()
    many = np.random.default_rng(1).integers(-40, 50, 300).tolist()  # with zeros and ties
    twelve = np.random.default_rng(2).normal(.9, .01, (12, 16)) + np.linspace(0, .03, 12)[:, None]
    write(dict(
        made_with=f"SciPy {scipy.__version__}, NumPy {np.__version__}",
        summary=[summary(X), summary([1, 2]), summary([3, 1, 4, 1, 5, 9, 2, 6])],
        t_quantile=[dict(df=df, q=t_quantile(df)) for df in (1, 2, 7, 30, 1000)],
        corrected_t=[corrected_t(X, Y, r) for r in (0, 30 / 70, 1.5)] +
                    [corrected_t([1., 2.], [.5, 1.75], 30 / 70),
                     corrected_t([10.1, 10.2, 10.3, 10.1, 10.2], [1., 1., 1., 1., 1.], 0)],  # far out: p is tiny
        wilcoxon=[
            signed_rank("plants", plants, "exact"), signed_rank("sixty", sixty, "exact"),
            signed_rank("ties", [15, -3, 12, 15, -3, 15, 18, 9], "count"),
            signed_rank("ties and zeros", [0, 0, 1, 1, 1, -2, 3, 3, -1, 0], "count"),
            signed_rank("all up", [1, 2, 3, 4, 5, 6, 7, 8], "count"),
            signed_rank("all the same", [1, 1, 1, 1], "count"),
            signed_rank("one", [-1], "count"),
            signed_rank("many, with ties and zeros", many, "approx"),
        ],
        holm=[holm([.01, .04, .03, .005, .5]), holm([.6, .7, 0., 1.]), holm([.02]), holm([.01, .01, .01])],
        correlations=[correlations("ties", X, Y),
                      correlations("the paper's columns", [float(v) for v in STANFORD40], [float(v) for v in UIUC_SE])],
        friedman=[friedman("three", [X, Y, Z]), friedman("ties", [X, Y, X[:4] + Y[4:]]), friedman("two", [X, Y]),
                  friedman("twelve", twelve.round(4).tolist())],
        range_quantile=[dict(k=k, q=stats.studentized_range.ppf(.95, k, np.inf)) for k in (2, 3, 5, 10, 12, 15, 20)],
        grim=[grim("UIUC-SE", UIUC_SE, n) for n in (1, 2, 3, 5)] + [grim("Stanford40", STANFORD40, n) for n in (1, 2)],
    ))


if __name__ == "__main__":
    main()
