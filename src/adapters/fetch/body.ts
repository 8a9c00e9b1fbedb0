/**
 * The body of a request that no other code has read, as chunks of bytes. An iterator that is left early leaves the rest unread:
 * canceling the stream closes the connection on some servers, before the response is sent.
 *
 * @returns undefined if there is no body, or if other code has read it or is reading it
 */
export function unreadBody(request: Request): AsyncIterable<Uint8Array> | undefined {
  if (request.bodyUsed) return undefined;
  const { body } = request;
  if (body === null || body.locked) return undefined;
  return { [Symbol.asyncIterator]: () => chunksOf(body.getReader()) };
}

function chunksOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncIterator<Uint8Array> {
  return {
    async next() {
      const { done, value } = await reader.read();
      return done ? { done, value: undefined } : { done, value };
    },
    return() {
      reader.releaseLock();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}
