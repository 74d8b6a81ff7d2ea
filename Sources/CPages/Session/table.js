// The events as rows, of which only those that can be seen exist.

const REQUESTS = new Set([
  "CONNECT", "SUBSCRIBE", "UNSUBSCRIBE", "PINGREQ", "DISCONNECT", "AUTH", "UPGRADE", "REQUEST", "TEXT", "BINARY",
  "CONTINUATION", "PING",
]);
const QUIET = new Set(["OPEN", "CLOSE", "ATTEMPT", "TLS"]);

/** How an event is drawn: a class of style and a colour. */
function pictureOf(event) {
  if (event.hasFault) return { style: "faulty", color: "--fault" };
  if (event.type === "PUBLISH") return { style: "publish", color: "--publish" };
  if (REQUESTS.has(event.type)) return { style: "request", color: "--request" };
  return QUIET.has(event.type)
    ? { style: "quiet", color: "--other" } : { style: "answer", color: "--answer" };
}

/** The table. */
class Table {
  constructor(page) {
    this.page = page;
    this.box = byID("events");
    this.rows = byID("rows");
    this.pool = [];
    this.events = [];
    this.partners = new Set();
    this.selectedPlace = -1;
    [this.first, this.last] = [0, 0];
    byID("head").replaceChildren(...[
      "", "time (UTC)", "frame", "client", "", "type", "what",
    ].map((name) => element("span", {}, name)));
    this.box.addEventListener("scroll", () => this.draw(), { passive: true });
    this.rows.addEventListener("click", ({ target }) => {
      const row = target.closest(".row");
      if (row) page.select(this.events[row.place], { opens: true });
    });
    new ResizeObserver(() => this.resize()).observe(this.box);
  }

  /** The height of a row in pixels. */
  get rowHeight() {
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    return parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) * rem;
  }

  resize() {
    const wasSeen = this.isSeen(this.selectedPlace);
    this.height = this.rowHeight;
    this.rows.style.height = `${this.events.length * this.height}px`;
    if (wasSeen) this.bringIntoSight(this.selectedPlace);
    this.draw();
  }

  /** Whether a place was in sight when the rows were last drawn. */
  isSeen(place) { return place >= this.first && place < this.last; }

  bringIntoSight(place) {
    if (place < 0 || this.box.offsetParent === null) return;
    const top = place * this.height;
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop) this.box.scrollTop = top - this.height;
    else if (top + this.height > scrollTop + clientHeight) {
      this.box.scrollTop = top + 2 * this.height - clientHeight;
    }
  }

  /** Shows events. */
  show(events) {
    this.events = events;
    this.box.setAttribute("aria-rowcount", events.length);
    this.resize();
  }

  /** Draws the rows that can be seen, and a few more. */
  draw() {
    if (this.box.offsetParent === null) return;
    const { scrollTop, clientHeight } = this.box;
    const first = Math.max(0, Math.floor(scrollTop / this.height) - 4);
    const last = Math.min(this.events.length, Math.ceil((scrollTop + clientHeight) / this.height) + 4);
    [this.first, this.last] = [first, last];
    while (this.pool.length < last - first) this.pool.push(this.makeRow());
    this.pool.forEach((row, index) => {
      const place = first + index;
      row.hidden = place >= last;
      if (!row.hidden) this.fill(row, place);
    });
    const selected = this.pool.find((row) => !row.hidden && row.event === this.page.selected);
    if (selected) this.box.setAttribute("aria-activedescendant", selected.id);
    else this.box.removeAttribute("aria-activedescendant");
  }

  makeRow() {
    const names = ["flag", "time", "frame", "who", "way", "type", "text"];
    const cells = names.map((name) => element("span", { className: name, role: "gridcell" }));
    const row = element("div", { role: "row", id: `row-${this.pool.length}` }, ...cells);
    row.cells = cells;
    this.rows.append(row);
    return row;
  }

  fill(row, place) {
    const event = this.events[place];
    row.place = place;
    row.style.transform = `translateY(${place * this.height}px)`;
    row.ariaRowIndex = place + 1;
    row.ariaSelected = String(event === this.page.selected);
    const { style } = pictureOf(event);
    row.className = `row ${style}${event.findings.length > 0 ? " found" : ""}`
      + `${this.partners.has(event) ? " partner" : ""}`;
    if (row.event === event) return;
    row.event = event;
    const isFound = event.findings.length > 0;
    const [flag, time, frame, who, way, type, text] = row.cells;
    flag.textContent = isFound ? "▲" : event.hasFault ? "!" : "";
    flag.title = isFound ? counted(event.findings.length, "finding") : "";
    time.textContent = event.clock;
    frame.textContent = event.fields.frame;
    who.textContent = event.connection.name;
    who.title = `connection ${event.connection.number}`;
    way.textContent = event.fields.from === "client" ? "→" : "←";
    way.title = event.fields.from === "client" ? "from the client" : "from the server";
    type.textContent = event.type;
    text.textContent = event.text;
  }

  /** Marks what is linked with the selected event, and brings that into sight. */
  select(event, links) {
    this.partners = new Set(links);
    this.selectedPlace = event === undefined ? -1 : this.events.indexOf(event);
    this.bringIntoSight(this.selectedPlace);
    this.draw();
  }
}
