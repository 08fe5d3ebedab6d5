#!/usr/bin/env python3
"""Opens the report of every derivation of the examples in a browser, offline, and says how many passed.

usage: check_report.py NAPKIN [EXAMPLE...]     in the repository's root; needs Chromium and Playwright

  * no request and no error on the console; below a megabyte; nothing wider than the window from 390
    to 1920 pixels;
  * every link has both ends: what stands for an array or an axis in one pane does in another;
  * the keys j, k and the arrows go through the steps; one step is shown, and its name in the strip;
    b shows the picture before it on the same canvas; what was there before is in no halo;
  * where a step changes an accumulator, what stood in its place is folded below it;
  * nothing overlaps in plots at any position of the sliders, what binds is the longest bar, and the
    parts of a kernel's time make all of it;
  * at every value of every slider, at some of two and at some of all together, the page's figures are
    those of `napkin cost --json` with the command that the page shows, and it has no time where that
    has none; what it does not know it says, and of two sliders that it has together it knows all;
  * no figure and no plot is of what is no number.
"""
import json
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from pages import MISPLACED, WIDTHS, Failures, check_widths, diagram_of, open_page, resize
from playwright.sync_api import sync_playwright

TOGETHER = 6  # points at which all sliders are moved
PAIRS = 2  # points of each pair of sliders that the page has together, besides one of each kind
napkin = str(pathlib.Path(sys.argv[1]).resolve())
scratch = pathlib.Path(tempfile.mkdtemp())


def cost_of(command, diagram, number):
    """What `napkin cost` says where the page stands."""
    arguments = [napkin, "cost", str(diagram), "--json", "--machine", command["machine"]]
    if command["sets"]:
        arguments += ["--set", command["sets"]]
    if command["derivation"]:
        path = scratch / f"{number}.drv"
        path.write_text(command["derivation"] + "\n")
        arguments += ["--drv", str(path)]
    done = subprocess.run(arguments, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def close(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def differences(page, cost):
    """Of the page's figures and the command's, by name."""
    found = []

    def compare(name, ours, theirs, same=lambda a, b: a == b):
        if ours is None or theirs is None or not same(ours, theirs):
            found.append(f"{name} is {ours}, not {theirs}")

    for ours, theirs in zip(page["regions"], cost["regions"], strict=True):
        for level, figures in theirs["levels"].items():
            for figure, amount in figures.items():
                for unit in ("values", "bytes"):
                    compare(f"{ours['name']}.{level}.{figure}.{unit}",
                            ours["levels"][level][figure][unit], amount[unit])
        compare("operations", ours["operations"], theirs["flops"])
    total = cost["total"]
    for unit in ("values", "bytes"):
        compare(f"H.{unit}", page["H"][unit], total["levels"]["block"]["H"][unit])
    times = [each["time_us"]["low"] for each in cost["regions"]]
    if page["timeless"]:
        compare("without a time", page["timeless"],
                [each["name"] for each, time in zip(cost["regions"], times) if time is None],
                lambda ours, theirs: set(ours) <= set(theirs))
    if page["time"] is not None and len(cost["regions"]) == 1:
        compare("what binds", page["time"]["binds"], cost["regions"][0]["binds"])
    if page["fits"]["known"]:
        compare("fits", not page["fits"]["excesses"], all(each["fits"] for each in cost["regions"]))
    if page["time"] is not None:
        for end in ("low", "high"):
            compare(end, page["time"][end], total["time_us"][end], close)
    if page["bound"] is not None and "to_bound" in total:
        compare("bound", -(-page["H"]["bits"] // 8) / page["bound"], total["to_bound"],
                lambda a, b: abs(a - b) <= 1e-6 * b + 1 / page["bound"])
    if page["best"] is not None:
        compare("best", page["best"], total.get("to_best"), close)
    return found


READ = """() => {
  const now = update();
  const shown = document.getElementById("figures").innerHTML + document.getElementById("plots").innerHTML;
  return {figures: {...now, best: now.best?.ratio ?? null, largest: null, pipelines: null},
          command: commandText(), strange: shown.match(/[^<>]*(NaN|Infinity|undefined|null)[^<>]*/)?.[0]};
}"""
# Of the positions of two sliders, one of each kind: with a time, without one, refused, too large.
KINDS = """(pair) => {
  const [first, second] = pair.map((id) => data.sliders.find((each) => each.id === id));
  const kinds = new Map();
  first.values.forEach((a, i) => second.values.forEach((b, j) => {
    const {refused, time, timeless, fits} = model.at({[first.id]: a, [second.id]: b});
    kinds.set([refused !== null, time === null, timeless, fits.known, fits.excesses].join("|"), [i, j]);
  }));
  return [...kinds.values()];
}"""
MOVE = """([id, value]) => {
  const input = document.querySelector(`#sliders input[name="${CSS.escape(id)}"]`);
  input.value = value;
  input.dispatchEvent(new Event("input", {bubbles: true}));
}"""
RESET = "() => document.querySelector('#sliders > button').click()"


def points_of(page, failures):
    """The page's figures and command at every value of every slider, then at some of all."""
    sliders = page.evaluate("() => data.sliders.filter((each) => !each.off)")
    points = []

    def read(name):
        point = page.evaluate(READ)
        points.append((name, point))
        failures.check(not point["strange"], f"{name}: the page shows {point['strange']}")
        for wrong in page.evaluate(MISPLACED):
            failures.append(f"{name}: {wrong}")

    read("as derived")
    for slider in sliders:
        if slider["kind"] == "bits":
            continue  # the command line has no such setting: check_bits
        for index, value in enumerate(slider["values"]):
            page.evaluate(MOVE, [slider["id"], index])
            read(f"{slider['symbol']} = {value}")
        page.evaluate(RESET)
    chance = random.Random(5)
    by_id = {slider["id"]: slider for slider in sliders}
    for pair in page.evaluate("() => data.pairs.map(({of}) => of)"):
        some = [[chance.randrange(len(by_id[each]["values"])) for each in pair] for _ in range(PAIRS)]
        for point in some + page.evaluate(KINDS, pair):
            for each, index in zip(pair, point):
                page.evaluate(MOVE, [each, index])
            read(" and ".join(pair))
            page.evaluate(RESET)
    for number in range(TOGETHER):
        for slider in sliders:
            if slider["kind"] != "bits":
                page.evaluate(MOVE, [slider["id"], chance.randrange(len(slider["values"]))])
        read(f"all together, {number}")
        page.evaluate(RESET)
    return points


def check_sliders(page, diagram, failures, pool):
    points = points_of(page, failures)
    numbers = range(len(points))
    costs = pool.map(lambda i: cost_of(points[i][1]["command"], diagram, i), numbers)
    refused = 0
    for (name, point), cost in zip(points, costs):
        if cost is None or point["figures"]["refused"]:
            refused += 1
            failures.check(cost is None, f"{name}: the command is not refused")
            failures.check(point["figures"]["refused"] or name.startswith("all together"),
                           f"{name}: the command is refused")
            continue
        if not name.startswith("all together"):
            failures.check(point["figures"]["time"] or point["figures"]["timeless"],
                           f"{name}: the time is not known")
        for difference in differences(point["figures"], cost):
            failures.append(f"{name}: {difference}")
    return len(points) - refused


def check_bits(page, diagram, derivation, failures):
    """bf16 at 32 bits holds and moves what f32 does."""
    if not page.evaluate("() => data.sliders.some((each) => each.id === 'bits bf16')"):
        return
    text = re.sub(r"\bbf16\b", "f32", diagram.read_text())
    if re.search(r"\b(f16|e4m3|e5m2|i8|i4)\b", text) or "retype" in derivation.read_text():
        return
    other = scratch / "wide.ncd"
    other.write_text(text)
    page.evaluate(MOVE, ["bits bf16", 2])
    point = page.evaluate(READ)
    page.evaluate(RESET)
    cost = cost_of(point["command"], other, "wide")
    failures.check(cost is not None, "bf16 at 32 bits: the command is refused")
    if cost is not None:
        for figure in "HMA":
            for ours, theirs in zip(point["figures"]["regions"], cost["regions"]):
                failures.check(
                    ours["levels"]["block"][figure]["bytes"] ==
                    theirs["levels"]["block"][figure]["bytes"],
                    f"bf16 at 32 bits: {figure} of {ours['name']} is another")


LINKS = """() => {
  const lonely = [];
  const panes = [...document.querySelectorAll("section.step:last-of-type .picture, " +
    "section.step:last-of-type .tile, .text.shared pre, #sliders")];
  for (const kind of ["array", "axis"]) {
    const where = new Map();
    panes.forEach((pane, i) => pane.querySelectorAll(`[data-${kind}]`).forEach((element) => {
      const key = element.dataset[kind];
      where.set(key, (where.get(key) ?? new Set()).add(i));
    }));
    for (const [key, at] of where) if (at.size < 2) lonely.push(`${kind} ${key}`);
  }
  return lonely;
}"""
LIGHT = """() => {
  const dark = [];
  const step = document.querySelector("section.step:not([hidden])");
  for (const from of step.querySelectorAll(".picture .handle[data-array], .tile .line[data-array]")) {
    from.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
    const own = from.closest(".picture, .tile");
    const others = [...step.querySelectorAll(".picture, .text")].filter((pane) => pane !== own);
    if (!others.some((pane) => pane.querySelector(".lit"))) dark.push(from.dataset.array);
  }
  return dark;
}"""


# The visible picture: its box, its shapes with what their groups say of them, and what of them is in a
# halo; and how the button stands.
PICTURE = """() => {
  const [picture] = [...document.querySelectorAll(".picture")].filter((each) => each.offsetHeight);
  const {left, top, width} = picture.getBoundingClientRect();
  const shapes = [...picture.querySelectorAll("path, polygon, text")];
  const attributes = (of) => of.tagName === "svg" ? [] : [...attributes(of.parentElement), ...of.attributes];
  const said = (shape) => attributes(shape).filter(({name}) => !["class", "tabindex"].includes(name))
    .map(({name, value}) => `${name}=${value}`).sort();
  const text = (shape) => [shape.tagName, ...said(shape), shape.innerHTML].join("|");
  return {box: [left, top, width], shapes: shapes.map(text), name: picture.getAttribute("aria-label"),
          told: document.querySelector("section.step:not([hidden]) .told").getBoundingClientRect().top,
          halo: shapes.filter((shape) => shape.matches(".new, .gone")).map(text),
          pressed: document.getElementById("before").getAttribute("aria-pressed")};
}"""


def check_before(page, failures):
    """b shows what the step before shows, on the same canvas, and hides it; nothing below moves."""
    resize(page, *WIDTHS[0])
    count = page.evaluate("() => steps.length")
    own = []
    for step in range(count):
        page.evaluate("(step) => show(step)", step)
        own.append(page.evaluate(PICTURE))
    for step in range(1, count):
        page.evaluate("(step) => show(step)", step)
        page.keyboard.press("b")
        old = page.evaluate(PICTURE)
        failures.check(old["pressed"] == "true" and old["name"] == f"the picture before step {step}",
                       f"step {step}: b shows {old['name']}")
        failures.check(old["shapes"] == own[step - 1]["shapes"], f"step {step}: b shows another picture")
        failures.check((old["box"], old["told"]) == (own[step]["box"], own[step]["told"]),
                       f"step {step}: b moves the picture")
        failures.check(not set(own[step]["halo"]) & set(own[step - 1]["shapes"]),
                       f"step {step}: what stood before is in a halo")
        failures.check(not set(old["halo"]) & set(own[step]["shapes"]), f"step {step}: what stays seems to go")
        page.keyboard.press("b")
        failures.check(page.evaluate(PICTURE) == own[step], f"step {step}: b again does not go back")
    button = page.get_by_role("button", name="before")
    button.focus()
    page.keyboard.press("Enter")
    failures.check(page.evaluate(PICTURE)["pressed"] == "true", "Enter does not press the button")
    page.keyboard.press("Enter")
    page.evaluate("() => show(0)")
    failures.check(button.is_disabled(), "there is a picture before the first")


# Steps in which an accumulator is shown without what stood in its place.
ALONE = """() => steps.map((step, i) => [i, step.querySelector(".told > .accumulator"),
  step.querySelector(".told > details.before .accumulator .code-line")])
  .filter(([, now, before]) => now && !before).map(([i]) => i)"""


LENGTHEN = """() => {
  document.querySelector("#scrubber [aria-current=step] .title").textContent += " and more".repeat(40);
  follow();
}"""


def check_strip(page, failures):
    """Through all steps by keys, in a narrow window and in a wide one."""
    for width, height in (WIDTHS[0], WIDTHS[2]):
        resize(page, width, height)
        page.evaluate("() => show(0)")
        for key in ["j"] * page.evaluate("() => steps.length") + ["ArrowLeft"] * 3:
            page.keyboard.press(key)
            for wrong in page.evaluate(MISPLACED):
                failures.append(f"at {width} pixels {wrong}")
    page.evaluate(LENGTHEN)
    for wrong in page.evaluate(MISPLACED):
        failures.append(f"of a long name {wrong}")
    page.reload()


def check_steps(page, failures):
    count = page.evaluate("() => document.querySelectorAll('section.step').length")
    visible = "() => [...document.querySelectorAll('section.step')].findIndex((each) => !each.hidden)"
    failures.check(page.evaluate(visible) == count - 1, "the last step is not shown first")
    for key, step in [("k", -1), ("ArrowLeft", -1), ("j", 1), ("ArrowRight", 1)]:
        before = page.evaluate(visible)
        page.keyboard.press(key)
        wanted = min(max(before + step, 0), count - 1)
        failures.check(page.evaluate(visible) == wanted, f"{key} does not lead to step {wanted}")
    shown = page.evaluate("() => document.querySelectorAll('section.step:not([hidden])').length")
    failures.check(shown == 1, f"{shown} steps are shown")


def check(browser, derivation, pool, pictures):
    failures = Failures()
    diagram = diagram_of(derivation)
    report = scratch / f"{derivation.stem}.html"
    done = subprocess.run([napkin, "report", str(diagram), "--drv", str(derivation), "-o",
                           str(report)], capture_output=True, text=True)
    if done.returncode != 0:
        return Failures([f"napkin report: {done.stderr}"]), 0
    page = open_page(browser, report, failures)
    check_steps(page, failures)
    check_strip(page, failures)
    check_before(page, failures)
    for step in page.evaluate(ALONE):
        failures.append(f"step {step}: an accumulator, and not what stood in its place")
    page.evaluate("() => show(steps.length)")
    for lonely in page.evaluate(LINKS):
        failures.append(f"{lonely} is linked with nothing")
    for dark in set(page.evaluate(LIGHT)):
        failures.append(f"{dark} lights up nothing elsewhere")
    check_widths(page, derivation.stem, failures, pictures)
    points = check_sliders(page, diagram, failures, pool)
    check_bits(page, diagram, derivation, failures)
    page.context.close()
    return failures, points


def main():
    pictures = None
    names = sys.argv[2:]
    if names[:1] == ["--pictures"]:
        pictures = pathlib.Path(names[1])
        pictures.mkdir(parents=True, exist_ok=True)
        names = names[2:]
    derivations = [path for path in sorted(pathlib.Path("examples").glob("*.drv"))
                   if not names or path.stem in names]
    failed = 0
    total = 0
    with sync_playwright() as playwright, ThreadPoolExecutor(2) as pool:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium",
                                             args=["--no-sandbox"])
        for derivation in derivations:
            failures, points = check(browser, derivation, pool, pictures)
            total += points
            failed += bool(failures)
            for failure in failures[:12]:
                print(f"{derivation.stem}: {failure}")
            if len(failures) > 12:
                print(f"{derivation.stem}: and {len(failures) - 12} more")
        browser.close()
    print(f"{len(derivations) - failed} reports passed, {failed} failed; "
          f"{total} positions of sliders as `napkin cost` says")
    return 1 if failed else 0


sys.exit(main())
