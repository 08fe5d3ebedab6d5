#!/usr/bin/env python3
"""Times what `napkin search` makes of ordinary operations beside PyTorch, eager and compiled, on this machine's GPU, in turn.

usage: bench/operations.py NAPKIN DERIVATIONS OUT.jsonl [OPERATION...]     (all of bench/operations without names)

DERIVATIONS is a folder with a .drv for each diagram of bench/operations, as `napkin search FILE.ncd -o FILE.drv` writes them:
nobody tuned them. Each line of the output is one operation: microseconds of napkin's kernels and of both peers on the same
inputs, how often as fast as the faster peer napkin is, what the model predicted, and the largest difference of the
results over the largest value.
"""
import datetime
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

import torch
import torch.nn.functional as F

from beside import Exports, Refused, Turns, median, ratio

HERE = pathlib.Path(__file__).parent / "operations"
DEVICE = "cuda"


def normed(x, dims, eps):
    mean = x.mean(dims, keepdim=True)
    return (x - mean) * torch.rsqrt(x.var(dims, unbiased=False, keepdim=True) + eps)


def rms(x, eps):
    f = x.float()
    return (f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype)


def channels_last(call):
    return lambda X: call(X.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


def rotated(X, c, s):
    a, b = X.float().chunk(2, -1)
    c, s = c[None, :, None], s[None, :, None]
    return torch.cat((a * c - b * s, b * c + a * s), -1).bfloat16()


def retained(Q, K, V, decay):
    t = torch.arange(Q.shape[-2], device=Q.device)
    gap = (t[None, :] - t[:, None]).float()
    weight = torch.where(gap <= 0, torch.exp(gap * decay[:, None, None]), 0.0)
    return ((Q @ K.transpose(-1, -2)).float() * weight).bfloat16() @ V


def layernorm_backward(X, G, gain, m, r):
    n = (X.float() - m[:, None]) * r[:, None]
    w = G.float() * gain.float()
    return ((w - w.mean(-1, keepdim=True) - n * (w * n).mean(-1, keepdim=True)) * r[:, None]).bfloat16()


def group_norm(X, gamma, beta):
    return (normed(X.float(), (1, 3), 1e-5) * gamma + beta).bfloat16()


def causal_convolution(X, W, v):
    y = F.conv1d(X.transpose(1, 2), W.t()[:, None].contiguous(), v, padding=W.shape[0] - 1, groups=X.shape[2])
    return F.silu(y[..., : X.shape[1]]).transpose(1, 2)


def kl_divergence(A, B):
    a, b = F.log_softmax(A.float(), -1), F.log_softmax(B.float(), -1)
    return (a.exp() * (a - b)).sum(-1)


def quantised(X):
    scale = X.float().abs().amax(-1) / 448
    return scale, (X.float() / scale.clamp_min(1e-6)[:, None]).to(torch.float8_e4m3fn)


def gated(X):
    a, b = X.chunk(2, -1)
    return F.silu(a) * b


def gate(X, W):
    return torch.topk(torch.softmax((X @ W.t()).float(), -1), 2)


def masked_mean(X, length):
    seen = torch.arange(X.shape[1], device=X.device)[None, :, None] < length[:, None, None]
    return torch.where(seen, X.float(), 0.0).sum(1) / length[:, None]


def add_norm(X, R, g):
    z = X + R
    return z, rms(z, 1e-6) * g


def radial(X, Y, w):
    return torch.exp(-torch.cdist(X.float(), Y.float()).square()) @ w


def mean_and_variance(X):
    x = X.float()
    return x.mean(0), x.var(0, unbiased=False)


def depthwise(X, W):
    return channels_last(lambda x: F.conv2d(x, W.permute(2, 0, 1)[:, None], groups=X.shape[-1]))(X)


PEERS = {
    "add_norm": add_norm,
    "argmax": lambda X: X.argmax(-1).int(),
    "batch_statistics": mean_and_variance,
    "bias_gradient": lambda G: G.sum(0, dtype=torch.float32),
    "bilinear": lambda X, Y, W: ((X @ W) * Y).sum(-1, dtype=torch.float32),
    "causal_convolution": causal_convolution,
    "contrastive": lambda X, Y: torch.logsumexp((X @ Y.t()).float() * 14.3, -1),
    "covariance": lambda X, Y: (X.t() @ Y).float() / X.shape[0],
    "cross_attention": lambda Q, K, V: F.scaled_dot_product_attention(Q, K, V),
    "cumulative": lambda X: X.cumsum(-1),
    "depthwise_convolution": depthwise,
    "eight_rows": lambda X, W: X @ W.t(),
    "embedding_sum": lambda E, P, word: F.embedding(word, E) + P,
    "gate": gate,
    "gated": gated,
    "glu_linear": lambda X, U, V, R: R + (X @ U.t()) * torch.sigmoid(X @ V.t()),
    "group_norm": group_norm,
    "heads_first": lambda X: X.transpose(1, 2).contiguous(),
    "image_normed": lambda X, m, s: ((X / 255.0 - m) * s).half().permute(0, 3, 1, 2).contiguous(),
    "int8_linear": lambda X, W, s: (X @ W.bfloat16().t()) * s.bfloat16(),
    "int8_rows": lambda X, W, s: (X @ W.bfloat16().t()) * s.bfloat16(),
    "kl_divergence": kl_divergence,
    "layernorm_backward": layernorm_backward,
    "logits_loss": lambda X, label: F.cross_entropy(X.float(), label.long(), reduction="none"),
    "low_rank_linear": lambda X, W, A, B: X @ W.t() + (X @ A.t()) @ B.t(),
    "masked_linear": lambda X, W, M: torch.where(M == 1, X, 0.0) @ W.t(),
    "matmul_f32": lambda A, B: A @ B.t(),
    "max_pool": channels_last(lambda x: F.max_pool2d(x, 2)),
    "mean_of_lengths": masked_mean,
    "mlp": lambda X, U, W: F.gelu(X @ U.t()) @ W.t(),
    "moving_average": lambda X: F.avg_pool1d(X, 32, 1),
    "nearest": lambda X, C, s: (s - 2 * (X @ C.t()).float()).argmin(-1).int(),
    "normed_attention": lambda Q, K, V: F.scaled_dot_product_attention(rms(Q, 1e-6), rms(K, 1e-6), V, is_causal=True),
    "one_row": lambda X, W: X @ W.t(),
    "outer_mean": lambda A, B: torch.einsum("sic,sjd->ijcd", A, B) / A.shape[0],
    "pair_bias_attention": lambda Q, K, V, B: F.scaled_dot_product_attention(Q, K, V, attn_mask=B.expand(Q.shape[0], -1, -1, -1)),
    "quantised": quantised,
    "radial_kernel": radial,
    "retention": retained,
    "rotary": rotated,
    "small_mlp": lambda X, U, V, W: F.relu(F.relu(X @ U.t()) @ V.t()) @ W.t(),
    "small_products": lambda A, B: torch.bmm(A, B),
    "softmax_backward": lambda P, G: (P.float() * (G.float() - (G.float() * P.float()).sum(-1, keepdim=True))).bfloat16(),
    "softmax_words": lambda X: torch.softmax(X, -1),
    "transposed": lambda X: X.t().contiguous(),
    "triangle": lambda A, B: torch.einsum("ikc,jkc->ijc", A, B),
    "triangle_channels_first": lambda A, B: A @ B.transpose(1, 2),
    "variance": lambda X: X.var(-1, unbiased=False),
    "weight_gradient": lambda G, X: G.t() @ X,
}


def difference(ours, theirs):
    """Of the results, over the largest value; of indices, the part that differs."""
    worst = 0.0
    for a, b in zip(*([each] if torch.is_tensor(each) else list(each) for each in (ours, theirs))):
        if not a.is_floating_point():
            worst = max(worst, (a != b).double().mean().item())
            continue
        a, b = a.double(), b.double()
        worst = max(worst, ((a - b).abs().max() / b.abs().max().clamp_min(1e-30)).item())
    return worst


# Whole numbers below which inputs are drawn; those that are not named are numbers of their type.
BELOW = {"logits_loss": {"label": 128256}, "embedding_sum": {"word": 50257}, "masked_linear": {"M": 2}, "mean_of_lengths": {"length": 2049}}


def drawn(name, array, shape):
    below = BELOW.get(name, {}).get(array.name)
    if below:
        return torch.randint(0, below, shape, device=DEVICE).to(array.dtype)
    if not array.dtype.is_floating_point:
        return torch.randint(-128, 128, shape, device=DEVICE).to(array.dtype)
    values = torch.randn(shape, device=DEVICE)
    return (values.abs() if len(shape) == 1 else values).to(array.dtype)


def measured(turns, exports, name, derivation):
    line = {"operation": name}
    job = HERE / f"{name}.ncd", derivation, {}
    exports.export(*job)
    module = exports.module(exports.name(*job))
    inputs = [drawn(name, array, [module._AXES[axis].fixed for axis in array.axes]) for array in module._INPUTS]
    call, _ = exports.operator(*job, {array.name: each for array, each in zip(module._INPUTS, inputs)})
    torch._dynamo.reset()
    compiled = torch.compile(PEERS[name], dynamic=False)
    named = {array.name: each for array, each in zip(module._INPUTS, inputs)}
    theirs = None
    calls = {"napkin": call, "eager": lambda: PEERS[name](**named), "compiled": lambda: compiled(**named)}
    for peer in ("eager", "compiled"):
        try:
            theirs = calls[peer]()
        except Exception as error:  # the other peer is worth having
            line[f"{peer}_failed"] = repr(error)[:200]
            del calls[peer]
    line["difference"] = None if theirs is None else difference(call(), theirs)
    del theirs
    times = turns.times(calls, 10)
    line |= {f"{each}_us": median(of_each) for each, of_each in times.items()}
    best = min((peer for peer in calls if peer != "napkin"), key=lambda peer: median(times[peer]))
    return line | {"ratio": ratio(times[best], times["napkin"]), "to": best}


def main():
    napkin, derivations, out, *only = sys.argv[1:]
    exports = Exports(napkin, None, os.environ.get("NAPKIN_FOLDER"))
    names = [path.stem for path in sorted(HERE.glob("*.ncd")) if not only or path.stem in only]
    derivation = {name: pathlib.Path(derivations) / f"{name}.drv" for name in names}
    exports.prepare([(HERE / f"{name}.ncd", derivation[name], {}) for name in names])
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    turns = Turns()
    commit = os.environ.get("NAPKIN_COMMIT") or subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()
    lines = [{"date": str(datetime.date.today()), "commit": commit, "device": torch.cuda.get_device_name(), "torch": torch.__version__}]
    with torch.cuda.stream(turns.stream), torch.no_grad():
        for name in names:
            try:
                line = measured(turns, exports, name, derivation[name])
            except (Refused, RuntimeError, ValueError) as error:  # the other operations are worth having
                line = {"operation": name, "failed": repr(error)[:400]}
            lines.append(line)
            print(json.dumps(line), flush=True)
            pathlib.Path(out).write_text("".join(json.dumps(each) + "\n" for each in lines))
            torch.cuda.empty_cache()
    ratios = [line["ratio"] for line in lines if "ratio" in line]
    print("geometric mean", round(math.exp(statistics.fmean(map(math.log, ratios))), 3), "of", len(ratios))


if __name__ == "__main__":
    main()
