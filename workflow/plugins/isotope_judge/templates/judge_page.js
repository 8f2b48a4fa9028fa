"use strict";

// What both judging pages share: grades go into an outbox that outlives server and reload.
const RETRY_MS = 1000;
const count = (number) => number.toLocaleString("en");
const $ = (id) => document.getElementById(id);
const { assessor, collection } = document.body.dataset;
const outbox = restore("outbox");
// Each page adds how it draws, settles and describes its items, and its own keys.
const page = {};
let view = null;
let requests = 0;
let isLoading = false;
let sending = null;
let actions = Promise.resolve();

function restore(name) {
  return JSON.parse(sessionStorage.getItem(`${name} ${collection} ${assessor}`) || "[]");
}

function store(name, value) {
  sessionStorage.setItem(`${name} ${collection} ${assessor}`, JSON.stringify(value));
}

function element(tag, content = {}, ...children) {
  const node = Object.assign(document.createElement(tag), content);
  node.append(...children);
  return node;
}

function showState(text, isTrouble = false) {
  $("state").textContent = text;
  $("state").classList.toggle("trouble", isTrouble);
}

function picture(src, alt) {
  const placeholder = () => element("p", { className: "none", textContent: "no picture was kept" });
  if (!src) return placeholder();
  const image = element("img", { className: "picture", src, alt });
  image.addEventListener("error", () => image.replaceWith(placeholder()));
  return image;
}

// A box that has more than it shows says so until its end is reached, and Tab goes to it.
function watchScroll(box) {
  const update = () => {
    const hidden = box.scrollHeight - box.clientHeight;
    box.parentElement.classList.toggle("more", hidden - box.scrollTop > 1);
    if (hidden > 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  box.addEventListener("scroll", update, { passive: true });
  const observer = new ResizeObserver(update);
  observer.observe(box);
  observer.observe(box.firstElementChild);
}

function drawCounts() {
  $("counts").replaceChildren(...page.counts(view.progress, view.number + 1));
  $("progress").max = Math.max(view.progress.total, 1);
  $("progress").value = view.progress.done;
  $("next").disabled = view.progress.next === null;
}

async function fetchJson(path) {
  const answer = await fetch(path);
  const reply = await answer.json();
  if (!answer.ok) throw new Error(reply.error);
  return reply;
}

async function show(path) {
  const request = ++requests;
  isLoading = true;
  let reply = null;
  try {
    reply = await fetchJson(path);
  } catch (error) {
    if (request !== requests) return;
    showState(`No answer (${error.message}); trying again.`, true);
    setTimeout(() => request === requests && show(path), RETRY_MS);
    return;
  }
  if (request !== requests) return;
  const isNew = view?.number !== reply.number;
  view = reply;
  isLoading = false;
  history.replaceState(null, "", `#${view.number + 1}`);
  page.draw(isNew);
  if (isNew) $("query-box").scrollTop = 0;
  drawCounts();
  describeState();
  page.afterSending();
}

const showQuery = (number) => show(`/api/query/${number}`);

function describeState() {
  if (!outbox.length) showState(page.state());
}

function post(entry) {
  outbox.push({ ...entry, assessor, collection });
  store("outbox", outbox);
}

function send() {
  sending ??= sendAll().finally(() => (sending = null));
  return sending;
}

async function sendAll() {
  try {
    while (outbox.length) await sendFirst();
    page.afterSending();
  } catch (error) {
    showState(`${outbox.length} not saved yet (${error.message}); trying again.`, true);
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
  const isConflict = answer.ok && JSON.stringify(reply.grade) !== JSON.stringify(first.grade);
  settle(first, answer.ok ? reply.grade : first.expected, !answer.ok || isConflict);
  if (answer.ok && view) {
    view.progress = reply.progress;
    drawCounts();
  }
  if (isConflict) showState(`Another page has graded this ${page.describe(reply.grade)}; give it again to change that.`, true);
  else if (!answer.ok) showState(`Not taken: ${reply.error}.`, true);
  else describeState();
}

// After a refusal, what follows on the same item was given on a wrong footing.
function settle(first, grade, isRefused) {
  if (isRefused) outbox.splice(0, outbox.length, ...outbox.filter((each) => !page.isSame(each, first)));
  store("outbox", outbox);
  if (view) page.settle(first, grade, isRefused);
}

function step(by) {
  const number = view.number + by;
  return number >= 0 && number < view.progress.queries ? showQuery(number) : null;
}

// What is on its way may be the last work here, and another tab may have done what was left elsewhere.
async function showNext() {
  await sending;
  if (outbox.length) return;
  await show(`/api/after/${view.number}`);
  if (!isLoading) page.enter();
}

const KEYS = {
  l: () => step(1),
  ArrowRight: () => step(1),
  h: () => step(-1),
  ArrowLeft: () => step(-1),
  n: showNext,
  "?": () => $("help").toggleAttribute("open"),
  Escape: () => $("help").removeAttribute("open"),
};
// A key held down must not grade what follows.
const KEYS_ONCE = {};

// Keys pressed while a query is on its way are meant for that query.
function act(key) {
  actions = actions.then(KEYS[key] ?? KEYS_ONCE[key]).catch((error) => showState(error.message, true));
}

// A box that scrolls keeps the keys that scroll it.
const SCROLLING = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown"]);
function isScrolling({ key, target }) {
  return SCROLLING.has(key) && target.closest(".scrolls") !== null;
}

document.addEventListener("keydown", (event) => {
  if (!view || event.ctrlKey || event.metaKey || event.altKey || isScrolling(event)) return;
  if (!(event.key in KEYS || event.key in KEYS_ONCE)) return;
  event.preventDefault();
  if (!(event.repeat && event.key in KEYS_ONCE)) act(event.key);
});
for (const button of document.querySelectorAll("[data-key]")) {
  button.addEventListener("click", () => view && act(button.dataset.key));
}
// What is open must not lie over what has the focus.
document.addEventListener("focusin", ({ target }) => {
  if (!$("help").contains(target)) $("help").removeAttribute("open");
});
window.addEventListener("beforeunload", (event) => outbox.length && event.preventDefault());
window.addEventListener("focus", () => {
  actions = actions.then(() => view && !outbox.length && showQuery(view.number));
});

async function start() {
  watchScroll($("query-box"));
  if (outbox.length) send();
  await showFirst();
}

async function showFirst() {
  const number = Number(location.hash.slice(1)) - 1;
  try {
    const { next, queries } = await fetchJson("/api/progress");
    await showQuery(number >= 0 && number < queries ? number : (next ?? 0));
  } catch (error) {
    showState(`No answer (${error.message}); trying again.`, true);
    setTimeout(showFirst, RETRY_MS);
  }
}
