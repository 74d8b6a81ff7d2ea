"""Checks every internal link of a site that DocC made: what it leads to, page, heading, picture or file, must be there."""

import json
import pathlib
import re
import sys
import urllib.parse


class Site:
    """The pages of a site, by the paths of their addresses."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        data = self.root / "data"
        self.pages = {}
        for file in sorted(data.rglob("*.json")):
            path = "/" + file.relative_to(data).with_suffix("").as_posix()
            self.pages[path.lower()] = json.loads(file.read_text(encoding="utf-8"))
        self.anchors = {path: set(anchors(page)) for path, page in self.pages.items()}
        self.wrong = []
        self.count = 0

    def leads(self, where, address):
        """Notes a link within the site if there is nothing behind it."""
        self.count += 1
        parts = urllib.parse.urlsplit(address)
        path = urllib.parse.unquote(parts.path).rstrip("/").lower()
        if path not in self.pages:
            self.wrong.append(f"{where}: no page {address}")
        elif not (self.root / path[1:] / "index.html").is_file():
            self.wrong.append(f"{where}: no index.html for {address}")
        elif parts.fragment and urllib.parse.unquote(parts.fragment).lower() not in self.anchors[path]:
            self.wrong.append(f"{where}: no heading {address}")

    def has(self, where, file):
        """Notes a file of the site that is not there."""
        self.count += 1
        if not (self.root / urllib.parse.unquote(file).lstrip("/")).is_file():
            self.wrong.append(f"{where}: no file {file}")

    def check_reference(self, where, reference):
        kind = reference.get("type")
        if kind in ("topic", "section"):
            self.leads(where, reference["url"])
        elif kind in ("image", "video", "download"):
            files = [each["url"] for each in reference.get("variants", [reference])]
            for file in files:
                self.has(where, file)
        elif kind == "link":
            # To other servers, which nobody asks here; a path of any other kind is one that DocC did not resolve.
            if not re.match(r"(https?|mailto):", reference["url"]):
                self.wrong.append(f"{where}: {reference['url']} is neither a link of DocC nor one to another server")
        elif kind == "unresolvable":
            # Swift's own types have no page here.
            title = reference.get("title") or reference.get("identifier", "what has no name")
            if f"/documentation/{title.split('.')[0].lower()}" in self.pages:
                self.wrong.append(f"{where}: {title} was not resolved")

    def check_page(self, where, page):
        references = page.get("references", {})
        for reference in references.values():
            self.check_reference(where, reference)
        for used in identifiers(page):
            if used not in references:
                self.wrong.append(f"{where}: {used} is used and not described")

    def check_navigation(self):
        index = json.loads((self.root / "index/index.json").read_text(encoding="utf-8"))
        for trees in index["interfaceLanguages"].values():
            for path in paths(trees):
                self.leads("navigation", path)

    def check_header(self):
        header = (self.root / "documentation/reprise/index.html").read_text(encoding="utf-8")
        links = re.findall(r'<a href="([^"]+)"', header)
        if not links:
            self.wrong.append("header: no links")
        for link in links:
            self.leads("header", link)


def anchors(value):
    """The headings of a page that a fragment can name."""
    if isinstance(value, dict):
        if isinstance(value.get("anchor"), str):
            yield urllib.parse.unquote(value["anchor"]).lower()
        for each in value.values():
            yield from anchors(each)
    elif isinstance(value, list):
        for each in value:
            yield from anchors(each)


def identifiers(value):
    """What the text and the lists of a page refer to."""
    if isinstance(value, dict):
        if value.get("type") in ("reference", "image") and "identifier" in value and "variants" not in value:
            yield value["identifier"]
        for key, each in value.items():
            if key == "references":
                continue
            if key == "identifiers":
                yield from each
            else:
                yield from identifiers(each)
    elif isinstance(value, list):
        for each in value:
            yield from identifiers(each)


def paths(nodes):
    """The addresses of a tree of navigation."""
    for node in nodes:
        if "path" in node:
            yield node["path"]
        yield from paths(node.get("children", []))


def main():
    site = Site(sys.argv[1])
    if not site.pages:
        raise SystemExit(f"links: no pages in {sys.argv[1]}")
    for path, page in site.pages.items():
        site.check_page(path, page)
    site.check_navigation()
    site.check_header()
    for line in sorted(set(site.wrong)):
        print(f"links: {line}", file=sys.stderr)
    if site.wrong:
        raise SystemExit(1)
    print(f"links: {site.count} links on {len(site.pages)} pages lead somewhere")


main()
