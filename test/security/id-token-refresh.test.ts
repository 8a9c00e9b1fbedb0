import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Events } from "../../src/index.js";
import { startApplication, type Application, type TestUser } from "../support/application.js";
import { byStranger } from "../support/foreign-signature.js";
import {
  ACCEPTED,
  claim,
  claimsOf,
  DOUBTED,
  inSeconds,
  REJECTED,
  startAttacker,
  without,
  type Attacker,
  type Mutation,
} from "./id-token-mutations.js";

// What OpenID Connect Core 3.1.3.7 asks of an ID token, at a refresh, and what 12.2 adds. At the
// callback: id-token.test.ts.

const HOUR = 3_600_000;
const SIGNED_OUT = { authenticated: false, user: null };

let app: Application;
let attacker: Attacker;
const failures: Events["failure"][] = [];

beforeAll(async () => {
  attacker = await startAttacker();
  app = await startApplication();
  app.auth.on("failure", (event) => failures.push(event));
});
afterAll(async () => {
  await app.stop();
  await attacker.stop();
});
beforeEach(() => {
  // Beyond the interval in which one bad signature may force a fetch of the keys.
  app.clock.advance(31_000);
  failures.length = 0;
});

const sessionOf = (user: TestUser) => app.auth.readSessionRecord(user.request("/"));
const refreshRequests = () =>
  app.provider.requestsTo("token", { grant_type: "refresh_token" }).length;

/**
 * Only the wall clock moves, so that no fetch of the keys that is still under way in the background
 * is cut off.
 */
const anHourLater = (of = app) => {
  of.clock.setNow(of.clock.now() + HOUR);
};

/** Somebody whose ID token has just expired, and what the next one will be like. */
async function expired(mutation: Mutation, atSignIn?: Mutation, of = app): Promise<TestUser> {
  const user = of.user();
  of.provider.mutateIdToken = atSignIn && ((draft) => atSignIn(draft, attacker.origin));
  await user.signIn();
  anHourLater(of);
  of.provider.requests.length = 0;
  of.provider.mutateIdToken = (draft) => mutation(draft, attacker.origin);
  return user;
}

async function expectRefused(user: TestUser, reason: string): Promise<void> {
  const before = await sessionOf(user);
  expect(before).toHaveProperty("credentials.refresh_token");
  for (let probe = 0; probe < 3; probe += 1) {
    const answer = await user.get("/idpauth/session");
    expect([answer.status, answer.json()]).toEqual([200, SIGNED_OUT]);
  }
  expect(refreshRequests()).toBe(1);
  expect([app.provider.requestsTo("userinfo").length, attacker.requests]).toEqual([0, []]);
  expect(failures.map((failure) => [failure.during, failure.reason])).toEqual([
    ["refresh", reason],
  ]);
  const after = await sessionOf(user);
  expect(after?.["id_info"]).toEqual(before?.["id_info"]);
  expect(after?.["idp_login_at"]).toBe(before?.["idp_login_at"]);
  const { refresh_token: _dropped, ...kept } = before?.["credentials"] as Record<string, unknown>;
  expect(after?.["credentials"]).toEqual(kept);
  expect(await app.auth.getCredentials(user.request("/"))).toBeNull();
}

/**
 * Beside what is refused at both: what only a predecessor can show to be wrong. The last is the
 * token of the sign-in.
 */
const refusedHere: readonly (readonly [string, string, Mutation, Mutation?])[] = [
  ...REJECTED,
  ["[RFR-2] sub of somebody else", "sub", claim("sub", "eve")],
  [
    "[RFR-1] [RFR-2] sub and iss of somebody else",
    "sub",
    claimsOf({ iss: "https://evil.example", sub: "eve" }),
  ],
  [
    "[RFR-2] everything of somebody else",
    "sub",
    claimsOf({ sub: "eve", email: "eve@example.com", name: "Eve" }),
  ],
  ["[RFR-2] sub in another letter case", "sub", claim("sub", "ADA-1815")],
  ["[RFR-3] aud of another client", "aud", claim("aud", "other")],
  ["[RFR-4] azp changed", "azp", claim("azp", "other")],
  ["[RFR-4] azp taken away", "azp", without("azp")],
  [
    "[RFR-4] azp of another client that was absent at the sign-in",
    "azp",
    claim("azp", "other"),
    without("azp"),
  ],
  ["[RFR-7] another nonce", "nonce", claim("nonce", "another")],
  [
    "[RFR-8] a token that is no newer than the old one, and has expired",
    "exp",
    ({ claims }) => {
      const iat = claims["iat"] as number;
      return { claims: { ...claims, iat: iat - 3600, exp: iat - 6 } };
    },
  ],
];

describe("at a refresh, refused:", () => {
  it.for(refusedHere)("%s", async ([, reason, mutation, atSignIn]) => {
    await expectRefused(await expired(mutation, atSignIn), `id_token_${reason}`);
  });
});

const doubtedHere: typeof refusedHere = [
  ...DOUBTED,
  ["[RFR-1] iss of another issuer", "iss", claim("iss", "https://evil.example")],
  ["[RFR-5] iat older than at the sign-in", "iat", inSeconds("iat", -3606)],
  ["[RFR-8] a newer token that expired long ago", "exp", inSeconds("exp", -3600)],
  ["[RFR-8] a newer token that has expired beyond the tolerance", "exp", inSeconds("exp", -6)],
];

describe("at a refresh, an outage of this session alone, which keeps its tokens:", () => {
  it.for(doubtedHere)("%s", async ([, reason, mutation, atSignIn]) => {
    const user = await expired(mutation, atSignIn);
    const before = await sessionOf(user);
    for (let probe = 0; probe < 3; probe += 1) {
      const answer = await user.get("/idpauth/session");
      expect([answer.status, answer.json()]).toMatchObject([503, SIGNED_OUT]);
    }
    expect(refreshRequests()).toBe(1);
    expect([app.provider.requestsTo("userinfo").length, attacker.requests]).toEqual([0, []]);
    expect(failures[0]).toMatchObject({ during: "refresh", reason: `id_token_${reason}` });
    const after = await sessionOf(user);
    expect(after?.["id_info"]).toEqual(before?.["id_info"]);
    expect(after?.["credentials"]).toEqual({
      ...(before?.["credentials"] as object),
      refresh_token: app.provider.issued.findLast(({ kind }) => kind === "refresh_token")?.value,
    });
    await expect(app.auth.getCredentials(user.request("/"))).rejects.toMatchObject({
      status: 503,
      loginHelps: true,
    });
    app.provider.mutateIdToken = undefined;
    app.clock.advance(31_000);
    expect(await user.isSignedIn()).toBe(true);
    expect(app.provider.reuses).toBe(0);
  });
});

const acceptedHere: readonly (readonly [string, Mutation, Mutation?])[] = [
  ...ACCEPTED,
  ["[IDT-14] sub of 255 characters", claim("sub", "x".repeat(255)), claim("sub", "x".repeat(255))],
  [
    "[RFR-3] aud as text that was a list",
    claim("aud", "test-client"),
    claim("aud", ["test-client"]),
  ],
  [
    "[RFR-4] azp of this client that was absent at the sign-in",
    claim("azp", "test-client"),
    without("azp"),
  ],
  ["[RFR-4] no azp where there was none", without("azp"), without("azp")],
  ["[RFR-5] iat of the sign-in, older by no more than the tolerance", inSeconds("iat", -3605)],
  [
    "[RFR-6] the same auth_time",
    claim("auth_time", 1_700_000_000),
    claim("auth_time", 1_700_000_000),
  ],
  [
    "[RFR-6] another auth_time",
    claim("auth_time", 1_700_000_001),
    claim("auth_time", 1_700_000_000),
  ],
  [
    "[RFR-6] auth_time of another type",
    claim("auth_time", "1700000001"),
    claim("auth_time", 1_700_000_000),
  ],
  ["[RFR-6] no auth_time", (draft) => draft, claim("auth_time", 1_700_000_000)],
  ["[RFR-7] no nonce", without("nonce")],
  ["[RFR-7] nonce empty, as providers written in Go send it", claim("nonce", "")],
  ["[IDT-17] no text at all: userinfo stands in", () => ""],
];

describe("at a refresh, accepted:", () => {
  it.for(acceptedHere)("%s", async ([, mutation, atSignIn]) => {
    const user = await expired(mutation, atSignIn);
    const before = await sessionOf(user);
    expect((await user.get("/idpauth/session")).json()).toMatchObject({
      authenticated: true,
      user: { email: "ada@example.com" },
    });
    expect(refreshRequests()).toBe(1);
    expect(failures).toEqual([]);
    expect(attacker.requests).toEqual([]);
    const after = await sessionOf(user);
    expect(after?.["credentials"]).not.toEqual(before?.["credentials"]);
    const authTime = (session: typeof before) =>
      (session?.["id_info"] as Record<string, unknown>)["auth_time"];
    // RFR-6: the sign-in's own.
    expect(authTime(after)).toBe(authTime(before));
    // RFR-9
    expect(after?.["idp_login_at"]).toBe(before?.["idp_login_at"]);
  });
});

describe("at a refresh", () => {
  it("[RFR-7] the nonce of the sign-in", async () => {
    const user = await expired((draft) => draft);
    const { nonce } = (await sessionOf(user))?.["id_info"] as Record<string, unknown>;
    expect(nonce).toEqual(expect.any(String));
    app.provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, nonce } });
    expect(await user.isSignedIn()).toBe(true);
  });

  it("[RFR-2] nobody is ever shown another user's claims, also when the other signs in next door", async () => {
    const ada = await expired((draft) => draft);
    const eve = app.user();
    app.provider.mutateIdToken = undefined;
    await eve.signIn("/idpauth/login/", { sub: "eve", email: "eve@example.com", name: "Eve" });
    const eves = (await sessionOf(eve))?.["id_info"] as Record<string, unknown>;
    // A provider that mixes up its answers gives Ada what belongs to Eve.
    const { sub, email, name } = eves;
    app.provider.mutateIdToken = ({ claims }) => ({
      claims: Object.assign(claims, { sub, email, name }),
    });
    const probe = await ada.get("/idpauth/session");
    expect(probe.json()).toMatchObject(SIGNED_OUT);
    expect(probe.body).not.toContain("eve");
    expect((await sessionOf(ada))?.["id_info"]).toMatchObject({
      sub: "ada-1815",
      email: "ada@example.com",
    });
    expect((await ada.get("/idpauth/")).body).not.toContain("eve@example.com");
  });

  it("[RFR-8] tokens that come expired within the tolerance cost one token request per probe, never more", async () => {
    const user = await expired(inSeconds("exp", -4));
    for (let probe = 1; probe <= 4; probe += 1) {
      const answers = await Promise.all([
        user.get("/idpauth/session"),
        user.get("/idpauth/session"),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(refreshRequests()).toBeLessThanOrEqual(2 * probe);
    }
    app.provider.mutateIdToken = undefined;
    await user.isSignedIn();
    app.provider.requests.length = 0;
    expect(await user.isSignedIn()).toBe(true);
    expect(refreshRequests()).toBe(0);
  });

  it("[RFR-9] idp_login_at is the same after ten refreshes", async () => {
    const user = await expired((draft) => draft);
    const before = (await sessionOf(user))?.["idp_login_at"];
    expect(before).toEqual(expect.any(Number));
    for (let hour = 0; hour < 10; hour += 1) {
      expect(await user.isSignedIn()).toBe(true);
      anHourLater();
    }
    expect(refreshRequests()).toBe(10);
    expect((await sessionOf(user))?.["idp_login_at"]).toBe(before);
  });

  it.each<[string, Mutation]>([
    ["[IDT-5] a key that is not published", byStranger({ kid: "nobody-knows" })],
    [
      "[IDT-7] the attacker's kid with the attacker's jku",
      (draft, origin) => byStranger({ kid: "attacker", jku: `${origin}/jwks` })(draft),
    ],
  ])(
    "%s is an outage, 503: id_info is unchanged, the rotated refresh token is kept, and a good key recovers",
    async (_name, mutation) => {
      const alone = await startApplication();
      const user = await expired(mutation, undefined, alone);
      const sessionNow = () => alone.auth.readSessionRecord(user.request("/"));
      const before = await sessionNow();
      for (let probe = 0; probe < 3; probe += 1) {
        const answer = await user.get("/idpauth/session");
        expect([answer.status, answer.json()]).toMatchObject([503, SIGNED_OUT]);
      }
      expect(alone.provider.requestsTo("token")).toHaveLength(1);
      expect(alone.provider.requestsTo("jwks")).toHaveLength(1);
      expect(attacker.requests).toEqual([]);
      const after = await sessionNow();
      expect(after?.["id_info"]).toEqual(before?.["id_info"]);
      expect(after?.["credentials"]).toEqual({
        ...(before?.["credentials"] as object),
        refresh_token: alone.provider.issued.filter(({ kind }) => kind === "refresh_token").at(-1)
          ?.value,
      });
      alone.provider.mutateIdToken = undefined;
      alone.clock.advance(61_000);
      expect(await user.isSignedIn()).toBe(true);
      expect(alone.provider.reuses).toBe(0);
      await alone.stop();
    },
  );
});

describe("at a refresh, while the keys cannot be had", () => {
  it("[F9] tokens by a new key are an outage, and refresh tokens are not spent probe by probe", async () => {
    const alone = await startApplication();
    const user = await expired((draft) => draft, undefined, alone);
    await alone.provider.rotateKeys({ keepOld: false });
    alone.provider.fault("jwks", { kind: "status", status: 503 });
    for (let probe = 0; probe < 10; probe += 1)
      expect((await user.get("/idpauth/session")).status).toBe(503);
    expect(alone.provider.requestsTo("token")).toHaveLength(1);
    expect(alone.provider.requestsTo("jwks")).toHaveLength(1);
    alone.provider.clearFaults();
    alone.clock.advance(61_000);
    expect(await user.isSignedIn()).toBe(true);
    expect(alone.provider.reuses).toBe(0);
    await alone.stop();
  });
});

describe("[IDT-3] at a refresh, with a trusted audience configured", () => {
  it.each<[string, string | undefined, unknown, unknown, Mutation?]>([
    [
      "[IDT-3] an additional audience is accepted",
      undefined,
      ["test-client", "partner"],
      "test-client",
    ],
    [
      "[IDT-3] another one is not accepted",
      "aud",
      ["test-client", "partner", "other"],
      "test-client",
    ],
    ["[IDT-3] the trusted one alone is refused", "aud", "partner", "test-client"],
    [
      "[IDT-4] several audiences with the other's azp are refused",
      "azp",
      ["test-client", "partner"],
      "partner",
    ],
    // Without one at the sign-in too: only the rule for several audiences stops it then.
    [
      "[IDT-4] several audiences without azp are not accepted",
      "azp",
      ["test-client", "partner"],
      undefined,
      without("azp"),
    ],
  ])("%s", async (_name, reason, aud, azp, atSignIn) => {
    const trusting = await startApplication({ trustedAudiences: ["partner"] });
    const reasons: string[] = [];
    trusting.auth.on("failure", (event) => reasons.push(event.reason));
    const user = await expired(claimsOf({ aud, azp }), atSignIn, trusting);
    const idInfo = async () =>
      (await trusting.auth.readSessionRecord(user.request("/")))?.["id_info"];
    const before = await idInfo();
    const { status, body } = await user.get("/idpauth/session");
    const isDoubted = reason === "aud" && azp !== undefined && Array.isArray(aud);
    expect([status, (JSON.parse(body ?? "") as { authenticated: boolean }).authenticated]).toEqual([
      isDoubted || atSignIn !== undefined ? 503 : 200,
      reason === undefined,
    ]);
    expect(reasons).toEqual(reason === undefined ? [] : [`id_token_${reason}`]);
    if (reason === undefined) expect(await idInfo()).toMatchObject({ aud });
    else expect(await idInfo()).toEqual(before);
    await trusting.stop();
  });
});
