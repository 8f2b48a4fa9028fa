"use strict";

// What both judging pages share: what is given goes into an outbox that outlives server and reload.
const RETRY_MS = 1000;
const $ = (id) => document.getElementById(id);
const { assessor, collection } = document.body.dataset;
const outbox = remembered("outbox");
// A page says how it draws, settles, marks and tells, and which keys it has beside the common ones.
const page = {};
let shown = null;
let asked = 0;
let away = false;
let sending = null;
let acting = Promise.resolve();

function remembered(name) {
  return JSON.parse(sessionStorage.getItem(`${name} ${collection} ${assessor}`) || "[]");
}

function remember(name, value) {
  sessionStorage.setItem(`${name} ${collection} ${assessor}`, JSON.stringify(value));
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

function picture(src, alt) {
  const none = () => element("p", { className: "none", textContent: "no picture was kept" });
  if (!src) return none();
  const image = element("img", { className: "picture", src, alt });
  image.addEventListener("error", () => image.replaceWith(none()));
  return image;
}

function drawCounts() {
  const { done, total, queries } = shown.progress;
  $("counts").textContent = `${done} of ${total} ${page.items}, ${page.unit} ${shown.number + 1} of ${queries}`;
  $("progress").max = Math.max(total, 1);
  $("progress").value = done;
  $("next").disabled = shown.progress.next === null;
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
  let isNew = false;
  try {
    const found = await ask(`/api/query/${number}`);
    if (turn !== asked) return;
    isNew = shown?.number !== number;
    shown = found;
    away = false;
  } catch (error) {
    if (turn === asked) {
      say(`No answer (${error.message}); trying again.`, true);
      setTimeout(() => turn === asked && show(number), RETRY_MS);
    }
    return;
  }
  history.replaceState(null, "", `#${number + 1}`);
  page.draw(isNew);
  drawCounts();
  tell();
  page.sent();
}

function tell() {
  if (!outbox.length) page.tell();
}

function post(entry) {
  outbox.push({ ...entry, assessor, collection });
  remember("outbox", outbox);
}

function send() {
  sending ??= sendAll().finally(() => (sending = null));
  return sending;
}

async function sendAll() {
  try {
    while (outbox.length) await sendFirst();
    page.sent();
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
  const conflict = answer.ok && JSON.stringify(found.grade) !== JSON.stringify(first.grade);
  settle(first, answer.ok ? found.grade : first.seen, !answer.ok || conflict);
  if (answer.ok && shown) {
    shown.progress = found.progress;
    drawCounts();
  }
  if (conflict) say(`Another page has graded this ${page.told(found.grade)}; give it again to change that.`, true);
  else if (!answer.ok) say(`Not taken: ${found.error}.`, true);
  else tell();
}

// After a refusal, what follows on the same item was given on a wrong footing.
function settle(first, grade, refused) {
  if (refused) outbox.splice(0, outbox.length, ...outbox.filter((each) => !page.isSame(each, first)));
  remember("outbox", outbox);
  if (shown) page.settle(first, grade, refused);
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
  if (!away) page.arrived();
}

const KEYS = {
  l: () => turn(1),
  ArrowRight: () => turn(1),
  h: () => turn(-1),
  ArrowLeft: () => turn(-1),
  n: onward,
  "?": () => $("help").toggleAttribute("open"),
};
// A key held down must not grade what follows.
const ONCE = {};

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
