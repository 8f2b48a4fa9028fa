"use strict";

// How answers are drawn. What comes from outside becomes text, never markup.
const $ = (id) => document.getElementById(id);
const REASONS = [...$("reasons").children].map((each) => each.textContent);
const BEGINNING = 300;
const ACCEPTED = { verdict: "good", reason: null };

function element(tag, content = {}, ...children) {
  const node = Object.assign(document.createElement(tag), content);
  node.append(...children.filter((each) => each !== null));
  return node;
}

// A link that leaves this machine does so when it is followed, and says nothing of this page.
function outward(href, words, className = "") {
  if (!href) return element("span", { className }, words);
  return element("a", { className, href, target: "_blank", rel: "noreferrer noopener" }, words);
}

function thumbnail(src, alt) {
  const image = element("img", { src, alt });
  image.addEventListener("error", () => image.replaceWith(element("span", { textContent: "no picture was kept" })));
  return element("div", { className: "frame" }, image);
}

// `of` says what it is the probability of, where that is no picture for a text.
function chance({ probability, chance: words }, of = "") {
  const node = element("p", { className: "chance", textContent: of ? `${of}: ${words}` : words });
  node.classList.toggle("none", probability === null);
  if (probability !== null) node.style.setProperty("--chance", `${100 * probability}%`);
  return node;
}

function line(className, words) {
  return words ? element("p", { className, textContent: words }) : null;
}

// Reasons have titles between asterisks.
function reasons(each) {
  if (!each.length) return null;
  const parts = each.join("; ").split(/\*([^*]+)\*/);
  const nodes = parts.map((part, n) => (n % 2 ? element("cite", { textContent: part }) : part));
  return element("p", { className: "reasons" }, ...nodes);
}

function button(textContent, action, value) {
  const node = element("button", { type: "button", textContent });
  node.dataset.action = action;
  if (value) node.dataset.value = value;
  return node;
}

function rejecting() {
  const reasons = REASONS.map((each, n) => {
    const node = button(` ${each}`, "reason", each);
    node.prepend(element("kbd", { textContent: n + 1 }));
    return node;
  });
  return element("div", { className: "rejecting", hidden: true }, element("p", { textContent: "Why not?" }), ...reasons);
}

function verdictButtons() {
  const reject = button("Reject …", "reject");
  reject.setAttribute("aria-expanded", "false");
  return [button("Accept", "accept"), reject];
}

// A line in which an address that is too long for it goes on after a slash or an underscore.
function credit(text) {
  const nodes = text.split(/(?<=\w\/|\/\/|_)/).flatMap((part) => [part, element("wbr", {})]);
  return element("p", { className: "credit" }, ...nodes);
}

// A text of which its beginning is seen, and the rest when it is asked for.
function words(text) {
  if (!text) return null;
  if (text.length <= BEGINNING) return line("words", text);
  const cut = text.lastIndexOf(" ", BEGINNING);
  const summary = element("summary", { textContent: `${text.slice(0, cut > 0 ? cut : BEGINNING)} … ` });
  summary.append(element("span", { className: "rest", textContent: "the whole text" }));
  return element("details", { className: "words" }, summary, element("p", { textContent: text }));
}

// A picture for a text.
function answerCard(answer) {
  const caption = outward(answer.file_page, answer.caption || answer.file, "open");
  const pages = answer.pages.join(", ");
  const copies = [button("Copy credit", "copy", answer.credit)];
  if (answer.wikitext) copies.push(button("Copy wikitext", "copy", answer.wikitext));
  else if (answer.file_page) copies.push(outward(answer.file_page, "Look up the licence"));
  const others = element("a", { href: `#image/${encodeURIComponent(answer.image_id)}`, textContent: "Other sections" });
  return element(
    "li",
    { className: "item pictured", tabIndex: -1 },
    thumbnail(answer.thumbnail, answer.file),
    element(
      "div",
      {},
      element("h2", {}, caption),
      chance(answer),
      reasons(answer.reasons),
      line("pages", pages && `On ${pages}`),
      answer.credit ? credit(answer.credit) : null,
      element("p", { className: "verdict" }),
    ),
    element("div", { className: "tools" }, ...verdictButtons(), ...copies, others),
    rejecting(),
  );
}

function sectionTitle({ page_title: page, section_title: section }) {
  return section ? `${page}: ${section}` : page;
}

const opened = ({ text_id: id }) => `#section/${encodeURIComponent(id)}`;

// A section: one that has no picture, in the list, or one that a picture may be for.
function placeCard(place, isListed = false) {
  const title = sectionTitle(place);
  const inward = element("a", { className: "open", href: opened(place), textContent: title });
  const tools = element("div", { className: "tools" });
  if (place.item.image_id) tools.append(...verdictButtons());
  if (!isListed) tools.append(element("a", { href: opened(place), textContent: "Its suggestions" }));
  const facts = [
    chance(place, isListed ? "ought to have a picture" : ""),
    reasons(place.reasons),
    isListed || !place.is_open ? null : line("open-section", "It shows no picture yet"),
  ];
  const node = element(
    "li",
    { className: "item", tabIndex: -1 },
    element("h2", {}, isListed ? inward : outward(place.page_url, title, "open")),
    element("div", { className: "facts" }, ...facts),
    words(place.text),
    element("p", { className: "verdict" }),
    tools.childElementCount ? tools : null,
    rejecting(),
  );
  node.classList.toggle("listed", isListed);
  return node;
}

const isSame = (one, other) => one?.verdict === other?.verdict && one?.reason === other?.reason;

function verdictWords(grade) {
  if (!grade) return "nothing";
  if (isSame(grade, ACCEPTED)) return "accepted";
  return grade.reason ? `rejected: ${grade.reason}` : grade.verdict;
}

function drawVerdict(node, { grade, isSaving, trouble }) {
  const isAccepted = grade?.verdict === "good" || grade?.verdict === "okay";
  node.classList.toggle("accepted", isAccepted);
  node.classList.toggle("rejected", Boolean(grade) && !isAccepted);
  const words = grade ? `${verdictWords(grade)[0].toUpperCase()}${verdictWords(grade).slice(1)}` : "";
  const says = node.querySelector(".verdict");
  says.replaceChildren(isSaving ? "Saving …" : words);
  if (trouble) says.append(element("span", { className: "trouble", textContent: ` ${trouble}` }));
  node.querySelector("[data-action=accept]")?.setAttribute("aria-pressed", String(isSame(grade, ACCEPTED)));
  for (const each of node.querySelectorAll("[data-action=reason]")) {
    each.setAttribute("aria-pressed", String(grade?.reason === each.dataset.value));
  }
}
