import { inBrowser, onContentUpdated } from "vitepress";
import { computed, nextTick, ref, watch } from "vue";

// Who chooses Fastify in one group of code, or in the menu, sees Fastify in every group that has it:
// on this page, and on the next ones.

/** What the menu offers. Until the reader chooses, groups show their first tab. */
export const FRAMEWORKS = [
  "Express",
  "Fastify",
  "Hono",
  "Koa",
  "node:http",
  "Next.js",
  "Fetch API",
];

/** Labels that mean a framework of the menu. */
const SAME = new Map([
  ["node", "node:http"],
  ["Fetch servers", "Fetch API"],
]);

const KEY = "code-groups";

/**
 * How many labels are remembered. Groups don't all have the same ones, so the latest isn't enough.
 */
const MOST = 10;

/** The labels of the chosen tabs, the latest first. */
const chosen = ref(/** @type {string[]} */ ([]));

/** The framework in the menu. */
export const framework = computed({
  get: () => chosen.value.find((label) => FRAMEWORKS.includes(label)) ?? FRAMEWORKS[0],
  set: choose,
});

/** Call it once, in the theme's `setup`. */
export function rememberTabs() {
  if (!inBrowser) return;
  chosen.value = read();
  onContentUpdated(showChosen);
  watch(chosen, () => void nextTick(showChosen));
  // A click and the arrow keys both change the group's radio inputs.
  addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.matches(".vp-code-group input")) return;
    choose(labelOf(target));
    const tabs = target.parentElement ?? target;
    const before = tabs.getBoundingClientRect().top;
    showChosen();
    // Groups above may have become shorter or longer. The one that the reader uses stays where it
    // is.
    scrollBy({ top: tabs.getBoundingClientRect().top - before, behavior: "instant" });
  });
}

/** @param {string} label */
function choose(label) {
  chosen.value = [label, ...chosen.value.filter((each) => each !== label)].slice(0, MOST);
  write();
}

function showChosen() {
  for (const group of document.querySelectorAll(".vp-code-group")) {
    /** @type {HTMLInputElement[]} */
    const inputs = [...group.querySelectorAll("input")];
    const label = chosen.value.find((each) => inputs.some((input) => labelOf(input) === each));
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
  const label = input.labels?.[0]?.textContent.trim() ?? "";
  return SAME.get(label) ?? label;
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
    localStorage.setItem(KEY, JSON.stringify(chosen.value));
  } catch {
    // The choice holds until the page is loaded again.
  }
}
