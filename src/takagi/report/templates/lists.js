// Long lists: the first items at once, the others on demand; and tables that can be searched and sorted.

const LIMIT = 12;
const MOST_FOUND = 60;

// Shows the items of a list in `host`. An item is made when it is first shown. Where there are more than fit, a search
// box and a button come with them.
function showList(host, names, makeItem, what) {
  const made = new Map();
  const item = (i) => made.get(i) ?? made.set(i, makeItem(i)).get(i);
  const all = names.map((_, i) => i);
  let isOpen = names.length <= LIMIT;
  let words = "";
  const update = () => {
    const found = words ? all.filter((i) => names[i].toLowerCase().includes(words)).slice(0, MOST_FOUND) : all;
    host.replaceChildren(...(isOpen || words ? found : found.slice(0, LIMIT)).map(item));
    if (words && !found.length) host.append(makeNote(host, `No column has “${words}” in its name.`));
  };
  const frame = host.closest("[data-list]");
  if (frame.previousElementSibling?.matches(".tools")) frame.previousElementSibling.remove();
  if (!isOpen) frame.before(makeTools());
  update();

  function makeTools() {
    const label = `Find a column in ${what}`;
    const search = make("input", { type: "search", "aria-label": label, placeholder: "Find a column" });
    const button = make("button", { type: "button", "aria-expanded": "false" }, `Show all ${names.length}`);
    search.addEventListener("input", () => { words = search.value.trim().toLowerCase(); update(); });
    button.addEventListener("click", () => {
      isOpen = !isOpen;
      button.setAttribute("aria-expanded", String(isOpen));
      button.textContent = isOpen ? `Show the first ${LIMIT}` : `Show all ${names.length}`;
      update();
    });
    const order = make("span", { class: "quiet" }, "The most important first.");
    return make("div", { class: "tools" }, search, button, order);
  }
}

function makeNote(host, text) {
  const isTable = host.tagName === "TBODY";
  return isTable ? make("tr", {}, make("td", { colspan: 9 }, text)) : make("p", { class: "quiet" }, text);
}

// The rows of a table's body but the heading of a part.
const listItems = (body) => [...body.rows].filter((row) => !row.matches(".part"));

// Sorts the rows of each body by the numbers in their data-sort-* attributes when a heading's button is pressed.
function makeSortable(table) {
  const headings = [...table.querySelectorAll("th[data-sort]")];
  headings.forEach((heading) => {
    heading.querySelector("button").addEventListener("click", () => {
      const isDown = heading.getAttribute("aria-sort") === "descending";
      headings.forEach((other) => other.setAttribute("aria-sort", "none"));
      heading.setAttribute("aria-sort", isDown ? "ascending" : "descending");
      const key = (row) => Number(row.getAttribute(`data-sort-${heading.dataset.sort}`));
      [...table.tBodies].forEach((body) => {
        const rows = listItems(body).sort((a, b) => (isDown ? key(a) - key(b) : key(b) - key(a)));
        body.append(...rows);
      });
    });
  });
}

// Hides the rows of a table whose text lacks one of the words, and says how many are left.
function makeSearchable(table, search, status) {
  const rows = [...table.tBodies].flatMap(listItems);
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row) => {
      const text = row.textContent.toLowerCase().replace(/\s+/g, " ");
      row.hidden = !words.every((word) => text.includes(word));
    });
    const left = rows.filter((row) => !row.hidden).length;
    status.textContent = words.length ? `${left} of ${rows.length} rules` : "";
  });
}
