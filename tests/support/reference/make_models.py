"""Makes tests/data/models: a tiny model of every architecture and every tensor type, and what it computes.

  make_models.py FOLDER [NAME ...]        python3-numpy is all it needs; the output is the same on every run

NAME.gguf    random weights, a toy SPM vocabulary, a small chat template
NAME.json    model, context (the length to open it with), tokens (the prompt), positions, n_vocab, logits (the .f32 file),
             argmax and gap for every prompt position, greedy and greedy_gap for the ids that follow. A gap is the
             distance of the two best logits in units of the row's RMS.
             tolerance, tolerance_f32_kv, tolerance_q8_0_kv: bounds for |engine - reference| / |reference| over the
             stored logits with keys and values of type f16 (the default), f32 and q8_0. They are 1.5 times what the
             roundings that the engine may make cost here - keys and values; 8 bits for activations, 32 a scale, where
             weights are quantised - and 1e-5 where there is none of these.
             argmax and greedy hold where the gap is more than 6 times the tolerance.
NAME.f32     float32 rows of n_vocab logits for `positions`, computed in float64 by decoder.py

decoder.py tells what the architectures are; check_goldens.py compares it with results from elsewhere.
"""
import json
import sys
import zlib
from pathlib import Path

import numpy as np

import gguf_file as gguf
import tensor_types
from decoder import Decoder, Rounded, gaps

PROMPT_TOKENS = 48
GREEDY_TOKENS = 8
POSITIONS = [0, 1, 16, 32, 47]
PROMPTS_TRIED = 60
GUESSES = 4
SLACK = 1.5
FLOAT32_BOUND = 1e-5

TEMPLATE = ("{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
            "{% if add_generation_prompt %}assistant: {% endif %}")

# ff: feed_forward_length. window, yarn (factor, original context) and so on: see tensors() and metadata().
BASE = dict(layers=2, dim=64, ff=32, heads=4, kv=2, hd=16, theta=1e4, type="F16", tied=True)
ARCHITECTURES = {
    "llama": dict(arch="llama", tied=False),
    "llama-bias": dict(arch="llama", layers=1, dim=32, heads=2, kv=1, bias=True, ffn_bias=True),
    "llama3-rope": dict(arch="llama", layers=1, theta=5e5, rope_freqs=True),
    "mistral3": dict(arch="mistral3", layers=1, theta=1e6, yarn=(16.0, 32), log_multiplier=1.0, temperature=0.1),
    "arcee": dict(arch="arcee", layers=1, dim=32, heads=2, kv=1, no_gates=True),
    "deci": dict(arch="deci", layers=3, dim=32, heads=[2, 0, 2], kv=[1, 0, 2], ff=[32, 48, 32], theta=5e5, rope_freqs=True),
    "deci-parts": dict(arch="deci", layers=6, dim=32, heads=[2, 2, 0, 2, 0, 2], kv=[1, 0, 0, 2, 0, 0], ff=[32, 48, 32, 0, 0, 32]),
    "minicpm": dict(arch="minicpm", layers=1, dim=32, heads=2, kv=1, type="F32"),
    "qwen2": dict(arch="qwen2", layers=1, theta=1e6, bias=True),
    "qwen2moe": dict(arch="qwen2moe", layers=1, dim=32, ff=16, heads=2, kv=1, theta=1e6, type="F32", bias=True, experts=4,
                     used=2, shared=32, shared_weight=True),
    "qwen3": dict(arch="qwen3", layers=1, theta=1e6, heads=2, kv=1, hd=32, qk_norm=True),
    "qwen3moe": dict(arch="qwen3moe", layers=1, theta=1e6, qk_norm=True, experts=4, used=2),
    "gemma": dict(arch="gemma", layers=1, dim=32, heads=2, kv=1),
    "gemma2": dict(arch="gemma2", gemma=True, window=16, softcap=(50.0, 30.0)),
    "gemma3": dict(arch="gemma3", layers=6, heads=2, kv=1, theta=1e6, gemma=True, qk_norm=True, window=16, linear=8.0),
    "gemma4": dict(arch="gemma4", layers=3, dim=32, kv=[2, 2, 1], hd=32, hd_swa=16, theta=1e6, gemma=True, qk_norm=True,
                   window=16, pattern=[1, 1, 0], softcap=(0.0, 30.0), no_v=True),
    "gemma4-e": dict(arch="gemma4", layers=6, dim=32, kv=1, hd=32, hd_swa=16, theta=1e6, gemma=True, qk_norm=True,
                     window=16, pattern=[1, 0, 1, 0, 1, 0], softcap=(0.0, 30.0), shared_kv=4, side=16,
                     ff=[32, 32, 64, 64, 64, 64]),
    "gemma4-moe": dict(arch="gemma4", dim=32, kv=[2, 1], hd=32, hd_swa=16, theta=1e6, gemma=True, qk_norm=True,
                       window=16, pattern=[1, 0], softcap=(0.0, 30.0), no_v=True, experts=4, used=2, both=True,
                       fused_experts=True, expert_ff=16),
    "gemma3n": dict(arch="gemma3n", layers=12, dim=32, heads=2, kv=1, theta=1e6, gemma=True, qk_norm=True, window=16,
                    pattern=[1, 0] * 6, softcap=(0.0, 30.0), shared_kv=2, side=8, side_type="Q8_0", streams=4, rank=64,
                    ffn_share=0.1),
    "phi3": dict(arch="phi3", layers=1, kv=4, fused=True),
    "phi3-longrope": dict(arch="phi3", layers=1, kv=4, fused=True, longrope=(1.19, 64)),
    "gpt-oss": dict(arch="gpt-oss", theta=1.5e5, yarn=(32.0, 32), window=16, experts=4, used=2, bias=True,
                    sinks=True),
    "gpt-oss-mxfp4": dict(arch="gpt-oss", layers=1, theta=1.5e5, yarn=(32.0, 32), window=16, experts=4, used=2,
                          bias=True, sinks=True, expert_type="MXFP4"),
    "smollm3": dict(arch="smollm3", layers=4, dim=32, heads=2, kv=1),
    "chatglm": dict(arch="chatglm", layers=1, dim=32, heads=2, kv=1, rotated=8, bias=True, fused=True),
    "glm4": dict(arch="glm4", layers=1, rotated=8, bias=True, fused=True, post_norms=True),
    "glm4-sections": dict(arch="glm4", layers=1, dim=32, heads=2, kv=1, rotated=8, sections=[2, 1, 1, 0], bias=True,
                          fused=True, post_norms=True),
    "glm4moe": dict(arch="glm4moe", blocks=3, theta=1e6, rotated=8, dim=32, ff=16, heads=2, kv=1, type="F32", bias=True,
                    qk_norm=True, ffn_norm="post_attention_norm", experts=4, used=2, dense=1, shared=16,
                    choice_bias=True, scale=2.5, predicting=1),
    "glm4moe-mtp": dict(arch="glm4moe", layers=2, blocks=3, theta=1e6, rotated=8, dim=32, ff=16, heads=2, kv=1,
                        type="F32", bias=True, qk_norm=True, ffn_norm="post_attention_norm", experts=4, used=2, dense=1,
                        shared=16, choice_bias=True, scale=2.5, predicting=1, joins=True),
    "ernie4_5-moe": dict(arch="ernie4_5-moe", layers=2, dim=32, ff=16, heads=2, kv=1, type="F32", experts=4, used=2,
                         dense=1, shared=32, choice_bias=True),
    "hunyuan-moe": dict(arch="hunyuan-moe", layers=1, dim=32, qk_norm=True, experts=4, used=2, shared=64,
                        shared_weight=True, fused_experts=True),
    "deepseek": dict(arch="deepseek", dim=32, ff=16, heads=2, kv=2, type="F32", experts=4, used=2, dense=1, shared=32),
    "bailingmoe2": dict(arch="bailingmoe2", dim=32, ff=16, heads=2, kv=1, rotated=8, type="F32", qk_norm=True, fused_qkv=True,
                        experts=6, used=2, dense=1, shared=16, choice_bias=True, scale=2.5, groups=(3, 2)),
    "olmoe": dict(arch="olmoe", layers=1, dim=32, ff=16, heads=2, kv=2, type="F32", qk_norm="rows", experts=4, used=2),
    "exaone4": dict(arch="exaone4", dim=32, heads=2, kv=1, theta=1e6, rope_freqs=True, qk_norm=True, post_norms=True,
                    input_norms=False, window=16, pattern=[True, False]),
    "afmoe": dict(arch="afmoe", dim=32, ff=16, heads=2, kv=1, type="F32", qk_norm=True, gate=True, post_norms=True, window=16,
                  pattern=2, experts=4, used=2, dense=1, shared=16, choice_bias=True, scale=2.826),
    "mellum": dict(arch="mellum", dim=32, ff=16, heads=2, kv=1, theta=5e5, type="F32", qk_norm=True, window=16,
                   pattern=[True, False], yarn=(8.0, 32), experts=4, used=2),
    "olmo3": dict(arch="olmo2", type="Q8_0", theta=5e5, qk_norm="rows", post_norms=True, input_norms=False, window=16,
                  pattern=[True, False], yarn=(8.0, 32)),
    "granitemoe": dict(arch="granitemoe", layers=1, dim=32, ff=16, heads=2, kv=1, type="F32", experts=4, used=2, shared=32,
                       floats={"embedding_scale": 3.0, "residual_scale": 0.8, "logit_scale": 0.5,
                               "attention.scale": 0.09375}, rope_unused=True),
    "command-r": dict(arch="command-r", layers=1, heads=2, kv=1, hd=32, type="Q8_0", input_norms="one",
                      floats={"logit_scale": 0.7}),
    "command-r-plus": dict(arch="command-r", layers=1, dim=32, heads=4, kv=2, hd=16, input_norms="one", qk_norm="heads",
                           floats={"logit_scale": 0.7}),
    "cohere2": dict(arch="cohere2", heads=2, kv=1, hd=32, type="Q8_0", window=16, pattern=2, input_norms="one",
                    floats={"logit_scale": 0.7}),
    "muse-glimmer": dict(arch="muse-glimmer", dim=32, heads=2, kv=1, type="F32", window=16, pattern=[True, False],
                         qk_norm=True, gate=True, post_norms=True,
                         floats={"logit_scale": 1.2, "final_logit_softcapping": 30.0}),
    "qwen35": dict(arch="qwen35", layers=4, dim=32, heads=2, kv=1, theta=1e7, rotated=8, qk_norm=True, query_gate=True,
                   ffn_norm="post_attention_norm", recurrent=[1, 1, 1, 0],
                   ssm=dict(kind="delta", width=4, size=16, groups=2, heads=4, length=16)),
    "qwen35-mtp": dict(arch="qwen35", layers=2, blocks=3, dim=32, heads=2, kv=1, theta=1e7, rotated=8, type="F32",
                       qk_norm=True, query_gate=True, ffn_norm="post_attention_norm", recurrent=[1, 0, 0], predicting=1,
                       joins=True, ssm=dict(kind="delta", width=4, size=16, groups=2, heads=4, length=16, interval=2)),
    "qwen3next": dict(arch="qwen3next", dim=32, heads=2, kv=1, theta=1e7, rotated=8, type="F32", qk_norm=True,
                      query_gate=True, ffn_norm="post_attention_norm", recurrent=[1, 0], experts=4, used=2, shared=32,
                      shared_weight=True, ssm=dict(kind="delta", width=4, size=16, groups=2, heads=4, length=16,
                                                   fused_gates=True, interval=2)),
    "qwen3next-fused": dict(arch="qwen3next", dim=32, heads=2, kv=1, theta=1e7, rotated=8, qk_norm=True, query_gate=True,
                            fused_attention=True, ffn_norm="post_attention_norm", recurrent=[1, 0],
                            ssm=dict(kind="delta", width=4, size=16, groups=2, heads=4, length=16, fused_gates=True,
                                     fused_input=True, interval=2)),
    "qwen4exp": dict(arch="qwen4exp", layers=3, dim=32, heads=2, kv=1, theta=1e7, rotated=8, qk_norm=True, query_gate=True,
                     input_norms=None, output_norm=None, recurrent=[1, 1, 0], experts=4, used=2, shared=32,
                     shared_weight=True, connections=(2, 8), dense_context=512,
                     ngrams=dict(layers=[1], longest=3, heads=2, length=16, taps=4, sizes=[31, 37, 41, 43]),
                     ssm=dict(kind="delta", width=4, size=16, groups=2, heads=4, length=16, interval=3)),
    # All streams in a row are wider than any other row of the model.
    "qwen4exp-q8_0": dict(arch="qwen4exp", dim=32, heads=2, kv=1, theta=1e7, rotated=8, type="Q8_0", qk_norm=True,
                          query_gate=True, input_norms=None, output_norm=None, recurrent=[1, 0], experts=4, used=2,
                          shared=32, shared_weight=True, connections=(4, 32), dense_context=512,
                          ngrams=dict(layers=[1], longest=3, heads=1, length=32, taps=4, sizes=[31, 37]),
                          ssm=dict(kind="delta", width=4, size=16, groups=2, heads=4, length=16, interval=2)),
    "lfm2": dict(arch="lfm2", layers=3, dim=32, heads=2, kv=[0, 1, 0], theta=1e6, qk_norm=True,
                 recurrent=[1, 0, 1], output_norm="token_embd_norm", ssm=dict(kind="convolution", width=3)),
    "nemotron_h": dict(arch="nemotron_h", layers=4, dim=32, heads=2, kv=[0, 1, 0, 0], ff=[0, 0, 48, 0],
                       recurrent=[1, 0, 0, 1], one_part=True,
                       ssm=dict(kind="mamba2", width=4, size=16, groups=2, heads=4, length=8)),
    "nemotron_h_moe": dict(arch="nemotron_h_moe", layers=4, dim=32, heads=2, kv=[0, 0, 1, 0], ff=[0, 32, 0, 32],
                           recurrent=[1, 0, 0, 0], one_part=True, experts=6, used=2, expert_ff=32, shared=48, latent_experts=16,
                           choice_bias=True, floats={"expert_weights_scale": 2.5},
                           ssm=dict(kind="mamba2", width=4, size=16, groups=2, heads=4, length=8)),
    "falcon-h1": dict(arch="falcon-h1", layers=2, dim=32, heads=2, kv=1, type="F32", recurrent=[2, 2],
                      ssm=dict(kind="mamba2", width=4, size=32, groups=1, heads=2, length=32)),
    # latent: its rank, that of queries, of a head's keys what is not rotated and what is, and of values
    "deepseek2": dict(arch="deepseek2", dim=32, heads=20, kv=1, ff=16, yarn=(40.0, 32), log_multiplier=0.1,
                      latent=(24, 16, 8, 4, 8), experts=8, used=3, dense=1, shared=16, choice_bias=True, scale=2.5,
                      groups=(4, 2)),
    "deepseek2-mtp": dict(arch="deepseek2", blocks=3, dim=32, heads=4, kv=1, ff=16, type="F32", latent=(24, 16, 8, 4, 8),
                          experts=4, used=2, dense=1, shared=16, choice_bias=True, scale=2.5, predicting=1, joins=True),
    "deepseek2-kv_b": dict(arch="deepseek2", dim=64, heads=2, kv=2, type="Q8_0", latent=(32, 0, 32, 8, 32), old_latent=True,
                           experts=4, used=2, dense=1, shared=32),
    "mistral4": dict(arch="mistral4", layers=1, dim=32, heads=4, kv=1, ff=16, latent=(16, 16, 8, 8, 16), experts=4, used=2,
                     shared=16, yarn=(16.0, 32), log_multiplier=0.1, temperature=0.1, temperature_length=16),
    "llama4": dict(arch="llama4", dim=32, theta=5e5, window=16, pattern=2, experts=4, used=1, shared=32,
                   temperature_length=16),
}
# By block length: rows of whole blocks in small files. Where blocks are long, the short rows of attn_output and
# ffn_down stay at Q8_0.
TYPE_SHAPES = {1: dict(arch="llama", layers=1), 32: dict(arch="llama", layers=1, dim=128, ff=64, heads=2, kv=1),
               64: dict(arch="llama", layers=1, dim=128, ff=64, heads=2, kv=1),
               256: dict(arch="llama", layers=1, dim=256, heads=2, kv=1)}
# The same file opened with a context that the original one holds: the other factors.
SECOND_CONTEXTS = {"phi3-longrope": ("phi3-longrope-short", 64)}


def shapes():
    out = {name: BASE | shape for name, shape in ARCHITECTURES.items()}
    for name, kind in tensor_types.TYPES.items():
        small = dict(dim=32, heads=2, kv=1) if name == "F32" else {}
        out[f"type-{name}"] = BASE | TYPE_SHAPES[kind.block_len] | small | dict(type=name)
    return out


# ---- the file ----

def vocabulary():
    """What a sentencepiece model has at least: three special tokens, the bytes, the space and the letters."""
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    pieces = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)] + ["\u2581"] + list(letters) + ["th", "he"]
    kinds = [2, 3, 3] + [6] * 256 + [1] * (len(pieces) - 259)
    scores = [0.0] * 259 + [-float(i) for i in range(len(pieces) - 259)]
    return pieces, scores, kinds


def of_layer(value, layer):
    return value[layer] if isinstance(value, list) else value


def head_length(s, layer):
    return s["hd_swa"] if "hd_swa" in s and s["pattern"][layer] else s["hd"]


def has_own_kv(s, layer):
    return layer < s.get("blocks", s["layers"]) - s.get("shared_kv", 0)


def kept_lengths(s):
    """The lengths of key and value in a file. For latent attention newer files have those of the row that is kept."""
    if "latent" not in s:
        return s["hd"], s["hd"]
    rank, _, plain, rotated, value = s["latent"]
    return (plain + rotated, value) if "old_latent" in s else (rank + rotated, rank)


def metadata(name, s):
    a = s["arch"]
    pieces, scores, kinds = vocabulary()
    u32 = lambda key, value: ((f"{a}.{key}", gguf.ARR, (gguf.U32, value)) if isinstance(value, list) else
                              (f"{a}.{key}", gguf.U32, value))
    f32 = lambda key, value: (f"{a}.{key}", gguf.F32, value)
    epsilon = "attention.layer_norm_epsilon" if a in ("cohere2", "command-r") else "attention.layer_norm_rms_epsilon"
    out = [("general.architecture", gguf.STR, a), ("general.name", gguf.STR, f"random {name}"),
           u32("block_count", s.get("blocks", s["layers"])), u32("context_length", 512), u32("embedding_length", s["dim"]),
           u32("feed_forward_length", s["ff"]), u32("attention.head_count", s["heads"]),
           u32("attention.head_count_kv", s["kv"]), u32("attention.key_length", kept_lengths(s)[0]),
           u32("attention.value_length", kept_lengths(s)[1]), f32(epsilon, 1e-5),
           u32("rope.dimension_count", s["latent"][3] if "latent" in s else s.get("rotated", s["hd"])), f32("rope.freq_base", s["theta"]), u32("vocab_size", len(pieces))]
    if "window" in s:
        out.append(u32("attention.sliding_window", s["window"]))
    if "hd_swa" in s:
        out += [u32("attention.key_length_swa", s["hd_swa"]), u32("attention.value_length_swa", s["hd_swa"]),
                u32("rope.dimension_count_swa", s["hd_swa"]), f32("rope.freq_base_swa", 1e4)]
    if "shared_kv" in s:
        out.append(u32("attention.shared_kv_layers", s["shared_kv"]))
    if "side" in s:
        out.append(u32("embedding_length_per_layer_input", s["side"]))
    if "softcap" in s:
        out += [f32("attn_logit_softcapping", s["softcap"][0]), f32("final_logit_softcapping", s["softcap"][1])]
    if "sections" in s:
        out.append(u32("rope.dimension_sections", s["sections"]))
    if "yarn" in s:
        out += [(f"{a}.rope.scaling.type", gguf.STR, "yarn"), f32("rope.scaling.factor", s["yarn"][0]),
                u32("rope.scaling.original_context_length", s["yarn"][1])]
    if "log_multiplier" in s:
        out.append(f32("rope.scaling.yarn_log_multiplier", s["log_multiplier"]))
    if "linear" in s:
        out += [(f"{a}.rope.scaling.type", gguf.STR, "linear"), f32("rope.scaling.factor", s["linear"])]
    if "longrope" in s:
        out += [f32("rope.scaling.attn_factor", s["longrope"][0]),
                u32("rope.scaling.original_context_length", s["longrope"][1])]
    if "temperature" in s:
        out.append(f32("attention.temperature_scale", s["temperature"]))
    if "experts" in s:
        out += [u32("expert_count", s["experts"]), u32("expert_used_count", s["used"]),
                u32("expert_feed_forward_length", s.get("expert_ff", s["ff"]))]
    if "connections" in s:
        out += [u32("hyper_connection.count", s["connections"][0]), u32("hyper_connection.low_rank", s["connections"][1])]
    if "dense_context" in s:
        ratios = [0 if recurrent else 4 for recurrent in s["recurrent"]]
        out += [u32("attention.compress_ratios", ratios), u32("attention.indexer.top_k", s["dense_context"])]
    if "ngrams" in s:
        n = s["ngrams"]
        out += [u32("ple.layers", n["layers"]), u32("ple.ngram_size", n["longest"]), u32("ple.heads_per_ngram", n["heads"]),
                u32("ple.conv_kernel", n["taps"]), u32("ple.eos_token_id", 7),
                u32("embedding_length_per_layer_input", n["length"]), u32("ple.head_vocab_sizes", n["sizes"]),
                u32("ple.head_offsets", [sum(n["sizes"][:i]) for i in range(len(n["sizes"]))]),
                (f"{a}.ple.layer_multipliers", gguf.ARR,
                 (gguf.I64, [23456789012345, 19876543210987, 17171717171717][:n["longest"]]))]
    if "latent_experts" in s:
        out.append(u32("moe_latent_size", s["latent_experts"]))
    if "pattern" in s:
        key = f"{a}.attention.sliding_window_pattern"
        out.append((key, gguf.ARR, (gguf.BOOL, s["pattern"])) if isinstance(s["pattern"], list) else
                   (key, gguf.U32, s["pattern"]))
    if "scale" in s:
        out += [f32("expert_weights_scale", s["scale"]), u32("expert_gating_func", 2),
                (f"{a}.expert_weights_norm", gguf.BOOL, True)]
    if "groups" in s:
        out += [u32("expert_group_count", s["groups"][0]), u32("expert_group_used_count", s["groups"][1])]
    if "latent" in s:
        rank, query_rank, plain, rotated, value = s["latent"]
        out += [u32("attention.kv_lora_rank", rank), u32("attention.q_lora_rank", query_rank)]
        if "old_latent" not in s:
            out += [u32("attention.key_length_mla", plain + rotated), u32("attention.value_length_mla", value)]
    if "predicting" in s:
        out.append(u32("nextn_predict_layers", s["predicting"]))
    if "ssm" in s and s["ssm"]["kind"] == "convolution":
        out.append(u32("shortconv.l_cache", s["ssm"]["width"]))
    elif "ssm" in s:
        m = s["ssm"]
        out += [u32("ssm.conv_kernel", m["width"]), u32("ssm.state_size", m["size"]), u32("ssm.group_count", m["groups"]),
                u32("ssm.time_step_rank", m["heads"]), u32("ssm.inner_size", m["heads"] * m["length"])]
        if "interval" in m:
            out.append(u32("full_attention_interval", m["interval"]))
    if "temperature_length" in s:
        out.append(u32("attention.temperature_length", s["temperature_length"]))
    if "rope_unused" in s:
        out.append((f"{a}.rope.scaling.finetuned", gguf.BOOL, False))
    out += [f32(key, value) for key, value in s.get("floats", {}).items()]
    return out + [("tokenizer.ggml.model", gguf.STR, "llama"),
                  ("tokenizer.ggml.tokens", gguf.ARR, (gguf.STR, pieces)),
                  ("tokenizer.ggml.scores", gguf.ARR, (gguf.F32, scores)),
                  ("tokenizer.ggml.token_type", gguf.ARR, (gguf.I32, kinds)),
                  ("tokenizer.ggml.bos_token_id", gguf.U32, 1), ("tokenizer.ggml.eos_token_id", gguf.U32, 2),
                  ("tokenizer.ggml.unknown_token_id", gguf.U32, 0),
                  ("tokenizer.chat_template", gguf.STR, TEMPLATE)]


class TensorWriter:
    """Collects the tensors of one model with random values of a suitable size."""

    def __init__(self, name, shape):
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.type, self.list = shape["type"], []

    def weight(self, name, *shape, kind=None, std=None):
        """Adds a matrix whose products are about as large as what it multiplies, unless `std` says otherwise."""
        kind = kind or self.type
        if shape[-1] % tensor_types.TYPES[kind].block_len:
            kind = "Q8_0"
        std = std or shape[-1] ** -0.5
        if kind == "NVFP4":  # scales of blocks are used up to the largest, and a factor brings them down
            factors = std * self.rng.uniform(0.8, 1.25, shape[0] if len(shape) == 3 else 1) / 32
            self.given(name.replace(".weight", ".scale"), factors)
            std = 32
        data = tensor_types.random_blocks(kind, int(np.prod(shape)), std, self.rng)
        self.list.append(gguf.Tensor(name, kind, shape, data))

    def norm(self, name, size, mean=1.0):
        self.given(name, mean * (1 + 0.1 * self.rng.standard_normal(size)))

    def bias(self, name, *shape):
        self.given(name, 0.1 * self.rng.standard_normal(shape))

    def given(self, name, values):
        self.list.append(gguf.Tensor(name, "F32", np.shape(values), np.asarray(values, "<f4").tobytes()))


def llama3_factors(s, factor=8.0, low=1.0, high=4.0, original=32):
    wave = 2 * np.pi * s["theta"] ** (np.arange(0, s["hd"], 2) / s["hd"])
    smooth = (original / wave - low) / (high - low)
    return np.where(wave < original / high, 1.0,
                    np.where(wave > original / low, factor, 1.0 / ((1 - smooth) / factor + smooth)))


def tensors(name, s):
    w = TensorWriter(name, s)
    vocabulary_size = len(vocabulary()[0])
    w.weight("token_embd.weight", vocabulary_size, s["dim"])
    if s.get("output_norm", "output_norm"):
        w.norm(s.get("output_norm", "output_norm") + ".weight", s["dim"])
    if "connections" in s:
        connection_tensors(w, s, "output_hc", False)
    if "ngrams" in s:
        w.weight("per_layer_token_embd.weight", sum(s["ngrams"]["sizes"]), s["ngrams"]["length"], std=1.0)
    if not s["tied"]:
        w.weight("output.weight", vocabulary_size, s["dim"])
    if "rope_freqs" in s:
        w.given("rope_freqs.weight", llama3_factors(s))
    if "hd_swa" in s:  # a quarter of the pairs turns
        w.given("rope_freqs.weight", np.where(np.arange(s["hd"] // 2) < s["hd"] // 8, 1.0, 1e30))
    if "side" in s:
        side = s["layers"] * s["side"]
        w.weight("per_layer_token_embd.weight", vocabulary_size, side, kind=s.get("side_type"), std=s["side"] ** -0.5)
        w.weight("per_layer_model_proj.weight", side, s["dim"])
        w.norm("per_layer_proj_norm.weight", s["side"])
    if "streams" in s:
        for n in ("altup_proj", "altup_unembd_proj"):
            w.weight(n + ".weight", s["streams"] - 1, s["dim"], s["dim"])
    if "longrope" in s:
        w.given("rope_factors_long.weight", np.linspace(1.0, 40.0, s["hd"] // 2))
        w.given("rope_factors_short.weight", np.linspace(1.0, 1.1, s["hd"] // 2))
    for layer in range(s.get("blocks", s["layers"])):
        mixer_tensors(w, s, f"blk.{layer}.", layer)
        if not of_layer(s["ff"], layer):
            continue
        experts = "experts" in s and s.get("dense", 0) <= layer < s.get("blocks" if "joins" in s else "layers", s["layers"])
        if experts:
            expert_tensors(w, s, f"blk.{layer}.")
        if not experts or "both" in s:
            ffn_tensors(w, s, f"blk.{layer}.", of_layer(s["ff"], layer))
        if "both" in s:
            both_parts_tensors(w, s, f"blk.{layer}.")
        if s["arch"] == "gemma4" or "side" in s:
            end_tensors(w, s, f"blk.{layer}.")
        if "connections" in s:
            for n in ("hc_attn", "hc_ffn"):
                connection_tensors(w, s, f"blk.{layer}.{n}", True)
        if layer in s.get("ngrams", {}).get("layers", ()):
            ngram_tensors(w, s, f"blk.{layer}.")
        if "streams" in s:
            stream_tensors(w, s, f"blk.{layer}.")
        if "joins" in s and layer >= s["layers"]:
            for n in ("enorm", "hnorm", "shared_head_norm"):
                w.norm(f"blk.{layer}.nextn.{n}.weight", s["dim"])
            w.weight(f"blk.{layer}.nextn.eh_proj.weight", s["dim"], 2 * s["dim"])
    return w.list


def mixer_tensors(w, s, p, layer):
    """s["recurrent"]: of each layer, 1 a recurrent mixer, 0 attention, 2 both."""
    recurrent = s.get("recurrent", [0] * (layer + 1))[layer]
    if "one_part" in s and of_layer(s["ff"], layer):  # a feed-forward alone
        w.norm(p + "attn_norm.weight", s["dim"])
        return
    if "latent" in s:
        latent_tensors(w, s, p)
    elif s["arch"] == "deci" and not of_layer(s["kv"], layer):
        lone_tensors(w, s, p, layer)
    elif recurrent != 1:
        attention_tensors(w, s, p, layer)
    elif s.get("input_norms", True):
        w.norm(p + "attn_norm.weight", s["dim"])
        if "one_part" not in s:
            w.norm(p + s.get("ffn_norm", "ffn_norm") + ".weight", s["dim"])
    if recurrent:
        {"delta": delta_net_tensors, "mamba2": mamba2_tensors, "convolution": convolution_tensors}[s["ssm"]["kind"]](w, s, p)


def lone_tensors(w, s, p, layer):
    """A layer that does not attend: a matrix in place of attention where it has heads, and a feed-forward."""
    if of_layer(s["heads"], layer):
        w.norm(p + "attn_norm.weight", s["dim"])
        w.weight(p + "attn_output.weight", s["dim"], s["dim"])
    if of_layer(s["ff"], layer):
        w.norm(p + "ffn_norm.weight", s["dim"])


def decays(w, heads):
    """Negative logarithms of decays: in a step near 1 a state keeps a tenth to nine tenths."""
    return -w.rng.uniform(0.1, 2.0, heads)


def delta_net_tensors(w, s, p):
    m = s["ssm"]
    inner = m["heads"] * m["length"]
    channels = inner + 2 * m["groups"] * m["size"]
    if "fused_input" in m:
        w.weight(p + "ssm_in.weight", channels + inner, s["dim"])
    else:
        w.weight(p + "attn_qkv.weight", channels, s["dim"])
        w.weight(p + "attn_gate.weight", inner, s["dim"])
    if "fused_gates" in m:
        w.weight(p + "ssm_ba.weight", 2 * m["heads"], s["dim"])
    else:
        w.weight(p + "ssm_beta.weight", m["heads"], s["dim"])
        w.weight(p + "ssm_alpha.weight", m["heads"], s["dim"])
    w.given(p + "ssm_conv1d.weight", 0.5 * w.rng.standard_normal((channels, m["width"])))
    w.bias(p + "ssm_dt.bias", m["heads"])
    w.given(p + "ssm_a", decays(w, m["heads"]))
    w.norm(p + "ssm_norm.weight", m["length"])
    w.weight(p + "ssm_out.weight", s["dim"], inner)


def mamba2_tensors(w, s, p):
    m = s["ssm"]
    inner = m["heads"] * m["length"]
    channels = inner + 2 * m["groups"] * m["size"]
    w.weight(p + "ssm_in.weight", inner + channels + m["heads"], s["dim"])
    w.given(p + "ssm_conv1d.weight", 0.5 * w.rng.standard_normal((channels, m["width"])))
    w.bias(p + "ssm_conv1d.bias", channels)
    w.bias(p + "ssm_dt.bias", m["heads"])
    w.given(p + "ssm_a", decays(w, m["heads"]).reshape(-1, 1))
    w.given(p + "ssm_d", w.rng.standard_normal((m["heads"], 1)))
    w.given(p + "ssm_norm.weight", 1 + 0.1 * w.rng.standard_normal((m["groups"], inner // m["groups"])))
    w.weight(p + "ssm_out.weight", s["dim"], inner)


def convolution_tensors(w, s, p):
    w.weight(p + "shortconv.in_proj.weight", 3 * s["dim"], s["dim"])
    w.given(p + "shortconv.conv.weight", 0.5 * w.rng.standard_normal((s["dim"], s["ssm"]["width"])))
    w.weight(p + "shortconv.out_proj.weight", s["dim"], s["dim"])


def attention_tensors(w, s, p, layer):
    hd = head_length(s, layer)
    dim, q_dim, kv_dim = s["dim"], of_layer(s["heads"], layer) * hd, of_layer(s["kv"], layer) * hd
    kinds = (("q", q_dim), ("k", kv_dim), ("v", kv_dim))
    if "no_v" in s and not s["pattern"][layer]:
        kinds = kinds[:2]
    if not has_own_kv(s, layer):
        kinds = kinds[:1]
    if s.get("input_norms", True):
        w.norm(p + "attn_norm.weight", dim)
    if "fused" in s or "fused_qkv" in s:
        w.weight(p + "attn_qkv.weight", q_dim + 2 * kv_dim, dim)
        if "bias" in s:
            w.bias(p + "attn_qkv.bias", q_dim + 2 * kv_dim)
    elif "fused_attention" in s:
        w.weight(p + "attn_qkv.weight", 2 * q_dim + 2 * kv_dim, dim)
    else:
        for n, rows in kinds:
            w.weight(p + f"attn_{n}.weight", rows * (2 if n == "q" and "query_gate" in s else 1), dim)
            if "bias" in s:
                w.bias(p + f"attn_{n}.bias", rows)
    if "qk_norm" in s:
        size = lambda width: {"rows": width, "heads": (width // hd, hd)}.get(s["qk_norm"], hd)
        w.norm(p + "attn_q_norm.weight", size(q_dim))
        if has_own_kv(s, layer):
            w.norm(p + "attn_k_norm.weight", size(kv_dim))
    if "gate" in s:
        w.weight(p + "attn_gate.weight", q_dim, dim)
    w.weight(p + "attn_output.weight", dim, q_dim)
    if "sinks" in s:
        w.bias(p + "attn_output.bias", dim)
        w.given(p + "attn_sinks.weight", w.rng.standard_normal(s["heads"]))
    if "gemma" in s or "post_norms" in s:
        w.norm(p + "post_attention_norm.weight", dim)
        # Where few gates of a short row are open, what they let through is not to be all that counts.
        w.norm(p + "post_ffw_norm.weight", dim, s.get("ffn_share", 1.0))
    if s["arch"] == "falcon-h1":
        w.norm(p + "ffn_norm", dim)
    elif s.get("input_norms", True) is True and of_layer(s["ff"], layer) and "one_part" not in s:
        w.norm(p + ("post_attention_norm" if "sinks" in s else s.get("ffn_norm", "ffn_norm")) + ".weight", dim)


def latent_tensors(w, s, p):
    rank, query_rank, plain, rotated, value = s["latent"]
    dim, heads = s["dim"], s["heads"]
    w.norm(p + "attn_norm.weight", dim)
    if query_rank:
        w.weight(p + "attn_q_a.weight", query_rank, dim)
        w.norm(p + "attn_q_a_norm.weight", query_rank)
        w.weight(p + "attn_q_b.weight", heads * (plain + rotated), query_rank)
    else:
        w.weight(p + "attn_q.weight", heads * (plain + rotated), dim)
    w.weight(p + "attn_kv_a_mqa.weight", rank + rotated, dim)
    w.norm(p + "attn_kv_a_norm.weight", rank)
    if "old_latent" in s:
        w.weight(p + "attn_kv_b.weight", heads * (plain + value), rank)
    else:
        w.weight(p + "attn_k_b.weight", heads, rank, plain, std=rank ** -0.5)
        w.weight(p + "attn_v_b.weight", heads, value, rank)
    w.weight(p + "attn_output.weight", dim, heads * value)
    w.norm(p + "ffn_norm.weight", dim)


def ffn_tensors(w, s, p, ff):
    if not any(key in s for key in ("fused", "one_part", "no_gates")):
        w.weight(p + "ffn_gate.weight", ff, s["dim"])
    w.weight(p + "ffn_up.weight", ff * (2 if "fused" in s else 1), s["dim"])
    w.weight(p + "ffn_down.weight", s["dim"], ff)
    if "ffn_bias" in s:
        for n, rows in (("gate", ff), ("up", ff), ("down", s["dim"])):
            w.bias(p + f"ffn_{n}.bias", rows)


def both_parts_tensors(w, s, p):
    """Beside a dense part the experts have norms of their own, and so has their router."""
    w.norm(p + "ffn_gate_inp.scale", s["dim"])
    w.norm(p + "ffn_down_exps.scale", s["experts"])
    for n in ("pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2"):
        w.norm(p + n + ".weight", s["dim"])


def end_tensors(w, s, p):
    if "side" in s:
        w.weight(p + "inp_gate.weight", s["side"], s["dim"])
        w.weight(p + "proj.weight", s["dim"], s["side"])
        w.norm(p + "post_norm.weight", s["dim"])
    if s["arch"] == "gemma4":
        w.given(p + "layer_output_scale.weight", [w.rng.uniform(0.5, 1.0)])


def connection_tensors(w, s, name, injects):
    count, rank = s["connections"]
    wide = count * s["dim"]
    w.norm(name + "_norm.weight", wide)
    w.weight(name + "_down.weight", rank, wide)
    w.weight(name + "_up.weight", wide, rank)
    if injects:
        w.weight(name + "_inject.weight", count, wide, std=2 * wide ** -0.5)


def ngram_tensors(w, s, p):
    n, wide = s["ngrams"], s["connections"][0] * s["dim"]
    values = (n["longest"] - 1) * n["heads"] * n["length"]
    w.weight(p + "ple_key.weight", wide, values)
    w.weight(p + "ple_value.weight", s["dim"], values)
    w.given(p + "ple_conv1d.weight", 0.5 * w.rng.standard_normal((wide, n["taps"])))
    for name in ("ple_norm_key", "ple_norm_query", "ple_norm_conv"):
        w.norm(p + name + ".weight", wide)


def stream_tensors(w, s, p):
    count, dim = s["streams"], s["dim"]
    w.weight(p + "altup_router.weight", count, dim, kind="F32", std=0.5 * dim ** 0.5)
    w.norm(p + "altup_router_norm.weight", dim)
    w.given(p + "altup_predict_coef.weight", 0.2 * w.rng.standard_normal((count * count, count)))
    w.given(p + "altup_correct_coef.weight", 0.2 * w.rng.standard_normal((count, count)))
    w.norm(p + "altup_correct_scale.weight", dim)
    w.weight(p + "laurel_l.weight", s["rank"], dim)
    w.weight(p + "laurel_r.weight", dim, s["rank"])
    w.norm(p + "laurel_post_norm.weight", dim)


def expert_tensors(w, s, p):
    experts, dim, ff, kind = s["experts"], s["dim"], s.get("expert_ff", s["ff"]), s.get("expert_type")
    w.weight(p + "ffn_gate_inp.weight", experts, dim, kind="F32")
    if "choice_bias" in s:
        w.bias(p + "exp_probs_b.bias", experts)
    if "shared" in s:
        gate = (("gate", s["shared"], dim),) if "one_part" not in s else ()
        for n, rows, row in (*gate, ("up", s["shared"], dim), ("down", dim, s["shared"])):
            w.weight(p + f"ffn_{n}_shexp.weight", rows, row)
    if "shared_weight" in s:
        w.weight(p + "ffn_gate_inp_shexp.weight", dim, kind="F32", std=dim ** -0.5)
    if "latent_experts" in s:
        w.weight(p + "ffn_latent_down.weight", s["latent_experts"], dim)
        w.weight(p + "ffn_latent_up.weight", dim, s["latent_experts"])
        dim = s["latent_experts"]
    halves = (("gate_up", 2 * ff, dim),) if "fused_experts" in s else (("gate", ff, dim), ("up", ff, dim))
    if "one_part" in s:  # no gates
        halves = (("up", ff, dim),)
    for n, rows, row in (*halves, ("down", dim, ff)):
        w.weight(p + f"ffn_{n}_exps.weight", experts, rows, row, kind=kind)
        if "sinks" in s:
            w.bias(p + f"ffn_{n}_exps.bias", experts, rows)
    if "sinks" in s:
        w.bias(p + "ffn_gate_inp.bias", experts)


# ---- what it computes ----

def relative_error(actual, expected):
    return float(np.linalg.norm(actual - expected) / np.linalg.norm(expected))


def choose_prompt(decoder, name, vocabulary_size):
    """Returns the one of some random prompts whose greedy ids (and choice of experts) are the clearest."""
    rng = np.random.default_rng(zlib.crc32(name.encode()) + 1)
    best, clearest = None, -1.0
    for _ in range(PROMPTS_TRIED):
        tokens = [1] + rng.integers(3, vocabulary_size, PROMPT_TOKENS - 1).tolist()
        decoder.router_margin = np.inf
        greedy, rows = decoder.greedy(tokens, GREEDY_TOKENS)
        clear = min(gaps(rows).min(), decoder.router_margin)
        if clear > clearest and min(greedy) > 2:  # no id that ends the answer
            best, clearest = (tokens, greedy, rows), clear
    return best


def golden(path, name, context):
    file = gguf.GgufFile(path)
    decoder = Decoder(file, context)
    vocabulary_size = len(file.metadata["tokenizer.ggml.tokens"])
    tokens, greedy, greedy_rows = choose_prompt(decoder, name, vocabulary_size)
    rows = decoder.logits(tokens)
    stored = rows[POSITIONS].astype("<f4")
    bound = lambda kv: max(FLOAT32_BOUND, SLACK * relative_error(
        Decoder(file, context, Rounded(kv)).logits(tokens)[POSITIONS], rows[POSITIONS]))
    digits = lambda values: [round(float(v), 6) for v in values]
    stored.tofile(path.with_name(f"{name}.f32"))
    values = {"model": path.name, "context": context, "tokens": tokens, "positions": POSITIONS,
              "n_vocab": vocabulary_size, "logits": f"{name}.f32", "argmax": rows.argmax(axis=1).tolist(),
              "greedy": greedy, "gap": digits(gaps(rows)), "greedy_gap": digits(gaps(greedy_rows)),
              "tolerance": float(f"{bound('f16'):.3g}"), "tolerance_f32_kv": float(f"{bound('f32'):.3g}"),
              "tolerance_q8_0_kv": float(f"{bound('q8_0'):.3g}")}
    path.with_name(f"{name}.json").write_text(json.dumps(values) + "\n")
    print(f"{name:20} f16 {values['tolerance']:.1e}  f32 {values['tolerance_f32_kv']:.1e}  "
          f"q8_0 {values['tolerance_q8_0_kv']:.1e}  smallest greedy gap {min(values['greedy_gap']):.3f}  "
          f"{path.stat().st_size} bytes", flush=True)


def mtp_golden(path, name):
    """What the block behind the layers guesses after a prompt, and after some tokens that it may have guessed."""
    file = gguf.GgufFile(path)
    rng = np.random.default_rng(zlib.crc32(name.encode()) + 2)
    vocabulary_size = len(file.metadata["tokenizer.ggml.tokens"])
    tokens = [1] + rng.integers(3, vocabulary_size, PROMPT_TOKENS - 1).tolist()
    guesses = rng.integers(3, vocabulary_size, GUESSES).tolist()
    decoder = Decoder(file)
    rows = decoder.mtp(tokens, guesses)[1][-1 - GUESSES:]
    rounded = Decoder(file, None, Rounded("f16")).mtp(tokens, guesses)[1][-1 - GUESSES:]
    rows.astype("<f4").tofile(path.with_name(f"{name}.mtp"))
    values = {"tokens": tokens, "guesses": guesses, "logits": f"{name}.mtp",
              "tolerance": float(f"{max(FLOAT32_BOUND, SLACK * relative_error(rounded, rows)):.3g}")}
    path.with_name(f"{name}.mtp.json").write_text(json.dumps(values) + "\n")
    print(f"{name:20} multi-token prediction {values['tolerance']:.1e}", flush=True)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, s in shapes().items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        path = folder / f"{name}.gguf"
        gguf.write(path, metadata(name, s), tensors(name, s))
        golden(path, name, 512)
        if "joins" in s:
            mtp_golden(path, name)
        if name in SECOND_CONTEXTS:
            golden(path, *SECOND_CONTEXTS[name])


if __name__ == "__main__":
    main()
