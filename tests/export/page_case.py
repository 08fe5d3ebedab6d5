"""Runs the Python of docs/export.md with the torch of fake_torch and a driver that notes launches.

usage: PYTHONPATH=fake_torch:variant's folder python3 page_case.py docs/export.md
"""

import ctypes
import sys

import variant


class Driver:
    launches = []
    caps = []

    def cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared, stream, places, extra):
        self.launches.append((function, gx))
        kinds = [kind for kind, _, _ in variant._KERNELS[0].parameters]
        self.caps.append(ctypes.cast(places[kinds.index("real")], ctypes.POINTER(ctypes.c_float))[0])
        return 0


driver = Driver()
variant._driver = lambda: driver
variant._functions = lambda device, kernels: [(kernel.name, 5 if kernel.several else 2**31 - 1) for kernel in kernels]

blocks = open(sys.argv[1]).read().split("```python\n")[1:]
assert len(blocks) == 1, "the page has one block of Python"
names = {}
exec(blocks[0].split("```")[0], names)
assert names["o"].shape == (2, 4, 4, 2048, 128), names["o"].shape
assert names["l"].shape == (2, 4, 4, 2048), names["l"].shape
# Batches, heads, heads of a group, blocks of 64 queries.
assert driver.launches == [(variant._KERNELS[0].name, 2 * 4 * 4 * 32)], driver.launches
# A number is no part of a plan: every call passes its own.
grouped = names["q"].unflatten(2, (4, 4)).permute(0, 2, 3, 1, 4)
for more in ({"cap": 7.5}, {"cap": 1e300}, {}):
    variant.variant(grouped, names["k"].transpose(1, 2), names["v"].transpose(1, 2), names["document"], **more)
assert driver.caps == [30.0, 7.5, float("inf"), 30.0], driver.caps
assert len(variant._plans) == 1, len(variant._plans)
print("ok")
