"""napkin's exported operators and other calls, timed in turn in one process.

A GPU at its power limit gives its clock to whoever comes after a rest, and takes it from whoever comes after long work. So
calls that are compared take turns: every round times each of them once, forwards and backwards by turns, the caches flushed
before each. What is said of one is the median of its times, and of two the median of their ratios in the same round. Calls
run as CUDA graphs, so that no time of the host is in them.
"""
import concurrent.futures
import contextlib
import hashlib
import importlib.util
import io
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import torch

ROUNDS = 20


class Refused(Exception):
    """What napkin says when it exports nothing."""


# ---- exports ----


class Exports:
    """Operators by diagram, derivation and sizes, in a folder; made and compiled by several processes at once, for the
    target, or of each region the best.

    Names begin with `prefix`, as those of two napkins in one process must."""

    def __init__(self, napkin, target, folder=None, prefix=""):
        self.napkin, self.target, self.prefix = napkin, target, prefix
        self.first_us = {}
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="napkin-beside-"))
        self.modules = {}
        asked = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
        self.architecture = "sm_" + subprocess.run(asked, capture_output=True, text=True).stdout.split()[0].replace(".", "")
        os.environ["XDG_CACHE_HOME"] = str(self.folder / "cache")

    def prepare(self, jobs, what=None):
        """Exports and compiles every (diagram, derivation, sizes), or does `what` with each. To be called before CUDA is
        initialised: processes are forked."""
        jobs = list({self.name(*job): job for job in jobs}.values())
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("fork")) as pool:
            for _ in pool.map(what or self.compile, *zip(*jobs)):
                pass

    def name(self, diagram, derivation, sizes):
        texts = [pathlib.Path(file).read_text() for file in (diagram, derivation)]
        digest = hashlib.sha256("\n".join([*texts, str(sorted(sizes.items()))]).encode()).hexdigest()
        return f"{self.prefix}{pathlib.Path(derivation).stem}_{digest[:8]}"

    def export(self, diagram, derivation, sizes):
        name = self.name(diagram, derivation, sizes)
        folder = self.folder / name
        if folder.exists():
            return
        line = [self.napkin, "export", str(diagram), "--drv", str(derivation), "--unproved", "--name", name, "--json",
                "-o", str(folder), *(["--target", self.target] if self.target else [])]
        for axis, size in sizes.items():
            line += ["--set", f"{axis}={size}"]
        answer = subprocess.run(line, capture_output=True, text=True)
        if answer.returncode:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "refused").write_text((answer.stdout + answer.stderr)[-1000:])

    def compile(self, diagram, derivation, sizes):
        self.export(diagram, derivation, sizes)
        with contextlib.suppress(Refused):
            module = self.module(self.name(diagram, derivation, sizes))
            architecture = self.architecture + ("a" if module._NO_OTHER else "")
            if not hasattr(module, "_CONTIGUOUS"):  # of a napkin before 894daefc, to compare with
                module._compile(architecture)
                return
            for kernels in {module._KERNELS, module._CONTIGUOUS}:
                module._compile(architecture, kernels)

    def text(self, diagram, derivation, sizes):
        """What is compiled, but for its name; nothing where the export was refused."""
        name = self.name(diagram, derivation, sizes)
        file = self.folder / name / f"{name}.cu"
        return file.exists() and file.read_text().replace(name, "")

    def module(self, name):
        if name not in self.modules:
            refused = self.folder / name / "refused"
            if refused.exists():
                raise Refused(refused.read_text())
            spec = importlib.util.spec_from_file_location(name, self.folder / name / f"{name}.py")
            self.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(self.modules[name])
        return self.modules[name]

    def operator(self, diagram, derivation, sizes, given={}, check=False):
        """A call without arguments, on random inputs but for those given, and what the self-test says. `first_us` has by name
        what the first call took in this process: microseconds of the host until its result is there."""
        name = self.name(diagram, derivation, sizes)
        self.export(diagram, derivation, sizes)
        module = self.module(name)
        case = module._read_cases(self.folder / name / f"{name}_selftest.txt")[0]
        size = {**case["size"], **sizes}
        inputs = [given[array.name] if array.name in given else module._made(case["input"][array.name], array, size, "cuda")
                  for array in module._INPUTS]
        values = [{**size, **case["scalar"]}[value] for value in module._VALUES]
        function = getattr(torch.ops.napkin, name)
        call = lambda: function(*inputs, *values)
        if name not in self.first_us:
            torch.cuda.synchronize()
            begin = time.perf_counter()
            call()
            torch.cuda.synchronize()
            self.first_us[name] = round(1e6 * (time.perf_counter() - begin), 1)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            right = module.self_test() if check else True
        return call, None if right else said.getvalue()[-400:]


# ---- times ----


class Turns:
    """Calls on a stream of their own, on which whatever they need must have been made too."""

    def __init__(self):
        self.stream = torch.cuda.Stream()
        bytes = 2 * torch.cuda.get_device_properties(0).L2_cache_size
        self.flush = torch.empty(bytes, dtype=torch.uint8, device="cuda")

    def once(self, call):
        """Microseconds."""
        self.flush.fill_(1)
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        return 1e3 * begin.elapsed_time(end)

    def captured(self, call):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream):
            call()
        return graph.replay

    def times(self, calls, rounds=ROUNDS):
        """Of every call by its name, one a round."""
        for call in calls.values():
            for _ in range(3):
                call()
        graphs = {name: self.captured(call) for name, call in calls.items()}
        times = {name: [] for name in calls}
        for turn in range(rounds):
            for name in list(graphs)[:: -1 if turn % 2 else 1]:
                times[name].append(self.once(graphs[name]))
        return times

    def host(self, call, calls=50):
        """Microseconds that the host takes for a call."""
        call()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        return round(1e6 * (time.perf_counter() - begin) / calls, 1)


def median(times):
    return round(statistics.median(times), 2)


def ratio(others, own):
    """How often as fast, the median of rounds."""
    return round(statistics.median(other / time for other, time in zip(others, own)), 3)
