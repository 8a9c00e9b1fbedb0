import { afterEach, describe, expect, it } from "vitest";
import type { SessionStore, Stored } from "../../src/ports/session-store.js";
import type { TestUser } from "../support/application.js";
import { startWatchedRun, type WatchedRun } from "../support/watched-run.js";
import { settled as refreshesSettled } from "../../src/testing/settled.js";
import { methodsOf } from "../support/store-with-replaceable-methods.mjs";

const HOUR = 3_600_000;
const PROBE = "/idpauth/session";

let run: WatchedRun;

afterEach(() => run.finish());

describe("[S5] a store that returns nonsense", () => {
  const nonsense: readonly (readonly [string, (stored: Stored) => unknown])[] = [
    ["null", () => null],
    ["a number", () => 7],
    ["text", () => "x"],
    ["an empty object", () => ({})],
    ["a list", () => []],
    ["no data", ({ data: _data, ...rest }) => rest],
    ["data that is null", (stored) => ({ ...stored, data: null })],
    ["data that is text", (stored) => ({ ...stored, data: "sealed" })],
    ["data that is a number", (stored) => ({ ...stored, data: 5 })],
    ["data that is an unsealed record", (stored) => ({ ...stored, data: { idp_state: { v: 1 } } })],
    [
      "data cut short",
      (stored) => ({ ...stored, data: (stored.data as Uint8Array).subarray(0, 40) }),
    ],
    ["data of a megabyte", (stored) => ({ ...stored, data: new Uint8Array(1_048_576).fill(1) })],
  ];

  it.each(nonsense)("[S5] %s: no session, and nothing is thrown", async (_name, change) => {
    let isBroken = false;
    run = await startWatchedRun();
    const broken: SessionStore = { ...methodsOf(run.store) };
    const spoilt = async (stored: Promise<Stored | undefined>) => {
      const found = await stored;
      return isBroken && found !== undefined ? (change(found) as Stored) : found;
    };
    broken.get = (key) => spoilt(run.store.get(key));
    broken.delete = (key) => spoilt(run.store.delete(key));
    const auth = run.another({ store: broken });
    const user = run.user().at(auth);
    await user.signIn();
    expect(await user.isSignedIn()).toBe(true);
    const callback = await user.approve();
    isBroken = true;
    const probe = await user.get(PROBE);
    expect([probe.status, probe.json()]).toEqual([200, { authenticated: false, user: null }]);
    expect(await auth.getCredentials(user.request("/"))).toBeNull();
    expect(await auth.guard(user.request("/page"))).toMatchObject({ kind: "unauthenticated" });
    expect((await user.get("/idpauth/")).status).toBe(200);
    expect((await user.at(auth).get(callback)).status).toBe(400);
    expect((await user.at(auth).get("/idpauth/login/")).status).toBe(302);
    expect((await user.at(auth).get("/idpauth/logout/")).status).toBe(302);
  });

  it.each([
    ["expiresAt", Number.NaN],
    ["expiresAt", "soon"],
    ["expiresAt", null],
    ["lastActive", Number.NaN],
    ["lastActive", "now"],
    ["lastActive", null],
    ["lastActive", {}],
    ["summary", "text"],
    ["summary", null],
    ["summary", {}],
    ["subject", 5],
    ["version", undefined],
  ])(
    "[S5] %s that is %s: nothing is thrown, and the idle timeout is not lifted",
    async (name, value) => {
      run = await startWatchedRun({ sessionIdleTimeout: 1_800 });
      const broken: SessionStore = { ...methodsOf(run.store) };
      broken.get = async (key) => {
        const stored = await run.store.get(key);
        return stored && { ...stored, [name]: value };
      };
      const auth = run.another({ store: broken });
      const user = run.user().at(auth);
      await user.signIn();
      const probe = await user.get(PROBE);
      expect(probe.status).toBe(200);
      run.clock.advance(1_801_000);
      expect((await user.get(PROBE)).json()).toEqual({ authenticated: false, user: null });
      await user.get("/idpauth/login/");
      await user.get("/idpauth/logout/");
    },
  );
});

describe("[S5] a replica that lags behind", () => {
  /**
   * A process whose reads are answered from what was there when it lagged; its writes reach the
   * primary.
   */
  function laggingProcess() {
    const behind = new Map<string, Stored>();
    let isLagging = false;
    const store = methodsOf(run.store);
    store.get = async (key) => {
      const stored = await run.store.get(key);
      if (isLagging) return behind.get(key);
      if (stored !== undefined) behind.set(key, stored);
      return stored;
    };
    return {
      auth: run.another({ store }),
      lag(on: boolean) {
        isLagging = on;
      },
    };
  }

  it("[S5] an old copy never spends the refresh token that it shows, and signs nobody out", async () => {
    run = await startWatchedRun();
    const replica = laggingProcess();
    const user = run.user();
    await user.signIn();
    const there = user.at(replica.auth);
    await there.get(PROBE);
    run.clock.advance(HOUR);
    replica.lag(true);
    expect(await user.isSignedIn()).toBe(true);
    const probe = await settled(there.get(PROBE));
    expect([probe.status, probe.setCookies ?? []]).toEqual([503, []]);
    expect(run.provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(1);
    expect(run.provider.reuses).toBe(0);
    replica.lag(false);
    expect(await there.isSignedIn()).toBe(true);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("[S5] an old copy of a login that has come back already exchanges no code", async () => {
    run = await startWatchedRun();
    const replica = laggingProcess();
    const user = run.user();
    const callback = await user.approve();
    const there = user.at(replica.auth);
    await there.get(PROBE);
    replica.lag(true);
    expect((await user.get(callback)).status).toBe(302);
    expect([400, 503]).toContain((await there.get(callback)).status);
    expect(run.provider.requestsTo("token")).toHaveLength(1);
    expect(await user.isSignedIn()).toBe(true);
  });
});

describe("[S1] a store that is away when a request comes", () => {
  it("[S1] every endpoint and the guard say 503, no cookie is touched, and the same cookie is signed in when the store is back", async () => {
    run = await startWatchedRun();
    const user = run.user();
    await user.signIn();
    const callback = await user.approve();
    const before = new Map(user.cookies);
    run.store.before = () => {
      throw new Error("connection refused");
    };
    const accepts = [{}, { accept: "text/html" }, { accept: "application/json" }];
    for (const headers of accepts) {
      for (const target of ["/idpauth/", PROBE, "/idpauth/login/", callback, "/idpauth/logout/"]) {
        const answer = await user.get(target, { headers: { ...headers, cookie: cookieOf(user) } });
        expect([target, answer.status, answer.setCookies ?? []]).toEqual([target, 503, []]);
      }
      expect(
        await run.auth.guard(
          user.request("/page", { headers: { ...headers, cookie: cookieOf(user) } }),
        ),
      ).toMatchObject({
        kind: "unavailable",
      });
    }
    await expect(run.auth.getCredentials(user.request("/"))).rejects.toMatchObject({
      code: "store_unavailable",
      status: 503,
    });
    expect(user.cookies).toEqual(before);
    run.store.before = undefined;
    expect(await user.isSignedIn()).toBe(true);
    expect((await user.get(callback)).status).toBe(302);
  });
});

describe("[S2] a store that is slow for one session", () => {
  it("[S2] the others get their response in that time", async () => {
    run = await startWatchedRun();
    const [slow, quick] = [run.user(), run.user()];
    await slow.signIn();
    const key = run.store.inserted.at(-1);
    await quick.signIn();
    let go = (): void => undefined;
    const opened = new Promise<void>((resolve) => (go = resolve));
    run.store.before = (call) => (call.key === key ? opened : undefined);
    const waiting = [1, 2, 3].map(() => slow.get(PROBE));
    for (let round = 0; round < 20; round += 1) expect(await quick.isSignedIn()).toBe(true);
    go();
    for (const answer of await Promise.all(waiting))
      expect(answer.json()).toMatchObject({ authenticated: true });
  });
});

/** What a user can do that asks the store more than once. */
const ACTIONS: readonly (readonly [
  string,
  (user: TestUser) => Promise<() => Promise<{ readonly status: number }>>,
])[] = [
  ["a probe", (user) => ready(user, PROBE)],
  [
    "a refresh",
    async (user) => {
      await user.signIn();
      run.clock.advance(HOUR);
      return () => settled(user.get(PROBE));
    },
  ],
  ["a login", (user) => ready(user, "/idpauth/login/")],
  ["a logout", (user) => ready(user, "/idpauth/logout/")],
  [
    "a first callback",
    async (user) => {
      const callback = await user.approve();
      return () => settled(user.get(callback));
    },
  ],
  [
    "a callback of somebody signed in",
    async (user) => {
      await user.signIn();
      const callback = await user.approve();
      return () => settled(user.get(callback));
    },
  ],
];

async function ready(
  user: TestUser,
  target: string,
): Promise<() => Promise<{ readonly status: number }>> {
  await user.signIn();
  return () => settled(user.get(target));
}

describe("[S6] a store that refuses writes", () => {
  const modes = [
    ["from each of its writes on", false],
    ["at each of its writes alone", true],
  ] as const;
  const cases = ACTIONS.flatMap(([name, prepare]) =>
    modes.map(([when, isAlone]) => [name, when, prepare, isAlone] as const),
  );

  it.each(cases)(
    "[S6] during %s, %s: never signed in without a stored session, and none is lost",
    async (name, _when, prepare, isAlone) => {
      run = await startWatchedRun({ sessionIdleTimeout: 7_200 });
      for (let at = 1; ; at += 1) {
        const user = run.user();
        const act = await prepare(user);
        const wasSignedIn = await explained(user);
        let writes = 0;
        run.store.before = ({ method }) => {
          if (method === "get" || method.startsWith("listBy")) return;
          writes += 1;
          if (isAlone ? writes === at : writes >= at)
            throw new Error("READONLY You can't write against a read only replica.");
        };
        const { status } = await act();
        run.store.before = undefined;
        expect([200, 302, 503]).toContain(status);
        // What could not be written did not happen; a session that was there is still there.
        if (status === 503) expect(await explained(user)).toBe(wasSignedIn);
        else if (name.endsWith("callback") || name.endsWith("signed in"))
          expect(await explained(user)).toBe(true);
        run.clock.advance(61_000);
        if (writes < at) break;
      }
      const user = run.user();
      await user.signIn();
      expect(await user.isSignedIn()).toBe(true);
    },
  );
});

describe("[S7] a record that is evicted while a request is under way", () => {
  it.each(ACTIONS)(
    "[S7] %s, before each of its store calls: signed out or started again, never an error",
    async (_name, prepare) => {
      run = await startWatchedRun({ sessionIdleTimeout: 7_200 });
      for (let at = 1; ; at += 1) {
        const user = run.user();
        const act = await prepare(user);
        let calls = 0;
        run.store.before = async ({ key, method }) => {
          calls += 1;
          if (calls !== at || method === "insert" || method.startsWith("listBy")) return;
          const hook = run.store.before;
          run.store.before = undefined;
          await run.store.delete(key);
          run.store.before = hook;
        };
        const { status } = await act();
        run.store.before = undefined;
        expect([200, 302, 400]).toContain(status);
        if (calls < at) break;
        // Nobody is half signed in: the cookie leads to a whole session, or to none.
        const probe = await settled(user.get(PROBE));
        expect([probe.status, probe.json().authenticated]).toEqual([200, await explained(user)]);
        await refreshesSettled(run.auth);
        expect((await user.signIn()).status).toBe(302);
        expect(await user.isSignedIn()).toBe(true);
      }
      expect(run.provider.reuses).toBe(0);
    },
  );
});

async function explained(user: TestUser): Promise<boolean> {
  const { authenticated, reason } = await run.auth.explainIdpAuthentication(user.request("/"));
  return authenticated || reason === "id_token_expired";
}

function cookieOf(user: TestUser): string {
  return [...user.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
}

/** Time passes until there is an answer: what failed is tried again after a while. */
async function settled<Answer>(answer: Promise<Answer>): Promise<Answer> {
  let isOpen = true as boolean;
  const done = answer.finally(() => {
    isOpen = false;
  });
  for (let quiet = 0; isOpen;) {
    await new Promise((resolve) => setTimeout(resolve, 4));
    // Sockets and signatures take real time, which the clock must not run ahead of.
    quiet = run.asking === 0 ? quiet + 1 : 0;
    if (quiet % 10 === 9) await run.clock.advanceAsync(250);
  }
  return done;
}
