import { expect, it, vi } from "vitest";
import { TestClock } from "../../src/testing/test-clock.js";
import { settled } from "../../src/testing/settled.js";

const ENTRIES = [
  () => import("../../src/index.js"),
  () => import("../../src/adapters/express/express.js"),
  () => import("../../src/adapters/fastify/fastify.js"),
  () => import("../../src/adapters/fetch/fetch.js"),
  () => import("../../src/adapters/hono/hono.js"),
  () => import("../../src/adapters/koa/koa.js"),
  () => import("../../src/adapters/node/node.js"),
  () => import("../../src/stores/postgres/postgres-store.js"),
  () => import("../../src/stores/redis/redis-store.js"),
  () => import("../../src/stores/sqlite/sqlite-store.js"),
];

const SIGNALS = [
  "SIGTERM",
  "SIGINT",
  "SIGHUP",
  "SIGQUIT",
  "SIGUSR2",
  "beforeExit",
  "exit",
  "uncaughtException",
  "unhandledRejection",
];
const handlers = () => SIGNALS.map((name) => [name, process.listenerCount(name)]);

it("no entry, no sign-in, no waiting revocation and no shutdown installs a signal handler: they belong to the application", async () => {
  vi.resetModules();
  const before = handlers();
  for (const load of ENTRIES) await load();
  expect(handlers()).toEqual(before);
  const { startApplication } = await import("../support/application.js");
  const app = await startApplication({ clock: new TestClock(), logoutAtProvider: true });
  try {
    const user = app.user();
    await user.signIn();
    await user.get("/idpauth/logout/");
    expect(handlers()).toEqual(before);
    await settled(app.auth);
    expect(handlers()).toEqual(before);
  } finally {
    await app.stop();
  }
});
