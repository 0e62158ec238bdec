// ---- charts
// Outcomes are told by their pattern, too: success is plain, failure hatched, unscored dotted.
const OUTCOMES = ["success", "failure", "unscored"];

const legend = (rows) => h("p", { class: "legend" }, OUTCOMES.filter((outcome) => rows.some((row) => row.outcome === outcome)).map((outcome) => h("span", {}, h("span", { class: `part ${outcome}`, "aria-hidden": "true" }), outcome)));

const ROWS = 24; // of a table, shown at once

// How the rollouts of each group ended; with `k`, the chance that one of k samples passes, or all do.
// Groups that follow from what a rollout did have no such chance.
function outcomes(title, groups, filter, { run, k, note }) {
  if (!groups.length) return null;
  const samples = k ? Math.max(...groups.map(([, rows]) => sampleCount(rows))) : 0;
  const heads = [title.replace("By ", ""), "outcome", "reward", ...(samples > 1 ? [`pass@${samples}`, `pass^${samples}`] : []), "rows"];
  const body = groups.map(([name, rows], place) => {
    const mean = meanReward(rows);
    const [any, every] = samples > 1 ? passRates(rows, samples) : [];
    const share = (value) => h("td", { class: "value" }, value === null ? "-" : `${Math.round(100 * value)}\u00a0%`);
    return h("tr", { hidden: place >= ROWS }, h("th", { class: "name", scope: "row", title: name }, narrowed(name, filter, run)), h("td", {}, stack(rows)),
      h("td", { class: "value" }, mean === null ? "-" : mean.toFixed(2)), samples > 1 ? [share(any), share(every)] : null,
      h("td", { class: "value" }, number(rows.length)));
  });
  return h("div", { class: "card chart" }, h("h2", {}, title), note ? h("p", { class: "none" }, note) : null,
    h("table", { class: "bars" },
      h("thead", {}, h("tr", {}, heads.map((text, place) => h("th", { scope: "col", class: place > 1 ? "value" : null }, place ? text : h("span", { class: "spoken" }, text))))),
      h("tbody", {}, body)), unfold(body));
}

function unfold(rows) {
  if (rows.length <= ROWS) return null;
  const button = h("button", { class: "linkish", onclick: () => { rows.forEach((row) => { row.hidden = false; }); button.remove(); } }, `Show all ${number(rows.length)}`);
  return button;
}

function narrowed(name, filter, run) {
  const filters = { [filter]: String(name), ...(run ? { run: run.name } : {}) };
  return h("a", { href: address("rows", null, null, filters) }, breakable(String(name)));
}

function stack(rows) {
  const parts = OUTCOMES.map((outcome) => [outcome, rows.filter((row) => row.outcome === outcome).length]).filter(([, count]) => count);
  const text = parts.map(([outcome, count]) => `${count}\u00a0${outcome}`).join(", ");
  return h("div", { class: "track", role: "img", "aria-label": text, title: text }, parts.map(([outcome, count]) => {
    const part = h("div", { class: `part ${outcome}` });
    part.style.flexGrow = count;
    return part;
  }));
}

const countsOf = (rows, values) => {
  const counts = new Map();
  for (const row of rows) for (const value of values(row)) counts.set(value, (counts.get(value) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
};

function shares(title, counts, filter, run) {
  if (!counts.length) return null;
  const most = counts[0][1];
  const body = counts.map(([name, count], place) => {
    const fill = h("div", { class: "part plain" });
    fill.style.width = `${(100 * count) / most}%`;
    return h("tr", { hidden: place >= ROWS }, h("th", { class: "name", scope: "row", title: name }, filter ? narrowed(name, filter, run) : name), h("td", {}, h("div", { class: "track", "aria-hidden": "true" }, fill)), h("td", { class: "value" }, number(count)));
  });
  return h("div", { class: "card chart" }, h("h2", {}, title), h("table", { class: "bars" }, h("tbody", {}, body)), unfold(body));
}

function sequences(rows) {
  const counts = countsOf(rows, (row) => [row.sequence.join(" → ") || "no call"]);
  if (counts.length < 2) return null;
  const card = shares(`Commonest of ${number(counts.length)} tool sequences`, counts.slice(0, 8), null);
  card.classList.add("sequences");
  return card;
}

const figure = (value) => value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
const WIDTH = 420;
const FLOOR = 118;

// Rows by a figure of theirs, stacked by outcome. The bins are those of all rows.
function histogram(title, rows, all, pick) {
  const known = (list) => list.filter((row) => pick(row) !== null && pick(row) !== undefined);
  const values = known(all).map(pick);
  const own = known(rows);
  if (new Set(values).size < 2 || !own.length) return null;
  const low = values.reduce((a, b) => Math.min(a, b));
  const high = values.reduce((a, b) => Math.max(a, b));
  const whole = values.every(Number.isInteger);
  const span = whole ? high - low + 1 : high - low;
  const count = whole ? Math.min(24, span) : 24;
  const bins = Array.from({ length: count }, () => []);
  for (const row of own) bins[Math.min(count - 1, Math.floor(((pick(row) - low) / span) * count))].push(row);
  const most = Math.max(...bins.map((bin) => bin.length));
  const bar = WIDTH / count;
  const from = (place) => figure(low + (place * span) / count);
  const sorted = own.map(pick).sort((a, b) => a - b);
  const median = figure(sorted[Math.floor((sorted.length - 1) / 2)]);
  const figures = bins.map((bin, place) => `${from(place)}: ${bin.length}`).join(", ");
  const wide = whole && count === span && count < 17;
  const label = (x, text, anchor) => svg("text", { x, y: FLOOR + 15, "text-anchor": anchor }, text);
  return h("div", { class: "card chart" }, h("div", { class: "titled" }, h("h2", {}, title), h("span", { class: "none" }, `median\u00a0${median}`)),
    svg("svg", { viewBox: `0 0 ${WIDTH} 138`, role: "img", "aria-label": `${title}, median ${median}. Rows by figure: ${figures}` },
      bins.map((bin, place) => column(bin, place * bar, bar, (FLOOR - 16) / most, `${from(place)}: `)),
      svg("line", { class: "axis", x1: 0, y1: FLOOR + .5, x2: WIDTH, y2: FLOOR + .5 }),
      wide ? bins.map((_, place) => label((place + .5) * bar, from(place), "middle")) : [label(0, figure(low), "start"), label(WIDTH, figure(high), "end")]));
}

function column(rows, x, width, unit, lead) {
  let top = FLOOR;
  const counts = OUTCOMES.map((outcome) => [outcome, rows.filter((row) => row.outcome === outcome).length]).filter(([, count]) => count);
  const text = number(rows.length);
  const title = lead + counts.map(([outcome, count]) => `${count}\u00a0${outcome}`).join(", ");
  return [counts.map(([outcome, count]) => {
    top -= count * unit;
    return svg("rect", { class: `bar ${outcome}`, x: x + 1, y: top, width: Math.max(1, width - 2), height: count * unit }, svg("title", {}, title));
  }), rows.length && text.length * 6 <= width + 4 ? svg("text", { class: "count", x: x + width / 2, y: top - 4, "text-anchor": "middle" }, text) : []];
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
  const x = (k) => 54 + ((k - 1) / (most - 1)) * 350;
  const y = (share) => 112 - 100 * share;
  const line = (column, kind) => svg("polyline", { class: `line ${kind}`, points: points.map((point) => `${x(point[0])},${y(point[column])}`).join(" ") });
  const dots = (column, kind) => points.map((point) => svg("circle", { class: `dot-${kind}`, cx: x(point[0]), cy: y(point[column]), r: 3.5 }, svg("title", {}, `k = ${point[0]}: ${percent(point[column])}`)));
  return h("div", { class: "card chart" }, h("h2", {}, "pass@k and pass^k"),
    svg("svg", { viewBox: "0 0 420 140", "aria-hidden": "true" },
      [0, 0.5, 1].map((share) => [svg("line", { class: "axis", x1: 54, x2: 410, y1: y(share), y2: y(share) }), svg("text", { x: 46, y: y(share) + 4, "text-anchor": "end" }, `${100 * share}\u00a0%`)]),
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
