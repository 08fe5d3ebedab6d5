"""The backward of an exported operator in PyTorch, without a GPU: kernels for the CPU stand in for those of the export.

usage: PYTHONPATH=FOLDER python3 torch_cases.py, with the export of tests/export/gradient/attention.ncd and its gradient
"""

import math
import warnings

import torch

import attention

sizes = {"b": 2, "h": 3, "q": 20, "x": 33}


def given(device, grad):
    def randn(*shape):
        return torch.randn(*shape, 32, device=device, dtype=torch.bfloat16).requires_grad_(grad)

    return randn(2, 3, 20), randn(2, 3, 33), randn(2, 3, 33)


def plain(q, k, v):
    scores = (q.float() @ k.float().transpose(-1, -2)) / math.sqrt(32)
    seen = torch.ones(20, 33, dtype=torch.bool).tril(13)
    scores = scores.masked_fill(~seen, -math.inf)
    return (torch.softmax(scores, -1) @ v.float()).bfloat16(), torch.logsumexp(scores, -1)


def backward(q, k, v, o, do, l):
    """As the gradient's diagram says."""
    assert do.stride(-1) == 1, "kernels get rows that are contiguous"
    q, k, v, o, do = (t.float() for t in (q, k, v, o, do))
    scores = (q @ k.transpose(-1, -2)) / math.sqrt(32)
    p = torch.exp(scores - l[..., None]) * torch.ones(20, 33).tril(13)
    d = (do * o).sum(-1)
    ds = p * (do @ v.transpose(-1, -2) - d[..., None]) / math.sqrt(32)
    return tuple(t.bfloat16() for t in (ds @ k, ds.transpose(-1, -2) @ q, p.transpose(-1, -2) @ do))


def computed_backward(*arguments):
    for tensor, array in zip(arguments, attention._gradient._INPUTS):
        attention._gradient._check_place(tensor, array)
    return backward(*arguments)


# Kernels for every backend; of the CPU they are called as those of CUDA are.
attention._computed = plain
attention._gradient._computed = computed_backward
attention._CUDA = attention._gradient._CUDA = torch._C.DispatchKey.CPU


def gradients(call, loss):
    torch.manual_seed(1)
    inputs = given("cpu", True)
    loss(*call(*inputs)).backward()
    return [t.grad for t in inputs]


def close(got, right):
    for a, b in zip(got, right):
        torch.testing.assert_close(a.float(), b.float(), atol=0.05, rtol=0.05)


# A sum gives a gradient without strides; a product, one that is laid out as it comes.
for loss in (lambda o, l: o.sum(), lambda o, l: (o.transpose(-1, -2).contiguous() ** 2).sum()):
    right = gradients(plain, loss)
    close(gradients(attention.attention, loss), right)
    close(gradients(torch.compile(attention.attention, backend="aot_eager"), loss), right)

    attention._CUDA = torch._C.DispatchKey.CUDA  # and the second time through the dispatcher
attention._CUDA = torch._C.DispatchKey.CPU

q, k, v = given("cpu", True)
o, l = attention.attention(q, k, v)
try:
    torch.ops.napkin.attention_gradient(q, k, v, o.detach(), o.detach(), l)[0].sum().backward()
except RuntimeError as why:
    assert "no autograd formula was registered" in str(why), why
else:
    raise AssertionError("a gradient of the gradient, which has none")
with torch.no_grad():
    assert not attention.attention(q, k, v)[0].requires_grad
assert o.requires_grad and not l.requires_grad, "what no gradient is read of is a constant"

torch.library.opcheck(
    torch.ops.napkin.attention.default, given("cpu", True),
    test_utils=("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"),
)


class Module(torch.nn.Module):
    def forward(self, q, k, v):
        return attention.attention(q, k, v)


# PyTorch has no batching rule for it, says so, and calls it once an index.
stacked = [torch.stack([each, 2 * each]) for each in given("cpu", False)]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    batched = torch.func.vmap(attention.attention)(*stacked)
for at in range(2):
    for got, right in zip(batched, attention.attention(*(each[at] for each in stacked))):
        torch.testing.assert_close(got[at], right)

exported = torch.export.export(Module(), given("cpu", False))
assert "napkin.attention" in str(exported.graph)
print("ok")
