import { createServer, type Server } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { SessionRequest } from "../../src/access/session-request.js";
import { readSettings } from "../../src/config/read-settings.js";
import type { EndpointContext } from "../../src/endpoints/context.js";
import { login } from "../../src/endpoints/login.js";
import type { Change, UserSession } from "../../src/ports/user-session.js";
import { EMPTY_RECORD } from "../../src/record/record.js";
import type { Endpoint, Fault } from "../../src/testing/provider/test-provider.js";
import { systemClock } from "../../src/clock.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { createCertificate } from "../../scripts/certificate.mjs";
import {
  startApplication,
  type Answer,
  type Application,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";
import { CROSS, formFor } from "../support/posted-response.js";
import { leaksIn, secretsOf } from "../support/secrets.js";
import { startExpressApplication } from "../support/express-application.js";
import { watchedStore } from "../support/watched-store.js";
import { settled } from "../../src/testing/settled.js";

const HOUR = 3_600_000;
const RANDOM = /^[A-Za-z0-9_-]{43}$/;
const SIGNED_OUT = '{"authenticated":false,"user":null}';

let application: Application;
const closing: (() => void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) close();
  await application.stop();
});

async function start(options: ApplicationOptions = {}): Promise<TestUser> {
  application = await startApplication(options);
  return application.user();
}

const credentialsOf = async (user: TestUser): Promise<unknown> =>
  (await application.auth.readSessionRecord(user.request("/")))?.["credentials"];

function parameter(callback: string, name: string): string {
  return new URL(callback, "http://app.example").searchParams.get(name) ?? "";
}

function withParameter(callback: string, name: string, value: string): string {
  const url = new URL(callback, "http://app.example");
  url.searchParams.set(name, value);
  return `${url.pathname}${url.search}`;
}

describe("the security best current practice (RFC 9700)", () => {
  it.each<[string, (user: TestUser) => Promise<string>]>([
    ["no state", async (user) => (await user.approve()).replace(/&?state=[^&]*/, "")],
    ["an empty state", async (user) => (await user.approve()).replace(/state=[^&]*/, "state=")],
    ["another session's state", async () => application.user().approve()],
    [
      "a used state",
      async (user) => {
        const callback = await user.approve();
        await user.get(callback);
        return callback;
      },
    ],
    [
      "the state of an expired login",
      async (user) => {
        const callback = await user.approve();
        application.clock.advance(599_000);
        // It is still stored when it expires, beside this one.
        await user.get("/idpauth/login/");
        application.clock.advance(1_000);
        return callback;
      },
    ],
  ])(
    "[BCP-2] a callback with %s reaches no token endpoint, and every stored session stays as it is, signed in or with a login under way",
    async (name, callbackOf) => {
      const clock = new TestClock();
      const store = watchedStore(clock);
      await start({ clock, store });
      const { provider } = application;
      const [member, beginner] = [application.user(), application.user()];
      await member.signIn();
      for (const user of [member, beginner]) {
        // A used state needs somebody who may use one: of the beginner's, a sign-in that was
        // refused.
        if (user === beginner)
          provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, nonce: "other" } });
        await user.get("/idpauth/login/");
        const callback = await callbackOf(user);
        const [stored, tokens, writes] = [
          await store.entries(),
          provider.requestsTo("token").length,
          store.writes.length,
        ];
        expect(JSON.stringify(stored)).toContain('"verifier"');
        const answer = await user.get(callback);
        const isMembersOwn = user === member && name === "a used state";
        expect([answer.status, answer.setCookies ?? []]).toEqual([isMembersOwn ? 302 : 400, []]);
        expect([provider.requestsTo("token").length, store.writes.length]).toEqual([
          tokens,
          writes,
        ]);
        expect(await store.entries()).toEqual(stored);
        expect(await user.isSignedIn()).toBe(user === member);
      }
    },
  );

  it("[BCP-4] [ASVS-10.1.2] swapped codes of two logins, in one browser or two, sign nobody in", async () => {
    await start();
    const [ada, bob] = [application.user(), application.user()];
    for (const [one, other] of [
      [ada, bob],
      [ada, ada],
    ] as const) {
      const [first, second] = [await one.approve(), await other.approve()];
      for (const [who, target, code] of [
        [one, first, second],
        [other, second, first],
      ] as const) {
        const answer = await who.get(withParameter(target, "code", parameter(code, "code")));
        expect([answer.status, answer.setCookies ?? []]).toEqual([400, []]);
        expect(await who.isSignedIn()).toBe(false);
      }
    }
  });

  it("[BCP-4] an ID token with the nonce of another login of the same browser is refused", async () => {
    const user = await start();
    const nonces = async () => {
      const url = new URL(
        (await user.get("/idpauth/login/?response=json")).json().redirect_to as string,
      );
      return url.searchParams.get("nonce");
    };
    const other = await nonces();
    expect(other).toMatch(RANDOM);
    application.provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, nonce: other } });
    expect((await user.signIn()).status).toBe(400);
    expect(await user.isSignedIn()).toBe(false);
  });

  it("[BCP-6] a thousand logins, and a thousand more after a restart, share no state, nonce or challenge and no part of one", async () => {
    const store = memoryStore({ clock: new TestClock() });
    await start({ store });
    const restarted = application.another();
    const seen = {
      state: new Set<string>(),
      nonce: new Set<string>(),
      code_challenge: new Set<string>(),
    };
    for (let login = 0; login < 2_000; login += 1) {
      const user = login < 1_000 ? application.user() : application.user().at(restarted);
      const { searchParams } = new URL((await user.get("/idpauth/login/")).location);
      for (const [name, values] of Object.entries(seen)) {
        const value = searchParams.get(name) ?? "";
        expect(value).toMatch(RANDOM);
        values.add(value);
      }
    }
    for (const values of Object.values(seen)) {
      expect(values.size).toBe(2_000);
      // No place where they are all alike: 64 letters, and 16 at the last place, which carries four
      // bits.
      for (let place = 0; place < 43; place += 1) {
        const letters = new Set([...values].map((value) => value[place]));
        expect(letters.size, `place ${String(place)}`).toBe(place < 42 ? 64 : 16);
      }
    }
    const all = Object.values(seen).flatMap((values) => [...values]);
    expect(new Set(all).size).toBe(6_000);
  });

  it("[BCP-7] with another nonce no token is used: the provider sees no userinfo request, the session holds no credentials", async () => {
    const user = await start({ provider: { claimsInIdToken: false } });
    application.provider.mutateIdToken = ({ claims }) => ({
      claims: { ...claims, nonce: "other" },
    });
    expect((await user.signIn()).status).toBe(400);
    expect(application.provider.requestsTo("userinfo")).toEqual([]);
    expect(await credentialsOf(user)).toBeUndefined();
    application.provider.mutateIdToken = undefined;
    expect((await user.signIn()).status).toBe(302);
    expect(application.provider.requestsTo("userinfo")).toHaveLength(1);
  });

  it("[BCP-9] no token and no secret stands in any URL or Referer of a whole run: sign-in, userinfo, refresh, logout", async () => {
    const user = await start({ provider: { claimsInIdToken: false } });
    await user.signIn();
    application.clock.advance(HOUR);
    expect(await user.isSignedIn()).toBe(true);
    await user.get("/idpauth/logout/");
    const { provider } = application;
    for (const endpoint of [
      "discovery",
      "authorize",
      "token",
      "jwks",
      "userinfo",
      "revoke",
    ] as const) {
      expect(provider.requestsTo(endpoint).length, endpoint).toBeGreaterThan(0);
    }
    const secrets = secretsOf(application).filter(({ kind }) => !["state", "nonce"].includes(kind));
    for (const { url, headers } of provider.requests) {
      expect(leaksIn(url, secrets)).toEqual([]);
      expect(headers.referer).toBeUndefined();
    }
    expect(provider.violations).toEqual([]);
  });

  it("[BCP-10] tokens in the callback's query are ignored: without a code they sign nobody in, with one they are not taken", async () => {
    const user = await start();
    const injected =
      "access_token=injected&id_token=injected&token_type=Bearer&expires_in=3600&refresh_token=injected";
    const callback = await user.approve();
    expect((await user.get(`${callback.replace(/code=[^&]*/, "")}&${injected}`)).status).toBe(400);
    expect(await user.isSignedIn()).toBe(false);
    expect(application.provider.requestsTo("token")).toEqual([]);
    expect((await user.get(`${await user.approve()}&${injected}`)).status).toBe(302);
    expect(
      JSON.stringify(await application.auth.readSessionRecord(user.request("/"))),
    ).not.toContain("injected");
  });

  it("[BCP-12] every redirect that there is has status 302, or 303 after a form", async () => {
    const user = await start({ baseUrl: "http://app.example" });
    const guarded = await application.auth.guard(
      user.request("/reports", { headers: { accept: "text/html" } }),
    );
    const refusal = (await user.approve()).replace(/code=[^&]*/, "error=access_denied");
    const callback = await user.approve();
    const replies = [
      guarded?.reply,
      await user.get("/idpauth/login/", { host: "other.example" }),
      await user.get("/idpauth/login/"),
      await user.get(refusal),
      await user.get(callback),
      await user.get(callback),
      await user.get("/idpauth/logout/"),
    ];
    expect(
      replies.map((reply) => [reply?.status, reply?.headers["Location"] === undefined]),
    ).toEqual(replies.map(() => [302, false]));

    await application.stop();
    const poster = await start({
      baseUrl: "http://app.example",
      responseMode: "form_post",
      sessionsPage: true,
    });
    const { path, fields } = await formFor(poster);
    const ofProvider = await poster.post(path, fields, { headers: CROSS });
    const signedIn = await poster.get(ofProvider.location, { headers: CROSS });
    expect([signedIn.status, signedIn.location === ""]).toEqual([302, false]);
    const page = { "sec-fetch-site": "same-origin", accept: "text/html" };
    const answers = [
      ofProvider,
      await poster.post("/idpauth/login/", { scheme: "DEFAULT" }, { headers: CROSS }),
      await poster.post("/idpauth/sessions", { end: "others" }, { headers: page }),
      await poster.post("/idpauth/sessions", { end: "all" }, { headers: page }),
    ];
    expect(answers.map(({ status, location }) => [status, location === ""])).toEqual(
      answers.map(() => [303, false]),
    );
  });

  it.each([
    ["X-Forwarded-Host", "evil.example"],
    ["X-Forwarded-Proto", "https"],
    ["X-Forwarded-Port", "4444"],
    ["X-Forwarded-Prefix", "/evil"],
    ["X-Forwarded-Scheme", "https"],
    ["X-Forwarded-Ssl", "on"],
    ["X-Forwarded-Server", "evil.example"],
    ["X-Forwarded-Uri", "/idpauth/session"],
    ["X-Forwarded-Method", "POST"],
    ["X-HTTP-Method-Override", "POST"],
    ["X-Host", "evil.example"],
    ["X-Original-Host", "evil.example"],
    ["X-Original-URL", "/idpauth/session"],
    ["X-Rewrite-URL", "/idpauth/session"],
    ["Forwarded", "host=evil.example;proto=https;for=127.0.0.1"],
    ["Front-End-Https", "on"],
    ["X_ORIGIN_URL", "http://evil.example/"],
  ])(
    "[BCP-13] %s: %s, which no setting trusts, changes no address, no path and no cookie",
    async (name, value) => {
      const app = await startExpressApplication({
        routes: (into, auth) =>
          void into.get(
            "/guarded",
            auth.idpRequired,
            (_request, response) => void response.send("protected"),
          ),
      });
      application = app as unknown as Application;
      const asked = async (target: string, headers: Record<string, string>) => {
        const answer = await app.browser().navigate(target, { headers });
        const location = answer.location?.replace(/(state|nonce|code_challenge)=[^&]*/g, "");
        const cookies = answer.setCookies.map((cookie) => cookie.replace(/=[^;]+/, ""));
        return [answer.status, location, cookies, answer.text.includes("protected")];
      };
      for (const target of [
        "/guarded",
        "/idpauth/login/",
        "/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=http%3A%2F%2Fevil.example%2F",
        "/idpauth/",
        "/idpauth/logout/",
      ]) {
        expect(await asked(target, { [name]: value }), target).toEqual(await asked(target, {}));
      }
    },
  );

  it.each(["client_secret_post", "client_secret_basic"] as const)(
    "[BCP-16] [BFF-1] the token request of %s: a form in a POST without a query, each parameter once, the client proven once",
    async (tokenEndpointAuthMethod) => {
      const user = await start({ tokenEndpointAuthMethod });
      await user.signIn();
      application.clock.advance(HOUR);
      expect(await user.isSignedIn()).toBe(true);
      const requests = application.provider.requestsTo("token");
      expect(requests.map(({ params }) => params.get("grant_type"))).toEqual([
        "authorization_code",
        "refresh_token",
      ]);
      for (const { method, url, headers, params } of requests) {
        expect([method, url.includes("?"), headers["content-type"]?.split(";")[0]]).toEqual([
          "POST",
          false,
          "application/x-www-form-urlencoded",
        ]);
        const names = [...params.keys()];
        expect(new Set(names).size).toBe(names.length);
        const isBasic = headers.authorization?.startsWith("Basic ") === true;
        expect([isBasic, params.has("client_secret")]).toEqual(
          tokenEndpointAuthMethod === "client_secret_basic" ? [true, false] : [false, true],
        );
      }
    },
  );

  it("[BCP-17] [BCP-2] [ASVS-10.1.2] a login that one browser began and another finishes gives the other no session, whether or not it had one", async () => {
    await start();
    const attacker = application.user();
    const member = application.user();
    await member.signIn("/idpauth/login/", { sub: "member", email: "member@example.com" });
    for (const victim of [application.user(), member]) {
      const before = (await victim.get("/idpauth/session")).body;
      const { redirect_to } = (await attacker.get("/idpauth/login/?response=json")).json() as {
        redirect_to: string;
      };
      const callback = new URL(await application.provider.signInCode(redirect_to));
      const codes = application.provider.requestsTo("token").length;
      const answer = await victim.get(`${callback.pathname}${callback.search}`);
      expect([answer.status, answer.setCookies ?? []]).toEqual([400, []]);
      expect(application.provider.requestsTo("token").length).toBe(codes);
      expect((await victim.get("/idpauth/session")).body).toBe(before);
      expect(await attacker.isSignedIn()).toBe(false);
    }
  });
});

describe("PKCE (RFC 7636)", () => {
  it("[PKCE-1] [ASVS-11.5.1] of 100,000 verifiers, and as many states and nonces, every one is distinct, and 43 letters of the unreserved alphabet", async () => {
    const user = await start();
    // The login itself, without what would store and send its values.
    const { settings } = readSettings({
      secretKey: "a secret key of at least 32 bytes",
      clientId: "c",
      clientSecret: "s",
    });
    const values: (string | undefined)[] = [];
    const session = {
      begin(change: Change) {
        const [pending] = change(EMPTY_RECORD).idp_state.logins ?? [];
        values.push(pending?.verifier, pending?.state, pending?.nonce);
        return Promise.resolve();
      },
    };
    const opened = new SessionRequest(
      user.request("/idpauth/login/"),
      session as unknown as UserSession,
      { settings: settings!, clock: systemClock },
    );
    const provider = {
      createDpopKey: () => Promise.resolve(undefined),
      authorizationUrl: () =>
        Promise.resolve({ url: "https://idp.example/authorize", isSilent: false }),
    };
    const context = {
      settings,
      ownForms: { isProven: () => false },
      apis: new Map(),
      registrations: [{ issuer: "https://idp.example", provider, requestsAuthTime: () => false }],
      clock: application.clock,
    } as unknown as EndpointContext;
    using _random = vi.spyOn(Math, "random").mockReturnValue(0.5);
    for (let logins = 0; logins < 100_000; logins += 1) await login(opened, context);
    expect(values.filter((value) => !RANDOM.test(value ?? ""))).toEqual([]);
    expect(new Set(values).size).toBe(300_000);
  });

  it("[PKCE-2] the verifier goes to the provider once, with its own code, and to nobody else", async () => {
    const user = await start();
    const callback = await user.approve();
    const before = JSON.stringify(await application.auth.readSessionRecord(user.request("/")));
    const answer = await user.get(callback);
    const [request] = application.provider.requestsTo("token");
    const verifier = request?.params.get("code_verifier") ?? "";
    expect(verifier).toMatch(RANDOM);
    const after = JSON.stringify(await application.auth.readSessionRecord(user.request("/")));
    for (const text of [before, after, JSON.stringify(answer), callback])
      expect(text).not.toContain(verifier);
    expect(
      application.provider.requests.filter(({ body, url }) => (body + url).includes(verifier)),
    ).toHaveLength(1);
  });

  it("[PKCE-2] in the store each verifier is stored with its own state, and is gone after use, for every outcome", async () => {
    const clock = new TestClock();
    const store = watchedStore(clock);
    const user = await start({ clock, store });
    const { provider } = application;
    const pending = async () =>
      (await store.entries())
        // The trace of a sign-in is encrypted in every store.
        .flatMap(({ data }) => (data instanceof Uint8Array ? [] : (data.idp_state.logins ?? [])))
        .map(({ state, verifier }) => [state, verifier]);
    const callbacks = [await user.approve(), await user.approve(), await user.approve()];
    const kept = new Map((await pending()) as [string, string][]);
    expect([...kept.keys()]).toEqual(callbacks.map((callback) => parameter(callback, "state")));
    expect(new Set(kept.values()).size).toBe(3);
    // Not in the order in which they began: one succeeds, one is refused, one is an error of the
    // provider.
    const [first = "", second = "", third = ""] = callbacks;
    const ways: readonly (readonly [string, number, () => unknown])[] = [
      [second, 302, () => undefined],
      [
        third,
        400,
        () =>
          (provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, nonce: "other" } })),
      ],
      [withParameter(first, "error", "access_denied"), 302, () => undefined],
    ];
    for (const [callback, status, prepare] of ways) {
      const state = parameter(callback, "state");
      const verifier = kept.get(state) ?? "";
      expect(verifier).toMatch(RANDOM);
      prepare();
      const before = provider.requestsTo("token").length;
      expect((await user.get(callback)).status).toBe(status);
      const sent = provider.requestsTo("token").slice(before);
      expect(sent.map(({ params }) => params.get("code_verifier"))).toEqual(
        callback.includes("error=") ? [] : [verifier],
      );
      kept.delete(state);
      expect(await pending()).toEqual([...kept]);
      expect(JSON.stringify(await store.entries())).not.toContain(verifier);
    }
  });

  it("[PKCE-3] a provider that knows no PKCE is sent it all the same, and signs in", async () => {
    const user = await start({ provider: { pkce: "ignored" } });
    expect((await user.signIn()).status).toBe(302);
    expect(
      application.provider.requestsTo("authorize")[0]?.query.get("code_challenge_method"),
    ).toBe("S256");
    expect(application.provider.requestsTo("token")[0]?.params.get("code_verifier")).toMatch(
      RANDOM,
    );
    expect(await user.isSignedIn()).toBe(true);
  });
});

/** A second server that answers everything with 200; what reaches it is counted. */
async function listener(): Promise<{ readonly origin: string; readonly requests: string[] }> {
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(`${request.method ?? ""} ${request.url ?? ""}`);
    response.setHeader("Content-Type", "application/json").end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close().closeAllConnections());
  return { origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, requests };
}

/** A server whose certificate nobody has reason to trust. */
async function untrusted(): Promise<{ readonly origin: string; readonly requests: string[] }> {
  const requests: string[] = [];
  const server: TlsServer = createTlsServer(
    createCertificate({ name: "localhost" }),
    (request, response) => {
      requests.push(request.url ?? "");
      response.end();
    },
  );
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close().closeAllConnections());
  return {
    origin: `https://localhost:${String((server.address() as AddressInfo).port)}`,
    requests,
  };
}

function expectLoggedOut(answer: Answer, response: string): void {
  if (response === "json")
    expect([answer.status, answer.body]).toEqual([200, '{"status":"logged_out"}']);
  else expect([answer.status, answer.location]).toEqual([302, "/idpauth/"]);
}

describe("revocation (RFC 7009)", () => {
  it.each<[string, (user: TestUser) => Promise<void>]>([
    [
      "with a cookie that leads nowhere",
      (user) => {
        user.cookies.set("idpauth", "A".repeat(43));
        return Promise.resolve();
      },
    ],
    [
      "with a login that is not finished",
      async (user) => {
        await user.approve();
      },
    ],
    [
      "with the cookie of a session that has ended",
      async (user) => {
        await user.signIn();
        const cookie = user.cookies.get("idpauth") ?? "";
        await user.get("/idpauth/logout/");
        user.cookies.set("idpauth", cookie);
      },
    ],
  ])("[REV-5] a logout %s sends the provider nothing", async (_name, prepare) => {
    const user = await start();
    await prepare(user);
    const before = application.provider.requests.length;
    expectLoggedOut(await user.get("/idpauth/logout/?response=json"), "json");
    expectLoggedOut(await user.get("/idpauth/logout/"), "redirect");
    expect(application.provider.requests.slice(before)).toEqual([]);
  });

  it.each(["redirect", "json"])(
    "[REV-3] a certificate that cannot be trusted: nothing is sent, the logout completes, response=%s",
    async (response) => {
      const user = await start();
      const { origin, requests } = await untrusted();
      application.provider.discoveryDocument = (document) => ({
        ...document,
        revocation_endpoint: `${origin}/revoke`,
      });
      await user.signIn();
      expectLoggedOut(await user.get(`/idpauth/logout/?response=${response}`), response);
      expect([requests, await user.isSignedIn()]).toEqual([[], false]);
      expect(
        application.log.filter(({ details }) => details?.endpoint === "revocation"),
      ).toHaveLength(1);
    },
  );

  it.each(["redirect", "json"])(
    "[REV-3] nobody listening at the revocation endpoint: the logout completes, response=%s",
    async (response) => {
      const user = await start();
      application.provider.discoveryDocument = (document) => ({
        ...document,
        revocation_endpoint: "http://127.0.0.1:9/revoke",
      });
      await user.signIn();
      expectLoggedOut(await user.get(`/idpauth/logout/?response=${response}`), response);
      expect(await user.isSignedIn()).toBe(false);
    },
  );

  it.each(["redirect", "json"])(
    "[REV-3] a provider that hangs is given up after IDP_HTTP_TIMEOUT, and one that knows no such token has revoked it: the logout completes, response=%s",
    async (response) => {
      const user = await start();
      await user.signIn();
      const hold = application.provider.hold("revoke");
      const answer = user.get(`/idpauth/logout/?response=${response}`);
      await hold.arrived;
      application.clock.advance(5_000);
      expectLoggedOut(await answer, response);
      hold.release();
      await settled(application.auth);
      expect(await user.isSignedIn()).toBe(false);
      application.clock.advance(61_000);
      await user.signIn();
      application.provider.revokeAll();
      application.log.length = 0;
      expectLoggedOut(await user.get(`/idpauth/logout/?response=${response}`), response);
      expect(application.provider.requestsTo("revoke")).toHaveLength(2);
      expect([
        application.log.filter(({ level }) => level !== "info"),
        await user.isSignedIn(),
      ]).toEqual([[], false]);
    },
  );

  it.each([301, 302, 303, 307, 308])(
    "[REV-4] [ASVS-15.3.2] a redirect with %i from any endpoint is not followed: another listener sees no request",
    async (status) => {
      const user = await start({ provider: { claimsInIdToken: false } });
      const { provider, clock } = application;
      const { origin, requests } = await listener();
      const strike = (endpoint: Endpoint) =>
        provider.fault(endpoint, {
          kind: "redirect",
          status,
          location: `${origin}/${endpoint}`,
          times: 1,
        } satisfies Fault);
      const during = async (endpoint: Endpoint, work: () => Promise<unknown>) => {
        const before = provider.requestsTo(endpoint).length;
        const withdraw = strike(endpoint);
        await work();
        expect(provider.requestsTo(endpoint).length, endpoint).toBe(before + 1);
        withdraw();
        clock.advance(61_000);
      };
      await during("discovery", () => user.get("/idpauth/login/"));
      await during("token", () => user.signIn());
      await during("jwks", () => user.signIn());
      await during("userinfo", () => user.signIn());
      clock.advance(HOUR);
      await during("token", () => user.get("/idpauth/session"));
      expect(await user.isSignedIn()).toBe(true);
      await during("revoke", () => user.get("/idpauth/logout/"));
      expect(requests).toEqual([]);
      expect(provider.requestsTo("unknown")).toEqual([]);
      // The listener does count.
      await fetch(origin);
      expect(requests).toHaveLength(1);
    },
  );
});

describe("token responses and client authentication (RFC 6749)", () => {
  const SECRETS = [
    "a:b",
    ":",
    "a+b",
    "100%",
    "%41",
    "%2B",
    "two words",
    " leading and trailing ",
    "ünïcødé",
    "日本語",
    "🔑",
    "&=?#/\\\"'<>",
    "a:b+c%d e\u00fc&=",
  ];

  it.each(
    SECRETS.flatMap((secret) =>
      (["client_secret_post", "client_secret_basic"] as const).map(
        (method) => [secret, method] as const,
      ),
    ),
  )(
    "[TOK-4] the client secret %j by %s: sign-in, refresh and revocation prove the client",
    async (clientSecret, method) => {
      const user = await start({
        tokenEndpointAuthMethod: method,
        provider: { clientId: "client:id +%é", clientSecret, tokenEndpointAuthMethods: [method] },
      });
      const { provider } = application;
      expect((await user.signIn()).status).toBe(302);
      application.clock.advance(HOUR);
      expect(await user.isSignedIn()).toBe(true);
      const token = provider.issued.findLast(({ kind }) => kind === "refresh_token")?.value ?? "";
      await user.get("/idpauth/logout/");
      expect(provider.isActive(token)).toBe(false);
      const header = provider.requestsTo("revoke")[0]?.headers.authorization;
      if (method === "client_secret_post") expect(header).toBeUndefined();
      else {
        // RFC 6749 section 2.3.1: each form-encoded by itself, then joined.
        const [id = "", secret = "", ...rest] = Buffer.from(header?.slice(6) ?? "", "base64")
          .toString("latin1")
          .split(":");
        const decoded = (text: string) => new URLSearchParams(`x=${text}`).get("x");
        expect([decoded(id), decoded(secret), rest]).toEqual(["client:id +%é", clientSecret, []]);
      }
    },
  );

  it.each(["BEARER", "bEaReR", "bearer"])("[TOK-1] token_type %s signs in", async (token_type) => {
    const user = await start();
    application.provider.tokenResponse = (answer) => ({ ...answer, token_type });
    expect((await user.signIn()).status).toBe(302);
  });

  it.each(["DPoP", "mac", "N_A", "", "Bearer ", null, undefined, ["Bearer"]])(
    "[TOK-1] token_type %j signs nobody in",
    async (token_type) => {
      const user = await start();
      application.provider.tokenResponse = (answer) => ({ ...answer, token_type });
      expect((await user.signIn()).status).toBe(503);
      expect((await user.get("/idpauth/session")).body).toBe(SIGNED_OUT);
    },
  );

  it.each([undefined, "3600", "soon", -1, 0.5, 1e30, null, {}])(
    "[TOK-2] expires_in %j neither fails a sign-in nor a refresh",
    async (expires_in) => {
      const user = await start();
      application.provider.tokenResponse = (answer) => ({ ...answer, expires_in });
      expect((await user.signIn()).status).toBe(302);
      application.clock.advance(HOUR);
      expect(await user.isSignedIn()).toBe(true);
      expect(application.provider.requestsTo("token")).toHaveLength(2);
    },
  );

  it.each(["code", "state", "error", "iss"])(
    "[TOK-3] [ISS-1] a callback with %s twice, the same or another, reaches no token endpoint",
    async (name) => {
      const user = await start();
      for (const second of ["same", "other"]) {
        const callback = await user.approve();
        const once =
          name === "error"
            ? `${callback.replace(/code=[^&]*&?/, "")}&error=access_denied`
            : callback;
        const value = second === "same" ? parameter(once, name) : "other";
        const answer = await user.get(`${once}&${name}=${encodeURIComponent(value)}`);
        expect([answer.status, answer.setCookies ?? []]).toEqual([400, []]);
      }
      expect(application.provider.requestsTo("token")).toEqual([]);
      expect(await user.isSignedIn()).toBe(false);
    },
  );
});

describe("the authorization response", () => {
  it.each([
    "scope=openid",
    "authuser=0",
    "prompt=none",
    "hd=example.com",
    "session_state=a.b",
    "foo=bar&foo=baz",
    "__proto__=x",
    "constructor=1",
  ])("[ISS-4] the extra parameter %s changes nothing", async (extra) => {
    const user = await start();
    expect((await user.get(`${await user.approve()}&${extra}`)).status).toBe(302);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("[ISS-2] a relay that strips iss where the provider advertises it breaks the login with a clear event, and keeps who is signed in", async () => {
    const user = await start();
    await user.signIn();
    const reasons: string[] = [];
    application.auth.on("failure", ({ reason }) => reasons.push(reason));
    expect((await user.get((await user.approve()).replace(/&?iss=[^&]*/, ""))).status).toBe(400);
    expect([reasons, await user.isSignedIn()]).toEqual([["iss"], true]);
  });
});
