import assert from "node:assert/strict";
import type { IdpAuthOptions } from "idpauth";
import type { CookieBrowser } from "idpauth/testing";
import type { TestProvider } from "idpauth/testing";
import { TestClock } from "idpauth/testing";
import type { ApplicationRoute } from "../adapter-under-test.js";
import type { ApplicationStarter, StartedApplication } from "../application-starter.js";
import { GRACE } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const area = "several providers";

const ROUTES: readonly ApplicationRoute[] = [
  { path: "/reports", guard: { mount: 0 } },
  { path: "/payroll", guard: { mount: 0, rule: { provider: "staff" } } },
].map((route) => ({
  kind: "json",
  method: "GET",
  ...route,
  respond: async ([auth], raw) => ({ provider: (await auth?.getSession(raw))?.provider }),
}));

/**
 * Starts an application with the providers `staff` and `customers`, which have the same client ID
 * and different users.
 */
async function start(
  starter: ApplicationStarter,
  options: IdpAuthOptions = {},
): Promise<StartedApplication & { customers: TestProvider }> {
  const clock = new TestClock();
  const [staff, customers] = [
    await starter.startProvider(clock),
    await starter.startProvider(clock, { person: GRACE }),
  ];
  const clientOf = ({ issuer, clientId, clientSecret }: TestProvider) => ({
    issuer,
    clientId,
    clientSecret,
  });
  const providers = {
    staff: clientOf(staff),
    customers: { ...clientOf(customers), name: "Customer account" },
  };
  const single = { issuer: undefined, clientId: undefined, clientSecret: undefined };
  return {
    ...(await starter.start({
      clock,
      routes: ROUTES,
      options: { ...single, providers, ...options },
    })),
    customers,
  };
}

/**
 * Follows a login, in which the user chooses a provider on the page, and returns the response of
 * the last page.
 */
async function choose(browser: CookieBrowser, page: string, name: string) {
  const chooser = await browser.follow(page);
  const link = new RegExp(`href="([^"]+)"><bdi>${name}<`).exec(chooser.text)?.[1];
  assert.ok(chooser.status === 200 && link !== undefined, chooser.text);
  return browser.follow(link.replaceAll("&amp;", "&"));
}

export const severalProviderRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "the user chooses a provider on a page, signs in there, and returns to the requested page",
    async check(starter) {
      const app = await start(starter);
      const browser = app.browser();
      const response = await choose(browser, "/reports", "Customer account");
      assert.deepEqual(
        [response.status, response.url.pathname, response.json()],
        [200, "/reports", { provider: "customers" }],
      );
      assert.equal(app.customers.requestsTo("token").length, 1);
    },
  },
  {
    area,
    title: "a response for another provider's path is refused, and no code is sent",
    async check(starter) {
      const app = await start(starter);
      const browser = app.browser();
      const { location = "" } = await browser.navigate("/idpauth/login/?provider=customers");
      const callback = new URL(await app.customers.signInCode(location));
      assert.equal(callback.pathname, "/idpauth/login-callback/customers");
      callback.pathname = "/idpauth/login-callback/staff";
      assert.equal((await browser.get(callback.href)).status, 400);
      assert.equal(app.customers.requestsTo("token").length, 0);
    },
  },
  {
    area,
    title:
      "a guard with `provider` sends users of another provider to its login, and other requests get 401 with the login",
    async check(starter) {
      const app = await start(starter, { defaultProvider: "customers" });
      const browser = app.browser();
      assert.deepEqual((await browser.follow("/reports")).json(), { provider: "customers" });
      const login = "/idpauth/login/?provider=staff";
      const blocked = await browser.get("/payroll");
      assert.deepEqual(
        [
          blocked.status,
          blocked.headers["x-idpauth-login"],
          (blocked.json() as { login_url?: unknown }).login_url,
        ],
        [401, login, login],
      );
      const { location = "" } = await browser.navigate("/payroll");
      assert.match(location, /\/idpauth\/login\/\?.*provider=staff/);
      assert.deepEqual((await browser.follow("/payroll")).json(), { provider: "staff" });
    },
  },
];
