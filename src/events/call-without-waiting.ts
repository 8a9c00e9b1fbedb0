/** Calls a function of the application, which may be async, without waiting for it. Never throws. */
export function callWithoutWaiting(
  call: () => unknown,
  failed: (error: unknown) => void = () => undefined,
): void {
  try {
    const result = call();
    // `instanceof Promise` does not know promises of another realm, such as Node's own in Jest.
    if (result !== undefined) Promise.resolve(result).catch(failed);
  } catch (error) {
    failed(error);
  }
}
