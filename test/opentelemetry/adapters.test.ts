// Before idpauth/next, which needs it.
import "../adapters/applications/next-installed.js";
import { describe, expect, it } from "vitest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as fetchAuth } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import { idpAuth as koaAuth } from "../../src/adapters/koa/koa.js";
import { idpAuth as nextAuth } from "../../src/adapters/next/next.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import { instrument, type Instrumentable } from "../../src/opentelemetry/instrument.js";

const settings = {
  env: {},
  secretKey: "a secret key of at least 32 bytes",
  clientId: "client",
  clientSecret: "a client's secret",
  issuer: "https://login.example.com",
  log: false,
} as const;

interface Claims {
  readonly department: string;
}

// The types are checked too: each adapter's own, with claims, APIs and providers.
const COMPONENTS: [framework: string, auth: Instrumentable][] = [
  ["Express", expressAuth<Claims>(settings)],
  ["Fastify", fastifyAuth<Claims>(settings)],
  ["fetch", fetchAuth<Claims>(settings)],
  ["Hono", honoAuth<Claims>(settings)],
  ["Koa", koaAuth<Claims>(settings)],
  ["Next.js", nextAuth<Claims>(settings)],
  ["node:http", nodeAuth({ ...settings, apis: { orders: { url: "https://api.example.com" } } })],
];

describe.each(COMPONENTS)("instrument, on %s", (_framework, auth) => {
  it("takes `auth` before its start, until it is stopped", () => {
    const stop = instrument(auth);
    expect(() => instrument(auth)).toThrow(TypeError);
    stop();
    instrument(auth)();
  });
});

it("says where to call it in Next.js, which evaluates a module several times", () => {
  const stop = instrument(nextAuth(settings));
  // The same call in another bundle of the same process.
  expect(() => instrument(nextAuth({ ...settings }))).toThrow(
    /`register\(\)` of instrumentation\.ts/,
  );
  stop();
});
