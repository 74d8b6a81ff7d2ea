// What an expression says of an event, as the command evaluates it.

const DAY = 86_400_000_000_000n;
const INT64 = 2n ** 63n;

/** A moment in nanoseconds since 1970; undefined where the text is none. */
function momentOf(text) {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?Z$/.exec(text);
  if (!match) return undefined;
  const second = text.slice(0, 19);
  const date = new Date(`${second}Z`);
  // A date that does not exist becomes another one, or none.
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 19) !== second) return undefined;
  const moment = BigInt(date.getTime()) * 1_000_000n + BigInt((match[7] ?? "").padEnd(9, "0"));
  return moment >= -INT64 && moment < INT64 ? moment : undefined;
}

/** A decimal number times a unit; undefined for anything else and for too large ones. */
function scaled(text, unit) {
  const parts = text.split(".");
  if (parts.length > 2 || !/^\d+$/.test(parts[0])) return undefined;
  let value = BigInt(parts[0]) * unit;
  if (value >= INT64) return undefined;
  if (parts.length === 2) {
    if (unit <= 1n || !/^\d{1,9}$/.test(parts[1])) return undefined;
    const fraction = Number(parts[1]) / 10 ** parts[1].length;
    value += BigInt(Math.trunc(fraction * Number(unit) + 0.5));
  }
  return value < INT64 ? value : undefined;
}

/** A time as an expression writes it: a moment, one since the start, or one of the day; undefined for none. */
function filterTime(text) {
  const moment = momentOf(text);
  if (moment !== undefined) return { moment };
  if (text.startsWith("+")) {
    const units = [
      ["ms", 1_000_000n], ["us", 1_000n], ["ns", 1n], ["s", 1_000_000_000n],
      ["m", 60_000_000_000n], ["h", 3_600_000_000_000n],
    ];
    const unit = units.find(([name]) => text.endsWith(name));
    const sinceStart = unit && scaled(text.slice(1, -unit[0].length), unit[1]);
    return sinceStart === undefined ? undefined : { sinceStart };
  }
  const parts = text.split(":");
  if (parts.length !== 2 && parts.length !== 3) return undefined;
  const hour = scaled(parts[0], 1n);
  const minute = scaled(parts[1], 1n);
  const second = parts.length === 3 ? scaled(parts[2], 1_000_000_000n) : 0n;
  if (hour === undefined || hour > 23n || minute === undefined || minute > 59n) return undefined;
  if (second === undefined || second >= 60_000_000_000n) return undefined;
  return { timeOfDay: (hour * 3600n + minute * 60n) * 1_000_000_000n + second };
}

/** Whether a comparison holds for two values that have an order. */
function holds(sign, actual, wanted) {
  switch (sign) {
    case "==": return actual === wanted;
    case "!=": return actual !== wanted;
    case "<": return actual < wanted;
    case "<=": return actual <= wanted;
    case ">": return actual > wanted;
    case ">=": return actual >= wanted;
    default: return false;
  }
}

/** Whether a topic filter matches a topic (MQTT 5.0 section 4.7). */
function topicMatches(filter, topic) {
  if (topic.startsWith("$") && (filter.startsWith("+") || filter.startsWith("#"))) return false;
  const wanted = filter.split("/");
  const levels = topic.split("/");
  for (const [index, level] of wanted.entries()) {
    if (level === "#") return true;
    if (index >= levels.length) return false;
    if (level !== "+" && level !== levels[index]) return false;
  }
  return wanted.length === levels.length;
}

/** Whether a comparison holds for two texts. */
function textHolds(sign, actual, wanted) {
  switch (sign) {
    case "==": return actual === wanted;
    case "!=": return actual !== wanted;
    case "~": return topicMatches(wanted, actual);
    case "contains": return actual.includes(wanted);
    default: return false;
  }
}

const isFrame = (event) => event.fields.fin !== undefined;

/** The payload that a filter sees: of a PUBLISH, a frame, or a message of HTTP. */
function payloadOf(event) {
  const { type, payload } = event.fields;
  const has = type === "PUBLISH" || isFrame(event) || type === "REQUEST" || type === "RESPONSE";
  return has ? payload : undefined;
}

/** Whether a comparison holds for a payload, whose bytes may be no text. */
function payloadHolds(sign, payload, wanted) {
  if (payload === undefined) return false;
  if (payload.base64 === undefined) return textHolds(sign, payload.utf8 ?? payload, wanted);
  const bytes = String.fromCharCode(...new TextEncoder().encode(wanted));
  return textHolds(sign, atob(payload.base64), bytes);
}

/** The codes of an event: those of MQTT, of a CLOSE, of an answer of HTTP, of an alert. */
function codesOf(event) {
  const { fields } = event;
  if (fields.reasonCodes !== undefined) return fields.reasonCodes;
  const code = fields.returnCode ?? fields.closeCode ?? fields.status
    ?? (fields.type === "ALERT" ? fields.code : undefined);
  return code === undefined ? [] : [code];
}

function numbersOf(field, event) {
  const { fields } = event;
  switch (field) {
    case "connection": return [fields.connection];
    case "frame": return [fields.frame];
    case "qos": return fields.type === "PUBLISH" ? [fields.qos] : [];
    case "id": return [fields.packetID ?? fields.exchange].filter((id) => id !== undefined);
    case "length": return fields.length === undefined ? [] : [fields.length];
    case "code": return codesOf(event);
    default: return event.context.ports ?? [];
  }
}

function textCondition(field, sign, wanted) {
  const one = (text) => text !== undefined && textHolds(sign, text, wanted);
  switch (field) {
    case "client": return (event) => one(event.context.client);
    case "username": return (event) => one(event.context.username);
    case "address":
      return ({ context: { hosts = [] } }) => (sign === "!="
        ? hosts.length > 0 && !hosts.includes(wanted) : hosts.some(one));
    case "payload": return (event) => payloadHolds(sign, payloadOf(event), wanted);
    case "topic": return (event) => one(event.topic);
    case "filter": return ({ fields }) => (fields.filters ?? []).some((each) => one(each.filter));
    default: return ({ fields }) => fields.type === "REQUEST" && one(fields[field]);
  }
}

function reasonCondition(sign, name) {
  return (event) => {
    const { reasonCodes, returnCode, type } = event.fields;
    const codes = reasonCodes ?? (returnCode === undefined ? [] : [returnCode]);
    if (codes.length === 0) return false;
    return codes.some((code) => REASONS[name][type]?.includes(code)) === (sign === "==");
  };
}

/** One comparison as a function of an event. */
function comparisonCondition(field, sign, value) {
  if (value.text !== undefined) return textCondition(field, sign, value.text);
  if (value.reason !== undefined) return reasonCondition(sign, value.reason);
  if (value.name !== undefined) {
    return ({ fields }) => fields[field] !== undefined
      && (fields[field] === value.name) === (sign === "==");
  }
  if (value.number !== undefined) {
    const wanted = value.number;
    if (field === "port" && sign === "!=") {
      return ({ context: { ports = [] } }) => ports.length > 0 && !ports.includes(wanted);
    }
    return (event) => numbersOf(field, event).some((number) => holds(sign, number, wanted));
  }
  if (value.moment !== undefined) return (event) => holds(sign, event.time, value.moment);
  if (value.sinceStart !== undefined) {
    return (event) => holds(sign, event.time - event.file.start, value.sinceStart);
  }
  return (event) => holds(sign, ((event.time % DAY) + DAY) % DAY, value.timeOfDay);
}

function flagCondition(field, wanted) {
  switch (field) {
    case "fault": return (event) => event.hasFault === wanted;
    case "retain": case "dup":
      return ({ fields }) => fields.type === "PUBLISH" && fields[field] === wanted;
    default: return (event) => isFrame(event) && event.fields[field] === wanted;
  }
}

/** The value of a member of a payload that is JSON; undefined where there is none. */
function memberOf(event, path) {
  if (event.json === undefined) {
    const payload = payloadOf(event);
    try {
      event.json = { value: JSON.parse(payload?.utf8 ?? "") };
    } catch {
      event.json = {};
    }
  }
  let { value } = event.json;
  for (const key of path) {
    if (value === null || typeof value !== "object") return undefined;
    if (Array.isArray(value)) value = /^\+?\d+$/.test(key) ? value[Number(key)] : undefined;
    else value = Object.hasOwn(value, key) ? value[key] : undefined;
    if (value === undefined) return undefined;
  }
  return value;
}

function memberCondition(path, sign, wanted) {
  const isEqual = (actual) => actual === wanted.text
    || (wanted.json !== undefined && actual === wanted.json);
  return (event) => {
    const actual = memberOf(event, path);
    if (actual === undefined) return false;
    if (sign === "==") return isEqual(actual);
    if (sign === "!=") return !isEqual(actual);
    if (sign === "contains") return typeof actual === "string" && actual.includes(wanted.text);
    return typeof actual === "number" && typeof wanted.json === "number"
      && holds(sign, actual, wanted.json);
  };
}

/** An expression's tree as a function that tells whether it chooses an event. */
function condition(tree) {
  switch (tree.is) {
    case "and": {
      const [first, second] = [condition(tree.first), condition(tree.second)];
      return (event) => first(event) && second(event);
    }
    case "or": {
      const [first, second] = [condition(tree.first), condition(tree.second)];
      return (event) => first(event) || second(event);
    }
    case "not": {
      const inner = condition(tree.inner);
      return (event) => !inner(event);
    }
    case "flag": return flagCondition(tree.field, tree.wanted);
    case "member": return memberCondition(tree.path, tree.sign, tree.value);
    case "any": {
      const all = tree.values.map((value) => comparisonCondition(tree.field, "==", value));
      return (event) => all.some((one) => one(event));
    }
    default: return comparisonCondition(tree.field, tree.sign, tree.value);
  }
}

/** The function of a text in the filter language; throws a FilterError. */
const conditionOf = (expression) => condition(FilterParser.parse(expression));
