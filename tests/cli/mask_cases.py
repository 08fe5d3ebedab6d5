#!/usr/bin/env python3
"""Masks in the forms of others, against every pair.

usage: tests/cli/mask_cases.py NAPKIN

Each mask is written once for napkin and once in Python. Exported as FlexAttention's `mask_mod`, which runs with a
stand-in for PyTorch on plain numbers, and as compressed rows, it has to let through the same pairs, and the counts of
pairs and of tiles have to be theirs. So have those of masks that read arrays, which are given as files.
"""
import json
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import types

NAPKIN = sys.argv[1]


def torch_of_numbers():
    """The functions of PyTorch that a mask calls, of one number."""
    module = types.ModuleType("torch")
    module.where = lambda condition, yes, no: yes if condition else no
    module.logical_not = lambda value: not value
    for name in ("exp", "log", "sqrt", "tanh", "sin", "cos", "floor", "erf"):
        setattr(module, name, getattr(math, name))
    return module


sys.modules["torch"] = torch_of_numbers()

# Sizes of the axes of queries and of keys, the condition, and the same in Python.
ONE = {"q": 13, "x": 11}
CASES = [
    (ONE, "x <= q", lambda q, x: x <= q),
    (ONE, "x < 5", lambda q, x: x < 5),
    (ONE, "q >= 4", lambda q, x: q >= 4),
    (ONE, "q ^ 2 > 3 * x and x ^ 2 > q", lambda q, x: q**2 > 3 * x and x**2 > q),
    (ONE, "x * 0.0000001 < 0.0000005", lambda q, x: x * 1e-7 < 5e-7),
    (ONE, "bit_and(q, 6) == bit_xor(x, 3) or bit_or(x, 1) > q", lambda q, x: q & 6 == x ^ 3 or (x | 1) > q),
    (ONE, "shift_right(q, 1) >= shift_left(x, 1)", lambda q, x: q >> 1 >= x << 1),
    (ONE, "floor(sqrt(q)) <= x and not (q % 3 == x % 3)", lambda q, x: math.floor(math.sqrt(q)) <= x and q % 3 != x % 3),
    (ONE, "max(q - 4, min(x, 7)) <= 6", lambda q, x: max(q - 4, min(x, 7)) <= 6),
    (ONE, "abs(q - x) < size(x) // 3", lambda q, x: abs(q - x) < 11 // 3),
    (ONE, "(if q > 6 then x else q) < 4", lambda q, x: (x if q > 6 else q) < 4),
    (ONE, "tanh(q - x) < 0.5 or rsqrt(x + 1) > 0.9", lambda q, x: math.tanh(q - x) < 0.5 or 1 / math.sqrt(x + 1) > 0.9),
    ({"q": 9, "lambda": 9}, "lambda <= q", lambda q, x: x <= q),
    ({"head": 6, "batch": 6}, "batch <= head", lambda q, x: x <= q),
    ({"head": 6, "head_": 6}, "head_ <= head", lambda q, x: x <= q),
]
# Of two axes: i and j of queries, u and v of keys.
TWO = [
    ("u <= i", lambda i, j, u, v: u <= i),
    ("v < 2", lambda i, j, u, v: v < 2),
    ("abs(j - v) <= 1 and u <= i", lambda i, j, u, v: abs(j - v) <= 1 and u <= i),
    ("i * 3 + j >= u * 3 + v", lambda i, j, u, v: i * 3 + j >= u * 3 + v),
]


def run(*words):
    answer = subprocess.run([NAPKIN, *map(str, words)], capture_output=True, text=True)
    return answer.stdout if answer.returncode == 0 else None


def columns_of(row):
    """Of `stride first count`, with ` x stride count` where it repeats and ` + ` before a second one."""
    columns = set()
    for part in row.split(" + "):
        words = part.replace(" x ", " ").split()
        stride, first, count = map(int, words[:3])
        step, times = map(int, words[3:]) if len(words) > 3 else (0, 1)
        columns |= {first + k * stride + t * step for t in range(times) for k in range(count)}
    return columns


def check(folder, name, text, rows, columns, visible):
    """What is wrong with the forms of a mask whose pairs are known, as a list."""
    path = folder / "mask.ncd"
    path.write_text(text)
    wrong = []
    space = {}
    exec(run("mask", path, "--as", "flex"), space)
    got = [[bool(space["mask_mod"](0, 0, r, c)) for c in range(columns)] for r in range(rows)]
    if got != visible:
        wrong.append(f"{name}: mask_mod lets other pairs through")
    acsr = run("mask", path, "--as", "acsr")
    if acsr is not None:
        listed = [columns_of(line) for line in acsr.splitlines() if not line.startswith("#")]
        if listed != [{c for c in range(columns) if row[c]} for row in visible]:
            wrong.append(f"{name}: compressed rows hold other pairs")
    answer = run("mask", path, "--json")
    for mask in json.loads(answer)["masks"]:
        pairs = sum(map(sum, visible))
        if mask["heads"] and mask["pairs"] != pairs:
            wrong.append(f"{name}: {mask['pairs']} pairs are counted of {pairs}")
    return wrong


def save(path, shape, values):
    """Integers of 32 bits as NumPy keeps them."""
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': {tuple(shape)}, }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + struct.pack(f"<{len(values)}i", *values))


def read(path):
    """The integers of a file of NumPy's."""
    content = path.read_bytes()[128:]
    return struct.unpack(f"<{len(content) // 4}i", content)


def check_lists(folder, name, visible, derivation, down, across):
    """What is wrong with block lists of `down` by `across` tokens, and with the mask in their order, of the mask just checked."""
    (folder / "mask.drv").write_text(derivation)
    run("mask", folder / "mask.ncd", "--drv", folder / "mask.drv", "--as", "blocks", "-o", folder / "lists")
    lists, space = folder / "lists", {}
    exec((lists / "mask_mod.py").read_text(), space)
    orders = [lists / f"{side}_order.npy" for side in ("q", "kv")]
    rows, columns = [read(path) if path.exists() else range(len(visible)) for path in orders]
    ordered = [[visible[row][column] for column in columns] for row in rows]
    wrong = []
    if [[bool(space["mask_mod"](0, 0, r, c)) for c in range(len(columns))] for r in range(len(rows))] != ordered:
        wrong.append(f"{name}: mask_mod of the lists lets other pairs through")
    width = len(columns) // across
    for kind, right in (("mask", lambda pairs: any(pairs) and not all(pairs)), ("full", all)):
        counts, indices = read(lists / f"{kind}_block_cnt.npy"), read(lists / f"{kind}_block_idx.npy")
        listed = [indices[row * width : row * width + count] for row, count in enumerate(counts)]
        blocks = [[[pair for line in ordered[top : top + down] for pair in line[left : left + across]]
                   for left in range(0, len(columns), across)] for top in range(0, len(rows), down)]
        if listed != [tuple(k for k, pairs in enumerate(row) if right(pairs)) for row in blocks]:
            wrong.append(f"{name}: the list of {kind} blocks holds others")
    for path in lists.iterdir():
        path.unlink()
    return wrong


def tiles_of(visible, down, across):
    """Tiles with a visible pair, and those without a hidden one."""
    visited = full = 0
    for top in range(0, len(visible), down):
        for left in range(0, len(visible[0]), across):
            pairs = [pair for row in visible[top : top + down] for pair in row[left : left + across]]
            visited += any(pairs)
            full += all(pairs)
    return visited, full


def check_data(folder, name, condition, arrays, holds):
    """What is wrong with the counts and rows of a mask of 13 queries and 11 keys that reads arrays, of 2 heads."""
    text = diagram(["q"], ["x"], ONE, condition).replace("\n}\n", "\n  weave h = 2\n}\n")
    inputs = "".join(f"  input {array}[{', '.join(axes)}] : i32\n" for array, (axes, _, _) in arrays.items())
    blocks = ", i = 4, j = 4" if "list" in arrays else ""
    text = text.replace(", d = 4", blocks + ", d = 4", 1).replace("  S[", inputs + "  S[", 1)
    (folder / "mask.ncd").write_text(text)
    (folder / "mask.drv").write_text("fuse all\ngroup q by 4\nstream x by 3\n")
    words = []
    for array, (_, shape, values) in arrays.items():
        save(folder / f"{array}.npy", shape, values)
        words += ["--input", f"{array}={folder / array}.npy"]
    visible = [[[bool(holds(h, q, x)) for x in range(11)] for q in range(13)] for h in range(2)]
    wrong = []
    (mask,) = json.loads(run("mask", folder / "mask.ncd", "--drv", folder / "mask.drv", "--json", *words))["masks"]
    heads = [(each["visited"], each["full"]) for each in mask["heads"]]
    right = [tiles_of(head, 4, 3) for head in visible]
    if heads != (right if len(heads) == 2 else right[:1]):
        wrong.append(f"{name}: {heads} tiles are counted of {right}")
    if mask["pairs"] != sum(sum(map(sum, head)) for head in visible[: len(heads)]):
        wrong.append(f"{name}: {mask['pairs']} pairs are counted")
    acsr = run("mask", folder / "mask.ncd", "--as", "acsr", *words)
    if acsr is not None:
        listed = [columns_of(line) for line in acsr.splitlines() if not line.startswith("#")]
        if listed != [{c for c in range(11) if row[c]} for head in visible[: len(heads)] for row in head]:
            wrong.append(f"{name}: compressed rows hold other pairs")
    return wrong


def diagram(queries, keys, sizes, condition):
    left, right = ", ".join(queries), ", ".join(keys)
    axes = ", ".join(f"{axis} = {size}" for axis, size in sizes.items())
    return (
        f"diagram masked {{\n  axis {axes}, d = 4\n  input Q[{left}, d], K[{right}, d], V[{right}, d] : f32\n"
        f"  S[{left}, {right}] = sum(d) Q[{left}, d] * K[{right}, d]\n"
        f"  M[{left}, {right}] = if {condition} then S[{left}, {right}] else -inf\n"
        f"  P[{left}, {right}] = softmax[{right}](M[{left}, {right}])\n"
        f"  output O[{left}, d] : f32 = sum({right}) P[{left}, {right}] * V[{right}, d]\n}}\n"
    )


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for sizes, condition, holds in CASES:
            (query, rows), (key, columns) = sizes.items()
            visible = [[bool(holds(q, x)) for x in range(columns)] for q in range(rows)]
            wrong += check(folder, condition, diagram([query], [key], sizes, condition), rows, columns, visible)
        sizes = {"i": 4, "j": 3, "u": 4, "v": 3}
        for condition, holds in TWO:
            visible = [[bool(holds(r // 3, r % 3, c // 3, c % 3)) for c in range(12)] for r in range(12)]
            wrong += check(folder, condition, diagram("ij", "uv", sizes, condition), 12, 12, visible)
            for (i, j), (u, v) in ((2, 1), (2, 3)), ((1, 3), (4, 1)):
                tiles = f"fuse all\ngroup i by {i}\ngroup j by {j}\nstream u by {u}\nstream v by {v}\n"
                wrong += check_lists(folder, condition, visible, tiles, i * j, u * v)
            # Parts of an axis lie where it lay, whatever was declared after it.
            for j, v in (1, 3), (3, 1):
                tiles = f"split-axis i as a by 2\nsplit-axis u as b by 2\nfuse all\ngroup i by 1\ngroup j by {j}\nstream u by 1\nstream v by {v}\n"
                wrong += check_lists(folder, f"split: {condition}", visible, tiles, 2 * j, 2 * v)
            # Arrays have the axes in another order than they are declared in.
            visible = [[bool(holds(r % 4, r // 4, c % 4, c // 4)) for c in range(12)] for r in range(12)]
            wrong += check(folder, f"[j, i]: {condition}", diagram("ji", "vu", sizes, condition), 12, 12, visible)
            tiles = "fuse all\ngroup i by 2\ngroup j by 1\nstream u by 2\nstream v by 3\n"
            wrong += check_lists(folder, f"[j, i]: {condition}", visible, tiles, 2, 6)
        random.seed(1)
        for _ in range(12):
            a, b, c, part = random.randint(-3, 3), random.randint(-6, 6), random.randint(1, 4), random.randint(2, 5)
            word, sign = random.choice(("and", "or")), random.choice(("<=", "!=", ">"))
            condition = f"({a} * q + {c} * x {sign} {b}) {word} q // {part} == x // {part}"
            python = compile(condition.replace("q //", "(q //").replace(f"x // {part}", f"x // {part})"), condition, "eval")
            visible = [[bool(eval(python, {"q": q, "x": x})) for x in range(11)] for q in range(13)]
            wrong += check(folder, condition, diagram(["q"], ["x"], ONE, condition), 13, 11, visible)
        for _ in range(4):
            left = [sorted(random.choices(range(4), k=13)) for _ in range(2)]
            right = [sorted(random.choices(range(4), k=11)) for _ in range(2)]
            ends, blocks = random.choices(range(12), k=2), random.choices(range(2), k=16)
            own = {"a": (["q"], [2, 13], sum(left, [])), "b": (["x"], [2, 11], sum(right, []))}
            holds = lambda h, q, x: left[h][q] == right[h][x] and x <= q + 2
            wrong += check_data(folder, "documents", "a[q] == b[x] and x <= q + 2", own, holds)
            wrong += check_data(folder, "lengths", "x < end[h]", {"end": (["h"], [2], ends)}, lambda h, q, x: x < ends[h])
            both = blocks + blocks[::-1]
            listed = {"list": (["h", "i", "j"], [2, 4, 4], both)}
            wrong += check_data(
                folder, "blocks", "list[h, q // 4, x // 3] == 1", listed, lambda h, q, x: both[16 * h + q // 4 * 4 + x // 3] == 1
            )
    print("\n".join(wrong) or "ok")


main()
