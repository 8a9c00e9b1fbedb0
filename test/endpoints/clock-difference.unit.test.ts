import { describe, expect, it } from "vitest";
import { clockDifference } from "../../src/endpoints/clock-difference.js";
import type { SessionRecord } from "../../src/record/record.js";

const NOW = 1_800_000_000;
const startedAt = (...times: number[]) =>
  ({
    idp_state: { logins: times.map((time) => ({ started_at: time })) },
  }) as unknown as SessionRecord;

describe("the difference of the clocks that stamps show", () => {
  it.each<[string, SessionRecord | undefined, number | undefined, number]>([
    ["no session", undefined, undefined, 0],
    ["no login", { idp_state: {} } as SessionRecord, NOW + 600, 0],
    ["a login of now", startedAt(NOW), NOW + 600, 0],
    ["an old login without a known expiry", startedAt(NOW - 900), undefined, 0],
    ["an old login in an entry that lives", startedAt(NOW - 900), NOW + 5, 0],
    ["an entry that has just expired", startedAt(NOW - 660), NOW - 60, 0],
    ["an entry that expired five minutes ago", startedAt(NOW - 900), NOW - 300, 300],
    ["a login that begins in a minute", startedAt(NOW + 60), NOW + 660, 0],
    ["a login that begins in 15 minutes", startedAt(NOW + 900, NOW), NOW + 1500, -900],
  ])("%s", (_what, record, expiresAt, difference) => {
    expect(clockDifference({ record, expiresAt }, NOW)).toBe(difference);
  });
});
