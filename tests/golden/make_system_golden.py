#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/golden/system: whole systems on 17x13x24 features and on a 3x8x9x16 clip.

Needs python3-torch; what it writes is committed, so that the tests need none. The modules are those
of make_block_golden.py, run in float64 with weights that are floats; their state_dicts are saved
unchanged as .npz and .safetensors, for the program to read.

    x_picture, x_clip.npz    x (T, H, W, C), each number a half: float16, 32 and 64 hold the same
    NAME_weights.npz, .safetensors    the state_dict
    NAME.npz    the trace in float64, rounded to the nearest float: K, V and Z whole, of
                Q S A H Y every STEP-th row (of each head, for S and A), to keep the files small
"""
import pathlib

import numpy as np
import torch

from make_block_golden import DEFAULTS, Layout, NonLocal, Sagan, Transformer, settle, warm_up
from make_weights import fix_dates, save_safetensors

OUT = pathlib.Path(__file__).resolve().parent / "system"
STEP = 11
SHAPES = {"picture": (1, 17, 13, 24), "clip": (3, 8, 9, 16)}


def save(name, arrays):
    np.savez_compressed(OUT / f"{name}.npz", **arrays)
    fix_dates(OUT / f"{name}.npz")


def state_dict(module):
    arrays = {}
    for key, value in module.state_dict().items():
        array = value.detach().numpy()
        assert not value.is_floating_point() or (array == array.astype(np.float32)).all(), key
        arrays[key] = array.astype(np.float32) if value.is_floating_point() else array
    return arrays


def every(p, name, rows):
    """The rows that are kept."""
    if name in "KVZ":
        return rows
    heads = p["heads"] if name in "SA" else 1
    return torch.cat([head[::STEP] for head in rows.chunk(heads)])


def write(name, x, shape, build, warm=False, **changes):
    p = {**DEFAULTS, **changes}
    generator = torch.Generator().manual_seed(len(name) * 101 + sum(map(ord, name)))
    torch.manual_seed(1)
    module = settle(build(p, Layout(shape[:3]), shape[3]), generator)
    if warm:
        warm_up(module)
    with torch.no_grad():
        steps = module(x)
    save(name, {key: every(p, key, value).float().numpy() for key, value in steps.items()})
    save(f"{name}_weights", state_dict(module))
    save_safetensors(OUT / f"{name}_weights.safetensors", state_dict(module))


def main():
    OUT.mkdir(exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    for layout, shape in SHAPES.items():
        generator = torch.Generator().manual_seed(shape[1])
        x = torch.randn(shape[0] * shape[1] * shape[2], shape[3], generator=generator)
        x = (0.8 * x).half().double()
        save(f"x_{layout}", {"x": x.float().numpy().reshape(shape)})
        for pooling in ("paper", "official"):
            write(f"nonlocal_{pooling}_{layout}", x, shape,
                  lambda p, layers, c: NonLocal(p, layers, c, (c + 1) // 2, batch_norm=True),
                  subsample=pooling)
        picture = layout == "picture"
        form = "old" if picture else "new"
        write(f"sagan_{layout}", x, shape,
              lambda p, layers, c: Sagan(p, layers, c, c // 2, form, "attn_g", "gamma"), warm=True,
              system="sagan", subsample="paper")
        write(f"transformer_{layout}", x, shape, Transformer, system="transformer", scale="sqrt",
              heads=2 if picture else 4, layernorm="post" if picture else "pre")


if __name__ == "__main__":
    main()
