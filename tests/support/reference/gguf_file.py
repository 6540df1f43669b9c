"""Reading and writing GGUF v3 files, as far as the reference needs it.

Written from the format's description (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md); it shares nothing
with the engine's reader, which it helps to test.
"""
import struct
from dataclasses import dataclass

import numpy as np

import tensor_types

U8, I8, U16, I16, U32, I32, F32, BOOL, STR, ARR, U64, I64, F64 = range(13)
SCALARS = {U8: "<B", I8: "<b", U16: "<H", I16: "<h", U32: "<I", I32: "<i", F32: "<f", BOOL: "<?", U64: "<Q",
           I64: "<q", F64: "<d"}
ALIGNMENT = 32


@dataclass
class Tensor:
    name: str
    type: str     # a key of tensor_types.TYPES
    shape: tuple  # as numpy has it: rows first, the length of a row last
    data: bytes

    def values(self):
        """The weights as float64."""
        return tensor_types.dequantize(self.type, self.data).reshape(self.shape)


class GgufFile:
    """metadata: key to value (numbers, strings, lists); tensors: name to Tensor."""

    def __init__(self, path):
        self.bytes = open(path, "rb").read()
        self.at = 0
        magic, version, tensor_count, metadata_count = self.take("<4sIQQ")
        if magic != b"GGUF" or version not in (2, 3):
            raise ValueError(f"{path} is no GGUF file of version 2 or 3")
        self.metadata = {}
        for _ in range(metadata_count):
            key = self.string()
            self.metadata[key] = self.value(self.take("<I")[0])
        heads = [self.tensor_head() for _ in range(tensor_count)]
        start = self.at + -self.at % self.metadata.get("general.alignment", ALIGNMENT)
        self.tensors = {}
        for name, shape, type_name, offset in heads:
            size = tensor_types.bytes_of(type_name, int(np.prod(shape)))
            data = self.bytes[start + offset:start + offset + size]
            self.tensors[name] = Tensor(name, type_name, shape, data)

    def take(self, layout):
        values = struct.unpack_from(layout, self.bytes, self.at)
        self.at += struct.calcsize(layout)
        return values

    def string(self):
        (length,) = self.take("<Q")
        self.at += length
        return self.bytes[self.at - length:self.at].decode("utf-8", "surrogateescape")

    def value(self, kind):
        if kind == STR:
            return self.string()
        if kind == ARR:
            inner, count = self.take("<IQ")
            return [self.value(inner) for _ in range(count)]
        return self.take(SCALARS[kind])[0]

    def tensor_head(self):
        name = self.string()
        (dimensions,) = self.take("<I")
        shape = self.take(f"<{dimensions}Q")[::-1]  # the file has the length of a row first
        type_id, offset = self.take("<IQ")
        return name, shape, tensor_types.NAME_OF_ID[type_id], offset


def encode(kind, value):
    if kind == STR:
        raw = value.encode()
        return struct.pack("<Q", len(raw)) + raw
    if kind == ARR:
        inner, items = value
        return struct.pack("<IQ", inner, len(items)) + b"".join(encode(inner, i) for i in items)
    return struct.pack(SCALARS[kind], value)


def write(path, metadata, tensors):
    """metadata: (key, kind, value) with (inner kind, items) for arrays; tensors: Tensor objects."""
    padding = lambda size: b"\0" * (-size % ALIGNMENT)
    out = [struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata))]
    for key, kind, value in metadata:
        out.append(encode(STR, key) + struct.pack("<I", kind) + encode(kind, value))
    offset = 0
    for t in tensors:
        out.append(encode(STR, t.name) + struct.pack(f"<I{len(t.shape)}Q", len(t.shape), *t.shape[::-1])
                   + struct.pack("<IQ", tensor_types.TYPES[t.type].id, offset))
        offset += len(t.data) + len(padding(len(t.data)))
    head = b"".join(out)
    body = b"".join(t.data + padding(len(t.data)) for t in tensors)
    with open(path, "wb") as file:
        file.write(head + padding(len(head)) + body)
