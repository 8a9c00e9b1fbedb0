import { randomBytes } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { Grants, type Approval, type KeptGrants } from "../../testing/provider/grants.js";
import { ProviderSessions, type KeptSessions } from "../../testing/provider/provider-sessions.js";
import { SigningKeys } from "../../testing/provider/signing-keys.js";

/** The state that a restarted provider needs to continue. */
export interface ProviderState {
  /** For the application's `SECRET_KEY`. */
  readonly secretKey: string;
  readonly clientSecret: string;
  readonly keys: SigningKeys;
  readonly grants: Grants;
  readonly sessions: ProviderSessions;
}

/** Says what is wrong with the file and what to do. */
export class StateFileError extends Error {}

const FORMAT = "idpauth provider 1";

export async function newState(): Promise<ProviderState> {
  const random = () => randomBytes(32).toString("base64url");
  const [keys, grants, sessions] = [
    await SigningKeys.create(),
    new Grants(),
    new ProviderSessions(),
  ];
  return { secretKey: random(), clientSecret: random(), keys, grants, sessions };
}

/**
 * @returns undefined when there is no such file
 * @throws StateFileError the file cannot be used
 */
export function readState(file: string): ProviderState | undefined {
  let text: string;
  try {
    const status = lstatSync(file);
    if (!status.isFile()) throw unusable(file, "isn't a regular file");
    if (process.getuid !== undefined && status.uid !== process.getuid())
      throw unusable(file, "belongs to another user");
    // The file contains secrets.
    if (process.getuid !== undefined && (status.mode & 0o077) !== 0) chmodSync(file, 0o600);
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof StateFileError) throw error;
    if (codeOf(error) === "ENOENT") return undefined;
    throw unusable(file, `can't be read (${codeOf(error)})`);
  }
  try {
    return stateIn(JSON.parse(text));
  } catch {
    // The error's message may repeat secrets from the file.
    throw unusable(file, "isn't a readable state file of `idpauth provider`");
  }
}

/**
 * Replaces the file as a whole, readable by this user alone.
 *
 * @throws StateFileError
 */
export function writeState(
  file: string,
  { secretKey, clientSecret, keys, grants, sessions }: ProviderState,
): void {
  const kept = { signingKey: keys.kept(), ...grants.kept(), sessions: sessions.kept() };
  const text = JSON.stringify({ format: FORMAT, secretKey, clientSecret, ...kept });
  const next = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(next, `${text}\n`, { flag: "wx", mode: 0o600 });
    renameSync(next, file);
  } catch (error) {
    rmSync(next, { force: true });
    throw unusable(file, `can't be written (${codeOf(error)})`);
  }
}

function unusable(file: string, what: string): StateFileError {
  return new StateFileError(
    `The file ${file} ${what}. Name another file with --data=FILE, or delete this file. After that, users must sign in again, and ` +
      "the application needs the new settings.",
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}

/** @throws Error the value is not a state of this command */
function stateIn(value: unknown): ProviderState {
  const state = record(value);
  if (state["format"] !== FORMAT) throw new Error("another format");
  const key = record(state["signingKey"]);
  return {
    secretKey: secret(state["secretKey"]),
    clientSecret: secret(state["clientSecret"]),
    keys: SigningKeys.from({ kid: text(key["kid"]), pem: text(key["pem"]) }),
    grants: Grants.from(grantsIn(state)),
    sessions: ProviderSessions.from(sessionsIn(state)),
  };
}

/** Files of earlier versions have no sessions. */
function sessionsIn({ sessions = [] }: Readonly<Record<string, unknown>>): KeptSessions[] {
  return list(sessions).map(({ sub, at, sids }) => {
    if (!Array.isArray(sids)) throw new Error("no list");
    return { sub: text(sub), at: number(at), sids: sids.map(text) };
  });
}

function grantsIn(state: Readonly<Record<string, unknown>>): KeptGrants {
  return {
    approvals: list(state["approvals"]).map(approvalIn),
    refreshTokens: list(state["refreshTokens"]).map((one) => ({
      token: text(one["token"]),
      family: number(one["family"]),
      issuedAt: number(one["issuedAt"]),
      usedAt: one["usedAt"] === undefined ? undefined : number(one["usedAt"]),
    })),
    accessTokens: list(state["accessTokens"]).map((one) => ({
      token: text(one["token"]),
      family: number(one["family"]),
      expiresAt: number(one["expiresAt"]),
    })),
  };
}

function approvalIn(one: Readonly<Record<string, unknown>>): Approval {
  const person = record(one["person"]);
  text(person["sub"]);
  // Nonce and challenge belong to the code, which is not kept.
  return {
    person,
    scope: text(one["scope"]),
    redirectUri: text(one["redirectUri"]),
    nonce: undefined,
    challenge: undefined,
    // Absent in files of earlier versions.
    sid: one["sid"] === undefined ? undefined : text(one["sid"]),
    authentication: one["authentication"] === undefined ? {} : record(one["authentication"]),
  };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("no object");
  // Without a prototype, so that the code reads only members of the file.
  return Object.assign(Object.create(null) as Record<string, unknown>, value);
}

function list(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) throw new Error("no list");
  return value.map(record);
}

function text(value: unknown): string {
  if (typeof value !== "string") throw new Error("no text");
  return value;
}

/** Returns a secret. It goes into `.env` files, so it has no character that needs quotes there. */
function secret(value: unknown): string {
  if (!/^[\w-]{43}$/.test(text(value))) throw new Error("no secret of this command");
  return text(value);
}

function number(value: unknown): number {
  if (typeof value !== "number") throw new Error("no number");
  return value;
}
