// The page: reads the data, draws the charts, and starts the panel.

const report = JSON.parse(document.getElementById("data").textContent);
const model = report.model && readModel(report.model, report.data.columns);
const panel = model && new Panel(report, model);
let output = 0;

startTheme();
startLinks();
startRules();
startSets();
listData();
drawTraining();
startOutput();
startThreshold();
window.addEventListener("beforeprint", openAll);
window.takagi = { report, model, panel, encodeRow, evaluate, attribute };

function openAll() {
  document.querySelectorAll("details.more").forEach((node) => { node.open = true; });
}

// -- light and dark ---------------------------------------------------------------------------------------------------

function startTheme() {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const set = (isDark) => {
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    button.setAttribute("aria-pressed", String(isDark));
  };
  button.addEventListener("click", () => set(document.documentElement.dataset.theme !== "dark"));
  system.addEventListener("change", () => set(system.matches));
  set(system.matches);
}

// In a notebook's frame a link to a place in the page would load the notebook's address, so the page scrolls itself.
function startLinks() {
  document.querySelectorAll('a[href^="#"]').forEach((link) => link.addEventListener("click", (event) => {
    const place = document.getElementById(link.getAttribute("href").slice(1));
    event.preventDefault();
    place.scrollIntoView();
    place.focus({ preventScroll: true });
  }));
}

// -- what depends on the output ---------------------------------------------------------------------------------------

function startOutput() {
  const select = document.getElementById("output");
  select?.addEventListener("change", () => showOutput(Number(select.value)));
  showOutput(0);
}

function showOutput(k) {
  output = k;
  document.querySelectorAll("[data-output]").forEach((node) => { node.hidden = Number(node.dataset.output) !== k; });
  (report.classes ? drawProbabilities : drawErrors)(k, report.outputs[k]);
  listImportance();
  panel?.setOutput(k);
}

function drawErrors(k, name) {
  const residuals = report.residuals[k];
  keepDrawn(document.getElementById("scatter"), (width) => drawScatter(width, residuals, name));
  keepDrawn(document.getElementById("residuals"), (width) => drawResiduals(width, residuals, name));
}

function drawProbabilities(k, name) {
  const curves = report.told.curves[k];
  keepDrawn(document.getElementById("reliability"), (width) => drawReliability(width, curves, name));
  const roc = document.getElementById("roc");
  if (curves.roc) keepDrawn(roc, (width) => drawRoc(width, curves.roc, name));
  else roc.replaceChildren(make("p", { class: "quiet" }, "There is no ROC curve: all rows are of this class, or none."));
}

// The confusion matrix of two classes at another threshold.
function startThreshold() {
  const slider = document.getElementById("threshold");
  if (!slider) return;
  const rows = [...document.getElementById("confusion").tBodies[0].rows];
  const show = () => {
    const counts = report.told.at_least.map((found) => [found[0] - found[slider.value], found[Number(slider.value)]]);
    rows.forEach((row, actual) => [...row.cells].slice(1).forEach((cell, predicted) => {
      cell.textContent = counts[actual][predicted].toLocaleString("en");
    }));
    const [[rest, wrong], [missed, found]] = counts;
    const part = (some, all) => (all ? formatShare(some / all) : "–");
    document.getElementById("threshold-value").textContent = `${slider.value} %`;
    document.getElementById("threshold-rates").textContent = `${part(found, found + missed)} of ${report.classes[1]} `
      + `found (recall); ${part(found, found + wrong)} of such predictions are right (precision); `
      + `${part(rest + found, sum(counts.flat()))} of all rows are right (accuracy)`;
  };
  slider.addEventListener("input", show);
  show();
}

function listImportance() {
  const table = document.getElementById("importance-table");
  const figures = report.importance[output];
  const order = [...report.order].sort((a, b) => figures.overall[b] - figures.overall[a]);
  const most = Math.max(...figures.overall, ...figures.conditions, ...figures.consequents) || 1;
  const mostPermuted = Math.max(...figures.permutation, 0) || 1;
  const cell = (value, reach, label) => {
    const bar = make("span", { class: "bar", style: `width: ${(100 * Math.max(0, value / reach)).toFixed(1)}%` });
    const number = make("span", { class: "number" }, formatNumber(value, 3));
    const measure = make("span", { class: "measure" }, number, make("span", { class: "bars" }, bar));
    return make("td", { "data-label": label }, measure);
  };
  showList(table.tBodies[0], order.map((c) => report.data.columns[c].name), (i) => {
    const c = order[i];
    return make("tr", {},
      make("th", { scope: "row" }, make("bdi", {}, report.data.columns[c].name)),
      cell(figures.overall[c], most, "overall"), cell(figures.conditions[c], most, "conditions"),
      cell(figures.consequents[c], most, "consequents"), cell(figures.permutation[c], mostPermuted, "permutation"));
  }, "the importance");
}

// -- rules and their sets ---------------------------------------------------------------------------------------------

function startRules() {
  const table = document.getElementById("rule-table");
  makeSortable(table);
  makeSearchable(table, document.getElementById("rule-search"), document.getElementById("rule-count"));
}

function startSets() {
  const host = document.getElementById("set-list");
  const { columns } = report.data;
  const known = report.order.filter((c) => columns[c].kind !== "unused" && (model || report.sets[c]));
  const isAsked = (c) => setsOf(c).some(({ widths }) => widths.some(Number.isFinite));
  const [shown, others] = [known.filter(isAsked), known.filter((c) => !isAsked(c))];
  showList(host, shown.map((c) => columns[c].name), (i) => makeSets(columns[shown[i]], setsOf(shown[i])), "the sets");
  if (others.length) {
    const names = others.slice(0, LIMIT).flatMap((c, i) => [i ? ", " : "", make("bdi", {}, columns[c].name)]);
    const more = others.length > LIMIT ? ` and ${others.length - LIMIT} more` : "";
    host.after(make("p", { class: "quiet" }, "No rule has a condition on ", ...names, `${more}.`));
  }
  const select = document.getElementById("set-rule");
  select.addEventListener("change", () => {
    host.classList.toggle("is-picking", select.value !== "");
    document.getElementById("set-style").textContent = select.value === "" ? ""
      : `.is-picking [data-rule="${Number(select.value)}"] { opacity: 1; stroke-width: 3px; }`;
  });
}

// The centers and widths that each rule has on the inputs of a column.
function setsOf(c) {
  const read = (set) => ({ centers: set.centers, widths: set.widths.map((width) => width ?? Infinity) });
  if (!model) return report.sets[c].map(read);
  return model.parts.flatMap((part) => Array.from({ length: part.nRules }, (_, r) => {
    const offset = part.nConditions - part.origin.length; // projections come first
    const [from, to] = [c, c + 1].map((at) => r * part.nConditions + offset + model.starts[at]);
    const centers = [...part.centers.slice(from, to)].map((center, i) => center + part.origin[model.starts[c] + i]);
    return { centers, widths: [...part.widths.slice(from, to)] };
  }));
}

function makeSets(column, sets) {
  const host = make("div");
  if (column.kind === "number") {
    const curves = sets.map((set) => ({ center: set.centers[0], width: set.widths[0] }));
    keepDrawn(host, (width) => drawCurves(width, column, curves, ruleColor));
  } else {
    const choices = listChoices(column).filter(({ cell }) => cell !== -1);
    const memberships = sets.map((set) => choiceMemberships(column, choices.map(({ cell }) => cell), set));
    host.append(makeGrid(choices, memberships, ruleColor));
    host.className = "scroll";
  }
  return make("figure", {}, make("figcaption", {}, make("bdi", {}, column.name)), host);
}

// -- the rest ---------------------------------------------------------------------------------------------------------

function listData() {
  const { columns } = report.data;
  showList(document.querySelector("#data-table tbody"), report.order.map((c) => columns[c].name), (i) => {
    const column = columns[report.order[i]];
    return make("tr", {},
      make("th", { scope: "row" }, make("bdi", {}, column.name)),
      make("td", {}, column.kind === "unused" ? "not used" : column.kind),
      make("td", { class: "number", "data-label": "missing" }, column.n_missing ? String(column.n_missing) : "–"),
      make("td", {}, ...describeValues(column)),
      make("td", {}, column.counts ? makeStrip(column.counts) : ""));
  }, "the data");
}

function describeValues(column) {
  if (column.kind === "unused") return ["no values in training, or hardly any value twice"];
  if (column.kind === "number") {
    const { low, high } = column;
    if (low === high) return [`always ${formatNumber(low)} in training`];
    return [`${formatNumber(low)} to ${formatNumber(high)}, mean ${formatNumber(column.average)}`];
  }
  const total = sum(column.counts) || 1;
  if (column.kind === "boolean") return [`true in ${formatShare(column.counts[1] / total)}`];
  const order = [...column.levels.keys()].sort((a, b) => column.counts[b] - column.counts[a]);
  const share = (level) => formatShare(column.counts[level] / total);
  const named = order.slice(0, 4).flatMap((level) => [make("bdi", {}, column.levels[level]), ` ${share(level)}, `]);
  named.push(`${order.length} level${order.length > 1 ? "s" : ""} in total`);
  return named;
}

function drawTraining() {
  const [history, tradeOff] = ["history", "trade-off"].map((id) => document.getElementById(id));
  if (history) keepDrawn(history, (width) => drawHistory(width, report.history, report.error));
  if (tradeOff) keepDrawn(tradeOff, (width) => drawTradeOff(width, report.simplification, report.error));
}
