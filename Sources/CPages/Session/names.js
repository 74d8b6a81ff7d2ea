"use strict";

// Small things that all of the script needs, and the names of the filter language.

/** The element of an id. */
const byID = (id) => document.getElementById(id);

/**
 * Makes an element; its text is text, whatever is in it.
 * @param {string} tag The tag.
 * @param {Object} [properties] Properties and, where a name has a hyphen or is `role`, attributes.
 * @param {...(Node|string)} children What is in it.
 */
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (name.includes("-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** A text in which what steers a terminal, turns the direction of writing or is not seen is written as its number. */
const visible = (text) => text.replace(
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
  (sign) => `\\u{${sign.charCodeAt(0).toString(16)}}`);

/** A number with its digits in groups. */
const grouped = (number) => number.toLocaleString("en-US");

/** A number and a noun, which gets an s unless there is one of it. */
const counted = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;

/** A duration in nanoseconds, for people. */
function durationText(nanoseconds) {
  const size = Math.abs(nanoseconds);
  if (size < 1e3) return `${Math.round(nanoseconds)} ns`;
  if (size < 1e6) return `${(nanoseconds / 1e3).toPrecision(3)} µs`;
  if (size < 1e9) return `${(nanoseconds / 1e6).toPrecision(3)} ms`;
  if (size < 6e10) return `${(nanoseconds / 1e9).toPrecision(3)} s`;
  const seconds = Math.round(nanoseconds / 1e9);
  return seconds < 3600
    ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** The fields of the filter language with the kinds of their values, in the language's own order. */
const FIELDS = {
  type: "name", from: "name", connection: "number", topic: "text", filter: "text", client: "text",
  time: "time", protocol: "name", qos: "number", retain: "flag", dup: "flag", id: "number",
  length: "number", frame: "number", payload: "text", code: "number", over: "name", fin: "flag",
  masked: "flag", fault: "flag", username: "text", address: "text", port: "number",
  method: "text", target: "text",
};

/** The comparisons that have a meaning for a kind of values. */
const COMPARISONS = {
  name: ["==", "!="], flag: ["==", "!="], text: ["==", "!=", "~", "contains"],
  number: ["==", "!=", "<", "<=", ">", ">="], time: ["==", "!=", "<", "<=", ">", ">="],
};

const ALL_COMPARISONS = ["==", "!=", "<", "<=", ">", ">=", "~", "contains"];

/** The names that fields of names take; `type` and the reason codes come with the session. */
const NAMES = {
  type: [], from: ["client", "server"], over: ["websocket"],
  protocol: ["mqtt", "mqtt-3.1", "mqtt-3.1.1", "mqtt-5.0", "websocket", "http", "tls"],
};

/** The names of return and reason codes, with the codes that have them by type of packet. */
let REASONS = {};

/** The letters to add, drop or replace and the neighbours to swap between two words. */
function wordDistance(first, second) {
  let older = [];
  let last = Array.from({ length: second.length + 1 }, (_, index) => index);
  for (let row = 0; row < first.length; row++) {
    const line = [row + 1];
    for (let column = 0; column < second.length; column++) {
      const same = first[row] === second[column];
      let cost = Math.min(last[column] + (same ? 0 : 1), last[column + 1] + 1, line[column] + 1);
      const isSwapped = row > 0 && column > 0 && first[row] === second[column - 1]
        && first[row - 1] === second[column];
      if (isSwapped) cost = Math.min(cost, older[column - 1] + 1);
      line.push(cost);
    }
    older = last;
    last = line;
  }
  return last[last.length - 1];
}

/** The name that is nearest to a mistyped one; undefined when none is near. */
function nearestName(typed, names) {
  const word = typed.toLowerCase().slice(0, 64);
  let best;
  for (const name of names) {
    const letters = name.toLowerCase();
    const isStart = word.length > 2 && letters.startsWith(word);
    const distance = isStart
      ? Math.min(1, letters.length - word.length) : wordDistance(word, letters);
    if (distance < (best?.distance ?? Infinity)) best = { name, distance };
  }
  const most = Math.max(1, Math.min(3, Math.floor(word.length / 3)));
  return best && best.distance <= most ? best.name : undefined;
}
