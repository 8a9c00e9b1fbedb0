import { EventEmitter, on } from "node:events";

export const notices = new EventEmitter().setMaxListeners(0);

/**
 * Yields each notice of the application, until the session ends or the browser disconnects.
 * @param {AbortSignal} ended
 * @param {AbortSignal} disconnected
 */
export async function* noticeEvents(ended, disconnected) {
  const signal = AbortSignal.any([ended, disconnected]);
  try {
    for await (const [notice] of on(notices, "notice", { signal }))
      yield `event: notice\ndata: ${JSON.stringify(notice)}\n\n`;
  } catch (error) {
    if (!signal.aborted) throw error;
    const reason = ended.aborted ? ended.reason.reason : "closing";
    if (reason !== "closing") yield `event: ended\ndata: ${reason}\n\n`;
  }
}
