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
  const { classes: named, rating } = view.grade ?? { classes: [], rating: null };
  for (const button of classes) button.setAttribute("aria-pressed", String(named.includes(button.value)));
  for (const button of ratings) button.setAttribute("aria-pressed", String(Number(button.value) === rating));
  $("pending").hidden = !outbox.some((each) => page.isSame(each, view));
}

// A verdict without classes and rating is none.
function give({ classes: named, rating }) {
  if (away) return;
  const isNone = !named.length && rating === null;
  const grade = isNone ? null : { classes: named, rating };
  post({ lot: view.lot, grade, seen: view.grade });
  view.grade = grade;
  press();
  send();
}

// The alternative is named alone: either takes the other back.
function toggle(name) {
  const { classes: named, rating } = view.grade ?? { classes: [], rating: null };
  const others = named.filter((each) => each !== name && (each === alternative) === (name === alternative));
  give({ classes: named.includes(name) ? others : [...others, name], rating });
}

function rate(rating) {
  give({ classes: view.grade?.classes ?? [], rating });
}

Object.assign(page, {
  items: "failures judged",
  unit: "failure",
  describe: (grade) => (grade ? `${grade.classes.join(", ")} ${grade.rating ?? ""}`.trim() : "back to nothing"),
  isSame: (one, other) => one.lot === other.lot,
  draw() {
    for (const each of outbox) if (page.isSame(each, view)) view.grade = each.grade;
    $("query").replaceChildren(...view.query.split(" | ").map((textContent) => element("p", { textContent })));
    $("pictures").replaceChildren(...view.pictures.map(figure));
    if (!view.pictures.length) $("pictures").append(picture(null));
    press();
  },
  settle(first, grade, refused) {
    if (refused && page.isSame(first, view)) view.grade = grade;
    press();
  },
  tell() {
    if (view.progress.next === null) say("All failures are judged. Thank you.");
    else if (view.grade !== null) say("This one is done; n goes to the next one with work.");
    else say("");
  },
  arrived() {},
  sent() {},
});
classes.forEach((button, n) => {
  button.addEventListener("click", () => view && toggle(button.value));
  if (n < 9) ONCE[n + 1] = () => toggle(button.value);
});
for (const button of ratings) {
  const own = Number(button.value);
  button.addEventListener("click", () => view && rate(view.grade?.rating === own ? null : own));
}
if (ratings.length) {
  const by = (step) => () => rate(Math.min(10, Math.max(1, (view.grade?.rating ?? 5) + step)));
  KEYS["+"] = by(1);
  KEYS["-"] = by(-1);
}

start();
