#!/usr/bin/env python3
"""How fast the 7B shape in Q4_K_M should run on a card, from what its kernels read and execute.

    gpu_model.py                 what is expected of seven cards, beside the review's table, what of the goals that
                                 reaches, and how it was checked
    gpu_model.py --expected      the same for packaging/gpu-bundle/expected.tsv
    gpu_model.py --check         whether that file is what --expected prints, and tests/bench/README.md has the goals'
                                 table as it is printed

What is assumed:
- A product of one row (matvec) keeps so many copies of weights under way that the memory is never idle: it takes as
  long as a copy of its bytes within the device, or as its instructions if these take longer, and before that the
  launch and two latencies.
- A copy reaches 86 % of the nominal rate of HBM, 91 % of GDDR: measured on an H200 (4,130 of 4,800 GB/s), taken from
  others' published measurements for the rest. A product reaches 91 % of a copy (measured: 87 to 93 %).
- A scheduler issues 0.75 instructions a cycle where all warps have something to do.
- The latency of memory is 650 cycles, at the clock of the card under load.
- Products of many rows are bound by instructions, not by tensor cores: a scheduler issues 0.578 a cycle, which is what
  138 Tops/s on an H200 were by the machine code of then (MATMUL_OF_H200), at most 70 % of what the tensor cores do,
  which also multiply the halves that offsets are made of.
  Attention over many rows likewise: 424 operations a cycle and multiprocessor as measured there (q8_0 KV, 98 TFLOP/s).
  cuBLAS reaches 60 % of them, with weights made halves once for 2,048 rows.
- The activations that the launches of a prompt's layer read and write take as long as a copy of them (row_bytes).
- Attention of a decode step waits 13 latencies, however short it is, and takes 13 bytes of KV a cycle and
  multiprocessor (measured: what 32,000 tokens added to a step), at most what a product reads.
- Four of a layer's 5 launches are products. Each ends with work that had a launch of its own on 2026-11-27, when there
  were 10; those took the times of SMALL, scaled by the clock. Now the thread block that ends last does that work: it
  waits several times for the second cache, L2_CYCLES each, and its instructions wait for each other (ENDS). This has
  been measured on no card.
- Attention ends in the same way with its merge (MERGE_END): the thread block that ends last reads the values of all
  pieces of a KV head's four heads. To each of its threads eight quads of floats are under way at any time.
- From 9.0 on attention and three of the products ask for the next product's first matrix as they end, a quarter of the
  second cache at most, a latency after the memory has begun to rest: it goes on at the rate of a product until the next
  one reads its weights. What has come then is read from the second cache, 24 bytes a cycle and multiprocessor (an H100's
  5.5 TB/s, as others have measured), while the rest is read from memory; of queries, keys and values before the rest,
  since more thread blocks compute these than run at once. This has been measured on no card.
- What happens on the host between two tokens is hidden, but for 15 us.
- Merging the partials of a layer's attention waited for memory ten times, and once more for each eight pieces of 64
  tokens, since its loads stood behind branches (machine code of fbdae1c; 14 us at 8,192 tokens on an H200, by ncu). Now
  the loads for up to 256 pieces are begun together: eight of the ten waits remain, and none for the pieces. It is a
  launch of its own where the host attends a part, where KV is streamed, and where one thread block would read too
  much."""

import argparse
import pathlib
import sys
from dataclasses import dataclass, replace

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent.parent
EXPECTED = ROOT / "packaging/gpu-bundle/expected.tsv"
MEASURED = HERE / "measured.tsv"
README = HERE.parent / "README.md"

LATENCY_CYCLES = 650
L2_CYCLES = 300
L2_BYTES = 24
LAUNCH_S = 1.8e-6
ISSUE = 0.75
MATMUL_ISSUE = 0.578
OF_A_COPY = 0.91
HOST_S = 15e-6

# Mistral 7B: rows and columns of a layer's matrices, of which the two last are Q6_K in half of the layers.
LAYERS, EMBEDDING, FEED_FORWARD, KV, VOCABULARY = 32, 4096, 14336, 1024, 32768
BYTES = {"q4_k": 144 / 256, "q6_k": 210 / 256}
KV_BYTES = 2 * KV * 34 / 32  # of a token and layer, q8_0


@dataclass(frozen=True)
class Card:
    name: str
    multiprocessors: int
    ghz: float
    nominal_gb_s: float
    copy_share: float
    bytes_ops: int  # products and additions of 8-bit integers by a multiprocessor's tensor cores in a cycle
    halves_ops: int  # of halves, added up in floats
    matmul: tuple  # instructions of a warp in a step of matmul_q4_k and matmul_q6_k
    asks_bytes: float = 0  # a quarter of the second cache, where launches ask for what the next one reads

    @property
    def copy(self):
        return self.nominal_gb_s * 1e9 * self.copy_share

    @property
    def hz(self):
        return self.ghz * 1e9


# Inner loops in machine_code.tsv, for compute capability 8.0 to 8.9, 9.0 and 12.0: of two steps each. That of Q4_K
# unpacks weights at two places, and a warp leaves out one of them: 37 instructions, at 12.0 41 or 30. Before it a loop
# takes the offsets of 16 steps' Q4_K.
MATMUL_8 = ((494 - 37) / 2 + 455 / 16, 932 / 2)
MATMUL_9 = ((492 - 37) / 2 + 456 / 16, 937 / 2)
MATMUL_12 = ((477 - 35.5) / 2 + 465 / 16, 909 / 2)
MATMUL_OF_H200 = (489, 634)  # 2026-11-27

CARDS = [
    Card("RTX 3060", 28, 1.78, 360, 0.91, 2048, 512, MATMUL_8),
    Card("RTX 4060", 24, 2.46, 272, 0.91, 2048, 512, MATMUL_8),
    Card("RTX 4090", 128, 2.52, 1008, 0.91, 2048, 512, MATMUL_8),
    Card("RTX 5070 Ti", 70, 2.45, 896, 0.91, 2048, 512, MATMUL_12, 12e6),
    Card("A100", 108, 1.41, 1555, 0.88, 4096, 2048, MATMUL_8),
    Card("H100", 132, 1.755, 3350, 0.86, 8192, 4096, MATMUL_9, 12.5e6),
    Card("H200", 132, 1.755, 4800, 0.86, 8192, 4096, MATMUL_9, 12.5e6),
]  # fmt: skip

# What the review of 2026-11-24 expected of the kernels of then: decode and prefill, tok/s.
REVIEW = {
    "RTX 3060": ((55, 62), (900, 1300)), "RTX 4060": ((50, 54), (1100, 1600)),
    "RTX 5070 Ti": ((140, 160), (3500, 5000)), "H100": ((230, 300), (3500, 6000)),
}  # fmt: skip

# Percent of the nominal bandwidth that decode was to reach, and how many times the review's prefill.
DECODE_GOALS = {"RTX 3060": 75, "RTX 4060": 75, "RTX 5070 Ti": 75, "H100": 60}
PREFILL_GOAL = 2

# Seconds of a layer's small kernels on an H200, by ncu.
MERGE_S = 5.5e-6
SMALL = {"norm and quantise": 4.3e-6, "prepare heads": 3.9e-6, "norm and quantise, 2": 4.3e-6, "quantise": 2.8e-6}
# For each of these ends of a product: how often the last thread block waits for the second cache (its results are
# written, it is counted, it reads; then come a norm's weights, or the place of a head), and the cycles of its
# instructions.
ENDS = {"norm and quantise": (4, 1300), "prepare heads": (5, 600), "norm and quantise, 2": (4, 1300), "quantise": (3, 200)}
MERGE_END = (3, 900)
MERGE_VALUES = 4 * 128 * 4  # bytes of a piece's partials of four heads
MERGE_UNDER_WAY = 128 * 8 * 16  # bytes
RANK_S = 20e-6


# ---- the kernels as they were, 5e3cf48: one slice of weights under way a warp ----

@dataclass(frozen=True)
class OldProduct:
    """All warps of a multiprocessor wait for their slice, then all compute it: the times add up."""

    instructions: int  # of a turn of the inner loop
    slices: int  # in a turn, each with a wait for memory
    weights: int  # to a slice and lane
    warps: int  # a multiprocessor has room for

    def seconds(self, card, rows, n, weight_bytes, matrices=1):
        resident = card.multiprocessors * self.warps
        waves = max(1.0, rows / resident)
        turns = n / self.weights / 32 / self.slices
        of_scheduler = self.warps * min(1.0, rows / resident) / 4
        turn = self.instructions * of_scheduler + self.slices * LATENCY_CYCLES
        cycles = waves * (2 * LATENCY_CYCLES + turns * turn)
        return LAUNCH_S + max(cycles / card.hz, matrices * rows * n * weight_bytes / card.copy)


# From the machine code for compute capability 9.0; slices and weights from the source.
OLD = {
    "q4_k": OldProduct(754, 4, 32, 16),
    "q6_k": OldProduct(508, 4, 16, 16),
    "gated q4_k": OldProduct(741, 2, 32, 20),  # a slice of both matrices
}


def old_layer(card, tokens):
    small = 4.9e-6 + 4 * 2.9e-6 + 2 * 6.2e-6 + 2.3e-6 + 3.4e-6  # merge, quantise, norms of one block, rope, store
    attend = LAUNCH_S + max(10e-6, tokens * KV_BYTES / (0.21 * card.copy))
    q = OLD["q4_k"].seconds(card, EMBEDDING, EMBEDDING, BYTES["q4_k"])
    kv = OLD["q4_k"].seconds(card, KV, EMBEDDING, BYTES["q4_k"])
    gated = OLD["gated q4_k"].seconds(card, FEED_FORWARD, EMBEDDING, BYTES["q4_k"], 2)
    down = [OLD[t].seconds(card, EMBEDDING, FEED_FORWARD, BYTES[t]) for t in ("q4_k", "q6_k")]
    return small + attend + 2 * q + 2 * kv + gated + sum(down) / 2, {
        "matvec_q4_k 4096 x 4096": q, "matvec_q4_k 1024 x 4096": kv, "gated_matvec_q4_k": gated,
        "matvec_q4_k 4096 x 14336": down[0], "matvec_q6_k 4096 x 14336": down[1],
        "matvec_q6_k 32768 x 4096": OLD["q6_k"].seconds(card, VOCABULARY, EMBEDDING, BYTES["q6_k"]),
    }  # fmt: skip


# ---- the kernels as they are ----

# Instructions of a warp for 1,024 weights, counted in the machine code for compute capability 9.0; those for the others
# differ by a tenth.
INSTRUCTIONS = {"matvec_q4_k": 68, "gated_matvec_q4_k": 98, "matvec_q6_k": 82}


@dataclass(frozen=True)
class Asked:
    """Bytes of a product that have been asked for. in_turn: the thread blocks that run first find them, and the others
    read the rest when these have ended."""

    bytes: float = 0
    in_turn: bool = False


def product(card, kind, rows, n, weight_bytes, matrices=1, asked=Asked()):
    all_bytes = matrices * rows * n * weight_bytes
    read = (all_bytes - asked.bytes) / (OF_A_COPY * card.copy)
    cache = L2_BYTES * card.multiprocessors * card.hz
    arrived = read + asked.bytes / cache if asked.in_turn else max(read, all_bytes / cache if asked.bytes else 0)
    warps = matrices * rows * n / 1024 * INSTRUCTIONS[kind]
    issued = warps / (card.multiprocessors * 4 * ISSUE * card.hz)
    return LAUNCH_S + 2 * LATENCY_CYCLES / card.hz + max(arrived, issued)


def asked_bytes(card, matrix_bytes, end_s):
    """Returns how many bytes of a product's first matrix come while the launch before it ends, which takes end_s, and
    while the product's thread blocks begin."""
    seconds = end_s + LAUNCH_S + LATENCY_CYCLES / card.hz  # of the two latencies of a launch the first is lost
    return min(matrix_bytes, card.asks_bytes, seconds * OF_A_COPY * card.copy)


def small_kernels(card, tokens):
    return (MERGE_S + sum(SMALL.values())) * 1.755 / card.ghz


def end(card, what):
    waits, cycles = ENDS[what]
    return (waits * L2_CYCLES + cycles) / card.hz


def ends(card, tokens):
    return merge_at_end(card, tokens) + sum(end(card, what) for what in ENDS)


def layer(card, tokens, between=ends):
    small = between(card, tokens)

    def ask_for(rows, n, type_, end_s, in_turn=False):
        if between != ends:
            return Asked()  # the kernels of 2026-11-27
        return Asked(asked_bytes(card, rows * n * BYTES[type_], end_s), in_turn)

    kv_rate = min(OF_A_COPY * card.copy, 13 * card.multiprocessors * card.hz)
    attend = LAUNCH_S + 13 * LATENCY_CYCLES / card.hz + tokens * KV_BYTES / kv_rate
    asked = ask_for(EMBEDDING, EMBEDDING, "q4_k", end(card, "norm and quantise"), in_turn=True)
    qkv = product(card, "matvec_q4_k", EMBEDDING + 2 * KV, EMBEDDING, BYTES["q4_k"], asked=asked)
    asked = ask_for(EMBEDDING, EMBEDDING, "q4_k", merge_at_end(card, tokens))
    o = product(card, "matvec_q4_k", EMBEDDING, EMBEDDING, BYTES["q4_k"], asked=asked)
    asked = ask_for(FEED_FORWARD, EMBEDDING, "q4_k", end(card, "norm and quantise, 2"))
    gated = product(card, "gated_matvec_q4_k", FEED_FORWARD, EMBEDDING, BYTES["q4_k"], 2, asked)
    down = [product(card, f"matvec_{t}", EMBEDDING, FEED_FORWARD, BYTES[t],
                    asked=ask_for(EMBEDDING, FEED_FORWARD, t, end(card, "quantise"))) for t in ("q4_k", "q6_k")]  # fmt: skip
    return small + attend + qkv + o + gated + sum(down) / 2, {
        "matvec_q4_k 6144 x 4096": qkv, "matvec_q4_k 4096 x 4096": o, "gated_matvec_q4_k": gated,
        "matvec_q4_k 4096 x 14336": down[0], "matvec_q6_k 4096 x 14336": down[1],
        "matvec_q6_k 32768 x 4096": product(card, "matvec_q6_k", VOCABULARY, EMBEDDING, BYTES["q6_k"]),
    }  # fmt: skip


def layer_of_ten_launches(card, tokens):
    return layer(card, tokens, small_kernels)


def merge_of_fbdae1c(card, tokens):
    return LAUNCH_S + (10 + tokens / 64 / 8) * LATENCY_CYCLES / card.hz


def pieces_of(tokens):
    """Pieces have 64 tokens; 128 or 256 where there would be more than 128 pieces."""
    return tokens / next((piece for piece in (64, 128) if tokens <= 128 * piece), 256)


def merge(card, tokens):
    return LAUNCH_S + (8 + pieces_of(tokens) // 257) * LATENCY_CYCLES / card.hz


def merge_at_end(card, tokens):
    waits, cycles = MERGE_END
    reads = max(1, pieces_of(tokens)) * MERGE_VALUES / MERGE_UNDER_WAY
    return ((waits + max(1, reads)) * L2_CYCLES + cycles) / card.hz


def decode(card, tokens, of_layer=layer, rank=RANK_S):
    seconds, kernels = of_layer(card, tokens)
    return 1 / (LAYERS * seconds + kernels["matvec_q6_k 32768 x 4096"] + rank + HOST_S)


def step_bytes():
    matrices = 2 * EMBEDDING * EMBEDDING + 2 * KV * EMBEDDING + 2 * FEED_FORWARD * EMBEDDING
    down = FEED_FORWARD * EMBEDDING * (BYTES["q4_k"] + BYTES["q6_k"]) / 2
    return LAYERS * (matrices * BYTES["q4_k"] + down) + VOCABULARY * EMBEDDING * BYTES["q6_k"]


def row_bytes(gated_apart=False):
    """Bytes of activations that the launches of a layer read and write for a token of a prompt, each its own rows once.
    `gated_apart`: gated values are written as floats, and a launch of its own rounds them, as on 2026-11-27; with
    cuBLAS it makes halves of them."""
    rounded, read = 1 + 28 / 32, 1 + 8 / 32  # of a value: written in 8 bits with scales and sums; what a product reads
    norms = 2 * (4 + 4 + rounded)  # read, written, and rounded
    qkv = 3 * read + 4  # the queries' columns
    heads = 4 + 4  # read and written where they lie
    attention = 4 + 4 + 4 + rounded  # queries, results; rounded by a launch of its own
    sums = 2 * (4 + 4) + read  # of attention's and the feed-forward part's output, and what the former reads
    of_embedding = norms + qkv + heads + attention + sums + 2 * read  # gate and up
    of_kv = 4 + 4 + 34 / 32  # keys' columns and values': written, read, and stored
    of_feed_forward = 2 * (4 + 4) + rounded + read + (4 + 4 if gated_apart else 0)
    return EMBEDDING * of_embedding + 2 * KV * of_kv + FEED_FORWARD * of_feed_forward


def prefill(card, tokens, products_per_s, gated_apart=False):
    """Products and attention, and activations read and written."""
    weights = 2 * EMBEDDING * EMBEDDING + 2 * KV * EMBEDDING + 3 * FEED_FORWARD * EMBEDDING
    per_cycle = min(424, 0.7 * card.halves_ops)
    attention = 2 * tokens * EMBEDDING / (per_cycle * card.multiprocessors * card.hz)  # half of the pairs, twice
    rows = row_bytes(gated_apart) / card.copy
    return 1 / (LAYERS * (2 * weights / products_per_s + attention + rows))


def own_products(card):
    step = 2 * 64 * 32 * 32  # operations: 64 weights of 32 rows, 32 tokens
    q6_k = FEED_FORWARD / 2 / (2 * EMBEDDING + 2 * KV + 3 * FEED_FORWARD)  # of all weights
    offsets = (1 - q6_k) * step * 2 * 3 / 64  # operations: two of Q4_K, in three products of halves each
    instructions = (1 - q6_k) * card.matmul[0] + q6_k * card.matmul[1]
    per_cycle = 4 * MATMUL_ISSUE * step / instructions
    tensor_cores = step / (step / card.bytes_ops + offsets / card.halves_ops)
    return min(per_cycle, 0.7 * tensor_cores) * card.multiprocessors * card.hz


def blas_products(card, rows=2048):
    """Weights become halves first: 0.56 bytes read, two written, two read again, for all rows of a step."""
    multiplied = 0.6 * card.halves_ops * card.multiprocessors * card.hz
    return 1 / (1 / multiplied + 4.6 / (2 * rows) / card.copy)


# ---- what is printed ----

def expectations(card):
    own = prefill(card, 4096, own_products(card))
    return {
        "copy_gb_s": card.copy / 1e9, "decode_0": decode(card, 0), "decode_4096": decode(card, 4096),
        "prefill_own": own, "prefill_blas": max(own, prefill(card, 4096, blas_products(card), gated_apart=True)),
    }  # fmt: skip


def expected_file():
    lines = ["# What tests/bench/gpu_model expects: Mistral 7B shape, Q4_K_M, q8_0 KV; tok/s, and GB/s read and written."]
    for n, card in enumerate(sorted(CARDS, key=lambda c: -len(c.name))):  # the longest name that fits is taken
        row = expectations(card)
        if n == 0:
            lines.append("\t".join(["card", *row]))
        lines.append("\t".join([card.name, *(f"{value:.0f}" for value in row.values())]))
    return "\n".join(lines) + "\n"


def measured():
    for line in MEASURED.read_text().splitlines():
        if line and not line.startswith("#"):
            card, code, what, value, unit = line.split("\t")
            yield next(c for c in CARDS if c.name == card), code, what, float(value), unit


def modelled(card, code, what):
    of_layer = layer_of_ten_launches if code == "2026-11-27" else old_layer
    kernels = of_layer(card, 0)[1]
    if what in kernels:
        return kernels[what] * 1e6
    assert what in ("copy_gb_s", "decode_0", "decode_4096") or code == "2026-11-27", what
    rank = RANK_S if code == "2026-11-27" else 50e-6
    return {
        "decode_0": lambda: decode(card, 0, of_layer, rank),
        "decode_4096": lambda: decode(card, 4096, of_layer, rank),
        "decode_32000": lambda: decode(card, 32000, of_layer),
        "copy_gb_s": lambda: card.copy / 1e9,
        "prefill_own": lambda: prefill(card, 4096, own_products(replace(card, matmul=MATMUL_OF_H200)), True),
        "prefill_blas": lambda: expectations(card)["prefill_blas"],
    }[what]()  # fmt: skip


def text(pair):
    return f"{pair[0]} - {pair[1]}" if pair else ""


def decode_percent(card, of):
    return 100 * decode(card, 0) * step_bytes() / of


def judged(value, goal, digits, unit=""):
    """Prints a value rounded, and judges it as it is."""
    return f"{value:.{digits}f}{unit}, " + ("reached" if value >= goal else "**missed**")


def goals_table():
    """Decode when empty; prefill of 4,096 tokens by the faster products of ours and cuBLAS's."""
    lines = [
        "| card | decode, of nominal | goal | of a copy | prefill / low of the review | / its middle | / its high | goal |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for card in CARDS:
        goal = DECODE_GOALS.get(card.name)
        nominal = decode_percent(card, card.nominal_gb_s * 1e9)
        cells = [judged(nominal, goal, 1, " %") if goal else f"{nominal:.1f} %", f"{goal} %" if goal else "",
                 f"{decode_percent(card, card.copy):.0f} %"]
        if card.name in REVIEW:
            low, high = REVIEW[card.name][1]
            cells += [judged(expectations(card)["prefill_blas"] / of, PREFILL_GOAL, 2) for of in (low, (low + high) / 2, high)]
            cells += [f"{PREFILL_GOAL}"]
        else:
            cells += [""] * 4
        lines.append(f"| {card.name} | " + " | ".join(cells) + " |")
    return lines


def print_report():
    print("| card | decode, empty | share of a copy | at 4,096 | review, kernels of then | prefill 4,096, own | with cuBLAS | review |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for card in CARDS:
        e = expectations(card)
        review = REVIEW.get(card.name, (None, None))
        share = decode_percent(card, card.copy)
        print(f"| {card.name} | {e['decode_0']:.0f} | {share:.0f} % | {e['decode_4096']:.0f} | {text(review[0])} | "
              f"{e['prefill_own']:.0f} | {e['prefill_blas']:.0f} | {text(review[1])} |")
    print("\n" + "\n".join(goals_table()))
    print("\n| card | merge of a layer at 8,192, us, fbdae1c | by itself | at the end | at 32,768, fbdae1c | by itself | at the end |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for card in CARDS:
        print(f"| {card.name} | " + " | ".join(
            f"{1e6 * of(card, tokens):.1f}" for tokens in (8192, 32768)
            for of in (merge_of_fbdae1c, merge, merge_at_end)) + " |")
    print("\n| card | code | what | measured | model | model / measured |")
    print("| --- | --- | --- | --- | --- | --- |")
    ratios = {}
    for card, code, what, value, unit in measured():
        model = modelled(card, code, what)
        ratios.setdefault(code, []).append(max(model / value, value / model) - 1)
        print(f"| {card.name} | {code} | {what} | {value:g} {unit} | {model:.4g} | {model / value:.2f} |")
    for code, off in ratios.items():
        off.sort()
        print(f"\nOff by {100 * off[len(off) // 2]:.0f} % at the median and {100 * off[-1]:.0f} % at most, {code}.")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--expected", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.expected:
        print(expected_file(), end="")
    elif given.check:
        if EXPECTED.read_text() != expected_file():
            sys.exit(f"{EXPECTED} is not what the model says: `gpu_model.py --expected` makes it")
        if "\n".join(goals_table()) not in README.read_text():
            sys.exit(f"{README} has another table of the goals than `gpu_model.py` prints")
    else:
        print_report()


if __name__ == "__main__":
    main()
