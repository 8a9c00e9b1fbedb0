import { afterEach, describe, expect, it } from "vitest";
import { createIdpAuth, type IdpAuth } from "../../src/adapter.js";
import type { IdpRequest } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { type ApplicationOptions, type TestUser } from "../support/application.js";
import { application, signedIn } from "../support/one-application.js";

afterEach(() => application.stop());

/** The results of all accessors for one request, those without side effects first. */
async function allAccessors(user: TestUser, auth: IdpAuth<IdpRequest> = application.auth) {
  const request = user.request("/reports");
  return {
    isAuthenticated: await auth.checkIdpAuthentication(request),
    explanation: await auth.explainIdpAuthentication(request),
    record: await auth.readSessionRecord(request),
    credentials: await auth.getCredentials(request),
    user: (await auth.clientState(request)).user,
    session: await auth.getSession(request),
    data: (await auth.getSession(request))?.data,
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

describe("seenSession", () => {
  const seen = (request: IdpRequest) => application.auth.seenSession(request)?.user.email;

  it("reads nothing: before the first gate, of a request that none has read, and of a debugging accessor", async () => {
    const user = await signedIn();
    const request = user.request("/reports");
    expect(application.auth.seenSession(request)).toBeNull();
    await application.auth.readSessionRecord(request);
    application.auth.loginUrl(request);
    expect(application.auth.seenSession(request)).toBeNull();
    await application.auth.checkIdpAuthentication(request);
    expect(seen(request)).toBe("ada@example.com");
    expect(application.auth.seenSession(user.request("/reports"))).toBeNull();
  });

  it("keeps what the first gate found after the end of the session and later reads", async () => {
    const user = await signedIn({ sessionMaxAge: 600 });
    const request = user.request("/reports");
    expect(await application.auth.guard(request)).toBeUndefined();
    application.clock.advance(601_000);
    expect(await application.auth.getSession(request)).toBeNull();
    expect(seen(request)).toBe("ada@example.com");
    const later = user.request("/reports");
    expect((await application.auth.guard(later))?.kind).toBe("unauthenticated");
    expect(application.auth.seenSession(later)).toBeNull();
  });

  it("is null in an outage, and the session once a later gate has found it", async () => {
    const user = await signedIn();
    const request = user.request("/reports");
    application.clock.advance(3_600_000);
    application.provider.fault("token", { kind: "reset", times: 1 });
    expect((await application.auth.guard(request))?.kind).toBe("unavailable");
    expect(application.auth.seenSession(request)).toBeNull();
    application.clock.advance(60_000);
    expect(await application.auth.guard(request)).toBeUndefined();
    expect(seen(request)).toBe("ada@example.com");
  });

  it("never names the user of another request with the same list of header lines", async () => {
    const clock = new TestClock();
    const store = memoryStore({ clock });
    const secretKey = "a secret key of at least 32 bytes";
    const user = await signedIn({ clock, store, secretKey });
    const { clientId, clientSecret, issuer } = application.provider;
    const rawHeaders: string[] = [];
    const auth = createIdpAuth<IdpRequest>(
      { env: {}, secretKey, clientId, clientSecret, issuer, store, clock, log: false },
      { name: "stand-in", request: (raw) => raw },
    );
    const probe = Object.assign(user.request("/idpauth/session"), { rawHeaders });
    await auth.handle(probe);
    const other = Object.assign(application.user().request("/reports"), { rawHeaders });
    expect(auth.seenSession(other)).toBeNull();
    expect(await auth.getSession(other)).toBeNull();
    expect(auth.seenSession(probe)?.user.email).toBe("ada@example.com");
  });

  it("names the user of a probe with slide=false, whose idle timeout still ends the session", async () => {
    const user = await signedIn({ sessionIdleTimeout: 1800 });
    for (let minute = 0; minute < 30; minute += 10) {
      application.clock.advance(600_000);
      const request = user.request("/idpauth/session?slide=false");
      await application.auth.handle(request);
      expect(seen(request)).toBe("ada@example.com");
    }
    application.clock.advance(1_000);
    expect(await application.auth.getSession(user.request("/reports"))).toBeNull();
  });
});
