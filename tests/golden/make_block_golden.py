#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/golden/block: blocks of every system, built from PyTorch's own modules in float64.

Needs python3-torch; what it writes is committed, so that the tests need none. Written from the
definitions ("The general operation", "Systems"): convolutions with 1x1 kernels over tables (Conv1d),
pictures (Conv2d) and clips (Conv3d), MaxPool, MultiheadAttention, LayerNorm, spectral_norm in both
of its forms, BatchNorm in eval mode. Features and weights are floats; all else is computed in double.

A golden NAME.npz holds
    x           (T, H, W, C): the features; X is the same, a row a position
    state_dict  under PyTorch's names, as torch saves it
    Q K V S A H Y Z    computed in float64, rounded to the nearest float, as every reader would
                       round them; S and A have the rows of head 0 first
and a line of manifest.csv its parameters. MultiheadAttention gives A and Z itself; elsewhere A, S
and H are the formulas.

Pairing. nonlocal and sagan are run with every similarity x normaliser x pooling; the layout rotates
with them, so that each similarity sees a table, a picture and a clip (a table cannot be pooled).
nlm: its three similarities x both normalisers x self rule, the layout and the search window rotating.
The transformer: MultiheadAttention with heads 1 2 4 x LayerNorm none pre post, and the other
similarities and normalisers with heads, LayerNorm and layout rotating. Everything that works on one
step alone (scale, lambda, temperature, sigma, bias, BatchNorm, spectral norm, one key, one row, gamma)
has goldens of its own and is not crossed with the rest.
"""
import pathlib
import zlib

import numpy as np
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, spectral_norm

OUT = pathlib.Path(__file__).resolve().parent / "block"
EMBEDDED = ("embedded-gaussian", "dot", "concat")
EXPONENTIAL = ("gaussian", "embedded-gaussian", "euclidean", "cosine")
SIMILARITIES = ("gaussian", "embedded-gaussian", "euclidean", "cosine", "dot", "concat")
TABLE, PICTURE, CLIP = (1, 1, 11), (1, 5, 7), (3, 4, 5)
SMALL_CLIP = (2, 3, 4)
DEFAULTS = {
    "system": "nonlocal", "similarity": "embedded-gaussian", "normalize": "sum", "scale": "none",
    "temperature": 1.0, "lambda": 0.0, "h": 0.7, "sigma": 0.0, "self": "keep", "search": 0,
    "subsample": "none", "heads": 1, "layernorm": "none", "gamma": 0.0,
}


# ---- features and weights: floats ----

def settle(module, generator, size=1.0, positive=False):
    """Random floats for every parameter and statistic of a module."""
    with torch.no_grad():
        for name, value in list(module.named_parameters()) + list(module.named_buffers()):
            if not value.is_floating_point() or name.endswith(("_u", "_v")):
                continue
            fan_in = value[0].numel() if value.dim() > 1 else 1
            drawn = torch.randn(value.shape, generator=generator, dtype=torch.float64)
            drawn = drawn * (size / fan_in**0.5 if value.dim() > 1 else 0.3)
            if positive or name.endswith("running_var"):
                drawn = drawn.abs() + 0.05
            if "norm" in name and name.endswith("weight"):
                drawn = drawn + 1
            value.copy_(drawn.float().double())
    return module.double().eval()


def as_rows(volume):
    """(1, C, ...) to (n, C), a row a position."""
    return volume.flatten(2)[0].T


class Layout:
    """The layers that go with a table, a picture or a clip."""

    def __init__(self, shape):
        t, h, _ = shape
        self.shape = shape
        self.conv = nn.Conv3d if t > 1 else nn.Conv2d if h > 1 else nn.Conv1d
        self.norm = nn.BatchNorm3d if t > 1 else nn.BatchNorm2d if h > 1 else nn.BatchNorm1d
        self.pool = nn.MaxPool3d((1, 2, 2)) if t > 1 else nn.MaxPool2d(2) if h > 1 else None
        self.sizes = shape if t > 1 else shape[1:] if h > 1 else shape[2:]

    def volume(self, rows):
        return rows.T.reshape(1, rows.shape[1], *self.sizes)


# ---- the general operation ----

def scores(p, q, k, w_f):
    """S of one head: exponents, or raw scores."""
    l = q.shape[1]
    scale = l**-0.5 if p["scale"] == "sqrt" or p["system"] == "transformer" else 1.0
    kind, tau = p["similarity"], p["temperature"]
    if kind == "euclidean":
        delta = ((q[:, None] - k[None]) ** 2).mean(dim=2)
        return -(delta - 2 * p["sigma"] ** 2).clamp(min=0) / (p["h"] ** 2 * tau)
    if kind == "cosine":
        return nn.functional.cosine_similarity(q[:, None], k[None], dim=2, eps=1e-300) / tau
    if kind == "concat":
        pairs = torch.cat([q[:, None].expand(-1, len(k), -1), k[None].expand(len(q), -1, -1)], 2)
        return nn.functional.relu(pairs @ w_f)
    s = q @ k.T - p["lambda"] * (k * k).sum(1)[None] / 2
    if kind == "gaussian":
        return s / tau
    return s * scale / tau if kind == "embedded-gaussian" else s * scale


def allowed_keys(p, n, m, shape):
    """Which keys a query may read: its search window, in its own frame."""
    allowed = torch.ones(n, m, dtype=torch.bool)
    if p["search"]:
        t, y, x = (axis.reshape(-1) for axis in np.meshgrid(*map(np.arange, shape), indexing="ij"))
        half = p["search"] // 2
        near = [np.abs(axis[:, None] - axis[None]) <= reach
                for axis, reach in ((t, 0), (y, half), (x, half))]
        allowed = torch.from_numpy(near[0] & near[1] & near[2])
    return allowed


def weigh(p, s, shape):
    """S with the self rule in it, and A."""
    n, m = s.shape
    exponential = p["similarity"] in EXPONENTIAL
    allowed = allowed_keys(p, n, m, shape)
    count = allowed.sum(1, keepdim=True).double()
    own = torch.eye(n, m, dtype=torch.bool)
    if p["self"] == "max":
        others = s.masked_fill(own | ~allowed, -torch.inf).amax(1, keepdim=True)
        s = torch.where(own & torch.isfinite(others), others, s)
    elif p["self"] == "exclude":
        allowed = allowed & ~own
    s = s.masked_fill(~allowed, -torch.inf if exponential else 0.0)
    if exponential and p["normalize"] == "sum":
        return s, torch.softmax(s, 1).nan_to_num(0.0)
    weights = torch.exp(s) if exponential else s
    total = weights.sum(1, keepdim=True) if p["normalize"] == "sum" else count
    assert (total > 0).all() and torch.isfinite(weights).all()
    if not exponential and p["normalize"] == "sum":  # no cancellation: the sum is well determined
        assert (weights.abs().sum(1) < 4 * weights.sum(1)).all()
    return s, weights / total


def attention(p, q, k, v, w_f, shape):
    heads = p["heads"]
    s_all, a_all, h_all = [], [], []
    columns = zip(q.chunk(heads, 1), k.chunk(heads, 1), v.chunk(heads, 1))
    for head, (q_h, k_h, v_h) in enumerate(columns):
        w_h = None
        if w_f is not None:
            w_h = torch.cat([part.chunk(heads)[head] for part in w_f.chunk(2)])
        s, a = weigh(p, scores(p, q_h, k_h, w_h), shape)
        s_all.append(s)
        a_all.append(a)
        h_all.append(a @ v_h)
    return {"Q": q, "K": k, "V": v, "S": torch.cat(s_all), "A": torch.cat(a_all),
            "H": torch.cat(h_all, 1)}


# ---- the systems ----

class NonLocal(nn.Module):
    """Wang et al. 2018. Paper pooling sits in a Sequential behind phi and g, as most code has it."""

    def __init__(self, p, layout, c, l, bias=True, batch_norm=False, spectral=None):
        super().__init__()
        wrap = spectral or (lambda layer: layer)
        conv = lambda a, b: wrap(layout.conv(a, b, 1, bias=bias))
        self.p, self.layout = p, layout
        self.theta = self.phi = None
        if p["similarity"] in EMBEDDED:
            self.theta, self.phi = conv(c, l), conv(c, l)
        self.g = conv(c, l)
        if p["subsample"] == "paper":
            self.g = nn.Sequential(self.g, layout.pool)
            self.phi = nn.Sequential(self.phi, layout.pool) if self.phi else layout.pool
        self.W = conv(l, c)
        if batch_norm:
            self.W = nn.Sequential(self.W, layout.norm(c))
        if p["similarity"] == "concat":
            self.concat_project = nn.Sequential(nn.Conv2d(2 * l, 1, 1, bias=False), nn.ReLU())

    def forward(self, x):
        volume = self.layout.volume(x)
        source = self.layout.pool(volume) if self.p["subsample"] == "official" else volume
        q = self.theta(volume) if self.theta else volume
        k = self.phi(source) if self.phi else source
        w_f = self.concat_project[0].weight.flatten() if self.p["similarity"] == "concat" else None
        steps = attention(self.p, as_rows(q), as_rows(k), as_rows(self.g(source)), w_f,
                          self.layout.shape)
        steps["Y"] = as_rows(self.W(self.layout.volume(steps["H"])))
        steps["Z"] = steps["Y"] + x
        return steps


class PowerNorm(nn.Module):
    """A weight over its largest singular value by 30 power iterations from u = 1/sqrt(out)."""

    def forward(self, weight):
        m = weight.flatten(1)
        u = torch.full((len(m),), len(m) ** -0.5, dtype=weight.dtype)
        for _ in range(30):
            v = nn.functional.normalize(m.T @ u, dim=0, eps=0)
            u = nn.functional.normalize(m @ v, dim=0, eps=0)
        return weight / (u @ m @ v)


def power_norm(layer):
    return parametrize.register_parametrization(layer, "weight", PowerNorm())


class Sagan(nn.Module):
    """Zhang et al. 2018: names of the common PyTorch port; `form` is how the norm is kept."""

    def __init__(self, p, layout, c, value_dim, form, last, gamma):
        super().__init__()
        l = max(1, c // 8)
        self.p, self.layout, self.last, self.form = p, layout, last, form
        norm = {"old": spectral_norm, "new": parametrizations.spectral_norm, "none": power_norm}[form]
        conv = lambda a, b: norm(layout.conv(a, b, 1))
        self.theta = self.phi = None
        if p["similarity"] in EMBEDDED:
            self.theta, self.phi = conv(c, l), conv(c, l)
        self.g = conv(c, value_dim)
        setattr(self, last, conv(value_dim, c))
        if p["similarity"] == "concat":
            self.concat_project = nn.Conv2d(2 * l, 1, 1, bias=False)
        if gamma:
            setattr(self, gamma, nn.Parameter(torch.zeros(1)))
        self.gamma_name = gamma

    def forward(self, x):
        volume = self.layout.volume(x)
        pooling = self.p["subsample"]
        source = self.layout.pool(volume) if pooling == "official" else volume
        pooled = self.layout.pool if pooling == "paper" else (lambda value: value)
        q = self.theta(volume) if self.theta else volume
        k = pooled(self.phi(source) if self.phi else source)
        v = pooled(self.g(source))
        w_f = self.concat_project.weight.flatten() if self.p["similarity"] == "concat" else None
        steps = attention(self.p, as_rows(q), as_rows(k), as_rows(v), w_f, self.layout.shape)
        steps["Y"] = as_rows(getattr(self, self.last)(self.layout.volume(steps["H"])))
        gamma = getattr(self, self.gamma_name) if self.gamma_name else self.p["gamma"]
        steps["Z"] = x + gamma * steps["Y"]
        return steps


class Transformer(nn.Module):
    """Vaswani et al. 2017: MultiheadAttention, residual, LayerNorm."""

    def __init__(self, p, layout, c, bias=True):
        super().__init__()
        self.p, self.layout = p, layout
        self.attn = nn.MultiheadAttention(c, p["heads"], bias=bias, batch_first=True)
        if p["layernorm"] != "none":
            self.norm = nn.LayerNorm(c)
        if p["similarity"] == "concat":
            self.attn.concat_project = nn.Conv2d(2 * c, 1, 1, bias=False)

    def forward(self, x):
        source = self.norm(x) if self.p["layernorm"] == "pre" else x
        bias = self.attn.in_proj_bias
        q, k, v = nn.functional.linear(source, self.attn.in_proj_weight, bias).chunk(3, 1)
        if self.p["similarity"] not in EMBEDDED:
            q = k = source
        w_f = None
        if self.p["similarity"] == "concat":
            w_f = self.attn.concat_project.weight.flatten()
        steps = attention(self.p, q, k, v, w_f, self.layout.shape)
        steps["Y"] = self.attn.out_proj(steps["H"])
        if self.p["similarity"] == "embedded-gaussian" and self.p["normalize"] == "sum" \
                and self.p["self"] == "keep" and self.p["lambda"] == 0:
            own = source[None]
            self.attn.train()  # no dropout: the same numbers, without the shortcut of eval mode
            y, a = self.attn(own, own, own, need_weights=True, average_attn_weights=False)
            assert torch.allclose(y[0], steps["Y"], rtol=0, atol=1e-12)
            assert torch.allclose(a[0].flatten(0, 1), steps["A"], rtol=0, atol=1e-13)
            steps["Y"], steps["A"] = y[0], a[0].flatten(0, 1)
        steps["Z"] = x + steps["Y"]
        if self.p["layernorm"] == "post":
            steps["Z"] = self.norm(steps["Z"])
        return steps


class NonLocalMeans(nn.Module):
    def __init__(self, p, layout):
        super().__init__()
        self.p, self.layout = p, layout

    def forward(self, x):
        steps = attention(self.p, x, x, x, None, self.layout.shape)
        steps["Y"] = steps["Z"] = steps["H"]
        return steps


# ---- one golden ----

class Goldens:
    def __init__(self):
        self.lines, self.names = [], set()

    def write(self, name, shape, c, build, /, positive=False, size=1.0, feature_size=0.8,
              prefix="", warm_up=None, **changes):
        p = {**DEFAULTS, **changes}
        assert name not in self.names
        self.names.add(name)
        generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
        torch.manual_seed(1)
        n = shape[0] * shape[1] * shape[2]
        x = feature_size * torch.randn(n, c, generator=generator, dtype=torch.float64)
        x = (x.abs() if positive else x).float().double()
        module = settle(build(p, Layout(shape)), generator, size, positive)
        if warm_up:
            warm_up(module)
        with torch.no_grad():
            steps = module(x)
        arrays = {"x": x.float().numpy().reshape(*shape, c)}
        state = module.state_dict()
        for key, value in state.items():
            if key.endswith("original") and key.replace("original", "0._u") not in state:
                key = key.replace("parametrizations.weight.original", "weight")  # PowerNorm
            array = value.detach().numpy()
            assert not value.is_floating_point() or (array == array.astype(np.float32)).all(), key
            arrays[prefix + key] = array.astype(np.float32) if value.is_floating_point() else array
        assert not set(steps) & set(arrays)
        for key, value in steps.items():
            arrays[key] = value.float().numpy()
        assert all(np.isfinite(arrays[key]).all() for key in "QKVAHYZ")
        np.savez_compressed(OUT / f"{name}.npz", **arrays)
        self.lines.append(",".join([name] + [str(p[key]) for key in DEFAULTS]))

    def finish(self):
        text = "name," + ",".join(DEFAULTS) + "\n" + "\n".join(self.lines) + "\n"
        (OUT / "manifest.csv").write_text(text, encoding="utf-8")


def tau(similarity):
    return 0.3 if similarity == "cosine" else 1.3


def positive(similarity, normalize):
    """Weights over a sum of raw scores need positive sums."""
    return similarity in ("dot", "concat") and normalize == "sum"


def nonlocal_goldens(goldens):
    channels = (13, 5, 10, 7)
    whole, pooled = (PICTURE, SMALL_CLIP, TABLE), (PICTURE, CLIP)
    for i, similarity in enumerate(SIMILARITIES):
        for j, normalize in enumerate(("sum", "count")):
            for k, subsample in enumerate(("none", "paper", "official")):
                c = channels[(i + j + k) % 4]
                shape = whole[(i + 2 * j) % 3] if subsample == "none" else pooled[(i + j + k) % 2]
                goldens.write(
                    f"nonlocal_{similarity}_{normalize}_{subsample}", shape, c,
                    lambda p, layout: NonLocal(p, layout, c, (c + 1) // 2, bias=(i + k) % 3 != 0,
                                               batch_norm=(j + k) % 2 == 1),
                    positive=positive(similarity, normalize), similarity=similarity,
                    normalize=normalize, subsample=subsample, temperature=tau(similarity))
    plain = lambda c, **options: lambda p, layout: NonLocal(p, layout, c, (c + 1) // 2, **options)

    def write(name, shape, c, build=None, /, **more):
        goldens.write("nonlocal_" + name, shape, c, build or plain(c), **more)

    for similarity in ("gaussian", "cosine", "concat"):
        write(f"clip_{similarity}", (2, 3, 5), 6, similarity=similarity,
              temperature=tau(similarity), normalize="count" if similarity == "concat" else "sum")
    for similarity in ("embedded-gaussian", "euclidean", "dot"):
        write(f"picture_{similarity}", (1, 3, 7), 9, similarity=similarity,
              normalize="count" if similarity == "dot" else "sum")
    for similarity in ("embedded-gaussian", "dot"):
        for subsample in ("none", "paper"):
            write(f"scale_{similarity}_{subsample}", (1, 4, 6), 11, similarity=similarity,
                  scale="sqrt", subsample=subsample,
                  normalize="count" if similarity == "dot" else "sum")
    for similarity in ("gaussian", "embedded-gaussian"):
        for value in (0.5, 1.0):
            write(f"lambda_{similarity}_{value}", (1, 1, 9), 5, similarity=similarity,
                  temperature=0.7, **{"lambda": value})
    for similarity in SIMILARITIES:
        for rule in ("max", "exclude"):
            write(f"self_{rule}_{similarity}", (1, 3, 4), 6, similarity=similarity, self=rule,
                  normalize="count" if similarity in ("dot", "concat") else "sum",
                  temperature=tau(similarity))
    for subsample in ("paper", "official"):
        for similarity in SIMILARITIES:
            write(f"one_key_{similarity}_{subsample}", (1, 2, 3), 5, similarity=similarity,
                  subsample=subsample, positive=positive(similarity, "sum"))
    for similarity in SIMILARITIES:
        write(f"one_row_{similarity}", (1, 1, 1), 3, similarity=similarity,
              positive=positive(similarity, "sum"))
    write("one_channel", (1, 3, 3), 1)
    write("many_channels", (1, 2, 3), 37)
    write("sharp", (1, 4, 5), 10, size=3.0, feature_size=4.0)
    write("noise", (1, 4, 5), 6, similarity="euclidean", sigma=0.5, h=0.3, feature_size=0.6)
    write("no_bias_batch_norm", (1, 3, 5), 7, plain(7, bias=False, batch_norm=True))
    write("batch_norm_clip", (2, 4, 3), 6, plain(6, batch_norm=True), subsample="paper")
    write("spectral", (1, 4, 5), 9, plain(9, spectral=spectral_norm), warm_up=warm_up,
          subsample="paper")
    write("prefix", (1, 3, 5), 4, prefix="module.layer3.nl.")


def warm_up(module):
    """A few power iterations in training, then u and v as floats."""
    module.train()
    for layer in module.modules():
        if isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
            layer.eval()
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        n = int(np.prod(module.layout.shape))
        weight = next(value for name, value in module.named_parameters()
                      if name.startswith("g.") and ("weight_orig" in name or "original" in name))
        for _ in range(3):
            module(torch.rand(n, weight.shape[1], generator=generator, dtype=torch.float64))
        for name, value in module.named_buffers():
            if name.endswith(("_u", "_v")):
                value.copy_(value.float().double())
    module.eval()


def sagan_goldens(goldens):
    whole, pooled = ((1, 3, 7), SMALL_CLIP, TABLE), (PICTURE, CLIP)
    for i, similarity in enumerate(SIMILARITIES):
        for j, normalize in enumerate(("sum", "count")):
            for k, subsample in enumerate(("none", "paper", "official")):
                c = (17, 9, 12)[(i + k) % 3]
                shape = whole[(i + j) % 3] if subsample == "none" else pooled[(i + j + k) % 2]
                form = ("old", "new", "none")[(i + j + k) % 3]
                value_dim = c // 2 if (i + j) % 2 == 0 else c // 8
                gamma = ("gamma", "sigma", None)[(j + k) % 3]
                goldens.write(
                    f"sagan_{similarity}_{normalize}_{subsample}", shape, c,
                    lambda p, layout: Sagan(p, layout, c, value_dim, form,
                                            ("attn_g", "W")[(i + k) % 2], gamma),
                    positive=positive(similarity, normalize),
                    warm_up=None if form == "none" else warm_up, system="sagan",
                    similarity=similarity, normalize=normalize, subsample=subsample, gamma=0.75,
                    temperature=tau(similarity), feature_size=0.6)
    for similarity in SIMILARITIES:
        goldens.write(f"sagan_one_key_{similarity}", (1, 3, 2), 8,
                      lambda p, layout: Sagan(p, layout, 8, 4, "old", "attn_g", "gamma"),
                      positive=positive(similarity, "sum"), warm_up=warm_up, system="sagan",
                      similarity=similarity, subsample="paper")
    goldens.write("sagan_few_channels", (1, 4, 4), 3,
                  lambda p, layout: Sagan(p, layout, 3, 1, "old", "attn_g", "gamma"),
                  warm_up=warm_up, system="sagan", subsample="paper", scale="sqrt")
    goldens.write("sagan_one_row", (1, 1, 1), 9,
                  lambda p, layout: Sagan(p, layout, 9, 4, "new", "attn_g", "gamma"),
                  warm_up=warm_up, system="sagan")


def transformer_goldens(goldens):
    layouts, norms = ((1, 3, 5), (2, 2, 3), TABLE), ("none", "pre", "post")
    common = {"system": "transformer", "scale": "sqrt"}
    for i, heads in enumerate((1, 2, 4)):
        for j, layernorm in enumerate(norms):
            c = (9, 10, 12)[i]
            goldens.write(f"transformer_{heads}_{layernorm}", layouts[(i + j) % 3], c,
                          lambda p, layout: Transformer(p, layout, c, bias=(i + j) % 4 != 3),
                          heads=heads, layernorm=layernorm, size=1.5, **common)
    for i, similarity in enumerate(SIMILARITIES):
        for j, normalize in enumerate(("sum", "count")):
            if similarity == "embedded-gaussian" and normalize == "sum":
                continue
            heads, layernorm = (1, 2, 4)[(i + j) % 3], norms[(i + 2 * j + i // 3) % 3]
            if positive(similarity, normalize) and layernorm == "pre":
                layernorm = "post"  # LN(x) has both signs
            goldens.write(f"transformer_{similarity}_{normalize}", layouts[(i + j) % 3], 12,
                          lambda p, layout: Transformer(p, layout, 12),
                          positive=positive(similarity, normalize), similarity=similarity,
                          normalize=normalize, heads=heads, layernorm=layernorm,
                          temperature=tau(similarity), **common)
    for similarity in SIMILARITIES:
        goldens.write(f"transformer_one_row_{similarity}", (1, 1, 1), 6,
                      lambda p, layout: Transformer(p, layout, 6),
                      positive=positive(similarity, "sum"), similarity=similarity, heads=2,
                      layernorm="post", **common)
    goldens.write("transformer_picture", PICTURE, 20, lambda p, layout: Transformer(p, layout, 20),
                  heads=2, layernorm="post", **common)
    goldens.write("transformer_clip", CLIP, 12, lambda p, layout: Transformer(p, layout, 12),
                  layernorm="pre", **common)
    goldens.write("transformer_self_exclude", (1, 1, 7), 8,
                  lambda p, layout: Transformer(p, layout, 8), heads=2, self="exclude", **common)
    goldens.write("transformer_lambda", (1, 2, 4), 8,
                  lambda p, layout: Transformer(p, layout, 8), heads=2, **{"lambda": 1.0}, **common)


def nlm_goldens(goldens):
    layouts = (PICTURE, (2, 3, 5), TABLE)
    for i, similarity in enumerate(("euclidean", "gaussian", "cosine")):
        for j, normalize in enumerate(("sum", "count")):
            for k, rule in enumerate(("keep", "max", "exclude")):
                shape = layouts[(i + j + k) % 3]
                goldens.write(
                    f"nlm_{similarity}_{normalize}_{rule}", shape, (3, 9, 5)[(i + k) % 3],
                    lambda p, layout: NonLocalMeans(p, layout), system="nlm",
                    similarity=similarity, normalize=normalize, self=rule,
                    search=(0, 3, 5)[(i + 2 * j + k) % 3], temperature=tau(similarity),
                    sigma=0.2 if k == 1 else 0.0, h=0.5)
    goldens.write("nlm_one_row", (1, 1, 1), 3, NonLocalMeans, system="nlm", similarity="euclidean",
                  self="max")


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    for old in OUT.glob("*.npz"):
        old.unlink()
    all_goldens = Goldens()
    nonlocal_goldens(all_goldens)
    sagan_goldens(all_goldens)
    transformer_goldens(all_goldens)
    nlm_goldens(all_goldens)
    all_goldens.finish()
