import { deepFreeze, isObject } from "./json.js";
import type { SessionRecord } from "./record.js";

/** The configured names of the record's three nameable keys. */
export interface KeyNames {
  readonly credentials: string;
  readonly oauth_state: string;
  readonly final_redirect: string;
}

/** The keys with fixed names. A nameable key must not take one of them. */
export const FIXED_KEYS = ["id_info", "debug", "idp_login_at", "idp_last_active", "idp_state"] as const;

/** The record as it is stored: ordinary objects, nameable keys under their configured names, no undefined values. */
export function storedForm(record: SessionRecord, names: KeyNames): Record<string, unknown> {
  const stored: Record<string, unknown> = {};
  const put = (key: string, value: unknown) => {
    if (value !== undefined) stored[key] = isObject(value) ? { ...value } : value;
  };
  put(names.credentials, record.credentials);
  put(names.oauth_state, record.oauth_state);
  put(names.final_redirect, record.final_redirect);
  for (const key of FIXED_KEYS) put(key, record[key]);
  return stored;
}

/** The stored form without the private key, frozen: the keys that the specification names. */
export function specifiedKeys(record: SessionRecord, names: KeyNames): Readonly<Record<string, unknown>> {
  const { idp_state: _private, ...specified } = storedForm(record, names);
  return deepFreeze(specified);
}
