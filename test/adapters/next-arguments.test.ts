// Before idpauth/next, which needs it.
import "./applications/next-installed.js";
import { expect, it } from "vitest";
import { idpAuth as fetchStyle } from "../../src/adapters/fetch/fetch.js";
import { idpAuth } from "../../src/adapters/next/next.js";

const auth = idpAuth({ env: {}, log: false });

it("idpauth/next has every accessor of the other adapters", () => {
  const others = Object.keys(fetchStyle({ env: {}, log: false }));
  // What mounts the endpoints and guards in hooks.
  const elsewhere = ["fetch", "guard"];
  expect(others.filter((name) => !(name in auth) && !elsewhere.includes(name))).toEqual([]);
});

it.each<[what: string, rule: object, message: RegExp]>([
  ["an unknown key", { alow: () => true }, /takes an object: .*`allow`.* It got the key `alow`\.$/],
  ["a response that a page doesn't have", { stepUp: () => true }, /It got the key `stepUp`\.$/],
  ["nothing as `allow`", { allow: undefined }, /It got nothing as `allow`\.$/],
  ["a value that isn't possible", { maxAge: 3 }, /^`maxAge` of `auth\.requireSession` must be /],
  ["a `forbidden` that isn't a function", { forbidden: "/403" }, /It got a string as `forbidden`/],
])(
  "requireSession takes no rule with %s, which nothing would check",
  async (_what, rule, message) => {
    await expect(auth.requireSession(rule as never)).rejects.toThrow(
      expect.objectContaining({ name: "TypeError", message: expect.stringMatching(message) }),
    );
  },
);
