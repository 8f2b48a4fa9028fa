"use strict";

const classes = [...document.querySelectorAll("#classes button")];
const ratings = [...document.querySelectorAll("#ratings button")];
const { alternative } = $("classes").dataset;
const ROLES = { asked: "The picture asked about", right: "The right picture", found: "The picture that was found" };

function figure({ role, picture: src }) {
  return element(
    "figure",
    { className: role },
    picture(src, ROLES[role]),
    element("figcaption", { textContent: ROLES[role] }),
  );
}

function press() {
  const { classes: named, rating } = shown.grade ?? { classes: [], rating: null };
  for (const button of classes) button.setAttribute("aria-pressed", String(named.includes(button.value)));
  for (const button of ratings) button.setAttribute("aria-pressed", String(Number(button.value) === rating));
  $("pending").hidden = !outbox.some((each) => page.isSame(each, shown));
}

// A verdict without classes and rating is none.
function give({ classes: named, rating }) {
  if (away) return;
  const isNone = !named.length && rating === null;
  const grade = isNone ? null : { classes: named, rating };
  post({ lot: shown.lot, grade, seen: shown.grade });
  shown.grade = grade;
  press();
  send();
}

// The alternative is named alone: either takes the other back.
function toggle(name) {
  const { classes: named, rating } = shown.grade ?? { classes: [], rating: null };
  const kept = named.filter((each) => each !== name && (each === alternative) === (name === alternative));
  give({ classes: named.includes(name) ? kept : [...kept, name], rating });
}

function rate(rating) {
  give({ classes: shown.grade?.classes ?? [], rating });
}

Object.assign(page, {
  items: "failures judged",
  unit: "failure",
  told: (grade) => (grade ? `${grade.classes.join(", ")} ${grade.rating ?? ""}`.trim() : "back to nothing"),
  isSame: (one, other) => one.lot === other.lot,
  draw() {
    for (const each of outbox) if (page.isSame(each, shown)) shown.grade = each.grade;
    $("query").replaceChildren(...shown.query.split(" | ").map((textContent) => element("p", { textContent })));
    $("pictures").replaceChildren(...shown.pictures.map(figure));
    if (!shown.pictures.length) $("pictures").append(picture(null));
    press();
  },
  settle(first, grade, refused) {
    if (refused && page.isSame(first, shown)) shown.grade = grade;
    press();
  },
  tell() {
    if (shown.progress.next === null) say("All failures are judged. Thank you.");
    else if (shown.grade !== null) say("This one is done; n goes to the next one with work.");
    else say("");
  },
  arrived() {},
  sent() {},
});
classes.forEach((button, n) => {
  button.addEventListener("click", () => shown && toggle(button.value));
  if (n < 9) ONCE[n + 1] = () => toggle(button.value);
});
for (const button of ratings) {
  const own = Number(button.value);
  button.addEventListener("click", () => shown && rate(shown.grade?.rating === own ? null : own));
}
if (ratings.length) {
  const by = (step) => () => rate(Math.min(10, Math.max(1, (shown.grade?.rating ?? 5) + step)));
  KEYS["+"] = by(1);
  KEYS["-"] = by(-1);
}

start();
