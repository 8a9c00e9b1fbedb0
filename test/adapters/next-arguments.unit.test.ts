import { describe, expect, it } from "vitest";
import { idpAuth as fetchStyle } from "../../src/adapters/fetch/fetch.js";
import { idpAuth } from "../../src/adapters/next/next.js";

const auth = idpAuth({ env: {}, log: false });
const request = new Request("https://app.example/");

describe("in idpauth/next, an accessor with further arguments has the request last", () => {
  it.each<[usage: string, call: () => Promise<unknown>]>([
    ["getAccessToken({ api }, request)", () => auth.getAccessToken(request as never)],
    [
      "getAccessToken({ api }, request)",
      () => auth.getAccessToken(request as never, { api: "orders" } as never),
    ],
    [
      "fetchApi(api, path, init, request)",
      () => auth.fetchApi(request as never, "orders", "items" as never),
    ],
    ["updateData(change, request)", () => auth.updateData(request as never, (() => ({})) as never)],
    ["loginUrl({ returnTo }, request)", () => auth.loginUrl(request as never)],
    ["listSessions({ iss, sub }, request)", () => auth.listSessions(request as never)],
  ])("and says so if it comes first: %s", async (usage, call) => {
    await expect(call()).rejects.toThrow(
      new TypeError(
        `In idpauth/next, the request is the last argument: \`auth.${usage}\`. In a component, leave it out.`,
      ),
    );
  });
});

it("idpauth/next has every accessor of the other adapters", () => {
  const others = Object.keys(fetchStyle({ env: {}, log: false }));
  // What mounts the endpoints and guards in hooks.
  const elsewhere = ["fetch", "guard"];
  expect(others.filter((name) => !(name in auth) && !elsewhere.includes(name))).toEqual([]);
});
