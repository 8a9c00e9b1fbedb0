import { afterEach, describe, expect, it } from "vitest";
import type { Stored } from "../../src/ports/session-store.js";
import type { IdpAuth } from "../../src/adapter.js";
import type { IdpRequest } from "../../src/index.js";
import type { TestUser } from "../support/application.js";
import { startWatchedRun, type WatchedRun } from "../support/watched-run.js";
import { openedRecord, storedUnder } from "../support/opened-record.js";
import { whileTimePasses } from "../support/while-time-passes.js";
import { settled } from "../../src/testing/settled.js";

const HOUR = 3_600_000;
const PROBE = "/idpauth/session?details=true";

let run: WatchedRun;

afterEach(() => run.finish());

const refreshes = () => run.provider.requestsTo("token", { grant_type: "refresh_token" });
const exchanges = () => run.provider.requestsTo("token", { grant_type: "authorization_code" });
const issued = (kind: string) =>
  run.provider.issued.filter((each) => each.kind === kind).map(({ value }) => value);
const keyNow = () => run.store.inserted.at(-1) ?? "";

/** The same browser at another process, or with a copy of its cookies. */
const copyOf = (user: TestUser, auth: IdpAuth<IdpRequest> = run.auth) => user.at(auth);

/** Whether nothing but the trace of a sign-in is left of the session that this cookie led to. */
async function isDead(cookie: string): Promise<boolean> {
  const stored = await run.store.peek(storedUnder(cookie));
  if (stored === undefined) return true;
  try {
    openedRecord(stored, cookie);
    return false;
  } catch {
    expect([stored.subject, stored.sid, stored.summary]).toEqual([undefined, undefined, undefined]);
    return true;
  }
}

/** Follows its own seed, so that a failure comes again. */
function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const rest = [...items];
  const result: Item[] = [];
  let state = seed;
  while (rest.length > 0) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    result.push(...rest.splice(state % rest.length, 1));
  }
  return result;
}

function gate() {
  let arrive = (): void => undefined;
  let open = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    arrived,
    open: () => {
      open();
    },
    wait() {
      arrive();
      return opened;
    },
  };
}

describe("[R1] [R2] [BCP-14] many requests on one expired session, over several processes", () => {
  it.each([
    [2, true],
    [5, true],
    [50, true],
    [500, true],
    [2, false],
    [5, false],
    [50, false],
    [500, false],
  ])(
    "[R1] [R2] %i requests over 4 processes, rotation %s: one token request, and all are signed in",
    async (k, rotation) => {
      run = await startWatchedRun({ provider: { rotation } });
      const processes = [run.auth, run.another(), run.another(), run.another()];
      const user = run.user();
      await user.signIn();
      run.clock.advance(HOUR);
      const answers = Promise.all(
        Array.from({ length: k }, (_, number) => copyOf(user, processes[number % 4]).get(PROBE)),
      );
      const since = run.clock.now();
      for (const answer of await run.whileTimePasses(answers)) {
        const { authenticated, expires_in } = answer.json() as Record<string, unknown>;
        expect(authenticated).toBe(true);
        // Of the new ID token, whose time has begun while the others waited.
        const waited = Math.ceil((run.clock.now() - since) / 1_000);
        expect(expires_in).toBeGreaterThanOrEqual(3_600 - waited);
      }
      expect(refreshes()).toHaveLength(1);
      expect(run.provider.reuses).toBe(0);
      run.clock.advance(HOUR);
      expect(await user.isSignedIn()).toBe(true);
    },
  );
});

describe("[R3] the holder of the lease, in another process, is slow", () => {
  it.each([
    [1_000, true],
    [3_000, true],
    [10_000, false],
  ])(
    "[R3] by %i ms: waiters get their response within IDP_HTTP_TIMEOUT, from the refreshed record or with 503, and spend nothing",
    async (slow, inTime) => {
      run = await startWatchedRun();
      const others = [run.another(), run.another(), run.another()];
      const user = run.user();
      await user.signIn();
      run.clock.advance(HOUR);
      const hold = run.provider.hold("token", { before: false });
      const holder = copyOf(user).get(PROBE);
      await hold.arrived;
      const asked = run.clock.monotonic();
      let latest = 0;
      const waiters = Promise.all(
        Array.from({ length: 30 }, async (_, number) => {
          const answer = await copyOf(user, others[number % 3]).get(PROBE);
          latest = Math.max(latest, run.clock.monotonic() - asked);
          return answer;
        }),
      );
      await run.clock.advanceAsync(slow);
      hold.release();
      // The holder's own user has left by then, too.
      expect((await holder).status).toBe(inTime ? 200 : 503);
      await settled(run.auth);
      for (const answer of await run.whileTimePasses(waiters)) {
        if (inTime) expect(answer.json()).toMatchObject({ authenticated: true });
        else
          expect([answer.status, Number(answer.headers["Retry-After"]) >= 1]).toEqual([503, true]);
      }
      // 1.5 s between two looks.
      expect(latest).toBeLessThanOrEqual(Math.min(5_000, slow + 1_500));
      // Whoever comes now is served by what the slow one has stored.
      for (const process of [run.auth, ...others])
        expect(await run.whileTimePasses(copyOf(user, process).isSignedIn())).toBe(true);
      expect([refreshes().length, run.provider.reuses]).toEqual([1, 0]);
      run.clock.advance(HOUR);
      expect(await run.whileTimePasses(copyOf(user, others[0]).isSignedIn())).toBe(true);
      expect(refreshes().map(({ params }) => params.get("refresh_token"))).toEqual(
        issued("refresh_token").slice(0, 2),
      );
    },
  );
});

describe("[R4] a stamp by a request that read before a refresh", () => {
  it("[R4] lands after the rotated tokens and brings nothing old back", async () => {
    run = await startWatchedRun({ sessionIdleTimeout: 7_200 });
    const user = run.user();
    await user.signIn();
    run.clock.advance(HOUR - 1_000);
    // A has read the record, and is about to stamp it.
    const stamp = gate();
    run.store.before = ({ method }) => (method === "touch" ? stamp.wait() : undefined);
    const a = copyOf(user).get(PROBE);
    await stamp.arrived;
    run.store.before = undefined;
    run.clock.advance(2_000);
    expect(await user.isSignedIn()).toBe(true);
    stamp.open();
    expect((await a).json()).toMatchObject({ authenticated: true });
    run.clock.advance(HOUR);
    expect(await user.isSignedIn()).toBe(true);
    expect(refreshes().map(({ params }) => params.get("refresh_token"))).toEqual(
      issued("refresh_token").slice(0, 2),
    );
    expect(run.provider.reuses).toBe(0);
  });
});

describe("[R5] a logout while a request of another process is about to write", () => {
  const WRITERS: readonly (readonly [string, "touch" | "replace", string])[] = [
    ["the idle stamp", "touch", PROBE],
    ["a login's own entry", "replace", "/idpauth/login/"],
  ];

  it.each(
    WRITERS.flatMap(([name, method, target]) =>
      [true, false].map((isFirst) => [name, isFirst, method, target] as const),
    ),
  )(
    "[R5] %s, the logout first: %s: the session is gone, then and ten seconds later",
    async (_name, isFirst, method, target) => {
      run = await startWatchedRun({ sessionIdleTimeout: 7_200 });
      const process = run.another();
      const user = run.user();
      await user.signIn();
      const old = keyNow();
      const kept = copyOf(user);
      run.clock.advance(60_000);
      const write = gate();
      run.store[isFirst ? "before" : "after"] = (call) =>
        call.method === method && call.key === old ? write.wait() : undefined;
      const late = copyOf(user, process).get(target);
      await write.arrived;
      run.store.before = run.store.after = undefined;
      expect((await user.get("/idpauth/logout/?response=json")).json()).toEqual({
        status: "logged_out",
      });
      expect(await run.store.peek(old)).toBeUndefined();
      write.open();
      const { status, setCookies = [] } = await late;
      expect([200, 302]).toContain(status);
      for (const later of [0, 10_000]) {
        await run.clock.advanceAsync(later);
        expect(await run.store.peek(old)).toBeUndefined();
        for (const auth of [run.auth, process])
          expect(await copyOf(kept, auth).isSignedIn()).toBe(false);
        for (const cookie of setCookies) {
          const stranger = run.user();
          stranger.cookies.set("idpauth", /^idpauth=([^;]*)/.exec(cookie)?.[1] ?? "");
          expect(await stranger.isSignedIn()).toBe(false);
        }
      }
      for (const token of issued("refresh_token")) expect(run.provider.isActive(token)).toBe(false);
    },
  );

  it.each([true, false])(
    "[R5] a refresh, before the provider has begun: %s: the same, and its late tokens are revoked",
    async (before) => {
      run = await startWatchedRun();
      const process = run.another();
      const user = run.user();
      await user.signIn();
      const old = keyNow();
      const kept = copyOf(user);
      run.clock.advance(HOUR);
      const hold = run.provider.hold("token", { before });
      const late = copyOf(user, process).get(PROBE);
      await hold.arrived;
      expect((await user.get("/idpauth/logout/?response=json")).json()).toEqual({
        status: "logged_out",
      });
      hold.release();
      expect((await late).json()).toMatchObject({ authenticated: false });
      await settled(process);
      for (const later of [0, 10_000]) {
        await run.clock.advanceAsync(later);
        expect(await run.store.peek(old)).toBeUndefined();
        for (const auth of [run.auth, process])
          expect(await copyOf(kept, auth).isSignedIn()).toBe(false);
      }
      for (const token of [...issued("refresh_token"), ...issued("access_token")])
        expect(run.provider.isActive(token)).toBe(false);
    },
  );
});

describe("[R6] a logout while the callback is under way", () => {
  it.each([false, true])(
    "[R6] before each store call of the callback, signed in before: %s: signed out stays signed out, never half",
    async (before) => {
      run = await startWatchedRun();
      const other = run.another();
      for (let at = 1; ; at += 1) {
        const user = run.user();
        if (before) await user.signIn();
        const callback = await user.approve();
        const old = copyOf(user);
        let calls = 0;
        run.store.before = async () => {
          calls += 1;
          if (calls !== at) return;
          const hook = run.store.before;
          run.store.before = undefined;
          expect((await copyOf(user, other).get("/idpauth/logout/")).status).toBe(302);
          run.store.before = hook;
        };
        const answer = await user.get(callback);
        run.store.before = undefined;
        await settled(run.auth);
        const isOvertaken = calls >= at;
        expect([old, await old.isSignedIn()]).toEqual([old, false]);
        if (!isOvertaken) {
          // The login is read and used up, and the session is stored: a callback takes three calls
          // at the least.
          expect(at).toBeGreaterThan(3);
          break;
        }
        if (answer.status === 302) {
          // The callback had won before the logout came; then it has won wholly.
          expect(await user.isSignedIn()).toBe(true);
        } else {
          expect(answer.status).toBe(400);
          expect(await user.isSignedIn()).toBe(false);
          // What came too late for a session is given back.
          for (const token of issued("refresh_token").slice(-1))
            expect(run.provider.isActive(token)).toBe(false);
        }
      }
    },
  );
});

describe("[R8] several tabs sign in at the same time", () => {
  const page = (tab: number) =>
    `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(`http://app.example/tab/${String(tab)}`)}`;

  const personOf = (tab: number) => ({
    sub: `person-${String(tab)}`,
    email: `p${String(tab)}@example.com`,
    name: `P ${String(tab)}`,
    picture: "",
  });

  async function openTabs(
    user: TestUser,
    count: number,
    isOnePerson = false,
  ): Promise<{ readonly tab: number; readonly callback: string }[]> {
    const tabs = [];
    for (let tab = 0; tab < count; tab += 1) {
      tabs.push({ tab, callback: await user.approve(page(tab), personOf(isOnePerson ? 0 : tab)) });
    }
    return tabs;
  }

  it.each([2, 5, 20].flatMap((count) => [1, 2, 3, 4].map((seed) => [count, seed] as const)))(
    "[R8] %i tabs, one after the other in order %i: each reaches its own page or the page that says to start again",
    async (count, seed) => {
      run = await startWatchedRun();
      const user = run.user();
      const tabs = await openTabs(user, count, true);
      let isSignedIn = false;
      for (const { tab, callback } of shuffled(tabs, seed)) {
        const answer = await user.get(callback);
        // The last eight logins are kept.
        if (tab < count - 8) {
          expect(answer.status).toBe(400);
          expect(answer.body).toContain("login/");
        } else {
          expect([answer.status, answer.location]).toEqual([
            302,
            `http://app.example/tab/${String(tab)}`,
          ]);
          isSignedIn = true;
          expect((await user.get(PROBE)).json().user.email).toBe("p0@example.com");
        }
        expect(await user.isSignedIn()).toBe(isSignedIn);
      }
      expect(exchanges()).toHaveLength(Math.min(count, 8));
    },
  );

  it.each([2, 5].flatMap((count) => [1, 2, 3, 4].map((seed) => [count, seed] as const)))(
    "[R8] %i tabs for as many users, one after the other in order %i: the first signs in, and no later one takes the session over",
    async (count, seed) => {
      run = await startWatchedRun();
      const user = run.user();
      const [first, ...others] = shuffled(await openTabs(user, count), seed);
      expect((await user.get(first!.callback)).status).toBe(302);
      for (const { callback } of others) {
        const answer = await user.get(callback);
        expect([answer.status, answer.setCookies ?? []]).toEqual([400, []]);
        expect((await user.get(PROBE)).json().user.email).toBe(personOf(first!.tab).email);
      }
      await settled(run.auth);
      expect(issued("refresh_token").filter((token) => run.provider.isActive(token))).toHaveLength(
        1,
      );
    },
  );

  it.each([2, 5, 20].flatMap((count) => [1, 2].map((processes) => [count, processes] as const)))(
    "[R8] %i tabs, all at once over %i processes: one signs in, nobody gets another tab's page or user",
    async (count, processes) => {
      run = await startWatchedRun();
      const auths = [run.auth, run.another()].slice(0, processes);
      const user = run.user();
      const tabs = await openTabs(user, count);
      const answers = await Promise.all(
        shuffled(tabs, count).map(async ({ tab, callback }, number) => {
          const at = copyOf(user, auths[number % processes]);
          return { tab, at, answer: await at.get(callback) };
        }),
      );
      const signedIn: number[] = [];
      for (const { tab, at, answer } of answers) {
        if (answer.status === 302)
          expect(answer.location).toBe(`http://app.example/tab/${String(tab)}`);
        else expect([answer.status, (answer.body ?? "").includes("login/")]).toEqual([400, true]);
        if ((answer.setCookies ?? []).length === 0) continue;
        signedIn.push(tab);
        expect((await at.get(PROBE)).json().user.email).toBe(`p${String(tab)}@example.com`);
      }
      expect(signedIn).toHaveLength(1);
      expect(new Set(exchanges().map(({ params }) => params.get("code"))).size).toBe(
        exchanges().length,
      );
      // The cookie of before is dead for everybody.
      expect(await user.isSignedIn()).toBe(false);
    },
  );
});

describe("[R9] one callback several times at once", () => {
  it.each([2, 5, 10])(
    "[R9] %i times over 2 processes: one token request, one session, which nothing disturbs",
    async (times) => {
      run = await startWatchedRun();
      const other = run.another();
      for (const isSignedInBefore of [false, true]) {
        const user = run.user();
        if (isSignedInBefore) await user.signIn();
        const before = exchanges().length;
        const callback = await user.approve();
        const browsers = Array.from({ length: times }, (_, number) =>
          copyOf(user, number % 2 === 0 ? run.auth : other),
        );
        const answers = await whileTimePasses(
          run.clock,
          Promise.all(browsers.map((browser) => browser.get(callback))),
        );
        expect(exchanges()).toHaveLength(before + 1);
        const cookies = new Set(answers.flatMap(({ setCookies }) => setCookies ?? []));
        expect(cookies.size).toBe(1);
        for (const { status, setCookies } of answers) {
          expect([302, 400]).toContain(status);
          // An answer that signs nobody in takes no cookie away either.
          if (status === 400) expect(setCookies ?? []).toEqual([]);
        }
        const winner = browsers.find((_, number) => (answers[number]?.setCookies ?? []).length > 0);
        expect(await winner?.isSignedIn()).toBe(true);
      }
    },
  );
});

describe("[R10] a callback that is played again later", () => {
  const SECOND = 1_000;

  it.each([
    ["1 s", SECOND],
    ["1 h", HOUR],
    ["13 days", 13 * 24 * HOUR],
  ])(
    "[R10] after %s, by the same browser and by others: no token request, and everybody's session is as it was",
    async (_name, later) => {
      run = await startWatchedRun();
      const [user, other, stranger] = [run.user(), run.user(), run.user()];
      const callback = await user.approve(
        "/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=http://app.example/mine",
      );
      await user.get(callback);
      await other.signIn(undefined, {
        sub: "bob",
        email: "bob@example.com",
        name: "Bob",
        picture: "",
      });
      run.clock.advance(later);
      const before = exchanges().length;
      const own = await user.get(callback);
      expect([own.status, own.location, own.setCookies ?? []]).toEqual([
        302,
        "http://app.example/mine",
        [],
      ]);
      for (const browser of [other, stranger]) {
        const answer = await browser.get(callback);
        expect([answer.status, answer.setCookies ?? []]).toEqual([400, []]);
      }
      expect(exchanges()).toHaveLength(before);
      expect((await user.get(PROBE)).json().user.email).toBe("ada@example.com");
      expect((await other.get(PROBE)).json().user.email).toBe("bob@example.com");
      await user.get("/idpauth/logout/");
      expect((await user.get(callback)).status).toBe(400);
      expect(exchanges()).toHaveLength(before);
      expect(await user.isSignedIn()).toBe(false);
    },
  );
});

describe("[R12] an attacker who knows the key from before the sign-in", () => {
  it("[R12] finds it dead the moment the new one is there, for everything they do with it in that time", async () => {
    run = await startWatchedRun();
    const process = run.another();
    const user = run.user();
    const callback = await user.approve();
    const attacker = copyOf(user, process);
    const old = attacker.cookies.get("idpauth") ?? "";
    // Between any two store calls of the callback the attacker tries everything with the old key.
    let isBusy = false;
    const seen: unknown[] = [];
    run.store.after = async () => {
      if (isBusy) return;
      isBusy = true;
      const wasDead = await isDead(old);
      for (const target of [PROBE, "/idpauth/", "/idpauth/login-callback?state=x&code=y"]) {
        const answer = await copyOf(attacker).get(target);
        seen.push(answer.body);
        expect(answer.setCookies ?? []).toEqual([]);
      }
      // The cookie is not taken up again.
      if (wasDead)
        expect((await copyOf(attacker).get("/idpauth/login/")).setCookies?.[0]).not.toContain(
          attacker.cookies.get("idpauth"),
        );
      isBusy = false;
    };
    expect((await user.get(callback)).status).toBe(302);
    run.store.after = undefined;
    expect(seen.length).toBeGreaterThan(10);
    expect(seen.join("\n")).not.toContain("ada@example.com");
    expect(await attacker.isSignedIn()).toBe(false);
    expect(await isDead(old)).toBe(true);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("[R12] 50 sign-ins, while ten others hammer the key from before them: nothing of it signs them in or ends the new session", async () => {
    run = await startWatchedRun();
    const process = run.another();
    let isOver = false;
    let asked = 0;
    let attacker = run.user();
    // Not login: a record keeps the last eight, and the user's own would be told to start again.
    const targets = [PROBE, "/idpauth/", "/idpauth/login-callback?state=x&code=y"];
    const hammer = Array.from({ length: 10 }, async (_, worker) => {
      for (let turn = worker; !isOver; turn += 1) {
        const answer = await copyOf(attacker, turn % 2 === 0 ? run.auth : process).get(
          targets[turn % targets.length] ?? "",
        );
        expect(answer.body ?? "").not.toContain("ada@example.com");
        expect([200, 400]).toContain(answer.status);
        expect(answer.setCookies ?? []).toEqual([]);
        asked += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    try {
      for (let round = 0; round < 50; round += 1) {
        const user = run.user();
        const callback = await user.approve();
        attacker = copyOf(user);
        const old = attacker.cookies.get("idpauth") ?? "";
        const before = asked;
        while (asked < before + 20) await new Promise((resolve) => setImmediate(resolve));
        expect((await user.get(callback)).status).toBe(302);
        expect(await isDead(old)).toBe(true);
        expect(await user.isSignedIn()).toBe(true);
        for (const auth of [run.auth, process])
          expect(await copyOf(attacker, auth).isSignedIn()).toBe(false);
      }
    } finally {
      isOver = true;
      await Promise.all(hammer);
    }
    expect(asked).toBeGreaterThan(1_000);
  });

  it("[R12] a write that was under way to the old key lands nowhere", async () => {
    run = await startWatchedRun();
    const process = run.another();
    const user = run.user();
    const callback = await user.approve();
    const old = keyNow();
    const attacker = copyOf(user, process);
    const planted = attacker.cookies.get("idpauth") ?? "";
    const write = gate();
    run.store.before = ({ method, key }) =>
      method === "replace" && key === old ? write.wait() : undefined;
    const login = attacker.get("/idpauth/login/");
    await write.arrived;
    run.store.before = undefined;
    expect((await user.get(callback)).status).toBe(302);
    const fresh = keyNow();
    const version = (await run.store.peek(fresh))?.version;
    write.open();
    expect((await login).status).toBe(302);
    expect(await isDead(planted)).toBe(true);
    expect((await run.store.peek(fresh))?.version).toBe(version);
    // What they get is a session of their own.
    expect(keyNow()).not.toBe(fresh);
    expect(await attacker.isSignedIn()).toBe(false);
    expect(await user.isSignedIn()).toBe(true);
  });
});

describe("[R14] the maximum age is reached while a refresh is under way", () => {
  it.each([-1, 0, 1, 2])(
    "[R14] session limit %i s after the response: a refresh never lifts it",
    async (spare) => {
      run = await startWatchedRun({ sessionMaxAge: 3_603 + spare });
      const user = run.user();
      await user.signIn();
      run.clock.advance(HOUR);
      const hold = run.provider.hold("token", { before: false });
      const probe = user.get(PROBE);
      await hold.arrived;
      run.clock.advance(3_000);
      hold.release();
      // Exactly at the cap is still within it.
      expect((await probe).json()).toMatchObject(
        spare < 0 ? { authenticated: false, reason: "max_age" } : { authenticated: true },
      );
      run.clock.advance((spare + 1) * 1_000);
      expect((await user.get(PROBE)).json()).toMatchObject({
        authenticated: false,
        reason: "max_age",
      });
      expect(refreshes()).toHaveLength(1);
    },
  );
});

describe("[R15] the refresh token changes between a process's read and its lease", () => {
  it("[R15] the token that is spent is the one that is stored when the lease is taken, not the one that was read", async () => {
    run = await startWatchedRun();
    const b = run.another();
    const user = run.user();
    await user.signIn();
    run.clock.advance(HOUR);
    // A has seen the first token, and asks for the lease.
    const lease = gate();
    run.store.before = ({ method }) => (method === "replace" ? lease.wait() : undefined);
    const a = copyOf(user).get(PROBE);
    await lease.arrived;
    run.store.before = undefined;
    // B spends it, and keeps the second: its ID token cannot be verified, so the session still has
    // to be refreshed.
    await run.provider.rotateKeys({ keepOld: false });
    const withdraw = run.provider.fault("jwks", { kind: "reset" });
    expect((await copyOf(user, b).get(PROBE)).status).toBe(503);
    expect(issued("refresh_token")).toHaveLength(2);
    withdraw();
    lease.open();
    expect((await a).json()).toMatchObject({ authenticated: true, expires_in: 3600 });
    expect(refreshes().map(({ params }) => params.get("refresh_token"))).toEqual(
      issued("refresh_token").slice(0, 2),
    );
    expect(run.provider.reuses).toBe(0);
  });
});

describe("[R16] processes of other settings on the same store", () => {
  it("[R16] session limits, auto-refresh and clients differ: each judges by its own, and takes nothing away from the others", async () => {
    run = await startWatchedRun();
    const capped = run.another({ sessionMaxAge: 600, sessionIdleTimeout: 300 });
    const manual = run.another({ sessionAutoRefresh: false });
    const renamed = run.another({
      credentialsSessionKeyName: "creds",
      stateKeyName: "st",
      finalRedirectKeyName: "fr",
    });
    const client = run.another({ clientId: "another-client" });
    const user = run.user();
    await user.signIn();
    for (const auth of [capped, manual]) expect(await copyOf(user, auth).isSignedIn()).toBe(true);
    for (const auth of [renamed, client]) {
      const there = copyOf(user, auth);
      const probe = await there.get(PROBE);
      expect([probe.status, probe.json().authenticated, probe.setCookies ?? []]).toEqual([
        200,
        false,
        [],
      ]);
    }
    run.clock.advance(HOUR);
    expect((await copyOf(user, capped).get(PROBE)).json()).toMatchObject({
      authenticated: false,
      reason: "max_age",
    });
    expect((await copyOf(user, manual).get(PROBE)).json()).toMatchObject({
      authenticated: false,
      reason: "auto_refresh_off",
    });
    expect(await user.isSignedIn()).toBe(true);
    expect(refreshes()).toHaveLength(1);
    expect(await copyOf(user, manual).isSignedIn()).toBe(true);
  });

  it("[R16] a login at a process that knows the record by other names leaves the session that is there", async () => {
    run = await startWatchedRun();
    const renamed = run.another({
      credentialsSessionKeyName: "creds",
      stateKeyName: "st",
      finalRedirectKeyName: "fr",
    });
    const user = run.user();
    await user.signIn();
    const stored: Stored | undefined = await run.store.peek(keyNow());
    expect((await copyOf(user, renamed).get("/idpauth/login/")).status).toBe(302);
    expect(stored?.subject).toBeDefined();
    expect(await user.isSignedIn()).toBe(true);
  });
});
