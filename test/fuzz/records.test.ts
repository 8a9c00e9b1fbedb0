import fc from "fast-check";
import { afterAll, expect } from "vitest";
import { IdpAuthError } from "../../src/errors.js";
import { hasSubject, type IdInfo } from "../../src/record/identity.js";
import { parseRecord, storedForm } from "../../src/record/stored-form.js";
import { createIdpAuth } from "../../src/adapter.js";
import type { IdpRequest, LogEntry, SessionStore } from "../../src/index.js";
import { createSealer } from "../../src/sessions/seal.js";
import { newCookieValue, storeKeyOf } from "../../src/sessions/cookie.js";
import type { FrameworkSession } from "../../src/sessions/framework-session.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { TestUser } from "../support/application.js";
import { fuzz } from "./fuzz.js";
import {
  ACCESS_TOKEN,
  CLIENT_ID,
  CLIENT_SECRET,
  ISSUER,
  MemoryProvider,
  PERSON,
  REFRESH_TOKEN,
  SECRETS,
} from "./memory-provider.js";
import {
  byteEdit,
  DEEP,
  DEPTH,
  editedBytes,
  editedJson,
  jsonEdit,
  jsonMutation,
  jsonText,
  mutatedJson,
} from "./mutations.js";

const SECRET_KEY = "sk-5b0c1a77 a secret key of at least 32 bytes";
const NAMES = {
  credentials: "credentials",
  oauth_state: "oauth_state",
  final_redirect: "final_redirect",
};
const clock = new TestClock();
const NOW = Math.floor(clock.now() / 1000);
const idp = new MemoryProvider(clock);
const STATE = "s".repeat(43);

const RECORD = {
  credentials: {
    token: ACCESS_TOKEN,
    refresh_token: REFRESH_TOKEN,
    token_uri: `${ISSUER}/token`,
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    scopes: ["openid", "email"],
  },
  id_info: { ...PERSON, iss: ISSUER, aud: CLIENT_ID, azp: CLIENT_ID, iat: NOW, exp: NOW + 3600 },
  oauth_state: STATE,
  final_redirect: "/reports",
  debug: { scheme: "DEFAULT" },
  idp_login_at: NOW - 60,
  idp_last_active: NOW - 30,
  idp_state: {
    v: 1,
    logins: [
      { state: STATE, nonce: "n", verifier: "a-verifier-of-the-fuzzing-tests-".padEnd(43, "f"), final_redirect: "/reports", redirect_uri: "http://app.example/idpauth/login-callback", issuer: ISSUER, started_at: NOW - 5 },
    ],
    used: ["hash"],
    access_token_expires_at: NOW + 3600,
    issuer: ISSUER,
  },
}; // prettier-ignore

/** The record, with another value in its pending login. */
function withLogin(changed: Readonly<Record<string, unknown>>): typeof RECORD {
  const { idp_state: state } = RECORD;
  const logins = state.logins.map((login) => ({ ...login, ...changed }));
  return { ...RECORD, idp_state: { ...state, logins } };
}

fuzz({
  id: "FUZZ-4",
  target: "stored record",
  runs: 1_500,
  property: fc.property(jsonMutation, (mutation) => {
    const text = mutatedJson(RECORD, mutation);
    let stored: unknown;
    try {
      stored = JSON.parse(text);
    } catch {
      return;
    }
    const record = parseRecord(stored, NAMES);
    if (record === undefined) return;
    // What is read is a record: it can be written, and reads as the same.
    let written: string;
    try {
      written = JSON.stringify(storedForm(record, NAMES));
    } catch (error) {
      // Nested beyond what a stack holds; nothing that comes from a provider is, see the target
      // "provider answers".
      if (error instanceof RangeError) return;
      throw error;
    }
    expect(
      JSON.stringify(storedForm(parseRecord(JSON.parse(written), NAMES) ?? fail(), NAMES)),
    ).toBe(written);
  }),
});

function fail(): never {
  throw new Error("a record that was read cannot be read again");
}

/** A member of its own, or undefined. */
function member(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (
      typeof found !== "object" ||
      found === null ||
      Array.isArray(found) ||
      !Object.hasOwn(found, name)
    )
      return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

/**
 * What must be true of a record that counts as signed in without a refresh, written down a second
 * time: specification and decisions.
 */
function maySignIn(stored: unknown): boolean {
  const [token, client] = [
    member(stored, "credentials", "token"),
    member(stored, "credentials", "client_id"),
  ];
  const [issuer, expires] = [
    member(stored, "idp_state", "issuer"),
    member(stored, "id_info", "exp"),
  ];
  const isWithin = (name: string, limit: number) => {
    const stamp = member(stored, name);
    return (
      stamp === undefined ||
      (typeof stamp === "number" && stamp <= NOW + 300 && NOW - stamp <= limit)
    );
  };
  return (
    typeof token === "string" &&
    token !== "" &&
    client === CLIENT_ID &&
    (issuer === undefined || issuer === ISSUER) &&
    member(stored, "idp_state", "v") === 1 &&
    typeof expires === "number" &&
    expires > NOW &&
    isWithin("idp_login_at", common.sessionMaxAge) &&
    isWithin("idp_last_active", common.sessionIdleTimeout)
  );
}

/**
 * How many records of each target were signed in, or not: a run in which one never happens shows
 * nothing.
 */
const seen = { sealed: { in: 0, out: 0 }, host: { in: 0, out: 0 } };
afterAll(() => {
  for (const count of Object.values(seen))
    if (count.in + count.out >= 40) expect(Math.min(count.in, count.out)).toBeGreaterThan(5);
});

/** The callback of the record's own pending login succeeds, where the record still has it. */
const CALLBACK = `/idpauth/login-callback?state=${STATE}&code=c&iss=${encodeURIComponent(ISSUER)}`;
const TARGETS = ["/idpauth/session", "/idpauth/session?details=true", "/idpauth/", "/idpauth/debug", "/idpauth/login/", CALLBACK, "/idpauth/login-callback?state=x&code=c", "/idpauth/logout/?response=json"]; // prettier-ignore

/** Whether the changes have put a secret where none is looked for. */
function isMoved(stored: unknown): boolean {
  const { credentials, ...rest } = (stored ?? {}) as Record<string, unknown>;
  const {
    token: _token,
    refresh_token: _refresh,
    client_secret: _secret,
    ...others
  } = (credentials ?? {}) as Record<string, unknown>;
  let text: string;
  try {
    text = JSON.stringify([rest, others]);
  } catch {
    // Nested too deep to be looked through.
    return true;
  }
  return SECRETS.some((secret) => text.includes(secret));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Asks everything of a session whose record is this, and looks at what comes. */
async function askEverything(
  auth: ReturnType<typeof createIdpAuth<IdpRequest>>,
  user: () => TestUser,
  log: readonly LogEntry[],
  secrets: readonly string[],
): Promise<boolean> {
  const raw = () => user().request("/");
  // First of all, and alone: a refresh may mend what the record lacks.
  const isIn = await auth.checkIdpAuthentication(raw());
  const asked = await Promise.all([
    settled(() => auth.getCredentials(raw())),
    settled(() => auth.getSession(raw())),
    settled(() => auth.readSessionRecord(raw())),
    settled(() => auth.getAccessToken(raw())),
    settled(() => auth.checkIdpAuthentication(raw())),
    settled(() => auth.explainIdpAuthentication(raw())),
    settled(() => auth.guard(raw())),
  ]);
  if (isIn) {
    expect([asked[0] === null, asked[6] === undefined]).toEqual([false, true]);
    // Without a subject there is nobody whose session it is.
    const { id_info: claims } = (asked[2] ?? {}) as { readonly id_info?: IdInfo };
    if (asked[1] === null) expect(hasSubject(claims)).toBe(false);
  }
  for (const target of TARGETS) {
    idp.nonce = target === CALLBACK ? "n" : undefined;
    const answer = await user().get(target);
    expect([200, 302, 400, 503], target).toContain(answer.status);
    for (const line of [...Object.values(answer.headers), ...(answer.setCookies ?? [])])
      expect(line).toMatch(/^[\x20-\x7e]*$/);
    const { body = "" } = answer;
    for (const secret of secrets) expect(body, target).not.toContain(secret);
    if (answer.headers["Content-Type"]?.includes("json")) JSON.parse(body);
    else expect(body).not.toMatch(/<script>alert|javascript:alert\(1\)["']/);
    if (target === "/idpauth/session")
      expect((answer.json() as { authenticated: boolean }).authenticated || !isIn).toBe(true);
  }
  const said = JSON.stringify(log);
  for (const secret of secrets) expect(said).not.toContain(secret);
  return isIn;
}

async function settled<Answer>(question: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof IdpAuthError && error.status === 503) return undefined;
    throw error;
  }
}

const common = { env: {}, secretKey: SECRET_KEY, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, issuer: ISSUER, clock, fetch: idp.fetch, sessionMaxAge: 7200, sessionIdleTimeout: 600, debug: true }; // prettier-ignore
const sealer = createSealer(SECRET_KEY, []);

/** A store that keeps bytes, as every store outside the process does. */
function byteStore(): SessionStore {
  const store = memoryStore({ clock });
  Object.defineProperty(store, "inProcess", { value: false });
  return store;
}

fuzz({
  id: "FUZZ-5",
  target: "sealed record",
  runs: 120,
  kept: [
    {
      why: "a pending login whose redirect_uri is no URL was a TypeError at the callback",
      input: [JSON.stringify(withLogin({ redirect_uri: "no URL" })), []],
      mark: String.raw`\"redirect_uri\":\"no URL\"`,
    },
    {
      why: "an issuer that is an object without a text form threw when the session was written again",
      input: [JSON.stringify(withLogin({ issuer: { toString: null, valueOf: null } })), []],
      mark: String.raw`\"issuer\":{\"toString\":null,\"valueOf\":null}`,
    },
    {
      why: "nested beyond what a stack holds, it could not be written again",
      input: [jsonText({ ...RECORD, debug: DEEP }), []],
      mark: "[".repeat(DEPTH),
    },
  ],
  property: fc.asyncProperty(
    jsonMutation.map((mutation) => mutatedJson(RECORD, mutation)),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(byteEdit, { minLength: 1, maxLength: 3 }) },
    ),
    async (text, bytes) => {
      const log: LogEntry[] = [];
      const store = byteStore();
      const auth = createIdpAuth<IdpRequest>(
        { ...common, store, log: (entry) => log.push(entry) },
        { name: "plain", request: (raw) => raw },
      );
      const value = newCookieValue();
      const key = storeKeyOf(value);
      const sealed = sealer.seal(text, value, key);
      const data = editedBytes(sealed, bytes);
      await store.insert(key, { data, expiresAt: NOW + 86_400, subject: "somebody" });
      const user = () => {
        const own = new TestUser(auth, undefined as never, clock);
        own.cookies.set("idpauth", value);
        return own;
      };
      const isIn = await askEverything(
        auth,
        user,
        log,
        isMoved(parsed(text)) ? [SECRET_KEY] : [...SECRETS, SECRET_KEY],
      );
      seen.sealed[isIn ? "in" : "out"] += 1;
      if (isIn) expect(maySignIn(parsed(text))).toBe(true);
      if (text === JSON.stringify(RECORD) && bytes.length === 0) expect(isIn).toBe(true);
      // Not one changed bit opens.
      if (Buffer.compare(sealed, data) !== 0) expect(isIn).toBe(false);
    },
  ),
});

/**
 * Sessions of a host's own, as middleware keeps them: plain data that others may have written to,
 * stored as JSON.
 */
class FuzzedSession implements FrameworkSession {
  id = "the-session";
  data: Record<string, unknown>;
  /** The names of all keys that were ever written, and how often the session was emptied. */
  readonly written = new Set<string>();
  destroyed = 0;

  constructor(data: Record<string, unknown>) {
    this.data = data;
  }

  load(): Promise<Readonly<Record<string, unknown>> | undefined> {
    return Promise.resolve(structuredClone(this.data));
  }

  save(keys: Readonly<Record<string, unknown>>): Promise<void> {
    for (const name of Object.keys(keys)) this.written.add(name);
    this.data = JSON.parse(JSON.stringify({ ...this.data, ...keys })) as Record<string, unknown>;
    return Promise.resolve();
  }

  regenerate(keys: Readonly<Record<string, unknown>>, keepApplicationKeys: boolean): Promise<void> {
    this.id += "+";
    if (!keepApplicationKeys) this.data = {};
    return this.save(keys);
  }

  destroy(): Promise<void> {
    this.id += "-";
    this.destroyed += 1;
    this.data = {};
    return Promise.resolve();
  }
}

const HOST_RECORD = { ...RECORD, cart: [1] };
const hostDocument = fc
  .array(jsonEdit, { maxLength: 4 })
  .map((edits) => editedJson(HOST_RECORD, edits));

fuzz({
  id: "FUZZ-6",
  target: "record in a host's session",
  runs: 250,
  kept: [
    {
      why: "a control character in the page to come back to was a Location that no header may hold",
      input: [{ ...withLogin({ final_redirect: "/reports\u0001" }), final_redirect: "/\u0001" }],
      mark: String.raw`"final_redirect":"/reports\u0001"`,
    },
  ],
  property: fc.asyncProperty(hostDocument, async (data) => {
    const log: LogEntry[] = [];
    const before =
      typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
    const session = new FuzzedSession(structuredClone(before));
    const auth = createIdpAuth<IdpRequest>(
      { ...common, session: "host", log: (entry) => log.push(entry) },
      { name: "plain", request: (raw) => raw, session: () => session },
    );
    auth.start({ sessionMiddleware: "present" });
    const isIn = await askEverything(
      auth,
      () => new TestUser(auth, undefined as never, clock),
      log,
      isMoved(data) ? [SECRET_KEY] : [...SECRETS, SECRET_KEY],
    );
    seen.host[isIn ? "in" : "out"] += 1;
    if (isIn) expect(maySignIn(before)).toBe(true);
    if (JSON.stringify(data) === JSON.stringify(HOST_RECORD)) expect(isIn).toBe(true);
    // Nothing but the record's own keys was written, and the logout at the end has left nothing.
    const ours = [...Object.keys(RECORD), "idp_state"];
    expect([...session.written].filter((name) => !ours.includes(name))).toEqual([]);
    expect([session.destroyed, session.data]).toEqual([1, {}]);
  }),
});
