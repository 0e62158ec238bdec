// ---- one trajectory
function trajectory(row, beside) {
  if (!row.messages) {
    const waiting = h("p", { class: "empty", role: "status" }, "Reading the transcript ...");
    fetchRow(row).then(() => draw(), (error) => { waiting.textContent = error.message; });
    return [waiting];
  }
  const verdict = (row.verdicts || []).find((one) => one.verifier === "state");
  const first = verdict && verdict.detail && verdict.detail.first_wrong ? verdict.detail.first_wrong.call : null;
  const sections = [
    ["Transcript", transcript(row, first, beside || null)],
    ["Row changes against gold", against(row, verdict)],
    ["Answer", answers(row)],
    ["More", extras(row)],
  ].filter(([, content]) => content).map(([title, content]) => [title, h("h2", { tabindex: "-1" }, title), content]);
  return [
    h("div", { class: "headline" },
      beside ? null : h("a", { class: "icon pill back", href: address("rows"), "aria-label": "Back to the list" }, "←"),
      h("h1", { tabindex: "-1" }, label(row)), rewardPill(row),
      row.blame ? h("span", { class: "pill warn", title: "Who is at fault, decided by rule" }, `blame: ${row.blame}`) : null,
      beside ? null : neighbours()),
    facts(row),
    beside ? null : h("nav", { class: "jumps", "aria-label": "Parts of this page" },
      sections.map(([title, heading]) => h("button", { class: "linkish", onclick: () => { heading.scrollIntoView(); heading.focus({ preventScroll: true }); } }, title))),
    verdicts(row),
    beside ? null : siblings(row),
    beside ? null : branches(row),
    sections.map(([, heading, content]) => [heading, content]),
  ];
}

function neighbours() {
  const button = (text, name, by) => h("button", { class: "icon", "aria-label": name, title: name, onclick: () => step(by) }, text);
  return h("span", { class: "neighbours" }, button("↑", "Previous trajectory (k)", -1), button("↓", "Next trajectory (j)", 1));
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
    ["model", row.model], ["difficulty", row.level], ["split", row.split], ["universe", row.universe], ["sample", row.sample],
    ["task", row.task], ["id", row.id], ["run", data.runs.length > 1 ? data.runs[row.run].name : null],
  ];
  return h("div", { class: "facts" }, pairs.filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => h("span", {}, `${name} `, h("b", { class: name === "id" || name === "task" ? "mono" : null }, value))));
}

// What failed stands out, with the evidence for whom it is blamed on; what passed is one line.
function verdicts(row) {
  const bad = failing(row);
  const good = (row.verdicts || []).filter((verdict) => !bad.includes(verdict));
  const weight = (verdict) => (verdict.gate ? "gate" : `score ${verdict.score}, weight ${verdict.weight}`);
  return h("div", { class: "verdicts" },
    bad.map((verdict) => h("div", { class: verdict.score === null ? "card failing unknown" : "card failing" },
      h("div", { class: "who" }, h("span", { class: `pill ${verdict.score === null ? "warn" : "bad"}` }, `${verdict.score === null ? "?" : "✗"} ${verdict.verifier}`), weight(verdict)),
      h("div", { class: "reason" }, verdict.reason))),
    row.blame ? h("div", { class: "card failing unknown" }, h("div", { class: "who" }, h("span", { class: "pill warn" }, `blame: ${row.blame}`), "by rule"),
      h("div", { class: "reason" }, evidence(row))) : null,
    good.length ? h("details", { class: "fold passed" }, h("summary", {}, "Passed ", good.map((verdict) => [h("span", { class: "pill good", title: verdict.reason }, `✓ ${verdict.verifier}`), " "])),
      h("dl", {}, good.map((verdict) => [h("dt", {}, verdict.verifier), h("dd", {}, `${verdict.reason} (${weight(verdict)})`)]))) : null);
}

const NOT_BY_ARGUMENTS = ["timeout", "deadlock", "connection_error", "limit_exceeded"];

// The facts of the row that the rule of its blame looked at.
function evidence(row) {
  const turns = (row.raw || []).filter((event) => event.event === "user_turn" && event.fault);
  if (row.blame === "user") return turns.map((turn) => `The user's turn “${turn.text}” has a fault: ${turn.fault}.`).join(" ") || "A turn of the user had a fault.";
  if (row.blame === "infrastructure") return `The rollout ended with ${row.stop}, which is no act of the agent's.`;
  const failures = categoriesOf(row);
  const broken = calls(row).filter((call) => NOT_BY_ARGUMENTS.includes(failures.get(call.id)));
  const named = broken.map((call) => `${call.function.name} (${failures.get(call.id)})`).join(", ");
  if (row.blame === "tool") return `A call that gold makes, too, failed for a reason that no argument causes, and no equal call succeeded later: ${named}.`;
  const bad = failing(row).map((verdict) => verdict.verifier).join(", ");
  const wrong = (row.verdicts || []).map((verdict) => verdict.detail && verdict.detail.first_wrong).find(Boolean);
  const call = wrong ? (row.changes || []).find((entry) => entry.call === wrong.call) : null;
  return `It failed ${bad}. ` + (call ? `Its first wrong write is the call of ${call.name}. ` : "")
    + (named ? `These calls broke for reasons outside their arguments, but gold does not make them, or they were made again: ${named}.` : "No call broke for a reason outside its arguments.")
    + (row.stop === "max_turns" || row.stop === "length" ? ` It stopped at a limit: ${row.stop}.` : "");
}

const calls = (row) => row.messages.flatMap((message) => message.tool_calls || []);

function siblings(row) {
  const all = byTask.get(`${row.run}/${row.task}`);
  if (all.length < 2) return null;
  const scored = all.filter((other) => other.reward !== null).sort((a, b) => b.reward - a.reward);
  const best = scored[0];
  const worst = scored[scored.length - 1];
  return h("div", { class: "siblings" }, "Samples of this task",
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
  const node = (item, depth) => h("li", {},
    h("span", { class: item === row ? "node here" : "node" },
      h("a", { href: address("rows", item.ref), "aria-current": item === row ? "true" : null }, item === root && !absent ? "root" : `from turn ${item.branch_step}`),
      rewardPill(item), h("span", { class: "none" }, counted(item.turns, "turn"), ", ", h("span", { class: "mono" }, item.id.slice(0, 8))),
      item !== row && parentOf(row) === item ? h("a", { href: address("pair", item.ref, row.ref) }, "compare with this one") : null),
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
  const turns = row.messages.map((message, place) => turnOf(context, message, row.messages[place - 1]));
  const parent = beside ? null : parentOf(row);
  const other = beside || (parent && parent.messages ? parent : null);
  const common = other ? shared(row, other) : 0;
  if (common < 2) return h("div", {}, turns);
  const text = beside ? `The first ${common} messages are the same on both sides` : `The first ${common} messages are those of the parent`;
  const fold = h("details", { class: "fold same", open: !beside && common < 8 }, h("summary", {}, text), turns.slice(0, common));
  return h("div", {}, fold, common < turns.length ? h("div", { class: "parting" }, beside ? "Here they part" : "Here it branched") : null, turns.slice(common));
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
    goesOn ? null : h("div", { class: "who" }, message.role, message.train === false ? h("span", { class: "pill warn" }, "not trained on") : null,
      note ? h("span", { class: "pill bad", title: note.detail || "" }, `planned mistake: ${note.kind}`) : null),
    message.reasoning_content ? h("details", { class: "fold" }, h("summary", {}, "reasoning"), h("div", { class: "text none" }, message.reasoning_content)) : null,
    draft ? h("details", { class: "fold" }, h("summary", {}, counted(draft.discarded.length, "draft"), " of the user discarded"),
      draft.discarded.map((one) => h("div", { class: "bubble draft text" }, one.text, h("div", { class: "none" }, (one.why || []).join(" "))))) : null,
    message.content ? h("div", { class: "bubble text" }, message.content) : null, made);
}

function systemPrompt(message) {
  const text = message.prompt === undefined ? message.content : data.prompts[message.prompt];
  return h("details", { class: "turn fold" }, h("summary", {}, `system prompt (${number(text.length)} characters)`), h("div", { class: "card text" }, text));
}

function callCard(row, call, answer, context, wrong) {
  const changed = context.changes.get(call.id) || [];
  const category = context.failures.get(call.id);
  const fault = context.faults.get(call.id);
  const ms = (row.times || {})[call.id];
  return h("div", { class: "call" + (changed.length ? "" : " alone") + (wrong ? " wrong" : "") },
    h("div", {},
      h("div", { class: "tool" }, h("code", {}, call.function.name),
        category ? h("span", { class: "pill bad" }, category) : null,
        fault ? h("span", { class: "pill warn", title: "A fault of the environment, made on purpose" }, `injected: ${fault}`) : null,
        wrong ? h("span", { class: "pill bad" }, "first wrong write") : null,
        changed.length ? h("span", { class: "pill accent" }, `${counted(changed.length, "row")} changed`) : null,
        ms === undefined ? null : h("span", { class: "none" }, `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`)),
      json(call.function.arguments),
      h("div", { class: "label" }, "result"), answer ? result(answer.content) : h("div", { class: "none" }, "not executed")),
    changed.length ? h("div", { class: "effect" }, h("div", { class: "label" }, "row changes of this call"), changed.map(change)) : null);
}

function result(content) {
  let value = null;
  try { value = JSON.parse(content); } catch { value = null; }
  const body = value !== null && typeof value === "object" ? json(value) : h("pre", {}, content);
  if ((content || "").length < 420) return body;
  return h("details", { class: "fold" }, h("summary", {}, `${number(content.length)} characters: ${content.slice(0, 90)} ...`), body);
}
