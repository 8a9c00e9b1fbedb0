import { generateKeyPairSync } from "node:crypto";
import { connect } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { MAX_ORIGIN_URL_LENGTH } from "../../src/http/same-origin-url.js";
import { redirectCorpus } from "../support/redirect-corpus.js";
import { rawRequest } from "../../packages/idpauth-conformance/src/adapter/raw-request.js";
import type { Endpoint } from "../../src/testing/provider/test-provider.js";
import type { Application, TestUser } from "../support/application.js";
import { startExpressApplication } from "../support/express-application.js";
import { leaksIn, secretsOf } from "../support/secrets.js";
import { startWatchedRun, type WatchedRun } from "../support/watched-run.js";
import { settled } from "../../src/testing/settled.js";
import { bundledSessions } from "../support/bundled-sessions.js";

// Thousands of requests take a busy machine minutes.
vi.setConfig({ testTimeout: 600_000 });

const HOUR = 3_600_000;
const PROBE = "/idpauth/session?details=true";

/** IDP_REFRESH_CONCURRENCY here, and how many wait for each place. */
const PLACES = 5;
const WAITING = 50 * PLACES;
// One user has all the sessions.
const LIMIT = { refreshConcurrency: PLACES, sessionsPerUser: 0, provider: { rotation: false } };

/** Milliseconds of processor time that one hostile input may cost. */
const MOST = 100;

let run: WatchedRun | undefined;

afterEach(async () => {
  await run?.finish();
  run = undefined;
});

async function start(options?: Parameters<typeof startWatchedRun>[0]): Promise<WatchedRun> {
  return (run = await startWatchedRun(options));
}

/** Sessions of one person with a refresh token each, without the trip that would make them. */
async function manySessions(run: WatchedRun, user: TestUser, count: number): Promise<string[]> {
  const sessions = bundledSessions(run);
  const [[name, value] = ["", ""]] = user.cookies;
  const record = await sessions.open(`${name}=${value}`, false).read();
  if (record === undefined) throw new Error("nobody is signed in");
  const cookies: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const session = sessions.open(undefined, false);
    await session.begin(() => record);
    cookies.push(session.setCookies[0]?.split(";", 1)[0] ?? "");
  }
  return cookies;
}

function statusesOf(answers: readonly { readonly status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Most requests at the token endpoint at one time: each is held for a moment. */
function crowdAt({ provider }: WatchedRun): () => number {
  let now = 0;
  let most = 0;
  provider.mutateIdToken = async (draft) => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setTimeout(resolve, 5));
    now -= 1;
    return draft;
  };
  return () => most;
}

/**
 * 10,000 sessions that have to be refreshed, how many were at the provider at once, and somebody
 * whose session is fresh.
 */
async function expiredHerd() {
  const run = await start(LIMIT);
  const person = run.user();
  await person.signIn();
  const cookies = await manySessions(run, person, 10_000);
  const most = crowdAt(run);
  run.clock.advance(HOUR);
  const unrelated = run.user();
  await unrelated.signIn();
  return { ...run, cookies, most, unrelated };
}

describe("[L1] many sessions expire in the same second", () => {
  it("[L1] 10,000: the provider sees no more than IDP_REFRESH_CONCURRENCY at a time, the rest get a Retry-After, nobody is signed out, and another user is served at the same time", async () => {
    const { provider, user, cookies, most, unrelated } = await expiredHerd();
    const refreshes = () => provider.requestsTo("token", { grant_type: "refresh_token" }).length;
    const REFUSED = 10_000 - PLACES - WAITING;
    let refused = 0;
    const hold = provider.hold("token");
    const herd = cookies.map(async (cookie) => {
      const answer = await user().get(PROBE, { headers: { cookie } });
      if (answer.status === 503) refused += 1;
      return answer;
    });
    // The provider holds the first refreshes until all others are refused. More than the limit of
    // either ends the wait, and the test fails.
    await until(
      () => (refused >= REFUSED && hold.held >= PLACES) || refused > REFUSED || hold.held > PLACES,
    );
    expect({ refused, held: hold.held }).toEqual({ refused: REFUSED, held: PLACES });
    // The queue is full, and the provider does not respond: another user is served all the same.
    for (let request = 0; request < 20; request += 1)
      expect(await unrelated.isSignedIn()).toBe(true);
    expect({ refused, held: hold.held }).toEqual({ refused: REFUSED, held: PLACES });
    hold.release();
    const answers = await Promise.all(herd);
    expect(statusesOf(answers)).toEqual({ 200: PLACES + WAITING, 503: REFUSED });
    for (const answer of answers)
      expect(answer.json()).toMatchObject(answer.status === 200 ? { authenticated: true } : {});
    expect(most()).toBe(PLACES);
    expect(refreshes()).toBe(PLACES + WAITING);
    // Users who were told to come back, one of ten, are still signed in.
    let left = cookies.filter((_cookie, number) => answers[number]?.status === 503);
    expect(left).toHaveLength(REFUSED);
    left = left.filter((_cookie, number) => number % 10 === 0);
    while (left.length > 0) {
      const wave = left.slice(0, WAITING);
      left = left.slice(WAITING);
      for (const answer of await Promise.all(
        wave.map((cookie) => user().get(PROBE, { headers: { cookie } })),
      ))
        expect(answer.json()).toMatchObject({ authenticated: true });
    }
    expect(most()).toBe(PLACES);
  });
});

describe("[L2] the provider hangs while many probes arrive", () => {
  it("[L2] 5,000: those beyond the queue get their response at once, the others within IDP_HTTP_TIMEOUT, in bounded memory", async () => {
    const { clock, provider, user, ...app } = await start(LIMIT);
    const person = user();
    await person.signIn();
    const cookies = await manySessions({ clock, provider, user, ...app }, person, 5_000);
    clock.advance(HOUR);
    provider.fault("token", { kind: "hang" });
    const before = process.memoryUsage().rss;
    let answered = 0;
    const probes = cookies.map(async (cookie) => {
      const answer = await user().get(PROBE, { headers: { cookie } });
      answered += 1;
      return answer;
    });
    while (provider.requestsTo("token", { grant_type: "refresh_token" }).length < PLACES) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => answered === 5_000 - PLACES - WAITING);
    await clock.advanceAsync(5_000);
    const answers = await Promise.all(probes);
    expect(statusesOf(answers)).toEqual({ 503: 5_000 });
    expect(provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(PLACES);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1_048_576);
    // The refreshes themselves end after 30 s; then everybody is served again.
    await clock.advanceAsync(30_000);
    provider.clearFaults();
    await clock.advanceAsync(61_000);
    await until(
      () => provider.requestsTo("token", { grant_type: "refresh_token" }).length >= PLACES,
    );
    expect(
      (await user().get(PROBE, { headers: { cookie: cookies[0] ?? "" } })).json(),
    ).toMatchObject({ authenticated: true });
  });
});

async function until(claim: () => boolean): Promise<void> {
  while (!claim()) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

describe("[L3] no input costs much processor time", () => {
  /**
   * Processor time in milliseconds, which other work on the machine does not add to. The least of
   * some rounds: collections vary.
   */
  async function cost(ready: () => Promise<() => Promise<unknown>>): Promise<number> {
    const rounds: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const work = await ready();
      const before = process.cpuUsage();
      await work();
      const { user, system } = process.cpuUsage(before);
      rounds.push((user + system) / 1_000);
    }
    return Math.min(...rounds);
  }

  /** The same work each time. */
  const each = (work: () => Promise<unknown>) => () => Promise.resolve(work);

  /** Sign-ins whose answer of this endpoint is on its way. */
  const signIns = (endpoint: Endpoint, status: number, user: () => TestUser) => async () => {
    const provider = run?.provider;
    const person = user();
    const callback = await person.approve();
    const hold = provider?.hold(endpoint, { before: false });
    const answer = person.get(callback);
    await hold?.arrived;
    return async () => {
      hold?.release();
      expect((await answer).status).toBe(status);
      run?.clock.advance(61_000);
    };
  };

  it.each([
    ["12 KB of slashes", "/".repeat(12_000)],
    ["12 KB of own origin", "http://app.example".repeat(600)],
    ["12 KB of backslashes", `http://app.example${"\\".repeat(12_000)}`],
    ["12 KB of dots", `http://app.example/${"../".repeat(4_000)}`],
    ["12 KB of percent signs", `http://app.example/${"%".repeat(12_000)}`],
    ["12 KB of white space", `http://app.example/${" ".repeat(12_000)}x`],
    ["12 KB of user info", `http://${"a@".repeat(6_000)}app.example/`],
    ["12 KB of letters with marks", `http://app.example/${"\u0301".repeat(6_000)}`],
  ])("[L3] an origin_url of %s", async (_name, value) => {
    const { user } = await start();
    const target = `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(value)}`;
    await user().get(target);
    expect(await cost(each(() => user().get(target)))).toBeLessThan(MOST);
  });

  // Longer ones are refused by their length alone; these reach the rule and the parser.
  const REST = MAX_ORIGIN_URL_LENGTH - "http://app.example".length;
  const LONGEST: readonly (readonly [string, string])[] = [
    ["slashes", "/".repeat(REST)],
    ["backslashes", `/${"\\".repeat(REST - 1)}`],
    ["dots", "/..".repeat(Math.floor(REST / 3))],
    ["percent signs", `/${"%".repeat(REST - 1)}`],
    ["half escapes", `/${"%2".repeat(Math.floor((REST - 1) / 2))}`],
    ["user info", `/${"a@".repeat(Math.floor((REST - 1) / 2))}`],
    ["a port without end", `:${"9".repeat(REST - 1)}`],
    ["white space at the end", `/${"x".repeat(REST - 2)} `],
    ["question marks", "?".repeat(REST)],
    ["number signs", "#".repeat(REST)],
    ["letters with marks", `/${"\u0301".repeat(Math.floor((REST - 1) / 6))}`],
  ];

  it.each(LONGEST)(
    "[L3] the longest origin that is read, of %s, by parameter and by header",
    async (_name, rest) => {
      const { user } = await start();
      const value = `http://app.example${rest}`;
      expect(value.length).toBeLessThanOrEqual(MAX_ORIGIN_URL_LENGTH);
      const byParameter = `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(value)}`;
      const ask = () =>
        Promise.all([
          user().get(byParameter),
          user().get("/idpauth/login/?scheme=PRESERVE_ORIGIN_HP&response=json", {
            headers: { "x-origin-url": value },
          }),
        ]);
      expect((await ask()).map(({ status }) => status)).toEqual([302, 200]);
      expect(await cost(each(ask))).toBeLessThan(MOST);
    },
  );

  it("[L3] every value of the redirect corpus, by parameter and by header", async () => {
    const { user } = await start();
    const corpus = redirectCorpus("http://app.example");
    for (const { value } of corpus) {
      const parameters = new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: value });
      const ask = async () => {
        await user().get(`/idpauth/login/?${parameters.toString()}`);
        await user().get("/idpauth/login/?scheme=PRESERVE_ORIGIN_HP&response=json", {
          headers: { "x-origin-url": value },
        });
      };
      expect(await cost(each(ask)), value).toBeLessThan(MOST);
    }
  });

  it("[L3] headers and cookies of 12 KB", async () => {
    const { user, auth } = await start();
    const fillers = [" ", "\t", ";", ",", " ;", ";q=", "q=0.1;"].map(
      (filler) => `text/html${filler.repeat(12_000 / filler.length)}x`,
    );
    const spaced = `x${" ".repeat(6_000)}idpauth=${"A".repeat(43)}${" ".repeat(6_000)}`;
    const nasty = [
      ...fillers,
      spaced,
      "idpauth ".repeat(1_500),
      "idpauth=".repeat(1_500),
      "=;".repeat(6_000),
    ];
    const ask = () =>
      Promise.all(
        nasty.flatMap((value) => [
          user().get(PROBE, { headers: { accept: value, cookie: value, "sec-fetch-mode": value } }),
          user().get("/idpauth/login/?scheme=PRESERVE_ORIGIN_HP&response=json", {
            headers: { accept: value, "x-origin-url": value },
          }),
          auth.guard(user().request("/page", { headers: { accept: value, cookie: value } })),
        ]),
      );
    await ask();
    expect(await cost(each(ask))).toBeLessThan(MOST);
  });

  it("[L3] a key set of a megabyte: 100 keys are read", async () => {
    const { provider, another, user } = await start();
    const [key] = provider.jwks.document().keys;
    const keys = Array.from({ length: 2_200 }, (_, number) => ({
      ...key,
      kid: `k${String(number)}`,
    }));
    const text = JSON.stringify({ keys: [key, ...keys] });
    expect(text.length).toBeGreaterThan(900_000);
    provider.jwks.publish(
      text.slice(0, 1_048_576).length === text.length
        ? text
        : JSON.stringify({ keys: [key, ...keys.slice(0, 2_000)] }),
    );
    expect(await cost(signIns("jwks", 302, () => user().at(another())))).toBeLessThan(MOST);
  });

  it("[L3] a key set of 10,000 keys: 100 are read", async () => {
    const { provider, another, user } = await start();
    const [key] = provider.jwks.document().keys;
    // As many as an answer holds; each would be a key, were it looked at.
    const { publicKey } = generateKeyPairSync("ed25519");
    const { x } = publicKey.export({ format: "jwk" });
    const text = JSON.stringify({
      keys: [key, ...Array.from({ length: 10_000 }, () => ({ kty: "OKP", crv: "Ed25519", x }))],
    });
    expect(text.length).toBeLessThan(1_048_576);
    provider.jwks.publish(text);
    expect(await cost(signIns("jwks", 302, () => user().at(another())))).toBeLessThan(MOST);
  });

  it.each([
    ["of almost a megabyte, in an answer that is read to its end", 1_000_000, 400],
    ["of more than a megabyte", 1_100_000, 503],
  ])("[L3] an ID token %s", async (_name, bytes, status) => {
    const { provider, user } = await start();
    provider.mutateIdToken = ({ header, claims, sign }) =>
      `${sign(header, claims)}${"A".repeat(bytes)}`;
    expect(await cost(signIns("token", status, user))).toBeLessThan(MOST);
  });

  it("[L3] tokens of many kilobytes", async () => {
    const { provider, user } = await start();
    provider.mutateIdToken = ({ header, claims }) => ({
      header,
      claims: { ...claims, padding: "x".repeat(180_000) },
    });
    provider.tokenResponse = (answer) => ({ ...answer, scope: "x ".repeat(100_000) });
    expect(await cost(signIns("token", 302, user))).toBeLessThan(MOST);
  });
});

describe("[L6] one session starts many logins", () => {
  it("[L6] 10,000: the record stays small, and the newest login finishes", async () => {
    const { store, user } = await start();
    const person = user();
    const page = "/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=http://app.example/page";
    let eight = 0;
    for (let login = 1; login <= 10_000; login += 1) {
      const answer = await person.get(page);
      expect(answer.status).toBe(302);
      if (login === 8) eight = await sizeOf(store);
    }
    expect(store.inserted).toHaveLength(1);
    expect(await sizeOf(store)).toBe(eight);
    expect(eight).toBeLessThan(8_192);
    expect((await person.signIn(page)).location).toBe("http://app.example/page");
    expect(await person.isSignedIn()).toBe(true);
  });

  async function sizeOf(store: WatchedRun["store"]): Promise<number> {
    return ((await store.peek(store.inserted.at(-1) ?? ""))?.data as Uint8Array).length;
  }
});

describe("[L7] another site starts logins in the user's browser", () => {
  const CROSS_SITE = {
    "sec-fetch-site": "cross-site",
    "sec-fetch-dest": "empty",
    "sec-fetch-mode": "cors",
  };

  // A browser sends no Lax cookie with another site's fetch, and keeps none that comes back; a
  // link, which is a navigation, has it. An image has no effect at all.
  it.each([
    ["by scripts, which carry no Lax cookie", false],
    ["by navigations, which carry it", true],
  ])(
    "[L7] 50 of them %s: the session is not switched, and the user's own login completes",
    async (_name, withCookie) => {
      const { user, provider } = await start();
      const person = user();
      await person.signIn();
      const before = new Map(person.cookies);
      const force = async () => {
        for (let image = 0; image < 50; image += 1) {
          if (withCookie)
            await person.get("/idpauth/login/", {
              headers: { cookie: cookieOf(person), "sec-fetch-site": "cross-site" },
            });
          else await user().get("/idpauth/login/?response=json", { headers: CROSS_SITE });
        }
      };
      await force();
      expect(person.cookies).toEqual(before);
      expect((await person.get(PROBE)).json()).toMatchObject({
        authenticated: true,
        user: { email: "ada@example.com" },
      });
      const own = await person.approve(
        "/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=http://app.example/mine",
      );
      expect((await person.get(own)).location).toBe("http://app.example/mine");
      expect(await person.isSignedIn()).toBe(true);

      // A login that is under way when they come. The other site's logins, not the user's own, are
      // dropped.
      const underWay = await person.approve(
        "/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=http://app.example/mine",
      );
      const exchanged = provider.requestsTo("token").length;
      await force();
      const answer = await person.get(underWay);
      expect(answer.status).toBe(302);
      expect(provider.requestsTo("token")).toHaveLength(exchanged + 1);
      expect(await person.isSignedIn()).toBe(true);
    },
  );

  function cookieOf(user: TestUser): string {
    return [...user.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }
});

describe("[L8] requests that are too large, over a socket", () => {
  it("[L8] headers of 16 KB, 100 cookies, 1,000 parameters: a clean response or Node's own, and the next request works", async () => {
    const app = await startExpressApplication();
    try {
      const browser = app.browser();
      const callback = await browser.navigate("/idpauth/login/");
      await browser.navigate(new URL(await app.provider.signInCode(callback.location ?? "")));
      const cookie = `idpauth=${browser.cookies.value("idpauth") ?? ""}`;
      const ask = (target: string, headers = "") =>
        rawRequest(
          app.port,
          `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${String(app.port)}\r\nConnection: close\r\n${headers}\r\n`,
        );
      const many = Array.from(
        { length: 1_000 },
        (_, number) => `p${String(number)}=${String(number)}`,
      ).join("&");
      const jar = Array.from(
        { length: 100 },
        (_, number) => `c${String(number)}=${"v".repeat(20)}`,
      ).join("; ");
      expect(
        (await ask(PROBE, `Cookie: ${cookie}\r\nX-Long: ${"x".repeat(16_384)}\r\n`)).status,
      ).toBe(431);
      expect((await ask(PROBE, `Cookie: ${"x".repeat(16_384)}\r\n`)).status).toBe(431);
      expect((await ask(`/idpauth/login/?${"x".repeat(16_384)}`)).status).toBe(431);
      expect((await ask(PROBE, `Cookie: ${jar}; ${cookie}\r\n`)).body).toContain(
        '"authenticated":true',
      );
      expect((await ask(PROBE, `Cookie: ${cookie}; ${jar}\r\n`)).body).toContain(
        '"authenticated":true',
      );
      expect((await ask(`/idpauth/session?${many}`, `Cookie: ${cookie}\r\n`)).body).toContain(
        '"authenticated":true',
      );
      expect((await ask(`/idpauth/login/?${many}`)).status).toBe(302);
      expect((await ask(`/idpauth/login-callback?${many}`)).status).toBe(400);
      expect((await ask(`/idpauth/logout/?${many}&response=json`)).status).toBe(200);
      expect((await ask(PROBE, `Cookie: ${cookie}\r\n`)).body).toContain('"authenticated":true');
      expect(app.caught).toEqual([]);
    } finally {
      await app.stop();
    }
  });
});

describe("[L9] users who leave during the callback", () => {
  const USERS = 1_000;
  const AT_A_TIME = 20;

  it("[L9] 1,000 of them at random moments: each code is exchanged at most once, and a session is whole or not there", async () => {
    const unhandled: unknown[] = [];
    const take = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", take);
    const app = await startExpressApplication({ sessionsPerUser: 0 });
    const outcomes = { left: 0, asked: 0, answered: 0, failed: 0 };
    app.auth.on("login", () => (outcomes.answered += 1));
    app.auth.on("failure", () => (outcomes.failed += 1));
    try {
      let next = 0;
      const leave = async () => {
        while (next < USERS) {
          next += 1;
          const browser = app.browser();
          const login = await browser.navigate("/idpauth/login/");
          const callback = new URL(await app.provider.signInCode(login.location ?? ""));
          const cookie = `idpauth=${browser.cookies.value("idpauth") ?? ""}`;
          const request = `GET ${callback.pathname}${callback.search} HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`;
          // Some leave before they have said it all.
          const isWhole = next % 10 !== 0;
          if (isWhole) outcomes.asked += 1;
          await destroyed(app.port, isWhole ? request : request.slice(0, -2), next % 40);
          outcomes.left += 1;
        }
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, leave));
      await settled(app.auth);
      await until(
        () => app.provider.requestsTo("token").length === outcomes.answered + outcomes.failed,
      );
      const codes = app.provider.requestsTo("token").map(({ params }) => params.get("code"));
      expect(new Set(codes).size).toBe(codes.length);
      expect(codes.length).toBeGreaterThan(USERS / 2);
      expect(codes.length).toBeLessThanOrEqual(outcomes.asked);
      expect(outcomes).toMatchObject({ left: USERS, failed: 0 });
      // Each session that was made is one that somebody is signed in to.
      const ada = { iss: app.provider.issuer, sub: String(app.provider.person["sub"]) };
      expect(await app.auth.listSessions(ada)).toHaveLength(outcomes.answered);
      const browser = app.browser();
      const login = await browser.navigate("/idpauth/login/");
      await browser.navigate(new URL(await app.provider.signInCode(login.location ?? "")));
      expect((await browser.get("/idpauth/session")).text).toContain('"authenticated":true');
      expect(app.caught).toEqual([]);
      expect(
        leaksIn(
          [...new Set(app.log.map((entry) => JSON.stringify(entry)))].join("\n"),
          secretsOf({ provider: app.provider } as Application),
        ),
      ).toEqual([]);
    } finally {
      await app.stop();
      process.off("unhandledRejection", take);
    }
    expect(unhandled).toEqual([]);
  });

  /**
   * Sends a request and destroys the socket after some turns of the event loop, or when the first
   * byte comes.
   */
  function destroyed(port: number, request: string, turns: number): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.write(request);
        let left = turns;
        const step = () => {
          if (left <= 0) socket.destroy();
          else setImmediate(step);
          left -= 1;
        };
        step();
      });
      socket.on("data", () => socket.destroy());
      socket.on("error", () => undefined);
      socket.on("close", () => {
        resolve();
      });
    });
  }
});
