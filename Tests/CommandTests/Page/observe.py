"""Shows a page of `reprise inspect --format html` in Chromium, does what a user does, and prints what is seen.

    observe.py filters PAGE     what each filter of the lines of standard input chooses: a line of JSON for each
    observe.py tour PAGE FILTER opens it at three widths, filters, opens a finding, follows a permalink, presses keys
    observe.py hostile PAGE     visits every event
    observe.py bytes PAGE       whether the fields stand in the bytes where the page says
    observe.py links PAGE       what belongs together, by the numbers of the events
    observe.py counts PAGE      how much it says that there is of the whole
"""

import json
import sys

from browser import Browser

IDENTITY = """({ fields, file, connection }) => [file.name, fields.frame, connection.number, fields.from,
    fields.type, fields.time, fields.packetID ?? null, fields.length ?? null]"""


def filters(browser, page):
    browser.open(page)
    for line in sys.stdin:
        expression = json.loads(line)
        print(json.dumps(browser.run(f"""(() => {{
            try {{
                return {{ events: session.matching({json.dumps(expression)}).map({IDENTITY}) }};
            }} catch (error) {{
                if (error.column === undefined) throw error;
                return {{ message: error.message, column: error.column }};
            }}
        }})()""")))
    print(json.dumps(browser.console))


def text(browser, selector):
    return browser.run(f"document.querySelector({json.dumps(selector)})?.textContent ?? null")


def place(browser, canvas, x, y):
    """A place on a canvas as one of the window, as the protocol wants it."""
    [left, top] = browser.run(f"""(() => {{
        const {{ left, top }} = document.getElementById("{canvas}").getBoundingClientRect();
        return [left + ({x}), top + ({y})];
    }})()""")
    return {"x": left, "y": top}


def tour(browser, page, expression):
    seen = {"overflow": {}, "rows": {}}
    for width, height, scheme in [(420, 840, "dark"), (900, 900, "light"), (1600, 1000, "dark")]:
        browser.resize(width, height, scheme)
        browser.open(page)
        browser.wait("document.querySelectorAll('.row:not([hidden])').length > 3")
        seen["overflow"][str(width)] = browser.run("document.documentElement.scrollWidth - innerWidth")
        # The rest is not there.
        seen["rows"][str(width)] = browser.run("document.querySelectorAll('.row').length < 60")
    # The keyboard alone: to the filter, a mistake, a filter, to the events.
    browser.press("/", "/")
    seen["focus"] = browser.run("document.activeElement.id")
    browser.type("topc == a")
    browser.wait("!document.getElementById('mistake').hidden")
    seen["mistake"] = text(browser, "#mistake")
    browser.run("document.getElementById('filter').select()")
    browser.type(expression)
    browser.wait("document.getElementById('mistake').hidden")
    browser.press("Enter", "\r")
    seen["count"] = text(browser, "#count")
    seen["frames"] = browser.run("""[...document.querySelectorAll('.row:not([hidden])')]
        .sort((one, other) => one.ariaRowIndex - other.ariaRowIndex)
        .map((row) => Number(row.querySelector('.frame').textContent))""")
    seen["focusBehindEnter"] = browser.run("document.activeElement.id")
    browser.press("j", "j")
    browser.press("ArrowDown")
    browser.press("k", "k")
    browser.press("j", "j")
    seen["selected"] = browser.run("page.chosen.indexOf(page.selected)")
    seen["selectedRow"] = browser.run("document.querySelectorAll('.row[aria-selected=true]').length")
    seen["active"] = browser.run("""document.getElementById(
        document.getElementById('events').getAttribute('aria-activedescendant')).getAttribute('aria-selected')""")
    browser.wait("location.hash.startsWith('#event=')")
    seen["hash"] = browser.run("location.hash")
    # A finding, by the mouse.
    browser.click("#to-findings")
    browser.click("#aside [data-finding]")
    seen["finding"] = text(browser, "#aside .finding .says")
    seen["clause"] = browser.run("document.querySelector('#aside .finding').getAttribute('aria-label')")
    seen["exchange"] = browser.run("[...document.querySelectorAll('#aside .links .link')].map((each) => each.title)")
    # A field shows its bytes.
    browser.run("document.querySelector('#aside .field[data-path=packetID]').focus()")
    seen["lit"] = browser.run("[...document.querySelectorAll('#aside .hex .lit')].map((each) => each.textContent.trim())")
    browser.wait("location.hash.startsWith(`#event=${page.selected.number}&`)")
    permalink = browser.run("location.hash")
    seen["link"] = browser.run("document.querySelector('#aside a').getAttribute('href')")
    browser.press("Escape")
    seen["closed"] = browser.run("document.querySelector('#aside .finding') === null")
    # A flag shows the byte that it is a bit of, and that byte its flags.
    browser.run("page.select(page.session.events.find(({ fields }) => fields.type === 'PUBLISH' && fields.qos === 2))")
    browser.run("document.querySelector('#aside .field[data-path=qos]').focus()")
    seen["flag"] = browser.run("[...document.querySelectorAll('#aside .hex .lit')].map((each) => each.textContent.trim())")
    # At once, as a layout that changes under the mouse marks what is there.
    seen["flags"] = browser.run(
        "page.detail.mark(document.querySelector('#aside .hex [data-path=type]')),"
        " [...document.querySelectorAll('#aside .field.lit')].map((each) => each.dataset.path).sort()"
    )
    # The permalink, in a document of its own.
    browser.open(page + permalink)
    seen["permalink"] = [permalink, text(browser, "#aside .finding .says")]
    # One of an event that the filter does not choose keeps both.
    browser.open(page + "#event=4&filter=PINGREQ&view=sequence")
    seen["beside"] = [text(browser, "#count"), browser.run("document.getElementById('filter').value"),
                      browser.run("page.selected.number"), browser.run("location.hash"),
                      text(browser, "#aside .finding .says")]
    browser.run("page.select(page.session.eventOf(5))")
    seen["beside"].append(browser.run("document.getElementById('filter').value"))
    # The selected event is in sight, by a permalink and behind a change of the view.
    seen["scrolled"] = []
    for view in ["&view=sequence", ""]:
        browser.open(page + "#event=48" + view)
        if not view:
            browser.press("s", "s")
        seen["scrolled"] += browser.run("""(() => {
            const { box } = page.sequence;
            const y = page.sequence.y(page.sequence.places.get(page.selected.index));
            return [page.selected.number, box.scrollTop > 0, y > SEQUENCE.head && y < box.clientHeight];
        })()""")
    browser.open(page + "#filter=PUBLISH&view=sequence")
    browser.wait("document.getElementById('sequence-canvas').width > 0")
    seen["sequence"] = [text(browser, "#count"), browser.run("document.getElementById('table-box').hidden")]
    # In the diagram, the first arrow below the names; in the timeline, the finding's mark.
    browser.call("Input.dispatchMouseEvent", type="mousePressed", button="left", clickCount=1, **place(
        browser, "sequence-canvas", "250", "45"))
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", button="left", clickCount=1, **place(
        browser, "sequence-canvas", "250", "45"))
    seen["arrow"] = browser.run("page.chosen.indexOf(page.selected)")
    browser.run("page.filter('')")
    browser.wait("page.timeline.drawn !== undefined")
    for kind in ["mousePressed", "mouseReleased"]:
        browser.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place(
            browser, "lanes-canvas", "page.timeline.x(session.places[0].since)", "26"))
    seen["mark"] = browser.run("page.selected === session.places[0]")
    # Twice closer is a quarter of the time, in the middle; the last one is three halves of it later.
    browser.click("#closer")
    browser.click("#closer")
    for _ in range(3):
        browser.click("#later")
    browser.click("#only-range")
    seen["range"] = [text(browser, "#count"), browser.run("document.getElementById('filter').value")]
    browser.run("page.filter('')")
    browser.run("""(() => {
        const choice = document.getElementById("connection");
        choice.selectedIndex = 2;
        choice.dispatchEvent(new Event("change"));
    })()""")
    seen["connection"] = [text(browser, "#connection option:checked"), text(browser, "#count")]
    browser.run("page.connection = ''; page.filter('PUBLISH')")
    browser.call("Page.printToPDF")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    seen["printed"] = browser.run("document.querySelectorAll('#print tbody tr').length")
    seen["console"] = browser.console
    print(json.dumps(seen))


def hostile(browser, page):
    browser.open(page)
    browser.run("window.hit = false")
    elements = browser.run("""(async () => {
        for (const view of ['table', 'sequence']) {
            page.showView(view);
            for (const event of session.events) {
                page.select(event, { opens: true });
                await new Promise((done) => requestAnimationFrame(done));
            }
        }
        page.detail.showOverview(true);
        dispatchEvent(new Event('beforeprint'));
        return document.querySelectorAll('img, iframe, svg, b').length;
    })()""")
    print(json.dumps({"elements": elements, "hit": browser.run("window.hit"), "console": browser.console,
                      "payloads": browser.run("session.events.map(({ fields }) => fields.payload?.utf8 ?? null)")}))


def field_bytes(browser, page):
    browser.open(page)
    print(json.dumps(browser.run("""(() => {
        const seen = { packets: 0, frames: 0, fields: 0, wrong: [] };
        const texts = new Set(['topic', 'clientID', 'will.topic', 'username', 'closeReason',
            'properties.contentType', 'properties.responseTopic', 'properties.reasonString']);
        const numbers = new Set(['packetID', 'keepAlive', 'closeCode', 'returnCode',
            'properties.sessionExpiryInterval', 'properties.receiveMaximum', 'properties.topicAlias']);
        const decode = (bytes) => new TextDecoder().decode(bytes);
        for (const event of session.events) {
            if (event.bytes === undefined) continue;
            const isFrame = event.fields.fin !== undefined;
            if (!isFrame && !event.fields.protocol.startsWith('mqtt')) continue;
            const { bytes, ranges } = bytesOf(event);
            const fail = (why) => seen.wrong.push(`${event.number} ${event.type}: ${why}`);
            seen[isFrame ? 'frames' : 'packets']++;
            let end = 0;
            for (const range of [...ranges].sort((one, other) => one.start - other.start)) {
                if (range.start > end) fail(`nothing from ${end} to ${range.start}`);
                end = Math.max(end, range.end);
            }
            // What is said of bits of a byte.
            for (const { also, start } of ranges) {
                for (const path of also) {
                    const value = path.split('.').reduce((inner, key) => inner?.[key], event.fields);
                    const byte = bytes[start];
                    const bits = {
                        dup: byte >> 3 & 1, qos: byte >> 1 & 3, retain: byte & 1,
                        'will.qos': byte >> 3 & 3, 'will.retain': byte >> 5 & 1,
                        fin: byte >> 7, rsv: byte >> 4 & 7, masked: byte >> 7,
                        noLocal: byte >> 2 & 1, retainAsPublished: byte >> 3 & 1,
                        retainHandling: byte >> 4 & 3,
                    }[path.startsWith('filters.') ? path.split('.')[2] : path];
                    if (value === undefined) continue;
                    seen.fields++;
                    if (Number(value) !== bits) fail(`${path} is ${bits}`);
                }
            }
            if (end !== bytes.length) fail(`it ends at ${end} of ${bytes.length}`);
            for (const { path, start, end } of ranges) {
                const value = path.split('.').reduce((inner, key) => inner?.[key], event.fields);
                // In front of a property stands its identifier, and the length in front of a text.
                const skipped = (path.startsWith('properties.') ? 1 : 0)
                    + (texts.has(path) && path !== 'closeReason' ? 2 : 0);
                const part = bytes.subarray(start + skipped, end);
                if (texts.has(path) || path.endsWith('.filter')) {
                    seen.fields++;
                    const text = decode(path.endsWith('.filter') ? part.subarray(2) : part);
                    if (text !== value) fail(`${path} is ${text}`);
                } else if (numbers.has(path)) {
                    seen.fields++;
                    const number = part.reduce((sum, byte) => sum * 256 + byte, 0);
                    if (number !== value) fail(`${path} is ${number}`);
                } else if (path === 'payload' && event.fields.compressed !== true) {
                    seen.fields++;
                    const isSame = value.utf8 !== undefined ? decode(part) === value.utf8
                        : btoa(String.fromCharCode(...part)) === value.base64;
                    if (!isSame) fail('another payload');
                }
            }
        }
        return seen;
    })()""")))


def links(browser, page):
    browser.open(page)
    print(json.dumps(browser.run("""(() => {
        const { links } = window.page;
        const numbers = (events) => events.map(({ number }) => number);
        const exchanges = new Set(links.exchanges.values());
        return {
            exchanges: [...exchanges].map(numbers).sort((one, other) => one[0] - other[0]),
            sources: session.events.map(({ index }) => links.sources.get(index)?.number ?? 0),
            deliveries: session.events.map(({ index }) => numbers(links.deliveries.get(index) ?? [])),
        };
    })()""")))


def counts(browser, page):
    browser.open(page)
    browser.click("#to-findings")
    print(json.dumps({
        "facts": text(browser, "#facts").split(";")[0], "button": text(browser, "#to-findings"),
        "heading": text(browser, "#aside h2"),
        "note": "the first are here" in (text(browser, "#aside .soft") or ""),
        "items": browser.run("document.querySelectorAll('#aside ol > li').length"),
        "stray": browser.run("document.querySelectorAll('#aside ol > :not(li)').length"),
        "console": browser.console,
    }))


if __name__ == "__main__":
    shown = Browser()
    try:
        {"filters": filters, "tour": tour, "hostile": hostile, "links": links,
         "bytes": field_bytes, "counts": counts}[sys.argv[1]](
            shown, "file://" + sys.argv[2], *sys.argv[3:])
    finally:
        shown.close()
