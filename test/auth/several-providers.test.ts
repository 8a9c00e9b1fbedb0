import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { IdpAuth } from "../../src/adapter.js";
import { ConfigurationError, type IdpAuthOptions, type IdpRequest } from "../../src/index.js";
import { readSettings } from "../../src/config/read-settings.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import {
  startApplication,
  type Answer,
  type Application,
  type TestUser,
} from "../support/application.js";
import { settled } from "../../src/testing/settled.js";

const GRACE = { sub: "grace-1906", email: "grace@example.com", name: "Grace Hopper" };
const HOUR = 3_600_000;

let application: Application;
let other: TestProvider;
let auth: IdpAuth<IdpRequest>;
let user: TestUser;

/** Two providers with the same client id and different users. */
beforeEach(async () => {
  const clock = new TestClock();
  application = await startApplication({ clock, store: memoryStore({ clock }) });
  other = await startTestProvider({ clock, person: GRACE });
  use({});
});
afterEach(async () => {
  await application.stop();
  await other.stop();
});

const clientOf = ({ issuer, clientId, clientSecret }: TestProvider) => ({
  issuer,
  clientId,
  clientSecret,
});
const staff = () => ({ name: "Example staff", ...clientOf(application.provider) });
const customers = () => ({ name: "Customer <account>", ...clientOf(other) });

function several(options: Partial<IdpAuthOptions> = {}): IdpAuth<IdpRequest> {
  const providers = { staff: staff(), customers: customers() };
  return application.another({
    issuer: undefined,
    clientId: undefined,
    clientSecret: undefined,
    providers,
    ...options,
  });
}

function use(options: Partial<IdpAuthOptions>): void {
  auth = several(options);
  user = application.user().at(auth);
}

const signIn = (key: string, browser = user) => browser.signIn(`/idpauth/login/?provider=${key}`);
const details = async (browser = user) =>
  (await browser.get("/idpauth/session?details=true")).json() as Record<string, unknown>;
const tokenRequests = () =>
  [application.provider, other].map((provider) => provider.requestsTo("token").length);
const hrefsIn = (page: Answer) =>
  [...(page.body ?? "").matchAll(/href="([^"]*login\/[^"]*)"/g)].map(([, href = ""]) =>
    href.replaceAll("&amp;", "&"),
  );

describe("a sign-in at one of several providers", () => {
  it("goes to that provider, comes back to its own path, and the session names it", async () => {
    const names: (string | undefined)[] = [];
    auth.on("login", ({ provider }) => names.push(provider));
    const { location } = await user.get("/idpauth/login/?provider=customers");
    expect(location.startsWith(other.issuer)).toBe(true);
    expect(new URL(location).searchParams.get("redirect_uri")).toBe(
      "http://app.example/idpauth/login-callback/customers",
    );
    expect((await signIn("customers")).status).toBe(302);
    expect(await auth.getSession(user.request("/"))).toMatchObject({
      provider: "customers",
      user: { id: GRACE.sub },
    });
    expect(await details()).toMatchObject({ authenticated: true, provider: "customers" });
    expect(tokenRequests()).toEqual([0, 1]);
    expect(names).toEqual(["customers"]);
  });

  it("shows the provider's name on the page of the user's sessions, and none if the application has one provider", async () => {
    use({ sessionsPage: true });
    await signIn("customers");
    const page = { headers: { accept: "text/html" } };
    expect((await user.get("/idpauth/sessions", page)).body).toContain(
      "<bdi>Customer &lt;account&gt;</bdi>",
    );
    use({ sessionsPage: true, providers: { customers: customers() } });
    await signIn("customers");
    expect((await user.get("/idpauth/sessions", page)).body).toMatch(
      /<h1>Your sessions<\/h1>\s*<p>/,
    );
  });

  it("refreshes and revokes at that provider only", async () => {
    await signIn("customers");
    application.clock.advance(2 * HOUR);
    expect(await auth.getCredentials(user.request("/"))).not.toBeNull();
    await user.get("/idpauth/logout/");
    await settled(auth);
    expect(tokenRequests()).toEqual([0, 2]);
    expect(
      [application.provider, other].map((provider) => provider.requestsTo("revoke").length),
    ).toEqual([0, 1]);
  });

  it("is named by the events of its end", async () => {
    use({ sessionMaxAge: 7_200 });
    const seen: (string | undefined)[] = [];
    for (const name of ["logout", "ended"] as const)
      auth.on(name, ({ provider }) => seen.push(`${name} ${String(provider)}`));
    await signIn("customers");
    await auth.endAllSessions({ iss: other.issuer, sub: GRACE.sub });
    await signIn("customers");
    application.clock.advance(3 * HOUR);
    expect(await auth.getSession(user.request("/"))).toBeNull();
    expect(seen).toEqual(["logout customers", "ended customers"]);
  });

  it("at another provider replaces the session, and its user gets nothing of the first: an email address is no identity", async () => {
    use({ onSignIn: ({ claims }) => ({ data: { secretOf: claims.sub } }) });
    await signIn("staff");
    const [first] = [await auth.getSession(user.request("/"))];
    await user.signIn("/idpauth/login/?provider=customers", {
      sub: "mallory",
      email: first?.user.email ?? "",
      email_verified: false,
    });
    const session = await auth.getSession(user.request("/"));
    expect(session).toMatchObject({ provider: "customers", data: { secretOf: "mallory" } });
    expect(
      (await auth.listSessions({ iss: application.provider.issuer, sub: first?.user.id ?? "" }))
        .length,
    ).toBe(0);
    expect((await auth.listSessions({ iss: other.issuer, sub: "mallory" })).length).toBe(1);
  });

  it("while the other one hangs, succeeds and refreshes", async () => {
    const patient = application.user().at(auth);
    await signIn("staff");
    await signIn("customers", patient);
    application.clock.advance(2 * HOUR);
    const hold = application.provider.hold("token");
    const stuck = Array.from({ length: 60 }, async () => {
      const browser = application.user().at(auth);
      return browser.get(await browser.approve("/idpauth/login/?provider=staff"));
    });
    const refresh = auth.getCredentials(user.request("/"));
    await hold.arrived;
    expect(await auth.getCredentials(patient.request("/"))).not.toBeNull();
    expect((await signIn("customers", application.user().at(auth))).status).toBe(302);
    hold.release();
    application.clock.advance(3_000);
    await Promise.allSettled([...stuck, refresh]);
  });
});

describe("a session that its provider doesn't renew", () => {
  const BAD_REQUEST = { kind: "status", status: 400, body: { error: "invalid_request" } } as const;

  it("offers the login at that provider, not at the default one", async () => {
    use({ defaultProvider: "staff" });
    await signIn("customers");
    application.clock.advance(2 * HOUR);
    other.fault("token", BAD_REQUEST);
    const page = user.request("/reports", {
      headers: { accept: "text/html", "sec-fetch-mode": "navigate" },
    });
    const loginUrlOf = (blocked: unknown) => (blocked as { readonly loginUrl: string }).loginUrl;
    const offered = new URL(loginUrlOf(await auth.guard(page)), "http://app.example");
    expect(Object.fromEntries(offered.searchParams)).toEqual({
      scheme: "PRESERVE_ORIGIN_QP",
      origin_url: "http://app.example/reports",
      provider: "customers",
    });
    const probe = await user.get("/idpauth/session");
    expect(probe.json()).toMatchObject({ login_url: "/idpauth/login/?provider=customers" });
    const ruled = await auth.guard(page, { provider: "staff" });
    expect(loginUrlOf(ruled)).toMatch(/provider=staff$/);
  });
});

describe("a response for another provider's path", () => {
  it("is refused, uses up the state, and no code is sent anywhere", async () => {
    const target = await user.approve("/idpauth/login/?provider=customers");
    const { status } = await user.get(
      target.replace("login-callback/customers", "login-callback/staff"),
    );
    expect(status).toBe(400);
    expect(tokenRequests()).toEqual([0, 0]);
    expect((await user.get(target)).status).toBe(400);
    expect(tokenRequests()).toEqual([0, 0]);
    expect(await user.isSignedIn()).toBe(false);
  });

  it("without a key is no endpoint", async () => {
    expect((await user.get("/idpauth/login-callback?state=a&code=b")).status).toBe(404);
  });
});

describe("a sign-in that the user refused", () => {
  const buttonOf = ({ body = "" }: { body?: string | undefined }) =>
    /class="button" href="([^"]*)"/.exec(body)?.[1]?.replaceAll("&amp;", "&");

  it("is tried again at the same provider, also if another one is the default", async () => {
    use({ defaultProvider: "staff" });
    const page = encodeURIComponent("http://app.example/reports");
    for (const query of [
      "provider=customers",
      `scheme=PRESERVE_ORIGIN_QP&origin_url=${page}&provider=customers`,
    ]) {
      const target = await user.approve(`/idpauth/login/?${query}`);
      const { location } = await user.get(target.replace(/code=[^&]*/, "error=access_denied"));
      expect(location).toBe("/idpauth/?error=access_denied&provider=customers");
      expect(buttonOf(await user.get(location))).toBe(`/idpauth/login/?${query}&cross_site=true`);
    }
  });

  it.each(["nobody", "__proto__", "", "<script>"])(
    "starts no login at %j, which the address of the page names",
    async (key) => {
      const page = await user.get(`/idpauth/?error=access_denied&provider=${key}`);
      expect(buttonOf(page)).toBe("/idpauth/login/?cross_site=true");
    },
  );
});

describe("a login that requests no provider", () => {
  it("shows a page with all providers, through which its accepted parameters survive", async () => {
    use({ loginParams: ["ui_locales"] });
    const origin = encodeURIComponent("http://app.example/reports?a=1&b=2");
    const query = `scheme=PRESERVE_ORIGIN_QP&origin_url=${origin}&max_age=60&acr_values=gold&select_account=true&ui_locales=de&login_hint=eve&evil=1`;
    const page = await user.get(`/idpauth/login/?${query}`, {
      headers: { accept: "text/html", "sec-fetch-site": "cross-site" },
    });
    expect([page.status, page.headers["Cache-Control"]]).toEqual([200, "no-store"]);
    // Its own login has to know that the choice came from here, without Sec-Fetch-Site.
    expect(page.body).toContain("Customer &lt;account&gt;");
    const [first = "", second = ""] = hrefsIn(page);
    expect(Object.fromEntries(new URL(second, "http://app.example").searchParams)).toEqual({
      provider: "customers",
      scheme: "PRESERVE_ORIGIN_QP",
      origin_url: "http://app.example/reports?a=1&b=2",
      select_account: "true",
      max_age: "60",
      acr_values: "gold",
      ui_locales: "de",
      cross_site: "true",
    });
    expect(new URL((await user.get(first)).location).searchParams.get("ui_locales")).toBe("de");
    expect(user.cookies.size).toBe(1);
  });

  it("keeps the popup", async () => {
    const popup = "http://app.example/idpauth/popup?attempt=0123456789abcdef";
    const query = new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: popup });
    const page = await user.get(`/idpauth/login/?${query.toString()}`, {
      headers: { accept: "text/html" },
    });
    const [first = ""] = hrefsIn(page);
    expect((await user.signIn(first)).location).toBe(popup);
  });

  it("with response=json gets 400 with the providers and their logins", async () => {
    const answer = await user.get("/idpauth/login/?response=json", {
      headers: { accept: "application/json" },
    });
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({
      code: "provider_required",
      providers: [
        {
          key: "staff",
          name: "Example staff",
          login_url: "/idpauth/login/?provider=staff&response=json",
        },
        {
          key: "customers",
          name: "Customer <account>",
          login_url: "/idpauth/login/?provider=customers&response=json",
        },
      ],
    });
  });

  it("goes to the default provider", async () => {
    use({ defaultProvider: "customers" });
    expect((await user.get("/idpauth/login/")).location.startsWith(other.issuer)).toBe(true);
  });

  it.each([
    "provider=partners",
    "provider=",
    "provider=staff&provider=customers",
    "provider=STAFF",
  ])("%s is 400 with the valid keys", async (query) => {
    const answer = await user.get(`/idpauth/login/?${query}`, {
      headers: { accept: "application/json" },
    });
    expect([answer.status, (answer.json() as { valid_options: unknown }).valid_options]).toEqual([
      400,
      { provider: ["staff", "customers"] },
    ]);
  });

  it("chooses by `iss`, and takes `target_link_uri` as the page to return to", async () => {
    const page = encodeURIComponent("http://app.example/reports");
    const answer = await user.signIn(
      `/idpauth/login/?iss=${encodeURIComponent(other.issuer)}&target_link_uri=${page}`,
    );
    expect([answer.location, (await details())["provider"]]).toEqual([
      "http://app.example/reports",
      "customers",
    ]);
    expect((await user.get("/idpauth/login/?iss=https%3A%2F%2Fevil.example")).status).toBe(400);
    use({
      providers: { a: clientOf(other), b: { ...clientOf(other), clientId: "b" }, c: staff() },
    });
    expect(
      hrefsIn(
        await user.get(`/idpauth/login/?iss=${encodeURIComponent(other.issuer)}`, {
          headers: { accept: "text/html" },
        }),
      ).length,
    ).toBe(2);
  });
});

describe("a guard that requires a provider", () => {
  const page = { headers: { accept: "text/html" } };
  const asked = (options: object = {}) =>
    auth.guard(user.request("/payroll", options), { provider: ["staff", "admins"] });

  beforeEach(() => {
    use({
      providers: {
        staff: staff(),
        admins: { ...staff(), clientId: "admins" },
        customers: customers(),
      },
    });
  });

  it("lets its users pass, and sends others to a login at the first", async () => {
    expect((await asked(page))?.reply.headers["Location"]).toMatch(/login\/\?.*provider=staff/);
    expect(JSON.parse(String((await asked())?.reply.body))).toMatchObject({
      authenticated: false,
      login_url: "/idpauth/login/?provider=staff",
    });
    await signIn("customers");
    expect((await asked(page))?.reply.headers["Location"]).toMatch(/login\/\?.*provider=staff/);
    const blocked = await asked();
    expect(blocked).toMatchObject({ kind: "stepUp", reply: { status: 401 } });
    expect(JSON.parse(String(blocked?.reply.body))).toMatchObject({
      authenticated: true,
      provider: "staff",
      login_url: "/idpauth/login/?provider=staff",
    });
    await signIn("staff");
    expect(await asked()).toBeUndefined();
  });

  it("with a key that doesn't exist is E027, before the start and after it", () => {
    const fresh = several();
    fresh.declareGuard({ provider: "partners" });
    expect(() => fresh.start()).toThrow(/E027[^]*partners[^]*staff, customers/);
    auth.start();
    expect(() => {
      auth.declareGuard({ provider: "partners" });
    }).toThrow(ConfigurationError);
  });

  it.each([[undefined], [[]], [[undefined]], [3], [""]])("refuses %j", (provider) => {
    expect(() => {
      auth.declareGuard({ provider } as never);
    }).toThrow(TypeError);
  });
});

describe("a change of the providers", () => {
  it("from one to several, or of a key, signs nobody out", async () => {
    const before = application.user();
    await before.signIn();
    expect(await details(before.at(auth))).toMatchObject({
      authenticated: true,
      provider: "staff",
    });
    expect(
      await details(
        before.at(several({ providers: { employees: staff(), customers: customers() } })),
      ),
    ).toMatchObject({
      authenticated: true,
      provider: "employees",
    });
    await signIn("staff");
    expect(await details(user.at(application.auth))).toMatchObject({ authenticated: true });
  });

  it("ends the sessions of a removed provider, whose tokens are sent nowhere", async () => {
    await signIn("customers");
    application.clock.advance(2 * HOUR);
    const without = user.at(several({ providers: { staff: staff() } }));
    expect(await details(without)).toMatchObject({
      authenticated: false,
      reason: "provider_removed",
    });
    await without.get("/idpauth/logout/");
    expect(tokenRequests()).toEqual([0, 1]);
    expect(
      [application.provider, other].map((provider) => provider.requestsTo("revoke").length),
    ).toEqual([0, 0]);
    expect(await details()).toMatchObject({ authenticated: false, reason: "no_credentials" });
  });

  it("reports the session of a removed provider once, by its own reason and with `ended`", async () => {
    await signIn("customers");
    const removed = several({ providers: { staff: staff() } });
    const seen: string[] = [];
    removed.on("ended", ({ reason }) => seen.push(`ended ${reason}`));
    removed.on("failure", ({ reason }) => seen.push(`failure ${reason}`));
    application.log.length = 0;
    for (let request = 0; request < 3; request += 1) await details(user.at(removed));
    expect(seen).toEqual(["ended provider_removed"]);
    const codes = application.log.map(({ code }) => code);
    expect(codes.filter((code) => code === "provider_removed")).toHaveLength(1);
    expect(codes).not.toContain("session_unreadable");
    // A process that knows the provider still has the session.
    expect(await details()).toMatchObject({ authenticated: true, provider: "customers" });
  });

  it("from a secret to a key, or to a new secret, gives the credentials of now", async () => {
    await signIn("customers");
    const secretOf = async (changes: object) => {
      const providers = { staff: staff(), customers: { ...customers(), ...changes } };
      const changed = several({ providers });
      return (await changed.getCredentials(user.at(changed).request("/")))?.client_secret;
    };
    expect(await secretOf({})).toBe(other.clientSecret);
    expect(await secretOf({ clientSecret: "the next secret" })).toBe("the next secret");
    const { privateKey } = generateKeyPairSync("ed25519");
    expect(await secretOf({ clientSecret: null, privateKey })).toBe("");
  });
});

describe("log lines of several providers", () => {
  const lines = (code: string) =>
    application.log
      .filter((line) => line.code === code)
      .map(({ message, details: { provider } = {} }) => [message, provider]);

  it.each(["callback_failed", "refresh_failed", "refresh_rejected", "backchannel_logout_failed"])(
    "%s names the provider in its message and its details",
    async (code) => {
      use({ backchannelLogout: true });
      if (code === "callback_failed") await user.get("/idpauth/login-callback/customers?state=a");
      if (code === "backchannel_logout_failed")
        await user.post("/idpauth/backchannel-logout/customers", { logout_token: "x" });
      if (code.startsWith("refresh")) {
        await signIn("customers");
        application.clock.advance(2 * HOUR);
        if (code === "refresh_failed") other.fault("token", { kind: "status", status: 503 });
        else other.revokeAll();
        await auth.getCredentials(user.request("/")).catch(() => undefined);
      }
      expect(lines(code)).toEqual([
        [expect.stringMatching(/^Provider customers: /) as unknown, "customers"],
      ]);
    },
  );

  it("provider_misconfigured names the variables that have an effect there", async () => {
    use({ providers: { staff: staff(), customers: { ...customers(), clientSecret: "wrong" } } });
    await user.get(await user.approve("/idpauth/login/?provider=customers"));
    const [[message, provider] = []] = lines("provider_misconfigured");
    expect(provider).toBe("customers");
    expect(message).toMatch(/^Provider customers: .*IDP_PROVIDER_CUSTOMERS_CLIENT_SECRET/);
    expect(message).not.toMatch(/\bIDP_CLIENT_/);
    expect(other.violations.splice(0)).toEqual([
      "token: invalid_client: the client secret is wrong",
    ]);
  });
});

describe("[BCP-20] a discovery document with an endpoint of another provider", () => {
  const misconfigured = () =>
    application.log
      .filter(({ code }) => code === "provider_misconfigured")
      .map(({ message }) => message);
  const statusAt = async (key: string) =>
    (await application.user().at(auth).get(`/idpauth/login/?provider=${key}`)).status;

  it.each([
    "token_endpoint",
    "authorization_endpoint",
    "jwks_uri",
    "userinfo_endpoint",
    "revocation_endpoint",
    "end_session_endpoint",
    "pushed_authorization_request_endpoint",
  ])("as its %s is provider_misconfigured, whichever was discovered first", async (name) => {
    other.discoveryDocument = (document) => ({
      ...document,
      [name]: `${application.provider.issuer}/token`,
    });
    for (const first of ["staff", "customers"]) {
      use({});
      application.log.length = 0;
      await statusAt(first);
      expect([await statusAt("staff"), await statusAt("customers")]).toEqual([302, 503]);
      expect(misconfigured()).toEqual([
        `Provider customers: The ${name} in the discovery document is an endpoint of the provider staff, so idpauth doesn't use this provider. If both have the same endpoint on purpose, set it in IDP_PROVIDER_CUSTOMERS_PROVIDER_METADATA.`,
      ]);
    }
  });

  it("breaks the provider whose origin it isn't, also if that one is configured first", async () => {
    application.provider.discoveryDocument = (document) => ({
      ...document,
      pushed_authorization_request_endpoint: `${other.issuer}/token/`,
    });
    await statusAt("staff");
    expect([await statusAt("customers"), await statusAt("staff")]).toEqual([302, 503]);
  });

  it("sends nothing of the client there, ends no session, and is over when the document is right", async () => {
    await signIn("customers");
    other.discoveryDocument = (document) => ({
      ...document,
      token_endpoint: `${application.provider.issuer}/token`,
    });
    use({});
    await statusAt("staff");
    const [before] = tokenRequests();
    application.clock.advance(2 * HOUR);
    const browser = user;
    await expect(auth.getCredentials(browser.request("/"))).resolves.toBeNull();
    expect(tokenRequests()[0]).toBe(before);
    expect(await statusAt("customers")).toBe(503);
    other.discoveryDocument = undefined;
    application.clock.advance(61_000);
    await statusAt("customers");
    await expect.poll(() => statusAt("customers")).toBe(302);
  });

  it("is allowed if the operator names the endpoint, or if both are one issuer", async () => {
    const shared = { revocation_endpoint: `${application.provider.issuer}/revoke` };
    use({ providers: { staff: staff(), customers: { ...customers(), providerMetadata: shared } } });
    expect([await statusAt("staff"), await statusAt("customers")]).toEqual([302, 302]);
    use({ providers: { staff: staff(), admins: { ...staff(), clientId: "admins" } } });
    expect([await statusAt("staff"), await statusAt("admins")]).toEqual([302, 302]);
  });
});

describe("the keys that several providers publish", () => {
  it("are at a path of each, with the keys of that one only", async () => {
    const keys = [
      generateKeyPairSync("ed25519").privateKey,
      generateKeyPairSync("ed25519").privateKey,
    ];
    const withKey = (provider: object, index: number) => ({
      ...provider,
      clientSecret: undefined,
      privateKey: keys[index] ?? null,
    });
    use({
      providers: { staff: withKey(staff(), 0), customers: withKey(customers(), 1) },
    });
    const published = async (key: string) =>
      ((await user.get(`/idpauth/jwks/${key}`)).json() as { keys: { x: string }[] }).keys.map(
        ({ x }) => x,
      );
    const publicPart = (index: number) => [
      createPublicKey(keys[index] as KeyObject).export({ format: "jwk" }).x,
    ];
    expect(await published("staff")).toEqual(publicPart(0));
    expect(await published("customers/")).toEqual(publicPart(1));
    expect((await user.get("/idpauth/jwks")).status).toBe(404);
  });
});

describe("a route with `maxAge`", () => {
  it("warns of Google only if Google's users may use it", () => {
    const google = { clientId: "g", clientSecret: "s", issuer: "https://accounts.google.com" };
    const warned = (provider?: string | string[]) => {
      const one = several({ providers: { google, staff: staff() } });
      one.declareGuard({ maxAge: 60, ...(provider !== undefined && { provider }) });
      one.declareGuard({ provider: "google" });
      return one.start().filter(({ code }) => code === "W016");
    };
    expect(warned("staff")).toEqual([]);
    for (const provider of [undefined, "google", ["staff", "google"]])
      expect(warned(provider)).toMatchObject([
        { message: expect.stringMatching(/^Provider google: /) as unknown },
      ]);
  });
});

describe("a logout by one of several providers", () => {
  const send = (key: string, token: string) =>
    user.post(`/idpauth/backchannel-logout/${key}`, { logout_token: token });

  it("ends its own sessions only, at its own path only", async () => {
    use({ backchannelLogout: true });
    const employee = application.user().at(auth);
    await signIn("staff", employee);
    await signIn("customers");
    const token = () => other.logoutToken({ sub: GRACE.sub });
    expect((await send("staff", token())).status).toBe(400);
    expect(
      (await send("customers", application.provider.logoutToken({ sub: GRACE.sub }))).status,
    ).toBe(400);
    expect(await user.isSignedIn()).toBe(true);
    expect((await send("customers", token())).status).toBe(200);
    expect([await user.isSignedIn(), await employee.isSignedIn()]).toEqual([false, true]);
  });

  it("exists for the providers that have it", async () => {
    use({ providers: { staff: { ...staff(), frontchannelLogout: true }, customers: customers() } });
    const frame = { headers: { "sec-fetch-dest": "iframe" } };
    expect((await user.get("/idpauth/frontchannel-logout/customers?sid=a", frame)).status).toBe(
      404,
    );
    const iss = (provider: TestProvider) => `sid=a&iss=${encodeURIComponent(provider.issuer)}`;
    expect(
      (await user.get(`/idpauth/frontchannel-logout/staff?${iss(application.provider)}`, frame))
        .status,
    ).toBe(200);
    expect((await user.get(`/idpauth/frontchannel-logout/staff?${iss(other)}`, frame)).status).toBe(
      400,
    );
  });
});

describe("the settings of several providers", () => {
  const ENV = {
    SECRET_KEY: "a secret key of at least 32 bytes",
    IDP_PROVIDERS: "staff, staff-eu",
    IDP_PROVIDER_STAFF_ISSUER: "https://staff.example",
    IDP_PROVIDER_STAFF_CLIENT_ID: "a",
    IDP_PROVIDER_STAFF_CLIENT_SECRET: "s",
    IDP_PROVIDER_STAFF_NAME: "Staff",
    IDP_PROVIDER_STAFF_EU_ISSUER: "https://eu.example",
    IDP_PROVIDER_STAFF_EU_CLIENT_ID: "a",
    IDP_PROVIDER_STAFF_EU_CLIENT_SECRET: "t",
    IDP_PROVIDER_STAFF_EU_SCOPE: "openid eu",
    SCOPE: "openid email",
  };
  const findings = (changes: Record<string, string | undefined>, options = {}) =>
    readSettings(options, { ...ENV, ...changes }).findings.filter(
      ({ code }) => code !== "W001" && code !== "W004",
    );

  it("come from variables with the provider's key, and from those without it where that is safe", () => {
    const { providers } = readSettings(
      { providers: { staff: { loginPrompt: "login" }, "staff-eu": {} } },
      ENV,
    );
    expect(
      providers.map(({ key, name, settings: own }) => [
        key,
        name,
        own.issuer,
        own.clientSecret,
        own.scope,
        own.loginPrompt,
      ]),
    ).toEqual([
      ["staff", "Staff", "https://staff.example", "s", ["openid", "email"], "login"],
      ["staff-eu", "staff-eu", "https://eu.example", "t", ["openid", "eu"], null],
    ]);
  });

  it("have an icon each, which is a path of the application", () => {
    const iconsOf = (changes: Record<string, string>, options = {}) =>
      readSettings(options, { ...ENV, ...changes }).providers.map(({ icon }) => icon);
    expect(iconsOf({ IDP_PROVIDER_STAFF_ICON: "/images/staff.svg?v=2" })).toEqual([
      "/images/staff.svg?v=2",
      undefined,
    ]);
    const inCode = { providers: { staff: {}, "staff-eu": { icon: "/eu.png" } } };
    expect(iconsOf({}, inCode)).toEqual([undefined, "/eu.png"]);
    for (const icon of [
      "https://cdn.example/staff.svg",
      "//cdn.example/staff.svg",
      "/\\cdn.example/staff.svg",
      "staff.svg",
      "javascript:alert(1)",
      "data:image/svg+xml,x",
      "/a b.svg",
      "/a\n.svg",
    ]) {
      const [finding, ...others] = findings({}, { providers: { staff: { icon }, "staff-eu": {} } });
      expect([finding?.code, others], icon).toEqual(["E006", []]);
      expect(finding?.message).toContain("IDP_PROVIDER_STAFF_ICON");
      expect(finding?.message).toContain("a path of the application");
    }
  });

  it("are never the common client, and never Google", () => {
    const common = {
      IDP_ISSUER: "https://staff.example",
      IDP_CLIENT_ID: "common",
      IDP_CLIENT_SECRET: "common secret",
    };
    const missing = {
      IDP_PROVIDER_STAFF_ISSUER: undefined,
      IDP_PROVIDER_STAFF_CLIENT_ID: "",
      IDP_PROVIDER_STAFF_CLIENT_SECRET: undefined,
    };
    const found = findings({ ...common, ...missing });
    expect(found.map(({ code, message }) => [code, message])).toEqual([
      [
        "W021",
        expect.stringContaining("IDP_CLIENT_ID (option clientId), IDP_CLIENT_SECRET") as unknown,
      ],
      [
        "E003",
        "Provider staff: IDP_PROVIDER_STAFF_ISSUER (option providers.staff.issuer) is missing.",
      ],
      [
        "E003",
        "Provider staff: IDP_PROVIDER_STAFF_CLIENT_ID (option providers.staff.clientId) and IDP_PROVIDER_STAFF_CLIENT_SECRET (option providers.staff.clientSecret) are missing, empty or blank.",
      ],
    ]);
    expect(JSON.stringify(found)).not.toContain("common secret");
  });

  it.each([
    [
      "two providers that are the same client",
      { IDP_PROVIDER_STAFF_EU_ISSUER: "https://staff.example" },
      "E028",
    ],
    ["a default that is no key", { IDP_DEFAULT_PROVIDER: "partners" }, "E027"],
    ["a key with a capital", { IDP_PROVIDERS: "Staff" }, "E006"],
    ["a key twice", { IDP_PROVIDERS: "staff staff" }, "E006"],
    ["a misspelt name", { IDP_PROVIDER_STAFF_ISUER: "https://x.example" }, "W014"],
    ["a name that no setting has", { IDP_PROVIDER_STAFF_COLOR: "red" }, "W014"],
    ["a setting that all providers share", { IDP_PROVIDER_STAFF_SESSION_MAX_AGE: "60" }, "W014"],
  ])("report %s", (_what, changes, code) => {
    expect(findings(changes).map((finding) => finding.code)).toEqual([code]);
  });

  it.each([[[]], [{}], ["staff"], [{ staff: "x" }], [{ a_b: {} }]])(
    "refuse %j in code",
    (providers) => {
      expect(findings({}, { providers })[0]).toMatchObject({ code: "E006" });
    },
  );

  it("report an unknown option of a provider with its key", () => {
    expect(findings({}, { providers: { staff: { clientID: "x" }, "staff-eu": {} } })).toMatchObject(
      [
        {
          code: "E010",
          message: 'Provider staff: There is no option "clientID".',
          remedy: expect.stringContaining("clientId") as unknown,
        },
      ],
    );
  });
});
