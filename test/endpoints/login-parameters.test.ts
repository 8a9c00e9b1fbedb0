import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApplication, OWN_ORIGIN, type Application } from "../support/application.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { watchedStore, type WatchedStore } from "../support/watched-store.js";

const LOGIN = "/idpauth/login/";
const HTML = { accept: "text/html" };

let application: Application;
let store: WatchedStore;

beforeAll(async () => {
  const clock = new TestClock();
  store = watchedStore(clock);
  application = await startApplication({
    clock,
    store,
    authorizationParams: { audience: "https://api.example", resource: ["urn:a", "urn:b"] },
    loginParams: ["login_hint", "ui_locales", "audience", "prompt", "__proto__"],
  });
});
afterAll(() => application.stop());

/** The parameters of the authorization request that a login leads to. */
async function sent(raw: string): Promise<URLSearchParams> {
  const { status, location } = await application.user().get(`${LOGIN}?${raw}`);
  expect(status).toBe(302);
  return new URL(location).searchParams;
}

describe("a login passes on the listed parameters of its query", () => {
  it.each([
    ["login_hint=ada%40example.com", "login_hint", "ada@example.com"],
    ["login_hint=ada+b%2Bc%26x%3D1", "login_hint", "ada b+c&x=1"],
    ["login_hint=%D1%8F%F0%9F%98%80", "login_hint", "я😀"],
    ["login_hint=%FF", "login_hint", "\ufffd"],
    ["ui_locales=de%20fr&scheme=DEFAULT", "ui_locales", "de fr"],
    ["prompt=login", "prompt", "login"],
    ["__proto__=x", "__proto__", "x"],
    [`login_hint=${"x".repeat(512)}`, "login_hint", "x".repeat(512)],
    [`login_hint=${"%C3%A9".repeat(512)}`, "login_hint", "é".repeat(512)],
  ])("%s", async (raw, name, value) => {
    expect((await sent(raw)).getAll(name)).toEqual([value]);
  });

  it("also with response=json, and with scheme and origin_url", async () => {
    const raw = new URLSearchParams({
      scheme: "PRESERVE_ORIGIN_QP",
      origin_url: `${OWN_ORIGIN}/x`,
      response: "json",
      login_hint: "ada",
    });
    const user = application.user();
    const { redirect_to: url } = (await user.get(`${LOGIN}?${raw.toString()}`)).json() as {
      redirect_to: string;
    };
    expect(new URL(url).searchParams.get("login_hint")).toBe("ada");
    expect((await application.auth.readSessionRecord(user.request("/")))?.["final_redirect"]).toBe(
      `${OWN_ORIGIN}/x`,
    );
  });

  it("ignores names that are not listed, in any form", async () => {
    const query = await sent(
      `Login_Hint=a&login_hint%5B%5D=b&organization=c&organization=d&scope=e&state=f&hd=${"x".repeat(600)}&a=%00`,
    );
    for (const name of ["Login_Hint", "login_hint[]", "login_hint", "organization", "hd", "a"])
      expect(query.has(name)).toBe(false);
    expect(query.get("scope")).not.toBe("e");
    expect(query.get("state")).not.toBe("f");
  });

  it("treats an empty value as absent", async () => {
    const query = await sent("login_hint=&ui_locales");
    expect([query.has("login_hint"), query.has("ui_locales")]).toEqual([false, false]);
  });

  it("sends IDP_AUTHORIZATION_PARAMS with each login, and lets them win", async () => {
    const query = await sent("audience=evil");
    expect([query.getAll("audience"), query.getAll("resource")]).toEqual([
      ["https://api.example"],
      ["urn:a", "urn:b"],
    ]);
  });
});

describe("a listed parameter that is repeated, too long or has control characters is 400", () => {
  const rows: [name: string, raw: string, bad: string[]][] = [
    ["repeated", "login_hint=hunter2&login_hint=hunter2", ["login_hint"]],
    ["repeated and empty", "login_hint=&login_hint=", ["login_hint"]],
    ["513 characters", `login_hint=hunter2${"x".repeat(506)}`, ["login_hint"]],
    ["257 surrogate pairs", `login_hint=${"%F0%9F%98%80".repeat(257)}`, ["login_hint"]],
    ["a line break", "login_hint=hunter2%0D%0AX-Evil%3A1", ["login_hint"]],
    ["a NUL", "login_hint=hunter2%00", ["login_hint"]],
    ["a C1 control", "login_hint=hunter2%C2%85", ["login_hint"]],
    ["two of them", "login_hint=%00&ui_locales=a&ui_locales=b", ["login_hint", "ui_locales"]],
    ["one that IDP_AUTHORIZATION_PARAMS replaces", "audience=a&audience=b", ["audience"]],
  ];

  it.each(rows)("%s, as problem+json", async (_name, raw, bad) => {
    const { operations } = store;
    const before = operations.length;
    const answer = await application.user().get(`${LOGIN}?${raw}`);
    expect([answer.status, answer.headers["Content-Type"]]).toEqual([
      400,
      "application/problem+json; charset=utf-8",
    ]);
    const { detail, ...problem } = answer.json() as Record<string, unknown>;
    expect(problem).toEqual({
      type: "about:blank",
      title: "A query parameter is invalid",
      status: 400,
      code: "invalid_parameter",
    });
    const sentences = bad.map(
      (name) =>
        `The parameter ${name} takes one value of at most 512 characters, without control characters.`,
    );
    expect(detail).toBe(sentences.join(" "));
    expect(store.operations.length).toBe(before);
    expect(answer.setCookies ?? []).toEqual([]);
  });

  it.each(rows)("%s, as a page without the value", async (_name, raw, bad) => {
    const answer = await application.user().get(`${LOGIN}?${raw}`, { headers: HTML });
    expect([answer.status, answer.headers["Content-Type"]]).toEqual([
      400,
      "text/html; charset=utf-8",
    ]);
    for (const name of bad) expect(answer.body).toContain(`The parameter ${name} takes one value`);
    expect(answer.body).not.toContain("hunter2");
    expect(answer.body).not.toContain('class="options"');
  });

  it("reports all bad parameters of a login at once, with the options of those that have some", async () => {
    const answer = await application
      .user()
      .get(`${LOGIN}?scheme=x&response=y&login_hint=a&login_hint=b`);
    const problem = answer.json() as { detail: string; valid_options: object };
    for (const name of ["scheme", "response", "login_hint"])
      expect(problem.detail).toContain(`The parameter ${name} takes one`);
    expect(Object.keys(problem.valid_options)).toEqual(["scheme", "response"]);
  });

  it("is logged without the value", () => {
    expect(application.log.map(({ code }) => code)).toContain("login_failed");
    expect(JSON.stringify(application.log)).not.toMatch(/hunter2|api\.example|urn:/);
  });
});

describe("the redirect of a login to BASE_URL", () => {
  it("keeps the parameters for the login there", async () => {
    const own = await startApplication({
      baseUrl: "https://app.example",
      loginParams: ["login_hint"],
    });
    const user = own.user();
    const first = await user.get(`${LOGIN}?login_hint=ada%40example.com&scheme=DEFAULT`, {
      host: "other.example",
    });
    expect(first.location).toBe(
      "https://app.example/idpauth/login/?login_hint=ada%40example.com&scheme=DEFAULT&idp_hop=1",
    );
    const { pathname, search } = new URL(first.location);
    const query = new URL((await user.get(pathname + search)).location).searchParams;
    expect([query.get("login_hint"), query.has("idp_hop")]).toEqual(["ada@example.com", false]);
    await own.stop();
  });

  it("does not happen for a bad parameter", async () => {
    const own = await startApplication({
      baseUrl: "https://app.example",
      loginParams: ["login_hint"],
    });
    expect(
      (await own.user().get(`${LOGIN}?login_hint=a&login_hint=b`, { host: "other.example" }))
        .status,
    ).toBe(400);
    await own.stop();
  });
});

it("without IDP_LOGIN_PARAMS a login passes nothing on", async () => {
  const own = await startApplication();
  const { location } = await own.user().get(`${LOGIN}?login_hint=ada&prompt=none&hd=a&hd=b`);
  const query = new URL(location).searchParams;
  expect([query.has("login_hint"), query.get("prompt"), query.has("hd")]).toEqual([
    false,
    "consent",
    false,
  ]);
  await own.stop();
});

it("the debug endpoint shows the names in loginParams, and no value of authorizationParams", async () => {
  const own = await startApplication({
    debug: true,
    authorizationParams: { audience: "hunter2" },
    loginParams: ["login_hint"],
  });
  const { body, json } = await own.user().get("/idpauth/debug");
  expect((json() as { settings: object }).settings).toMatchObject({
    IDP_AUTHORIZATION_PARAMS: "present",
    IDP_LOGIN_PARAMS: ["login_hint"],
  });
  expect(body).not.toContain("hunter2");
  await own.stop();
});
