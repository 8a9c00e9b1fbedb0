/**
 * Returns a stream of the same bytes that can end in order before its source, so that the browser
 * sees a whole response.
 *
 * @param endsBy gets the function that ends it, and cancels the source
 */
export function endable(
  source: ReadableStream<Uint8Array>,
  endsBy: (end: () => void) => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let isEnded = false;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        endsBy(() => {
          isEnded = true;
          controller.close();
          // It may have failed itself.
          reader.cancel().catch(() => undefined);
        });
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (isEnded) return;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
