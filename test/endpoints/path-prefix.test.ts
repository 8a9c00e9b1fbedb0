import { afterEach, describe, expect, it } from "vitest";
import {
  startApplication,
  type Answer,
  type Application,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";

const ORIGIN = "https://app.example";
const ENDPOINTS = "/portal/idpauth/";
/** What the proxy adds. It strips the prefix. */
const FORWARDED = { "x-forwarded-proto": "https", "x-forwarded-host": "app.example" };

let application: Application;
afterEach(() => application.stop());

async function start(options: ApplicationOptions): Promise<TestUser> {
  application = await startApplication(options);
  return application.user();
}

/** Requests an address of the browser, which the proxy passes on. */
function get(user: TestUser, address: string): Promise<Answer> {
  const { pathname, search } = new URL(address, ORIGIN);
  expect(pathname).toMatch(/^\/portal\//);
  return user.get(pathname.slice("/portal".length) + search, { headers: FORWARDED });
}

describe("behind a proxy that strips a path prefix", () => {
  it.each<[how: string, options: ApplicationOptions]>([
    [
      "option pathPrefix with a slash at its end, and BASE_URL",
      { pathPrefix: "/portal/", baseUrl: ORIGIN },
    ],
    ["IDP_PATH_PREFIX", { env: { IDP_PATH_PREFIX: "/portal", IDP_TRUST_PROXY: "true" } }],
  ])("the whole trip works (%s)", async (_how, options) => {
    const user = await start(options);
    const reports = user.request("/reports?year=2024&q=a%2Fb", {
      headers: { ...FORWARDED, accept: "text/html" },
    });
    const blocked = (await application.auth.guard(reports))?.reply.headers["Location"] ?? "";
    expect(blocked).toMatch(new RegExp(`^${ENDPOINTS}login/\\?`));
    const login = await get(user, blocked);
    const callback = await application.provider.signInCode(login.location);
    expect(callback).toMatch(new RegExp(`^${ORIGIN}${ENDPOINTS}login-callback\\?`));
    expect((await get(user, callback)).location).toBe(`${ORIGIN}/portal/reports?year=2024&q=a%2Fb`);
    expect(application.provider.requestsTo("token")[0]?.params.get("redirect_uri")).toBe(
      `${ORIGIN}${ENDPOINTS}login-callback`,
    );
    expect([...user.cookies.keys()]).toEqual(["__Host-Http-idpauth.portal.idpauth"]);
    expect((await get(user, `${ENDPOINTS}session`)).json()).toMatchObject({
      authenticated: true,
      user: { email: "ada@example.com" },
    });
    expect((await get(user, `${ENDPOINTS}logout/`)).location).toBe(ENDPOINTS);
    expect((await get(user, `${ENDPOINTS}session`)).json()).toEqual({
      authenticated: false,
      user: null,
    });
  });

  it.each(["https://evil.example/portal/", "/portal/reports", `${ORIGIN}.evil.example/portal/`])(
    "a page outside the prefix that names another origin is replaced by the fallback: %s",
    async (page) => {
      const user = await start({ pathPrefix: "/portal", trustProxy: true });
      const login = await get(
        user,
        `${ENDPOINTS}login/?scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(page)}`,
      );
      expect(
        (await get(user, await application.provider.signInCode(login.location))).location,
      ).toBe(ENDPOINTS);
    },
  );
});
