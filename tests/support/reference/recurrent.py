"""The mixers of recurrent layers in float64 numpy, token by token as their papers define them. `decoder.py` calls them.

W taps of the convolution, S length of keys, G key heads, N value heads, P values of a head, I = N P.

delta net    qwen35, qwen35moe, qwen3next (arXiv 2412.06464). attn_qkv: [q (G S), k (G S), v (I)], through a causal
             convolution of each channel by itself and SiLU. q and k divided by their length, q also by sqrt(S).
             beta = sigmoid(ssm_beta x); the state decays by exp(ssm_a softplus(ssm_alpha x + ssm_dt.bias)).
             State M (S, P) of each head: M = decay M; M += k (beta (v - M^T k))^T; out = M^T q.
             Then rms_norm of each head by ssm_norm, times SiLU(attn_gate x), and ssm_out.
             Value head h reads key head h mod G; in qwen3next h div (N / G), where ssm_ba has for each key head the
             rows of beta of its value heads, then those of alpha. Old files have ssm_in in place of attn_qkv and
             attn_gate: for each key head the rows of q, of k, of v of its value heads, and of the gate of these.
Mamba-2      granitehybrid, nemotron_h, falcon-h1 (arXiv 2405.21060). ssm_in: [z (I), x (I), B (G S), C (G S), dt (N)];
             x, B, C through convolution with bias and SiLU; dt = softplus(dt + ssm_dt.bias).
             M = exp(dt ssm_a) M + B (dt x)^T; out = M^T C + ssm_d x; head h reads group h div (N / G).
             Then out SiLU(z), rms_norm of each group of I / G values by ssm_norm (if there is one), and ssm_out.
convolution  lfm2: shortconv.in_proj gives [b, c, u] of dim values each; c * conv(b * u), and shortconv.out_proj.
"""
import numpy as np


def silu(x):
    return x / (1 + np.exp(-x))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def convolve(x, taps, bias=0.0):
    """x: (tokens, channels); taps: (channels, width), the newest token's last. Nothing comes before the first token."""
    width = taps.shape[1]
    padded = np.concatenate([np.zeros((width - 1, x.shape[1])), x])
    return sum(padded[j:j + len(x)] * taps[:, j] for j in range(width)) + bias


def scan(decay, keys, values, queries, beta=None):
    """(tokens, heads, ..) each; out: (tokens, heads, values). With beta the delta rule, without it the plain sum."""
    state = np.zeros((keys.shape[1], keys.shape[2], values.shape[2]))
    out = np.empty_like(values)
    for t in range(len(keys)):
        state = state * decay[t][:, None, None]
        value = values[t]
        if beta is not None:
            value = beta[t][:, None] * (value - np.einsum("hkv,hk->hv", state, keys[t]))
        state = state + keys[t][:, :, None] * value[:, None, :]
        out[t] = np.einsum("hkv,hk->hv", state, queries[t])
    return out


def sizes(d):
    s = {n: d.key("ssm." + k) for n, k in (("size", "state_size"), ("groups", "group_count"), ("heads", "time_step_rank"),
                                           ("inner", "inner_size"))}
    return s["size"], s["groups"], s["heads"], s["inner"] // s["heads"]


def delta_net(d, x, p):
    size, groups, heads, length = sizes(d)
    if p + "ssm_in.weight" in d.tensors:
        values = heads // groups * length
        parts = np.split(d.product(x, p + "ssm_in").reshape(len(x), groups, -1), [size, 2 * size, 2 * size + values], axis=2)
        *mixed, z = (y.reshape(len(x), -1) for y in parts)
        mixed = np.concatenate(mixed, axis=1)
    else:
        z, mixed = d.product(x, p + "attn_gate"), d.product(x, p + "attn_qkv")
    z = z.reshape(len(x), heads, length)
    mixed = silu(convolve(mixed, d.weight(p + "ssm_conv1d.weight")))
    q, k, v = np.split(mixed, [groups * size, 2 * groups * size], axis=1)
    q, k = (y.reshape(len(x), groups, size) for y in (q, k))
    q, k = (y / np.sqrt((y * y).sum(axis=-1, keepdims=True) + d.epsilon) for y in (q, k))
    run = heads // groups
    if p + "ssm_ba.weight" in d.tensors:
        both = d.product(x, p + "ssm_ba").reshape(len(x), groups, 2, run)
        beta, alpha = (both[:, :, i].reshape(len(x), heads) for i in range(2))
    else:
        beta, alpha = d.product(x, p + "ssm_beta"), d.product(x, p + "ssm_alpha")
    key_head = np.arange(heads) // run if d.arch == "qwen3next" else np.arange(heads) % groups
    decay = np.exp(d.weight(p + "ssm_a") * np.logaddexp(0, alpha + d.weight(p + "ssm_dt.bias")))
    out = scan(decay, k[:, key_head], v.reshape(len(x), heads, length), q[:, key_head] / np.sqrt(size), sigmoid(beta))
    out = d.rms_norm(out, p + "ssm_norm.weight") * (sigmoid if d.arch == "qwen4exp" else silu)(z)
    return d.product(out.reshape(len(x), -1), p + "ssm_out")


def mamba2(d, x, p):
    size, groups, heads, length = sizes(d)
    inner = heads * length
    z, mixed, dt = np.split(d.product(x, p + "ssm_in"), [inner, 2 * inner + 2 * groups * size], axis=1)
    mixed = silu(convolve(mixed, d.weight(p + "ssm_conv1d.weight"), d.maybe(p + "ssm_conv1d.bias", 0.0)))
    v, b, c = np.split(mixed, [inner, inner + groups * size], axis=1)
    v = v.reshape(len(x), heads, length)
    b, c = (np.repeat(y.reshape(len(x), groups, size), heads // groups, axis=1) for y in (b, c))
    dt = np.logaddexp(0, dt + d.weight(p + "ssm_dt.bias"))
    out = scan(np.exp(dt * d.weight(p + "ssm_a").reshape(-1)), b, dt[:, :, None] * v, c)
    out = out + d.weight(p + "ssm_d").reshape(-1, 1) * v
    out = out.reshape(len(x), -1) * silu(z)
    if p + "ssm_norm.weight" in d.tensors:
        grouped = out.reshape(len(x), groups, -1)
        grouped = grouped / np.sqrt((grouped * grouped).mean(axis=-1, keepdims=True) + d.epsilon)
        out = grouped.reshape(len(x), -1) * d.weight(p + "ssm_norm.weight").reshape(-1)
    return d.product(out, p + "ssm_out")


def short_convolution(d, x, p):
    b, c, u = np.split(d.product(x, p + "shortconv.in_proj"), 3, axis=1)
    return d.product(c * convolve(b * u, d.weight(p + "shortconv.conv.weight")), p + "shortconv.out_proj")
