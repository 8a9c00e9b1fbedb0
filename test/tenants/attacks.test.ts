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

describe("[TEN-2] a key that another customer gets", () => {
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

  it("a customer's tokens can't be bound to a key, which the framework would store in the clear", async () => {
    const { browser } = browserAt();
    found = { ...found, acme: { ...found["acme"], dpop: true } as (typeof found)[string] };
    const answer = await browser.get("/idpauth/login/?provider=acme");
    expect(answer.status).toBe(503);
    expect(acme.requestsTo("authorize")).toEqual([]);
  });

  it("users can sign out while the source fails", async () => {
    const { auth: own, browser } = browserAt();
    await signIn("acme", browser);
    const before = found;
    found = new Proxy(
      {},
      {
        get() {
          throw new Error("The database is down.");
        },
      },
    );
    own.forgetProvider("acme");
    expect((await browser.get("/idpauth/session")).status).toBe(503);
    const answer = await browser.get("/idpauth/logout/", {
      headers: { "sec-fetch-site": "same-origin" },
    });
    expect(answer.status).toBe(302);
    found = before;
    expect(await browser.isSignedIn()).toBe(false);
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

describe("[TEN-3] logouts by a customer's provider", () => {
  const post = (key: string, token: string) =>
    user.post(`/idpauth/backchannel-logout/${key}`, { logout_token: token });

  beforeEach(async () => {
    auth = start({ backchannelLogout: true, frontchannelLogout: true });
    user = user.at(auth);
    await signIn("acme");
  });

  it("end no session of the same subject elsewhere", async () => {
    const { sub, iss } = { ...(await sessionOf())?.claims };
    const token = hostile.logoutToken({ sub: String(sub) });
    expect((await post("acme", token)).status).toBe(400);
    expect((await post("mallory", token)).status).toBe(200);
    expect(await user.isSignedIn()).toBe(true);
    // The customer's own provider signs for an issuer that they have only entered.
    found["mallory"] = {
      ...clientOf(acme),
      providerMetadata: { jwks_uri: `${hostile.issuer}/jwks` },
    };
    auth.forgetProvider("mallory");
    const forged = hostile.logoutToken({ sub: String(sub), claims: { iss } });
    expect((await post("mallory", forged)).status).toBe(200);
    expect((await post("acme", forged)).status).toBe(400);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("end no session with the same `sid` elsewhere", async () => {
    const { sid } = { ...(await sessionOf())?.claims };
    const query = new URLSearchParams({ iss: hostile.issuer, sid: String(sid) }).toString();
    const frame = { headers: { "sec-fetch-dest": "iframe" } };
    expect((await user.get(`/idpauth/frontchannel-logout/mallory?${query}`, frame)).status).toBe(
      200,
    );
    expect((await user.get(`/idpauth/frontchannel-logout/acme?${query}`, frame)).status).toBe(400);
    expect(await user.isSignedIn()).toBe(true);
  });
});

describe("a user of one customer", () => {
  it("neither sees nor ends sessions of the same subject at another", async () => {
    await signIn("acme");
    const { sub = "", iss = "" } = { ...(await sessionOf())?.claims };
    const [session] = await auth.listSessions({ iss, sub, provider: "acme" });
    for (const subject of [
      { iss, sub, provider: "mallory" },
      { iss: hostile.issuer, sub, provider: "mallory" },
      { iss: hostile.issuer, sub, provider: "acme" },
    ]) {
      expect(await auth.listSessions(subject)).toEqual([]);
      expect(await auth.endSession(subject, session?.id ?? "")).toBe(false);
      expect(await auth.endAllSessions(subject)).toBe(0);
    }
    expect(await user.isSignedIn()).toBe(true);
  });

  it("passes no rule for another, whatever is required besides", async () => {
    found["mallory"] = { ...clientOf(hostile), name: "acme" };
    await signIn("mallory");
    const named = (key: string) => ({ provider: () => key });
    expect(await guarded(named("mallory"))).toBeUndefined();
    expect(await guarded(named("acme"))).toBe(401);
    expect(await guarded({ ...named("acme"), allow: () => true })).toBe(401);
    expect(await guarded({ ...named("acme"), maxAge: 300 })).toBe(401);
    expect(await guarded({ provider: ["acme", "other"] })).toBe(401);
    expect(await guarded({ provider: ["acme", "mallory"] })).toBeUndefined();
  });

  it("gets no token for an API of another", async () => {
    auth = start({
      providers: [{ staff: clientOf(acme) }, sourceOf()],
      apis: { ours: { url: "https://api.example/", provider: "staff" } },
    });
    user = user.at(auth);
    found["staff"] = clientOf(hostile);
    await signIn("mallory");
    await expect(auth.getAccessToken(user.request("/"), { api: "ours" })).rejects.toMatchObject({
      code: "api_provider_mismatch",
    });
  });
});

describe("a provider whose logins are silent", () => {
  it("leads to no loop of redirects if it needs the user", async () => {
    found["acme"] = { ...clientOf(acme), loginPrompt: "none" };
    const page = { headers: { accept: "text/html", "sec-fetch-mode": "navigate" } };
    const visit = async () =>
      (await auth.guard(user.request("/t/acme", page), { provider: () => "acme" }))?.reply;
    const first = (await visit())?.headers["Location"] ?? "";
    const callback = await user.get(await user.approve(first));
    expect(callback.location).toBe("http://app.example/t/acme");
    expect((await visit())?.headers["Location"]).toBe("/idpauth/?error=login_required");
  });
});

describe("a sign-in that a customer's provider refuses", () => {
  it("offers another one at that provider", async () => {
    const login = new URL((await user.get("/idpauth/login/?provider=mallory")).location);
    const query = new URLSearchParams({
      state: login.searchParams.get("state") ?? "",
      iss: hostile.issuer,
      error: "access_denied",
    });
    const refused = await user.get(`/idpauth/login-callback/mallory?${query.toString()}`);
    const page = await user.get(refused.location, { headers: { accept: "text/html" } });
    expect(page.body).toMatch(/href="[^"]*login\/\?provider=mallory/);
  });
});

describe("what a customer types", () => {
  const TEXT = '<img src=x onerror=alert(1)>"\r\nE999 forged\u001b[31m\u2028';

  it("breaks no page and no line of the log", async () => {
    auth = start({ sessionsPage: true });
    user = user.at(auth);
    found["mallory"] = { ...clientOf(hostile), name: '<img src=x onerror="alert(1)">' };
    await signIn("mallory");
    const html = { headers: { accept: "text/html" } };
    for (const target of ["/idpauth/sessions", "/idpauth/", "/idpauth/?error=x&provider=mallory"])
      expect((await user.get(target, html)).body).not.toContain("<img");
    for (const [key, typed] of Object.entries({
      b: { ...clientOf(hostile), issuer: `https://idp.example/${TEXT}` },
      c: { ...clientOf(hostile), [TEXT]: TEXT },
      d: { ...clientOf(hostile), discoveryUrl: TEXT, scope: TEXT, emailDomains: [TEXT] },
      e: { ...clientOf(hostile), providerMetadata: { [TEXT]: TEXT } },
      f: { ...clientOf(hostile), authorizationParams: { [TEXT]: TEXT } },
      g: { ...clientOf(hostile), privateKey: TEXT, icon: TEXT },
    })) {
      found[key] = typed as SourcedProviderOptions;
      const answer = await user.get(`/idpauth/login/?provider=${key}`, html);
      expect(answer.body ?? "").not.toContain("<img");
      await auth.checkProvider(typed as SourcedProviderOptions);
    }
    for (const { message } of application.log) expect(message).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  });

  it("leads no browser to an endpoint of the application, as if its own page had", async () => {
    const baseUrl = "https://app.example";
    auth = start({ baseUrl });
    user = application.user().at(auth);
    found["mallory"] = {
      ...clientOf(hostile),
      providerMetadata: { authorization_endpoint: `${baseUrl}/idpauth/logout/` },
    };
    const login = await user.get("/idpauth/login/?provider=mallory", { scheme: "https" });
    expect([login.status, login.location]).toEqual([503, ""]);
  });

  it.each(["javascript:alert(1)", "data:text/html,x", "http://idp.example/", "//idp.example/"])(
    "leads no browser to %s",
    async (address) => {
      for (const name of ["authorization_endpoint", "end_session_endpoint"]) {
        found["mallory"] = {
          ...clientOf(hostile),
          logoutAtProvider: true,
          providerMetadata: { [name]: address },
        };
        auth.forgetProvider("mallory");
        const login = await user.get("/idpauth/login/?provider=mallory");
        expect(login.status).toBe(503);
        expect(login.location).toBe("");
      }
    },
  );

  it("turns on no logout at the provider that the application hasn't turned on", async () => {
    found["mallory"] = { ...clientOf(hostile), logoutAtProvider: true };
    await signIn("mallory");
    const answer = await user.get("/idpauth/logout/", {
      headers: { "sec-fetch-site": "same-origin" },
    });
    expect(answer.location).toBe("/idpauth/");
    await settled(auth);
  });
});

describe("[TEN-5] a flood of keys that don't exist", () => {
  const strangers = (count: number, at = auth) =>
    Array.from({ length: count }, (_, index) =>
      application
        .user()
        .at(at)
        .get(`/idpauth/login/?provider=s${String(index)}`),
    );

  it("costs no signed-in user anything, while the source hangs for them", async () => {
    await signIn("acme");
    auth = start({
      providers: sourceOf({
        find: (key) =>
          key in found
            ? found[key]
            : new Promise((_, reject) => {
                // Long after the call has been given up.
                clock.timer(60_000, () => {
                  reject(new Error("late"));
                });
              }),
      }),
    });
    user = user.at(auth);
    const flood = strangers(500);
    await turns();
    // This process has never heard of acme.
    expect(await guarded({ provider: () => "acme" })).toBeUndefined();
    expect(await user.isSignedIn()).toBe(true);
    const answers = await whileTimePasses(clock, Promise.all(flood), 1_000);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    clock.advance(60_000);
    await turns();
  });

  it("writes no line for each of them where the source fails", async () => {
    const lines: string[] = [];
    const at = start({
      logEveryLine: false,
      log: ({ code, message }) => lines.push(`${code} ${message}`),
      providers: sourceOf({
        find: () => {
          throw new Error("SQLITE_BUSY");
        },
      }),
    });
    await Promise.all(strangers(300, at));
    expect(lines.length).toBeLessThan(50);
  });
});
