// ---- overview
function tally(rows, values) {
  const groups = new Map();
  for (const row of rows) for (const value of values(row)) gather(groups, value, row);
  return [...groups].sort((a, b) => b[1].length - a[1].length);
}

const meanReward = (rows) => {
  const scored = rows.filter((row) => row.reward !== null);
  return scored.length ? scored.reduce((sum, row) => sum + row.reward, 0) / scored.length : null;
};

function overview() {
  const rows = state.shown;
  const scored = rows.filter((row) => row.reward !== null);
  const wins = won(scored);
  const known = rows.filter((row) => row.cost !== null && row.cost !== undefined);
  const cost = known.reduce((sum, row) => sum + row.cost, 0);
  const tokens = rows.reduce((sum, row) => sum + (row.output_tokens || 0), 0);
  const broken = data.runs.reduce((sum, run) => sum + (run.errors || 0), 0);
  const [low, high] = wilson(wins, scored.length);
  const figures = (pick) => rows.map(pick).filter((value) => value !== null && value !== undefined);
  const levels = tally(rows, (row) => (row.level ? [row.level] : [])).sort((a, b) => levelRank(a[0]) - levelRank(b[0]));
  const all = rows.length === data.rows.length;
  return [
    h("div", { class: "headline" }, h("h1", { tabindex: "-1" }, data.runs.map((run) => run.name).join(" and ")),
      h("span", { class: "none" }, all ? [...new Set(data.runs.map((run) => [run.world, run.model].filter(Boolean).join(", ")))].join("; ") : `${number(rows.length)} of ${number(data.rows.length)} trajectories, as filtered in the list`),
      all ? null : h("button", { class: "linkish", onclick: () => { state.filters = { q: "", where: "" }; found = null; go(address("overview")); } }, "Show all")),
    h("div", { class: "tiles" },
      tile(number(rows.length), "trajectories"),
      tile(scored.length ? percent(wins / scored.length) : "-", `successful (95 %: ${percent(low)} to ${percent(high)})`),
      tile(meanReward(rows) === null ? "-" : meanReward(rows).toFixed(3), "mean reward"),
      rows.length > scored.length ? tile(number(rows.length - scored.length), "unscored") : null,
      broken ? tile(number(broken), "broken by infrastructure") : null,
      known.length ? tile("$" + cost.toFixed(2), "cost") : null,
      tokens ? tile(number(tokens), "output tokens") : null,
      tile(number(new Set(rows.map((row) => row.task)).size), "tasks"),
      tile(number(new Set(rows.map((row) => row.ask)).size), "distinct requests"),
      tile(number(new Set(rows.map((row) => row.sequence.join(">"))).size), "distinct tool sequences")),
    h("div", { class: "charts" },
      h("div", { class: "charts" }, levels.length > 1 ? outcomes("By difficulty", levels, "level", levelNote(levels)) : null,
        outcomes("By family", tally(rows, (row) => [row.family]), "family")),
      h("div", { class: "charts" },
        passAtK(rows),
        histogram("Turns", figures((row) => row.turns)),
        histogram("Tool calls", figures((row) => row.calls)),
        histogram("Output tokens", figures((row) => row.output_tokens)),
        histogram("Cost in $", figures((row) => row.cost)),
        outcomes("By stop reason", tally(rows, (row) => [row.stop]), "stop"),
        shares("Tool errors by category", errorCounts(rows, (row) => row.categories || []), "category"),
        shares("Tool errors by tool", errorCounts(rows, (row) => row.failed), "failed"),
        outcomes("By tool used", tally(rows, (row) => row.used), "tool"),
        sequences(rows))),
  ];
}

const tile = (big, small) => h("div", { class: "tile" }, h("div", { class: "big" }, big), h("div", { class: "small" }, small));
const levelNote = (levels) => (levels.some(([name]) => !LEVELS.includes(name)) ? "Calls of the reference solution, where the task's author names no difficulty." : null);

// How the rollouts of each group ended, with the chance that one of k samples passes, or all do.
function outcomes(title, groups, filter, note) {
  if (!groups.length) return null;
  const samples = Math.max(...groups.map(([, rows]) => sampleCount(rows)));
  const heads = ["", "outcome", "reward", ...(samples > 1 ? [`pass@${samples}`, `pass^${samples}`] : []), "rows"];
  const shown = groups.slice(0, 80);
  return h("div", { class: "card chart" }, h("h2", {}, title), note ? h("p", { class: "none" }, note) : null,
    h("table", { class: "bars" },
      h("thead", {}, h("tr", {}, heads.map((text, place) => h("th", { scope: "col", class: place > 1 ? "value" : null }, text)))),
      h("tbody", {}, shown.map(([name, rows]) => {
        const mean = meanReward(rows);
        const [any, every] = samples > 1 ? passRates(rows, samples) : [];
        const share = (value) => h("td", { class: "value" }, value === null ? "-" : `${Math.round(100 * value)} %`);
        return h("tr", {}, h("th", { class: "name", scope: "row", title: name }, narrowed(name, filter)), h("td", {}, stack(rows)),
          h("td", { class: "value" }, mean === null ? "-" : mean.toFixed(2)), samples > 1 ? [share(any), share(every)] : null,
          h("td", { class: "value" }, number(rows.length)));
      }))), groups.length > shown.length ? h("p", { class: "none" }, `and ${groups.length - shown.length} more`) : null);
}

function narrowed(name, filter) {
  const onclick = (event) => { event.preventDefault(); state.filters = { q: "", where: "", [filter]: String(name) }; found = null; go(address("rows")); };
  return h("a", { href: "#", onclick }, name);
}

function stack(rows) {
  const parts = ["success", "failure", "unscored"].map((outcome) => [outcome, rows.filter((row) => row.outcome === outcome).length]).filter(([, count]) => count);
  const text = parts.map(([outcome, count]) => `${count} ${outcome}`).join(", ");
  return h("div", { class: "track", role: "img", "aria-label": text, title: text }, parts.map(([outcome, count]) => {
    const part = h("div", { class: `part ${outcome}` });
    part.style.flexGrow = count;
    return part;
  }));
}

const errorCounts = (rows, values) => {
  const counts = new Map();
  for (const row of rows) for (const value of values(row)) counts.set(value, (counts.get(value) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
};

function shares(title, counts, filter) {
  if (!counts.length) return null;
  const most = counts[0][1];
  return h("div", { class: "card chart" }, h("h2", {}, title), h("table", { class: "bars" }, h("tbody", {}, counts.slice(0, 30).map(([name, count]) => {
    const fill = h("div", { class: "part plain" });
    fill.style.width = `${(100 * count) / most}%`;
    return h("tr", {}, h("th", { class: "name", scope: "row", title: name }, filter ? narrowed(name, filter) : name), h("td", {}, h("div", { class: "track", "aria-hidden": "true" }, fill)), h("td", { class: "value" }, number(count)));
  }))));
}

function sequences(rows) {
  const counts = errorCounts(rows, (row) => [row.sequence.join(" → ") || "no call"]);
  if (counts.length < 2) return null;
  const card = shares(`Commonest of ${number(counts.length)} tool sequences`, counts.slice(0, 8), null);
  card.classList.add("sequences");
  return card;
}

function histogram(title, values) {
  if (new Set(values).size < 2) return null;
  const low = values.reduce((a, b) => Math.min(a, b));
  const high = values.reduce((a, b) => Math.max(a, b));
  const whole = values.every(Number.isInteger);
  const width = whole ? high - low + 1 : high - low;
  const bins = whole ? Math.min(24, width) : 24;
  const counts = new Array(bins).fill(0);
  for (const value of values) counts[Math.min(bins - 1, Math.floor(((value - low) / width) * bins))] += 1;
  const most = Math.max(...counts);
  const bar = 420 / bins;
  const median = [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
  const figure = (value) => value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
  const from = (place) => figure(low + (place * width) / bins);
  return h("div", { class: "card chart" }, h("h2", {}, title), h("span", { class: "none" }, `median ${figure(median)}`),
    svg("svg", { viewBox: "0 0 420 140", role: "img", "aria-label": `${title}: from ${figure(low)} to ${figure(high)}, median ${figure(median)}` },
      counts.map((count, place) => svg("rect", { class: "bar", x: place * bar + 1, y: 112 - (104 * count) / most, width: Math.max(1, bar - 2), height: (104 * count) / most, rx: 2 },
        svg("title", {}, `${from(place)}: ${counted(count, "row")}`))),
      svg("line", { class: "axis", x1: 0, y1: 112.5, x2: 420, y2: 112.5 }),
      svg("text", { x: 0, y: 130 }, figure(low)), svg("text", { x: 420, y: 130, "text-anchor": "end" }, figure(high))));
}

const won = (group) => group.filter((row) => row.outcome === "success").length;
const scoredTasks = (rows) => tally(rows.filter((row) => row.reward !== null), (row) => [`${row.run}/${row.task}`]).map(([, group]) => group);

// The usual number of samples of a task.
function sampleCount(rows) {
  const sizes = scoredTasks(rows).map((group) => group.length).sort((a, b) => a - b);
  return sizes.length ? sizes[Math.floor((sizes.length - 1) / 2)] : 0;
}

function passRates(rows, k) {
  const usable = scoredTasks(rows).filter((group) => group.length >= k);
  if (!usable.length) return [null, null];
  const mean = (rate) => usable.reduce((sum, group) => sum + rate(group), 0) / usable.length;
  return [mean((group) => 1 - chosen(group.length - won(group), k) / chosen(group.length, k)), mean((group) => chosen(won(group), k) / chosen(group.length, k))];
}

function passAtK(rows) {
  const most = Math.min(16, sampleCount(rows));
  if (most < 2) return null;
  const points = Array.from({ length: most }, (_, place) => [place + 1, ...passRates(rows, place + 1)]);
  const x = (k) => 44 + ((k - 1) / (most - 1)) * 360;
  const y = (share) => 112 - 100 * share;
  const line = (column, kind) => svg("polyline", { class: `line ${kind}`, points: points.map((point) => `${x(point[0])},${y(point[column])}`).join(" ") });
  const dots = (column, kind) => points.map((point) => svg("circle", { class: `dot-${kind}`, cx: x(point[0]), cy: y(point[column]), r: 3.5 }, svg("title", {}, `k = ${point[0]}: ${percent(point[column])}`)));
  return h("div", { class: "card chart" }, h("h2", {}, "pass@k and pass^k"),
    svg("svg", { viewBox: "0 0 420 140", "aria-hidden": "true" },
      [0, 0.5, 1].map((share) => [svg("line", { class: "axis", x1: 44, x2: 410, y1: y(share), y2: y(share) }), svg("text", { x: 36, y: y(share) + 4, "text-anchor": "end" }, `${100 * share}%`)]),
      line(1, "any"), line(2, "every"), dots(1, "any"), dots(2, "every"),
      points.filter(([k]) => most < 9 || k === 1 || k === most || k % 4 === 0).map(([k]) => svg("text", { x: x(k), y: 132, "text-anchor": "middle" }, k))),
    h("table", { class: "bars" },
      h("thead", {}, h("tr", {}, ["k", "pass@k: one of k passes", "pass^k: all of k pass"].map((text, place) => h("th", { scope: "col", class: place ? `value ${place === 1 ? "any" : "every"}` : null }, text)))),
      h("tbody", {}, points.map(([k, any, every]) => h("tr", {}, h("th", { scope: "row" }, k), h("td", { class: "value" }, percent(any)), h("td", { class: "value" }, percent(every)))))));
}

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
