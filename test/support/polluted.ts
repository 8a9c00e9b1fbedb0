/**
 * Runs `work` while `Object.prototype` has these keys, as after a prototype pollution in another
 * package of the application. Keys are as an attacker's assignment leaves them: writable and
 * enumerable.
 */
export async function polluted<Result>(
  keys: Readonly<Record<string, unknown>>,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const prototype = Object.prototype as unknown as Record<string, unknown>;
  const taken = Object.keys(keys).filter((key) => Object.hasOwn(prototype, key));
  if (taken.length > 0) throw new Error(`Object.prototype has ${taken.join(", ")} already.`);
  try {
    Object.assign(prototype, keys);
    return await work();
  } finally {
    for (const key of Object.keys(keys)) Reflect.deleteProperty(prototype, key);
  }
}
