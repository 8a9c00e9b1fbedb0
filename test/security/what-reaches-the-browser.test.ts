import { connect, createServer, type AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { Fault } from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import type { Application } from "../support/application.js";
import {
  startExpressApplication,
  type ExpressApplication,
  type ExpressApplicationOptions,
} from "../support/express-application.js";
import { leaksIn, secretsOf } from "../support/secrets.js";
import { watchedStore, type WatchedStore } from "../support/watched-store.js";

const HOUR = 3_600_000;
const DAY = 86_400;
const SIGNED_OUT = '{"authenticated":false,"user":null}';

let application: ExpressApplication;
let store: WatchedStore;
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await application.stop();
});

async function start(options: ExpressApplicationOptions = {}) {
  store = watchedStore(new TestClock());
  application = await startExpressApplication({ store, ...options });
  return application.browser();
}

type Browser = Awaited<ReturnType<typeof start>>;

async function callback(browser: Browser): Promise<string> {
  const login = await browser.navigate("/idpauth/login/");
  return application.provider.signInCode(login.location ?? "");
}

const signIn = async (browser: Browser) => browser.navigate(await callback(browser));

/** A wire that remembers every byte on its way to the browser. */
async function wireTap(port: number): Promise<{ readonly port: number; heard(): string }> {
  const chunks: Buffer[] = [];
  const server = createServer((user) => {
    const onwards = connect(port, "127.0.0.1");
    onwards.on("data", (chunk) => chunks.push(chunk));
    for (const end of [user, onwards]) end.on("error", () => undefined);
    user.pipe(onwards).pipe(user);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(() => resolve())));
  return {
    port: (server.address() as AddressInfo).port,
    heard: () => Buffer.concat(chunks).toString("utf8"),
  };
}

describe("what reaches the browser", () => {
  it("[BFF-2] [ASVS-10.1.1] of every byte of a whole run none is a token, a secret or a verifier; state and nonce stand in the authorization URL only", async () => {
    const routes: ExpressApplicationOptions["routes"] = (app, auth) => {
      app.get(
        "/guarded",
        auth.idpRequired,
        (_request, response) => void response.send("protected"),
      );
      app.get(
        "/user",
        (request, response, next) =>
          void auth.getSession(request).then((session) => response.json(session?.user), next),
      );
    };
    await start({
      debug: true,
      sessionMaxAge: 10 * 3600,
      routes,
      provider: { claimsInIdToken: false },
    });
    const tap = await wireTap(application.port);
    const origin = "http://app.example";
    const browser = application.browser({ origin, proxied: { [origin]: tap.port } });
    const { provider, clock } = application;
    const pages = [
      ...[
        "/idpauth/",
        "/idpauth/session",
        "/idpauth/session?details=true",
        "/idpauth/debug",
        "/guarded",
        "/user",
      ],
      ...[
        "/idpauth/nothing",
        "/idpauth/login/?scheme=x",
        "/idpauth/logout/?response=x",
        "/idpauth/login-callback?state=x",
      ],
    ];
    const look = async () => {
      for (const page of pages) {
        await browser.navigate(page);
        await browser.get(page, { headers: { accept: "application/json" } });
        await browser.get(page, { method: "HEAD" });
        await browser.get(page, { method: "POST", body: "x=y" });
      }
    };
    await look();
    await browser.get("/idpauth/login/?response=json");
    const first = await callback(browser);
    await browser.navigate(first.replace(/code=[^&]*/, "error=access_denied"));
    await browser.navigate((await callback(browser)).replace(/code=[^&]*/, "code=guessed"));
    provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, aud: "other" } });
    await signIn(browser);
    provider.mutateIdToken = undefined;
    const faults: Fault[] = [
      { kind: "status", status: 500 },
      { kind: "garbage" },
      { kind: "reset" },
    ];
    for (const fault of faults) {
      provider.fault("token", { ...fault, times: 1 });
      await signIn(browser);
      clock.advance(61_000);
    }
    const last = await callback(browser);
    expect((await browser.navigate(last)).status).toBe(302);
    await browser.navigate(last);
    await look();
    clock.advance(HOUR);
    expect((await browser.get("/idpauth/session")).json().authenticated).toBe(true);
    await look();
    clock.advance(HOUR);
    provider.fault("token", { kind: "status", status: 503, times: 1 });
    await look();
    store.isDown = true;
    await look();
    store.isDown = false;
    clock.advance(10 * HOUR);
    await look();
    await browser.navigate("/idpauth/logout/");
    await look();

    const heard = tap.heard();
    expect(heard.length).toBeGreaterThan(50_000);
    const secrets = secretsOf(application as unknown as Application);
    expect(new Set(secrets.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(8);
    const isOneTime = ({ kind }: { kind: string }) => kind === "state" || kind === "nonce";
    expect(
      leaksIn(
        heard,
        secrets.filter((secret) => !isOneTime(secret)),
      ),
    ).toEqual([]);
    // The browser itself carries these two to the provider.
    const elsewhere = heard.replaceAll(/https?:\/\/127\.0\.0\.1:\d+\/authorize\?[^\s"]*/g, "");
    expect(elsewhere.length).toBeLessThan(heard.length);
    expect(leaksIn(elsewhere, secrets.filter(isOneTime))).toEqual([]);
  });

  it("[BFF-8] [SM-2] the cookie holds 43 random letters and nothing of who is signed in", async () => {
    const browser = await start();
    await signIn(browser);
    const [cookie, ...others] = browser.cookies.all();
    expect([cookie?.value, others]).toEqual([expect.stringMatching(/^[A-Za-z0-9_-]{43}$/), []]);
    expect([cookie?.httpOnly, cookie?.sameSite, cookie?.path, cookie?.hostOnly]).toEqual([
      true,
      "Lax",
      "/",
      true,
    ]);
    // 32 bytes without a structure: two sign-ins of the same user share nothing but single bytes by
    // chance.
    const decoded = Buffer.from(cookie?.value ?? "", "base64url");
    expect(decoded).toHaveLength(32);
    const again = await start();
    await signIn(again);
    const other = Buffer.from(again.cookies.all()[0]?.value ?? "", "base64url");
    const shared = decoded.filter((byte, index) => byte === other[index]);
    expect(shared.length).toBeLessThan(8);
  });
});

describe("[BFF-4] [ASVS-3.5.1] [ASVS-3.5.8] other origins", () => {
  const FOREIGN = {
    origin: "https://evil.example",
    referer: "https://evil.example/",
    "sec-fetch-site": "cross-site",
  };
  const TARGETS = [
    "/idpauth/",
    "/idpauth/session",
    "/idpauth/login/?response=json",
    "/idpauth/logout/?response=json",
    "/idpauth/nothing",
  ];

  it("[BFF-4] a cross-site request, which comes without the cookie, is unauthenticated", async () => {
    const browser = await start();
    await signIn(browser);
    const stranger = application.browser();
    expect((await stranger.get("/idpauth/session", { headers: FOREIGN })).text).toBe(SIGNED_OUT);
    // Nor does it act where the cookie would come, since a script of another site has no X-Idpauth.
    for (const one of [stranger, browser])
      expect((await one.get("/idpauth/logout/?response=json", { headers: FOREIGN })).status).toBe(
        503,
      );
    expect((await browser.get("/idpauth/session")).json().authenticated).toBe(true);
  });

  it.each(["https://evil.example", "null", "http://127.0.0.1", "https://app.example"])(
    "[BFF-4] nothing is shared with the origin %s, though the cookie came along, and no preflight is approved",
    async (origin) => {
      const browser = await start();
      await signIn(browser);
      for (const target of TARGETS) {
        const preflight = await browser.get(target, {
          method: "OPTIONS",
          headers: {
            ...FOREIGN,
            origin,
            "access-control-request-method": "GET",
            "access-control-request-headers": "x-origin-url",
          },
        });
        const isOurs = target !== "/idpauth/nothing";
        expect([preflight.status, preflight.text.includes("evil")]).toEqual([
          isOurs ? 405 : 404,
          false,
        ]);
        const answer = target.includes("logout")
          ? preflight
          : await browser.get(target, { headers: { ...FOREIGN, origin } });
        for (const { headers } of [preflight, answer]) {
          expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual(
            [],
          );
          expect(headers["cross-origin-resource-policy"]).toBe("same-origin");
        }
      }
    },
  );
});

describe("the refresh token's end", () => {
  it("[BFF-6] once refused it is not used again, for every request: no token request, nothing of it in the session, and nobody is signed in", async () => {
    const browser = await start({
      routes(app, auth) {
        app.get(
          "/guarded",
          auth.idpRequired,
          (_request, response) => void response.send("protected"),
        );
        app.get("/token", (request, response, next) => {
          void Promise.all([auth.getCredentials(request), auth.getAccessToken(request)]).then(
            (found) => response.json(found),
            next,
          );
        });
      },
    });
    await signIn(browser);
    const { provider, clock } = application;
    const [token, ...others] = provider.issued
      .filter(({ kind }) => kind === "refresh_token")
      .map(({ value }) => value);
    const stored = async () => JSON.stringify((await store.entries()).map(({ data }) => data));
    expect([others, await stored()]).toEqual([[], expect.stringContaining(token ?? "none")]);
    expect((await browser.get("/guarded")).text).toBe("protected");
    const refreshes = () => provider.requestsTo("token", { grant_type: "refresh_token" });

    provider.revokeAll();
    clock.advance(HOUR);
    expect((await browser.get("/idpauth/session")).text).toBe(SIGNED_OUT);
    expect(refreshes().map(({ params }) => params.get("refresh_token"))).toEqual([token]);
    for (let round = 0; round < 10; round += 1) {
      expect((await browser.get("/idpauth/session")).text).toBe(SIGNED_OUT);
      expect((await browser.get("/guarded")).status).toBe(401);
      expect((await browser.navigate("/guarded")).location).toContain("/idpauth/login/");
      expect((await browser.get("/token")).json()).toEqual([null, null]);
      clock.advance(10 * 60_000);
    }
    expect(refreshes()).toHaveLength(1);
    expect(await stored()).toContain("ada");
    expect(await stored()).not.toContain(token);
  });

  it.each([
    [{}, 14 * DAY],
    [{ sessionMaxAge: 8 * 3600, sessionIdleTimeout: 1800 }, 14 * DAY],
    [{ sessionMaxAge: 30 * DAY }, 31 * DAY],
  ])(
    "[BFF-7] with %j a stored session lives %i s: finite without a session limit, and longer than every limit",
    async (options, life) => {
      const browser = await start(options);
      await signIn(browser);
      // Besides the trace of the sign-in.
      const stored = (await store.entries()).find(({ subject }) => subject !== undefined);
      expect((stored?.expiresAt ?? 0) - Math.floor(application.clock.now() / 1000)).toBe(life);
      for (const cap of Object.values(options)) expect(life).toBeGreaterThan(cap);
    },
  );
});
