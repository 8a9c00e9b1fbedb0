import diagnostics from "node:diagnostics_channel";
import { afterEach, expect, it, vi } from "vitest";

const listener = () => undefined;

afterEach(() => {
  diagnostics.unsubscribe("undici:request:create", listener);
  vi.unstubAllGlobals();
  vi.resetModules();
});

it.each([
  ["Node.js, whose fetch is undici's", process.versions, undefined],
  ["a runtime whose fetch is its own", { bun: "1.4" }, "ours"],
])("who listens to undici sends the trace header on %s: else %j", async (_which, versions, expected) => {
  vi.stubGlobal("process", { ...process, versions });
  const { sendObserved } = await import("../../src/apis/trace-headers.js");
  diagnostics.subscribe("undici:request:create", listener);
  const headers = new Map([["traceparent", "the browser's"]]);
  const observation = { traceHeaders: { traceparent: "ours" }, note: () => undefined };
  await sendObserved(headers, async () => ({ status: 200 }), observation as never);
  expect(headers.get("traceparent")).toBe(expected);
}); // prettier-ignore
