#!/usr/bin/env python3
"""Writes the .npy files beside it with NumPy itself; the tests read the committed ones."""
import pathlib

import numpy as np

here = pathlib.Path(__file__).parent
values = np.array([[1, 2, 3], [4, 5, 6]])

for name in "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8".split():
    np.save(here / f"{name}.npy", values.astype(name))
np.save(here / "b1.npy", values % 2 == 0)
np.save(here / "big_endian.npy", values.astype(">f4"))
np.save(here / "big_endian_i8.npy", values.astype(">i8"))
np.save(here / "fortran.npy", np.asfortranarray(values.astype("f4")))
np.save(here / "transposed.npy", np.ascontiguousarray(values.T.astype("f4")))
np.save(here / "complex.npy", values.astype("c8"))
np.save(here / "text.npy", values.astype("U4"))
np.save(here / "record.npy", np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")]))
np.save(here / "huge.npy", np.full((2, 3), 2**63 - 1, dtype="i8"))
np.savez(here / "several.npz", a=values)
whole = (here / "f4.npy").read_bytes()
(here / "truncated.npy").write_bytes(whole[:-5])
(here / "header.npy").write_bytes(whole[:40])

# Strided heads of one head: two near blocks of two, and every third.
block = np.arange(16) // 2
near = block[:, None] - block[None, :] < 2
seen = near | (block[None, :] % 3 == 0)
np.save(here / "mask_strided.npy", seen & (np.arange(16)[None, :] <= np.arange(16)[:, None]))
