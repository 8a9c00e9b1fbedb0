import { afterEach, expect, it, vi } from "vitest";
import { apiRow } from "../apis/api-row.js";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

it.each([
  ["Node.js/24", []],
  ["Cloudflare-Workers", ['`apis`, "orders": `dispatcher` needs Node.js.']],
])("an API's dispatcher on %s is a mistake: %j", async (userAgent, expected) => {
  vi.stubGlobal("navigator", { userAgent });
  const { createApiProxies } = await import("../../src/auth/api-proxy.js");
  const { findings } = createApiProxies({} as never);
  const dispatcher = { dispatch: () => true };
  const found = findings(new Map([["orders", apiRow({ dispatcher })]]));
  expect(found.map(({ message }) => message)).toEqual(expected);
  expect(findings(new Map([["orders", apiRow()]]))).toEqual([]);
});
