// What belongs together: a request and its answer on a connection, a message and where it was delivered.

/** The types that begin an exchange with a packet identifier, and those that go on with it. */
const CHAIN_STARTS = new Set(["PUBLISH", "SUBSCRIBE", "UNSUBSCRIBE"]);
const CHAIN_PARTS = new Set(["PUBACK", "PUBREC", "PUBREL", "PUBCOMP", "SUBACK", "UNSUBACK"]);
const CHAIN_ENDS = new Set(["PUBACK", "PUBCOMP", "SUBACK", "UNSUBACK"]);

/** Questions that are answered in their order, with the types of the answers. */
const QUESTIONS = {
  CONNECT: ["CONNACK"], PINGREQ: ["PINGRESP"], UPGRADE: ["UPGRADED", "REFUSED"], PING: ["PONG"],
};
const ANSWERS = new Map(
  Object.entries(QUESTIONS).flatMap(([name, answers]) => answers.map((each) => [each, name])));

/** The links of a session. */
class Links {
  constructor(events) {
    /** The exchange that an event is part of: all of its events in their order. */
    this.exchanges = new Map();
    /** Where a message that a client published was delivered, and where a delivery came from. */
    this.deliveries = new Map();
    this.sources = new Map();
    this.open = new Map();
    this.published = new Map();
    for (const event of events) {
      this.follow(event);
      if (event.type === "PUBLISH") this.deliver(event);
    }
    this.open.clear();
    this.published.clear();
  }

  /** The other events of the exchange of an event. */
  partners(event) {
    return (this.exchanges.get(event.index) ?? []).filter((other) => other !== event);
  }

  /** All that an event is linked with. */
  all(event) {
    const source = this.sources.get(event.index);
    return [
      ...this.partners(event), ...(this.deliveries.get(event.index) ?? []),
      ...(source ? [source] : []),
    ];
  }

  follow(event) {
    const { type, fields, connection } = event;
    const of = (what, end) => `${connection.key} ${end} ${what}`;
    const other = fields.from === "client" ? "server" : "client";
    if (CHAIN_STARTS.has(type) && fields.packetID !== undefined) {
      this.begin(of(fields.packetID, fields.from), event);
    } else if (CHAIN_PARTS.has(type)) {
      // PUBREL comes from the one who published, all others from the other end.
      const key = of(fields.packetID, type === "PUBREL" ? fields.from : other);
      this.join(key, event, CHAIN_ENDS.has(type));
    } else if (type in QUESTIONS) {
      this.begin(of(type, fields.from), event, true);
    } else if (ANSWERS.has(type)) {
      this.join(of(ANSWERS.get(type), other), event, true);
    } else if (type === "REQUEST") {
      this.begin(of(`exchange ${fields.exchange}`, ""), event);
    } else if (type === "RESPONSE" || type === "UNANSWERED") {
      this.join(of(`exchange ${fields.exchange}`, ""), event, true);
    } else if (event.asks !== undefined) {
      this.begin(of(`request ${event.asks}`, fields.from), event, true);
    } else if (event.answers !== undefined) {
      this.join(of(`request ${event.answers}`, other), event, true);
    }
  }

  begin(key, event, isQueue = false) {
    const waiting = this.open.get(key);
    // What is sent again belongs to what it repeats.
    if (waiting && !isQueue && event.fields.dup) return this.add(waiting[0], event);
    const exchange = [event];
    if (waiting && isQueue) waiting.push(exchange);
    else this.open.set(key, [exchange]);
    return undefined;
  }

  join(key, event, isEnd) {
    const waiting = this.open.get(key);
    if (!waiting) return;
    this.add(waiting[0], event);
    if (!isEnd) return;
    waiting.shift();
    if (waiting.length === 0) this.open.delete(key);
  }

  add(exchange, event) {
    exchange.push(event);
    for (const each of exchange) this.exchanges.set(each.index, exchange);
  }

  /** Links a delivery with the message of the same topic and payload that came before it. */
  deliver(event) {
    const { fields, topic, connection } = event;
    if (topic === undefined) return;
    const { utf8, base64 } = fields.payload ?? {};
    const key = `${event.context.file} ${topic}\n${utf8 ?? base64 ?? fields.payload}`;
    const messages = this.published.get(key);
    if (fields.from === "client") {
      if (messages) messages.list.push(event);
      else this.published.set(key, { list: [event], taken: new Map() });
      return;
    }
    if (!messages) return;
    // In the order in which they were published, since the receiver is there; a retained one is the last.
    const start = connection.events[0].index;
    let next = messages.taken.get(connection.key) ?? 0;
    while (next < messages.list.length && messages.list[next].index < start) next++;
    const isRetained = fields.retain || next >= messages.list.length;
    const source = messages.list[isRetained ? messages.list.length - 1 : next];
    if (!isRetained) messages.taken.set(connection.key, next + 1);
    this.sources.set(event.index, source);
    const known = this.deliveries.get(source.index);
    if (known) known.push(event);
    else this.deliveries.set(source.index, [event]);
  }
}
