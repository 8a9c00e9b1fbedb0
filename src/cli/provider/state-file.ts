import { createPrivateKey, randomBytes, X509Certificate } from "node:crypto";
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
import { newKey, type KeyAndCertificate } from "../../testing/certificates/certificates.js";
import { Grants, type Approval, type KeptGrants } from "../../testing/provider/grants.js";
import { ProviderSessions, type KeptSessions } from "../../testing/provider/provider-sessions.js";
import { SigningKeys } from "../../testing/provider/signing-keys.js";
import { codeOf, StartError } from "./start-error.js";

/** What a restart of the command needs to continue. */
export interface KeptState {
  /** For the application's `SECRET_KEY`. */
  readonly secretKey: string;
  /** By the provider's key; the only provider's is empty. */
  readonly providers: Map<string, KeptProvider>;
  /** Who issues the certificates of the provider and its clients; undefined: nobody needed one. */
  authority?: KeyAndCertificate;
}

export interface KeptProvider {
  readonly clientSecret: string;
  /** The client's private key, as PEM, if it authenticates with one of ours. */
  readonly clientKey: string;
  /** Its certificate, as PEM; undefined: it needed none. */
  clientCertificate?: string;
  readonly keys: SigningKeys;
  readonly grants: Grants;
  readonly sessions: ProviderSessions;
}

/** The format of files with several providers; 1 had one, whose members were the file's own. */
const FORMAT = "idpauth provider 2";
const SINGLE_FORMAT = "idpauth provider 1";

/**
 * The file of a provider on this port, in the user's folder for state (XDG Base Directory
 * Specification; on Windows, LOCALAPPDATA).
 *
 * @param home the user's home folder
 */
export function defaultDataFile(
  port: number,
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): string {
  const named = [env["XDG_STATE_HOME"], env["LOCALAPPDATA"]].find(
    (folder) => folder !== undefined && path.isAbsolute(folder),
  );
  return path.join(named ?? path.join(home, ".local", "state"), "idpauth", `provider-${port}.json`);
}

export function newState(): KeptState {
  return { secretKey: randomSecret(), providers: new Map() };
}

/** Returns a provider's part of the state, which is new if there was none. */
export async function keptProvider(key = "", { providers }: KeptState): Promise<KeptProvider> {
  const kept = providers.get(key) ?? (await newProvider());
  providers.set(key, kept);
  return kept;
}

async function newProvider(): Promise<KeptProvider> {
  return {
    clientSecret: randomSecret(),
    clientKey: newKey(),
    keys: await SigningKeys.generate(),
    grants: new Grants(),
    sessions: new ProviderSessions(),
  };
}

function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * @returns undefined when there is no such file
 * @throws StartError the file cannot be used
 */
export function readState(file: string): KeptState | undefined {
  let text: string;
  let mode: number;
  try {
    const status = lstatSync(file);
    if (!status.isFile()) throw unusable(file, "isn't a regular file");
    if (process.getuid !== undefined && status.uid !== process.getuid())
      throw unusable(file, "belongs to another user");
    mode = status.mode;
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof StartError) throw error;
    if (codeOf(error) === "ENOENT") return undefined;
    throw unusable(file, `can't be read (${codeOf(error)})`);
  }
  const state = stateOf(file, text);
  // The file contains secrets. Any other file, which --data names by mistake, keeps its mode.
  if (process.getuid !== undefined && (mode & 0o077) !== 0) chmodSync(file, 0o600);
  return state;
}

function stateOf(file: string, text: string): KeptState {
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
 * @throws StartError
 */
export function writeState(file: string, { secretKey, providers, authority }: KeptState): void {
  const kept = [...providers].map(([key, provider]) => [key, plain(provider)]);
  const text = JSON.stringify({
    format: FORMAT,
    secretKey,
    providers: Object.fromEntries(kept) as Record<string, unknown>,
    authority,
  });
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

function unusable(file: string, what: string): StartError {
  return new StartError(
    `The file ${file} ${what}. Name another file with --data=FILE. If this command has created the file, you can also delete it: users must then sign in ` +
      "again, and the application needs the new settings.",
  );
}

function plain(kept: KeptProvider) {
  const { clientSecret, clientKey, clientCertificate, keys, grants, sessions } = kept;
  const tokens = { ...grants.kept(), sessions: sessions.kept() };
  return { clientSecret, clientKey, clientCertificate, signingKey: keys.kept(), ...tokens };
}

/** @throws Error the value is not a state of this command */
function stateIn(value: unknown): KeptState {
  const state = record(value);
  const secretKey = secret(state["secretKey"]);
  if (state["format"] === SINGLE_FORMAT)
    return { secretKey, providers: new Map([["", providerIn(state)]]) };
  if (state["format"] !== FORMAT) throw new Error("another format");
  const providers = Object.entries(record(state["providers"]));
  const authority = authorityIn(state["authority"]);
  return {
    secretKey,
    providers: new Map(providers.map(([key, one]) => [key, providerIn(record(one))])),
    ...(authority !== undefined && { authority }),
  };
}

function authorityIn(value: unknown): KeyAndCertificate | undefined {
  if (value === undefined) return undefined;
  const { cert, key } = record(value);
  createPrivateKey(text(key));
  return { cert: certificateIn(cert), key: text(key) };
}

/** @throws Error it is no certificate */
function certificateIn(value: unknown): string {
  return new X509Certificate(text(value)).toString();
}

function providerIn(state: Readonly<Record<string, unknown>>): KeptProvider {
  const key = record(state["signingKey"]);
  const { clientKey = newKey(), clientCertificate } = state;
  createPrivateKey(text(clientKey));
  return {
    clientSecret: secret(state["clientSecret"]),
    clientKey: text(clientKey),
    ...(clientCertificate !== undefined && { clientCertificate: certificateIn(clientCertificate) }),
    keys: SigningKeys.from({ kid: text(key["kid"]), pem: text(key["pem"]) }),
    grants: Grants.from(grantsIn(state)),
    sessions: ProviderSessions.from(sessionsIn(state)),
  };
}

/** Files of earlier versions have no sessions. */
function sessionsIn({ sessions = [] }: Readonly<Record<string, unknown>>): KeptSessions[] {
  return list(sessions).map(({ sub, at, sids }) => {
    return { sub: text(sub), at: number(at), sids: texts(sids) };
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
      // Absent in files of earlier versions.
      target: one["target"] === undefined ? {} : record(one["target"]),
      claims: one["claims"] === undefined ? {} : record(one["claims"]),
      expiresAt: number(one["expiresAt"]),
    })),
  };
}

function approvalIn(one: Readonly<Record<string, unknown>>): Approval {
  const person = record(one["person"]);
  text(person["sub"]);
  // Nonce, challenge and key belong to the code, which is not kept.
  return {
    person,
    scope: text(one["scope"]),
    redirectUri: text(one["redirectUri"]),
    nonce: undefined,
    challenge: undefined,
    dpopJkt: undefined,
    // Absent in files of earlier versions.
    sid: one["sid"] === undefined ? undefined : text(one["sid"]),
    authentication: one["authentication"] === undefined ? {} : record(one["authentication"]),
    authTime: one["authTime"] === undefined ? undefined : number(one["authTime"]),
    consented: one["consented"] === true,
    audience: one["audience"] === undefined ? [] : texts(one["audience"]),
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

function texts(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new Error("no list");
  return value.map(text);
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
