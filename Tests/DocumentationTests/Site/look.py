"""Looks at a site in Chromium, served as any web server does: every page that is not a symbol's shows its title, without an error."""

import functools
import http.server
import json
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "CommandTests/Page"))
from browser import Browser  # noqa: E402

LANDING = "/documentation/reprise"
TITLE = "document.querySelector('main h1, .documentation h1')?.innerText.replaceAll('\\u200b', '').trim()"


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        # A browser that goes on to another page leaves what it has not read.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def serve(root):
    """A server of the folder at a free port."""
    server = Server(("127.0.0.1", 0), functools.partial(Handler, directory=root))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def titles(root):
    """The pages that people wrote as such, and the first page of each library, with their titles."""
    data = pathlib.Path(root) / "data"
    found = {}
    for file in sorted(data.rglob("*.json")):
        if file.stem.endswith("-implementations"):
            continue  # A list that DocC makes of what a type takes from a protocol.
        page = json.loads(file.read_text(encoding="utf-8"))
        if page["kind"] != "symbol" or page["metadata"].get("symbolKind") == "module":
            found["/" + file.relative_to(data).with_suffix("").as_posix()] = page["metadata"]["title"]
    return found


class Visit:
    """What is seen of a site, and what is wrong with it."""

    def __init__(self, browser, server):
        self.browser = browser
        self.base = f"http://127.0.0.1:{server.server_port}"
        self.wrong = []

    def expect(self, what, seen, expected):
        if seen != expected:
            self.wrong.append(f"{what}: {seen!r} is seen instead of {expected!r}")

    def quiet(self, what):
        """Notes what the console said since the last time."""
        if self.browser.console:
            self.wrong.append(f"{what}: the console says {self.browser.console}")
            self.browser.console.clear()

    def see(self, path, title):
        self.browser.open(f"{self.base}{path}/")
        self.browser.wait(f"({TITLE}) || document.querySelector('.not-found, .error')")
        self.expect(path, self.browser.run(TITLE), title)
        self.quiet(path)

    def begin(self, headline):
        """The root leads to the landing page, and its header to the others."""
        self.browser.open(f"{self.base}/")
        self.browser.wait(f"location.pathname === '{LANDING}/' && ({TITLE})")
        self.expect("landing page", self.browser.run(TITLE), "Reprise")
        self.expect("headline", self.browser.run("document.querySelector('.abstract').innerText.trim()"), headline)
        self.browser.wait("document.querySelectorAll('.navigator-card-item').length > 5")
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        for width in [420, 900, 1600]:
            self.browser.resize(width, 900)
            self.expect(f"what sticks out at {width} pixels", self.browser.run(wide), 0)
        self.browser.run("document.querySelector('custom-header').shadowRoot.querySelector('a:nth-of-type(2)').click()")
        self.browser.wait(f"location.pathname.startsWith('{LANDING}/tenminutes') && ({TITLE}) !== 'Reprise'")
        self.quiet("landing page")


def main():
    root = sys.argv[1]
    pages = titles(root)
    # As its source has it: a title, an empty line, and the headline.
    source = pathlib.Path(__file__).resolve().parents[3] / "Documentation/Reprise.docc/Reprise.md"
    headline = source.read_text(encoding="utf-8").splitlines()[2]
    server = serve(root)
    browser = Browser()
    try:
        visit = Visit(browser, server)
        visit.begin(headline)
        for path, title in pages.items():
            visit.see(path, title)
        visit.see("/documentation/reprisecore/dataclient", "DataClient")
    finally:
        browser.close()
        server.shutdown()
    for line in visit.wrong:
        print(f"look: {line}", file=sys.stderr)
    if visit.wrong:
        raise SystemExit(1)
    print(f"look: {len(pages) + 1} pages are seen in Chromium as they should be")


main()
