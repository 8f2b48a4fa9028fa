"use strict";

// Lists of queries: which are shown, in which order, and the keys that go through them.
(() => {
  const AT_ONCE = 20;
  const form = document.querySelector(".controls");
  const sections = [...document.querySelectorAll(".task-queries")].map((section) => ({
    section,
    list: section.querySelector(".queries"),
    queries: [...section.querySelectorAll(".queries > li")],
    bars: section.querySelector(".bars"),
    ends: section.querySelector(".ends"),
    further: section.querySelector(".further"),
    limit: AT_ONCE,
  }));
  if (!sections.length) {
    return;
  }
  const words = new Map();
  const field = (name) => (form.elements[name] ? form.elements[name].value : "");

  for (const one of sections) {
    for (const query of one.queries) {
      const text = query.querySelector("h3").textContent + query.querySelector(".query").textContent;
      words.set(query, text.toLowerCase());
      query.bar = one.bars.querySelector(`a[href="#${query.id}"]`);
    }
  }

  function current() {
    const task = field("task");
    return sections.find((one) => one.section.id === task) || sections[0];
  }

  function found(one) {
    const asked = field("words").toLowerCase().split(/\s+/);
    const outcome = field("outcome");
    return one.queries.filter(
      (query) =>
        (!outcome || query.classList.contains(outcome)) &&
        asked.every((word) => words.get(query).includes(word)),
    );
  }

  function show() {
    const chosen = current();
    for (const one of sections) {
      one.section.hidden = one !== chosen;
    }
    const isTurned = field("order") === "loss";
    const every = found(chosen);
    const ordered = isTurned ? [...chosen.queries].reverse() : chosen.queries;
    const shown = (isTurned ? [...every].reverse() : every).slice(0, chosen.limit);
    chosen.list.append(...ordered);
    chosen.bars.classList.toggle("turned", isTurned);
    chosen.ends.classList.toggle("turned", isTurned);
    for (const query of chosen.queries) {
      query.hidden = !shown.includes(query);
      query.bar.classList.toggle("out", !every.includes(query));
    }
    const left = every.length - shown.length;
    chosen.further.hidden = left === 0;
    chosen.further.textContent = `Show ${Math.min(AT_ONCE, left)} more of ${left}`;
    const status = `${every.length} of ${chosen.queries.length} queries, ${shown.length} shown`;
    form.querySelector("[role=status]").textContent = status;
  }

  function restart() {
    for (const one of sections) {
      one.limit = AT_ONCE;
    }
    show();
  }

  function open(query) {
    const one = sections.find((each) => each.queries.includes(query));
    if (form.elements.task) {
      form.elements.task.value = one.section.id;
    }
    if (!found(one).includes(query)) {
      form.elements.outcome.value = "";
      form.elements.words.value = "";
    }
    const every = found(one);
    const place = field("order") === "loss" ? every.length - every.indexOf(query) : every.indexOf(query) + 1;
    one.limit = Math.max(one.limit, Math.ceil(place / AT_ONCE) * AT_ONCE);
    show();
    query.querySelector("details").open = true;
    query.scrollIntoView();
    query.querySelector("summary").focus({ preventScroll: true });
  }

  function openPlace() {
    const query = document.getElementById(location.hash.slice(1));
    if (words.has(query)) {
      open(query);
    }
  }

  function step(by) {
    const shown = [...current().list.children].filter((query) => !query.hidden);
    const at = shown.indexOf(document.activeElement.closest(".queries > li"));
    const next = shown[at < 0 ? 0 : Math.min(Math.max(at + by, 0), shown.length - 1)];
    if (next) {
      next.querySelector("summary").focus();
    }
  }

  // One stop of the Tab key for all bars.
  function along(event, bars) {
    const links = [...bars.querySelectorAll("a")];
    const by = { ArrowRight: 1, ArrowLeft: -1, Home: -links.length, End: links.length }[event.key];
    if (!by) {
      return;
    }
    event.preventDefault();
    const turn = bars.classList.contains("turned") ? -1 : 1;
    const at = links.indexOf(document.activeElement) + by * turn;
    const next = links[Math.min(Math.max(at, 0), links.length - 1)];
    for (const link of links) {
      link.tabIndex = link === next ? 0 : -1;
    }
    next.focus();
  }

  for (const one of sections) {
    one.bars.setAttribute("role", "toolbar");
    for (const [n, link] of one.bars.querySelectorAll("a").entries()) {
      link.tabIndex = n ? -1 : 0;
    }
    one.bars.addEventListener("keydown", (event) => along(event, one.bars));
    one.bars.addEventListener("click", (event) => {
      const link = event.target.closest("a");
      if (link) {
        event.preventDefault();
        history.replaceState(null, "", link.hash);
        openPlace();
      }
    });
    one.further.addEventListener("click", () => {
      const before = [...one.list.children].filter((query) => !query.hidden).length;
      one.limit += AT_ONCE;
      show();
      const first = [...one.list.children].filter((query) => !query.hidden)[before];
      first.querySelector("summary").focus();
    });
  }
  form.addEventListener("input", restart);
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, select, textarea");
    if (!isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const by = { j: 1, k: -1 }[event.key];
      if (by) {
        step(by);
      }
    }
  });
  window.addEventListener("hashchange", openPlace);
  form.hidden = false;
  document.getElementById("keys").hidden = false;
  show();
  // Once the browser has gone to the place itself, which takes the focus.
  window.addEventListener("load", openPlace);
})();
