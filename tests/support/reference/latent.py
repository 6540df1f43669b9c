"""Latent attention (deepseek2, mistral4), as its authors write it: every head has keys and values of its own, all made of
one row that a token has (arXiv 2405.04434). The engine never makes them; it attends the rows as they lie.

C = attention.kv_lora_rank, R = rope.dimension_count, keys of attention.key_length_mla, values of value_length_mla.
q        attn_q @ x, or attn_q_b @ rms_norm(attn_q_a @ x, attn_q_a_norm); by head [not rotated | rotated (R)].
c, r     attn_kv_a_mqa @ x, split at C; c = rms_norm(c, attn_kv_a_norm); r is rotated. Neighbours turn.
head h   keys [attn_k_b[h].T @ c | r], values attn_v_b[h] @ c. Older files: attn_kv_b has by head the rows of keys (not
         turned over), then those of values, and attention.key_length, value_length are those of the heads.
scores   q . k / sqrt(length of a key); with YaRN times (1 + m ln f)^2, m = rope.scaling.yarn_log_multiplier, and the
         rotation has no factor.
groups   of experts (expert_group_count): a group is worth the sum of its two best choices, and the experts of the
         expert_group_used_count best groups compete.
"""
import numpy as np


def projections(decoder, p, heads, key):
    """(heads, key, C) and (heads, value, C): of keys what is not rotated."""
    if p + "attn_k_b.weight" in decoder.tensors:
        return decoder.weight(p + "attn_k_b.weight").transpose(0, 2, 1), decoder.weight(p + "attn_v_b.weight")
    both = decoder.weight(p + "attn_kv_b.weight").reshape(heads, -1, decoder.key("attention.kv_lora_rank"))
    return both[:, :key], both[:, key:]


def score_scale(decoder, length):
    magnitude = 1.0
    if decoder.key("rope.scaling.type", "none") == "yarn":
        magnitude += decoder.key("rope.scaling.yarn_log_multiplier", 0.0) * np.log(decoder.key("rope.scaling.factor"))
    return magnitude ** 2 / np.sqrt(length)


def attention(decoder, x, p, layer, positions):
    heads, rank, rotated = decoder.heads, decoder.key("attention.kv_lora_rank"), decoder.key("rope.dimension_count")
    length = decoder.key("attention.key_length_mla", decoder.hd)
    if p + "attn_q_a.weight" in decoder.tensors:
        low = decoder.rms_norm(decoder.product(x, p + "attn_q_a"), p + "attn_q_a_norm.weight")
        q = decoder.product(low, p + "attn_q_b")
    else:
        q = decoder.product(x, p + "attn_q")
    q = q.reshape(len(x), heads, length)
    kept = decoder.product(x, p + "attn_kv_a_mqa")
    turn = decoder.rotation(positions, layer)
    plain = length - rotated
    q = np.concatenate([q[..., :plain], decoder.rotate(q[..., plain:], *turn)], axis=2)
    q = q * decoder.temperature(positions, layer)[:, None, None]
    row = np.concatenate([decoder.rms_norm(kept[:, :rank], p + "attn_kv_a_norm.weight"),
                          decoder.rotate(kept[:, None, rank:], *turn)[:, 0]], axis=1)
    keys = decoder.numerics.cache(row[:, None])[:, 0]
    of_keys, of_values = projections(decoder, p, heads, plain)
    k = np.concatenate([np.einsum("jc,hdc->jhd", keys[:, :rank], of_keys),
                        np.repeat(keys[:, None, rank:], heads, axis=1)], axis=2)
    v = np.einsum("jc,hdc->jhd", keys[:, :rank], of_values)
    scores = np.einsum("ihd,jhd->hij", q, k) * score_scale(decoder, length)
    scores = np.where(positions[:, None] >= positions[None, :], scores, -np.inf)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return decoder.product(np.einsum("hij,jhd->ihd", shares, v).reshape(len(x), -1), p + "attn_output")


def without_lesser_groups(choice, groups, used):
    """choice: (experts,), in which those that do not compete are -inf."""
    by_group = choice.reshape(groups, -1)
    worth = np.sort(by_group, axis=1)[:, -2:].sum(axis=1)
    kept = np.argsort(-worth, kind="stable")[:used]
    out = np.full_like(by_group, -np.inf)
    out[kept] = by_group[kept]
    return out.reshape(-1)
