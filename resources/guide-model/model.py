"""A llama-shaped decoder in bfloat16 over float32 master weights, written for one CPU core: the few operations that move
much memory have their gradients written out, so that nothing large is made twice."""
import math

import torch
import torch.nn.functional as F

LAYERS, DIM, HEADS, FF = 6, 256, 4, 640
HEAD = DIM // HEADS
ROPE_BASE, EPSILON = 10000.0, 1e-5
KEEP_PROBABILITIES_UP_TO = 1024
QUERY_CHUNK = 256


class Norm(torch.autograd.Function):
    """RMSNorm of a float32 stream, given out as bfloat16."""

    @staticmethod
    def forward(ctx, x, gain):
        r = (x.pow(2).mean(-1, keepdim=True) + EPSILON).rsqrt_()
        ctx.save_for_backward(x, gain, r)
        return (x * r).mul_(gain).bfloat16()

    @staticmethod
    def backward(ctx, dy):
        x, gain, r = ctx.saved_tensors
        dy, unit = dy.float(), x * r
        d_gain = (dy * unit).view(-1, gain.numel()).sum(0)
        dy.mul_(gain)
        mean = (dy * unit).mean(-1, keepdim=True)
        return dy.sub_(unit.mul_(mean)).mul_(r), d_gain


class Gate(torch.autograd.Function):
    """silu(gate) * up, from one tensor that holds both."""

    @staticmethod
    def forward(ctx, both):
        ctx.save_for_backward(both)
        gate, up = both.chunk(2, -1)
        return F.silu(gate).mul_(up)

    @staticmethod
    def backward(ctx, dy):
        (both,) = ctx.saved_tensors
        gate, up = both.chunk(2, -1)
        out = torch.empty_like(both)
        s = torch.sigmoid(gate)
        act = gate * s
        torch.mul(dy, act, out=out[..., gate.shape[-1]:])
        # d silu = s * (1 + gate * (1 - s)) = s + act - act * s
        d = s + act
        d.sub_(act.mul_(s)).mul_(up).mul_(dy)
        out[..., :gate.shape[-1]] = d
        return out


class Attention(torch.autograd.Function):
    """Causal attention by chunks of queries; q, k, v: (batch * heads, length, HEAD). Long windows recompute the
    probabilities in the backward pass instead of keeping them."""

    @staticmethod
    def probabilities(q, k, start, stop, scale, mask):
        s = torch.bmm(q[:, start:stop], k[:, :stop].transpose(1, 2)).mul_(scale)
        n = stop - start
        s[:, :, start:stop].add_(mask[:n, :n])
        return torch.softmax(s, -1)

    @staticmethod
    def forward(ctx, q, k, v):
        length, scale = q.shape[1], HEAD ** -0.5
        mask = torch.full((QUERY_CHUNK, QUERY_CHUNK), float("-inf"), dtype=q.dtype).triu_(1)
        out, kept = torch.empty_like(q), []
        for start in range(0, length, QUERY_CHUNK):
            stop = min(start + QUERY_CHUNK, length)
            p = Attention.probabilities(q, k, start, stop, scale, mask)
            out[:, start:stop] = torch.bmm(p, v[:, :stop])
            if length <= KEEP_PROBABILITIES_UP_TO:
                kept.append(p)
        ctx.kept, ctx.mask = kept, mask
        ctx.save_for_backward(q, k, v, out)
        return out

    @staticmethod
    def backward(ctx, d_out):
        q, k, v, out = ctx.saved_tensors
        length, scale = q.shape[1], HEAD ** -0.5
        dq = torch.empty_like(q)
        dk, dv = torch.zeros_like(k, dtype=torch.float32), torch.zeros_like(v, dtype=torch.float32)
        rows = (d_out.float() * out).sum(-1, keepdim=True).to(q.dtype)
        for index, start in enumerate(range(0, length, QUERY_CHUNK)):
            stop = min(start + QUERY_CHUNK, length)
            p = ctx.kept[index] if ctx.kept else Attention.probabilities(q, k, start, stop, scale, ctx.mask)
            d = d_out[:, start:stop]
            dv[:, :stop] += torch.bmm(p.transpose(1, 2), d)
            ds = torch.bmm(d, v[:, :stop].transpose(1, 2)).sub_(rows[:, start:stop]).mul_(p).mul_(scale)
            dq[:, start:stop] = torch.bmm(ds, k[:, :stop])
            dk[:, :stop] += torch.bmm(ds.transpose(1, 2), q[:, start:stop])
        return dq, dk.to(q.dtype), dv.to(q.dtype)


class Loss(torch.autograd.Function):
    """Weighted cross entropy over the tied vocabulary; the gradient is made at once, while the logits are at hand."""

    @staticmethod
    def forward(ctx, h, table, targets, weights):
        logits = F.linear(h, table).float()
        total = weights.sum()
        best = logits.argmax(-1)
        log_p = torch.log_softmax(logits, -1)
        nll = -log_p.gather(1, targets[:, None])[:, 0]
        grad = log_p.exp_()
        grad[torch.arange(len(targets)), targets] -= 1
        grad = grad.mul_((weights / total)[:, None]).to(h.dtype)
        ctx.save_for_backward(grad @ table, grad.t() @ h)
        return (nll * weights).sum() / total, ((best == targets) & (weights == 1)).sum() / (weights == 1).sum()

    @staticmethod
    def backward(ctx, d_loss, _):
        dh, d_table = ctx.saved_tensors
        return dh * d_loss, d_table * d_loss, None, None


def rope_tables(length):
    angles = torch.outer(torch.arange(length, dtype=torch.float32),
                         ROPE_BASE ** (-torch.arange(0, HEAD, 2, dtype=torch.float32) / HEAD))
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    """x: (batch, length, heads, HEAD); the first half of a head pairs with the second."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


class Guide:
    def __init__(self, vocabulary, seed=1):
        g = torch.Generator().manual_seed(seed)
        normal = lambda rows, cols, std: torch.randn(rows, cols, generator=g) * std
        self.parameters = {"embed": normal(vocabulary, DIM, 0.02), "norm": torch.ones(DIM)}
        for i in range(LAYERS):
            p = f"{i}."
            self.parameters |= {p + "attn_norm": torch.ones(DIM), p + "ffn_norm": torch.ones(DIM),
                                p + "qkv": normal(3 * DIM, DIM, DIM ** -0.5), p + "out": torch.zeros(DIM, DIM),
                                p + "gate_up": normal(2 * FF, DIM, DIM ** -0.5), p + "down": torch.zeros(DIM, FF)}
        for tensor in self.parameters.values():
            tensor.requires_grad_(True)
        self.rope = {}

    def hidden(self, ids):
        """ids: (batch, length) to the normed last states, bfloat16."""
        batch, length = ids.shape
        w = {n: t if t.dim() == 1 else t.bfloat16() for n, t in self.parameters.items()}
        if length not in self.rope:
            cos, sin = rope_tables(length)
            self.rope[length] = cos[:, None].bfloat16(), sin[:, None].bfloat16()
        cos, sin = self.rope[length]
        heads = lambda t: t.permute(0, 2, 1, 3).reshape(batch * HEADS, length, HEAD)
        x = F.embedding(ids, self.parameters["embed"])
        for i in range(LAYERS):
            p = f"{i}."
            qkv = F.linear(Norm.apply(x, w[p + "attn_norm"]), w[p + "qkv"])
            q, k, v = (t.view(batch, length, HEADS, HEAD) for t in qkv.chunk(3, -1))
            o = Attention.apply(heads(rotate(q, cos, sin)), heads(rotate(k, cos, sin)), heads(v))
            o = o.view(batch, HEADS, length, HEAD).permute(0, 2, 1, 3).reshape(batch, length, DIM)
            x = x + F.linear(o, w[p + "out"])
            both = F.linear(Norm.apply(x, w[p + "ffn_norm"]), w[p + "gate_up"])
            x = x + F.linear(Gate.apply(both), w[p + "down"])
        return Norm.apply(x, w["norm"]), w["embed"]

    def loss(self, ids, weights):
        """Mean over the tokens that count (weights of ids; what predicts ids[:, 0] is not asked)."""
        h, table = self.hidden(ids[:, :-1])
        weights, targets = weights[:, 1:].reshape(-1), ids[:, 1:].reshape(-1)
        rows = weights.nonzero()[:, 0]
        return Loss.apply(h.reshape(-1, DIM)[rows], table, targets[rows], weights[rows])

    def count(self):
        return sum(t.numel() for t in self.parameters.values())


class Muon:
    """Momentum whose step is made orthogonal, for the matrices; Adam for the table and the gains."""

    def __init__(self, model, lr=0.02, adam_lr=0.004, decay=0.02):
        self.p, self.lr, self.adam_lr, self.decay, self.t = model.parameters, lr, adam_lr, decay, 0
        self.state = {n: [torch.zeros_like(t) for _ in range(1 if self.is_matrix(n) else 2)] for n, t in self.p.items()}

    @staticmethod
    def is_matrix(name):
        return name.split(".")[-1] in ("qkv", "out", "gate_up", "down")

    @staticmethod
    def orthogonal(g):
        x = g.bfloat16()
        tall = x.shape[0] > x.shape[1]
        x = x.t() if tall else x
        x = x / (x.norm() + 1e-7)
        for _ in range(5):
            a = x @ x.t()
            x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
        return (x.t() if tall else x).float()

    @torch.no_grad()
    def step(self, scale):
        self.t += 1
        for name, p in self.p.items():
            g = p.grad
            if self.is_matrix(name):
                (m,) = self.state[name]
                m.mul_(0.95).add_(g)
                g = g.add(m, alpha=0.95)
                pieces = {"qkv": 3, "gate_up": 2}.get(name.split(".")[-1], 1)
                for part, piece in zip(p.chunk(pieces), g.chunk(pieces)):
                    step = self.orthogonal(piece) * max(1, part.shape[0] / part.shape[1]) ** 0.5
                    part.mul_(1 - self.lr * scale * self.decay).add_(step, alpha=-self.lr * scale)
            else:
                m, v = self.state[name]
                m.mul_(0.9).add_(g, alpha=0.1)
                v.mul_(0.98).addcmul_(g, g, value=0.02)
                up = (m / (1 - 0.9 ** self.t)) / ((v / (1 - 0.98 ** self.t)).sqrt() + 1e-8)
                p.add_(up, alpha=-self.adam_lr * scale)
            p.grad = None
