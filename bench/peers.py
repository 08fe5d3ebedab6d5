#!/usr/bin/env python3
"""Times napkin's kernels of one target beside PyTorch's, on this machine's GPU, in one run.

usage: bench/peers.py NAPKIN TARGET OUT.jsonl

Both sides are timed alike: warm, the caches flushed before every repetition, medians of events. Each line of the
output is one workload: microseconds of napkin's kernels and of every peer, and the ratio to the one that its target
is measured by. With shapes small enough both results are also compared with double precision on the same inputs.
"""
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

NAPKIN, TARGET, OUT = sys.argv[1:4]
HERE = pathlib.Path(__file__).parent / "workloads"
FLUSH = torch.empty(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.uint8, device="cuda")
torch.manual_seed(0)


def microseconds(call, repetitions=20):
    for _ in range(3):
        call()
    times = []
    for _ in range(repetitions):
        FLUSH.fill_(1)
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(1e3 * begin.elapsed_time(end))
    return statistics.median(times)


def napkin(command, name, sizes, *more):
    line = [NAPKIN, command, str(HERE / f"{name}.ncd"), "--drv", str(HERE / f"{name}.drv"), "--target", TARGET, "--json"]
    for axis, size in sizes.items():
        line += ["--set", f"{axis}={size}"]
    answer = subprocess.run(line + list(more), capture_output=True, text=True)
    try:
        return json.loads(answer.stdout)
    except json.JSONDecodeError:
        return {"ok": False, "errors": answer.stderr[-400:]}


def kernel_time(name, sizes):
    answer = napkin("bench", name, sizes)
    if not answer.get("ok"):
        return None, answer.get("errors", "wrong result")
    whole = [t for t in answer["times"] if not t.get("kernel")]
    return whole[0]["median_us"], None


def randn(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def attention(causal, sizes):
    q, k, v = (randn(sizes["b"], sizes["h"], sizes["q"], sizes["d"]) for _ in range(3))
    peers = {}
    for peer, backend in (("flash", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION)):
        with sdpa_kernel(backend):
            peers[peer] = microseconds(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal))
    return peers, "flash"


def matmul(sizes):
    x, w = randn(sizes["a"], sizes["b"]), randn(sizes["c"], sizes["b"])
    return {"cublas": microseconds(lambda: x @ w.t())}, "cublas"


def rows(call, sizes):
    x, y = randn(sizes["n"], sizes["d"]), randn(sizes["n"], sizes["d"])
    g, b = randn(sizes["d"]), randn(sizes["d"])
    compiled = torch.compile(call)
    return {
        "copy": microseconds(lambda: y.copy_(x)),
        "eager": microseconds(lambda: call(x, g, b)),
        "compiled": microseconds(lambda: compiled(x, g, b)),
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
        for d in (64, 128):
            for s in (1024, 2048, 4096, 8192, 16384):
                yield name, {"b": max(1, 4096 // s), "h": 2048 // d, "q": s, "x": s, "d": d}, lambda z, c=causal: attention(c, z)
    for n in (2048, 4096, 8192):
        yield "matmul", {"a": n, "b": n, "c": n}, matmul
    for call in (softmax, rmsnorm, layernorm):
        for n, d in ((32768, 2048), (65536, 1024), (16384, 4096)):
            yield call.__name__, {"n": n, "d": d}, lambda z, c=call: rows(c, z)


def errors():
    """Relative Frobenius errors against double precision, on the same inputs."""
    with tempfile.TemporaryDirectory() as folder:
        for causal in (False, True):
            for d in (64, 128):
                sizes = {"b": 1, "h": 2, "q": 1000, "x": 1000, "d": d}
                q, k, v = (randn(1, 2, 1000, d) for _ in range(3))
                more = []
                for array, value in (("Q", q), ("K", k), ("V", v)):
                    numpy.save(f"{folder}/{array}.npy", value.float().cpu().numpy())
                    more += ["--input", f"{array}={folder}/{array}.npy"]
                more += ["--output", f"O={folder}/O.npy", "--device", "cuda"]
                name = "attention_causal" if causal else "attention"
                answer = napkin("run", name, sizes, *more)
                if not answer.get("ok"):
                    yield {"error_of": name, "d": d, "failed": answer}
                    continue
                right = F.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=causal)
                with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
                    plain = F.scaled_dot_product_attention(q, k, v, is_causal=causal).double()
                ours = torch.from_numpy(numpy.load(f"{folder}/O.npy")).cuda().double()
                norm = right.norm()
                yield {"error_of": name, "d": d, "napkin": ((ours - right).norm() / norm).item(),
                       "flash": ((plain - right).norm() / norm).item(), "rungs": answer["rungs"]}


def main():
    properties = torch.cuda.get_device_properties(0)
    lines = [{"device": properties.name, "torch": torch.__version__, "cuda": torch.version.cuda, "target": TARGET}]
    print(json.dumps(lines[0]), flush=True)
    ratios = {}
    for name, sizes, peers_of in workloads():
        time, failed = kernel_time(name, sizes)
        peers, against = peers_of(sizes)
        line = {"workload": name, "sizes": sizes, "napkin_us": time, **{f"{peer}_us": round(t, 1) for peer, t in peers.items()}}
        if failed:
            line["failed"] = failed
        else:
            line["ratio"] = round(peers[against] / time, 3)
            line["to"] = against
            kind = "attention" if name.startswith("attention") else "matmul" if name == "matmul" else "rows"
            ratios.setdefault(kind, []).append(line["ratio"])
        lines.append(line)
        print(json.dumps(line), flush=True)
    for line in errors():
        lines.append(line)
        print(json.dumps(line), flush=True)
    for kind, values in ratios.items():
        lines.append({"geometric_mean": kind, "ratio": round(math.exp(statistics.fmean(map(math.log, values))), 3)})
        print(json.dumps(lines[-1]), flush=True)
    pathlib.Path(OUT).write_text("".join(json.dumps(line) + "\n" for line in lines))


main()
