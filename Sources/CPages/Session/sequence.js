// What clients and servers said to each other: a line for each of them, an arrow for each event, and what it led to.

const SEQUENCE = { row: 26, head: 30, column: 190 };

/** The colours of the style, looked up when the scheme changes. */
const palette = {
  values: new Map(),
  /** How often the scheme changed. */
  scheme: 0,
  get(name) {
    let value = this.values.get(name);
    if (value === undefined) {
      value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      this.values.set(name, value);
    }
    return value;
  },
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  palette.values.clear();
  palette.scheme++;
});

/** Gives a canvas a size in pixels of the page, and returns what draws on it. */
function prepare(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [fineWidth, fineHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== fineWidth || canvas.height !== fineHeight) {
    canvas.width = fineWidth;
    canvas.height = fineHeight;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

/** A text, cut where it is wider than there is room. */
function fitted(pen, text, width) {
  if (width <= 8) return "";
  const most = Math.max(1, Math.floor(width / 5.2));
  let shown = text.length > most ? `${text.slice(0, most)}…` : text;
  while (shown.length > 2 && pen.measureText(shown).width > width) {
    shown = `${shown.slice(0, Math.floor(shown.length * 0.9) - 1)}…`;
  }
  return shown;
}

/** The diagram. */
class Sequence {
  constructor(page) {
    this.page = page;
    this.box = byID("sequence");
    this.canvas = byID("sequence-canvas");
    this.size = byID("sequence-size");
    this.events = [];
    this.places = new Map();
    this.columns = new Map();
    this.names = [];
    this.column = SEQUENCE.column;
    this.box.addEventListener("scroll", () => this.request(), { passive: true });
    this.canvas.addEventListener("click", (click) => {
      const row = Math.floor((click.offsetY - SEQUENCE.head + this.box.scrollTop) / SEQUENCE.row);
      if (click.offsetY > SEQUENCE.head && this.events[row]) {
        page.select(this.events[row], { opens: true });
      }
    });
    new ResizeObserver(() => this.request()).observe(this.box);
  }

  /** Shows events; a line stands where its end is first seen, servers in front. */
  show(events) {
    this.events = events;
    this.places = new Map(events.map((event, place) => [event.index, place]));
    const servers = new Map();
    const clients = new Map();
    for (const { connection } of events) {
      const server = connection.server ?? "server";
      if (!servers.has(server)) servers.set(server, servers.size);
      if (!clients.has(connection.key)) clients.set(connection.key, connection);
    }
    this.names = [...servers.keys()];
    this.columns = new Map();
    for (const connection of clients.values()) {
      const server = servers.get(connection.server ?? "server");
      this.columns.set(connection.key, { client: this.names.length, server });
      const number = connection.client === undefined ? "" : ` #${connection.number}`;
      this.names.push(`${connection.name}${number}`);
    }
    this.request();
  }

  /** Draws with the next frame of the screen. */
  request() {
    if (this.isRequested || this.box.hidden) return;
    this.isRequested = true;
    requestAnimationFrame(() => {
      this.isRequested = false;
      this.draw();
    });
  }

  /** The width of the times, with six digits of a second where there is room. */
  get times() { return this.isNarrow ? 104 : 128; }

  get isNarrow() { return this.box.clientWidth < 500; }

  x(column) { return this.times + (column + 0.5) * this.column - this.box.scrollLeft; }

  y(place) { return SEQUENCE.head + (place + 0.62) * SEQUENCE.row - this.box.scrollTop; }

  /** Takes the size of the box, gives what is scrolled in it its own, and returns what draws on the empty canvas. */
  measure() {
    const { clientWidth, clientHeight } = this.box;
    const room = (clientWidth - this.times) / Math.max(1, this.names.length);
    this.column = Math.max(Math.min(room, 420), this.isNarrow ? 130 : SEQUENCE.column);
    // The canvas itself takes its height of what is scrolled.
    const height = SEQUENCE.head + this.events.length * SEQUENCE.row + 12;
    this.size.style.height = `${Math.max(0, height - clientHeight)}px`;
    this.size.style.width = `${this.times + this.names.length * this.column}px`;
    return prepare(this.canvas, clientWidth, clientHeight);
  }

  draw() {
    const { clientWidth, clientHeight } = this.box;
    if (clientWidth === 0) return;
    const pen = this.measure();
    pen.font = "12px ui-monospace, monospace";
    pen.textBaseline = "middle";
    const first = Math.max(0, Math.floor(this.box.scrollTop / SEQUENCE.row) - 1);
    const last = Math.min(
      this.events.length, first + Math.ceil(clientHeight / SEQUENCE.row) + 2);
    this.drawLines(pen, clientWidth, clientHeight);
    this.drawMarks(pen, first, last, clientWidth);
    this.drawLinks(pen, first, last);
    for (let place = first; place < last; place++) this.drawEvent(pen, place);
    this.drawHead(pen, clientWidth);
    this.canvas.setAttribute(
      "aria-label", `Sequence diagram, ${counted(this.events.length, "event")} between `
        + `${this.names.slice(0, 12).join(", ")}; the table has the same events`);
  }

  drawLines(pen, width, height) {
    pen.strokeStyle = palette.get("--line");
    pen.lineWidth = 1;
    pen.beginPath();
    this.names.forEach((_, column) => {
      const x = Math.round(this.x(column)) + 0.5;
      if (x < this.times || x > width) return;
      pen.moveTo(x, SEQUENCE.head);
      pen.lineTo(x, height);
    });
    pen.stroke();
  }

  drawMarks(pen, first, last, width) {
    for (let place = first; place < last; place++) {
      const event = this.events[place];
      const color = this.markOf(event);
      if (color === undefined) continue;
      pen.fillStyle = palette.get(color);
      pen.fillRect(0, this.y(place) - 0.62 * SEQUENCE.row, width, SEQUENCE.row);
    }
  }

  /** The colour behind an event; undefined for none. */
  markOf(event) {
    const { selected, linked } = this.page;
    if (event === selected) return "--mark";
    if (linked.has(event)) return "--partner";
    return event.findings.length > 0 ? "--bad-bg" : undefined;
  }

  /** Draws what the events led to: thin for all that are seen, thick for the selected one. */
  drawLinks(pen, first, last) {
    const { links, selected } = this.page;
    const seen = this.events.slice(first, last);
    for (const event of seen) {
      const exchange = links.exchanges.get(event.index);
      const next = exchange?.[exchange.indexOf(event) + 1];
      if (next) this.drawLink(pen, event, next, false);
      const source = links.sources.get(event.index);
      if (source) this.drawLink(pen, source, event, false);
    }
    if (selected === undefined || !this.places.has(selected.index)) return;
    const exchange = links.exchanges.get(selected.index) ?? [];
    exchange.slice(1).forEach((next, index) => this.drawLink(pen, exchange[index], next, true));
    const source = links.sources.get(selected.index);
    if (source) this.drawLink(pen, source, selected, true);
    for (const next of links.deliveries.get(selected.index) ?? []) {
      this.drawLink(pen, selected, next, true);
    }
  }

  /** Draws from where one event ended to where another one began. */
  drawLink(pen, from, to, isThick) {
    const [start, end] = [this.places.get(from.index), this.places.get(to.index)];
    if (start === undefined || end === undefined) return;
    const [x1, y1, x2, y2] = [this.endX(from), this.y(start), this.startX(to), this.y(end)];
    const bend = Math.min(46, 10 + Math.abs(y2 - y1) / 3) * (x1 > this.x(0) ? 1 : -1);
    pen.strokeStyle = palette.get(isThick ? "--accent" : "--soft");
    pen.globalAlpha = isThick ? 1 : 0.4;
    pen.lineWidth = isThick ? 2 : 1;
    pen.setLineDash(isThick ? [] : [3, 3]);
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.bezierCurveTo(x1 + bend, y1, x2 + bend, y2, x2, y2);
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  startX(event) {
    const { client, server } = this.columns.get(event.connection.key);
    return this.x(event.fields.from === "client" ? client : server);
  }

  endX(event) {
    const { client, server } = this.columns.get(event.connection.key);
    return this.x(event.fields.from === "client" ? server : client);
  }

  drawEvent(pen, place) {
    const event = this.events[place];
    const y = this.y(place);
    const [from, to] = [this.startX(event), this.endX(event)];
    const color = palette.get(pictureOf(event).color);
    pen.strokeStyle = color;
    pen.fillStyle = color;
    pen.lineWidth = 1.25;
    const side = Math.sign(to - from);
    // The part that is seen: what is scrolled out of sight ends at its edge, with its head and its text there.
    const seen = (x) => Math.min(Math.max(x, this.times), this.box.clientWidth - 4);
    const [tail, head] = [seen(from), seen(to)];
    if (tail !== head) {
      pen.beginPath();
      pen.moveTo(tail, y);
      pen.lineTo(head - side * 5, y);
      pen.stroke();
      pen.beginPath();
      pen.moveTo(head, y);
      pen.lineTo(head - side * 7, y - 3.5);
      pen.lineTo(head - side * 7, y + 3.5);
      pen.fill();
      this.drawText(pen, event, Math.min(tail, head), y, Math.abs(head - tail));
    }
    // In front of all that is scrolled to the side.
    pen.fillStyle = palette.get(this.markOf(event) ?? "--bg");
    pen.fillRect(0, y - 0.62 * SEQUENCE.row, this.times - 6, SEQUENCE.row);
    pen.fillStyle = palette.get(event.findings.length > 0 ? "--bad" : "--soft");
    pen.textAlign = "left";
    const mark = event.findings.length > 0 ? "▲" : "";
    pen.fillText(`${mark}${event.clock.slice(0, this.isNarrow ? 12 : 15)}`, mark ? 1 : 8, y - 2);
  }

  drawText(pen, event, left, y, width) {
    const text = fitted(pen, `${event.type} ${event.text}`, width - 16);
    const wide = pen.measureText(text).width;
    pen.textAlign = "left";
    const color = pen.fillStyle;
    pen.fillStyle = palette.get("--bg");
    if (this.markOf(event) === undefined) pen.fillRect(left + 7, y - 14, wide + 2, 12);
    pen.fillStyle = color;
    pen.fillText(text, left + 8, y - 8);
  }

  drawHead(pen, width) {
    pen.fillStyle = palette.get("--raised");
    pen.fillRect(0, 0, width, SEQUENCE.head);
    pen.strokeStyle = palette.get("--line");
    pen.strokeRect(-1, -1, width + 2, SEQUENCE.head + 0.5);
    pen.fillStyle = palette.get("--fg");
    pen.textAlign = "center";
    this.names.forEach((name, column) => {
      const x = this.x(column);
      if (x < this.times || x > width + this.column / 2) return;
      pen.fillText(fitted(pen, name, this.column - 14), x, SEQUENCE.head / 2);
    });
    pen.textAlign = "left";
    pen.fillStyle = palette.get("--raised");
    pen.fillRect(0, 0, this.times - 6, SEQUENCE.head - 1);
    pen.fillStyle = palette.get("--soft");
    pen.fillText("time (UTC)", 8, SEQUENCE.head / 2);
  }

  /** Brings the selected event into sight. */
  select(event) {
    const place = event === undefined ? undefined : this.places.get(event.index);
    if (place !== undefined && !this.box.hidden) {
      // It may never have been drawn, and then there is nothing to scroll.
      this.measure();
      const top = place * SEQUENCE.row;
      const room = this.box.clientHeight - SEQUENCE.head - 2 * SEQUENCE.row;
      if (top < this.box.scrollTop) this.box.scrollTop = top - SEQUENCE.row;
      else if (top > this.box.scrollTop + room) this.box.scrollTop = top - room;
      // Its client, too, where there are more than the width has.
      const x = this.times + this.columns.get(event.connection.key).client * this.column;
      const isSeen = x >= this.box.scrollLeft
        && x + this.column <= this.box.scrollLeft + this.box.clientWidth;
      if (!isSeen) this.box.scrollLeft = Math.max(0, x + this.column - this.box.clientWidth);
    }
    this.request();
  }
}
