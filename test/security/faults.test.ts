import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createGzip } from "node:zlib";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Endpoint, Fault } from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import type { ApplicationOptions, TestUser } from "../support/application.js";
import { byStranger } from "../support/foreign-signature.js";
import { startWatchedRun, type WatchedRun } from "../support/watched-run.js";
import { settled } from "../../src/testing/settled.js";

const HOUR = 3_600_000;
const MINUTE = 60_000;
const PROBE = "/idpauth/session?details=true";
const SIGNED_OUT = { authenticated: false, user: null };

let run: WatchedRun;

afterEach(() => run.finish());

async function start(options?: ApplicationOptions): Promise<WatchedRun> {
  return (run = await startWatchedRun(options));
}

/** Somebody whose ID token has just expired. */
async function expiredUser(): Promise<TestUser> {
  const user = run.user();
  await user.signIn();
  run.clock.advance(HOUR);
  return user;
}

const refreshes = () => run.provider.requestsTo("token", { grant_type: "refresh_token" });
const exchanges = () => run.provider.requestsTo("token", { grant_type: "authorization_code" });

async function until(claim: () => boolean, milliseconds = 120_000): Promise<void> {
  const giveUp = performance.now() + milliseconds;
  while (!claim()) {
    if (performance.now() > giveUp) throw new Error("it does not come");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** The longest back-off is over. */
function later(): void {
  run.clock.advance(MINUTE + 1_000);
}

describe("[F1] the token endpoint refuses connections", () => {
  it("[F1] callback: 503 page, no session; refresh: 503, the session is kept; neither waits for a deadline", async () => {
    await start();
    const user = run.user();
    const callback = await user.approve();
    await run.provider.pause();
    // The clock stands still, so no deadline passes.
    const page = await user.get(callback, { headers: { accept: "text/html" } });
    expect([page.status, page.headers["Content-Type"]]).toEqual([503, "text/html; charset=utf-8"]);
    expect(await user.isSignedIn()).toBe(false);
    await run.provider.resume();
    later();
    const expired = await expiredUser();
    await run.provider.pause();
    expect((await expired.get(PROBE)).status).toBe(503);
    await run.provider.resume();
    later();
    expect(await expired.isSignedIn()).toBe(true);
  });
});

describe("[F2] [F3] a response that does not come, or not to its end", () => {
  const openFiles = () => readdirSync("/proc/self/fd").length;
  const hasProc = process.platform === "linux";

  it.skipIf(!hasProc)(
    "[F2] 500 held connections: 503 after IDP_HTTP_TIMEOUT, and no socket is left",
    async () => {
      await start();
      const users = Array.from({ length: 500 }, () => run.user());
      const callbacks: string[] = [];
      for (const user of users) callbacks.push(await user.approve());
      const before = openFiles();
      const timers = run.clock.pendingTimers;
      run.provider.fault("token", { kind: "hang" });
      let answered = 0;
      const answers = users.map(async (user, number) => {
        const answer = await user.get(callbacks[number] ?? "");
        answered += 1;
        return answer;
      });
      // 50 reach the provider; the others wait 2 s for a slot.
      await until(() => exchanges().length === 50);
      expect(openFiles()).toBeGreaterThan(before + 90);
      await run.clock.advanceAsync(1_999);
      expect(answered).toBe(0);
      await run.clock.advanceAsync(1);
      await until(() => answered === 450);
      await run.clock.advanceAsync(2_999);
      expect(answered).toBe(450);
      await run.clock.advanceAsync(1);
      for (const { status } of await Promise.all(answers)) expect(status).toBe(503);
      await until(() => openFiles() <= before + 10);
      run.provider.clearFaults();
      later();
      expect(run.clock.pendingTimers).toBeLessThanOrEqual(timers);
      expect((await run.user().signIn()).status).toBe(302);
    },
  );

  it("[F2] refreshes that hang: given up after 30 s, places, leases and timers are free again, and everybody is served", async () => {
    await start({ refreshConcurrency: 3 });
    const users: TestUser[] = [];
    for (let number = 0; number < 9; number += 1) {
      users.push(run.user());
      await users.at(-1)?.signIn();
    }
    run.clock.advance(HOUR);
    const timers = run.clock.pendingTimers;
    run.provider.fault("token", { kind: "hang" });
    const probes = users.map((user) => user.get(PROBE));
    await until(() => refreshes().length === 3);
    await run.clock.advanceAsync(5_000);
    for (const probe of probes) expect((await probe).status).toBe(503);
    await run.clock.advanceAsync(30_000);
    await settled(run.auth);
    run.provider.clearFaults();
    later();
    expect(run.clock.pendingTimers).toBeLessThanOrEqual(timers);
    for (const user of users) expect(await user.isSignedIn()).toBe(true);
    expect(run.provider.reuses).toBe(0);
  });

  it.each([["exchange"], ["refresh"]])(
    "[F3] one byte per second at the %s: the deadline is total",
    async (what) => {
      await start();
      const user = what === "refresh" ? await expiredUser() : run.user();
      const target = what === "refresh" ? PROBE : await user.approve();
      run.provider.fault("token", {
        kind: "drip",
        before: true,
        body: `{"access_token":"${"x".repeat(100)}"}`,
      });
      const before = run.provider.requestsTo("token").length;
      let isAnswered = false;
      const answer = user.get(target).finally(() => (isAnswered = true));
      await until(() => run.provider.requestsTo("token").length > before);
      for (let second = 1; second < 5; second += 1) {
        await run.clock.advanceAsync(1_000);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      expect(isAnswered).toBe(false);
      await run.clock.advanceAsync(1_000);
      expect((await answer).status).toBe(503);
      await run.clock.advanceAsync(30_000);
      await settled(run.auth);
      run.provider.clearFaults();
      later();
      if (what === "refresh") expect(await user.isSignedIn()).toBe(true);
    },
  );
});

describe("[F4] the token endpoint fails, and says when to come back", () => {
  const FAILURES = [500, 501, 502, 503, 504, 505, 507, 508, 511, 599].flatMap((status) =>
    [undefined, "7"].map((retryAfter) => [status, retryAfter] as const),
  );
  const fail = (status: number, retryAfter: string | undefined) =>
    run.provider.fault("token", {
      kind: "status",
      status,
      headers: retryAfter === undefined ? {} : { "Retry-After": retryAfter },
    });

  it.each(FAILURES)(
    "[F4] with %i and Retry-After %s: a code is sent once, for every later outcome",
    async (status, retryAfter) => {
      await start();
      const user = run.user();
      const callback = await user.approve();
      const code = new URL(callback, "http://app.example").searchParams.get("code");
      const sent = () => exchanges().filter(({ params }) => params.get("code") === code);
      const withdraw = fail(status, retryAfter);
      const answer = await user.get(callback);
      expect([answer.status, answer.headers["Retry-After"]]).toEqual([503, retryAfter ?? "1"]);
      expect(sent()).toHaveLength(1);
      // The same address again: at once, from two processes at the same moment, after the back-off,
      // and when the provider is well.
      const elsewhere = user.at(run.another());
      for (const { status: again } of await Promise.all([
        user.get(callback),
        elsewhere.get(callback),
      ]))
        expect(again).toBe(400);
      later();
      expect((await user.get(callback)).status).toBe(400);
      withdraw();
      later();
      expect((await elsewhere.get(callback)).status).toBe(400);
      expect(sent()).toHaveLength(1);
      expect(await user.isSignedIn()).toBe(false);
      expect((await user.signIn()).status).toBe(302);
    },
  );

  it.each(FAILURES)(
    "[F4] with %i and Retry-After %s: a refresh token is sent once, and again only by a request after the back-off",
    async (status, retryAfter) => {
      await start();
      const user = await expiredUser();
      const withdraw = fail(status, retryAfter);
      const answers = await Promise.all([user.get(PROBE), user.get(PROBE), user.get(PROBE)]);
      expect(answers.map((answer) => [answer.status, answer.headers["Retry-After"]])).toEqual(
        Array(3).fill([503, retryAfter ?? "1"]),
      );
      const [first] = refreshes();
      const sent = () =>
        refreshes().filter(
          ({ params }) => params.get("refresh_token") === first?.params.get("refresh_token"),
        );
      expect(sent()).toHaveLength(1);
      // The component itself never tries again: the time alone brings no request.
      for (let waited = 0; waited < Number(retryAfter ?? 1) - 1; waited += 1) {
        await run.clock.advanceAsync(1_000);
        expect((await user.get(PROBE)).status).toBe(503);
      }
      expect(sent()).toHaveLength(1);
      await run.clock.advanceAsync(MINUTE);
      await settled(run.auth);
      expect(sent()).toHaveLength(1);
      expect((await user.get(PROBE)).status).toBe(503);
      expect((await user.get(PROBE)).status).toBe(503);
      expect(sent()).toHaveLength(2);
      withdraw();
      later();
      expect(await user.isSignedIn()).toBe(true);
      expect([sent().length, refreshes().length, run.provider.reuses]).toEqual([3, 3, 0]);
    },
  );
});

describe("[F4] a code that a user has forged", () => {
  const strange = "1' OR 1=1 -- <script>";
  /** What a firewall, a database or a parser at the provider may say to it. */
  const STATUSES = [404, 405, 406, 411, 413, 414, 415, 422, 431, 451];

  it.each(STATUSES)(
    "[F4] gets %i: nobody else is kept from signing in or from a refresh",
    async (status) => {
      await start();
      const expired = await expiredUser();
      run.provider.fault("token", {
        kind: "status",
        status,
        when: ({ params }) => params.get("code") === strange,
      });
      for (let round = 0; round < 3; round += 1) {
        const attacker = run.user();
        const callback = new URL(await attacker.approve(), "http://app.example");
        callback.searchParams.set("code", strange);
        expect((await attacker.get(callback.pathname + callback.search)).status).toBe(400);
      }
      expect((await run.user().signIn()).status).toBe(302);
      expect(await expired.isSignedIn()).toBe(true);
    },
  );

  it.each([401, 403])(
    "[F4] gets %i: an operator must hear of it, and nobody else is kept from anything",
    async (status) => {
      await start();
      const expired = await expiredUser();
      const when: Fault["when"] = ({ params }) => params.get("code") === strange;
      run.provider.fault("token", { kind: "status", status, when });
      for (let round = 0; round < 3; round += 1) {
        const attacker = run.user();
        const callback = new URL(await attacker.approve(), "http://app.example");
        callback.searchParams.set("code", strange);
        expect((await attacker.get(callback.pathname + callback.search)).status).toBe(503);
        expect((await run.user().signIn()).status).toBe(302);
      }
      expect(await expired.isSignedIn()).toBe(true);
    },
  );

  it("[F4] an error that names the client is still backed off from, for every code", async () => {
    await start();
    run.provider.fault("token", { kind: "status", status: 401, body: { error: "invalid_client" } });
    expect((await run.user().signIn()).status).toBe(503);
    expect((await run.user().signIn()).status).toBe(503);
    expect(exchanges()).toHaveLength(1);
  });

  it.each([
    ["a null byte", "a\0b"],
    ["a line break", "a\r\nb"],
    ["letters beyond ASCII", "kód"],
    ["a lone surrogate", "\ud800"],
    ["9,000 characters", "x".repeat(9_000)],
  ])(
    "[F4] with %s, which no provider can have given (RFC 6749, appendix A.11), is never sent",
    async (_name, code) => {
      await start();
      const user = run.user();
      const callback = new URL(await user.approve(), "http://app.example");
      callback.searchParams.set("code", code);
      expect((await user.get(callback.pathname + callback.search)).status).toBe(400);
      expect(exchanges()).toEqual([]);
      expect(await user.isSignedIn()).toBe(false);
    },
  );

  it("[F4] one of 4,000 characters of any kind that the standard allows is sent as it is", async () => {
    await start();
    const user = run.user();
    const callback = new URL(await user.approve(), "http://app.example");
    const code = Array.from({ length: 4_000 }, (_, number) =>
      String.fromCharCode(0x20 + (number % 95)),
    ).join("");
    callback.searchParams.set("code", code);
    expect((await user.get(callback.pathname + callback.search)).status).toBe(400);
    expect(exchanges().map(({ params }) => params.get("code"))).toEqual([code]);
  });
});

describe("[F5] a token response of 200 that is not usable", () => {
  const TOKENS =
    '"access_token":"at_x","token_type":"Bearer","expires_in":3600,"refresh_token":"rt_x"';
  const JSON_TYPE = "application/json";
  const BODIES: readonly (readonly [
    name: string,
    body: string | Uint8Array,
    type: string,
    meaning: "outage" | "refused",
  ])[] = [
    ["nothing", "", JSON_TYPE, "outage"],
    ["an open brace", "{", JSON_TYPE, "outage"],
    ["a comma too much", `{${TOKENS},}`, JSON_TYPE, "outage"],
    ["single quotes", "{'access_token':'at_x'}", JSON_TYPE, "outage"],
    ["a web page", "<!doctype html><title>Sign in to the network</title>", "text/html", "outage"],
    ["a web page that says it is JSON", "<!doctype html><title>Busy</title>", JSON_TYPE, "outage"],
    ["a list", `[{${TOKENS}}]`, JSON_TYPE, "outage"],
    ["null", "null", JSON_TYPE, "outage"],
    ["a number", "7", JSON_TYPE, "outage"],
    ["text", '"token"', JSON_TYPE, "outage"],
    ["true", "true", JSON_TYPE, "outage"],
    ["a byte order mark in the middle", `{\uFEFF${TOKENS}}`, JSON_TYPE, "outage"],
    ["a notice of maintenance", '{"status":"maintenance"}', JSON_TYPE, "outage"],
    ["an error that is no code", '{"error":"Service Unavailable"}', JSON_TYPE, "outage"],
    ["temporarily_unavailable", '{"error":"temporarily_unavailable"}', JSON_TYPE, "outage"],
    ["invalid_grant", '{"error":"invalid_grant"}', JSON_TYPE, "refused"],
    ["two objects", `{${TOKENS}}{${TOKENS}}`, JSON_TYPE, "outage"],
    [
      "a form",
      "access_token=at_x&token_type=bearer",
      "application/x-www-form-urlencoded",
      "outage",
    ],
    ["UTF-16", Buffer.from(`{${TOKENS}}`, "utf16le"), JSON_TYPE, "outage"],
    ["half a million brackets", "[".repeat(500_000), JSON_TYPE, "outage"],
    ["an empty object", "{}", JSON_TYPE, "outage"],
    [
      "tokens that are objects",
      '{"access_token":{"a":1},"id_token":[],"token_type":"Bearer"}',
      JSON_TYPE,
      "outage",
    ],
    [
      "duplicate members",
      `{${TOKENS},"id_token":"a.b.c","id_token":"d.e.f"}`,
      JSON_TYPE,
      "refused",
    ],
    [
      "members of every object",
      '{"__proto__":{"access_token":"a"},"constructor":{"id_token":"b"}}',
      JSON_TYPE,
      "outage",
    ],
    [
      "bytes that are no text",
      Buffer.from('{"access_token":"\xff\xfe","token_type":"Bearer"}', "latin1"),
      JSON_TYPE,
      "outage",
    ],
  ];

  const faultOf = (body: string | Uint8Array, type: string): Fault => ({
    kind: "status",
    status: 200,
    body,
    headers: { "Content-Type": type },
  });

  it.each(BODIES)(
    "[F5] %s, to a code: an error in our own words, sent once, and nobody is signed in",
    async (_name, body, type, meaning) => {
      await start();
      const user = run.user();
      const callback = await user.approve();
      run.provider.fault("token", faultOf(body, type));
      const answer = await user.get(callback, { headers: { accept: "application/json" } });
      const said = answer.json() as { code: string };
      expect([answer.status, said.code]).toEqual(
        meaning === "outage" ? [503, "provider_unavailable"] : [400, "sign_in_refused"],
      );
      expect(answer.body).not.toMatch(/at_x|rt_x|network|Busy|Unexpected/);
      expect((await user.get(PROBE)).json()).toMatchObject(SIGNED_OUT);
      later();
      expect((await user.get(callback)).status).toBe(400);
      expect(exchanges()).toHaveLength(1);
      expect(({} as Record<string, unknown>)["access_token"]).toBeUndefined();
    },
  );

  it.each(BODIES)(
    "[F5] %s, to a refresh: no refresh token is lost to an outage, and none is sent again after a refusal",
    async (_name, body, type, meaning) => {
      await start();
      const user = await expiredUser();
      const withdraw = run.provider.fault("token", faultOf(body, type));
      const answer = await user.get(PROBE);
      if (meaning === "outage") expect(answer.status).toBe(503);
      else expect(answer.json()).toMatchObject({ ...SIGNED_OUT, reason: "refresh_rejected" });
      expect(refreshes()).toHaveLength(1);
      withdraw();
      later();
      expect(await user.isSignedIn()).toBe(meaning === "outage");
      expect(refreshes()).toHaveLength(meaning === "outage" ? 2 : 1);
      expect(run.provider.reuses).toBe(0);
    },
  );
});

describe("[F5] a response that is nested without end", () => {
  /** Well-formed, and within every limit of size. */
  const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  const withDeepMember = (value: object, levels = 40_000, name = "deep") =>
    JSON.stringify({ ...value, [name]: null }).replace(
      `"${name}":null`,
      `"${name}":${deep(levels)}`,
    );

  it("[F5] in an ID token: refused at the callback, and by a refresh, as any token of a wrong form", async () => {
    await start();
    const expired = await expiredUser();
    run.provider.mutateIdToken = ({ claims }) => ({ claims: withDeepMember(claims) });
    expect((await run.user().signIn()).status).toBe(400);
    expect((await expired.get(PROBE)).json()).toMatchObject({
      ...SIGNED_OUT,
      reason: "refresh_rejected",
    });
    expect(refreshes()).toHaveLength(1);
    run.provider.mutateIdToken = ({ header, claims }) => ({
      header: withDeepMember(header, 20_000),
      claims,
    });
    expect((await run.user().signIn()).status).toBe(400);
  });

  it("[F5] in userinfo: the sign-in stands without it", async () => {
    await start({ provider: { claimsInIdToken: false } });
    const claims = { sub: run.provider.person["sub"], name: "Ada" };
    run.provider.fault("userinfo", {
      kind: "garbage",
      body: withDeepMember(claims, 100_000, "email"),
    });
    const user = run.user();
    expect((await user.signIn()).status).toBe(302);
    expect((await user.get(PROBE)).json()).toMatchObject({
      authenticated: true,
      user: { email: null },
    });
  });

  it.each<[Endpoint, () => string]>([
    [
      "jwks",
      () =>
        JSON.stringify({
          keys: [JSON.parse(withDeepMember({}, 10)), ...run.provider.jwks.document().keys],
        }).replace(deep(10), deep(100_000)),
    ],
    [
      "discovery",
      () => withDeepMember({ issuer: run.provider.issuer }, 100_000, "scopes_supported"),
    ],
    ["token", () => withDeepMember({ access_token: "a", token_type: "Bearer" }, 100_000, "scope")],
  ])("[F5] in the response of %s: an outage", async (endpoint, body) => {
    await start();
    const expired = await expiredUser();
    const withdraw = run.provider.fault(endpoint, { kind: "garbage", body: body() });
    const elsewhere = run.another();
    const login = await run.user().at(elsewhere).get("/idpauth/login/");
    if (endpoint === "discovery") expect(login.status).toBe(503);
    else expect((await run.user().at(elsewhere).signIn()).status).toBe(503);
    expect((await expired.at(run.another()).get(PROBE)).status).toBe(503);
    withdraw();
    later();
    expect(await expired.isSignedIn()).toBe(true);
  });
});

describe("[F6] a response without end", () => {
  const BAR = 20 * 1_048_576;
  let bomb: Buffer;

  beforeAll(async () => {
    const gzip = createGzip();
    const parts: Buffer[] = [];
    gzip.on("data", (part: Buffer) => parts.push(part));
    const ended = new Promise((resolve) => gzip.once("end", resolve));
    gzip.write('{"access_token":"');
    const megabyte = Buffer.alloc(1_048_576, "x");
    for (let part = 0; part < 100; part += 1) {
      if (!gzip.write(megabyte)) await new Promise((resolve) => gzip.once("drain", resolve));
    }
    gzip.end('"}');
    await ended;
    bomb = Buffer.concat(parts);
  });

  /**
   * Bytes by which this process, the provider included, grew at the most while it waited for the
   * answer.
   */
  async function growth(work: () => Promise<unknown>): Promise<number> {
    const before = process.memoryUsage().rss;
    let most = before;
    const sample = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 2);
    await work();
    clearInterval(sample);
    return Math.max(most, process.memoryUsage().rss) - before;
  }

  const endless: Fault = { kind: "oversized", bytes: Infinity };
  const compressed = (): Fault => ({
    kind: "status",
    status: 200,
    body: bomb,
    headers: { "Content-Type": "application/json", "Content-Encoding": "gzip" },
  });

  it.each([
    ["an endless body", () => endless],
    ["a gzip bomb of 100 MB", compressed],
  ])(
    "[F6] %s at each endpoint: an outage, the connection is given up, and memory stays",
    async (_name, faultOf) => {
      await start({ provider: { claimsInIdToken: false } });
      const expired = await expiredUser();
      const fresh = run.another();
      const strike = async (
        endpoint: Endpoint,
        expected: number,
        work: () => Promise<{ readonly status: number }>,
      ) => {
        const grown: number[] = [];
        for (let round = 0; round < 3; round += 1) {
          const withdraw = run.provider.fault(endpoint, faultOf());
          grown.push(await growth(async () => expect((await work()).status).toBe(expected)));
          withdraw();
          later();
        }
        // The first one warms up; garbage is collected when it is.
        expect([endpoint, Math.min(...grown) < BAR]).toEqual([endpoint, true]);
      };
      await strike("token", 503, () => expired.get(PROBE));
      await strike("token", 503, async () => run.user().signIn());
      await strike("userinfo", 302, async () => run.user().signIn());
      await strike("revoke", 302, async () => {
        const user = run.user();
        await user.signIn();
        return user.get("/idpauth/logout/");
      });
      await strike("jwks", 503, async () => run.user().at(run.another()).signIn());
      await strike("discovery", 503, async () =>
        run.user().at(run.another()).get("/idpauth/login/"),
      );
      expect(await expired.isSignedIn()).toBe(true);
      expect(fresh).toBeDefined();
    },
  );
});

describe("[F7] a redirect instead of a response", () => {
  let listener: Server;
  let seen: string[];

  async function listen(): Promise<string> {
    seen = [];
    listener = createServer((request, response) => {
      seen.push(`${request.method ?? ""} ${request.url ?? ""}`);
      response.end("{}");
    });
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${String((listener.address() as AddressInfo).port)}/taken`;
  }

  afterEach(() => listener.close());

  it.each(
    [301, 302, 303, 307, 308].flatMap((status) =>
      [false, true].map((isOther) => [status, isOther] as const),
    ),
  )(
    "[F7] %i, to another origin: %s: never followed, from any endpoint",
    async (status, isOther) => {
      const elsewhere = await listen();
      await start({ provider: { claimsInIdToken: false } });
      const location = isOther ? elsewhere : `${run.provider.issuer}/taken`;
      const redirect: Fault = { kind: "redirect", status, location };
      const expired = await expiredUser();

      let withdraw = run.provider.fault("token", redirect);
      expect((await expired.get(PROBE)).status).toBe(503);
      later();
      expect((await run.user().signIn()).status).toBe(503);
      withdraw();
      later();
      withdraw = run.provider.fault("userinfo", redirect);
      const user = run.user();
      expect((await user.signIn()).status).toBe(302);
      expect((await user.get(PROBE)).json()).toMatchObject({
        authenticated: true,
        user: { email: null },
      });
      withdraw();
      withdraw = run.provider.fault("revoke", redirect);
      expect((await user.get("/idpauth/logout/")).status).toBe(302);
      expect(await run.auth.revokeIdpToken("a token", "access_token")).toBe(false);
      withdraw();
      withdraw = run.provider.fault("jwks", redirect);
      expect((await run.user().at(run.another()).signIn()).status).toBe(503);
      withdraw();
      withdraw = run.provider.fault("discovery", redirect);
      expect((await run.user().at(run.another()).get("/idpauth/login/")).status).toBe(503);
      withdraw();

      for (const endpoint of ["token", "userinfo", "revoke", "jwks", "discovery"] as const) {
        expect(run.provider.requestsTo(endpoint).length).toBeGreaterThan(0);
      }
      expect(seen).toEqual([]);
      expect(run.provider.requestsTo("unknown")).toEqual([]);
      later();
      expect(await expired.isSignedIn()).toBe(true);
    },
  );
});

describe("[F9] a flood of ID tokens with unknown keys", () => {
  it.each([
    [100, "up", false],
    [1_000, "down", true],
  ])(
    "[F9] %i at once, the session store %s: ten forced fetches of the keys in 30 s",
    async (count, _name, isDown) => {
      await start();
      await run.user().signIn();
      const fetched = () => run.provider.requestsTo("jwks").length;
      expect(fetched()).toBe(1);
      run.provider.mutateIdToken = (draft) =>
        byStranger({ kid: `unknown-${String(Math.random())}` })(draft);
      const users = Array.from({ length: count }, () => run.user());
      const callbacks: string[] = [];
      for (const user of users) callbacks.push(await user.approve());
      // As many as are exchanged at once; the others wait for a slot.
      const hold = run.provider.hold("token", { before: false, count: 50 });
      const answers = users.map((user, number) => user.get(callbacks[number] ?? ""));
      await hold.arrived;
      if (isDown) {
        run.store.before = () => {
          throw new Error("connection refused");
        };
      }
      hold.release();
      for (const { status } of await Promise.all(answers)) expect(status).toBe(503);
      expect(exchanges().length).toBeGreaterThanOrEqual(51);
      expect(fetched()).toBeLessThanOrEqual(1 + 10);
      run.store.before = undefined;
      // One at a time, for a minute and a half.
      for (let second = 0; second < 90; second += 1) {
        await run.user().signIn();
        run.clock.advance(1_000);
      }
      expect(fetched()).toBeLessThanOrEqual(1 + 4 * 10);
      run.provider.mutateIdToken = undefined;
      expect((await run.user().signIn()).status).toBe(302);
    },
  );
});

describe("[F12] the provider's clock differs from ours", () => {
  // The decisions: 5 s. An ID token from a clock that is behind is older, and good for as long as
  // it says.
  const SKEWS = [-120, -60, -30, -5, 0, 4, 5, 6, 30, 60, 120];

  it.each(SKEWS)("[F12] by %i s: the same at callback and refresh", async (skew) => {
    const theirs = new TestClock(Date.UTC(2024, 0, 1) + skew * 1_000);
    await start({ provider: { clock: theirs } });
    const isAccepted = skew <= 5;
    const user = run.user();
    expect((await user.signIn()).status).toBe(isAccepted ? 302 : 503);
    expect(await user.isSignedIn()).toBe(isAccepted);

    theirs.setNow(run.clock.now());
    const other = run.user();
    await other.signIn();
    theirs.advance(HOUR);
    run.clock.advance(HOUR);
    theirs.setNow(run.clock.now() + skew * 1_000);
    expect((await other.get(PROBE)).status).toBe(isAccepted ? 200 : 503);
    // The session outlasts the difference.
    theirs.setNow(run.clock.now());
    later();
    expect(await other.isSignedIn()).toBe(true);
    expect(run.provider.reuses).toBe(0);
  });

  it.each([-120, 0])(
    "[F12] session limits are measured by our own clock alone, with the provider's %i s off",
    async (skew) => {
      const theirs = new TestClock(Date.UTC(2024, 0, 1) + skew * 1_000);
      await start({ sessionMaxAge: 600, sessionIdleTimeout: 300, provider: { clock: theirs } });
      const [idle, active] = [run.user(), run.user()];
      await idle.signIn();
      await active.signIn();
      run.clock.advance(300_000);
      expect(await active.isSignedIn()).toBe(true);
      run.clock.advance(1_000);
      expect((await idle.get(PROBE)).json()).toMatchObject({ ...SIGNED_OUT, reason: "idle" });
      run.clock.advance(299_000);
      expect(await active.isSignedIn()).toBe(true);
      run.clock.advance(1_000);
      expect((await active.get(PROBE)).json()).toMatchObject({ ...SIGNED_OUT, reason: "max_age" });
    },
  );
});

describe("[F13] our own clock is set while sessions live", () => {
  const CAPS = { sessionMaxAge: 7_200, sessionIdleTimeout: 1_800 };

  /** The provider's clock is right throughout. */
  async function startAtNoon(
    options: ApplicationOptions = {},
  ): Promise<{ readonly user: TestUser; step(milliseconds: number): void }> {
    const theirs = new TestClock();
    await start({ provider: { clock: theirs }, ...options });
    const user = run.user();
    await user.signIn();
    return {
      user,
      step: (milliseconds) => {
        run.clock.setNow(run.clock.now() + milliseconds);
      },
    };
  }

  const limits = async (user: TestUser) => {
    const {
      max_age_expires_in: maxAge,
      idle_expires_in: idle,
      authenticated,
      reason,
    } = (await user.get(PROBE)).json();
    return { maxAge, idle, authenticated, reason };
  };

  it("[F13] an hour back: what is left is never more than the limit nor negative; the limits fail closed until the clock is correct again", async () => {
    const { user, step } = await startAtNoon(CAPS);
    run.clock.advance(MINUTE);
    step(-HOUR);
    const back = await limits(user);
    expect(back).toMatchObject({ authenticated: false, reason: "max_age" });
    for (const left of [back.maxAge, back.idle])
      expect(left === null || (left >= 0 && left <= 7_200)).toBe(true);
    step(HOUR);
    expect(await limits(user)).toMatchObject({ authenticated: true, maxAge: 7_140, idle: 1_800 });
  });

  it("[F13] five minutes back, as far as clocks of a fleet may differ: nobody notices, and no limit grows", async () => {
    const { user, step } = await startAtNoon(CAPS);
    step(-300_000);
    expect(await limits(user)).toMatchObject({ authenticated: true, maxAge: 7_200, idle: 1_800 });
  });

  it("[F13] an hour on: the idle timeout has passed, as it would have; an hour back again: within the limits as before", async () => {
    const { user, step } = await startAtNoon(CAPS);
    step(HOUR);
    expect(await limits(user)).toMatchObject({ authenticated: false, reason: "idle" });
    step(-HOUR);
    expect(await limits(user)).toMatchObject({ authenticated: true, idle: 1_800 });
  });

  it("[F13] back by an hour after the store has dropped the record: it stays gone", async () => {
    const { user, step } = await startAtNoon({ sessionTtl: 600 });
    // The sweep has come, too.
    await run.clock.advanceAsync(700_000);
    expect(await user.isSignedIn()).toBe(false);
    step(-HOUR);
    expect(await user.isSignedIn()).toBe(false);
    expect(run.store.inserted).not.toEqual([]);
    for (const key of run.store.inserted) expect(await run.store.peek(key)).toBeUndefined();
  });

  it.each([-HOUR, HOUR])(
    "[F13] by %i ms: deadlines and back-off go by the monotonic clock",
    async (by) => {
      const { step } = await startAtNoon();
      run.provider.fault("token", { kind: "hang" });
      const user = run.user();
      const callback = await user.approve();
      let isAnswered = false;
      const answer = user.get(callback).finally(() => (isAnswered = true));
      await until(() => exchanges().length === 2);
      step(by);
      await run.clock.advanceAsync(4_999);
      expect(isAnswered).toBe(false);
      await run.clock.advanceAsync(1);
      expect((await answer).status).toBe(503);
      // The back-off is neither over at once nor an hour long.
      run.provider.clearFaults();
      step(-by);
      const next = await user.approve();
      expect((await user.get(next)).status).toBe(503);
      expect(exchanges()).toHaveLength(2);
      run.clock.advance(2_000);
      expect((await user.get(next)).status).toBe(302);
    },
  );

  it("[F13] further on than ID tokens live: a fresh one counts as expired, which is an outage of that session; it goes on when the clock is correct", async () => {
    const { user, step } = await startAtNoon();
    // The provider's own time passes, too.
    run.provider.mutateIdToken = ({ claims }) => ({
      claims: { ...claims, iat: (claims["iat"] as number) + 1 },
    });
    step(HOUR + 10_000);
    for (let probe = 0; probe < 5; probe += 1) expect((await user.get(PROBE)).status).toBe(503);
    expect(refreshes()).toHaveLength(1);
    expect((await run.user().signIn()).status).toBe(503);
    step(-HOUR - 10_000);
    later();
    expect(await user.isSignedIn()).toBe(true);
    expect((await run.user().signIn()).status).toBe(302);
    expect(run.provider.reuses).toBe(0);
  });
});

describe("[F16] the provider refuses the refresh token", () => {
  it("[F16] ten probes, one token request; the token is dropped and nobody is half signed in", async () => {
    await start();
    const user = await expiredUser();
    const spent = run.provider.issued
      .filter(({ kind }) => kind === "refresh_token")
      .map(({ value }) => value);
    const stored = () => run.record(user);
    const index = async () =>
      (await user.get("/idpauth/", { headers: { accept: "text/html" } })).body ?? "";
    expect(spent).toHaveLength(1);
    expect(await index()).toContain("You are signed in");
    expect(await stored()).toContain(spent[0]);
    const { auth } = run;
    const another = run.another();
    run.provider.revokeAll();
    // Ten at once, over two processes, as if each were the first.
    const first = Array.from({ length: 10 }, (_, probe) =>
      user.at(probe % 2 === 0 ? auth : another).get(PROBE),
    );
    for (const answer of await run.whileTimePasses(Promise.all(first)))
      expect(answer.json()).toMatchObject({ ...SIGNED_OUT, reason: "refresh_rejected" });
    expect(refreshes().map(({ params }) => params.get("refresh_token"))).toEqual(spent);
    expect(await stored()).not.toContain(spent[0]);

    // And ten more, while the longest back-off goes by, each of which asks for everything there is
    // to ask.
    for (let probe = 0; probe < 10; probe += 1) {
      const at = probe % 2 === 0 ? auth : another;
      expect((await user.at(at).get(PROBE)).json()).toMatchObject({
        ...SIGNED_OUT,
        reason: "refresh_rejected",
      });
      expect(await index()).not.toContain("You are signed in");
      expect(await at.getCredentials(user.request("/"))).toBeNull();
      expect(await at.getAccessToken(user.request("/"))).toBeNull();
      expect(await at.getSession(user.request("/"))).toBeNull();
      expect(await at.checkIdpAuthentication(user.request("/"))).toBe(false);
      expect(await at.explainIdpAuthentication(user.request("/"))).toEqual({
        authenticated: false,
        reason: "refresh_rejected",
      });
      expect(await at.guard(user.request("/page"))).toMatchObject({
        kind: "unauthenticated",
        reply: { status: 401 },
      });
      run.clock.advance(7_000);
    }
    expect(refreshes()).toHaveLength(1);
    expect(await stored()).not.toContain(spent[0]);
    expect((await user.signIn()).status).toBe(302);
    expect(await user.isSignedIn()).toBe(true);
    expect(refreshes()).toHaveLength(1);
  });
});

describe("[F18] the provider limits the rate", () => {
  it("[F18] 100 sessions expire at once against 429: no storm, Retry-After is honoured, and everybody is served afterwards", async () => {
    await start();
    const users: TestUser[] = [];
    for (let number = 0; number < 100; number += 1) {
      users.push(run.user());
      await users.at(-1)?.signIn();
    }
    run.clock.advance(HOUR);
    const withdraw = run.provider.fault("token", {
      kind: "status",
      status: 429,
      headers: { "Retry-After": "40" },
    });
    const all = () => Promise.all(users.map((user) => user.get(PROBE)));
    for (const { status } of await all()) expect(status).toBe(503);
    // Those that had a slot. While the 429 hold the back-off open, one session at a time that hasn't
    // failed is let through.
    expect(refreshes().length).toBeLessThan(50);
    for (let second = 0; second < 39; second += 1) {
      for (const { status, headers } of await all()) {
        expect(status).toBe(503);
        expect(Number(headers["Retry-After"])).toBeLessThanOrEqual(40);
      }
      run.clock.advance(1_000);
    }
    const failed = refreshes().length;
    // No session asked twice.
    expect(failed).toBeLessThanOrEqual(100);
    run.clock.advance(40_000);
    withdraw();
    for (const answer of await all()) expect(answer.json()).toMatchObject({ authenticated: true });
    expect(refreshes()).toHaveLength(failed + 100);
    expect(run.provider.reuses).toBe(0);
  });
});

describe("[F19] the provider has rotated, and its response is lost on the way", () => {
  it.each<[string, Fault]>([
    ["before the first byte", { kind: "reset", before: false }],
    ["after no byte of the body", { kind: "truncated", bytes: 0 }],
    ["after one byte", { kind: "truncated", bytes: 1 }],
    ["after 100 bytes", { kind: "truncated", bytes: 100 }],
    ["after half", { kind: "truncated" }],
    ["with another status", { kind: "status", status: 502, before: false }],
  ])("[F19] %s: one refusal, then a clean new login, no loop", async (_name, fault) => {
    await start();
    const user = await expiredUser();
    run.provider.fault("token", { ...fault, times: 1 });
    expect((await user.get(PROBE)).status).toBe(503);
    later();
    for (let probe = 0; probe < 5; probe += 1) {
      expect((await user.get(PROBE)).json()).toMatchObject({
        ...SIGNED_OUT,
        reason: "refresh_rejected",
      });
    }
    expect(refreshes()).toHaveLength(2);
    expect((await user.signIn()).status).toBe(302);
    run.clock.advance(HOUR);
    expect(await user.isSignedIn()).toBe(true);
    expect(refreshes()).toHaveLength(3);
  });
});

it("[F19] the provider has rotated, and takes longer than 30 s to respond: one refusal, then a clean new login", async () => {
  await start();
  const user = await expiredUser();
  const hold = run.provider.hold("token", { before: false });
  const probe = user.get(PROBE);
  await hold.arrived;
  await run.clock.advanceAsync(30_000);
  expect((await probe).status).toBe(503);
  hold.release();
  await settled(run.auth);
  later();
  expect((await user.get(PROBE)).json()).toMatchObject({
    ...SIGNED_OUT,
    reason: "refresh_rejected",
  });
  expect((await user.signIn()).status).toBe(302);
});

describe("[F20] tokens and scopes of every size", () => {
  const sized = (bytes: number) => "x".repeat(bytes);

  it.each<[string, Record<string, unknown>, number]>([
    ["an access token of 64 KB", { access_token: sized(65_536) }, 302],
    ["an access token of 500 KB", { access_token: sized(512_000) }, 302],
    ["a refresh token of 64 KB", { refresh_token: sized(65_536) }, 302],
    [
      "500 scopes",
      { scope: Array.from({ length: 500 }, (_, number) => `scope-${String(number)}`).join(" ") },
      302,
    ],
    ["an access token of a megabyte", { access_token: sized(1_048_576) }, 503],
    ["a member nobody knows of 64 KB", { extra: sized(65_536) }, 302],
  ])(
    "[F20] %s: stored or refused, and the cookie is as small as ever",
    async (_name, members, status) => {
      await start();
      // The hash of an access token of another size would not fit.
      run.provider.mutateIdToken = ({ claims: { at_hash: _hash, ...claims } }) => ({ claims });
      run.provider.tokenResponse = (answer) => ({ ...answer, ...members });
      const user = run.user();
      const answer = await user.signIn();
      expect(answer.status).toBe(status);
      expect(user.cookies.get("idpauth")).toHaveLength(43);
      expect(await user.isSignedIn()).toBe(status === 302);
      if (status !== 302) return;
      const credentials = await run.auth.getCredentials(user.request("/"));
      if ("access_token" in members) expect(credentials?.token).toBe(members["access_token"]);
      if ("refresh_token" in members)
        expect(credentials?.refresh_token).toBe(members["refresh_token"]);
      if ("scope" in members) expect(credentials?.scopes).toHaveLength(500);
      expect((await user.get("/idpauth/")).status).toBe(200);
      expect((await user.get("/idpauth/logout/")).status).toBe(302);
    },
  );

  it.each([
    [64 * 1024, 302],
    [180 * 1024, 302],
    [300 * 1024, 400],
  ])("[F20] an ID token of %i bytes: %i", async (bytes, status) => {
    await start();
    run.provider.mutateIdToken = ({ claims }) => ({
      claims: { ...claims, padding: sized(Math.floor((bytes * 3) / 4)) },
    });
    const user = run.user();
    expect((await user.signIn()).status).toBe(status);
    expect(user.cookies.get("idpauth")).toHaveLength(43);
    expect(await user.isSignedIn()).toBe(status === 302);
  });
});
