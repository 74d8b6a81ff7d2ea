// The side of the page: one event with its fields, bytes, links and findings; or what is to be said of all.

/** How many bytes are shown before it is asked for more. */
const MOST_BYTES = 2048;

/** An event as something to go to. */
function eventLink(page, event, ...lead) {
  const text = `${event.type} ${event.text}`;
  return element(
    "button", { type: "button", className: "link", title: text, onclick: () => page.select(event) },
    ...lead, element("code", {}, `${event.clock} #${event.connection.number} `), text);
}

/** The side of the page. */
class Detail {
  constructor(page) {
    this.page = page;
    this.box = byID("aside");
    this.box.addEventListener("mouseover", (event) => this.mark(event.target));
    this.box.addEventListener("focusin", (event) => this.mark(event.target));
    this.box.addEventListener("mouseleave", () => this.mark(null));
  }

  /** Shows what is to be said of the whole session. */
  showOverview(isOpen = false) {
    const { session } = this.page;
    const close = element(
      "button", { type: "button", className: "close", onclick: () => this.close() }, "Close");
    this.box.replaceChildren(
      close, this.findings(session), element("h3", {}, "Keys"), this.keys());
    this.box.className = isOpen ? "overview open" : "overview";
    this.box.scrollTop = 0;
    if (isOpen) this.box.focus();
  }

  /** Shows an event. */
  show(event, isOpen = false) {
    const { fields, connection } = event;
    const way = fields.from === "client" ? "client → server" : "server → client";
    const close = element("button", {
      type: "button", className: "close", onclick: () => this.close(),
    }, "Close");
    const permalink = element("a", { href: `#event=${event.number}` }, `event ${event.number}`);
    this.box.replaceChildren(
      close,
      element("h2", { className: pictureOf(event).style }, element("span", { className: "type" }, event.type)),
      element("p", { className: "lead soft" },
        way, element("span", {}, `connection ${connection.place.slice(1)}, ${connection.name}`),
        element("span", {}, `frame ${fields.frame}`), element("code", {}, fields.time), permalink),
      ...event.findings.map((number) => this.finding(session_finding(this.page, number))),
      ...this.linked(event), element("h3", {}, "Fields"), this.fields(fields, ""),
      ...this.bytes(event));
    this.box.className = isOpen || this.box.classList.contains("open") ? "open" : "";
    this.box.scrollTop = 0;
  }

  close() {
    this.box.classList.remove("open");
    this.showOverview();
    this.page.focusEvents();
  }

  // MARK: Findings

  findings(session) {
    const { findings } = session;
    if (findings.length === 0) {
      return element("div", {}, element("h2", {}, "Findings"),
        element("p", { className: "soft" }, session.facts.total === 0
          ? "There was nothing to judge: no MQTT and no WebSocket was found."
          : "No clause of MQTT or WebSocket was found violated."));
    }
    const box = element("div", {}, element("h2", {}, session.findingCount));
    if (session.facts.untoldFindings > 0) {
      box.append(element("p", { className: "soft" },
        "Of a clause with more findings the first are here; reprise conform trace counts all."));
    }
    let [last, list] = [];
    findings.forEach((finding, number) => {
      const key = `${finding.spec} ${finding.clause}`;
      if (key !== last) {
        list = element("ol");
        box.append(element("h3", {}, `${finding.clause} (${finding.spec}, ${finding.level})`),
          element("p", {}, finding.says), list);
      }
      last = key;
      list.append(element("li", {}, this.findingLink(finding, number)));
    });
    return box;
  }

  findingLink(finding, number) {
    const event = this.page.session.places[number];
    if (event === undefined) {
      const where = finding.frame > 0
        ? `frame ${finding.frame}, connection ${finding.connection}: not on this page` : "no frame";
      return element("p", { className: "soft" }, `${finding.message} (${where})`);
    }
    return element("button", {
      type: "button", className: "link wrap", "data-finding": String(number),
      onclick: () => this.page.select(event, { opens: true }),
    }, element("code", {}, `${event.clock} ${event.connection.place} `), finding.message);
  }

  finding(finding) {
    const list = element("dl", {},
      element("dt", {}, "expected"), element("dd", {}, finding.expected),
      element("dt", {}, "actual"), element("dd", {}, element("code", {}, finding.actual)));
    for (const { frame, connection, role } of finding.evidence ?? []) {
      const event = this.page.session.eventAt(finding.file, connection, frame, role);
      list.append(element("dt", {}, "rests on"), element("dd", {}, event
        ? eventLink(this.page, event, `${role}: `)
        : `frame ${frame}, connection ${connection}: ${role}`));
    }
    if (finding.sameCauseAs) {
      list.append(element("dt", {}, "same cause"), element("dd", {}, `as ${finding.sameCauseAs}`));
    }
    return element("section", { className: "finding", "aria-label": `Finding ${finding.clause}` },
      element("p", {}, `${finding.clause}, section ${finding.section}, ${finding.level}: `
        + finding.verdict),
      element("p", { className: "says" }, finding.says),
      element("p", {}, finding.message), list);
  }

  // MARK: Links

  linked(event) {
    const { links } = this.page;
    const parts = [];
    const add = (title, events) => {
      if (events.length === 0) return;
      const shown = events.slice(0, 100);
      const items = shown.map((other) => element("li", {},
        eventLink(this.page, other, element("span", { className: "soft" },
          `${other.since < event.since ? "−" : "+"}${durationText(Math.abs(other.since - event.since))} `))));
      const more = events.length - shown.length;
      if (more > 0) items.push(element("li", { className: "soft" }, `and ${grouped(more)} more`));
      parts.push(element("h3", {}, title), element("ul", { className: "links" }, ...items));
    };
    add("Same exchange", links.partners(event));
    const source = links.sources.get(event.index);
    add("Published by", source ? [source] : []);
    add("Delivered to", links.deliveries.get(event.index) ?? []);
    return parts;
  }

  // MARK: Fields and bytes

  fields(value, path) {
    const list = element("div", { className: "fields" });
    for (const [key, inner] of Object.entries(value)) {
      const way = path === "" ? key : `${path}.${key}`;
      // What the bytes below show.
      if (path === "" && key === "bytes" && typeof inner === "string") continue;
      const isPayload = inner !== null && typeof inner === "object"
        && (inner.utf8 !== undefined || inner.base64 !== undefined) && Object.keys(inner).length === 1;
      if (isPayload) {
        list.append(this.field(key, way, readable(inner)));
      } else if (inner !== null && typeof inner === "object") {
        list.append(this.field(key, way, ""), this.fields(inner, way));
      } else {
        list.append(this.field(key, way, String(inner)));
      }
    }
    return list;
  }

  field(key, path, text) {
    return element("div", { className: "field", "data-path": path },
      element("span", { className: "soft" }, key), element("span", {}, text));
  }

  bytes(event) {
    const known = bytesOf(event);
    if (known === undefined) {
      const isPacket = event.fields.length !== undefined;
      return isPacket && event.bytes === undefined ? [element("h3", {}, "Bytes"), element(
        "p", { className: "soft" },
        "Withheld, as they would tell what the fields hide; made with --show-secrets, the page has them.",
      )] : [];
    }
    const { bytes, ranges, note } = known;
    const notes = [counted(bytes.length, "byte"), note];
    if (event.cut > 0) notes.push(`${grouped(event.cut)} more are left out`);
    const dump = element("pre", { className: "hex", tabIndex: 0, "aria-label": "Bytes" });
    fillDump(dump, bytes.subarray(0, MOST_BYTES), ranges);
    const parts = [
      element("h3", {}, "Bytes ", element("span", { className: "soft" },
        notes.filter((each) => each !== undefined).join(", "))), dump,
    ];
    if (bytes.length > MOST_BYTES) {
      const all = element("button", { type: "button" }, `Show all ${grouped(bytes.length)} bytes`);
      all.onclick = () => {
        fillDump(dump, bytes, ranges);
        all.remove();
      };
      parts.push(all);
    }
    this.link(ranges);
    return parts;
  }

  /** Lets the keyboard reach those fields whose bytes are known. */
  link(ranges) {
    const paths = new Set(ranges.flatMap(({ path, also }) => [path, ...also]));
    queueMicrotask(() => {
      for (const field of this.box.querySelectorAll(".field")) {
        if (paths.has(field.dataset.path)) field.tabIndex = 0;
      }
    });
  }

  /** Marks a field and its bytes, whichever of them is pointed at, or else has the focus. */
  mark(target) {
    const part = target?.closest?.("[data-path]")
      ?? document.activeElement?.closest("#aside [data-path]");
    for (const lit of this.box.querySelectorAll(".lit")) lit.classList.remove("lit");
    if (part?.dataset.path === undefined) return;
    // A byte has the flags beside it, and a flag its byte.
    const paths = [part.dataset.path, ...(part.dataset.also ?? "").split(" ").filter((path) => path !== "")];
    for (const path of paths) {
      const name = CSS.escape(path);
      for (const each of this.box.querySelectorAll(`[data-path="${name}"], [data-also~="${name}"]`)) {
        each.classList.add("lit");
      }
    }
  }

  keys() {
    const keys = [
      ["j k ↓ ↑", "next, previous event"], ["n p", "next, previous event with a finding"],
      ["Enter", "details"], ["Escape", "back"], ["/", "filter"], ["s", "table or sequence"],
      ["f", "findings"],
    ];
    return element("dl", { className: "facts" }, ...keys.flatMap(([names, text]) => [
      element("dt", {}, ...names.split(" ").map((name) => element("kbd", {}, name))),
      element("dd", {}, text),
    ]));
  }
}

const session_finding = (page, number) => page.session.findings[number];

/** A payload for people: JSON with its structure, other text as it is, what is no text in hexadecimal. */
function readable(payload) {
  if (payload.base64 !== undefined) {
    const bytes = bytesOfBase64(payload.base64);
    const digits = Array.from(bytes.subarray(0, 64), (byte) => byte.toString(16).padStart(2, "0"));
    return `0x${digits.join("")}${bytes.length > 64 ? "…" : ""}`;
  }
  const text = payload.utf8.length > 20_000 ? `${payload.utf8.slice(0, 20_000)}…` : payload.utf8;
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Fills a dump: rows of places, bytes in hexadecimal and as text, each with the field it belongs to. */
function fillDump(dump, bytes, ranges) {
  // Seventy characters have to fit.
  const width = byID("aside").clientWidth < 600 ? 8 : 16;
  const owner = new Int32Array(bytes.length).fill(-1);
  // The later is the narrower where they overlap.
  ranges.forEach(({ start, end }, index) => owner.fill(index, start, end));
  const rows = document.createDocumentFragment();
  for (let start = 0; start < bytes.length; start += width) {
    const row = bytes.subarray(start, start + width);
    const padding = "   ".repeat(width - row.length);
    const hex = runs(row, start, owner, ranges, (byte) => `${byte.toString(16).padStart(2, "0")} `);
    const text = runs(row, start, owner, ranges, (byte) => (
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·"));
    rows.append(
      element("span", { className: "at" }, start.toString(16).padStart(4, "0")), "  ", ...hex,
      `${padding} `, ...text, "\n");
  }
  dump.replaceChildren(rows);
}

function runs(row, start, owner, ranges, text) {
  const parts = [];
  for (let index = 0; index < row.length;) {
    const range = owner[start + index];
    let run = "";
    while (index < row.length && owner[start + index] === range) run += text(row[index++]);
    if (range < 0) {
      parts.push(run);
      continue;
    }
    const { path, also } = ranges[range];
    const others = also.length > 0 ? { "data-also": also.join(" ") } : {};
    parts.push(element(
      "span", { "data-path": path, ...others, "data-shade": String(range % 2) }, run));
  }
  return parts;
}
