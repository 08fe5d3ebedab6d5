"""Calls the exported operators `attention`, `unfused`, `grouped` and `quantised` (tests/export/examples.cpp) with the torch
of fake_torch and a driver that notes launches: what they launch, and what they refuse.

usage: PYTHONPATH=fake_torch:the folder of each python3 operator_cases.py
"""

import contextlib
import ctypes
import importlib.util
import io
import pathlib
import shutil
import sys
import tempfile

import torch

import attention
import grouped
import narrow
import quantised
import unfused

failures = []


def check(holds, what):
    if not holds:
        failures.append(what)


def refused(what, words, call):
    try:
        call()
    except (attention.ContractError, grouped.ContractError, narrow.ContractError, quantised.ContractError) as why:
        check(words in str(why), f"{what}: says {why}")
    else:
        check(False, f"{what}: is not refused")


class Driver:
    """Notes launches, their arguments as 64-bit numbers."""

    def __init__(self):
        self.launches = []
        self.maps = []
        self.refuses_maps = False
        self.stream = 77  # PyTorch's, of device 0
        self.within = lambda: None  # what happens while a launch is under way
        self.context = True

    def cuTensorMapEncodeTiled(self, place, type, rank, address, extents, strides, box, steps, *how):
        at = ctypes.addressof(place._obj)
        assert at % 64 == 0 and list(steps) == [1] * rank
        ctypes.c_int64.from_address(at).value = len(self.maps)  # so that a launch tells its map
        self.maps.append((type, address.value, list(extents), list(strides), list(box), how))
        return 1 if self.refuses_maps else 0

    def cuGetErrorString(self, status, text):
        text._obj.value = b"invalid argument"

    def cuDevicePrimaryCtxRetain(self, context, device):
        context._obj.value = 4
        return 0

    def cuCtxSetCurrent(self, context):
        self.context = context.value == 4
        return 0

    def cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared, stream, places, extra):
        if not self.context:
            return 201
        self.within()
        values = [ctypes.cast(place, ctypes.POINTER(ctypes.c_int64))[0] for place in places]
        assert (gy, gz, by, bz, stream, extra) == (1, 1, 1, 1, self.stream, None)
        assert self.stream == 77 + torch.cuda.current_device()
        self.launches.append((function, gx, bx, shared, values))
        return 0


def with_driver(module):
    driver = Driver()
    module._plans.clear()
    module._driver = lambda: driver
    module._functions = lambda device, kernels: [(kernel.name, 5 if kernel.several else 2**31 - 1) for kernel in kernels]
    return driver


def heads_inside(b, h, q, d):
    """[b, h, q, d] of memory [b, q, h, d]."""
    return torch.empty((b, q, h, d), torch.bfloat16).permute([0, 2, 1, 3])


def attention_launches():
    driver = with_driver(attention)
    Q, K, V = heads_inside(2, 3, 37, 32), heads_inside(2, 3, 70, 32), heads_inside(2, 3, 70, 32)
    O, L = attention.attention(Q, K, V)
    check(O.shape == (2, 3, 37, 32) and O.stride() == (3552, 1184, 32, 1), "shape of O")
    check(O.dtype is torch.bfloat16 and L.dtype is torch.float32, "types of results")
    check(L.shape == (2, 3, 37), "shape of L")
    check(len(driver.launches) == 1, "one launch")
    function, blocks, threads, shared, values = driver.launches[0]
    kernel = attention._KERNELS[0]  # for any strides
    check(function == kernel.name and blocks == 2 * 3 * 2, "blocks of 32 rows")
    check((threads, shared) == (kernel.threads, kernel.shared), "threads and shared memory")
    arrays = {"Q": Q, "K": K, "V": V, "O": O, "L": L}
    sizes = {"q": 37, "x": 70, "b": 2, "h": 3}
    for (kind, what, dimension), value in zip(kernel.parameters, values):
        if kind == "address":
            check(value == arrays[what].data_ptr(), f"address of {what}")
        elif kind == "stride":
            check(value == arrays[what].stride(dimension), f"stride {dimension} of {what}")
        else:
            check(value & 0xFFFFFFFF == sizes[what], f"size of {what}")
    kinds = [kind for kind, _, _ in kernel.parameters]
    check(kinds.count("address") == 5 and "stride" in kinds and "size" in kinds, "kinds of arguments")
    fake = attention._fake(Q, K, V)
    check([t.shape for t in fake] == [O.shape, L.shape], "shapes of the fake kernel")
    check([t.stride() for t in fake] == [O.stride(), L.stride()], "strides of the fake kernel")


def attention_refusals():
    with_driver(attention)
    right = [torch.empty((2, 3, n, 32), torch.bfloat16) for n in (37, 70, 70)]

    def with_other(position, other):
        arguments = list(right)
        arguments[position] = other
        return lambda: attention.attention(*arguments)

    def like(shape, dtype=torch.bfloat16, strides=None, shift=0, device=torch.device("cuda")):
        made = torch.empty(shape, dtype, device)
        return torch.Tensor(
            made.shape, dtype, device, strides or made.stride(), made.data_ptr() + shift
        )

    shape = (2, 3, 70, 32)
    refused("another type", "holds torch.float16", with_other(0, like((2, 3, 37, 32), torch.float16)))
    refused("another rank", "has 3 dimensions", with_other(1, like((6, 70, 32))))
    refused("a fixed size", "were made for 32", with_other(0, like((2, 3, 37, 64))))
    refused("sizes that differ", "size 71 along x", with_other(2, like((2, 3, 71, 32))))
    refused("nothing", "take 1 to", with_other(0, like((2, 3, 0, 32))))
    refused("not contiguous", "contiguous()", with_other(1, like(shape, strides=(10000, 4480, 64, 2))))
    refused("no multiple", "multiple of 8", with_other(1, like(shape, strides=(7560, 2520, 36, 1))))
    refused("half a vector", "multiple of 16 bytes", with_other(2, like(shape, shift=8)))
    refused("two devices", "is on cuda:1", with_other(2, like(shape, device=torch.device("cuda", 1))))
    on_cpu = [like(t.shape, device=torch.device("cpu")) for t in right]
    refused("no device", "run on cuda", lambda: attention.attention(*on_cpu))
    attention.attention(*right)


def unfused_launches():
    driver = with_driver(unfused)
    O = unfused.unfused(*[torch.empty((2, n, 16), torch.float16) for n in (21, 30, 30)])
    check(O.shape == (2, 21, 16), "shape of O")
    check([launch[1] for launch in driver.launches] == [6, 12, 6], "blocks of three kernels")
    # S is written by the first kernel and read by the second, at one address.
    first, second = driver.launches[0][4], driver.launches[1][4]
    where = {}
    for kernel, values in zip(unfused._CONTIGUOUS, (first, second)):
        for (kind, what, _), value in zip(kernel.parameters, values):
            if kind == "address":
                check(where.setdefault(what, value) == value, f"address of {what}")
    check("S" in where and "P" in where, "intermediate results")


def grouped_launches():
    driver = with_driver(grouped)
    # One batch, whose stride may be anything; heads inside positions; one head for all.
    Q = heads_inside(1, 2, 70, 32)
    K = torch.empty((1, 2, 97, 32), torch.bfloat16)
    K = torch.Tensor(K.shape, K.dtype, K.device, (7, 0, 32, 1), K.data_ptr())
    V = torch.empty((1, 2, 97, 32), torch.bfloat16)
    grouped.grouped(Q, K, V)
    how = (0, 2, 2, 0)  # no interleaving, swizzled in 64 bytes, fetched in 128, zeros outside
    expected = [
        (9, Q.data_ptr(), [32, 70, 2, 1], [128, 64, 16], [32, 64, 1, 1], how),
        (9, K.data_ptr(), [32, 97, 2, 1], [64, 0, 16], [32, 32, 1, 1], how),
        (9, V.data_ptr(), [32, 97, 2, 1], [64, 97 * 64, 16], [32, 32, 1, 1], how),
    ]
    check(driver.maps == expected, f"tensor maps {driver.maps}")
    values = driver.launches[0][4]
    maps = [v for (kind, _, _), v in zip(grouped._KERNELS[0].parameters, values) if kind == "map"]
    check(maps == [0, 1, 2], "each map in its place")
    driver.refuses_maps = True
    grouped._plans.clear()
    try:
        grouped.grouped(Q, K, V)
    except RuntimeError as why:
        check("the tensor map of Q: invalid argument" in str(why), f"a refused map: {why}")
    else:
        check(False, "a refused map is not told")
    rows = torch.Tensor(V.shape, V.dtype, V.device, (0, 97 * 36, 36, 1), V.data_ptr())
    refused("rows at no units", "multiple of 8", lambda: grouped.grouped(Q, K, rows))


def quantised_launches():
    """Two numbers of 4 bits in a byte: the operator counts bytes, the kernels what is in them."""
    driver = with_driver(quantised)
    X, scale = torch.empty((16, 3, 128), torch.bfloat16), torch.empty((136, 3), torch.bfloat16)
    W = torch.empty((136, 3, 64), torch.uint8)
    W = torch.Tensor(W.shape, W.dtype, W.device, (208, 64, 1), W.data_ptr())
    Y = quantised.quantised(X, W, scale)
    check(Y.shape == (16, 136), "shape of Y")
    of_weights = [each for each in driver.maps if each[1] == W.data_ptr()]
    check([each[2:4] for each in of_weights] == [([64, 3, 136], [64, 208])], f"maps in bytes {of_weights}")
    kernel = quantised._KERNELS[0]
    for (kind, what, dimension), value in zip(kernel.parameters, driver.launches[0][4]):
        if kind == "stride" and what == "W":
            check(value == 2 * W.stride(dimension), f"stride {dimension} of W counts numbers")
    wide = torch.empty((136, 3, 128), torch.uint8)
    refused("a byte a number", "size 256 along k", lambda: quantised.quantised(X, wide, scale))
    whole = torch.empty((136, 3, 64), torch.int8)
    refused("another type", "take torch.uint8", lambda: quantised.quantised(X, whole, scale))
    rows = torch.Tensor(W.shape, W.dtype, W.device, (200, 64, 1), W.data_ptr())
    refused("rows at no units", "multiple of 16", lambda: quantised.quantised(X, rows, scale))


def numbers_by_value():
    driver = with_driver(narrow)
    X = torch.empty((8,), torch.float32)
    narrow.narrow(X, s=0.3, t=-128)
    check(len(driver.launches) == 1, "the smallest i8 is taken")
    refused("an integer that is no i8", "t: 128, and the kernels take integers from -128 to 127", lambda: narrow.narrow(X, t=128))
    refused("a fraction", "t: 3.5, and the kernels take integers", lambda: narrow.narrow(X, t=3.5))
    check(len(driver.launches) == 1, "nothing is launched")


def of_layout(tensor, strides=None, shift=0, device=torch.device("cuda")):
    """The same shape elsewhere, in memory that another tensor may have."""
    return torch.Tensor(
        tensor.shape, tensor.dtype, device, strides or tensor.stride(), tensor.data_ptr() + shift
    )


def attention_inputs(queries=37):
    return [torch.empty((2, 3, n, 32), torch.bfloat16) for n in (queries, 70, 70)]


def passed(module, launch, kind, name):
    """What a launch passes of an array."""
    parameters = next(k.parameters for k in module._KERNELS + module._CONTIGUOUS if k.name == launch[0])
    return [value for (k, what, _), value in zip(parameters, launch[4]) if (k, what) == (kind, name)]


def contiguous_kernels():
    """Arrays without gaps have kernels that know their strides; a single index has none."""
    driver = with_driver(attention)
    strided, contiguous = attention._KERNELS[0], attention._CONTIGUOUS[0]
    kinds = [[kind for kind, _, _ in kernel.parameters].count("stride") for kernel in (strided, contiguous)]
    check(kinds[0] > kinds[1], f"numbers of strides {kinds}")
    Q, K, V = attention_inputs()
    gaps = of_layout(K, (3 * 70 * 32 + 32, 70 * 32, 32, 1))
    attention.attention(Q, K, V)
    attention.attention(Q, gaps, V)
    attention.attention(Q, heads_inside(2, 3, 70, 32), V)
    single = [torch.empty((1, 1, 70, 32), torch.bfloat16)] * 3
    attention.attention(*[of_layout(tensor, (8, 16, 32, 1)) for tensor in single])
    names = [launch[0] for launch in driver.launches]
    expected = [contiguous.name, strided.name, strided.name, contiguous.name]
    check(names == expected, f"kernels by layout {names}")
    check(unfused._CONTIGUOUS[0].name != unfused._KERNELS[0].name, "another kernel of several")


def plans():
    """A plan is of types, sizes, strides and device; everything else is looked at in every call."""
    driver = with_driver(attention)
    first, second = attention_inputs(), attention_inputs()
    for inputs in (first, second):
        attention.attention(*inputs)
    check(len(attention._plans) == 1, "one plan for what agrees")
    for inputs, launch in zip((first, second), driver.launches):
        for name, tensor in zip("QKV", inputs):
            check(passed(attention, launch, "address", name) == [tensor.data_ptr()], f"address of {name}")
    outputs = [passed(attention, launch, "address", "O") for launch in driver.launches]
    check(outputs[0] != outputs[1], "outputs are new")

    for at, name in enumerate("QKV"):
        moved = list(first)
        moved[at] = of_layout(first[at], shift=8)
        words = f"{name}: its address must be a multiple of 16"
        refused("a plan's input half a vector off", words, lambda: attention.attention(*moved))
    check(len(driver.launches) == 2, "nothing is launched of what is refused")

    # K's memory goes to a tensor of the same shape in another order of dimensions.
    strides = (3 * 70 * 32, 32, 3 * 32, 1)
    attention.attention(first[0], of_layout(first[1], strides), first[2])
    check(len(attention._plans) == 2, "another plan for other strides")
    check(passed(attention, driver.launches[2], "stride", "K") == list(strides[:3]), "the new strides")
    words = "stride 36 along x"
    wrong = of_layout(first[1], (7560, 2520, 36, 1))
    for _ in range(2):
        refused("a shape that has a plan", words, lambda: attention.attention(first[0], wrong, first[2]))

    Q = first[0]
    fewer = torch.Tensor((2, 3, 20, 32), Q.dtype, Q.device, Q.stride(), Q.data_ptr())
    O, _ = attention.attention(fewer, *first[1:])
    check(O.shape == (2, 3, 20, 32), "another plan for a part of a tensor, whose strides are the same")
    check(len(attention._plans) == 3, "another plan for other sizes")

    types = [torch.empty(first[0].shape, torch.float16), *first[1:]]
    refused("another type in a plan's place", "holds torch.float16", lambda: attention.attention(*types))
    check(len(attention._plans) == 3, "there is no plan of what is refused")

    attention._MOST_PLANS, most = 4, attention._MOST_PLANS
    for queries in range(1, 20):
        inputs = attention_inputs(queries)
        O, _ = attention.attention(*inputs)
        check(O.shape == (2, 3, queries, 32) and len(attention._plans) <= 4, f"plans of {queries} queries")
        check(passed(attention, driver.launches[-1], "size", "q")[0] & 0xFFFFFFFF == queries, "the size")
    attention._MOST_PLANS = most


def plans_of_devices():
    driver = with_driver(attention)
    inputs = attention_inputs()
    attention.attention(*inputs)
    driver.stream = 78
    other = [of_layout(tensor, device=torch.device("cuda", 1)) for tensor in inputs]
    O, _ = attention.attention(*other)
    check(O.device.index == 1 and torch.cuda.current_device() == 0, "outputs where inputs are")
    check(len(attention._plans) == 2, "a plan for each device")
    driver.stream, driver.context = 77, False
    attention.attention(*inputs)
    check(driver.context and len(driver.launches) == 3, "a thread without a context gets PyTorch's")


def calls_within_calls():
    """The driver is called without Python's lock: another call may come before the launch reads its parameters."""
    driver = with_driver(grouped)
    one, two = ([torch.empty((1, 2, 70, 32), torch.bfloat16) for _ in "QKV"] for _ in range(2))

    def other():
        driver.within = lambda: None
        grouped.grouped(*two)

    grouped.grouped(*one)
    driver.within = other
    grouped.grouped(*one)
    grouped.grouped(*two)
    before, inner, outer, after = driver.launches
    for kind in ("map", "address"):
        for name in "QKV":
            seen = [passed(grouped, launch, kind, name) for launch in (before, inner, outer, after)]
            check(seen[0] == seen[2] and seen[1] == seen[3], f"{kind} of {name} within: {seen}")
            check(not seen[0] or seen[0] != seen[1], f"{kind} of {name} in two calls: {seen}")


def tensor_maps():
    """A tensor map is of an address, a shape and strides, and made once for them."""
    driver = with_driver(grouped)
    inputs = [torch.empty((1, 2, 70, 32), torch.bfloat16) for _ in "QKV"]
    for _ in range(3):
        grouped.grouped(*inputs)
    check(len(driver.maps) == 3, "maps are kept")
    for name in "QKV":
        first, last = (passed(grouped, driver.launches[at], "map", name) for at in (0, 2))
        check(first == last and len(first) == 1, f"and the map of {name} is passed again")
    K = of_layout(inputs[1], (4480, 32, 64, 1))
    grouped.grouped(inputs[0], K, inputs[2])
    known = [each[3] for each in driver.maps if each[1] == K.data_ptr()]
    check(known == [[64, 70 * 64, 16], [128, 64, 16]], f"maps of one address in two orders {known}")
    refused(
        "a plan's input half a unit off",
        "K: its address must be a multiple of",
        lambda: grouped.grouped(inputs[0], of_layout(K, shift=8), inputs[2]),
    )
    grouped._TensorMaps.most, most = 5, grouped._TensorMaps.most
    for shift in range(20):
        K = of_layout(inputs[1], shift=4096 * shift)
        grouped.grouped(inputs[0], K, inputs[2])
        number = passed(grouped, driver.launches[-1], "map", "K")[0]
        check(driver.maps[number][1] == K.data_ptr(), "a map of the address")
    for plan in grouped._plans.values():
        check(all(len(maps.known) <= 5 for maps in plan.maps.values()), "few maps are kept")
    grouped._TensorMaps.most = most


def grouped_devices():
    functions, known = grouped._functions, torch.cuda.get_device_capability
    grouped._driver = Driver
    for capability in ((8, 9), (10, 0)):
        torch.cuda.get_device_capability = lambda device: capability
        words = f"compute capability {capability[0]}.{capability[1]}, and the kernels need 9.0 and no"
        refused("another device", words, lambda: functions(torch.device("cuda", 3), grouped._KERNELS))
    torch.cuda.get_device_capability = known


def silently(call):
    with contextlib.redirect_stdout(io.StringIO()):
        return call()


def one_definition():
    """What `import` does with a second file of the name `attention`."""

    def load(folder):
        spec = importlib.util.spec_from_file_location("attention", folder / "attention.py")
        spec.loader.exec_module(importlib.util.module_from_spec(spec))

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for ending in (".py", ".cu"):
            shutil.copy(pathlib.Path(attention.__file__).with_suffix(ending), folder)
        load(folder)
        with open(folder / "attention.cu", "a") as kernels:
            kernels.write("// another")
        try:
            load(folder)
        except ImportError as why:
            check("different exports called attention" in str(why) and name in str(why), f"a clash: {why}")
        else:
            check(False, "two exports of one name are not refused")


grouped_devices()
grouped_launches()
quantised_launches()
numbers_by_value()
attention_launches()
attention_refusals()
unfused_launches()
contiguous_kernels()
plans()
plans_of_devices()
calls_within_calls()
tensor_maps()
check(silently(attention.main) == 77, "without a device the self-test is skipped")
one_definition()  # last: PyTorch keeps the definition of the copy
print("\n".join(failures) if failures else "ok")
sys.exit(1 if failures else 0)
