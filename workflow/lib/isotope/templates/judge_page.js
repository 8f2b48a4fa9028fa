"use strict";

// What both judging pages share: grades go into an outbox that outlives server and reload.
const RETRY_MS = 1000;
const $ = (id) => document.getElementById(id);
const { assessor, collection } = document.body.dataset;
const outbox = remembered("outbox");
// Each page adds how it draws, settles and describes its items, and its own keys.
const page = {};
let view = null;
let turns = 0;
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
  const node = Object.assign(document.createElement(tag), content);
  node.append(...children);
  return node;
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
  const { done, total, queries } = view.progress;
  $("counts").textContent = `${done} of ${total} ${page.items}, ${page.unit} ${view.number + 1} of ${queries}`;
  $("progress").max = Math.max(total, 1);
  $("progress").value = done;
  $("next").disabled = view.progress.next === null;
}

async function ask(path) {
  const answer = await fetch(path);
  const reply = await answer.json();
  if (!answer.ok) throw new Error(reply.error);
  return reply;
}

async function show(number) {
  const turn = ++turns;
  away = true;
  let isNew = false;
  try {
    const reply = await ask(`/api/query/${number}`);
    if (turn !== turns) return;
    isNew = view?.number !== number;
    view = reply;
    away = false;
  } catch (error) {
    if (turn === turns) {
      say(`No answer (${error.message}); trying again.`, true);
      setTimeout(() => turn === turns && show(number), RETRY_MS);
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
  const reply = await answer.json().catch(() => ({ error: `status ${answer.status}` }));
  if (answer.status >= 500 || answer.status === 409) throw new Error(reply.error);
  outbox.shift();
  const conflict = answer.ok && JSON.stringify(reply.grade) !== JSON.stringify(first.grade);
  settle(first, answer.ok ? reply.grade : first.seen, !answer.ok || conflict);
  if (answer.ok && view) {
    view.progress = reply.progress;
    drawCounts();
  }
  if (conflict) say(`Another page has graded this ${page.describe(reply.grade)}; give it again to change that.`, true);
  else if (!answer.ok) say(`Not taken: ${reply.error}.`, true);
  else tell();
}

// After a refusal, what follows on the same item was given on a wrong footing.
function settle(first, grade, refused) {
  if (refused) outbox.splice(0, outbox.length, ...outbox.filter((each) => !page.isSame(each, first)));
  remember("outbox", outbox);
  if (view) page.settle(first, grade, refused);
}

function turn(by) {
  const number = view.number + by;
  return number >= 0 && number < view.progress.queries ? show(number) : null;
}

// What is on its way may be the last work here.
async function onward() {
  await sending;
  if (outbox.length || view.progress.next === null) return;
  await show(view.progress.next);
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
  if (!view || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!(event.key in KEYS || event.key in ONCE)) return;
  event.preventDefault();
  if (!(event.repeat && event.key in ONCE)) act(event.key);
});
for (const button of document.querySelectorAll("[data-key]")) {
  button.addEventListener("click", () => view && act(button.dataset.key));
}
window.addEventListener("beforeunload", (event) => outbox.length && event.preventDefault());
window.addEventListener("focus", () => {
  acting = acting.then(() => view && !outbox.length && show(view.number));
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
