"""Models with several residual streams, in float64 numpy. `decoder.py` calls them.

gemma3n      AltUp (arXiv 2301.13310): 4 streams X of dim values. X[0] = h0, the scaled embedding; X[a] = altup_proj[a - 1] @ h0,
             brought to h0's length. r(u) = tanh(altup_router @ rms_norm(u, altup_router_norm) / dim). A layer:
             P[a] = X[a] + sum over b of C[a][b] X[b], C = altup_predict_coef @ r(X[0]), row a * 4 + b.
             h = rms_norm(P[0], attn_norm); LAuReL (arXiv 2411.07501): l = h + rms_norm(laurel_r @ laurel_l @ h,
             laurel_post_norm). mid = (post norm of attention(h) + P[0] + l) / sqrt(2); new = mid + post norm of ffn.
             X[a] = P[a] + (new - P[0]) (1 + (altup_correct_coef @ r(new))[a]).
             The side branch reads X[0] * altup_correct_scale, and what it gives is added to X[1], X[2], X[3].
             At the end: mean of X[0] and altup_unembd_proj[a - 1] @ X[a], each brought to X[0]'s length.
             In the first 10 layers the gates of the ffn are max(gate - (mean + 1.6448533535 standard deviations), 0).
             Without attention.shared_kv_layers the first 20 layers have keys and values of their own.
"""
import numpy as np

SPARSE_LAYERS, SPARSE_DEVIATIONS = 10, 1.6448533535


def of(arch):
    return {"gemma3n": AltUp}.get(arch)


def even(like, x):
    """x at the length of `like`."""
    return x * np.sqrt((like * like).sum(axis=-1, keepdims=True) / (x * x).sum(axis=-1, keepdims=True))


def sparse(gate, p):
    """p: "blk.N." """
    if int(p.split(".")[1]) >= SPARSE_LAYERS:
        return gate
    return np.maximum(gate - gate.mean(axis=-1, keepdims=True) -
                      SPARSE_DEVIATIONS * gate.std(axis=-1, ddof=1, keepdims=True), 0)


class AltUp:
    """d: the decoder. Streams: (4, tokens, dim)"""

    @staticmethod
    def others(d, name):
        return [lambda x, part=part: d.product(x, name, part) for part in range(len(d.weight(name + ".weight")))]

    @staticmethod
    def start(d, h):
        return np.stack([h] + [even(h, project(h)) for project in AltUp.others(d, "altup_proj")])

    @staticmethod
    def end(d, streams):
        first = streams[0]
        back = AltUp.others(d, "altup_unembd_proj")
        return np.mean([first] + [even(first, project(x)) for project, x in zip(back, streams[1:])], axis=0)

    @staticmethod
    def route(d, x, p):
        return np.tanh(d.product(d.rms_norm(x, p + "altup_router_norm.weight") / d.dim, p + "altup_router"))

    @staticmethod
    def layer(d, streams, layer, positions, side):
        p = f"blk.{layer}."
        count = len(streams)
        mixed = (AltUp.route(d, streams[0], p) @ d.weight(p + "altup_predict_coef.weight").T).reshape(-1, count, count)
        streams = streams + np.einsum("tab,btd->atd", mixed, streams)
        active = streams[0]
        x = d.rms_norm(active, p + "attn_norm.weight")
        small = d.product(d.product(x, p + "laurel_l"), p + "laurel_r")
        laurel = x + d.rms_norm(small, p + "laurel_post_norm.weight")
        attended = d.rms_norm(d.attention(x, layer, positions), p + "post_attention_norm.weight")
        new = (attended + active + laurel) / np.sqrt(2)
        ffn = d.mlp(d.rms_norm(new, p + "ffn_norm.weight"), p, "")
        new = new + d.rms_norm(ffn, p + "post_ffw_norm.weight")
        share = 1 + AltUp.route(d, new, p) @ d.weight(p + "altup_correct_coef.weight").T
        streams = streams + (new - active) * share.T[:, :, None]
        added = d.side_branch(streams[0] * d.weight(p + "altup_correct_scale.weight"), side[:, layer], p)
        streams[1:] += added
        return streams
