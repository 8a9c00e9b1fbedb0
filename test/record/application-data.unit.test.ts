import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import {
  dataOfSameUser,
  isApplicationData,
  jsonCopy,
  keepsData,
  mergedData,
  withData,
  withReview,
} from "../../src/record/application-data.js";
import { nextTurn } from "../../src/clock.js";
import type { IdInfo } from "../../src/record/identity.js";
import { withRejection, withTokens } from "../../src/record/refresh-changes.js";
import { judge } from "../../src/record/session-policy.js";
import type { SessionRecord } from "../../src/record/record.js";
import { polluted } from "../support/polluted.js";

function thrownBy(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return (error as Error).message;
  }
  return expect.fail("it didn't throw");
}

const nested = (levels: number): Record<string, unknown> =>
  levels === 0 ? {} : { a: nested(levels - 1) };

describe("jsonCopy", () => {
  it("copies JSON, and leaves out properties that are undefined or not enumerable", () => {
    const value = Object.defineProperty(
      { a: [1, null, "x", { b: false }], c: undefined, d: 1.5 },
      "hidden",
      {
        value: 1,
        enumerable: false,
      },
    );
    const copy = jsonCopy(value, "It");
    expect(copy).toEqual({ a: [1, null, "x", { b: false }], d: 1.5 });
    expect(Object.keys(copy)).toEqual(["a", "d"]);
    expect(copy["a"]).not.toBe(value.a);
  });

  it("takes objects without a prototype, and of another realm", () => {
    expect(jsonCopy(Object.assign(Object.create(null) as object, { a: 1 }), "It")).toEqual({
      a: 1,
    });
    expect(jsonCopy(runInNewContext("({ a: { b: [1] } })"), "It")).toEqual({ a: { b: [1] } });
  });

  it("the same object at two places is no cycle", () => {
    const shared = { x: 1 };
    expect(jsonCopy({ a: shared, b: [shared] }, "It")).toEqual({ a: { x: 1 }, b: [{ x: 1 }] });
  });

  it.each<[string, unknown, RegExp]>([
    ["null", null, /^It must be a plain object/],
    ["a list", [], /^It must be a plain object/],
    ["text", "x", /^It must be a plain object/],
    ["a date", new Date(), /^It must be a plain object/],
    ["a date inside", { a: [new Date()] }, /^It\.a\[0\] must be JSON/],
    ["NaN", { a: Number.NaN }, /^It\.a must be JSON/],
    ["Infinity", { a: Infinity }, /^It\.a must be JSON/],
    ["a bigint", { a: 1n }, /^It\.a must be JSON/],
    ["a symbol", { a: Symbol("x") }, /^It\.a must be JSON/],
    ["undefined in a list", { a: [undefined] }, /^It\.a\[0\] must be JSON/],
    ["a map", { a: new Map() }, /^It\.a must be JSON/],
    ["undefined", undefined, /^It must be a plain object/],
    ["a function", () => ({}), /^It must be a plain object/],
    ["a function inside", { a: () => 1 }, /^It\.a must be JSON/],
    ["an object of a class", { a: new URL("https://app.example") }, /^It\.a must be JSON/],
    [
      "too deep in lists",
      { a: JSON.parse("[".repeat(64) + "]".repeat(64)) as unknown },
      /nested too deeply/,
    ],
    [
      "__proto__",
      JSON.parse('{"a":{"__proto__":1}}'),
      /^It\.a can't contain the property `__proto__`/,
    ],
    ["too deep", nested(64), /nested too deeply/],
  ])("refuses %s", (_name, value, message) => {
    expect(() => jsonCopy(value, "It")).toThrow(message);
    expect(() => jsonCopy(value, "It")).toThrow(TypeError);
  });

  it("refuses cycles at once, however they branch", () => {
    const cycle: Record<string, unknown> = {};
    for (const name of ["a", "b", "c"]) cycle[name] = cycle;
    expect(() => jsonCopy(cycle, "It")).toThrow(/It\.a is nested too deeply, or contains itself/);
  });

  it("calls no accessor", () => {
    expect(() =>
      jsonCopy(
        {
          get a() {
            return expect.fail("it ran") as unknown;
          },
        },
        "It",
      ),
    ).toThrow(/property `a`/);
  });

  it("takes lists down to the same depth as objects", () => {
    const value = { a: JSON.parse("[".repeat(63) + "]".repeat(63)) as unknown };
    expect(jsonCopy(value, "It")).toEqual(value);
  });

  it("shows only the beginning of a long key in its message", () => {
    const key = "k".repeat(10_000);
    const accessor = Object.defineProperty({}, key, { get: () => 1, enumerable: true });
    for (const value of [{ [key]: new Date() }, accessor]) {
      const message = thrownBy(() => jsonCopy(value, "It"));
      expect(message).toContain("k".repeat(100));
      expect(message.length).toBeLessThan(250);
    }
  });

  describe("given the promise of an async function", () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    afterEach(() => void process.off("unhandledRejection", note));

    it("refuses it, and the promise's rejection doesn't end the process", async () => {
      process.on("unhandledRejection", note);
      expect(() => jsonCopy(Promise.reject(new Error("too late")), "It")).toThrow(
        /^It must be a plain object/,
      );
      await nextTurn();
      expect(unhandled).toEqual([]);
    });
  });

  it("counts the bytes of its JSON in UTF-8", () => {
    expect(jsonCopy({ a: "é" }, "It", 10)).toEqual({ a: "é" });
    expect(() => jsonCopy({ a: "é" }, "It", 9)).toThrow(
      "It has 10 bytes as JSON. The limit is 9 bytes.",
    );
    expect(jsonCopy(nested(63), "It")).toEqual(nested(63));
  });
});

describe("isApplicationData", () => {
  it.each<[string, unknown, boolean]>([
    ["an empty object", {}, true],
    ["an object", { a: [1, { b: null }] }, true],
    ["the deepest object", nested(63), true],
    ["a deeper object", nested(64), false],
    ["a list", [{}], false],
    ["null", null, false],
    ["a string", "x", false],
    ["a number", 1, false],
    ["undefined", undefined, false],
  ])("%s", (_name, value, expected) => {
    expect(isApplicationData(value)).toBe(expected);
  });
});

describe("merging the application's change with the newest data", () => {
  it.each<[string, object, object, object, object, boolean]>([
    ["an unchanged value keeps the newest one", { a: 1 }, { a: 1 }, { a: 2 }, { a: 2 }, false],
    ["a changed value replaces one that stayed", { a: 1 }, { a: 2 }, { a: 1 }, { a: 2 }, false],
    ["a new key is added to the newest data", {}, { b: 1 }, { a: 1 }, { a: 1, b: 1 }, false],
    [
      "a key that another request added stays",
      { a: 1 },
      { a: 2 },
      { a: 1, b: 1 },
      { a: 2, b: 1 },
      false,
    ],
    [
      "a removed key becomes undefined",
      { a: 1, b: 1 },
      { b: 1 },
      { a: 1, b: 2 },
      { a: undefined, b: 2 },
      false,
    ],
    [
      "a change to a nested value counts for its top-level key",
      { a: { x: 1 } },
      { a: { x: 2 } },
      { a: { x: 1 } },
      { a: { x: 2 } },
      false,
    ],
    ["two different changes of one key overwrite", { a: 1 }, { a: 2 }, { a: 3 }, { a: 2 }, true],
    ["the same change twice overwrites nothing", { a: 1 }, { a: 2 }, { a: 2 }, { a: 2 }, false],
    ["removing a key that changed overwrites", { a: 1 }, {}, { a: 2 }, { a: undefined }, true],
    ["changing a key that was removed overwrites", { a: 1 }, { a: 2 }, {}, { a: 2 }, true],
    [
      "one overwritten key of two counts",
      { a: 1, b: 1 },
      { a: 2, b: 2 },
      { a: 1, b: 3 },
      { a: 2, b: 2 },
      true,
    ],
  ])("%s", (_name, read, returned, newest, data, isOverwritten) => {
    const merged = mergedData(read as never, returned as never, newest as never);
    expect(merged.data).toStrictEqual({ ...data });
    expect(merged.isOverwritten).toBe(isOverwritten);
  });

  it("doesn't take inherited values for the application's", async () => {
    await polluted({ role: "admin" }, () => {
      const merged = mergedData({}, { a: 1 }, {});
      expect([Object.entries(merged.data), merged.isOverwritten]).toEqual([[["a", 1]], false]);
      expect(mergedData({}, { role: "admin" }, {}).data).toHaveProperty("role", "admin");
      expect(Object.entries(mergedData({}, { role: "admin" }, {}).data)).toEqual([
        ["role", "admin"],
      ]);
    });
  });
});

const NO_LIMITS = { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null };
const RECORD: SessionRecord = {
  credentials: {
    token: "a",
    refresh_token: "r",
    token_uri: "u",
    client_id: "c",
    client_secret: "s",
    scopes: [],
  },
  id_info: { iss: "i", sub: "s" },
  idp_state: { v: 1, lease: { nonce: "n", taken_at: 1 }, review_due: true, data: { n: 1 } },
};

describe("changes", () => {
  it("withData replaces the data only", () => {
    expect(withData(RECORD, { m: 2 })).toEqual({
      ...RECORD,
      idp_state: { ...RECORD.idp_state, data: { m: 2 } },
    });
  });

  it("withReview ends the review and the lease, and keeps what the application did not decide", () => {
    expect(withReview(RECORD, {}).idp_state).toEqual({ v: 1, data: { n: 1 } });
    const claims = { output: { groups: [] }, version: "2" };
    expect(
      withReview(RECORD, { claims, changeData: ({ n }) => ({ n: (n as number) + 1 }) }).idp_state,
    ).toEqual({
      v: 1,
      claims: { groups: [] },
      claims_version: "2",
      data: { n: 2 },
    });
    const without = { ...RECORD, idp_state: { v: 1 as const } };
    expect(withReview(without, { changeData: (data) => ({ ...data, m: 1 }) }).idp_state).toEqual({
      v: 1,
      data: { m: 1 },
    });
  });

  const spent = {
    accessToken: "b",
    refreshToken: "q",
    idToken: "t",
    scopes: undefined,
    receivedAt: 5,
    accessTokenExpiresAt: undefined,
  };

  it("a refresh by a process without a schema drops another process's output, which was about the old claims", () => {
    const state = {
      v: 1 as const,
      claims: { groups: ["admin"] },
      claims_version: "1",
      data: { n: 1 },
    };
    const verified = { idInfo: { iss: "i", sub: "s", exp: 9, groups: [] }, userinfoClaims: [] };
    const refreshed = withTokens({ ...RECORD, idp_state: state }, { spent, verified });
    expect(refreshed.idp_state).toEqual({
      v: 1,
      tokens_received_at: 5,
      id_token: "t",
      data: { n: 1 },
    });
    expect(judge(refreshed, { ...NO_LIMITS, claimsVersion: "1" }, 8)).toEqual({
      kind: "refresh",
      reason: "review_due",
    });
    expect(
      withReview({ ...RECORD, idp_state: { ...state, review_due: true } }, {}).idp_state,
    ).toEqual({ v: 1, data: { n: 1 } });
  });

  it("withRejection takes the refresh token away, and keeps it for the logout if it is to be revoked", () => {
    const { credentials, idp_state: state } = withRejection(RECORD, "denied", true);
    expect(credentials).not.toHaveProperty("refresh_token");
    expect(state).toEqual({ v: 1, rejected: "denied", dropped_token: "r", data: { n: 1 } });
    expect(withRejection(RECORD, "claims_rejected", false).idp_state).toEqual({
      v: 1,
      rejected: "claims_rejected",
      data: { n: 1 },
    });
  });

  it("withTokens keeps the lease until the application's code has accepted the tokens", () => {
    const verified = { idInfo: { iss: "i", sub: "s", exp: 9 }, userinfoClaims: [] };
    const fresh = {
      ...RECORD,
      idp_state: { v: 1 as const, lease: { nonce: "n", taken_at: 1 }, data: { n: 1 } },
    };
    expect(withTokens(fresh, { spent, verified, isReviewed: true }).idp_state).toEqual({
      ...fresh.idp_state,
      tokens_received_at: 5,
      id_token: "t",
      review_due: true,
    });
    expect(withTokens(fresh, { spent, verified }).idp_state).toEqual({
      v: 1,
      tokens_received_at: 5,
      id_token: "t",
      data: { n: 1 },
    });
    const gone = { idp_state: fresh.idp_state };
    expect(withTokens(gone, { spent, verified, isReviewed: true })).toEqual({
      idp_state: { v: 1, data: { n: 1 } },
    });
  });
});

describe("the application's data in a session", () => {
  const ADA = { iss: "https://idp.example", sub: "ada" };
  const recordOf = (idInfo: IdInfo | undefined): SessionRecord => ({
    ...(idInfo && { id_info: idInfo }),
    idp_state: { v: 1, data: { cart: ["book"] } },
  });

  it("stays when the same user signs in again", () => {
    expect(dataOfSameUser(recordOf(ADA), { idInfo: { ...ADA, name: "Ada" } })).toEqual({
      cart: ["book"],
    });
    expect(keepsData(recordOf(ADA), { idInfo: ADA })).toBe(true);
  });

  it.each([
    ["another user", { ...ADA, sub: "eve" }],
    ["the same subject at another issuer", { ...ADA, iss: "https://other.example" }],
    ["no user", undefined],
  ])("of %s isn't given to the user who signs in", (_name, idInfo) => {
    expect(dataOfSameUser(recordOf(idInfo), { idInfo: ADA })).toBeUndefined();
    expect(keepsData(recordOf(idInfo), { idInfo: ADA })).toBe(false);
  });

  it("doesn't stay without a record", () => {
    expect(keepsData(undefined, { idInfo: ADA })).toBe(false);
  });
});
