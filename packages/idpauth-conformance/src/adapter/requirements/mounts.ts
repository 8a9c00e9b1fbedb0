import assert from "node:assert/strict";
import type { UserPayload } from "idpauth";
import type { CookieBrowser } from "idpauth/testing";
import type { TestProvider } from "idpauth/testing";
import { TestClock } from "idpauth/testing";
import type { ApplicationRoute } from "../adapter-under-test.js";
import type { ApplicationStarter, StartedApplication } from "../application-starter.js";
import { ACCEPTS_JSON, ADA, GRACE, ownCookies, SIGNED_IN, SIGNED_OUT } from "./assertions.js";
import { HOUR_MS, type AdapterRequirement } from "./requirement.js";

const area = "mounts";

/** The two mounts, with their guards and guarded pages. */
const HOME = { path: "/idpauth/", page: "/reports", cookie: "idpauth" } as const;
const PARTNERS = {
  path: "/partners/idpauth/",
  page: "/partner-reports",
  cookie: "idpauth.partners.idpauth",
} as const;
type Mount = typeof HOME | typeof PARTNERS;
const BOTH = [
  [HOME, PARTNERS],
  [PARTNERS, HOME],
] as const;

const ROUTES: readonly ApplicationRoute[] = [HOME, PARTNERS].map(({ page }, mount) => ({
  kind: "json",
  method: "GET",
  path: page,
  guard: { mount },
  respond: async (auths, raw) => ({
    user: (await auths[mount]?.clientState(raw))?.user,
    token: (await auths[mount]?.getCredentials(raw))?.token,
    // The result of the other mount for the same request.
    other: (await auths[1 - mount]?.clientState(raw))?.user,
  }),
}));

const GRACE_SHOWN: UserPayload = { email: GRACE.email, name: GRACE.name, picture: null };
const EXPECTED = new Map<Mount, object>([
  [HOME, SIGNED_IN],
  [PARTNERS, { authenticated: true, user: GRACE_SHOWN }],
]);

interface TwoMounts {
  readonly app: StartedApplication;
  readonly partners: TestProvider;
}

/** Starts two mounts whose providers have different users and the same client id. */
async function twoMounts(starter: ApplicationStarter): Promise<TwoMounts> {
  const clock = new TestClock();
  const partners = await starter.startProvider(clock, { person: GRACE });
  const { issuer, clientId, clientSecret } = partners;
  const app = await starter.start({
    clock,
    routes: ROUTES,
    options: [{}, { mountPath: PARTNERS.path, issuer, clientId, clientSecret }],
  });
  return { app, partners };
}

async function signIn(browser: CookieBrowser, { path }: Mount): Promise<void> {
  const response = await browser.follow(`${path}login/`);
  assert.deepEqual([response.status, response.url.pathname], [200, path], response.text);
}

async function says(browser: CookieBrowser, { path }: Mount): Promise<unknown> {
  return (await browser.get(`${path}session`)).json();
}

export const mountRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "a sign-in at one mount is none at the other, and each guard accepts only its own mount's users",
    async check(starter) {
      const { app } = await twoMounts(starter);
      for (const [here, there] of BOTH) {
        const browser = app.browser();
        const heard: string[] = [];
        const stops = app.auths.map((auth, mount) =>
          auth.on("login", () => heard.push(String(mount))),
        );
        await signIn(browser, here);
        for (const stop of stops) stop();
        assert.deepEqual(heard, [here === HOME ? "0" : "1"], "the other mount heard of it");
        assert.deepEqual(
          [await says(browser, here), await says(browser, there)],
          [EXPECTED.get(here), SIGNED_OUT],
        );
        const page = (await browser.get(here.page)).json() as { user: unknown; other: unknown };
        assert.deepEqual([page.user, page.other], [here === HOME ? ADA : GRACE_SHOWN, null]);
        const blocked = await browser.get(there.page, { headers: ACCEPTS_JSON });
        assert.deepEqual([blocked.status, blocked.json().login_url], [401, `${there.path}login/`]);
        assert.equal(
          (await browser.navigate(there.page)).location?.startsWith(`${there.path}login/?`),
          true,
        );
      }
    },
  },
  {
    area,
    title:
      "a user is signed in at both mounts at once, each refreshes at its own provider, and a logout at one leaves the other",
    session: "bundled",
    async check(starter) {
      const { app, partners } = await twoMounts(starter);
      for (const [first, second] of BOTH) {
        const browser = app.browser();
        await signIn(browser, first);
        await signIn(browser, second);
        const names = browser.cookies.all().map(({ name }) => name);
        assert.deepEqual(names, [first.cookie, second.cookie]);
        app.clock.advance(HOUR_MS);
        assert.deepEqual(
          [(await browser.get(HOME.page)).json(), (await browser.get(PARTNERS.page)).json()],
          [
            { user: ADA, token: app.newest("access_token"), other: GRACE_SHOWN },
            {
              user: GRACE_SHOWN,
              token: partners.issued.filter(({ kind }) => kind === "access_token").at(-1)?.value,
              other: ADA,
            },
          ],
        );
        const out = await browser.get(`${first.path}logout/?response=json`);
        assert.deepEqual(
          [out.status, ownCookies(out).map((line) => line.split("=", 1)[0])],
          [200, [first.cookie]],
        );
        assert.deepEqual(
          [await says(browser, first), await says(browser, second)],
          [SIGNED_OUT, EXPECTED.get(second)],
        );
        assert.equal((await browser.get(second.page)).status, 200);
        assert.equal((await browser.get(first.page)).status, 401);
      }
    },
  },
  {
    area,
    title:
      "a state of one mount at the other's callback gets 400, makes no token request, and still works at its own mount",
    session: "bundled",
    async check(starter) {
      const { app, partners } = await twoMounts(starter);
      for (const [here, there] of BOTH) {
        const browser = app.browser();
        const callback = await approved(app, browser, here);
        await approved(app, browser, there);
        const strayed = callback.replace(here.path, there.path);
        assert.notEqual(strayed, callback);
        assert.equal((await browser.navigate(strayed)).status, 400);
        assert.deepEqual(
          [await says(browser, here), await says(browser, there)],
          [SIGNED_OUT, SIGNED_OUT],
        );
        const asked = [app.provider, partners].map(
          (provider) => provider.requestsTo("token").length,
        );
        assert.deepEqual(asked, here === HOME ? [0, 0] : [1, 0], "a provider was asked for tokens");
        assert.equal((await browser.navigate(callback)).status, 302);
        assert.deepEqual(
          [await says(browser, here), await says(browser, there)],
          [EXPECTED.get(here), SIGNED_OUT],
        );
      }
    },
  },
  {
    area,
    title:
      "with the framework's own sessions, which both mounts share, a user never becomes the other mount's user",
    session: "host",
    async check(starter) {
      const { app } = await twoMounts(starter);
      for (const [here, there] of BOTH) {
        const browser = app.browser();
        const callback = await approved(app, browser, here);
        assert.equal((await browser.navigate(callback.replace(here.path, there.path))).status, 400);
        assert.deepEqual(
          [await says(browser, here), await says(browser, there)],
          [SIGNED_OUT, SIGNED_OUT],
        );
        await signIn(browser, here);
        assert.deepEqual(
          [await says(browser, here), await says(browser, there)],
          [EXPECTED.get(here), SIGNED_OUT],
        );
        await signIn(browser, there);
        assert.deepEqual(await says(browser, there), EXPECTED.get(there));
        assert.notDeepEqual(await says(browser, here), EXPECTED.get(there));
        assert.equal((await browser.get(`${there.path}logout/?response=json`)).status, 200);
        assert.deepEqual(
          [await says(browser, here), await says(browser, there)],
          [SIGNED_OUT, SIGNED_OUT],
        );
      }
    },
  },
];

/**
 * Starts a login at that mount, approves it at the provider, and returns the callback URL, which is
 * not requested yet.
 */
async function approved(
  { provider }: StartedApplication,
  browser: CookieBrowser,
  { path }: Mount,
): Promise<string> {
  const response = await browser.navigate(`${path}login/`);
  assert.equal(response.status, 302, response.text);
  // Either provider sends the request that a browser would send.
  return provider.signInCode(response.location ?? "");
}
