"""As much of PyTorch as an exported operator touches when it is called, without data or a device."""

import types


class dtype:
    def __init__(self, name, size):
        self.name, self.size = name, size

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
        return self.dtype.size

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

    def __getitem__(self, index):
        """The rows cut short: `[..., :n]`."""
        assert index[0] is Ellipsis and index[1].start is None
        return Tensor(
            self.shape[:-1] + (index[1].stop,), self.dtype, self.device, self._strides, self._address
        )


def empty(shape, dtype=float32, device=device("cuda")):
    global _next
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    address = _next
    _next += (step * dtype.size + 511) // 512 * 512
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
    def __init__(self, device):
        assert device.type == "cuda"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


cuda = types.SimpleNamespace(
    device=_Guard,
    is_available=lambda: False,
    current_device=lambda: 0,
    current_stream=lambda: types.SimpleNamespace(cuda_stream=77),
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


class _Operator:
    def __init__(self, name, function, schema):
        setattr(ops.napkin, name.split("::")[1], _without_defaults(function, schema))
        self.schema = schema

    def register_fake(self, function):
        self.fake = function

    def register_autograd(self, backward, setup_context):
        self.backward, self.keep = backward, setup_context


library = types.SimpleNamespace(
    custom_op=lambda name, function, mutates_args, schema: _Operator(name, function, schema)
)
