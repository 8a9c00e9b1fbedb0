import assert from "node:assert/strict";
import type { CookieBrowser } from "../../../testing/browser/cookie-browser.js";
import type { Fault, IdTokenDraft, MutatedIdToken } from "../../../testing/provider/test-provider.js";
import type { StartedApplication } from "../application-starter.js";
import {
  ACCEPTS_JSON,
  assertLinkInvalid,
  assertPage,
  assertProblem,
  assertRedirect,
  assertRefused,
  assertRetryAfter,
  GRACE,
  ownCookies,
  probe,
  SIGNED_IN,
  SIGNED_OUT,
  withQuery,
} from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const INDEX = "/idpauth/";
const EVIL = "https://evil.example";

const tokenRequests = (app: StartedApplication) => app.provider.requestsTo("token").length;

/** ID tokens that must not sign a user in. */
const BAD_ID_TOKENS: readonly ((draft: IdTokenDraft) => MutatedIdToken)[] = [
  ({ claims }) => ({ claims: { ...claims, nonce: "another" } }),
  ({ claims }) => ({ claims: { ...claims, iss: EVIL } }),
  ({ claims }) => ({ claims: { ...claims, aud: "another-client" } }),
  ({ claims }) => ({ claims: { ...claims, exp: 1 } }),
  ({ header, claims, sign }) => sign({ ...header, alg: "none" }, claims),
  ({ header, claims, sign, publicKeyPem }) => sign({ ...header, alg: "HS256" }, claims, Buffer.from(publicKeyPem)),
  () => "garbage",
];

const REFUSALS: readonly Fault[] = [
  { kind: "status", status: 400, body: { error: "invalid_grant", error_description: "EVIL words" } },
  { kind: "status", status: 400 },
];

/** Outages: the client cannot know whether the code was accepted. */
const OUTAGES: readonly Fault[] = [
  { kind: "reset" },
  { kind: "status", status: 500, body: "EVIL words" },
  { kind: "status", status: 429, headers: { "Retry-After": "9" } },
  { kind: "status", status: 401, body: { error: "invalid_client" } },
  { kind: "redirect", status: 307 },
  { kind: "garbage" },
];

function codeOf(fault: Fault): string {
  return fault.kind === "status" && fault.status === 401 ? "provider_misconfigured" : "provider_unavailable";
}

/** Returns a signed-out browser, and a signed-in browser that is about to sign in another user. */
async function browsers(app: StartedApplication): Promise<readonly (readonly [browser: CookieBrowser, before: object])[]> {
  return [
    [app.browser(), SIGNED_OUT],
    [await app.signedIn(), SIGNED_IN],
  ];
}

export const callbackFailureRequirements: readonly AdapterRequirement[] = [
  {
    area: "callback",
    title: "the iss parameter is compared if present, and required if the provider announces it, also on errors (RFC 9207)",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const spoils: readonly ((callback: string) => string)[] = [
        (callback) => withQuery(callback, { iss: undefined }),
        (callback) => withQuery(callback, { iss: EVIL }),
        (callback) => withQuery(callback, { iss: `${app.provider.issuer}/` }),
        (callback) => `${callback}&iss=${encodeURIComponent(app.provider.issuer)}`,
        (callback) => withQuery(callback, { iss: EVIL, code: undefined, error: "access_denied" }),
      ];
      for (const spoil of spoils) {
        const callback = await app.approved(browser);
        assertRefused(await browser.navigate(spoil(callback)));
        assertLinkInvalid(await browser.navigate(callback));
      }
      assert.equal(tokenRequests(app), 0);
    },
  },
  {
    area: "callback",
    title: "the iss parameter may be missing if the provider does not announce it; a wrong iss is still refused",
    core: true,
    async check(starter) {
      const app = await starter.start({ provider: { announceIss: false } });
      const browser = app.browser();
      assertRefused(await browser.navigate(withQuery(await app.approved(browser), { iss: EVIL })));
      assertRedirect(await browser.navigate(await app.approved(browser)), INDEX);
    },
  },
  {
    area: "callback",
    title: "an ID token that fails verification gets a 400 page, changes no session, and its code is sent once",
    core: true,
    async check(starter) {
      const app = await starter.start();
      for (const [browser, before] of await browsers(app)) {
        for (const mutate of BAD_ID_TOKENS) {
          const callback = await app.approved(browser, undefined, GRACE);
          const asked = tokenRequests(app);
          app.provider.mutateIdToken = mutate;
          assertRefused(await browser.navigate(callback));
          app.provider.mutateIdToken = undefined;
          await browser.navigate(callback);
          assert.equal(tokenRequests(app), asked + 1);
          assert.deepEqual(await probe(browser), before);
        }
      }
    },
  },
  {
    area: "callback",
    title: "a code that the provider refuses gets a 400 page in fixed words, or problem+json if Accept asks for JSON",
    core: true,
    async check(starter) {
      const app = await starter.start();
      for (const [browser, before] of await browsers(app)) {
        for (const fault of REFUSALS) {
          app.provider.fault("token", { ...fault, times: 2 });
          const page = await browser.navigate(await app.approved(browser));
          assertRefused(page);
          const document = await browser.get(await app.approved(browser), { headers: ACCEPTS_JSON });
          assertProblem(document, 400, "sign_in_refused");
          assert.doesNotMatch(page.text + document.text, /EVIL/);
          assert.deepEqual(await probe(browser), before);
        }
      }
    },
  },
  {
    area: "callback",
    title: "the code of another login is refused",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const foreign = new URL(await app.approved(app.browser())).searchParams.get("code") ?? "";
      assertRefused(await browser.navigate(withQuery(await app.approved(browser), { code: foreign })));
      assert.deepEqual(await probe(browser), SIGNED_OUT);
    },
  },
  {
    area: "callback",
    title: "an outage of the token endpoint gets a 503 page with Retry-After and Try again, and stores nothing",
    core: true,
    async check(starter) {
      const app = await starter.start();
      for (const [browser, before] of await browsers(app)) {
        for (const fault of OUTAGES) {
          const callback = await app.approved(browser, undefined, GRACE);
          app.provider.fault("token", { ...fault, times: 1 });
          const response = await browser.navigate(callback);
          assertPage(response, 503, codeOf(fault), 'href="/idpauth/login/"');
          assertRetryAfter(response);
          assert.doesNotMatch(response.text, /EVIL/);
          assert.deepEqual(ownCookies(response), []);
          // The back-off has ended. The code was sent once and is never sent again.
          app.clock.advance(31_000);
          const asked = tokenRequests(app);
          await browser.navigate(callback);
          assert.equal(tokenRequests(app), asked);
          assert.deepEqual(await probe(browser), before);
        }
        assert.deepEqual(await probe(await app.signedIn(browser)), SIGNED_IN);
      }
    },
  },
  {
    area: "callback",
    title: "a callback while the process backs off from the provider gets 503 at once and keeps the pending login",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const [unlucky, browser] = [app.browser(), app.browser()];
      const [first, second] = [await app.approved(unlucky), await app.approved(browser)];
      // A refused code blocks no other login; a provider that does not respond does.
      app.provider.fault("token", { kind: "reset", times: 1 });
      assertRetryAfter(await unlucky.navigate(first));
      const response = await browser.get(second, { headers: ACCEPTS_JSON });
      assertProblem(response, 503, "provider_unavailable");
      assertRetryAfter(response);
      assert.equal(tokenRequests(app), 1);
      app.clock.advance(20_000);
      assertRedirect(await browser.navigate(second), INDEX);
    },
  },
  {
    area: "callback",
    title: "signing keys that cannot be fetched count as an outage, not as a refusal",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      app.provider.fault("jwks", { kind: "reset" });
      assertRetryAfter(await browser.navigate(await app.approved(browser)));
      assert.deepEqual(await probe(browser), SIGNED_OUT);
    },
  },
  {
    area: "callback",
    title: "a provider that does not respond gets 503 after IDP_HTTP_TIMEOUT",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { httpTimeout: 3 } });
      const browser = app.browser();
      const callback = await app.approved(browser);
      const hold = app.provider.hold("token");
      const response = browser.navigate(callback);
      await hold.arrived;
      app.clock.advance(3_000);
      assertRetryAfter(await response);
      hold.release();
    },
  },
];
