import { html } from "./html.js";
import { NOTICE, PERSON } from "./icons.js";
import { layout } from "./layout.js";

export interface PopupModel {
  /** Begins and ends with a slash. */
  readonly publicPath: string;
  readonly isSignedIn: boolean;
  /** The address of another login in this window. */
  readonly loginHref: string;
  /** The application, for a user whose other window is gone. */
  readonly homeHref: string;
}

/** The page on which a login in a popup ends. */
export function popupPage({ publicPath, isSignedIn, loginHref, homeHref }: PopupModel): string {
  if (isSignedIn) {
    const main = html`<section class="card">
      <div class="emblem">${PERSON}</div>
      <h1>You are signed in</h1>
      <p>You can close this window.</p>
      <p class="actions"><a class="button quiet" href="${homeHref}">Continue in this window</a></p>
    </section>`;
    return layout({ publicPath, title: "Signed in", main, script: "popup.js" });
  }
  const main = html`<section class="card">
    <div class="emblem">${NOTICE}</div>
    <h1>You are signed out</h1>
    <p>The sign-in was not completed.</p>
    <p class="actions"><a class="button" href="${loginHref}">Sign in</a></p>
  </section>`;
  return layout({ publicPath, title: "Signed out", main });
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
