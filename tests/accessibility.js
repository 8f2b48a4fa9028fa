/* What a reader misses of a page, measured in the page: tests/accessibility.py calls these. */
window.accessibility = (() => {
  "use strict";
  const NATIVE = "a[href], area[href], button, input:not([type=hidden]), select, textarea, summary";
  const CONTROLS = `${NATIVE}, [tabindex]:not([tabindex='-1']), [contenteditable]`;
  const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0;
  const name = (e) => {
    const text = e.getAttribute("aria-label") || e.textContent.trim() || e.value || "";
    const marks = [e.id && `#${e.id}`, ...[...e.classList].map((c) => `.${c}`)].join("");
    return `${e.localName}${marks} "${text.replace(/\s+/g, " ").slice(0, 40)}"`;
  };

  // Observers of sizes have their turn before the second frame is drawn.
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

  const layout = async () => {
    await drawn();
    const needed = document.documentElement.scrollWidth;
    const broken = [...document.images].filter((i) => shown(i) && !(i.complete && i.naturalWidth));
    return [
      ...(needed > innerWidth ? [`overflow: the page is ${needed} px wide`] : []),
      ...broken.map((i) => `no picture: ${name(i)}`),
    ];
  };

  // Words of which a box that scrolls sideways shows one end and not the other, wherever it rests. A
  // word wider than what it stands in is cut anyhow.
  const lines = function* (part) {
    const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT), range = document.createRange();
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const label = node.parentElement, s = getComputedStyle(label);
      if (!node.data.trim() || label.closest(".unseen") || s.opacity === "0") continue;
      range.selectNodeContents(node);
      const shortened = s.textOverflow === "ellipsis";
      for (const line of shortened ? label.getClientRects() : range.getClientRects()) yield line;
    }
  };
  // What is in sight of a part of a box: not what lies under the keys, nor what is clipped.
  const sight = (part, box, row) => {
    const left = box.getBoundingClientRect().left + box.clientLeft;
    const table = part.closest("table");
    const clips = table && /calc\(100% - ([\d.]+)px\)/.exec(getComputedStyle(table).clipPath);
    const edge = clips ? table.getBoundingClientRect().left + Number(clips[1]) : Infinity;
    const keys = row && !part.matches(".key, .pool th") ? [...row.cells].filter((c) => c.matches(".key")) : [];
    const starts = keys.map((key) => key.getBoundingClientRect().right);
    return [Math.max(left, ...starts), Math.min(left + box.clientWidth, edge)];
  };
  const cutIn = (part, box, row) => {
    const [left, right] = sight(part, box, row);
    const crosses = (line, edge) => line.left < edge - 1 && line.right > edge + 1;
    return [...lines(part)].some((line) =>
      line.width <= right - left && (crosses(line, left) || crosses(line, right)));
  };
  const cuts = async () => {
    const found = new Set();
    for (const box of document.querySelectorAll(".scroll, .plot, pre")) {
      const scrolls = getComputedStyle(box).overflowX !== "visible" && box.scrollWidth > box.clientWidth;
      if (!shown(box) || !scrolls) continue;
      const rows = [...box.querySelectorAll("thead tr, tbody tr:nth-child(-n + 3)")].filter(shown).slice(0, 12);
      const parts = rows.length ? rows.flatMap((row) => [...row.cells].map((cell) => [cell, row])) : [[box]];
      for (let at = 0, last = -1; at <= box.scrollWidth - box.clientWidth + 40; at += 40) {
        box.scrollLeft = at;
        if (box.scrollLeft === last) continue;
        last = box.scrollLeft;
        await drawn();
        for (const [part, row] of parts)
          if (cutIn(part, box, row)) found.add(`cut ${last} px from the start: ${name(part)} in ${name(box)}`);
      }
      box.scrollLeft = 0;
    }
    return [...found];
  };

  const violations = async (context, options) => {
    const found = await axe.run(context, { resultTypes: ["violations"], preload: false, ...options });
    const words = (n) => `${n.html.slice(0, 120)}: ${n.failureSummary.split("\n").at(-1).trim()}`;
    return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${words(n)}`));
  };
  const structure = () => violations(document, { rules: { "color-contrast": { enabled: false } } });

  // axe takes 20 s for the contrast of 10,000 cells: of words that look alike, with ancestors that
  // look alike, it gets the first.
  const looks = () => {
    const known = new Map(), chosen = new Map();
    for (const e of document.body.querySelectorAll("*")) {
      const s = getComputedStyle(e);
      const own = [e.localName, s.color, s.fill, s.backgroundColor, s.opacity, s.fontSize, s.fontWeight];
      const look = [known.get(e.parentElement), e.getAttribute("class"), ...own].join();
      known.set(e, look);
      const words = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
      if (words && shown(e) && !chosen.has(look)) chosen.set(look, e);
    }
    return [...chosen.values()];
  };
  const contrast = () => {
    const include = looks();
    return include.length ? violations({ include }, { runOnly: ["color-contrast"] }) : [];
  };

  // Tab stops once in a group of radio buttons or a toolbar, in which arrows go on, and at a box
  // that scrolls if nothing in it does.
  const stops = () => {
    const alone = (e) => {
      if (e.closest("[role=toolbar]")) return e.tabIndex === 0;
      const group = e.type === "radio" ? [...document.querySelectorAll(`[name="${e.name}"]`)] : [e];
      return e === (group.find((other) => other.checked) ?? group[0]);
    };
    const more = (way, hidden) => /auto|scroll/.test(way) && hidden > 1;
    const scrolls = (e) => {
      const s = getComputedStyle(e);
      return more(s.overflowX, e.scrollWidth - e.clientWidth)
        || more(s.overflowY, e.scrollHeight - e.clientHeight);
    };
    const controls = [...document.querySelectorAll(CONTROLS)]
      .filter((e) => !e.disabled && !e.closest("[inert]") && shown(e) && alone(e));
    const boxes = [...document.body.querySelectorAll("*")]
      .filter((box) => shown(box) && scrolls(box) && !controls.some((c) => box.contains(c)));
    return [...controls, ...boxes];
  };

  const outlined = (e) => {
    const s = getComputedStyle(e);
    const clear = /^rgba\(.*, 0\)$/.test(s.outlineColor);
    return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 && !clear;
  };
  const inSight = (e) => [...e.getClientRects()].some((r) => {
    const [left, right] = [Math.max(r.left, 0), Math.min(r.right, innerWidth)];
    const [top, bottom] = [Math.max(r.top, 0), Math.min(r.bottom, innerHeight)];
    if (right - left < 1 || bottom - top < 1) return false;
    const along = (from, to) => [0.5, 0.1, 0.9].map((part) => from + part * (to - from));
    return along(left, right).some((x) =>
      along(top, bottom).some((y) => e.contains(document.elementFromPoint(x, y))));
  });

  // Each press notes what has the focus before it moves on, when the page has come to rest there.
  let visited = new Map(), expected = [];
  const note = () => {
    const e = document.activeElement;
    if (e === null || e === document.body || visited.has(e)) return;
    const marked = [e, ...(e.labels ?? [])].filter(outlined);
    visited.set(e, marked.length ? (marked.some(inSight) ? "" : "hidden focus") : "no outline");
  };
  const walk = () => {
    // Where the focus was last, Tab goes on from there: from the start of the page now.
    const start = Object.assign(document.createElement("span"), { tabIndex: -1 });
    document.body.prepend(start);
    start.focus();
    start.remove();
    [visited, expected] = [new Map(), stops()];
    document.addEventListener("keydown", note, { capture: true });
    return expected.length + 1;
  };
  const walked = () => {
    document.removeEventListener("keydown", note, { capture: true });
    const unseen = [...visited].filter(([, fault]) => fault);
    return [
      ...expected.filter((e) => !visited.has(e)).map((e) => `not reached by Tab: ${name(e)}`),
      ...unseen.map(([e, fault]) => `${fault}: ${name(e)}`),
    ];
  };
  return { layout, cuts, structure, contrast, walk, walked };
})();
