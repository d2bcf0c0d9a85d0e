"use strict";
// Adds a filter and buttons; without it everything is on the page all the same.
(() => {
  const all = (what) => [...document.querySelectorAll(what)];
  const filter = document.getElementById("filter");
  const failing = document.getElementById("failing");
  const show = () => {
    const text = filter.value.trim().toLowerCase();
    for (const one of all("[data-name]")) {
      const named = one.dataset.name.toLowerCase().includes(text);
      const fails = !failing.checked || !one.dataset.verdict || one.dataset.verdict !== "pass";
      one.hidden = !(named && fails);
    }
    for (const one of all(".folded")) {
      one.hidden = ![...one.querySelectorAll("li")].some((line) => !line.hidden);
    }
  };
  filter.addEventListener("input", show);
  failing.addEventListener("change", show);
  const open = (value) => () => all(".package, .package details").forEach((one) => {
    one.open = value;
  });
  document.getElementById("open")?.addEventListener("click", open(true));
  document.getElementById("close")?.addEventListener("click", open(false));
  all(".filter, .tools").forEach((one) => {
    one.hidden = false;
  });
})();
