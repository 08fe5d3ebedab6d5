"""Serves a scripted editor with `napkin lsp`: what is right, and what is broken in every way that an editor can be.

usage: python3 editor_cases.py NAPKIN EXAMPLES
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

NAPKIN, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2])
failures = []


def check(holds, what):
    if not holds:
        failures.append(str(what))


class Editor:
    def __init__(self, initialized=True):
        self.process = subprocess.Popen([NAPKIN, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        self.diagnostics = {}
        if initialized:
            self.capabilities = self.ask("initialize", {})["result"]["capabilities"]
            self.tell("initialized", {})

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        data = json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)

    def read(self):
        length = None
        while (line := self.process.stdout.readline().strip()):
            length = int(line.split(b":")[1])
        message = json.loads(self.process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        return message

    def tell(self, method, parameters):
        self.send({"jsonrpc": "2.0", "method": method, "params": parameters})

    def ask(self, method, parameters):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters})
        while (message := self.read()).get("id") != self.number:
            pass
        return message

    def open(self, uri, text):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "ncd", "version": 1, "text": text}})

    def change(self, uri, text):
        self.tell("textDocument/didChange", {"textDocument": {"uri": uri}, "contentChanges": [{"text": text}]})

    def at(self, method, uri, line, character, **more):
        position = {"line": line, "character": character}
        return self.ask("textDocument/" + method, {"textDocument": {"uri": uri}, "position": position, **more})

    def hover(self, uri, line, character):
        result = self.at("hover", uri, line, character)["result"]
        return result["contents"]["value"] if result else ""

    def labels(self, uri, line, character):
        return {item["label"] for item in self.at("completion", uri, line, character)["result"]}

    def settled(self, uri):
        """The diagnostics after everything that was told."""
        self.ask("textDocument/formatting", {"textDocument": {"uri": uri}})
        return self.diagnostics[uri]

    def end(self):
        check(self.ask("shutdown", None)["result"] is None, "shutdown has no result")
        check(self.ask("textDocument/hover", {})["error"]["code"] == -32600, "nothing is served after shutdown")
        self.tell("exit", None)
        return self.process.wait(10)


def place(text, words, within=""):
    """Line and column, in UTF-16, of the first `within` of the first `words`."""
    at = text.index(words) + (words.index(within) if within else 0)
    line = text.count("\n", 0, at)
    start = text.rfind("\n", 0, at) + 1
    return line, len(text[start:at].encode("utf-16-le")) // 2


def applied(text, edits):
    lines = [line.encode("utf-16-le") for line in text.split("\n")]
    for edit in reversed(edits):
        start, end = edit["range"]["start"], edit["range"]["end"]
        assert start["line"] == end["line"]
        line = lines[start["line"]]
        lines[start["line"]] = (
            line[: 2 * start["character"]] + edit["newText"].encode("utf-16-le") + line[2 * end["character"] :]
        )
    return "\n".join(line.decode("utf-16-le") for line in lines)


def diagrams(folder):
    editor = Editor()
    uri = (folder / "attention.ncd").as_uri()
    text = (folder / "attention.ncd").read_text()
    editor.open(uri, text)
    check(editor.settled(uri) == [], editor.diagnostics)

    shape = editor.hover(uri, *place(text, "K[x, d]"))
    check("input K[b, h, x, d] : bf16\n4 x 16 x 4096 x 128, 67.1 MB" in shape, shape)
    check("moves 2.28 GB" in editor.hover(uri, *place(text, "S[q, x] =")), editor.hover(uri, *place(text, "S[q, x] =")))
    check("axis q = 4096\nof Q, S, P, O" in editor.hover(uri, *place(text, "q = 4096")), "hover of an axis")
    check("def softmax" in editor.hover(uri, *place(text, "softmax")), editor.hover(uri, *place(text, "softmax")))
    check("H     8.86 GB" in editor.hover(uri, *place(text, "diagram attention", "attention")), "hover of the diagram")
    check(editor.hover(uri, 0, 3) == "", "nothing is said of a comment")

    wrong = text.replace("K[x, d] *", "K[x, z] *")
    editor.change(uri, wrong)
    (found,) = editor.settled(uri)
    line, column = place(wrong, "K[x, z] *", "z")
    check(found["range"]["start"] == {"line": line, "character": column}, found)
    check(found["severity"] == 1 and found["code"].startswith("E") and found["source"] == "napkin", found)

    # While a line is being written the text is wrong.
    half = text.replace("  weave", "  R[q] = s\n\n  weave")
    editor.change(uri, half)
    line, column = place(half, "R[q] = s")
    known = editor.labels(uri, line, column + 8)
    check({"softmax", "sum", "exp", "Q", "P", "q", "x"} <= known, known)
    check({"bf16", "f32"} <= editor.labels(uri, *place(half, "bf16")), "types after a colon")
    half = text.replace("  weave", "  ou\n\n  weave")
    editor.change(uri, half)
    line, column = place(half, "  ou\n")
    check({"output", "axis"} <= editor.labels(uri, line, column + 4), "keywords at a line's beginning")

    # Before a name there may be characters that UTF-16 writes as two.
    strange = "# 𝔸𝔹 é\n" + text.replace("input Q", "input  Q") + "# 𝔸\n"
    editor.change(uri, strange)
    check(editor.settled(uri) == [], editor.diagnostics[uri])
    (edit,) = editor.ask("textDocument/formatting", {"textDocument": {"uri": uri}})["result"]
    check(edit["newText"] == "# 𝔸𝔹 é\n" + text + "# 𝔸\n", "formatting")
    check(edit["range"]["end"] == {"line": strange.count("\n"), "character": 0}, edit["range"])
    check(editor.end() == 0, "the exit code after shutdown")


def renaming(folder):
    editor = Editor()
    uri, steps = (folder / "attention.ncd").as_uri(), (folder / "attention.drv").as_uri()
    text = (folder / "attention.ncd").read_text()
    editor.open(uri, text)
    line, column = place(text, "x = 4096")
    check(editor.at("prepareRename", uri, line, column)["result"]["end"]["character"] == column + 1, "what is renamed")
    check(editor.at("prepareRename", uri, *place(text, "axis"))["result"] is None, "a keyword is no name")
    check(editor.at("prepareRename", uri, *place(text, "softmax"))["result"] is None, "nor is a function")

    changes = editor.at("rename", uri, line, column, newName="keys")["result"]["changes"]
    check(set(changes) == {uri, steps}, "the derivation beside it is renamed too")
    renamed = applied(text, changes[uri])
    check("keys = 4096" in renamed and "exp" not in renamed and "sum(keys) P[q, keys]" in renamed, renamed)
    check("stream keys by 64" in applied((folder / "attention.drv").read_text(), changes[steps]), changes[steps])
    editor.change(uri, renamed)
    check(editor.settled(uri) == [], editor.diagnostics[uri])
    editor.change(uri, text)

    for name, words in (("q", "stands in"), ("2x", "is no name"), ("let", "is no name")):
        answer = editor.at("rename", uri, line, column, newName=name)
        check(words in answer.get("error", {}).get("message", ""), answer)
    changes = editor.at("rename", uri, *place(text, "S[q, x] ="), newName="scores")["result"]["changes"]
    check("fuse scores, P, O" in applied((folder / "attention.drv").read_text(), changes[steps]), changes)
    editor.end()


def derivations(folder):
    editor = Editor()
    uri, diagram = (folder / "attention.drv").as_uri(), (folder / "attention.ncd").as_uri()
    text = (folder / "attention.drv").read_text()
    editor.open(uri, text)
    check(editor.settled(uri) == [], editor.diagnostics)
    step = editor.hover(uri, *place(text, "group q"))
    check("law: a map over an axis" in step and "4.43 GB" in step and "2bhqd + 2bhqxd/g_q" in step, step)
    check("4096" in editor.hover(uri, *place(text, "group q", "q")), "an axis in a derivation")

    wrong = text.replace("group q", "group d")
    editor.change(uri, wrong)
    (found,) = editor.settled(uri)
    check(found["range"]["start"]["line"] == place(wrong, "group d")[0] and "d2" in found["message"], found)
    check(found["message"].split("\n")[0].endswith("so it must stay whole"), found)
    check("AXIS by SIZE" in editor.hover(uri, *place(wrong, "group d")), "a step that does not apply has its usage")
    editor.change(uri, text + "gr")
    check({"group", "stream"} <= editor.labels(uri, text.count("\n"), 2), "rules")
    editor.change(uri, text + "group ")
    labels = editor.labels(uri, text.count("\n"), 6)
    check({"q", "x"} <= labels and not {"O", "by"} & labels, f"axes after a rule of axes: {labels}")
    editor.change(uri, text + "fuse S, ")
    labels = editor.labels(uri, text.count("\n"), 8)
    check({"S", "P", "O"} <= labels and "q" not in labels, f"arrays after a rule of arrays: {labels}")
    editor.change(uri, text + "group q by 16 ")
    check(editor.labels(uri, text.count("\n"), 14) == {"by", "at", "in"}, "the words of a rule")
    editor.change(uri, text + "group q by 16 at ")
    check("l2" in editor.labels(uri, text.count("\n"), 17), "levels")

    editor.change(uri, text)
    source = (folder / "attention.ncd").read_text()
    editor.open(diagram, source.replace("output O", "output Z"))
    (found,) = editor.settled(uri)
    check("there is no array `O`" in found["message"], found)
    editor.change(diagram, source + "}")
    (found,) = editor.settled(uri)
    check(found["code"] == "E9080", found)
    editor.tell("textDocument/didClose", {"textDocument": {"uri": diagram}})
    editor.change(uri, text)
    check(editor.settled(uri) == [], "a closed diagram is the file's again")
    lonely = (folder / "lonely.drv").as_uri()
    editor.open(lonely, text)
    (found,) = editor.settled(lonely)
    check(found["code"] == "W9080" and found["severity"] == 2, found)
    check(editor.hover(lonely, 1, 1) != "", "a rule has its usage without a diagram")
    editor.end()


def wrong_input(folder):
    editor = Editor(initialized=False)
    check(editor.ask("textDocument/hover", {})["error"]["code"] == -32002, "`initialize` comes first")
    editor.ask("initialize", {})
    uri = (folder / "attention.ncd").as_uri()
    editor.open(uri, (folder / "attention.ncd").read_text())
    huge = 10**30
    for line, character in ((0, 10**9), (10**9, 0), (huge, huge), (10**9, 10**9)):
        check(editor.at("hover", uri, line, character)["result"] is None, "a place behind the end")
        check("error" not in editor.at("completion", uri, line, character), "completion behind the end")
        check("error" in editor.at("rename", uri, line, character, newName="new"), "renaming behind the end")
    for line, character in ((-1, 0), (0, -1), ("a", 0), (None, None)):
        check(editor.at("hover", uri, line, character)["error"]["code"] == -32602, "no place")
    check(editor.ask("textDocument/unheardOf", {})["error"]["code"] == -32601, "an unknown method")
    check(editor.ask("textDocument/hover", [])["error"]["code"] == -32602, "parameters that are a list")
    check(editor.ask("textDocument/hover", {"textDocument": {}})["error"]["code"] == -32602, "no URI")
    check(editor.at("hover", uri + "x", 0, 0)["error"]["code"] == -32602, "a text that is not open")
    check("error" in editor.at("rename", uri, 0, 0), "no new name")
    editor.tell("textDocument/unheardOf", {})  # a notification that nobody knows has no answer
    editor.tell("textDocument/didChange", {"textDocument": {"uri": uri}, "contentChanges": []})
    editor.tell("textDocument/didChange", {"textDocument": {"uri": uri}, "contentChanges": [7]})
    editor.tell("textDocument/didOpen", {})

    def refused(data, code, what):
        editor.write(data)
        while "error" not in (message := editor.read()):
            pass
        check(message["error"]["code"] == code and message["id"] is None, (what, message))

    refused(b"Content-Length: 3\r\n\r\n{]}", -32700, "no JSON")
    refused(b"Content-Length: 2\r\n\r\n[]", -32600, "no object")
    refused(b"Content-Length: 1\r\n\r\n7", -32600, "a number")
    refused(b"Content-Length: many\r\n\r\n", -32700, "a length that is no number")
    refused(b"Content-Length: -5\r\n\r\n", -32700, "a length below 0")
    refused(b"Nothing: here\r\n\r\n", -32700, "no length")
    refused(b"content-length: 4\r\nOther: x\r\n\r\n\xff\xfe{}", -32700, "bytes that are no text")
    nested = b"[" * 20000
    refused(b"Content-Length: %d\r\n\r\n" % len(nested) + nested, -32700, "brackets without end")
    for text in ("\x00", "diagram", "\xff" * 100, "diagram a {\n" + "axis q = 1\n" * 3000, "]" * 1000, "\r\n\r", "𝔸"):
        for name in (uri, (folder / "attention.drv").as_uri(), "untitled:Untitled-1"):
            editor.open(name, text)
            editor.labels(name, 0, 1)
            editor.hover(name, 0, 1)
    check(editor.end() == 0, "the server outlives all of that")

    for data in (b"", b"Content-Length: 10\r\n\r\n{", b"Content-Length: 99999999999999999999\r\n\r\n", b"Content-Length: 9"):
        done = subprocess.run([NAPKIN, "lsp"], input=data, capture_output=True, timeout=20)
        check(done.returncode == 1 and done.stderr == b"", (data, done))
    editor = Editor()
    editor.tell("exit", None)
    check(editor.process.wait(10) == 1, "an exit without shutdown")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name) / "of an editor"
    folder.mkdir()
    for ending in (".ncd", ".drv"):
        shutil.copy(EXAMPLES / f"attention{ending}", folder)
    for case in (diagrams, renaming, derivations, wrong_input):
        case(folder)
print("\n".join(failures) if failures else "ok")
sys.exit(1 if failures else 0)
