"use strict";

const scale = new Map(
  [...document.querySelectorAll("#scale dt")].map((dt) => [Number(dt.textContent), dt.nextElementSibling.textContent]),
);
// More grades than fit into a row with their labels.
const MANY = 5;
const box = $("candidates-box");
// Characters that stand beside their label.
const SHORT = 60;
// A picture leaves as much of the box as the grades of its candidate take.
const gradesHeight = new ResizeObserver(([{ target }]) => box.style.setProperty("--grades", `${target.offsetHeight}px`));
// What this tab can take back outlives a reload, too.
const undoable = restore("undo");
let current = 0;
let agreements = 0;
// Where the page was scrolled to for the marked candidate, null before.
let broughtTo = null;

function content({ fields, picture: src, pictured }, alt) {
  const list = element("dl", { className: "fields" });
  for (const [name, value] of Object.entries(fields)) {
    const className = value.length > SHORT ? "long" : "short";
    list.append(element("div", { className }, element("dt", {}, name), element("dd", {}, value)));
  }
  return pictured ? [picture(src, alt), list] : [list];
}

function gradeButtons(place) {
  const row = element("div", { className: "grades" });
  row.classList.toggle("many", scale.size > MANY);
  for (const [grade, label] of scale) {
    const button = element("button", { type: "button", value: grade }, `${grade} `, element("span", { textContent: label }));
    button.addEventListener("click", () => {
      current = place;
      give(grade);
    });
    row.append(button);
  }
  return row;
}

function card(candidate, place) {
  const title = `Candidate ${place + 1} of ${view.candidates.length}`;
  const heading = element("h3", { id: `candidate-${place}`, textContent: title });
  const parts = content(candidate, "Picture of the candidate");
  const node = element("article", { className: "candidate" }, heading, ...parts, gradeButtons(place));
  node.classList.toggle("worded", !candidate.pictured);
  node.dataset.doc = candidate.doc_id;
  node.setAttribute("aria-labelledby", heading.id);
  return node;
}

function isUnsaved(candidate) {
  return outbox.some((each) => page.isSame(each, { ...view, doc_id: candidate.doc_id }));
}

function drawGrade(place) {
  const candidate = view.candidates[place];
  const node = $("candidates").children[place];
  node.classList.toggle("graded", candidate.grade !== null);
  for (const button of node.querySelectorAll(".grades button")) {
    button.setAttribute("aria-pressed", String(Number(button.value) === candidate.grade));
  }
  node.querySelector(".pending")?.remove();
  if (!isUnsaved(candidate)) return;
  node.querySelector("h3").append(element("span", { className: "pending", textContent: "not saved yet" }));
}

function markCurrent() {
  [...$("candidates").children].forEach((each, n) => each.setAttribute("aria-current", String(n === current)));
}

// A digit grades the candidate that Tab has reached. A click moves nothing before it is done.
box.addEventListener("focusin", ({ target }) => {
  const place = [...$("candidates").children].indexOf(target.closest(".candidate"));
  if (place < 0 || !target.matches(":focus-visible")) return;
  current = place;
  markCurrent();
});

const isBoxed = () => getComputedStyle(box).overflowY !== "visible";
const scrolledTo = () => (isBoxed() ? box.scrollTop : window.scrollY);

// scrollIntoView would do, if some versions of browsers did not let Tab go on from what it shows.
function bringIntoView(node) {
  const frame = isBoxed() ? box.getBoundingClientRect() : { top: 0, bottom: innerHeight };
  const { top, bottom, height } = node.getBoundingClientRect();
  const isTall = height >= frame.bottom - frame.top;
  const by = isTall || top < frame.top ? top - frame.top : Math.max(0, bottom - frame.bottom);
  (isBoxed() ? box : window).scrollBy(0, by);
  broughtTo = scrolledTo();
}

// Grades stick to the box's bottom: a candidate whose text goes on beneath them says so.
function markHidden() {
  for (const node of $("candidates").children) {
    const grades = node.querySelector(".grades").getBoundingClientRect();
    const isMore = node.querySelector(".fields").getBoundingClientRect().bottom - grades.top > 1;
    node.classList.toggle("more", isMore);
  }
}

// Pictures load late and move what is around them: the marked candidate stays, until it is scrolled.
const layout = new ResizeObserver(() => {
  const node = $("candidates").children[current];
  if (node && broughtTo === scrolledTo()) bringIntoView(node);
  markHidden();
});
layout.observe(box);
layout.observe($("candidates"));
layout.observe($("query"));
box.addEventListener("scroll", markHidden, { passive: true });

function goTo(place) {
  current = Math.max(0, Math.min(place, view.candidates.length - 1));
  markCurrent();
  bringIntoView($("candidates").children[current]);
}

function nextOpen(from) {
  const places = view.candidates.map((_, n) => (from + n) % view.candidates.length);
  return places.find((n) => view.candidates[n].grade === null);
}

function changeGrade(candidate, grade) {
  const { task, query_id } = view;
  post({ task, query_id, doc_id: candidate.doc_id, grade, expected: candidate.grade });
  candidate.grade = grade;
  store("undo", undoable);
  drawGrade(current);
}

function give(grade) {
  if (isLoading) return;
  const candidate = view.candidates[current];
  if (candidate.grade !== grade) {
    const { number } = view;
    undoable.push({ number, doc_id: candidate.doc_id, before: candidate.grade, grade });
    changeGrade(candidate, grade);
    send();
  }
  goTo(nextOpen(current) ?? current);
  describeState();
}

async function undo() {
  if (isLoading) return;
  const last = undoable.pop();
  if (!last) {
    showState("Nothing to undo in this tab.");
    return;
  }
  store("undo", undoable);
  if (last.number !== view.number) await showQuery(last.number);
  const place = view.candidates.findIndex((each) => each.doc_id === last.doc_id);
  if (isLoading || place < 0) return;
  goTo(place);
  if (view.candidates[place].grade !== last.grade) {
    showState("It has changed since, and stays.", true);
    return;
  }
  changeGrade(view.candidates[place], last.before);
  send();
}

async function showAgreement() {
  const request = ++agreements;
  const reply = await fetchJson("/api/agreement").catch(() => null);
  if (!reply || request !== agreements) return;
  const lines = reply.others.map(({ other, pairs, same_share: share, kappa }) => {
    const value = kappa === null ? "undefined, as both give one grade only" : kappa.toFixed(2);
    return `${other}: Cohen's kappa ${value} on ${pairs} shared pairs, ${Math.round(share * 100)} % alike`;
  });
  if (reply.error) lines.push(`The other sheets can't be read: ${reply.error}`);
  if (!lines.length) lines.push("Nobody else has graded these pairs yet.");
  $("agreement").replaceChildren(...lines.map((textContent) => element("p", { textContent })));
}

function drawQuery() {
  const title = view.task === "t2m" ? "Which pictures fit this section?" : "Which sections does this picture fit?";
  const parts = content(view.query, "Picture of the query");
  $("query").classList.toggle("pictured", view.query.pictured);
  $("query").replaceChildren(element("h2", { textContent: title }), ...parts);
}

Object.assign(page, {
  counts: ({ done, total, queries, finished }, number) =>
    [
      `${count(done)} of ${count(total)} pairs, query ${count(number)} of ${count(queries)}`,
      element("span", {}, `, ${count(finished)} judged`),
    ],
  describe: (grade) => grade ?? "back to nothing",
  isSame: (one, other) =>
    one.task === other.task && one.query_id === other.query_id && one.doc_id === other.doc_id,
  draw(isNew) {
    for (const candidate of view.candidates) {
      const unsaved = outbox.findLast((each) => page.isSame(each, { ...view, doc_id: candidate.doc_id }));
      if (unsaved) candidate.grade = unsaved.grade;
    }
    if (isNew) {
      drawQuery();
      $("candidates").replaceChildren(...view.candidates.map(card));
      gradesHeight.disconnect();
      gradesHeight.observe(document.querySelector(".candidate > .grades"));
    }
    view.candidates.forEach((_, place) => drawGrade(place));
    // Who comes back to this page has scrolled it to where it is.
    if (isNew) goTo(nextOpen(0) ?? 0);
  },
  settle(first, grade, isRefused) {
    const place = view.candidates.findIndex((each) => page.isSame(first, { ...view, doc_id: each.doc_id }));
    if (place < 0) return;
    if (isRefused) view.candidates[place].grade = grade;
    drawGrade(place);
    if (isRefused) goTo(place);
  },
  state() {
    if (view.progress.next === null) return "All pairs are graded. Thank you.";
    return nextOpen(0) === undefined ? "All graded here; “next with work” (n) goes on." : "";
  },
  enter: () => goTo(nextOpen(0) ?? current),
  afterSending: showAgreement,
});
Object.assign(KEYS, {
  j: () => goTo(current + 1),
  ArrowDown: () => goTo(current + 1),
  k: () => goTo(current - 1),
  ArrowUp: () => goTo(current - 1),
  PageDown: () => box.scrollBy(0, 0.9 * box.clientHeight),
  PageUp: () => box.scrollBy(0, -0.9 * box.clientHeight),
});
KEYS_ONCE.u = undo;
for (const grade of scale.keys()) KEYS_ONCE[grade] = () => give(grade);

start();
