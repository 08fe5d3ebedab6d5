#!/usr/bin/env python3
"""Opens lectures in a browser, offline, and says how many passed.

usage: check_lecture.py NAPKIN [--pictures FOLDER]     in the repository's root; needs Chromium and Playwright

  * no request and no error on the console; below a megabyte; nothing wider than the window from 390
    to 1920 pixels; the first slide is shown first, and names no step ahead;
  * every answer that the page grades is typed into it, and into `napkin quiz`: both say the same;
  * whole commands in a field are what their parts are; of what is no size or name the page says so, of another
    answer that it was not tried, with the command that grades it, of an empty one that something is open;
  * the teacher's sheet opens, and its answers are right on the page.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from pages import Failures, check_widths, diagram_of, open_page
from playwright.sync_api import sync_playwright

LECTURES = [("attention", "attention.quiz"), ("matmul", "matmul.quiz"), ("rmsnorm_linear", None), ("matmul_split_k", None)]
napkin = str(pathlib.Path(sys.argv[1]).resolve())
scratch = pathlib.Path(tempfile.mkdtemp())

# What a form says of values in its fields.
GRADE = """([number, values]) => {
  const form = document.querySelector(`form.question[data-question="${number}"]`);
  form.querySelectorAll("input").forEach((field, i) => { field.value = values[i]; });
  form.querySelector("button").click();
  const grade = form.querySelector(".grade");
  return [grade.className.replace("grade", "").trim(), grade.textContent.replace(/^(right|wrong) /, "")];
}"""
# The open lines of a form, with the number of a field in its place.
OPEN = """(number) => {
  const pre = document.querySelector(`form.question[data-question="${number}"] pre`).cloneNode(true);
  pre.querySelectorAll(".given").forEach((line) => line.remove());
  pre.querySelectorAll("input").forEach((field, i) => field.replaceWith(`{${i}}`));
  return pre.textContent.trim().split("\\n").filter(Boolean).join("; ");
}"""


def run(*arguments, stdin=None):
    return subprocess.run([napkin, *map(str, arguments)], capture_output=True, text=True,
                          input=stdin)


def in_shell(command):
    """What a command that a page shows prints."""
    return subprocess.run(["bash", "-c", command.replace("napkin quiz", f"{napkin} quiz")],
                          capture_output=True, text=True).stdout


def at_prompt(arguments, skipped, command):
    """What `napkin quiz` says of an answer to the question after so many."""
    said = run("quiz", *arguments, stdin="skip\n" * skipped + command + "\n")
    match = re.search(r"^  (right|wrong): (.*(?:\n  \S.*)?)$", said.stdout, re.MULTILINE)
    if match is None:
        return ["", said.stdout[-200:] + said.stderr]
    return [match[1], match[2].replace("\n  ", "; ").replace("`", "")]


def check_questions(page, arguments, failures):
    questions = page.evaluate("() => data.questions")
    graded = 0
    for number, question in enumerate(questions, 1):
        form = page.evaluate(OPEN, number)
        for key, (right, _) in question["outcomes"].items():
            values = key.rstrip("|").split("|")
            command = form.format(*(value.replace(",", ", ") for value in values))
            ours = page.evaluate(GRADE, [number, values])
            failures.check((ours[0] == "right") == bool(right), f"{command}: the page says {ours}")
            # Of many answers a part is asked for, those that are right among it.
            if right or graded % 7 == 0:
                theirs = at_prompt(arguments, number - 1, command)
                failures.check(ours == theirs, f"{command}: {ours}, at the prompt {theirs}")
            graded += 1
        kinds = [kind for each in question["open"] for kind in each["kinds"]]
        # Whole commands in the first field of each.
        key, (right, _) = next(iter(question["outcomes"].items()))
        values = key.rstrip("|").split("|")
        if "command" not in kinds:
            whole = iter(form.format(*(value.replace(",", ", ") for value in values)).split("; "))
            firsts = [next(whole) if i == 0 else "" for each in question["open"]
                      for i, _ in enumerate(each["kinds"])]
            ours = page.evaluate(GRADE, [number, firsts])
            failures.check(ours[0] == ("right" if right else "wrong"), f"{firsts}: {ours}")
        for strange, said, kind in [("abc", "is no size", "size"), ("-1", "is no size", "size"),
                                    ("zz", "There is no axis", "names"), ("S, zz", "There is no axis", "set")]:
            if kind in kinds:
                typed = [strange if each == kind else value for each, value in zip(kinds, values)]
                ours = page.evaluate(GRADE, [number, typed])
                failures.check(ours[0] == "" and said in ours[1], f"{number}: {strange} is {ours}")
        # Formulas say of sizes that were not tried what the prompt does, where they say something.
        if set(kinds) == {"size"}:
            for size in ("100", "192", "5000"):
                command = form.format(*[size] * len(kinds))
                ours = page.evaluate(GRADE, [number, [size] * len(kinds)])
                theirs = at_prompt(arguments, number - 1, command)
                failures.check(ours[0] in ("", theirs[0]), f"{command}: {ours}, at the prompt {theirs}")
        typed = ["12345" if each in ("size", "command") else value for each, value in zip(kinds, values)]
        if typed != values and set(kinds) != {"size"}:
            ours = page.evaluate(GRADE, [number, typed])
            failures.check(ours[0] == "" and "napkin quiz" in ours[1], f"{number}: 12345 is {ours}")
            if "command" not in kinds:
                said = in_shell(ours[1].split("grades it: ")[1])
                failures.check(re.search(r"^  (right|wrong): ", said, re.MULTILINE) is not None,
                               f"{number}: {ours[1]} says {said}")
        ours = page.evaluate(GRADE, [number, [""] * len(kinds)])
        failures.check(ours[1].startswith("Something is open"), f"{number}: nothing is {ours}")
    return graded


def check_slides(page, failures):
    visible = "() => [...document.querySelectorAll('section.step')].findIndex((each) => !each.hidden)"
    failures.check(page.evaluate(visible) == 0, "the first slide is not shown first")
    named = "() => [...document.querySelectorAll('#scrubber .title')].filter((each) => each.offsetWidth).length"
    failures.check(page.evaluate(named) == 1, "steps ahead are named")
    failures.check(not page.is_visible("#what-if"), "the sliders are on the first slide")
    count = page.evaluate("() => document.querySelectorAll('section.step').length")
    for _ in range(count - 1):
        page.keyboard.press("j")
    failures.check(page.evaluate(visible) == count - 1, "j does not lead to the last slide")
    failures.check(page.evaluate(named) == count, "steps that were shown are not named")
    failures.check(page.is_visible("#what-if"), "the sliders are not on the last slide")
    page.keyboard.press("c")
    failures.check(page.is_visible("section.step:not([hidden]) .code"), "c does not show the code")
    page.keyboard.press("c")


def check(browser, name, quiz, pictures):
    failures = Failures()
    derivation = pathlib.Path("examples") / f"{name}.drv"
    diagram = diagram_of(derivation)
    asked = ["--quiz", f"examples/{quiz}"] if quiz else []
    slides = scratch / "slides.html"
    sheet = scratch / "sheet.html"
    for path, more in [(slides, []), (sheet, ["--sheet"])]:
        done = run("lecture", diagram, "--drv", derivation, *asked, *more, "-o", path)
        if done.returncode != 0:
            return Failures([f"napkin lecture: {done.stderr}"]), 0
    page = open_page(browser, slides, failures)
    check_slides(page, failures)
    title = f"lecture-{name}" + ("-quiz" if quiz else "")
    graded = check_questions(page, [diagram, *(asked or ["--drv", derivation])], failures)
    for slide in range(page.evaluate("() => steps.length")):
        page.evaluate("(slide) => show(slide)", slide)
        check_widths(page, f"{title}-{slide}", failures, pictures)
    page.context.close()
    page = open_page(browser, sheet, failures)
    failures.check(page.locator(".answer").count() >= page.locator("section").count() > 0,
                   "the sheet lacks answers")
    check_widths(page, f"{title}-sheet", failures, pictures)
    page.context.close()
    return failures, graded


def main():
    pictures = None
    if sys.argv[2:3] == ["--pictures"]:
        pictures = pathlib.Path(sys.argv[3])
        pictures.mkdir(parents=True, exist_ok=True)
    failed = 0
    total = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium",
                                             args=["--no-sandbox"])
        for name, quiz in LECTURES:
            failures, graded = check(browser, name, quiz, pictures)
            total += graded
            failed += bool(failures)
            for failure in failures[:12]:
                print(f"{name}: {failure}")
            if len(failures) > 12:
                print(f"{name}: and {len(failures) - 12} more")
        browser.close()
    print(f"{len(LECTURES) - failed} lectures passed, {failed} failed; {total} answers graded as they should be")
    return 1 if failed else 0


sys.exit(main())
