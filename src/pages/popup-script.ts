/**
 * Tells the application's pages how the login ended. The message is only a hint: the pages ask the
 * server. When a page responds, the script closes the window. If no page is left, the window stays.
 * The browser may refuse to close it, for example because the provider sets
 * Cross-Origin-Opener-Policy.
 */
export const POPUP_SCRIPT = `"use strict";
const channel = new BroadcastChannel("idpauth:" + location.pathname.replace(/popup[/]?$/, ""));
const query = new URLSearchParams(location.search);
const attempt = query.get("attempt");
const outcome = query.get("outcome");
const failure = (outcome === "failed" ? query.get("code") : outcome) ?? undefined;
channel.onmessage = ({ data }) => {
  if (data?.type === "received" && data.attempt === attempt) window.close();
};
channel.postMessage({ type: failure ? "failed" : "signed-in", attempt, failure });
`;
