#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/golden/make_order_golden.py

Writes golden_orders.h: trees, orders and figures of random rows, from scipy, scikit-learn and plain
numpy in double precision, without the library. Needs python3-scipy and python3-sklearn.
"""
import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import silhouette_score

from make_golden import HERE, MASK, array

LINKAGES = ("single", "complete", "average", "ward")
ROWS, COLS, CLASSES = 60, 5, 4


def random_rows(n, d, seed):
    """The floats that tests/unit/dissim_rig.h draws: splitmix64, in [-1, 1)."""
    out = np.empty(n * d)
    for at in range(n * d):
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = seed
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        out[at] = (z >> 40) / 2**23 - 1
    return out.reshape(n, d)


def path_length(d, order):
    return d[order[:-1], order[1:]].sum()


def vat(d):
    n = len(d)
    i, j = np.unravel_index(np.argmax(d), d.shape)
    order, rest = [min(i, j)], set(range(n)) - {min(i, j)}
    while rest:
        order.append(min(rest, key=lambda k: (d[order, k].min(), k)))
        rest.remove(order[-1])
    return order


def by_coordinate(keys):
    gaps = np.diff(np.sort(keys)) / np.ptp(keys)
    assert gaps.min() > 1e-8, gaps.min()
    order = np.argsort(keys)
    return order if order[0] < order[-1] else order[::-1]


def spectral(d):
    w = 1 / (1 + d)
    np.fill_diagonal(w, 0)
    values, vectors = np.linalg.eigh(np.diag(w.sum(0)) - w)
    assert (values[2] - values[1]) / values[-1] > 1e-3
    return by_coordinate(vectors[:, 1])


def pca(x):
    u, s, _ = np.linalg.svd(x - x.mean(0), full_matrices=False)
    return by_coordinate(u[:, 0] * s[0])


def scaling(d):
    j = np.eye(len(d)) - 1 / len(d)
    values, vectors = np.linalg.eigh(-j @ (d * d) @ j / 2)
    return by_coordinate(vectors[:, -1])


def anti_robinson(d, order):
    """Events and deviations by the definition, O(n³)."""
    d = d[np.ix_(order, order)]
    events, deviation = 0, 0.0
    for i in range(len(d)):
        for j in range(i + 1, len(d)):
            for excess in (d[i, j] - d[i, j + 1 :], d[j, j + 1 :] - d[i, j + 1 :]):
                events += int((excess > 0).sum())
                deviation += excess[excess > 0].sum()
    return events, deviation


def main():
    x = random_rows(ROWS, COLS, 11)
    y = pdist(x)
    d = squareform(y)
    classes = np.arange(ROWS) * 7 % CLASSES
    trees = [linkage(y, name) for name in LINKAGES]
    assert np.diff(np.sort(y)).min() > 1e-8
    orders = {"vat": vat(d), "spectral": spectral(d), "pca": pca(x), "scaling": scaling(np.abs(d) ** 0.5)}
    parts = [
        f"enum {{ ORDER_ROWS = {ROWS}, ORDER_COLS = {COLS}, ORDER_CLASSES = {CLASSES}, ORDER_SEED = 11 }};\n",
        array("double", "golden_heights", [t[:, 2] for t in trees]),
        array("unsigned", "golden_children", [t[:, :2].astype(int) for t in trees]),
    ]
    for name, order in orders.items():
        parts.append(array("unsigned", f"golden_{name}", np.asarray(order, dtype=int)))
    figures = [anti_robinson(d, range(ROWS)), anti_robinson(d, orders["vat"])]
    parts.append(array("unsigned", "golden_ar_events", np.array([f[0] for f in figures])))
    parts.append(array("double", "golden_ar_deviation", np.array([f[1] for f in figures])))
    silhouette = silhouette_score(d, classes, metric="precomputed")
    parts.append(f"static const double golden_silhouette = {float(silhouette)!r};\n")
    rng = np.random.default_rng(1)
    sets = []
    for seed in range(50):
        n, cols, method = int(rng.integers(3, 201)), int(rng.integers(2, 9)), seed % 4
        rows = random_rows(n, cols, 1000 + seed)
        y = pdist(rows)
        tree = optimal_leaf_ordering(linkage(y, LINKAGES[method]), y)
        sets.append((n, cols, method, path_length(squareform(y), leaves_list(tree))))
    parts.append("static const struct {\n    unsigned n, d, linkage;\n    double path;\n} golden_paths[] = {\n"
                 + "".join(f"    {{{n}, {c}, {m}, {float(p)!r}}},\n" for n, c, m, p in sets) + "};\n")
    (HERE / "golden_orders.h").write_text(
        "/* SPDX-License-Identifier: MIT */\n"
        "/* Written by tests/golden/make_order_golden.py. */\n"
        "/* clang-format off */\n"
        "#ifndef NL_GOLDEN_ORDERS_H\n#define NL_GOLDEN_ORDERS_H\n\n" + "\n".join(parts) + "\n#endif\n",
        encoding="utf-8")


if __name__ == "__main__":
    main()
