// Whatever comes from the server is shown as text: nothing is ever parsed as HTML.
const at = (id) => document.getElementById(id);
const token = new URLSearchParams(location.search).get("token") || "";
history.replaceState(null, "", location.pathname + location.hash);
const auth = { Authorization: `Bearer ${token}` };
let session = null;
let draft = null;
let conversation = null; // of questions of one's own: the next one goes on with it
const cards = new Map(); // the article of each call, by its id

const STOPS = {
  finished: "the agent finished", user_ended: "the user ended the conversation", max_turns: "the agent ran out of turns",
  max_tool_calls: "the agent ran out of tool calls", token_budget: "the tokens ran out", time_budget: "the time ran out",
  cost_budget: "the money ran out", truncated: "an answer of the model was cut off", context_overflow: "the conversation outgrew the context",
  empty_reply: "the model said nothing", refused: "the model refused", model_error: "the model could not be asked",
  environment_error: "the environment broke",
};

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
  at("log").append(entry);
  return fill(entry, title, text, prose);
}

// A further part of the article of a call: what it waits for, its result, the rows that it changed.
function part(event, kind, title, text, prose) {
  const entry = element("section", undefined, kind);
  (cards.get(event.call.id) || show("call", event.call.name, "")).append(entry);
  return fill(entry, title, text, prose);
}

function fill(entry, title, text, prose) {
  entry.append(element("h2", title));
  const body = prose ? element("p", text, "prose") : element("pre", text);
  if (!prose && text.length > FOLDED) {
    const fold = element("details");
    fold.append(element("summary", `${text.length.toLocaleString("en-US")} characters: ${text.replace(/\s+/g, " ").slice(0, 80)} ...`), body);
    entry.append(fold);
  } else entry.append(body);
  entry.scrollIntoView({ block: "end" });
  return entry;
}

const FOLDED = 600;

function pretty(text) {
  try {
    const found = parse(text);
    return found !== null && typeof found === "object" ? stringify(found, text.length > 70 ? 2 : 0) : text;
  } catch {
    return text;
  }
}

const value = (found) => (found === undefined ? "" : stringify(found));

function change(row) {
  const key = Object.entries(row.key).map(([name, found]) => `${name}=${value(found)}`);
  const before = row.before || {};
  const after = row.after || {};
  const values = row.op === "insert" ? after : before;
  const columns = Object.keys({ ...before, ...after }).filter((name) => row.op === "update" || values[name] !== null).map((name) => {
    if (row.op === "update") return `  ${name}: ${value(before[name])} -> ${value(after[name])}`;
    return `  ${name}: ${value(values[name])}`;
  });
  return [`${row.op} ${row.table}(${key.join(", ")})`, ...columns].join("\n");
}
const status = (text) => (at("status").textContent = visible(text));

function send(method, path, body) {
  const options = { method, headers: { ...auth } };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  return fetch(path, options);
}

async function request(method, path, body) {
  const answer = await send(method, path, body);
  const found = parse(await answer.text());
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
  status("Waiting for you: may the agent make this call?");
  const entry = part(event, "wanted", "May it be called?", `It is a call of the kind “${event.risk}”, and waits for you.`, true);
  const actions = element("div", undefined, "actions");
  const decide = (approve) => () => attempt(async () => {
    for (const button of actions.children) button.disabled = true;
    try {
      await request("POST", `/api/sessions/${session}/approvals`, { call: event.call.id, approve });
      entry.replaceChildren(element("p", approve ? "You approved it." : "You refused it."));
      entry.className = "decided";
      status("The agent works.");
    } finally {
      for (const button of actions.children) button.disabled = false;
    }
  });
  for (const [text, approve] of [["Approve", true], ["Refuse", false]]) {
    const button = element("button", text);
    button.type = "button";
    if (approve) button.className = "primary";
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
  show(event.outcome === "success" ? "score" : "wanted", `${event.outcome}, ${reward}`, lines.join("\n"), true);
}

const shown = {
  agent_start: () => status("The agent works."),
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
  tool_call: (event) => cards.set(event.call.id, show("call", event.call.name, pretty(event.call.arguments))),
  tool_result: (event) => {
    const ranked = event.call.name === "find_tables" && parse(event.content).tables;
    if (ranked) part(event, "result", "tables", ranked.map((one) => `${one.database}.${one.table}`).join(", ") || "none", true);
    part(event, "result", "result", pretty(event.content));
  },
  row_changes: (event) => part(event, "changes", "rows changed", event.changes.map(change).join("\n")),
  approval_request: approval,
  user_turn_request: () => {
    at("reply").hidden = at("user").value !== "person";
    if (at("reply").hidden) return;
    status("Waiting for your reply.");
    at("words").focus();
  },
  user_reply: (event) => {
    at("reply").hidden = true;
    status("The agent works.");
    if (event.text) show("user", "user", event.text, true);
    if (event.ends) at("log").append(element("p", "The user ends the conversation.", "note"));
  },
  agent_error: (event) => show("wanted", event.error.type, event.error.message),
  agent_finish: (event) => status(event.stop_reason ? `It is over: ${STOPS[event.stop_reason] || event.stop_reason}.` : "It was called off."),
  score,
  answer: (event) => {
    if (!event.finished) return;
    conversation = event.conversation;
    at("anew").hidden = false;
    status("Ask on: the agent knows what it has found.");
  },
};

async function follow(name) {
  return read(await fetch(`/api/sessions/${name}/events`, { headers: auth }));
}

async function read(answer) {
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
      const event = parse(data.slice(6));
      (shown[event.event] || (() => {}))(event);
    }
  }
}

at("start").addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  attempt(async () => {
    at("log").replaceChildren();
    at("after").hidden = at("anew").hidden = true;
    conversation = null;
    cards.clear();
    at("go").disabled = at("send").disabled = true;
    try {
      const asked = { job: Number(at("task").value), approval: at("approval").value, user: at("user").value };
      const opened = await request("POST", "/api/sessions", asked);
      session = opened.session;
      at("stop").disabled = false;
      if (opened.system) show("", "policy", opened.system);
      show("user", "user", opened.prompt, true);
      await follow(session);
      at("after").hidden = false;
      at("after").scrollIntoView({ block: "end" });
    } finally {
      at("go").disabled = at("send").disabled = false;
      at("stop").disabled = true;
      at("reply").hidden = true;
    }
  });
});

at("ask").addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  attempt(async () => {
    const question = at("question").value;
    at("send").disabled = at("go").disabled = true;
    try {
      const asked = { question, conversation: conversation || "", database: at("database").value };
      const answer = await send("POST", "/api/questions", asked);
      if (!answer.ok) throw new Error(parse(await answer.text()).error.message);
      if (!conversation) at("log").replaceChildren();
      at("after").hidden = true;
      cards.clear();
      show("user", "you", question, true);
      at("question").value = "";
      await read(answer);
    } finally {
      at("send").disabled = at("go").disabled = false;
    }
  });
});
at("anew").addEventListener("click", () => {
  conversation = null;
  at("anew").hidden = true;
  at("log").replaceChildren();
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

at("task").addEventListener("change", () => history.replaceState(null, "", `#job=${at("task").value}`));
at("again").addEventListener("click", () => at("start").requestSubmit());
at("next").addEventListener("click", () => {
  const tasks = at("task");
  tasks.selectedIndex = (tasks.selectedIndex + 1) % tasks.options.length;
  tasks.dispatchEvent(new Event("change"));
  at("start").requestSubmit();
});

attempt(async () => {
  const world = await request("GET", "/api/world");
  at("world").textContent = visible(world.world);
  at("ask").hidden = !world.databases.length;
  for (const name of world.databases) {
    const option = element("option", name);
    option.value = name;
    at("database").append(option);
  }
  at("model").textContent = visible(`Model ${world.model}, ${world.tools.length}\u00a0tools`);
  for (const task of world.tasks) {
    const option = element("option", `${task.family}: ${task.prompt}`.slice(0, 120));
    option.value = task.job;
    at("task").append(option);
  }
  at("user").options[0].textContent = visible(world.user_model === "scripted" ? "scripted" : `simulated by ${world.user_model}`);
  const linked = /^#job=(\d+)$/.exec(location.hash); // an address can name the task
  if (linked && world.tasks.some((task) => String(task.job) === linked[1])) at("task").value = linked[1];
  status(world.recording ? "Choose a task and start. Sessions are recorded." : "Choose a task and start. Nothing is recorded.");
});
