// Charts as SVG, drawn to the width they have and drawn again when it changes.

const SVG = "http://www.w3.org/2000/svg";
const MOST_LOSS = 1.5; // the trade-off is shown up to so many times the model's own error
const MARGIN = { left: 62, right: 12, top: 10, bottom: 38 };

function draw(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, value));
  node.append(...children);
  return node;
}

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => {
    if (value !== false && value !== null) node.setAttribute(name, value === true ? "" : value);
  });
  node.append(...children);
  return node;
}

// -- numbers ----------------------------------------------------------------------------------------------------------

function formatNumber(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  const text = Number(value.toPrecision(digits));
  const size = Math.abs(text);
  return (size !== 0 && (size < 1e-4 || size >= 1e7) ? text.toExponential() : String(text)).replace("-", "−");
}

// Writes a number to the decimal place of a step, a power of ten, so that numbers below each other line up.
function formatToStep(value, step) {
  const decimals = Math.max(0, -Math.round(Math.log10(step)));
  if (decimals > 8 || Math.abs(value) >= 1e7) return formatNumber(value);
  const rounded = Math.round(value / step) * step;
  return (rounded === 0 ? 0 : rounded).toFixed(decimals).replace("-", "−");
}

const signed = (text) => (/^[−–]|^[0.]*$/.test(text) ? text : `+${text}`);
const formatShare = (share) => (share > 0 && share < 0.005 ? "<1 %" : `${(100 * share).toFixed(0)} %`);

function formatProbability(value) {
  if (value < 0.0005) return "<0.1 %";
  return value > 0.9995 ? ">99.9 %" : `${(100 * value).toFixed(1)} %`;
}

function niceStep(size) {
  const power = 10 ** Math.floor(Math.log10(size));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= size * (1 - 1e-9));
}

function ticks(low, high, count) {
  const step = niceStep((high - low) / count);
  const first = Math.ceil(low / step - 1e-9);
  const out = [];
  for (let i = first; i * step <= high + step * 1e-9; i++) out.push(Number((i * step).toPrecision(12)));
  return out;
}

// As many ticks as wanted, about, and never a single one.
function someTicks(low, high, count) {
  const found = ticks(low, high, count);
  return found.length < 3 ? ticks(low, high, 2 * count) : found;
}

// -- a frame with axes ------------------------------------------------------------------------------------------------

// Calls `paint(width)` now and whenever the width of `host` changes; `paint` returns the SVG.
function keepDrawn(host, paint) {
  const update = () => {
    if (!host.clientWidth || host.clientWidth === host.drawnWidth) return;
    host.drawnWidth = host.clientWidth;
    host.replaceChildren(paint(host.clientWidth));
  };
  host.drawnWidth = 0;
  host.observer?.disconnect();
  host.observer = new ResizeObserver(update);
  host.observer.observe(host);
  update();
}

// Options: x and y ranges, labels of the axes, the text alternative, whether to leave out the numbers of y, and the
// ticks of x where they are not its round numbers.
function makeFrame(width, height, { x, y, xLabel, yLabel, label, isBare, xTicks }) {
  const left = isBare ? 6 : MARGIN.left;
  const bottom = height - (xLabel || !isBare ? MARGIN.bottom : 20);
  const right = width - MARGIN.right;
  const toX = (value) => left + ((value - x[0]) / (x[1] - x[0] || 1)) * (right - left);
  const toY = (value) => bottom - ((value - y[0]) / (y[1] - y[0] || 1)) * (bottom - MARGIN.top);
  const node = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const text = (content, attributes) => node.append(draw("text", attributes, content));
  const rounded = () => someTicks(x[0], x[1], Math.max(3, width / 110)).map((at) => ({ at, text: formatNumber(at) }));
  (xTicks ?? rounded()).forEach((tick) => {
    node.append(draw("line", { x1: toX(tick.at), x2: toX(tick.at), y1: bottom, y2: bottom + 4, class: "axis" }));
    text(tick.text, { x: toX(tick.at), y: bottom + 16, "text-anchor": "middle" });
  });
  if (!isBare) {
    ticks(y[0], y[1], Math.max(2, height / 60)).forEach((tick) => {
      node.append(draw("line", { x1: left, x2: right, y1: toY(tick), y2: toY(tick), class: "grid" }));
      text(formatNumber(tick), { x: left - 6, y: toY(tick) + 4, "text-anchor": "end" });
    });
  }
  node.append(draw("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" }));
  if (xLabel) text(xLabel, { x: (left + right) / 2, y: bottom + 33, "text-anchor": "middle", class: "label" });
  const turn = `translate(11 ${(bottom + MARGIN.top) / 2}) rotate(-90)`;
  if (yLabel) text(yLabel, { transform: turn, "text-anchor": "middle", class: "label" });
  return { node, toX, toY, left, right, bottom, top: MARGIN.top };
}

const pathOf = (points) => "M" + points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");

// Bars of a histogram as one path; `toX` takes the place from 0 to 1 along the bins.
function barPath(counts, toX, toHeight, bottom) {
  const most = Math.max(...counts, 1);
  return counts.map((count, b) => {
    if (!count) return "";
    const [from, to] = [toX(b / counts.length) + 0.5, toX((b + 1) / counts.length) - 0.5];
    const top = bottom - toHeight(count / most);
    return `M${from.toFixed(1)} ${bottom}V${top.toFixed(1)}H${to.toFixed(1)}V${bottom}Z`;
  }).join("");
}

function makeStrip(counts, height = 26) {
  const d = barPath(counts, (place) => 200 * place, (part) => Math.max(1, part * (height - 1)), height);
  const box = { viewBox: `0 0 200 ${height}`, preserveAspectRatio: "none" };
  return draw("svg", { ...box, class: "strip", "aria-hidden": "true" }, draw("path", { d }));
}

// -- the charts -------------------------------------------------------------------------------------------------------

function drawScatter(width, { actual, predicted }, name) {
  const all = actual.concat(predicted);
  const range = widen(Math.min(...all), Math.max(...all));
  const height = Math.min(width, 380);
  const frame = makeFrame(width, height, {
    x: range, y: range, xLabel: "predicted", yLabel: "actual",
    label: `Actual against predicted ${name} for ${actual.length} rows; points on the line are predicted exactly.`,
  });
  const diagonal = range.map((value) => [frame.toX(value), frame.toY(value)]);
  frame.node.append(draw("path", { d: pathOf(diagonal), class: "guide" }));
  predicted.forEach((value, i) => {
    const [cx, cy] = [frame.toX(value).toFixed(1), frame.toY(actual[i]).toFixed(1)];
    frame.node.append(draw("circle", { cx, cy, r: 2.6, class: "dot" }));
  });
  return frame.node;
}

function drawResiduals(width, { counts, reach, within }, name) {
  const most = Math.max(...counts, 1);
  const frame = makeFrame(width, Math.min(width, 380), {
    x: [-reach, reach], y: [0, most * 1.05], xLabel: "actual minus predicted", yLabel: "rows",
    label: `Histogram of the residuals of ${name}: half of the rows are off by less than ${formatNumber(within[0])}, `
      + `nine of ten by less than ${formatNumber(within[1])}.`,
  });
  const toX = (place) => frame.toX(-reach + 2 * reach * place);
  const d = barPath(counts, toX, (part) => (frame.bottom - frame.toY(most)) * part, frame.bottom);
  frame.node.append(draw("path", { d, class: "bars" }));
  frame.node.append(makeUpright(frame, 0));
  return frame.node;
}

// A curve of two shares over the diagonal, with marks at its points if there are few.
function drawShares(width, [x, y], { xLabel, yLabel, label, marks }) {
  const frame = makeFrame(width, Math.min(width, 380), { x: [0, 1], y: [0, 1], xLabel, yLabel, label });
  const place = (values) => values.map((value, i) => [frame.toX(value), frame.toY(y[i])]);
  const diagonal = [0, 1].map((value) => [frame.toX(value), frame.toY(value)]);
  frame.node.append(draw("path", { d: pathOf(diagonal), class: "guide" }));
  frame.node.append(draw("path", { d: pathOf(place(x)), class: marks ? "line faint" : "line" }));
  if (marks) place(x).forEach(([cx, cy]) => frame.node.append(draw("circle", { cx, cy, r: 4, class: "mark" })));
  return frame.node;
}

function drawReliability(width, { predicted, actual }, name) {
  return drawShares(width, [predicted, actual], {
    xLabel: `predicted probability of ${name}`, yLabel: "observed frequency", marks: true,
    label: `Observed frequency of ${name} against its predicted probability; on the line, both are equal.`,
  });
}

function drawRoc(width, { false: x, true: y, area }, name) {
  return drawShares(width, [x, y], {
    xLabel: `false positive rate (area ${area.toFixed(3)})`, yLabel: `true positive rate of ${name}`,
    label: `Receiver operating characteristic of ${name}; the area under it is ${area.toFixed(3)}.`,
  });
}

// A dashed line from the top to the bottom of a frame.
function makeUpright(frame, value) {
  const x = frame.toX(value);
  return draw("line", { x1: x, x2: x, y1: frame.top, y2: frame.bottom, class: "guide" });
}

function drawHistory(width, history, error) {
  const { iterations, train_loss: train, val_loss: validation } = history;
  const sorted = [...train, ...validation].filter((value) => value !== null).sort((a, b) => a - b);
  const top = sorted[Math.floor(0.97 * (sorted.length - 1))];
  const range = widen(sorted[0], Math.max(top, ...validation.slice(-1)));
  const frame = makeFrame(width, 280, {
    x: [0, history.n_iter], y: range, xLabel: "iteration", yLabel: error,
    label: `Error of the batches and of the validation rows over ${history.n_iter} iterations.`,
  });
  const points = (values) => iterations.map((it, i) => [frame.toX(it), Math.max(frame.top, frame.toY(values[i]))]);
  frame.node.append(draw("path", { d: pathOf(points(train)), class: "line faint" }));
  if (!validation.length) return frame.node;
  frame.node.append(draw("path", { d: pathOf(points(validation)), class: "line" }));
  if (history.best_iter) {
    const [x, y] = [frame.toX(history.best_iter), Math.max(frame.top, frame.toY(history.best_loss))];
    frame.node.append(makeUpright(frame, history.best_iter), draw("circle", { cx: x, cy: y, r: 4, class: "mark" }));
  }
  return frame.node;
}

// Error against words on a logarithmic scale, from the whole model on the right to the smallest worth showing on the
// left; the strong line joins what no other point beats, and marks show the choices.
function drawTradeOff(width, { curve, pareto, whole, choices }, error) {
  const { n_words: words, val_loss: errors } = curve;
  const most = MOST_LOSS * whole.val_loss;
  const shown = [...words.keys()].filter((i) => errors[i] <= most);
  const [few, many] = [words[shown.at(-1)], words[0]];
  const frame = makeFrame(width, 280, {
    x: widen(Math.log10(few), Math.log10(many)),
    y: widen(Math.min(...errors), Math.max(...shown.map((i) => errors[i]))),
    xTicks: roundNumbers(few, many).map((value) => ({ at: Math.log10(value), text: String(value) })),
    xLabel: "words", yLabel: `validation ${error}`,
    label: `Validation error of smaller and smaller models, from ${many} words to ${few}.`,
  });
  const place = (x, y) => [frame.toX(Math.log10(x)), frame.toY(y)];
  const line = (steps) => pathOf(steps.map((i) => place(words[i], errors[i])));
  frame.node.append(draw("path", { d: line(shown), class: "line faint" }));
  frame.node.append(draw("path", { d: line(pareto.filter((i) => errors[i] <= most)), class: "line" }));
  choices.forEach(({ n_words: x, val_loss: y }) => {
    const [cx, cy] = place(x, y);
    frame.node.append(draw("circle", { cx, cy, r: 4.5, class: "mark" }));
  });
  return frame.node;
}

// The numbers 1, 2, 5, 10, 20, ... between two.
function roundNumbers(low, high) {
  const powers = Array.from({ length: Math.ceil(Math.log10(high)) + 1 }, (_, power) => 10 ** power);
  return powers.flatMap((power) => [power, 2 * power, 5 * power]).filter((value) => value >= low && value <= high);
}

function widen(low, high, part = 0.04) {
  const extra = (high - low) * part || Math.abs(low) * 0.1 || 1;
  return [low - extra, high + extra];
}

// -- sets -------------------------------------------------------------------------------------------------------------

// The range of a number's histogram. Where each whole number has a bar of its own, it stands in the middle of the bar.
function rangeOf({ span: [low, high], counts, is_whole: isWhole }) {
  if (isWhole && counts.length === high - low + 1) return [low - 0.5, high + 0.5];
  return low < high ? [low, high] : widen(low, high);
}

// A number's sets: one curve a rule over the histogram. `sets` is a list with center and width of each rule.
function drawCurves(width, column, sets, colorOf) {
  const [low, high] = rangeOf(column);
  const frame = makeFrame(width, 150, {
    x: [low, high], y: [0, 1.12], isBare: true,
    label: `Membership functions of ${sets.length} rules on ${column.name}, `
      + `from ${formatNumber(low)} to ${formatNumber(high)}.`,
  });
  const tall = frame.bottom - frame.toY(1);
  const bars = barPath(column.counts, (p) => frame.toX(low + (high - low) * p), (part) => tall * part, frame.bottom);
  frame.node.append(draw("path", { d: bars, class: "ground" }));
  for (let r = sets.length - 1; r >= 0; r--) {
    const { center, width: spread } = sets[r];
    if (!Number.isFinite(spread)) continue; // no condition
    const points = Array.from({ length: 101 }, (_, i) => {
      const value = low + ((high - low) * i) / 100;
      return [frame.toX(value), frame.toY(Math.exp(-0.5 * ((value - center) / spread) ** 2))];
    });
    frame.node.append(draw("path", { d: pathOf(points), class: "curve", stroke: colorOf(r), "data-rule": r }));
  }
  return frame.node;
}

// A choice's sets: a table with a row for each choice and a square for each rule, the darker the better it suits.
function makeGrid(choices, memberships, colorOf) {
  const body = make("tbody");
  choices.forEach(({ text }, i) => {
    const row = make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, text)));
    memberships.forEach((levels, r) => {
      const cell = make("td", { "data-rule": r, title: `Rule ${r + 1}: ${levels[i].toFixed(2)}` });
      const square = make("span", { class: "square" }, make("span", { class: "unseen" }, levels[i].toFixed(2)));
      square.style.background = colorOf(r);
      square.style.opacity = 0.06 + 0.94 * levels[i];
      cell.append(square);
      row.append(cell);
    });
    body.append(row);
  });
  const heads = memberships.map((_, r) => make("th", { scope: "col", "data-rule": r }, String(r + 1)));
  const head = make("thead", {}, make("tr", {}, make("td"), ...heads));
  return make("table", { class: "choices" }, head, body);
}
