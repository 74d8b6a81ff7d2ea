// The filter language, as the command reads it: see reprise help filter.

/** Why an expression can't be understood, and where, in characters from 1. */
class FilterError extends Error {
  constructor(message, column) {
    super(message);
    this.column = column;
  }
}

const SIGNS = {
  "(": "(", ")": ")", "[": "[", "]": "]", ",": ",", "~": "~", "&&": "and", "||": "or",
  "==": "==", "!=": "!=", "!": "not", "<=": "<=", "<": "<", ">=": ">=", ">": ">",
};
const ESCAPES = { n: "\n", t: "\t", r: "\r" };
const WORD_PART = /[\p{Alphabetic}\p{N}_\-.:+/#$*%@]/u;

/** Cuts an expression into tokens: `kind` is a sign, "word", "text" or "end". */
function filterTokens(expression) {
  const characters = Array.from(expression);
  const tokens = [];
  let index = 0;
  const add = (kind, column, text) => tokens.push({ kind, column, text });
  for (;;) {
    while (index < characters.length && /\s/u.test(characters[index])) index++;
    const column = index + 1;
    if (index >= characters.length) {
      add("end", column);
      return tokens;
    }
    const character = characters[index];
    const next = characters[index + 1];
    if (character === '"' || character === "'") {
      const [text, end] = quotedText(characters, index);
      index = end;
      add("text", column, text);
    } else if (SIGNS[character + next] !== undefined && "&|=!<>".includes(character)) {
      index += 2;
      add(SIGNS[character + next], column);
    } else if ("&|=".includes(character)) {
      throw new FilterError(`write ${character}${character} here`, column);
    } else if (SIGNS[character] !== undefined) {
      index += 1;
      add(SIGNS[character], column);
    } else {
      const start = index;
      while (index < characters.length && WORD_PART.test(characters[index])) index++;
      if (index === start) throw new FilterError(`'${character}' has no meaning here`, column);
      const word = characters.slice(start, index).join("");
      const lower = word.toLowerCase();
      if (["and", "or", "not"].includes(lower)) add(lower, column);
      else add("word", column, word);
    }
  }
}

/** Reads a text in quotes from its first one on; returns it and where it ends. */
function quotedText(characters, start) {
  let text = "";
  let index = start + 1;
  while (index < characters.length) {
    const character = characters[index++];
    if (character === characters[start]) return [text, index];
    if (character !== "\\") {
      text += character;
    } else if (index < characters.length) {
      const escaped = characters[index++];
      text += ESCAPES[escaped] ?? escaped;
    }
  }
  throw new FilterError(`the text has no closing ${characters[start]}`, start + 1);
}

/** Reads an expression: `or` binds less than `and`, `and` less than `not`. */
class FilterParser {
  static mostDepth = 100;

  constructor(expression) {
    this.tokens = filterTokens(expression);
    this.index = 0;
    this.depth = 0;
  }

  /** The expression as a tree; throws a FilterError. */
  static parse(expression) {
    const parser = new FilterParser(expression);
    const tree = parser.alternatives();
    if (parser.next.kind === "end") return tree;
    if (parser.next.kind === ")") throw parser.error("there is no ( for this )");
    throw parser.error("write 'and' or 'or' between two conditions");
  }

  get next() { return this.tokens[Math.min(this.index, this.tokens.length - 1)]; }

  skip(kind) {
    if (this.next.kind !== kind) return false;
    this.index++;
    return true;
  }

  error(message, column = this.next.column) { return new FilterError(message, column); }

  alternatives() {
    let tree = this.conditions();
    while (this.skip("or")) tree = { is: "or", first: tree, second: this.conditions() };
    return tree;
  }

  conditions() {
    let tree = this.condition();
    while (this.skip("and")) tree = { is: "and", first: tree, second: this.condition() };
    return tree;
  }

  condition() {
    if (++this.depth > FilterParser.mostDepth) {
      throw this.error("the expression is nested too deeply");
    }
    let tree;
    if (this.skip("not")) {
      tree = { is: "not", inner: this.condition() };
    } else if (this.skip("(")) {
      tree = this.alternatives();
      if (!this.skip(")")) throw this.error("a ) is missing here");
    } else {
      tree = this.comparison();
    }
    this.depth--;
    return tree;
  }

  comparison() {
    const start = this.next;
    if (start.kind !== "word") {
      throw this.error("a field such as type, topic or qos should stand here");
    }
    this.index++;
    const field = start.text.toLowerCase();
    if (!Object.hasOwn(FIELDS, field)) {
      const path = memberPath(start.text);
      return path ? this.member(path, start.text) : this.bareType(start.text, start.column);
    }
    const { kind, text } = this.next;
    if (ALL_COMPARISONS.includes(kind)) return this.value(field, kind);
    if (kind === "word" && text === "in") return this.list(field);
    if (kind === "word" && text === "contains") return this.value(field, "contains");
    if (FIELDS[field] === "flag") return { is: "flag", field, wanted: true };
    const signs = COMPARISONS[FIELDS[field]].join(" ");
    throw this.error(`compare ${field} by ${signs} or in [...]`);
  }

  value(field, sign) {
    const { column } = this.next;
    const known = COMPARISONS[FIELDS[field]];
    if (!known.includes(sign)) {
      throw this.error(`${field} is compared by ${known.join(" ")}`, column);
    }
    this.index++;
    if (FIELDS[field] === "flag") return this.flag(field, sign);
    const place = this.next.column;
    const value = this.fieldValue(field);
    if (value.reason !== undefined && sign !== "==" && sign !== "!=") {
      throw this.error(`'${value.reason}' is a name, which is compared by == !=`, column);
    }
    if (sign === "~") {
      if (field !== "topic") return { is: "comparison", field, sign: "contains", value };
      this.checkFilter(value.text, place);
    }
    return { is: "comparison", field, sign, value };
  }

  list(field) {
    const values = this.values(FIELDS[field] !== "flag", () => this.fieldValue(field));
    return { is: "any", field, values };
  }

  values(isPossible, read) {
    this.index++;
    if (this.next.kind !== "[" || !isPossible) {
      throw this.error("write in [A, B] with the values to choose from");
    }
    this.index++;
    const values = [read()];
    while (this.skip(",")) values.push(read());
    if (!this.skip("]")) throw this.error("a , or ] is missing here");
    return values;
  }

  member(path, name) {
    const { kind, text } = this.next;
    if (kind === "word" && text === "in") {
      const values = this.values(true, () => this.memberValue(name));
      const all = values.map((value) => ({ is: "member", path, sign: "==", value }));
      return all.reduce((first, second) => ({ is: "or", first, second }));
    }
    let sign;
    if (ALL_COMPARISONS.includes(kind)) sign = kind === "~" ? "contains" : kind;
    else if (kind === "word" && text === "contains") sign = "contains";
    else throw this.error(`compare ${name} by ${ALL_COMPARISONS.join(" ")} or in [...]`);
    this.index++;
    return { is: "member", path, sign, value: this.memberValue(name) };
  }

  memberValue(name) {
    const { kind, text } = this.next;
    if (kind !== "word" && kind !== "text") {
      throw this.error(`a value for ${name} should stand here`);
    }
    this.index++;
    if (kind === "text") return { text };
    // What is a number or a name of JSON may be meant as that.
    try {
      const json = JSON.parse(text);
      return typeof json === "string" ? { text } : { text, json };
    } catch {
      return { text };
    }
  }

  bareType(word, column) {
    const name = word.toUpperCase();
    if (NAMES.type.includes(name)) {
      return { is: "comparison", field: "type", sign: "==", value: { name } };
    }
    const nearest = nearestName(word, [...Object.keys(FIELDS), ...NAMES.type]);
    const hint = nearest ? `; did you mean ${nearest}?` : "";
    throw this.error(`'${word}' is neither a field nor a type of event${hint}`, column);
  }

  flag(field, sign) {
    const { kind, text } = this.next;
    if (kind !== "word" || (text !== "true" && text !== "false")) {
      throw this.error(`${field} is true or false`);
    }
    this.index++;
    return { is: "flag", field, wanted: (text === "true") === (sign === "==") };
  }

  fieldValue(field) {
    const { kind, text, column } = this.next;
    if (kind !== "word" && kind !== "text") {
      throw this.error(`a value for ${field} should stand here`);
    }
    this.index++;
    switch (FIELDS[field]) {
      case "text": return { text };
      case "number": return this.number(text, field, column);
      case "time": return filterTime(text) ?? this.noTime(text, column);
      case "name": return this.name(text, field, column);
      default: throw this.error(`${field} is true or false`, column);
    }
  }

  noTime(text, column) {
    throw this.error(
      `'${text}' is no time such as 2026-11-21T07:39:01Z, 07:39:01.5 or +2s`, column);
  }

  number(text, field, column) {
    const reason = text.toLowerCase().replaceAll(" ", "-");
    if (field === "code" && Object.hasOwn(REASONS, reason)) return { reason };
    const isNumber = /^[+-]?\d+$/.test(text) || /^0x[+-]?[0-9a-fA-F]+$/.test(text);
    const digits = text.replace(/[+-]/, "");
    const size = isNumber ? BigInt(digits) : 0n;
    const most = text.includes("-") ? 2n ** 63n : 2n ** 63n - 1n;
    if (!isNumber || size > most) {
      const nearest = field === "code" ? nearestName(reason, Object.keys(REASONS)) : undefined;
      if (nearest) throw this.error(`'${text}' is no code; did you mean ${nearest}?`, column);
      const names = field === "code" ? ", or a name such as not-authorized" : "";
      throw this.error(`${field} is a number such as 5 or 0x87${names}`, column);
    }
    return { number: Number(text.includes("-") ? -size : size) };
  }

  name(text, field, column) {
    const names = NAMES[field];
    const name = names.find((known) => known.toLowerCase() === text.toLowerCase());
    if (name !== undefined) return { name };
    const nearest = nearestName(text, names);
    const hint = nearest ? `did you mean ${nearest}? ` : "";
    throw this.error(`'${text}' is no ${field}; ${hint}there are ${names.join(", ")}`, column);
  }

  /** A topic filter that MQTT does not allow would match by chance. */
  checkFilter(filter, column) {
    const levels = filter.split("/");
    for (const [index, level] of levels.entries()) {
      const isLast = index === levels.length - 1;
      const hash = level.indexOf("#");
      const plus = level.indexOf("+");
      const isBadHash = hash >= 0 && (level !== "#" || !isLast);
      const isBadPlus = plus >= 0 && level !== "+";
      if (isBadHash && (!isBadPlus || hash < plus)) {
        throw this.error("# must stand alone in the last level of a filter", column);
      }
      if (isBadPlus) throw this.error("+ must fill a whole level of a filter", column);
    }
  }
}

/** The keys of `payload.KEY.KEY`; undefined for another word. */
function memberPath(word) {
  const parts = word.split(".");
  const isMember = parts.length > 1 && parts[0].toLowerCase() === "payload";
  return isMember && !parts.includes("") ? parts.slice(1) : undefined;
}
