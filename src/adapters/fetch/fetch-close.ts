/**
 * Reports when the response to a request has ended. A `Request` only has a signal, which most
 * servers abort when the client leaves, but not when the response is complete. So a guard passes
 * its handler's response to `follow`.
 */
export class OpenResponses {
  readonly #ends = new WeakMap<object, Set<() => void>>();

  /**
   * Calls a function once when the response has ended; if the signal has aborted, at once,
   * asynchronously.
   *
   * @param key the request, or the framework's object for it
   */
  onClose(key: object, signal: AbortSignal, closed: () => void): void {
    if (signal.aborted) {
      queueMicrotask(closed);
      return;
    }
    const ends = this.#ends.get(key) ?? new Set();
    this.#ends.set(key, ends);
    function end(): void {
      ends.delete(end);
      signal.removeEventListener("abort", end);
      closed();
    }
    ends.add(end);
    signal.addEventListener("abort", end);
  }

  /**
   * Returns the response, or a copy that reports its end if `onClose` was called for the request.
   */
  follow<R extends Response>(key: object, response: R): R | Response {
    // 101 switches protocols: the connection outlives the response.
    if (!this.#ends.has(key) || response.status < 200) return response;
    if (response.body === null) {
      this.end(key);
      return response;
    }
    return new Response(
      reporting(response.body, () => {
        this.end(key);
      }),
      response,
    );
  }

  /** Reports that there will be no response, because the handler failed. */
  end(key: object): void {
    for (const end of this.#ends.get(key) ?? []) end();
  }
}

function reporting(
  body: ReadableStream<Uint8Array>,
  ended: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Also while nobody reads.
        reader.closed.catch((error: unknown) => {
          ended();
          controller.error(error);
        });
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) {
          controller.enqueue(value);
          return;
        }
        ended();
        controller.close();
      },
      cancel(reason) {
        ended();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
