import type { Readable } from "node:stream";

/**
 * The body of a message that no other code has read, as chunks of bytes. An iterator that is left early discards the rest, so that
 * the connection stays usable for the response and for further requests.
 *
 * @returns undefined if other code has read the body or is reading it
 */
export function unreadBody(message: Readable): AsyncIterable<Uint8Array> | undefined {
  if (message.readableDidRead || message.readableFlowing === true || message.readableEnded) return undefined;
  return { [Symbol.asyncIterator]: () => chunksOf(message) };
}

function chunksOf(message: Readable): AsyncIterator<Uint8Array> {
  const chunks = message.iterator({ destroyOnReturn: false }) as AsyncGenerator<Uint8Array>;
  const discard = () => {
    // Node itself discards only bodies of which nothing was read.
    message.resume();
  };
  return {
    next: () => chunks.next(),
    return() {
      // It waits for a pending chunk, which may never come.
      chunks.return(undefined).then(discard, discard);
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}
