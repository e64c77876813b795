// The rules themselves: a row of cells becomes inputs, inputs fire rules, rules predict. Pure functions in double
// precision; nothing here touches the page.

function readModel(content, columns) {
  const { centers, widths, consequents } = content.rules;
  const [a, s, w] = [centers, widths, consequents].map(readArray);
  const [pa, pc] = [content.rules.antecedent_projection, content.rules.consequent_projection].map(readArray);
  const starts = [0];
  columns.forEach((column) => starts.push(starts[starts.length - 1] + column.mean.length));
  return {
    columns, starts, origin: content.origin, mean: Float64Array.from(content.mean),
    nFeatures: content.mean.length, nRules: a.shape[0], nOutputs: w.shape[1],
    centers: a.values, widths: s.values, consequents: w.values,
    nConditions: a.shape[1], nTerms: w.shape[2],
    conditionProjection: pa, termProjection: pc,
  };
}

// An array comes as nested lists, or as the base64 of its float64 numbers where lists would be too long. No number in
// widths is no condition.
function readArray(content) {
  if (content === null) return null;
  if (content.base64 !== undefined) {
    const bytes = Uint8Array.from(atob(content.base64), (letter) => letter.charCodeAt(0));
    return { shape: content.shape, values: new Float64Array(bytes.buffer) };
  }
  const shape = [];
  for (let level = content; Array.isArray(level); level = level[0]) shape.push(level.length);
  return { shape, values: Float64Array.from(content.flat(Infinity), (v) => (v === null ? Infinity : v)) };
}

// -- cells to inputs --------------------------------------------------------------------------------------------------

// A cell is a number, a level's index (-1: none of them), null (missing) or AVERAGE (the mean of training).
const AVERAGE = "average";

function encodeCell(column, cell) {
  if (cell === AVERAGE) return column.mean;
  if (column.kind === "category") return column.levels.map((_, level) => (level === cell ? 1 : 0));
  const value = cell === null ? column.fill : cell;
  return column.has_missing ? [value, cell === null ? 1 : 0] : [value];
}

// Inputs are relative to the model's origin.
function encodeRow(model, cells) {
  const inputs = model.columns.flatMap((column, c) => (column.mean.length ? encodeCell(column, cells[c]) : []));
  return Float64Array.from(inputs, (value, m) => value - model.origin[m]);
}

// -- inputs to predictions --------------------------------------------------------------------------------------------

// Projections come before the features, each with its bias first.
function augment(x, projection) {
  if (!projection) return x;
  const n = projection.shape[1];
  const out = new Float64Array(n + x.length);
  for (let j = 0; j < n; j++) {
    out[j] = projection.values[j];
    for (let m = 0; m < x.length; m++) out[j] += x[m] * projection.values[(m + 1) * n + j];
  }
  out.set(x, n);
  return out;
}

function logFiring(model, x) {
  const inputs = augment(x, model.conditionProjection);
  const out = new Float64Array(model.nRules);
  for (let r = 0; r < model.nRules; r++) {
    for (let m = 0, i = r * model.nConditions; m < inputs.length; m++, i++) {
      const z = (inputs[m] - model.centers[i]) / model.widths[i];
      out[r] -= 0.5 * z * z;
    }
    out[r] = Math.max(out[r], -1e300); // far rows: no difference of infinities
  }
  return out;
}

function softmax(logs) {
  const top = Math.max(...logs);
  const levels = logs.map((value) => Math.exp(value - top));
  const total = levels.reduce((sum, value) => sum + value, 0);
  return levels.map((value) => value / total);
}

// What each rule says by itself; rule r and output k are at r * nOutputs + k.
function ruleOutputs(model, x) {
  const inputs = augment(x, model.termProjection);
  const out = new Float64Array(model.nRules * model.nOutputs);
  for (let i = 0; i < out.length; i++) {
    out[i] = model.consequents[i * model.nTerms];
    for (let m = 0; m < inputs.length; m++) out[i] += model.consequents[i * model.nTerms + 1 + m] * inputs[m];
  }
  return out;
}

function evaluate(model, x) {
  const share = softmax(logFiring(model, x));
  const outputs = ruleOutputs(model, x);
  const prediction = new Float64Array(model.nOutputs);
  outputs.forEach((value, i) => { prediction[i % model.nOutputs] += share[Math.floor(i / model.nOutputs)] * value; });
  return { share, outputs, prediction };
}

// -- contributions ----------------------------------------------------------------------------------------------------

// The change of the prediction from a baseline to a row is the integral of its gradient along the straight line between
// them. On that line a rule's log firing level is a parabola in the place t, and its own output is linear in t; so a
// point of the line costs only as many operations as there are rules.

const NODES = [0.18343464249564980, 0.52553240991632899, 0.79666647741362674, 0.96028985649753623];
const WEIGHTS = [0.36268378337836198, 0.31370664587788729, 0.22238103445337447, 0.10122853629037626];
const FIRST_PANELS = 4;
const MAX_HALVINGS = 40;
const TOLERANCE = 1e-12; // of the change, for each panel
const ROUNDING = 1e-14; // of the largest output of a rule

// Returns the contributions of the features to output k, by condition and by consequent.
function attribute(model, x, baseline, k) {
  const line = makeLine(model, x, baseline, k);
  const total = evaluate(model, x).prediction[k] - evaluate(model, baseline).prediction[k];
  const found = spread(model, x, baseline, k, integrate(line, total));
  const rest = total - sum(found.byCondition) - sum(found.byConsequent);
  const sizes = found.byCondition.map(Math.abs);
  const size = sum(sizes);
  sizes.forEach((value, m) => { found.byCondition[m] += rest * (size > 0 ? value / size : 1 / sizes.length); });
  return found;
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

// For each rule: -2 times the log firing level is q0 + q1 t + q2 t^2, and the output is o0 + o1 t.
function makeLine(model, x, baseline, k) {
  const from = augment(baseline, model.conditionProjection);
  const to = augment(x, model.conditionProjection);
  const [start, end] = [ruleOutputs(model, baseline), ruleOutputs(model, x)];
  return Array.from({ length: model.nRules }, (_, r) => {
    const rule = { q0: 0, q1: 0, q2: 0, o0: start[r * model.nOutputs + k], o1: 0 };
    rule.o1 = end[r * model.nOutputs + k] - rule.o0;
    for (let m = 0, i = r * model.nConditions; m < from.length; m++, i++) {
      const z = (from[m] - model.centers[i]) / model.widths[i];
      const step = (to[m] - from[m]) / model.widths[i];
      rule.q0 += z * z;
      rule.q1 += 2 * z * step;
      rule.q2 += step * step;
    }
    return rule;
  });
}

// Shares, outputs and prediction at the place t of a line.
function look(line, t) {
  const share = softmax(line.map((rule) => -0.5 * (rule.q0 + t * (rule.q1 + t * rule.q2))));
  const outputs = line.map((rule) => rule.o0 + t * rule.o1);
  return { share, outputs, prediction: outputs.reduce((total, value, r) => total + share[r] * value, 0) };
}

// Integrates, for each rule, its share, its pull (share times how far its output is from the prediction), and t times
// the pull, with eight points of Gauss-Legendre on each panel. A panel that misses the known change of the prediction is
// halved, until it does not or is too small to halve.
function integrate(line, total) {
  const out = line.map(() => ({ share: 0, pull: 0, pullByPlace: 0 }));
  const biggest = Math.max(...line.map((rule) => Math.abs(rule.o0) + Math.abs(rule.o1)));
  const tolerance = Math.max(TOLERANCE * Math.abs(total), ROUNDING * biggest);
  const open = Array.from({ length: FIRST_PANELS }, (_, i) => ({ left: i / FIRST_PANELS, halvings: 0 }));
  while (open.length) {
    const { left, halvings } = open.pop();
    const width = 1 / FIRST_PANELS / 2 ** halvings;
    const panel = integratePanel(line, left, width);
    const change = look(line, left + width).prediction - look(line, left).prediction;
    if (Math.abs(panel.change - change) > tolerance && halvings < MAX_HALVINGS) {
      open.push({ left, halvings: halvings + 1 }, { left: left + width / 2, halvings: halvings + 1 });
    } else {
      out.forEach((integral, r) => Object.keys(integral).forEach((name) => { integral[name] += panel.rules[r][name]; }));
    }
  }
  return out;
}

function integratePanel(line, left, width) {
  const rules = line.map(() => ({ share: 0, pull: 0, pullByPlace: 0 }));
  let change = 0;
  for (let point = 0; point < 8; point++) {
    const t = left + 0.5 * width * (1 + NODES[point % 4] * (point < 4 ? 1 : -1));
    const weight = 0.5 * width * WEIGHTS[point % 4];
    const { share, outputs, prediction } = look(line, t);
    line.forEach((rule, r) => {
      const pull = weight * share[r] * (outputs[r] - prediction);
      rules[r].share += weight * share[r];
      rules[r].pull += pull;
      rules[r].pullByPlace += t * pull;
      change += weight * share[r] * rule.o1 - pull * (0.5 * rule.q1 + t * rule.q2);
    });
  }
  return { rules, change };
}

// Shares the integrals of the rules out among the features.
function spread(model, x, baseline, k, integrals) {
  const from = augment(baseline, model.conditionProjection);
  const to = augment(x, model.conditionProjection);
  const slopes = new Float64Array(model.nConditions);
  const weights = new Float64Array(model.nTerms - 1);
  integrals.forEach(({ share, pull, pullByPlace }, r) => {
    for (let m = 0, i = r * model.nConditions; m < slopes.length; m++, i++) {
      const width = model.widths[i];
      slopes[m] += (pull * (model.centers[i] - from[m]) - pullByPlace * (to[m] - from[m])) / width / width;
    }
    const first = (r * model.nOutputs + k) * model.nTerms + 1;
    for (let m = 0; m < weights.length; m++) weights[m] += share * model.consequents[first + m];
  });
  const times = (values) => values.map((value, m) => value * (x[m] - baseline[m]));
  return {
    byCondition: times(foldProjection(slopes, model.conditionProjection)),
    byConsequent: times(foldProjection(weights, model.termProjection)),
  };
}

// What a projection's inputs get goes to the features it is made of.
function foldProjection(slopes, projection) {
  if (!projection) return slopes;
  const n = projection.shape[1];
  return slopes.slice(n).map((value, m) => {
    for (let j = 0; j < n; j++) value += slopes[j] * projection.values[(m + 1) * n + j];
    return value;
  });
}

// -- words ------------------------------------------------------------------------------------------------------------

// How well each choice of a column suits a rule: 1 for the one that suits best.
function choiceMemberships(column, choices, sets) {
  const distances = choices.map((cell) => {
    const inputs = encodeCell(column, cell);
    return sum(inputs.map((value, m) => ((value - sets.centers[m]) / sets.widths[m]) ** 2));
  });
  const least = Math.min(...distances);
  return distances.map((distance) => Math.exp(-0.5 * (distance - least)));
}
