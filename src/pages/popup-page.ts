import { html } from "./html.js";
import { NOTICE, PERSON } from "./icons.js";
import type { PageContent } from "./page-content.js";
import type { Texts } from "./texts.js";

export interface PopupModel {
  readonly isSignedIn: boolean;
  /** The address of another login in this window. */
  readonly loginHref: string;
  /** The application, for a user whose other window is gone. */
  readonly homeHref: string;
}

/** The page on which a login in a popup ends. */
export function popupPage({ isSignedIn, loginHref, homeHref }: PopupModel, { say }: Texts): PageContent {
  if (isSignedIn) {
    const main = html`<section class="card">
      <div class="emblem">${PERSON}</div>
      <h1>${say("signedIn.heading")}</h1>
      <p>${say("popup.close")}</p>
      <p class="actions"><a class="button quiet" href="${homeHref}">${say("popup.stay")}</a></p>
    </section>`;
    return { status: 200, title: say("signedIn.title"), main, script: "popup.js" };
  }
  const main = html`<section class="card">
    <div class="emblem">${NOTICE}</div>
    <h1>${say("signedOut.heading")}</h1>
    <p>${say("signIn.failed")}</p>
    <p class="actions"><a class="button" href="${loginHref}">${say("action.signIn")}</a></p>
  </section>`;
  return { status: 200, title: say("signedOut.title"), main };
}

/**
 * Tells the application's pages that the user has signed in. The message is only a hint: the pages ask the server. When a page responds,
 * the script closes the window. If no page is left, the window stays. The browser may refuse to close it, for example because the
 * provider sets Cross-Origin-Opener-Policy.
 */
export const POPUP_SCRIPT = `"use strict";
const channel = new BroadcastChannel("idpauth:" + new URL(".", location.href).pathname);
const attempt = new URLSearchParams(location.search).get("attempt");
channel.onmessage = ({ data }) => {
  if (data?.type === "received" && data.attempt === attempt) window.close();
};
channel.postMessage({ type: "signed-in", attempt });
`;
