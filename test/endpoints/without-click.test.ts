import { afterEach, describe, expect, it } from "vitest";
import { startApplication, type Application, type TestUser } from "../support/application.js";

const LOGIN = "/idpauth/login/";
const LOGOUT = "/idpauth/logout/";
/** What browsers send with each request to https and to loopback addresses. */
const SITE = { "sec-fetch-site": "same-origin" };

type Headers = Readonly<Record<string, string>>;

let app: Application;

afterEach(() => app.stop());

async function signedIn(): Promise<TestUser> {
  app = await startApplication();
  const user = app.user();
  await user.signIn();
  return user;
}

const logins = () => app.provider.requestsTo("authorize").length;

const fetched = (mode: string, more: Headers = {}): Headers => ({
  ...SITE,
  "sec-fetch-mode": mode,
  "sec-fetch-dest": "empty",
  ...more,
});
const navigated = (dest: string, more: Headers = {}): Headers => ({
  ...SITE,
  "sec-fetch-mode": "navigate",
  "sec-fetch-dest": dest,
  ...more,
});

describe("[ASVS-3.5.1] a GET of login or logout that no click of the user made is 503 without an effect", () => {
  it.each<[string, Headers, string?]>([
    ["a browser's prefetch", navigated("document", { "sec-purpose": "prefetch" })],
    ["a prerender", navigated("document", { "sec-purpose": "prefetch;prerender" })],
    ["Turbo's prefetch on hover", fetched("cors", { "x-sec-purpose": "prefetch" })],
    ["a prefetch of earlier Chromium", navigated("document", { purpose: "prefetch" })],
    ["a preview of earlier Safari", navigated("document", { "x-purpose": "preview" })],
    ["a prefetch of earlier Firefox", navigated("document", { "x-moz": "prefetch" })],
    ["a prefetch that says it's a script", fetched("cors", { "sec-purpose": "prefetch" }), "json"],
    ["a script's fetch of the link", fetched("cors", { accept: "text/html" })],
    ["a fetch with the mode same-origin", fetched("same-origin")],
    ["a fetch by a program that sends the mode alone", { "sec-fetch-mode": "cors" }],
    ["a script that asks for a page", fetched("cors"), "redirect"],
    ["an image", fetched("no-cors", { "sec-fetch-dest": "image" })],
    ["an image whose address asks for JSON", fetched("no-cors"), "json"],
    ["an image of a page with a service worker", fetched("no-cors", { "x-idpauth": "1" })],
    ["a WebSocket", fetched("websocket"), "json"],
    ["Turbo over plain http", { accept: "text/html", "x-turbo-request-id": "1" }],
    ["Unpoly over plain http", { accept: "*/*", "x-up-version": "3.14.3" }],
    ["an empty X-Idpauth", fetched("cors", { "x-idpauth": "" })],
  ])("%s", async (_name, headers, response) => {
    const user = await signedIn();
    const before = logins();
    const query = response === undefined ? "" : `?response=${response}`;
    for (const path of [LOGIN, LOGOUT]) {
      const answer = await user.get(`${path}${query}`, { headers });
      expect([answer.status, answer.setCookies ?? []]).toEqual([503, []]);
      expect(answer.body).toContain("prefetch_refused");
      expect(answer.headers["HX-Redirect"]).toBeUndefined();
    }
    expect([await user.isSignedIn(), logins()]).toEqual([true, before]);
  });

  it.each(["iframe", "frame", "embed", "object", "image"])(
    "a logout by a navigation of <%s>",
    async (dest) => {
      const user = await signedIn();
      for (const query of ["", "?response=json"]) {
        const answer = await user.get(`${LOGOUT}${query}`, { headers: navigated(dest) });
        expect([answer.status, await user.isSignedIn()]).toEqual([503, true]);
      }
      expect((await user.get(LOGIN, { headers: navigated(dest) })).status).toBe(302);
    },
  );
});

describe("a logout by another origin's script", () => {
  const CROSS = { "sec-fetch-site": "cross-site", origin: "https://portal.example" };
  const SIBLING = { "sec-fetch-site": "same-site", origin: "https://portal.app.example" };

  it.each([
    ["another site", "cors", CROSS],
    ["another site", "same-origin", CROSS],
    ["a sibling domain, which sends the Lax cookie", "cors", SIBLING],
  ])(
    "of %s with the mode %s has its effect with X-Idpauth alone, which CORS must allow",
    async (_name, mode, origin) => {
      const user = await signedIn();
      const headers = fetched(mode, origin);
      const target = `${LOGOUT}?response=json`;
      expect((await user.get(target, { headers })).status).toBe(503);
      expect(await user.isSignedIn()).toBe(true);
      const program = { ...headers, "x-idpauth": "1" };
      expect((await user.get(target, { headers: program })).status).toBe(200);
      expect(await user.isSignedIn()).toBe(false);
    },
  );

  it("doesn't keep its login from the provider's address", async () => {
    app = await startApplication();
    const answer = await app
      .user()
      .get(`${LOGIN}?response=json`, { headers: fetched("cors", CROSS) });
    expect(answer.status).toBe(200);
  });
});

describe("a logout", () => {
  it("that a service worker passes on, and another site began, is 503 without an effect", async () => {
    const user = await signedIn();
    const headers = navigated("empty", { "sec-fetch-site": "cross-site" });
    expect((await user.get(LOGOUT, { headers })).status).toBe(503);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("whose page for a prefetch the browser shows over plain http stays the user's own", async () => {
    const user = await signedIn();
    const headers = { accept: "text/html", purpose: "prefetch" };
    const { body = "" } = await user.get(LOGOUT, { headers });
    expect(/class="button" href="([^"]*)"/.exec(body)?.[1]).toBe(LOGOUT);
  });

  it.each<[string, Headers, string, number]>([
    ["by a navigation", navigated("document"), LOGOUT, 302],
    ["by a browser without Fetch Metadata", {}, LOGOUT, 302],
    ["by a click that a service worker passes on", navigated("empty"), LOGOUT, 302],
    [
      "by an address that the user typed, and a service worker passes on",
      navigated("empty", { "sec-fetch-site": "none" }),
      LOGOUT,
      302,
    ],
    ["by a script that asks for JSON", fetched("cors"), `${LOGOUT}?response=json`, 200],
    ["by Turbo that asks for JSON", { "x-turbo-request-id": "1" }, `${LOGOUT}?response=json`, 200],
    ["in any letter case", fetched("same-origin"), `${LOGOUT}?response=JSON`, 200],
    ["by a script with X-Idpauth", fetched("cors", { "x-idpauth": "1" }), LOGOUT, 302],
  ])("%s has its effect", async (_name, headers, target, status) => {
    const user = await signedIn();
    const answer = await user.get(target, { headers });
    expect([answer.status, await user.isSignedIn()]).toEqual([status, false]);
  });
});

describe("a link that a library fetches when the user clicks it", () => {
  it("gets JSON, so that Turbo navigates to it", async () => {
    const user = await signedIn();
    const answer = await user.get(LOGOUT, { headers: fetched("cors", { accept: "text/html" }) });
    expect(answer.headers["Content-Type"]).toContain("application/problem+json");
  });

  it("gets HX-Redirect for htmx over plain http, too", async () => {
    const user = await signedIn();
    const headers = { accept: "text/html", "hx-request": "true" };
    const answer = await user.get(LOGOUT, { headers });
    expect([answer.status, answer.headers["HX-Redirect"]]).toEqual([503, LOGOUT]);
    expect(await user.isSignedIn()).toBe(true);
  });

  it.each([
    [LOGOUT, LOGOUT],
    ["/idpauth/logout", LOGOUT],
    [
      "/idpauth/login?max_age=60&origin_url=a%0d%0ab",
      "/idpauth/login/?max_age=60&origin_url=a%0D%0Ab",
    ],
    ["/idpauth/login/?x=\u00e9\r\n", "/idpauth/login/?x=%C3%A9%0D%0A"],
    ["http://evil.example/idpauth/logout/", LOGOUT],
  ])("gets HX-Redirect for htmx: %j", async (target, address) => {
    const user = await signedIn();
    const answer = await user.get(target, { headers: fetched("cors", { "hx-request": "true" }) });
    expect([answer.status, answer.headers["HX-Redirect"]]).toEqual([503, address]);
    expect(await user.isSignedIn()).toBe(true);
  });
});
