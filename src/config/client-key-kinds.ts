import {
  readClientCertificate,
  readClientCertificateKey,
  type ClientCertificate,
  type ClientCertificateKey,
} from "../keys/client-certificate.js";
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
  ...textReaders(readCertificate),
};

export const certificateMistake = mistakeIn(readCertificate);

/** The certificate for TLS, and those of the authorities that issued it. */
export const clientCertificate: SettingKind<ClientCertificate> = {
  type: "certificate",
  allowed: "a certificate as PEM, with those of its authorities, or `file:` and its path",
  ...textReaders(readClientCertificate),
};
export const clientCertificateMistake = mistakeIn(readClientCertificate);

export const clientCertificateKey: SettingKind<ClientCertificateKey> = {
  type: "private key",
  allowed: "a private key as PEM, or `file:` and its path",
  ...textReaders(readClientCertificateKey),
};
export const clientCertificateKeyMistake = mistakeIn(readClientCertificateKey);

function textReaders<Value>(
  read: (text: string) => Value,
): Pick<SettingKind<Value>, "fromText" | "fromCode"> {
  return {
    fromText: (text) => usable(() => read(text)),
    fromCode: (value) => (typeof value === "string" ? usable(() => read(value)) : undefined),
  };
}

/** Returns what says what is wrong with a text; undefined if the allowed forms say it. */
function mistakeIn(read: (text: string) => unknown): (value: unknown) => string | undefined {
  return (value) => (typeof value === "string" ? mistakeOf(() => read(value)) : undefined);
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
