import { describe, expect, it } from "vitest";
import type { Entry, Stored } from "../../src/ports/session-store.js";
import { EMPTY_RECORD, type SessionRecord } from "../../src/record/record.js";
import { createReportedStore } from "../../src/sessions/store-failures.js";
import { traceOf } from "../../src/sessions/end-trace.js";
import { noteOf, readSummary, readSummaryJson } from "../../src/sessions/entry-summary.js";
import { expiryWithCookie } from "../../src/record/entry-life.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import {
  CLIENT,
  ISSUER,
  newHandle,
  recordOf,
  storedSessions,
  TTL,
  type StoredSessionsOptions,
} from "../support/stored-sessions.js";

const START = Date.UTC(2024, 0, 1) / 1000;
const stored = (entry: Entry, version = "1"): Stored => ({ ...entry, version });

describe("the entry of a session", () => {
  const entryOf = (record: SessionRecord, options: StoredSessionsOptions = {}) => {
    const { clock, entries, sealer } = storedSessions(options);
    const handle = newHandle();
    clock.advance(250);
    const entry = entries.newEntryOf(record, handle, "Firefox");
    return {
      entry,
      handle,
      summary: readSummaryJson(sealer, handle.key, stored(entry)),
      read: () => entries.recordOf(stored(entry), handle),
    };
  };

  it("has keyed hashes of the user and of the provider's session, and a summary without an identity", () => {
    const { sealer } = storedSessions();
    const { entry, summary } = entryOf(
      recordOf({
        sid: "provider's",
        iat: START - 1,
        signedInAt: START,
        sessionExpiry: START + 60,
        idTokenAlg: "RS256",
      }),
    );
    expect(entry.subject).toBe(sealer.subjectHashes(CLIENT, "ada")[0]);
    expect(entry.sid).toBe(sealer.sidHashes(CLIENT, "provider's")[0]);
    expect(entry.expiresAt).toBe(START + TTL);
    expect(entry).not.toHaveProperty("lastActive");
    expect(summary).toEqual({
      v: 1,
      login_at: START,
      label: "Firefox",
      active_at: START + 0.25,
      iat: START - 1,
      session_expiry: START + 60,
      id_token_alg: "RS256",
    });
  });

  it("without a provider's session, times and a label has none of them", () => {
    const { entries, sealer } = storedSessions();
    const handle = newHandle();
    const entry = entries.newEntryOf(recordOf(), handle, null);
    expect(entry).not.toHaveProperty("sid");
    expect(readSummaryJson(sealer, handle.key, stored(entry))).toEqual({ v: 1, active_at: START });
  });

  it("says in its summary that its end has been announced", () => {
    expect(entryOf(recordOf({ ended: "idle" })).summary).toMatchObject({ is_ended: true });
  });

  it.each([
    ["subject", { sub: 7 }],
    ["issuer", { iss: ["https://issuer.example"] }],
  ])("whose stored %s is no string is found under the empty one", (_claim, claims) => {
    const { sealer } = storedSessions();
    const { entry } = entryOf(recordOf(claims));
    const { iss, sub } = { iss: ISSUER, sub: "ada", ...claims };
    const text = (value: unknown) => (typeof value === "string" ? value : "");
    expect(entry.subject).toBe(
      sealer.subjectHashes({ ...CLIENT, issuer: text(iss) }, text(sub))[0],
    );
  });

  it("of a record without claims is found under the empty subject, too", () => {
    const { sealer } = storedSessions();
    const { id_info: _claims, ...record } = recordOf();
    expect(entryOf(record).entry.subject).toBe(
      sealer.subjectHashes({ ...CLIENT, issuer: "" }, "")[0],
    );
  });

  it("of another client's user cannot be found by user or session", () => {
    const { entry } = entryOf(recordOf({ clientId: "another", sid: "provider's" }));
    expect([entry.subject, entry.sid, entry.summary]).toEqual([undefined, undefined, undefined]);
  });

  it("of a pending login lives ten minutes, and cannot be found by user", () => {
    const { entry } = entryOf(EMPTY_RECORD);
    expect(entry.expiresAt).toBe(START + 600);
    expect(entry).not.toHaveProperty("subject");
    expect(entry).not.toHaveProperty("summary");
  });

  it.each([
    [START - 5, START - 5],
    [NaN, undefined],
    [Infinity, undefined],
    ["now", undefined],
  ])("stores the last activity %s beside the data, where a touch moves it", (given, expected) => {
    const { entry, read } = entryOf({ ...recordOf(), idp_last_active: given });
    expect(entry.lastActive).toBe(expected);
    expect(read()?.idp_last_active).toBe(expected);
  });

  it("keeps the ID token only for a logout that shows it to the provider", () => {
    const record: SessionRecord = { ...recordOf(), idp_state: { v: 1, id_token: "a.b.c" } };
    expect(entryOf(record).read()?.idp_state.id_token).toBeUndefined();
    expect(entryOf(record, { keepIdToken: true }).read()?.idp_state.id_token).toBe("a.b.c");
  });

  describe("that exists", () => {
    const begun = () => {
      const parts = storedSessions();
      const handle = newHandle();
      const entry = {
        ...parts.entries.newEntryOf(recordOf({ signedInAt: START }), handle, "Firefox"),
        expiresAt: START + 77,
      };
      parts.clock.advance(5_500);
      const summaryOf = (next: Entry) => readSummary(parts.sealer, handle.key, stored(next));
      return { ...parts, handle, entry, summaryOf };
    };

    it("keeps label, expiry and last renewal when its record changes", () => {
      const { entries, handle, entry, summaryOf } = begun();
      const next = entries.replacementOf(
        stored(entry),
        recordOf({ signedInAt: START + 1 }),
        handle,
      );
      expect(next.expiresAt).toBe(START + 77);
      expect(summaryOf(next)).toMatchObject({
        label: "Firefox",
        signedInAt: START + 1,
        activeAt: START,
      });
    });

    it("keeps label and record when activity renews it", () => {
      const { entries, handle, entry, summaryOf } = begun();
      const found = { record: recordOf({ signedInAt: START }), stored: stored(entry) };
      const next = entries.renewalOf(found, handle, START + 99);
      expect(next.expiresAt).toBe(START + 99);
      expect(summaryOf(next)).toMatchObject({
        label: "Firefox",
        signedInAt: START,
        activeAt: START + 5.5,
      });
      expect(entries.recordOf(stored(next), handle)).toEqual(
        entries.recordOf(stored(entry), handle),
      );
      expect(entries.activeAt(handle.key, stored(next))).toBe(START + 5.5);
    });

    it("keeps what a later release has written into its summary", () => {
      const { entries, sealer, handle, entry } = begun();
      const members = readSummaryJson(sealer, handle.key, stored(entry));
      const newer = stored({
        ...entry,
        summary: sealer.sealSummary(JSON.stringify({ ...members, newer: { a: 1 } }), handle.key),
      });
      const found = { record: recordOf(), stored: newer };
      for (const next of [
        entries.replacementOf(newer, recordOf({ idTokenAlg: "ES256" }), handle),
        entries.renewalOf(found, handle, START + 99),
      ])
        expect(readSummaryJson(sealer, handle.key, stored(next))).toMatchObject({
          newer: { a: 1 },
        });
    });

    it("without a readable summary gets one without a label, and its last renewal isn't known", () => {
      const { entries, handle, summaryOf, ...parts } = begun();
      const { summary: _lost, ...entry } = parts.entry;
      const found = { record: recordOf(), stored: stored(entry) };
      const changed = entries.replacementOf(stored(entry), recordOf(), handle);
      expect(summaryOf(changed)).toMatchObject({ label: null, activeAt: null });
      expect(summaryOf(entries.renewalOf(found, handle, START + 99))).toMatchObject({
        label: null,
        activeAt: START + 5.5,
      });
      for (const unknown of [entry, changed])
        expect(entries.activeAt(handle.key, stored(unknown))).toBeUndefined();
    });
  });

  it("expires in an even second, so that the browser's cookie is known to be as new", () => {
    expect([100, 101, 102].map(expiryWithCookie)).toEqual([100, 102, 102]);
    const { clock, entries } = storedSessions();
    clock.advance(1_000);
    expect(entries.newEntryOf(recordOf(), newHandle(), null).expiresAt).toBe(START + TTL + 2);
  });
});

describe("what a stored session says to a process that cannot use it", () => {
  const ended = (entry: Entry, options: StoredSessionsOptions = {}) =>
    storedSessions(options).entries.endOf(stored(entry), handle);
  const handle = newHandle();
  const another = [{ issuer: "https://another.example", clientId: "another" }];
  const own = storedSessions();

  it("is that its provider was removed, if the application names its providers", () => {
    const entry = own.entries.newEntryOf(recordOf(), handle, null);
    expect(ended(entry, { namesProviders: true, clients: another })).toBe("provider_removed");
    expect(ended(entry, { namesProviders: false, clients: another })).toBeUndefined();
    expect(ended(entry, { namesProviders: true })).toBeUndefined();
  });

  it("is nothing if the record cannot be read", () => {
    const entry = {
      ...own.entries.newEntryOf(recordOf(), handle, null),
      data: Uint8Array.of(1),
    };
    expect(ended(entry, { namesProviders: true, clients: another })).toBeUndefined();
  });

  it.each(["logged_out_at_provider", "ended_everywhere", "too_many_sessions"] as const)(
    "is the reason of its trace, which stays ten minutes: %s",
    (reason) => {
      const trace = traceOf(own.sealer, handle.key, { reason, now: START });
      expect(ended(trace)).toBe(reason);
      expect(trace.expiresAt).toBe(START + 600);
      expect(own.entries.recordOf(stored(trace), handle)).toBeUndefined();
    },
  );

  it.each([
    [
      "another reason",
      noteOf(own.sealer, handle.key, { members: { ended: "idle" }, expiresAt: START + 600 }),
    ],
    [
      "another session's trace",
      traceOf(own.sealer, "other", { reason: "ended_everywhere", now: START }),
    ],
    ["a pending login", own.entries.newEntryOf(EMPTY_RECORD, handle, null)],
  ])("is nothing for %s", (_what, entry) => {
    expect(ended(entry)).toBeUndefined();
  });

  it("is no record, if the process that signed the user in names the keys otherwise", () => {
    const names = { ...own.names, credentials: "tokens" };
    const entry = storedSessions({ names }).entries.newEntryOf(recordOf(), handle, null);
    expect(own.entries.recordOf(stored(entry), handle)).toBeUndefined();
    const { subject: _none, ...pending } = entry;
    expect(own.entries.recordOf(stored(pending), handle)).toMatchObject({
      id_info: { sub: "ada" },
    });
  });

  it("is no record for another client, and for JSON that is nested too deeply", () => {
    const entry = own.entries.newEntryOf(recordOf(), handle, null);
    expect(
      storedSessions({ clients: another }).entries.recordOf(stored(entry), handle),
    ).toBeUndefined();
    const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
    const deep = (levels: number) => {
      const json = JSON.stringify({ ...recordOf(), id_info: nested(levels) });
      return own.entries.recordOf(
        stored({ ...entry, data: own.sealer.seal(json, handle.value, handle.key) }),
        handle,
      );
    };
    expect(deep(64)).toBeDefined();
    expect(deep(66)).toBeUndefined();
  });
});

it("a watch of several sessions learns the record of each, or why it is gone", async () => {
  const { entries, signIn, store, sealer, now } = storedSessions();
  const [here, ended, pending, gone] = [
    await signIn({ lastActive: START + 1 }),
    newHandle(),
    newHandle(),
    newHandle(),
  ];
  await store.insert(
    ended.key,
    traceOf(sealer, ended.key, { reason: "ended_everywhere", now: now() }),
  );
  await store.insert(pending.key, { data: Uint8Array.of(1), expiresAt: now() + 60 });
  expect(await entries.look([gone, here, ended, pending])).toEqual([
    { record: undefined, reason: undefined },
    {
      record: expect.objectContaining({ idp_last_active: START + 1 }),
      reason: "no_credentials",
    },
    { record: undefined, reason: "ended_everywhere" },
    { record: undefined, reason: "no_credentials" },
  ]);
});

describe("a store in this process", () => {
  const inProcess = () => {
    const clock = new TestClock();
    return storedSessions({ store: createReportedStore(memoryStore({ clock }), clock), clock });
  };

  it("that returns the stored record itself costs no copy, and one that copies it is safe, too", () => {
    const { entries } = inProcess();
    const handle = newHandle();
    const entry = entries.newEntryOf(recordOf(), handle, null);
    expect(entries.recordOf(stored(entry), handle)).toBe(entry.data);
    const copy = structuredClone({ ...(entry.data as SessionRecord) });
    const read = entries.recordOf(stored({ ...entry, data: copy }), handle);
    expect(Object.getPrototypeOf(read)).toBeNull();
    expect(read?.credentials?.token).toBe("access");
  });

  it("has no session where there are bytes", () => {
    const { entries } = inProcess();
    const bytes = stored({ data: Uint8Array.of(1), expiresAt: START + 60 });
    expect(entries.recordOf(bytes, newHandle())).toBeUndefined();
  });
});
