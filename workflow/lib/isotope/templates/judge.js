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
  return page.isSame(each, { ...shown, doc_id: candidate.doc_id });
}

function card(candidate, place) {
  const made = element("article", { className: "candidate" }, ...item(candidate), gradeButtons(candidate, place));
  made.classList.toggle("graded", candidate.grade !== null);
  made.classList.toggle("worded", !candidate.pictured);
  made.dataset.doc = candidate.doc_id;
  made.setAttribute("aria-label", `Candidate ${place + 1} of ${shown.candidates.length}`);
  return made;
}

function drawCard(place) {
  const old = $("candidates").children[place];
  const kept = old.querySelector("img");
  const made = card(shown.candidates[place], place);
  // The same picture again would flicker.
  if (kept) made.querySelector("img").replaceWith(kept);
  old.replaceWith(made);
}

function mark() {
  [...$("candidates").children].forEach((each, n) => each.setAttribute("aria-current", String(n === current)));
}

function goTo(place) {
  current = Math.max(0, Math.min(place, shown.candidates.length - 1));
  mark();
  $("candidates").children[current].scrollIntoView({ block: "nearest" });
}

function firstOpen(from) {
  const places = shown.candidates.map((_, n) => (from + n) % shown.candidates.length);
  return places.find((n) => shown.candidates[n].grade === null);
}

function put(candidate, grade) {
  const { task, query_id } = shown;
  post({ task, query_id, doc_id: candidate.doc_id, grade, seen: candidate.grade });
  candidate.grade = grade;
  remember("undo", undoable);
  drawCard(current);
}

function give(grade) {
  if (away) return;
  const candidate = shown.candidates[current];
  if (candidate.grade !== grade) {
    const { number } = shown;
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
  if (last.number !== shown.number) await show(last.number);
  const place = shown.candidates.findIndex((each) => each.doc_id === last.doc_id);
  if (away || place < 0) return;
  goTo(place);
  if (shown.candidates[place].grade !== last.grade) {
    say("It has changed since, and stays.", true);
    return;
  }
  put(shown.candidates[place], last.before);
  goTo(place);
  send();
}

async function agree() {
  const turn = ++agreed;
  const found = await ask("/api/agreement").catch(() => null);
  if (!found || turn !== agreed) return;
  const lines = found.others.map(({ other, pairs, same_share: alike, kappa }) => {
    const told = kappa === null ? "undefined, as both give one grade only" : kappa.toFixed(2);
    return `${other}: Cohen's kappa ${told} on ${pairs} shared pairs, ${Math.round(alike * 100)} % alike`;
  });
  if (found.error) lines.push(`The other sheets can't be read: ${found.error}`);
  if (!lines.length) lines.push("Nobody else has graded these pairs yet.");
  $("agreement").replaceChildren(...lines.map((textContent) => element("p", { textContent })));
}

Object.assign(page, {
  items: "pairs",
  unit: "query",
  told: (grade) => grade ?? "back to nothing",
  isSame: (one, other) =>
    one.task === other.task && one.query_id === other.query_id && one.doc_id === other.doc_id,
  draw(isNew) {
    for (const each of outbox) {
      const candidate = shown.candidates.find((one) => same(each, one));
      if (candidate) candidate.grade = each.grade;
    }
    const heading = shown.task === "t2m" ? "Which pictures fit this section?" : "Which sections does this picture fit?";
    $("query").replaceChildren(element("h2", { textContent: heading }), ...item(shown.query));
    $("query").scrollTop = 0;
    $("candidates").replaceChildren(...shown.candidates.map(card));
    goTo(isNew ? (firstOpen(0) ?? 0) : current);
  },
  settle(first, grade, refused) {
    const place = shown.candidates.findIndex((one) => same(first, one));
    if (place < 0) return;
    if (refused) shown.candidates[place].grade = grade;
    drawCard(place);
    mark();
    if (refused) goTo(place);
  },
  tell() {
    if (shown.progress.next === null) say("All pairs are graded. Thank you.");
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
