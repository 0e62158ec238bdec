// ---- reasons: why a verifier or a rule decided as it did
// A literal in a reason, as Python writes it: what stands in it is never a boundary.
const QUOTED = /((?<=[=[({, ])'(?:[^'\\]|\\.)*'|(?<=[=[({, ])"(?:[^"\\]|\\.)*")/;
const BOUNDARY = /; |, (?=\d+ (?:collateral|forbidden on the way|outside its frame): )/;
const LEAD = /^(\d+ (?:missing|collateral|forbidden on the way|outside its frame)|first wrong write|(?:alternative|request) \d+): ?(.*)$/s;
const LONGEST_REASON = 20000;
const LONGEST_CLAUSE = 1500;

// The clauses of a reason, without the columns of inserted rows that are null.
function clauses(reason) {
  if (reason.length > LONGEST_REASON) return [reason];
  const found = [""];
  reason.split(QUOTED).forEach((part, place) => {
    const pieces = place % 2 ? [part] : part.split(BOUNDARY);
    found[found.length - 1] += pieces[0];
    found.push(...pieces.slice(1));
  });
  return found.filter(Boolean).map(withoutNulls);
}

function withoutNulls(clause) {
  if (!/\binsert \S+\(/.test(clause)) return clause;
  const drop = (text) => text.replace(/: (?:[^=,;():]+=None, )+/g, ": ").replace(/(?:: |, )[^=,;():]+=None(?=,|$| by call)/g, "");
  return clause.split(QUOTED).map((part, place) => (place % 2 ? part : drop(part))).join("");
}

// A reason on one line, without the first wrong write, which the transcript shows.
const readable = (reason) => clauses(reason).filter((clause) => !clause.startsWith("first wrong write")).join("; ");

// The first wrong write repeats a row that is listed before it: its call is enough.
function written(parts) {
  return parts.map((part, place) => {
    const [, head, row] = /^(first wrong write: call \d+ \([^)]*\)), (.*)$/s.exec(part) || [];
    return head && parts.some((other, index) => index !== place && other.endsWith(row)) ? head : part;
  });
}

// A row that should be there and one that is there instead: the columns in which they differ stand out.
function differing(text, other) {
  const pieces = (one) => one.split(/((?:: |, )(?=[^=,;():]+=))/);
  const there = pieces(other);
  if (!there.some((piece) => piece.includes("=") && pieces(text).includes(piece))) return text;
  return pieces(text).map((piece) => (piece.includes("=") && !there.includes(piece) ? h("mark", {}, piece) : piece));
}

function reasonText(reason) {
  const parts = written(clauses(reason));
  const item = (part, place) => {
    const [, lead, rest] = LEAD.exec(part) || [];
    if (part.length > LONGEST_CLAUSE) return h("details", { class: "fold" }, h("summary", {}, `${counted(part.length, "character")}: ${part.slice(0, 200)} ...`), part);
    return lead ? [h("b", {}, lead), " ", place < 2 && parts.length > 1 ? differing(rest, (LEAD.exec(parts[1 - place]) || [])[2] || "") : rest] : part;
  };
  if (parts.length < 2) return h("div", { class: "reason" }, parts.map(item));
  const list = (some) => h("ul", {}, some.map((part, place) => h("li", {}, item(part, place + parts.indexOf(some[0])))));
  return h("div", { class: "reason" }, list(parts.slice(0, 8)),
    parts.length > 8 ? h("details", { class: "fold" }, h("summary", {}, `and ${number(parts.length - 8)} more`), list(parts.slice(8))) : null);
}

const WORDS = {
  gate: "A gate is passed or not: a rollout is right only if it passes every gate, and one that fails makes the reward 0.",
  "by rule": "Decided by a fixed order of rules over the recorded facts. No model was asked.",
  mistake: "A wrong call that the scripted expert makes on purpose, to show how one recovers from it.",
  recovery: "The turn that sets a planned mistake right. It is trained on.",
  untrained: "Exports leave this turn out of what a model learns to write.",
  score: "A weighted score shades the reward of a rollout that passed its gates.",
};

const word = (text, meaning) => h("abbr", { title: WORDS[meaning] }, text);
const weight = (verdict) => (verdict.gate ? word("gate", "gate") : word(`score ${verdict.score}, weight ${verdict.weight}`, "score"));

// What failed stands out, with the evidence for whom it is blamed on; what passed is one line.
function verdicts(row) {
  const bad = failing(row);
  const good = (row.verdicts || []).filter((verdict) => !bad.includes(verdict));
  const card = (kind, sign, name, aside, content) => h("div", { class: kind === "bad" ? "card failing" : "card failing unknown" },
    h("div", { class: "who" }, h("span", { class: `pill ${kind}` }, sign, name), aside), content);
  return h("div", { class: "verdicts" },
    bad.map((verdict) => card(...(verdict.score === null ? ["warn", "? "] : ["bad", "✗ "]), verdict.verifier, weight(verdict),
      [reasonText(verdict.reason), verdict.verifier === "state" && firstWrong(row) !== null ? h("button", { class: "linkish", onclick: showWrong }, "Show the first wrong write") : null])),
    row.blame ? card("warn", "", `blame: ${row.blame}`, word("by rule", "by rule"), h("div", { class: "reason" }, evidence(row))) : null,
    good.length ? h("details", { class: "fold passed" }, h("summary", {}, "Passed ", good.map((verdict) => [h("span", { class: "pill good", title: verdict.reason }, `✓ ${verdict.verifier}`), " "])),
      h("dl", {}, good.map((verdict) => [h("dt", {}, verdict.verifier), h("dd", {}, `${verdict.reason} (`, weight(verdict), ")",
        ((verdict.detail || {}).notes || []).map((note) => h("div", { class: "reason" }, `${note.check}: ${note.words}`)))]))) : null);
}

// The number of the call that wrote the first wrong row, or null.
function firstWrong(row) {
  const verdict = (row.verdicts || []).find((one) => one.verifier === "state");
  const wrong = verdict && verdict.detail && verdict.detail.first_wrong;
  return wrong && typeof wrong === "object" && (row.changes || []).some((entry) => entry.call === wrong.call) ? wrong.call : null;
}

function showWrong(event) {
  const call = event.target.closest("section").querySelector(".call.wrong");
  for (let fold = call.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  call.scrollIntoView({ block: "center" });
  call.focus({ preventScroll: true });
}

const NOT_BY_ARGUMENTS = ["timeout", "deadlock", "connection_error", "limit_exceeded"];

// The facts of the row that the rule of its blame looked at.
function evidence(row) {
  const turns = (row.raw || []).filter((event) => event.event === "user_turn" && event.fault);
  if (row.blame === "user") return turns.map((turn) => `The user's turn “${turn.text}” has a fault: ${turn.fault}.`).join(" ") || "A turn of the user had a fault.";
  if (row.blame === "infrastructure") return `The rollout ended with ${row.stop}, which the agent did not cause.`;
  const failures = categoriesOf(row);
  const broken = calls(row).filter((call) => NOT_BY_ARGUMENTS.includes(failures.get(call.id)));
  const named = broken.map((call) => `${call.function.name} (${failures.get(call.id)})`).join(", ");
  if (row.blame === "tool") return `A call that gold makes, too, failed for a reason that no argument causes, and no equal call succeeded later: ${named}.`;
  const bad = failing(row).map((verdict) => verdict.verifier).join(", ");
  const wrong = firstWrong(row);
  const call = wrong === null ? null : row.changes.find((entry) => entry.call === wrong);
  return `It failed ${bad}. ` + (call ? `Its first wrong write is the call of ${call.name}. ` : "")
    + (named ? `These calls failed for outside reasons, but the reference solution does not make them, or they were made again: ${named}.` : "No call failed for an outside reason, such as a timeout or a lost connection.")
    + (row.stop === "max_turns" || row.stop === "length" ? ` It stopped at a limit: ${row.stop}.` : "");
}

const calls = (row) => row.messages.flatMap((message) => message.tool_calls || []);
