// ---- list
const HEIGHT = 82;
const SIGNS = { success: "✓", failure: "✗", unscored: "?" };
const NARROW = 760;

function listPanel() {
  const search = h("input", { type: "search", placeholder: "Search text, tools, arguments, ids ...", "aria-label": "Search",
    oninput: debounce(() => { state.filters.q = search.value; searched().then(replace); }, served ? 300 : 60) });
  const where = served ? h("input", { type: "search", class: "mono", placeholder: "SQL: num_turns > 8 AND reward < 1", "aria-label": "SQL condition over the columns",
    onchange: () => { state.filters.where = where.value; searched().then(replace); } }) : null;
  const selects = h("div", { class: "selects" });
  const folded = h("details", {}, h("summary", {}, "Filters"), selects);
  const sort = h("div", { class: "sort" });
  const chips = h("div", { class: "chips" });
  const count = h("div", { class: "count", role: "status" });
  const rows = h("div", { class: "rows", role: "list", "aria-label": "Trajectories" });
  const scroll = h("div", { class: "scroll", onscroll: () => drawRows(scroll, rows) }, rows);
  const list = h("aside", { class: "list", "aria-label": "Trajectories" }, h("div", { class: "filters" }, search, where, h("div", { class: "narrow" }, folded, sort), chips, count), scroll);
  list.parts = { search, where, selects, folded, sort, chips, count, rows, scroll };
  new ResizeObserver(() => drawRows(scroll, rows)).observe(scroll);
  return list;
}

function replace() {
  history.replaceState(null, "", address("rows", state.id));
  state.drawn = location.hash;
  select();
  drawList(document.querySelector(".list"));
  if (!state.id && window.innerWidth > NARROW) drawDetail();
}

function clear() {
  state.filters = { q: "", where: "" };
  found = null;
  refused = "";
  const { search, where } = document.querySelector(".list").parts;
  search.value = "";
  if (where) where.value = "";
  replace();
}

function drawList(list) {
  const { search, where, selects, folded, sort, chips, count, rows, scroll } = list.parts;
  if (document.activeElement !== search) search.value = state.filters.q;
  if (where && document.activeElement !== where) where.value = state.filters.where;
  const focused = document.activeElement.dataset.filter;
  selects.replaceChildren(...FILTERS.map(filterSelect).filter(Boolean));
  sort.replaceChildren(sortSelect());
  chips.replaceChildren(...FILTERS.filter(([name]) => state.filters[name]).map(chip));
  if (focused) list.querySelector(`[data-filter="${focused}"]`)?.focus();
  const active = Object.values(state.filters).filter(Boolean).length;
  const narrowing = active - (state.filters.q ? 1 : 0);
  folded.querySelector("summary").textContent = narrowing ? `Filters (${narrowing})` : "Filters";
  const mean = meanReward(state.shown);
  count.replaceChildren(
      h("span", { class: refused ? "refused" : null }, refused || `${number(state.shown.length)} of ${number(data.rows.length)}` + (mean === null ? "" : `, mean reward ${mean.toFixed(3)}`)),
    active ? h("button", { class: "linkish", onclick: clear }, "Clear") : "");
  rows.style.height = `${Math.max(1, state.shown.length) * HEIGHT}px`;
  const position = state.shown.findIndex((row) => row.ref === state.id);
  if (position >= 0) {
    const top = position * HEIGHT;
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    if (top + HEIGHT > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = top + HEIGHT - scroll.clientHeight;
  }
  drawRows(scroll, rows);
}

function drawRows(scroll, rows) {
  const from = Math.max(0, Math.floor(scroll.scrollTop / HEIGHT) - 6);
  const until = Math.min(state.shown.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / HEIGHT) + 6);
  const items = [];
  const current = state.id || (state.shown[0] || {}).ref;
  for (let place = from; place < until; place++) items.push(listItem(state.shown[place], place, current));
  if (!state.shown.length) items.push(h("p", { class: "empty" }, refused ? "This condition cannot be read." : "No trajectory matches these filters."));
  const focused = document.activeElement.closest && document.activeElement.closest(".item") ? document.activeElement.getAttribute("href") : null;
  rows.replaceChildren(...items);
  if (focused) [...rows.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus({ preventScroll: true });
}

// What tells a row from its siblings, where its reason takes the place of its facts.
function which(row) {
  const parts = [data.runs.length > 1 ? data.runs[row.run].name : null, samplesOf(row).length > 1 || row.parent ? from(row) : null].filter(Boolean);
  return parts.length ? h("span", { class: "which" }, parts.join(", ")) : null;
}

function listItem(row, place, current) {
  const facts = [data.runs.length > 1 ? data.runs[row.run].name : null, samplesOf(row).length > 1 || row.parent ? from(row) : null, counted(row.turns, "turn"), counted(row.calls, "call"), row.errors ? counted(row.errors, "error") : null].filter(Boolean);
  const item = h("div", { class: `item ${row.outcome}`, role: "listitem", "aria-posinset": place + 1, "aria-setsize": state.shown.length },
    h("a", { href: address("rows", row.ref), "aria-current": row.ref === current ? "true" : null },
      h("div", { class: "first" }, h("span", { class: "family" }, label(row)), row.why ? which(row) : null,
        h("span", { class: "num" }, h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[row.outcome] || "?"),
          h("span", { class: "spoken" }, `${row.outcome}, reward `), row.reward === null ? "unscored" : row.reward.toFixed(2))),
      h("div", { class: "ask" }, row.ask.slice(0, 160)),
      row.why ? h("div", { class: "why-line" }, readable(row.why).slice(0, 160)) : h("div", { class: "meta" }, facts.join(" · "))));
  item.style.top = `${place * HEIGHT}px`;
  return item;
}

const LEVELS = ["simple", "moderate", "challenging"];
const levelRank = (name) => (LEVELS.includes(name) ? LEVELS.indexOf(name) : parseInt(name, 10));

// The values of a filter with their counts; counted anew only when rows have come.
const known = { rows: 0, options: new Map() };

function optionsOf([name, , values]) {
  if (known.rows !== data.rows.length) {
    known.rows = data.rows.length;
    known.options.clear();
  }
  if (!known.options.has(name)) {
    const counts = new Map();
    for (const row of data.rows) for (const value of values(row)) counts.set(value, (counts.get(value) || 0) + 1);
    known.options.set(name, [...counts].sort((a, b) => (name === "level" ? levelRank(a[0]) - levelRank(b[0]) : b[1] - a[1] || (String(a[0]) < String(b[0]) ? -1 : 1))));
  }
  return known.options.get(name);
}

function filterSelect(filter) {
  const [name, text] = filter;
  const options = optionsOf(filter);
  if (options.length < 2 && !state.filters[name]) return null;
  return h("select", { class: state.filters[name] ? "on" : null, "aria-label": text, "data-filter": name,
    onchange: (event) => { state.filters[name] = event.target.value; replace(); } },
    h("option", { value: "" }, text + ": all"),
    options.map(([value, count]) => h("option", { value, selected: state.filters[name] === value }, `${value} (${number(count)})`)));
}

// A filter in force, to be seen and taken away while the filters are folded.
function chip([name, text]) {
  const drop = () => { state.filters[name] = ""; replace(); document.querySelector("input[type=search]").focus(); };
  return h("button", { class: "pill accent chip", "aria-label": `Remove the filter ${text}: ${state.filters[name]}`, onclick: drop }, `${text}: ${state.filters[name]}`, h("span", { "aria-hidden": "true" }, "×"));
}

function sortSelect() {
  return h("select", { "aria-label": "Sort", "data-filter": "sort", onchange: (event) => { state.sort = event.target.value; replace(); } },
    Object.entries(SORTS).map(([name, [text]]) => h("option", { value: name, selected: state.sort === name }, text)));
}
