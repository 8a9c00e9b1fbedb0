import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { choose, DemoProcess } from "./demo-process.js";

// The parts of the demo that decide who may do what: the hook, the data, the guards with a rule.

const clientOf = ({ issuer, clientId, clientSecret }: TestProvider) => ({
  IDP_ISSUER: issuer,
  IDP_CLIENT_ID: clientId,
  IDP_CLIENT_SECRET: clientSecret,
});

const signIn = async (browser: CookieBrowser, person: string) =>
  choose(browser, await browser.follow("/idpauth/login/"), person);

const FRAMEWORKS = ["express", "fastify", "hono", "koa", "node", "fetch"] as const;
const SURROUNDINGS: readonly Readonly<Record<string, string>>[] = [
  ...FRAMEWORKS.map((framework) => ({ DEMO_HOST: framework, DEMO_SESSIONS: "memory" })),
  { DEMO_HOST: "express", DEMO_SESSIONS: "host" },
  { DEMO_HOST: "fastify", DEMO_SESSIONS: "host" },
];

describe.each(SURROUNDINGS)("the demo with %o", (env) => {
  let demo: DemoProcess;
  beforeAll(() => {
    demo = new DemoProcess({ ...env, DEMO_RULE: "staff" });
  });
  afterAll(() => demo.kill("SIGKILL"));

  it("gives a browser the user, the groups and the data, and neither the issuer nor the subject", async () => {
    const browser = await demo.browser();
    expect((await browser.get("/api/me")).status).toBe(401);
    await signIn(browser, "ada");
    const me = await browser.get("/api/me");
    expect([me.status, me.json()]).toEqual([
      200,
      {
        user: {
          email: "ada@example.com",
          name: "Ada Lovelace",
          picture: expect.stringMatching(/\/ada\.svg$/) as string,
          email_verified: true,
        },
        claims: { groups: ["admin", "staff"] },
        data: { userId: expect.stringMatching(/^[0-9a-f]{8}$/) as string, visits: 0 },
      },
    ]);
  });

  it("counts requests in the data, which the same user's next sign-in keeps and another user's does not", async () => {
    const browser = await demo.browser();
    const headers = { "x-idpauth": "1" };
    expect(
      (await browser.get("/api/visits", { method: "POST", from: "https://other.example" })).status,
    ).toBe(403);
    expect((await browser.get("/api/visits", { method: "POST", headers })).status).toBe(401);
    await signIn(browser, "ada");
    const first = await browser.get("/api/visits", {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
    });
    expect([first.status, first.json().visits]).toEqual([200, 1]);
    expect((await browser.get("/api/visits", { method: "POST", headers })).json()).toEqual({
      ...first.json(),
      visits: 2,
    });
    expect((await browser.get("/api/visits")).status).toBe(404);
    await signIn(browser, "ada");
    expect((await browser.get("/api/me")).json().data).toEqual({ ...first.json(), visits: 2 });
    await signIn(browser, "grace");
    const data = (await browser.get("/api/me")).json().data as Record<string, unknown>;
    expect(data["visits"]).toBe(0);
    expect(data["userId"]).not.toBe(first.json().userId);
  });

  it("lets only the group admin see the administration", async () => {
    const browser = await demo.browser();
    expect((await browser.get("/api/admin")).status).toBe(401);
    const page = await choose(browser, await browser.follow("/admin"), "ada");
    expect([page.status, page.url.pathname]).toEqual([200, "/admin"]);
    expect(page.text).toContain("Signed in as Ada Lovelace");
    expect((await browser.get("/api/admin")).json().claims).toEqual({ groups: ["admin", "staff"] });
    await signIn(browser, "grace");
    const refused = await browser.navigate("/admin");
    expect([refused.status, refused.headers.location]).toEqual([403, undefined]);
    expect(refused.headers["content-type"]).toMatch(/^text\/html/);
    const json = await browser.get("/api/admin");
    expect([json.status, json.json().code]).toEqual([403, "forbidden"]);
    expect((await browser.get("/api/me")).status).toBe(200);
  });
});

describe.each(SURROUNDINGS)("the demo with an outside provider and %o", (env) => {
  let provider: TestProvider;
  let demo: DemoProcess;
  beforeAll(async () => {
    provider = await startTestProvider();
    demo = new DemoProcess({
      ...env,
      ...clientOf(provider),
      IDP_AUTHORIZATION_PARAMS: "audience=https%3A%2F%2Fapi.example.com",
      DEMO_LOGIN_PARAMS: "login_hint,ui_locales",
      DEMO_MAX_AGE: "90",
    });
  });
  afterAll(async () => {
    await demo.kill("SIGKILL");
    await provider.stop();
  });

  it("sends a user to the provider again before a transfer, and back to it", async () => {
    const browser = await demo.browser();
    provider.signedIn.set("ada-1815", Math.floor(Date.now() / 1000) - 300);
    await browser.follow("/idpauth/login/");
    const challenge = await browser.get("/api/transfer");
    expect(challenge.status).toBe(401);
    expect(challenge.headers["www-authenticate"]).toContain(
      'error="insufficient_user_authentication"',
    );
    expect(challenge.json()).toMatchObject({
      authenticated: true,
      login_url: "/idpauth/login/?max_age=90",
    });
    const page = await browser.follow("/transfer?to=7");
    expect([page.status, page.url.pathname + page.url.search]).toEqual([200, "/transfer?to=7"]);
    expect((await browser.get("/api/transfer")).json()).toEqual({
      authenticatedAt: expect.any(Number) as number,
      maxAge: 90,
    });
  });

  it("passes parameters on to the provider: those of every login, and the listed ones of one login", async () => {
    const browser = await demo.browser();
    const login = await browser.navigate(
      "/idpauth/login/?login_hint=ada%40example.com&hd=example.com",
    );
    const sent = new URL(login.headers.location as string).searchParams;
    expect([sent.get("audience"), sent.get("login_hint"), sent.get("hd")]).toEqual([
      "https://api.example.com",
      "ada@example.com",
      null,
    ]);
  });
});

describe("the demo's rules", () => {
  const running: DemoProcess[] = [];
  afterEach(() => Promise.all(running.splice(0).map((demo) => demo.kill("SIGKILL"))));

  function start(env: Readonly<Record<string, string>>): DemoProcess {
    const demo = new DemoProcess(env);
    running.push(demo);
    return demo;
  }

  it("DEMO_RULE=staff refuses an address that is not verified, with a page, and no session begins", async () => {
    const browser = await start({ DEMO_RULE: "staff" }).browser();
    const page = await signIn(browser, "alan");
    expect(page.status).toBe(403);
    expect(page.text).toContain("Only people with a verified address of example.com may sign in.");
    expect((await browser.get("/api/me")).status).toBe(401);
  });

  it.each([
    ["deny", {}, 403, "no user may sign in"],
    ["throw", {}, 503, "cannot be completed right now"],
    ["slow", { IDP_HOOK_TIMEOUT: "1" }, 503, "cannot be completed right now"],
  ])("DEMO_RULE=%s with %o ends a sign-in with %i", async (rule, env, status, text) => {
    const demo = start({ DEMO_RULE: rule, ...env });
    const browser = await demo.browser();
    const page = await signIn(browser, "ada");
    expect([page.status, page.text.includes(text)]).toEqual([status, true]);
    expect((await browser.get("/api/me")).status).toBe(401);
    expect(demo.stderr).not.toContain("DEMO_RULE is set to throw");
  });

  it("without DEMO_RULE every user may sign in, and the data is empty until the first request", async () => {
    const browser = await start({}).browser();
    await signIn(browser, "alan");
    expect((await browser.get("/api/me")).json()).toMatchObject({
      claims: { groups: [] },
      data: {},
    });
    expect(
      (await browser.get("/api/visits", { method: "POST", headers: { "x-idpauth": "1" } })).json(),
    ).toEqual({ visits: 1 });
  });

  it("one sign-in is enough for a transfer if the provider says when it happened", async () => {
    const browser = await start({}).browser();
    const page = await choose(browser, await browser.follow("/transfer"), "ada");
    expect([page.status, page.url.pathname]).toEqual([200, "/transfer"]);
    expect(page.text).toContain("in the last 60 seconds");
  });

  it("the home page links to the new pages", async () => {
    const home = await (await start({}).browser()).get("/");
    for (const path of ["/admin", "/transfer", "/api/me", "/api/admin", "/api/transfer"])
      expect(home.text).toContain(`href="${path}"`);
  });

  it.each([
    ["DEMO_RULE", "staf", "there is: none, staff, slow, throw, deny"],
    ["DEMO_MAX_AGE", "29", "a whole number from 30 to 86400"],
    ["DEMO_LOGIN_PARAMS", "login_hint,scope", "E016"],
  ])("%s=%s is refused", async (name, value, expected) => {
    const { code, stderr } = await start({ [name]: value }).ended;
    expect(code).toBe(1);
    expect(stderr).toContain(expected);
  });
});
