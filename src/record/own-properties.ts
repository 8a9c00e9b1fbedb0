import { deepFreeze, isObject } from "./json.js";
import { RECORD_VERSION, type SessionRecord } from "./record.js";

/** A record whose values have not been validated yet. */
export type UnreadRecord = { readonly [Key in keyof Required<SessionRecord>]?: unknown };

/**
 * Returns a copy of the record in which every read finds own properties only. If another package lets a request write to
 * `Object.prototype`, a missing key must not read as that value. Sessions return and store only such copies.
 *
 * The eight keys are always present, so a copy made with a spread is safe too. The objects in the record have no prototype.
 */
export function withoutInherited<Read extends UnreadRecord>(record: Read): Read;
export function withoutInherited(record: UnreadRecord): UnreadRecord {
  const own = ownProperties(record);
  return ownProperties({
    credentials: ownProperties(own.credentials),
    id_info: ownProperties(own.id_info),
    oauth_state: own.oauth_state,
    final_redirect: own.final_redirect,
    debug: own.debug,
    idp_login_at: own.idp_login_at,
    idp_last_active: own.idp_last_active,
    idp_state: stateWithoutInherited(own.idp_state),
  });
}

function stateWithoutInherited(value: unknown): unknown {
  if (!isObject(value)) return value;
  const state = ownProperties(value);
  const { logins, lease } = state;
  return ownProperties({
    ...state,
    ...(logins !== undefined && { logins: Array.isArray(logins) ? logins.map(ownProperties) : logins }),
    ...(lease !== undefined && { lease: ownProperties(lease) }),
  });
}

/** Returns an object with the same own properties and no prototype. Returns anything but an object as it is. */
export function ownProperties<Value>(value: Value): Value {
  if (!isObject(value) || Object.getPrototypeOf(value) === null) return value;
  return Object.assign(Object.create(null) as Value & object, value);
}

export const EMPTY_RECORD: SessionRecord = deepFreeze(withoutInherited({ idp_state: { v: RECORD_VERSION } }));
