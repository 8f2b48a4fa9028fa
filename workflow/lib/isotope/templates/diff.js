"use strict";

// The page on two snapshots: of its details and radio buttons, what a browser can't do alone.
// Each batch says how many of its pages the reader's choice leaves, and the first such one is open;
// a link of the index leads to a page wherever it is.
(() => {
  const changes = document.getElementById("changes");
  const form = changes.querySelector("form");
  if (!form) return;
  const batches = [...changes.querySelectorAll(".batch")];

  // What the reader chooses is a class of every item that is of that kind and so changed.
  function chosen() {
    return [form.elements.kind.value, form.elements.change.value].filter(Boolean).join("-");
  }
  const left = (item) => !chosen() || item.classList.contains(chosen());

  function choose() {
    const counts = batches.map((batch) =>
      [...batch.querySelector("ul").children].filter(left).length);
    batches.forEach((batch, n) => {
      batch.querySelector(".matches").textContent = chosen() ? `${counts[n]} match` : "";
    });
    const every = counts.reduce((sum, own) => sum + own, 0);
    const match = every === 1 ? "page matches" : "pages match";
    document.getElementById("count").textContent = chosen() ? `${every} ${match}` : "";
    if (!batches.some((batch, n) => batch.open && counts[n]))
      batches.find((_, n) => counts[n])?.setAttribute("open", "");
  }

  function lead() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !changes.contains(target)) return;
    if (!left(target.closest(".item"))) {
      form.reset();
      choose();
    }
    for (let node = target; node !== changes; node = node.parentElement)
      if (node.localName === "details") node.open = true;
    const summary = target.closest("details").querySelector("summary");
    summary.focus({ preventScroll: true });
    summary.scrollIntoView();
  }

  // One batch opens and another closes above it: what was opened stays in sight.
  for (const batch of batches) {
    const summary = batch.querySelector("summary");
    const follow = () => batch.open && summary.scrollIntoView({ block: "nearest" });
    summary.addEventListener("click", () => requestAnimationFrame(follow));
  }
  form.addEventListener("change", choose);
  addEventListener("hashchange", lead);
  choose();
  lead();
})();
