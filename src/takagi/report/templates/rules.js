// The rules themselves: a row of cells becomes inputs, inputs fire rules, rules predict. Pure functions in double
// precision; nothing here touches the page.

function readModel(content, columns) {
  const starts = [0];
  columns.forEach((column) => starts.push(starts[starts.length - 1] + column.mean.length));
  const parts = content.parts.map(readPart);
  const mean = Float64Array.from(content.mean);
  return { columns, starts, mean, parts, nFeatures: mean.length, nOutputs: parts[0].nOutputs };
}

// A part is rules on the features and its bends, which are features behind the others, relative to its origin.
function readPart(content) {
  const [a, s, w] = [content.centers, content.widths, content.consequents].map(readArray);
  const [pa, pc] = [content.antecedent_projection, content.consequent_projection].map(readArray);
  return {
    origin: content.origin, bends: content.bends, nRules: a.shape[0], nOutputs: w.shape[1],
    centers: a.values, widths: s.values, consequents: w.values,
    nConditions: a.shape[1], nTerms: w.shape[2],
    conditionProjection: pa, termProjection: pc,
    usual: content.usual && readArray(content.usual).values, // what a missing input counts as in each rule's formula
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
  if (column.kind === "category") return hold(column, column.levels.map((_, level) => (level === cell ? 1 : 0)));
  const value = cell === null ? (column.is_native ? NaN : column.fill) : cell;
  return hold(column, column.has_missing ? [value, cell === null ? 1 : 0] : [value]);
}

// Takes inputs beyond the limits of the rules for the limit; no number in a limit is none.
function hold({ limits }, inputs) {
  if (!limits) return inputs;
  return inputs.map((value, m) => Math.max(limits[m][0] ?? -Infinity, Math.min(limits[m][1] ?? Infinity, value)));
}

function encodeRow(model, cells) {
  const inputs = model.columns.flatMap((column, c) => (column.mean.length ? encodeCell(column, cells[c]) : []));
  return Float64Array.from(inputs);
}

// The inputs of a part: features, then bends.
function expand(part, x) {
  const inputs = [...x, ...part.bends.map((bend) => evaluateBend(bend, x[bend.feature]))];
  return Float64Array.from(inputs, (value, m) => value - part.origin[m]);
}

function evaluateBend({ kind, knot, floor }, value) {
  if (kind === "above") return Math.max(value - knot, 0);
  if (kind === "up to") return Math.min(value, knot);
  return Math.log(Math.max(value - knot, floor));
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

function logFiring(part, x) {
  const inputs = augment(x, part.conditionProjection);
  const out = new Float64Array(part.nRules);
  for (let r = 0; r < part.nRules; r++) {
    for (let m = 0, i = r * part.nConditions; m < inputs.length; m++, i++) {
      const z = Number.isNaN(inputs[m]) ? 0 : (inputs[m] - part.centers[i]) / part.widths[i];
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
function ruleOutputs(part, x) {
  const inputs = augment(x, part.termProjection);
  const out = new Float64Array(part.nRules * part.nOutputs);
  const take = (r, m) => (Number.isNaN(inputs[m]) ? part.usual[r * inputs.length + m] : inputs[m]);
  for (let i = 0; i < out.length; i++) {
    const r = Math.floor(i / part.nOutputs);
    out[i] = part.consequents[i * part.nTerms];
    for (let m = 0; m < inputs.length; m++) out[i] += part.consequents[i * part.nTerms + 1 + m] * take(r, m);
  }
  return out;
}

function evaluatePart(part, x) {
  const share = softmax(logFiring(part, x));
  const outputs = ruleOutputs(part, x);
  const prediction = new Float64Array(part.nOutputs);
  outputs.forEach((value, i) => { prediction[i % part.nOutputs] += share[Math.floor(i / part.nOutputs)] * value; });
  return { share, outputs, prediction };
}

// The rules of all parts, one part after the other, and the sum of what the parts say.
function evaluate(model, x) {
  const parts = model.parts.map((part) => evaluatePart(part, expand(part, x)));
  return {
    share: parts.flatMap(({ share }) => [...share]),
    outputs: parts.flatMap(({ outputs }) => [...outputs]),
    prediction: parts[0].prediction.map((_, k) => sum(parts.map(({ prediction }) => prediction[k]))),
  };
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

// Returns the contributions of the features to output k, by condition and by consequent, added up over the parts. A bend
// has a straight line of its own, and what it contributes is its feature's.
function attribute(model, x, baseline, k) {
  const total = { byCondition: new Float64Array(model.nFeatures), byConsequent: new Float64Array(model.nFeatures) };
  model.parts.forEach((part) => {
    const found = attributePart(part, expand(part, x), expand(part, baseline), k);
    const owner = (i) => (i < model.nFeatures ? i : part.bends[i - model.nFeatures].feature);
    Object.keys(total).forEach((name) => found[name].forEach((value, i) => { total[name][owner(i)] += value; }));
  });
  return total;
}

function attributePart(part, x, baseline, k) {
  if (x.some(Number.isNaN)) return attributeMissing(part, x, baseline, k);
  const line = makeLine(part, x, baseline, k);
  const total = evaluatePart(part, x).prediction[k] - evaluatePart(part, baseline).prediction[k];
  const found = spread(part, x, baseline, k, integrate(line, total));
  const rest = total - sum(found.byCondition) - sum(found.byConsequent);
  const values = found.byCondition.some(Boolean) ? found.byCondition : found.byConsequent;
  const sizes = values.map(Math.abs);
  const size = sum(sizes);
  sizes.forEach((value, m) => { values[m] += rest * (size > 0 ? value / size : 1 / sizes.length); });
  return found;
}

// An input that is missing moves the prediction by what it would be for the baseline without that input: through the
// consequents with the rules that fire held fixed, and else through the conditions. From there on the line goes through
// rules that do without it.
function attributeMissing(part, x, baseline, k) {
  const missing = Array.from(x, Number.isNaN);
  const found = attributePart(doWithout(part, missing), x.map((v, m) => (missing[m] ? baseline[m] : v)), baseline, k);
  const without = (lacks) => evaluatePart(part, baseline.map((v, m) => (lacks(m) ? NaN : v))).prediction[k];
  const { share, prediction } = evaluatePart(part, baseline);
  const lost = missing.map((isMissing, m) => {
    if (!isMissing) return [0, 0];
    const weight = (r) => part.consequents[(r * part.nOutputs + k) * part.nTerms + 1 + m];
    const byConsequent = sum(Array.from(share, (s, r) => s * weight(r) * (part.usual[r * x.length + m] - baseline[m])));
    return [without((other) => other === m) - prediction[k] - byConsequent, byConsequent];
  });
  const rest = without((m) => missing[m]) - prediction[k] - sum(lost.flat());
  const size = sum(lost.map(([value]) => Math.abs(value)));
  lost.forEach(([byCondition, byConsequent], m) => {
    const part = size > 0 ? Math.abs(byCondition) / size : missing[m] / sum(missing.map(Number));
    found.byCondition[m] += byCondition + rest * part;
    found.byConsequent[m] += byConsequent;
  });
  return found;
}

function doWithout(part, missing) {
  const widths = part.widths.map((width, i) => (missing[i % part.nConditions] ? Infinity : width));
  const consequents = part.consequents.map((weight, i) => (missing[(i % part.nTerms) - 1] ? 0 : weight));
  for (let i = 0; i < consequents.length; i += part.nTerms) {
    const r = Math.floor(i / part.nTerms / part.nOutputs);
    missing.forEach((isMissing, m) => {
      if (isMissing) consequents[i] += part.consequents[i + 1 + m] * part.usual[r * missing.length + m];
    });
  }
  return { ...part, widths, consequents };
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

// For each rule: -2 times the log firing level is q0 + q1 t + q2 t^2, and the output is o0 + o1 t.
function makeLine(part, x, baseline, k) {
  const from = augment(baseline, part.conditionProjection);
  const to = augment(x, part.conditionProjection);
  const [start, end] = [ruleOutputs(part, baseline), ruleOutputs(part, x)];
  return Array.from({ length: part.nRules }, (_, r) => {
    const rule = { q0: 0, q1: 0, q2: 0, o0: start[r * part.nOutputs + k], o1: 0 };
    rule.o1 = end[r * part.nOutputs + k] - rule.o0;
    for (let m = 0, i = r * part.nConditions; m < from.length; m++, i++) {
      const z = (from[m] - part.centers[i]) / part.widths[i];
      const step = (to[m] - from[m]) / part.widths[i];
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
function spread(part, x, baseline, k, integrals) {
  const from = augment(baseline, part.conditionProjection);
  const to = augment(x, part.conditionProjection);
  const slopes = new Float64Array(part.nConditions);
  const weights = new Float64Array(part.nTerms - 1);
  integrals.forEach(({ share, pull, pullByPlace }, r) => {
    for (let m = 0, i = r * part.nConditions; m < slopes.length; m++, i++) {
      const width = part.widths[i];
      slopes[m] += (pull * (part.centers[i] - from[m]) - pullByPlace * (to[m] - from[m])) / width / width;
    }
    const first = (r * part.nOutputs + k) * part.nTerms + 1;
    for (let m = 0; m < weights.length; m++) weights[m] += share * part.consequents[first + m];
  });
  const times = (values) => values.map((value, m) => value * (x[m] - baseline[m]));
  return {
    byCondition: times(foldProjection(slopes, part.conditionProjection)),
    byConsequent: times(foldProjection(weights, part.termProjection)),
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
    const measure = (value, m) => (Number.isNaN(value) ? 0 : ((value - sets.centers[m]) / sets.widths[m]) ** 2);
    return sum(inputs.map(measure));
  });
  const least = Math.min(...distances);
  return distances.map((distance) => Math.exp(-0.5 * (distance - least)));
}
