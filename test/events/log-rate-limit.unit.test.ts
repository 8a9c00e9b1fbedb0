import { describe, expect, it, vi } from "vitest";
import { componentLog, type LogOptions } from "../../src/events/component-log.js";
import { MAX_LINES, rateLimited, WINDOW_MS } from "../../src/events/log-rate-limit.js";
import type { Log, LogEntry } from "../../src/index.js";
import { TestClock } from "../../src/testing/test-clock.js";

function rig(): { readonly clock: TestClock; readonly lines: LogEntry[]; readonly log: Log } {
  const clock = new TestClock();
  const lines: LogEntry[] = [];
  return { clock, lines, log: rateLimited((entry) => lines.push(entry), clock) };
}

const line = (code: string, details?: LogEntry["details"]): LogEntry => ({
  level: "warn",
  code,
  message: `${code}.`,
  ...(details && { details }),
});
const repeat = (times: number, act: () => void) => {
  for (let time = 0; time < times; time += 1) act();
};

describe("[L10] a flood of log lines", () => {
  it("of one kind: ten pass, and at the end of the minute one says how many did not", () => {
    const { clock, lines, log } = rig();
    repeat(1000, () => log(line("callback_failed", { reason: "state" })));
    expect(lines).toHaveLength(MAX_LINES);
    clock.advance(WINDOW_MS - 1);
    expect(lines).toHaveLength(MAX_LINES);
    clock.advance(1);
    expect(lines).toHaveLength(MAX_LINES + 1);
    expect(lines.at(-1)).toEqual({
      level: "warn",
      code: "callback_failed",
      message: "callback_failed. (990 more lines of this kind within a minute were suppressed.)",
      details: { reason: "state", suppressed: 990 },
    });
  });

  it("of one provider silences no other, not even with reasons without end", () => {
    const { lines, log } = rig();
    repeat(50, () => log(line("callback_failed", { provider: "a", reason: "state" })));
    for (let reason = 0; reason < 1_000; reason += 1)
      log(line("refresh_failed", { provider: "a", reason: String(reason) }));
    lines.length = 0;
    log(line("callback_failed", { provider: "b", reason: "state" }));
    log(line("refresh_failed", { provider: "b", reason: "999" }));
    expect(lines.map(({ code, details }) => [code, details?.provider])).toEqual([
      ["callback_failed", "b"],
      ["refresh_failed", "b"],
    ]);
  });

  it("of one function of the application silences no other function", () => {
    const { lines, log } = rig();
    repeat(50, () => log(line("function_threw", { function: "pages.render" })));
    log(line("function_threw", { function: "onSignIn" }));
    expect(lines.at(-1)?.details).toEqual({ function: "onSignIn" });
  });

  it("ten in a minute are all there, and nothing is said of none", () => {
    const { clock, lines, log } = rig();
    repeat(MAX_LINES, () => log(line("a")));
    expect(clock.pendingTimers).toBe(0);
    clock.advance(2 * WINDOW_MS);
    expect(lines).toEqual(Array(MAX_LINES).fill(line("a")));
  });

  it("the next minute starts at zero", () => {
    const { clock, lines, log } = rig();
    repeat(50, () => log(line("a")));
    clock.advance(WINDOW_MS);
    lines.length = 0;
    repeat(50, () => log(line("a")));
    expect(lines).toHaveLength(MAX_LINES);
  });

  it("the count stands before the next minute's lines, even where the timer comes late", () => {
    const { lines } = rig();
    let now = 0;
    const late = { now: () => now, monotonic: () => now, timer: () => () => undefined };
    const log = rateLimited((entry) => lines.push(entry), late);
    repeat(15, () => log(line("a")));
    now = WINDOW_MS;
    log(line("a"));
    expect(lines.slice(MAX_LINES).map(({ details }) => details?.suppressed)).toEqual([
      5,
      undefined,
    ]);
  });

  it.each<[string, LogEntry]>([
    ["code", line("b", { reason: "x", endpoint: "token" })],
    ["reason", line("a", { reason: "y", endpoint: "token" })],
    ["endpoint", line("a", { reason: "x", endpoint: "jwks" })],
  ])("of another %s hides nothing of this one", (_name, other) => {
    const { lines, log } = rig();
    repeat(100, () => log(line("a", { reason: "x", endpoint: "token" })));
    log(other);
    expect(lines.at(-1)).toEqual(other);
  });

  it("under ever new reasons fills neither the log nor the memory", () => {
    const { clock, lines, log } = rig();
    let number = 0;
    repeat(10_000, () =>
      log(line("provider_unavailable", { reason: `invented_${String((number += 1))}` })),
    );
    expect(lines.length).toBeLessThanOrEqual(200 + MAX_LINES);
    expect(clock.pendingTimers).toBeLessThanOrEqual(201);
    clock.advance(WINDOW_MS);
    expect(lines.filter(({ details }) => details?.suppressed !== undefined)).toHaveLength(1);
  });

  it("nor lets a known kind pass ten lines more once there are too many kinds", () => {
    const { lines, log } = rig();
    const known = () => log(line("provider_unavailable", { reason: "timeout" }));
    repeat(MAX_LINES, known);
    let number = 0;
    repeat(199, () =>
      log(line("provider_unavailable", { reason: `invented_${String((number += 1))}` })),
    );
    repeat(MAX_LINES, known);
    expect(lines.filter(({ details }) => details?.reason === "timeout")).toHaveLength(MAX_LINES);
  });

  it("of invented reasons without end doesn't keep later kinds from being distinguished", () => {
    const { clock, lines, log } = rig();
    for (let invented = 0; invented < 300; invented += 1)
      void log(line("callback_failed", { reason: `invented_${String(invented)}` }));
    clock.advance(WINDOW_MS);
    lines.length = 0;
    repeat(20, () => log(line("callback_failed", { reason: "state" })));
    void log(line("callback_failed", { reason: "id_token_nonce" }));
    expect(lines.filter(({ details }) => details?.reason === "state")).toHaveLength(10);
    expect(lines.at(-1)?.details).toEqual({ reason: "id_token_nonce" });
  });
});

describe("the default log", () => {
  it("writes warnings and errors to stderr as single lines, ten a minute of each kind", () => {
    const written: unknown[] = [];
    const spy = vi
      .spyOn(process.stderr, "write")
      .mockImplementation((text) => written.push(text) > 0);
    try {
      const log = componentLog({}, new TestClock());
      repeat(50, () => log({ ...line("blocked"), level: "info" }));
      repeat(50, () => log(line("callback_failed", { reason: "state" })));
    } finally {
      spy.mockRestore();
    }
    expect(written).toEqual(
      Array(MAX_LINES).fill("idpauth warn callback_failed: callback_failed.\n"),
    );
  });
});

describe("the function in the option `log`", () => {
  function lines(options: Omit<LogOptions, "log">, write: Log = () => undefined) {
    const clock = new TestClock();
    const written: LogEntry[] = [];
    const log = componentLog(
      {
        ...options,
        log: (entry) => {
          written.push(entry);
          return write(entry);
        },
      },
      clock,
    );
    return { clock, written, log };
  }

  it("gets ten lines a minute of each kind during an outage, then their number", () => {
    const { clock, written, log } = lines({});
    repeat(521, () => log(line("provider_unavailable", { reason: "backing_off" })));
    repeat(521, () => log({ ...line("blocked", { reason: "no_credentials" }), level: "info" }));
    expect(written).toHaveLength(2 * MAX_LINES);
    clock.advance(WINDOW_MS);
    expect(written.slice(2 * MAX_LINES).map(({ code, details }) => [code, details])).toEqual([
      ["provider_unavailable", { reason: "backing_off", suppressed: 511 }],
      ["blocked", { reason: "no_credentials", suppressed: 511 }],
    ]);
  });

  it("gets every line with `logEveryLine`", () => {
    const { clock, written, log } = lines({ logEveryLine: true });
    repeat(521, () => log(line("provider_unavailable", { reason: "backing_off" })));
    expect([written.length, clock.pendingTimers]).toEqual([521, 0]);
  });

  it("may throw or reject, also when the minute is over", async () => {
    for (const write of [
      () => {
        throw new Error("thrown");
      },
      () => Promise.reject(new Error("rejected")),
    ]) {
      const { clock, written, log } = lines({}, write);
      expect(() => {
        repeat(20, () => log(line("a")));
        clock.advance(WINDOW_MS);
      }).not.toThrow();
      expect(written).toHaveLength(MAX_LINES + 1);
      await Promise.resolve();
    }
  });
});
