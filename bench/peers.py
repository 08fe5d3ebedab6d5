#!/usr/bin/env python3
"""Times napkin's kernels of one target beside PyTorch's, on this machine's GPU, in one run.

usage: bench/peers.py NAPKIN TARGET OUT.jsonl [WORKLOAD...]     (all workloads and the errors without names)

napkin's kernels are its exported operator; bench/beside.py says how both sides are timed, in turn. Each line of the
output is one workload: microseconds of napkin's kernels and of every peer, the ratio to the one that its target
is measured by, and microseconds of the host for a call and for the first call, of a compiled operator. With shapes small enough both results are also compared with double precision on the same inputs.
NAPKIN_CHECK=1 runs every operator's self-test too; NAPKIN_FOLDER keeps what is exported.
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
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from beside import Exports, Refused, Turns, median, ratio

NAPKIN, TARGET, OUT = sys.argv[1:4]
ONLY = sys.argv[4:]
CHECK = bool(os.environ.get("NAPKIN_CHECK"))
HERE = pathlib.Path(__file__).parent / "workloads"
EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
DEVICE = "cuda"
EXPORTS = Exports(NAPKIN, TARGET, os.environ.get("NAPKIN_FOLDER"))


def commit():
    """The commit measured: NAPKIN_COMMIT where the folder is no checkout."""
    if "NAPKIN_COMMIT" in os.environ:
        return os.environ["NAPKIN_COMMIT"]
    said = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return said.stdout.strip() or "unknown"


def files(name, sizes={}):
    """The derivation of that name, the target's own first, and of those the one for these heads and this many queries; and
    the diagram of the longest name that it begins with, beside it if there is one."""
    heads = f"{name}_d{sizes.get('d')}"
    limits = {int(path.stem.rpartition("_")[2]): path for path in (HERE / TARGET).glob(f"{heads}_to_*.drv")}
    upto = [limits[most] for most in sorted(limits) if sizes.get("q", 8192) <= most]
    own = [*upto, HERE / TARGET / f"{heads}.drv", HERE / TARGET / f"{name}.drv"]
    folders = sorted((HERE, EXAMPLES), key=lambda folder: not (folder / f"{name}.drv").exists())
    # Of another type or with run-time sizes, that of the plain workload.
    plain = HERE / TARGET / f"{name.rpartition('_')[0]}.drv"
    derivation = next((path for path in (*own, folders[0] / f"{name}.drv", plain) if path.exists()), None)
    diagram = name
    while diagram:
        for folder in folders:
            if (folder / f"{diagram}.ncd").exists():
                return folder / f"{diagram}.ncd", derivation
        diagram = diagram.rpartition("_")[0]
    raise FileNotFoundError(name)


def randn(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device=DEVICE, dtype=dtype)


def with_backend(backend, call):
    def chosen():
        with sdpa_kernel(backend):
            return call()

    return chosen


BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def sdpa(*tensors, **more):
    call = lambda: F.scaled_dot_product_attention(*tensors, **more)
    return {name: with_backend(backend, call) for name, backend in BACKENDS.items()}


def attention(causal, sizes):
    q = randn(sizes["b"], sizes["h"], sizes["q"], sizes["d"])
    k, v = (randn(sizes["b"], sizes["h"], sizes["x"], sizes["d"]) for _ in range(2))
    return sdpa(q, k, v, is_causal=causal), "cudnn" if TARGET == "sm_90a" else "flash"


def backward(causal, sizes):
    """Of PyTorch's, which make D of dO and O too; napkin's kernels are given it."""
    q, do = (randn(sizes["b"], sizes["h"], sizes["q"], sizes["d"]) for _ in range(2))
    k, v = (randn(sizes["b"], sizes["h"], sizes["x"], sizes["d"]) for _ in range(2))
    inputs = [each.requires_grad_() for each in (q, k, v)]
    peers = {}
    for name, forward in sdpa(q, k, v, is_causal=causal).items():
        out = forward()
        peers[name] = lambda out=out: torch.autograd.grad(out, inputs, do, retain_graph=True)
    return peers, "cudnn"


def causal_mask(b, h, q, x):
    return x <= q


def flex(sizes, mask=causal_mask, score=None, queries=1):
    """FlexAttention, compiled; `queries` heads of them share the keys and values of one."""
    q = randn(sizes["b"], sizes["h"] * queries, sizes["q"], sizes["d"])
    k, v = (randn(sizes["b"], sizes["h"], sizes["q"], sizes["d"]) for _ in range(2))
    torch._dynamo.reset()
    compiled = torch.compile(flex_attention)
    blocks = mask and create_block_mask(mask, None, None, sizes["q"], sizes["q"])
    call = lambda: compiled(q, k, v, score_mod=score, block_mask=blocks, enable_gqa=queries > 1)
    return {"flex": call}, "flex"


def window(sizes):
    return flex(sizes, lambda b, h, q, x: (x <= q) & (q - x < sizes["w"]))


def equal_documents(count):
    """The inputs of so many documents of one length."""

    def arrays(sizes):
        document = torch.arange(sizes["q"], dtype=torch.int32, device=DEVICE) * count // sizes["q"]
        return {"document": document[None], "length": torch.tensor([sizes["q"]], dtype=torch.int32, device=DEVICE)}

    return arrays


def documents(count, sizes):
    document = torch.arange(sizes["q"], device=DEVICE) * count // sizes["q"]
    return flex(sizes, lambda b, h, q, x: (x <= q) & (document[q] == document[x]))


def unequal_lengths(sizes):
    """From an eighth of the longest to that."""
    b = sizes["b"]
    return {"length": torch.linspace(sizes["q"] // 8, sizes["q"], b).to(DEVICE, torch.int32)}


def lengths(sizes):
    length = unequal_lengths(sizes)["length"]
    q, k, v = (randn(sizes["b"], sizes["h"], sizes["q"], sizes["d"]) for _ in range(3))
    torch._dynamo.reset()
    compiled = torch.compile(flex_attention)
    blocks = create_block_mask(lambda b, h, q, x: x < length[b], sizes["b"], None, sizes["q"], sizes["q"])
    return {"flex": lambda: compiled(q, k, v, block_mask=blocks)}, "flex"


def around_flex(sizes, call, *shapes):
    """FlexAttention under a causal mask as a part of `call(attention, sizes, *tensors)`, compiled together."""
    tensors = [randn(*shape) for shape in shapes]
    torch._dynamo.reset()
    blocks = create_block_mask(causal_mask, None, None, sizes["q"], sizes["q"])
    attention = lambda q, k, v, **more: flex_attention(q, k, v, block_mask=blocks, **more)
    compiled = torch.compile(lambda *each: call(attention, *each))
    return {"flex": lambda: compiled(*tensors)}, "flex"


def qkv(sizes):
    return [(sizes["b"], sizes["h"], sizes["q"], sizes["d"])] * 3


def sink(sizes):
    def call(attention, q, k, v, logit):
        out, lse = attention(q, k, v, return_lse=True)
        return out * torch.sigmoid(lse - logit[:, None])[..., None].to(out.dtype)

    return around_flex(sizes, call, *qkv(sizes), (sizes["h"],))


def log_sum(sizes):
    return around_flex(sizes, lambda attention, q, k, v: attention(q, k, v, return_lse=True), *qkv(sizes))


def differential(sizes):
    def call(attention, q, k, r, l, v, factor):
        return attention(q, k, v) - factor[:, None, None] * attention(r, l, v)

    narrow = (sizes["b"], sizes["h"], sizes["q"], sizes["d"])
    return around_flex(sizes, call, *[narrow] * 4, (*narrow[:3], sizes["e"]), (sizes["h"],))


def sigmoid(sizes):
    """FlexAttention has no other weights than softmax's: PyTorch compiled, which has all of them in memory."""
    scale = sizes["d"] ** -0.5
    call = lambda q, k, v: torch.sigmoid(q @ k.mT * scale - math.log(sizes["q"])) @ v
    return compiled_layer(call, *qkv(sizes))


def softcap(sizes):
    return flex(sizes, None, lambda s, b, h, q, x: 50 * torch.tanh(s / 50))


def alibi(sizes):
    slope = torch.rand(sizes["h"], device="cuda")
    return flex(sizes, score=lambda s, b, h, q, x: s - slope[h] * (q - x))


def grouped_queries(sizes):
    return flex(sizes, queries=sizes["g"])


def compiled_layer(call, *shapes):
    tensors = [randn(*shape) for shape in shapes]
    torch._dynamo.reset()
    compiled = torch.compile(call)
    return {"eager": lambda: call(*tensors), "compiled": lambda: compiled(*tensors)}, ("eager", "compiled")


class Scaled:
    """A call whose times count so many times."""

    def __init__(self, call, factor):
        self.call, self.factor = call, factor

    def __call__(self):
        return self.call()


def own(flops, of="attention"):
    """napkin's own attention or product, whose rate for as many operations is what forms without a peer are measured by."""
    sizes = {"b": 1, "h": 16, "q": 8192, "x": 8192, "d": 128} if of == "attention" else {"a": 8192, "b": 8192, "c": 8192}
    own_flops = 4 * 16 * 8192**2 * 128 if of == "attention" else 2 * 8192**3
    return {of: Scaled(exported(of, sizes), flops / own_flops)}, of


def own_attention(sizes, visible=1.0):
    return own(4 * sizes["b"] * sizes["h"] * sizes["q"] * sizes.get("x", sizes["q"]) * sizes["d"] * visible)


def own_product(*axes):
    return lambda sizes: own(2 * math.prod(sizes.get(axis, 3) for axis in axes), "matmul")


def matmul_chain(sizes):
    return own(2 * sizes["n"] * sizes["f"] * (sizes["d"] + sizes["o"]), "matmul")


def matmul_int4(sizes):
    """Of few rows the weights' bytes are what counts, of more the product in 16 bits."""
    m, n, k = sizes["m"], sizes["n"], sizes["g"] * sizes["k"]
    weights, to = torch.zeros(n * k // 2, dtype=torch.uint8, device=DEVICE), torch.empty(n * k // 2, dtype=torch.uint8, device=DEVICE)
    peers = {"copy": lambda: to.copy_(weights), **matmul({"a": m, "b": k, "c": n})[0], **own(2 * m * n * k, "matmul")[0]}
    return peers, "copy" if m <= 16 else "matmul"


def swiglu(sizes):
    n, d, f = sizes["n"], sizes["d"], sizes["f"]
    return compiled_layer(lambda x, w, v: F.silu(x @ w.t()) * (x @ v.t()), (n, d), (f, d), (f, d))


def matmul_epilogue(sizes):
    m, k, n = sizes["m"], sizes["k"], sizes["n"]
    call = lambda x, w, shift, bias, r: F.gelu(F.relu(x + shift) @ w.t() + bias) + r
    return compiled_layer(call, (m, k), (n, k), (k,), (n,), (m, n))


def rmsnorm_linear(sizes):
    n, d, c = sizes["n"], sizes["d"], sizes["c"]
    return compiled_layer(lambda x, g, w: F.rms_norm(x, (d,), g, 1e-6) @ w.t(), (n, d), (d,), (c, d))


def layernorm_linear(sizes):
    n, d, c = sizes["n"], sizes["d"], sizes["c"]
    return compiled_layer(lambda x, g, b, w: F.layer_norm(x, (d,), g, b, 1e-6) @ w.t(), (n, d), (d,), (d,), (c, d))


def matmul(sizes):
    x, w = randn(sizes["a"], sizes["b"]), randn(sizes["c"], sizes["b"])
    return {"cublas": lambda: x @ w.t()}, "cublas"


def matmul_f32(sizes):
    """By cuBLAS in f32, as PyTorch multiplies if it is not allowed tf32."""
    x, w = (randn(sizes[axis], sizes["b"], dtype=torch.float32) for axis in "ac")
    return {"cublas_f32": lambda: x @ w.t()}, "cublas_f32"


def cross_entropy(sizes):
    """Measured by the product alone, which has the logits of all words in memory; eager and compiled have them too."""
    x, w = randn(sizes["n"], sizes["d"]), randn(sizes["v"], sizes["d"])
    label = torch.randint(sizes["v"], (sizes["n"],), device=DEVICE)
    call = lambda: F.cross_entropy((x @ w.t()).float(), label)
    torch._dynamo.reset()
    compiled = torch.compile(call)
    return {"product": lambda: x @ w.t(), "eager": call,
            "compiled": compiled}, "product"


def matmul_odd(sizes):
    return {"cublas_odd": matmul(sizes)[0]["cublas"]}, "cublas_odd"


def matmul_e4m3(sizes):
    """Of both ways to sum, the one that keeps what the tensor core does (13 bits of fraction) and the one that adds up in
    f32 as napkin does: the faster one is measured by."""
    a, b, c = sizes["a"], sizes["b"], sizes["c"]
    x, w = (randn(rows, b).to(torch.float8_e4m3fn) for rows in (a, c))
    x_scale, w_scale = torch.rand(a, 1, device="cuda"), torch.rand(1, c, device="cuda")

    def peer(fast):
        return lambda: torch._scaled_mm(x, w.t(), x_scale, w_scale, out_dtype=torch.bfloat16, use_fast_accum=fast)

    peers = {"scaled_mm": peer(False), "scaled_mm_fast": peer(True), "cublas_bf16": matmul(sizes)[0]["cublas"]}
    return peers, ("scaled_mm", "scaled_mm_fast")


def split_product(sizes):
    return {"product": matmul(sizes)[0]["cublas"]}, "product"


def decoding(sizes):
    return {"sdpa": attention(False, sizes)[0]["flash"]}, "sdpa"


def grouped_decoding(sizes):
    """One new token: `q` query heads on each of `h` heads of keys and values. `copy` moves as many bytes as these have."""
    b, h, g, x, d = (sizes[axis] for axis in "bhqxd")
    q, k, v = randn(b, h * g, 1, d), randn(b, h, x, d), randn(b, h, x, d)
    return {"copy": lambda: v.copy_(k), **sdpa(q, k, v, enable_gqa=True)}, ("flash", "cudnn")


def latent_decoding(sizes):
    """No fused kernel of PyTorch takes these heads: products and softmax apart, and a copy of half of the keys."""
    b, q, x, e, r = (sizes[axis] for axis in "bqxer")
    left, keys = randn(b, q, e + r), randn(b, x, e + r)
    first, second = keys.view(2, -1)
    peers = {
        "copy": lambda: second.copy_(first),
        "eager": lambda: torch.softmax(left @ keys.mT, -1) @ keys[..., :e],
    }
    return peers, "copy"


def convolution(sizes):
    x = randn(sizes["b"], sizes["k"], sizes["y"] + 2, sizes["x"] + 2).to(memory_format=torch.channels_last)
    w = randn(sizes["c"], sizes["k"], 3, 3).to(memory_format=torch.channels_last)
    return {"conv2d": lambda: F.conv2d(x, w)}, "conv2d"


def rows(call, sizes, dtype=torch.bfloat16):
    x, y = (randn(sizes["n"], sizes["d"], dtype=dtype) for _ in range(2))
    g, b = (randn(sizes["d"], dtype=dtype) for _ in range(2))
    compiled = torch.compile(call)
    return {
        "copy": lambda: y.copy_(x),
        "eager": lambda: call(x, g, b),
        "compiled": lambda: compiled(x, g, b),
    }, "copy"


def softmax(x, g, b):
    return torch.softmax(x, -1)


def rmsnorm(x, g, b):
    return F.rms_norm(x, (x.shape[-1],), g, 1e-6)


def layernorm(x, g, b):
    return F.layer_norm(x, (x.shape[-1],), g, b, 1e-6)


def workloads():
    for causal in (False, True):
        name = "attention_causal" if causal else "attention"
        for d in (64, 128, 256):
            for s in (512, 1024, 2048, 4096, 8192, 16384):
                yield name, {"b": 16384 // s, "h": 2048 // d, "q": s, "x": s, "d": d}, lambda z, c=causal: attention(c, z)
    for causal in (False, True) if TARGET == "sm_90a" else ():
        name = "attention_backward_causal" if causal else "attention_backward"
        for d in (64, 128):
            for s in (2048, 4096, 8192):
                yield name, {"b": 16384 // s, "h": 2048 // d, "q": s, "x": s, "d": d}, lambda z, c=causal: backward(c, z)
    for n in (2048, 4096, 8192):
        yield "matmul", {"a": n, "b": n, "c": n}, matmul
    for a, c, b in ((4096, 7168, 2048), (16384, 4096, 4096), (8192, 8192, 512), (512, 8192, 8192)):
        yield "matmul", {"a": a, "b": b, "c": c}, matmul
    for n in (2048, 4096, 8192):
        yield "matmul_f32", {"a": n, "b": n, "c": n}, matmul_f32
    for a, c, b in ((1024, 1024, 1024), (128, 8192, 8192)) if TARGET == "sm_90a" else ():
        yield "matmul_thin", {"a": a, "b": b, "c": c}, matmul
    if TARGET == "sm_90a":
        for a, b, c in ((1000, 777, 3000), (2000, 2001, 2000), (4096, 4095, 4097)):
            yield "matmul_odd", {"a": a, "b": b, "c": c}, matmul_odd
        for a, b, c in ((4096, 4096, 4096), (8192, 8192, 8192), (16384, 4096, 4096)):
            yield "matmul_e4m3", {"a": a, "b": b, "c": c}, matmul_e4m3
        for b, x, parts in ((1, 8192, 256), (1, 65536, 2048), (16, 8192, 4096), (16, 65536, 4096)):
            yield f"decoding_split_{parts}", {"b": b, "h": 8, "q": 4, "x": x, "d": 128}, grouped_decoding
        for q, name in ((16, "mla_decoding"), (128, "mla_decoding_wide")):
            yield name, {"b": 32, "q": q, "x": 8192, "e": 512, "r": 64}, latent_decoding
    for call in (softmax, rmsnorm, layernorm):
        for n, d in ((32768, 2048), (65536, 1024), (16384, 4096)):
            yield call.__name__, {"n": n, "d": d}, lambda z, c=call: rows(c, z)
    for call in (softmax, layernorm):
        for n, d in ((16384, 4096), (32768, 1024)):
            yield f"{call.__name__}_f32", {"n": n, "d": d}, lambda z, c=call: rows(c, z, torch.float32)
    yield "softmax_wide", {"n": 4096, "d": 131072}, lambda z: rows(softmax, z)


    heads = {"b": 1, "h": 16, "q": 8192, "d": 128}
    yield "attention_window", {**heads, "w": 1024}, window
    yield "attention_softcap", {**heads, "x": 8192}, softcap
    yield "attention_alibi", {**heads, "d": 64}, alibi
    for q, count in ((8192, 1), (8192, 8), (8192, 16), (8192, 64), (16384, 1), (16384, 8), (16384, 16), (16384, 64)):
        yield "attention_documents", {**heads, "q": q}, lambda z, n=count: documents(n, z), equal_documents(count), {"documents": count}
    if TARGET == "sm_90a":
        for d in (128, 64):
            yield "attention_sink", {**heads, "d": d}, sink
            yield "attention_lse", {**heads, "d": d}, log_sum
            yield "attention_sigmoid", {**heads, "d": d}, sigmoid
            yield "attention_lengths", {**heads, "b": 4, "h": 4, "d": d}, lengths, unequal_lengths
        yield "attention_differential", {**heads, "d": 64, "e": 128}, differential
    yield "attention_gqa", {**heads, "h": 4, "g": 4, "x": 8192, "e": 128}, grouped_queries
    yield "swiglu", {"n": 4096, "d": 4096, "f": 11008}, swiglu
    yield "matmul_epilogue", {"m": 4096, "k": 4096, "n": 4096}, matmul_epilogue
    if TARGET == "sm_90a":
        yield "matmul_epilogue_apart", {"m": 4096, "k": 4096, "n": 4096}, matmul_epilogue
    yield "rmsnorm_linear", {"n": 4096, "d": 4096, "c": 4096}, rmsnorm_linear
    yield "layernorm_linear", {"n": 4096, "d": 4096, "c": 4096}, layernorm_linear
    yield "cross_entropy", {"n": 8192, "d": 4096, "v": 131072}, cross_entropy
    yield "matmul_split_k", {"a": 4096, "b": 4096, "c": 4096}, split_product
    yield "attention_decoding_parts", {"b": 2, "h": 8, "q": 4, "x": 65536, "d": 128}, decoding
    if TARGET == "sm_90a":
        for b, d in ((1, 80), (2, 80), (4, 80), (1, 96), (1, 112), (1, 192), (1, 256)):
            yield "attention", {**heads, "b": b, "x": 8192, "d": d}, own_attention
        yield "attention_rope", heads, own_attention
        yield "attention_linear", {**heads, "x": 8192}, lambda z: own_attention(z, 0.5)
        yield "matmul_chain", {"n": 16384, "d": 128, "f": 8192, "o": 128}, matmul_chain
        yield "matmul_experts", {"b": 64, "t": 256, "k": 4096, "n": 4096, "e": 8}, own_product(*"btkn")
        for variant in ("f16", "dynamic"):
            yield f"attention_{variant}", {**heads, "x": 8192}, own_attention
            yield f"matmul_{variant}", {"a": 8192, "b": 8192, "c": 8192}, own_product(*"abc")
        for m, n, name in ((16, 16384, "matmul_int4"), (16, 8192, "matmul_int4_split"), (64, 16384, "matmul_int4")):
            yield name, {"m": m, "n": n, "g": 64, "k": 128}, matmul_int4
        yield "convolution_padded", {"b": 32, "y": 56, "x": 56, "k": 256, "c": 256}, own_product(*"byxkcrs")
    yield "convolution_valid", {"b": 32, "y": 54, "x": 54, "k": 256, "c": 256}, convolution


def exported(name, sizes, given={}):
    """napkin's own call. Raises Refused, and ValueError where the self-test finds it wrong."""
    call, wrong = EXPORTS.operator(*files(name, sizes), sizes, given, CHECK)
    if wrong:
        raise ValueError(wrong)
    return call


def measured(turns, name, sizes, peers_of, given=None, label={}):
    """A line of the output."""
    line = {"workload": name, "sizes": sizes, **label}
    peers, against = peers_of(sizes)
    try:
        calls = {"napkin": exported(name, sizes, given(sizes) if given else {}), **peers}
    except (Refused, ValueError) as error:
        calls, line["napkin_us"], line["failed"] = peers, None, str(error)
    times = turns.times(calls)
    for peer, call in peers.items():
        times[peer] = [getattr(call, "factor", 1) * time for time in times[peer]]
    line |= {f"{each}_us": median(of_each) for each, of_each in times.items()}
    if "napkin" in times:
        best = against if isinstance(against, str) else min(against, key=lambda peer: median(times[peer]))
        line |= {"ratio": ratio(times[best], times["napkin"]), "to": best}
        line["napkin_host_us"] = turns.host(calls["napkin"])
        line["napkin_first_us"] = EXPORTS.first_us[EXPORTS.name(*files(name, sizes), sizes)]
    return line


def kind_of(line):
    """Lines of which a mean is made."""
    forward = "backward" if "backward" in line["workload"] else "attention"
    return {"flash": forward, "cudnn": forward, "cublas": "matmul", "copy": "rows"}.get(line["to"], f"to {line['to']}")


def errors():
    """Relative Frobenius errors against double precision, on the same inputs."""
    for causal in (False, True):
        for d in (64, 128):
            sizes = {"b": 1, "h": 2, "q": 1000, "x": 1000, "d": d}
            q, k, v = (randn(1, 2, 1000, d) for _ in range(3))
            name = "attention_causal" if causal else "attention"
            ours = exported(name, sizes, {"Q": q, "K": k, "V": v})().double()
            right = F.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=causal)
            plain = sdpa(q, k, v, is_causal=causal)["flash"]().double()
            norm = right.norm()
            yield {"error_of": name, "d": d, "napkin": ((ours - right).norm() / norm).item(),
                   "flash": ((plain - right).norm() / norm).item()}


def main():
    rows = [row for row in workloads() if not ONLY or row[0] in ONLY]
    own_rows = [("attention", {"b": 1, "h": 16, "q": 8192, "x": 8192, "d": 128}), ("matmul", {"a": 8192, "b": 8192, "c": 8192})]
    EXPORTS.prepare([(*files(name, sizes), sizes) for name, sizes, *_ in [*rows, *own_rows]])
    torch.manual_seed(0)
    turns = Turns()
    device = torch.cuda.get_device_name()
    lines = [{"date": str(datetime.date.today()), "commit": commit(), "device": device, "torch": torch.__version__,
              "cuda": torch.version.cuda, "target": TARGET}]
    print(json.dumps(lines[0]), flush=True)

    def write(line):
        lines.append(line)
        print(json.dumps(line), flush=True)
        pathlib.Path(OUT).write_text("".join(json.dumps(each) + "\n" for each in lines))

    ratios = {}
    with torch.cuda.stream(turns.stream):
        for row in rows:
            try:
                write(measured(turns, *row))
            except Exception as error:  # the other rows are worth having
                write({"workload": row[0], "sizes": row[1], "failed": repr(error)[:400]})
            if "ratio" in lines[-1]:
                ratios.setdefault(kind_of(lines[-1]), []).append(lines[-1]["ratio"])
            torch.cuda.empty_cache()
        for line in [] if ONLY else errors():
            write(line)
    for kind, values in ratios.items():
        write({"geometric_mean": kind, "ratio": round(math.exp(statistics.fmean(map(math.log, values))), 3)})


if __name__ == "__main__":
    main()
