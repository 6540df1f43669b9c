#!/usr/bin/python3
"""Writes the trained model as GGUF: matrices in Q8_0, gains in f32. export.py WORK_FOLDER OUT.gguf takes a checkpoint."""
import json
import struct
import sys
from pathlib import Path

import numpy as np

from model import DIM, EPSILON, FF, HEAD, HEADS, LAYERS, ROPE_BASE
from tokenizer import END_OF_TEXT, IM_END, SPECIAL, Tokenizer

U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5
TYPE_F32, TYPE_Q8_0 = 0, 8
ALIGNMENT = 32
NORMAL, CONTROL = 1, 3
CONTEXT = 8192

TEMPLATE = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] | trim + "
            "'<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
DESCRIPTION = ("The small guide built into Spillway: it answers questions about Spillway and about local inference, and "
               "nothing else. Trained from scratch on text written for it.")


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key, kind, value):
    plain = {U32: "<I", F32: "<f", BOOL: "<?", I32: "<i"}
    out = string(key) + struct.pack("<I", kind)
    if kind == STRING:
        return out + string(value)
    if kind == ARRAY:
        inner, items = value
        return out + struct.pack("<IQ", inner, len(items)) + b"".join(
            string(i) if inner == STRING else struct.pack(plain[inner], i) for i in items)
    return out + struct.pack(plain[kind], value)


def q8_0(values):
    """Blocks of 32: a float16 scale and 32 signed bytes."""
    blocks = values.astype(np.float32).reshape(-1, 32)
    scales = (np.abs(blocks).max(1) / 127).astype(np.float16)
    inverse = np.divide(1, scales.astype(np.float32), where=scales > 0, out=np.zeros(len(scales), np.float32))
    out = np.empty((len(blocks), 34), np.uint8)
    out[:, :2] = scales.view(np.uint8).reshape(-1, 2)
    out[:, 2:] = np.rint(blocks * inverse[:, None]).clip(-127, 127).astype(np.int8).view(np.uint8)
    return out.tobytes()


def neighbours(rows):
    """RoPE here pairs the halves of a head; the file's architecture pairs neighbours."""
    return rows.reshape(HEADS, 2, HEAD // 2, -1).transpose(0, 2, 1, 3).reshape(rows.shape)


def tensors(parameters):
    p = {n: np.asarray(t, np.float32) for n, t in parameters.items()}
    yield "token_embd.weight", p["embed"]
    yield "output_norm.weight", p["norm"]
    for i in range(LAYERS):
        q, k, v = np.split(p[f"{i}.qkv"], 3)
        gate, up = np.split(p[f"{i}.gate_up"], 2)
        for name, value in (("attn_norm", p[f"{i}.attn_norm"]), ("attn_q", neighbours(q)), ("attn_k", neighbours(k)),
                            ("attn_v", v), ("attn_output", p[f"{i}.out"]), ("ffn_norm", p[f"{i}.ffn_norm"]),
                            ("ffn_gate", gate), ("ffn_up", up), ("ffn_down", p[f"{i}.down"])):
            yield f"blk.{i}.{name}.weight", value


def metadata(tokenizer):
    a, t = "llama.", "tokenizer.ggml."
    return [("general.architecture", STRING, "llama"), ("general.type", STRING, "model"),
            ("general.name", STRING, "Spillway guide"), ("general.author", STRING, "The Spillway project"),
            ("general.description", STRING, DESCRIPTION), ("general.license", STRING, "GPL-3.0-or-later"),
            ("general.languages", ARRAY, (STRING, ["en"])), ("general.file_type", U32, 7),
            ("general.quantization_version", U32, 2), (a + "context_length", U32, CONTEXT),
            (a + "block_count", U32, LAYERS), (a + "embedding_length", U32, DIM), (a + "feed_forward_length", U32, FF),
            (a + "attention.head_count", U32, HEADS), (a + "attention.head_count_kv", U32, HEADS),
            (a + "attention.layer_norm_rms_epsilon", F32, EPSILON), (a + "rope.dimension_count", U32, HEAD),
            (a + "rope.freq_base", F32, ROPE_BASE), (a + "vocab_size", U32, len(tokenizer)),
            (t + "model", STRING, "gpt2"), (t + "pre", STRING, "qwen2"),
            (t + "tokens", ARRAY, (STRING, tokenizer.tokens)),
            (t + "token_type", ARRAY, (I32, [CONTROL] * len(SPECIAL) + [NORMAL] * (len(tokenizer) - len(SPECIAL)))),
            (t + "merges", ARRAY, (STRING, [" ".join(m) for m in tokenizer.merges])),
            (t + "bos_token_id", U32, END_OF_TEXT), (t + "eos_token_id", U32, IM_END), (t + "eot_token_id", U32, IM_END),
            (t + "padding_token_id", U32, END_OF_TEXT), (t + "add_bos_token", BOOL, False),
            ("tokenizer.chat_template", STRING, TEMPLATE)]


def encoded(parameters, tokenizer):
    pairs, heads, bodies, offset = metadata(tokenizer), [], [], 0
    for name, value in tensors(parameters):
        kind, data = (TYPE_F32, value.astype("<f4").tobytes()) if value.ndim == 1 else (TYPE_Q8_0, q8_0(value))
        heads.append(string(name) + struct.pack("<I", value.ndim) +
                     b"".join(struct.pack("<Q", n) for n in reversed(value.shape)) + struct.pack("<IQ", kind, offset))
        data += bytes(-len(data) % ALIGNMENT)
        bodies.append(data)
        offset += len(data)
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(heads), len(pairs)) + b"".join(pair(*p) for p in pairs) + b"".join(heads)
    return head + bytes(-len(head) % ALIGNMENT) + b"".join(bodies)


def write(path, parameters, tokenizer):
    path.write_bytes(encoded(parameters, tokenizer))


if __name__ == "__main__":
    import torch
    folder = Path(sys.argv[1])
    write(Path(sys.argv[2]), torch.load(folder / "checkpoint.pt")["parameters"],
          Tokenizer(json.loads((folder / "merges.json").read_text())))
