import { expect, it } from "vitest";
import { chooserPage } from "../../src/pages/chooser-page.js";
import { errorPage } from "../../src/pages/error-page.js";
import { landingPage } from "../../src/pages/landing-page.js";
import { organizationPage } from "../../src/pages/organization-page.js";
import { otherUserPage } from "../../src/pages/other-user-page.js";
import type { PageContent } from "../../src/pages/page-description.js";
import { popupPage } from "../../src/pages/popup-page.js";
import { sessionsPage } from "../../src/pages/sessions-page.js";
import type { Texts } from "../../src/pages/texts.js";
import { allStates } from "./states.mjs";
import { textsIn } from "./texts-in.js";

function contents<Model>(
  page: (model: Model, texts: Texts) => PageContent,
  states: Readonly<Record<string, Model>>,
): [string, PageContent][] {
  return Object.entries(states).map(([state, model]) => [
    `${page.name}, ${state}`,
    page(model, textsIn("en")),
  ]);
}

const states = allStates("https://pictures.example");

// A formatter that wraps a template can add white space inside an element, where a copied text, a
// test or `textContent` has it.
it.each([
  ...contents(chooserPage, states.chooser),
  ...contents(errorPage, states.error),
  ...contents(landingPage, states.landing),
  ...contents(organizationPage, states.organization),
  ...contents(otherUserPage, states["other-user"]),
  ...contents(popupPage, states.popup),
  ...contents(sessionsPage, states.sessions),
])("%s: no link, button or text begins or ends with white space", (_name, { main }) => {
  const inline = "a|bdi|button|code|dd|dt|h1|h2|label|span|strong|time";
  const edges = String(main).match(
    new RegExp(`<(?:${inline})\\b[^>]*>\\s|\\s</(?:${inline})>`, "g"),
  );
  expect(edges).toBeNull();
});
