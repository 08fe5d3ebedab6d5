#!/usr/bin/env python3
"""Times attention under the masks of bench/masks/ on this machine's GPU, beside FlexAttention and the dense kernel.

usage: bench/masks.py NAPKIN TARGET OUT.jsonl [CASE...]     (all cases without names; some minutes; needs PyTorch and Triton)

   as in   bench/masks.py build/pack/nk sm_90a masks.jsonl
   cases   1d-s1 1d-s256 1d-s2048 2d-s1 2d-s16 3d strided-8k strided-64k

Each line of the output is one case: microseconds of napkin's kernel and what the model predicted, of FlexAttention with
block masks that leave out the same, each of its block sizes, and of the dense kernel at the same length. Where FlexAttention
needs tokens in another order, so that a block is a box of pixels, that order is given and bringing them into it is not timed.
`dense_rate` is the time that the dense kernel takes for as many pairs as the visited tiles have, over the measured one, and
`partial_cost` what a partial tile takes if full ones take what they take in the dense kernel. Both sides are timed warm, the
caches flushed before every repetition, medians of events; but one after the other, not in turn as bench/peers.py does.
"""
import datetime
import json
import math
import pathlib
import statistics
import subprocess

import torch
from torch.nn.attention.flex_attention import BlockMask, flex_attention

from peers import DEVICE, NAPKIN, ONLY, OUT, TARGET, commit, files, randn

HERE = pathlib.Path(__file__).parent / "masks"
FLUSH = torch.empty(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.uint8, device=DEVICE)


def answer_of(command, diagram, derivation, sizes, *more):
    line = [NAPKIN, command, str(diagram), "--drv", str(derivation), "--json"]
    for axis, size in sizes.items():
        line += ["--set", f"{axis}={size}"]
    answer = subprocess.run(line + list(more), capture_output=True, text=True)
    try:
        return json.loads(answer.stdout)
    except json.JSONDecodeError:
        return {"ok": False, "errors": answer.stderr[-400:]}


def microseconds(call, repetitions):
    """Of a call by itself: napkin's kernels are timed in a process of their own (`napkin bench`)."""
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


def near(i, u, length, w, stride):
    """The w keys nearest to a leader that `stride` queries share."""
    leader = torch.clamp(i // stride * stride + stride // 2, max=length - 1)
    start = torch.clamp(leader - w // 2, 0, length - w)
    return (start <= u) & (u < start + w)


def boxes(shape, tile):
    """The indices of a token where tokens of a tile follow each other, the last axis fastest."""
    def indices(token):
        within, rest = token % math.prod(tile), token // math.prod(tile)
        found = []
        for size, part in zip(reversed(shape), reversed(tile)):
            found.insert(0, rest % (size // part) * part + within % part)
            rest, within = rest // (size // part), within // part
        return found
    return indices


def neighbourhood(shape, windows, strides, queries, keys):
    """The mask, and how many queries and keys a block has; both lie in boxes."""
    query, key = boxes(shape, queries), boxes(shape, keys)

    def mask(b, h, q_idx, kv_idx):
        parts = zip(query(q_idx), key(kv_idx), shape, windows, strides)
        seen = [near(*part) for part in parts]
        for other in seen[1:]:
            seen[0] = seen[0] & other
        return seen[0]
    return [(mask, (math.prod(queries), math.prod(keys)))]


def strided(local=16, stride=8, block=64):
    def mask(b, h, q_idx, kv_idx):
        distance = q_idx // block - kv_idx // block
        return (kv_idx <= q_idx) & ((distance < local) | ((kv_idx // block + h) % stride == 0))
    return [(mask, (128, 64)), (mask, (128, 128))]


def block_mask(mask, heads, length, size):
    """What create_block_mask makes, some rows of blocks at a time: 65,536 tokens do not fit otherwise."""
    rows, columns = size
    keys = torch.arange(length, device=DEVICE)
    some = max(1, (1 << 26) // (rows * length)) * rows
    met, covered = [], []
    for h in range(heads):
        for first in range(0, length, some):
            queries = torch.arange(first, min(first + some, length), device=DEVICE)
            seen = mask(0, h, queries[:, None], keys[None, :])
            seen = seen.view(-1, rows, length // columns, columns)
            met.append(seen.any(3).any(1))
            covered.append(seen.all(3).all(1))
    met, covered = (torch.cat(part).view(1, heads, length // rows, length // columns) for part in (met, covered))
    lists = []
    for blocks in (met & ~covered, covered):
        lists += [blocks.sum(-1).int(), torch.argsort(blocks.int(), dim=-1, descending=True, stable=True).int()]
    return BlockMask.from_kv_blocks(*[part.contiguous() for part in lists], BLOCK_SIZE=size, mask_mod=mask), int(met.sum())


def flex(masks, heads_differ, heads, length):
    q, k, v = (randn(1, heads, length, 128) for _ in range(3))
    times = {}
    for mask, size in masks:
        torch._dynamo.reset()
        compiled = torch.compile(flex_attention)
        blocks, visited = block_mask(mask, heads if heads_differ else 1, length, size)
        time = microseconds(lambda: compiled(q, k, v, block_mask=blocks), 10)
        times["x".join(map(str, size))] = {"us": round(time, 1), "visited": visited}
    return times


def cases():
    """Name, derivation, sizes; the masks for FlexAttention, whether heads differ, and tokens."""
    for stride in (1, 256, 2048):
        yield (f"1d-s{stride}", "neighbourhood_1d", {"q": 32768, "w": 2048, "s": stride, "h": 4},
               neighbourhood((32768,), (2048,), (stride,), (128,), (128,)), False, 32768)
    for stride in (1, 16):
        yield (f"2d-s{stride}", "neighbourhood_2d", {"i": 256, "j": 256, "w": 80, "s": stride, "h": 4},
               neighbourhood((256, 256), (80, 80), (stride, stride), (8, 16), (16, 8)), False, 65536)
    yield ("3d", "neighbourhood_3d", {"t": 16, "i": 48, "j": 80, "wt": 8, "w": 24, "h": 4},
           neighbourhood((16, 48, 80), (8, 24, 24), (1, 1, 1), (4, 4, 8), (4, 8, 4)), False, 61440)
    yield "strided-8k", "strided_heads", {"q": 8192, "h": 32}, strided(), True, 8192
    yield "strided-64k", "strided_heads_long", {"q": 65536, "h": 8}, strided(), True, 65536


def tiles(diagram, derivation, sizes):
    """Visited, full and partial ones of all heads, and pairs of one."""
    mask = answer_of("mask", diagram, derivation, sizes)["masks"][0]
    alike = sizes["h"] // len(mask["heads"])
    counts = {kind: alike * sum(head[kind] for head in mask["heads"]) for kind in ("visited", "full", "partial")}
    return counts, math.prod(mask["tiles"].values())


def timed(diagram, derivation, sizes):
    answer = answer_of("bench", diagram, derivation, sizes, "--target", TARGET)
    if not answer.get("ok"):
        return None, {"failed": answer.get("errors") or {key: answer.get(key) for key in ("outputs", "never_written")}}
    time = next(time["median_us"] for time in answer["times"] if not time.get("kernel"))
    more = {"compiled": answer.get("compiled")}
    if "predicted_us" in answer:
        predicted = (answer["predicted_us"]["low"] + answer["predicted_us"]["high"]) / 2
        more |= {"predicted_us": round(predicted, 1), "predicted_over_measured": round(predicted / time, 3)}
    return time, more


def dense_per_pair(heads, length, known={}):
    if (heads, length) not in known:
        sizes = {"b": 1, "h": heads, "q": length, "x": length, "d": 128}
        known[heads, length] = timed(*files("attention", sizes), sizes)[0]
    time = known[heads, length]
    return time, time and time / (heads * length * length)


def paths_of(derivation):
    """Its diagram, whose name it begins with, and the derivation, on a target that has none of that name the diagram's."""
    diagram = max((path for path in HERE.glob("*.ncd") if derivation.startswith(path.stem)), key=lambda path: len(path.stem))
    own = HERE / TARGET / f"{derivation}.drv"
    return diagram, own if own.exists() else HERE / TARGET / f"{diagram.stem}.drv"


def measure(name, derivation, sizes, masks, heads_differ, length):
    paths = paths_of(derivation)
    counts, pairs = tiles(*paths, sizes)
    time, more = timed(*paths, sizes)
    line = {"case": name, "sizes": sizes, **counts, "napkin_us": time, **more}
    dense, per_pair = dense_per_pair(sizes["h"], length)
    line["dense_us"] = dense
    if time and dense:
        tile = per_pair * pairs
        line["dense_rate"] = round(counts["visited"] * tile / time, 3)
        if counts["partial"]:
            line["partial_cost"] = round((time - counts["full"] * tile) / (counts["partial"] * tile), 3)
    line["flex"] = flex(masks, heads_differ, sizes["h"], length)
    line["flex_us"] = min(each["us"] for each in line["flex"].values())
    if time:
        line["ratio"] = round(line["flex_us"] / time, 3)
    return line


def main():
    device = torch.cuda.get_device_name()
    lines = [{"date": str(datetime.date.today()), "commit": commit(), "device": device, "torch": torch.__version__, "target": TARGET}]
    print(json.dumps(lines[0]), flush=True)
    for case in cases():
        if ONLY and case[0] not in ONLY:
            continue
        try:
            lines.append(measure(*case))
        except Exception as error:  # the other cases are worth having
            lines.append({"case": case[0], "failed": repr(error)[:400]})
        print(json.dumps(lines[-1]), flush=True)
        pathlib.Path(OUT).write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
