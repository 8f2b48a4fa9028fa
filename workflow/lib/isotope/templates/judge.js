"use strict";

const RETRY_MS = 1000;
const $ = (id) => document.getElementById(id);
const scale = new Map(
  [...document.querySelectorAll("#scale dt")].map((dt) => [Number(dt.textContent), dt.nextElementSibling.textContent]),
);
const { assessor, collection } = document.body.dataset;
// What this tab still has to send, and what it can take back, outlive a reload.
const outbox = remembered("outbox");
const undoable = remembered("undo");
let shown = null;
let current = 0;
let asked = 0;
let agreed = 0;
let away = false;
let sending = null;
let acting = Promise.resolve();

function remembered(name) {
  return JSON.parse(sessionStorage.getItem(`${name} ${collection} ${assessor}`) || "[]");
}

function remember() {
  sessionStorage.setItem(`outbox ${collection} ${assessor}`, JSON.stringify(outbox));
  sessionStorage.setItem(`undo ${collection} ${assessor}`, JSON.stringify(undoable));
}

function element(tag, content = {}, ...children) {
  const made = Object.assign(document.createElement(tag), content);
  made.append(...children);
  return made;
}

function say(words, trouble = false) {
  $("state").textContent = words;
  $("state").classList.toggle("trouble", trouble);
}

function item({ fields, picture, pictured }) {
  const list = element("dl", { className: "fields" });
  for (const [name, value] of Object.entries(fields)) {
    list.append(element("dt", { textContent: name }), element("dd", { textContent: value }));
  }
  if (!pictured) return [list];
  const none = () => element("p", { className: "none", textContent: "no picture was kept" });
  if (!picture) return [none(), list];
  const image = element("img", { className: "picture", src: picture, alt: "The picture that is meant" });
  image.addEventListener("error", () => image.replaceWith(none()));
  return [image, list];
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
  return each.task === shown.task && each.query_id === shown.query_id && each.doc_id === candidate.doc_id;
}

function card(candidate, place) {
  const made = element("article", { className: "candidate" }, ...item(candidate), gradeButtons(candidate, place));
  made.classList.toggle("graded", candidate.grade !== null);
  made.classList.toggle("worded", !candidate.pictured);
  made.dataset.doc = candidate.doc_id;
  made.setAttribute("aria-label", `Candidate ${place + 1} of ${shown.candidates.length}`);
  return made;
}

function drawQuery() {
  const heading = shown.task === "t2m" ? "Which pictures fit this section?" : "Which sections does this picture fit?";
  $("query").replaceChildren(element("h2", { textContent: heading }), ...item(shown.query));
  $("query").scrollTop = 0;
  $("candidates").replaceChildren(...shown.candidates.map(card));
  drawCounts();
}

function drawCard(place) {
  const old = $("candidates").children[place];
  const kept = old.querySelector("img");
  const made = card(shown.candidates[place], place);
  // The same picture again would flicker.
  if (kept) made.querySelector("img").replaceWith(kept);
  old.replaceWith(made);
}

function drawCounts() {
  const { done, total, queries } = shown.progress;
  $("counts").textContent = `${done} of ${total} pairs, query ${shown.number + 1} of ${queries}`;
  $("progress").max = Math.max(total, 1);
  $("progress").value = done;
  $("next").disabled = shown.progress.next === null;
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

async function ask(path) {
  const answer = await fetch(path);
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  return found;
}

async function show(number) {
  const turn = ++asked;
  away = true;
  try {
    const found = await ask(`/api/query/${number}`);
    if (turn !== asked) return;
    if (shown?.number !== number) current = null;
    shown = found;
    away = false;
  } catch (error) {
    if (turn === asked) {
      say(`No answer (${error.message}); trying again.`, true);
      setTimeout(() => turn === asked && show(number), RETRY_MS);
    }
    return;
  }
  for (const each of outbox) {
    const candidate = shown.candidates.find((one) => same(each, one));
    if (candidate) candidate.grade = each.grade;
  }
  history.replaceState(null, "", `#${number + 1}`);
  drawQuery();
  goTo(current ?? firstOpen(0) ?? 0);
  tell();
  agree();
}

function tell() {
  if (outbox.length) return;
  if (shown.progress.next === null) say("All pairs are graded. Thank you.");
  else if (firstOpen(0) === undefined) say("This query is done; n goes to the next one with work.");
  else say("");
}

function put(candidate, grade) {
  const { task, query_id } = shown;
  outbox.push({ task, query_id, doc_id: candidate.doc_id, grade, seen: candidate.grade, assessor, collection });
  candidate.grade = grade;
  remember();
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
  remember();
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

function send() {
  sending ??= sendAll().finally(() => (sending = null));
  return sending;
}

async function sendAll() {
  try {
    while (outbox.length) await sendFirst();
    agree();
  } catch (error) {
    say(`${outbox.length} not saved yet (${error.message}); trying again.`, true);
    setTimeout(send, RETRY_MS);
  }
}

async function sendFirst() {
  const [first] = outbox;
  const body = JSON.stringify(first);
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch("/api/grade", { method: "POST", headers, body });
  const found = await answer.json().catch(() => ({ error: `status ${answer.status}` }));
  if (answer.status >= 500 || answer.status === 409) throw new Error(found.error);
  outbox.shift();
  const conflict = answer.ok && found.grade !== first.grade;
  settle(first, answer.ok ? found.grade : first.seen, !answer.ok || conflict);
  if (answer.ok && shown) {
    shown.progress = found.progress;
    drawCounts();
  }
  if (conflict) say(`Another page has graded this ${found.grade ?? "back to nothing"}; give it again to change that.`, true);
  else if (!answer.ok) say(`Not taken: ${found.error}.`, true);
  else tell();
}

// After a refusal, what follows on the same pair was given on a wrong footing.
function settle(first, grade, refused) {
  const pair = (each) => each.doc_id === first.doc_id && each.query_id === first.query_id && each.task === first.task;
  if (refused) outbox.splice(0, outbox.length, ...outbox.filter((each) => !pair(each)));
  remember();
  const place = shown ? shown.candidates.findIndex((one) => same(first, one)) : -1;
  if (place < 0) return;
  if (refused) shown.candidates[place].grade = grade;
  drawCard(place);
  mark();
  if (refused) goTo(place);
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

function turn(by) {
  const number = shown.number + by;
  return number >= 0 && number < shown.progress.queries ? show(number) : null;
}

// What is on its way may be the last work here.
async function onward() {
  await sending;
  if (outbox.length || shown.progress.next === null) return;
  await show(shown.progress.next);
  if (!away) goTo(firstOpen(0) ?? current);
}

const KEYS = {
  j: () => goTo(current + 1),
  ArrowDown: () => goTo(current + 1),
  k: () => goTo(current - 1),
  ArrowUp: () => goTo(current - 1),
  l: () => turn(1),
  ArrowRight: () => turn(1),
  h: () => turn(-1),
  ArrowLeft: () => turn(-1),
  n: onward,
  "?": () => $("help").toggleAttribute("open"),
};
// A key held down must not grade what follows.
const ONCE = { u: undo };
for (const grade of scale.keys()) ONCE[grade] = () => give(grade);

// Keys pressed while a query is on its way are meant for that query.
function act(key) {
  acting = acting.then(KEYS[key] ?? ONCE[key]).catch((error) => say(error.message, true));
}

document.addEventListener("keydown", (event) => {
  if (!shown || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!(event.key in KEYS || event.key in ONCE)) return;
  event.preventDefault();
  if (!(event.repeat && event.key in ONCE)) act(event.key);
});
for (const button of document.querySelectorAll("[data-key]")) {
  button.addEventListener("click", () => shown && act(button.dataset.key));
}
window.addEventListener("beforeunload", (event) => outbox.length && event.preventDefault());
window.addEventListener("focus", () => {
  acting = acting.then(() => shown && !outbox.length && show(shown.number));
});

async function start() {
  if (outbox.length) send();
  const number = Number(location.hash.slice(1)) - 1;
  try {
    const { next, queries } = await ask("/api/progress");
    await show(number >= 0 && number < queries ? number : (next ?? 0));
  } catch (error) {
    say(`No answer (${error.message}); trying again.`, true);
    setTimeout(start, RETRY_MS);
  }
}

start();
