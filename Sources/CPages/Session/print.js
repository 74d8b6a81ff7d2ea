// What a printer gets: the chosen events as a plain table.

const MOST_PRINTED = 2000;

/** Fills the part that only a printer sees, and empties it again. */
function printing(page) {
  const box = byID("print");
  window.addEventListener("beforeprint", () => {
    const shown = page.chosen.slice(0, MOST_PRINTED);
    const names = ["time (UTC)", "frame", "client", "", "type", "what"];
    const head = element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)));
    const body = element("tbody", {}, ...shown.map((event) => printedRow(page, event)));
    const parts = [];
    const { expression } = page;
    const count = shown.length < page.chosen.length
      ? `The first ${grouped(shown.length)} of ${counted(page.chosen.length, "event")}`
      : counted(shown.length, "event");
    parts.push(element("p", {}, expression ? `${count} that match: ${expression}` : count));
    parts.push(element("table", {}, element("thead", {}, head), body));
    box.replaceChildren(...parts);
  });
  window.addEventListener("afterprint", () => box.replaceChildren());
}

function printedRow(page, event) {
  const { fields, connection } = event;
  const what = element("td", {}, event.text);
  for (const number of event.findings) {
    const { clause, message } = page.session.findings[number];
    what.append(element("div", {}, element("strong", {}, `${clause}: `), message));
  }
  const cells = [
    event.clock, String(fields.frame), connection.name, fields.from === "client" ? "→" : "←", event.type,
  ].map((text) => element("td", {}, text));
  return element("tr", {}, ...cells, what);
}
