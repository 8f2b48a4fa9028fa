// What is wrong with the places of an open page's buttons and pictures, in words.
([buttons, pictures]) => {
  const LEAST_TARGET = 43.99;
  const LEAST_PICTURE = 80;
  const INSET = 4;
  const faults = [];
  const all = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility());
  const name = (e) => `${e.localName} ${e.textContent.trim()}`;
  const isInside = (r) => r.left >= 0 && r.top >= 0 && r.right <= innerWidth && r.bottom <= innerHeight;
  const isOnTop = (e, r) =>
    [r.left + INSET, r.right - INSET].every((x) =>
      [r.top + INSET, r.bottom - INSET].every((y) => e.contains(document.elementFromPoint(x, y))));
  const [controls, images] = [all(buttons), all(pictures)];
  if (!controls.length || !images.length) faults.push(`${controls.length} buttons, ${images.length} pictures`);
  for (const e of [...controls, ...images]) {
    const box = e.getBoundingClientRect();
    if (!isInside(box)) faults.push(`outside: ${name(e)}`);
    else if (!isOnTop(e, box)) faults.push(`covered: ${name(e)}`);
  }
  for (const e of [...controls, ...all("summary")]) {
    const { width, height } = e.getBoundingClientRect();
    if (Math.min(width, height) < LEAST_TARGET) faults.push(`${width} by ${height} px: ${name(e)}`);
  }
  for (const e of images) {
    const { height } = e.getBoundingClientRect();
    if (height < LEAST_PICTURE) faults.push(`a picture of ${height} px`);
  }
  const { scrollWidth, scrollHeight } = document.documentElement;
  if (scrollWidth > innerWidth || scrollHeight > innerHeight) faults.push(`the page has ${scrollWidth} by ${scrollHeight} px`);
  return faults;
}
