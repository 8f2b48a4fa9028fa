"use strict";

// What the pages of the report share; each is whole without it.
document.documentElement.classList.add("scripted");

// A table of more rows than `whole` shows the first ones, until all are wanted; one of more than
// `long` has a filter.
const ROWS = { long: 24, whole: 80, first: 40 };
const LARGEST_KEYS = 0.55;
const tables = [...document.querySelectorAll(".scroll > table")].map((table) => ({
  table,
  box: table.parentElement,
  heads: [...table.tHead.rows[table.tHead.rows.length - 1].cells],
  groups: [...table.tBodies].map((body) => ({
    body,
    heading: body.querySelector("tr.pool"),
    rows: [...body.rows].filter((row) => !row.classList.contains("pool")),
  })),
  wanted: "",
  terms: {},
  all: false,
}));

function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

const count = (n) => n.toLocaleString("en");
const rowsOf = (one) => one.groups.flatMap((group) => group.rows);

// Sorting: within each group; numbers from the highest, words from A; the third time as it was.

function valueOf(cell, numeric) {
  const text = (cell.firstChild ? cell.firstChild.textContent : "").trim();
  if (!numeric) return text;
  const number = Number.parseFloat(text.replaceAll(",", "").replace("\u2212", "-"));
  return Number.isNaN(number) ? null : number;
}

function compare(a, b, way) {
  if (a === null || b === null) return (a === null) - (b === null);
  return way * (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
}

function sortBy(one, head) {
  const numeric = head.classList.contains("number");
  const ways = numeric ? ["descending", "ascending"] : ["ascending", "descending"];
  const way = ways[ways.indexOf(head.getAttribute("aria-sort")) + 1];
  for (const other of one.heads) other.removeAttribute("aria-sort");
  if (way) head.setAttribute("aria-sort", way);
  const sign = way === "descending" ? -1 : 1;
  const place = one.heads.indexOf(head);
  for (const group of one.groups) {
    const keyed = group.rows.map((row) => [valueOf(row.cells[place], numeric), row]);
    const rows = way ? keyed.sort((a, b) => compare(a[0], b[0], sign)) : keyed;
    group.body.append(...rows.map(([, row]) => row));
  }
  show(one);
}

function addSorting(one) {
  for (const head of one.heads.filter((head) => !head.querySelector(".unseen"))) {
    const button = make("button", { type: "button", className: "sort" }, ...head.childNodes);
    button.addEventListener("click", () => sortBy(one, head));
    head.append(button);
  }
}

// What is shown of the rows: those that the filter and the choices leave, and of many the first.

function matches(one, group, row) {
  const chosen = Object.entries(one.terms).every(([place, value]) => {
    return !value || group.heading.querySelectorAll("span")[place].textContent === value;
  });
  const text = `${group.heading ? group.heading.textContent : ""} ${row.textContent}`.toLowerCase();
  return chosen && one.wanted.split(/\s+/).every((word) => text.includes(word));
}

function show(one) {
  const total = rowsOf(one).length;
  let found = 0;
  for (const group of one.groups) {
    let shown = 0;
    for (const row of group.body.rows) {
      if (row === group.heading) continue;
      const match = matches(one, group, row);
      found += match;
      const beyond = match && !one.all && total > ROWS.whole && found > ROWS.first;
      row.hidden = !match;
      row.classList.toggle("beyond", beyond);
      shown += match && !beyond;
    }
    const any = group.rows.some((row) => !row.hidden);
    group.body.hidden = !any;
    group.body.classList.toggle("beyond", any && !shown);
  }
  if (one.said) one.said.textContent = found < total ? `${count(found)} of ${count(total)} rows` : "";
  if (one.more) {
    one.more.hidden = found <= ROWS.first;
    one.more.textContent = one.all ? `Show the first ${ROWS.first} rows` : `Show all ${count(found)} rows`;
  }
  fit(one);
}

function addFilter(one, tools) {
  const input = make("input", { type: "search" });
  one.said = make("output");
  input.addEventListener("input", () => {
    one.wanted = input.value.toLowerCase().trim();
    show(one);
  });
  tools.append(make("label", {}, "Filter", input), one.said);
}

function addMore(one) {
  one.more = make("button", { type: "button", className: "more" });
  one.more.setAttribute("aria-expanded", "false");
  one.more.addEventListener("click", () => {
    one.all = !one.all;
    one.more.setAttribute("aria-expanded", String(one.all));
    show(one);
  });
  one.box.after(one.more);
}

// Choices of groups of rows, by each name in their headings.

function addGroupChoices(one, tools) {
  const headings = one.groups.map((group) => [...group.heading.querySelectorAll("span")]);
  headings[0].forEach((span, place) => {
    const values = [...new Set(headings.map((spans) => spans[place].textContent))];
    if (values.length < 2) return;
    const every = make("option", { value: "" }, "all");
    const options = values.map((value) => make("option", { value }, value));
    const select = make("select", {}, every, ...options);
    select.addEventListener("change", () => {
      one.terms[place] = select.value;
      show(one);
    });
    tools.append(make("label", {}, span.dataset.name, select));
  });
}

// Choices of columns: tasks are the headings of columns, measures their names. They last as long as
// the tab.

function groupsOfColumns(one) {
  const first = one.table.tHead.rows[0];
  if (first === one.heads[0].parentElement) return [];
  let start = 0;
  return [...first.cells].map((head) => {
    const columns = one.heads.slice(start, (start += head.colSpan));
    return { head, columns, name: head.classList.contains("group") ? head.textContent.trim() : "" };
  });
}

function setHidden(one, off) {
  const hidden = one.heads.map(() => false);
  for (const { head, columns, name } of one.columns) {
    for (const column of columns) {
      const away = name !== "" && (off.has(name) || off.has(column.textContent.trim()));
      hidden[one.heads.indexOf(column)] = away;
    }
    const left = columns.filter((column) => !hidden[one.heads.indexOf(column)]).length;
    head.hidden = left === 0;
    head.colSpan = Math.max(1, left);
  }
  one.heads.forEach((head, n) => (head.hidden = hidden[n]));
  for (const row of rowsOf(one)) {
    hidden.forEach((away, n) => (row.cells[n].hidden = away));
  }
  const width = hidden.filter((away) => !away).length;
  for (const { heading } of one.groups) if (heading) heading.cells[0].colSpan = width;
  fit(one);
}

function recalled(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key)) || [];
  } catch {
    return [];
  }
}

function remember(key, values) {
  try {
    sessionStorage.setItem(key, JSON.stringify(values));
  } catch {
    // A browser that keeps nothing for a file loses the choice with the page.
  }
}

function addColumnChoices(one, tools, key) {
  const grouped = one.columns.filter(({ name }) => name);
  const labels = grouped.flatMap(({ columns }) => columns.map((c) => c.textContent.trim()));
  const off = new Set(recalled(key));
  const fieldset = (legend, names) => {
    const boxes = [...new Set(names)].map((name) => {
      const box = make("input", { type: "checkbox", checked: !off.has(name) });
      box.addEventListener("change", () => {
        if (!boxes.some(([, other]) => other.checked)) box.checked = true;
        off[box.checked ? "delete" : "add"](name);
        remember(key, [...off]);
        setHidden(one, off);
      });
      return [name, box];
    });
    const labelled = boxes.map(([name, box]) => make("label", {}, box, name));
    return make("fieldset", {}, make("legend", {}, legend), ...labelled);
  };
  const choices = make("details", { className: "columns" }, make("summary", {}, "Choose columns"));
  choices.append(fieldset("Tasks", grouped.map(({ name }) => name)), fieldset("Measures", labels));
  tools.append(choices);
  setHidden(one, off);
}

// Edges: keys stay as far as there is room, heads stay below the window's edge, shades follow. Where
// a table scrolls sideways, it rests at the start of a column and shows whole columns only.

const widthsOf = (one) => one.heads.map((head) => head.getBoundingClientRect().width);

// Return the width of what stays: all keys, or the last one where all take too much of the room.
function keepKeys(one, room) {
  const widths = widthsOf(one).filter((_, n) => one.heads[n].classList.contains("key"));
  const whole = widths.reduce((a, b) => a + b, 0);
  const together = whole <= LARGEST_KEYS * room;
  let left = 0;
  widths.forEach((width, n) => {
    const last = n === widths.length - 1;
    one.box.style.setProperty(`--left-${n + 1}`, together ? `${left}px` : "0px");
    one.box.style.setProperty(`--stay-${n + 1}`, together || last ? "sticky" : "static");
    left += width;
  });
  const kept = together ? whole : widths.at(-1) || 0;
  one.box.style.setProperty("--keys", `${kept}px`);
  one.box.style.setProperty("--left-of-blank", `${kept - whole}px`);
  one.box.style.setProperty("--free", `${room - kept}px`);
  return kept;
}

function fit(one) {
  const { box, table, heads } = one;
  box.classList.remove("fits");
  table.style.borderRightWidth = "";
  const room = box.clientWidth;
  if (!room) return;
  one.kept = keepKeys(one, room);
  let right = 0;
  one.edges = widthsOf(one).map((width) => (right += width));
  const starts = one.edges.slice(0, -1).filter((_, n) => !heads[n + 1].classList.contains("key"));
  one.rests = [0, ...starts.map((start) => start - one.kept)];
  const fits = table.scrollWidth <= room;
  const last = one.rests.find((at) => at >= right - room - 1) ?? 0;
  const rests = one.rests.filter((at) => at <= last);
  const largest = Math.max(...rests.map((at) => at + room - edgeWithin(one, at)));
  box.style.setProperty("--room", `${fits ? room : room - largest}px`);
  // The last column, too, is reached from the start of one.
  if (!fits) table.style.borderRightWidth = `${Math.max(0, last + room - right)}px`;
  box.classList.toggle("fits", fits);
  follow(one);
}

// The right edge of the last column that is whole where the box is `at` px from its start; a column
// wider than the box is shown as far as it goes.
function edgeWithin({ box, edges, kept }, at) {
  const whole = Math.max(0, ...edges.filter((edge) => edge <= at + box.clientWidth + 1));
  return whole > at + kept + 1 ? whole : at + box.clientWidth;
}

function follow(one) {
  const { box, table, edges } = one;
  if (!edges) return;
  const at = box.scrollLeft, fits = box.classList.contains("fits");
  box.classList.toggle("scrolled", at > 1);
  const edge = edgeWithin(one, at), more = !fits && edge < edges.at(-1) - 1;
  box.classList.toggle("ended", !more);
  box.style.setProperty("--cut", more ? `${at + box.clientWidth - edge}px` : "0px");
  table.style.clipPath = more ? `inset(-1rem calc(100% - ${edge}px) -1rem -1rem)` : "";
  for (const span of table.tHead.querySelectorAll(".group span")) {
    const { offsetLeft, offsetWidth } = span.closest("th");
    const seen = Math.min(offsetLeft + offsetWidth, more ? edge : Infinity) - Math.max(offsetLeft, at + one.kept);
    span.style.maxWidth = fits ? "" : `calc(${Math.max(0, seen)}px - 0.7rem)`;
  }
  // A box that scrolls sideways holds what is sticky in it: there the head is moved.
  const place = table.getBoundingClientRect();
  const most = place.height - table.tHead.offsetHeight * 2;
  const down = fits ? 0 : Math.max(0, Math.min(-place.top, most));
  box.classList.toggle("moved", down > 0);
  table.tHead.style.transform = down ? `translateY(${down}px)` : "";
}

// Before the browser scrolls what gets the focus into the box, the box rests where it is whole.
function reveal(one, target) {
  const cell = target.closest("th, td");
  if (!cell || !one.edges) return;
  const { box, edges, kept, rests } = one, n = cell.cellIndex;
  const isStill = cell.matches(".key") && getComputedStyle(cell).position === "sticky";
  if (isStill && edges[n] <= box.clientWidth) return;
  const start = (edges[n - 1] ?? 0) - kept;
  if (edges[n] > edgeWithin(one, box.scrollLeft) + 1) {
    box.scrollLeft = rests.find((at) => at + box.clientWidth >= edges[n] - 1) ?? start;
  } else if (start < box.scrollLeft) box.scrollLeft = start;
  follow(one);
}

function start(one, n) {
  const rows = rowsOf(one).length;
  const tools = make("div", { className: "tools" });
  const within = one.table.closest("section");
  one.columns = groupsOfColumns(one);
  if (rows > 1) addSorting(one);
  if (rows > ROWS.long) addFilter(one, tools);
  if (rows > ROWS.long && one.groups[0].heading) addGroupChoices(one, tools);
  if (rows > ROWS.whole) addMore(one);
  const named = new Set(one.columns.flatMap(({ name, columns }) => (name ? columns : [])));
  const key = `columns of ${location.pathname} ${(within && within.id) || n}`;
  if (named.size > 3) addColumnChoices(one, tools, key);
  if (tools.childElementCount) one.box.before(tools);
  one.box.addEventListener("scroll", () => follow(one), { passive: true });
  one.box.addEventListener("focusin", ({ target }) => reveal(one, target));
  new ResizeObserver(() => fit(one)).observe(one.box);
  show(one);
}

// A figure wider than its box: words that its edges would cut wait until they are whole.

function showWholeWords(box) {
  const { left, right } = box.getBoundingClientRect();
  const words = [...box.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()]);
  for (const [text, place] of words) {
    const cut = [left, right].some((edge) => place.left < edge && place.right > edge);
    text.style.opacity = cut ? 0 : "";
  }
}

tables.forEach(start);
for (const box of document.querySelectorAll(".plot")) {
  box.addEventListener("scroll", () => showWholeWords(box), { passive: true });
  new ResizeObserver(() => showWholeWords(box)).observe(box);
}
addEventListener("scroll", () => tables.forEach(follow), { passive: true });
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details.numbers")) details.open = true;
});
