"use strict";

const scale = new Map(
  [...document.querySelectorAll("#scale dt")].map((dt) => [Number(dt.textContent), dt.nextElementSibling.textContent]),
);
// What this tab can take back outlives a reload, too.
const undoable = remembered("undo");
let current = 0;
let agreed = 0;

function item({ fields, picture: src, pictured }) {
  const list = element("dl", { className: "fields" });
  for (const [name, value] of Object.entries(fields)) {
    list.append(element("dt", { textContent: name }), element("dd", { textContent: value }));
  }
  return pictured ? [picture(src, "The picture that is meant"), list] : [list];
}

function gradeButtons(candidate, place) {
  const row = element("div", { className: "grades" });
  for (const [grade, label] of scale) {
    const button = element("button", { type: "button", textContent: grade, title: label });
    button.setAttribute("aria-label", `${grade}: ${label}`);
    button.setAttribute("aria-pressed", String(candidate.grade === grade));
    button.addEventListener("click", () => {
      current = place;
      give(grade);
    });
    row.append(button);
  }
  if (outbox.some((each) => same(each, candidate))) {
    row.append(element("span", { className: "pending", textContent: "not saved yet" }));
  }
  return row;
}

function same(each, candidate) {
  return page.isSame(each, { ...view, doc_id: candidate.doc_id });
}

function card(candidate, place) {
  const node = element("article", { className: "candidate" }, ...item(candidate), gradeButtons(candidate, place));
  node.classList.toggle("graded", candidate.grade !== null);
  node.classList.toggle("worded", !candidate.pictured);
  node.dataset.doc = candidate.doc_id;
  node.setAttribute("aria-label", `Candidate ${place + 1} of ${view.candidates.length}`);
  return node;
}

function drawCard(place) {
  const old = $("candidates").children[place];
  const image = old.querySelector("img");
  const node = card(view.candidates[place], place);
  // The same picture again would flicker.
  if (image) node.querySelector("img").replaceWith(image);
  old.replaceWith(node);
}

function mark() {
  [...$("candidates").children].forEach((each, n) => each.setAttribute("aria-current", String(n === current)));
}

function goTo(place) {
  current = Math.max(0, Math.min(place, view.candidates.length - 1));
  mark();
  $("candidates").children[current].scrollIntoView({ block: "nearest" });
}

function firstOpen(from) {
  const places = view.candidates.map((_, n) => (from + n) % view.candidates.length);
  return places.find((n) => view.candidates[n].grade === null);
}

function put(candidate, grade) {
  const { task, query_id } = view;
  post({ task, query_id, doc_id: candidate.doc_id, grade, seen: candidate.grade });
  candidate.grade = grade;
  remember("undo", undoable);
  drawCard(current);
}

function give(grade) {
  if (away) return;
  const candidate = view.candidates[current];
  if (candidate.grade !== grade) {
    const { number } = view;
    undoable.push({ number, doc_id: candidate.doc_id, before: candidate.grade, grade });
    put(candidate, grade);
    send();
  }
  goTo(firstOpen(current) ?? current);
  tell();
}

async function undo() {
  if (away) return;
  const last = undoable.pop();
  if (!last) {
    say("Nothing to undo in this tab.");
    return;
  }
  remember("undo", undoable);
  if (last.number !== view.number) await show(last.number);
  const place = view.candidates.findIndex((each) => each.doc_id === last.doc_id);
  if (away || place < 0) return;
  goTo(place);
  if (view.candidates[place].grade !== last.grade) {
    say("It has changed since, and stays.", true);
    return;
  }
  put(view.candidates[place], last.before);
  goTo(place);
  send();
}

async function agree() {
  const turn = ++agreed;
  const reply = await ask("/api/agreement").catch(() => null);
  if (!reply || turn !== agreed) return;
  const lines = reply.others.map(({ other, pairs, same_share: alike, kappa }) => {
    const value = kappa === null ? "undefined, as both give one grade only" : kappa.toFixed(2);
    return `${other}: Cohen's kappa ${value} on ${pairs} shared pairs, ${Math.round(alike * 100)} % alike`;
  });
  if (reply.error) lines.push(`The other sheets can't be read: ${reply.error}`);
  if (!lines.length) lines.push("Nobody else has graded these pairs yet.");
  $("agreement").replaceChildren(...lines.map((textContent) => element("p", { textContent })));
}

Object.assign(page, {
  items: "pairs",
  unit: "query",
  describe: (grade) => grade ?? "back to nothing",
  isSame: (one, other) =>
    one.task === other.task && one.query_id === other.query_id && one.doc_id === other.doc_id,
  draw(isNew) {
    for (const each of outbox) {
      const candidate = view.candidates.find((one) => same(each, one));
      if (candidate) candidate.grade = each.grade;
    }
    const heading = view.task === "t2m" ? "Which pictures fit this section?" : "Which sections does this picture fit?";
    $("query").replaceChildren(element("h2", { textContent: heading }), ...item(view.query));
    $("query").scrollTop = 0;
    $("candidates").replaceChildren(...view.candidates.map(card));
    goTo(isNew ? (firstOpen(0) ?? 0) : current);
  },
  settle(first, grade, refused) {
    const place = view.candidates.findIndex((one) => same(first, one));
    if (place < 0) return;
    if (refused) view.candidates[place].grade = grade;
    drawCard(place);
    mark();
    if (refused) goTo(place);
  },
  tell() {
    if (view.progress.next === null) say("All pairs are graded. Thank you.");
    else if (firstOpen(0) === undefined) say("This query is done; n goes to the next one with work.");
    else say("");
  },
  arrived: () => goTo(firstOpen(0) ?? current),
  sent: agree,
});
Object.assign(KEYS, {
  j: () => goTo(current + 1),
  ArrowDown: () => goTo(current + 1),
  k: () => goTo(current - 1),
  ArrowUp: () => goTo(current - 1),
});
ONCE.u = undo;
for (const grade of scale.keys()) ONCE[grade] = () => give(grade);

start();
