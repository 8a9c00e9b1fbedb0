import { expect, it } from "vitest";
import { EventHub } from "../../src/events/event-hub.js";
import { TestClock } from "../../src/testing/test-clock.js";

it("a line that is written once is not repeated after any number of lines with Host headers of strangers", () => {
  const codes: string[] = [];
  const events = new EventHub(({ code }) => codes.push(code), new TestClock());
  const note = () => {
    events.logOnce({ level: "warn", code: "sid_missing", message: "No sid." });
  };
  note();
  for (let host = 0; host < 1_000; host += 1)
    events.logOnce({ level: "error", code: "login_loop", message: `Host ${String(host)}` });
  note();
  expect(codes.filter((code) => code === "sid_missing")).toHaveLength(1);
  expect(codes).toHaveLength(1_001);
});
