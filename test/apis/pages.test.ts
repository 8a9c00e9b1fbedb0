// What a browser shows for an address of the proxy: a navigation gets a page or a redirect, a script
// JSON.
import { afterEach, describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/fetch/fetch.js";
import type { Api } from "../../src/config/api-options.js";
import type { LogEntry } from "../../src/index.js";
import { signedInAs } from "../../src/testing/index.js";
import { closeAll, nodeApi, optionsFor, ORIGIN } from "./parties.js";

afterEach(closeAll);

const NAVIGATION = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate" };
const SCRIPT = {
  "sec-fetch-site": "same-origin",
  "sec-fetch-mode": "cors",
  accept: "text/html",
};

async function started(
  respond: Parameters<typeof nodeApi>[0],
  changes: Partial<Pick<Api, "methods" | "redirects">> & { readonly env?: object } = {},
) {
  const { api, server } = await nodeApi(respond);
  const { env, ...row } = changes;
  const { env: base, apis, ...options } = optionsFor(api.url.href);
  const log: LogEntry[] = [];
  const auth = idpAuth({
    ...options,
    env: { ...base, ...env },
    apis: { orders: { ...apis.orders, ...row } },
    log: (entry) => log.push(entry),
    pages: { locale: "auto" },
  });
  const proxy = auth.proxyApi("orders")(() => new Response(null, { status: 404 }));
  const cookie = await signedInAs(auth, undefined, { tokens: { token: "users-token" } });
  return {
    server,
    log,
    async get(path: string, headers: Record<string, string>, init: RequestInit = {}) {
      const response = await proxy(
        new Request(ORIGIN + path, { ...init, headers: { cookie, ...headers } }),
      );
      const type = response.headers.get("content-type")?.split(";", 1)[0];
      return {
        status: response.status,
        type,
        headers: response.headers,
        text: await response.text(),
      };
    },
  };
}

const ITEM = "/api/orders/items/5?a=b%2Fc&d=%20";

describe("a request that isn't passed on", () => {
  it.each([
    ["/api/orders/..%2fadmin", "GET", {}, 400, "api_path_invalid", null],
    ["/api/orders/", "DELETE", {}, 405, "method_not_allowed", "GET, POST"],
    ["/api/orders/", "GET", { "sec-fetch-site": "cross-site" }, 403, "cross_origin", null],
  ])("to %s by %s %j is a page for a navigation", async (path, method, headers, status, code, allow) => {
    const seen: unknown[] = [];
    const { get } = await started((message) => seen.push(message), { methods: ["GET", "POST"] });
    const page = await get(path, { ...NAVIGATION, ...headers }, { method });
    expect([page.status, page.type, page.headers.get("allow")]).toEqual([status, "text/html", allow]);
    expect(page.text).toContain(`<code>${code}</code>`);
    const json = await get(path, { ...SCRIPT, ...headers }, { method });
    expect([json.status, json.type, json.headers.get("allow")]).toEqual([status, "application/problem+json", allow]); // prettier-ignore
    expect(JSON.parse(json.text)).toMatchObject({ code });
    expect(seen).toEqual([]);
  }); // prettier-ignore

  it("because a page of another site led there, lets the user go on", async () => {
    const { get } = await started((_message, response) => response.end("done"));
    const { text } = await get(ITEM, { ...NAVIGATION, "sec-fetch-site": "cross-site" });
    expect(text).toMatch(/<a class="button" href="">Continue<\/a>/);
    const sent = await get(ITEM, { ...NAVIGATION, "sec-fetch-site": "cross-site" }, { method: "POST" });
    expect(sent.text).not.toContain("Continue");
    expect((await get(ITEM, NAVIGATION)).text).toBe("done");
  }); // prettier-ignore
});

describe("an API that is down", () => {
  it("is a page for a navigation, in the user's language, and a problem document for a script", async () => {
    const { get, server } = await started(() => undefined);
    server.close();
    const page = await get(ITEM, NAVIGATION);
    expect([page.status, page.type]).toEqual([502, "text/html"]);
    expect(page.text).toMatch(/<h1>The service behind this page can(?:'|&#39;)t be reached right now<\/h1>/);
    expect(page.text).toMatch(/<a class="button" href="">Try again<\/a>/);
    const german = await get(ITEM, { ...NAVIGATION, "accept-language": "de" });
    expect(german.text).toContain("<h1>Diese Seite ist zurzeit nicht verfügbar</h1>");
    const refused = await get("/api/orders/..%2fadmin", { ...NAVIGATION, "accept-language": "de" });
    expect(refused.text).toContain("<h1>Unter dieser Adresse gibt es keine Seite</h1>");
    const json = await get(ITEM, SCRIPT);
    expect([json.status, JSON.parse(json.text)]).toMatchObject([502, { code: "api_unreachable" }]);
  }); // prettier-ignore

  it("is a page if it redirects elsewhere, and the log names what would allow it", async () => {
    const { get, log } = await started((_message, response) =>
      response.writeHead(302, { Location: "https://files.example/a?secret=1" }).end(),
    );
    const page = await get(ITEM, NAVIGATION);
    expect([page.status, page.type]).toEqual([502, "text/html"]);
    expect(page.headers.get("location")).toBeNull();
    const line = log.find(({ code }) => code === "api_failed");
    expect(line).toMatchObject({
      level: "warn",
      details: { reason: "api_redirect_refused", api: "orders" },
    });
    expect(line!.message).toContain("`apis.orders.redirects`");
    expect(JSON.stringify(log)).not.toContain("secret");
  });

  it("whose Location is dropped has one quiet line for it, without the address", async () => {
    const { get, log } = await started((_message, response) =>
      response.writeHead(201, { Location: "https://files.example/a?secret=1" }).end("done"),
    );
    const { status, text } = await get(ITEM, SCRIPT);
    expect([status, text]).toEqual([201, "done"]);
    const lines = log.filter(({ code }) => code === "api_location_dropped");
    expect(lines).toEqual([
      {
        level: "info",
        code: "api_location_dropped",
        message: expect.stringMatching(/^An API sent a Location/) as string,
        details: { api: "orders" },
      },
    ]);
    expect(log.filter(({ code }) => code === "api_failed")).toEqual([]);
  });
});

const DEMANDS = [
  [401, 'error="insufficient_user_authentication", max_age=60, acr_values="mfa phr"', { max_age: "60", acr_values: "mfa phr" }],
  [401, 'error="insufficient_user_authentication"', {}],
  [403, 'error="insufficient_scope", scope="orders:write"', {}],
] as const; // prettier-ignore

describe("an API that demands a step-up", () => {
  const demanding = (status: number, challenge: string, env = {}) =>
    started(
      (_message, response) =>
        response.writeHead(status, { "WWW-Authenticate": `Bearer ${challenge}` }).end(),
      { env },
    );
  const loginOf = (location: string | null) => {
    const url = new URL(location ?? "none:", ORIGIN);
    return [url.pathname, Object.fromEntries(url.searchParams)];
  };

  it.each(DEMANDS)("redirects a navigation to the login and back: %i %s", async (status, challenge, parameters) => {
    const { get } = await demanding(status, challenge, { IDP_PATH_PREFIX: "/app" });
    for (const method of ["GET", "HEAD"]) {
      const { status: got, headers } = await get(ITEM, NAVIGATION, { method });
      expect(got).toBe(302);
      expect(loginOf(headers.get("location"))).toEqual([
        "/app/idpauth/login/",
        { api: "orders", ...parameters, scheme: "PRESERVE_ORIGIN_QP", origin_url: `${ORIGIN}/app${ITEM}` },
      ]);
    }
  }); // prettier-ignore

  it.each(DEMANDS)("is JSON for a script: %i %s", async (status, challenge, parameters) => {
    const { get } = await demanding(status, challenge);
    const { status: got, headers, text } = await get(ITEM, SCRIPT);
    const error = /error="(\w+)"/.exec(challenge)![1]!;
    const body = JSON.parse(text) as { login_url: string; scope?: string };
    const { login_url: loginUrl, scope: _scope, ...rest } = body;
    expect([got, rest]).toEqual([status, { authenticated: true, error, ...parameters }]);
    expect(loginOf(loginUrl)).toEqual(["/idpauth/login/", { api: "orders", ...parameters }]);
    expect(headers.get("x-idpauth-login")).toBe(loginUrl);
    expect(headers.get("www-authenticate")).toBe(`Bearer error="${error}"`);
  });

  it("shows a form the page of a step-up, with the login", async () => {
    const { get } = await demanding(...([DEMANDS[0][0], DEMANDS[0][1]] as const));
    const page = await get(ITEM, NAVIGATION, { method: "POST", body: "a=b" });
    expect([page.status, page.type]).toEqual([401, "text/html"]);
    expect(page.text).toContain("<code>insufficient_user_authentication</code>");
    expect(page.headers.get("x-idpauth-login")).toMatch(/^\/idpauth\/login\/\?/);
    expect(page.text).not.toContain("origin_url");
  });
});

describe("an API's own words about a login", () => {
  it("don't reach the page", async () => {
    const { get } = await started((_message, response) =>
      response.writeHead(200, { "X-Idpauth": "step-up", "X-Idpauth-Login": "https://evil.example/" }).end("done"),
    );
    const { headers } = await get(ITEM, SCRIPT);
    expect([...headers.keys()].filter((name) => name.startsWith("x-idpauth"))).toEqual([]);
  }); // prettier-ignore
});
