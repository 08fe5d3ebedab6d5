"""Diagrams, and what napkin answers about them."""

from __future__ import annotations

import hashlib
import html
import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import types
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Mapping, Union

import numpy as np

from napkin import _core

#: An input: anything that NumPy reads, or a tensor of PyTorch.
ArrayLike = Any

_KINDS = {"f": "f", "i": "i", "u": "i", "b": "b"}
_NUMPY_TYPES = {"bool": np.bool_, "i64": np.int64, "f64": np.float64}


@dataclass(frozen=True)
class ArrayInfo:
    """An array of a diagram: its name, its element type (``bf16``), its axes, and their sizes in elements."""

    name: str
    type: str
    axes: "tuple[str, ...]"
    shape: "tuple[int, ...]"

    def __str__(self) -> str:
        axes = ", ".join(f"{axis}={size}" for axis, size in zip(self.axes, self.shape))
        return f"{self.name}[{axes}] : {self.type}"


class Run(Mapping[str, Any]):
    """The outputs of a run by name, and how they compare with the reference.

    Attributes:
        verdict: ``right``, ``wrong``, ``undecided`` where less than half of an output could be judged, or ``unchecked``.
        report: what ``napkin run --json`` prints: errors and tolerances of each output, transfers counted and modelled.
    """

    def __init__(self, outputs: "dict[str, Any]", report: "dict[str, Any]") -> None:
        self._outputs = outputs
        self.report = report
        self.verdict: str = report["verdict"]

    def __getitem__(self, name: str) -> Any:
        return self._outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def __repr__(self) -> str:
        return f"<napkin.Run {self.verdict}: {', '.join(self._outputs)}>"


@dataclass(frozen=True)
class Proof:
    """That a derivation computes what its diagram says.

    Attributes:
        rungs: of the verification ladder, ``("0", "1", "2", "3t")``.
        report: what ``napkin prove --json`` prints.
        certificate: a text that ``napkin verify`` checks again by itself.
    """

    rungs: "tuple[str, ...]"
    report: "dict[str, Any]"
    certificate: str

    def __repr__(self) -> str:
        return f"<napkin.Proof rungs {', '.join(self.rungs)}>"


def _is_torch(value: Any) -> bool:
    return type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach")


def _numpy(value: ArrayLike) -> "np.ndarray[Any, Any]":
    """The values on the CPU; what NumPy has no type for, such as bfloat16, as float32, which holds it exactly."""
    if _is_torch(value):
        value = value.detach().cpu()
        if value.is_floating_point() and value.element_size() < 4:
            value = value.float()
        return np.asarray(value.numpy())
    array = np.asarray(value)
    if array.dtype.kind not in _KINDS and array.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        array = array.astype(np.float32)
    return array


def _given(name: str, array: "np.ndarray[Any, Any]") -> "tuple[str, str, str, np.ndarray[Any, Any]]":
    if array.dtype.kind not in _KINDS:
        raise TypeError(f"`{name}` holds values of type {array.dtype}, which are no numbers")
    return name, array.dtype.str, _KINDS[array.dtype.kind], np.ascontiguousarray(array, dtype=np.float64)


class Diagram:
    """A diagram, and the moves that were made with it.

    Args:
        text: index notation, as docs/language.md describes it.
        moves: lines of a derivation, such as ``group q by 128 at l1``.
        name: of the file, for messages.
        sizes: of axes, and values of parameters, in place of the text's.

    Raises:
        Refusal: the text is wrong, or a move does not apply.
    """

    def __init__(self, text: str, moves: str = "", *, name: str = "<diagram>", **sizes: float) -> None:
        for given in (text, moves, name):
            _must_be_text(given)
        self._set(text, moves, name, sizes)
        for warning in self._core.warnings:
            warnings.warn(warning, stacklevel=2)

    def _set(self, text: str, moves: str, file: str, settings: "Mapping[str, float]") -> None:
        self._text = text
        self._moves = moves
        self._file = file
        self._settings = {axis: float(size) for axis, size in settings.items()}
        self._core = _core.Derivation(text, file, moves, self._settings)

    @classmethod
    def read(cls, path: Union[str, "os.PathLike[str]"], moves: Union[str, "os.PathLike[str]", None] = None,
             **sizes: float) -> Diagram:
        """The diagram of an ``.ncd`` file, after the moves of a ``.drv`` file where one is given."""
        texts = []
        for file in (path, moves):
            if file is None:
                texts.append("")
                continue
            with open(file, encoding="utf-8") as opened:
                texts.append(opened.read())
        return cls(texts[0], texts[1], name=os.fspath(path), **sizes)

    # What it is.

    @property
    def name(self) -> str:
        """As the text calls it."""
        return self._core.name

    @property
    def text(self) -> str:
        """The canonical text, with the sizes that it was written with."""
        return self._core.text

    @property
    def moves(self) -> "list[str]":
        """The moves so far, a line of a ``.drv`` file each."""
        return self._core.steps

    @property
    def sizes(self) -> "dict[str, int]":
        """Of the axes that have a size of their own, in elements."""
        return self._core.sizes

    @property
    def inputs(self) -> "dict[str, ArrayInfo]":
        """The arrays that :meth:`run` takes, by name."""
        return {each[0]: ArrayInfo(each[0], each[1], tuple(each[2]), tuple(each[3])) for each in self._core.inputs}

    @property
    def outputs(self) -> "dict[str, ArrayInfo]":
        """The arrays that :meth:`run` gives, by name."""
        return {each[0]: ArrayInfo(each[0], each[1], tuple(each[2]), tuple(each[3])) for each in self._core.outputs}

    def sized(self, sizes: "Mapping[str, float] | None" = None, **others: float) -> Diagram:
        """The same at other sizes of axes (in elements) and values of parameters."""
        return self._with(self._moves, {**self._settings, **(sizes or {}), **others})

    def _with(self, moves: str, settings: "Mapping[str, float]") -> Diagram:
        """Its warnings were told when the text was given."""
        return _again(self._text, moves, self._file, settings)

    # What can be asked of it.

    def derive(self, *moves: str) -> Diagram:
        """The diagram after further moves, each a command or the text of a ``.drv`` file.

        ``fuse S, P, O``, ``group q by 128 at l1``, ``stream x by 64 at l1`` and the others of docs/rules.md. Sizes that
        were given win over ``set`` commands.

        Raises:
            Refusal: a move does not apply; ``fix`` says what would.
        """
        text = self._moves
        for move in moves:
            _must_be_text(move)
            if text and not text.endswith("\n"):
                text += "\n"
            text += move
        return self._with(text, self._settings)

    def cost(self, machine: "str | None" = None, **sizes: float) -> "dict[str, Any]":
        """Memory, transfers and time, as ``napkin cost --json`` prints them.

        ``["total"]["levels"]["block"]["H"]`` is what crosses between device memory and the processors, ``["regions"]``
        have ``H``, ``M`` and ``A`` of each kernel: ``values``, ``bytes``, and ``ideal``, the formula. With a machine
        (``"H200"``, a file, ``"H200,block.capacity=96KiB"``) also ``time_us``, a low and a high estimate in
        microseconds, ``binds``, and ``fits``. Sizes are those of this question alone.
        """
        return _object((self.sized(sizes) if sizes else self)._core.cost(machine or ""))

    def steps(self, machine: str = "H200") -> "dict[str, Any]":
        """Every step with its law, conditions, figures and formulas as trees, as ``napkin derive --json`` prints them.

        docs/report.md describes the trees. Bytes, and microseconds.
        """
        return _object(self._core.derivation(machine))

    def search(self, machine: str, *, top: int = 5, seconds: float = 0, target: "str | None" = None) -> "list[Diagram]":
        """Derivations of the plain diagram for a machine by the model, fastest first; the moves made so far do not count.

        Args:
            top: how many are wanted.
            seconds: stop after so many, with what was found; 0 for no limit.
            target: only derivations that ``simt``, ``sm_80`` or ``sm_90a`` makes kernels of.

        Raises:
            Refusal: none fits the machine.
        """
        if top < 1:
            raise ValueError("top must be 1 or more")
        found = _object(self._core.search(machine, top, float(seconds), target or ""))
        return [self._with("\n".join(each.get("derivation", [])), self._settings) for each in found["ranked"]]

    def prove(self, *, seed: int = 1) -> Proof:
        """That the tile program computes what the diagram says, for all values; docs/proof.md says how.

        Raises:
            Refusal: it is refuted, or not decided.
        """
        _must_be_seed(seed)
        report, certificate = self._core.prove(seed)
        proof = _object(report)
        return Proof(tuple(proof["rungs"]), proof, certificate)

    def run(self, inputs: "Mapping[str, ArrayLike] | None" = None, *, device: str = "cpu", target: "str | None" = None,
            seed: int = 1, **arrays: ArrayLike) -> Run:
        """Computes the outputs as the derivation does, tile by tile, and compares them with the reference.

        Args:
            inputs: arrays of NumPy or tensors of PyTorch by name; others by keyword. Their axes are those of
                :attr:`inputs`, in that order, and their shapes are the sizes of the run: the diagram's own need not be
                given. Without any, random ones at the diagram's sizes.
            device: ``cpu`` (slow and exact: double precision, chunk by chunk), ``emulator`` (the printed kernels, on the
                CPU), or ``cuda``.
            target: of kernels, ``simt``, ``sm_80`` or ``sm_90a``; the best that serves where none is given.
            seed: of random inputs.

        Returns:
            The outputs by name: NumPy arrays, or tensors of PyTorch on the CPU where inputs were tensors; floating
            types below 32 bits as float32.

        Raises:
            Refusal: an input is missing, of a wrong shape or type; sizes too large to execute; no GPU, no compiler.
        """
        if device not in ("cpu", "emulator", "cuda"):
            raise ValueError(f"there is no device {device!r}; there are cpu, emulator and cuda")
        if inputs is not None and not isinstance(inputs, Mapping):
            raise TypeError(f"inputs are arrays by name, as in run({{'A': a}}) or run(A=a), not {type(inputs).__name__}")
        _must_be_seed(seed)
        given = {**(inputs or {}), **arrays}
        values = {name: _numpy(value) for name, value in given.items()}
        asked = self._at_shapes(values)
        outputs, report = asked._core.run([_given(*each) for each in values.items()], device, target or "", seed)
        results: "dict[str, Any]" = {}
        for name, info in asked.outputs.items():
            small = np.float32 if info.type[0] in "fbte" else np.int32
            results[name] = outputs[name].astype(_NUMPY_TYPES.get(info.type, small))
            if any(_is_torch(value) for value in given.values()):
                results[name] = sys.modules["torch"].from_numpy(results[name])
        return Run(results, _object(report))

    def _at_shapes(self, values: "Mapping[str, np.ndarray[Any, Any]]") -> Diagram:
        """The diagram at the sizes that arrays have; where they disagree, the first says."""
        sizes: "dict[str, float]" = {}
        own = self.sizes
        for name, array in values.items():
            info = self.inputs.get(name)
            if info is None or array.ndim != len(info.axes):
                continue
            for axis, size in zip(info.axes, array.shape):
                if axis in own and size > 0:
                    sizes.setdefault(axis, size)
        differs = any(own[axis] != size for axis, size in sizes.items())
        return self.sized(sizes) if differs else self

    def emit(self, form: str = "cuda", *, target: "str | None" = None, arch: str = "sm_90", unproved: bool = False) -> str:
        """The tile program (``"tile"``) or the kernels (``"cuda"``), which are proved first.

        Args:
            target: ``simt``, ``sm_80`` or ``sm_90a``; the best that serves where none is given.
            arch: the GPU architecture that kernels are made for.
            unproved: write kernels that are neither proved nor refuted, too.

        Raises:
            Refusal: no target serves the derivation, or it is not proved.
        """
        if form not in ("tile", "cuda"):
            raise ValueError(f"there is no form {form!r}; there are tile and cuda")
        return self._core.emit(form, target or "", arch, unproved)

    def to_torch(self, name: "str | None" = None, *, dynamic: "Iterable[str]" = (), gradient: "Diagram | None" = None,
                 target: "str | None" = None, arch: str = "sm_90", unproved: bool = False,
                 folder: "Union[str, os.PathLike[str], None]" = None) -> "Callable[..., Any]":
        """The exported operator: a function of tensors of PyTorch on a GPU, which ``torch.compile`` takes as it is.

        Its arguments are :attr:`inputs`, in that order, then parameters; its results are :attr:`outputs`. docs/export.md says
        what it takes. Defining it needs PyTorch and no GPU: kernels are proved now, and compiled when they first run on one.

        Args:
            name: of ``torch.ops.napkin.NAME``; one that says what was asked for where none is given.
            dynamic: axes whose sizes are those of each call; those of others are the diagram's.
            gradient: the diagram, after its moves, of the gradients; the operator has a backward then.
            target: ``simt``, ``sm_80`` or ``sm_90a``; the best that serves where none is given.
            arch: the GPU architecture that kernels are made for.
            unproved: take kernels that are neither proved nor refuted, too.
            folder: where the export is written, a package for other projects; the cache where none is given.

        Raises:
            Refusal: no target serves the derivation, it is not proved, or the gradient does not fit.
            ImportError: there is no PyTorch, or the name is another operator's.
            FileExistsError: a file of the folder is not from an export.
        """
        axes = [dynamic] if isinstance(dynamic, str) else list(dynamic)
        others = None if gradient is None else gradient._core
        asked = repr((self._identity(), axes, gradient and gradient._identity(), target, arch, unproved, _core.version()))
        operator = name or f"{self.name}_{hashlib.sha256(asked.encode()).hexdigest()[:12]}"
        files = self._core.operator_files(operator, axes, target or "", arch, unproved, others)
        place = pathlib.Path(folder) if folder is not None else _cache() / "operators" / operator
        place.mkdir(parents=True, exist_ok=True)
        for file, text in files:
            _write_whole(place / file, text)
        return getattr(_imported(place / f"{operator}.py"), operator)  # type: ignore[no-any-return]

    def svg(self, machine: "str | None" = None, *, region: "str | None" = None, theme: str = "paper", width: int = 0) -> str:
        """The picture; docs/reading.md says how to read it.

        Args:
            machine: bytes stand under the formulas, and what is too large is told.
            region: one kernel alone, by an array that it saves.
            theme: ``paper``, ``slides``, ``contrast`` or ``dark``.
            width: no wider than so many pixels, where it can be broken.
        """
        return self._core.draw("svg", machine or "", region or "", theme, width)

    def picture(self, width: int = 80) -> str:
        """The picture in box-drawing characters, ``width`` columns wide at most where it can be broken."""
        return self._core.draw("text", "", "", "paper", width)

    # How it is shown.

    def __str__(self) -> str:
        return self.text + "".join(move + "\n" for move in self.moves)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{axis}={size}" for axis, size in self.sizes.items())
        moves = "; ".join(self.moves)
        return f"<napkin.Diagram {self.name} ({sizes}){': ' + moves if moves else ''}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Diagram) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> "tuple[Any, ...]":
        return self.text, tuple(self.moves), tuple(sorted(self._settings.items())), tuple(sorted(self.sizes.items()))

    def __reduce__(self) -> "tuple[Any, ...]":
        return _again, (self._text, self._moves, self._file, self._settings)

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        moves = "".join(f"<li><code>{html.escape(move)}</code></li>" for move in self.moves)
        total = self.cost()["total"]["levels"]["block"]["H"]
        moved = f"<p>{total['values']:,} values are moved, {total['bytes']:,} bytes</p>"
        return self.svg() + (f"<ol>{moves}</ol>" if moves else "") + moved


def _cache() -> pathlib.Path:
    root = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(root) / "napkin"


def _write_whole(path: pathlib.Path, text: str) -> None:
    """Others may read it at any time; what is the same stays, and so does what a person wrote."""
    if path.exists():
        known = path.read_bytes()
        if known == text.encode():
            return
        if b"Written by napkin export" not in known[:1024] and not path.name.endswith(".certificate.json"):
            raise FileExistsError(f"{path} is there already, and not from an export")
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(text.encode())
    os.replace(file.name, path)


def _imported(path: pathlib.Path) -> types.ModuleType:
    """The module of an exported operator, which is no other's of its name."""
    name = f"napkin.operators.{path.stem}"
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(path):
        return known
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=[str(path.parent)])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _must_be_text(given: object) -> None:
    if not isinstance(given, str):
        raise TypeError(f"diagrams and moves are texts, not {type(given).__name__}; Diagram.read takes files")


def _must_be_seed(seed: int) -> None:
    if not 0 <= seed < 2**64:
        raise ValueError(f"a seed is a whole number below 2^64, not {seed}")


def _again(text: str, moves: str, file: str, settings: "Mapping[str, float]") -> Diagram:
    diagram = Diagram.__new__(Diagram)
    diagram._set(text, moves, file, settings)
    return diagram


def _object(text: str) -> "dict[str, Any]":
    value: "dict[str, Any]" = json.loads(text)
    return value
