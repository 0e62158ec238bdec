// ---- two rows, two runs
function pair(left, right) {
  const rows = [byId.get(left), byId.get(right)];
  if (!rows[0] || !rows[1]) return h("p", { class: "empty" }, "No such pair in this file.");
  const missing = rows.find((row) => !row.messages);
  if (missing) return waiting(missing);
  const lists = rows.map(factsOf);
  const holds = (list, fact) => list.some((other) => String(other) === String(fact));
  const alike = lists[0].filter((fact) => holds(lists[1], fact));
  const own = lists.map((list) => list.filter((fact) => !holds(alike, fact) && !["sample", "run", "branched from"].includes(fact[0])));
  const one = label(rows[0]) === label(rows[1]);
  const sections = [];
  rows.forEach((row, side) => sections.push(sideOf(row, rows[1 - side], own[side], one, () => sections[1 - side].scrollIntoView())));
  return [
    h("div", { class: "headline side" }, h("a", { class: "icon pill", href: address("rows", right), "aria-label": "Back to the trajectory" }, "←"),
      h("h1", { tabindex: "-1" }, one ? breakable(label(rows[0])) : "Side by side")),
    h("div", { class: "shared" }, foldedFacts("What both share", alike)),
    h("div", { class: "pair" }, sections),
  ];
}

// One of a pair. Both have the same number of parts, so that each part begins at the height of the
// other's.
function sideOf(row, other, own, one, jump) {
  const name = `${one ? "" : `${label(row)}: `}${from(row)}${row.run === other.run ? "" : `, ${data.runs[row.run].name}`}`;
  return h("section", { "aria-label": name },
    h("div", {}, h("div", { class: "headline" }, h("h2", { class: "name" }, breakable(name)), pills(row), h("button", { class: "linkish across", onclick: jump }, "Show the other side")), factList(own)),
    h("div", {}, verdicts(row)),
    partsOf(row, other).map(([title, content]) => h("div", {}, content ? [heading(title, "h3"), content] : null)));
}

// Pairs of rollouts of the two runs, and how many of each run have no partner: a branch stands
// beside its parent, any other rollout beside the one of the same task and sample.
function pairsOf(runs) {
  const branches = runs[1].filter((row) => row.parent && parentOf(row) && parentOf(row).run === 0);
  if (branches.length) {
    const parents = new Set(branches.map(parentOf));
    return { branched: true, pairs: branches.map((row) => [parentOf(row), row]), alone: [runs[0].length - parents.size, runs[1].length - branches.length] };
  }
  const key = (row) => `${row.task}/${row.sample}`;
  const [left, right] = runs.map((rows) => new Map(rows.map((row) => [key(row), row])));
  const pairs = [...left.keys()].filter((one) => right.has(one)).map((one) => [left.get(one), right.get(one)]);
  return { branched: false, pairs, alone: runs.map((rows) => rows.length - pairs.length) };
}

function comparison() {
  const runs = data.runs.map((_, run) => data.rows.filter((row) => row.run === run));
  const names = data.runs.map((run) => run.name);
  const { branched, pairs, alone } = pairsOf(runs);
  const both = pairs.filter(([a, b]) => a.reward !== null && b.reward !== null);
  if (!both.length) return [h("h1", { tabindex: "-1" }, `${names[0]} and ${names[1]}`), h("p", { class: "empty" }, "The runs share no task that both scored: they differ in world, seed or families.")];
  const gained = both.filter(([a, b]) => a.reward < b.reward);
  const lost = both.filter(([a, b]) => a.reward > b.reward);
  const sides = [0, 1].map((side) => both.map((two) => two[side]));
  const difference = meanReward(sides[1]) - meanReward(sides[0]);
  const unpaired = runs.map((rows, run) => `${number(alone[run])} of ${counted(rows.length, "rollout")} unpaired in ${names[run]}`).join(", ");
  return [
    h("div", { class: "headline" }, h("h1", { tabindex: "-1" }, names[0], " → ", names[1]),
      h("span", { class: "none" }, counted(both.length, branched ? "branch beside its parent" : "pair of the same task and sample", branched ? "branches, each beside its parent" : "pairs of the same task and sample"))),
    branched ? h("p", { class: "notice" }, h("b", {}, "This is not a comparison of two models. "),
      `The rollouts of ${names[1]} branch from those of ${names[0]}: a pair is the same up to the turn where it was branched, often one that was chosen because it went wrong, and differs in what happened afterwards.`) : null,
    h("div", { class: "tiles" },
      tile(rate(sides[0]), branched ? "of their parents passed" : `passed in ${names[0]}`), tile(rate(sides[1]), branched ? "of the branches passed" : `passed in ${names[1]}`),
      tile(signed(difference), "mean reward, difference"), tile(number(gained.length), branched ? "better than their parent" : "gained"), tile(number(lost.length), branched ? "worse than their parent" : "lost")),
    h("p", { class: "none" }, unpaired, leftOut(pairs.length - both.length), branched ? null : ["; intervals and an exact paired test: ", h("code", {}, "synth inspect --compare")]),
    lost.length + gained.length ? null : h("p", { class: "empty" }, "No task flipped."),
    flips(branched ? "Worse than their parent" : "Lost", lost, names), flips(branched ? "Better than their parent" : "Gained", gained, names),
    h("div", { class: "charts" }, byFamily(both, names), h("div", { class: "charts" }, reasons(branched ? "Why the worse branches failed" : "Why it was lost", lost, 1), reasons(branched ? "Why their parents had failed" : "Why it had failed before", gained, 0))),
  ];
}

const leftOut = (count) => (count ? `, ${counted(count, "pair")} without a score on both sides left out` : "");
const rate = (rows) => percent(won(rows) / rows.length);
const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "±") + Math.abs(value).toFixed(3);

function byFamily(both, names) {
  const groups = tally(both, ([a]) => [a.family]).map(([family, pairs]) => [family, pairs, ...[0, 1].map((side) => meanReward(pairs.map((two) => two[side])))]);
  const gap = ([, , before, after]) => Math.abs(after - before);
  groups.sort((a, b) => gap(b) - gap(a) || b[1].length - a[1].length);
  const body = groups.map(([family, pairs, before, after], place) => {
    const fill = h("div", { class: `part ${after < before ? "failure" : "success"}` });
    fill.style.width = `${50 * Math.abs(after - before)}%`;
    fill.style.marginLeft = after < before ? `${50 - 50 * (before - after)}%` : "50%";
    return h("tr", { hidden: place >= ROWS }, h("th", { class: "name", scope: "row", title: family }, narrowed(family, "family")), h("td", { class: "value" }, before.toFixed(2)), h("td", { class: "value" }, after.toFixed(2)),
      h("td", { class: "value" }, after === before ? "" : signed(after - before)), h("td", {}, h("div", { class: "track middle", "aria-hidden": "true" }, after === before ? null : fill)), h("td", { class: "value" }, number(pairs.length)));
  });
  const heads = ["family", names[0], names[1], "difference", "", "rows"];
  return h("div", { class: "card chart" }, h("h2", {}, "Mean reward by family"), h("p", { class: "none" }, "Largest difference first."), h("table", { class: "bars" },
    h("thead", {}, h("tr", {}, heads.map((text, place) => h("th", { scope: "col", class: place && place !== 4 ? "value" : null }, place ? text : h("span", { class: "spoken" }, text))))),
    h("tbody", {}, body)), unfold(body));
}

// How often each verifier was behind the failing side of pairs.
function reasons(title, pairs, side) {
  const counts = countsOf(pairs, (two) => two[side].wrong);
  return shares(title, counts, null);
}


const FLIPS = 10; // shown at once

function flips(title, pairs, names) {
  if (!pairs.length) return null;
  const shown = pairs.slice(0, 300);
  const more = shown.length > FLIPS ? h("details", { class: "fold" }, h("summary", {}, `${number(shown.length - FLIPS)} more`), flipTable(shown.slice(FLIPS), names)) : null;
  return h("section", { class: "flipped" }, h("h2", {}, `${title} (${number(pairs.length)})`), flipTable(shown.slice(0, FLIPS), names), more,
    pairs.length > shown.length ? h("p", { class: "none" }, `The first ${shown.length} of ${number(pairs.length)}.`) : null);
}

function flipTable(pairs, names) {
  return h("div", { class: "sheet", tabindex: "0", role: "region", "aria-label": "Flipped tasks" }, h("table", { class: "flips" },
    h("thead", {}, h("tr", {}, ["task", names[0], names[1]].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, pairs.map(([a, b]) => h("tr", {},
      h("td", {}, h("a", { href: address("pair", a.ref, b.ref) }, breakable(label(a))), h("span", { class: "none" }, ` ${from(b)}`), h("div", { class: "none why" }, a.ask.slice(0, 200))),
      [a, b].map((row, side) => h("td", { "data-run": names[side] }, rewardPill(row), row.why ? h("div", { class: "none why" }, readable(row.why).slice(0, 400)) : null)))))));
}
