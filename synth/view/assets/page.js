"use strict";
(() => {
  // ---- DOM: text nodes only, and characters that hide or reorder text are shown as what they are
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;
  const HIDDEN_ALL = new RegExp(HIDDEN.source, "g");

  function visible(text, needle) {
    const nodes = [];
    let last = 0;
    if (HIDDEN.test(text)) {
      for (const match of text.matchAll(HIDDEN_ALL)) {
        nodes.push(...marked(text.slice(last, match.index), needle));
        const code = "U+" + match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
        const span = document.createElement("span");
        span.className = "ctl";
        span.textContent = code;
        nodes.push(span);
        last = match.index + match[0].length;
      }
    }
    nodes.push(...marked(text.slice(last), needle));
    return nodes;
  }

  function marked(text, needle) {
    if (!text) return [];
    const words = needle || state.filters.q;
    if (!words || words.length < 2) return [document.createTextNode(text)];
    const nodes = [];
    const lower = text.toLowerCase();
    const wanted = words.toLowerCase();
    let from = 0;
    for (let at = lower.indexOf(wanted); at >= 0 && nodes.length < 400; at = lower.indexOf(wanted, from)) {
      nodes.push(document.createTextNode(text.slice(from, at)));
      const mark = document.createElement("mark");
      mark.textContent = text.slice(at, at + wanted.length);
      nodes.push(mark);
      from = at + wanted.length;
    }
    nodes.push(document.createTextNode(text.slice(from)));
    return nodes;
  }

  function h(tag, props, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(props || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name === "class") element.className = value;
      else element.setAttribute(name, value === true ? "" : value);
    }
    append(element, children);
    return element;
  }

  function append(element, children) {
    for (const child of children.flat(Infinity)) {
      if (child === null || child === undefined || child === false) continue;
      if (child instanceof Node) element.append(child);
      else element.append(...visible(String(child)));
    }
  }

  function svg(tag, props, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(props || {})) element.setAttribute(name, value);
    append(element, children);
    return element;
  }

  // ---- state and data
  const state = { view: "rows", id: null, other: null, filters: { q: "" }, sort: "plan", shown: [], open: false };
  let data = null;
  let served = false;
  let found = null;
  const byId = new Map();
  const FILTERS = [
    ["run", "Run", (row) => [data.runs[row.run].name]],
    ["outcome", "Outcome", (row) => [row.outcome]],
    ["family", "Family", (row) => [row.family]],
    ["case", "Case", (row) => (row.case ? [row.case] : [])],
    ["split", "Split", (row) => [row.split]],
    ["stop", "Stop reason", (row) => [row.stop]],
    ["tool", "Tool", (row) => row.used],
    ["category", "Error", (row) => row.categories || []],
    ["blame", "Blame", (row) => (row.blame ? [row.blame] : [])],
  ];
  const SORTS = {
    plan: ["Plan order", (a, b) => a.order - b.order],
    low: ["Lowest reward", (a, b) => rank(a) - rank(b) || a.order - b.order],
    high: ["Highest reward", (a, b) => rank(b) - rank(a) || a.order - b.order],
    turns: ["Most turns", (a, b) => b.turns - a.turns || a.order - b.order],
    errors: ["Most tool errors", (a, b) => b.errors - a.errors || a.order - b.order],
    cost: ["Most expensive", (a, b) => (b.cost || 0) - (a.cost || 0) || a.order - b.order],
  };
  const rank = (row) => (row.reward === null ? 2 : row.reward);
  const label = (row) => (row.case ? `${row.family} (${row.case})` : row.family);
  const percent = (share) => (100 * share).toFixed(1) + " %";
  const number = (value) => (value === null || value === undefined ? "-" : value.toLocaleString("en-US"));

  // A page with data reads it from itself; a page without asks the server that it came from.
  const token = new URLSearchParams(location.search).get("token");

  async function ask(path, query = "") {
    const response = await fetch(`/api/${path}?token=${encodeURIComponent(token)}${query}`);
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  }

  async function unpack() {
    const text = document.getElementById("data").textContent.trim();
    if (!text) {
      served = true;
      return ask("index");
    }
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  function prepare(row, order) {
    row.order = order;
    if (row.messages) {
      row.sequence = row.messages.flatMap((m) => (m.tool_calls || []).map((c) => c.function.name));
      row.ask = (row.messages.find((m) => m.role === "user") || {}).content || "";
    }
    row.used = [...new Set(row.sequence)];
    byId.set(row.id + (row.run ? "@" + row.run : ""), row);
    row.ref = row.id + (row.run ? "@" + row.run : "");
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
      .filter((row) => !wanted || (served ? found !== null && found.has(row.ref) : haystack(row).includes(wanted)))
      .sort(SORTS[state.sort][1]);
  }

  // ---- address
  function address(view, id, other) {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(state.filters)) if (value) query.set(name, value);
    if (state.sort !== "plan") query.set("sort", state.sort);
    const tail = query.size ? "?" + query : "";
    if (view === "rows") return id ? `#/row/${encodeURIComponent(id)}${tail}` : `#/${tail}`;
    if (view === "pair") return `#/pair/${encodeURIComponent(id)}/${encodeURIComponent(other)}${tail}`;
    return `#/${view}${tail}`;
  }

  function read() {
    const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
    const parts = path.split("/").map(decodeURIComponent);
    state.view = ["overview", "compare", "pair"].includes(parts[0]) ? parts[0] : "rows";
    state.id = parts[0] === "row" || parts[0] === "pair" ? parts[1] || null : null;
    state.other = parts[0] === "pair" ? parts[2] || null : null;
    const given = new URLSearchParams(query || "");
    state.sort = SORTS[given.get("sort")] ? given.get("sort") : "plan";
    state.filters = { q: given.get("q") || "" };
    for (const [name] of FILTERS) if (given.get(name)) state.filters[name] = given.get(name);
  }

  function go(target) {
    if (location.hash !== target) location.hash = target;
    draw(); // at once: two quick keys must not both start from the same row
  }

  // ---- frame
  function draw() {
    state.drawn = location.hash;
    read();
    select();
    drawTop();
    const main = document.getElementById("main");
    main.className = state.view === "rows" ? (state.id ? "reading" : "") : "wide";
    if (state.view === "overview") return main.replaceChildren(pane(overview()));
    if (state.view === "compare") return main.replaceChildren(pane(comparison()));
    if (state.view === "pair") return main.replaceChildren(pane(pair(state.id, state.other)));
    let list = main.querySelector(".list");
    if (!list) {
      list = listPanel();
      main.replaceChildren(list, h("section", { class: "detail", id: "detail", tabindex: "-1", "aria-label": "Transcript" }));
    }
    drawList(list);
    const detail = main.querySelector(".detail");
    const row = byId.get(state.id) || (window.innerWidth > 760 ? state.shown[0] : null);
    detail.replaceChildren();
    append(detail, row ? trajectory(row) : [h("p", { class: "empty" }, state.id ? "No such trajectory in this file." : "Select a trajectory.")]);
    detail.scrollTop = 0;
    document.title = row ? `${label(row)} - synth view` : "synth view";
  }

  const pane = (content) => h("section", { class: "detail", id: "detail", tabindex: "-1" }, content);

  function drawTop() {
    const names = data.runs.map((run) => run.name).join("  vs  ");
    const run = data.runs[0];
    const tabs = [["rows", "Trajectories"], ["overview", "Overview"]];
    if (data.runs.length > 1) tabs.push(["compare", "Compare"]);
    document.getElementById("top").replaceChildren(
      h("span", { class: "brand" }, h("b", {}, "synth"), " view"),
      h("span", { class: "run", title: names }, names),
      h("span", { class: "pill" + (run.status === "complete" ? " good" : " warn") }, run.status),
      h("nav", { class: "tabs", "aria-label": "Views" },
        tabs.map(([view, text]) => h("a", { href: address(view), "aria-current": state.view === view ? "page" : null }, text))),
      h("button", { class: "icon", title: "Light or dark (t)", "aria-label": "Switch between light and dark", onclick: theme }, "◐"),
      h("button", { class: "icon", title: "Keyboard shortcuts (?)", "aria-label": "Keyboard shortcuts", onclick: help }, "?"),
    );
  }

  // ---- list
  const HEIGHT = 66;

  function listPanel() {
    const search = h("input", { type: "search", placeholder: "Search text, tools, arguments, ids ...", "aria-label": "Search",
      oninput: debounce(() => { state.filters.q = search.value; searched().then(replace); }, served ? 300 : 60) });
    const selects = h("div", { class: "selects" });
    const folded = h("details", { open: window.innerWidth > 760 }, h("summary", {}, "Filters"), selects);
    const count = h("div", { class: "count", role: "status" });
    const rows = h("div", { class: "rows", role: "list", "aria-label": "Trajectories" });
    const scroll = h("div", { class: "scroll", onscroll: () => drawRows(scroll, rows) }, rows);
    const list = h("aside", { class: "list", "aria-label": "Trajectories" }, h("div", { class: "filters" }, search, folded, count), scroll);
    list.parts = { search, selects, count, rows, scroll };
    new ResizeObserver(() => drawRows(scroll, rows)).observe(scroll);
    return list;
  }

  async function searched() {
    if (!served) return;
    const words = state.filters.q.trim();
    found = words ? new Set(await ask("search", `&q=${encodeURIComponent(words)}`)) : null;
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
    Object.assign(row, answer.row);
  }

  function replace() {
    history.replaceState(null, "", address("rows", state.id));
    select();
    drawList(document.querySelector(".list"));
  }

  function drawList(list) {
    const { search, selects, count, rows, scroll } = list.parts;
    if (document.activeElement !== search) search.value = state.filters.q;
    selects.replaceChildren(...FILTERS.map(filterSelect).filter(Boolean), sortSelect());
    const active = Object.values(state.filters).some(Boolean);
    const scored = state.shown.filter((row) => row.reward !== null);
    const mean = scored.length ? scored.reduce((sum, row) => sum + row.reward, 0) / scored.length : null;
    count.replaceChildren(
      h("span", {}, `${number(state.shown.length)} of ${number(data.rows.length)}` + (mean === null ? "" : `, mean reward ${mean.toFixed(3)}`)),
      active ? h("button", { class: "linkish", onclick: () => { state.filters = { q: "" }; search.value = ""; replace(); } }, "Clear") : "");
    rows.style.height = `${state.shown.length * HEIGHT}px`;
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
    for (let place = from; place < until; place++) {
      const row = state.shown[place];
      const item = h("a", { class: `item ${row.outcome}`, href: address("rows", row.ref), role: "listitem",
        "aria-posinset": place + 1, "aria-setsize": state.shown.length, "aria-current": row.ref === current ? "true" : null },
        h("div", { class: "first" }, h("span", { class: "family" }, label(row)),
          h("span", { class: "num", title: "reward" }, row.reward === null ? "unscored" : row.reward.toFixed(2)),),
        h("div", { class: "ask" }, row.ask.slice(0, 160)));
      item.style.top = `${place * HEIGHT}px`;
      items.push(item);
    }
    if (!state.shown.length) items.push(h("p", { class: "empty" }, "No trajectory matches these filters."));
    rows.replaceChildren(...items);
  }

  function filterSelect([name, text, values]) {
    const counts = new Map();
    for (const row of data.rows) for (const value of values(row)) counts.set(value, (counts.get(value) || 0) + 1);
    if (counts.size < 2 && !state.filters[name]) return null;
    const options = [...counts].sort((a, b) => b[1] - a[1] || String(a[0]).localeCompare(b[0]));
    const chosen = h("select", { class: state.filters[name] ? "on" : null, "aria-label": text,
      onchange: (event) => { state.filters[name] = event.target.value; replace(); } },
      h("option", { value: "" }, text + ": all"),
      options.map(([value, count]) => h("option", { value, selected: state.filters[name] === value }, `${value} (${count})`)));
    return chosen;
  }

  function sortSelect() {
    return h("select", { "aria-label": "Sort", onchange: (event) => { state.sort = event.target.value; replace(); } },
      Object.entries(SORTS).map(([name, [text]]) => h("option", { value: name, selected: state.sort === name }, text)));
  }

  // ---- one trajectory
  function trajectory(row, side) {
    if (!row.messages) {
      const waiting = h("p", { class: "empty", role: "status" }, "Reading the transcript ...");
      fetchRow(row).then(() => draw(), (error) => { waiting.textContent = error.message; });
      return [waiting];
    }
    const state_ = (row.verdicts || []).find((verdict) => verdict.verifier === "state");
    const first = state_ && state_.detail && state_.detail.first_wrong ? state_.detail.first_wrong.call : null;
    return [
      h("div", { class: "headline" },
        side ? null : h("a", { class: "icon pill back", href: address("rows"), "aria-label": "Back to the list" }, "←"),
        h("h1", {}, label(row)), rewardPill(row),
        row.blame ? h("span", { class: "pill warn", title: "Who is at fault, decided by rule" }, `blame: ${row.blame}`) : null),
      facts(row),
      h("div", { class: "verdicts" }, (row.verdicts || []).map(verdictCard)),
      side ? null : siblings(row),
      side ? null : branches(row),
      h("h2", {}, "Transcript"),
      transcript(row, first),
      h("h2", {}, "Row changes against gold"),
      against(row, state_),
      row.submitted ? [h("h2", {}, "Submitted"), h("div", { class: "card" }, json(row.submitted))] : null,
      extras(row),
    ];
  }

  function rewardPill(row) {
    const kind = row.outcome === "success" ? "good" : row.outcome === "failure" ? "bad" : "warn";
    return h("span", { class: `pill ${kind}` }, row.reward === null ? row.outcome : `${row.outcome}, reward ${row.reward.toFixed(2)}`);
  }

  function facts(row) {
    const pairs = [
      ["stopped", row.stop], ["turns", row.turns], ["tool calls", `${row.calls}` + (row.errors ? `, ${row.errors} failed` : "")],
      ["tokens", row.input_tokens === null ? null : `${number(row.input_tokens)} in, ${number(row.output_tokens)} out`],
      ["cost", row.cost === null ? null : `$${row.cost.toFixed(5)}`],
      ["model", row.model], ["split", row.split], ["universe", row.universe], ["sample", row.sample],
      ["task", row.task], ["id", row.id], ["run", data.runs.length > 1 ? data.runs[row.run].name : null],
    ];
    return h("div", { class: "facts" }, pairs.filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => h("span", {}, `${name} `, h("b", { class: name === "id" || name === "task" ? "mono" : null }, value))));
  }

  function verdictCard(verdict) {
    const kind = verdict.score === null ? "warn" : verdict.score >= 1 ? "good" : "bad";
    const sign = { good: "✓", bad: "✗", warn: "?" }[kind];
    return h("div", { class: kind === "good" ? "card" : "card wide" },
      h("div", { class: "who" }, h("span", { class: `pill ${kind}` }, `${sign} ${verdict.verifier}`),
        verdict.gate ? "gate" : `score ${verdict.score}, weight ${verdict.weight}`),
      h("div", { class: "reason" }, verdict.reason));
  }

  function siblings(row) {
    const all = data.rows.filter((other) => other.task === row.task && other.run === row.run);
    if (all.length < 2) return null;
    const scored = all.filter((other) => other.reward !== null).sort((a, b) => b.reward - a.reward);
    const best = scored[0];
    const worst = scored[scored.length - 1];
    return h("div", { class: "siblings" }, "Samples of this task",
      all.map((other) => h("a", { class: `dot ${other.outcome}`, href: address("rows", other.ref), title: `sample ${other.sample}: ${other.outcome}`,
        "aria-label": `sample ${other.sample}, ${other.outcome}`, "aria-current": other === row ? "true" : null }, other.sample)),
      best && worst && best.reward > worst.reward ? h("a", { href: address("pair", best.ref, worst.ref) }, "best beside worst (b)") : null);
  }

  function branches(row) {
    let root = row;
    while (root.parent && byId.get(root.parent)) root = byId.get(root.parent);
    const children = (parent) => data.rows.filter((other) => other.parent === parent.id && other.run === parent.run);
    if (!children(root).length) return null;
    const node = (item) => h("li", {},
      h("a", { href: address("rows", item.ref), "aria-current": item === row ? "true" : null }, item.id), " ",
      item.branch_step === null ? "" : `from step ${item.branch_step} `, rewardPill(item),
      children(item).length ? h("ul", {}, children(item).map(node)) : null);
    return [h("h2", {}, "Branches"), h("ul", { class: "tree" }, node(root))];
  }

  function transcript(row, firstWrong) {
    const results = new Map();
    for (const message of row.messages) if (message.role === "tool") results.set(message.tool_call_id, message);
    const changes = new Map((row.changes || []).map((entry) => [entry.id, entry.changes]));
    const numbers = new Map((row.changes || []).map((entry) => [entry.id, entry.call]));
    const failures = categoriesOf(row);
    const answered = new Set();
    const notes = new Map((row.notes || []).map((note) => [note.turn, note]));
    let turn = -1;
    return h("div", {}, row.messages.map((message) => {
      if (message.role === "system") return systemPrompt(message);
      if (message.role === "tool") {
        return answered.has(message.tool_call_id) ? null
          : h("div", { class: "call alone" }, h("div", {}, h("div", { class: "tool" }, h("code", {}, message.name || "tool")), result(message.content)));
      }
      if (message.role === "assistant") turn += 1;
      const calls = (message.tool_calls || []).map((call) => {
        answered.add(call.id);
        return callCard(row, call, results.get(call.id), changes.get(call.id) || [], failures.get(call.id), firstWrong !== null && numbers.get(call.id) === firstWrong);
      });
      const note = message.role === "assistant" ? notes.get(turn) : null;
      return h("div", { class: `turn ${message.role}` },
        h("div", { class: "who" }, message.role, message.train === false ? h("span", { class: "pill warn" }, "not trained on") : null,
          note ? h("span", { class: "pill bad", title: note.detail || "" }, `planned mistake: ${note.kind}`) : null),
        message.reasoning_content ? h("details", { class: "fold" }, h("summary", {}, "reasoning"), h("div", { class: "text none" }, message.reasoning_content)) : null,
        message.content ? h("div", { class: "bubble text" }, message.content) : null, calls);
    }));
  }

  function categoriesOf(row) {
    const found = new Map();
    let next = 0;
    for (const message of row.messages) {
      if (message.role !== "tool") continue;
      let body = null;
      try { body = JSON.parse(message.content); } catch { body = null; }
      const failed = body && typeof body === "object" && (body.status === "error" || body.error !== undefined);
      if (failed || /^error\b/i.test(message.content || "")) {
        found.set(message.tool_call_id, (row.categories || [])[next] || "error");
        next += 1;
      }
    }
    return found;
  }

  function systemPrompt(message) {
    const text = message.prompt === undefined ? message.content : data.prompts[message.prompt];
    return h("details", { class: "turn fold" }, h("summary", {}, `system prompt (${number(text.length)} characters)`), h("div", { class: "card text" }, text));
  }

  function callCard(row, call, answer, changed, category, wrong) {
    const ms = (row.times || {})[call.id];
    return h("div", { class: "call" + (changed.length ? "" : " alone") + (wrong ? " wrong" : "") },
      h("div", {},
        h("div", { class: "tool" }, h("code", {}, call.function.name),
          category ? h("span", { class: "pill bad" }, category) : null,
          wrong ? h("span", { class: "pill bad" }, "first wrong write") : null,
          changed.length ? h("span", { class: "pill accent" }, `${changed.length} ${changed.length === 1 ? "row" : "rows"} changed`) : null,
          ms === undefined ? null : h("span", { class: "none" }, `${ms} ms`)),
        json(call.function.arguments),
        h("div", { class: "label" }, "result"), answer ? result(answer.content) : h("div", { class: "none" }, "not executed")),
      changed.length ? h("div", { class: "effect" }, h("div", { class: "label" }, "row changes of this call"), changed.map(change)) : null);
  }

  function result(content) {
    let value = null;
    try { value = JSON.parse(content); } catch { value = null; }
    const body = value !== null && typeof value === "object" ? json(value) : h("pre", {}, content);
    if ((content || "").length < 700) return body;
    return h("details", { class: "fold" }, h("summary", {}, `${number(content.length)} characters: ${content.slice(0, 90)} ...`), body);
  }

  // ---- values and changes
  function json(value, indent = 0) {
    const pre = indent ? null : h("pre", {});
    const out = [];
    write(value, 0, out);
    if (!pre) return out;
    append(pre, out);
    return pre;
  }

  function write(value, depth, out) {
    const pad = "  ".repeat(depth + 1);
    if (value === null) return out.push(h("span", { class: "null" }, "null"));
    if (typeof value === "string") return out.push(h("span", { class: "j-str" }, JSON.stringify(value)));
    if (typeof value === "number") return out.push(h("span", { class: "j-num" }, String(value)));
    if (typeof value === "boolean") return out.push(h("span", { class: "j-lit" }, String(value)));
    if (value.$int !== undefined) return out.push(h("span", { class: "j-num" }, value.$int));
    const list = Array.isArray(value);
    const entries = list ? value.map((item) => [null, item]) : Object.entries(value);
    if (!entries.length) return out.push(list ? "[]" : "{}");
    const flat = JSON.stringify(value);
    const wide = flat.length > 76;
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
    const text = typeof value === "object" ? (value.$int !== undefined ? value.$int : JSON.stringify(value)) : String(value);
    return h("span", { class: kind }, text.length > 400 ? text.slice(0, 400) + " ..." : text);
  }

  function change(entry) {
    const before = entry.before || {};
    const after = entry.after || {};
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const differs = (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]);
    const shown = entry.op === "update" ? names.filter(differs) : names;
    const key = Object.entries(entry.key || {}).map(([name, value]) => `${name}=${value !== null && value.$int ? value.$int : value}`).join(", ");
    return h("div", { class: "change" },
      h("div", { class: "op" }, h("span", { class: entry.op }, entry.op), entry.table, h("span", { class: "key" }, key)),
      h("table", { class: "diff" }, h("tbody", {}, shown.map((name) => h("tr", {}, h("td", {}, name),
        entry.op === "insert" ? null : h("td", {}, cell(before[name], "old")),
        entry.op === "delete" ? null : h("td", {}, cell(after[name], "new")))))));
  }

  function against(row, verdict) {
    // A verifier of somebody's own may keep anything under these names.
    const entriesOf = (value) => (Array.isArray(value) ? value : []);
    const detail = (verdict && verdict.detail) || {};
    const missing = entriesOf(detail.missing);
    const collateral = entriesOf(detail.collateral);
    const stray = collateral.map((entry) => JSON.stringify(entry));
    const right = (row.diff || []).filter((entry) => !stray.includes(JSON.stringify(entry)));
    const gold = data.tasks[row.task];
    const groups = [
      [`As expected (${right.length})`, "good", right],
      [`Missing (${missing.length})`, "bad", missing],
      [`Not wanted (${stray.length})`, "bad", collateral],
    ].filter(([, , entries], place) => entries.length || (place === 0 && !stray.length && !missing.length));
    return [
      h("div", { class: "against" }, groups.map(([title, kind, entries]) => h("div", { class: "card" },
        h("div", { class: "who" }, h("span", { class: `pill ${kind}` }, title)),
        entries.length ? entries.map(change) : h("p", { class: "none" }, "No row changed, and none should have.")))),
      gold ? h("details", { class: "fold" }, h("summary", {}, `Gold: ${(gold.played || []).length} calls, ${(gold.changes || []).length} row changes`),
        h("div", { class: "against" },
          h("div", { class: "card" }, h("div", { class: "label" }, "calls"), (gold.played || []).map((call) => h("div", {}, h("code", {}, call.tool, " "), json(call.arguments))),
            gold.answer ? [h("div", { class: "label" }, "answer"), json(gold.answer)] : null),
          h("div", { class: "card" }, h("div", { class: "label" }, "row changes"), (gold.changes || []).map(change)))) : null,
    ];
  }

  function extras(row) {
    const tools = data.tools[row.tools] || [];
    return [
      h("h2", {}, "More"),
      h("details", { class: "fold" }, h("summary", {}, `${tools.length} tools offered`),
        h("div", { class: "card" }, tools.map((tool) => h("details", { class: "fold" },
          h("summary", {}, h("code", {}, tool.function.name), " ", (tool.function.description || "").split("\n")[0]), json(tool.function.parameters))))),
      (row.faults || []).length ? h("details", { class: "fold" }, h("summary", {}, `${row.faults.length} injected faults`), h("div", { class: "card" }, json(row.faults))) : null,
      (row.raw || []).length ? h("details", { class: "fold" }, h("summary", {}, `${row.raw.length} unusual events (raw emissions, discarded drafts, denials)`), h("div", { class: "card" }, json(row.raw))) : null,
      row.notes && row.notes.length ? h("details", { class: "fold" }, h("summary", {}, "the teacher's own log"), h("div", { class: "card" }, json(row.notes))) : null,
      row.segments ? h("p", { class: "none" }, `${row.segments} contexts differ from this transcript (compaction or offload); see the segments column.`) : null,
    ];
  }

  function pair(left, right) {
    const rows = [byId.get(left), byId.get(right)];
    if (!rows[0] || !rows[1]) return h("p", { class: "empty" }, "No such pair in this file.");
    return [h("h1", {}, "Side by side"), h("div", { class: "pair" }, rows.map((row) => h("div", {}, trajectory(row, true))))];
  }

  // ---- overview
  function tally(rows, values) {
    const groups = new Map();
    for (const row of rows) for (const value of values(row)) {
      if (!groups.has(value)) groups.set(value, []);
      groups.get(value).push(row);
    }
    return [...groups].sort((a, b) => b[1].length - a[1].length);
  }

  const meanReward = (rows) => {
    const scored = rows.filter((row) => row.reward !== null);
    return scored.length ? scored.reduce((sum, row) => sum + row.reward, 0) / scored.length : null;
  };

  function overview() {
    const rows = state.shown;
    const scored = rows.filter((row) => row.reward !== null);
    const wins = scored.filter((row) => row.outcome === "success").length;
    const cost = rows.reduce((sum, row) => sum + (row.cost || 0), 0);
    const known = rows.some((row) => row.cost !== null);
    const tokens = rows.reduce((sum, row) => sum + (row.output_tokens || 0), 0);
    const sequences = new Set(rows.map((row) => row.sequence.join(">")));
    const [low, high] = wilson(wins, scored.length);
    return [
      h("h1", {}, data.runs.map((run) => run.name).join(" and ")),
      h("p", { class: "none" }, rows.length === data.rows.length ? "All trajectories." : `${number(rows.length)} of ${number(data.rows.length)} trajectories, as filtered in the list.`),
      h("div", { class: "tiles" },
        tile(number(rows.length), "trajectories"),
        tile(scored.length ? percent(wins / scored.length) : "-", `successful (95 %: ${percent(low)} to ${percent(high)})`),
        tile(meanReward(rows) === null ? "-" : meanReward(rows).toFixed(3), "mean reward"),
        tile(number(rows.length - scored.length), "unscored"),
        tile(number(data.runs.reduce((sum, run) => sum + (run.errors || 0), 0)), "broken by infrastructure"),
        tile(known ? "$" + cost.toFixed(2) : "-", "cost"),
        tokens ? tile(number(tokens), "output tokens") : null,
        tile(number(new Set(rows.map((row) => row.ask)).size), "distinct requests"),
        tile(number(sequences.size), "distinct tool sequences")),
      h("div", { class: "charts" },
        bars("Reward by family", tally(rows, (row) => [row.family]), "family"),
        h("div", { class: "charts" },
          passAtK(rows),
          histogram("Turns", rows.map((row) => row.turns)),
          histogram("Output tokens", rows.map((row) => row.output_tokens).filter((value) => value !== null)),
          bars("Stop reasons", tally(rows, (row) => [row.stop]), "stop"),
          bars("Reward by tool used", tally(rows, (row) => row.used), "tool"),
          bars("Errors by category", tally(rows, (row) => row.categories || []), "category"))),
    ];
  }

  const tile = (big, small) => h("div", { class: "tile" }, h("div", { class: "big" }, big), h("div", { class: "small" }, small));

  function bars(title, groups, filter) {
    if (!groups.length) return null;
    return h("div", { class: "card chart" }, h("h2", {}, title), h("table", { class: "bars" },
      h("thead", {}, h("tr", {}, h("th", {}, ""), h("th", {}, "mean reward"), h("th", {}, ""), h("th", {}, "rows"))),
      h("tbody", {}, groups.slice(0, 60).map(([name, rows]) => {
        const mean = meanReward(rows);
        const fill = h("div", { class: "fill " + (mean === null ? "" : mean >= 0.5 ? "good" : "bad") });
        fill.style.width = `${100 * (mean || 0)}%`;
        const link = h("a", { href: "#", onclick: (event) => { event.preventDefault(); state.filters = { q: "", [filter]: String(name) }; go(address("rows")); } }, name);
        return h("tr", {}, h("td", { class: "name", title: name }, link), h("td", {}, h("div", { class: "track" }, fill)),
          h("td", { class: "value" }, mean === null ? "-" : mean.toFixed(2)), h("td", { class: "value" }, number(rows.length)));
      }))));
  }

  function histogram(title, values) {
    if (new Set(values).size < 2) return null;
    const low = Math.min(...values);
    const high = Math.max(...values);
    const bins = Math.min(24, high - low + 1);
    const counts = new Array(bins).fill(0);
    for (const value of values) counts[Math.min(bins - 1, Math.floor(((value - low) / (high - low + 1)) * bins))] += 1;
    const most = Math.max(...counts);
    const width = 420 / bins;
    return h("div", { class: "card chart" }, h("h2", {}, title),
      svg("svg", { viewBox: "0 0 420 140", role: "img", "aria-label": `${title}: from ${low} to ${high}` },
        counts.map((count, place) => svg("rect", { class: "bar", x: place * width + 1, y: 112 - (104 * count) / most, width: Math.max(1, width - 2), height: (104 * count) / most, rx: 2 },
          svg("title", {}, `${count} rows`))),
        svg("line", { class: "axis", x1: 0, y1: 112.5, x2: 420, y2: 112.5 }),
        svg("text", { x: 0, y: 130 }, number(low)), svg("text", { x: 420, y: 130, "text-anchor": "end" }, number(high))));
  }

  function passAtK(rows) {
    const tasks = tally(rows.filter((row) => row.reward !== null), (row) => [row.task]).map(([, group]) => group);
    const most = Math.max(0, ...tasks.map((group) => group.length));
    if (most < 2) return null;
    const lines = [];
    for (let k = 1; k <= Math.min(most, 16); k++) {
      const usable = tasks.filter((group) => group.length >= k);
      const any = usable.map((group) => 1 - chosen(group.length - won(group), k) / chosen(group.length, k));
      const every = usable.map((group) => chosen(won(group), k) / chosen(group.length, k));
      const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
      lines.push(h("tr", {}, h("td", {}, k), h("td", { class: "value" }, percent(mean(any))), h("td", { class: "value" }, percent(mean(every))), h("td", { class: "value" }, usable.length)));
    }
    return h("div", { class: "card chart" }, h("h2", {}, "pass@k and pass^k"), h("table", { class: "bars" },
      h("thead", {}, h("tr", {}, ["k", "pass@k", "pass^k", "tasks"].map((text) => h("th", {}, text)))), h("tbody", {}, lines)));
  }

  const won = (group) => group.filter((row) => row.outcome === "success").length;

  function chosen(n, k) {
    if (k > n) return 0;
    let product = 1;
    for (let i = 0; i < k; i++) product *= (n - i) / (i + 1);
    return product;
  }

  function wilson(wins, total) {
    if (!total) return [0, 1];
    const z = 1.96;
    const share = wins / total;
    const middle = (share + (z * z) / (2 * total)) / (1 + (z * z) / total);
    const half = (z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total))) / (1 + (z * z) / total);
    return [Math.max(0, middle - half), Math.min(1, middle + half)];
  }

  // ---- two runs
  function comparison() {
    const [left, right] = [0, 1].map((run) => new Map(data.rows.filter((row) => row.run === run).map((row) => [`${row.task}/${row.sample}`, row])));
    const both = [...left.keys()].filter((key) => right.has(key)).map((key) => [left.get(key), right.get(key)]);
    const better = both.filter(([a, b]) => (a.reward ?? -1) < (b.reward ?? -1));
    const worse = both.filter(([a, b]) => (a.reward ?? -1) > (b.reward ?? -1));
    const names = data.runs.map((run) => run.name);
    return [
      h("h1", {}, `${names[0]} compared with ${names[1]}`),
      h("div", { class: "tiles" },
        tile(number(both.length), "tasks in both"), tile(number(better.length), `better in ${names[1]}`), tile(number(worse.length), `worse in ${names[1]}`),
        tile(both.length ? (meanReward(both.map(([, b]) => b)) - meanReward(both.map(([a]) => a))).toFixed(3) : "-", "difference of the mean reward")),
      flips(`Worse in ${names[1]}`, worse), flips(`Better in ${names[1]}`, better),
      both.length ? null : h("p", { class: "empty" }, "The runs share no task: they differ in world, seed or families."),
    ];
  }

  function flips(title, pairs) {
    if (!pairs.length) return null;
    const reason = (row) => ((row.verdicts || []).find((verdict) => verdict.score === null || verdict.score < 1) || { reason: row.outcome === "success" ? "success" : "" }).reason;
    return [h("h2", {}, `${title} (${pairs.length})`), h("table", { class: "flips" },
      h("thead", {}, h("tr", {}, h("th", {}, "task"), h("th", {}, data.runs[0].name), h("th", {}, data.runs[1].name))),
      h("tbody", {}, pairs.slice(0, 300).map(([a, b]) => h("tr", {},
        h("td", {}, h("a", { href: address("pair", a.ref, b.ref) }, label(a)), h("div", { class: "none" }, a.ask.slice(0, 120))),
        [a, b].map((row) => h("td", {}, rewardPill(row), h("div", { class: "none" }, reason(row).slice(0, 240))))))))];
  }

  // ---- keyboard, theme, help
  function theme() {
    const dark = document.documentElement.dataset.theme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("synth-theme", document.documentElement.dataset.theme); } catch { /* a file may have no storage */ }
  }

  const KEYS = [["j / k", "next and previous trajectory"], ["/", "search"], ["o", "overview"], ["l", "back to the list"],
    ["c", "compare two runs"], ["b", "best sample beside the worst"], ["t", "light or dark"], ["?", "this help"], ["Esc", "leave the search, close this"]];

  function help() {
    const dialog = document.getElementById("help");
    dialog.replaceChildren(h("h1", {}, "Keyboard"), h("dl", {}, KEYS.map(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)])),
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
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const link = (text) => [...document.querySelectorAll("a")].find((item) => item.textContent.startsWith(text));
    const actions = {
      j: () => step(1), ArrowDown: null, k: () => step(-1), "/": () => { go(address("rows", state.id)); document.querySelector("input[type=search]").focus(); },
      o: () => go(address("overview")), l: () => go(address("rows")), c: () => data.runs.length > 1 && go(address("compare")),
      b: () => { const pairLink = link("best beside worst"); if (pairLink) pairLink.click(); }, t: theme, "?": help,
    };
    if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
  }

  function debounce(call, wait) {
    let timer = null;
    return () => { clearTimeout(timer); timer = setTimeout(call, wait); };
  }

  // A run that goes on: new rows are added, and what is being read stays where it is.
  async function refresh() {
    const fresh = await ask("index");
    data.runs = fresh.runs;
    const known = new Set(data.rows.map((row) => row.ref));
    const count = data.rows.length;
    fresh.rows.filter((row) => !known.has(row.run ? `${row.id}@${row.run}` : row.id)).forEach((row) => data.rows.push(row));
    data.rows.slice(count).forEach((row, place) => prepare(row, count + place));
    drawTop();
    select();
    const list = document.querySelector(".list");
    if (list) drawList(list);
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
    if (state.filters.q) await searched();
    if (served && data.runs.some((run) => run.status === "running")) setInterval(refresh, 5000);
    addEventListener("hashchange", () => location.hash === state.drawn || draw());
    addEventListener("keydown", onKey);
    draw();
    document.body.dataset.ready = "true";
  }

  start();
})();
