"use strict";

const verdicts = [...document.querySelectorAll("#verdicts button")];
let agreements = 0;

function fields(list) {
  const node = element("dl", { className: "fields" });
  for (const [name, value] of Object.entries(list)) {
    node.append(element("div", { className: "short" }, element("dt", {}, name), element("dd", {}, value)));
  }
  return node;
}

function press() {
  const pressed = view.grade?.verdict;
  for (const button of verdicts) button.setAttribute("aria-pressed", String(button.value === pressed));
  $("pending").hidden = !outbox.some((each) => page.isSame(each, view));
}

function give(verdict) {
  if (isLoading) return;
  const grade = view.grade?.verdict === verdict ? null : { verdict, reason: null };
  const { text_id, image_id } = view;
  post({ text_id, image_id, grade, expected: view.grade });
  view.grade = grade;
  press();
  send();
}

function draw() {
  for (const each of outbox) if (page.isSame(each, view)) view.grade = each.grade;
  $("query").replaceChildren(fields(view.section));
  $("pictures").replaceChildren(element("figure", {}, picture(view.picture, "Suggested picture")));
  $("about").replaceChildren(fields(view.about));
  press();
}

async function showAgreement() {
  const request = ++agreements;
  const reply = await fetchJson("/api/agreement").catch(() => null);
  if (!reply || request !== agreements) return;
  const lines = reply.others.map(({ other, pairs, same_share: share, kappa }) => {
    const value = kappa === null ? "undefined, as both give one verdict only" : kappa.toFixed(2);
    return `${other}: Cohen's kappa ${value} on ${pairs} shared suggestions, ${Math.round(share * 100)} % alike`;
  });
  if (reply.error) lines.push(`The other verdicts can't be read: ${reply.error}`);
  if (!lines.length) lines.push("Nobody else has judged these suggestions yet.");
  $("agreement").replaceChildren(...lines.map((textContent) => element("p", { textContent })));
}

Object.assign(page, {
  counts: ({ done, total }, number) => [
    `${count(done)} of ${count(total)} suggestions judged, suggestion ${count(number)} of ${count(total)}`,
  ],
  describe: (grade) => grade?.verdict ?? "back to nothing",
  isSame: (one, other) => one.text_id === other.text_id && one.image_id === other.image_id,
  draw,
  settle(first, grade, isRefused) {
    if (isRefused && page.isSame(first, view)) view.grade = grade;
    press();
  },
  state() {
    if (view.progress.next === null) return "All suggestions are judged. Thank you.";
    return view.grade === null ? "" : "Judged; “next with work” (n) goes on.";
  },
  enter() {},
  afterSending: showAgreement,
});
verdicts.forEach((button, n) => {
  button.addEventListener("click", () => view && give(button.value));
  KEYS_ONCE[n + 1] = () => give(button.value);
});

start();
