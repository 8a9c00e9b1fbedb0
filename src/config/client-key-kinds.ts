import {
  FORMS,
  FORMS_IN_CODE,
  KeyProblem,
  readCertificate,
  readKeys,
  type Certificate,
  type ClientKey,
} from "../keys/client-keys.js";
import type { SettingKind } from "./setting-kinds.js";

/** The keys of the client. The first one signs. */
export const privateKeys: SettingKind<readonly ClientKey[]> = {
  type: "private key",
  allowed: FORMS,
  allowedInCode: FORMS_IN_CODE,
  fromText: (text) => usable(() => readKeys(text)),
  fromCode: (value) => usable(() => readKeys(value)),
};

/** Returns what is wrong with a value that is no key; undefined if the allowed forms say it. */
export function keyMistake(value: unknown): string | undefined {
  return mistakeOf(() => readKeys(value));
}

export const certificate: SettingKind<Certificate> = {
  type: "certificate",
  allowed: "a certificate as PEM, or `file:` and its path",
  fromText: (text) => usable(() => readCertificate(text)),
  fromCode: (value) =>
    typeof value === "string" ? usable(() => readCertificate(value)) : undefined,
};

export function certificateMistake(value: unknown): string | undefined {
  return typeof value === "string" ? mistakeOf(() => readCertificate(value)) : undefined;
}

function usable<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function mistakeOf(read: () => unknown): string | undefined {
  try {
    read();
  } catch (error) {
    if (error instanceof KeyProblem) return error.message;
  }
  return undefined;
}
