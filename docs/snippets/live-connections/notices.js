import { EventEmitter } from "node:events";

export const notices = new EventEmitter().setMaxListeners(0);

/**
 * Sends each notice of the application, until the stream closes.
 * @param {import("idpauth").EventStream} stream
 */
export function sendNotices({ send, signal }) {
  const onNotice = (/** @type {object} */ notice) => send(notice, { event: "notice" });
  notices.on("notice", onNotice);
  signal.addEventListener("abort", () => notices.off("notice", onNotice));
}
