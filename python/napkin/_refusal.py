"""What napkin refuses, as an exception."""

from __future__ import annotations

import json
from typing import Any, Optional


class Refusal(Exception):
    """What was given cannot be done, and why: a wrong text, a rule that does not apply, a size that is too large.

    ``str()`` is what the command line prints: code, place, the line with a caret, and the fix.

    Attributes:
        code: stable, such as ``E0202``; docs/language.md says what the numbers mean.
        message: one line.
        file, line, column: the place, counted from 1; ``None`` where there is none. ``<steps>`` are the moves of a
            derivation, ``<diagram>`` a text that has no file.
        fix: what would mend it, or ``None``.
        errors: every error that was found, as dictionaries of the same names; the attributes are the first one's.
    """

    code: str
    message: str
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    fix: Optional[str]
    errors: "list[dict[str, Any]]"

    def __init__(self, text: str, errors: str) -> None:
        super().__init__(text)
        self._arguments = (text, errors)
        self.errors = json.loads(errors)
        for error in self.errors:
            error["fix"] = error.pop("help", None)
        first = self.errors[0]
        self.code = first["code"]
        self.message = first["message"]
        self.file = first.get("file")
        self.line = first.get("line")
        self.column = first.get("column")
        self.fix = first["fix"]

    def __reduce__(self) -> "tuple[type[Refusal], tuple[str, str]]":
        return (Refusal, self._arguments)
