#!/usr/bin/env python3
"""Tokenises the diagrams and derivations of the repository by the grammars of editors/vscode: every sign has a scope of its
own, every keyword and rule is one, and comments are nothing else. Needs babi, an editor of PyPI that reads TextMate grammars.

usage: python3 grammar_cases.py
"""
import json
import pathlib
import re
import sys

from babi.highlight import Grammars, highlight_line

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EDITOR = ROOT / "editors/vscode"
grammars = Grammars(str(EDITOR / "syntaxes"))
failures = []


def scopes(language, text):
    """Of every character of every line."""
    compiler = grammars.compiler_for_scope(f"source.{language}")
    state = compiler.root_state
    for number, line in enumerate(text.splitlines(keepends=True)):
        found = [()] * len(line)
        state, regions = highlight_line(compiler, state, line, number == 0)
        for region in regions:
            found[region.start : region.end] = [region.scope] * (region.end - region.start)
        yield line.rstrip("\n"), found


def check(language, text, where):
    for number, (line, found) in enumerate(scopes(language, text), 1):
        code = line.split("#")[0]
        for at, sign in enumerate(line):
            scope = found[at][-1] if len(found[at]) > 1 else ""
            wrong = sign.strip() and (not scope or (at >= len(code)) != scope.startswith("comment"))
            if wrong:
                failures.append(f"{where}:{number}:{at + 1}: `{sign}` is {scope or 'nothing'}")
                break
        for word in re.finditer(r"\b[A-Za-z_]\w*\b", code):
            if word[0] in KEYWORDS[language] and not found[word.start()][-1].startswith(("keyword", "constant.language")):
                failures.append(f"{where}:{number}: the keyword `{word[0]}` is {found[word.start()][-1]}")


manifest = json.loads((EDITOR / "package.json").read_text())
for part in manifest["contributes"]["grammars"]:
    grammar = json.loads((EDITOR / part["path"]).read_text())
    assert grammar["scopeName"] == part["scopeName"], part
for part in [manifest["main"]] + [language["configuration"] for language in manifest["contributes"]["languages"]]:
    assert (EDITOR / part).exists(), part

# The words of the language are those that no array can be called, by the lexer's own table.
table = re.findall(r'Spelling\{TokenKind::\w+, "([a-z_]+)"\}', (ROOT / "diagrams/syntax/token.cpp").read_text())
KEYWORDS = {"ncd": set(table) - {"scan", "exclusive_scan"}, "drv": set()}
for word in KEYWORDS["ncd"]:
    ((_, found),) = scopes("ncd", word + "\n")
    if not found[0][-1].startswith(("keyword", "constant.language")):
        failures.append(f"the word `{word}` is {found[0][-1]}")
rules = re.findall(r"^## `?([a-z-]+)", (ROOT / "docs/rules.md").read_text(), re.M)
for rule in rules:
    ((_, found),) = scopes("drv", rule + " x\n")
    if found[0][-1] != "keyword.control.drv" or found[len(rule) - 1][-1] != "keyword.control.drv":
        failures.append(f"the rule `{rule}` is {found[0][-1]}")
assert len(KEYWORDS["ncd"]) > 20 and len(rules) > 15

files = 0
for language in ("ncd", "drv"):
    for path in sorted(path for folder in ("bench", "diagrams", "docs", "examples") for path in ROOT.glob(f"{folder}/**/*.{language}")):
        check(language, path.read_text(), path.relative_to(ROOT))
        files += 1
print("\n".join(failures) if failures else f"right: {files} files are tokenised")
sys.exit(1 if failures or files < 50 else 0)
