"""Pages in a browser, offline: what the checks of reports and of lectures share."""
LARGEST = 1_000_000
WIDTHS = [(390, 844), (768, 1024), (1280, 800), (1920, 1080)]
WIDER = "() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
# What does not stand where it should, in words; sizes of boxes and what is visible, not pixels.
MISPLACED = """() => {
  const wrong = [];
  const visible = (element) => element.getClientRects().length > 0;
  const all = (query, root = document) => [...root.querySelectorAll(query)].filter(visible);
  const box = (element) => element.getBoundingClientRect();
  const common = (a, b) => Math.min(Math.min(a.right, b.right) - Math.max(a.left, b.left),
                                    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1;
  for (const chip of all("#scrubber [aria-current=step]"))
    if (!inside(box(chip), box(chip.closest("ol"))))
      wrong.push(`the step ${chip.textContent} is outside its strip`);
  for (const plot of all("#plots svg")) {
    const words = all("text", plot);
    words.forEach((word, i) => {
      if (!inside(box(word), box(plot))) wrong.push(`${word.textContent} is cut off`);
      for (const other of words.slice(i + 1))
        if (common(box(word), box(other)) > 1)
          wrong.push(`${word.textContent} and ${other.textContent} overlap`);
    });
  }
  for (const picture of all(".step > .picture")) {
    if (box(picture).height > innerHeight) wrong.push("the picture is taller than the window");
    const legends = all("svg", picture).filter((svg) =>
      all("text", svg).some((text) => text.textContent === "device memory"));
    if (legends.length !== 1) wrong.push(`the picture has ${legends.length} legends`);
  }
  const binds = all("#figures .note").map((note) => note.textContent.match(/^(.*) binds$/)?.[1]).find(Boolean);
  if (binds) {
    const width = (bar) => box(bar.firstElementChild).width;
    const named = all(".units .bar.binding").filter((bar) => bar.closest("tr").textContent.startsWith(binds));
    if (binds === "waiting") {
      if (all(".units .bar.binding").length !== 0) wrong.push("a unit binds where waiting does");
    } else if (named.length !== 1 || all(".units .bar").some((bar) => width(bar) > width(named[0])))
      wrong.push(`${binds} binds, and is not the longest bar`);
    const [whole, ...parts] = all(".sum .bar").reverse().map(width);
    const sum = parts.reduce((total, part) => total + part, 0);
    if (Math.abs(sum - whole) > 1) wrong.push(`what a kernel's time is made of is ${sum} of ${whole} pixels`);
  }
  return wrong;
}"""


class Failures(list):
    def check(self, holds, what):
        if not holds:
            self.append(what)


def diagram_of(derivation):
    stem = derivation.with_suffix("")
    while not stem.with_suffix(".ncd").exists():
        stem = stem.with_name(stem.name.rsplit("_", 1)[0])
    return stem.with_suffix(".ncd")


def open_page(browser, path, failures):
    """A page without a network, in which requests and what the console complains of are failures."""
    failures.check(path.stat().st_size < LARGEST, f"{path.stat().st_size} bytes are too many")
    page = browser.new_context(offline=True).new_page()
    page.on("console", lambda message: failures.append(f"console: {message.text}")
            if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: failures.append(f"error: {error}"))
    page.on("request", lambda request: failures.check(request.url.startswith("file:"),
                                                       f"request: {request.url}"))
    page.goto(path.as_uri())
    return page


def resize(page, width, height):
    """Until the page has been told so."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def check_widths(page, name, failures, pictures):
    """Nothing is wider than the window, and all is where it should be; what it looks like is kept where a folder is given."""
    for width, height in WIDTHS:
        resize(page, width, height)
        wider = page.evaluate(WIDER)
        failures.check(wider <= 0, f"{wider} pixels wider than a window of {width}")
        for wrong in page.evaluate(MISPLACED):
            failures.append(f"at {width} pixels {wrong}")
        if pictures:
            page.screenshot(path=pictures / f"{name}-{width}.png", full_page=True)
