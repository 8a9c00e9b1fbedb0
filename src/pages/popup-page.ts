import { html, NOTICE, PERSON } from "./html.js";
import type { PageContent } from "./page-description.js";
import type { Texts } from "./texts.js";

export interface PopupModel {
  readonly isSignedIn: boolean;
  /** The address of another login in this window. */
  readonly loginHref: string;
  /** The application, for a user whose other window is gone. */
  readonly homeHref: string;
}

/** The page on which a login in a popup ends. */
export function popupPage(
  { isSignedIn, loginHref, homeHref }: PopupModel,
  { say }: Texts,
): PageContent {
  const state = isSignedIn ? "signedIn" : "signedOut";
  const heading = say(`${state}.heading`);
  const text = say(isSignedIn ? "popup.close" : "signIn.failed");
  const action = isSignedIn
    ? { label: say("popup.stay"), href: homeHref }
    : { label: say("action.signIn"), href: loginHref };
  const main = html`<section class="card">
    <div class="emblem">${isSignedIn ? PERSON : NOTICE}</div>
    <h1>${heading}</h1>
    <p>${text}</p>
    <p class="actions">
      <a class="button${isSignedIn ? " quiet" : ""}" href="${action.href}">${action.label}</a>
    </p>
  </section>`;
  const title = say(`${state}.title`);
  return {
    kind: "popup",
    status: 200,
    title,
    heading,
    texts: [text],
    action,
    main,
    ...(isSignedIn && { script: "popup.js" }),
  };
}

/**
 * Tells the application's pages that the user has signed in. The message is only a hint: the pages
 * ask the server. When a page responds, the script closes the window. If no page is left, the
 * window stays. The browser may refuse to close it, for example because the provider sets
 * Cross-Origin-Opener-Policy.
 */
export const POPUP_SCRIPT = `"use strict";
const channel = new BroadcastChannel("idpauth:" + location.pathname.replace(/popup[/]?$/, ""));
const attempt = new URLSearchParams(location.search).get("attempt");
channel.onmessage = ({ data }) => {
  if (data?.type === "received" && data.attempt === attempt) window.close();
};
channel.postMessage({ type: "signed-in", attempt });
`;
