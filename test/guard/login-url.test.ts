import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createIdpAuth } from "../../src/adapter.js";
import type { IdpRequest, LoginUrlOptions } from "../../src/index.js";
import {
  startApplication,
  OWN_ORIGIN,
  type Application,
  type CallOptions,
} from "../support/application.js";

const LOGIN = "/idpauth/login/";
const BROWSER = { headers: { accept: "text/html" } };

let application: Application;
beforeAll(async () => {
  application = await startApplication({
    loginParams: ["login_hint", "ui_locales", "prompt", "__proto__"],
  });
});
afterAll(() => application.stop());

const backTo = (page: string) =>
  `${LOGIN}?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: page }).toString()}`;
const loginUrl = (
  options?: LoginUrlOptions,
  target = "/here?a=b%2Fc",
  call: CallOptions = BROWSER,
) => application.auth.loginUrl(application.user().request(target, call), options);
/** As JavaScript may call it, whatever the types say. */
const careless = (options: unknown) => loginUrl(options as LoginUrlOptions);

describe("the page that a login returns to", () => {
  it.each<[name: string, call: CallOptions, expected: string]>([
    ["a navigation", BROWSER, backTo(`${OWN_ORIGIN}/here?a=b%2Fc`)],
    [
      "a navigation by Sec-Fetch-Mode",
      { headers: { "sec-fetch-mode": "navigate" } },
      backTo(`${OWN_ORIGIN}/here?a=b%2Fc`),
    ],
    ["a script", { headers: { accept: "application/json" } }, LOGIN],
    ["a POST", { ...BROWSER, method: "POST" }, LOGIN],
    ["a HEAD", { ...BROWSER, method: "HEAD" }, LOGIN],
  ])("is by default that of the request: %s", (_name, call, expected) => {
    expect(loginUrl(undefined, "/here?a=b%2Fc", call)).toBe(expected);
    expect(loginUrl({ returnTo: undefined }, "/here?a=b%2Fc", call)).toBe(expected);
  });

  it.each([
    ["/reports", `${OWN_ORIGIN}/reports`],
    ["/reports?a=b&c=%2F#d", `${OWN_ORIGIN}/reports?a=b&c=%2F#d`],
    ["/", `${OWN_ORIGIN}/`],
    [`${OWN_ORIGIN}/x?y`, `${OWN_ORIGIN}/x?y`],
    [OWN_ORIGIN, `${OWN_ORIGIN}/`],
    ["/a/../b", `${OWN_ORIGIN}/b`],
  ])("may be %s", async (returnTo, page) => {
    const url = loginUrl({ returnTo });
    expect(url).toBe(backTo(page));
    const user = application.user();
    expect((await user.signIn(url)).location).toBe(page);
  });

  it.each([
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example/",
    "\\\\evil.example",
    "http://app.example@evil.example/",
    "http://app.example.evil.example/",
    "https://app.example/",
    "javascript:alert(1)",
    "reports",
    "",
    " /reports",
    "/a b",
    "/\t/evil.example",
    `/${"x".repeat(2048)}`,
  ])("%j is left out", (returnTo) => {
    expect(loginUrl({ returnTo })).toBe(LOGIN);
  });

  it("null is left out, also on a navigation", () => {
    expect(loginUrl({ returnTo: null, params: { login_hint: "ada" } })).toBe(
      `${LOGIN}?login_hint=ada`,
    );
  });

  it.each([1, {}, [], true, new URL(OWN_ORIGIN)])("%j is a TypeError", (returnTo) => {
    expect(() => careless({ returnTo })).toThrow(
      new TypeError("loginUrl: `returnTo` must be a URL or a path, as a string."),
    );
  });

  it.each(["a b", "", "evil\r\nx", "user@evil.example"])(
    "is left out or harmless at an invalid Host %j",
    (host) => {
      expect(loginUrl({ returnTo: "/reports" }, "/here", { ...BROWSER, host })).toBe(LOGIN);
      expect(loginUrl(undefined, "/here", { ...BROWSER, host })).toBe(backTo("/here"));
    },
  );

  it("is of one request, not of the one before", () => {
    expect([loginUrl({}, "/a"), loginUrl({}, "/b")]).toEqual([
      backTo(`${OWN_ORIGIN}/a`),
      backTo(`${OWN_ORIGIN}/b`),
    ]);
  });
});

describe("the parameters of a login", () => {
  it.each<[params: NonNullable<LoginUrlOptions["params"]>, query: string]>([
    [{ login_hint: "ada+x@example.com & ä" }, "login_hint=ada%2Bx%40example.com+%26+%C3%A4"],
    [{ login_hint: "a", ui_locales: "de fr" }, "login_hint=a&ui_locales=de+fr"],
    [{ login_hint: "", ui_locales: undefined, prompt: "none" }, "prompt=none"],
    [{ login_hint: "x".repeat(512) }, `login_hint=${"x".repeat(512)}`],
    [JSON.parse('{"__proto__":"x"}') as Record<string, string>, "__proto__=x"],
  ])("%j", async (params, query) => {
    expect(loginUrl({ returnTo: null, params })).toBe(`${LOGIN}?${query}`);
    expect(loginUrl({ returnTo: "/x", params })).toBe(`${backTo(`${OWN_ORIGIN}/x`)}&${query}`);
    const { location } = await application.user().get(loginUrl({ params }));
    for (const [name, value] of new URLSearchParams(query))
      expect(new URL(location).searchParams.getAll(name)).toEqual([value]);
  });

  it.each(["organization", "scope", "scheme", "origin_url", "Login_Hint", "constructor", ""])(
    "%j is not listed: a TypeError",
    (name) => {
      expect(() => careless({ params: { [name]: "hunter2" } })).toThrow(
        new TypeError(
          `loginUrl: ${JSON.stringify(name)} isn't in IDP_LOGIN_PARAMS (option loginParams). Add it there.`,
        ),
      );
    },
  );

  it.each([
    ["513 characters", `hunter2${"x".repeat(506)}`],
    ["a line break", "hunter2\n"],
    ["a number", 1],
    ["null", null],
    ["a list", ["hunter2"]],
  ])("%s is a TypeError without the value", (_name, value) => {
    expect(() => careless({ params: { login_hint: value } })).toThrow(
      new TypeError(
        "loginUrl: the parameter login_hint takes one value of at most 512 characters, without control characters.",
      ),
    );
  });
});

describe("the address", () => {
  const settings = {
    env: {},
    secretKey: "a secret key of at least 32 bytes",
    clientId: "c",
    clientSecret: "s",
    scope: "openid",
  };
  const authOf = (options: object) =>
    createIdpAuth<IdpRequest>(
      { ...settings, ...options, log: false },
      { name: "plain", request: (raw) => raw },
    );
  const request = (target: string) =>
    application.user().request(target, { ...BROWSER, host: "other.example" });

  it("has the path prefix, BASE_URL's origin and the mount path", () => {
    const auth = authOf({
      pathPrefix: "/portal",
      baseUrl: "https://app.example",
      mountPath: "/auth/",
    });
    const url = (page: string) =>
      `/portal/auth/login/?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: page }).toString()}`;
    expect(auth.loginUrl(request("/here"))).toBe(url("https://app.example/portal/here"));
    // A path is one that browsers use.
    expect(auth.loginUrl(request("/here"), { returnTo: "/portal/x" })).toBe(
      url("https://app.example/portal/x"),
    );
    expect(auth.loginUrl(request("/here"), { returnTo: "http://other.example/x" })).toBe(
      "/portal/auth/login/",
    );
  });

  it("needs no session", () => {
    const session = () => {
      throw new Error("the session was opened");
    };
    const auth = createIdpAuth<IdpRequest>(
      { ...settings, session: "host", log: false },
      { name: "plain", request: (raw) => raw, session },
    );
    auth.start({ sessionMiddleware: "present" });
    expect(auth.loginUrl(request("/here"), { returnTo: null })).toBe(LOGIN);
  });

  it("of a component that is not configured is a ConfigurationError", () => {
    expect(() => authOf({ clientId: "" }).loginUrl(request("/here"))).toThrow(/E003/);
  });
});
