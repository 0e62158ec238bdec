// ---- state and data
const state = { view: "rows", id: null, other: null, filters: { q: "", where: "" }, sort: "plan", shown: [] };
let data = null;
let served = false;
let found = null;
let refused = "";
const byId = new Map();
const byTask = new Map();
const byParent = new Map();
const BUCKETS = [["1", (reward) => reward >= 1], ["between 0 and 1", (reward) => reward > 0], ["0", () => true]];
const reward = (row) => (row.reward === null ? "unscored" : BUCKETS.find(([, holds]) => holds(row.reward))[0]);
const FILTERS = [
  ["run", "Run", (row) => [data.runs[row.run].name]],
  ["outcome", "Outcome", (row) => [row.outcome]],
  ["family", "Family", (row) => [row.family]],
  ["review", "Review", (row) => [row.review || "none"]],
  ["case", "Case", (row) => (row.case ? [row.case] : [])],
  ["level", "Difficulty", (row) => (row.level ? [row.level] : [])],
  ["split", "Split", (row) => [row.split]],
  ["reward", "Reward", (row) => [reward(row)]],
  ["stop", "Stop reason", (row) => [row.stop]],
  ["tool", "Tool", (row) => row.used],
  ["failed", "Failing tool", (row) => [...new Set(row.failed)]],
  ["category", "Error", (row) => [...new Set(row.categories || [])]],
  ["blame", "Blame", (row) => (row.blame ? [row.blame] : [])],
  ["note", "Note on the words", (row) => [...new Set(row.reply_notes || [])]],
  ["apart", "Counted apart", (row) => row.apart],
];
const SORTS = {
  plan: ["Sort: plan order", (a, b) => a.order - b.order],
  low: ["Sort: lowest reward", (a, b) => rank(a) - rank(b) || a.order - b.order],
  high: ["Sort: highest reward", (a, b) => rank(b) - rank(a) || a.order - b.order],
  turns: ["Sort: most turns", (a, b) => b.turns - a.turns || a.order - b.order],
  errors: ["Sort: most tool errors", (a, b) => b.errors - a.errors || a.order - b.order],
  tokens: ["Sort: most tokens", (a, b) => (b.output_tokens || 0) - (a.output_tokens || 0) || a.order - b.order],
  cost: ["Sort: most expensive", (a, b) => (b.cost || 0) - (a.cost || 0) || a.order - b.order],
};
const rank = (row) => (row.reward === null ? 2 : row.reward);
const label = (row) => (row.case ? `${row.family} (${row.case})` : row.family);
const percent = (share) => (100 * share).toFixed(1) + "\u00a0%";
const number = (value) => (value === null || value === undefined ? "-" : value.toLocaleString("en-US"));
const counted = (count, one, many) => `${number(count)}\u00a0${count === 1 ? one : many || one + "s"}`;

// A page with data reads it from itself; a page without asks the server that it came from.
const token = new URLSearchParams(location.search).get("token");

async function ask(path, query = "") {
  const response = await fetch(`/api/${path}?token=${encodeURIComponent(token)}${query}`);
  if (!response.ok) throw new Error(await response.text());
  return parse(await response.text());
}

// A review of the row that is open; a second time the same takes it back. The server knows whose it is.
async function review(verdict, note) {
  const row = byId.get(state.id) || state.shown[0];
  if (!served || !row) return;
  const said = { verdict: verdict === null ? row.review || "" : row.review === verdict ? "" : verdict, note: note === null ? row.review_note || "" : note };
  const response = await fetch(`/api/review/${row.run}/${encodeURIComponent(row.id)}?token=${encodeURIComponent(token)}`, { method: "POST", body: JSON.stringify(said) });
  if (!response.ok) throw new Error(await response.text());
  Object.assign(row, parse(await response.text()));
  known.rows = 0; // the counts of the filters
  draw();
}

async function unpack() {
  const text = document.getElementById("data").textContent.trim();
  if (!text) {
    served = true;
    return ask("index");
  }
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return parse(await new Response(stream).text());
}

function prepare(row, order) {
  row.order = order;
  if (row.messages) {
    row.sequence = row.messages.flatMap((m) => (m.tool_calls || []).map((c) => c.function.name));
    row.ask = (row.messages.find((m) => m.role === "user") || {}).content || "";
    row.why = failing(row).map((verdict) => `${verdict.verifier}: ${verdict.reason}`).join("; ");
    row.wrong = failing(row).map((verdict) => verdict.verifier);
    row.failed = failedTools(row);
    row.apart = row.verdicts.flatMap((verdict) => (verdict.detail || {}).apart || []);
  }
  row.used = [...new Set(row.sequence)];
  row.ref = row.id + (row.run ? "@" + row.run : "");
  byId.set(row.ref, row);
  gather(byTask, `${row.run}/${row.task}`, row);
  if (row.parent) gather(byParent, row.parent, row);
}

// The row that another one branched from: of the same run, or of the other one that is shown.
function parentOf(row) {
  if (!row.parent) return null;
  const runs = [row.run, ...data.runs.map((_, index) => index)];
  return runs.map((run) => byId.get(row.parent + (run ? "@" + run : ""))).find(Boolean) || null;
}

function gather(groups, key, row) {
  if (!groups.has(key)) groups.set(key, []);
  groups.get(key).push(row);
}

const failing = (row) => (row.verdicts || []).filter((verdict) => verdict.score === null || verdict.score < 1);

function failedTools(row) {
  const failures = categoriesOf(row);
  return row.messages.filter((m) => m.role === "tool" && failures.has(m.tool_call_id)).map((m) => m.name || "tool");
}

// The category of each call whose result is an error, by the call's id.
function categoriesOf(row) {
  const categories = new Map();
  if (!row.errors) return categories;
  let next = 0;
  for (const message of row.messages) {
    if (message.role !== "tool") continue;
    let body = null;
    try { body = JSON.parse(message.content); } catch { body = null; }
    const failed = body && typeof body === "object" && (body.status === "error" || body.error !== undefined);
    if (failed || /^error\b/i.test(message.content || "")) {
      categories.set(message.tool_call_id, (row.categories || [])[next] || "error");
      next += 1;
    }
  }
  return categories;
}

function haystack(row) {
  if (row.hay === undefined) {
    const parts = [row.id, row.task, label(row), JSON.stringify(row.verdicts)];
    for (const message of row.messages) {
      if (message.content) parts.push(message.content);
      for (const call of message.tool_calls || []) {
        parts.push(call.function.name, JSON.stringify(call.function.arguments));
      }
    }
    row.hay = parts.join("\n").toLowerCase();
  }
  return row.hay;
}

function select() {
  const wanted = state.filters.q.trim().toLowerCase();
  const active = FILTERS.filter(([name]) => state.filters[name]);
  state.shown = data.rows
    .filter((row) => active.every(([name, , values]) => values(row).includes(state.filters[name])))
    .filter((row) => (served ? found === null || found.has(row.ref) : !wanted || haystack(row).includes(wanted)));
  if (state.sort !== "plan") state.shown.sort(SORTS[state.sort][1]); // rows are in the plan's order
}

// Text and SQL conditions are looked up by the server, which has the transcripts.
async function searched() {
  if (!served) return;
  const words = state.filters.q.trim();
  const where = state.filters.where.trim();
  refused = "";
  if (!words && !where) {
    found = null;
    return;
  }
  try {
    found = new Set(await ask("search", `&q=${encodeURIComponent(words)}&where=${encodeURIComponent(where)}`));
  } catch (error) {
    found = new Set();
    refused = error.message;
  }
}

// The transcript of a row that a server holds, fetched when it is first shown.
async function fetchRow(row) {
  const answer = await ask(`row/${row.run}/${encodeURIComponent(row.id)}`);
  const prompts = data.prompts.length;
  const tools = data.tools.length;
  data.prompts.push(...answer.prompts);
  data.tools.push(...answer.tools);
  Object.assign(data.tasks, answer.tasks);
  for (const message of answer.row.messages) if (message.prompt !== undefined) message.prompt += prompts;
  answer.row.tools += tools;
  if (answer.row.names !== null) answer.row.names += tools;
  Object.assign(row, answer.row);
}

// ---- address
function address(view, id, other, filters = state.filters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value) query.set(name, value);
  if (state.sort !== "plan") query.set("sort", state.sort);
  const tail = query.size ? "?" + query : "";
  if (view === "rows") return id ? `#/row/${encodeURIComponent(id)}${tail}` : `#/${tail}`;
  if (view === "pair") return `#/pair/${encodeURIComponent(id)}/${encodeURIComponent(other)}${tail}`;
  return `#/${view}${tail}`;
}

function read() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").map(decoded);
  state.view = ["overview", "compare", "pair"].includes(parts[0]) ? parts[0] : "rows";
  state.id = parts[0] === "row" || parts[0] === "pair" ? parts[1] || null : null;
  state.other = parts[0] === "pair" ? parts[2] || null : null;
  const given = new URLSearchParams(query || "");
  state.sort = SORTS[given.get("sort")] ? given.get("sort") : "plan";
  state.filters = { q: given.get("q") || "", where: given.get("where") || "" };
  for (const [name] of FILTERS) if (given.get(name)) state.filters[name] = given.get(name);
}

function decoded(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}
