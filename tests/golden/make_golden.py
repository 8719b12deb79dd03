#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/golden/make_golden.py

Writes the numbers that tests compare with into tests/golden/*.h, from numpy in double precision and
from plain Python, without the library. Needs python3-numpy. One function per file; a new one goes
into GOLDENS.
"""
import csv
import math
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
MASK = 2**64 - 1


def iris():
    """The 150 × 4 numbers as the floats that the library sees, in double."""
    with open(HERE.parent.parent / "assets" / "iris.csv", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return np.array([row[:4] for row in rows], dtype=np.float32).astype(np.float64)


def number(value):
    if isinstance(value, (int, np.integer)):
        return f"{value}u" if value < 2**31 else f"0x{value:016x}u"
    return repr(float(value))


def array(type_, name, values):
    """A C array, one row of the last dimension a line."""
    values = np.asarray(values)
    dimensions = "".join(f"[{n}]" for n in values.shape)

    def braces(part):
        if part.ndim == 1:
            return "{" + ", ".join(number(v) for v in part.tolist()) + "}"
        return "{" + ", ".join(braces(p) for p in part) + "}"

    return f"static const {type_} {name}{dimensions} = {braces(values)};\n"


def header(name, *parts):
    guard = f"NL_GOLDEN_{name.upper()}_H"
    text = (
        "/* SPDX-License-Identifier: MIT */\n"
        "/* Written by tests/golden/make_golden.py. */\n"
        "/* clang-format off */\n"
        f"#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n"
    )
    text += "\n".join(parts) + "\n#endif\n"
    (HERE / f"golden_{name}.h").write_text(text, encoding="utf-8")


class Xoshiro:
    """xoshiro256** seeded by splitmix64 (Blackman and Vigna), normal numbers by Box–Muller."""

    def __init__(self, seed):
        self.s = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            z = seed
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            self.s.append(z ^ (z >> 31))
        self.spare = None

    @staticmethod
    def rotl(x, k):
        return ((x << k) | (x >> (64 - k))) & MASK

    def u64(self):
        s = self.s
        result = (self.rotl((s[1] * 5) & MASK, 7) * 9) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = self.rotl(s[3], 45)
        return result

    def uniform(self):
        return (self.u64() >> 11) / 2**53

    def normal(self):
        if self.spare is not None:
            value, self.spare = self.spare, None
            return value
        radius = math.sqrt(-2 * math.log(1 - self.uniform()))
        angle = 2 * math.pi * self.uniform()
        self.spare = radius * math.sin(angle)
        return radius * math.cos(angle)

    def matrix(self, rows, cols):
        return np.array([[self.normal() / math.sqrt(cols) for _ in range(cols)] for _ in range(rows)])


def golden_random():
    seeds = [0, 1, 42, MASK]
    outputs = []
    for seed in seeds:
        random = Xoshiro(seed)
        outputs.append([random.u64() for _ in range(6)])
    random = Xoshiro(1)
    normals = [random.normal() for _ in range(8)]
    # Drawn in the order θ φ g w_f W; d = 5, l = 3, an odd number of values in each matrix.
    random, d, l = Xoshiro(7), 5, 3
    theta, phi, g = (random.matrix(l, d) for _ in range(3))
    w_f = random.matrix(1, 2 * l)
    w = random.matrix(d, l)
    header(
        "random",
        array("uint64_t", "golden_seeds", np.array(seeds, dtype=np.uint64)),
        array("uint64_t", "golden_u64", np.array(outputs, dtype=np.uint64)),
        array("double", "golden_normals", normals),
        "/* Random embedding of 5 features to 3 with seed 7. */\n"
        + array("double", "golden_theta", theta)
        + array("double", "golden_phi", phi)
        + array("double", "golden_g", g)
        + array("double", "golden_w_f", w_f)
        + array("double", "golden_w", w),
    )


def golden_pca():
    x = iris()
    mean = x.mean(axis=0)
    values, vectors = np.linalg.eigh((x - mean).T @ (x - mean) / len(x))
    values, vectors = values[::-1], vectors[:, ::-1].T.copy()
    for v in vectors:
        if v[np.argmax(np.abs(v))] < 0:
            v *= -1
    projected = (x - mean) @ vectors.T
    d = 8
    hilbert = 1 / (np.add.outer(np.arange(d), np.arange(d)) + 1.0)
    header(
        "pca",
        "/* Iris: population covariance; components in rows, largest first. */\n"
        + array("double", "golden_iris_mean", mean)
        + array("double", "golden_iris_variances", values)
        + array("double", "golden_iris_components", vectors)
        + array("double", "golden_iris_rows", [1, 51, 150])
        + array("double", "golden_iris_projected", projected[[0, 50, 149]]),
        "/* Eigenvalues of the Hilbert matrix of 8 rows. */\n"
        + array("double", "golden_hilbert8", np.linalg.eigvalsh(hilbert)[::-1]),
    )


def softmax(exponents):
    s = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    return s / s.sum(axis=1, keepdims=True)


def golden_attention():
    x = iris()
    logits = x @ x.T
    a = softmax(logits)
    squares = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    norms = np.linalg.norm(x, axis=1)
    masses = lambda row: row.reshape(3, 50).sum(axis=1)
    header(
        "attention",
        "/* Gaussian on raw Iris. */\n"
        + f"enum {{\n    GOLDEN_ABOVE_88 = {(logits > 88.72).sum()},\n"
        + f"    GOLDEN_ROWS_ABOVE_88 = {(logits > 88.72).any(axis=1).sum()},\n"
        + f"    GOLDEN_RANK_OF_1 = {(a[0] > a[0, 0]).sum() + 1},\n"
        + f"    GOLDEN_TOP_OF_1 = {a[0].argmax() + 1},\n"
        + f"    GOLDEN_OWN_MAXIMUM = {(a.argmax(axis=1) == np.arange(150)).argmax() + 1},\n"
        + f"    GOLDEN_OWN_MAXIMA = {(a.argmax(axis=1) == np.arange(150)).sum()},\n}};\n"
        + f"static const double golden_largest_logit = {number(logits.max())};\n"
        + array("double", "golden_masses_of_1", masses(a[0]))
        + f"static const double golden_own_weight_of_1 = {number(a[0, 0])};\n"
        + f"static const double golden_top_weight_of_1 = {number(a[0].max())};\n",
        "/* The same query with exp(−|x − y|²): h = 0.5 of the mean over 4 features; and h = 1. */\n"
        + array("double", "golden_masses_h05", masses(softmax(-squares)[0]))
        + array("double", "golden_masses_h1", masses(softmax(-squares / 4)[0])),
        f"static const double golden_smallest_cosine = {number((logits / np.outer(norms, norms)).min())};\n",
    )


GOLDENS = [golden_random, golden_pca, golden_attention]

if __name__ == "__main__":
    for golden in GOLDENS:
        golden()
