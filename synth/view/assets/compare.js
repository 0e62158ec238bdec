// ---- two rows, two runs
function pair(left, right) {
  const rows = [byId.get(left), byId.get(right)];
  if (!rows[0] || !rows[1]) return h("p", { class: "empty" }, "No such pair in this file.");
  const missing = rows.find((row) => !row.messages);
  if (missing) return trajectory(missing);
  return [
    h("div", { class: "headline side" }, h("a", { class: "icon pill", href: address("rows", right), "aria-label": "Back to the trajectory" }, "←"), h("h1", { tabindex: "-1" }, "Side by side")),
    h("div", { class: "pair" }, rows.map((row, place) => h("section", { "aria-label": place ? "right" : "left" }, trajectory(row, rows[1 - place])))),
  ];
}

function comparison() {
  const [left, right] = [0, 1].map((run) => new Map(data.rows.filter((row) => row.run === run).map((row) => [`${row.task}/${row.sample}`, row])));
  const common = [...left.keys()].filter((key) => right.has(key)).map((key) => [left.get(key), right.get(key)]);
  const both = common.filter(([a, b]) => a.reward !== null && b.reward !== null);
  const names = data.runs.map((run) => run.name);
  if (!both.length) return [h("h1", { tabindex: "-1" }, `${names[0]} and ${names[1]}`), h("p", { class: "empty" }, "The runs share no task that both scored: they differ in world, seed or families.")];
  const gained = both.filter(([a, b]) => a.reward < b.reward);
  const lost = both.filter(([a, b]) => a.reward > b.reward);
  const rates = [0, 1].map((side) => won(both.map((two) => two[side])) / both.length);
  const difference = meanReward(both.map(([, b]) => b)) - meanReward(both.map(([a]) => a));
  return [
    h("div", { class: "headline" }, h("h1", { tabindex: "-1" }, names[0], " → ", names[1]),
      h("span", { class: "none" }, `${counted(both.length, "rollout")} of the same task and sample in both` + (common.length > both.length ? `, ${common.length - both.length} unscored left out` : ""))),
    h("div", { class: "tiles" },
      tile(percent(rates[0]), `passed in ${names[0]}`), tile(percent(rates[1]), `passed in ${names[1]}`),
      tile(signed(difference), "mean reward"), tile(number(gained.length), "gained"), tile(number(lost.length), "lost")),
    h("p", { class: "none" }, "Intervals and an exact paired test: ", h("code", {}, "synth inspect --compare")),
    h("div", { class: "charts" }, byFamily(both, names), h("div", { class: "charts" }, reasons("Why it was lost", lost, 1), reasons("Why it had failed before", gained, 0))),
    flips("Lost", lost, names), flips("Gained", gained, names),
    lost.length + gained.length ? null : h("p", { class: "empty" }, "No task flipped."),
  ];
}

const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "±") + Math.abs(value).toFixed(3);

function byFamily(both, names) {
  const groups = [...tally(both, ([a]) => [a.family])].map(([family, pairs]) => [family, pairs, ...[0, 1].map((side) => meanReward(pairs.map((two) => two[side])))]);
  groups.sort((a, b) => a[3] - a[2] - (b[3] - b[2]));
  return h("div", { class: "card chart" }, h("h2", {}, "Mean reward by family"), h("table", { class: "bars" },
    h("thead", {}, h("tr", {}, ["", names[0], names[1], "difference", "", "rows"].map((text, place) => h("th", { scope: "col", class: place && place !== 4 ? "value" : null }, text)))),
    h("tbody", {}, groups.map(([family, pairs, before, after]) => {
      const fill = h("div", { class: `part ${after < before ? "failure" : "success"}` });
      fill.style.width = `${50 * Math.abs(after - before)}%`;
      fill.style.marginLeft = after < before ? `${50 - 50 * (before - after)}%` : "50%";
      return h("tr", {}, h("th", { class: "name", scope: "row", title: family }, narrowed(family, "family")), h("td", { class: "value" }, before.toFixed(2)), h("td", { class: "value" }, after.toFixed(2)),
        h("td", { class: "value" }, after === before ? "" : signed(after - before)), h("td", {}, h("div", { class: "track middle", "aria-hidden": "true" }, after === before ? null : fill)), h("td", { class: "value" }, number(pairs.length)));
    }))));
}

// How often each verifier was behind the failing side of pairs.
function reasons(title, pairs, side) {
  const counts = errorCounts(pairs, (two) => failedVerifiers(two[side]));
  return shares(title, counts, null);
}

const failedVerifiers = (row) => (row.verdicts ? failing(row).map((verdict) => verdict.verifier) : row.why.split("; ").filter(Boolean).map((text) => text.split(":")[0]));

function flips(title, pairs, names) {
  if (!pairs.length) return null;
  const shown = pairs.slice(0, 300);
  return [h("h2", {}, `${title} (${number(pairs.length)})`), h("div", { class: "sheet" }, h("table", { class: "flips" },
    h("thead", {}, h("tr", {}, ["task", names[0], names[1]].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, shown.map(([a, b]) => h("tr", {},
      h("td", {}, h("a", { href: address("pair", a.ref, b.ref) }, label(a)), h("div", { class: "none" }, a.ask.slice(0, 140))),
      [a, b].map((row) => h("td", {}, rewardPill(row), row.why ? h("div", { class: "none" }, row.why.slice(0, 240)) : null))))))),
    pairs.length > shown.length ? h("p", { class: "none" }, `and ${number(pairs.length - shown.length)} more`) : null];
}
