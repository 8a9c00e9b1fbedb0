/**
 * The application's own JSON in a session: the check of its values, the changes to the record, and
 * whose sign-in keeps it.
 */
import { isSameUser, type IdentifiedUser } from "./identity.js";
import {
  isObject,
  isPlainObject,
  isTooDeep,
  MAX_LEVELS,
  ownProperties,
  type JsonObject,
} from "./json.js";
import { userIn, type SessionRecord } from "./record.js";

/**
 * Returns a copy of a value that JSON can represent exactly: plain objects, arrays, strings, finite
 * numbers, booleans and null. Members that are undefined are left out, as `JSON.stringify` does.
 *
 * @param name what the value is, for the message
 * @param limit bytes of the JSON text in UTF-8
 * @throws TypeError the value is no such object, is cyclic, is nested too deeply, has an accessor,
 *   or is too large
 */
export function jsonCopy(value: unknown, name: string, limit = Infinity): JsonObject {
  // An async function is a mistake, and its rejection must not end the process.
  if (value instanceof Promise) value.catch(() => undefined);
  if (!isPlainObject(value)) throw new TypeError(`${name} must be a plain object.`);
  const copy = copyOf(value, name, []) as JsonObject;
  if (limit !== Infinity) {
    const bytes = new TextEncoder().encode(JSON.stringify(copy)).length;
    if (bytes > limit)
      throw new TypeError(
        `${name} has ${String(bytes)} bytes as JSON. The limit is ${String(limit)} bytes.`,
      );
  }
  return copy;
}

/** @param parents the objects that contain the value */
function copyOf(value: unknown, path: string, parents: readonly unknown[]): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (parents.length === MAX_LEVELS || parents.includes(value))
    throw new TypeError(`${path} is nested too deeply, or contains itself.`);
  const within = [...parents, value];
  if (Array.isArray(value))
    return Array.from(value, (item, index) => copyOf(item, `${path}[${String(index)}]`, within));
  if (!isPlainObject(value))
    throw new TypeError(
      `${path} must be JSON: an object, a list, a string, a finite number, a boolean or null.`,
    );
  const copy: Record<string, unknown> = {};
  for (const [key, { value: member, get, enumerable }] of Object.entries(
    Object.getOwnPropertyDescriptors(value),
  )) {
    if (enumerable !== true) continue;
    if (get !== undefined || key === "__proto__")
      throw new TypeError(
        `${path} can't contain the property \`${key.slice(0, 100)}\` in this form.`,
      );
    if (member !== undefined) copy[key] = copyOf(member, `${path}.${key.slice(0, 100)}`, within);
  }
  return copy;
}

/** Whether a stored value can be the application's data. */
export function isApplicationData(value: unknown): value is JsonObject {
  return isObject(value) && !isTooDeep(value);
}

/**
 * Returns the newest data with the top-level keys that the application changed between reading and
 * returning its data. A key that it removed is undefined.
 *
 * @returns also whether one of these keys had been changed to another value since the application
 *   read it
 */
export function mergedData(
  read: JsonObject,
  returned: JsonObject,
  newest: JsonObject,
): { data: JsonObject; isOverwritten: boolean } {
  const [before, after, now] = [
    ownProperties(read),
    ownProperties(returned),
    ownProperties(newest),
  ];
  const isSame = (a: JsonObject, b: JsonObject, key: string) =>
    JSON.stringify(a[key]) === JSON.stringify(b[key]);
  const changed = Object.keys({ ...before, ...after }).filter((key) => !isSame(before, after, key));
  return {
    data: { ...now, ...Object.fromEntries(changed.map((key) => [key, after[key]])) },
    isOverwritten: changed.some((key) => !isSame(now, before, key) && !isSame(now, after, key)),
  };
}

/** The record with the application's data. */
export function withData(record: SessionRecord, data: JsonObject): SessionRecord {
  return { ...record, idp_state: { ...record.idp_state, data } };
}

/**
 * Whether what the application keeps in a session stays when this user signs in to it. Another user
 * must not get it.
 */
export function keepsData(record: SessionRecord | undefined, user: IdentifiedUser): boolean {
  return record !== undefined && isSameUser(userIn(record), user);
}

/** The application's data in a session of this user. Undefined: none, or it is another user's. */
export function dataOfSameUser(
  record: SessionRecord,
  user: IdentifiedUser,
): JsonObject | undefined {
  return keepsData(record, user) ? record.idp_state.data : undefined;
}

/** What the application's code decided about the tokens of a refresh. */
export interface Review {
  /** The output of the claims schema, and its version. Undefined: there is no schema. */
  readonly claims?: { readonly output: JsonObject; readonly version: string } | undefined;
  /** Returns the new data. Undefined: the data stays. */
  readonly changeData?: ((data: JsonObject) => JsonObject) | undefined;
}

/** The record after the application's code accepted it. */
export function withReview(record: SessionRecord, { claims, changeData }: Review): SessionRecord {
  // Another process's schema may have made the output for earlier claims.
  const {
    review_due: _due,
    lease: _lease,
    claims: _output,
    claims_version: _version,
    ...state
  } = record.idp_state;
  return {
    ...record,
    idp_state: {
      ...state,
      ...(claims && { claims: claims.output, claims_version: claims.version }),
      ...(changeData && { data: changeData(state.data ?? {}) }),
    },
  };
}
