import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  ConfigurationError,
  type IdpAuth,
  type IdpAuthOptions,
  type IdpRequest,
} from "../../src/index.js";
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
    await auth.idle();
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

describe("a login that requests no provider", () => {
  it("shows a page with all providers, through which its accepted parameters survive", async () => {
    use({ loginParams: ["ui_locales"] });
    const origin = encodeURIComponent("http://app.example/reports?a=1&b=2");
    const query = `scheme=PRESERVE_ORIGIN_QP&origin_url=${origin}&max_age=60&acr_values=gold&select_account=true&ui_locales=de&login_hint=eve&evil=1`;
    const page = await user.get(`/idpauth/login/?${query}`, {
      headers: { accept: "text/html", "sec-fetch-site": "cross-site" },
    });
    expect([page.status, page.headers["Cache-Control"]]).toEqual([200, "no-store"]);
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
    const page = await user.get("/idpauth/login/?response=popup&attempt=0123456789abcdef", {
      headers: { accept: "text/html" },
    });
    const [first = ""] = hrefsIn(page);
    expect((await user.signIn(first)).location).toBe("/idpauth/popup?attempt=0123456789abcdef");
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
    const { providers, settings } = readSettings(
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
    expect(settings?.documentHosts).toEqual(["staff.example", "eu.example"]);
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
