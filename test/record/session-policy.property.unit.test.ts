import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judge, type PolicySettings } from "../../src/record/session-policy.js";
import type { SessionRecord } from "../../src/record/record.js";

// The model: the specification's five steps and what the decisions say about limits and clocks,
// written down a second time and in other words. It shares no code with the gate, so that one
// mistake cannot hide in both.

const FUTURE_TOLERANCE = 300;

/**
 * Seconds since a stamp, as a cap sees them: a missing one is no age at all, a broken one older
 * than any cap.
 */
function age(stamp: unknown, now: number): number {
  if (stamp === undefined) return Number.NEGATIVE_INFINITY;
  if (
    typeof stamp !== "number" ||
    Number.isNaN(stamp) ||
    Math.abs(stamp) === Number.POSITIVE_INFINITY
  )
    return Number.POSITIVE_INFINITY;
  const seconds = now - stamp;
  if (seconds >= 0) return seconds;
  return -seconds <= FUTURE_TOLERANCE ? 0 : Number.POSITIVE_INFINITY;
}

function model(record: SessionRecord | undefined, settings: PolicySettings, now: number): string {
  if (record === undefined || record.credentials === undefined) return "ended: no_credentials";
  const steps: [applies: boolean, outcome: string][] = [
    [
      settings.sessionMaxAge !== null && age(record.idp_login_at, now) > settings.sessionMaxAge,
      "ended: max_age",
    ],
    [
      settings.sessionIdleTimeout !== null &&
        age(record.idp_last_active, now) > settings.sessionIdleTimeout,
      "ended: idle",
    ],
    [
      typeof record.id_info?.exp === "number" &&
        record.id_info.exp < Number.POSITIVE_INFINITY &&
        now < record.id_info.exp,
      "valid",
    ],
    [settings.sessionAutoRefresh && record.credentials.refresh_token !== undefined, "refresh"],
    [!settings.sessionAutoRefresh, "ended: auto_refresh_off"],
    [record.idp_state.refresh_rejected !== undefined, "ended: refresh_rejected"],
    [true, "ended: no_refresh_token"],
  ];
  const [, outcome] = steps.find(([applies]) => applies) ?? [true, "unreachable"];
  return outcome;
}

function asText(verdict: ReturnType<typeof judge>): string {
  return verdict.kind === "ended" ? `ended: ${verdict.reason}` : verdict.kind;
}

const NOW = 1_800_000_000;

/** A moment near one that decides something: now, the tolerance, or a cap away from now. */
const nearby = (...distances: number[]) =>
  fc
    .tuple(
      fc.constantFrom(0, FUTURE_TOLERANCE, ...distances.map((distance) => -distance)),
      fc.integer({ min: -2, max: 2 }),
    )
    .map(([distance, offset]) => NOW + distance + offset);

const broken = fc.constantFrom<unknown>(
  null,
  "",
  String(NOW),
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  true,
  {},
  [NOW],
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  0,
  -1,
  NOW * 1000,
  NOW - 0.5,
  NOW + 0.5,
);

const cap = fc.oneof(
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 3, arbitrary: fc.constantFrom(0, 1, 60, 299, 300, 301, 86_400) },
);

interface Case {
  readonly record: SessionRecord | undefined;
  readonly settings: PolicySettings;
}

const settingsArbitrary: fc.Arbitrary<PolicySettings> = fc.record({
  sessionAutoRefresh: fc.boolean(),
  sessionMaxAge: cap,
  sessionIdleTimeout: cap,
});

const caseArbitrary: fc.Arbitrary<Case> = settingsArbitrary.chain((settings) => {
  const stamp = (limit: number | null) =>
    fc.oneof(
      { weight: 4, arbitrary: nearby(limit ?? 0) },
      { weight: 1, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: broken },
    );
  const exp = fc.oneof({ weight: 4, arbitrary: nearby(0) }, { weight: 1, arbitrary: broken });
  const record = fc
    .record({
      signedIn: fc.boolean(),
      refreshToken: fc.boolean(),
      rejected: fc.boolean(),
      idInfo: fc.option(fc.record({ exp }, { requiredKeys: [] }), { nil: undefined, freq: 6 }),
      signedInAt: stamp(settings.sessionMaxAge),
      lastActive: stamp(settings.sessionIdleTimeout),
    })
    .map(({ signedIn, refreshToken, rejected, idInfo, signedInAt, lastActive }): SessionRecord => {
      const credentials = {
        token: "access",
        ...(refreshToken && { refresh_token: "refresh" }),
        token_uri: "https://idp.example/token",
        client_id: "client",
        client_secret: "secret",
        scopes: ["openid"],
      };
      return {
        ...(signedIn && { credentials }),
        ...(idInfo !== undefined && { id_info: idInfo }),
        ...(signedInAt !== undefined && { idp_login_at: signedInAt }),
        ...(lastActive !== undefined && { idp_last_active: lastActive }),
        idp_state: { v: 1, ...(rejected && { refresh_rejected: true as const }) },
      };
    });
  return fc.record({
    record: fc.option(record, { nil: undefined, freq: 30 }),
    settings: fc.constant(settings),
  });
});

describe("the policy gate and the model of the five steps", () => {
  it("agree on every record, setting and moment", () => {
    fc.assert(
      fc.property(caseArbitrary, ({ record, settings }) => {
        expect(asText(judge(record, settings, NOW))).toBe(model(record, settings, NOW));
      }),
      { numRuns: 5_000 },
    );
  });

  it("agree on the way: the generator reaches every outcome", () => {
    const outcomes = new Set(
      fc
        .sample(caseArbitrary, { numRuns: 5_000, seed: 7 })
        .map(({ record, settings }) => model(record, settings, NOW)),
    );
    expect([...outcomes].sort()).toEqual([
      "ended: auto_refresh_off",
      "ended: idle",
      "ended: max_age",
      "ended: no_credentials",
      "ended: no_refresh_token",
      "ended: refresh_rejected",
      "refresh",
      "valid",
    ]);
  });

  it("a refresh never lifts a session limit: for any exp and tokens, a record beyond a limit has ended", () => {
    fc.assert(
      fc.property(caseArbitrary, fc.boolean(), ({ record, settings }, freshIdToken) => {
        fc.pre(record?.credentials !== undefined);
        const before = judge(record, settings, NOW);
        fc.pre(
          before.kind === "ended" && (before.reason === "max_age" || before.reason === "idle"),
        );
        const refreshed: SessionRecord = {
          ...record,
          id_info: { ...record.id_info, exp: freshIdToken ? NOW + 3600 : NOW - 1 },
        };
        expect(judge(refreshed, settings, NOW)).toEqual(before);
      }),
      { numRuns: 1_000 },
    );
  });

  it("once a limit has ended a session, time alone never brings it back", () => {
    fc.assert(
      fc.property(
        caseArbitrary,
        fc.integer({ min: 0, max: 10_000_000 }),
        ({ record, settings }, later) => {
          const hasFutureStamp = [record?.idp_login_at, record?.idp_last_active].some(
            (stamp) => typeof stamp === "number" && stamp > NOW,
          );
          fc.pre(!hasFutureStamp);
          fc.pre(judge(record, settings, NOW).kind === "ended");
          expect(judge(record, settings, NOW + later).kind).toBe("ended");
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
