"""Runs the Python of docs/export.md with the torch of fake_torch and a driver that notes launches.

usage: PYTHONPATH=fake_torch:variant's folder python3 page_case.py docs/export.md
"""

import sys

import variant


class Driver:
    launches = []

    def cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared, stream, places, extra):
        self.launches.append((function, gx))
        return 0


driver = Driver()
variant._driver = lambda: driver
variant._functions = lambda device: [(kernel.name, 5 if kernel.several else 2**31 - 1) for kernel in variant._KERNELS]

blocks = open(sys.argv[1]).read().split("```python\n")[1:]
assert len(blocks) == 1, "the page has one block of Python"
names = {}
exec(blocks[0].split("```")[0], names)
assert names["o"].shape == (2, 4, 4, 2048, 128), names["o"].shape
assert names["l"].shape == (2, 4, 4, 2048), names["l"].shape
# Batches, heads, heads of a group, blocks of 64 queries.
assert driver.launches == [(variant._KERNELS[0].name, 2 * 4 * 4 * 32)], driver.launches
print("ok")
