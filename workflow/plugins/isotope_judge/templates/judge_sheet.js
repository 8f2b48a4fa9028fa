"use strict";

const classes = [...document.querySelectorAll("#classes button")];
const ratings = [...document.querySelectorAll("#ratings button")];
const { alternative } = $("classes").dataset;
const ROLES = { query: "The query", truth: "The right picture", found: "The picture found" };

function figure({ role, picture: src }) {
  return element(
    "figure",
    { className: role },
    picture(src, "Picture"),
    element("figcaption", { textContent: ROLES[role] }),
  );
}

function press() {
  const { classes: names, rating } = view.grade ?? { classes: [], rating: null };
  for (const button of classes) button.setAttribute("aria-pressed", String(names.includes(button.value)));
  for (const button of ratings) button.setAttribute("aria-pressed", String(Number(button.value) === rating));
  $("pending").hidden = !outbox.some((each) => page.isSame(each, view));
}

// A verdict without classes and rating is none.
function give({ classes: names, rating }) {
  if (isLoading) return;
  const isEmpty = !names.length && rating === null;
  const grade = isEmpty ? null : { classes: names, rating };
  post({ lot: view.lot, grade, expected: view.grade });
  view.grade = grade;
  press();
  send();
}

// The alternative is named alone: either takes the other back.
function toggle(name) {
  const { classes: names, rating } = view.grade ?? { classes: [], rating: null };
  const others = names.filter((each) => each !== name && (each === alternative) === (name === alternative));
  give({ classes: names.includes(name) ? others : [...others, name], rating });
}

function rate(rating) {
  give({ classes: view.grade?.classes ?? [], rating });
}

function draw() {
  for (const each of outbox) if (page.isSame(each, view)) view.grade = each.grade;
  const lines = view.query.split(" | ").filter((line) => line);
  $("query").replaceChildren(...lines.map((textContent) => element("p", { textContent })));
  $("pictures").replaceChildren(...view.pictures.map(figure));
  if (!view.pictures.length) $("pictures").append(picture(null));
  press();
}

Object.assign(page, {
  counts: ({ done, total }, number) => [
    `${count(done)} of ${count(total)} failures judged, failure ${count(number)} of ${count(total)}`,
  ],
  describe: (grade) => (grade ? `${grade.classes.join(", ")} ${grade.rating ?? ""}`.trim() : "back to nothing"),
  isSame: (one, other) => one.lot === other.lot,
  draw,
  settle(first, grade, isRefused) {
    if (isRefused && page.isSame(first, view)) view.grade = grade;
    press();
  },
  state() {
    if (view.progress.next === null) return "All failures are judged. Thank you.";
    return view.grade === null ? "" : "Judged; “next with work” (n) goes on.";
  },
  enter() {},
  afterSending() {},
});
classes.forEach((button, n) => {
  button.addEventListener("click", () => view && toggle(button.value));
  if (n < 9) KEYS_ONCE[n + 1] = () => toggle(button.value);
});
for (const button of ratings) {
  const own = Number(button.value);
  button.addEventListener("click", () => view && rate(view.grade?.rating === own ? null : own));
}
if (ratings.length) {
  const by = (change) => () => rate(Math.min(10, Math.max(1, (view.grade?.rating ?? 5) + change)));
  KEYS["+"] = by(1);
  KEYS["-"] = by(-1);
}

start();
