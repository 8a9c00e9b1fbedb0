import assert from "node:assert/strict";
import type { LoginUrlOptions } from "idpauth";
import type { ApplicationRoute } from "../adapter-under-test.js";
import type { StartedApplication } from "../application-starter.js";
import { assertProblem, probe, SAYS_SCRIPT, SIGNED_IN } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";
import { backTo } from "./signed-out-requests.js";

const area = "login parameters";
const LOGIN = "/idpauth/login/";
const HINT = "ada+x@example.com & ä";
const OPTIONS = {
  loginParams: ["login_hint", "prompt"],
  authorizationParams: { resource: ["urn:a", "urn:b"], hd: "example.com" },
};

/** A public route that responds with the URL of a login. */
function loginUrlRoute(path: string, options?: LoginUrlOptions): ApplicationRoute {
  return {
    kind: "json",
    method: "GET",
    path,
    respond: async ([auth], raw) => {
      try {
        return { url: (await auth?.loginUrl(raw, options)) ?? null };
      } catch (error) {
        return { error: error instanceof TypeError ? error.message : "no TypeError" };
      }
    },
  };
}

/** The parameters that idpauth and a login add to the authorization request. */
export const loginParameterRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "a listed parameter of the login's query reaches the provider unchanged, others do not; a repeated one is 400",
    async check(starter) {
      const app = await starter.start({ options: OPTIONS });
      const browser = app.browser();
      const query = new URLSearchParams({
        login_hint: HINT,
        hd: "evil.example",
        organization: "o",
      }).toString();
      await browser.navigate(await app.approved(browser, `${LOGIN}?${query}`));
      assert.deepEqual(await probe(browser), SIGNED_IN);
      const requested = app.provider.requestsTo("authorize")[0]?.query ?? new URLSearchParams();
      assert.deepEqual(requested.getAll("login_hint"), [HINT]);
      assert.deepEqual(
        [requested.getAll("hd"), requested.getAll("resource")],
        [["example.com"], ["urn:a", "urn:b"]],
      );
      assert.equal(requested.has("organization"), false);
      assertProblem(
        await browser.get(`${LOGIN}?login_hint=a&login_hint=b`, { headers: SAYS_SCRIPT }),
        400,
        "invalid_parameter",
      );
      assertProblem(
        await browser.get(`${LOGIN}?login_hint=a%0Ab`, { headers: SAYS_SCRIPT }),
        400,
        "invalid_parameter",
      );
    },
  },
  {
    area,
    title:
      "loginUrl gives a login that returns to the page of the request, or to returnTo, with its parameters",
    async check(starter) {
      const params = { login_hint: HINT };
      const routes = [
        loginUrlRoute("/own"),
        loginUrlRoute("/page", { returnTo: "/reports?q=a%2Fb", params }),
        loginUrlRoute("/none", { returnTo: null, params }),
        loginUrlRoute("/elsewhere", { returnTo: "https://evil.example/" }),
        loginUrlRoute("/unlisted", { params: { scope: "admin" } }),
        REPORTS,
      ];
      const app = await starter.start({ options: OPTIONS, routes });
      const browser = app.browser();
      const hint = new URLSearchParams(params).toString();
      const page = `${LOGIN}?${backTo(`${app.origin}/reports?q=a%2Fb`)}&${hint}`;
      assert.deepEqual((await browser.navigate("/own?a=b")).json(), {
        url: `${LOGIN}?${backTo(`${app.origin}/own?a=b`)}`,
      });
      assert.deepEqual((await browser.get("/own?a=b")).json(), { url: LOGIN });
      assert.deepEqual((await browser.get("/page")).json(), { url: page });
      assert.deepEqual((await browser.navigate("/none")).json(), { url: `${LOGIN}?${hint}` });
      assert.deepEqual((await browser.navigate("/elsewhere")).json(), { url: LOGIN });
      assert.match(
        String((await browser.navigate("/unlisted")).json().error),
        /"scope" isn't in IDP_LOGIN_PARAMS/,
      );
      const end = await browser.follow(page);
      assert.deepEqual(
        [end.status, end.url.pathname + end.url.search, end.json().user],
        [200, "/reports?q=a%2Fb", "ada-1815"],
      );
      assert.equal(app.provider.requestsTo("authorize")[0]?.query.get("login_hint"), HINT);
    },
  },
  {
    area,
    title: "a guarded page does not loop if every login has prompt=none",
    async check(starter) {
      const app = await starter.start({ options: { loginPrompt: "none" } });
      const browser = app.browser();
      const { location: login = "" } = await browser.navigate("/reports");
      const back = await browser.navigate(
        await deniedBy(app, (await browser.navigate(login)).location ?? "", "login_required"),
      );
      assert.equal(back.location, `${app.origin}/reports`);
      const blocked = await browser.navigate("/reports");
      assert.equal(
        new URL(blocked.location ?? "", app.origin).href,
        `${app.origin}/idpauth/?error=login_required`,
      );
      assert.equal((await browser.navigate("/idpauth/?error=login_required")).status, 200);
      assert.deepEqual([...app.ran], []);
    },
  },
];

const REPORTS: ApplicationRoute = {
  kind: "json",
  method: "GET",
  path: "/reports",
  guard: { mount: 0 },
  respond: async ([auth], raw) => ({ user: (await auth?.requireSession(raw))?.user.id }),
};

/** The callback of a login with `prompt=none` that the provider answers with an error. */
async function deniedBy(
  app: StartedApplication,
  authorizationUrl: string,
  error: string,
): Promise<string> {
  app.provider.settings.promptNoneError = error;
  return app.provider.signInCode(authorizationUrl);
}
