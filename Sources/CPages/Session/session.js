// The session: the events that the page has, the connections, and what is chosen of them.

/** An event of the page; its fields are those of inspect --format jsonl. */
class SessionEvent {
  constructor(index, record, context, file) {
    const [number, fields, line, , fault, bytes, rest] = record;
    this.index = index;
    this.number = number;
    this.fields = fields;
    this.line = line;
    this.context = context;
    this.file = file;
    this.hasFault = fault === 1;
    this.bytes = bytes === 0 ? undefined : bytes;
    this.cut = rest?.cut ?? 0;
    this.findings = rest?.findings ?? [];
    this.alias = rest?.topic;
    /** What tells a request over WebSocket from others, in it and in its answer. */
    this.asks = rest?.asks;
    this.answers = rest?.answers;
    this.time = 0n;
    /** Nanoseconds since the first event of the page. */
    this.since = 0;
    this.json = undefined;
    this.connection = undefined;
  }

  get type() { return this.fields.type; }

  /** What the line says behind the type. */
  get text() { return this.line.slice(this.type.length).trim(); }

  /** The topic of a PUBLISH, also behind an alias; undefined where it is not known. */
  get topic() {
    if (this.type !== "PUBLISH") return undefined;
    if (this.fields.topic !== "") return this.fields.topic;
    return this.fields.properties?.topicAlias === undefined ? "" : this.alias;
  }

  /** The time of day, with six digits of a second or nine. */
  get clock() { return this.fields.time.slice(11, -1); }
}

/** Reads a block of the page and gives its memory back. */
function readBlock(id) {
  const block = byID(id);
  const value = JSON.parse(block.textContent);
  block.remove();
  return value;
}

/** The moment of a text that is one, in nanoseconds; seconds are looked up once. */
function readMoment(text, seconds) {
  const second = text.slice(0, 19);
  let nanoseconds = seconds.get(second);
  if (nanoseconds === undefined) {
    nanoseconds = BigInt(Date.parse(`${second}Z`)) * 1_000_000n;
    seconds.set(second, nanoseconds);
  }
  return nanoseconds + BigInt(text.slice(20, -1).padEnd(9, "0"));
}

/** A connection of a file, with its events. */
class SessionConnection {
  constructor(key, event) {
    this.key = key;
    this.number = event.fields.connection;
    this.file = event.file;
    this.client = undefined;
    this.server = undefined;
    this.events = [];
  }

  /** What it is called: its client if that is known, and its number. */
  get name() { return this.client === undefined ? `#${this.number}` : visible(this.client) || '""'; }

  /** Its number, with its file where there are several. */
  get place() { return this.file.isOneOfSeveral ? `#${this.number} in ${this.file.name}` : `#${this.number}`; }
}

/** All that the page shows. */
class Session {
  constructor(records, facts) {
    this.facts = facts;
    this.findings = facts.findings;
    NAMES.type = facts.types;
    REASONS = facts.reasons;
    const seconds = new Map();
    this.files = facts.files.map(({ name, start }) => (
      { name: visible(name), path: name, isOneOfSeveral: facts.files.length > 1,
        start: start === undefined ? 0n : readMoment(start, seconds) }));
    this.connections = new Map();
    const contexts = [];
    this.events = records.map((record, index) => {
      if (typeof record[3] === "object") contexts.push(record[3]);
      const context = typeof record[3] === "object" ? record[3] : contexts[record[3]];
      const event = new SessionEvent(index, record, context, this.files[context.file]);
      event.time = readMoment(event.fields.time, seconds);
      this.connect(event);
      return event;
    });
    const first = this.events.reduce(
      (least, { time }) => (time < least ? time : least), this.events[0]?.time ?? 0n);
    this.start = first;
    for (const event of this.events) event.since = Number(event.time - first);
    this.length = this.events.reduce((most, { since }) => Math.max(most, since), 0);
    this.placeFindings();
  }

  connect(event) {
    const key = `${event.context.file}:${event.fields.connection}`;
    let connection = this.connections.get(key);
    if (connection === undefined) {
      connection = new SessionConnection(key, event);
      this.connections.set(key, connection);
    }
    connection.events.push(event);
    event.connection = connection;
    if (event.context.client !== undefined) connection.client = event.context.client;
    if (event.type === "OPEN") connection.server = event.fields.server;
  }

  /** Gives each finding its event: the one that names it, or else the first of its frame. */
  placeFindings() {
    this.places = this.findings.map(() => undefined);
    for (const event of this.events) {
      for (const number of event.findings) this.places[number] ??= event;
    }
    this.findings.forEach((finding, number) => {
      if (this.places[number]) return;
      const event = this.eventAt(finding.file, finding.connection, finding.frame);
      if (!event) return;
      event.findings.push(number);
      this.places[number] = event;
    });
  }

  /** The event of a frame on a connection whose type a text names, or else the first; undefined where there is none. */
  eventAt(file, connection, frame, text = "") {
    const index = this.files.findIndex(({ path }) => path === file);
    const events = this.connections.get(`${index}:${connection}`)?.events ?? [];
    const words = text.split(/[^A-Z]+/);
    return events.find(({ fields, type }) => fields.frame === frame && words.includes(type))
      ?? events.find(({ fields }) => fields.frame === frame);
  }

  /** How many findings there are, and of how many violations if not of all. */
  get findingCount() {
    const { length } = this.findings;
    const { untoldFindings } = this.facts;
    return (untoldFindings > 0 ? `${grouped(length)} of ` : "") + counted(length + untoldFindings, "finding");
  }

  /** How many events there are, and how many of them the page has if not all. */
  get eventCount() {
    const { shown, total } = this.facts;
    return (shown < total ? `${grouped(shown)} of ` : "") + counted(total, "event");
  }

  /** The event of a number in the session; undefined where the page does not have it. */
  eventOf(number) {
    let [low, high] = [0, this.events.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const event = this.events[middle];
      if (event.number === number) return event;
      if (event.number < number) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  /** The events that an expression chooses; all of them for an empty one. Throws a FilterError. */
  matching(expression) {
    if (expression.trim() === "") return this.events;
    return this.events.filter(conditionOf(expression));
  }

  /** What the page leaves out, in a sentence; undefined if nothing. */
  get omission() {
    const { shown, matching, total, nearFindings, filters, interrupted, isFull } = this.facts;
    const parts = [];
    if (filters.length > 0) {
      parts.push(`Made with ${filters.map((each) => `--filter '${each}'`).join(" ")}: `
        + `${grouped(matching)} of ${counted(total, "event")} match.`);
    }
    if (interrupted) {
      parts.push(`Interrupted: it has ${grouped(shown)} of ${counted(matching, "event")}.`);
    } else if (shown < matching) {
      const near = isFull ? "those before a browser takes no more of this size" : nearFindings > 0
        ? `${grouped(nearFindings)} around findings, and the first of the others`
        : "the first ones";
      parts.push(`${grouped(matching - shown)} of ${counted(matching, "event")} are left out; `
        + `it has ${near}. Make it with --filter to choose others.`);
    }
    return parts.length > 0 ? parts.join(" ") : undefined;
  }
}
