import { expect, it } from "vitest";
import { sampled, WINDOW } from "../../src/events/stderr-log.js";
import type { LogEntry } from "../../src/events/log.js";
import { TestClock } from "../../src/testing/test-clock.js";

it("a provider that once invented reasons without end does not keep later kinds from being distinguished", () => {
  const clock = new TestClock();
  const lines: LogEntry[] = [];
  const log = sampled((line) => lines.push(line), clock);
  const say = (code: string, reason: string) =>
    void log({ level: "warn", code, message: "m", details: { reason } });
  for (let invented = 0; invented < 300; invented += 1)
    say("callback_failed", `invented_${String(invented)}`);
  clock.advance(WINDOW);
  lines.length = 0;
  for (let time = 0; time < 20; time += 1) say("callback_failed", "state");
  say("callback_failed", "id_token_nonce");
  expect(lines.filter(({ details }) => details?.["reason"] === "state")).toHaveLength(10);
  expect(lines.at(-1)?.details).toEqual({ reason: "id_token_nonce" });
});
