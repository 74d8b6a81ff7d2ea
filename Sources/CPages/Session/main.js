// The page: what is chosen and selected, and how the parts hear of it.

class Page {
  constructor(session) {
    this.session = session;
    this.links = new Links(session.events);
    this.expression = "";
    /** The events that the filter and the connection choose. */
    this.chosen = session.events;
    this.selected = undefined;
    this.linked = new Set();
    this.connection = "";
    this.view = "table";
    this.detail = new Detail(this);
    this.table = new Table(this);
    this.sequence = new Sequence(this);
    this.timeline = new Timeline(this);
    this.parts = [this.table, this.sequence, this.timeline];
    this.describe();
    this.listen();
    printing(this);
    this.detail.showOverview();
    this.restore();
  }

  describe() {
    const { files, facts, connections, findings, omission } = this.session;
    const names = files.map(({ name }) => name.slice(name.lastIndexOf("/") + 1));
    const title = names.length > 3 ? `${names[0]} and ${names.length - 1} more` : names.join(", ");
    document.title = `${title}: session`;
    byID("title").textContent = title;
    byID("facts").textContent = `${this.session.eventCount}, `
      + `${counted(connections.size, "connection")}, ${durationText(this.session.length)}; `
      + `made by reprise ${facts.version}`;
    byID("omission").textContent = omission ?? "";
    byID("omission").hidden = omission === undefined;
    const button = byID("to-findings");
    button.textContent = this.session.findingCount;
    button.classList.toggle("bad", findings.length > 0);
    const choice = byID("connection");
    choice.append(element("option", { value: "" }, "All connections"));
    const several = files.length > 1;
    for (const { key, number, client, file, events } of [...connections.values()].slice(0, 5000)) {
      const name = client === undefined ? "" : ` ${visible(client) || '""'}`;
      choice.append(element("option", { value: key },
        `#${number}${name}${several ? `, ${file.name}` : ""} (${grouped(events.length)})`));
    }
  }

  // MARK: What is chosen

  /** Chooses by an expression; where that can't be understood, the choice stays and the mistake is shown. */
  filter(expression) {
    const field = byID("filter");
    const mistake = byID("mistake");
    if (field.value !== expression) field.value = expression;
    try {
      const matching = this.session.matching(expression);
      this.expression = expression.trim();
      this.matching = matching;
      field.removeAttribute("aria-invalid");
      mistake.hidden = true;
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      field.setAttribute("aria-invalid", "true");
      mistake.textContent = `${expression}\n${" ".repeat(error.column - 1)}^ ${error.message}`;
      mistake.hidden = false;
      return;
    }
    this.showChosen();
  }

  showChosen() {
    const key = this.connection;
    this.chosen = key === "" ? this.matching
      : this.matching.filter(({ connection }) => connection.key === key);
    byID("count").textContent = `${grouped(this.chosen.length)} of `
      + counted(this.session.events.length, "event");
    for (const part of this.parts) part.show(this.chosen);
    for (const part of [this.table, this.sequence]) part.select(this.selected, [...this.linked]);
    this.remember();
  }

  /** Lets a condition hold, too. */
  addCondition(text) {
    this.filter(this.expression === "" ? text : `(${this.expression}) and ${text}`);
  }

  /** Selects an event; one that is not chosen is so by taking the filter away, unless the choice is to stay. */
  select(event, { opens = false, keepsChoice = false } = {}) {
    this.selected = event;
    this.linked = new Set(event ? this.links.all(event) : []);
    if (event && !keepsChoice && !this.chosen.includes(event)) {
      this.connection = byID("connection").value = "";
      this.filter("");
    }
    if (event) this.detail.show(event, opens);
    for (const part of [this.table, this.sequence]) part.select(event, [...this.linked]);
    this.timeline.request();
    this.remember();
  }

  /** Selects the next event in a direction that meets a condition. */
  step(by, isWanted = () => true) {
    let place = this.selected ? this.chosen.indexOf(this.selected) + by : by > 0 ? 0 : this.chosen.length - 1;
    while (this.chosen[place] && !isWanted(this.chosen[place])) place += by;
    if (this.chosen[place]) this.select(this.chosen[place]);
  }

  showView(view) {
    this.view = view;
    byID("table-box").hidden = view !== "table";
    byID("sequence").hidden = view !== "sequence";
    byID("as-table").setAttribute("aria-pressed", String(view === "table"));
    byID("as-sequence").setAttribute("aria-pressed", String(view === "sequence"));
    for (const part of [this.table, this.sequence]) part.select(this.selected, [...this.linked]);
    this.table.resize();
    this.remember();
  }

  focusEvents() { byID(this.view === "table" ? "events" : "sequence").focus(); }

  // MARK: The address

  /** Writes what is shown into the address, so that it can be sent to someone; not at every key that is held down. */
  remember() {
    if (this.isRestoring) return;
    clearTimeout(this.remembering);
    this.remembering = setTimeout(() => this.writeAddress(), 150);
  }

  writeAddress() {
    const parts = new URLSearchParams();
    if (this.selected) parts.set("event", this.selected.number);
    if (this.expression) parts.set("filter", this.expression);
    if (this.connection) parts.set("connection", this.connection);
    if (this.view !== "table") parts.set("view", this.view);
    const hash = parts.toString();
    if (`#${hash}` !== location.hash && (hash !== "" || location.hash !== "")) {
      history.replaceState(null, "", hash === "" ? location.pathname + location.search : `#${hash}`);
    }
  }

  /** Shows what the address says. */
  restore() {
    clearTimeout(this.remembering);
    const parts = new URLSearchParams(location.hash.slice(1));
    this.isRestoring = true;
    const connection = parts.get("connection") ?? "";
    this.connection = this.session.connections.has(connection) ? connection : "";
    byID("connection").value = this.connection;
    this.matching ??= this.session.events;
    this.showView(parts.get("view") === "sequence" ? "sequence" : "table");
    this.filter(parts.get("filter") ?? "");
    // One that can't be understood changes nothing.
    if (byID("filter").getAttribute("aria-invalid")) this.showChosen();
    const event = this.session.eventOf(Number(parts.get("event")));
    if (event) this.select(event, { opens: true, keepsChoice: true });
    this.isRestoring = false;
  }

  // MARK: What the user does

  listen() {
    const field = byID("filter");
    let timer;
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.filter(field.value), 120);
    });
    byID("bar").addEventListener("submit", (submit) => {
      submit.preventDefault();
      this.filter(field.value);
      this.focusEvents();
    });
    byID("connection").addEventListener("change", ({ target }) => {
      this.connection = target.value;
      this.showChosen();
    });
    byID("as-table").addEventListener("click", () => this.showView("table"));
    byID("as-sequence").addEventListener("click", () => this.showView("sequence"));
    byID("to-findings").addEventListener("click", () => this.detail.showOverview(true));
    byID("skip").addEventListener("click", (click) => {
      click.preventDefault();
      this.focusEvents();
    });
    window.addEventListener("hashchange", () => this.restore());
    window.addEventListener("keydown", (key) => this.press(key));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.sequence.request();
      this.timeline.request();
    });
  }

  press(key) {
    if (key.ctrlKey || key.metaKey || key.altKey) return;
    const isTyping = key.target.matches?.("input, select, textarea");
    if (key.key === "Escape") {
      if (isTyping) this.focusEvents();
      else this.detail.close();
      return;
    }
    if (isTyping) return;
    const isOnButton = key.target.matches?.("button, a, summary");
    const page = Math.max(1, Math.floor(byID("events").clientHeight / this.table.rowHeight) - 1);
    const actions = {
      j: () => this.step(1), ArrowDown: () => this.step(1), k: () => this.step(-1),
      ArrowUp: () => this.step(-1), PageDown: () => this.leap(page), PageUp: () => this.leap(-page),
      Home: () => this.leap(-Infinity), End: () => this.leap(Infinity),
      n: () => this.step(1, ({ findings }) => findings.length > 0),
      p: () => this.step(-1, ({ findings }) => findings.length > 0),
      "/": () => byID("filter").focus(), f: () => this.detail.showOverview(true),
      s: () => this.showView(this.view === "table" ? "sequence" : "table"),
    };
    if (key.key === "Enter" && !isOnButton && this.selected) {
      this.detail.show(this.selected, true);
      byID("aside").focus();
    } else if (Object.hasOwn(actions, key.key)) {
      // Inside of the details, the keys of places scroll.
      if (key.key.length > 1 && byID("aside").contains(key.target)) return;
      actions[key.key]();
    } else {
      return;
    }
    key.preventDefault();
  }

  leap(by) {
    const place = this.selected ? this.chosen.indexOf(this.selected) : 0;
    const next = Math.min(this.chosen.length - 1, Math.max(0, place + by));
    if (this.chosen[next]) this.select(this.chosen[next]);
  }
}

/** For the console of a browser: `session.matching("PUBLISH and qos > 0")` are the events of a filter. */
window.session = new Session(readBlock("events-data"), readBlock("session-data"));
window.page = new Page(window.session);
