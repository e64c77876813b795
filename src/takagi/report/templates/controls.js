// The controls of the what-if panel: a slider with a box for a number, a list for everything else. Each has a `node`
// and a function `show(cell)`, and tells `onChange(cell, isSettled)`: not settled while a slider is being dragged.

function makeControl(column, c, onChange) {
  return (column.kind === "number" ? makeSlider : makeChoice)(column, c, onChange);
}

function makeHead(column, c, field) {
  const label = make("label", { for: `value-${c}`, title: column.name }, make("bdi", {}, column.name));
  return make("div", { class: "head" }, label, field);
}

function describeCell(column, cell) {
  if (cell === AVERAGE) return "average";
  if (column.kind === "category") return cell < 0 ? "another level" : column.levels[cell];
  if (cell === null) return "missing";
  return column.kind === "boolean" ? String(cell === 1) : `${formatNumber(cell, 5)}${describeHeld(column, cell)}`;
}

// What a number far beyond the training data counts as.
function describeHeld(column, value) {
  const [held] = hold(column, [value]);
  return held === value ? "" : ` counts as ${formatNumber(held, 5)}`;
}

// The cells that a column without a scale may have.
function listChoices(column) {
  const truth = [0, 1, ...(column.has_missing || column.is_native ? [null] : [])];
  const cells = column.kind === "category" ? [...column.levels.keys(), -1] : truth;
  return cells.map((cell) => ({ cell, text: describeCell(column, cell) }));
}

function makeChoice(column, c, onChange) {
  const choices = [...listChoices(column), { cell: AVERAGE, text: describeCell(column, AVERAGE) }];
  const options = choices.map(({ text }, i) => make("option", { value: i }, text));
  const select = make("select", { id: `value-${c}` }, ...options);
  const outside = make("p", { class: "outside", hidden: true }, "none of these levels: rare or absent in training");
  const show = (cell) => {
    select.value = choices.findIndex((choice) => choice.cell === cell);
    outside.hidden = column.kind !== "category" || cell !== -1;
  };
  select.addEventListener("change", () => {
    const { cell } = choices[select.value];
    show(cell);
    onChange(cell, true);
  });
  return { node: make("div", { class: "control" }, makeHead(column, c, select), outside), show };
}

// The places of a slider: round numbers between the ends of the data, and the ends.
function makeScale([low, high], isWhole) {
  if (!(high > low)) return [low];
  const step = Math.max(niceStep((high - low) / 200), isWhole ? 1 : 0);
  const inner = ticks(low, high, (high - low) / step).filter((value) => value > low && value < high);
  return [low, ...inner, high];
}

function makeSlider(column, c, onChange) {
  const scale = makeScale(column.span, column.is_whole);
  const box = make("input", { type: "number", step: "any", id: `value-${c}` });
  const slider = make("input", {
    type: "range", min: 0, max: scale.length - 1, step: 1, "aria-label": column.name, disabled: scale.length < 2,
  });
  const missing = make("input", { type: "checkbox" });
  const outside = make("p", { class: "outside", hidden: true });
  const distance = (place, value) => Math.abs(scale[place] - value);
  const nearest = (value) =>
    scale.reduce((best, _, place) => (distance(place, value) < distance(best, value) ? place : best), 0);
  const valueOf = (cell) => (cell === AVERAGE ? column.mean[0] : cell ?? column.fill);

  const place = (cell) => {
    const value = valueOf(cell);
    slider.value = nearest(value);
    slider.setAttribute("aria-valuetext", describeCell(column, cell === AVERAGE ? value : cell));
    missing.checked = cell === null;
    outside.hidden = cell === null || (value >= column.low && value <= column.high);
    const held = describeHeld(column, value);
    outside.textContent = outside.hidden ? ""
      : `outside the training data, ${formatNumber(column.low)} to ${formatNumber(column.high)}${held && `;${held}`}`;
  };
  const show = (cell) => {
    place(cell);
    box.value = cell === null ? "" : Number(valueOf(cell).toPrecision(6));
    box.title = cell === null ? "" : String(valueOf(cell));
    box.placeholder = cell === null ? "missing" : "";
  };
  const choose = (cell, isSettled) => { show(cell); onChange(cell, isSettled); };

  slider.addEventListener("input", () => choose(scale[slider.value], false));
  slider.addEventListener("change", () => choose(scale[slider.value], true));
  missing.addEventListener("change", () => choose(missing.checked ? null : column.fill, true));
  box.addEventListener("input", () => {
    if (!Number.isFinite(box.valueAsNumber)) return;
    place(box.valueAsNumber);
    onChange(box.valueAsNumber, true);
  });
  const ends = [scale[0], scale.at(-1)].map((value) => make("span", {}, formatNumber(value)));
  const node = make("div", { class: "control" }, makeHead(column, c, box), makeStrip(column.counts), slider,
    make("div", { class: "ends", "aria-hidden": "true" }, ...ends), outside);
  if (column.has_missing || column.is_native) node.append(make("label", { class: "missing" }, missing, " missing"));
  return { node, show };
}
