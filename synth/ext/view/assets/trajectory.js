// ---- one trajectory
function trajectory(row) {
  if (!row.messages) return waiting(row);
  const parts = partsOf(row, null).filter(([, content]) => content).map(([title, content]) => [title, heading(title), content]);
  return [
    h("div", { class: "headline" },
      h("a", { class: "icon pill back", href: address("rows"), "aria-label": "Back to the list" }, "←"),
      h("h1", { tabindex: "-1" }, breakable(label(row))), pills(row), neighbours()),
    reviewed(row),
    facts(row),
    h("nav", { class: "jumps", "aria-label": "Parts of this page" },
      parts.map(([title, target]) => h("button", { class: "linkish", onclick: () => { target.scrollIntoView(); target.focus({ preventScroll: true }); } }, title))),
    verdicts(row), siblings(row), branches(row),
    parts.map(([, title, content]) => [title, content]),
  ];
}

// What stands under the headings of a trajectory; null where there is nothing to show.
function partsOf(row, beside) {
  return [
    ["Transcript", transcript(row, firstWrong(row), beside)],
    ["Row changes against gold", against(row, (row.verdicts || []).find((one) => one.verifier === "state"))],
    ["Answer", answers(row)],
    ["More", extras(row)],
  ];
}

const heading = (title, level = "h2") => h(level, { tabindex: "-1" }, title);

function waiting(row) {
  const text = h("p", { class: "empty", role: "status" }, "Reading the transcript ...");
  fetchRow(row).then(() => draw(), (error) => { text.textContent = error.message; });
  return [text];
}

function pills(row) {
  return [rewardPill(row), row.blame ? h("span", { class: "pill warn", title: WORDS["by rule"] }, `blame: ${row.blame}`) : null];
}

// What people say of the row; a served page takes it.
function reviewed(row) {
  const kind = { accept: "good", reject: "bad", disputed: "warn" }[row.review];
  const pill = row.review ? h("span", { class: `pill ${kind}`, role: "status" }, `review: ${row.review}`) : null;
  if (!served) return row.review ? h("div", { class: "siblings" }, pill, row.review_note) : null;
  const button = (text, verdict, key) => h("button", { class: "icon", "aria-pressed": String(row.review === verdict), title: `${text} (${key})`, onclick: () => review(verdict, null) }, text);
  return h("div", { class: "siblings" }, pill, button("Accept", "accept", "a"), button("Reject", "reject", "x"),
    h("input", { class: "review-note", "aria-label": "Note", placeholder: "Note", value: row.review_note || null, onchange: (event) => review(null, event.target.value) }));
}

function neighbours() {
  const button = (text, name, by) => h("button", { class: "icon", "aria-label": name, title: name, onclick: () => step(by) }, text);
  return h("span", { class: "neighbours" }, button("↑", "Previous trajectory (k)", -1), button("↓", "Next trajectory (j)", 1));
}

function rewardPill(row) {
  const kind = row.outcome === "success" ? "good" : row.outcome === "failure" ? "bad" : "warn";
  return h("span", { class: `pill ${kind}` }, row.reward === null ? row.outcome : `${row.outcome}, reward ${row.reward.toFixed(2)}`);
}

function factsOf(row) {
  return [
    ["stopped", row.stop.replaceAll("_", " ")], ["turns", row.turns], ["tool calls", `${row.calls}` + (row.errors ? `, ${row.errors} failed` : "")],
    ["sample", row.sample], ["branched from", row.parent ? `turn ${row.branch_step}` : null],
    ["tokens", row.input_tokens === null ? null : `${number(row.input_tokens)} in, ${number(row.output_tokens)} out`],
    ["cost", row.cost === null ? null : `$${row.cost.toFixed(5)}`],
    ["model", row.model], ["difficulty", row.level], ["split", row.split], ["universe", row.universe], ["renaming", row.renaming],
    ["run", data.runs.length > 1 ? data.runs[row.run].name : null], ["task", row.task], ["id", row.id],
  ].filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => [name, String(value)]);
}

// On a phone only the first of the facts are shown until one asks for them.
function facts(row) {
  return foldedFacts([counted(row.turns, "turn"), counted(row.calls, "tool call"), from(row)].join(", "), factsOf(row));
}

function foldedFacts(brief, pairs) {
  if (window.innerWidth > NARROW) return factList(pairs);
  return h("details", { class: "fold brief" }, h("summary", {}, brief), factList(pairs));
}

const factList = (pairs) => h("div", { class: "facts" }, pairs.map(([name, value]) =>
  h("span", {}, `${name}\u00a0`, h("b", { class: name === "id" || name === "task" ? "mono" : null }, value))));

const from = (row) => (row.parent ? `sample\u00a0${row.sample}, from\u00a0turn\u00a0${row.branch_step}` : `sample\u00a0${row.sample}`);

// The samples of the row's task; those of a branch are the other branches of its turn.
function samplesOf(row) {
  return (byTask.get(`${row.run}/${row.task}`) || []).filter((other) => other.parent === row.parent && other.branch_step === row.branch_step);
}

function siblings(row) {
  const all = samplesOf(row);
  if (all.length < 2) return null;
  const scored = all.filter((other) => other.reward !== null).sort((a, b) => b.reward - a.reward);
  const best = scored[0];
  const worst = scored[scored.length - 1];
  return h("div", { class: "siblings" }, row.parent ? `Branches from turn ${row.branch_step}` : "Samples of this task",
    all.map((other) => h("a", { class: `dot ${other.outcome}`, href: address("rows", other.ref), title: `sample ${other.sample}: ${other.outcome}`,
      "aria-label": `sample ${other.sample}, ${other.outcome}`, "aria-current": other === row ? "true" : null }, other.sample)),
    best && worst && best.reward > worst.reward ? h("a", { id: "best-worst", href: address("pair", best.ref, worst.ref) }, "best beside worst") : null);
}

function branches(row) {
  let root = row;
  for (let up = parentOf(root), guard = 0; up && guard < 1000; up = parentOf(root), guard++) root = up;
  const children = (item) => (byParent.get(item.id) || []).filter((child) => parentOf(child) === item || !parentOf(child));
  const absent = root.parent && !parentOf(root) ? { id: root.parent } : null;
  if (!absent && !children(root).length) return null;
  const beside = (parent, branch) => h("a", { href: address("pair", parent.ref, branch.ref), "aria-label": `Compare the parent with its branch, ${from(branch)}` }, "compare");
  const node = (item, depth) => h("li", {},
    h("span", { class: item === row ? "node here" : "node" },
      h("a", { href: address("rows", item.ref), "aria-current": item === row ? "true" : null }, item === root && !absent ? "root" : from(item)),
      rewardPill(item), h("span", { class: "none" }, counted(item.turns, "turn"), ", ", h("span", { class: "mono" }, item.id.slice(0, 8))),
      parentOf(row) === item ? beside(item, row) : parentOf(item) === row ? beside(row, item) : null),
    children(item).length && depth < 60 ? h("ul", {}, children(item).map((child) => node(child, depth + 1))) : null);
  return h("section", { class: "branches", "aria-label": "Branches" }, h("h2", {}, "Branches"), h("ul", { class: "tree" }, absent
    ? h("li", {}, h("span", { class: "node" }, h("span", { class: "none" }, "parent ", h("span", { class: "mono" }, absent.id.slice(0, 8)), ", in another run")),
      h("ul", {}, children(absent).map((child) => node(child, 1))))
    : node(root, 0)));
}

// How many messages at their beginning two rows have in common.
function shared(one, other) {
  const plain = (message) => JSON.stringify([message.role, message.prompt === undefined ? message.content : null, (message.tool_calls || []).map((call) => call.function)]);
  let count = 0;
  while (count < one.messages.length && count < other.messages.length && plain(one.messages[count]) === plain(other.messages[count])) count++;
  return count;
}

// ---- transcript
function transcript(row, firstWrong, beside) {
  const results = new Map();
  for (const message of row.messages) if (message.role === "tool") results.set(message.tool_call_id, message);
  const context = {
    row, results, answered: new Set(), failures: categoriesOf(row), firstWrong,
    changes: new Map((row.changes || []).map((entry) => [entry.id, entry.changes])),
    numbers: new Map((row.changes || []).map((entry) => [entry.id, entry.call])),
    faults: new Map((row.faults || []).map((fault) => [fault.id, fault.kind])),
    notes: new Map((row.notes || []).map((note) => [note.turn, note])),
    drafts: new Map((row.raw || []).filter((event) => event.event === "user_turn" && event.discarded).map((event) => [event.text, event])),
    turn: -1,
  };
  const parent = beside ? null : parentOf(row);
  const other = beside || (parent && parent.messages ? parent : null);
  const common = other ? shared(row, other) : 0;
  const turns = row.messages.map((message, place) => turnOf(context, message, place === common ? null : row.messages[place - 1]));
  if (common < 2) return h("div", {}, turns);
  const text = beside ? `The first ${common} messages are the same on both sides` : `The first ${common} messages are those of the parent`;
  const fold = h("details", { class: "fold same", open: !beside && common < 8 }, h("summary", {}, text), turns.slice(0, common));
  return h("div", {}, fold, common < turns.length ? h("div", { class: "parting" }, beside ? "Here they part" : "Here it parts from its parent") : null, turns.slice(common));
}

function turnOf(context, message, previous) {
  const { row, answered, results } = context;
  if (message.role === "system") return systemPrompt(message);
  if (message.role === "tool") {
    return answered.has(message.tool_call_id) ? null
      : h("div", { class: "call alone" }, h("div", {}, h("div", { class: "tool" }, h("code", {}, message.name || "tool")), result(message.content)));
  }
  if (message.role === "assistant") context.turn += 1;
  const made = (message.tool_calls || []).map((call) => {
    answered.add(call.id);
    const wrong = context.firstWrong !== null && context.numbers.get(call.id) === context.firstWrong;
    return callCard(row, call, results.get(call.id), context, wrong);
  });
  const note = message.role === "assistant" ? context.notes.get(context.turn) : null;
  const draft = message.role === "user" ? context.drafts.get(message.content) : null;
  const goesOn = previous && previous.role === "tool" && !message.content && !message.reasoning_content && !note && message.train !== false;
  return h("div", { class: `turn ${message.role}`, role: "group", "aria-label": message.role },
    goesOn ? null : h("div", { class: "who" }, message.role, message.train === false ? h("span", { class: "pill warn", title: WORDS.untrained }, "not trained on") : null,
      note ? noted(note, message) : null),
    message.reasoning_content ? h("details", { class: "fold" }, h("summary", {}, "reasoning"), h("div", { class: "text none" }, message.reasoning_content)) : null,
    draft ? h("details", { class: "fold" }, h("summary", {}, counted(draft.discarded.length, "draft"), " of the user discarded"),
      draft.discarded.map((one) => h("div", { class: "bubble draft text" }, one.text, h("div", { class: "none" }, (one.why || []).join(" "))))) : null,
    message.content ? h("div", { class: "bubble text" }, message.content) : null, made);
}

function noted(note, message) {
  const [kind, text, meaning] = note.recovered && message.train !== false ? ["good", "recovery", WORDS.recovery] : ["bad", `planned mistake: ${note.kind.replaceAll("_", " ")}`, WORDS.mistake];
  return h("span", { class: `pill ${kind}`, title: `${meaning} ${note.detail || ""}`.trim() }, text);
}

function systemPrompt(message) {
  const text = message.prompt === undefined ? message.content : data.prompts[message.prompt];
  return h("details", { class: "turn fold reference" }, h("summary", {}, `system prompt (${number(text.length)} characters)`), h("div", { class: "card text" }, text));
}

function callCard(row, call, answer, context, wrong) {
  const changed = context.changes.get(call.id) || [];
  const category = context.failures.get(call.id);
  const fault = context.faults.get(call.id);
  const ms = (row.times || {})[call.id];
  return h("div", { class: "call" + (changed.length ? "" : " alone") + (wrong ? " wrong" : ""), tabindex: wrong ? "-1" : null },
    h("div", {},
      h("div", { class: "tool" }, h("code", {}, call.function.name),
        category ? h("span", { class: "pill bad" }, category) : null,
        fault ? h("span", { class: "pill warn", title: "A fault of the environment, made on purpose" }, `injected: ${fault}`) : null,
        wrong ? h("span", { class: "pill bad" }, "first wrong write") : null,
        changed.length ? h("span", { class: "pill accent" }, `${counted(changed.length, "row")} changed`) : null,
        ms === undefined ? null : h("span", { class: "none" }, `${ms < 10 ? ms.toFixed(1) : Math.round(ms)}\u00a0ms`)),
      json(call.function.arguments),
      h("div", { class: "label" }, "result"), answer ? result(answer.content) : h("div", { class: "none" }, "not executed")),
    changed.length ? h("div", { class: "effect" }, h("div", { class: "label" }, "row changes of this call"), changed.map((entry) => change(entry))) : null);
}

function result(content) {
  let value = null;
  try { value = parse(content); } catch { value = null; }
  const body = value !== null && typeof value === "object" ? json(value) : h("pre", {}, content);
  if ((content || "").length < 420) return body;
  return h("details", { class: "fold" }, h("summary", {}, `${number(content.length)} characters: ${content.slice(0, 90)} ...`), body);
}
