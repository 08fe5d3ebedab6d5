"""scaled: B[m, n] of A and w.

Written by napkin export 0.0.0 from a diagram, target simt.

    input   A[m, n] f32: n contiguous
    input   w[n] f32: n contiguous
    output  B[m, n] f16: n contiguous
    number  eps f32, 9.999999747378752e-06 unless given
    size    m at run time
    size    n = 8
    Outputs share no memory with each other or with inputs.

    import scaled  # this file; scaled.cu lies beside it

    B = scaled.scaled(A, w, eps=9.999999747378752e-06)  # or torch.ops.napkin.scaled, the same

It is a custom operator of PyTorch 2.4 or newer, which torch.compile takes as it is. The kernels are
compiled by NVRTC, which comes with PyTorch, for the device at hand when the operator first runs
there, and kept under $XDG_CACHE_HOME/napkin (or ~/.cache/napkin). Nothing is copied and nothing
falls back: what the contract does not cover raises ContractError. There is no backward.

    python3 scaled.py  # compares with stored results of the reference, on the current device
"""

import ctypes
import glob
import hashlib
import os
import pathlib
import sys
import tempfile
from typing import NamedTuple, Optional

import torch

__all__ = ["ContractError", "scaled"]


class ContractError(ValueError):
    """Arguments that the kernels do not serve."""


class _Axis(NamedTuple):
    fixed: Optional[int]  # the only size
    most: int


class _Array(NamedTuple):
    name: str
    dtype: torch.dtype
    axes: tuple
    order: tuple  # dimensions as they lie in memory, slowest first
    alignment: int = 1  # bytes, of the address
    multiple: int = 1  # elements, of every stride but the last in memory, which is 1


class _Kernel(NamedTuple):
    name: str
    threads: int
    shared: int  # bytes of a block
    parameters: tuple  # (kind, what, dimension)


_AXES = {
    "m": _Axis(None, 1073741824),
    "n": _Axis(8, 1073741824),
}
_INPUTS = (
    _Array("A", torch.float32, ("m", "n"), (0, 1), 4, 1),
    _Array("w", torch.float32, ("n",), (0,), 4, 1),
)
_OUTPUTS = (
    _Array("B", torch.float16, ("m", "n"), (0, 1), 2, 1),
)
_INTERMEDIATES = (
)
_VALUES = ("eps",)  # arguments that are no tensors, in order
_KERNELS = (
    _Kernel(
        "scaled_B",
        32,
        272,
        (
            ("address", "A", 0),
            ("address", "w", 0),
            ("address", "B", 0),
            ("stride", "A", 0),
            ("real", "eps", 0),
            ("stride", "B", 0),
            ("size", "m", 0),
        ),
    ),
)
_CAPABILITY = (7, 0)
_SCHEMA = "(Tensor A, Tensor w, float eps=9.999999747378752e-06) -> Tensor"


def _exact(a, b):
    _require(a % b == 0, lambda: f"sizes: {a} is no multiple of {b}")
    return a // b


def _derive_sizes(size, given):
    """Sizes that are on no input, or follow from others."""
    # None: all are on inputs.


def _blocks(size):
    return (
        -(-size["m"] // 4),
    )


# ---- the contract ----


def _require(holds, message):
    if not isinstance(holds, bool):
        torch._check(holds, message)  # a size that torch.compile knows as a symbol
    elif not holds:
        raise ContractError(message())


def _set_size(size, axis, value, name):
    fixed, most = _AXES[axis]
    if fixed is not None:
        _require(
            value == fixed,
            lambda: f"{name}: size {value} along {axis}, and the kernels were made for {fixed}",
        )
    else:
        _require(
            value >= 1, lambda: f"{name}: size {value} along {axis}, and the kernels take 1 to {most}"
        )
        _require(
            value <= most, lambda: f"{name}: size {value} along {axis}, and the kernels take 1 to {most}"
        )
    if axis in size:
        known = size[axis]
        _require(
            value == known, lambda: f"{name}: size {value} along {axis}, where it is {known} elsewhere"
        )
    size[axis] = value


def _check_tensor(tensor, array, device):
    name = array.name
    if tensor.dtype != array.dtype:
        raise ContractError(f"{name}: holds {tensor.dtype}, and the kernels take {array.dtype}")
    if tensor.dim() != len(array.axes):
        raise ContractError(
            f"{name}: has {tensor.dim()} dimensions, and the kernels take {len(array.axes)}"
        )
    if tensor.device != device:
        raise ContractError(f"{name}: is on {tensor.device}, and other inputs on {device}")


def _sizes(tensors, values):
    """The size of every axis; works on fake tensors too."""
    device = tensors[0].device if tensors else torch.device("cuda", torch.cuda.current_device())
    size = {}
    for tensor, array in zip(tensors, _INPUTS):
        _check_tensor(tensor, array, device)
        for axis, value in zip(array.axes, tensor.shape):
            _set_size(size, axis, value, array.name)
    _derive_sizes(size, dict(zip(_VALUES, values)))
    return size, device


def _check_place(tensor, array):
    """Strides and address."""
    name = array.name
    if tensor.data_ptr() % array.alignment != 0:
        raise ContractError(
            f"{name}: its address must be a multiple of {array.alignment} bytes; clone() makes it so"
        )
    contiguous = array.order[-1] if array.order else -1
    for dimension, (extent, stride) in enumerate(zip(tensor.shape, tensor.stride())):
        if extent == 1:
            continue
        axis = array.axes[dimension]
        if dimension == contiguous:
            if stride != 1:
                raise ContractError(
                    f"{name}: stride {stride} along {axis}, which must be contiguous; "
                    "contiguous() makes it so"
                )
        elif stride % array.multiple != 0:
            raise ContractError(
                f"{name}: stride {stride} along {axis}, which must be a multiple of {array.multiple}"
            )


def _empty(array, size, device):
    """An array as the kernels write it: contiguous in its own order of dimensions."""
    shape = [size[array.axes[dimension]] for dimension in array.order]
    tensor = torch.empty(shape, dtype=array.dtype, device=device)
    if array.order == tuple(range(len(array.order))):
        return tensor
    return tensor.permute([array.order.index(dimension) for dimension in range(len(shape))])


def _results(outputs):
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


# ---- the device ----

_HERE = pathlib.Path(__file__).resolve().parent
_libraries = {}
_loaded = {}  # functions, by device


def _driver():
    if "driver" not in _libraries:
        driver = ctypes.CDLL("libcuda.so.1")
        driver.cuLaunchKernel.argtypes = (
            [ctypes.c_void_p] + [ctypes.c_uint] * 7 + [ctypes.c_void_p] * 3
        )
        _libraries["driver"] = driver
    return _libraries["driver"]


def _checked(status, what):
    if status == 0:
        return
    text = ctypes.c_char_p()
    _driver().cuGetErrorString(status, ctypes.byref(text))
    raise RuntimeError(f"scaled: {what}: {(text.value or b'unknown error').decode()}")


def _nvrtc():
    """NVRTC: PyTorch's own where it is, else the toolkit's."""
    if "nvrtc" in _libraries:
        return _libraries["nvrtc"]
    major = (torch.version.cuda or "").split(".")[0]
    packages = pathlib.Path(torch.__file__).resolve().parent.parent
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    names = []
    for folder in (packages / "nvidia/*/lib", packages / "torch/lib", pathlib.Path(home) / "lib64"):
        names += sorted(glob.glob(f"{folder}/libnvrtc.so.{major}*"))
        names += sorted(glob.glob(f"{folder}/libnvrtc-*.so.{major}*"))
    names = [name for name in names if "builtins" not in name and ".alt." not in name]
    for name in names + [f"libnvrtc.so.{major}", "libnvrtc.so"]:
        try:
            if "/" in name:  # NVRTC looks for these by name, outside its own folder
                for part in glob.glob(f"{os.path.dirname(name)}/libnvrtc-builtins*"):
                    ctypes.CDLL(part, mode=ctypes.RTLD_GLOBAL)
            _libraries["nvrtc"] = ctypes.CDLL(name)
            return _libraries["nvrtc"]
        except OSError:
            continue
    raise RuntimeError("scaled: NVRTC (libnvrtc.so) is neither with PyTorch nor in CUDA_HOME")


def _cache_path(key):
    root = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(root) / "napkin" / f"scaled-{key[:32]}.cubin"


def _compile(architecture):
    """A cubin for `sm_90`, from the cache or from NVRTC."""
    source = (_HERE / "scaled.cu").read_bytes()
    options = [f"--gpu-architecture={architecture}".encode(), b"-std=c++17", b"-default-device"]
    nvrtc = _nvrtc()
    version = (ctypes.c_int(), ctypes.c_int())
    nvrtc.nvrtcVersion(ctypes.byref(version[0]), ctypes.byref(version[1]))
    stamp = f"{version[0].value}.{version[1].value}".encode()
    path = _cache_path(hashlib.sha256(b"\0".join([source, stamp, *options])).hexdigest())
    try:
        return path.read_bytes()
    except OSError:
        pass
    program = ctypes.c_void_p()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"scaled.cu", 0, None, None) != 0:
        raise RuntimeError("scaled: NVRTC does not start")
    listed = (ctypes.c_char_p * len(options))(*options)
    failed = nvrtc.nvrtcCompileProgram(program, len(options), listed)
    length = ctypes.c_size_t()
    if failed:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(length))
        log = ctypes.create_string_buffer(length.value + 1)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(f"scaled: NVRTC {stamp.decode()} for {architecture}:\n{log.value.decode()}")
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(length))
    image = ctypes.create_string_buffer(length.value)
    nvrtc.nvrtcGetCUBIN(program, image)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    try:  # a cache that cannot be written only costs time
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(image.raw)
        os.replace(file.name, path)
    except OSError:
        pass
    return image.raw


def _functions(device):
    """The kernels on a device, whose context is current."""
    if device.index in _loaded:
        return _loaded[device.index]
    driver = _driver()
    capability = torch.cuda.get_device_capability(device)
    if capability < _CAPABILITY:
        raise ContractError(
            f"{device}: has compute capability {capability[0]}.{capability[1]}, and the kernels need "
            f"{_CAPABILITY[0]}.{_CAPABILITY[1]}"
        )
    available = ctypes.c_int()
    optin = 97  # CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    number = ctypes.c_int()
    _checked(driver.cuCtxGetDevice(ctypes.byref(number)), "asking for the device")
    _checked(driver.cuDeviceGetAttribute(ctypes.byref(available), optin, number), "asking the device")
    for kernel in _KERNELS:
        if kernel.shared > available.value:
            raise ContractError(
                f"{device}: {kernel.name} needs {kernel.shared} bytes of shared memory a block, and "
                f"the device has {available.value}"
            )
    module = ctypes.c_void_p()
    image = _compile(f"sm_{capability[0]}{capability[1]}")
    _checked(driver.cuModuleLoadData(ctypes.byref(module), image), "loading the kernels")
    functions = []
    for kernel in _KERNELS:
        function = ctypes.c_void_p()
        found = driver.cuModuleGetFunction(ctypes.byref(function), module, kernel.name.encode())
        _checked(found, kernel.name)
        largest = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        _checked(driver.cuFuncSetAttribute(function, largest, kernel.shared), kernel.name)
        functions.append(function)
    _loaded[device.index] = functions
    return functions


def _in_workspace(size, device):
    """Intermediate results, rows padded to what the kernels' vectors need."""
    tensors = []
    for array in _INTERMEDIATES:
        shape = [size[array.axes[dimension]] for dimension in array.order]
        padded = list(shape)
        if padded:
            padded[-1] = -(-padded[-1] // array.multiple) * array.multiple
        tensor = torch.empty(padded, dtype=array.dtype, device=device)
        if padded != shape:
            tensor = tensor[..., : shape[-1]]
        tensors.append(tensor.permute([array.order.index(d) for d in range(len(shape))]))
    return tensors


def _launch(function, kernel, blocks, arrays, size, given, stream):
    if blocks > 2**31 - 1:
        raise ContractError(f"{kernel.name}: {blocks} blocks, and a launch has at most 2^31 - 1")
    values = []
    for kind, what, dimension in kernel.parameters:
        if kind == "address":
            values.append(ctypes.c_uint64(arrays[what].data_ptr()))
        elif kind == "stride":
            values.append(ctypes.c_int64(arrays[what].stride(dimension)))
        elif kind == "size":
            values.append(ctypes.c_int(size[what]))
        elif kind == "real":
            values.append(ctypes.c_float(given[what]))
        else:
            values.append(ctypes.c_int64(int(given[what])))
    places = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
    status = _driver().cuLaunchKernel(
        function, blocks, 1, 1, kernel.threads, 1, 1, kernel.shared, stream, places, None
    )
    _checked(status, kernel.name)


def _run(*arguments):
    tensors, values = arguments[: len(_INPUTS)], arguments[len(_INPUTS) :]
    size, device = _sizes(tensors, values)
    if device.type != "cuda":
        raise ContractError(f"inputs are on {device}, and the kernels run on cuda")
    for tensor, array in zip(tensors, _INPUTS):
        _check_place(tensor, array)
    given = dict(zip(_VALUES, values))
    outputs = [_empty(array, size, device) for array in _OUTPUTS]
    with torch.cuda.device(device):
        functions = _functions(device)
        stream = torch.cuda.current_stream().cuda_stream
        arrays = {array.name: tensor for array, tensor in zip(_INPUTS, tensors)}
        arrays.update((array.name, tensor) for array, tensor in zip(_OUTPUTS, outputs))
        between = _in_workspace(size, device)
        arrays.update((array.name, tensor) for array, tensor in zip(_INTERMEDIATES, between))
        for function, kernel, blocks in zip(functions, _KERNELS, _blocks(size)):
            _launch(function, kernel, blocks, arrays, size, given, stream)
    return _results(outputs)


def _fake(*arguments):
    tensors, values = arguments[: len(_INPUTS)], arguments[len(_INPUTS) :]
    size, device = _sizes(tensors, values)
    return _results([_empty(array, size, device) for array in _OUTPUTS])


_operator = torch.library.custom_op("napkin::scaled", _run, mutates_args=(), schema=_SCHEMA)
_operator.register_fake(_fake)


def scaled(A, w, eps=9.999999747378752e-06):
    """B[m, n] of A and w. See the contract above."""
    return torch.ops.napkin.scaled(A, w, eps)


# ---- the self-test ----


def _draw(key, index):
    """The number of an element: 64 bits, as a signed tensor."""

    def signed(word):
        return word - 2**64 if word >= 2**63 else word

    def shifted(word, by):
        return (word >> by) & ((1 << (64 - by)) - 1)

    mixed = (index + 1) * signed(0x9E3779B97F4A7C15) + signed(key)
    mixed = (mixed ^ shifted(mixed, 30)) * signed(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ shifted(mixed, 27)) * signed(0x94D049BB133111EB)
    return mixed ^ shifted(mixed, 31)


def _remainder(word, count):
    """Of the unsigned number."""
    return ((((word >> 1) & (2**63 - 1)) % count) * 2 + (word & 1)) % count


def _made(recipe, array, size, device):
    """An input by its line in the file, as the exporter made it."""
    shape = [size[axis] for axis in array.axes]
    count = 1
    for extent in shape:
        count *= extent
    row = shape[-1] if shape else 1
    index = torch.arange(count, dtype=torch.int64, device=device)
    kind, key = recipe[0], int(recipe[1], 16)
    if kind == "range":
        values = int(recipe[2]) + _remainder(_draw(key, index), int(recipe[3]))
    elif kind == "documents":
        values = torch.zeros_like(index)
        for end in range(3):
            values += index % row >= 1 + _remainder(_draw(key, index // row * 3 + end), row)
    else:
        bits = int(recipe[2])
        word = _draw(key, index)
        total = sum((word >> shift) & 0xFFFF for shift in (0, 16, 32, 48)) - 131070
        if bits <= 4:
            total = torch.div(total, 64, rounding_mode="trunc") * 64
        values = total.to(torch.float32) / 32768
        values = (values.view(torch.int32) & ~((1 << (24 - bits)) - 1)).view(torch.float32)
        if kind == "positive":
            values = values.abs().clamp(min=2.0**-6)
    return values.to(array.dtype).reshape(shape)


def _with_strides(tensor, array):
    """The same values in rows and planes that are longer than what they hold."""
    shape = [tensor.shape[dimension] for dimension in array.order]
    if not shape:
        return tensor
    padded = [extent + 1 for extent in shape[:-1]] + [(shape[-1] + 31) // 16 * 16]
    whole = torch.zeros(padded, dtype=tensor.dtype, device=tensor.device)
    for dimension, extent in enumerate(shape):
        whole = whole.narrow(dimension, 0, extent)
    result = whole.permute([array.order.index(dimension) for dimension in range(len(shape))])
    return result.copy_(tensor)


def _read_cases(path):
    """Every case of the file: sizes, values by name, recipes by input, results by output."""
    cases = []
    lines = iter(path.read_text().splitlines())
    for line in lines:
        words = line.split()
        if not words or words[0] in ("#", "end"):
            continue
        if words[0] == "case":
            cases.append({"size": {}, "scalar": {}, "input": {}, "output": {}})
        elif words[0] == "output":
            rows = [next(lines).split() for _ in range(int(words[2]))]
            cases[-1]["output"][words[1]] = rows
        elif words[0] == "input":
            cases[-1]["input"][words[1]] = words[2:]
        elif words[0] == "scalar":
            cases[-1]["scalar"][words[1]] = float.fromhex(words[2])
        else:
            cases[-1]["size"][words[1]] = int(words[2])
    return cases


def _judge(array, output, rows):
    at = torch.tensor([int(row[0]) for row in rows])
    expected = torch.tensor([float.fromhex(row[1]) for row in rows], dtype=torch.float64)
    tolerance = torch.tensor([float.fromhex(row[2]) for row in rows], dtype=torch.float64)
    got = output.cpu().reshape(-1)[at].to(torch.float64)
    error = torch.where(got == expected, 0.0, (got - expected).abs())
    right = (error <= tolerance) | tolerance.isinf()
    worst = torch.where(tolerance.isinf(), 0.0, error / tolerance).max().item()
    wrong = int((~right).sum())
    text = f"{array.name}: {len(rows)} elements, largest error {worst:.2g} of its tolerance"
    return wrong == 0, text + (f", {wrong} WRONG" if wrong else "")


def self_test(device="cuda"):
    """Compares with the stored results of the reference; prints, and says whether all is right."""
    right = True
    for case in _read_cases(_HERE / "scaled_selftest.txt"):
        print("case", " ".join(f"{axis}={extent}" for axis, extent in case["size"].items()))
        given = {**case["size"], **case["scalar"]}
        for how in ("contiguous", "strided"):
            inputs = [_made(case["input"][a.name], a, case["size"], device) for a in _INPUTS]
            if how == "strided":
                inputs = [_with_strides(tensor, a) for tensor, a in zip(inputs, _INPUTS)]
            outputs = torch.ops.napkin.scaled(*inputs, *(given[name] for name in _VALUES))
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            for array, output in zip(_OUTPUTS, outputs):
                passed, text = _judge(array, output, case["output"][array.name])
                right = right and passed
                print(f"  {how}, {text}")
    print("ok" if right else "WRONG")
    return right


if __name__ == "__main__":
    sys.exit(0 if self_test() else 1)
