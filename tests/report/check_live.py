#!/usr/bin/env python3
"""Follows a session at the prompt in a browser, offline, and says whether it passed.

usage: check_live.py NAPKIN [--pictures FOLDER]     in the repository's root; needs Chromium and Playwright

  * `show live` writes a page that opens from its file, without an error or a request for anything but its script;
  * it shows every command's picture, figures and step, without being loaded again;
  * it takes a page of another folder, whose name needs escapes, and says when the session has ended.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

from pages import Failures, check_widths, open_page
from playwright.sync_api import sync_playwright

napkin = str(pathlib.Path(sys.argv[1]).resolve())
pictures = pathlib.Path(sys.argv[3]) if "--pictures" in sys.argv else None
scratch = pathlib.Path(tempfile.mkdtemp())
STEPS = ["fuse S, P, O", "group q by 128", "stream x by 64"]


class Prompt:
    """A session, typed at."""

    def __init__(self):
        self.process = subprocess.Popen([napkin, "derive", "examples/attention.ncd", "-i"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)

    def type(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def address(self):
        """What `show live` says to open."""
        for line in self.process.stdout:
            if match := re.match(r"  open (file://\S+) in a browser", line):
                return match[1]
        return ""


def shows(page, what, failures):
    """Waits until a step is the last that the page shows."""
    try:
        page.wait_for_function("(step) => [...document.querySelectorAll('#steps li')].at(-1)?.textContent === step",
                               arg=what, timeout=20000)
    except Exception:
        failures.append(f"{what}: the page shows {page.inner_text('#steps')!r}")


def follow(browser, failures):
    path = scratch / "my ü page.html"
    prompt = Prompt()
    prompt.type(f"show live {path}")
    address = prompt.address()
    failures.check(pathlib.Path(urllib.parse.unquote(address.removeprefix("file://"))) == path, f"it says to open {address}")
    page = open_page(browser, path, failures)
    page.wait_for_selector("#picture svg")
    failures.check(page.title() == "attention on H200", f"its title is {page.title()}")
    page.evaluate("() => { window.loaded = 'once'; }")
    seen = set()
    for step in STEPS:
        seen.add(page.inner_html("#picture"))
        prompt.type(step)
        shows(page, step, failures)
        failures.check(page.inner_html("#picture") not in seen, f"{step}: the picture stays")
        failures.check("H is" in page.inner_text("#words"), f"{step}: no figures")
        failures.check(page.evaluate("() => window.loaded") == "once", f"{step}: the page was loaded again")
    check_widths(page, "live", failures, pictures)
    prompt.type("undo")
    shows(page, STEPS[-2], failures)
    prompt.type("quit")
    page.wait_for_function("() => document.getElementById('summary').textContent === 'The session has ended.'")
    failures.check(prompt.process.wait(60) == 0, "the session fails")


failures = Failures()
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    follow(browser, failures)
    browser.close()
for failure in failures:
    print(f"live page: {failure}")
print("live page: " + ("failed" if failures else "passed"))
sys.exit(bool(failures))
