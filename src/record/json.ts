/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object and no list: of parsed JSON, a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Whether a value from code is written as `{ … }`, of any realm (a test runner has one of its own).
 * A `Date`, a `Map` or another class's instance isn't, and its properties don't say what it is.
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * The most levels of nesting that JSON from a provider or a store may have. Honest JSON has a
 * handful.
 */
export const MAX_LEVELS = 64;

/**
 * The most levels of a stored record: claims and the application's data lie at most two levels
 * below its top.
 */
export const MAX_RECORD_LEVELS = MAX_LEVELS + 2;

/**
 * Whether parsed JSON is nested deeper than {@link MAX_LEVELS}. Parsing such text is safe, but
 * writing, copying and freezing the value is recursive and would overflow the stack.
 */
export function isTooDeep(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isTooDeep(member, levels - 1));
}

/** Returns a copy that no one can change, of JSON that a record contains. */
export function frozenCopy<Value extends JsonObject>(value: Value): Value {
  return deepFreeze(structuredClone(value));
}

/** Freezes a value and everything in it, so that callers can share one copy. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}

/**
 * Returns an object with the same own properties and no prototype. Returns anything but an object
 * as it is.
 */
export function ownProperties<Value>(value: Value): Value {
  if (!isObject(value) || Object.getPrototypeOf(value) === null) return value;
  return Object.assign(Object.create(null) as Value & object, value);
}
