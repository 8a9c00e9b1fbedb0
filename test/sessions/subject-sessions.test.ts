import { afterEach, describe, expect, it, vi } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { Events } from "../../src/events/events.js";
import { createSealer } from "../../src/sessions/seal.js";
import { createSessionEnding } from "../../src/sessions/end-by-key.js";
import { createSubjectSessions } from "../../src/sessions/subject-sessions.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { type ApplicationOptions, type TestUser } from "../support/application.js";
import type { SealingStore } from "../support/sealing-store.js";
import { signedInAs } from "../../src/testing/sign-in/signed-in-as.js";
import type { TestClock } from "../../src/testing/test-clock.js";
import { createReportedStore } from "../../src/sessions/store-failures.js";
import { PATIENCE } from "../support/eventually.js";
import { application as app, sealing, startOver } from "../support/one-application.js";

const ADA = { sub: "ada", email: "ada@example.com", name: "Ada" };
const GRACE = { sub: "grace", email: "grace@example.com", name: "Grace" };
const START = Date.UTC(2024, 0, 1) / 1000;
const HOUR = 3_600_000;
const OLD_KEY = "the secret key of last year, 32 bytes";
const NEW_KEY = "the secret key of this year, 32 bytes";

let clock: TestClock;
let store: SealingStore;

afterEach(() => app.stop());

async function start(options: ApplicationOptions = {}): Promise<void> {
  store = await startOver(sealing, {
    sessionLabel: (request) => request.header("user-agent"),
    ...options,
  });
  clock = app.clock;
}

async function signedIn(person = ADA, device = "Firefox"): Promise<TestUser> {
  const user = app.user();
  const target = await user.approve(undefined, person);
  await user.get(target, { headers: { "user-agent": device, cookie: cookieOf(user) } });
  return user;
}

const cookieOf = (user: TestUser) =>
  [...user.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
const subjectOf = ({ sub }: { sub: string }) => ({ iss: app.provider.issuer, sub });

describe.each(["a store outside the process", "the memory store"])(
  "the sessions of a user, in %s",
  (kind) => {
    const begin = (options: ApplicationOptions = {}) =>
      start(options).then(async () => {
        if (kind !== "the memory store") return;
        await app.stop();
        await startOver((made) => memoryStore({ clock: made }), {
          clock,
          sessionLabel: (request) => request.header("user-agent"),
          ...options,
        });
      });

    it("are listed, the newest sign-in first, with label, login time and last activity", async () => {
      await begin({ sessionIdleTimeout: 86_400 });
      const laptop = await signedIn(ADA, "Firefox on a laptop");
      clock.advance(HOUR / 2);
      await signedIn(ADA, "Safari on a phone");
      await signedIn(GRACE);
      clock.advance(60_000);
      await laptop.isSignedIn();
      const sessions = await app.auth.listSessions(subjectOf(ADA), laptop.request("/"));
      expect(sessions).toEqual([
        {
          id: expect.any(String),
          label: "Safari on a phone",
          signedInAt: START + 1800,
          lastActive: START + 1800,
          current: false,
        },
        {
          id: expect.any(String),
          label: "Firefox on a laptop",
          signedInAt: START,
          lastActive: START + 1860,
          current: true,
        },
      ]);
      expect(new Set(sessions.map(({ id }) => id)).size).toBe(2);
      expect(await app.auth.listSessions({ iss: "https://elsewhere.example", sub: "ada" })).toEqual(
        [],
      );
    });

    it("keep their label through a refresh", async () => {
      await begin();
      const user = await signedIn(ADA, "Firefox");
      clock.advance(HOUR);
      expect(await user.isSignedIn()).toBe(true);
      expect(await app.auth.listSessions(subjectOf(ADA))).toMatchObject([
        { label: "Firefox", signedInAt: START },
      ]);
    });

    it("without an idle timeout name the last renewal as the last activity", async () => {
      await begin();
      const user = await signedIn();
      clock.advance(48 * HOUR);
      await user.isSignedIn();
      clock.advance(HOUR);
      expect(await app.auth.listSessions(subjectOf(ADA))).toMatchObject([
        { signedInAt: START, lastActive: START + 48 * 3600 },
      ]);
    });

    it("were never active in the future, after IDP_SESSION_TTL was lowered", async () => {
      await begin({ sessionTtl: 30 * 86_400 });
      await signedIn();
      const shorter = app.another({ sessionTtl: 14 * 86_400 });
      expect((await shorter.listSessions(subjectOf(ADA)))[0]?.lastActive).toBe(START);
    });

    it("show later activity than the last stamp, after the idle timeout was switched off", async () => {
      await begin({ sessionIdleTimeout: 60 * 86_400 });
      const user = await signedIn();
      const off = app.another({ sessionIdleTimeout: null });
      clock.advance(5 * 24 * HOUR);
      expect(await user.at(off).isSignedIn()).toBe(true);
      expect((await off.listSessions(subjectOf(ADA)))[0]?.lastActive).toBe(START + 5 * 86_400);
    });

    it("beyond a session limit are not listed, and are ended all the same", async () => {
      await begin({ sessionMaxAge: 3600, sessionIdleTimeout: 600 });
      await signedIn(ADA, "idle");
      expect(await app.auth.listSessions(subjectOf(ADA))).toHaveLength(1);
      clock.advance(601_000);
      expect(await app.auth.listSessions(subjectOf(ADA))).toEqual([]);
      await signedIn(ADA, "active");
      expect(await app.auth.endAllSessions(subjectOf(ADA))).toBe(2);
    });

    it("are all ended at once; other people's stay", async () => {
      await begin();
      const devices = [await signedIn(), await signedIn(), await signedIn()];
      const grace = await signedIn(GRACE);
      const logouts: Events["logout"][] = [];
      app.auth.on("logout", (event) => logouts.push(event));
      expect(await app.auth.endAllSessions(subjectOf(ADA))).toBe(3);
      for (const device of devices) expect(await device.isSignedIn()).toBe(false);
      expect(await grace.isSignedIn()).toBe(true);
      expect(logouts).toEqual(
        devices.map(() => ({
          time: clock.now(),
          issuer: app.provider.issuer,
          subject: "ada",
          revoked: null,
        })),
      );
      expect(app.provider.requestsTo("revoke")).toEqual([]);
      expect(await app.auth.endAllSessions(subjectOf(ADA))).toBe(0);
    });

    it("are ended but for the current one", async () => {
      await begin();
      const [here, there] = [await signedIn(), await signedIn()];
      expect(
        await app.auth.endAllSessions(subjectOf(ADA), { except: here.request("/account") }),
      ).toBe(1);
      expect([await here.isSignedIn(), await there.isSignedIn()]).toEqual([true, false]);
    });

    it("are ended one by one, by the id of the list, and only by their own user", async () => {
      await begin();
      const [one, other] = [await signedIn(ADA, "one"), await signedIn(ADA, "other")];
      const id =
        (await app.auth.listSessions(subjectOf(ADA))).find(({ label }) => label === "one")?.id ??
        "";
      expect(await app.auth.endSession(subjectOf(GRACE), id)).toBe(false);
      expect(await app.auth.endSession(subjectOf(ADA), "no such id")).toBe(false);
      expect(await one.isSignedIn()).toBe(true);
      expect(await app.auth.endSession(subjectOf(ADA), id)).toBe(true);
      expect(await app.auth.endSession(subjectOf(ADA), id)).toBe(false);
      expect([await one.isSignedIn(), await other.isSignedIn()]).toEqual([false, true]);
    });
  },
);

describe("[ASVS-7.4.2] sign out everywhere", () => {
  it("wins over a refresh that is in flight, whose tokens are given back", async () => {
    await start();
    const user = await signedIn();
    clock.advance(HOUR);
    const hold = app.provider.hold("token");
    const probe = user.get("/idpauth/session");
    await hold.arrived;
    expect(await app.auth.endAllSessions(subjectOf(ADA))).toBe(1);
    hold.release();
    expect((await probe).json()).toMatchObject({ authenticated: false });
    expect(await user.isSignedIn()).toBe(false);
    // In the background, over a socket.
    await vi.waitFor(() => {
      expect(app.provider.requestsTo("revoke")).toHaveLength(1);
    }, PATIENCE);
  });

  it("wins over a callback in flight that is moving a session to a new key", async () => {
    await start();
    const user = await signedIn();
    const callback = await user.approve(undefined, ADA);
    // The new session has been inserted, the old one is not replaced yet.
    let ended: number | undefined;
    const inserted = store.inserted.length;
    store.before = async ({ method }) => {
      if (method !== "replace" || store.inserted.length === inserted) return;
      store.before = undefined;
      ended = await app.auth.endAllSessions(subjectOf(ADA));
    };
    expect((await user.get(callback)).status).toBe(400);
    expect(ended).toBe(2);
    expect(await user.isSignedIn()).toBe(false);
    for (const key of store.inserted) expect((await store.peek(key))?.subject).toBeUndefined();
  });

  it("an outage is an outage, never an empty list", async () => {
    await start();
    await signedIn();
    store.before = ({ method }) => {
      if (method === "listBySubject") throw new Error("down");
    };
    await expect(app.auth.listSessions(subjectOf(ADA))).rejects.toBeInstanceOf(
      StoreUnavailableError,
    );
    store.before = ({ method }) => {
      if (method === "delete") throw new Error("down");
    };
    await expect(app.auth.endAllSessions(subjectOf(ADA))).rejects.toBeInstanceOf(
      StoreUnavailableError,
    );
    store.before = undefined;
    expect(await app.auth.endAllSessions(subjectOf(ADA))).toBe(1);
  });

  it("gives up on a store that never lets go of what was deleted", async () => {
    await start();
    const key = "k".repeat(43);
    const stubborn = memoryStore({ clock });
    const stored = { data: new Uint8Array(1), version: "1", expiresAt: START + 60 };
    stubborn.listBySubject = () => Promise.resolve({ entries: new Map([[key, stored]]) });
    await app.stop();
    await startOver(() => stubborn, { clock });
    await expect(app.auth.endAllSessions(subjectOf(ADA))).rejects.toBeInstanceOf(
      StoreUnavailableError,
    );
  });

  it.each([undefined, null, "", 7])("a subject that is %s is a programmer's error", async (sub) => {
    await start();
    await expect(
      app.auth.endAllSessions({ iss: app.provider.issuer, sub: sub as string }),
    ).rejects.toBeInstanceOf(TypeError);
    await expect(app.auth.listSessions({ iss: sub as string, sub: "ada" })).rejects.toBeInstanceOf(
      TypeError,
    );
  });
});

describe("a user with more sessions than a page of the store has", () => {
  const COUNT = 250;

  async function startWithMany(options: ApplicationOptions = {}): Promise<void> {
    await start(options);
    for (let number = 0; number < COUNT; number += 1)
      await signedInAs(app.auth, { sub: "ada" }, { signedInAt: START + number });
  }

  it("the sessions of each page are deleted before the next page is read", async () => {
    await startWithMany();
    const left: number[] = [];
    let listed = 0;
    store.after = async ({ method, page }) => {
      if (method !== "listBySubject") return;
      left.push(listed - store.count("delete"));
      listed += page?.entries.size ?? 0;
    };
    store.calls.length = 0;
    expect(await app.auth.endAllSessions(subjectOf(ADA))).toBe(COUNT);
    // Three pages, and a walk that finds nothing.
    expect(left).toEqual([0, 0, 0, 0]);
  });

  it("a failure on the way leaves fewer sessions, and announces exactly those that have ended", async () => {
    await startWithMany();
    let logouts = 0;
    app.auth.on("logout", () => (logouts += 1));
    store.before = ({ method }) => {
      if (method === "delete" && store.count("delete") > 150) throw new Error("down");
    };
    store.calls.length = 0;
    await expect(app.auth.endAllSessions(subjectOf(ADA))).rejects.toBeInstanceOf(
      StoreUnavailableError,
    );
    store.before = undefined;
    const left = (await app.auth.listSessions(subjectOf(ADA))).length;
    expect([left, logouts]).toEqual([COUNT - 150, 150]);
    expect(await app.auth.endAllSessions(subjectOf(ADA))).toBe(left);
    expect(logouts).toBe(COUNT);
  });

  it("any of them is found by its id, and listed", async () => {
    await startWithMany();
    const sessions = await app.auth.listSessions(subjectOf(ADA));
    expect(sessions.map(({ signedInAt }) => signedInAt)).toEqual(
      Array.from({ length: COUNT }, (_, number) => START + COUNT - 1 - number),
    );
    for (const { id } of [sessions[0]!, sessions.at(-1)!])
      expect(await app.auth.endSession(subjectOf(ADA), id)).toBe(true);
    expect(await app.auth.listSessions(subjectOf(ADA))).toHaveLength(COUNT - 2);
  });

  it("counts as signed in again if not all sessions can be read, so that the provider's whole grant is not revoked", async () => {
    await start();
    const sealer = createSealer("a secret key of at least 32 bytes", []);
    const reported = createReportedStore(store, clock);
    const sessions = createSubjectSessions({
      store: reported,
      sealer,
      clock,
      clients: [{ issuer: app.provider.issuer, clientId: app.provider.clientId }],
      policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null },
      sessionTtl: 1_209_600,
      ending: createSessionEnding({ store: reported, sealer, clock }),
    });
    await signedInAs(app.auth, { sub: "ada" });
    const since = (seconds: number) => sessions.hasSignedInSince(subjectOf(ADA), START + seconds);
    expect([await since(0), await since(1)]).toEqual([true, false]);
    for (let number = 0; number < 3_000; number += 1) await signedInAs(app.auth, { sub: "ada" });
    store.calls.length = 0;
    expect(await since(1)).toBe(true);
    expect(store.calls).toHaveLength(11);
  });
});

it("two clients that share a store: each lists and ends only its own sessions of a user", async () => {
  await start();
  const other = app.another({ clientId: "other" });
  for (const auth of [app.auth, other])
    for (const sub of ["ada", "ada", "grace"]) await signedInAs(auth, { sub });
  expect(await app.auth.listSessions(subjectOf(ADA))).toHaveLength(2);
  const [foreign] = await other.listSessions(subjectOf(ADA));
  expect(await app.auth.endSession(subjectOf(ADA), foreign?.id ?? "")).toBe(false);
  expect(await app.auth.endAllSessions(subjectOf(ADA))).toBe(2);
  expect(await other.listSessions(subjectOf(ADA))).toHaveLength(2);
});

describe("a label", () => {
  const labels: [name: string, given: unknown, kept: string | null][] = [
    ["control characters and line ends fold into spaces", "a\r\nb\tc\u0000d\u202ee", "a b c d e"],
    ["nothing that could be shown is none", " \n ", null],
    ["undefined is none", undefined, null],
    ["null is none", null, null],
    ["what is no text is none", 7, null],
    ["is cut to 200 characters", "x".repeat(100_000), "x".repeat(200)],
    ["is not cut within a character", `${"x".repeat(199)}😀`, `${"x".repeat(199)}\ufffd`],
  ];
  it.each(labels)("%s", async (_name, given, kept) => {
    await start({ sessionLabel: () => given as string });
    await signedIn();
    expect((await app.auth.listSessions(subjectOf(ADA)))[0]?.label).toBe(kept);
  });

  it("that throws costs the label, not the sign-in", async () => {
    await start({
      sessionLabel: () => {
        throw new Error("no header");
      },
    });
    const user = await signedIn();
    expect(await user.isSignedIn()).toBe(true);
    expect((await app.auth.listSessions(subjectOf(ADA)))[0]?.label).toBeNull();
    expect(app.log.map(({ code }) => code)).toContain("function_threw");
  });
});

it("a label that is a promise is not one, and its rejection ends no process", async () => {
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  try {
    await start({
      sessionLabel: (() => Promise.reject(new Error("no header"))) as unknown as () => string,
    });
    await signedIn();
    await new Promise((resolve) => setImmediate(resolve));
    expect((await app.auth.listSessions(subjectOf(ADA)))[0]?.label).toBeNull();
    expect(unhandled).not.toHaveBeenCalled();
  } finally {
    process.off("unhandledRejection", unhandled);
  }
});

describe("a summary", () => {
  it("holds no token, no name and no address, and no key opens it but SECRET_KEY", async () => {
    await start();
    await signedIn();
    const summary = (await store.peek(store.inserted.at(-1) ?? ""))?.summary;
    expect(summary).toBeInstanceOf(Uint8Array);
    expect(Buffer.from(summary ?? []).toString("latin1")).not.toContain("Firefox");
    const stranger = app.another({ secretKey: "another secret key of 32 bytes or more" });
    expect(await stranger.listSessions(subjectOf(ADA))).toEqual([]);
  });

  it("moved to another session does not open there: the session is listed without label", async () => {
    await start();
    await signedIn(ADA, "one");
    const [, one = ""] = store.inserted;
    await signedIn(ADA, "other");
    const other = store.inserted.at(-1) ?? "";
    const [from, to] = [await store.peek(one), await store.peek(other)];
    if (from?.summary === undefined || to === undefined) throw new Error("no summary");
    await store.replace(other, { ...to, summary: from.summary }, to.version);
    const sessions = await app.auth.listSessions(subjectOf(ADA));
    expect(sessions.map(({ label }) => label).sort()).toEqual([null, "one"].sort());
    expect(await app.auth.endAllSessions(subjectOf(ADA))).toBe(2);
  });
});

describe("SECRET_KEY is rotated in two phases", () => {
  it("nobody is signed out at any moment, in either process, and everyone is found by sign out everywhere", async () => {
    await start({ secretKey: OLD_KEY });
    const old = app.auth;
    const phase1 = app.another({ secretKey: OLD_KEY, secretKeyFallbacks: [NEW_KEY] });
    const phase2 = app.another({ secretKey: NEW_KEY, secretKeyFallbacks: [OLD_KEY] });
    const done = app.another({ secretKey: NEW_KEY });

    // First deploy: some processes know the new key as a fallback, some know nothing of it.
    const early = await signedIn(ADA, "before the rotation");
    for (const process of [old, phase1]) expect(await early.at(process).isSignedIn()).toBe(true);
    clock.advance(HOUR);
    expect(await early.at(phase1).isSignedIn()).toBe(true);
    expect(await early.at(old).isSignedIn()).toBe(true);

    // Second deploy: some processes seal with the new key, some still with the old one.
    const late = app.user().at(phase2);
    await late.signIn(undefined, ADA);
    for (const process of [phase1, phase2]) {
      expect(await early.at(process).isSignedIn()).toBe(true);
      expect(await late.at(process).isSignedIn()).toBe(true);
    }
    clock.advance(HOUR);
    for (const process of [phase2, phase1]) {
      expect(await early.at(process).isSignedIn()).toBe(true);
      expect(await late.at(process).isSignedIn()).toBe(true);
    }
    // One lies under the old key's hash, the other under the new one's: both are found from either
    // side.
    const unwritten = app.user().at(phase1);
    await unwritten.signIn(undefined, ADA);
    for (const process of [phase1, phase2])
      expect(await process.listSessions(subjectOf(ADA))).toHaveLength(3);

    // What was written under the new key needs the old one no more.
    clock.advance(HOUR);
    expect(await early.at(phase2).isSignedIn()).toBe(true);
    expect(await early.at(done).isSignedIn()).toBe(true);
    expect(app.provider.reuses).toBe(0);
    expect(await phase2.endAllSessions(subjectOf(ADA))).toBe(3);
    for (const user of [early, late, unwritten])
      expect(await user.at(phase1).isSignedIn()).toBe(false);
  });

  it.each(["the new key", "the old key"])(
    "sign out everywhere finds a session that a write moves to %s at the same time",
    async (target) => {
      await start({ secretKey: OLD_KEY });
      const phase1 = app.another({ secretKey: OLD_KEY, secretKeyFallbacks: [NEW_KEY] });
      const phase2 = app.another({ secretKey: NEW_KEY, secretKeyFallbacks: [OLD_KEY] });
      const [from, to] = target === "the new key" ? [phase1, phase2] : [phase2, phase1];
      for (const asked of [phase1, phase2]) {
        for (const call of [1, 2, 3]) {
          const user = app.user().at(from);
          await user.signIn(undefined, ADA);
          clock.advance(HOUR);
          // Just before one of its looks a refresh in the other process seals the session anew.
          let look = 0;
          store.before = async ({ method }) => {
            if (method !== "listBySubject") return;
            look += 1;
            if (look !== call) return;
            store.before = undefined;
            await user.at(to).isSignedIn();
          };
          expect(await asked.endAllSessions(subjectOf(ADA))).toBe(1);
          store.before = undefined;
          expect(await user.isSignedIn()).toBe(false);
        }
      }
    },
  );

  it("a session under an unknown key is no session; it is counted and logged without content, and stays in the store", async () => {
    await start({ secretKey: OLD_KEY });
    const user = await signedIn();
    const stranger = app.another({ secretKey: NEW_KEY });
    const failures: Events["failure"][] = [];
    stranger.on("failure", (event) => failures.push(event));
    app.log.length = 0;
    expect(await user.at(stranger).isSignedIn()).toBe(false);
    expect(failures).toEqual([
      { time: clock.now(), during: "session", kind: "refusal", reason: "session_unreadable" },
    ]);
    expect(app.log.filter(({ code }) => code !== "W001" && code !== "started")).toEqual([
      { level: "warn", code: "session_unreadable", message: expect.any(String) },
    ]);
    expect(await user.isSignedIn()).toBe(true);
  });
});
