"use strict";
// Whatever comes from the server is shown as text: nothing is ever parsed as HTML.
const at = (id) => document.getElementById(id);
const token = new URLSearchParams(location.search).get("token") || "";
history.replaceState(null, "", location.pathname);
const auth = { Authorization: `Bearer ${token}` };
let session = null;
let draft = null;

// Control and bidirectional characters are shown by their numbers, so that text cannot mislead.
const visible = (text) =>
  String(text).replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

function element(tag, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = visible(text);
  if (kind) made.className = kind;
  return made;
}

// Words are read as prose; JSON and rows are set in a fixed width, long ones folded.
function show(kind, title, text, prose) {
  const entry = element("article", undefined, kind);
  entry.append(element("h2", title));
  const body = prose ? element("p", text, "prose") : element("pre", text);
  if (!prose && text.length > FOLDED) {
    const fold = element("details");
    fold.append(element("summary", `${text.length.toLocaleString("en-US")} characters: ${text.replace(/\s+/g, " ").slice(0, 80)} ...`), body);
    entry.append(fold);
  } else entry.append(body);
  at("log").append(entry);
  entry.scrollIntoView({ block: "end" });
  return entry;
}

const FOLDED = 600;

function pretty(text) {
  try {
    const found = JSON.parse(text);
    return found !== null && typeof found === "object" ? JSON.stringify(found, null, text.length > 70 ? 2 : 0) : text;
  } catch {
    return text;
  }
}

const value = (found) => (found === undefined ? "" : JSON.stringify(found));

function change(row) {
  const key = Object.entries(row.key).map(([name, found]) => `${name}=${value(found)}`);
  const before = row.before || {};
  const after = row.after || {};
  const columns = Object.keys({ ...before, ...after }).map((name) => {
    if (row.op === "update") return `  ${name}: ${value(before[name])} -> ${value(after[name])}`;
    return `  ${name}: ${value(row.op === "insert" ? after[name] : before[name])}`;
  });
  return [`${row.op} ${row.table}(${key.join(", ")})`, ...columns].join("\n");
}
const status = (text) => (at("status").textContent = visible(text));

async function request(method, path, body) {
  const options = { method, headers: { ...auth } };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(path, options);
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error.message);
  return found;
}

async function attempt(work) {
  try {
    await work();
  } catch (error) {
    status(error.message);
  }
}

function approval(event) {
  const entry = show("wanted", `may it call ${event.call.name}? (${event.risk})`, pretty(event.call.arguments));
  const actions = element("div", undefined, "actions");
  const decide = (approve) => async () => {
    for (const button of actions.children) button.disabled = true;
    await attempt(() =>
      request("POST", `/api/sessions/${session}/approvals`, { call: event.call.id, approve }),
    );
  };
  for (const [text, approve] of [["Approve", true], ["Refuse", false]]) {
    const button = element("button", text);
    button.type = "button";
    button.addEventListener("click", decide(approve));
    actions.append(button);
  }
  entry.append(actions);
  entry.scrollIntoView({ block: "end" });
}

function score(event) {
  const lines = event.verdicts.map((verdict) => {
    const sign = verdict.score === null ? "?" : verdict.score >= 1 ? "✓" : "✗";
    return `${sign} ${verdict.verifier}${verdict.gate ? "" : ` ${verdict.score}`}: ${verdict.reason}`;
  });
  const reward = event.reward === undefined ? "no reward" : `reward ${event.reward}`;
  show(event.outcome === "success" ? "score" : "wanted", `${event.outcome}, ${reward}`, lines.join("\n"));
}

const shown = {
  agent_start: () => status("the agent works"),
  content_delta: (event) => {
    if (event.delta.kind !== "content") return;
    draft = draft || show("agent", "agent, writing", "");
    draft.querySelector("pre").textContent += visible(event.delta.text);
  },
  content_complete: (event) => {
    if (draft) draft.remove();
    draft = null;
    if (event.completion.reasoning_content) show("agent", "reasoning", event.completion.reasoning_content);
    if (event.completion.content) show("agent", "agent", event.completion.content, true);
  },
  tool_call: (event) => show("call", `call ${event.call.name}`, pretty(event.call.arguments)),
  tool_result: (event) => show("result", `result of ${event.call.name}`, pretty(event.content)),
  row_changes: (event) => show("changes", `rows changed by ${event.call.name}`, event.changes.map(change).join("\n")),
  approval_request: approval,
  user_turn_request: () => {
    at("reply").hidden = at("user").value !== "person";
    if (!at("reply").hidden) at("words").focus();
  },
  user_reply: (event) => {
    at("reply").hidden = true;
    show("user", "user", event.ends ? `${event.text} (ends the conversation)`.trim() : event.text, true);
  },
  agent_error: (event) => show("wanted", event.error.type, event.error.message),
  agent_finish: (event) => status(`finished: ${event.stop_reason || "called off"}`),
  score,
};

async function follow(name) {
  const answer = await fetch(`/api/sessions/${name}/events`, { headers: auth });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const data = block.split("\n").find((line) => line.startsWith("data: "));
      if (!data) continue;
      const event = JSON.parse(data.slice(6));
      (shown[event.event] || (() => {}))(event);
    }
  }
}

at("start").addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  attempt(async () => {
    at("log").replaceChildren();
    at("go").disabled = true;
    try {
      const asked = { job: Number(at("task").value), approval: at("approval").value, user: at("user").value };
      const opened = await request("POST", "/api/sessions", asked);
      session = opened.session;
      at("stop").disabled = false;
      if (opened.system) show("", "policy", opened.system);
      show("user", "user", opened.prompt, true);
      await follow(session);
    } finally {
      at("go").disabled = false;
      at("stop").disabled = true;
      at("reply").hidden = true;
    }
  });
});

at("stop").addEventListener("click", () => attempt(() => request("DELETE", `/api/sessions/${session}`)));

function answer(ends) {
  return attempt(async () => {
    const said = { text: at("words").value, ends, consents: at("consents").checked };
    await request("POST", `/api/sessions/${session}/turns`, said);
    at("words").value = "";
    at("consents").checked = false;
  });
}
at("reply").addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  answer(false);
});
at("end").addEventListener("click", () => answer(true));

attempt(async () => {
  const world = await request("GET", "/api/world");
  at("world").textContent = visible(world.world);
  at("model").textContent = visible(`model ${world.model}, ${world.tools.length} tools`);
  for (const task of world.tasks) {
    const option = element("option", `${task.family}: ${task.prompt}`.slice(0, 120));
    option.value = task.job;
    at("task").append(option);
  }
  status(world.recording ? "choose a task and start; sessions are recorded" : "choose a task and start; nothing is recorded");
});
