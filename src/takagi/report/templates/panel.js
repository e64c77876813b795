// The what-if panel: a control for each column, and what the rules say of the row that the controls make.

const MOST_SHOWN = 8; // contributions, and rules that fire
const LEAST_SHARE = 0.005;

class Panel {
  constructor(report, model) {
    Object.assign(this, { report, model, columns: report.data.columns, controls: new Map(), output: 0 });
    this.shown = report.order.filter((c) => this.columns[c].kind !== "unused");
    this.base = evaluate(model, model.mean).prediction;
    this.rules = makeRuleRows(model.parts, report.parts, this.part("rules"));
    this.goTo(report.rows.start);
    showList(this.part("controls"), this.shown.map((c) => this.columns[c].name), (i) => this.addControl(this.shown[i]),
      "the what-if panel");
    this.listRows();
  }

  part(name) {
    return document.getElementById(`what-if-${name}`);
  }

  addControl(c) {
    const control = makeControl(this.columns[c], c, (cell, isSettled) => {
      this.cells[c] = cell;
      this.update(isSettled);
    });
    control.show(this.cells[c]);
    this.controls.set(c, control);
    return control.node;
  }

  // -- which row ------------------------------------------------------------------------------------------------------

  listRows() {
    const { numbers } = this.report.rows;
    const select = this.part("row");
    select.append(make("option", { value: -1 }, "the average training row"));
    select.append(...numbers.map((number, i) => make("option", { value: i }, `row ${number}`)));
    select.value = this.row;
    select.addEventListener("change", () => this.goTo(Number(select.value)));
    this.part("back").addEventListener("click", () => this.goTo(Math.max(-1, this.row - 1)));
    this.part("next").addEventListener("click", () => this.goTo(Math.min(numbers.length - 1, this.row + 1)));
    this.part("reset").addEventListener("click", () => this.goTo(this.row));
  }

  // Puts all controls at a row of the data, or at the average row (-1).
  goTo(row) {
    this.row = row;
    this.part("row").value = row;
    this.start = row < 0 ? this.columns.map(() => AVERAGE) : this.report.rows.cells[row];
    this.setCells(this.start);
  }

  setCells(cells) {
    this.cells = [...cells];
    this.controls.forEach((control, c) => control.show(this.cells[c]));
    this.update(true);
  }

  setOutput(k) {
    this.output = k;
    this.update(true);
  }

  // -- what the rules say ---------------------------------------------------------------------------------------------

  update(isSettled) {
    const k = this.output;
    const x = encodeRow(this.model, this.cells);
    const features = attribute(this.model, x, this.model.mean, k);
    Object.assign(this, evaluate(this.model, x));
    this.byCondition = this.addUp(features.byCondition);
    this.byConsequent = this.addUp(features.byConsequent);
    if (isSettled || !this.layout) this.layout = this.lay();
    const { classes, formulas } = this.report;
    const name = classes ? `probability of ${this.report.outputs[k]}` : this.report.outputs[k];
    const answer = classes ? this.probabilities(this.prediction)[k] : this.prediction[k];
    const text = classes ? formatProbability(answer) : this.write(answer);
    this.part("name").textContent = name;
    this.part("prediction").textContent = text;
    this.part("prediction").dataset.value = String(answer);
    this.part("start").textContent = this.describeStart();
    if (classes) this.part("band").textContent = `${formulas[k]}: ${this.write(this.prediction[k])}`;
    else this.showBand(answer);
    this.showContributions();
    this.rules.show(this.share, this.layout.rules, (r) => this.write(this.outputs[r * this.model.nOutputs + k]));
    this.announce(`${name}: ${text}`);
  }

  // The probabilities of the outputs' classes.
  probabilities(outputs) {
    return outputs.length > 1 ? softmax(outputs) : [1 / (1 + Math.exp(-outputs[0]))];
  }

  // Shows between which limits most new rows like this one lie, where the model knows how far it is off.
  showBand(prediction) {
    const { band } = this.report;
    if (!band) return;
    const half = sum(this.share.map((share, r) => share * band.half[r][this.output]));
    const [low, high] = [prediction - half, prediction + half];
    this.part("band").textContent = `${Math.round(100 * band.coverage)} % interval: ${this.write(low)} to ${this.write(high)}`;
    Object.assign(this.part("band").dataset, { low: String(low), high: String(high) });
  }

  // Tells screen readers the prediction when it has come to rest.
  announce(text) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.part("live").textContent = text; }, 500);
  }

  // Adds up what belongs to the inputs of one column.
  addUp(values) {
    const { starts } = this.model;
    return this.columns.map((_, c) => sum(values.slice(starts[c], starts[c + 1])));
  }

  // Writes an amount of the output, to about a hundredth of its spread, or of log-odds.
  write(value) {
    if (this.report.classes) return formatToStep(value, 0.01);
    const spread = this.report.scores[this.output].scores.at(-1).rmse || Math.abs(this.base[this.output]) || 1;
    return formatToStep(value, 10 ** Math.floor(Math.log10(spread)) / 100);
  }

  // The order of the bars and their scale, which stay while a slider is being dragged.
  lay() {
    const totals = this.byCondition.map((value, c) => Math.abs(value + this.byConsequent[c]));
    const order = (values, list) => [...list].sort((a, b) => values[b] - values[a]);
    return {
      columns: order(totals, this.shown).slice(0, MOST_SHOWN),
      rules: order(this.share, this.share.keys()),
      range: [0, 0],
    };
  }

  describeStart() {
    const isChanged = this.cells.some((cell, c) => !Object.is(cell, this.start[c]));
    if (this.row < 0) return isChanged ? "started from the average training row" : "the average training row";
    const targets = this.report.rows.targets[this.row];
    const { prediction } = evaluate(this.model, encodeRow(this.model, this.start));
    const { classes } = this.report;
    const actual = classes ? classes[targets.length > 1 ? targets.indexOf(1) : targets[0]] : this.write(targets[this.output]);
    const before = classes ? formatProbability(this.probabilities(prediction)[this.output])
      : this.write(prediction[this.output]);
    const name = `row ${this.report.rows.numbers[this.row]}`;
    return isChanged ? `${name}: predicted ${before}, actual ${actual}` : `${name}: actual ${actual}`;
  }

  showContributions() {
    const { layout, byCondition, byConsequent, columns } = this;
    const write = (value) => this.write(value);
    const rows = layout.columns.map((c) =>
      [columns[c].name, describeCell(columns[c], this.cells[c]), byCondition[c], byConsequent[c]]);
    const others = this.shown.filter((c) => !layout.columns.includes(c));
    const add = (values) => sum(others.map((c) => values[c]));
    if (others.length) rows.push([`${others.length} other columns`, "", add(byCondition), add(byConsequent)]);
    const amounts = rows.flatMap(([, , a, b]) => [a, b, a + b]);
    layout.range = [Math.min(layout.range[0], ...amounts), Math.max(layout.range[1], ...amounts)];
    const table = this.part("contributions").tBodies[0];
    table.replaceChildren(...rows.map((row) => makeContribution(...row, layout.range, write)));
    const [base, change] = [this.base[this.output], this.prediction[this.output] - this.base[this.output]];
    this.part("sum").textContent =
      `${write(base)} ${change < 0 ? "−" : "+"} ${write(Math.abs(change))} = ${write(base + change)}`;
  }
}

function makeContribution(name, value, byCondition, byConsequent, [low, high], write) {
  const place = (amount) => (100 * (amount - low)) / (high - low || 1);
  const bar = (amount, kind) => {
    const [from, to] = [place(Math.min(0, amount)), place(Math.max(0, amount))];
    const style = `left: ${from.toFixed(2)}%; width: ${(to - from).toFixed(2)}%`;
    return make("span", { class: `bar ${kind} ${amount < 0 ? "is-minus" : "is-plus"}`, style });
  };
  const total = byCondition + byConsequent;
  const detail = `by conditions ${signed(write(byCondition))}, by consequents ${signed(write(byConsequent))}`;
  const zero = make("span", { class: "zero", style: `left: ${place(0).toFixed(2)}%` });
  return make("tr", { title: detail },
    make("th", { scope: "row" }, make("bdi", {}, name), " ", make("bdi", { class: "quiet" }, value)),
    make("td", { "aria-hidden": "true" }, make("span", { class: "bars" },
      bar(total, "total"), bar(byCondition, "condition"), bar(byConsequent, "consequent"), zero)),
    make("td", { class: "number" }, signed(write(total)), make("span", { class: "unseen" }, `, ${detail}`)));
}

// -- rules that fire --------------------------------------------------------------------------------------------------

const ruleColor = (r) => `var(--rule-${r < 8 ? r + 1 : "other"})`;

// A line for each rule, which opens to show its text as in the table of rules.
function makeRuleRow(r) {
  const text = document.getElementById(`rule-${r + 1}`);
  const copy = (kind) => {
    const nodes = [...text.querySelector(`.${kind}`).childNodes].map((node) => node.cloneNode(true));
    return make("div", { class: kind }, ...nodes);
  };
  const bar = make("span", { class: "bar", style: `background: ${ruleColor(r)}` });
  const share = make("span", { class: "number" });
  const says = make("span", { class: "number" });
  const summary = make("summary", {},
    make("span", { class: "which" }, `Rule ${r + 1}`), make("span", { class: "bars" }, bar), share, says);
  return { bar, share, says, node: make("details", { class: "fired" }, summary, copy("if"), copy("then")) };
}

// The rules of all parts, each part below its name where there are several.
function makeRuleRows(parts, names, host) {
  let first = 0;
  const groups = parts.map((part, k) => {
    const group = makeRuleGroup(first, part.nRules, k ? "adds" : "says");
    first += part.nRules;
    if (parts.length > 1) host.append(make("h4", {}, names[k]));
    host.append(group.node);
    return group;
  });
  return { show: (...what) => groups.forEach((group) => group.show(...what)) };
}

function makeRuleGroup(first, nRules, verb) {
  const rows = Array.from({ length: nRules }, (_, i) => makeRuleRow(first + i));
  const rest = make("p", { class: "quiet" });
  const node = make("div");
  const show = (share, everyone, writeOutput) => {
    const order = everyone.filter((r) => r >= first && r < first + nRules);
    order.forEach((r, place) => {
      const row = rows[r - first];
      row.bar.style.width = `${(100 * share[r]).toFixed(2)}%`;
      row.share.textContent = formatShare(share[r]);
      row.says.textContent = `${verb} ${writeOutput(r)}`;
      row.node.hidden = place >= MOST_SHOWN || (share[r] < LEAST_SHARE && !row.node.open);
    });
    const hidden = order.filter((r) => rows[r - first].node.hidden);
    const part = formatShare(sum(hidden.map((r) => share[r])));
    const others = hidden.length === 1 ? "1 other rule" : `${hidden.length} other rules`;
    rest.textContent = hidden.length ? `${others}: ${part} in total` : "";
    const isMoved = order.some((r, place) => node.children[place] !== rows[r - first].node);
    if (isMoved) node.replaceChildren(...order.map((r) => rows[r - first].node), rest);
  };
  return { node, show };
}
