"""As much of PyTorch as an exported operator touches when it is called, without data or a device."""

import types


class dtype:
    def __init__(self, name, size):
        self.name, self.itemsize = name, size

    def __repr__(self):
        return "torch." + self.name


float32, bfloat16, float16 = dtype("float32", 4), dtype("bfloat16", 2), dtype("float16", 2)
float8_e4m3fn, float8_e5m2 = dtype("float8_e4m3fn", 1), dtype("float8_e5m2", 1)
int8, uint8, int32, int64, bool = dtype("int8", 1), dtype("uint8", 1), dtype("int32", 4), dtype("int64", 8), dtype("bool", 1)


class device:
    def __init__(self, type, index=0):
        self.type, self.index = type, index

    def __eq__(self, other):
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __repr__(self):
        return f"{self.type}:{self.index}"


_next = 1 << 20


class Tensor:
    def __init__(self, shape, dtype, device, strides, address):
        self.shape, self.dtype, self.device = tuple(shape), dtype, device
        self._strides, self._address = tuple(strides), address

    def dim(self):
        return len(self.shape)

    def stride(self, dimension=None):
        return self._strides if dimension is None else self._strides[dimension]

    def element_size(self):
        return self.dtype.itemsize

    def data_ptr(self):
        return self._address

    def permute(self, *order):
        order = order[0] if len(order) == 1 else order
        return Tensor(
            [self.shape[d] for d in order],
            self.dtype,
            self.device,
            [self._strides[d] for d in order],
            self._address,
        )

    def transpose(self, a, b):
        order = list(range(self.dim()))
        order[a], order[b] = order[b], order[a]
        return self.permute(order)

    def unflatten(self, dimension, sizes):
        outer, inner = sizes
        assert outer * inner == self.shape[dimension]
        stride = self._strides[dimension]
        return Tensor(
            self.shape[:dimension] + (outer, inner) + self.shape[dimension + 1 :],
            self.dtype,
            self.device,
            self._strides[:dimension] + (inner * stride, stride) + self._strides[dimension + 1 :],
            self._address,
        )


def empty(shape, dtype=float32, device=device("cuda")):
    shape = shape if isinstance(shape, (tuple, list)) else (shape,)
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return empty_strided(shape, strides, dtype, device)


def empty_strided(shape, strides, dtype, device):
    global _next
    address = _next
    elements = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides))
    _next += (elements * dtype.itemsize + 511) // 512 * 512
    return Tensor(shape, dtype, device, strides, address)


def zeros(*shape, dtype=float32, device="cuda"):
    return empty(shape, dtype, globals()["device"](device))


randn = zeros


def compile(function):
    return function


def sym_min(a, b):
    return min(a, b)


def sym_max(a, b):
    return max(a, b)


version = types.SimpleNamespace(cuda="13.0")
ops = types.SimpleNamespace(napkin=types.SimpleNamespace())


class _Guard:
    current = 0

    def __init__(self, device):
        assert device.type == "cuda"
        self.index = device.index

    def __enter__(self):
        self.before, _Guard.current = _Guard.current, self.index

    def __exit__(self, *_):
        _Guard.current = self.before


cuda = types.SimpleNamespace(
    device=_Guard,
    is_available=lambda: False,
    current_device=lambda: _Guard.current,
    current_stream=lambda index: types.SimpleNamespace(cuda_stream=77 + index),
    get_device_capability=lambda device: (9, 0),
)


def _without_defaults(function, schema):
    """PyTorch's dispatcher leaves out trailing arguments that equal their defaults."""
    parameters = schema[1 : schema.index(")")].split(", ")
    defaults = [float(text.split("=")[1]) if "=" in text else None for text in parameters]

    def call(*arguments):
        while arguments and defaults[len(arguments) - 1] == arguments[-1]:
            arguments = arguments[:-1]
        return function(*arguments)

    return call


class Library:
    """Calls what is registered for every backend."""

    def __init__(self, namespace, kind):
        assert (namespace, kind) == ("napkin", "FRAGMENT")

    def define(self, schema, tags):
        name = schema[: schema.index("(")]
        self.schemas = {**getattr(self, "schemas", {}), name: schema[len(name) :]}

    def impl(self, name, function, key, with_keyset=False):
        if key == "CompositeExplicitAutograd":
            call = _without_defaults(function, self.schemas[name])
            call.schema = self.schemas[name]
            setattr(ops.napkin, name, types.SimpleNamespace(default=call))

    def _destroy(self):
        self.schemas = {}


Tag = types.SimpleNamespace(pt2_compliant_tag=0, needs_fixed_stride_order=1)
_C = types.SimpleNamespace(DispatchKey=types.SimpleNamespace(CUDA="CUDA"))
_library = types.SimpleNamespace(
    autograd=types.SimpleNamespace(
        Info=lambda backward, keep: None, make_autograd_impl=lambda operator, information: None
    )
)
library = types.SimpleNamespace(Library=Library, register_fake=lambda name, function, lib: None)
