// ---- frame
function go(target) {
  if (location.hash !== target) location.hash = target;
  draw(); // at once: two quick keys must not both start from the same row
}

function draw() {
  const before = state.drawn;
  state.drawn = location.hash;
  read();
  select();
  drawTop();
  const main = document.getElementById("main");
  main.className = state.view === "rows" ? (state.id ? "reading" : "") : "wide";
  const content = { overview, compare: comparison, pair: () => pair(state.id, state.other) }[state.view];
  if (content) {
    main.replaceChildren(h("section", { class: "detail", id: "detail", tabindex: "-1" }, content()));
    document.title = `${state.view} - synth view`;
  } else {
    let list = main.querySelector(".list");
    if (!list) {
      list = listPanel();
      main.replaceChildren(list, h("section", { class: "detail", id: "detail", tabindex: "-1", "aria-label": "Transcript" }));
    }
    drawList(list);
    drawDetail();
  }
  // Who comes by a link is taken to the page's heading, unless the list still has the focus.
  if (before !== undefined && document.activeElement === document.body) main.querySelector(".detail h1")?.focus({ preventScroll: true });
}

function drawDetail() {
  const detail = document.querySelector(".detail");
  const row = byId.get(state.id) || (!state.id && window.innerWidth > NARROW ? state.shown[0] : null);
  detail.replaceChildren();
  append(detail, row ? trajectory(row) : [h("p", { class: "empty" }, state.id ? "No such trajectory in this file." : "Select a trajectory.")]);
  detail.scrollTop = 0;
  document.title = row ? `${label(row)} - synth view` : "synth view";
}

function drawTop() {
  const names = data.runs.map((run) => run.name).join("  vs  ");
  const run = data.runs[0];
  const tabs = [["rows", "Trajectories"], ["overview", "Overview"]];
  if (data.runs.length > 1) tabs.push(["compare", "Compare"]);
  document.getElementById("top").replaceChildren(
    h("span", { class: "brand" }, h("b", {}, "synth"), " view"),
    h("span", { class: "run", title: names }, names),
    h("span", { class: "pill" + (run.status === "complete" ? " good" : " warn"), role: "status" }, run.status),
    h("nav", { class: "tabs", "aria-label": "Views" },
      tabs.map(([view, text]) => h("a", { href: address(view), "aria-current": state.view === view ? "page" : null }, text))),
    h("button", { class: "icon", title: "Light or dark (t)", "aria-label": "Switch between light and dark", onclick: theme }, "◐"),
    h("button", { class: "icon", title: "Keys and words (?)", "aria-label": "Keys and words", onclick: help }, "?"),
  );
}

// ---- keyboard, theme, help
function theme() {
  const dark = document.documentElement.dataset.theme === "dark";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("synth-theme", document.documentElement.dataset.theme); } catch { /* a file may have no storage */ }
}

const KEYS = [["j / k", "next and previous trajectory"], ["/", "search"], ["o", "overview"], ["l", "back to the list"],
  ["c", "compare two runs"], ["b", "best sample beside the worst"], ["a / x", "accept or reject the row (served pages)"], ["t", "light or dark"], ["?", "this help"], ["Esc", "leave the search, close this"]];

const MEANINGS = [["gate", WORDS.gate], ["score", WORDS.score], ["state", "The gate over the rows at the end: missing rows are in the reference solution's end and not in this one, collateral rows the other way round."],
  ["reply", "The gate over all that the agent says: what the user asked to learn, and nothing that is not so."], ["reads_only", "The gate over whose data the agent reads."],
  ["planned mistake", WORDS.mistake], ["recovery", WORDS.recovery], ["not trained on", WORDS.untrained], ["blame", `Who is at fault for a failure. ${WORDS["by rule"]}`], ["gold", "The reference solution of the task, executed on the same rows."],
  ["pass@k", "The chance that at least one of k samples of a task passes."], ["pass^k", "The chance that all k samples pass."], ["interval", "In brackets behind a share: 95\u00a0% (Wilson), as if all rollouts were independent."]];

function help() {
  const dialog = document.getElementById("help");
  const list = (pairs) => h("dl", {}, pairs.map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));
  dialog.replaceChildren(h("h1", { tabindex: "-1", autofocus: true }, "Help"), h("h2", {}, "Keyboard"), list(KEYS.filter(([key]) => key !== "c" || data.runs.length > 1).map(([key, text]) => [h("kbd", {}, key), text])), h("h2", {}, "Words"), list(MEANINGS),
    h("button", { class: "icon", onclick: () => dialog.close() }, "Close"));
  dialog.showModal();
}

function step(by) {
  if (!state.shown.length) return;
  const place = state.shown.findIndex((row) => row.ref === state.id);
  const next = state.shown[Math.min(state.shown.length - 1, Math.max(0, Math.max(0, place) + by))];
  go(address("rows", next.ref));
}

function onKey(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape" && typing) return event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const actions = {
    j: () => step(1), k: () => step(-1), "/": () => { go(address("rows", state.id)); document.querySelector("input[type=search]").focus(); },
    o: () => go(address("overview")), l: () => go(address("rows")), c: () => data.runs.length > 1 && go(address("compare")),
    a: () => review("accept", null), x: () => review("reject", null),
    b: () => document.getElementById("best-worst")?.click(), t: theme, "?": help,
  };
  if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
}

function debounce(call, wait) {
  let timer = null;
  return () => { clearTimeout(timer); timer = setTimeout(call, wait); };
}

// A run that goes on: new rows are added, and what is being read stays where it is. The larger the
// run, the less often it is asked for.
async function refresh() {
  const began = performance.now();
  const fresh = await ask("index");
  const count = data.rows.length;
  data.runs = fresh.runs;
  fresh.rows.filter((row) => !byId.has(row.run ? `${row.id}@${row.run}` : row.id)).forEach((row) => data.rows.push(row));
  data.rows.slice(count).forEach((row, place) => prepare(row, count + place));
  drawTop();
  select();
  const list = document.querySelector(".list");
  if (list && data.rows.length > count) drawList(list);
  watch(Math.max(5000, 10 * (performance.now() - began)));
}

function watch(wait) {
  if (served && data.runs.some((run) => run.status === "running")) setTimeout(() => refresh().catch(() => watch(5000)), wait);
}

async function moved() {
  if (location.hash === state.drawn) return;
  const before = state.filters;
  read();
  if (before.q !== state.filters.q || before.where !== state.filters.where) await searched();
  draw();
}

async function start() {
  let saved = null;
  try { saved = localStorage.getItem("synth-theme"); } catch { saved = null; }
  document.documentElement.dataset.theme = saved || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  try {
    data = await unpack();
  } catch (error) {
    document.querySelector(".loading").textContent = `The data in this page cannot be read: ${error.message}`;
    return;
  }
  data.rows.forEach(prepare);
  read();
  await searched();
  watch(5000);
  document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); document.getElementById("detail").focus(); });
  addEventListener("hashchange", moved);
  addEventListener("keydown", onKey);
  draw();
  document.body.dataset.ready = "true";
}

start();
