import { describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { Entry, SessionStore, Stored } from "../../src/ports/session-store.js";
import { EMPTY_RECORD, type SessionRecord } from "../../src/record/record.js";
import { createReportedStore, type EntryPages } from "../../src/sessions/store-failures.js";
import { createSealer } from "../../src/sessions/seal.js";
import {
  allPagesUnder,
  labelOf,
  noteOf,
  pagesUnder,
  readSummary,
  readSummaryJson,
  stampOf,
  traceOf,
} from "../../src/sessions/session-entries.js";
import { expiryWithCookie } from "../../src/record/session-life.js";
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
      recordOf({ sid: "provider's", iat: START - 1, loginAt: START, sessionExpiry: START + 60 }),
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
        ...parts.entries.newEntryOf(recordOf({ loginAt: START }), handle, "Firefox"),
        expiresAt: START + 77,
      };
      parts.clock.advance(5_500);
      const summaryOf = (next: Entry) => readSummary(parts.sealer, handle.key, stored(next));
      return { ...parts, handle, entry, summaryOf };
    };

    it("keeps label, expiry and last renewal when its record changes", () => {
      const { entries, handle, entry, summaryOf } = begun();
      const next = entries.replacementOf(stored(entry), recordOf({ loginAt: START + 1 }), handle);
      expect(next.expiresAt).toBe(START + 77);
      expect(summaryOf(next)).toMatchObject({
        label: "Firefox",
        loginAt: START + 1,
        activeAt: START,
      });
    });

    it("keeps label and record when activity renews it", () => {
      const { entries, handle, entry, summaryOf } = begun();
      const found = { record: recordOf({ loginAt: START }), stored: stored(entry) };
      const next = entries.renewalOf(found, handle, START + 99);
      expect(next.expiresAt).toBe(START + 99);
      expect(summaryOf(next)).toMatchObject({
        label: "Firefox",
        loginAt: START,
        activeAt: START + 5.5,
      });
      expect(entries.recordOf(stored(next), handle)).toEqual(
        entries.recordOf(stored(entry), handle),
      );
      expect(entries.activeAt(handle.key, stored(next))).toBe(START + 5.5);
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
      const trace = traceOf(own.sealer, handle.key, reason, START);
      expect(ended(trace)).toBe(reason);
      expect(trace.expiresAt).toBe(START + 600);
      expect(own.entries.recordOf(stored(trace), handle)).toBeUndefined();
    },
  );

  it.each([
    ["another reason", noteOf(own.sealer, handle.key, { ended: "idle" }, START + 600)],
    ["another session's trace", traceOf(own.sealer, "other", "ended_everywhere", START)],
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
  await store.insert(ended.key, traceOf(sealer, ended.key, "ended_everywhere", now()));
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

describe("the summary of a session", () => {
  const { sealer } = storedSessions();
  const summaryOf = (text: string) => ({
    ...stored({ data: Uint8Array.of(0), expiresAt: START }),
    summary: sealer.sealSummary(text, "key"),
  });

  it("has no value of another type than its own", () => {
    const json = {
      v: 1,
      login_at: "1",
      label: 7,
      active_at: "1",
      iat: null,
      session_expiry: [],
      is_ended: 1,
    };
    expect(readSummary(sealer, "key", summaryOf(JSON.stringify(json)))).toEqual({
      loginAt: null,
      label: null,
      activeAt: null,
      signedInIat: null,
      sessionExpiry: null,
      isEnded: false,
    });
    const good = {
      v: 1,
      login_at: 1,
      label: "a",
      active_at: 1.5,
      iat: 2,
      session_expiry: 3,
      is_ended: true,
    };
    expect(readSummary(sealer, "key", summaryOf(JSON.stringify(good)))).toEqual({
      loginAt: 1,
      label: "a",
      activeAt: 1.5,
      signedInIat: 2,
      sessionExpiry: 3,
      isEnded: true,
    });
  });

  it.each(["{", "null", "7", '[{"v":1}]', '{"v":2}', "{}"])("is none if it is %s", (text) => {
    expect(readSummary(sealer, "key", summaryOf(text))).toBeUndefined();
  });

  it("is none under an unknown key, and if there is none", () => {
    const other = createSealer("another secret key of 32 bytes or more", []);
    expect(readSummary(other, "key", summaryOf('{"v":1}'))).toBeUndefined();
    const without = stored({ data: Uint8Array.of(0), expiresAt: START });
    expect(readSummary(sealer, "key", without)).toBeUndefined();
  });
});

it.each([
  [0, 0],
  [1.5, 1.5],
  [NaN, null],
  [Infinity, null],
  ["1", null],
  [null, null],
  [undefined, null],
])("a stored time that is %j reads as %j", (value, expected) => {
  expect(stampOf(value)).toBe(expected);
});

describe("a label", () => {
  it.each([
    ["  Firefox on\r\n\t Linux  ", "Firefox on Linux"],
    ["a\u0000\u202e\u200bb", "a b"],
    [" \r\n\u0000 ", null],
    ["", null],
    [7, null],
    ["x".repeat(201), "x".repeat(200)],
    [`${" ".repeat(300)}late`, "late"],
    // Of a header of megabytes, only the beginning is read.
    [`${" ".repeat(400)}late`, null],
    // An emoji is two code units; half of one is no character.
    [`${"x".repeat(199)}😀`, `${"x".repeat(199)}\ufffd`],
    [`\ud83d`, "\ufffd"],
  ])("%j is shown as %j", (value, expected) => {
    expect(labelOf(value)).toBe(expected);
  });
});

describe("the pages of a user's sessions", () => {
  async function keysOf(pages: EntryPages): Promise<string[]> {
    const keys: string[] = [];
    for await (const entries of pages) keys.push(...entries.keys());
    return keys;
  }
  /** A store with a list of pages under each hash. */
  function listing(pages: Record<string, string[][]>, more: Partial<SessionStore> = {}) {
    const reads: string[] = [];
    const list = (field: string) => (hash: string, cursor?: string) => {
      reads.push(`${field} ${hash} ${cursor ?? "-"}`);
      const page = Number(cursor ?? 0);
      const keys = pages[hash]?.[page] ?? [];
      const isLast = page + 1 >= (pages[hash]?.length ?? 0);
      return Promise.resolve({
        entries: new Map(keys.map((key) => [key, entryUnder(hash)])),
        ...(!isLast && { next: String(page + 1) }),
      });
    };
    const store = {
      listBySubject: list("subject"),
      listBySid: list("sid"),
      ...more,
    } as SessionStore;
    return { store: createReportedStore(store, new TestClock()), reads };
  }
  const entryUnder = (hash: string): Stored =>
    stored({ data: Uint8Array.of(0), expiresAt: START, subject: hash, sid: `sid of ${hash}` });

  it("are read one after the other, under every key and then in reverse order", async () => {
    const { store, reads } = listing({ new: [["a"], ["b"]], old: [["c"]] });
    expect(await keysOf(pagesUnder(store, "subject", ["new", "old", "older"]))).toEqual(
      ["a", "b", "c"].concat(["c", "a", "b"]),
    );
    expect(reads).toEqual(
      ["new -", "new 1", "old -", "older -", "old -", "new -", "new 1"].map(
        (read) => `subject ${read}`,
      ),
    );
  });

  it("are read once if there is one key", async () => {
    const { store, reads } = listing({ one: [["a"]] });
    expect(await keysOf(pagesUnder(store, "sid", ["one"]))).toEqual(["a"]);
    expect(reads).toEqual(["sid one -"]);
  });

  it("let other work run in between", async () => {
    const { store } = listing({ one: [["a"], ["b"]] });
    const order: string[] = [];
    setImmediate(() => order.push("other work"));
    for await (const entries of pagesUnder(store, "subject", ["one"]))
      order.push(...entries.keys());
    expect(order).toEqual(["a", "other work", "b"]);
  });

  describe("in a store whose lists can lose entries", () => {
    const scanned = (isWhole: boolean) => {
      const all: [string, Stored][] = [
        ["lost", entryUnder("one")],
        ["of another user", entryUnder("another")],
        ["under the old key", entryUnder("two")],
        ["without a user", stored({ data: Uint8Array.of(0), expiresAt: START })],
      ];
      return listing(
        { one: [["listed"]] },
        {
          lossyIndex: {
            isWhole: () => Promise.resolve(isWhole),
            scan: (cursor = "0") =>
              Promise.resolve({
                entries: new Map([all[Number(cursor)]!]),
                ...(cursor !== "3" && { next: String(Number(cursor) + 1) }),
              }),
          },
        },
      ).store;
    };

    it("are completed with the user's lost entries", async () => {
      expect(await keysOf(allPagesUnder(scanned(false), "subject", ["one", "two"]))).toEqual([
        "listed",
        "listed",
        "lost",
        "under the old key",
      ]);
    });

    it("are completed with the entries of the provider's session", async () => {
      expect(await keysOf(allPagesUnder(scanned(false), "sid", ["sid of another"]))).toEqual([
        "of another user",
      ]);
    });

    it("that were found count, if the scan fails afterwards, and the failure isn't hidden", async () => {
      const { store } = listing(
        { one: [["listed"]] },
        {
          lossyIndex: {
            isWhole: () => Promise.resolve(false),
            scan: (cursor) =>
              cursor === undefined
                ? Promise.resolve({ entries: new Map([["lost", entryUnder("one")]]), next: "1" })
                : Promise.reject(new Error("cut")),
          },
        },
      );
      const keys: string[] = [];
      const read = async () => {
        for await (const entries of allPagesUnder(store, "subject", ["one"]))
          keys.push(...entries.keys());
      };
      await expect(read()).rejects.toBeInstanceOf(StoreUnavailableError);
      expect(keys).toEqual(["listed", "lost"]);
    });

    it("are all there is while the lists are whole", async () => {
      expect(await keysOf(allPagesUnder(scanned(true), "subject", ["one"]))).toEqual(["listed"]);
      const { store } = listing({ one: [["listed"]] });
      expect(await keysOf(allPagesUnder(store, "subject", ["one"]))).toEqual(["listed"]);
    });
  });
});
