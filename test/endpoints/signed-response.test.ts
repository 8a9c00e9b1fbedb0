import { createHmac, createSecretKey, generateKeyPairSync } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import type {
  MutatedIdToken,
  ResponseJwtDraft,
} from "../../src/testing/provider/test-provider-state.js";
import {
  OWN_ORIGIN,
  startApplication,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";
import { optionsFor } from "../support/options-for.js";
import { CROSS } from "../support/posted-response.js";
import { application as app, start as startPlain, store } from "../support/one-application.js";

const CALLBACK = "/idpauth/login-callback";
const foreign = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;

afterEach(() => app.stop());

async function start(options: ApplicationOptions = {}): Promise<TestUser> {
  const user = await startPlain({ responseMode: "jwt", ...options });
  app.provider.settings.signedResponses = "supported";
  return user;
}

type Change = (draft: ResponseJwtDraft) => MutatedIdToken | null;

/** Begins a login, and gives the address to which the provider sends the browser. */
async function approved(
  user: TestUser,
  change?: Change,
  login = "/idpauth/login/",
): Promise<string> {
  const { location } = await user.get(login);
  expect(new URL(location).searchParams.get("response_mode")).toBe("jwt");
  app.provider.mutateResponseJwt = change;
  const { pathname, search } = new URL(await app.provider.signInCode(location));
  app.provider.mutateResponseJwt = undefined;
  return `${pathname}${search}`;
}

/** As `approved`, with other members. */
const withClaims = (user: TestUser, claims: Record<string, unknown>) =>
  approved(user, (draft) => ({ claims: { ...draft.claims, ...claims } }));

const codesSpent = () =>
  app.provider.requestsTo("token", { grant_type: "authorization_code" }).length;
const keysFetched = () => app.provider.requestsTo("jwks").length;
const logged = () => app.log.map(({ message }) => message).join("\n");

/** The JWT of a callback's address. */
const jwtIn = (callback: string) =>
  new URL(callback, OWN_ORIGIN).searchParams.get("response") ?? "";

describe("[HA-5] a response that the provider signs", () => {
  it("signs in, with nothing but the JWT in the address", async () => {
    const user = await start();
    const callback = await approved(user);
    expect([...new URL(callback, OWN_ORIGIN).searchParams.keys()]).toEqual(["response"]);
    expect((await user.get(callback)).status).toBe(302);
    expect([codesSpent(), await user.isSignedIn()]).toEqual([1, true]);
  });

  it("may be an error", async () => {
    const user = await start();
    const callback = await withClaims(user, { code: undefined, error: "access_denied" });
    const reply = await user.get(callback);
    expect([reply.status, reply.location]).toEqual([302, "/idpauth/?error=access_denied"]);
    expect(codesSpent()).toBe(0);
  });

  it("twice at once signs in once, as a double click does", async () => {
    const user = await start();
    const callback = await approved(user);
    const replies = await Promise.all([user.get(callback), user.get(callback)]);
    expect(replies.map(({ status }) => status)).toEqual([302, 302]);
    expect([codesSpent(), await user.isSignedIn()]).toEqual([1, true]);
  });

  it.each<[string, string, Change]>([
    [
      "another issuer",
      "iss",
      (draft) => ({ claims: { ...draft.claims, iss: "https://evil.example" } }),
    ],
    ["no issuer", "iss", (draft) => ({ claims: { ...draft.claims, iss: undefined } })],
    ["another client", "aud", (draft) => ({ claims: { ...draft.claims, aud: "another" } })],
    [
      "a second client",
      "aud",
      (draft) => ({ claims: { ...draft.claims, aud: [draft.claims["aud"], "another"] } }),
    ],
    ["no client", "aud", (draft) => ({ claims: { ...draft.claims, aud: undefined } })],
    ["no expiry", "exp", (draft) => ({ claims: { ...draft.claims, exp: undefined } })],
    [
      "an expiry that isn't a number",
      "exp",
      (draft) => ({ claims: { ...draft.claims, exp: "9999999999" } }),
    ],
    [
      "a past expiry",
      "exp",
      (draft) => ({ claims: { ...draft.claims, exp: Number(draft.claims["exp"]) - 606 } }),
    ],
    [
      "a far expiry",
      "exp",
      (draft) => ({ claims: { ...draft.claims, exp: Number(draft.claims["exp"]) + 3_606 } }),
    ],
    [
      "a start in the future",
      "nbf",
      (draft) => ({ claims: { ...draft.claims, nbf: draft.claims["exp"] } }),
    ],
    [
      "a code that isn't a string",
      "code",
      (draft) => ({ claims: { ...draft.claims, code: ["c"] } }),
    ],
    [
      "a state that isn't a string",
      "state",
      (draft) => ({ claims: { ...draft.claims, state: { a: 1 } } }),
    ],
    ["another type", "typ", (draft) => ({ header: { ...draft.header, typ: "logout+jwt" } })],
    ["a critical extension", "crit", (draft) => ({ header: { ...draft.header, crit: ["x"] } })],
    [
      "no signature",
      "signature",
      (draft) => draft.sign(draft.header, draft.claims).replace(/[^.]*$/, ""),
    ],
    [
      "another key's signature",
      "signature",
      (draft) => draft.sign(draft.header, draft.claims, foreign),
    ],
    [
      "an HMAC by the client secret",
      "alg",
      (draft) =>
        draft.sign(
          { ...draft.header, alg: "HS256" },
          draft.claims,
          createSecretKey(Buffer.from(app.provider.clientSecret)),
        ),
    ],
    [
      "an HMAC by the public key",
      "alg",
      (draft) => {
        const input = [{ ...draft.header, alg: "HS256" }, draft.claims]
          .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
          .join(".");
        return `${input}.${createHmac("sha256", draft.publicKeyPem).update(input).digest("base64url")}`;
      },
    ],
    ["the algorithm none", "alg", (draft) => ({ header: { ...draft.header, alg: "none" } })],
    ["no form of a JWT", "format", () => "a.b"],
    [
      "an encryption",
      "encrypted",
      () => `${Buffer.from('{"alg":"RSA-OAEP","enc":"A256GCM"}').toString("base64url")}.a.b.c.d`,
    ],
  ])("with %s is refused (response_%s), and uses up nothing", async (_name, reason, change) => {
    const user = await start();
    const good = await approved(user);
    const { location } = await user.get("/idpauth/login/");
    const second = new URL(location).searchParams.get("state");
    const callback = await approved(user, change);
    const reply = await user.get(callback);
    expect(reply.status).toBe(400);
    expect(logged()).toContain(`(response_${reason})`);
    expect([codesSpent(), second]).toEqual([0, expect.any(String)]);
    // Neither the login of the refused response nor another one is gone.
    expect((await user.get(good)).status).toBe(302);
    expect([codesSpent(), await user.isSignedIn()]).toEqual([1, true]);
  });

  it("with too many characters is refused, before anything is fetched", async () => {
    const user = await start();
    const before = app.provider.requests.length;
    const reply = await user.get(`${CALLBACK}?response=${"a".repeat(16 * 1024 + 1)}`);
    expect([reply.status, app.provider.requests.length]).toEqual([400, before]);
    expect(logged()).toContain("(response_size)");
  });

  it("that is refused doesn't use up its own login", async () => {
    const user = await start();
    let genuine = "";
    const forged = await approved(user, (draft) => {
      genuine = draft.sign(draft.header, draft.claims);
      return {
        claims: { ...draft.claims, code: "planted" },
        header: { ...draft.header, alg: "none" },
      };
    });
    expect((await user.get(forged)).status).toBe(400);
    expect((await user.get(`${CALLBACK}?response=${genuine}`)).status).toBe(302);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("is needed: plain parameters are refused, with a code as with an error", async () => {
    const user = await start();
    const { location } = await user.get("/idpauth/login/");
    const state = new URL(location).searchParams.get("state") ?? "";
    const iss = encodeURIComponent(app.provider.issuer);
    const operations = store.operations.length;
    for (const plain of [`code=c`, "error=access_denied", "error=login_required"]) {
      const reply = await user.get(`${CALLBACK}?state=${state}&iss=${iss}&${plain}`);
      expect([plain, reply.status]).toEqual([plain, 400]);
    }
    expect(logged()).toContain("(response_missing)");
    expect(codesSpent()).toBe(0);
    // The session is read for the page's greeting, and never written.
    expect(
      store.operations.slice(operations).filter((one) => !/get|read/.test(String(one))),
    ).toEqual([]);
    const callback = new URL(await app.provider.signInCode(location));
    expect((await user.get(`${callback.pathname}${callback.search}`)).status).toBe(302);
  });

  it("alone counts, whatever stands beside it", async () => {
    const user = await start();
    const callback = await approved(user);
    const planted = `${callback}&code=planted&state=planted&iss=planted&error=access_denied`;
    expect((await user.get(planted)).status).toBe(302);
    expect(app.provider.requestsTo("token")[0]?.params.get("code")).not.toBe("planted");
    expect(await user.isSignedIn()).toBe(true);
  });

  it("twice in one address is refused", async () => {
    const user = await start();
    const callback = await approved(user);
    const twice = `${callback}&response=${jwtIn(await approved(user))}`;
    expect((await user.get(twice)).status).toBe(400);
    expect(codesSpent()).toBe(0);
    expect((await user.get(callback)).status).toBe(302);
  });

  it("of another user's login signs nobody in: this browser has no login with that state", async () => {
    const user = await start();
    const attacker = app.user();
    const stolen = await approved(attacker);
    await user.get("/idpauth/login/");
    expect((await user.get(stolen)).status).toBe(400);
    expect([codesSpent(), await user.isSignedIn()]).toEqual([0, false]);
    expect((await attacker.get(stolen)).status).toBe(302);
  });

  it("is not an ID token, although the same key signs both for the same client", async () => {
    const user = await start();
    await user.get(await approved(user));
    const idToken = app.provider.issued.findLast(({ kind }) => kind === "id_token")?.value ?? "";
    const stranger = app.user();
    await stranger.get("/idpauth/login/");
    expect((await stranger.get(`${CALLBACK}?response=${idToken}`)).status).toBe(400);
    expect(await stranger.isSignedIn()).toBe(false);
  });

  it("of one provider is refused at another's callback, which spends nothing", async () => {
    await start();
    const other = await startApplication();
    try {
      other.provider.settings.signedResponses = "supported";
      const optionsOf = ({ issuer, clientId, clientSecret }: typeof app.provider) => ({
        issuer,
        clientId,
        clientSecret,
      });
      const { scope, ...shared } = optionsFor(app.provider);
      const auth = app.another({
        ...shared,
        ...{ clientId: undefined, clientSecret: undefined, issuer: undefined },
        clock: app.clock,
        responseMode: "jwt",
        providers: {
          one: { ...optionsOf(app.provider), scope },
          two: { ...optionsOf(other.provider), scope },
        },
      });
      const user = app.user().at(auth);
      const { location } = await user.get("/idpauth/login/?provider=one");
      const callback = new URL(await app.provider.signInCode(location));
      expect(callback.pathname).toBe(`${CALLBACK}/one`);
      expect((await user.get(`${CALLBACK}/two${callback.search}`)).status).toBe(400);
      expect([codesSpent(), other.provider.requestsTo("token").length]).toEqual([0, 0]);
      // What one provider signs in the other's name: the other has no such key.
      app.provider.mutateResponseJwt = ({ claims }) => ({
        claims: { ...claims, iss: other.provider.issuer },
      });
      const mixed = new URL(await app.provider.signInCode(location));
      expect((await user.get(`${CALLBACK}/two${mixed.search}`)).status).toBe(503);
      expect((await user.get(`${CALLBACK}/one${mixed.search}`)).status).toBe(400);
      expect([codesSpent(), other.provider.requestsTo("token").length]).toEqual([0, 0]);
      expect((await user.get(`${callback.pathname}${callback.search}`)).status).toBe(302);
    } finally {
      await other.stop();
    }
  });

  it("is never posted", async () => {
    const user = await start();
    const response = jwtIn(await approved(user));
    const answer = await user.post(CALLBACK, { response }, { headers: CROSS });
    expect([answer.status, codesSpent()]).toEqual([405, 0]);
  });

  it("isn't in any log line, event or page", async () => {
    const user = await start();
    const good = await approved(user);
    const bad = good.replace(/.(?=.{4}$)/, (one) => (one === "A" ? "B" : "A"));
    const pages = [await user.get(bad), await user.get(good)];
    const texts = [...pages.map(({ body }) => String(body)), JSON.stringify(app.log)];
    for (const part of jwtIn(good).split("."))
      for (const text of texts) expect(text).not.toContain(part);
  });
});

describe("the keys for signed responses", () => {
  it("in an outage the response is 503, and the same address works later", async () => {
    const user = await start();
    const callback = await approved(user);
    app.provider.fault("jwks", { kind: "status", status: 503 });
    expect((await user.get(callback)).status).toBe(503);
    expect(codesSpent()).toBe(0);
    app.provider.clearFaults();
    app.clock.advance(6_000);
    expect((await user.get(callback)).status).toBe(302);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("are fetched seldom, whatever strangers send, and a new key is found within seconds", async () => {
    const user = await start();
    await user.get(await approved(user));
    app.clock.advance(6_000);
    const before = keysFetched();
    for (let sent = 0; sent < 50; sent += 1) {
      const header = Buffer.from(JSON.stringify({ alg: "RS256", kid: `k${String(sent)}` }));
      const exp = Math.floor(app.clock.now() / 1000) + 60;
      const { issuer: iss, clientId: aud } = app.provider;
      const claims = Buffer.from(JSON.stringify({ iss, aud, exp, state: "s", code: "c" }));
      const jwt = `${header.toString("base64url")}.${claims.toString("base64url")}.AAAA`;
      expect([400, 503]).toContain((await app.user().get(`${CALLBACK}?response=${jwt}`)).status);
    }
    expect(keysFetched() - before).toBe(1);
    const next = app.user();
    await app.provider.rotateKeys({ keepOld: false });
    const callback = await approved(next);
    app.clock.advance(6_000);
    expect((await next.get(callback)).status).toBe(302);
  });
});

describe("at the callback origin, a signed response", () => {
  const [APEX, SHOP] = ["apex.example", "a.shop.example"];

  it("goes on to the login's origin, whose callback verifies it", async () => {
    const user = await start({
      baseUrl: [`http://${SHOP}`, "http://b.shop.example"],
      callbackOrigin: `http://${APEX}`,
    });
    const { location } = await user.get("/idpauth/login/", { host: SHOP });
    const callback = new URL(await app.provider.signInCode(location));
    expect(callback.host).toBe(APEX);
    const sentOn = await user.get(`${callback.pathname}${callback.search}`, { host: APEX });
    expect(sentOn.status).toBe(303);
    expect(sentOn.location).toBe(`http://${SHOP}${CALLBACK}${callback.search}`);
    expect((await user.get(`${CALLBACK}${callback.search}`, { host: SHOP })).status).toBe(302);
    for (const response of [
      "",
      "x",
      "a.e30.b",
      `a.${Buffer.from("[]").toString("base64url")}.b`,
      "a".repeat(6_000),
    ])
      expect((await user.get(`${CALLBACK}?response=${response}`, { host: APEX })).status).toBe(400);
    const twice = `${CALLBACK}${callback.search}&${callback.search.slice(1)}`;
    expect((await user.get(twice, { host: APEX })).status).toBe(400);
  });
});
