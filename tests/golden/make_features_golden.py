#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes features_golden.h: features of small pictures, in double precision with numpy.

Written from the definitions ('From a picture to features'): every patch is cut out of the picture
pixel by pixel with mirrored coordinates. Where they are silent:
  - orientation bin b of 8 stands for the angle b pi/8 of the gradient, without its sign;
  - the cells of an odd patch share its middle row and column: each has ceil(p/2) rows;
  - gradients at the border look at the mirrored pixels.
"""
import os

import numpy as np

W_RGB = np.array([0.299, 0.587, 0.114])
# IEC 61966-2-1 primaries, D65
RGB_TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375],
                       [0.2126729, 0.7151522, 0.0721750],
                       [0.0193339, 0.1191920, 0.9503041]])
WHITE = np.array([0.95047, 1.0, 1.08883])


def sample(w, h):
    """The picture test_features makes, in float32 as the library stores it."""
    y, x, c = np.mgrid[0:h, 0:w, 0:3]
    return ((x * 17 + y * 29 + c * 71 + x * y * 5) % 256 / 255.0).astype(np.float32)


def mirror(i, n):
    """... 2 1 0 1 2 ... n-1 n-2 ..., by reflection at both ends until inside."""
    while not 0 <= i < n:
        if n == 1:
            return 0
        i = -i if i < 0 else 2 * (n - 1) - i
    return i


def lab(rgb):
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    t = linear @ RGB_TO_XYZ.T / WHITE
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]),
                     200 * (f[..., 1] - f[..., 2])], -1)


def starts(size, patch, stride):
    return [g * stride + (stride - patch) // 2 for g in range(-(-size // stride))]


def cut(image, x0, y0, patch):
    h, w = image.shape[:2]
    rows = [mirror(y, h) for y in range(y0, y0 + patch)]
    columns = [mirror(x, w) for x in range(x0, x0 + patch)]
    return image[np.ix_(rows, columns)]


def cells(patch_values):
    """The 2x2 cells, row by row."""
    p = len(patch_values)
    side, second = -(-p // 2), p // 2
    return [patch_values[cy:cy + side, cx:cx + side] for cy in (0, second) for cx in (0, second)]


def edges(luma, x0, y0, patch):
    """Magnitude and orientation (0..8) of central differences of the mirrored luma."""
    wide = cut(luma, x0 - 1, y0 - 1, patch + 2)
    dx = (wide[1:-1, 2:] - wide[1:-1, :-2]) / 2
    dy = (wide[2:, 1:-1] - wide[:-2, 1:-1]) / 2
    return np.hypot(dx, dy), np.mod(np.arctan2(dy, dx), np.pi) / (np.pi / 8)


def gradient(luma, x0, y0, patch):
    magnitude, at = edges(luma, x0, y0, patch)
    # weight of bin b: 1 at its angle, falling linearly to 0 at its neighbours', on a circle of 8
    away = np.abs(at[..., None] - np.arange(8))
    weight = np.maximum(0, 1 - np.minimum(away, 8 - away))
    v = np.concatenate([c.mean((0, 1)) for c in cells(magnitude[..., None] * weight)])
    return v / np.sqrt(v @ v + 0.02 ** 2)


def position(w, h, stride):
    return [[(gx + 0.5) * stride / max(w, h), (gy + 0.5) * stride / max(w, h)]
            for gy in range(-(-h // stride)) for gx in range(-(-w // stride))]


def normalised(x, norm):
    if norm == "zero-mean":
        return x - x.mean(1, keepdims=True)
    if norm == "unit-norm":
        length = np.sqrt((x * x).sum(1, keepdims=True))
        return np.divide(x, length, out=np.zeros_like(x), where=length > 0)
    if norm == "z-score":
        constant = np.ptp(x, axis=0) < 1e-12
        return np.where(constant, 0, (x - x.mean(0)) / np.where(constant, 1, x.std(0)))
    return x


def features(picture, kind, patch, stride, norm="none", factor=0.0):
    picture = picture.astype(float)
    h, w = picture.shape[:2]
    luma, colors = picture @ W_RGB, lab(picture) / 100
    rows = []
    for y0 in starts(h, patch, stride):
        for x0 in starts(w, patch, stride):
            if kind == "rgb":
                row = cut(picture, x0, y0, patch)
            elif kind == "luma":
                row = cut(luma, x0, y0, patch)
            elif kind == "lab":
                row = cut(colors, x0, y0, patch)
            elif kind == "gradient":
                row = gradient(luma, x0, y0, patch)
            elif kind == "lab+gradient":
                means = [c.mean((0, 1)) for c in cells(cut(colors, x0, y0, patch))]
                row = np.concatenate([np.concatenate(means) / np.sqrt(12),
                                      0.15 * gradient(luma, x0, y0, patch)])
            else:
                row = np.zeros(0)
            rows.append(np.ravel(row))
    where = np.array(position(w, h, stride))
    if kind == "position":
        return normalised(where, norm)
    x = normalised(np.array(rows), norm)
    return np.hstack([x, factor * where]) if factor else x


KINDS = ["rgb", "luma", "lab", "gradient", "lab+gradient", "position"]
NORMS = ["none", "zero-mean", "unit-norm", "z-score"]

# width, height, kind, patch, stride, norm, factor of position
CASES = (
    [(13, 9, kind, 4, 3, "none", 0) for kind in KINDS]
    + [(13, 9, kind, 5, 4, "none", 0) for kind in KINDS]              # odd patch
    + [(13, 9, kind, 2, 5, "none", 0) for kind in KINDS]              # stride over patch
    + [(13, 9, kind, 1, 6, "none", 0) for kind in KINDS]              # a single pixel
    + [(13, 9, kind, 12, 4, "none", 0) for kind in ("gradient", "lab+gradient", "position")]
    + [(13, 9, kind, 4, 4, norm, 0) for kind in KINDS for norm in NORMS[1:]]
    + [(13, 9, kind, 3, 5, "zero-mean", 0.5) for kind in KINDS]       # position appended after
    + [(17, 5, kind, 7, 6, "none", 0.25) for kind in KINDS]           # patch over the height
    + [(1, 7, kind, 4, 2, "none", 0) for kind in KINDS]
    + [(1, 7, kind, 3, 1, "z-score", 0) for kind in ("luma", "gradient")]
    + [(2, 2, kind, 7, 1, "none", 0) for kind in KINDS]               # patch over the picture
    + [(2, 2, kind, 7, 3, "unit-norm", 1) for kind in ("lab", "lab+gradient")]
    + [(2, 2, "gradient", 64, 64, "none", 0), (2, 2, "lab+gradient", 33, 64, "none", 0)]
)


def smallest_divisor(x, norm):
    """What the norm divides by at least: it magnifies rounding errors that much."""
    if norm == "unit-norm":
        return np.sqrt((x * x).sum(1)).min()
    if norm == "z-score":
        return min([d for d in x.std(0) if d > 1e-12], default=1)
    return 1


def check_lab():
    """An outside opinion on Lab; its constants have fewer digits."""
    try:
        from skimage.color import rgb2lab
    except ImportError:
        return
    for size in ((13, 9), (17, 5)):
        picture = sample(*size).astype(float)
        worst = np.abs(lab(picture) - rgb2lab(picture)).max() / 100
        assert worst < 1e-4, worst


def main():
    check_lab()
    numbers, table = [], []
    for w, h, kind, patch, stride, norm, factor in CASES:
        x = features(sample(w, h), kind, patch, stride, norm, factor)
        assert np.isfinite(x).all()
        plain = features(sample(w, h), kind, patch, stride)
        constant = int((np.ptp(plain, axis=0) < 1e-12).sum()) if norm == "z-score" else 0
        table.append("    {%d, %d, %d, %d, %d, %d, %g, %d, %d, %d, %.3g, %d}," % (
            w, h, KINDS.index(kind), patch, stride, NORMS.index(norm), factor, x.shape[0],
            x.shape[1], constant, smallest_divisor(plain, norm), len(numbers)))
        numbers += list(x.ravel())
    words = ["%.9g" % v for v in numbers]
    lines, line = [], "   "
    for word in words:
        if len(line) + len(word) + 2 > 100:
            lines.append(line)
            line = "   "
        line += " " + word + ","
    lines.append(line)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "features_golden.h")
    with open(path, "w") as f:
        f.write("""/* SPDX-License-Identifier: MIT */
/* Made by make_features_golden.py. */
/* clang-format off */
#ifndef FEATURES_GOLDEN_H
#define FEATURES_GOLDEN_H

#include <stddef.h>

/* Numbers of the enumerations in nonlocal/features.h; rows x cols values from `at` on. */
static const struct golden {
    size_t width, height;
    int kind;
    size_t patch, stride;
    int norm;
    double position;
    size_t rows, cols, constant_columns;
    double divisor; /* the smallest that the norm divides by */
    size_t at;
} golden_cases[] = {
%s
};

static const double golden_values[] = {
%s
};

#endif
""" % ("\n".join(table), "\n".join(lines)))


if __name__ == "__main__":
    main()
