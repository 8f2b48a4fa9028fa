/* The theme makes a landmark of each button that copies, does not name the button, and lets no key
   scroll a table that is wider than the page. */
const name = () => {
  for (const buttons of document.querySelectorAll("nav.md-code__nav:not([role])"))
    buttons.setAttribute("role", "none");
  for (const button of document.querySelectorAll(".md-code__button:not([aria-label])"))
    button.setAttribute("aria-label", button.title);
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])"))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
};
new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
name();
addEventListener("resize", name);
