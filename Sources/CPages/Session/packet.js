// Where the fields of a packet stand in its bytes.

/** The properties of MQTT 5.0 by their identifiers, with the kinds of their values (section 2.2.2.2). */
const PROPERTIES = {
  1: ["payloadFormatIndicator", 1], 2: ["messageExpiryInterval", 4], 3: ["contentType", "text"],
  8: ["responseTopic", "text"], 9: ["correlationData", "text"],
  11: ["subscriptionIdentifier", "variable"], 17: ["sessionExpiryInterval", 4],
  18: ["assignedClientIdentifier", "text"], 19: ["serverKeepAlive", 2],
  21: ["authenticationMethod", "text"], 22: ["authenticationData", "text"],
  23: ["requestProblemInformation", 1], 24: ["willDelayInterval", 4],
  25: ["requestResponseInformation", 1], 26: ["responseInformation", "text"],
  28: ["serverReference", "text"], 31: ["reasonString", "text"], 33: ["receiveMaximum", 2],
  34: ["topicAliasMaximum", 2], 35: ["topicAlias", 2], 36: ["maximumQoS", 1],
  37: ["retainAvailable", 1], 38: ["userProperty", "pair"], 39: ["maximumPacketSize", 4],
  40: ["wildcardSubscriptionAvailable", 1], 41: ["subscriptionIdentifierAvailable", 1],
  42: ["sharedSubscriptionAvailable", 1],
};

/** Reads bytes from their start on, and keeps which field each of them belongs to. */
class PacketReader {
  constructor(bytes) {
    this.bytes = bytes;
    this.place = 0;
    /** `path` is the way to the value in the event's fields, `also` the ways to those in other bits of it. */
    this.ranges = [];
  }

  get isAtEnd() { return this.place >= this.bytes.length; }

  /** Takes a number of bytes, as far as they are there, for a field. */
  take(count, path, also = []) {
    const start = this.place;
    this.place = Math.min(this.bytes.length, start + count);
    if (path !== undefined && this.place > start) {
      this.ranges.push({ path, also, start, end: this.place });
    }
    let value = 0;
    for (let index = start; index < Math.min(this.place, start + 6); index++) {
      value = value * 256 + this.bytes[index];
    }
    return value;
  }

  /** Takes a text or binary data with its length in front. */
  text(path) {
    const start = this.place;
    const length = this.take(2);
    this.take(length);
    if (this.place > start) this.ranges.push({ path, also: [], start, end: this.place });
  }

  /** Takes a variable byte integer (MQTT section 2.2.3). */
  variable(path) {
    const start = this.place;
    let [value, unit] = [0, 1];
    while (!this.isAtEnd && this.place < start + 4) {
      const byte = this.take(1);
      value += (byte & 0x7f) * unit;
      unit *= 128;
      if (byte < 0x80) break;
    }
    if (this.place > start) this.ranges.push({ path, also: [], start, end: this.place });
    return value;
  }

  properties(path) {
    const length = this.variable(`${path}.length`);
    const end = Math.min(this.bytes.length, this.place + length);
    while (this.place < end) {
      const start = this.place;
      const [name, kind] = PROPERTIES[this.take(1)] ?? [];
      if (name === undefined) {
        this.place = end;
        return;
      }
      if (kind === "pair") {
        this.take(this.take(2));
        this.take(this.take(2));
      } else if (kind === "text") {
        this.take(this.take(2));
      } else if (kind === "variable") {
        while (!this.isAtEnd && this.take(1) >= 0x80);
      } else {
        this.take(kind);
      }
      this.ranges.push({ path: `${path}.${name}`, also: [], start, end: this.place });
    }
  }
}

/** Where the fields of an event stand in its captured bytes, in the order of the bytes. */
function fieldRanges({ fields }, bytes) {
  const reader = new PacketReader(bytes);
  if (fields.fin !== undefined) frameRanges(reader, fields);
  else if (fields.protocol.startsWith("mqtt")) packetRanges(reader, fields);
  return reader.ranges;
}

/** RFC 6455 section 5.2, with the payload unmasked. */
function frameRanges(reader, fields) {
  reader.take(1, "type", ["fin", "rsv"]);
  const length = reader.take(1, "length", ["masked"]) & 0x7f;
  if (length > 125) reader.take(length === 126 ? 2 : 8, "length");
  if (fields.masked) reader.take(4, "maskingKey");
  if (fields.closeCode !== undefined) {
    reader.take(2, "closeCode");
    reader.take(Infinity, "closeReason");
  } else {
    reader.take(Infinity, "payload");
  }
}

function packetRanges(reader, fields) {
  const isFive = fields.protocol === "mqtt-5.0" || fields.inferred === "mqtt-5.0";
  reader.take(1, "type", fields.type === "PUBLISH" ? ["dup", "qos", "retain"] : []);
  reader.variable("length");
  switch (fields.type) {
    case "CONNECT": return connectRanges(reader, fields, isFive);
    case "CONNACK":
      reader.take(1, "sessionPresent");
      reader.take(1, "returnCode");
      break;
    case "PUBLISH":
      reader.text("topic");
      if (fields.qos > 0) reader.take(2, "packetID");
      if (isFive) reader.properties("properties");
      reader.take(Infinity, "payload");
      return undefined;
    case "SUBSCRIBE": case "UNSUBSCRIBE": {
      reader.take(2, "packetID");
      if (isFive) reader.properties("properties");
      for (let index = 0; !reader.isAtEnd; index++) {
        reader.text(`filters.${index}.filter`);
        const options = ["noLocal", "retainAsPublished", "retainHandling"];
        if (fields.type === "SUBSCRIBE") {
          reader.take(1, `filters.${index}.qos`, options.map((name) => `filters.${index}.${name}`));
        }
      }
      return undefined;
    }
    case "SUBACK": case "UNSUBACK":
      reader.take(2, "packetID");
      if (isFive) reader.properties("properties");
      for (let index = 0; !reader.isAtEnd; index++) reader.take(1, `reasonCodes.${index}`);
      return undefined;
    case "PUBACK": case "PUBREC": case "PUBREL": case "PUBCOMP":
      reader.take(2, "packetID");
      reader.take(1, "reasonCodes.0");
      break;
    case "DISCONNECT": case "AUTH": reader.take(1, "reasonCodes.0"); break;
    default: return undefined;
  }
  if (isFive && !reader.isAtEnd) reader.properties("properties");
  return undefined;
}

function connectRanges(reader, fields, isFive) {
  reader.text("protocol");
  reader.take(1, "protocol");
  reader.take(1, "cleanStart", fields.will === undefined ? [] : ["will.qos", "will.retain"]);
  reader.take(2, "keepAlive");
  if (isFive) reader.properties("properties");
  reader.text("clientID");
  if (fields.will !== undefined) {
    if (isFive) reader.properties("will.properties");
    reader.text("will.topic");
    reader.text("will.payload");
  }
  if (fields.username !== undefined) reader.text("username");
  if (fields.password !== undefined) reader.text("password");
}

/** The bytes of a text in base 64. */
const bytesOfBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/**
 * The bytes that the page has of an event with the fields that they belong to, and what is to be said of them;
 * undefined where it has none.
 */
function bytesOf(event) {
  const { fields, bytes } = event;
  // Those of a GAP are a number.
  const given = bytes ?? (fields.type === "GAP" ? undefined : fields.bytes);
  if (given !== undefined) {
    const read = bytesOfBase64(given);
    const note = fields.masked && bytes !== undefined ? "the payload is shown unmasked" : undefined;
    return { bytes: read, ranges: fieldRanges(event, read), note };
  }
  const payload = fields.payload;
  const read = payload?.utf8 !== undefined ? new TextEncoder().encode(payload.utf8)
    : payload?.base64 !== undefined ? bytesOfBase64(payload.base64) : undefined;
  if (read === undefined || read.length === 0) return undefined;
  return {
    bytes: read, ranges: [{ path: "payload", also: [], start: 0, end: read.length }],
    note: "of the payload alone",
  };
}
