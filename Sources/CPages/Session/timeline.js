// The events over time, in a lane for each client, topic or type.

const LANE = { height: 16, axis: 18, most: 200, least: 1_000 };
const STEPS = [
  1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 2e7, 5e7, 1e8, 2e8, 5e8, 1e9, 2e9, 5e9,
  1e10, 3e10, 6e10, 3e11, 6e11, 1.8e12, 3.6e12, 1.08e13, 2.16e13, 8.64e13, 6.048e14, 2.592e15, 3.1536e16,
];

/** The timeline; its times are nanoseconds since the first event of the page. */
class Timeline {
  constructor(page) {
    this.page = page;
    this.box = byID("timeline");
    this.canvas = byID("lanes-canvas");
    this.choice = byID("lanes");
    this.picture = document.createElement("canvas");
    this.events = [];
    this.lanes = [];
    this.reset();
    if (window.innerWidth < 640) this.box.open = false;
    this.choice.addEventListener("change", () => this.show(this.events));
    this.box.addEventListener("toggle", () => this.request());
    const tools = {
      earlier: () => this.pan(-0.5), later: () => this.pan(0.5), closer: () => this.zoom(0.5),
      farther: () => this.zoom(2), whole: () => this.setRange(...this.bounds),
      "only-range": () => this.filterToRange(),
    };
    for (const [id, action] of Object.entries(tools)) byID(id).addEventListener("click", action);
    this.listen();
    new ResizeObserver(() => this.request()).observe(byID("lanes-box"));
  }

  get bounds() { return [0, Math.max(LANE.least, this.page.session.length)]; }

  reset() { [this.from, this.to] = this.bounds; }

  setRange(from, to) {
    const [least, most] = this.bounds;
    const length = Math.min(Math.max(LANE.least, to - from), most - least);
    this.from = Math.min(Math.max(least, from), most - length);
    this.to = this.from + length;
    this.request();
  }

  pan(part) {
    const step = (this.to - this.from) * part;
    this.setRange(this.from + step, this.to + step);
  }

  /** Zooms around a place, which is a part of the width. */
  zoom(factor, part = 0.5) {
    const length = (this.to - this.from) * factor;
    const center = this.from + (this.to - this.from) * part;
    this.setRange(center - length * part, center + length * (1 - part));
  }

  filterToRange() {
    const moment = (since) => timeText(this.page.session.start + BigInt(Math.round(since)));
    this.page.addCondition(`time >= ${moment(this.from)} and time <= ${moment(this.to)}`);
  }

  /** Shows events, the lanes with the most of them first. */
  show(events) {
    this.events = events;
    this.drawn = undefined;
    const nameOf = {
      client: (event) => event.connection.name,
      topic: ({ topic, type }) => (
        topic !== undefined ? visible(topic) : type === "PUBLISH" ? "?" : "(no topic)"),
      type: (event) => event.type,
    }[this.choice.value];
    const counts = new Map();
    const names = events.map((event) => {
      const name = nameOf(event);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return name;
    });
    const sorted = [...counts.keys()].sort((one, other) => counts.get(other) - counts.get(one));
    this.lanes = sorted.slice(0, LANE.most);
    if (sorted.length > LANE.most) this.lanes[LANE.most - 1] = "(all others)";
    const places = new Map(this.lanes.map((name, lane) => [name, lane]));
    this.laneOf = Uint16Array.from(names, (name) => places.get(name) ?? LANE.most - 1);
    this.request();
  }

  request() {
    if (this.isRequested || !this.box.open) return;
    this.isRequested = true;
    requestAnimationFrame(() => {
      this.isRequested = false;
      this.draw();
    });
  }

  get left() { return this.width < 520 ? 84 : 150; }

  x(since) {
    return this.left + (since - this.from) / (this.to - this.from) * (this.width - this.left - 8);
  }

  /** The time at a place on the canvas. */
  sinceAt(x) {
    const part = (x - this.left) / (this.width - this.left - 8);
    return this.from + Math.min(1, Math.max(0, part)) * (this.to - this.from);
  }

  draw() {
    this.width = byID("lanes-box").clientWidth;
    if (this.width === 0) return;
    const height = LANE.axis + Math.max(1, this.lanes.length) * LANE.height;
    const shown = [this.from, this.to, this.width, height, window.devicePixelRatio, palette.scheme];
    if (shown.some((value, index) => value !== this.drawn?.[index])) {
      this.drawn = shown;
      this.drawAll(prepare(this.picture, this.width, height), height);
    }
    const pen = prepare(this.canvas, this.width, height);
    if (this.picture.width > 0) pen.drawImage(this.picture, 0, 0, this.width, height);
    this.drawSelection(pen, height);
  }

  /** Draws all that stays when another event is selected. */
  drawAll(pen, height) {
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    this.drawAxis(pen, height);
    this.lanes.forEach((name, lane) => {
      const y = LANE.axis + lane * LANE.height;
      pen.fillStyle = palette.get(lane % 2 ? "--bg" : "--raised");
      pen.fillRect(0, y, this.left - 4, LANE.height);
      pen.fillStyle = palette.get("--soft");
      pen.fillText(fitted(pen, name, this.left - 14), 6, y + LANE.height / 2);
    });
    this.drawEvents(pen);
    byID("range").textContent = this.to - this.from >= this.bounds[1]
      ? `${durationText(this.page.session.length)} in all`
      : `${durationText(this.to - this.from)} from +${durationText(this.from)}`;
    this.canvas.setAttribute(
      "aria-label", `Timeline, ${counted(this.events.length, "event")} in ${counted(this.lanes.length, "lane")}`);
  }

  drawAxis(pen, height) {
    const most = Math.max(2, Math.floor((this.width - this.left) / 110));
    const step = STEPS.find((each) => (this.to - this.from) / each <= most) ?? STEPS.at(-1);
    const start = Number(this.page.session.start % BigInt(step));
    pen.strokeStyle = palette.get("--line");
    pen.fillStyle = palette.get("--soft");
    const first = Math.ceil((this.from + start) / step);
    for (let tick = first; tick * step - start <= this.to; tick++) {
      const since = tick * step - start;
      const x = Math.round(this.x(since)) + 0.5;
      pen.beginPath();
      pen.moveTo(x, LANE.axis - 4);
      pen.lineTo(x, height);
      pen.stroke();
      const text = timeText(this.page.session.start + BigInt(Math.round(since)));
      const shown = step >= 8.64e13 ? text.slice(0, 10) : step >= 1e9 ? text.slice(11, 19)
        : text.slice(11, step >= 1e6 ? 23 : 26);
      if (x + 70 < this.width) pen.fillText(shown, x + 3, LANE.axis / 2 - 1);
    }
  }

  /** Draws at most one stroke a pixel of a lane; what is wrong is drawn last. */
  drawEvents(pen) {
    const columns = Math.ceil(this.width) + 1;
    const taken = new Uint8Array(columns * (this.lanes.length + 1));
    const marks = [];
    for (let index = 0; index < this.events.length; index++) {
      const event = this.events[index];
      if (event.since < this.from || event.since > this.to) continue;
      const x = Math.round(this.x(event.since));
      const lane = this.laneOf[index];
      if (event.hasFault || event.findings.length > 0) marks.push([x, lane, event]);
      const cell = lane * columns + x;
      if (taken[cell]) continue;
      taken[cell] = 1;
      pen.fillStyle = palette.get(pictureOf(event).color);
      pen.fillRect(x, LANE.axis + lane * LANE.height + 3, 1.5, LANE.height - 6);
    }
    pen.fillStyle = palette.get("--bad");
    for (const [x, lane, event] of marks) {
      const y = LANE.axis + lane * LANE.height;
      if (event.findings.length === 0) {
        pen.fillRect(x - 0.5, y + 2, 2, LANE.height - 4);
        continue;
      }
      pen.beginPath();
      pen.moveTo(x, y + 2);
      pen.lineTo(x - 5, y + LANE.height - 3);
      pen.lineTo(x + 5, y + LANE.height - 3);
      pen.fill();
    }
  }

  drawSelection(pen, height) {
    const { selected } = this.page;
    if (this.drag && this.drag.x !== this.drag.start) {
      pen.globalAlpha = 0.25;
      pen.fillStyle = palette.get("--accent");
      pen.fillRect(this.drag.start, 0, this.drag.x - this.drag.start, height);
      pen.globalAlpha = 1;
    }
    if (selected === undefined) return;
    const x = Math.round(this.x(selected.since)) + 0.5;
    if (x < this.left || x > this.width) return;
    pen.strokeStyle = palette.get("--accent");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x, 0);
    pen.lineTo(x, height);
    pen.stroke();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (wheel) => {
      if (wheel.offsetX < this.left) return;
      wheel.preventDefault();
      const part = (wheel.offsetX - this.left) / (this.width - this.left - 8);
      if (wheel.shiftKey || Math.abs(wheel.deltaX) > Math.abs(wheel.deltaY)) {
        this.pan((wheel.deltaX || wheel.deltaY) / 1000);
      } else {
        this.zoom(Math.exp(wheel.deltaY / 400), Math.min(1, Math.max(0, part)));
      }
    }, { passive: false });
    canvas.addEventListener("pointerdown", (pointer) => {
      canvas.setPointerCapture(pointer.pointerId);
      this.drag = { start: pointer.offsetX, x: pointer.offsetX };
    });
    canvas.addEventListener("pointermove", (pointer) => {
      if (!this.drag) return;
      this.drag.x = pointer.offsetX;
      this.request();
    });
    canvas.addEventListener("pointercancel", () => { this.drag = undefined; });
    canvas.addEventListener("pointerup", (pointer) => {
      const drag = this.drag;
      this.drag = undefined;
      if (!drag) return;
      if (Math.abs(drag.x - drag.start) > 5) {
        const [from, to] = [drag.start, drag.x].map((x) => this.sinceAt(x)).sort((a, b) => a - b);
        this.setRange(from, to);
      } else {
        this.pick(pointer.offsetX, pointer.offsetY);
      }
    });
    canvas.addEventListener("dblclick", () => this.setRange(...this.bounds));
  }

  /** Selects the event of a lane that is nearest to a place. */
  pick(x, y) {
    const lane = Math.floor((y - LANE.axis) / LANE.height);
    let [best, least] = [undefined, 9];
    this.events.forEach((event, index) => {
      if (this.laneOf[index] !== lane) return;
      const distance = Math.abs(this.x(event.since) - x) - (event.findings.length > 0 ? 3 : 0);
      if (distance < least) [best, least] = [event, distance];
    });
    if (best) this.page.select(best, { opens: true });
  }
}

/** A moment in nanoseconds as the filter language writes it. */
function timeText(moment) {
  const milliseconds = moment / 1_000_000n - (moment < 0n ? 1n : 0n);
  const rest = moment - milliseconds * 1_000_000n;
  const text = new Date(Number(milliseconds)).toISOString().slice(0, -1);
  return `${text}${String(rest).padStart(6, "0")}`.replace(/000$/, "") + "Z";
}
