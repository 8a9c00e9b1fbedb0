import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createIdpAuth, type IdpAuth } from "../../src/adapter.js";
import type { ProviderSourceOptions } from "../../src/config/provider-source.js";
import {
  providerSource,
  type IdpAuthOptions,
  type IdpRequest,
  type SessionEndedError,
  type SourcedProviderOptions,
} from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { settled } from "../../src/testing/settled.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication, TestUser, type Application } from "../support/application.js";
import { optionsFor } from "../support/options-for.js";
import { whileTimePasses } from "../support/while-time-passes.js";

const MALLORY = { sub: "ada-1815", email: "ada@acme.example", name: "Mallory" };
const NO_PROVIDER = { issuer: undefined, clientId: undefined, clientSecret: undefined };
const HOUR = 3_600_000;

let clock: TestClock;
let application: Application;
/** The provider of acme, whom the others attack. */
let acme: TestProvider;
/** A provider that its customer runs, with keys of its own. */
let hostile: TestProvider;
let found: Record<string, SourcedProviderOptions | undefined>;
let auth: IdpAuth<IdpRequest>;
let user: TestUser;

const clientOf = ({ issuer, clientId, clientSecret }: TestProvider) => ({
  issuer,
  clientId,
  clientSecret,
});
const sourceOf = (options: Partial<ProviderSourceOptions> = {}) =>
  providerSource({ find: (key) => found[key], internalHosts: ["127.0.0.1"], ...options });

function start(options: Partial<IdpAuthOptions> = {}): IdpAuth<IdpRequest> {
  return application.another({ ...NO_PROVIDER, providers: sourceOf(), ...options });
}

beforeEach(async () => {
  clock = new TestClock();
  application = await startApplication({ clock, store: memoryStore({ clock }) });
  acme = application.provider;
  hostile = await startTestProvider({ clock, person: MALLORY });
  found = { acme: clientOf(acme), mallory: clientOf(hostile) };
  auth = start();
  user = application.user().at(auth);
});
afterEach(async () => {
  await application.stop();
  await hostile.stop();
});

const signIn = (key: string, browser = user) => browser.signIn(`/idpauth/login/?provider=${key}`);
const sessionOf = (browser = user, at = auth) => at.getSession(browser.request("/"));
const guarded = async (rule: Parameters<typeof auth.guard>[1], browser = user, at = auth) =>
  (await at.guard(browser.request("/t/x", { headers: { accept: "application/json" } }), rule))
    ?.reply.status;
/** The endpoints that customers' tokens may have reached. */
const receivedBy = (provider: TestProvider) =>
  provider.requests.map(({ endpoint }) => endpoint).filter((endpoint) => endpoint !== "discovery");

/** Why a connection that stays open ends. */
const endOf = (signal: AbortSignal) =>
  new Promise<string>((resolve) => {
    signal.addEventListener("abort", () => {
      resolve((signal.reason as SessionEndedError).reason);
    });
  });
const turns = async () => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe("a key that another customer gets", () => {
  beforeEach(async () => {
    await signIn("acme");
    found["acme"] = clientOf(hostile);
    auth.forgetProvider("acme");
    hostile.requests.splice(0);
  });

  it("has none of the sessions of the one before", async () => {
    expect(await user.isSignedIn()).toBe(false);
    expect(await guarded({ provider: "acme" })).toBe(401);
    expect(await auth.getAccessToken(user.request("/"))).toBeNull();
    expect(receivedBy(hostile)).toEqual([]);
  });

  it("gets none of their tokens by a logout", async () => {
    auth = start({ logoutAtProvider: true, tokenRevokeOnLogout: true });
    user = user.at(auth);
    // The process knows the new provider.
    await signIn("acme", application.user().at(auth));
    hostile.requests.splice(0);
    const answer = await user.get("/idpauth/logout/", {
      headers: { "sec-fetch-site": "same-origin" },
    });
    await settled(auth);
    expect(receivedBy(hostile)).toEqual([]);
    expect(answer.location).not.toContain(hostile.issuer);
  });

  it("gets none of their tokens by a refresh that had begun", async () => {
    found["acme"] = clientOf(acme);
    auth.forgetProvider("acme");
    const request = user.request("/");
    expect(await auth.getSession(request)).not.toBeNull();
    // The request goes on with the session that it has read.
    found["acme"] = { ...clientOf(hostile), clientSecret: "Mallory's" };
    auth.forgetProvider("acme");
    await application.user().at(auth).get("/idpauth/login/?provider=acme");
    const rejected = (await auth.getCredentials(request))?.token;
    await auth.getAccessToken(request, { rejected }).catch(() => null);
    expect(receivedBy(hostile)).toEqual([]);
    expect((await auth.getCredentials(request))?.client_secret).toBe(acme.clientSecret);
  });
});

describe("a session that has to be refreshed", () => {
  it("never passes without its refresh, also if its provider is forgotten meanwhile", async () => {
    auth = start({ sessionMaxAge: 24 * 3_600, sessionIdleTimeout: null });
    user = user.at(auth);
    await signIn("acme");
    clock.advance(2 * HOUR);
    acme.revokeAll();
    let isFirst = true;
    const at = start({
      sessionMaxAge: 24 * 3_600,
      providers: sourceOf({
        find(key) {
          // A change of the customer's settings comes while the source is asked.
          if (isFirst) at.forgetProvider(key);
          isFirst = false;
          return found[key];
        },
      }),
    });
    expect(await sessionOf(user, at)).toBeNull();
  });
});

describe("a key of the application's own list", () => {
  const withStaff = () =>
    start({ providers: [{ acme: clientOf(hostile), staff: clientOf(acme) }, sourceOf()] });

  it("is none of the source, whose sessions of before don't pass its rules", async () => {
    await signIn("acme");
    // The application gives its own list the key that a customer had.
    auth = withStaff();
    user = user.at(auth);
    expect(await user.isSignedIn()).toBe(false);
    expect(await guarded({ provider: "acme" })).toBe(401);
  });

  it("is none of the source in any login", async () => {
    found["staff"] = clientOf(hostile);
    auth = withStaff();
    user = application.user().at(auth);
    const login = await user.get("/idpauth/login/?provider=staff");
    expect(login.location.startsWith(acme.issuer)).toBe(true);
    await signIn("staff");
    expect(await sessionOf()).toMatchObject({ provider: "staff", claims: { iss: acme.issuer } });
  });

  it("that moves to the source keeps none of its sessions", async () => {
    const before = start({ providers: [{ acme: clientOf(acme) }, sourceOf()] });
    await signIn("acme", (user = application.user().at(before)));
    expect(await user.at(auth).isSignedIn()).toBe(false);
    expect(await guarded({ provider: "acme" }, user.at(auth))).toBe(401);
    expect(await user.isSignedIn()).toBe(true);
  });
});

describe("a customer who types a path in the place of a key", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "idpauth-"));
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    writeFileSync(
      path.join(folder, "ours.pem"),
      privateKey.export({ type: "pkcs8", format: "pem" }),
    );
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it.each([
    ["a key of the application", (ours: string) => ({ privateKey: `file:${ours}` })],
    ["one in a list", (ours: string) => ({ privateKey: [`file:${ours}`] })],
    ["one in a list of lists", (ours: string) => ({ privateKey: [[` file:${ours}`]] })],
    ["a file that doesn't exist", (ours: string) => ({ privateKey: `file:${ours}.no.pem` })],
    ["a certificate", (ours: string) => ({ certificate: `file:${ours}`, clientSecret: "a" })],
  ])("has no file of this machine read: %s", async (_, keys) => {
    const ours = path.join(folder, "ours.pem");
    const typed = { issuer: acme.issuer, clientId: "typed", ...keys(ours) };
    found["mallory"] = typed as SourcedProviderOptions;
    expect((await user.get("/idpauth/login/?provider=mallory")).status).toBe(503);
    expect((await user.get("/idpauth/jwks/mallory")).status).toBe(503);
    const findings = await auth.checkProvider(typed as SourcedProviderOptions);
    expect(findings.map(({ code }) => code)).toEqual(["E006"]);
    expect(JSON.stringify([findings, application.log])).not.toMatch(/ours\.pem|ENOENT/);
  });
});

describe("with the framework's own sessions", () => {
  type Data = Record<string, unknown>;
  const stored = new Map<string, Data>();
  let count = 0;

  /** The middleware's session of one browser, whose id is its cookie. */
  function sessionIn(cookies: Map<string, string>) {
    const data = () => stored.get(cookies.get("sid") ?? "") ?? {};
    const put = (keys: Data) => stored.set(cookies.get("sid") ?? "", { ...data(), ...keys });
    return {
      get id() {
        return cookies.get("sid") ?? "";
      },
      get data() {
        return data();
      },
      load: async () => Promise.resolve(stored.get(cookies.get("sid") ?? "")),
      save: async (keys: Data) => Promise.resolve(void put(keys)),
      async regenerate(keys: Data, keeps: boolean) {
        const before = keeps ? data() : {};
        await this.destroy();
        stored.set(this.id, { ...before, ...keys });
      },
      async destroy() {
        stored.delete(this.id);
        cookies.set("sid", String((count += 1)));
        return Promise.resolve();
      },
    };
  }
  function browserAt(): { auth: IdpAuth<IdpRequest>; browser: TestUser } {
    const cookies = new Map([["sid", String((count += 1))]]);
    const own = createIdpAuth(
      {
        ...optionsFor(acme),
        ...NO_PROVIDER,
        ...{ providers: sourceOf(), session: "host", clock, log: false },
      },
      { name: "plain", request: (raw: IdpRequest) => raw, session: () => sessionIn(cookies) },
    );
    return { auth: own, browser: new TestUser(own, acme, clock) };
  }

  it("users of a removed provider can sign in at another one", async () => {
    const { auth: own, browser } = browserAt();
    await signIn("acme", browser);
    expect((await sessionOf(browser, own))?.provider).toBe("acme");
    delete found["acme"];
    own.forgetProvider("acme");
    expect(await browser.isSignedIn()).toBe(false);
    await signIn("mallory", browser);
    const session = await sessionOf(browser, own);
    expect(session).toMatchObject({ provider: "mallory", claims: { iss: hostile.issuer } });
  });

  it("the event streams of a removed provider's users end", async () => {
    const { auth: own, browser } = browserAt();
    await signIn("acme", browser);
    const ended = endOf(own.whenEnded(browser.request("/")));
    await whileTimePasses(clock, turns(), 1_000);
    delete found["acme"];
    own.forgetProvider("acme");
    expect(await whileTimePasses(clock, ended, 1_000)).toBe("provider_removed");
  });
});

describe("event streams", () => {
  it("of a removed provider's users end, and those of others go on", async () => {
    await signIn("acme");
    const other = application.user().at(auth);
    await signIn("mallory", other);
    const ended = endOf(auth.whenEnded(user.request("/")));
    const others = auth.whenEnded(other.request("/"));
    await whileTimePasses(clock, turns(), 1_000);
    delete found["acme"];
    auth.forgetProvider("acme");
    expect(await whileTimePasses(clock, ended, 1_000)).toBe("provider_removed");
    expect(others.aborted).toBe(false);
  });
});
