import { inBrowser, onContentUpdated } from "vitepress";
import { nextTick } from "vue";

// The menu beside the pages: the current entry is in view, and a group says whether it is open.

/** Call it once, in the theme's `setup`. */
export function followSidebar() {
  if (!inBrowser) return;
  onContentUpdated(() => void nextTick(showCurrent));
  new MutationObserver(() => {
    sayStates();
  }).observe(document.documentElement, {
    subtree: true,
    childList: true,
    attributeFilter: ["class"],
  });
  // VitePress's groups are buttons for the Enter key only.
  addEventListener("keydown", (event) => {
    if (event.key !== " " || !(event.target instanceof HTMLElement)) return;
    if (!event.target.matches(".VPSidebarItem > .item[role=button]")) return;
    event.preventDefault();
    event.target.click();
  });
}

function showCurrent() {
  const sidebar = document.querySelector(".VPSidebar");
  const current = sidebar?.querySelector(".VPSidebarItem.is-active > .item");
  if (sidebar === null || !(current instanceof HTMLElement)) return;
  const place = current.getBoundingClientRect();
  const frame = sidebar.getBoundingClientRect();
  // The first lines are behind the page's head and the switch.
  if (place.top > frame.top + 128 && place.bottom < frame.bottom) return;
  sidebar.scrollTop += place.top - frame.top - frame.height / 3;
}

function sayStates() {
  for (const group of document.querySelectorAll(".VPSidebarItem.collapsible")) {
    const button = group.querySelector(":scope > .item[role=button]");
    const isOpen = String(!group.classList.contains("collapsed"));
    if (button?.getAttribute("aria-expanded") !== isOpen)
      button?.setAttribute("aria-expanded", isOpen);
  }
}
