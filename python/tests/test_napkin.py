"""The Python package as a stranger uses it: every method against what the command line says, or against NumPy."""

import json
import pathlib
import pickle
import re
import sys
import threading
import types
import warnings
import xml.etree.ElementTree

import numpy as np
import pytest

import napkin

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

MATMUL = """diagram matmul {
  axis a = 64, k = 32, c = 48
  input A[a, k], B[k, c] : f32
  output C[a, c] : f32 = sum(k) A[a, k] * B[k, c]
}
"""


@pytest.fixture
def matmul():
    return napkin.Diagram(MATMUL)


@pytest.fixture
def attention():
    return napkin.Diagram.read(EXAMPLES / "attention.ncd")


@pytest.fixture
def random():
    return np.random.default_rng(7)


def test_a_diagram_says_what_it_takes_and_gives(matmul):
    assert matmul.name == "matmul"
    assert matmul.sizes == {"a": 64, "k": 32, "c": 48}
    assert str(matmul.inputs["B"]) == "B[k=32, c=48] : f32"
    assert matmul.outputs["C"].shape == (64, 48)
    assert matmul.text == MATMUL
    assert matmul.moves == []


def test_moves_give_another_diagram(matmul):
    tiled = matmul.derive("group a by 16 at l1", "stream k by 8 at l1")
    assert tiled.moves == ["group a by 16 at l1", "stream k by 8 at l1"]
    assert matmul.moves == []
    assert matmul.derive("group a by 16 at l1\nstream k by 8 at l1") == tiled
    assert matmul.derive("group a by 16 at l1").derive("stream k by 8 at l1") == tiled
    assert len({tiled, matmul, pickle.loads(pickle.dumps(tiled))}) == 2


def test_costs_are_those_of_the_paper(attention):
    plain = attention.cost()["total"]["levels"]["block"]["H"]
    flash = attention.derive((EXAMPLES / "attention.drv").read_text())
    cost = flash.cost("H200")
    moved = cost["total"]["levels"]["block"]["H"]
    b, h, q, x, d = 4, 16, 4096, 4096, 128
    assert plain["values"] == b * h * (4 * q * x + 2 * q * d + 2 * x * d)
    assert moved["values"] == b * h * (2 * q * d + 2 * q * x * d // 128)
    assert cost["regions"][0]["fits"]
    assert 0 < cost["total"]["time_us"]["low"] <= cost["total"]["time_us"]["high"]
    assert flash.cost("H200", q=8192)["sizes"]["q"] == 8192
    assert flash.sizes["q"] == 4096
    assert "time_us" not in flash.cost()["total"]


@pytest.fixture
def torch(monkeypatch):
    """As much of PyTorch as an operator needs to be defined."""
    monkeypatch.syspath_prepend(str(ROOT / "tests/export/fake_torch"))
    yield __import__("torch")
    for name in [name for name in sys.modules if name == "torch" or name.startswith("napkin.operators.")]:
        del sys.modules[name]


def test_an_operator_is_what_export_writes(torch, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tiled = napkin.Diagram(MATMUL).derive("group a by 16", "group c by 16", "stream k by 8")
    operator = tiled.to_torch(target="simt")
    assert operator.__name__.startswith("matmul_")
    assert operator is tiled.to_torch(target="simt")
    other = tiled.to_torch(target="simt", dynamic="a")
    assert other.__name__ != operator.__name__
    named = tiled.to_torch("product", target="simt", dynamic=["a"], folder=tmp_path / "here")
    assert named.__name__ == "product" and hasattr(torch.ops.napkin, "product")
    assert "size    a at run time" in (tmp_path / "here/README.md").read_text()
    with pytest.raises(ImportError, match="different exports called product"):
        tiled.to_torch("product", target="simt", folder=tmp_path / "there")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/README.md").write_text("mine")
    with pytest.raises(FileExistsError):
        tiled.to_torch("mine", target="simt", folder=tmp_path / "mine")
    assert (tmp_path / "mine/README.md").read_text() == "mine"
    for refused in ({"dynamic": "z"}, {"name": "class"}, {"target": "sm_99"}):
        with pytest.raises(napkin.Refusal):
            tiled.to_torch(**refused)


def test_an_operator_has_the_gradient_that_it_is_given(torch, tmp_path):
    def read(name):
        path = ROOT / "tests/export/gradient" / name
        return napkin.Diagram.read(f"{path}.ncd", f"{path}.drv")

    gradient = read("attention_gradient")
    operator = read("attention").to_torch("attend", target="simt", gradient=gradient, folder=tmp_path)
    assert operator.__globals__["_RESULTS"] == (0, 1, 2)
    assert operator.__globals__["_gradient"].__name__.endswith(".attend.attend_gradient")
    with pytest.raises(napkin.Refusal, match="reads `Q`, which"):
        napkin.Diagram(MATMUL).derive("group a by 16").to_torch(target="simt", gradient=gradient.sized(d=48), folder=tmp_path)


def test_a_run_computes_what_numpy_does(matmul, random):
    tiled = matmul.derive("group a by 16 at l1", "group c by 16 at l1", "stream k by 8 at l1")
    a, b = random.standard_normal((64, 32), np.float32), random.standard_normal((32, 48), np.float32)
    run = tiled.run({"A": a}, B=b)
    assert run.verdict == "right"
    assert run["C"].dtype == np.float32
    np.testing.assert_allclose(run["C"], a.astype(np.float64) @ b, rtol=1e-6)
    assert list(run) == ["C"] and run.report["rungs"] == ["0", "1", "3t"]


def test_a_run_takes_its_sizes_from_the_arrays(matmul, random):
    tiled = matmul.derive("group a by 16 at l1", "stream k by 8 at l1")
    a, b = random.standard_normal((5, 13)), random.standard_normal((13, 3))
    np.testing.assert_allclose(tiled.run(A=a, B=b)["C"], a.astype(np.float32) @ b.astype(np.float32), rtol=1e-5)


def test_arrays_may_lie_as_they_like(matmul, random):
    a, b = random.standard_normal((32, 64)).T, random.standard_normal((64, 48))[::2]
    np.testing.assert_allclose(matmul.run(A=a, B=b)["C"], a @ b, rtol=1e-4, atol=1e-5)
    ones = np.ones((64, 32), np.float16)
    assert matmul.run(A=ones, B=b)["C"].shape == (64, 48)


def test_streamed_attention_is_softmax(attention, random):
    flash = attention.derive((EXAMPLES / "attention.drv").read_text())
    q, k, v = (random.standard_normal((2, 2, n, 16)).astype(np.float32) for n in (5, 70, 70))
    to_bf16 = lambda x: ((x.view(np.uint32) + 0x7FFF + ((x.view(np.uint32) >> 16) & 1)) & 0xFFFF0000).view(np.float32)
    q, k, v = map(to_bf16, (q, k, v))
    scores = np.einsum("bhqd,bhxd->bhqx", q, k) / 4
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = np.einsum("bhqx,bhxd->bhqd", weights / weights.sum(-1, keepdims=True), v)
    np.testing.assert_allclose(flash.run(Q=q, K=k, V=v)["O"], expected, rtol=1e-2, atol=1e-2)


def test_integers_and_booleans_keep_their_types(random):
    lookup = napkin.Diagram("""diagram lookup {
  axis n = 4, v = 9, d = 3
  input E[v, d] : f32
  input token[n] : i32
  output X[n, d] : f32 = E[token[n], d]
  output same[n] : i32 = token[n] + 1
}
""")
    rows = random.standard_normal((9, 3)).astype(np.float32)
    token = np.array([8, 0, 3, 3])
    run = lookup.run(E=rows, token=token)
    np.testing.assert_array_equal(run["X"], rows[token])
    assert run["same"].dtype == np.int32 and run["same"].tolist() == [9, 1, 4, 4]
    with pytest.raises(napkin.Refusal, match="token") as refused:
        lookup.run(E=rows, token=np.array([9, 0, 0, 0]))
    assert refused.value.code
    with pytest.raises(napkin.Refusal, match="E0516"):
        lookup.run(E=rows, token=token.astype(float))


def test_the_printed_kernels_run_in_the_emulator(matmul):
    run = matmul.derive("group a by 16 at l1", "group c by 16 at l1").run(device="emulator", target="simt")
    assert run.verdict == "right" and run.report["target"] == "simt"


def test_search_gives_diagrams(attention):
    found = attention.search("H200", top=2)
    assert len(found) == 2
    first, second = (each.cost("H200")["total"]["time_us"]["low"] for each in found)
    assert first <= second
    assert found[0].moves and found[0].cost("H200")["regions"][0]["fits"]


def test_a_proof_has_a_certificate(matmul):
    proof = matmul.derive("stream k by 8 at l1").prove()
    assert proof.rungs == ("0", "1", "2", "3t")
    assert json.loads(proof.certificate)


def test_kernels_are_texts(matmul):
    tiled = matmul.derive("group a by 16 at l1", "stream k by 8 at l1")
    assert "for each chunk of 8 k" in tiled.emit("tile")
    assert "__global__" in tiled.emit("cuda", target="simt")


def test_steps_tell_their_laws(matmul):
    steps = matmul.derive("group a by 16 at l1").steps("H200")["steps"]
    assert steps[1]["command"] == "group a by 16 at l1" and steps[1]["law"]


def test_pictures_are_svg_and_text(matmul):
    tiled = matmul.derive("group a by 16 at l1")
    assert xml.etree.ElementTree.fromstring(tiled._repr_svg_()).tag.endswith("svg")
    assert xml.etree.ElementTree.fromstring(f"<div>{tiled._repr_html_()}</div>") is not None
    assert "<code>group a by 16 at l1</code>" in tiled._repr_html_()
    assert tiled.svg(theme="dark") != tiled.svg()
    assert "╮" in tiled.picture()
    with pytest.raises(ValueError, match="theme"):
        tiled.svg(theme="pink")


def test_a_wrong_text_is_refused_with_its_place():
    with pytest.raises(napkin.Refusal) as refused:
        napkin.Diagram("diagram d {\n  axis a = 4\n  input A[a] : f32\n  output B[a] : f32 = A[b]\n}\n", name="d.ncd")
    why = refused.value
    assert (why.code, why.file, why.line, why.column) == ("E0201", "d.ncd", 4, 25), str(why)
    assert "d.ncd:4:25: error[E0201]" in str(why) and "^" in str(why)


def test_a_wrong_move_is_refused_with_its_reason(attention):
    fused = attention.derive("fuse S, P, O")
    with pytest.raises(napkin.Refusal) as refused:
        fused.derive("group d by 64 at l1")
    why = refused.value
    assert (why.file, why.line) == ("<steps>", 2)
    assert "unrelated ways" in why.message and "alias" in why.fix
    assert pickle.loads(pickle.dumps(why)).code == why.code


@pytest.mark.parametrize("ask, code", [
    (lambda d: d.run(A=np.ones((64, 32))), "E0502"),
    (lambda d: d.run(A=np.ones((64, 32)), B=np.ones((31, 48))), "E0515"),
    (lambda d: d.run(A=np.ones((64, 32)), B=np.ones(48)), "E0515"),
    (lambda d: d.run(A=np.ones((64, 32)), B=np.ones((32, 48)), Z=np.ones(3)), "E9007"),
    (lambda d: d.run(A=np.ones((64, 32), int), B=np.ones((32, 48))), "E0516"),
    (lambda d: d.sized(z=3), "E9015"),
    (lambda d: d.sized(a=0), "E9016"),
    (lambda d: d.cost("H300"), "E0701"),
    (lambda d: d.derive("tile everything"), "E0606"),
    (lambda d: d.sized(a=2048, k=2048, c=2048).run(), "E9009"),
    (lambda d: d.emit("cuda", target="sm_20"), "E0901"),
])
def test_wrong_requests_are_refused(matmul, ask, code):
    with pytest.raises(napkin.Refusal) as refused:
        ask(matmul)
    assert refused.value.code == code, str(refused.value)


@pytest.mark.parametrize("ask", [
    lambda d: d.run(device="tpu"), lambda d: d.emit("ptx"), lambda d: d.search("H200", top=0), lambda d: d.prove(seed=-1),
])
def test_wrong_words_are_errors_of_python(matmul, ask):
    with pytest.raises(ValueError):
        ask(matmul)


@pytest.mark.parametrize("ask, says", [
    (lambda d: d.run(A=np.array(["a"]), B=np.ones((32, 48))), "`A` holds"),
    (lambda d: d.run(np.ones((64, 32))), "by name"),
    (lambda d: d.derive(5), "texts"),
    (lambda d: napkin.Diagram(EXAMPLES / "matmul.ncd"), "Diagram.read"),
])
def test_what_is_no_text_or_array_is_an_error_of_python(matmul, ask, says):
    with pytest.raises(TypeError, match=says):
        ask(matmul)


def test_warnings_are_told_once():
    text = MATMUL.replace("axis a = 64", "axis z = 2, a = 64")
    with pytest.warns(UserWarning, match="z"):
        diagram = napkin.Diagram(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        diagram.derive("group a by 16 at l1").sized(a=32)


def test_axes_may_be_called_as_arguments_are():
    diagram = napkin.Diagram(MATMUL.replace("[a", "[name").replace("axis a", "axis name"))
    assert diagram.sized({"name": 8}).derive("group name by 4 at l1").sizes["name"] == 8


def test_threads_may_share_a_diagram(matmul):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(matmul.cost("H200"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8 and all(answer == answers[0] for answer in answers)


def test_every_example_is_a_diagram():
    for path in sorted(EXAMPLES.glob("*.ncd")):
        moves = path.with_suffix(".drv")
        diagram = napkin.Diagram.read(path, moves if moves.exists() else None)
        assert diagram.cost()["ok"] and diagram.svg().startswith("<")


def test_tensors_of_torch_come_back_as_such(matmul):
    torch = pytest.importorskip("torch")
    a, b = torch.randn(64, 32), torch.randn(32, 48, dtype=torch.bfloat16)
    result = matmul.run(A=a, B=b)["C"]
    torch.testing.assert_close(result, a @ b.float(), rtol=1e-4, atol=1e-4)


class StandIn:
    """What is used of a tensor of PyTorch, of which bfloat16 has no type in NumPy."""

    __module__ = "torch"

    def __init__(self, values, narrow=False):
        self.values, self.narrow = values, narrow

    def detach(self):
        return self

    def cpu(self):
        return self

    def is_floating_point(self):
        return True

    def element_size(self):
        return 2 if self.narrow else 4

    def float(self):
        return StandIn(self.values)

    def numpy(self):
        assert not self.narrow, "NumPy has no bfloat16"
        return self.values


def test_tensors_are_recognised_without_torch(matmul, random, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(from_numpy=StandIn))
    a, b = random.standard_normal((64, 32), np.float32), random.standard_normal((32, 48), np.float32)
    result = matmul.run(A=StandIn(a), B=StandIn(b, narrow=True))["C"]
    assert isinstance(result, StandIn)
    np.testing.assert_allclose(result.values, a @ b, rtol=1e-4, atol=1e-5)


def test_the_page_runs_as_a_notebook():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    page = (ROOT / "docs" / "python.md").read_text()
    cells = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(cells) > 4
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = [output.get("data", {}) for cell in notebook.cells for output in cell.outputs]
    assert any("<svg" in data.get("text/html", "") for data in shown)


def test_machines_have_names():
    assert "H200" in napkin.machines()
    assert napkin.__version__
