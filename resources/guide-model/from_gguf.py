#!/usr/bin/python3
"""Reads what export.py wrote: the weights, as float32 in the shapes of model.py, and the tokenizer.

  from_gguf.py FILE      reads it, writes it anew in memory, and says whether that is the same file
"""
import struct
import sys
from pathlib import Path

import numpy as np

from export import ALIGNMENT, ARRAY, BOOL, F32, I32, STRING, TYPE_F32, TYPE_Q8_0, U32, encoded
from model import HEAD, HEADS, LAYERS
from tokenizer import Tokenizer

PLAIN = {U32: "<I", F32: "<f", BOOL: "<?", I32: "<i"}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def string(self):
        size = self.number("<Q")
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            inner, count = self.number("<I"), self.number("<Q")
            return [self.value(inner) for _ in range(count)]
        return self.number(PLAIN[kind])


def dequantised(data, kind, shape):
    if kind == TYPE_F32:
        return np.frombuffer(data, "<f4", int(np.prod(shape))).reshape(shape).copy()
    if kind != TYPE_Q8_0:
        raise ValueError(f"tensor type {kind}: only f32 and Q8_0 are read")
    blocks = np.frombuffer(data, np.uint8, int(np.prod(shape)) // 32 * 34).reshape(-1, 34)
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    return (scales * blocks[:, 2:].view(np.int8).astype(np.float32)).reshape(shape)


def halves(rows):
    """The file's architecture pairs neighbours for RoPE; model.py pairs the halves of a head."""
    return rows.reshape(HEADS, HEAD // 2, 2, -1).transpose(0, 2, 1, 3).reshape(rows.shape)


def read(path):
    """(parameters by name, Tokenizer) of a guide that export.py wrote."""
    reader = Reader(path.read_bytes())
    magic, version, tensors, pairs = (reader.number(form) for form in ("4s", "<I", "<Q", "<Q"))
    if (magic, version) != (b"GGUF", 3):
        raise ValueError(f"{path}: no GGUF file of version 3")
    facts = {}
    for _ in range(pairs):
        key = reader.string()
        facts[key] = reader.value(reader.number("<I"))
    heads = []
    for _ in range(tensors):
        name = reader.string()
        shape = [reader.number("<Q") for _ in range(reader.number("<I"))][::-1]
        heads.append((name, shape, reader.number("<I"), reader.number("<Q")))
    body = reader.at + -reader.at % ALIGNMENT
    t = {name: dequantised(memoryview(reader.data)[body + offset:], kind, shape) for name, shape, kind, offset in heads}

    parameters = {"embed": t["token_embd.weight"], "norm": t["output_norm.weight"]}
    for i in range(LAYERS):
        b = lambda name: t[f"blk.{i}.{name}.weight"]
        parameters |= {f"{i}.attn_norm": b("attn_norm"), f"{i}.ffn_norm": b("ffn_norm"),
                       f"{i}.qkv": np.concatenate([halves(b("attn_q")), halves(b("attn_k")), b("attn_v")]),
                       f"{i}.out": b("attn_output"), f"{i}.down": b("ffn_down"),
                       f"{i}.gate_up": np.concatenate([b("ffn_gate"), b("ffn_up")])}
    return parameters, Tokenizer([merge.split(" ") for merge in facts["tokenizer.ggml.merges"]])


if __name__ == "__main__":
    file = Path(sys.argv[1])
    same = encoded(*read(file)) == file.read_bytes()
    print(f"{file}: read and written anew it is {'the same' if same else 'another file'}")
    sys.exit(0 if same else 1)
