// ---- values and changes
function json(value) {
  const out = [];
  write(value, 0, out);
  return h("pre", {}, out);
}

function write(value, depth, out) {
  const pad = "  ".repeat(depth + 1);
  if (value === null || value === undefined) return out.push(h("span", { class: "null" }, "null"));
  if (typeof value === "string") return out.push(h("span", { class: "j-str" }, JSON.stringify(value)));
  if (typeof value === "number") return out.push(h("span", { class: "j-num" }, String(value)));
  if (typeof value === "boolean") return out.push(h("span", { class: "j-lit" }, String(value)));
  if (value.$int !== undefined) return out.push(h("span", { class: "j-num" }, value.$int));
  const list = Array.isArray(value);
  const entries = list ? value.map((item) => [null, item]) : Object.entries(value);
  if (!entries.length) return out.push(list ? "[]" : "{}");
  const wide = JSON.stringify(value).length > 76;
  out.push(list ? "[" : "{");
  entries.forEach(([key, item], place) => {
    out.push(wide ? "\n" + pad : place ? " " : "");
    if (key !== null) out.push(h("span", { class: "j-key" }, JSON.stringify(key)), ": ");
    write(item, depth + 1, out);
    if (place < entries.length - 1) out.push(",");
  });
  out.push(wide ? "\n" + "  ".repeat(depth) : "", list ? "]" : "}");
}

function cell(value, kind) {
  if (value === undefined) return h("span", { class: "none" }, "");
  if (value === null) return h("span", { class: `null ${kind}` }, "null");
  const text = typeof value === "object" ? stringify(value) : String(value);
  return h("span", { class: kind }, text.length > 400 ? text.slice(0, 400) + " ..." : text);
}

// A changed row; `twin` is another state of the same row, and what differs between them stands out.
function change(entry, twin) {
  const before = entry.before || {};
  const after = entry.after || {};
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const apart = (name) => twin && JSON.stringify((twin.after || {})[name]) !== JSON.stringify(after[name]);
  const differs = (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  const value = (name) => (entry.op === "delete" ? before : after)[name];
  const empty = entry.op === "update" ? [] : names.filter((name) => value(name) === null);
  const shown = entry.op === "update" ? names.filter(differs) : names.filter((name) => !empty.includes(name) || apart(name));
  const nulls = empty.filter((name) => !shown.includes(name));
  const key = Object.entries(entry.key || {}).map(([name, value]) => `${name}=${value !== null && typeof value === "object" ? stringify(value) : value}`).join(", ");
  return h("div", { class: "change" },
    h("div", { class: "op" }, h("span", { class: entry.op }, entry.op), entry.table, h("span", { class: "key" }, key)),
    h("table", { class: "diff" }, h("tbody", {}, shown.map((name) => h("tr", { class: apart(name) ? "apart" : null }, h("th", { scope: "row" }, name),
      entry.op === "insert" ? null : h("td", {}, cell(before[name], "old")),
      entry.op === "delete" ? null : h("td", {}, cell(after[name], "new")))))),
    nulls.length ? h("div", { class: "none" }, "null: ", nulls.join(", ")) : null);
}

function against(row, verdict) {
  // A verifier of somebody's own may keep anything under these names.
  const entriesOf = (value) => (Array.isArray(value) ? value.filter((entry) => entry && typeof entry === "object") : []);
  const detail = (verdict && verdict.detail) || {};
  const missing = entriesOf(detail.missing);
  const collateral = entriesOf(detail.collateral);
  const stray = collateral.map((entry) => JSON.stringify(entry));
  const right = (row.diff || []).filter((entry) => !stray.includes(JSON.stringify(entry)));
  const gold = data.tasks[row.task];
  const groups = [
    [`Missing (${missing.length})`, "bad", missing],
    [`Not wanted (${stray.length})`, "bad", collateral],
    [`As expected (${right.length})`, "good", right],
  ].filter(([, , entries]) => entries.length);
  const place = (entry) => JSON.stringify([entry.table, entry.op, entry.key]);
  const other = new Map(missing.map((entry) => [place(entry), entry]));
  const twins = new Map(collateral.filter((entry) => other.has(place(entry))).flatMap((entry) => [[entry, other.get(place(entry))], [other.get(place(entry)), entry]]));
  const played = gold ? gold.played || [] : [];
  return [
    groups.length ? h("div", { class: "against" }, groups.map(([title, kind, entries]) => h("div", { class: "card" },
      h("div", { class: "who" }, h("span", { class: `pill ${kind}` }, title)), entries.map((entry) => change(entry, twins.get(entry))))))
      : h("p", { class: "none" }, "No row changed, and none should have."),
    gold ? h("details", { class: "fold" }, h("summary", {}, `Gold: ${counted(played.length, "call")}, ${counted((gold.changes || []).length, "row change")}`),
      h("div", { class: "against" },
        h("div", { class: "card" }, h("div", { class: "label" }, "calls"), played.map((call) => h("div", {}, h("code", {}, call.tool, " "), json(call.arguments)))),
        h("div", { class: "card" }, h("div", { class: "label" }, "row changes"), (gold.changes || []).length ? gold.changes.map((entry) => change(entry)) : h("div", { class: "none" }, "none")))) : null,
  ];
}

function answers(row) {
  const gold = (data.tasks[row.task] || {}).answer;
  if (!row.submitted && !gold) return null;
  const panel = (title, value) => h("div", { class: "card" }, h("div", { class: "label" }, title), value ? json(value) : h("div", { class: "none" }, "nothing was submitted"));
  return h("div", { class: "against" }, panel("submitted", row.submitted), gold ? panel("gold's answer", gold) : null);
}

function extras(row) {
  const tools = data.tools[row.tools] || [];
  const names = data.tools[row.names];
  const fold = (title, content) => h("details", { class: "fold reference" }, h("summary", {}, title), h("div", { class: "card" }, content));
  return [
    fold(`${counted(tools.length, "tool")} offered`, tools.map((tool) => h("details", { class: "fold" },
      h("summary", {}, h("code", {}, tool.function.name), " ", (tool.function.description || "").split("\n")[0]), json(tool.function.parameters)))),
    names ? fold(`The world's own names, and those of renaming ${row.renaming}`, json(names)) : null,
    (row.faults || []).length ? fold(counted(row.faults.length, "injected fault"), json(row.faults)) : null,
    (row.raw || []).length ? fold(`${counted(row.raw.length, "unusual event")}: raw emissions, discarded drafts, denials`, json(row.raw)) : null,
    (row.notes || []).length ? fold("The teacher's own log", json(row.notes)) : null,
    row.segments ? h("p", { class: "none" }, `${counted(row.segments, "context")} differ from this transcript (compaction or offload); the column segments has them.`) : null,
  ];
}
