"""The tensor types of GGUF files: what their blocks mean, and random valid blocks.

Layouts and tables are facts of the format (ggml's ggml-common.h, https://github.com/ggml-org/ggml). Every function is
written on whole arrays: one row of the structured array is one block.
"""
from collections import namedtuple

import numpy as np

import grids

Type = namedtuple("Type", "id block_len layout")

HALF = "<f2"
TYPES = {
    "F32": Type(0, 1, [("x", "<f4")]),
    "F16": Type(1, 1, [("x", HALF)]),
    "Q4_0": Type(2, 32, [("d", HALF), ("q", "u1", 16)]),
    "Q4_1": Type(3, 32, [("d", HALF), ("m", HALF), ("q", "u1", 16)]),
    "Q5_0": Type(6, 32, [("d", HALF), ("high", "u1", 4), ("q", "u1", 16)]),
    "Q5_1": Type(7, 32, [("d", HALF), ("m", HALF), ("high", "u1", 4), ("q", "u1", 16)]),
    "Q8_0": Type(8, 32, [("d", HALF), ("q", "i1", 32)]),
    "Q2_K": Type(10, 256, [("scales", "u1", 16), ("q", "u1", 64), ("d", HALF), ("dmin", HALF)]),
    "Q3_K": Type(11, 256, [("high", "u1", 32), ("q", "u1", 64), ("scales", "u1", 12), ("d", HALF)]),
    "Q4_K": Type(12, 256, [("d", HALF), ("dmin", HALF), ("scales", "u1", 12), ("q", "u1", 128)]),
    "Q5_K": Type(13, 256, [("d", HALF), ("dmin", HALF), ("scales", "u1", 12), ("high", "u1", 32), ("q", "u1", 128)]),
    "Q6_K": Type(14, 256, [("q", "u1", 128), ("high", "u1", 64), ("scales", "i1", 16), ("d", HALF)]),
    "IQ2_XXS": Type(16, 256, [("d", HALF), ("groups", [("index", "u1", 4), ("signs", "<u4")], 8)]),
    "IQ2_XS": Type(17, 256, [("d", HALF), ("q", "<u2", 32), ("scales", "u1", 8)]),
    "IQ3_XXS": Type(18, 256, [("d", HALF), ("q", "u1", 64), ("signs", "<u4", 8)]),
    "IQ1_S": Type(19, 256, [("d", HALF), ("q", "u1", 32), ("high", "<u2", 8)]),
    "IQ4_NL": Type(20, 32, [("d", HALF), ("q", "u1", 16)]),
    "IQ3_S": Type(21, 256, [("d", HALF), ("q", "u1", 64), ("high", "u1", 8), ("signs", "u1", 32), ("scales", "u1", 4)]),
    "IQ2_S": Type(22, 256, [("d", HALF), ("q", "u1", 32), ("signs", "u1", 32), ("high", "u1", 8), ("scales", "u1", 8)]),
    "IQ4_XS": Type(23, 256, [("d", HALF), ("scales_high", "u1", 2), ("scales_low", "u1", 4), ("q", "u1", 128)]),
    "IQ1_M": Type(29, 256, [("q", "u1", 32), ("high", "u1", 16), ("scales", "<u2", 4)]),
    "BF16": Type(30, 1, [("x", "<u2")]),
    "TQ1_0": Type(34, 256, [("q", "u1", 48), ("last", "u1", 4), ("d", HALF)]),
    "TQ2_0": Type(35, 256, [("q", "u1", 64), ("d", HALF)]),
    "MXFP4": Type(39, 32, [("e", "u1"), ("q", "u1", 16)]),
    "NVFP4": Type(40, 64, [("e", "u1", 4), ("q", "u1", 32)]),
}
NAME_OF_ID = {t.id: name for name, t in TYPES.items()}

IQ4_VALUES = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], float)
MXFP4_VALUES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])

# IQ3_S: 512 groups of four values 1, 3 .. 15. Four octal digits a group, digit n for the value 2n + 1; the last digit
# is the first value (it is the low byte of ggml's iq3s_grid).
IQ3S_OCTAL = """
0000000100020005000700100011001200140016002000210025003300400042004500470051005300600062007100740077
0100010101020104011001110115012001230127013101350144016101650172020002010205020702100213021602210225
0230023402420245024702510253027002730303031103150320032203310333033603440350035203670371037504000413
0417042104240432044004430451047005020504052005220526053305410545054705660573060606110613063106520671
0700070207040720072207260733075007541000100110021004101010111013101510171020102210311034103610541056
1061107211001101110311061110111411211130113311411150115211701176120012121215121712201224123212401243
1255126012721301130413071310131313211327133013341341136213701403140514121414143114331442144614501454
1501151015131521153015321551162016241627164416461701170317101712172117351741176217702000200120032005
2007201020122014201620212023202720302032204120432045205020522067207020732075210021022110211321172122
2125213121342142215122012204220722212223223022372241225322572271227423002302230523112322232423312333
2342235023662401240724202423243224352441247224752504251125222537254025532570260026022607262126552661
2705271127262730274327503002301130133015301730223031303330353042304430473051306330713101310331053114
3121312331403160317231763200321232203232323432503301331033143321332333273330334133433347335533733403
3411341634223431345234603464350135103512352535323544355635733616364137013703372037223735400040044012
4020402440274032404140504070410241074111411341224130413541434151415542014203421042154221423342404257
4262427043044311431343204322433143354400440244244437444044714505450745214562461346344660471047154730
4743475150025010501450225040504450475052506650745101510351055112512151325172520052115223523052365253
5302530753105327534453515365537354015404542054325446551255265551555356425702570457226011601360156031
6033606061006120612761646212623462426255626262706300631463216340642564436462650065036534656066056640
6711671370007004700770207022703670407054706271027111712471437145720172047210721672217230725173027332
733573537401740574137420745075227542760276317700"""
IQ3S_GRID = np.array([int(c) * 2 + 1 for c in "".join(IQ3S_OCTAL.split())], float).reshape(512, 4)[:, ::-1]


def block_bytes(name):
    return np.dtype(TYPES[name].layout).itemsize


def bytes_of(name, count):
    assert count % TYPES[name].block_len == 0
    return count // TYPES[name].block_len * block_bytes(name)


# ---- pieces of blocks; all give (blocks, weights) ----

def nibbles(q):
    """Bytes to values: the low halves of all, then the high halves."""
    return np.concatenate([q & 15, q >> 4], axis=1)


def bits(packed):
    """The bits of bytes, lowest first."""
    return np.unpackbits(packed, axis=1, bitorder="little")


def two_bits(q):
    """(n, 64) bytes to (n, 256) values of 2 bits: 32 bytes give 128 values, plane after plane."""
    planes = [(q.reshape(-1, 2, 1, 32) >> shift) & 3 for shift in (0, 2, 4, 6)]
    return np.concatenate(planes, axis=2).reshape(len(q), 256)


def nibbles_by_64(q):
    """(n, 128) bytes to (n, 256) values: 32 bytes give 32 low halves, then 32 high halves."""
    q = q.reshape(-1, 4, 1, 32)
    return np.concatenate([q & 15, q >> 4], axis=2).reshape(-1, 256)


def scales_and_mins(s):
    """The 8 scales and 8 minimums of 6 bits in the 12 bytes of Q4_K and Q5_K."""
    scale = np.concatenate([s[:, 0:4] & 63, (s[:, 8:12] & 15) | (s[:, 0:4] >> 6) << 4], axis=1)
    least = np.concatenate([s[:, 4:8] & 63, (s[:, 8:12] >> 4) | (s[:, 4:8] >> 6) << 4], axis=1)
    return scale.astype(float), least.astype(float)


def spread(scales, weights_each):
    return np.repeat(scales, weights_each, axis=1)


# ---- one function a type ----

def q4_0(b):
    return b["d"] * (nibbles(b["q"]) - 8.0)


def q4_1(b):
    return b["d"] * nibbles(b["q"]) + b["m"]


def q5_0(b):
    return b["d"] * (nibbles(b["q"]) + 16.0 * bits(b["high"]) - 16.0)


def q5_1(b):
    return b["d"] * (nibbles(b["q"]) + 16.0 * bits(b["high"])) + b["m"]


def q8_0(b):
    return b["d"] * b["q"].astype(float)


def q2_k(b):
    scale, least = (b["scales"] & 15).astype(float), (b["scales"] >> 4).astype(float)
    return b["d"] * spread(scale, 16) * two_bits(b["q"]) - b["dmin"] * spread(least, 16)


def q3_k(b):
    s = b["scales"]
    low = np.concatenate([s[:, 0:8] & 15, s[:, 0:8] >> 4], axis=1)
    high = np.concatenate([(s[:, 8:12] >> shift) & 3 for shift in (0, 2, 4, 6)], axis=1)
    scale = (low | high << 4).astype(float) - 32.0
    plane = np.stack([(b["high"] >> i) & 1 for i in range(8)], axis=1).reshape(-1, 256)
    return b["d"] * spread(scale, 16) * (two_bits(b["q"]) + 4.0 * plane - 4.0)


def q4_k(b):
    scale, least = scales_and_mins(b["scales"])
    return b["d"] * spread(scale, 32) * nibbles_by_64(b["q"]) - b["dmin"] * spread(least, 32)


def q5_k(b):
    scale, least = scales_and_mins(b["scales"])
    plane = np.stack([(b["high"] >> i) & 1 for i in range(8)], axis=1).reshape(-1, 256)
    return b["d"] * spread(scale, 32) * (nibbles_by_64(b["q"]) + 16.0 * plane) - b["dmin"] * spread(least, 32)


def q6_k(b):
    q = b["q"].reshape(-1, 2, 1, 64)
    low = np.concatenate([q & 15, q >> 4], axis=2).reshape(-1, 256)  # 64 bytes: 64 low halves, then 64 high halves
    return b["d"] * spread(b["scales"].astype(float), 16) * (low + 16.0 * two_bits(b["high"]) - 32.0)


def iq4_nl(b):
    return b["d"] * IQ4_VALUES[nibbles(b["q"])]


def iq4_xs(b):
    low = np.stack([b["scales_low"] & 15, b["scales_low"] >> 4], axis=2).reshape(-1, 8)
    high = np.stack([(b["scales_high"] >> shift) & 3 for shift in (0, 2, 4, 6)], axis=2).reshape(-1, 8)
    scale = (low | high << 4).astype(float) - 32.0
    values = IQ4_VALUES[nibbles(b["q"].reshape(-1, 16))].reshape(-1, 256)
    return b["d"] * spread(scale, 32) * values


def iq3_s(b):
    values = IQ3S_GRID[b["q"] | bits(b["high"]).astype(int) << 8].reshape(-1, 256)
    scale = np.stack([b["scales"] & 15, b["scales"] >> 4], axis=2).reshape(-1, 8) * 2.0 + 1.0
    return b["d"] * spread(scale, 32) * values * (1.0 - 2.0 * bits(b["signs"]))


def odd(scale):
    """Group scales s stand for 2 s + 1."""
    return 2.0 * scale.astype(float) + 1.0


def halves(bytes_):
    """(n, k) bytes to (n, 2 k): each one's low four bits, then its high ones."""
    return np.stack([bytes_ & 15, bytes_ >> 4], axis=2).reshape(len(bytes_), -1)


def seven_signs(packed):
    """Numbers of 7 bits to factors of eight weights, (..., 8): a set bit negates, the eighth makes it an even lot."""
    first = (packed[..., None] >> np.arange(7)) & 1
    return 1.0 - 2.0 * np.concatenate([first, first.sum(axis=-1, keepdims=True) & 1], axis=-1)


def signs_below_scales(words):
    """(n, 8) words of 32 bits: four times 7 bits of signs, which become (n, 256) factors, and (n, 8) scales of 4."""
    factors = seven_signs((words[..., None] >> np.array([0, 7, 14, 21])) & 127)
    return factors.reshape(len(words), 256), odd(words >> 28)


def iq2_xxs(b):
    factors, scale = signs_below_scales(b["groups"]["signs"])
    return b["d"] / 8 * spread(scale, 32) * factors * grids.IQ2_XXS[b["groups"]["index"]].reshape(-1, 256)


def iq2_xs(b):
    factors = seven_signs(b["q"] >> 9).reshape(-1, 256)
    return b["d"] / 8 * spread(odd(halves(b["scales"])), 16) * factors * grids.IQ2_XS[b["q"] & 511].reshape(-1, 256)


def iq2_s(b):
    high = np.stack([(b["high"] >> shift) & 3 for shift in (0, 2, 4, 6)], axis=2).reshape(-1, 32).astype(int)
    values = grids.IQ2_S[b["q"] | high << 8].reshape(-1, 256)
    return b["d"] / 8 * spread(odd(halves(b["scales"])), 16) * (1.0 - 2.0 * bits(b["signs"])) * values


def iq3_xxs(b):
    factors, scale = signs_below_scales(b["signs"])
    return b["d"] / 4 * spread(scale, 32) * factors * grids.IQ3_XXS[b["q"]].reshape(-1, 256)


def iq1_s(b):
    high = (b["high"][..., None] >> np.array([0, 3, 6, 9])) & 7
    values = grids.IQ1[b["q"] | high.reshape(-1, 32).astype(int) << 8].reshape(-1, 256)
    delta = np.where(b["high"] >> 15, -0.125, 0.125)
    return b["d"] * spread(odd(b["high"] >> 12 & 7), 32) * (values + spread(delta, 32))


def iq1_m(b):
    top = (b["scales"] >> 12).astype(int)
    d = (top << np.array([0, 4, 8, 12])).sum(axis=1).astype("<u2").view(HALF).astype(float)[:, None]
    scale = (b["scales"][..., None] >> np.array([0, 3, 6, 9])) & 7
    four = halves(b["high"])
    values = grids.IQ1[b["q"] | (four & 7).astype(int) << 8].reshape(-1, 256)
    delta = np.where(four & 8, -0.125, 0.125)
    return d * spread(odd(scale.reshape(-1, 16)), 16) * (values + spread(delta, 8))


def trits(bytes_, count):
    """(n, k) bytes to (n, count * k): a byte is a fraction of 256, rounded up; its digits to the base of 3, plane by
    plane."""
    planes = []
    for _ in range(count):
        bytes_ = bytes_.astype(int) * 3
        planes.append(bytes_ >> 8)
        bytes_ = bytes_ & 255
    return np.concatenate(planes, axis=1) - 1.0


def tq1_0(b):
    return b["d"] * np.concatenate([trits(b["q"][:, :32], 5), trits(b["q"][:, 32:], 5), trits(b["last"], 4)], axis=1)


def tq2_0(b):
    return b["d"] * (two_bits(b["q"]) - 1.0)


def nvfp4(b):
    exponent, fraction = (b["e"] >> 3 & 15).astype(int), (b["e"] & 7).astype(int)
    scale = np.where(exponent == 0, np.ldexp(fraction, -9), np.ldexp(8.0 + fraction, exponent - 10))
    scale = np.where(b["e"] == 127, 0.0, scale)  # the one code that is no number
    return spread(scale, 16) * MXFP4_VALUES[nibbles(b["q"].reshape(-1, 8))].reshape(-1, 64)


def mxfp4(b):
    return np.ldexp(1.0, b["e"].astype(int) - 127)[:, None] * MXFP4_VALUES[nibbles(b["q"])]


DEQUANTIZE = {"Q4_0": q4_0, "Q4_1": q4_1, "Q5_0": q5_0, "Q5_1": q5_1, "Q8_0": q8_0, "Q2_K": q2_k, "Q3_K": q3_k,
              "Q4_K": q4_k, "Q5_K": q5_k, "Q6_K": q6_k, "IQ4_NL": iq4_nl, "IQ4_XS": iq4_xs, "IQ3_S": iq3_s,
              "IQ2_XXS": iq2_xxs, "IQ2_XS": iq2_xs, "IQ2_S": iq2_s, "IQ3_XXS": iq3_xxs, "IQ1_S": iq1_s, "IQ1_M": iq1_m,
              "TQ1_0": tq1_0, "TQ2_0": tq2_0, "MXFP4": mxfp4, "NVFP4": nvfp4}


def dequantize(name, data):
    """The weights of a tensor's bytes, flat, float64."""
    blocks = np.frombuffer(data, TYPES[name].layout)
    if name == "BF16":
        return (blocks["x"].astype("<u4") << 16).view("<f4").astype(float)
    if name in ("F32", "F16"):
        return blocks["x"].astype(float)
    fields = {f: blocks[f] for f in blocks.dtype.names}
    for f in ("d", "m", "dmin"):
        if f in fields:
            fields[f] = fields[f].astype(float)[:, None]
    return DEQUANTIZE[name](fields).reshape(-1)


# ---- random blocks ----

MIDDLE = {"Q4_1": 7.5, "Q5_1": 15.5, "Q2_K": 1.5, "Q4_K": 7.5, "Q5_K": 15.5}  # of the values that have a minimum


def put_iq1_m_scale(blocks, d):
    """The half is spread over the top four bits of four words."""
    half = d.astype(HALF).view("<u2")
    top = np.stack([(half >> shift) & 15 for shift in (0, 4, 8, 12)], axis=1)
    blocks["scales"] = (blocks["scales"] & 0xfff) | top << 12


def random_blocks(name, count, std, rng):
    """Any valid blocks, all bits in use, whose weights have about this standard deviation."""
    if name in ("F32", "F16"):
        return (std * rng.standard_normal(count)).astype(TYPES[name].layout[0][1]).tobytes()
    if name == "BF16":
        return ((std * rng.standard_normal(count)).astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
    blocks = np.frombuffer(rng.bytes(bytes_of(name, count)), TYPES[name].layout).copy()
    if name == "MXFP4":  # values up to 6 with a standard deviation of about 2.9; powers of two around the one that fits
        blocks["e"] = 127 + np.round(np.log2(std / 2.9)) + rng.integers(-1, 2, len(blocks))
        return blocks.tobytes()
    if name == "NVFP4":  # a scale for each 16 weights: 8 steps to a power of two
        middle = np.clip(8 * (7 + np.round(np.log2(std / 2.9))), 8, 112)
        blocks["e"] = middle + rng.integers(-8, 9, blocks["e"].shape)
        return blocks.tobytes()
    size = rng.uniform(0.5, 1.5, len(blocks))
    sign = rng.choice([-1, 1], len(blocks))
    scale = 1.0
    for _ in range(2):  # first with d around 1, to see how wide the values are
        if name == "IQ1_M":
            put_iq1_m_scale(blocks, size * scale * sign)
        else:
            blocks["d"] = size * scale * (1 if name in MIDDLE else sign)
        if "m" in blocks.dtype.names:
            blocks["m"] = -MIDDLE[name] * size * scale
        if "dmin" in blocks.dtype.names:
            blocks["dmin"] = MIDDLE[name] * size * scale
        scale *= std / dequantize(name, blocks.tobytes()).std()
    return blocks.tobytes()
