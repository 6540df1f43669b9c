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
llama        attn_q, attn_k, attn_v and ffn_gate, ffn_up, ffn_down have a bias where the file has one.
internlm2    as llama.
arcee        as llama, with feed-forwards as nemotron_h's.
deci         as llama; a layer with no heads is a feed-forward alone, one with heads and no KV heads has attn_output @ x in place
             of attention, and one with no feed_forward_length has no feed-forward.
minicpm      as granite; where the file does not say them the factors are 12, 1.4 / sqrt(layers) and dim / 256.
gemma        as gemma2, without windows, soft caps and post norms.
qwen2,       attn_q, attn_k, attn_v have a bias.
qwen2vl
qwen2moe     as qwen2, with a shared expert that is weighed.
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
gemma4       as gemma3, and: attention.sliding_window_pattern has a flag for each layer, true for those with the window;
             these have heads of attention.key_length_swa and value_length_swa, rope.dimension_count_swa and base
             rope.freq_base_swa; rope_freqs is for the others alone. Scores are not scaled. Each head of v is divided by
             its RMS; where attn_v is missing, v is what attn_k gives, before its norm and rotation.
             The last attention.shared_kv_layers layers have no keys and values of their own: they read those of the
             last layer before them of their kind. The layer's output is multiplied by layer_output_scale.
             With experts there is a dense part, too: ffn = rms_norm(dense(rms_norm(h, ffn_norm)), post_ffw_norm_1) +
             rms_norm(experts(rms_norm(h, pre_ffw_norm_2)), post_ffw_norm_2), then post_ffw_norm. The router reads
             rms(h) * ffn_gate_inp.scale / sqrt(dim); ffn_gate_up_exps holds the rows of gate, then up; what expert e
             gives is multiplied by ffn_down_exps.scale[e].
             With embedding_length_per_layer_input n each layer gets n values of each token,
             side = (rms_norm(per_layer_model_proj @ h0 / sqrt(dim), per_layer_proj_norm) + sqrt(n) *
             per_layer_token_embd[token]) / sqrt(2), h0 the scaled embedding, and after its ffn
             h += rms_norm(proj @ (gelu(inp_gate @ h) * side), post_norm).
gemma3n      as gemma4 with inputs for each layer; heads are of one length; the rest is in streams.py.
qwen4exp     as qwen35moe, but the norms before mixer and ffn, and at the end, which are in streams.py; the delta net's
             output times sigmoid, not SiLU, of attn_gate @ x. Attention is computed up to attention.indexer.top_k tokens.
phi3         attn_qkv holds the rows of q, k, v in this order; ffn_up those of gate, then up. rope_factors_long or
             _short divide the angles: long where the context in use (not the position) is more than
             rope.scaling.original_context_length. rope.scaling.attn_factor multiplies cosine and sine, always.
             attention.sliding_window is not obeyed: converters write it for models that have none, so llama.cpp
             ignores it as well.
gpt-oss      biases everywhere (attn_q, _k, _v, _output, router, experts); YaRN; even layers have the window;
             attn_sinks: exp(sink of the head) joins the softmax's denominator; the ffn's norm is called
             post_attention_norm. Router: the expert_used_count largest logits, softmax over those alone.
             Experts: g = min(gate, 7), u = clamp(up, -7, 7), g * sigmoid(1.702 * g) * (u + 1).

qwen3vl,     (their text part) as qwen3, qwen3moe.
qwen3vlmoe
smollm3      rotates neighbours; every fourth layer (3, 7 ..) rotates nothing.
ernie4_5,    rotate neighbours.
ernie4_5-moe
seed_oss     biases of q, k, v; the ffn's norm is called post_attention_norm.
hunyuan-     q and k norm of each head after the rotation.
dense, -moe
glm4         rotates neighbours, or halves where rope.dimension_sections has a first and a second entry: pairs then turn by
             time, height or width, which of text are the same (M-RoPE); post norms as gemma's; ffn_up holds gate, then up.
glm4moe      the ffn's norm is called post_attention_norm; router scores are sigmoids.
chatglm      as glm4, without post norms.
dots1,       q and k norm as qwen3; router scores are sigmoids. bailingmoe2 may have groups, as deepseek2 (latent.py).
bailingmoe2
bailingmoe,  rotate neighbours.
deepseek
minimax-m2   q and k norm of the whole row before it is split into heads; router scores are sigmoids.
deepseek2,   latent attention: latent.py.
mistral4
olmo2        q and k norm as minimax-m2; no norms before attention and ffn, post norms as gemma's. With a window (OLMo 3)
             of each four layers the first three have it and rotate without scaling.
olmoe        q and k norm as minimax-m2.
exaone       as llama, but rotates halves.
exaone4      q and k norm as qwen3; norms as olmo2. With windows (three of four layers) the others rotate nothing.
exaone-moe   as exaone4, with norms before attention and ffn instead; router scores are sigmoids.
afmoe        as exaone-moe with attention's gate as muse-glimmer, post norms as gemma's, and the embedding times sqrt(dim).
mellum       as qwen3moe; with a window as olmo2's.
granite,     rotate neighbours, unless rope.scaling.finetuned is false. The embedding times embedding_scale; what attention
granitemoe   and ffn give times residual_scale; scores times attention.scale; logits divided by logit_scale.
command-r    as cohere2, with all layers full and rotated. Command R+ has attn_q_norm and attn_k_norm, (heads, hd): LayerNorm of
             each head of q and k with weights of its own, before the rotation.
cohere2      rotates neighbours in window layers (three of four) alone. LayerNorm (the mean is taken off) without bias, by
             attention.layer_norm_epsilon; h += attention(x) + ffn(x) of the same x. Logits times logit_scale.
muse-        rotates neighbours in window layers (three of four) alone. The embedding is divided by its rms. Attention's
glimmer      result times sigmoid(attn_gate @ x); post norms as gemma's with epsilon 1e-8; logits times logit_scale, then
             final_logit_softcapping.
llama4       three of four layers rotate neighbours, then norm heads of q and k without weights (not with 128 experts), and
             see the tokens since the last multiple of 8192 (attention.sliding_window) only. The fourth rotates nothing,
             and its queries are times 1 + 0.1 * log(1 + floor((position + 1) / 8192)). Router scores are sigmoids, and
             an expert's *input* is multiplied by its score.

Experts in general: scores are the softmax of the router's logits, or sigmoids (expert_gating_func 2). The
expert_used_count with the largest score + exp_probs_b.bias are chosen; their weights are their scores, divided by max(their
sum, 2^-14) unless expert_weights_norm is false (llama4: never; deepseek, qwen2moe, olmoe and bailingmoe: where the file says
true), times expert_weights_scale. ffn_*_shexp is an expert that all tokens share, times sigmoid(ffn_gate_inp_shexp . x) where
there is such a vector. ffn_gate_up_exps holds the rows of gate, then up. A layer
without router has a plain ffn. The last nextn_predict_layers blocks are run by mtp() alone.
nemotron_h has no gates: down @ max(up @ x, 0)^2, in experts and the shared one, too. With moe_latent_size experts read
ffn_latent_down @ x, and what they give together goes through ffn_latent_up; router and shared expert read x itself.

rope.scaling.type: absent means linear where there is a rope.scaling.factor: angle / f.
Sliding window of n (architectures of WINDOW_PERIOD only): a token attends to itself and the n - 1 before it.
A rope.scaling.attn_factor that is 1 + 0.1 ln f is all of YaRN's factor, not one besides.
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

import latent
from latent import without_lesser_groups
import recurrent
import streams

ROTATES_NEIGHBOURS = {"llama", "mistral3", "smollm3", "ernie4_5", "ernie4_5-moe", "glm4", "granite", "granitemoe", "granitehybrid",
                      "cohere2", "muse-glimmer", "llama4", "deepseek2", "mistral4", "arcee", "deci", "minicpm", "chatglm", "command-r",
                      "deepseek"}
GEMMAS = {"gemma", "gemma2", "gemma3", "gemma3n", "gemma4"}
WINDOW_PERIOD = {"gemma2": 2, "gpt-oss": 2, "gemma3": 6, "gemma3n": 5, "gemma4": 6, "olmo2": 4, "cohere2": 4, "muse-glimmer": 4, "llama4": 4,
                 "exaone4": 4, "afmoe": 4, "mellum": 4}
ROTATES_IN_WINDOWS = {"cohere2", "muse-glimmer", "llama4", "exaone4", "afmoe"}
SCALES_IN_FULL_LAYERS = {"olmo2", "mellum"}
POST_NORMS = {"gemma2", "gemma3", "gemma3n", "gemma4", "glm4", "olmo2", "muse-glimmer", "exaone4", "afmoe"}
NO_INPUT_NORMS = {"olmo2", "exaone4"}
LAYER_NORMS = {"cohere2", "command-r"}
FFN_NORM = {"nemotron_h": "attn_norm", "nemotron_h_moe": "attn_norm", "qwen35": "post_attention_norm", "qwen35moe": "post_attention_norm",
            "qwen3next": "post_attention_norm", "gpt-oss": "post_attention_norm", "seed_oss": "post_attention_norm", "glm4moe": "post_attention_norm",
            "olmo2": None, "exaone4": None}
NORMS_AFTER_ROTATION = {"hunyuan-dense", "hunyuan-moe", "llama4"}
NORMS_WHOLE_ROWS = {"minimax-m2", "olmo2", "olmoe"}
GATES_BESIDE_QUERIES = {"qwen35", "qwen35moe", "qwen3next", "qwen4exp"}
SIGMOID_SCORES = {"nemotron_h_moe", "lfm2moe", "glm4moe", "minimax-m2", "llama4", "bailingmoe2", "afmoe"}
WEIGHTS_AS_SCORED = {"deepseek2", "deepseek", "qwen2moe", "olmoe"}
NO_GATES = {"nemotron_h", "nemotron_h_moe", "arcee"}


class Exact:
    """Rounds nothing. Rounded imitates the engine's roundings."""

    def activations(self, x, weight_type):
        return x

    def cache(self, x):
        return x


class Rounded(Exact):
    """Rounds keys and values to kv_type, and what quantised weights multiply to 8 bits, one scale for 32 of a row."""

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
        self.layer_count = self.key("block_count") - self.key("nextn_predict_layers", 0)
        self.dim = self.key("embedding_length")
        self.heads = int(np.max(self.key("attention.head_count")))  # layers that do not attend have 0
        self.hd = self.key("attention.key_length", self.dim // self.heads)
        self.context = context or self.key("context_length")
        self.original = self.key("rope.scaling.original_context_length", self.key("context_length"))
        self.epsilon = self.key("attention.layer_norm_rms_epsilon", self.key("attention.layer_norm_epsilon", None))
        self.values = {}
        self.kept = {}  # keys and values by layer
        self.router_margin = np.inf  # how close an expert that was not chosen came to one that was

    def key(self, name, *default):
        return self.meta.get(f"{self.arch}.{name}", *default) if default else self.meta[f"{self.arch}.{name}"]

    def weight(self, name):
        if name not in self.values:
            self.values[name] = self.tensors[name].values() * self.scale_of(name)
        return self.values[name]

    # ---- what may differ from layer to layer ----

    def kv_heads(self, layer):
        heads = self.key("attention.head_count_kv", self.heads)
        return heads[layer] if isinstance(heads, (list, tuple)) else heads

    def sliding_key(self, name, layer, otherwise):
        return self.key(name + ("_swa" if self.window(layer) is not None else ""), otherwise)

    def is_latent(self):
        return self.key("attention.kv_lora_rank", 0) > 0

    def key_length(self, layer):
        return self.sliding_key("attention.key_length", layer, self.hd)

    def kv_source(self, layer):
        """The layer whose keys and values this layer reads; mostly itself."""
        shared = max(0, self.layer_count - 20) if self.arch == "gemma3n" else 0
        first = self.layer_count - self.key("attention.shared_kv_layers", shared)
        if layer < first or layer >= self.layer_count:
            return layer
        slides = self.window(layer) is not None
        return max(l for l in range(first) if (self.window(l) is not None) == slides)

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

    def rms_norm(self, x, name=None, epsilon=None):
        weight = self.weight(name) if name else 1.0
        return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + (epsilon or self.epsilon)) * weight

    def norm(self, x, name):
        """The norm of the residual stream, and of heads: RMSNorm, or LayerNorm in some architectures."""
        return self.rms_norm(x - x.mean(axis=-1, keepdims=True) if self.arch in LAYER_NORMS else x, name)

    # ---- positions ----

    def window(self, layer):
        """Tokens a layer looks back on, itself included; None: all."""
        size = self.key("attention.sliding_window", 8192 if self.arch == "llama4" else 0)
        pattern = self.key("attention.sliding_window_pattern", WINDOW_PERIOD.get(self.arch, 0))
        if not size or self.arch not in WINDOW_PERIOD:
            return None
        slides = pattern[layer] if isinstance(pattern, list) else pattern and layer % pattern < pattern - 1
        return size if slides else None

    def rotates(self, layer):
        if self.arch.startswith("nemotron_h"):
            return False
        if self.arch in ROTATES_IN_WINDOWS:
            return self.window(layer) is not None or all(self.window(l) is None for l in range(self.layer_count))
        if self.arch == "smollm3":
            return layer % 4 != 3
        return self.arch not in ("granite", "granitemoe") or self.key("rope.scaling.finetuned", True)

    def rotation(self, positions, layer):
        """Cosines and sines, (tokens, rotated / 2)."""
        rotated = self.sliding_key("rope.dimension_count", layer, self.key_length(layer))
        local = self.arch in {"gemma3", "gemma3n", "gemma4"} | SCALES_IN_FULL_LAYERS and self.window(layer) is not None
        based = local and self.arch not in SCALES_IN_FULL_LAYERS
        base = self.key("rope.freq_base_swa", 10000.0) if based else self.key("rope.freq_base", 10000.0)
        pair = np.arange(rotated // 2)
        theta = base ** (-2.0 * pair / rotated)
        scaling = "none" if local else self.key("rope.scaling.type", "linear")
        factor = self.key("rope.scaling.factor", 1.0)
        size = self.key("rope.scaling.attn_factor", 1.0)
        theta = theta / (1.0 if local else self.maybe("rope_freqs.weight", 1.0))
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
            said = abs(size - (1 + 0.1 * np.log(factor))) < 1e-4
            size *= 1.0 if said or self.is_latent() else (1 + 0.1 * np.log(factor)) / (1 + 0.1 * log * np.log(factor))
        angle = positions[:, None] * theta
        return np.cos(angle) * size, np.sin(angle) * size

    def rotate(self, x, cosine, sine):
        """x: (tokens, heads, hd)"""
        half = cosine.shape[1]
        cosine, sine = cosine[:, None], sine[:, None]
        out = x.copy()
        in_sections = self.arch == "glm4" and all(self.key("rope.dimension_sections", (0, 0))[:2])
        neighbours = self.arch in ROTATES_NEIGHBOURS and not in_sections
        first, second = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if neighbours else (
            slice(0, half), slice(half, 2 * half))
        a, b = x[..., first], x[..., second]
        out[..., first] = a * cosine - b * sine
        out[..., second] = a * sine + b * cosine
        return out

    # ---- the layer ----

    def queries_beside_gates(self, x, layer):
        """(tokens, heads, 2, hd)"""
        p, hd = f"blk.{layer}.", self.key_length(layer)
        rows = np.arange(2 * self.heads * hd)
        q = self.product(x, p + "attn_qkv", rows) if p + "attn_qkv.weight" in self.tensors else self.product(x, p + "attn_q")
        return q.reshape(len(x), -1, 2, hd)

    def queries_keys_values(self, x, layer):
        """(tokens, heads, hd) each; keys and values are None where the layer reads another one's."""
        p, hd = f"blk.{layer}.", self.key_length(layer)
        q_dim, kv_dim = self.heads * hd, self.kv_heads(layer) * hd
        if self.arch in GATES_BESIDE_QUERIES:
            q = self.queries_beside_gates(x, layer)[:, :, 0].reshape(len(x), -1)
            if p + "attn_qkv.weight" in self.tensors:
                k, v = (self.product(x, p + "attn_qkv", 2 * q_dim + np.arange(n * kv_dim, (n + 1) * kv_dim)) for n in (0, 1))
            else:
                k, v = (self.product(x, p + "attn_" + n) for n in "kv")
        elif p + "attn_qkv.weight" in self.tensors:
            rows = np.split(np.arange(q_dim + 2 * kv_dim), [q_dim, q_dim + kv_dim])
            q, k, v = (self.product(x, p + "attn_qkv", r) for r in rows)
        else:
            there = lambda n: p + f"attn_{n}.weight" in self.tensors
            q, k = (self.product(x, p + "attn_" + n) if there(n) else None for n in "qk")
            v = self.product(x, p + "attn_v") if there("v") else k
        if self.arch in NORMS_WHOLE_ROWS:
            q, k = self.rms_norm(q, p + "attn_q_norm.weight"), self.rms_norm(k, p + "attn_k_norm.weight")
        return (y if y is None else y.reshape(len(x), -1, hd) for y in (q, k, v))

    def norm_heads(self, q, k, p, rotated):
        if self.arch == "llama4":
            return (self.rms_norm(q), self.rms_norm(k)) if rotated and self.key("expert_count") != 128 else (q, k)
        if p + "attn_q_norm.weight" not in self.tensors:
            return q, k
        return self.norm(q, p + "attn_q_norm.weight"), k if k is None else self.norm(k, p + "attn_k_norm.weight")

    def score_scale(self):
        if self.arch in ("gemma3n", "gemma4"):
            return 1.0
        if self.key("attention.scale", 0.0):
            return self.key("attention.scale")
        large = {"gemma2": 46, "gemma3": 62}.get(self.arch) == self.layer_count
        return (self.dim / self.heads if large else self.hd) ** -0.5

    def attention(self, x, layer, positions):
        p = f"blk.{layer}."
        if self.is_latent():
            return latent.attention(self, x, p, layer, positions)
        q, k, v = self.queries_keys_values(x, layer)
        rotated = self.rotates(layer)
        if self.arch not in NORMS_AFTER_ROTATION | NORMS_WHOLE_ROWS:
            q, k = self.norm_heads(q, k, p, rotated)
        if rotated:
            turn = self.rotation(positions, layer)
            q, k = self.rotate(q, *turn), k if k is None else self.rotate(k, *turn)
        if self.arch in NORMS_AFTER_ROTATION:
            q, k = self.norm_heads(q, k, p, rotated)
        q = q * self.temperature(positions, layer)[:, None, None]
        if k is not None:
            v = self.rms_norm(v) if self.arch in ("gemma3n", "gemma4") else v
            self.kept[layer] = self.numerics.cache(k), self.numerics.cache(v)
        k, v = self.kept[self.kv_source(layer)]
        group = self.heads // self.kv_heads(layer)
        scores = np.einsum("ihd,jhd->hij", q, np.repeat(k, group, axis=1)) * self.score_scale()
        cap = self.key("attn_logit_softcapping", 0.0)
        if cap:
            scores = cap * np.tanh(scores / cap)
        back = positions[:, None] - positions[None, :]
        window = self.window(layer)
        seen = (back >= 0) & (back < (window or len(x)))
        if self.arch == "llama4" and window:
            seen &= positions[:, None] // window == positions[None, :] // window
        scores = np.where(seen, scores, -np.inf)
        if p + "attn_sinks.weight" in self.tensors:
            sinks = np.broadcast_to(self.weight(p + "attn_sinks.weight")[:, None, None], scores.shape[:2] + (1,))
            shares = softmax(np.concatenate([scores, sinks], axis=2))[..., :-1]
        else:
            shares = softmax(scores)
        mixed = np.einsum("hij,jhd->ihd", shares, np.repeat(v, group, axis=1))
        mixed = mixed.reshape(len(x), -1)
        if p + "attn_gate.weight" in self.tensors:
            mixed = mixed * recurrent.sigmoid(self.product(x, p + "attn_gate"))
        if self.arch in GATES_BESIDE_QUERIES:
            gate = self.queries_beside_gates(x, layer)[:, :, 1]
            mixed = mixed * recurrent.sigmoid(gate.reshape(len(x), -1))
        return self.product(mixed, p + "attn_output")

    def temperature(self, positions, layer):
        """The factor on the queries."""
        scale = self.key("attention.temperature_scale", 0.1 if self.arch == "llama4" else 0.0)
        if self.arch == "llama4":
            if self.window(layer) is not None:
                return np.ones(len(positions))
            return 1 + scale * np.log(1 + np.floor((positions + 1) / self.key("attention.temperature_length", 8192)))
        return 1 + scale * np.log(1 + np.floor(positions / self.key("attention.temperature_length", self.original)))

    def activate(self, gate, up):
        if self.arch == "gpt-oss":
            gate, up = np.minimum(gate, 7.0), np.clip(up, -7.0, 7.0)
            return gate / (1 + np.exp(-1.702 * gate)) * (up + 1)
        return (gelu if self.arch in GEMMAS else silu)(gate) * up

    def feed_forward(self, x, h, p):
        """h: the residual stream, not normed."""
        if p + "ffn_gate_inp.weight" not in self.tensors:
            return self.mlp(x, p, "")
        if p + "ffn_down.weight" not in self.tensors:
            return self.experts(x, x, p)
        routed = self.rms_norm(h) * self.weight(p + "ffn_gate_inp.scale") / np.sqrt(self.dim)
        experts = self.experts(self.rms_norm(h, p + "pre_ffw_norm_2.weight"), routed, p)
        return (self.rms_norm(self.mlp(x, p, ""), p + "post_ffw_norm_1.weight") +
                self.rms_norm(experts, p + "post_ffw_norm_2.weight"))

    def mlp(self, x, p, suffix):
        if p + f"ffn_gate{suffix}.weight" in self.tensors:
            gate, up = self.product(x, p + "ffn_gate" + suffix), self.product(x, p + "ffn_up" + suffix)
        elif self.arch in NO_GATES:
            return self.product(np.maximum(self.product(x, p + "ffn_up" + suffix), 0) ** 2, p + "ffn_down" + suffix)
        else:
            gate, up = np.split(self.product(x, p + "ffn_up" + suffix), 2, axis=1)
        if self.arch == "gemma3n":
            gate = streams.sparse(gate, p)
        return self.product(self.activate(gate, up), p + "ffn_down" + suffix)

    def scores(self, logits):
        sigmoid = self.key("expert_gating_func", 2 if self.arch in SIGMOID_SCORES else 1) == 2
        return 1 / (1 + np.exp(-logits)) if sigmoid else softmax(logits)

    def expert(self, x, p, expert):
        if p + "ffn_gate_up_exps.weight" in self.tensors:
            gate, up = np.split(self.product(x, p + "ffn_gate_up_exps", expert), 2)
        elif self.arch in NO_GATES:
            up = self.product(x, p + "ffn_up_exps", expert)
            return self.product(np.maximum(up, 0) ** 2, p + "ffn_down_exps", expert)
        else:
            gate, up = (self.product(x, p + f"ffn_{n}_exps", expert) for n in ("gate", "up"))
        return self.product(self.activate(gate, up), p + "ffn_down_exps", expert)

    def experts(self, x, routed, p):
        logits = self.product(routed, p + "ffn_gate_inp")
        used = self.key("expert_used_count")
        bias = self.maybe(p + "exp_probs_b.bias", None)
        weighs_input = self.arch == "llama4"
        latent = p + "ffn_latent_down.weight" in self.tensors
        read = self.product(x, p + "ffn_latent_down") if latent else x
        out = np.zeros_like(read)
        for i, row in enumerate(logits):
            scores = self.scores(row)
            choice = row if bias is None else scores + bias
            if self.key("expert_group_count", 0) > 1:
                groups = self.key("expert_group_count"), self.key("expert_group_used_count")
                choice = without_lesser_groups(scores + (0 if bias is None else bias), *groups)
            order = np.argsort(-choice, kind="stable")
            chosen = order[:used]
            self.router_margin = min(self.router_margin, choice[order[used - 1]] - choice[order[used]])
            shares = scores[chosen]
            if not weighs_input and self.key("expert_weights_norm", self.arch not in WEIGHTS_AS_SCORED):
                shares = shares / max(shares.sum(), 2.0 ** -14)
            for expert, share in zip(chosen, shares * (self.key("expert_weights_scale", 1.0) or 1.0)):
                if weighs_input:
                    out[i] += self.expert(read[i] * share, p, expert)
                else:
                    share = share * self.maybe(p + "ffn_down_exps.scale", np.ones(len(row)))[expert]
                    out[i] += share * self.expert(read[i], p, expert)
        if latent:
            out = self.product(out, p + "ffn_latent_up")
        if p + "ffn_down_shexp.weight" in self.tensors:
            shared = self.mlp(x, p, "_shexp")
            if p + "ffn_gate_inp_shexp.weight" in self.tensors:
                shared = shared / (1 + np.exp(-self.product(x, p + "ffn_gate_inp_shexp").reshape(-1, 1)))
            out += shared
        return out

    def side_inputs(self, h, tokens):
        """(tokens, layers, n)"""
        n = self.key("embedding_length_per_layer_input", 256 if self.arch == "gemma3n" else 0)
        if not n or self.arch == "qwen4exp":
            return None
        said = (self.product(h, "per_layer_model_proj") / np.sqrt(self.dim)).reshape(len(h), -1, n)
        told = self.weight("per_layer_token_embd.weight")[tokens].reshape(said.shape) * np.sqrt(n)
        return (self.rms_norm(said, "per_layer_proj_norm.weight") + told) / np.sqrt(2)

    def side_branch(self, h, side, p):
        x = self.product(gelu(self.product(h, p + "inp_gate")) * side, p + "proj")
        return self.rms_norm(x, p + "post_norm.weight")

    def mixers(self, x, p, layer, positions):
        """What is added to the stream before the feed-forward part."""
        if p + "attn_output.weight" in self.tensors:
            alone = self.arch == "deci" and not self.kv_heads(layer)
            yield self.product(x, p + "attn_output") if alone else self.attention(x, layer, positions)
        if p + "shortconv.conv.weight" in self.tensors:
            yield recurrent.short_convolution(self, x, p)
        elif p + "ssm_d" in self.tensors:
            yield recurrent.mamba2(self, x, p)
        elif p + "ssm_conv1d.weight" in self.tensors:
            yield recurrent.delta_net(self, x, p)

    def layer(self, h, layer, positions, side):
        p = f"blk.{layer}."
        scale = self.key("residual_scale", 1.4 / np.sqrt(self.layer_count) if self.arch == "minicpm" else 1.0)
        epsilon = 1e-8 if self.arch == "muse-glimmer" else self.epsilon
        post = lambda x, name: self.rms_norm(x, p + name + ".weight", epsilon) if self.arch in POST_NORMS else x
        read = self.norm(h, p + "attn_norm.weight") if p + "attn_norm.weight" in self.tensors else h
        for part in self.mixers(read, p, layer, positions):
            h = h + post(part, "post_attention_norm") * scale
        if not any(p + n in self.tensors for n in ("ffn_down.weight", "ffn_down_exps.weight")):
            return h
        if self.arch not in LAYER_NORMS:
            norm = FFN_NORM.get(self.arch, "ffn_norm")
            read = self.norm(h, p + norm + ("" if p + norm in self.tensors else ".weight")) if norm else h
        h = h + post(self.feed_forward(read, h, p), "post_ffw_norm") * scale
        if side is not None:
            h = h + self.side_branch(h, side[:, layer], p)
        return h * self.maybe(p + "layer_output_scale.weight", 1.0)

    def logits(self, tokens):
        """(tokens, vocabulary)"""
        return self.head(self.made(tokens))

    def made(self, tokens):
        """(tokens, dim) behind the last norm"""
        positions = np.arange(len(tokens))
        h = self.weight("token_embd.weight")[tokens]
        if self.arch in GEMMAS | {"afmoe"}:
            h = h * np.sqrt(self.dim)
        h = h * self.key("embedding_scale", 12.0 if self.arch == "minicpm" else 1.0)
        if self.arch == "muse-glimmer":
            h = self.rms_norm(h)
        side = self.side_inputs(h, tokens)
        several = streams.of(self.arch)
        self.tokens = tokens
        h = several.start(self, h) if several else h
        for layer in range(self.layer_count):
            h = several.layer(self, h, layer, positions, side) if several else self.layer(h, layer, positions, side)
        h = several.end(self, h) if several else h
        if self.arch != "qwen4exp":
            h = self.norm(h, ("token_embd_norm" if self.arch.startswith("lfm2") else "output_norm") + ".weight")
        return h

    def mtp(self, tokens, guesses):
        """What the block behind the layers gives, behind its norm, and its logits: a row for each of the tokens that
        follow, tokens[1:] + guesses. It reads the embedding of such a token, and what the model has made of the token
        before it; where the model has not computed that one, what the block itself gave for it."""
        p = f"blk.{self.layer_count}."
        given, follow = list(self.made(tokens[:-1])), list(tokens[1:]) + list(guesses)
        for _ in range(len(guesses) + 1):
            embedded = self.rms_norm(self.weight("token_embd.weight")[follow[:len(given)]], p + "nextn.enorm.weight")
            hidden = self.rms_norm(np.array(given), p + "nextn.hnorm.weight")
            h = self.product(np.concatenate([embedded, hidden], axis=1), p + "nextn.eh_proj")
            h = self.layer(h, self.layer_count, np.arange(len(given)), None)
            h = self.norm(h, p + "nextn.shared_head_norm.weight")
            given.append(h[-1])
        return h, self.head(h)

    def head(self, h):
        out = self.product(h, "output" if "output.weight" in self.tensors else "token_embd")
        scale = self.key("logit_scale", self.dim / 256 if self.arch == "minicpm" else 1.0)
        out = out / scale if self.arch in ("granite", "granitemoe", "granitehybrid", "minicpm") else out * scale
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
