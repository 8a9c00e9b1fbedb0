import { describe, expect, it } from "vitest";
import type { Entry, Stored } from "../../src/ports/session-store.js";
import { EMPTY_RECORD } from "../../src/record/record.js";
import { traceOf } from "../../src/sessions/end-trace.js";
import { createSealer } from "../../src/sessions/seal.js";
import {
  readSignInTrace,
  signInTraceOf,
  SIGN_IN_TRACE_SECONDS,
  type ReadTrace,
} from "../../src/sessions/sign-in-trace.js";
import { createReportedStore } from "../../src/sessions/store-failures.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { newHandle, recordOf, storedSessions } from "../support/stored-sessions.js";

const SECRET = "a secret key of at least 32 bytes";
const EXPIRES_AT = 1_704_067_800;
const TRACE: ReadTrace = {
  stateHash: "the hash of a state",
  target: {
    final_redirect: "http://app.example/reports",
    redirect_uri: "http://app.example/idpauth/login-callback/staff",
    provider: "staff",
    step_up: { max_age: 60 },
    api: "orders",
  },
  expiresAt: EXPIRES_AT,
};
const inMemory = () =>
  storedSessions({ store: createReportedStore(memoryStore(), new TestClock()) });
const stored = (entry: Entry, version = "1"): Stored => ({ ...entry, version });
const bytesOf = ({ data }: Entry) => Uint8Array.from(data as Uint8Array);

describe("the trace of a sign-in", () => {
  it("is read with the cookie that the sign-in has replaced", () => {
    const [sealer, handle] = [createSealer(SECRET, []), newHandle()];
    const entry = signInTraceOf(sealer, handle, TRACE);
    expect(entry.expiresAt).toBe(EXPIRES_AT);
    expect(Object.keys(entry).sort()).toEqual(["data", "expiresAt"]);
    expect(readSignInTrace(sealer, handle, stored(entry))).toEqual(TRACE);
  });

  it("takes only what a login asks for from a pending login", () => {
    const [sealer, handle] = [createSealer(SECRET, []), newHandle()];
    const secrets = { state: "a state", nonce: "a nonce", verifier: "a verifier", issuer: "x" };
    const { final_redirect, redirect_uri } = TRACE.target;
    const target = { ...secrets, final_redirect, redirect_uri };
    const entry = signInTraceOf(sealer, handle, { ...TRACE, target });
    expect(readSignInTrace(sealer, handle, stored(entry))?.target).toEqual({
      final_redirect,
      redirect_uri,
    });
  });

  it("is encrypted in every store, with nothing of it in the clear", () => {
    for (const { entries } of [storedSessions(), inMemory()]) {
      const { data } = entries.traceEntryOf(TRACE, newHandle());
      const text = Buffer.from(data as Uint8Array).toString("latin1");
      for (const word of ["reports", "staff", "orders", "hash"]) expect(text).not.toContain(word);
    }
  });

  it("is never a record, nor the end of a session, and a record is never a trace", () => {
    for (const { entries, sealer } of [storedSessions(), inMemory()]) {
      const handle = newHandle();
      const trace = stored(entries.traceEntryOf(TRACE, handle));
      expect(entries.recordOf(trace, handle)).toBeUndefined();
      expect(entries.endOf(trace, handle)).toBeUndefined();
      for (const record of [EMPTY_RECORD, recordOf()]) {
        const entry = stored(entries.newEntryOf(record, handle, null));
        expect(readSignInTrace(sealer, handle, entry)).toBeUndefined();
      }
      const ended = traceOf(sealer, handle.key, { reason: "ended_everywhere", now: 1 });
      expect(readSignInTrace(sealer, handle, stored(ended))).toBeUndefined();
    }
  });

  it("does not open with another cookie, under another key, or with another SECRET_KEY", () => {
    const [sealer, handle, other] = [createSealer(SECRET, []), newHandle(), newHandle()];
    const entry = stored(signInTraceOf(sealer, handle, TRACE));
    const { value, key } = handle;
    expect(readSignInTrace(sealer, { value: other.value, key }, entry)).toBeUndefined();
    expect(readSignInTrace(sealer, { value, key: other.key }, entry)).toBeUndefined();
    const stranger = createSealer("another secret key of at least 32 bytes", []);
    expect(readSignInTrace(stranger, handle, entry)).toBeUndefined();
    const rotated = createSealer("another secret key of at least 32 bytes", [SECRET]);
    expect(readSignInTrace(rotated, handle, entry)).toEqual(TRACE);
  });

  it("has a key of its own: a record's bytes don't open as a trace, nor a trace's as a record", () => {
    const [sealer, { value, key }] = [createSealer(SECRET, []), newHandle()];
    expect(sealer.openTrace(sealer.seal("{}", value, key), value, key)).toBeUndefined();
    expect(sealer.open(sealer.sealTrace("{}", value, key), value, key)).toBeUndefined();
    expect(sealer.openTrace(sealer.sealSummary("{}", key), value, key)).toBeUndefined();
  });

  it("does not open if any one byte was changed", () => {
    const [sealer, handle] = [createSealer(SECRET, []), newHandle()];
    const entry = signInTraceOf(sealer, handle, TRACE);
    for (let at = 0; at < bytesOf(entry).length; at += 1) {
      const data = bytesOf(entry);
      data[at] = (data[at] ?? 0) ^ 1;
      expect(readSignInTrace(sealer, handle, stored({ ...entry, data }))).toBeUndefined();
    }
  });

  it("contains when it ends, whatever the entry says", () => {
    const { entries, clock, sealer } = storedSessions({});
    const handle = newHandle();
    const entry = entries.traceEntryOf(TRACE, handle);
    const expiresAt = Math.floor(clock.now() / 1000) + SIGN_IN_TRACE_SECONDS;
    expect(entry.expiresAt).toBe(expiresAt);
    const kept = stored({ ...entry, expiresAt: expiresAt + 86_400 });
    expect(readSignInTrace(sealer, handle, kept)?.expiresAt).toBe(expiresAt);
  });

  it.each<[string, unknown]>([
    ["another version", { v: 2, state: "s", expires_at: 1, target: TRACE.target }],
    ["no state", { v: 1, expires_at: 1, target: TRACE.target }],
    ["no expiry", { v: 1, state: "s", target: TRACE.target }],
    ["no destination", { v: 1, state: "s", expires_at: 1, target: { redirect_uri: "x" } }],
    [
      "another type of provider",
      { v: 1, state: "s", expires_at: 1, target: { ...TRACE.target, provider: 1 } },
    ],
    ["no object", null],
  ])("with %s is none", (_name, plain) => {
    const [sealer, { value, key }] = [createSealer(SECRET, []), newHandle()];
    const data = sealer.sealTrace(JSON.stringify(plain), value, key);
    const entry = stored({ data, expiresAt: EXPIRES_AT });
    expect(readSignInTrace(sealer, { value, key }, entry)).toBeUndefined();
  });
});
