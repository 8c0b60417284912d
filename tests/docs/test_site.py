"""The built site, as a reader meets it: links, images, names, and every page in a real browser.

``make docs`` builds the site and runs this. Without a build or a browser the tests are skipped.
"""

import importlib
import re
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from ..browser import open_browser

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "_build" / "html"
EXAMPLES = sorted(example.stem for example in (ROOT / "examples").glob("plot_*.py"))
PHONE = {"width": 400, "height": 800}
LOADED = {"stylesheet", "icon", "preload", "modulepreload"}  # kinds of links that a browser follows

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").is_file(), reason="the site is not built: make docs"
)


class Page(HTMLParser):
    """What a page refers to (links, and what the browser loads by itself) and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors.update(filter(None, (values.get("id"), values.get("name"))))
        if tag == "a" and values.get("href"):
            self.links.add(str(values["href"]))
        if tag in ("img", "script", "iframe", "source") and values.get("src"):
            self.loads.add(str(values["src"]))
        if tag == "link" and values.get("rel") in LOADED and values.get("href"):
            self.loads.add(str(values["href"]))


@pytest.fixture(scope="module")
def pages() -> dict[Path, Page]:
    return {
        path: Page(path) for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts
    }


def is_inside(address: str) -> bool:
    parts = urlsplit(address)
    return not parts.scheme and not parts.netloc


def test_every_internal_link_leads_to_a_page_and_a_place_on_it(pages):
    def anchors(target):
        return pages[target].anchors if target in pages else set()

    broken = []
    for path, page in pages.items():
        for link in filter(is_inside, page.links):
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                broken.append(f"{path.relative_to(SITE)}: {link}")
            elif parts.fragment and unquote(parts.fragment) not in anchors(target):
                broken.append(f"{path.relative_to(SITE)}: no place {link}")
    assert not broken, "\n".join(broken)


def test_everything_a_page_loads_is_part_of_the_site(pages):
    missing = [
        f"{path.relative_to(SITE)}: {address}"
        for path, page in pages.items()
        for address in page.loads
        if not address.startswith("data:")
        and not (is_inside(address) and (path.parent / unquote(urlsplit(address).path)).is_file())
    ]
    assert not missing, "\n".join(missing)


def test_every_public_name_has_a_page():
    import partita

    listed = re.findall(
        r"^   (partita\S*)$", (ROOT / "docs" / "api" / "index.md").read_text(), re.M
    )
    assert "partita.rules" in listed
    for package in listed:
        for name in importlib.import_module(package).__all__:
            home = "partita" if name in partita.__all__ else package
            assert (SITE / "api" / "generated" / f"{home}.{name}.html").is_file(), (
                f"{package}.{name}"
            )


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_ran_and_shows_a_figure(example):
    page = (SITE / "gallery" / f"{example}.html").read_text(encoding="utf-8")
    printed = re.findall(r"sphx-glr-script-out.*?<pre>(.*?)</pre>", page, re.S)
    if any("This page was built without its data" in text for text in printed):
        pytest.skip("its data is not on the machine that built it")
    assert "sphx-glr-script-out" in page or "output_html" in page
    assert "object at 0x" not in page
    assert page.count(f"_images/sphx_glr_{example}_") >= 1
    assert "Traceback" not in page


class Quiet(SimpleHTTPRequestHandler):
    """A file server that does not log."""

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


# What scrolls by itself may be wider than the screen: code, tables, formulas. The theme lets the
# whole article scroll too, so the page's own width says nothing about the rest.
LOOK = """() => ({
    wide: [...document.querySelectorAll("body *")]
        .filter(part => part.getClientRects().length && !part.closest(
            "pre, .pst-scrollable-table-container, .formula, .output_html, .bd-sidebar-secondary"))
        .filter(part => part.getBoundingClientRect().right > window.innerWidth + 1)
        .map(part => part.outerHTML.slice(0, 80)),
    lost: [...document.images].filter(image => !image.naturalWidth).map(image => image.src),
    title: (document.querySelector("h1") || {}).innerText || "",
    small: [...document.querySelectorAll("article p")]
        .filter(text => text.innerText && parseFloat(getComputedStyle(text).fontSize) < 11).length,
})"""


def not_loaded(request, troubles):
    """Note a request that failed, unless the next page cut it short."""
    if request.failure != "net::ERR_ABORTED":
        troubles.append(f"not loaded: {request.url}")


def test_every_page_can_be_read_on_a_phone(pages, address):
    """400 px wide: nothing is wider than the screen, no image is lost, nothing goes wrong."""
    troubles = []
    with open_browser() as browser:
        tab = browser.new_page(viewport=PHONE)
        tab.on("console", lambda line: line.type == "error" and troubles.append(line.text))
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.on("requestfailed", lambda request: not_loaded(request, troubles))
        for path in pages:
            name = path.relative_to(SITE).as_posix()
            before = len(troubles)
            tab.goto(f"{address}/{name}", wait_until="load")
            seen = tab.evaluate(LOOK)
            if seen["wide"]:
                troubles.append(f"wider than the screen: {seen['wide'][:5]}")
            if seen["lost"]:
                troubles.append(f"images lost: {seen['lost']}")
            if not seen["title"].strip():
                troubles.append("no heading")
            if seen["small"]:
                troubles.append(f"{seen['small']} paragraphs in small print")
            troubles[before:] = [f"{name}: {trouble}" for trouble in troubles[before:]]
    assert not troubles, "\n".join(troubles)
