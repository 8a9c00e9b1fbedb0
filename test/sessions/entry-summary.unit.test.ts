import { describe, expect, it } from "vitest";
import type { Entry, Stored } from "../../src/ports/session-store.js";
import { readSummary, stampOf } from "../../src/sessions/entry-summary.js";
import { createSealer } from "../../src/sessions/seal.js";
import { storedSessions } from "../support/stored-sessions.js";

const START = Date.UTC(2024, 0, 1) / 1000;
const stored = (entry: Entry, version = "1"): Stored => ({ ...entry, version });

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
      id_token_alg: 1,
    };
    expect(readSummary(sealer, "key", summaryOf(JSON.stringify(json)))).toEqual({
      signedInAt: null,
      label: null,
      activeAt: null,
      signedInIat: null,
      sessionExpiry: null,
      isEnded: false,
      idTokenAlg: null,
      others: {},
    });
    const good = {
      v: 1,
      login_at: 1,
      label: "a",
      active_at: 1.5,
      iat: 2,
      session_expiry: 3,
      is_ended: true,
      id_token_alg: "RS256",
      newer: [1],
    };
    expect(readSummary(sealer, "key", summaryOf(JSON.stringify(good)))).toEqual({
      signedInAt: 1,
      label: "a",
      activeAt: 1.5,
      signedInIat: 2,
      sessionExpiry: 3,
      isEnded: true,
      idTokenAlg: "RS256",
      others: { newer: [1] },
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
