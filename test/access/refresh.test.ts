import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ProviderUnavailableError, StoreUnavailableError } from "../../src/errors.js";
import type { Events } from "../../src/events/events.js";
import type { Credentials } from "../../src/record/credentials.js";
import type { SessionRecord } from "../../src/record/record.js";
import { LEASE_MS } from "../../src/access/refresh-limits.js";
import type { IdpAuth } from "../../src/adapter.js";
import type { IdpRequest } from "../../src/index.js";
import { type ApplicationOptions, type TestUser } from "../support/application.js";
import { buildPackage } from "../support/build.js";
import type {
  Fault,
  IdTokenDraft,
  TestProvider,
} from "../../src/testing/provider/test-provider.js";
import type { SealingStore } from "../support/sealing-store.js";
import { byStranger } from "../support/foreign-signature.js";
import type { TestClock } from "../../src/testing/test-clock.js";
import { PATIENCE as WAIT } from "../support/eventually.js";
import { settled } from "../../src/testing/settled.js";
import { application as app, sealing, startOver } from "../support/one-application.js";
import { bundledSessions } from "../support/bundled-sessions.js";

const HOUR = 3_600_000;
const PATIENCE = 5_000;
const BEYOND_BACK_OFF = 61_000;
const SECRET = "a secret key of at least 32 bytes";
const PROBE = "/idpauth/session?details=true";

let store: SealingStore;
let clock: TestClock;
let provider: TestProvider;

afterEach(() => app.stop());

async function start(options: ApplicationOptions = {}): Promise<void> {
  store = await startOver(sealing, { secretKey: SECRET, ...options });
  ({ clock, provider } = app);
}

/** Somebody who signed in an hour ago: the ID token has just expired. */
async function expiredUser(options?: ApplicationOptions): Promise<TestUser> {
  await start(options);
  const user = app.user();
  await user.signIn();
  clock.advance(HOUR);
  return user;
}

const refreshRequests = () => provider.requestsTo("token", { grant_type: "refresh_token" });
const issued = (kind: string) =>
  provider.issued.filter((each) => each.kind === kind).map(({ value }) => value);
const credentialsOf = (user: TestUser, auth = app.auth) => auth.getCredentials(user.request("/"));
const reasonOf = async (user: TestUser) =>
  (await app.auth.explainIdpAuthentication(user.request("/"))).reason;

/** The session as it lies in the store, private key included. */
function sessionOf(user: TestUser) {
  const [[name, value] = ["", ""]] = user.cookies;
  return bundledSessions({ store, clock, provider }).open(`${name}=${value}`, false);
}

async function recordOf(user: TestUser): Promise<SessionRecord> {
  const record = await sessionOf(user).read();
  if (record === undefined) throw new Error("the session is gone");
  return record;
}

function eventsOf<Name extends keyof Events>(
  auth: IdpAuth<IdpRequest>,
  name: Name,
): Events[Name][] {
  const events: Events[Name][] = [];
  auth.on(name, (event) => events.push(event));
  return events;
}

/** What happens over sockets takes its own time, which is not the clock's. */
const eventually = (claim: () => unknown) => vi.waitFor(claim, WAIT);

describe("an expired ID token", () => {
  it("[RFR-9] is refreshed: credentials and id_info are rewritten, exp moves on, idp_login_at does not", async () => {
    const user = await expiredUser();
    const before = await recordOf(user);
    expect((await user.get(PROBE)).json()).toMatchObject({
      authenticated: true,
      user: { email: "ada@example.com" },
      expires_in: 3600,
    });
    const after = await recordOf(user);
    expect(after.credentials).toEqual({
      ...before.credentials,
      token: issued("access_token").at(-1),
      refresh_token: issued("refresh_token").at(-1),
    });
    expect(after.credentials?.token).not.toBe(before.credentials?.token);
    expect(after.id_info?.exp).toBe((before.id_info?.exp as number) + 3600);
    expect(after.idp_login_at).toBe(before.idp_login_at);
    expect(after.idp_state.lease).toBeUndefined();
    await user.get(PROBE);
    await user.get(PROBE);
    expect(refreshRequests()).toHaveLength(1);
  });

  it("is refreshed again an hour later, with the rotated refresh token", async () => {
    const user = await expiredUser();
    for (let hour = 0; hour < 5; hour += 1) {
      expect(await user.isSignedIn()).toBe(true);
      clock.advance(HOUR);
    }
    expect(refreshRequests().map(({ params }) => params.get("refresh_token"))).toEqual(
      issued("refresh_token").slice(0, 5),
    );
    expect(provider.reuses).toBe(0);
  });

  it("without a refresh token ends the session", async () => {
    const user = await expiredUser({ provider: { issueRefreshToken: false } });
    expect((await user.get(PROBE)).json()).toMatchObject({
      authenticated: false,
      user: null,
      reason: "no_refresh_token",
    });
    expect(refreshRequests()).toEqual([]);
  });

  it("with auto-refresh off ends the session", async () => {
    const user = await expiredUser({ sessionAutoRefresh: false });
    expect((await user.get(PROBE)).json()).toMatchObject({
      authenticated: false,
      reason: "auto_refresh_off",
    });
    expect(refreshRequests()).toEqual([]);
  });

  it("beyond a session limit is not refreshed", async () => {
    const user = await expiredUser({ sessionMaxAge: 3599 });
    expect((await user.get(PROBE)).json()).toMatchObject({
      authenticated: false,
      reason: "max_age",
    });
    expect(refreshRequests()).toEqual([]);
  });

  it("read by checkIdpAuthentication and explainIdpAuthentication is not refreshed and not written", async () => {
    const user = await expiredUser();
    store.calls.length = 0;
    expect(await app.auth.checkIdpAuthentication(user.request("/"))).toBe(false);
    expect(await app.auth.explainIdpAuthentication(user.request("/"))).toEqual({
      authenticated: false,
      reason: "id_token_expired",
    });
    expect(refreshRequests()).toEqual([]);
    expect(store.calls.every(({ method }) => method === "get")).toBe(true);
  });
});

describe("claims of the refreshed ID token", () => {
  it("email, name, picture and email_verified that it lacks keep their old values; all other claims are replaced", async () => {
    await start();
    provider.person = {
      sub: "ada",
      email: "ada@example.com",
      email_verified: true,
      name: "Ada",
      picture: "https://p.example/a.png",
      hd: "old.example",
    };
    const user = app.user();
    await user.signIn();
    const before = await recordOf(user);
    provider.mutateIdToken = ({ claims }) => {
      for (const name of ["email", "email_verified", "name", "picture", "hd"])
        Reflect.deleteProperty(claims, name);
      return { claims: { ...claims, team: "new" } };
    };
    clock.advance(HOUR);
    expect((await user.get(PROBE)).json().user).toEqual({
      email: "ada@example.com",
      name: "Ada",
      picture: "https://p.example/a.png",
    });
    const after = (await recordOf(user)).id_info;
    expect(before.id_info?.["hd"]).toBe("old.example");
    expect(after).toMatchObject({ email_verified: true, team: "new" });
    expect(after).not.toHaveProperty("hd");
  });

  it("new values of email, name and picture take the place of the old ones", async () => {
    const user = await expiredUser();
    provider.mutateIdToken = (draft) => ({
      claims: { ...draft.claims, email: "countess@example.com", name: "Countess", picture: null },
    });
    expect((await user.get(PROBE)).json().user).toEqual({
      email: "countess@example.com",
      name: "Countess",
      picture: null,
    });
  });

  it("[ASVS-10.5.1] another user's sub is refused, and id_info stays as it was", async () => {
    const user = await expiredUser();
    const before = await recordOf(user);
    const eve: Record<string, unknown> = { sub: "eve", email: "eve@example.com" };
    provider.mutateIdToken = (draft) => ({ claims: { ...draft.claims, ...eve } });
    expect((await user.get(PROBE)).json()).toMatchObject({
      authenticated: false,
      user: null,
      reason: "refresh_rejected",
    });
    const after = await recordOf(user);
    expect(after.id_info).toEqual(before.id_info);
    expect(after.credentials?.token).toBe(before.credentials?.token);
    expect(after.credentials).not.toHaveProperty("refresh_token");
  });

  it("scopes stay as they are where the provider names none", async () => {
    const user = await expiredUser();
    const before = (await recordOf(user)).credentials?.scopes;
    provider.tokenResponse = ({ scope: _, ...rest }) => rest;
    expect((await credentialsOf(user))?.scopes).toEqual(before);
    expect(before?.length).toBeGreaterThan(0);
  });

  it("when the access token expires is stored again, and removed if the provider does not say", async () => {
    const user = await expiredUser({ provider: { accessTokenSeconds: 300 } });
    expect(await user.isSignedIn()).toBe(true);
    expect((await recordOf(user)).idp_state.access_token_expires_at).toBe(clock.now() / 1000 + 300);
    provider.tokenResponse = ({ expires_in: _, ...rest }) => rest;
    clock.advance(HOUR);
    expect(await user.isSignedIn()).toBe(true);
    expect((await recordOf(user)).idp_state).not.toHaveProperty("access_token_expires_at");
  });

  it("scopes that the provider names take the place of the old ones", async () => {
    const user = await expiredUser();
    provider.tokenResponse = (answer) => ({ ...answer, scope: "openid email" });
    expect((await credentialsOf(user))?.scopes).toEqual(["openid", "email"]);
  });
});

describe("[BCP-14] [R2] many requests on one expired session", () => {
  it("200 at once: one token request, 200 responses with the same tokens", async () => {
    const user = await expiredUser();
    const all = await Promise.all(Array.from({ length: 200 }, () => credentialsOf(user)));
    expect(refreshRequests()).toHaveLength(1);
    expect(new Set(all.map((credentials) => credentials?.token))).toEqual(
      new Set([issued("access_token").at(-1)]),
    );
    expect(provider.reuses).toBe(0);
  });

  it("of probe, guard and accessors together: one token request", async () => {
    const user = await expiredUser();
    const request = () => user.request("/reports");
    const [probe, blocked, session, token, credentials] = await Promise.all([
      user.get(PROBE),
      app.auth.guard(request()),
      app.auth.getSession(request()),
      app.auth.getAccessToken(request()),
      app.auth.getCredentials(request()),
    ]);
    expect([probe.json().authenticated, blocked, session?.user.email]).toEqual([
      true,
      undefined,
      "ada@example.com",
    ]);
    expect(token).toBe(credentials?.token);
    expect(refreshRequests()).toHaveLength(1);
  });

  it("[R15] a late request with an old copy uses the refreshed tokens and spends nothing", async () => {
    const user = await expiredUser();
    const late = user.request("/late");
    expect(await app.auth.checkIdpAuthentication(late)).toBe(false);
    expect(await user.isSignedIn()).toBe(true);
    const credentials = await app.auth.getCredentials(late);
    expect(credentials?.token).toBe(issued("access_token").at(-1));
    expect((await app.auth.readSessionRecord(late))?.["credentials"]).toEqual(credentials);
    expect(refreshRequests()).toHaveLength(1);
  });

  it("a request that only waited for another one's refresh sees the refreshed record in readSessionRecord", async () => {
    const user = await expiredUser();
    const requests = Array.from({ length: 5 }, () => user.request("/"));
    await Promise.all(requests.map((request) => app.auth.getCredentials(request)));
    for (const request of requests) {
      expect((await app.auth.readSessionRecord(request))?.["credentials"]).toMatchObject({
        token: issued("access_token").at(-1),
      });
    }
  });

  it("[R7] 200 users at once: everybody keeps their own identity and gets their own tokens", async () => {
    await start();
    // Whom the provider gave each token to.
    const owners = new Map<unknown, unknown>();
    provider.tokenResponse = (answer) => {
      const claims = Buffer.from(
        String(answer["id_token"]).split(".")[1] ?? "",
        "base64url",
      ).toString();
      for (const name of ["access_token", "refresh_token"])
        owners.set(answer[name], (JSON.parse(claims) as { sub: string }).sub);
      return answer;
    };
    const users = await Promise.all(
      Array.from({ length: 200 }, async (_, number) => {
        const user = app.user();
        await user.signIn(undefined, {
          sub: `user-${number}`,
          email: `user-${number}@example.com`,
          name: `User ${number}`,
        });
        return user;
      }),
    );
    clock.advance(HOUR);
    const before = await Promise.all(users.map(recordOf));
    const probes = await Promise.all(users.map((user) => user.get(PROBE)));
    const after = await Promise.all(users.map(recordOf));
    expect(refreshRequests()).toHaveLength(200);
    expect(probes.map((probe) => probe.json().user.email)).toEqual(
      users.map((_, number) => `user-${number}@example.com`),
    );
    expect(after.map((record) => record.id_info?.sub)).toEqual(
      users.map((_, number) => `user-${number}`),
    );
    expect(new Set([...before, ...after].map((record) => record.credentials?.token)).size).toBe(
      400,
    );
    for (const { credentials, id_info: idInfo } of after) {
      expect([owners.get(credentials?.token), owners.get(credentials?.refresh_token)]).toEqual([
        idInfo?.sub,
        idInfo?.sub,
      ]);
    }
  });
});

/** Another user's claims. */
const EVE = { sub: "eve" };

// test/provider/token-response.unit.test.ts has the other statuses and errors.
describe("what the provider's response to a refresh means", () => {
  type Arrange = () => unknown;
  const foreignKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const idToken =
    (change: (draft: IdTokenDraft) => ReturnType<NonNullable<TestProvider["mutateIdToken"]>>) =>
    () => {
      provider.mutateIdToken = change;
    };
  const claims = (changed: Record<string, unknown>) =>
    idToken((draft) => ({ claims: { ...draft.claims, ...changed } }));
  const answered = (fault: Fault) => () => provider.fault("token", fault);
  const status = (code: number, body?: unknown) => answered({ kind: "status", status: code, body });

  it("200, fresh ID token verified: refreshed", async () => {
    const user = await expiredUser();
    expect((await user.get(PROBE)).json()).toMatchObject({ authenticated: true, reason: null });
  });

  it.each<[string, Arrange]>([
    [
      "200, signature wrong under a known key",
      idToken(({ sign, header, claims }) => sign(header, claims, foreignKey)),
    ],
    ["200, no signature", idToken(({ sign, claims }) => sign({ alg: "none" }, claims))],
    ["200, ID token for another client", claims({ aud: "another-client" })],
    ["200, ID token of another sub", claims({ sub: "eve" })],
    [
      "200, the previous ID token again, which has expired",
      idToken(({ claims }) => {
        const iat = claims["iat"] as number;
        return { claims: { ...claims, iat: iat - 3600, exp: iat - 10 } };
      }),
    ],
    ["200, azp of another client", claims({ azp: "another-client" })],
    ["200, a nonce of another sign-in", claims({ nonce: "another" })],
    ["200, another sub, and a clock that is ahead", claims({ sub: "eve", iat: 99_999_999_999 })],
    ["200, at_hash of another access token", claims({ at_hash: "AAAAAAAAAAAAAAAAAAAAAA" })],
    ["200, something else than an ID token", idToken(() => "no.id.token")],
    [
      "200, an ID token that is no text",
      () => (provider.tokenResponse = (answer) => ({ ...answer, id_token: 1 })),
    ],
    [
      "400 invalid_grant",
      status(400, { error: "invalid_grant", error_description: "expired or revoked" }),
    ],
    ["the refresh token revoked at the provider", () => provider.revokeAll()],
  ])("[F16] %s: refused", async (_row, arrange) => {
    const user = await expiredUser();
    const before = await recordOf(user);
    const failures = eventsOf(app.auth, "failure");
    arrange();
    for (let probe = 0; probe < 10; probe += 1) {
      const answer = await user.get(PROBE);
      expect([
        answer.status,
        answer.json().authenticated,
        answer.json().user,
        answer.json().reason,
      ]).toEqual([200, false, null, "refresh_rejected"]);
    }
    expect(refreshRequests()).toHaveLength(1);
    expect(await credentialsOf(user)).toBeNull();
    expect(await reasonOf(user)).toBe("refresh_rejected");
    expect(failures).toHaveLength(1);
    const after = await recordOf(user);
    expect(after.credentials).not.toHaveProperty("refresh_token");
    expect(after.id_info).toEqual(before.id_info);
    expect(after.idp_state).toMatchObject({ refresh_rejected: true });
    expect(after.idp_state.lease).toBeUndefined();

    // Nothing but a login helps, and that clears it.
    provider.clearFaults();
    provider.mutateIdToken = undefined;
    provider.tokenResponse = undefined;
    clock.advance(BEYOND_BACK_OFF);
    expect(await user.isSignedIn()).toBe(false);
    expect(refreshRequests()).toHaveLength(1);
    await user.signIn();
    expect(await reasonOf(user)).toBeNull();
  });

  const outages: readonly [string, Arrange][] = [
    ["401 invalid_client", status(401, { error: "invalid_client" })],
    ["503", status(503)],
    ["302", answered({ kind: "redirect", status: 302 })],
    ["307", answered({ kind: "redirect", status: 307 })],
    ["400 invalid_request", status(400, { error: "invalid_request" })],
    ["200 that is not JSON", answered({ kind: "garbage" })],
    ["200 with a web page", answered({ kind: "wrong-type", body: "<html>maintenance</html>" })],
    ["200 larger than 1 MiB", answered({ kind: "oversized" })],
    ["200 cut short", answered({ kind: "truncated", body: '{"access_token":"at"' })],
    ["connection reset", answered({ kind: "reset" })],
    ["connection refused", () => provider.pause()],
  ];

  it.each(outages)("[F17] %s: an outage, nobody is signed out", async (row, arrange) => {
    const user = await expiredUser();
    const before = await recordOf(user);
    await arrange();
    for (let probe = 0; probe < 10; probe += 1) {
      const answer = await user.get(PROBE);
      // With a way to sign in where only this session's refresh fails.
      expect([answer.status, answer.json()]).toMatchObject([
        503,
        { authenticated: false, user: null },
      ]);
      expect(Number(answer.headers["Retry-After"])).toBeGreaterThanOrEqual(1);
    }
    expect(refreshRequests().length).toBeLessThanOrEqual(1);
    await expect(credentialsOf(user)).rejects.toBeInstanceOf(ProviderUnavailableError);
    expect(await app.auth.guard(user.request("/reports"))).toMatchObject({
      kind: "unavailable",
      reply: { status: 503 },
    });
    expect(await recordOf(user)).toEqual(before);
    if (row === "401 invalid_client") {
      expect(
        app.log.filter(({ level, code }) => level === "error" && code === "provider_misconfigured"),
      ).toHaveLength(1);
    }

    provider.clearFaults();
    if (row === "connection refused") await provider.resume();
    clock.advance(BEYOND_BACK_OFF);
    expect(await user.isSignedIn()).toBe(true);
  });

  describe("200, tokens that can't be accepted because of a machine or the configuration", () => {
    const seconds = (claim: unknown) => claim as number;
    /** The ID tokens of a provider whose clock differs from this machine's. */
    const shifted = (by: number) =>
      idToken(({ claims }) => ({
        claims: {
          ...claims,
          ...Object.fromEntries(
            ["iat", "exp", "nbf"].map((name) => [
              name,
              seconds(claims[name] ?? claims["iat"]) + by,
            ]),
          ),
        },
      }));
    const changed = (changes: Record<string, unknown>) => () =>
      (provider.tokenResponse = (answer) => ({ ...answer, ...changes }));
    const otherAlgorithm = () => {
      provider.jwks.publish({
        keys: provider.jwks.document().keys.map(({ alg: _alg, ...key }) => key),
      });
      provider.mutateIdToken = (draft) => ({ header: { ...draft.header, alg: "PS256" } });
    };
    const ROWS: readonly [string, Arrange, RegExp][] = [
      [
        "iat, nbf and exp 10 s ahead",
        shifted(10),
        /clock is at least 10 s ahead of .* IDP_CLOCK_TOLERANCE/,
      ],
      [
        "exp just past, and a later iat",
        idToken(({ claims }) => ({
          claims: { ...claims, iat: seconds(claims["iat"]) - 20, exp: seconds(claims["iat"]) - 10 },
        })),
        /clock is at least 10 s behind .* IDP_CLOCK_TOLERANCE/,
      ],
      [
        "another client beside this one in aud",
        idToken(({ claims }) => ({
          claims: { ...claims, aud: [claims["aud"], "project"], azp: claims["aud"] },
        })),
        /"project" \(aud\).* IDP_TRUSTED_AUDIENCES/,
      ],
      [
        "several audiences without azp",
        idToken(({ claims: { azp: _none, ...claims } }) => ({
          claims: { ...claims, aud: [claims["aud"], claims["aud"]] },
        })),
        /no azp/,
      ],
      ["an iss other than the issuer", claims({ iss: "http://internal:8080" }), /IDP_ISSUER/],
      [
        "an algorithm that isn't advertised",
        otherAlgorithm,
        /"PS256".* id_token_signing_alg_values_supported/,
      ],
      ["an access token of another type", changed({ token_type: "DPoP" }), /Bearer/],
      [
        "an access token that userinfo doesn't accept",
        () => {
          provider.tokenResponse = ({ id_token: _none, ...rest }) => rest;
          provider.fault("userinfo", { kind: "status", status: 401 });
        },
        /userinfo endpoint doesn't accept \(401\)/,
      ],
    ];

    it.each(ROWS)(
      "[F16] %s: 503 of this session alone, which keeps the rotated refresh token",
      async (_row, arrange, words) => {
        await start();
        const [user, other] = [app.user(), app.user()];
        await user.signIn();
        await other.signIn();
        clock.advance(HOUR);
        const before = await recordOf(user);
        arrange();
        for (let probe = 0; probe < 10; probe += 1) {
          const answer = await user.get(PROBE);
          expect([answer.status, answer.json()]).toEqual([
            503,
            { authenticated: false, user: null, login_url: "/idpauth/login/" },
          ]);
        }
        expect(refreshRequests()).toHaveLength(1);
        const { credentials, idp_state: state, ...during } = await recordOf(user);
        expect(credentials).toEqual({
          ...before.credentials,
          refresh_token: issued("refresh_token").at(-1),
        });
        expect(during.id_info).toEqual(before.id_info);
        expect(state).not.toHaveProperty("refresh_rejected");
        expect(state.lease).toBeUndefined();
        const lines = app.log.filter(({ code }) => code === "provider_misconfigured");
        expect(lines).toMatchObject([
          { code: "provider_misconfigured", message: expect.stringMatching(words) as string },
        ]);
        await expect(credentialsOf(user)).rejects.toMatchObject({ loginHelps: true });

        // Repaired: nobody else waits, and this session goes on with the rotated token.
        provider.clearFaults();
        provider.mutateIdToken = provider.tokenResponse = undefined;
        provider.jwks.reset();
        expect(await other.isSignedIn()).toBe(true);
        expect((await user.get(PROBE)).status).toBe(503);
        clock.advance(BEYOND_BACK_OFF);
        expect(await user.isSignedIn()).toBe(true);
        expect(provider.reuses).toBe(0);
      },
    );

    it("has one line a minute, and waits that grow to 5 minutes", async () => {
      const user = await expiredUser();
      shifted(10)();
      const since = clock.monotonic();
      while (clock.monotonic() - since < HOUR) {
        expect((await user.get(PROBE)).status).toBe(503);
        clock.advance(1_000);
      }
      // 1, 2, 4, … 256 and then 300 s; at the tests' jitter, at least three quarters of it.
      expect(refreshRequests().length).toBeGreaterThan(15);
      expect(refreshRequests().length).toBeLessThan(30);
      const lines = app.log.filter(({ code }) => code === "provider_misconfigured");
      expect(lines.length).toBeLessThan(refreshRequests().length);
    });

    it("503 offers the login: as a link, which leads back, and as login_url", async () => {
      const user = await expiredUser();
      claims({ iss: "http://internal:8080" })();
      const page = user.request("/reports?year=2026", {
        headers: { accept: "text/html", "sec-fetch-mode": "navigate" },
      });
      const loginUrl = "/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=";
      const blocked = await app.auth.guard(page);
      expect(blocked).toMatchObject({
        kind: "unavailable",
        loginUrl: expect.stringContaining(loginUrl) as string,
        reply: { status: 503 },
      });
      expect(blocked?.reply.body).toContain(">Sign in again</a>");
      expect(blocked?.reply.body).toContain("reports%3Fyear%3D2026");
      const script = await app.auth.guard(
        user.request("/data", { headers: { accept: "application/json" } }),
      );
      expect(script).toMatchObject({ loginUrl: "/idpauth/login/" });
      expect(JSON.parse(script?.reply.body ?? "")).toMatchObject({
        code: "provider_misconfigured",
        login_url: "/idpauth/login/",
      });
    });

    it.each([
      ["500, as Dex answers for a deleted user", 500],
      ["400 invalid_request, which may mean a dead token", 400],
    ])("%s: all responses say that this session isn't renewed", async (_name, status) => {
      const user = await expiredUser();
      provider.fault("token", { kind: "status", status, body: { error: "invalid_request" } });
      const page = user.request("/reports", {
        headers: { accept: "text/html", "sec-fetch-mode": "navigate" },
      });
      // The first response, and those of the back-off.
      for (let request = 0; request < 2; request += 1) {
        const { reply } = (await app.auth.guard(page)) ?? {};
        expect([reply?.status, reply?.headers["Retry-After"]]).toEqual([503, "1"]);
        expect(reply?.body).toContain("Your sign-in could not be renewed");
        expect(reply?.body).toContain(">Sign in again</a>");
        expect(reply?.body).not.toContain("not responding");
        const script = await app.auth.guard(
          user.request("/data", { headers: { accept: "application/json" } }),
        );
        expect(JSON.parse(script?.reply.body ?? "")).toMatchObject({
          code: "provider_unavailable",
          detail: expect.stringContaining("didn't renew this session") as string,
          login_url: "/idpauth/login/",
        });
        const probe = await user.get(PROBE);
        expect([probe.status, probe.json()]).toEqual([
          503,
          { authenticated: false, user: null, login_url: "/idpauth/login/" },
        ]);
      }
    });

    it("503 of an outage of everybody offers no login", async () => {
      const user = await expiredUser();
      provider.fault("token", { kind: "reset" });
      expect((await user.get(PROBE)).json()).toEqual({ authenticated: false, user: null });
      const script = await app.auth.guard(user.request("/data"));
      expect(script).toMatchObject({ kind: "unavailable" });
      expect(script).not.toHaveProperty("loginUrl");
      expect(script?.reply.body).not.toContain("login_url");
    });

    it("a sign-in ends the wait", async () => {
      const user = await expiredUser();
      claims({ iss: "http://internal:8080" })();
      expect((await user.get(PROBE)).status).toBe(503);
      provider.mutateIdToken = undefined;
      await user.signIn();
      expect(await user.isSignedIn()).toBe(true);
      clock.advance(HOUR);
      expect(await user.isSignedIn()).toBe(true);
    });

    it("an algorithm that the provider has begun to advertise is accepted after one fetch of its metadata", async () => {
      const user = await expiredUser();
      const before = provider.requestsTo("discovery").length;
      otherAlgorithm();
      provider.discoveryDocument = (document) => ({
        ...document,
        id_token_signing_alg_values_supported: ["RS256", "PS256"],
      });
      expect(await user.isSignedIn()).toBe(true);
      expect(provider.requestsTo("discovery").length - before).toBe(1);
      provider.jwks.reset();
    });
  });

  it.each<[string, Arrange]>([
    ["JSON with a byte order mark", answered({ kind: "wrong-type", byteOrderMark: true })],
    ["JSON labelled as a web page", answered({ kind: "wrong-type" })],
    [
      "empty strings for optional members",
      () => {
        provider.tokenResponse = (answer) => ({ ...answer, scope: "" });
        claims({ nonce: "", at_hash: "", sid: "", acr: "", auth_time: 0 })();
      },
    ],
    [
      "an empty ID token, for which userinfo stands in",
      () => (provider.tokenResponse = (answer) => ({ ...answer, id_token: "" })),
    ],
    [
      "an azp that is new, because a second audience requires it",
      idToken(({ claims }) => ({
        claims: { ...claims, aud: [claims["aud"], "trusted"], azp: claims["aud"] },
      })),
    ],
  ])("200, %s: refreshed", async (_row, arrange) => {
    const user = await expiredUser({ trustedAudiences: ["trusted"] });
    arrange();
    expect(await user.isSignedIn()).toBe(true);
    for (const name of ["nonce", "at_hash", "sid", "acr", "auth_time"])
      expect((await recordOf(user)).id_info?.[name]).not.toBe("");
    expect(await credentialsOf(user)).toMatchObject({ token: issued("access_token").at(-1) });
  });

  describe("an ambiguous 400", () => {
    const BODIES: readonly [string, unknown][] = [
      ["invalid_request", { error: "invalid_request" }],
      ["no body", undefined],
    ];
    const alone = (user: { readonly token: unknown }, body: unknown) =>
      provider.fault("token", {
        kind: "status",
        status: 400,
        body,
        when: ({ params }) => params.get("refresh_token") === user.token,
      });
    const tokenOf = async (user: TestUser) => ({
      token: (await recordOf(user)).credentials?.refresh_token,
    });

    it.each(BODIES)("never refuses alone, however often: %s", async (_name, body) => {
      const user = await expiredUser();
      const before = await recordOf(user);
      alone(await tokenOf(user), body);
      for (let time = 1; time <= 8; time += 1) {
        expect((await user.get(PROBE)).status).toBe(503);
        expect((await user.get(PROBE)).status).toBe(503);
        expect(refreshRequests()).toHaveLength(time);
        clock.advance(BEYOND_BACK_OFF);
      }
      expect(await recordOf(user)).toEqual(before);
      provider.clearFaults();
      expect(await user.isSignedIn()).toBe(true);
    });

    it.each(BODIES)(
      "refuses at the second time, if a token request of the client has succeeded in between: %s",
      async (_name, body) => {
        const user = await expiredUser();
        alone(await tokenOf(user), body);
        expect((await user.get(PROBE)).status).toBe(503);
        // Nobody else waits.
        await app.user().signIn();
        expect((await user.get(PROBE)).status).toBe(503);
        clock.advance(BEYOND_BACK_OFF);
        expect((await user.get(PROBE)).json()).toMatchObject({
          authenticated: false,
          reason: "refresh_rejected",
        });
        expect(refreshRequests()).toHaveLength(2);
      },
    );

    it("starts over after a success of the session itself", async () => {
      const user = await expiredUser();
      alone(await tokenOf(user), undefined);
      expect((await user.get(PROBE)).status).toBe(503);
      provider.clearFaults();
      clock.advance(BEYOND_BACK_OFF);
      expect(await user.isSignedIn()).toBe(true);
      clock.advance(HOUR);
      alone(await tokenOf(user), undefined);
      expect((await user.get(PROBE)).status).toBe(503);
    });

    it("starts over after another process has refreshed the session", async () => {
      const user = await expiredUser();
      alone(await tokenOf(user), undefined);
      expect((await user.get(PROBE)).status).toBe(503);
      provider.clearFaults();
      provider.mutateIdToken = ({ claims: now }) => ({
        claims: { ...now, exp: (now["iat"] as number) + 60 },
      });
      expect(await user.at(app.another()).isSignedIn()).toBe(true);
      expect(refreshRequests()).toHaveLength(2);
      clock.advance(60_000);
      alone(await tokenOf(user), undefined);
      await app.user().signIn();
      expect((await user.get(PROBE)).status).toBe(503);
      expect(refreshRequests()).toHaveLength(3);
    });

    it("starts over after ten minutes: the second one belongs to another outage", async () => {
      const user = await expiredUser();
      alone(await tokenOf(user), undefined);
      expect((await user.get(PROBE)).status).toBe(503);
      await app.user().signIn();
      clock.advance(600_000);
      expect((await user.get(PROBE)).status).toBe(503);
      clock.advance(599_999);
      await app.user().signIn();
      expect((await user.get(PROBE)).json()).toMatchObject({ reason: "refresh_rejected" });
    });

    it("doesn't count a success of userinfo, of the keys or of a revocation", async () => {
      const user = await expiredUser();
      const other = app.user();
      alone(await tokenOf(user), undefined);
      await other.signIn();
      expect((await user.get(PROBE)).status).toBe(503);
      await other.get("/idpauth/logout/");
      clock.advance(BEYOND_BACK_OFF);
      expect((await user.get(PROBE)).status).toBe(503);
    });
  });

  it("200, kid unknown after one forced refetch: an outage, and the rotated refresh token is kept", async () => {
    const user = await expiredUser();
    provider.mutateIdToken = byStranger({ kid: "nobody" });
    expect((await user.get(PROBE)).status).toBe(503);
    const { credentials, idp_state: state } = await recordOf(user);
    expect(credentials?.refresh_token).toBe(issued("refresh_token").at(-1));
    expect(state.lease).toBeUndefined();
    provider.mutateIdToken = undefined;
    clock.advance(BEYOND_BACK_OFF);
    expect(await user.isSignedIn()).toBe(true);
    expect(provider.reuses).toBe(0);
  });

  it("200, JWKS down: the rotated refresh token is stored, and the session recovers with it", async () => {
    const user = await expiredUser();
    const before = await recordOf(user);
    await provider.rotateKeys({ keepOld: false });
    provider.fault("jwks", { kind: "status", status: 503 });
    const answer = await user.get(PROBE);
    expect([answer.status, answer.json().authenticated]).toEqual([503, false]);
    const during = await recordOf(user);
    expect(during.credentials).toEqual({
      ...before.credentials,
      refresh_token: issued("refresh_token").at(-1),
    });
    expect(during.id_info).toEqual(before.id_info);

    provider.clearFaults();
    clock.advance(BEYOND_BACK_OFF);
    expect(await user.isSignedIn()).toBe(true);
    expect(refreshRequests().map(({ params }) => params.get("refresh_token"))).toEqual(
      issued("refresh_token").slice(0, 2),
    );
    expect(provider.reuses).toBe(0);
  });

  it("no ID token: 20 requests at once are signed in, by one token request and one of userinfo", async () => {
    const user = await expiredUser();
    provider.tokenResponse = ({ id_token: _none, ...rest }) => rest;
    const answers = await Promise.all(Array.from({ length: 20 }, () => user.get(PROBE)));
    for (const answer of answers) expect(answer.json()).toMatchObject({ authenticated: true });
    expect(refreshRequests()).toHaveLength(1);
    expect(provider.requestsTo("userinfo")).toHaveLength(1);
    const token = (await recordOf(user)).credentials?.token;
    expect(token).toBe(issued("access_token").at(-1));
    expect(await app.auth.getAccessToken(user.request("/"))).toBe(token);
  });

  it("userinfo that does not respond: an outage, and the rotated refresh token is kept", async () => {
    const user = await expiredUser();
    provider.tokenResponse = ({ id_token: _none, ...rest }) => rest;
    provider.fault("userinfo", { kind: "status", status: 503 });
    expect((await user.get(PROBE)).status).toBe(503);
    expect((await recordOf(user)).credentials?.refresh_token).toBe(issued("refresh_token").at(-1));
    provider.clearFaults();
    clock.advance(BEYOND_BACK_OFF);
    expect(await user.isSignedIn()).toBe(true);
    expect(provider.reuses).toBe(0);
  });

  describe("a refresh token that is dropped because its response is refused", () => {
    const isActive = (token: string | undefined) => provider.isActive(token ?? "");

    it("is revoked, and nothing of it stays in the record", async () => {
      const user = await expiredUser();
      provider.mutateIdToken = (draft) => ({ claims: { ...draft.claims, ...EVE } });
      expect((await user.get(PROBE)).json()).toMatchObject({ authenticated: false });
      await settled(app.auth);
      expect(isActive(issued("refresh_token").at(-1))).toBe(false);
      expect((await recordOf(user)).idp_state).not.toHaveProperty("dropped_token");
    });

    it("while it cannot be revoked, the logout tries again and says so", async () => {
      const user = await expiredUser();
      const logouts = eventsOf(app.auth, "logout");
      provider.mutateIdToken = (draft) => ({ claims: { ...draft.claims, ...EVE } });
      const withdraw = provider.fault("revoke", { kind: "status", status: 400 });
      await user.get(PROBE);
      await settled(app.auth);
      const [first, second] = [user, user.at(app.another())];
      expect((await recordOf(first)).idp_state.dropped_token).toBe(issued("refresh_token").at(-1));
      withdraw();
      await second.get("/idpauth/session");
      expect((await first.get("/idpauth/logout/?response=json")).json()).toEqual({
        status: "logged_out",
      });
      await settled(app.auth);
      expect(logouts.map(({ revoked }) => revoked)).toEqual([true]);
      expect(isActive(issued("refresh_token").at(-1))).toBe(false);
    });

    it("that cannot be revoked at the logout either: revoked is false", async () => {
      const user = await expiredUser();
      const logouts = eventsOf(app.auth, "logout");
      provider.mutateIdToken = (draft) => ({ claims: { ...draft.claims, ...EVE } });
      const token = () => issued("refresh_token").at(-1);
      provider.fault("revoke", {
        kind: "status",
        status: 400,
        when: ({ params }) => params.get("token") === token(),
      });
      await user.get(PROBE);
      await user.get("/idpauth/logout/");
      await settled(app.auth);
      expect(logouts.map(({ revoked }) => revoked)).toEqual([false]);
    });
  });

  it("[F17] an operator's error that is corrected: everybody is still signed in", async () => {
    const user = await expiredUser();
    const secret = provider.settings.clientSecret;
    provider.settings.clientSecret = "another one";
    expect((await user.get(PROBE)).status).toBe(503);
    expect(provider.violations.splice(0)).toEqual([
      "token: invalid_client: the client secret is wrong",
    ]);
    provider.settings.clientSecret = secret;
    clock.advance(BEYOND_BACK_OFF);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("no response's own words, no token and no secret reach log or events", async () => {
    const user = await expiredUser();
    const failures = eventsOf(app.auth, "failure");
    provider.fault("token", {
      kind: "status",
      status: 400,
      body: { error: "invalid_grant", error_description: "hostile words" },
    });
    await user.get(PROBE);
    const written = JSON.stringify([app.log, failures]);
    for (const { value } of provider.issued) expect(written).not.toContain(value);
    for (const word of ["hostile words", provider.clientSecret, SECRET])
      expect(written).not.toContain(word);
  });
});

describe("[F4] after an outage", () => {
  it("this process responds at once, without a request, until the back-off ends", async () => {
    const user = await expiredUser();
    const other = app.user();
    await other.signIn();
    clock.advance(HOUR);
    provider.fault("token", {
      kind: "status",
      status: 503,
      headers: { "Retry-After": "20" },
      times: 1,
    });
    expect((await user.get(PROBE)).headers["Retry-After"]).toBe("20");
    clock.advance(19_000);
    store.calls.length = 0;
    const answers = await Promise.all([user.get(PROBE), other.get(PROBE)]);
    // The other session's refresh is its own matter.
    expect(answers.map(({ status, headers }) => [status, headers["Retry-After"]])).toEqual([
      [503, "1"],
      [200, undefined],
    ]);
    expect(refreshRequests()).toHaveLength(2);
    clock.advance(1_000);
    expect([await user.isSignedIn(), await other.isSignedIn()]).toEqual([true, true]);
  });

  it("a session whose ID token is still good does not notice", async () => {
    const user = await expiredUser();
    const fresh = app.user();
    await fresh.signIn();
    provider.fault("token", { kind: "status", status: 503 });
    expect((await user.get(PROBE)).status).toBe(503);
    expect(await fresh.isSignedIn()).toBe(true);
  });
});

describe("[F2] [R3] a slow provider", () => {
  it("a user waits at most IDP_HTTP_TIMEOUT, then 503, while the refresh goes on and is stored", async () => {
    const user = await expiredUser();
    const refreshed = eventsOf(app.auth, "refresh");
    const token = provider.hold("token");
    const probe = user.get(PROBE);
    const asked = expect(credentialsOf(user)).rejects.toMatchObject({ reason: "refresh_pending" });
    await token.arrived;
    await clock.advanceAsync(PATIENCE - 1);
    let answered = false;
    void probe.then(() => (answered = true));
    await clock.advanceAsync(0);
    expect(answered).toBe(false);
    await clock.advanceAsync(1);
    expect([(await probe).status, (await probe).json().authenticated]).toEqual([503, false]);
    await asked;

    await clock.advanceAsync(20_000);
    expect(refreshed).toEqual([]);
    token.release();
    await eventually(() => expect(refreshed).toHaveLength(1));
    expect((await recordOf(user)).credentials?.refresh_token).toBe(issued("refresh_token").at(-1));
    expect(await user.isSignedIn()).toBe(true);
    expect(refreshRequests()).toHaveLength(1);
  });

  it("the refresh itself ends after 30 s; the lease is given back and the session stays", async () => {
    const user = await expiredUser();
    const failures = eventsOf(app.auth, "failure");
    provider.fault("token", { kind: "hang" });
    const probe = user.get(PROBE);
    await eventually(() => expect(refreshRequests()).toHaveLength(1));
    await clock.advanceAsync(PATIENCE);
    expect((await probe).status).toBe(503);
    await clock.advanceAsync(30_000 - PATIENCE - 1);
    expect(failures).toEqual([]);
    await clock.advanceAsync(1);
    await eventually(() =>
      expect(failures).toMatchObject([{ during: "refresh", reason: "timeout", duration: 30_000 }]),
    );
    await eventually(async () => expect((await recordOf(user)).idp_state.lease).toBeUndefined());
    provider.clearFaults();
    await clock.advanceAsync(BEYOND_BACK_OFF);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("[R14] the maximum age reached during the refresh: not authenticated", async () => {
    const user = await expiredUser({ sessionMaxAge: 3603 });
    const token = provider.hold("token");
    const probe = user.get(PROBE);
    await token.arrived;
    await clock.advanceAsync(4_000);
    token.release();
    expect((await probe).json()).toMatchObject({
      authenticated: false,
      user: null,
      reason: "max_age",
    });
    expect(await credentialsOf(user)).toBeNull();
  });

  it("the idle timeout is stamped by the access that refreshed, and never by the refresh alone", async () => {
    await start({ sessionIdleTimeout: 1800 });
    const user = app.user();
    await user.signIn();
    for (let step = 0; step < 3; step += 1) {
      clock.advance(1_200_000);
      expect(await user.isSignedIn()).toBe(true);
    }
    expect(refreshRequests()).toHaveLength(1);
    expect((await recordOf(user)).idp_last_active).toBe(clock.now() / 1000);
    clock.advance(1_801_000);
    expect((await user.get(PROBE)).json().reason).toBe("idle");
  });
});

describe("[R5] a logout during a refresh", () => {
  it.each<[string, boolean]>([
    ["before the provider has spent the token", true],
    ["after the provider has rotated it", false],
  ])("%s: the session stays gone and the late tokens are revoked", async (_when, before) => {
    const user = await expiredUser();
    const key = store.inserted.at(-1)!;
    const token = provider.hold("token", { before });
    const probe = user.get(PROBE);
    await token.arrived;
    const tab = user.at(app.auth);
    expect((await tab.get("/idpauth/logout/?response=json")).json()).toEqual({
      status: "logged_out",
    });
    token.release();
    expect((await probe).json()).toMatchObject({
      authenticated: false,
      user: null,
      reason: "no_credentials",
    });
    expect(await store.peek(key)).toBeUndefined();
    expect(await user.isSignedIn()).toBe(false);
    await eventually(() =>
      expect(provider.requestsTo("revoke").length).toBeGreaterThanOrEqual(before ? 1 : 2),
    );
    for (const value of [...issued("access_token"), ...issued("refresh_token")])
      expect(provider.isActive(value)).toBe(false);
  });

  it("a sign-in during a refresh is none: the late tokens are dropped, not revoked, since the new session may share their grant", async () => {
    const user = await expiredUser();
    const tab = user.at(app.auth);
    const callback = await tab.approve();
    const token = provider.hold("token", {
      before: false,
      when: ({ params }) => params.get("grant_type") === "refresh_token",
    });
    const probe = user.get(PROBE);
    await token.arrived;
    expect((await tab.get(callback)).status).toBe(302);
    token.release();
    expect((await probe).json().authenticated).toBe(false);
    expect(await tab.isSignedIn()).toBe(true);
    expect(provider.requestsTo("revoke")).toEqual([]);
  });

  it("a log hook that throws loses neither the refusal nor the lease", async () => {
    const user = await expiredUser({
      log: () => {
        throw new Error("the log is full");
      },
    });
    provider.fault("token", { kind: "status", status: 400, body: { error: "invalid_grant" } });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect((await user.get(PROBE)).json()).toMatchObject({
        authenticated: false,
        reason: "refresh_rejected",
      });
    }
    expect(refreshRequests()).toHaveLength(1);
    expect((await recordOf(user)).idp_state.lease).toBeUndefined();
  });

  it("between the rotated token's write and the last one: the same", async () => {
    const user = await expiredUser();
    const key = store.inserted.at(-1)!;
    const tab = user.at(app.auth);
    await provider.rotateKeys({ keepOld: false });
    const jwks = provider.hold("jwks");
    const probe = user.get(PROBE);
    await jwks.arrived;
    await tab.get("/idpauth/logout/?response=json");
    jwks.release();
    expect((await probe).json().authenticated).toBe(false);
    expect(await store.peek(key)).toBeUndefined();
    // The rotated token was stored before the logout, which has revoked it.
    expect(provider.isActive(issued("refresh_token").at(-1)!)).toBe(false);
  });
});

describe("a store that fails during a refresh", () => {
  /** Fails the n-th write from now on, once. */
  function failWrite(hook: "before" | "after", number: number): void {
    let writes = 0;
    store.calls.length = 0;
    store[hook] = ({ method }) => {
      if (method !== "replace") return;
      writes += 1;
      if (writes === number) throw new Error("connection lost");
    };
  }

  // The writes of a refresh: the lease, the rotated refresh token, the verified rest.
  it.each<[string, "before" | "after", number]>([
    ["rejects the write of the rotated token", "before", 2],
    ["loses the answer to the write of the rotated token", "after", 2],
    ["rejects the last write", "before", 3],
    ["loses the answer to the last write", "after", 3],
  ])("%s once: it is tried again, stored, and nothing is revoked", async (_what, hook, number) => {
    const user = await expiredUser();
    failWrite(hook, number);
    const probe = user.get(PROBE);
    await eventually(() => expect(store.count("replace")).toBe(number));
    let answered = false;
    void probe.then(() => (answered = true));
    await eventually(async () => {
      await clock.advanceAsync(50);
      expect(answered).toBe(true);
    });
    expect((await probe).json()).toMatchObject({ authenticated: true });
    expect((await recordOf(user)).credentials).toMatchObject({
      token: issued("access_token").at(-1),
      refresh_token: issued("refresh_token").at(-1),
    });
    expect(refreshRequests()).toHaveLength(1);
    expect(provider.requestsTo("revoke")).toEqual([]);
    clock.advance(HOUR);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("is away for the last write and stays away: 503, and the rotated token that it has still works", async () => {
    const user = await expiredUser();
    let writes = 0;
    store.before = ({ method }) => {
      if (method === "replace" && (writes += 1) > 2) throw new Error("connection lost");
    };
    const failures = eventsOf(app.auth, "failure");
    const probe = user.get(PROBE);
    await eventually(() => expect(writes).toBeGreaterThan(2));
    await clock.advanceAsync(PATIENCE);
    expect((await probe).status).toBe(503);
    // The last attempt begins while its write would still be over before the lease is.
    await clock.advanceAsync(34_000 - PATIENCE - 1);
    expect(failures).toEqual([]);
    await clock.advanceAsync(1);
    expect(failures).toMatchObject([{ during: "refresh", reason: "store_unavailable" }]);
    store.before = undefined;
    expect((await recordOf(user)).credentials?.refresh_token).toBe(issued("refresh_token").at(-1));
    // The lease could not be given back; it runs out.
    const later = user.get(PROBE);
    await clock.advanceAsync(PATIENCE);
    expect((await later).status).toBe(503);
    await clock.advanceAsync(LEASE_MS);
    await eventually(() => expect(refreshRequests()).toHaveLength(2));
    await eventually(async () => expect(await user.isSignedIn()).toBe(true));
    expect(provider.reuses).toBe(0);
  });

  it("a read that fails is an outage, never signed out", async () => {
    const user = await expiredUser();
    store.before = () => {
      throw new Error("connection lost");
    };
    const answer = await user.get(PROBE);
    expect([answer.status, answer.setCookies ?? []]).toEqual([503, []]);
    await expect(credentialsOf(user)).rejects.toBeInstanceOf(StoreUnavailableError);
  });
});

describe("[ASVS-15.4.1] [R3] the lease", () => {
  const lease =
    (nonce: string) =>
    (record: SessionRecord): SessionRecord => ({
      ...record,
      idp_state: { ...record.idp_state, lease: { nonce, taken_at: clock.now() / 1000 } },
    });

  it("[S4] left by a dead process is taken over after its whole duration of 40 s, and not before", async () => {
    const user = await expiredUser();
    // 30 s at the provider, four store operations of 2 s, and 2 s more.
    expect(LEASE_MS).toBe(40_000);
    await sessionOf(user).update(lease("dead"));
    const probe = user.get(PROBE);
    await clock.advanceAsync(PATIENCE);
    expect((await probe).status).toBe(503);
    await clock.advanceAsync(LEASE_MS - PATIENCE - 1);
    expect(refreshRequests()).toEqual([]);
    // The longest wait between two looks.
    await clock.advanceAsync(1_501);
    await eventually(() => expect(refreshRequests()).toHaveLength(1));
    await eventually(async () => expect((await recordOf(user)).idp_state.lease).toBeUndefined());
    expect(await user.isSignedIn()).toBe(true);
    expect(refreshRequests()).toHaveLength(1);
  });

  it("[F13] is judged by the monotonic clock: a step of the wall clock takes nothing over", async () => {
    const user = await expiredUser();
    await sessionOf(user).update(lease("alive"));
    const probe = user.get(PROBE);
    await clock.advanceAsync(1_000);
    clock.setNow(clock.now() + 24 * HOUR);
    await clock.advanceAsync(PATIENCE);
    expect((await probe).status).toBe(503);
    expect(refreshRequests()).toEqual([]);
    await clock.advanceAsync(LEASE_MS + 1_500);
    await eventually(() => expect(refreshRequests()).toHaveLength(1));
    await eventually(async () => expect((await recordOf(user)).idp_state.lease).toBeUndefined());
  });

  it("[R15] taken over before the response: the old holder writes nothing, drops what it got and uses the new holder's tokens", async () => {
    const user = await expiredUser();
    const token = provider.hold("token", { before: false });
    const probe = user.get(PROBE);
    await token.arrived;
    const theirs: Credentials = {
      ...(await recordOf(user)).credentials!,
      token: "at_theirs",
      refresh_token: "rt_theirs",
    };
    await sessionOf(user).update((record) => ({
      ...lease("theirs")(record),
      credentials: theirs,
      id_info: { ...record.id_info, exp: clock.now() / 1000 + 3600 },
    }));
    const before = await recordOf(user);
    token.release();
    expect((await probe).json().authenticated).toBe(true);
    expect(await credentialsOf(user)).toEqual(theirs);
    expect(await recordOf(user)).toEqual(before);
    // Revoked, it could take the whole grant with it, the new holder's tokens included.
    await settled(app.auth);
    expect(provider.requestsTo("revoke")).toEqual([]);
  });

  /** Does something just before this refresh asks for the lease, its first write. */
  function beforeTheLease(work: () => Promise<unknown>): void {
    let writes = 0;
    store.before = async ({ method }) => {
      if (method === "replace" && (writes += 1) === 1) await work();
    };
  }

  it("is not taken when another process has refreshed the session since the read", async () => {
    const user = await expiredUser();
    const exp = clock.now() / 1000 + 3600;
    beforeTheLease(() =>
      sessionOf(user).update((record) => ({ ...record, id_info: { ...record.id_info, exp } })),
    );
    expect(await user.isSignedIn()).toBe(true);
    expect(refreshRequests()).toEqual([]);
    expect((await recordOf(user)).idp_state.lease).toBeUndefined();
  });

  it("is not taken from another process that took it since the read", async () => {
    const user = await expiredUser();
    beforeTheLease(() => sessionOf(user).update(lease("theirs")));
    const probe = user.get(PROBE);
    await clock.advanceAsync(PATIENCE);
    expect((await probe).status).toBe(503);
    expect(refreshRequests()).toEqual([]);
    expect((await recordOf(user)).idp_state.lease?.nonce).toBe("theirs");
  });

  it("is not taken when the session has ended since the read: signed out, no token is spent", async () => {
    const user = await expiredUser();
    beforeTheLease(() => sessionOf(user).destroy());
    expect((await user.get(PROBE)).json()).toMatchObject({
      authenticated: false,
      user: null,
      reason: "no_credentials",
    });
    expect(refreshRequests()).toEqual([]);
  });

  it.each<[string, () => unknown, boolean]>([
    ["another process, and the answer is good", () => undefined, false],
    ["somebody who left the lease, and the answer is good", () => undefined, true],
    [
      "somebody who left the lease, and the answer is a refusal",
      () =>
        provider.fault("token", {
          kind: "status",
          status: 400,
          body: { error: "invalid_grant" },
          before: false,
        }),
      true,
    ],
  ])(
    "and credentials taken out of the record by %s: signed out",
    async (_what, arrange, keepsLease) => {
      const user = await expiredUser();
      arrange();
      const token = provider.hold("token", { before: false });
      const probe = user.get(PROBE);
      await token.arrived;
      await sessionOf(user).update(({ idp_state: { lease: held, ...state } }) => ({
        idp_state: { ...state, ...(keepsLease && held !== undefined && { lease: held }) },
      }));
      token.release();
      expect((await probe).json()).toMatchObject({
        authenticated: false,
        user: null,
        reason: "no_credentials",
      });
      expect((await recordOf(user)).credentials).toBeUndefined();
      expect((await recordOf(user)).idp_state.lease).toBeUndefined();
    },
  );

  it("lost to a writer that came between the read and the write: the tokens are dropped, not taken for stored", async () => {
    const user = await expiredUser();
    let writes = 0;
    store.before = async ({ method }) => {
      if (method !== "replace" || (writes += 1) !== 3) return;
      await sessionOf(user).update(lease("theirs"));
    };
    const refreshed = eventsOf(app.auth, "refresh");
    const answer = await user.get(PROBE);
    expect(answer.status).toBe(503);
    expect(refreshed).toEqual([]);
    expect((await recordOf(user)).idp_state.lease?.nonce).toBe("theirs");
    expect(provider.requestsTo("revoke")).toEqual([]);
  });
});

describe("getAccessToken", () => {
  /** The access token lives five minutes, the ID token an hour. */
  async function userWithToken(
    secondsLeft: number,
    options: ApplicationOptions = {},
  ): Promise<TestUser> {
    await start({ ...options, provider: { accessTokenSeconds: 300, ...options.provider } });
    const user = app.user();
    await user.signIn();
    clock.advance((300 - secondsLeft) * 1000);
    return user;
  }
  const accessToken = (user: TestUser, minValidity?: number) =>
    app.auth.getAccessToken(
      user.request("/"),
      minValidity === undefined ? undefined : { minValidity },
    );

  it.each<[secondsLeft: number, minValidity: number | undefined, refreshes: number]>([
    [300, undefined, 0],
    [31, undefined, 0],
    [30, undefined, 0],
    [29, undefined, 1],
    [29, 10, 0],
    [10, 10, 0],
    [9, 10, 1],
    [1, 0, 0],
    [0, 0, 1],
    [-10, 0, 1],
    [-10, undefined, 1],
    [150, 250, 0],
    [149, 250, 1],
  ])(
    "good for %i s more, wanted for %s s: %i refreshes",
    async (secondsLeft, minValidity, refreshes) => {
      const user = await userWithToken(secondsLeft);
      expect(await accessToken(user, minValidity)).toBe(issued("access_token")[refreshes]);
      expect(refreshRequests()).toHaveLength(refreshes);
      expect((await recordOf(user)).credentials?.token).toBe(issued("access_token")[refreshes]);
    },
  );

  it.each([
    [300, 0],
    [151, 0],
    [149, 1],
  ])(
    "wanted for longer than the provider's tokens ever live, with %i s of 300 left: %i refreshes, not one a call",
    async (left, refreshes) => {
      const user = await userWithToken(left);
      for (let call = 0; call < 5; call++)
        expect(await accessToken(user, 10_000)).toBe(issued("access_token")[refreshes]);
      expect(refreshRequests()).toHaveLength(refreshes);
    },
  );

  it("50 at once: one token request", async () => {
    const user = await userWithToken(5);
    const tokens = await Promise.all(Array.from({ length: 50 }, () => accessToken(user)));
    expect(new Set(tokens)).toEqual(new Set([issued("access_token")[1]]));
    expect(refreshRequests()).toHaveLength(1);
  });

  it("signed out: null", async () => {
    await start();
    expect(await accessToken(app.user())).toBeNull();
  });

  it("a provider that does not say when it expires: the token as it is", async () => {
    await start({ provider: {} });
    provider.tokenResponse = ({ expires_in: _, ...rest }) => rest;
    const user = app.user();
    await user.signIn();
    clock.advance(HOUR - 1000);
    expect(await accessToken(user)).toBe(issued("access_token")[0]);
    expect(refreshRequests()).toEqual([]);
  });

  it.each<[string, ApplicationOptions]>([
    ["no refresh token", { provider: { issueRefreshToken: false } }],
    ["auto-refresh off", { sessionAutoRefresh: false }],
  ])("%s: the token while it lives, then null, and the session goes on", async (_what, options) => {
    const user = await userWithToken(5, options);
    expect(await accessToken(user)).toBe(issued("access_token")[0]);
    clock.advance(5_000);
    expect(await accessToken(user)).toBeNull();
    expect(await user.isSignedIn()).toBe(true);
    expect(refreshRequests()).toEqual([]);
  });

  it("an outage takes nothing away that still works", async () => {
    const user = await userWithToken(5);
    provider.fault("token", { kind: "status", status: 503 });
    expect(await accessToken(user)).toBe(issued("access_token")[0]);
    clock.advance(5_000);
    await expect(accessToken(user)).rejects.toBeInstanceOf(ProviderUnavailableError);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("a refusal: the token while it lives, then null; no further request, and the session lasts as long as its ID token", async () => {
    const user = await userWithToken(5);
    provider.revokeAll();
    expect(await accessToken(user)).toBe(issued("access_token")[0]);
    expect(await accessToken(user)).toBe(issued("access_token")[0]);
    clock.advance(5_000);
    expect(await accessToken(user)).toBeNull();
    expect(await user.isSignedIn()).toBe(true);
    expect(refreshRequests()).toHaveLength(1);
    clock.advance(HOUR);
    expect((await user.get(PROBE)).json()).toMatchObject({
      authenticated: false,
      reason: "refresh_rejected",
    });
  });

  it("beyond a session limit: null, however long the token lives", async () => {
    const user = await userWithToken(200, { sessionMaxAge: 60 });
    expect(await accessToken(user)).toBeNull();
  });

  it("getCredentials does not read the access token's own expiry", async () => {
    const user = await userWithToken(-10);
    expect((await credentialsOf(user))?.token).toBe(issued("access_token")[0]);
    expect(refreshRequests()).toEqual([]);
  });
});

describe("[L1] many sessions that expire at once", () => {
  it("no more than IDP_REFRESH_CONCURRENCY are at the provider at a time, and each is refreshed", async () => {
    await start({ refreshConcurrency: 3 });
    const users = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const user = app.user();
        await user.signIn();
        return user;
      }),
    );
    clock.advance(HOUR);
    const hold = provider.hold("token", { count: 3 });
    const probes = users.map((user) => user.isSignedIn());
    await hold.arrived;
    // Everything that could reach the provider has had its chance.
    for (let round = 0; round < 50; round += 1)
      await new Promise((resolve) => setImmediate(resolve));
    expect(hold.held).toBe(3);
    hold.release();
    expect(await Promise.all(probes)).toEqual(users.map(() => true));
    expect(refreshRequests()).toHaveLength(20);
  });

  it("beyond the queue the response is 503 with Retry-After; the session stays, and the next request refreshes it", async () => {
    await start({ refreshConcurrency: 1 });
    const users = [];
    for (let count = 0; count < 52; count += 1) {
      const user = app.user();
      await user.signIn();
      users.push(user);
    }
    clock.advance(HOUR);
    const hold = provider.hold("token");
    const answers = Promise.all(users.map((user) => user.get(PROBE)));
    await hold.arrived;
    hold.release();
    const [turnedAway, ...others] = (await answers).filter(({ status }) => status === 503);
    expect(others).toEqual([]);
    expect(["1", "2"]).toContain(turnedAway?.headers["Retry-After"]);
    expect(turnedAway?.setCookies ?? []).toEqual([]);
    expect(await Promise.all(users.map((user) => user.isSignedIn()))).toEqual(
      users.map(() => true),
    );
    expect(refreshRequests()).toHaveLength(52);
  });

  it("while the provider is away, those that wait for their turn do not send it a request each", async () => {
    await start({ refreshConcurrency: 1 });
    const users = [];
    for (let count = 0; count < 20; count += 1) {
      const user = app.user();
      await user.signIn();
      users.push(user);
    }
    clock.advance(HOUR);
    provider.fault("token", { kind: "status", status: 503 });
    const statuses = await Promise.all(users.map(async (user) => (await user.get(PROBE)).status));
    expect(statuses).toEqual(users.map(() => 503));
    // The second session's 503 shows that it may be the provider's trouble, and ten more that it is.
    expect(refreshRequests()).toHaveLength(12);
    provider.clearFaults();
    clock.advance(BEYOND_BACK_OFF);
    expect(await Promise.all(users.map((user) => user.isSignedIn()))).toEqual(
      users.map(() => true),
    );
  });
});

describe("[S8] an orderly exit", () => {
  it("settled() waits for a refresh whose user has left, and for nothing when there is none", async () => {
    const user = await expiredUser();
    await settled(app.auth);
    const hold = provider.hold("token");
    const probe = user.get(PROBE);
    await hold.arrived;
    let isIdle = false;
    const idle = settled(app.auth).then(() => (isIdle = true));
    await clock.advanceAsync(PATIENCE);
    expect((await probe).status).toBe(503);
    expect(isIdle).toBe(false);
    hold.release();
    await idle;
    expect((await recordOf(user)).credentials?.token).toBe(issued("access_token").at(-1));
    expect((await recordOf(user)).idp_state.lease).toBeUndefined();
  });

  it("settled() waits until the tokens of a refresh that a logout overtook are given back", async () => {
    const user = await expiredUser();
    const hold = provider.hold("token", { before: false });
    const probe = user.get(PROBE);
    await hold.arrived;
    await user.get("/idpauth/logout/");
    const revoked = provider.requestsTo("revoke").length;
    hold.release();
    await probe;
    await settled(app.auth);
    expect(provider.requestsTo("revoke").length).toBe(revoked + 1);
  });
});

describe("a refresh that something overtook", () => {
  it("IDP_TOKEN_REVOKE_ON_LOGOUT off: late tokens are dropped, as a logout leaves its own", async () => {
    const user = await expiredUser({ tokenRevokeOnLogout: false });
    const hold = provider.hold("token", { before: false });
    const probe = user.get(PROBE);
    await hold.arrived;
    await user.get("/idpauth/logout/");
    hold.release();
    await probe;
    await settled(app.auth);
    expect(provider.requestsTo("revoke")).toEqual([]);
  });

  it.each([
    ["a rotated refresh token, with which its access tokens go", true, "refresh_token"],
    ["the access token, where no new refresh token came", false, "access_token"],
  ])("by a logout gives back %s, and sends no `refresh` event", async (_what, rotation, kind) => {
    const user = await expiredUser({ provider: { rotation } });
    const refreshed = eventsOf(app.auth, "refresh");
    const hold = provider.hold("token", { before: false });
    const probe = user.get(PROBE);
    await hold.arrived;
    await user.get("/idpauth/logout/");
    const before = provider.requestsTo("revoke").length;
    hold.release();
    await probe;
    await settled(app.auth);
    const late = provider.requestsTo("revoke").slice(before);
    expect(late.map(({ params }) => [params.get("token"), params.get("token_type_hint")])).toEqual([
      [issued(kind).at(-1), kind],
    ]);
    expect(refreshed).toEqual([]);
  });

  it("a record that cannot be read any more is no logout: nothing is revoked", async () => {
    const user = await expiredUser();
    const hold = provider.hold("token", { before: false });
    const probe = user.get(PROBE);
    await hold.arrived;
    // As another process would that seals in a later format, or with a key that this one lacks.
    await store.tamper(store.inserted.at(-1) ?? "", (data) => data.fill(2, 0, 1));
    hold.release();
    await probe;
    await settled(app.auth);
    expect(provider.requestsTo("revoke")).toEqual([]);
  });

  it.each([20_000, 40_000, 250_000])(
    "[S3] a store that is away for %i ms after the token was spent signs nobody out",
    async (outage) => {
      const user = await expiredUser();
      const hold = provider.hold("token", { before: false });
      const probe = user.get(PROBE);
      await hold.arrived;
      let refused = 0;
      store.before = () => {
        refused += 1;
        throw new Error("connection lost");
      };
      hold.release();
      await eventually(() => {
        expect(refused).toBeGreaterThan(0);
      });
      await clock.advanceAsync(PATIENCE);
      expect((await probe).status).toBe(503);
      await clock.advanceAsync(outage - PATIENCE);
      store.before = undefined;
      await clock.advanceAsync(1_000);
      await settled(app.auth);
      await clock.advanceAsync(BEYOND_BACK_OFF);
      expect(await user.isSignedIn()).toBe(true);
      expect(provider.reuses).toBe(0);
    },
  );
});

describe("close()", () => {
  it("keeps the process alive until a rotated token that a store refused once is stored", async () => {
    await buildPackage();
    // With the system's clock, whose timers keep no process alive, and a store that holds nothing
    // open.
    const program = `
      import { Owners } from "./build/access/session-owner.js";
      import { createRefresher } from "./build/access/shared-refresh.js";
      import { systemClock } from "./build/clock.js";
      import { UnawaitedTasks } from "./build/work/unawaited-tasks.js";
      import { EventHub } from "./build/events/event-hub.js";
      import { StoreUnavailableError } from "./build/errors.js";
      import { Shutdown } from "./build/work/shutdown.js";
      let record = { credentials: { token: "a", refresh_token: "old", client_id: "c" }, id_info: {}, idp_state: { v: 1 } };
      let writes = 0;
      const session = {
        key: "k",
        read: async () => record,
        update: async (change) => {
          const next = change(record);
          const changed = next !== record;
          if (changed && ++writes === 2) throw new StoreUnavailableError();
          record = next;
          return { record, changed };
        },
      };
      const provider = {
        assertReadyToRefresh() {},
        refresh: async () => ({ accessToken: "b", refreshToken: "new" }),
        verifyRefreshed: async () => ({ idInfo: {}, userinfoClaims: [] }),
      };
      const none = () => {};
      const refresher = createRefresher({ owners: new Owners([{ issuer: "i", clientId: "c", provider }]), clock: systemClock, events: new EventHub(none, systemClock), orphanedTokens: {}, application: { reviewsRefreshes: false }, tasks: new UnawaitedTasks(), httpTimeout: 5, concurrency: 20 });
      void refresher.refresh(session, ({ credentials }) => credentials.token === "a" ? "tokens" : undefined);
      await new Shutdown().close({
        clock: systemClock,
        timeout: 30,
        settled: () => refresher.idle(),
        onLate: none,
      });
      console.log(record.credentials.refresh_token, writes);`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "-e", program],
      {
        cwd: path.resolve(import.meta.dirname, "../.."),
      },
    );
    expect(stdout).toBe("new 4\n");
  });
});
