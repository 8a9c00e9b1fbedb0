import { afterEach, describe, expect, it } from "vitest";
import type { Events } from "../../src/events/events.js";
import { signedInAs } from "../../src/testing/sign-in/signed-in-as.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import type { TestClock } from "../../src/testing/test-clock.js";
import { type ApplicationOptions, type TestUser } from "../support/application.js";
import type { SealingStore } from "../support/sealing-store.js";
import { settled } from "../../src/testing/settled.js";
import { application as app, sealing, startOver } from "../support/one-application.js";

const ADA = { sub: "ada", email: "ada@example.com", name: "Ada" };
const HOUR = 3_600_000;

let clock: TestClock;
let store: SealingStore;

afterEach(() => app.stop());

async function start(options: ApplicationOptions = {}): Promise<void> {
  store = await startOver(sealing, { sessionsPerUser: 2, ...options });
  clock = app.clock;
}

/** A sign-in in a new browser, a second after everything before. */
async function signedIn(person = ADA, auth = app.auth): Promise<TestUser> {
  clock.advance(1_000);
  const user = app.user().at(auth);
  await user.signIn(undefined, person);
  return user;
}

const who = (...users: TestUser[]) => Promise.all(users.map((user) => user.isSignedIn()));
const reasonOf = async (user: TestUser) =>
  ((await user.get("/idpauth/session?details=true")).json() as { reason: string }).reason;
const count = async (sub = "ada", auth = app.auth) =>
  (await auth.listSessions({ iss: app.provider.issuer, sub })).length;

describe("[ASVS-7.1.2] IDP_SESSIONS_PER_USER", () => {
  it("ends the session whose sign-in is oldest, says so in its browser, emits one event and runs onSignOut once", async () => {
    const signedOut: unknown[] = [];
    await start({ onSignOut: (input) => void signedOut.push(input) });
    const ended: Events["ended"][] = [];
    app.auth.on("ended", (event) => ended.push(event));
    const [first, second, third] = [await signedIn(), await signedIn(), await signedIn()];
    const time = clock.now();
    expect(await who(first, second, third)).toEqual([false, true, true]);
    expect(await reasonOf(first)).toBe("too_many_sessions");
    const page = await first.get("/idpauth/", { headers: { accept: "text/html" } });
    expect(page.body).toContain(
      "You signed in on too many devices, and this session had been unused the longest.",
    );
    await settled(app.auth);
    expect(ended).toEqual([
      { time, issuer: app.provider.issuer, subject: "ada", reason: "too_many_sessions" },
    ]);
    expect(signedOut).toEqual([
      {
        reason: "too_many_sessions",
        subject: { iss: app.provider.issuer, sub: "ada" },
        session: null,
      },
    ]);
  });

  it("ends the one that was unused the longest, even if its sign-in is newer", async () => {
    await start({ sessionIdleTimeout: 86_400 });
    const [used, unused] = [await signedIn(), await signedIn()];
    clock.advance(HOUR / 2);
    expect(await used.isSignedIn()).toBe(true);
    const third = await signedIn();
    expect(await who(used, unused, third)).toEqual([true, false, true]);
  });

  it("without an idle timeout, counts the daily renewal of a used session as its activity", async () => {
    await start();
    const [used, unused] = [await signedIn(), await signedIn()];
    clock.advance(48 * HOUR);
    expect(await used.isSignedIn()).toBe(true);
    const third = await signedIn();
    expect(await who(used, unused, third)).toEqual([true, false, true]);
  });

  it("of 1: a new sign-in ends the session in use, never its own", async () => {
    await start({ sessionsPerUser: 1, sessionIdleTimeout: 86_400 });
    const first = await signedIn();
    clock.advance(1_000);
    const callback = await app.user().approve(undefined, ADA);
    expect(callback).toContain("state=");
    const second = app.user();
    const target = await second.approve(undefined, ADA);
    // In use until the very moment of the sign-in, and after it.
    store.after = async ({ method }) => {
      if (method !== "insert") return;
      store.after = undefined;
      clock.advance(1_000);
      expect(await first.isSignedIn()).toBe(true);
    };
    await second.get(target);
    expect(await who(first, second)).toEqual([false, true]);
  });

  it("of 0 is none", async () => {
    await start({ sessionsPerUser: 0 });
    for (let number = 0; number < 105; number += 1) await signedIn();
    expect(await count()).toBe(105);
    expect(store.count("listBySubject")).toBe(2);
  });

  it("is 100 by default", async () => {
    await startOver((clock) => memoryStore({ clock }));
    clock = app.clock;
    for (let number = 0; number < 105; number += 1) await signedIn();
    expect(await count()).toBe(100);
  });

  it("counts only the sessions of this user and of this client", async () => {
    await start();
    const other = app.another({ clientId: "other" });
    for (const sub of ["ada", "ada"]) await signedInAs(other, { sub });
    const [one, two, grace] = [
      await signedIn(),
      await signedIn(),
      await signedIn({ ...ADA, sub: "grace" }),
    ];
    expect(await who(one, two, grace)).toEqual([true, true, true]);
    await signedIn();
    expect([await count(), await count("grace"), await count("ada", other)]).toEqual([2, 1, 2]);
  });

  it("of two sign-ins at the same moment exactly one stays, and the earlier session ends", async () => {
    await start({ sessionsPerUser: 1 });
    const early = await signedIn();
    clock.advance(1_000);
    const tabs = [app.user(), app.user()];
    const targets = [
      await tabs[0]!.approve(undefined, ADA),
      await tabs[1]!.approve(undefined, ADA),
    ];
    await Promise.all(tabs.map((tab, index) => tab.get(targets[index]!)));
    expect(await early.isSignedIn()).toBe(false);
    expect((await who(...tabs)).filter(Boolean)).toHaveLength(1);
    // Also if the one that counts as earlier is stored after the other one has looked.
    for (let round = 0; round < 20; round += 1) {
      const pair = [app.user(), app.user()];
      const [one, other] = [
        await pair[0]!.approve(undefined, ADA),
        await pair[1]!.approve(undefined, ADA),
      ];
      await pair[0]!.get(one);
      await pair[1]!.get(other);
      tabs.push(...pair);
      expect((await who(...tabs)).filter(Boolean)).toHaveLength(1);
    }
    // The next sign-in leaves one.
    const last = await signedIn();
    expect([await last.isSignedIn(), ...(await who(...tabs))].filter(Boolean)).toEqual([true]);
    expect(await last.isSignedIn()).toBe(true);
  });

  it("of two sign-ins in the same second the later one stays, in any process", async () => {
    await start({ sessionsPerUser: 1 });
    for (let round = 0; round < 8; round += 1) {
      clock.advance(1_000 - (clock.now() % 1_000) + 100);
      const first = app.user();
      await first.signIn(undefined, ADA);
      clock.advance(300);
      const second = app.user().at(app.another());
      await second.signIn(undefined, ADA);
      expect(await who(first, second)).toEqual([false, true]);
    }
  });

  it.each([600, null])(
    "ends the session with the oldest activity also at gaps of a second (idle timeout %s)",
    async (sessionIdleTimeout) => {
      await start({ sessionIdleTimeout });
      for (let round = 0; round < 8; round += 1) {
        clock.advance(1_100);
        const one = await signedIn();
        clock.advance(100);
        const two = await signedIn();
        if (sessionIdleTimeout !== null) {
          clock.advance(1_100);
          expect(await one.isSignedIn()).toBe(true);
        }
        const three = await signedIn();
        const isOneUsed = sessionIdleTimeout !== null;
        expect(await who(one, two, three)).toEqual([isOneUsed, !isOneUsed, true]);
        await app.auth.endAllSessions({ iss: app.provider.issuer, sub: "ada" });
      }
    },
  );

  it.each([
    ["lowered", 3 * 86_400],
    ["raised", 40 * 86_400],
  ])(
    "IDP_SESSION_TTL was %s: the session with the oldest activity ends",
    async (_how, sessionTtl) => {
      await start();
      const [used, unused] = [await signedIn(), await signedIn()];
      const later = app.another({ sessionTtl });
      clock.advance(26 * HOUR);
      expect(await unused.isSignedIn()).toBe(true);
      for (let day = 0; day < 2; day += 1) {
        clock.advance(26 * HOUR);
        expect(await used.at(later).isSignedIn()).toBe(true);
      }
      const third = await signedIn(ADA, later);
      expect(await who(used.at(later), unused.at(later), third)).toEqual([true, false, true]);
    },
  );

  it("after IDP_SESSION_TTL was lowered, an access still costs at most one write a day", async () => {
    await start();
    const user = await signedIn();
    const later = app.another({ sessionTtl: 3 * 86_400 });
    clock.advance(26 * HOUR);
    store.calls.length = 0;
    for (let access = 0; access < 5; access += 1) {
      clock.advance(60_000);
      await later.getSession(user.request("/"));
      expect(await user.at(later).isSignedIn()).toBe(true);
    }
    // A refresh writes three times; the sixth access needs none.
    store.calls.length = 0;
    await later.getSession(user.request("/"));
    expect(store.count("replace") + store.count("touch")).toBe(0);
  });

  it("reads the activity of sessions that an earlier release stored as before", async () => {
    await start();
    const [older, newer] = [await signedIn(), await signedIn()];
    const [key = "", other = ""] = store.inserted.filter((_, index) => index % 2 === 1);
    for (const [name, seconds] of [
      [key, 20],
      [other, 10],
    ] as const) {
      const { summary: _unknown, ...stored } = (await store.peek(name))!;
      await store.replace(
        name,
        { ...stored, expiresAt: stored.expiresAt + seconds },
        stored.version,
      );
    }
    clock.advance(60_000);
    const third = await signedIn();
    expect(await who(older, newer, third)).toEqual([true, false, true]);
  });

  it.each(["listBySubject", "delete"] as const)(
    "a store that fails at %s fails no sign-in, and the next one ends the surplus",
    async (method) => {
      await start();
      const [first, second] = [await signedIn(), await signedIn()];
      let [hasBegun, isStored] = [false, false];
      store.before = (call) => {
        // A login, whose state is used before its session is stored.
        hasBegun ||= call.method === "replace";
        if (isStored && call.method === method) throw new Error("down");
      };
      store.after = (call) => void (isStored ||= call.method === "insert" && hasBegun);
      const third = await signedIn();
      [store.before, store.after] = [undefined, undefined];
      expect(await who(first, second, third)).toEqual([true, true, true]);
      const fourth = await signedIn();
      expect(await who(first, second, third, fourth)).toEqual([false, false, true, true]);
    },
  );

  it("costs a sign-in of a user with few sessions one read", async () => {
    await start({ sessionsPerUser: 100 });
    await signedIn();
    store.calls.length = 0;
    await signedIn();
    expect(store.count("listBySubject")).toBe(1);
  });

  it("after it was lowered, each sign-in ends at most 500 sessions, until only so many are left", async () => {
    await start();
    const signedInAt = Math.floor(clock.now() / 1000) - 1_000;
    for (let number = 0; number < 1_000; number += 1)
      await signedInAs(app.auth, { sub: "ada" }, { signedInAt });
    const left: number[] = [];
    for (let number = 0; number < 3; number += 1) {
      await signedIn();
      left.push(await count());
    }
    // A page may exceed the 502 sessions that a sign-in reads.
    expect(left[0]).toBeGreaterThan(300);
    expect(left[0]).toBeLessThan(502);
    expect(left.slice(1)).toEqual([2, 2]);
  });
});
