import { describe, expect, it } from "vitest";
import type {
  Fault,
  IdTokenDraft,
  MutatedIdToken,
  ReceivedRequest,
} from "../../src/testing/provider/test-provider.js";
import { APIS, HOUR, ORDERS, targetOf, app, startForEachTest } from "../support/api-application.js";
import { byStranger } from "../support/foreign-signature.js";

startForEachTest();

const isOrders = () => {
  const last = app.application.provider.requestsTo("token").at(-1);
  return last !== undefined && targetOf(last) === ORDERS;
};

const isOwn = (request: ReceivedRequest) =>
  request.params.get("grant_type") === "refresh_token" && targetOf(request) === null;

/** The refreshes for one API bring an ID token, which is wrong in this way. */
function mutateOrders(mutate: (draft: IdTokenDraft) => MutatedIdToken): void {
  const { provider } = app.application;
  const strip = provider.tokenResponse;
  provider.mutateIdToken = (draft) => (isOrders() ? mutate(draft) : draft);
  provider.tokenResponse = (reply, request) =>
    targetOf(request) === ORDERS ? reply : (strip?.(reply, request) ?? reply);
}

/** The refreshes for one API get this response. */
function faultOrders(fault: Fault): void {
  app.application.provider.fault("token", {
    ...fault,
    when: (request) => targetOf(request) === ORDERS,
  });
}

const claims = (changes: object) => () =>
  mutateOrders((draft) => ({ claims: { ...draft.claims, ...changes } }));
const inSeconds = (seconds: number) => Math.floor(app.application.clock.now() / 1000) + seconds;

const WRONG: readonly (readonly [what: string, begin: () => void])[] = [
  ["an ID token with an unknown kid", () => mutateOrders(byStranger({ kid: "nobody" }))],
  [
    "an ID token with a new unknown kid each time",
    () => mutateOrders((draft) => byStranger({ kid: String(Math.random()) })(draft)),
  ],
  [
    "an ID token that nobody can verify, while the keys can't be fetched",
    () => {
      app.application.provider.fault("jwks", { kind: "status" });
      mutateOrders(byStranger({ kid: "nobody" }));
    },
  ],
  [
    "an ID token with an algorithm that isn't advertised, while discovery fails",
    () => {
      app.application.provider.fault("discovery", { kind: "status" });
      mutateOrders((draft) => ({ header: { ...draft.header, alg: "PS512" } }));
    },
  ],
  ["an ID token of another user", claims({ sub: "mallory" })],
  ["an ID token of another issuer", claims({ iss: "https://other.example" })],
  ["an ID token for another client", claims({ aud: "another" })],
  ["an ID token for several clients", claims({ aud: ["test-client", "another"] })],
  ["an ID token of a clock ahead", () => claims({ iat: inSeconds(60), exp: inSeconds(HOUR) })()],
  ["an ID token that has expired", () => claims({ exp: inSeconds(-60) })()],
  ["an ID token of another access token", claims({ at_hash: "another" })],
  ["an ID token that is none", () => mutateOrders(() => "no token")],
  ["no access token", () => (app.responses[ORDERS] = { access_token: undefined })],
  ["an access token of another type", () => (app.responses[ORDERS] = { token_type: "DPoP" })],
  ["a token for another resource", () => (app.responses[ORDERS] = { resource: "other" })],
  [
    "an error in a 200",
    () => faultOrders({ kind: "status", status: 200, body: { error: "invalid_target" } }),
  ],
  ["a 200 without tokens", () => faultOrders({ kind: "status", status: 200, body: {} })],
  ["an ambiguous 400", () => faultOrders({ kind: "status", status: 400 })],
  [
    "invalid_client",
    () => faultOrders({ kind: "status", status: 401, body: { error: "invalid_client" } }),
  ],
  [
    "invalid_client in a 200",
    () => faultOrders({ kind: "status", status: 200, body: { error: "invalid_client" } }),
  ],
  ["403 without an error", () => faultOrders({ kind: "status", status: 403 })],
  [
    "429 with Retry-After",
    () => faultOrders({ kind: "status", status: 429, headers: { "retry-after": "60" } }),
  ],
  ["503", () => faultOrders({ kind: "status", status: 503 })],
];

describe("what a refresh for one API brings concerns no other API, no session and no other user", () => {
  it.each(WRONG)("%s", async (_what, begin) => {
    const { provider, clock } = app.application;
    const others = app.application.user().at(app.auth);
    await others.signIn(undefined, { sub: "grace-1906", email: "grace@example.com" });
    await app.user.signIn();
    begin();
    const before = await app.auth.readSessionRecord(app.request());
    const all = async () => {
      for (const user of [app.user, others]) {
        const billing = await app.auth.getAccessToken(user.request("/"), { api: "billing" });
        expect(billing).toMatch(/^at_https:\/\/billing/);
        expect((await user.get("/idpauth/session")).status).toBe(200);
        expect(await user.isSignedIn()).toBe(true);
      }
    };
    // Both users, since two sessions that fail within ten seconds look like an outage.
    const ask = async () => {
      for (const user of [app.user, others])
        await expect(
          app.auth.getAccessToken(user.request("/"), { api: "orders" }),
        ).rejects.toMatchObject({ status: expect.any(Number) as number });
    };
    for (let poll = 0; poll < 22; poll += 1) {
      await ask();
      await all();
      clock.advance(1_500);
    }
    const after = await app.auth.readSessionRecord(app.request());
    expect(after?.["id_info"]).toEqual(before?.["id_info"]);
    // Everything is refreshed, while that API's refreshes still fail.
    clock.advance(2 * HOUR);
    await ask();
    await all();
    expect((await app.auth.getSession(app.request()))?.user.email).toBe("ada@example.com");
    expect(provider.reuses).toBe(0);
  });
});

describe("the keys that a refresh for one API needs", () => {
  it("and can't get, keep no other API's refresh waiting, also in a process that has none yet", async () => {
    await app.user.signIn();
    app.auth = app.application.another({ apis: APIS });
    app.user = app.user.at(app.auth);
    mutateOrders((draft) => draft);
    app.application.provider.fault("jwks", { kind: "status" });
    expect(await app.failure("orders")).toMatchObject({ status: 503, reason: "jwks" });
    expect(await app.token("billing")).toMatch(/billing/);
    expect(await app.failure("orders")).toMatchObject({ status: 503, reason: "backing_off" });
  });
});

describe("an ambiguous 400 to the session's own refresh", () => {
  it("ends no session whose refresh token has worked for an API in between", async () => {
    const { provider, clock } = app.application;
    provider.settings.rotation = false;
    provider.settings.idTokenSeconds = 86_400;
    await app.user.signIn();
    provider.fault("token", { kind: "status", status: 400, when: isOwn });
    const rejected = (await app.auth.getCredentials(app.request()))?.token ?? "";
    for (let count = 0; count < 4; count += 1) {
      expect(await app.failure("own", { rejected })).toBe(rejected);
      clock.advance(61_000);
      const billing = (await app.token("billing")) ?? "";
      expect(await app.token("billing", { rejected: billing })).not.toBe(billing);
    }
    expect(app.refreshes().filter(isOwn).length).toBe(4);
    expect((await app.auth.getCredentials(app.request()))?.refresh_token).toBeDefined();
    provider.clearFaults();
    expect(await app.token("own", { rejected })).not.toBe(rejected);
  });
});
