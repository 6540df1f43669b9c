"""An independent reference of every decoder architecture the engine runs, in float64 numpy.

Slow and plain on purpose: it defines what the engine has to compute. `check_goldens.py` compares it with results from
elsewhere. What is worth knowing, by architecture (names as in GGUF files; dim = embedding_length, hd = key_length,
else dim / head_count):

all          h = token_embd[token]. A layer: h += attention(rms_norm(h, attn_norm)); h += ffn(rms_norm(h, ffn_norm)).
             logits = output @ rms_norm(h, output_norm); without output.weight the embedding is used again.
             Query head j reads key/value head j // (head_count / head_count_kv). Scores are scaled by 1/sqrt(hd).
             SwiGLU: down @ (silu(gate @ x) * (up @ x)). rms_norm(x, w) = x / sqrt(mean(x^2) + epsilon) * w.
llama,       rotate neighbours (2i, 2i + 1) - the converter has permuted the rows of attn_q and attn_k for it.
mistral3     rope_freqs.weight (Llama 3.1 on): the angle of pair i is divided by its entry i.
mistral3     YaRN (below), with rope.scaling.yarn_log_multiplier m: the factor of cosine and sine is then
             (1 + 0.1 ln f) / (1 + 0.1 m ln f), so 1 for the usual m = 1. After the rotation the query is scaled by
             1 + attention.temperature_scale * log(1 + floor(position / rope.scaling.original_context_length)).
all others   rotate halves (i, i + rotated / 2), "NeoX" order.
qwen2        attn_q, attn_k, attn_v have a bias.
qwen3,       rms_norm of each head of q and k by attn_q_norm, attn_k_norm (hd entries each), before the rotation.
qwen3moe     Router: softmax over all experts, the expert_used_count best, their weights divided by their sum.
gemma2,      the embedding is scaled by sqrt(dim); norm weights already contain the "+ 1"; GELU (tanh form) in place of
gemma3       SiLU; rms_norm by post_attention_norm and post_ffw_norm of what attention and ffn give, before it is added.
gemma2       scores s become c * tanh(s / c) with attn_logit_softcapping, after scaling and before the mask; logits the
             same with final_logit_softcapping. Even layers (0, 2 ..) have the sliding window. The 27B model (46 layers)
             scales scores by 1/sqrt(dim / head_count).
gemma3       q and k norm as qwen3. Layers 0-4 of each six have the window and rotate with base 10000 and no scaling;
             the sixth is global with rope.freq_base and rope.scaling. 27B (62 layers): scores as gemma2's 27B.
             (Newer files may name the period and the local base: attention.sliding_window_pattern, rope.freq_base_swa.)
phi3         attn_qkv holds the rows of q, k, v in this order; ffn_up those of gate, then up. rope_factors_long or
             _short divide the angles: long where the context in use (not the position) is more than
             rope.scaling.original_context_length. rope.scaling.attn_factor multiplies cosine and sine, always.
             attention.sliding_window is not obeyed: converters write it for models that have none, so llama.cpp
             ignores it as well.
gpt-oss      biases everywhere (attn_q, _k, _v, _output, router, experts); YaRN; even layers have the window;
             attn_sinks: exp(sink of the head) joins the softmax's denominator; the ffn's norm is called
             post_attention_norm. Router: the expert_used_count largest logits, softmax over those alone.
             Experts: g = min(gate, 7), u = clamp(up, -7, 7), g * sigmoid(1.702 * g) * (u + 1).

rope.scaling.type: absent means linear where there is a rope.scaling.factor: angle / f.
Sliding window of n (gemma2, gemma3 and gpt-oss only): a token attends to itself and the n - 1 before it.
YaRN: with f = rope.scaling.factor, theta_i = base^(-2i / rotated), and the ramp
r_i = 1 - clamp((i - low) / max(0.001, high - low), 0, 1), low = max(0, floor(c(yarn_beta_fast, else 32))),
high = min(rotated - 1, ceil(c(yarn_beta_slow, else 1))),
c(turns) = rotated * ln(original / (2 pi turns)) / (2 ln base):
angle = position * theta_i * (r_i + (1 - r_i) / f), and cosine and sine are multiplied by 1 + 0.1 ln f.
Window layers of gpt-oss rotate as the others do.

llama.cpp's GELU is a table of f16 values of f16 arguments: goldens of gemma2 and gemma3 made with it are 3e-4 away from
this exact one (5e-5 to 1e-4 when the table is imitated; the rest is float32 arguments that fall on the other side of an
entry's edge). The engine computes GELU in float32.
"""
import numpy as np

ROTATES_NEIGHBOURS = {"llama", "mistral3"}


class Exact:
    """How the engine's roundings are imitated: here, not at all."""

    def activations(self, x, weight_type):
        return x

    def cache(self, x):
        return x


class Rounded(Exact):
    """Keys and values as kv_type, and in products with quantised weights 8 bits a value, one scale for 32 of a row."""

    def __init__(self, kv_type="f16"):
        self.kv_type = kv_type

    @staticmethod
    def eight_bits(x, group):
        blocks = x.reshape(*x.shape[:-1], -1, group)
        scale = np.abs(blocks).max(axis=-1, keepdims=True) / 127.0
        return (np.rint(blocks / np.where(scale > 0, scale, 1)) * scale).reshape(x.shape)

    def activations(self, x, weight_type):
        return x if weight_type in ("F32", "F16", "BF16") else self.eight_bits(x, 32)

    def cache(self, x):
        """x: (tokens, heads, hd)"""
        if self.kv_type == "f16":
            return x.astype("<f2").astype(float)
        return self.eight_bits(x, x.shape[-1]) if self.kv_type == "q8_0" else x


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def silu(x):
    return x / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


class Decoder:
    def __init__(self, gguf, context=None, numerics=Exact()):
        """context: the length the conversation was opened with; only phi3's long-rope factors depend on it."""
        self.meta, self.tensors, self.numerics = gguf.metadata, gguf.tensors, numerics
        self.arch = self.meta["general.architecture"]
        self.layer_count = self.key("block_count")
        self.dim = self.key("embedding_length")
        self.heads = self.key("attention.head_count")
        self.kv_heads = self.key("attention.head_count_kv", self.heads)
        self.hd = self.key("attention.key_length", self.dim // self.heads)
        self.context = context or self.key("context_length")
        self.original = self.key("rope.scaling.original_context_length", self.key("context_length"))
        self.epsilon = self.key("attention.layer_norm_rms_epsilon")
        self.values = {}
        self.router_margin = np.inf  # how close an expert that was not chosen came to one that was

    def key(self, name, *default):
        return self.meta.get(f"{self.arch}.{name}", *default) if default else self.meta[f"{self.arch}.{name}"]

    def weight(self, name):
        if name not in self.values:
            self.values[name] = self.tensors[name].values() * self.scale_of(name)
        return self.values[name]

    def scale_of(self, name):
        """NVFP4 weights come with a factor: one for a matrix, or one for each of a stack."""
        if self.tensors[name].type != "NVFP4" or name.replace(".weight", ".scale") not in self.tensors:
            return 1.0
        scale = self.tensors[name.replace(".weight", ".scale")].values()
        return scale.reshape(-1, 1, 1) if self.tensors[name].values().ndim == 3 else scale

    def maybe(self, name, otherwise):
        return self.weight(name) if name in self.tensors else otherwise

    def product(self, x, name, part=slice(None)):
        """x @ weight.T, with the bias if there is one; part selects rows of a fused weight, or an expert."""
        x = self.numerics.activations(x, self.tensors[name + ".weight"].type)
        return x @ self.weight(name + ".weight")[part].T + self.maybe(name + ".bias", np.zeros(1))[
            part if name + ".bias" in self.tensors else slice(None)]

    def rms_norm(self, x, name):
        return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + self.epsilon) * self.weight(name)

    # ---- positions ----

    def window(self, layer):
        """Tokens a layer looks back on, itself included; None: all."""
        size = self.key("attention.sliding_window", None)
        if self.arch in ("gemma2", "gpt-oss"):
            return size if layer % 2 == 0 else None
        if self.arch == "gemma3":
            return size if layer % 6 != 5 else None
        return None

    def rotation(self, positions, layer):
        """Cosines and sines, (tokens, rotated / 2)."""
        rotated = self.key("rope.dimension_count", self.hd)
        local = self.arch == "gemma3" and self.window(layer) is not None
        base = 10000.0 if local else self.key("rope.freq_base", 10000.0)
        pair = np.arange(rotated // 2)
        theta = base ** (-2.0 * pair / rotated)
        scaling = "none" if local else self.key("rope.scaling.type", "linear")
        factor = self.key("rope.scaling.factor", 1.0)
        size = self.key("rope.scaling.attn_factor", 1.0)
        theta = theta / self.maybe("rope_freqs.weight", 1.0)
        if "rope_factors_long.weight" in self.tensors:
            length = "long" if self.context > self.original else "short"
            theta = theta / self.weight(f"rope_factors_{length}.weight")
        if scaling == "linear":
            theta = theta / factor
        if scaling == "yarn":
            at = lambda turns: rotated * np.log(self.original / (turns * 2 * np.pi)) / (2 * np.log(base))
            low = max(0, np.floor(at(self.key("rope.scaling.yarn_beta_fast", 32.0))))
            high = min(rotated - 1, np.ceil(at(self.key("rope.scaling.yarn_beta_slow", 1.0))))
            ramp = 1 - np.clip((pair - low) / max(0.001, high - low), 0, 1)
            theta = theta * (ramp + (1 - ramp) / factor)
            log = self.key("rope.scaling.yarn_log_multiplier", 0.0)
            size *= (1 + 0.1 * np.log(factor)) / (1 + 0.1 * log * np.log(factor))
        angle = positions[:, None] * theta
        return np.cos(angle) * size, np.sin(angle) * size

    def rotate(self, x, cosine, sine):
        """x: (tokens, heads, hd)"""
        half = cosine.shape[1]
        cosine, sine = cosine[:, None], sine[:, None]
        out = x.copy()
        neighbours = self.arch in ROTATES_NEIGHBOURS
        first, second = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if neighbours else (
            slice(0, half), slice(half, 2 * half))
        a, b = x[..., first], x[..., second]
        out[..., first] = a * cosine - b * sine
        out[..., second] = a * sine + b * cosine
        return out

    # ---- the layer ----

    def queries_keys_values(self, x, p):
        q_dim, kv_dim = self.heads * self.hd, self.kv_heads * self.hd
        if p + "attn_qkv.weight" in self.tensors:
            rows = np.split(np.arange(q_dim + 2 * kv_dim), [q_dim, q_dim + kv_dim])
            q, k, v = (self.product(x, p + "attn_qkv", r) for r in rows)
        else:
            q, k, v = (self.product(x, p + "attn_" + n) for n in "qkv")
        q, k, v = (y.reshape(len(x), -1, self.hd) for y in (q, k, v))
        if p + "attn_q_norm.weight" in self.tensors:
            q, k = self.rms_norm(q, p + "attn_q_norm.weight"), self.rms_norm(k, p + "attn_k_norm.weight")
        return q, k, v

    def score_scale(self):
        large = {"gemma2": 46, "gemma3": 62}.get(self.arch) == self.layer_count
        return (self.dim / self.heads if large else self.hd) ** -0.5

    def attention(self, x, layer, positions):
        p = f"blk.{layer}."
        q, k, v = self.queries_keys_values(x, p)
        turn = self.rotation(positions, layer)
        q, k = self.rotate(q, *turn), self.rotate(k, *turn)
        temperature = self.key("attention.temperature_scale", 0.0)
        if temperature:
            q = q * (1 + temperature * np.log(1 + np.floor(positions / self.original)))[:, None, None]
        k, v = self.numerics.cache(k), self.numerics.cache(v)
        group = self.heads // self.kv_heads
        scores = np.einsum("ihd,jhd->hij", q, np.repeat(k, group, axis=1)) * self.score_scale()
        cap = self.key("attn_logit_softcapping", 0.0)
        if cap:
            scores = cap * np.tanh(scores / cap)
        back = positions[:, None] - positions[None, :]
        window = self.window(layer)
        seen = (back >= 0) & (back < (window or len(x)))
        scores = np.where(seen, scores, -np.inf)
        if p + "attn_sinks.weight" in self.tensors:
            sinks = np.broadcast_to(self.weight(p + "attn_sinks.weight")[:, None, None], scores.shape[:2] + (1,))
            shares = softmax(np.concatenate([scores, sinks], axis=2))[..., :-1]
        else:
            shares = softmax(scores)
        mixed = np.einsum("hij,jhd->ihd", shares, np.repeat(v, group, axis=1))
        return self.product(mixed.reshape(len(x), -1), p + "attn_output")

    def activate(self, gate, up):
        if self.arch == "gpt-oss":
            gate, up = np.minimum(gate, 7.0), np.clip(up, -7.0, 7.0)
            return gate / (1 + np.exp(-1.702 * gate)) * (up + 1)
        return (gelu if self.arch in ("gemma2", "gemma3") else silu)(gate) * up

    def feed_forward(self, x, p):
        if p + "ffn_gate_inp.weight" in self.tensors:
            return self.experts(x, p)
        if p + "ffn_gate.weight" in self.tensors:
            gate, up = self.product(x, p + "ffn_gate"), self.product(x, p + "ffn_up")
        else:
            gate, up = np.split(self.product(x, p + "ffn_up"), 2, axis=1)
        return self.product(self.activate(gate, up), p + "ffn_down")

    def experts(self, x, p):
        logits = self.product(x, p + "ffn_gate_inp")
        used = self.key("expert_used_count")
        out = np.zeros_like(x)
        for i, row in enumerate(logits):
            order = np.argsort(-row, kind="stable")
            chosen = order[:used]
            self.router_margin = min(self.router_margin, row[order[used - 1]] - row[order[used]])
            for expert, share in zip(chosen, softmax(row[chosen])):  # qwen3moe's shares come to the same
                gate, up = (self.product(x[i], p + f"ffn_{n}_exps", expert) for n in ("gate", "up"))
                out[i] += share * self.product(self.activate(gate, up), p + "ffn_down_exps", expert)
        return out

    def layer(self, h, layer, positions):
        p = f"blk.{layer}."
        gemma = self.arch in ("gemma2", "gemma3")
        x = self.attention(self.rms_norm(h, p + "attn_norm.weight"), layer, positions)
        h = h + (self.rms_norm(x, p + "post_attention_norm.weight") if gemma else x)
        norm = "post_attention_norm" if self.arch == "gpt-oss" else "ffn_norm"
        x = self.feed_forward(self.rms_norm(h, p + norm + ".weight"), p)
        return h + (self.rms_norm(x, p + "post_ffw_norm.weight") if gemma else x)

    def logits(self, tokens):
        """(tokens, vocabulary)"""
        positions = np.arange(len(tokens))
        h = self.weight("token_embd.weight")[tokens]
        if self.arch in ("gemma2", "gemma3"):
            h = h * np.sqrt(self.dim)
        for layer in range(self.layer_count):
            h = self.layer(h, layer, positions)
        h = self.rms_norm(h, "output_norm.weight")
        out = self.product(h, "output" if "output.weight" in self.tensors else "token_embd")
        cap = self.key("final_logit_softcapping", 0.0)
        return cap * np.tanh(out / cap) if cap else out

    def greedy(self, tokens, count):
        """The ids that follow, and the logits each was the largest of."""
        tokens, rows = list(tokens), []
        for _ in range(count):
            rows.append(self.logits(tokens)[-1])
            tokens.append(int(rows[-1].argmax()))
        return tokens[-count:], np.array(rows)


def gaps(rows):
    """How far the two best logits are apart, in units of the row's RMS."""
    best = np.sort(rows, axis=-1)
    return (best[:, -1] - best[:, -2]) / np.sqrt((rows * rows).mean(axis=-1))
