#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/golden/make_weights.py

Writes weights of real PyTorch modules into tests/golden/weights/ as .npz and .safetensors, and what
must be read from them into tests/golden/golden_weights.h (BatchNorm folded in double precision).
Needs python3-torch and python3-numpy. The .safetensors files are written by the definition of the
format.
"""
import json
import pathlib
import struct
import zipfile

import numpy as np
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "weights"
C, L = 6, 3


class NonLocal(nn.Module):
    """The block as most PyTorch code has it, names included."""

    def __init__(self, conv, pool, norm, sub_sample, batch_norm, concat):
        super().__init__()
        self.g = conv(C, L, 1)
        self.theta = conv(C, L, 1)
        self.phi = conv(C, L, 1)
        self.W = conv(L, C, 1)
        if batch_norm:
            self.W = nn.Sequential(conv(L, C, 1), norm(C))
        if sub_sample:
            self.g = nn.Sequential(self.g, pool(2))
            self.phi = nn.Sequential(self.phi, pool(2))
        if concat:
            self.concat_project = nn.Sequential(nn.Conv2d(2 * L, 1, 1, bias=False), nn.ReLU())


class Sagan(nn.Module):
    """1×1 convolutions without bias under spectral normalisation."""

    def __init__(self, normalize):
        super().__init__()
        self.theta = normalize(nn.Conv2d(C, 2, 1, bias=False))
        self.phi = normalize(nn.Conv2d(C, 2, 1, bias=False))
        self.g = normalize(nn.Conv2d(C, L, 1, bias=False))
        self.attn_g = normalize(nn.Conv2d(L, C, 1, bias=False))
        self.gamma = nn.Parameter(torch.tensor(0.375))


class Transformer(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.attn = nn.MultiheadAttention(C, 2, **options)
        self.norm = nn.LayerNorm(C)


def shake(module):
    """No parameter or statistic stays at its initial value."""
    with torch.no_grad():
        for tensor in module.parameters():
            tensor += 0.5 * torch.randn_like(tensor)
        for name, tensor in module.named_buffers():
            if name.endswith("running_mean"):
                tensor.normal_()
            elif name.endswith("running_var"):
                tensor.uniform_(0.3, 2)
            elif name.endswith("num_batches_tracked"):
                tensor += 7
    return module.eval()


def arrays(module):
    return {name: tensor.detach().numpy() for name, tensor in module.state_dict().items()}


# ---- .safetensors ----

TYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32",
         "int16": "I16", "int8": "I8", "uint64": "U64", "uint32": "U32", "uint16": "U16",
         "uint8": "U8", "bool": "BOOL"}


def bfloat16(array):
    """Bytes of the upper halves, rounded to even by PyTorch."""
    bits = torch.from_numpy(np.ascontiguousarray(array)).to(torch.bfloat16)
    return bits.view(torch.int16).numpy().tobytes()


def save_safetensors(path, tensors, floats="F32", metadata=None):
    head, data = {}, b""
    if metadata:
        head["__metadata__"] = metadata
    for name, array in tensors.items():
        kind = TYPES[str(array.dtype)]
        if kind == "F32" and floats == "F16":
            kind, array = "F16", array.astype(np.float16)
        raw = array.tobytes()
        if kind == "F32" and floats == "BF16":
            kind, raw = "BF16", bfloat16(array)
        head[name] = {"dtype": kind, "shape": list(array.shape),
                      "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def fix_dates(path):
    """The same bytes on every run: numpy puts the time of writing into members."""
    with zipfile.ZipFile(path) as old:
        members = [(info.filename, old.read(info), info.compress_type) for info in old.infolist()]
    with zipfile.ZipFile(path, "w") as new:
        for name, data, kind in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = kind
            with new.open(info, "w", force_zip64=True) as member:
                member.write(data)


def save(name, tensors):
    for kind, write in (("stored", np.savez), ("deflated", np.savez_compressed)):
        path = FOLDER / f"{name}_{kind}.npz"
        write(path, **tensors)
        fix_dates(path)
    for kind in ("F32", "F16", "BF16"):
        save_safetensors(FOLDER / f"{name}_{kind.lower()}.safetensors", tensors, kind,
                         {"format": "pt"})


# ---- expected values ----


def matrix(array):
    """(out, in, 1, 1) as (out, in)."""
    array = np.asarray(array, dtype=np.float64)
    return array.reshape(array.shape[:2])


def fold(weight, bias, t, key):
    """BatchNorm in eval mode behind a linear map, in double; eps is PyTorch's default."""
    t = {name: array.astype(np.float64) for name, array in t.items()}
    factor = t[key + ".weight"] / np.sqrt(t[key + ".running_var"] + nn.BatchNorm2d(1).eps)
    return (factor[:, None] * weight,
            (bias - t[key + ".running_mean"]) * factor + t[key + ".bias"])


def check_fold(module, weight, bias):
    """What was folded does what the module does."""
    x = torch.randn(1, L, 4, 5, dtype=torch.float64)
    expected = module.double()(x).detach().numpy()[0]
    found = np.einsum("oi,ihw->ohw", weight, x.numpy()[0]) + bias[:, None, None]
    assert np.abs(found - expected).max() < 1e-12
    module.float()


def c_array(name, values):
    values = np.asarray(values, dtype=np.float64)
    rows = values.reshape(-1, values.shape[-1] if values.ndim else 1)
    text = ",\n".join("    " + ", ".join(repr(float(v)) for v in row) for row in rows)
    return f"static const double {name}[{values.size}] = {{\n{text}}};\n"


def make_nonlocal(parts):
    torch.manual_seed(1)
    block = shake(NonLocal(nn.Conv2d, nn.MaxPool2d, nn.BatchNorm2d, True, True, True))
    t = arrays(block)
    save("nonlocal", t)
    weight, bias = fold(matrix(t["W.0.weight"]), t["W.0.bias"].astype(np.float64), t, "W.1")
    check_fold(block.W, weight, bias)
    parts += [c_array("nonlocal_theta", matrix(t["theta.weight"])),
              c_array("nonlocal_theta_bias", t["theta.bias"]),
              c_array("nonlocal_phi", matrix(t["phi.0.weight"])),
              c_array("nonlocal_phi_bias", t["phi.0.bias"]),
              c_array("nonlocal_g", matrix(t["g.0.weight"])),
              c_array("nonlocal_g_bias", t["g.0.bias"]),
              c_array("nonlocal_w", weight), c_array("nonlocal_w_bias", bias),
              c_array("nonlocal_concat", matrix(t["concat_project.0.weight"]))]
    torch.manual_seed(2)
    block = shake(NonLocal(nn.Conv3d, nn.MaxPool3d, nn.BatchNorm3d, False, False, False))
    t = {"module.layer3." + name: array for name, array in arrays(block).items()}
    np.savez(FOLDER / "clip_block.npz", **t)
    fix_dates(FOLDER / "clip_block.npz")
    parts += [c_array("clip_phi", matrix(t["module.layer3.phi.weight"][..., 0])),
              c_array("clip_w", matrix(t["module.layer3.W.weight"][..., 0])),
              c_array("clip_w_bias", t["module.layer3.W.bias"])]
    two = {"a." + name: array for name, array in arrays(block).items()}
    two.update({"b.c." + name: array for name, array in arrays(block).items()})
    save_safetensors(FOLDER / "two_blocks.safetensors", two)


def make_sagan(parts):
    torch.manual_seed(3)
    block = Sagan(nn.utils.spectral_norm)
    for _ in range(3):
        for conv in (block.theta, block.phi, block.g, block.attn_g):
            conv(torch.zeros(1, conv.in_channels, 1, 1))
    t = arrays(block.eval())
    save("sagan", t)
    for key in ("theta", "phi", "g", "attn_g"):
        parts += [c_array(f"sagan_{key}", matrix(t[key + ".weight_orig"])),
                  c_array(f"sagan_{key}_u", t[key + ".weight_u"]),
                  c_array(f"sagan_{key}_v", t[key + ".weight_v"])]
    parts.append(c_array("sagan_gamma", t["gamma"]))
    torch.manual_seed(4)
    t = arrays(Sagan(nn.utils.parametrizations.spectral_norm).eval())
    t["sigma"] = t.pop("gamma").reshape(1, 1, 1, 1)
    np.savez(FOLDER / "sagan_parametrized.npz", **t)
    fix_dates(FOLDER / "sagan_parametrized.npz")
    parts += [c_array("parametrized_g", matrix(t["g.parametrizations.weight.original"])),
              c_array("parametrized_g_u", t["g.parametrizations.weight.0._u"]),
              c_array("parametrized_g_v", t["g.parametrizations.weight.0._v"])]


def make_transformer(parts):
    torch.manual_seed(5)
    t = arrays(shake(Transformer()))
    save("transformer", t)
    for name, rows in (("theta", slice(0, C)), ("phi", slice(C, 2 * C)), ("g", slice(2 * C, None))):
        parts += [c_array(f"transformer_{name}", t["attn.in_proj_weight"][rows]),
                  c_array(f"transformer_{name}_bias", t["attn.in_proj_bias"][rows])]
    parts += [c_array("transformer_w", t["attn.out_proj.weight"]),
              c_array("transformer_w_bias", t["attn.out_proj.bias"]),
              c_array("transformer_norm", t["norm.weight"]),
              c_array("transformer_norm_bias", t["norm.bias"])]
    torch.manual_seed(6)
    layer = shake(nn.TransformerEncoderLayer(C, 2, dim_feedforward=4))
    t = arrays(layer)
    np.savez(FOLDER / "encoder_layer.npz", **t)
    fix_dates(FOLDER / "encoder_layer.npz")
    parts += [c_array("encoder_phi", t["self_attn.in_proj_weight"][C:2 * C]),
              c_array("encoder_norm", t["norm1.weight"])]
    torch.manual_seed(7)
    attention = nn.MultiheadAttention(C, 2, bias=False)
    weight = attention.in_proj_weight.detach().numpy()
    t = {"q_proj_weight": weight[:C], "k_proj_weight": weight[C:2 * C],
         "v_proj_weight": weight[2 * C:],
         "out_proj.weight": attention.out_proj.weight.detach().numpy()}
    save_safetensors(FOLDER / "separate.safetensors", t)
    parts += [c_array("separate_phi", t["k_proj_weight"]), c_array("separate_g", t["v_proj_weight"])]


def make_types(parts):
    """Every type, values at the ends of their ranges, Fortran order, what cannot be read."""
    # the one in the middle of halves is even, odd, denormal, least and largest
    halves = np.array([0, -0.0, 1, -1.5, 2**-24, -1023 * 2**-24, 2**-14, 65504], dtype=np.float16)
    singles = np.array([1e-45, -1.1754942e-38, 3.3895314e38, 1.0039063, 1.01171875, np.pi],
                       dtype=np.float32)
    tensors = {
        "half": halves, "single": singles, "double": np.array([np.pi, 1e-50, 1e300, -2.5]),
        "i8": np.array([-128, 127], dtype=np.int8), "u8": np.array([0, 255], dtype=np.uint8),
        "i16": np.array([-32768, 32767], dtype=np.int16),
        "u16": np.array([0, 65535], dtype=np.uint16),
        "i32": np.array([-2**31, 2**31 - 1], dtype=np.int32),
        "u32": np.array([0, 2**32 - 1], dtype=np.uint32),
        "i64": np.array([-2**63, 2**63 - 1], dtype=np.int64),
        "u64": np.array([0, 2**64 - 1], dtype=np.uint64), "bool": np.array([True, False]),
        "scalar": np.array(0.25, dtype=np.float32), "empty": np.zeros((0, 3), dtype=np.float32),
        "na\"me\\ \u00e9\U0001f600/x": np.arange(6, dtype=np.float32).reshape(2, 3),
    }
    save_safetensors(FOLDER / "types.safetensors", tensors, metadata={"a": "{\"b\": [1, 2]}\n"})
    save_safetensors(FOLDER / "types_bf16.safetensors", {"single": singles}, "BF16")
    rounded = torch.from_numpy(singles).to(torch.bfloat16).to(torch.float64).numpy()
    parts += [c_array("types_half", halves), c_array("types_single", singles),
              c_array("types_bfloat", rounded)]
    words = np.array(["a", "bc"])
    np.savez(FOLDER / "types.npz", words=words, objects=np.array([{}, None]), z=np.array([1j]),
             deep=np.zeros((1,) * 9), fortran=np.asfortranarray(np.arange(6.0).reshape(2, 3)),
             mask=np.array([0, -np.inf]), **{"a/b": np.float32(3)})
    fix_dates(FOLDER / "types.npz")
    with zipfile.ZipFile(FOLDER / "types.npz", "a") as file:
        file.writestr(zipfile.ZipInfo("README.txt"), "not an array")
        file.writestr(zipfile.ZipInfo("folder/"), "")


def main():
    FOLDER.mkdir(exist_ok=True)
    parts = []
    for make in (make_nonlocal, make_sagan, make_transformer, make_types):
        make(parts)
    (HERE / "golden_weights.h").write_text(
        "/* SPDX-License-Identifier: MIT */\n"
        "/* Written by tests/golden/make_weights.py. */\n/* clang-format off */\n"
        "#ifndef NL_GOLDEN_WEIGHTS_H\n#define NL_GOLDEN_WEIGHTS_H\n\n"
        f"enum {{ WEIGHTS_C = {C}, WEIGHTS_L = {L}, SAGAN_L = 2 }};\n\n"
        + "\n".join(parts) + "\n#endif\n", encoding="utf-8")


if __name__ == "__main__":
    main()
