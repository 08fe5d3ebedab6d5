"""From neural circuit diagrams to GPU kernels, one legal relabelling at a time.

A :class:`Diagram` is a text and the moves that were made with it. It never changes: every move gives another one.

>>> import napkin
>>> attention = napkin.Diagram.read("examples/attention.ncd")
>>> flash = attention.derive("fuse S, P, O", "group q by 128 at l1", "stream x by 64 at l1")
>>> flash.cost("H200")["total"]["time_us"]
"""

from napkin._core import machines
from napkin._core import version as _version
from napkin._diagram import ArrayInfo, Diagram, Proof, Run
from napkin._refusal import Refusal

__all__ = ["ArrayInfo", "Diagram", "Proof", "Refusal", "Run", "machines"]
__version__ = _version().split(",")[0]
