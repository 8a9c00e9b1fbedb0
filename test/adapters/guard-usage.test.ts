// As JavaScript without types lets one write it.

// Before idpauth/next, which needs it.
import "./applications/next-installed.js";
import { describe, expect, it } from "vitest";
import { idpAuth as express } from "../../src/adapters/express/express.js";
import { idpAuth as fastify } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as fetchStyle } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as hono } from "../../src/adapters/hono/hono.js";
import { idpAuth as koa } from "../../src/adapters/koa/koa.js";
import { idpAuth as next } from "../../src/adapters/next/next.js";
import { idpAuth as node } from "../../src/adapters/node/node.js";

type Loose = (...given: readonly unknown[]) => unknown;

interface LooseAuth {
  readonly idpRequired: Loose;
  readonly idpRequiredWith: Loose;
  readonly csrf: Loose;
}

/** Settings are read when the application starts, so no setting is needed here. */
const AUTHS: Readonly<Record<string, LooseAuth>> = {
  Express: express(),
  Fastify: fastify(),
  Hono: hono(),
  Koa: koa(),
  "node:http": node(),
  fetch: fetchStyle(),
  "Next.js": next(),
} as Readonly<Record<string, object>> as Readonly<Record<string, LooseAuth>>;

const handler = () => undefined;

describe.each(["Express", "Fastify", "Hono", "Koa"])(
  "on %s, where idpRequired is the guard itself,",
  (name) => {
    const auth = AUTHS[name]!;

    it("calling it throws a TypeError at once that says to pass it without calling it", () => {
      for (const given of [[], [handler], [{}]]) {
        expect(() => auth.idpRequired(...given)).toThrow(TypeError);
        expect(() => auth.idpRequired(...given)).toThrow(
          /^`auth\.idpRequired` is the guard itself, .*Pass it without calling it: `\w+\.get\(path, .*auth\.idpRequired\b.*`auth\.idpRequiredWith\(\{ … \}\)`\.$/,
        );
      }
    });

    it("calling what idpRequiredWith gives says the same", () => {
      expect(() => (auth.idpRequiredWith({}) as Loose)()).toThrow(/Pass it without calling it/);
    });
  },
);

describe.each(["node:http", "fetch", "Next.js"])(
  "on %s, where idpRequired takes a handler,",
  (name) => {
    const auth = AUTHS[name]!;

    it("calling it without one throws a TypeError that shows how to write it", () => {
      for (const [given, got] of [
        [[], "nothing"],
        [[{}], "an object"],
        [["x"], "a string"],
      ] as const) {
        expect(() => auth.idpRequired(...given)).toThrow(TypeError);
        expect(() => auth.idpRequired(...given)).toThrow(
          `takes the protected handler, which is a function, but got ${got}. Write \``,
        );
        expect(() => (auth.idpRequiredWith({}) as Loose)(...given)).toThrow(`but got ${got}`);
      }
      expect(() => auth.idpRequired()).toThrow(/auth\.idpRequired\((?:async )?\(request/);
    });

    it("calling it with a handler gives a guarded one", () => {
      expect(auth.idpRequired(handler)).toBeTypeOf("function");
    });
  },
);

describe.each(Object.keys(AUTHS))("on %s csrf", (name) => {
  const { csrf } = AUTHS[name]!;

  it("called with anything but what it takes throws a TypeError at once that shows how to write it", () => {
    for (const given of [[], [{}]])
      expect(() => csrf(...given)).toThrow(
        /^`auth\.csrf` .*Write `.*auth\.csrf\(|`auth\.csrf` .*without calling it: `app\.\w+\(/,
      );
    expect(() => csrf()).toThrow(TypeError);
  });
});

describe.each(Object.keys(AUTHS))("on %s idpRequiredWith", (name) => {
  const auth = AUTHS[name]!;

  it.each([
    [handler, "a function"],
    [undefined, "nothing"],
    [null, "nothing"],
    ["navigation", "a string"],
    [{ navigate: handler }, "the key `navigate`"],
    [{ navigation: handler, unavailable: 503 }, "a number as `unavailable`"],
    [{ unauthenticated: null }, "nothing as `unauthenticated`"],
  ])("refuses %j with a TypeError that says what it takes", (given, got) => {
    expect(() => auth.idpRequiredWith(given)).toThrow(TypeError);
    expect(() => auth.idpRequiredWith(given)).toThrow(
      `the functions \`navigation\`, \`unauthenticated\`, \`unavailable\`, \`forbidden\` and \`stepUp\`), each optional. It got ${got}.`,
    );
  });

  it("takes each of its responses, or none", () => {
    for (const given of [
      {},
      { navigation: handler },
      { navigation: undefined, unauthenticated: handler, unavailable: handler },
    ]) {
      expect(auth.idpRequiredWith(given)).toBeTypeOf("function");
    }
  });
});
