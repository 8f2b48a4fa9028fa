"use strict";

const PAUSE_MS = 300;
// An answer that takes longer is the first one, which waits for indexes and a model.
const LONG_MS = 2000;
const { assessor, collection, pictureBytes } = document.body.dataset;
// What is shown: the answers' data beside their nodes, and what was asked for them.
let cards = [];
let current = -1;
let subject = {};
// The newest question; the answer to an older one is never drawn.
let asked = 0;
let controller = null;
let again = null;
// What is to come: the question when the typing pauses, a notice, another try.
const timers = { pause: 0, notice: 0, retry: 0 };
let dropped = null;
// The list of sections, as it was left.
let listing = null;

function say(text, isTrouble = false) {
  $("state").textContent = text;
  $("status").classList.toggle("trouble", isTrouble);
}

function start(name, action, milliseconds) {
  stop(name);
  timers[name] = setTimeout(action, milliseconds);
}

function stop(name) {
  clearTimeout(timers[name]);
}

async function fetchJson(path, options = {}) {
  const answer = await fetch(path, options).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new Error("no answer; see whether `isotope suggest` still runs");
  });
  const reply = await answer.json().catch(() => ({}));
  if (answer.ok) return reply;
  const reasons = { 413: "it is longer than the page takes; shorten it" };
  const error = new Error(reply.error ?? reasons[answer.status] ?? `status ${answer.status}`);
  error.after = Number(answer.headers.get("Retry-After"));
  throw error;
}

function asJson(content) {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content) };
}

// Break off what is on its way; what it would have drawn is out of date.
function leave() {
  asked += 1;
  controller?.abort();
  Object.keys(timers).forEach(stop);
  $("again").hidden = true;
  document.body.classList.remove("stale");
}

async function ask(path, options, draw) {
  leave();
  const number = asked;
  controller = new AbortController();
  document.body.classList.add("stale");
  say("Looking …");
  start("notice", () => say("Looking … the first answer waits until everything is loaded."), LONG_MS);
  try {
    const reply = await fetchJson(path, { ...options, signal: controller.signal });
    if (number !== asked) return;
    stop("notice");
    document.body.classList.remove("stale");
    say("");
    draw(reply);
  } catch (error) {
    if (number === asked) fail(error, () => ask(path, options, draw));
  }
}

function fail(error, retry) {
  stop("notice");
  drawItems([], []);
  document.body.classList.remove("stale");
  again = retry;
  $("again").hidden = !retry;
  say(`No suggestions: ${error.message}.`, true);
  if (error.after) start("retry", retry, 1000 * error.after);
}

function drawItems(found, notes, draw = answerCard) {
  cards = [];
  current = -1;
  $("items").replaceChildren();
  $("notes").replaceChildren(...notes.map((textContent) => element("li", { textContent })));
  $("further").hidden = true;
  addItems(found, draw);
}

function addItems(found, draw) {
  const added = found.map((each) => ({ ...each, node: draw(each) }));
  for (const card of added) drawVerdict(card.node, card);
  cards.push(...added);
  $("items").append(...added.map(({ node }) => node));
}

const count = (number, one, many) => (number === 1 ? `1 ${one}` : `${number} ${many}`);

function drawAnswers({ answers, notes, text_id: text }) {
  subject = { text };
  drawItems(answers, notes);
  say(answers.length ? `${count(answers.length, "picture", "pictures")}, the likeliest first` : "No picture of the collection fits.");
}

function drawPlaces({ sections, notes, image_id: picture }) {
  subject = { picture };
  drawItems(sections, notes, (each) => placeCard(each));
  say(sections.length ? `${count(sections.length, "section", "sections")}, the likeliest first` : "No section of the collection fits.");
}

function askText() {
  const text = $("text").value;
  if (text.trim()) {
    ask("/api/pictures", asJson({ text }), drawAnswers);
    return;
  }
  leave();
  drawItems([], []);
  say("");
}

function askPicture() {
  const file = dropped;
  leave();
  drawItems([], []);
  say("");
  if (!file) return;
  $("preview").hidden = true;
  if (file.size > Number(pictureBytes)) {
    const most = Number(pictureBytes) / 2 ** 20;
    fail(new Error(`${file.name} has more than ${most} MiB; choose a smaller picture`), null);
    return;
  }
  const headers = { "Content-Type": "application/octet-stream" };
  ask("/api/sections", { method: "POST", headers, body: file }, (reply) => {
    drawPlaces(reply);
    preview(file);
  });
}

// Only what the server could decode within its limits is decoded here; no address of it is made.
async function preview(file) {
  const bitmap = await createImageBitmap(file).catch(() => null);
  if (!bitmap || file !== dropped) return;
  Object.assign($("preview"), { width: bitmap.width, height: bitmap.height, hidden: false });
  $("preview").getContext("2d").drawImage(bitmap, 0, 0);
}

function takePicture(file) {
  if (!file) return;
  dropped = file;
  if (location.hash === "#picture") askPicture();
  else location.hash = "#picture";
}

function askList() {
  const search = $("words").value.trim();
  const path = `/api/unillustrated?search=${encodeURIComponent(search)}`;
  ask(path, {}, (reply) => {
    listing = { path, sections: reply.sections, notes: reply.notes, after: reply.after, place: -1 };
    drawList();
  });
}

function drawList() {
  const { sections, notes, after, place } = listing;
  drawItems(sections, notes, (each) => placeCard(each, true));
  $("further").hidden = after === null;
  say(sections.length ? `${count(sections.length, "section", "sections")}${after === null ? "" : " and more"}` : "No section without a picture has that in a title.");
  if (place >= 0) goTo(place);
}

function askFurther() {
  const { path, after } = listing;
  ask(`${path}&after=${encodeURIComponent(after)}`, {}, (reply) => {
    const place = listing.sections.length;
    listing = { ...listing, sections: [...listing.sections, ...reply.sections], after: reply.after, place };
    drawList();
  });
}

function drawSection(section) {
  $("section").replaceChildren(
    element("h1", { textContent: section.page_title }),
    element("h2", { textContent: section.section_title }),
    words(section.text),
    element("p", { className: "note" }, outward(section.page_url, "The page on its wiki")),
  );
}

function drawPicture(picture) {
  $("picture").replaceChildren(
    thumbnail(picture.thumbnail, picture.file),
    element("h2", {}, outward(picture.file_page, picture.caption || picture.file)),
    element("p", { className: "note", textContent: picture.credit }),
  );
}

const VIEWS = {
  text: askText,
  picture: () => {
    $("picture").replaceChildren();
    askPicture();
  },
  sections: () => (listing ? (leave(), drawList()) : askList()),
  section: (id) =>
    ask(`/api/section?id=${encodeURIComponent(id)}`, {}, (reply) => {
      drawSection(reply.section);
      drawAnswers(reply);
    }),
  image: (id) => {
    $("preview").hidden = true;
    ask(`/api/picture?id=${encodeURIComponent(id)}`, {}, (reply) => {
      drawPicture(reply.picture);
      drawPlaces(reply);
    });
  },
};
// The view that has what another one shows, and the link that leads to it.
const SHOWN = { image: "picture" };
const LINKS = { image: "picture", section: "sections" };

function identifier(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function route() {
  const [name, ...rest] = location.hash.slice(1).split("/");
  const view = Object.hasOwn(VIEWS, name) ? name : "text";
  document.body.dataset.view = SHOWN[view] ?? view;
  for (const link of document.querySelectorAll("[data-for]")) {
    if (link.dataset.for === (LINKS[view] ?? view)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  $("section").replaceChildren();
  subject = {};
  drawItems([], []);
  scrollTo(0, 0);
  VIEWS[view](identifier(rest.join("/")));
}

function goTo(place) {
  if (!cards.length) return;
  mark(Math.max(0, Math.min(place, cards.length - 1)));
  cards[current].node.focus();
}

function mark(place) {
  current = place;
  cards.forEach(({ node }, n) => (n === place ? node.setAttribute("aria-current", "true") : node.removeAttribute("aria-current")));
  if (document.body.dataset.view === "sections" && listing) listing.place = place;
}

const cardOf = (node) => cards.findIndex((card) => card.node.contains(node));
$("items").addEventListener("focusin", ({ target }) => mark(cardOf(target)));

// Verdicts: saved if the suggestion still has the one that is shown.
async function give(card, grade) {
  if (!card || card.isSaving || !card.item.image_id || !card.item.text_id) return;
  Object.assign(card, { isSaving: true, trouble: "" });
  drawVerdict(card.node, card);
  const entry = { ...card.item, grade, expected: card.grade, assessor, collection };
  try {
    const reply = await fetchJson("/api/verdict", asJson(entry));
    card.grade = reply.grade;
    if (!isSame(reply.grade, grade)) {
      card.trouble = `Another page has said ${verdictWords(reply.grade)}; say it again to change that.`;
    }
  } catch (error) {
    card.trouble = `Not saved: ${error.message}; say it again.`;
  }
  card.isSaving = false;
  drawVerdict(card.node, card);
  say(card.trouble || `Saved: ${verdictWords(card.grade)}`, Boolean(card.trouble));
}

function openReasons(card, isOpen = true) {
  const panel = card?.node.querySelector(".rejecting");
  const reject = card?.node.querySelector("[data-action=reject]");
  if (!reject) return;
  panel.hidden = !isOpen;
  reject.setAttribute("aria-expanded", String(isOpen));
  if (isOpen) panel.querySelector("button").focus();
}

const isRejecting = (card) => Boolean(card) && !card.node.querySelector(".rejecting").hidden;

function reject(card, reason) {
  openReasons(card, false);
  card.node.focus();
  const grade = { verdict: reason === "offensive" ? "offensive" : "bad", reason };
  give(card, isSame(card.grade, grade) ? null : grade);
}

async function refreshVerdicts() {
  const names = Object.keys(subject).filter((name) => subject[name]);
  if (!names.length) return;
  const before = asked;
  const query = names.map((name) => `${name}=${encodeURIComponent(subject[name])}`);
  const { grades } = await fetchJson(`/api/verdicts?${query}`).catch(() => ({}));
  if (!grades || before !== asked) return;
  for (const card of cards.filter(({ isSaving }) => !isSaving)) {
    card.grade = grades[subject.text ? card.item.image_id : card.item.text_id] ?? null;
    drawVerdict(card.node, card);
  }
}

async function copy(words, what) {
  if (!words) return;
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    copyBySelection(words);
  }
  say(`Copied: ${what}`);
}

// An address that is no loopback's has no clipboard.
function copyBySelection(words) {
  const active = document.activeElement;
  const field = element("textarea", { value: words, className: "unseen" });
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  active?.focus();
}

const ACTIONS = {
  accept: (card) => give(card, isSame(card.grade, ACCEPTED) ? null : ACCEPTED),
  reject: (card) => openReasons(card, !isRejecting(card)),
  reason: (card, { value }) => reject(card, value),
  copy: (_, { value }) => copy(value, value),
};
$("items").addEventListener("click", ({ target }) => {
  const pressed = target.closest("[data-action]");
  if (pressed) ACTIONS[pressed.dataset.action](cards[cardOf(pressed)], pressed.dataset);
});

function toField() {
  const view = document.body.dataset.view;
  if (view !== "text" && view !== "sections") location.hash = "#text";
  document.body.dataset.view = view === "sections" ? view : "text";
  $(view === "sections" ? "words" : "text").focus();
}

function escape() {
  const card = cards[current];
  if (isRejecting(card)) {
    openReasons(card, false);
    card.node.focus();
  } else if ($("help").open) $("help").open = false;
  else if (document.body.dataset.view === "section") location.hash = "#sections";
}

const KEYS = {
  "/": toField,
  "?": () => ($("help").open = !$("help").open),
  Escape: escape,
};
const ITEM_KEYS = {
  j: () => goTo(current + 1),
  ArrowDown: () => goTo(current + 1),
  k: () => goTo(current - 1),
  ArrowUp: () => goTo(current - 1),
};
const CARD_KEYS = {
  a: (card) => card.node.querySelector("[data-action=accept]")?.click(),
  r: (card) => openReasons(card),
  u: (card) => card.grade && give(card, null),
  c: (card) => card.node.querySelectorAll("[data-action=copy]")[0]?.click(),
  w: (card) => card.node.querySelectorAll("[data-action=copy]")[1]?.click(),
};

function actionOf({ key, target }) {
  const card = cards[current];
  if (KEYS[key]) return KEYS[key];
  if (ITEM_KEYS[key] && cards.length) return ITEM_KEYS[key];
  if (!card) return null;
  if (key === "Enter") return target === card.node ? () => card.node.querySelector("a.open")?.click() : null;
  if (isRejecting(card) && REASONS[key - 1]) return () => reject(card, REASONS[key - 1]);
  return CARD_KEYS[key] ? () => CARD_KEYS[key](card) : null;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.matches("textarea, input[type=search]")) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.target.blur();
    goTo(Math.max(current, 0));
    return;
  }
  const action = actionOf(event);
  if (!action) return;
  event.preventDefault();
  // A key held down must not judge what follows.
  if (!event.repeat || event.key in ITEM_KEYS) action();
});

function pause(then) {
  return ({ isComposing }) => {
    stop("pause");
    if (!isComposing) start("pause", then, PAUSE_MS);
  };
}
$("text").addEventListener("input", pause(askText));
$("text").addEventListener("compositionend", pause(askText));
$("words").addEventListener("input", pause(askList));
$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  askList();
});
$("again").addEventListener("click", () => again?.());
$("further").addEventListener("click", askFurther);
$("choose").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", ({ target }) => {
  takePicture(target.files[0]);
  target.value = "";
});

// The hash names the view, so that the link to the suggestions can't be followed by it.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  $("found").focus();
});

const hasFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files");
document.addEventListener("dragover", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  document.body.classList.add("dragged");
});
document.addEventListener("dragleave", ({ relatedTarget }) => {
  if (!relatedTarget) document.body.classList.remove("dragged");
});
document.addEventListener("drop", (event) => {
  document.body.classList.remove("dragged");
  if (!hasFiles(event)) return;
  event.preventDefault();
  takePicture(event.dataTransfer.files[0]);
});
document.addEventListener("paste", (event) => {
  const file = event.clipboardData?.files[0];
  if (!file) return;
  event.preventDefault();
  takePicture(file);
});
window.addEventListener("hashchange", ({ newURL, oldURL }) => newURL !== oldURL && route());
// Another tab may have judged meanwhile.
window.addEventListener("focus", refreshVerdicts);

route();
if (document.body.dataset.view === "text" && matchMedia("(hover: hover)").matches) $("text").focus();
