import { labelsOf, type Words } from "./choose-warning-texts.js";
import type { ShownView } from "./choose-warning-view.js";
import { WARNING_STYLE } from "./warning-style.js";

/** What the user does in the panel. */
export interface PanelActions {
  readonly act: () => void;
  readonly hide: () => void;
}

/** What the panel shows besides its view. */
export interface PanelContent extends Words {
  /** How long the warning lasts before the end. */
  readonly seconds: number;
}

/** The nodes of the warning. */
export interface Panel {
  /** Shows the panel, and doesn't move the focus. */
  show(view: ShownView, content: PanelContent): void;
  /** Hides the panel. If it has the focus, the element that had it before gets it. */
  hide(): void;
  /** Says a text to screen readers; with `explains`, also the explanation of the view. */
  say(text: string, explains: boolean): void;
  /** Shows why the last action failed. Empty: it has not. */
  fail(text: string): void;
  /** Moves the focus to the main button. */
  focus(options?: FocusOptions): void;
}

export function createPanel(root: ShadowRoot, { act, hide }: PanelActions): Panel {
  const left = node("span", "left");
  const time = node("div", "time", left);
  const heading = node("p", "heading");
  const slot = node("slot");
  const failure = node("p", "failure");
  const action = node("button", "action");
  const quiet = node("button", "hide");
  const more = node("slot");
  const panel = node(
    "div",
    "panel",
    time,
    node("div", "content", heading, node("p", "text", slot), failure),
    node("div", "actions", action, more, quiet),
  );
  const said = node("p", "said");
  left.role = "timer";
  failure.role = said.role = "alert";
  more.name = "actions";
  panel.role = "region";
  // Above everything else of the page, and without taking the focus.
  panel.popover = "manual";
  root.adoptedStyleSheets = [styleSheet()];
  root.append(said, panel);

  /** The element of the page that had the focus before the panel. */
  let before: HTMLElement | undefined;
  panel.addEventListener("focusin", ({ relatedTarget }) => {
    const isOwn = (element: HTMLElement) => panel.contains(element) || root.host.contains(element);
    if (relatedTarget instanceof HTMLElement && !isOwn(relatedTarget)) before = relatedTarget;
  });
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    hide();
  });
  action.addEventListener("click", act);
  quiet.addEventListener("click", hide);

  const isOpen = () => panel.matches(":popover-open");
  return {
    show(view, content) {
      const { language, texts, seconds } = content;
      panel.lang = said.lang = language;
      [heading.textContent, slot.textContent, action.textContent] = labelsOf(view, content);
      panel.ariaLabel = heading.textContent;
      quiet.textContent = texts.hide;
      slot.name = view.kind;
      const isCounting = "seconds" in view;
      time.classList.toggle("lock", !isCounting);
      left.textContent = isCounting ? clockTime(view.seconds) : "";
      // Allowed by a policy that forbids style attributes.
      time.style.setProperty("--left", isCounting ? `${view.seconds / seconds}` : "0");
      if (!isOpen()) panel.showPopover();
    },
    hide() {
      said.textContent = "";
      if (!isOpen()) return;
      const around = root.host.getRootNode() as Document | ShadowRoot;
      const hadFocus = root.host.contains(around.activeElement);
      panel.hidePopover();
      if (hadFocus) before?.focus({ preventScroll: true });
      before = undefined;
    },
    say(text, explains) {
      const own = slot.assignedNodes().map(({ textContent }) => textContent);
      said.textContent = explains ? `${text} ${own.join("") || slot.textContent}` : text;
    },
    fail: (text) => void (failure.textContent = text),
    focus: (options) => action.focus(options),
  };
}

let sheet: CSSStyleSheet | undefined;

/** One for all elements of the page. A policy that forbids inline styles allows it. */
function styleSheet(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(WARNING_STYLE);
  }
  return sheet;
}

/**
 * Not from markup in a string: a policy with trusted types forbids that.
 *
 * @param part the node's class, and its name for `::part()`
 */
function node<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  part = "",
  ...children: readonly Node[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.className = part;
  made.part.value = part;
  made.append(...children);
  return made;
}

function clockTime(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
