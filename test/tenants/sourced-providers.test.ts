import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { IdpAuth } from "../../src/adapter.js";
import type { ProviderSourceOptions } from "../../src/config/provider-source.js";
import {
  providerSource,
  type IdpAuthOptions,
  type IdpRequest,
  type SourcedProviderOptions,
} from "../../src/index.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { settled } from "../../src/testing/settled.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { startApplication, type Application, type TestUser } from "../support/application.js";

const GRACE = {
  sub: "grace-1906",
  email: "grace@globex.example",
  email_verified: true,
  name: "Grace Hopper",
};

let clock: TestClock;
let application: Application;
let globex: TestProvider;
/** What the source has, and the keys that it was asked for. */
let found: Record<string, SourcedProviderOptions | undefined>;
let asked: string[];
let auth: IdpAuth<IdpRequest>;
let user: TestUser;

const clientOf = ({ issuer, clientId, clientSecret }: TestProvider) => ({
  issuer,
  clientId,
  clientSecret,
});

function find(key: string): SourcedProviderOptions | undefined {
  asked.push(key);
  return found[key];
}

function process(
  options: Partial<IdpAuthOptions> = {},
  source: Partial<ProviderSourceOptions> = {},
): IdpAuth<IdpRequest> {
  const sourced = providerSource({ find, internalHosts: ["127.0.0.1"], ...source });
  return application.another({
    ...{ issuer: undefined, clientId: undefined, clientSecret: undefined },
    providers: sourced,
    ...options,
  });
}

beforeEach(async () => {
  clock = new TestClock();
  application = await startApplication({ clock, store: memoryStore({ clock }) });
  globex = await startTestProvider({ clock, person: GRACE });
  found = { acme: clientOf(application.provider), globex: clientOf(globex) };
  asked = [];
  auth = process();
  user = application.user().at(auth);
});
afterEach(async () => {
  await application.stop();
  await globex.stop();
});

const signIn = (key: string, browser = user) => browser.signIn(`/idpauth/login/?provider=${key}`);
const details = async (browser = user) =>
  (await browser.get("/idpauth/session?details=true")).json() as Record<string, unknown>;
const sessionOf = (browser: TestUser, at = auth) => at.getSession(browser.request("/"));
const statusOf = async (rule: Parameters<typeof auth.guard>[1], browser = user, at = auth) =>
  (await at.guard(browser.request("/t/x", { headers: { accept: "application/json" } }), rule))
    ?.reply.status;

describe("[TEN-1] a customer who enters another customer's issuer and client ID", () => {
  beforeEach(() => {
    // The provider behind it is whoever answers at these addresses.
    found["mallory"] = clientOf(application.provider);
  });

  it("signs nobody in as that customer's user", async () => {
    await signIn("mallory");
    const session = await sessionOf(user);
    expect(session).toMatchObject({ provider: "mallory", user: { provider: "mallory" } });
    expect(await statusOf({ provider: "acme" })).toBe(401);
    expect(await statusOf({ provider: "mallory" })).toBeUndefined();
  });

  it("has other accounts, and takes over no data of the same issuer's user", async () => {
    auth = process({ onSignIn: ({ data }) => ({ data: { seen: data?.["seen"] ?? "acme" } }) });
    user = application.user().at(auth);
    await signIn("acme");
    const { account } = (await details()) as { readonly account: unknown };
    found["mallory"] = clientOf(application.provider);
    auth = process({ onSignIn: ({ data }) => ({ data: { got: data } }) });
    user = user.at(auth);
    await signIn("mallory");
    expect((await sessionOf(user))?.data).toEqual({ got: null });
    expect((await details())["account"]).not.toBe(account);
  });

  it("ends no session of that customer's users, by no list and by no logout token", async () => {
    await signIn("acme");
    const other = application.user().at(auth);
    await signIn("mallory", other);
    const subject = { iss: application.provider.issuer, sub: "ada-1815" };
    const { sub } = (await sessionOf(user))?.claims ?? {};
    expect(await auth.endAllSessions({ ...subject, sub: sub ?? "", provider: "mallory" })).toBe(1);
    expect(await user.isSignedIn()).toBe(true);
    expect(await other.isSignedIn()).toBe(false);
    expect(await auth.listSessions({ ...subject, sub: sub ?? "", provider: "acme" })).toHaveLength(
      1,
    );
    await expect(auth.endAllSessions({ ...subject, sub: sub ?? "" })).rejects.toThrow(
      /Pass the user's `provider`/,
    );
  });

  it("signs nobody in as a user of the application's own list", async () => {
    auth = process({
      providers: [
        { staff: clientOf(application.provider) },
        providerSource({ find, internalHosts: ["127.0.0.1"] }),
      ],
    });
    user = application.user().at(auth);
    await signIn("mallory");
    expect(await statusOf({ provider: "staff" })).toBe(401);
    expect((await sessionOf(user))?.provider).toBe("mallory");
    const staff = application.user().at(auth);
    await signIn("staff", staff);
    expect((await sessionOf(staff))?.provider).toBe("staff");
    const { sub = "" } = (await sessionOf(staff))?.claims ?? {};
    const iss = application.provider.issuer;
    expect(await auth.listSessions({ iss, sub, provider: "staff" })).toHaveLength(1);
  });

  it("finishes no login that began at that customer's provider", async () => {
    const callback = await user.approve("/idpauth/login/?provider=acme");
    const answer = await user.get(
      callback.replace("login-callback/acme", "login-callback/mallory"),
    );
    expect(answer.status).toBe(400);
    expect(await user.isSignedIn()).toBe(false);
  });

  it("can't serve a document of their own under that issuer", async () => {
    found["mallory"] = {
      ...clientOf(application.provider),
      discoveryUrl: `${globex.issuer}/.well-known/openid-configuration`,
    };
    expect((await user.get("/idpauth/login/?provider=mallory")).status).toBe(503);
    expect(application.log.map(({ code }) => code)).toContain("E006");
  });
});

describe("records", () => {
  it("of the list alone have nothing of a source, so a fleet of both versions finds them", async () => {
    await application.user().signIn();
    const before = application.user();
    await before.signIn();
    const record = await application.auth.readSessionRecord(before.request("/"));
    expect(record).not.toHaveProperty("idp_state");
    // A process with a source and the same list reads them as before.
    const { issuer, clientId, clientSecret } = application.provider;
    const newer = application.another({
      ...{ issuer: undefined, clientId: undefined, clientSecret: undefined },
      providers: [
        { only: { issuer, clientId, clientSecret } },
        providerSource({ find, internalHosts: ["127.0.0.1"] }),
      ],
    });
    expect(await before.at(newer).isSignedIn()).toBe(true);
    expect((await sessionOf(before, newer))?.provider).toBe("only");
    expect(await before.isSignedIn()).toBe(true);
  });

  it("of a source belong to nobody in a process without one, and stay", async () => {
    await signIn("acme");
    const without = application.another();
    expect(await user.at(without).isSignedIn()).toBe(false);
    expect(await user.isSignedIn()).toBe(true);
  });
});

describe("[TEN-4] a provider that the source no longer has", () => {
  it("ends the session for a request alone: it goes on when it is found again", async () => {
    await signIn("acme");
    const before = found["acme"];
    found["acme"] = undefined;
    auth.forgetProvider("acme");
    expect(await user.isSignedIn()).toBe(false);
    expect(await details()).toMatchObject({ reason: "provider_removed" });
    expect(await statusOf({})).toBe(401);
    found["acme"] = before;
    clock.advance(10_000);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("ends it only in the process that has heard of it", async () => {
    await signIn("acme");
    const late = process();
    expect(await user.at(late).isSignedIn()).toBe(true);
    found["acme"] = undefined;
    auth.forgetProvider("acme");
    expect(await user.isSignedIn()).toBe(false);
    expect(await user.at(late).isSignedIn()).toBe(true);
    clock.advance(300_000);
    expect(await user.at(late).isSignedIn()).toBe(false);
  });

  it("with another client ID ends its sessions, as in the list", async () => {
    await signIn("acme");
    found["acme"] = { ...found["acme"], clientId: "another" };
    auth.forgetProvider("acme");
    expect(await user.isSignedIn()).toBe(false);
  });
});

describe("[TEN-4] a source that fails", () => {
  it("is an outage of its provider, never a sign-out", async () => {
    await signIn("acme");
    const broken = process(
      {},
      {
        find: () => {
          throw new Error("SQLITE_BUSY: a secret");
        },
      },
    );
    expect(await statusOf({}, user.at(broken), broken)).toBe(503);
    expect((await user.at(broken).get("/idpauth/session")).status).toBe(503);
    expect((await user.at(broken).get("/idpauth/login/?provider=globex")).status).toBe(503);
    expect((await user.at(broken).get("/idpauth/login-callback/globex?state=x")).status).toBe(503);
    expect(JSON.stringify(application.log)).not.toContain("a secret");
    expect(await user.isSignedIn()).toBe(true);
  });

  it("keeps nobody from signing out", async () => {
    await signIn("acme");
    const broken = process(
      {},
      {
        find: () => {
          throw new Error("SQLITE_BUSY");
        },
      },
    );
    const answer = await user.at(broken).get("/idpauth/logout/", {
      headers: { "sec-fetch-site": "same-origin", accept: "text/html" },
    });
    expect(answer.status).toBe(302);
    expect(await user.isSignedIn()).toBe(false);
  });

  it("that hangs gives 503 after five seconds", async () => {
    await signIn("acme");
    const hanging = process({}, { find: () => new Promise(() => undefined) });
    const answer = user.at(hanging).get("/idpauth/session");
    await clock.advanceAsync(6_000);
    expect((await answer).status).toBe(503);
  });
});

describe("a rule whose provider is a function of the request", () => {
  const rule = { provider: ({ target }: IdpRequest) => target.split("/")[2] };
  const at = (org: string, browser = user) =>
    auth.guard(
      browser.request(`/t/${org}`, {
        headers: { accept: "text/html", "sec-fetch-mode": "navigate" },
      }),
      rule,
    );

  it("lets the users of that provider pass", async () => {
    await signIn("acme");
    expect(await at("acme")).toBeUndefined();
  });

  it("sends others to a login at it", async () => {
    await signIn("globex");
    const blocked = await at("acme");
    expect(blocked?.reply.status).toBe(302);
    expect(blocked?.reply.headers["Location"]).toContain("provider=acme");
    const stranger = await at("acme", application.user().at(auth));
    expect(stranger?.reply.headers["Location"]).toContain("provider=acme");
  });

  it.each(["unknown", "Upper", "under_score", "a".repeat(64), "%2e%2e", ""])(
    "responds 404 to the key %j",
    async (key) => {
      expect((await at(key))?.reply.status).toBe(404);
      expect(asked.filter((one) => one !== "unknown")).toEqual([]);
    },
  );

  it("responds 404 where it names none, and 503 where it throws", async () => {
    expect(await statusOf({ provider: () => undefined })).toBe(404);
    expect(
      await statusOf({
        provider: () => {
          throw new TypeError("no params");
        },
      }),
    ).toBe(503);
    expect(await statusOf({ provider: async () => Promise.resolve("acme") })).toBe(401);
  });
});

describe("the source is asked", () => {
  it("once for requests at the same time, and again after `maxAge`", async () => {
    await Promise.all([1, 2, 3].map(() => user.get("/idpauth/login/?provider=acme")));
    expect(asked).toEqual(["acme"]);
    clock.advance(299_000);
    await user.get("/idpauth/login/?provider=acme");
    expect(asked).toEqual(["acme"]);
    clock.advance(1_000);
    await user.get("/idpauth/login/?provider=acme");
    expect(asked).toEqual(["acme", "acme"]);
  });

  it("about an unknown key once in ten seconds, and never about one of a wrong form", async () => {
    for (const key of ["nobody", "nobody", "NOBODY", "../x"])
      expect((await user.get(`/idpauth/login/?provider=${encodeURIComponent(key)}`)).status).toBe(
        400,
      );
    expect(asked).toEqual(["nobody"]);
    clock.advance(10_000);
    await user.get("/idpauth/login/?provider=nobody");
    expect(asked).toEqual(["nobody", "nobody"]);
  });

  it("keeps what it knows of a provider whose settings are the same", async () => {
    await signIn("acme");
    const documents = application.provider.requestsTo("discovery").length;
    clock.advance(300_000);
    await signIn("acme", application.user().at(auth));
    expect(application.provider.requestsTo("discovery")).toHaveLength(documents);
  });
});

describe("endpoints of a provider from a source", () => {
  it("exist for keys that it has, and what the application has not turned on is 404", async () => {
    expect((await user.get("/idpauth/login-callback/acme")).status).toBe(400);
    expect((await user.get("/idpauth/login-callback/nobody")).status).toBe(404);
    expect((await user.post("/idpauth/backchannel-logout/acme", {})).status).toBe(404);
    expect((await user.get("/idpauth/jwks/acme")).status).toBe(404);
  });

  it("end sessions by logout tokens of their own provider alone", async () => {
    auth = process({ backchannelLogout: true });
    user = application.user().at(auth);
    await signIn("acme");
    const token = application.provider.logoutToken({ sub: "ada-1815" });
    expect(
      (await user.post("/idpauth/backchannel-logout/globex", { logout_token: token })).status,
    ).toBe(400);
    expect(await user.isSignedIn()).toBe(true);
    expect(
      (await user.post("/idpauth/backchannel-logout/acme", { logout_token: token })).status,
    ).toBe(200);
    await settled(auth);
    expect(await user.isSignedIn()).toBe(false);
  });
});

describe("a login that names no provider", () => {
  it("asks for the work email address, whose domain leads to the provider", async () => {
    auth = process(
      {},
      {
        findByEmailDomain: (domain) => (domain === "globex.example" ? "globex" : undefined),
      },
    );
    user = application.user().at(auth);
    const page = await user.get("/idpauth/login/", { headers: { accept: "text/html" } });
    expect(page.status).toBe(200);
    expect(page.body).toContain('name="email"');
    const answer = await user.post(
      "/idpauth/login/",
      { email: "grace@Globex.example" },
      { headers: { "sec-fetch-site": "same-origin", accept: "text/html" } },
    );
    expect(answer.status).toBe(303);
    expect(answer.location).toContain("provider=globex");
    const login = await user.get(answer.location, { headers: { "sec-fetch-site": "same-origin" } });
    expect(new URL(login.location).searchParams.get("login_hint")).toBe("grace@Globex.example");
    const unknown = await user.post(
      "/idpauth/login/",
      { email: "eve@elsewhere.example" },
      { headers: { accept: "text/html" } },
    );
    expect(unknown.status).toBe(200);
    expect(unknown.body).toContain('role="alert"');
  });

  it("without `findByEmailDomain` is 400", async () => {
    expect((await user.get("/idpauth/login/")).status).toBe(400);
  });
});

describe("`emailDomains`", () => {
  it("leave only these domains' addresses verified", async () => {
    const verified = async (emailDomains: readonly string[]) => {
      found["globex"] = { ...clientOf(globex), emailDomains };
      auth.forgetProvider("globex");
      const browser = application.user().at(auth);
      await signIn("globex", browser);
      return (await sessionOf(browser))?.user.email_verified;
    };
    expect(await verified(["globex.example"])).toBe(true);
    expect(await verified(["acme.example"])).toBe(false);
  });
});

describe("a proxy from the environment", () => {
  it("is error E032 with a source, since it would resolve the names that customers enter", () => {
    const env = { NODE_USE_ENV_PROXY: "1", HTTPS_PROXY: "http://proxy.example:3128" };
    expect(() => process({ env }).start()).toThrow(/E032/);
  });
});

describe("`providerAddresses`", () => {
  it("are those that an administrator registers, at the customer's origin", () => {
    const listed = process({
      baseUrl: ["https://app.example", "https://*.app.example"],
      backchannelLogout: true,
    });
    const origin = "https://acme.app.example";
    expect(listed.providerAddresses("acme", { origin })).toEqual({
      redirectUri: `${origin}/idpauth/login-callback/acme`,
      loginUrl: `${origin}/idpauth/login/?provider=acme`,
      jwks: `${origin}/idpauth/jwks/acme`,
      backchannelLogout: `${origin}/idpauth/backchannel-logout/acme`,
    });
    for (const wrong of ["https://evil.example", "https://acme.app.example/", "acme"])
      expect(() => listed.providerAddresses("acme", { origin: wrong })).toThrow(TypeError);
    expect(() => listed.providerAddresses("acme")).toThrow(/pass `origin`/);
    expect(() => auth.providerAddresses("Acme", { origin })).toThrow(/63 lowercase/);
  });
});

describe("`internalHosts`", () => {
  it.each(["http://127.0.0.1:4000", "localhost/", "user@localhost", "", "LOCALHOST"])(
    "can't contain %j, which would match nothing",
    (host) => {
      expect(() => providerSource({ find, internalHosts: [host] })).toThrow(/internalHosts/);
    },
  );

  it.each(["localhost", "127.0.0.1:4000", "[::1]:4000", "op.internal:8443"])(
    "can contain %j",
    (host) => {
      expect(() => providerSource({ find, internalHosts: [host] })).not.toThrow();
    },
  );
});

describe("a page about a customer's wrong settings", () => {
  it.each([
    ["what `find` returns can't be used", { scope: ["profile"], userinfo: "never" }],
    ["the provider's addresses are refused", { issuer: "https://10.0.0.1" }],
  ])("sends users to their own administrator where %s", async (_why, wrong) => {
    found["acme"] = { ...clientOf(globex), ...(wrong as object) };
    const page = await user.get("/idpauth/login/?provider=acme", {
      headers: { accept: "text/html", "sec-fetch-mode": "navigate" },
    });
    expect(page.status).toBe(503);
    expect(page.body).toContain("Ask your organization&#39;s administrator");
    expect(page.body).not.toContain("10.0.0.1");
  });
});
