import { afterEach, describe, expect, it } from "vitest";
import type { IdpAuth, IdpRequest } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import {
  startApplication,
  type Application,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";

let application: Application;
afterEach(() => application.stop());

async function signedIn(options: ApplicationOptions = {}): Promise<TestUser> {
  const clock = new TestClock();
  application = await startApplication({ clock, store: memoryStore({ clock }), ...options });
  const user = application.user();
  await user.signIn();
  return user;
}

/** The results of all accessors for one request, those without side effects first. */
async function allAccessors(user: TestUser, auth: IdpAuth<IdpRequest> = application.auth) {
  const request = user.request("/reports");
  return {
    isAuthenticated: await auth.checkIdpAuthentication(request),
    explanation: await auth.explainIdpAuthentication(request),
    record: await auth.readSessionRecord(request),
    credentials: await auth.getCredentials(request),
    user: await auth.getUser(request),
    session: await auth.getSession(request),
    data: await auth.getData(request),
    accessToken: await auth.getAccessToken(request),
  };
}

const signedOut = (reason: string) => ({
  isAuthenticated: false,
  explanation: { authenticated: false, reason },
  credentials: null,
  user: null,
  session: null,
  data: undefined,
  accessToken: null,
});

describe("each accessor reports a signed-out user", () => {
  it.each<[when: string, reason: string, options: ApplicationOptions, seconds: number]>([
    ["it was not used for too long", "idle", { sessionIdleTimeout: 60 }, 61],
    ["renewal is switched off", "auto_refresh_off", { sessionAutoRefresh: false }, 3600],
    [
      "there is no refresh token",
      "no_refresh_token",
      { provider: { issueRefreshToken: false } },
      3600,
    ],
  ])(
    "when %s, with the reason %s; the record stays, and the provider gets no request",
    async (_when, reason, options, seconds) => {
      const user = await signedIn(options);
      application.clock.advance(seconds * 1000);
      const requests = application.provider.requests.length;
      const { record, ...results } = await allAccessors(user);
      expect(results).toEqual(signedOut(reason));
      expect(record).toHaveProperty("credentials");
      expect(application.provider.requests.length).toBe(requests);
    },
  );

  it("when the provider has refused to refresh, without another provider request", async () => {
    const user = await signedIn();
    application.clock.advance(3_600_000);
    application.provider.revokeAll();
    expect(await application.auth.getCredentials(user.request("/"))).toBeNull();
    const { record, ...results } = await allAccessors(user);
    expect(results).toEqual(signedOut("refresh_rejected"));
    expect(record?.["credentials"]).not.toHaveProperty("refresh_token");
    expect(application.provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(
      1,
    );
  });

  it.each<[what: string, changed: () => { clientId?: string; issuer?: string }]>([
    ["client", () => ({ clientId: "another client" })],
    ["issuer", () => ({ issuer: `${application.provider.issuer}/another` })],
  ])(
    "for a record from before a restart with another %s; the record itself stays",
    async (_what, changed) => {
      const user = await signedIn();
      const after = application.another(changed());
      const { record, ...results } = await allAccessors(user, after);
      expect([record, results]).toEqual([null, signedOut("no_credentials")]);
      expect(await after.guard(user.request("/reports"))).toMatchObject({
        kind: "unauthenticated",
      });
      expect(await application.auth.guard(user.request("/reports"))).toBeUndefined();
    },
  );
});
