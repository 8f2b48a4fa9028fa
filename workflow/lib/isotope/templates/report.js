"use strict";

// What the pages of the report share; each is whole without it.
document.documentElement.classList.add("scripted");
