"""Pages in a browser, offline: what the checks of reports and of lectures share."""
LARGEST = 1_000_000
WIDTHS = [(390, 844), (768, 1024), (1280, 800), (1920, 1080)]
WIDER = "() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth"


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


def check_widths(page, name, failures, pictures):
    """Nothing is wider than the window; what it looks like is kept where a folder is given."""
    for width, height in WIDTHS:
        page.set_viewport_size({"width": width, "height": height})
        wider = page.evaluate(WIDER)
        failures.check(wider <= 0, f"{wider} pixels wider than a window of {width}")
        if pictures:
            page.screenshot(path=pictures / f"{name}-{width}.png", full_page=True)
