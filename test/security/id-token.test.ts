import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Events } from "../../src/index.js";
import { startApplication, type Application, type TestUser } from "../support/application.js";
import { byStranger } from "../support/foreign-signature.js";
import {
  ACCEPTED,
  claim,
  claimsOf,
  DOUBTED,
  REJECTED,
  startAttacker,
  without,
  type Attacker,
  type Mutation,
  type Rejected,
} from "./id-token-mutations.js";

// What OpenID Connect Core 3.1.3.7 asks of an ID token, at the callback. The same at a refresh:
// id-token-refresh.test.ts.

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
  app.provider.mutateIdToken = undefined;
  // Beyond the interval in which one bad signature may force a fetch of the keys, and beyond any
  // back-off.
  app.clock.advance(61_000);
  failures.length = 0;
});

/** A login that the person has agreed to, whose ID token will be this one. */
async function approved(
  mutation: Mutation,
  user = app.user(),
  into = app,
): Promise<{ user: TestUser; callback: string }> {
  const callback = await user.approve();
  into.provider.mutateIdToken = (draft) => mutation(draft, attacker.origin);
  into.provider.requests.length = 0;
  return { user, callback };
}

const userinfoRequests = () => app.provider.requestsTo("userinfo").length;
const tokenRequests = () => app.provider.requestsTo("token").length;

const notAcceptedHere: readonly (readonly [...Rejected, number])[] = [
  ...REJECTED.map((row) => [...row, 400] as const),
  ["[IDT-13] nonce missing", "nonce", without("nonce"), 400],
  ["[IDT-13] nonce empty", "nonce", claim("nonce", ""), 400],
  ["[IDT-17] no text at all", "missing", () => "", 400],
  ...DOUBTED.map((row) => [...row, 503] as const),
];

describe("at the callback, not accepted (400: refused; 503: an operator must act):", () => {
  it.each(notAcceptedHere)("%s", async (_name, reason, mutation, status) => {
    const { user, callback } = await approved(mutation);
    const cookies = [...user.cookies];
    const answer = await user.get(callback);
    expect([answer.status, answer.headers["Content-Type"]]).toEqual([
      status,
      "text/html; charset=utf-8",
    ]);
    expect((answer.body ?? "").includes("provider_misconfigured")).toBe(status === 503);
    expect(failures.map((failure) => [failure.during, failure.reason])).toEqual([
      ["callback", `id_token_${reason}`],
    ]);
    // BCP-7: the access token that came with it is worth nothing either.
    expect([tokenRequests(), userinfoRequests(), attacker.requests]).toEqual([1, 0, []]);
    expect(answer.setCookies ?? []).toEqual([]);
    expect([...user.cookies]).toEqual(cookies);
    const session = await app.auth.readSessionRecord(user.request("/"));
    expect(
      Object.keys(session ?? {}).filter((key) =>
        ["credentials", "id_info", "idp_login_at"].includes(key),
      ),
    ).toEqual([]);
    expect(await user.isSignedIn()).toBe(false);
    // The login is used up: the same link is no second try.
    expect((await user.get(callback)).status).toBe(400);
    expect(tokenRequests()).toBe(1);
  });
});

describe("at the callback, accepted:", () => {
  it.each(ACCEPTED)("%s", async (_name, mutation) => {
    const { user, callback } = await approved(mutation);
    expect((await user.get(callback)).status).toBe(302);
    expect(failures).toEqual([]);
    expect(attacker.requests).toEqual([]);
    expect(await app.auth.readSessionRecord(user.request("/"))).toMatchObject({
      id_info: { iss: app.provider.issuer, sub: "ada-1815" },
    });
  });
});

describe("at the callback", () => {
  it("[IDT-14] sub of 255 characters", async () => {
    const sub = "x".repeat(255);
    const { user, callback } = await approved(claim("sub", sub));
    expect((await user.get(callback)).status).toBe(302);
    expect(await app.auth.readSessionRecord(user.request("/"))).toMatchObject({ id_info: { sub } });
  });

  it("[IDT-13] a token with the nonce of the user's other login is refused, and that login still works", async () => {
    const user = app.user();
    const first = await user.approve();
    const nonce = app.provider.requestsTo("authorize").at(-1)?.query.get("nonce");
    const { callback } = await approved(claim("nonce", nonce), user);
    expect((await user.get(callback)).status).toBe(400);
    expect(failures).toMatchObject([{ reason: "id_token_nonce" }]);
    expect(userinfoRequests()).toBe(0);
    app.provider.mutateIdToken = undefined;
    expect((await user.get(first)).status).toBe(302);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("[IDT-13] a wrong nonce is found before userinfo is requested, also where userinfo would be needed", async () => {
    app.provider.settings.claimsInIdToken = false;
    const { user, callback } = await approved(claim("nonce", "another"));
    expect((await user.get(callback)).status).toBe(400);
    expect([tokenRequests(), userinfoRequests()]).toEqual([1, 0]);
    app.provider.settings.claimsInIdToken = true;
  });

  it("[IDT-5] a key that is not published is an outage, 503, after one forced fetch: nobody is signed in", async () => {
    const alone = await startApplication();
    await alone.user().signIn();
    const { user, callback } = await approved(
      byStranger({ kid: "nobody-knows" }),
      alone.user(),
      alone,
    );
    const answer = await user.get(callback);
    expect(answer.status).toBe(503);
    expect(alone.provider.requestsTo("jwks")).toHaveLength(1);
    expect(alone.provider.requestsTo("userinfo")).toEqual([]);
    expect(await alone.auth.getCredentials(user.request("/"))).toBeNull();
    await alone.stop();
  });

  it("[IDT-7] the attacker's kid with the attacker's jku is looked up at our provider only", async () => {
    const { user, callback } = await approved((draft, origin) =>
      byStranger({ kid: "attacker", jku: `${origin}/jwks` })(draft),
    );
    expect((await user.get(callback)).status).toBe(503);
    expect(await user.isSignedIn()).toBe(false);
    expect(attacker.requests).toEqual([]);
  });

  it("[IDT-7] the attacker's key server, which got no request, responds to one", async () => {
    expect((await fetch(`${attacker.origin}/jwks`)).status).toBe(200);
    expect(attacker.requests.splice(0)).toEqual(["/jwks"]);
  });

  it("[IDT-16] neither max_age nor acr_values is requested, so there is nothing to compare", async () => {
    await app.user().approve();
    const sent = [...(app.provider.requestsTo("authorize").at(-1)?.query.keys() ?? [])];
    expect(sent).toContain("nonce");
    expect(
      sent.filter((name) => ["max_age", "acr_values", "claims", "id_token_hint"].includes(name)),
    ).toEqual([]);
  });

  it("a refused token leaves a signed-in user's session unchanged", async () => {
    const user = app.user();
    await user.signIn();
    const before = await app.auth.readSessionRecord(user.request("/"));
    const { callback } = await approved(claim("nonce", "another"), user);
    expect((await user.get(callback)).status).toBe(400);
    const after = await app.auth.readSessionRecord(user.request("/"));
    expect([after?.["credentials"], after?.["id_info"]]).toEqual([
      before?.["credentials"],
      before?.["id_info"],
    ]);
    expect(await user.isSignedIn()).toBe(true);
  });
});

describe("[IDT-3] at the callback, with a trusted audience configured", () => {
  let trusting: Application;
  beforeAll(async () => {
    trusting = await startApplication({ trustedAudiences: ["partner"] });
  });
  afterAll(() => trusting.stop());

  it.each<[string, number, unknown, unknown]>([
    ["[IDT-3] an additional audience is accepted", 302, ["test-client", "partner"], "test-client"],
    [
      "[IDT-3] another one is not accepted",
      503,
      ["test-client", "partner", "other"],
      "test-client",
    ],
    ["[IDT-3] the trusted one alone is refused", 400, "partner", "test-client"],
    [
      "[IDT-4] several audiences with the other's azp are refused",
      400,
      ["test-client", "partner"],
      "partner",
    ],
    [
      "[IDT-4] several audiences without azp are not accepted",
      503,
      ["test-client", "partner"],
      undefined,
    ],
  ])("%s", async (_name, status, aud, azp) => {
    const { user, callback } = await approved(claimsOf({ aud, azp }), trusting.user(), trusting);
    expect((await user.get(callback)).status).toBe(status);
    expect(await user.isSignedIn()).toBe(status === 302);
  });
});
