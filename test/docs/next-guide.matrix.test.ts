import "../adapters/applications/next-installed.js";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { signIn, startTestProvider, type TestProvider } from "../../src/testing/index.js";
import {
  ExampleProcess,
  installExample,
  manifestOf,
  npmTest,
  PackedPackage,
} from "../examples/example-process.js";
import { redisForTests, startRedis, type RedisServer } from "../support/redis-server.js";

// What docs/how-to/nextjs.md shows of Redis and of tests: examples/next with the files of its folder
// `redis`, and its own test.

const EXAMPLE = path.resolve(import.meta.dirname, "../../examples/next");
/** Milliseconds. Next.js is built first. */
const BUILD = 240_000;
const isMissing = (await redisForTests()) === undefined;

describe.skipIf(isMissing)("docs/how-to/nextjs.md: examples/next with sessions in Redis", () => {
  let folder: string;
  let provider: TestProvider;
  let redis: RedisServer;
  let app: ExampleProcess | undefined;

  beforeAll(async () => {
    const packed = await PackedPackage.pack();
    folder = installExample(EXAMPLE, packed);
    packed.remove();
    cpSync(path.join(folder, "redis"), folder, { recursive: true });
    const { scripts, ...manifest } = manifestOf(folder);
    const serving = { ...manifest, scripts: { ...scripts, serve: "next start" } };
    writeFileSync(path.join(folder, "package.json"), JSON.stringify(serving));
    [provider, redis] = await Promise.all([startTestProvider(), startRedis()]);
  }, BUILD);
  afterEach(() => app?.end());
  afterAll(async () => {
    await Promise.all([provider.stop(), redis.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  it(
    "is built, and passes the example's own test",
    async () => {
      const environment = { REDIS_URL: redis.url, NEXT_TELEMETRY_DISABLED: "1" };
      expect(await npmTest(folder, environment)).toMatch(/Tests.*2 passed/);
    },
    BUILD,
  );

  it("lets requests wait until Redis responds, ends on SIGTERM though its client is open, and keeps sessions over a restart", async () => {
    await redis.kill();
    const first = start();
    const origin = await first.origin();
    await expect(fetch(origin, { signal: AbortSignal.timeout(1500) })).rejects.toThrow("timeout");
    await redis.restart();
    const user = await signIn(origin);
    expect((await first.terminate()).code).toBe(143);

    const again = await start().origin();
    const headers = { cookie: user.cookie };
    expect((await fetch(new URL("/api/reports", again), { headers })).status).toBe(200);
  }, 60_000);

  /** Without another build. */
  function start(): ExampleProcess {
    app = new ExampleProcess(folder, { ...provider.env, REDIS_URL: redis.url }, "serve");
    return app;
  }
});
