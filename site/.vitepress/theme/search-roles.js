import { inBrowser } from "vitepress";

// VitePress's search says that it is one button, with links inside of options. It is a dialog with
// a list of links.

/** What VitePress sets, by the element that has it. */
const WRONG = [
  [".VPLocalSearchBox", ["aria-expanded", "aria-haspopup", "aria-owns"]],
  [".VPLocalSearchBox input", ["aria-activedescendant", "aria-autocomplete", "aria-controls"]],
  [".VPLocalSearchBox .results", ["role", "aria-labelledby"]],
  [".VPLocalSearchBox .results > li", ["role", "aria-selected"]],
  [".VPLocalSearchBox .result", ["aria-label"]],
];

/** Call it once, in the theme's `setup`. */
export function correctSearchRoles() {
  if (!inBrowser) return;
  new MutationObserver(() => {
    const box = document.querySelector(".VPLocalSearchBox");
    if (box === null) return;
    if (box.getAttribute("role") !== "dialog") box.setAttribute("role", "dialog");
    // A key is an icon with a label.
    for (const key of box.querySelectorAll("kbd[aria-label]:not([role])"))
      key.setAttribute("role", "img");
    for (const [selector, names] of WRONG)
      for (const element of document.querySelectorAll(selector))
        for (const name of names) element.removeAttribute(name);
  }).observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: [...new Set(WRONG.flatMap(([, names]) => names))],
  });
}
