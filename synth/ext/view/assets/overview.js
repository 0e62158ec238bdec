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

// Two runs stand beside each other, figure by figure, and are never pooled.
function overview() {
  const rows = state.shown;
  const runs = data.runs.map((run, index) => [run, rows.filter((row) => row.run === index)]).filter(([, own]) => own.length);
  const all = rows.length === data.rows.length;
  const about = [...new Set(runs.map(([run]) => [run.world, run.model].filter(Boolean).join(", ")))].join("; ");
  const headline = h("div", { class: "headline" }, h("h1", { tabindex: "-1" }, runs.map(([run]) => run.name).join(" and ") || "No trajectory"),
    h("span", { class: "none" }, all ? about : `${number(rows.length)} of ${counted(data.rows.length, "trajectory", "trajectories")}, as filtered in the list`),
    all ? null : h("a", { href: address("overview", null, null, {}) }, "Show all"));
  if (!runs.length) return [headline, h("p", { class: "empty" }, "No trajectory matches these filters.")];
  if (runs.length === 1) return [headline, tiles(...runs[0]), legend(rows), h("div", { class: "masonry" }, charts(rows, rows, null))];
  const columns = runs.map(([run, own]) => charts(own, rows, run));
  return [headline,
    h("div", { class: "beside" }, runs.map(([run, own]) => h("section", { class: "of-run", "aria-label": run.name }, h("h2", {}, run.name), tiles(run, own)))), legend(rows),
    h("div", { class: "beside" }, columns[0].flatMap((_, place) => (columns.some((cards) => cards[place]) ? columns.map((cards) => h("div", {}, cards[place])) : [])))];
}

function tiles(run, rows) {
  const scored = rows.filter((row) => row.reward !== null);
  const known = rows.filter((row) => row.cost !== null && row.cost !== undefined);
  const tokens = rows.reduce((sum, row) => sum + (row.output_tokens || 0), 0);
  const [low, high] = wilson(won(scored), scored.length);
  const distinct = (pick) => number(new Set(rows.map(pick)).size);
  return h("div", { class: "tiles" },
    tile(number(rows.length), rows.length === 1 ? "trajectory" : "trajectories"),
    tile(scored.length ? percent(won(scored) / scored.length) : "-", ["successful ", scored.length ? h("span", { class: "whole", title: "95\u00a0% interval (Wilson)" }, `(${(100 * low).toFixed(1)} to ${percent(high)})`) : null]),
    tile(scored.length ? meanReward(rows).toFixed(3) : "-", "mean reward"),
    rows.length > scored.length ? tile(number(rows.length - scored.length), "unscored") : null,
    run.errors ? tile(number(run.errors), "broken by infrastructure") : null,
    known.length ? tile("$" + known.reduce((sum, row) => sum + row.cost, 0).toFixed(2), "cost") : null,
    tokens ? tile(number(tokens), "output tokens") : null,
    tile(distinct((row) => row.task), "tasks"),
    tile(distinct((row) => row.ask), "distinct requests"),
    tile(distinct((row) => row.sequence.join(">")), "distinct tool sequences"));
}

const tile = (big, small) => h("div", { class: "tile" }, h("div", { class: "big" }, big), h("div", { class: "small" }, small));
const levelNote = (levels) => (levels.some(([name]) => !LEVELS.includes(name)) ? "Calls of the reference solution, where the task's author names no difficulty." : null);

// The cards of one run's rows, always in the same places (null: nothing to show). Order and scales
// follow from all rows that are shown, so that the cards of two runs can be compared.
function charts(rows, all, run) {
  const card = (made) => {
    if (made && run) made.querySelector("h2").append(h("span", { class: "none" }, ` ${run.name}`));
    return made;
  };
  const groups = (values, rank) => {
    const order = tally(all, values).sort((a, b) => rank(a) - rank(b)).map(([name]) => name);
    const own = new Map(tally(rows, values));
    return order.filter((name) => own.has(name)).map((name) => [name, own.get(name)]);
  };
  const levels = groups((row) => (row.level ? [row.level] : []), ([name]) => levelRank(name));
  const bySize = ([, found]) => -found.length;
  return [
    passAtK(rows),
    levels.length > 1 ? outcomes("By difficulty", levels, "level", { run, k: true, note: levelNote(levels) }) : null,
    outcomes("By family", groups((row) => [row.family], ([, found]) => meanReward(found) ?? 2), "family", { run, k: true, note: "Lowest mean reward first." }),
    outcomes("Counted apart", groups((row) => row.apart, bySize), "apart", { run }),
    histogram("Turns", rows, all, (row) => row.turns),
    histogram("Tool calls", rows, all, (row) => row.calls),
    histogram("Output tokens", rows, all, (row) => row.output_tokens),
    histogram("Cost in $", rows, all, (row) => row.cost),
    outcomes("By stop reason", groups((row) => [row.stop], bySize), "stop", { run }),
    shares("Tool errors by category", countsOf(rows, (row) => row.categories || []), "category", run),
    shares("Tool errors by tool", countsOf(rows, (row) => row.failed), "failed", run),
    outcomes("By tool used", groups((row) => row.used, bySize), "tool", { run }),
    sequences(rows),
  ].map(card);
}
