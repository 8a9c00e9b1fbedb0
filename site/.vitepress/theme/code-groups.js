import { inBrowser, onContentUpdated } from "vitepress";

// Who chooses Fastify in one group of code sees Fastify in every group that has it: on this page,
// and on the next ones.

const KEY = "code-groups";

/**
 * How many labels are remembered. Groups don't all have the same ones, so the latest isn't enough.
 */
const MOST = 10;

/** @type {string[]} the labels of the chosen tabs, the latest first */
let chosen = [];

/** Call it once, in the theme's `setup`. */
export function rememberTabs() {
  if (!inBrowser) return;
  chosen = read();
  onContentUpdated(showChosen);
  // A click and the arrow keys both change the group's radio inputs.
  addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.matches(".vp-code-group input")) return;
    chosen = [labelOf(target), ...chosen.filter((label) => label !== labelOf(target))].slice(
      0,
      MOST,
    );
    write();
    const tabs = target.parentElement ?? target;
    const before = tabs.getBoundingClientRect().top;
    showChosen();
    // Groups above may have become shorter or longer. The one that the reader uses stays where it
    // is.
    scrollBy({ top: tabs.getBoundingClientRect().top - before, behavior: "instant" });
  });
}

function showChosen() {
  for (const group of document.querySelectorAll(".vp-code-group")) {
    /** @type {HTMLInputElement[]} */
    const inputs = [...group.querySelectorAll("input")];
    const label = chosen.find((each) => inputs.some((input) => labelOf(input) === each));
    const index = inputs.findIndex((input) => labelOf(input) === label);
    const input = inputs[index];
    if (input === undefined) continue;
    input.checked = true;
    const blocks = group.querySelector(".blocks")?.children ?? [];
    for (const [at, block] of [...blocks].entries()) block.classList.toggle("active", at === index);
  }
}

/** @param {HTMLInputElement} input */
function labelOf(input) {
  return input.labels?.[0]?.textContent.trim() ?? "";
}

function read() {
  try {
    /** @type {unknown} */
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter((label) => typeof label === "string") : [];
  } catch {
    return []; // The browser blocks storage, or the content is broken.
  }
}

function write() {
  try {
    localStorage.setItem(KEY, JSON.stringify(chosen));
  } catch {
    // The choice holds until the page is loaded again.
  }
}
