"""Compares the reference with a folder of goldens: NAME.json, the .gguf and .f32 it names. make_models.py tells what is
in them.

  check_goldens.py FOLDER [NAME ...]

For each: |reference - golden| / |golden| over the stored logits, how many argmax and greedy ids differ, and the error
that f16 keys and values and 8-bit activations would add, beside llama.cpp's where the golden knows it. Fails where the
error is more than 1e-5.
"""
import json
import sys
from pathlib import Path

import numpy as np

from decoder import Decoder, Rounded
from gguf_file import GgufFile


def relative_error(actual, expected):
    return np.linalg.norm(actual - expected) / np.linalg.norm(expected)


def check(path):
    golden = json.loads(path.read_text())
    expected = np.fromfile(path.parent / golden["logits"], "<f4").reshape(-1, golden["n_vocab"]).astype(float)
    file = GgufFile(path.parent / golden["model"])
    tokens, context = golden["tokens"], golden.get("context")
    exact = Decoder(file, context)
    rows = exact.logits(tokens)
    rounded = Decoder(file, context, Rounded()).logits(tokens)
    wrong = int((rows.argmax(axis=1) != golden["argmax"]).sum())
    greedy, _ = exact.greedy(tokens, len(golden["greedy"]))
    wrong_greedy = sum(a != b for a, b in zip(greedy, golden["greedy"]))
    at = golden["positions"]
    error = relative_error(rows[at], expected)
    print(f"{path.stem:28} {error:.2e}  argmax {wrong} of {len(rows)} differ, greedy {wrong_greedy} of {len(greedy)}; "
          f"rounded {relative_error(rounded[at], rows[at]):.2e}, "
          f"llama.cpp {golden.get('llama_cpp_relative_error', 0):.2e}", flush=True)
    return error <= (1e-3 if exact.arch.startswith("gemma") else 1e-5)  # gemma: see GELU in decoder.py


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    names = sys.argv[2:] or sorted(p.stem for p in folder.glob("*.json"))
    agree = [check(folder / f"{name}.json") for name in names]
    print(f"{sum(agree)} of {len(agree)} agree")
    sys.exit(not all(agree))
