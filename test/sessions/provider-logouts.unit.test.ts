import { describe, expect, it, vi } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { LogoutToken } from "../../src/ports/provider.js";
import { createProviderLogouts } from "../../src/sessions/provider-logouts.js";
import { createReportedStore } from "../../src/sessions/store-failures.js";
import { createSealer } from "../../src/sessions/seal.js";
import { noteOf, readSummaryJson } from "../../src/sessions/entry-summary.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { SealingStore, type StoreMethod } from "../support/sealing-store.js";
import {
  CLIENT,
  ISSUER,
  SECRET,
  storedSessions,
  withLostLists,
  type StoredSessionsOptions,
} from "../support/stored-sessions.js";

const START = Date.UTC(2024, 0, 1) / 1000;
const MINUTE = 60_000;
const ADA = { iss: ISSUER, sub: "ada" };

function setUp(options: StoredSessionsOptions = {}) {
  const parts = storedSessions(options);
  const announce = vi.fn();
  const logouts = createProviderLogouts({ ...parts, client: CLIENT });
  const logOut = (token: Partial<LogoutToken>) =>
    logouts.end({ iat: START, issuer: ISSUER, ...token }, announce);
  /** Why the session says that it has ended. */
  const endOf = async (handle: { readonly value: string; readonly key: string }) => {
    const stored = await parts.sealing.peek(handle.key);
    return stored && parts.entries.endOf(stored, handle);
  };
  return { ...parts, logouts, logOut, endOf, announce };
}

describe("a logout by the provider", () => {
  it("of its session ends those sessions and no other, and says so for each", async () => {
    const { signIn, logOut, remaining, endOf, announce } = setUp();
    const handles = [
      await signIn({ sid: "one" }),
      await signIn({ sid: "one", sub: "grace" }),
      await signIn({ sid: "other" }),
      await signIn(),
    ];
    await logOut({ sid: "one" });
    expect(await remaining(handles)).toEqual([false, false, true, true]);
    expect(announce).toHaveBeenCalledTimes(2);
    expect(await endOf(handles[0]!)).toBe("logged_out_at_provider");
  });

  it("of a user ends all their sessions", async () => {
    const { signIn, logOut, remaining, endOf, announce } = setUp();
    const handles = [
      await signIn({ sid: "one" }),
      await signIn(),
      await signIn({ sub: "grace" }),
      await signIn({ iss: "https://another.example" }),
    ];
    await logOut({ sub: "ada" });
    expect(await remaining(handles)).toEqual([false, false, true, true]);
    expect(announce).toHaveBeenCalledTimes(2);
    expect(await endOf(handles[1]!)).toBe("logged_out_at_provider");
  });

  it("of its session and the user also ends the user's sessions of which it gave no sid", async () => {
    const { signIn, logOut, remaining } = setUp();
    const handles = [
      await signIn({ sid: "one" }),
      await signIn(),
      await signIn({ sid: "other" }),
      await signIn({ sub: "grace" }),
    ];
    await logOut({ sid: "one", sub: "ada" });
    expect(await remaining(handles)).toEqual([false, false, true, true]);
  });

  it("of a session alone doesn't end those of the user without a subject", async () => {
    const { signIn, logOut, remaining } = setUp();
    const nobody = await signIn({ sub: "" });
    await logOut({ sid: "one" });
    expect(await remaining([nobody])).toEqual([true]);
  });

  it("in the name of a tenant ends the sessions of that tenant's user", async () => {
    const TENANT = "https://tenant.example";
    const { signIn, logOut, logouts, remaining } = setUp();
    const handles = [await signIn(), await signIn({ iss: TENANT })];
    await logOut({ sub: "ada", issuer: TENANT });
    expect(await remaining(handles)).toEqual([true, false]);
    expect(await logouts.hasEnded({ iss: TENANT, sub: "ada", iat: START })).toBe(true);
    expect(await logouts.hasEnded({ ...ADA, iat: START })).toBe(false);
  });

  it.each([{ sid: "one" }, { sub: "ada" }, { sid: "one", sub: "ada" }])(
    "leaves a session that began more than five seconds later: %j",
    async (token) => {
      const { signIn, logOut, remaining } = setUp();
      const sid = token.sid === undefined ? {} : { sid: token.sid };
      const handles = [
        await signIn({ ...sid, iat: START + 5 }),
        await signIn({ ...sid, iat: START + 6 }),
        await signIn(sid),
        await signIn({ iat: START + 6 }),
      ];
      await logOut(token);
      expect(await remaining(handles)).toEqual([false, true, false, true]);
    },
  );

  it("that is signed otherwise than a session's ID token ends only the others", async () => {
    const { signIn, logOut, remaining } = setUp();
    const handles = [
      await signIn({ sid: "one", idTokenAlg: "RS256" }),
      await signIn({ sid: "one", idTokenAlg: "ES256" }),
      await signIn({ sid: "one" }),
    ];
    await logOut({ sid: "one", onlySignedWith: "ES256", isUnusual: true });
    expect(await remaining(handles)).toEqual([true, false, false]);
  });

  it("that is signed otherwise than each session's ID token is refused", async () => {
    const { signIn, logOut, remaining, announce } = setUp();
    const handles = [
      await signIn({ sid: "one", iat: START, idTokenAlg: "RS256" }),
      await signIn({ iat: START, idTokenAlg: "RS512" }),
    ];
    for (const token of [{ sid: "one" }, { sub: "ada" }])
      await expect(logOut({ ...token, onlySignedWith: "ES256" })).rejects.toMatchObject({
        name: "ProviderRefusedError",
        reason: "logout_token_alg",
      });
    expect(await remaining(handles)).toEqual([true, true]);
    expect(announce).not.toHaveBeenCalled();
    await logOut({ sid: "none", onlySignedWith: "ES256" });
    await expect(
      logOut({ sid: "none", onlySignedWith: "ES256", isUnusual: true }),
    ).rejects.toMatchObject({ reason: "logout_token_alg" });
    // It concerns sessions that began earlier only.
    await logOut({ sub: "ada", iat: START - 60, onlySignedWith: "ES256" });
  });

  it("ends a session whose summary cannot be read", async () => {
    const { signIn, logOut, store, remaining } = setUp();
    const handle = await signIn({ sid: "one", iat: START + 60 });
    const { summary: _lost, ...entry } = (await store.get(handle.key))!;
    await store.replace(handle.key, { ...entry, summary: Uint8Array.of(1) }, entry.version);
    await logOut({ sid: "one" });
    expect(await remaining([handle])).toEqual([false]);
  });

  it("finds sessions that the store's lists have lost", async () => {
    const clock = new TestClock();
    const sealing = new SealingStore(clock);
    const { signIn, logOut, announce } = setUp({
      store: createReportedStore(withLostLists(sealing), clock),
      clock,
    });
    await signIn({ sid: "one" });
    await signIn();
    await logOut({ sid: "one" });
    expect(announce).toHaveBeenCalledTimes(1);
    await logOut({ sub: "ada" });
    expect(announce).toHaveBeenCalledTimes(2);
  });
});

describe("a sign-in that a logout by the provider overtakes", () => {
  it.each([
    [{ sid: "one" }, { sid: "one" }, true],
    [{ sid: "one" }, { sid: "other" }, false],
    [{ sid: "one" }, {}, false],
    [{ sid: "one", sub: "ada" }, ADA, false],
    [{ sub: "ada" }, ADA, true],
    [{ sub: "ada" }, { ...ADA, sid: "any" }, true],
    [{ sub: "ada" }, { ...ADA, sub: "grace" }, false],
    [{ sub: "ada" }, { ...ADA, iss: "https://another.example" }, false],
    [{ sub: "ada" }, { sub: "ada" }, false],
    [{ sub: "ada" }, { iss: ISSUER, sid: 7 }, false],
  ])("after %j has ended with the claims %j: %s", async (token, claims, expected) => {
    const { logOut, logouts } = setUp();
    await logOut(token);
    expect(await logouts.hasEnded({ iat: START, ...claims })).toBe(expected);
  });

  it.each([
    [START + 5, true],
    [START + 6, false],
    [undefined, true],
    ["later", true],
  ])("at %s, has ended: %s", async (iat, expected) => {
    const { logOut, logouts } = setUp();
    expect(await logouts.hasEnded({ ...ADA, sid: "one", iat })).toBe(false);
    await logOut({ sid: "one" });
    await logOut({ sub: "ada" });
    expect(await logouts.hasEnded({ ...ADA, sid: "one", iat })).toBe(expected);
    expect(await logouts.hasEnded({ ...ADA, iat })).toBe(expected);
  });

  it("has ended for ten minutes, as long as a login may take", async () => {
    const { logOut, logouts, clock } = setUp();
    await logOut({ sub: "ada" });
    clock.advance(10 * MINUTE - 1);
    expect(await logouts.hasEnded({ ...ADA, iat: START })).toBe(true);
    clock.advance(1);
    expect(await logouts.hasEnded({ ...ADA, iat: START })).toBe(false);
  });

  it("has ended by the newest logout, in any order of their arrival", async () => {
    const { logOut, logouts, clock, sealing } = setUp();
    const isEnded = (iat: number) => logouts.hasEnded({ ...ADA, iat });
    await logOut({ sub: "ada", iat: START });
    await logOut({ sub: "ada", iat: START + 60 });
    expect(await isEnded(START + 65)).toBe(true);
    const writes = sealing.count("replace");
    await logOut({ sub: "ada", iat: START + 30 });
    await logOut({ sub: "ada", iat: START + 60 });
    expect(await isEnded(START + 65)).toBe(true);
    expect(sealing.count("replace")).toBe(writes);
    // A newer one is stored for ten minutes of its own.
    clock.advance(9 * MINUTE);
    await logOut({ sub: "ada", iat: START + 540 });
    clock.advance(9 * MINUTE);
    expect(await isEnded(START + 545)).toBe(true);
  });

  it("is found after SECRET_KEY was rotated, and by a process with the new key only then", async () => {
    const clock = new TestClock();
    const store = createReportedStore(new SealingStore(clock), clock);
    await setUp({ store, clock }).logOut({ sub: "ada" });
    const NEW = "the new secret key of 32 bytes or more";
    const rotated = setUp({ store, clock, sealer: createSealer(NEW, [SECRET]) });
    expect(await rotated.logouts.hasEnded({ ...ADA, iat: START })).toBe(true);
    const done = setUp({ store, clock, sealer: createSealer(NEW, []) });
    expect(await done.logouts.hasEnded({ ...ADA, iat: START })).toBe(false);
  });

  it.each([
    ["that cannot be read", Uint8Array.of(1)],
    ["without a time", undefined],
  ])("is replaced in a note %s, which ends no sign-in", async (_name, summary) => {
    const { store, sealer, logOut, logouts, now } = setUp();
    const [key] = sealer.logoutKeys(CLIENT, "sub", "ada");
    await store.insert(key, {
      ...noteOf(sealer, key, { members: {}, expiresAt: now() + 60 }),
      ...(summary && { summary }),
    });
    expect(await logouts.hasEnded({ ...ADA, iat: START })).toBe(false);
    expect(await logouts.hasEnded(ADA)).toBe(false);
    await logOut({ sub: "ada", iat: -1 });
    expect(await logouts.hasEnded({ ...ADA, iat: -1 })).toBe(true);
  });

  it("ends no sign-in of the logout request of a browser, which anyone can send", async () => {
    const { signIn, logouts, remaining, endOf, announce } = setUp();
    const handles = [
      await signIn({ sid: "one", iat: START + 60 }),
      await signIn({ sid: "other" }),
      await signIn(),
    ];
    await logouts.endSid("one", announce);
    expect(await remaining(handles)).toEqual([false, true, true]);
    expect(await endOf(handles[0]!)).toBe("logged_out_at_provider");
    expect(announce).toHaveBeenCalledOnce();
    expect(await logouts.hasEnded({ sid: "one", iat: START })).toBe(false);
  });
});

describe("storing a logout", () => {
  const keyOf = (sealer: ReturnType<typeof setUp>["sealer"]) =>
    sealer.logoutKeys(CLIENT, "sub", "ada")[0];

  it.each<[string, StoreMethod]>([
    ["has expired", "get"],
    ["was changed by another process", "replace"],
  ])("begins again if the older one %s in between", async (_name, method) => {
    const { sealing, sealer, store, logOut, logouts, now } = setUp();
    const key = keyOf(sealer);
    const older = noteOf(sealer, key, {
      members: { logout_iat: START - 60 },
      expiresAt: now() + 60,
    });
    await store.insert(key, older);
    sealing.calls.length = 0;
    sealing.before = async (call) => {
      if (call.method !== method || call.key !== key) return;
      sealing.before = undefined;
      if (method === "get") await sealing.delete(key);
      else await store.replace(key, older, (await sealing.peek(key))!.version);
    };
    await logOut({ sub: "ada" });
    expect(await logouts.hasEnded({ ...ADA, iat: START + 5 })).toBe(true);
    expect([sealing.count("insert"), sealing.count("listBySubject")]).toEqual([2, 1]);
  });

  it("that fails at first ends the sessions, and then is tried again, with those that began since", async () => {
    const { sealing, signIn, logOut, logouts, remaining, sealer } = setUp();
    const handles = [await signIn()];
    let failures = 0;
    sealing.before = async ({ method, key }) => {
      if (method !== "insert" || key !== keyOf(sealer)) return;
      failures += 1;
      if (failures === 1) throw new Error("full");
      handles.push(await signIn());
    };
    await logOut({ sub: "ada" });
    expect(await remaining(handles)).toEqual([false, false]);
    expect(await logouts.hasEnded({ ...ADA, iat: START })).toBe(true);
    expect(failures).toBe(2);
  });

  it("that fails twice is an outage, and the sessions have ended", async () => {
    const { sealing, signIn, logOut, remaining, sealer } = setUp();
    const handle = await signIn();
    sealing.before = ({ method, key }) => {
      if (method === "insert" && key === keyOf(sealer)) throw new Error("full");
    };
    await expect(logOut({ sub: "ada" })).rejects.toBeInstanceOf(StoreUnavailableError);
    expect(await remaining([handle])).toEqual([false]);
  });

  it("gives up after 16 lost races, twice", async () => {
    const { sealing, sealer, store, logOut, now } = setUp();
    const key = keyOf(sealer);
    await store.insert(
      key,
      noteOf(sealer, key, { members: { logout_iat: START - 60 }, expiresAt: now() + 600 }),
    );
    sealing.calls.length = 0;
    sealing.before = async (call) => {
      if (call.method !== "replace" || call.key !== key) return;
      const { before } = sealing;
      sealing.before = undefined;
      const stored = (await sealing.peek(key))!;
      await sealing.replace(key, stored, stored.version);
      sealing.calls.pop();
      sealing.before = before;
    };
    await expect(logOut({ sub: "ada" })).rejects.toThrow(
      new StoreUnavailableError("The session store refused every write."),
    );
    expect(sealing.count("replace")).toBe(32);
  });

  it("keeps nothing but its time, and the sessions are read once", async () => {
    const { sealing, sealer, logOut } = setUp();
    await logOut({ sub: "ada" });
    const stored = (await sealing.peek(keyOf(sealer)))!;
    expect(readSummaryJson(sealer, keyOf(sealer), stored)).toEqual({ v: 1, logout_iat: START });
    expect([stored.subject, stored.sid, stored.expiresAt]).toEqual([
      undefined,
      undefined,
      START + 600,
    ]);
    expect(sealing.count("listBySubject")).toBe(1);
  });
});
