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
qwen4exp     Hyper-connections (arXiv 2409.19606): hyper_connection.count = n streams X, each the embedding at the start. A part
             (mixer: hc_attn_*, ffn: hc_ffn_*) reads of f = rms_norm of each stream by its part of *_norm, (n dim):
             g = sigmoid(*_up @ silu(*_down @ f / n)), the mean of f g over the streams, and
             X[s] += 2 sigmoid((*_inject @ f / n)[s]) out. The same mixture by output_hc_* is what `output` multiplies.
             The layers of ple.layers add n-grams before: for lengths j = 2 .. ple.ngram_size and heads g < heads_per_ngram the
             row (hash mod head_vocab_sizes[i]) + head_offsets[i], i = (j - 2) heads_per_ngram + g, of
             per_layer_token_embd, hash = XOR over s < j of token[t - s] * layer_multipliers[s] (64 bits); tokens at or
             before an end (ple.eos_token_id), and before the first, count as ends. e: these rows. For each stream
             k = rms_norm(ple_key @ e) ple_norm_key, q = rms_norm(X) ple_norm_query, c = k . q / sqrt(dim),
             y = sigmoid(sign(c) sqrt(max(|c|, 1e-6))) (ple_value @ e);
             X += y + silu(conv(rms_norm(y) ple_norm_conv)), a causal convolution with its taps ngram_size tokens apart.
"""
import numpy as np

from recurrent import convolve, sigmoid, silu

SPARSE_LAYERS, SPARSE_DEVIATIONS = 10, 1.6448533535


def of(arch):
    return {"gemma3n": AltUp, "qwen4exp": HyperConnections}.get(arch)


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


class HyperConnections:
    """d: the decoder. Streams: (tokens, streams, dim)"""

    @staticmethod
    def start(d, h):
        return np.repeat(h[:, None], d.key("hyper_connection.count"), axis=1)

    @staticmethod
    def end(d, streams):
        return HyperConnections.mix(d, streams, "output_hc")[0]

    @staticmethod
    def norm(d, x, name):
        """The norm of each stream by itself."""
        return d.rms_norm(x) * d.weight(name + ".weight").reshape(x.shape[1:])

    @staticmethod
    def mix(d, streams, name):
        """What a part reads, and the normed streams in a row."""
        f = HyperConnections.norm(d, streams, name + "_norm")
        flat = f.reshape(len(f), -1)
        gate = sigmoid(d.product(silu(d.product(flat, name + "_down") / f.shape[1]), name + "_up"))
        return (f * gate.reshape(f.shape)).mean(axis=1), flat

    @staticmethod
    def part(d, streams, name, compute):
        read, flat = HyperConnections.mix(d, streams, name)
        share = 2 * sigmoid(d.product(flat, name + "_inject") / streams.shape[1])
        return streams + share[:, :, None] * compute(read)[:, None]

    @staticmethod
    def ngrams(d):
        """(tokens, values)"""
        numbers = lambda name: [d.key("ple." + name)] if not isinstance(d.key("ple." + name), list) else d.key("ple." + name)
        ends, factors = numbers("eos_token_id"), [np.uint64(m) for m in numbers("layer_multipliers")]
        sizes, offsets, heads = numbers("head_vocab_sizes"), numbers("head_offsets"), d.key("ple.heads_per_ngram")
        table = d.weight("per_layer_token_embd.weight")
        rows = []
        for t in range(len(d.tokens)):
            ids, ended = [], False
            for back in range(len(factors)):
                ended = ended or back > t or d.tokens[t - back] in ends
                ids.append(ends[0] if ended else d.tokens[t - back])
            row = []
            for length in range(2, len(ids) + 1):
                with np.errstate(over="ignore"):
                    products = [np.uint64(i) * m for i, m in zip(ids[:length], factors)]
                hashed = int(np.bitwise_xor.reduce(products))
                for i in range((length - 2) * heads, (length - 1) * heads):
                    row.append(table[hashed % sizes[i] + offsets[i]])
            rows.append(np.concatenate(row))
        return np.array(rows)

    @staticmethod
    def add_ngrams(d, streams, p):
        e = HyperConnections.ngrams(d)
        norm = lambda x, name: HyperConnections.norm(d, x.reshape(streams.shape), p + name)
        score = (norm(d.product(e, p + "ple_key"), "ple_norm_key") * norm(streams, "ple_norm_query")).sum(axis=-1) / np.sqrt(d.dim)
        gate = sigmoid(np.sign(score) * np.sqrt(np.maximum(np.abs(score), 1e-6)))
        y = gate[:, :, None] * d.product(e, p + "ple_value")[:, None]
        taps, apart = d.weight(p + "ple_conv1d.weight"), d.key("ple.ngram_size")
        spread = np.zeros((len(taps), (taps.shape[1] - 1) * apart + 1))
        spread[:, ::apart] = taps
        return streams + y + silu(convolve(norm(y, "ple_norm_conv").reshape(len(y), -1), spread)).reshape(y.shape)

    @staticmethod
    def layer(d, streams, layer, positions, side):
        p = f"blk.{layer}."
        if p + "ple_key.weight" in d.tensors:
            streams = HyperConnections.add_ngrams(d, streams, p)
        mixed = lambda x: sum(d.mixers(x, p, layer, positions))
        streams = HyperConnections.part(d, streams, p + "hc_attn", mixed)
        return HyperConnections.part(d, streams, p + "hc_ffn", lambda x: d.feed_forward(x, x, p))
