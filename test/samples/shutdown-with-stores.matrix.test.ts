import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  providersEnv,
  signIn,
  startTestProvider,
  type TestProvider,
} from "../../src/testing/index.js";
import { buildPackage } from "../support/build.js";
import { freePort } from "../support/free-port.js";
import { startPostgres } from "../support/postgres-server.js";
import { startRedis } from "../support/redis-server.js";
import { CLOSING, DESK, type SampleOfStore } from "./attacked-samples.js";
import { leaveOpen, openTcp, sendHostile } from "./hostile-client.js";
import { hostileRequests } from "./hostile-requests.js";
import { SampleProcess } from "./sample-process.js";

// Every sample that closes a server or the client of a store: after SIGTERM, its process ends by
// itself with 0, whatever the store does and whatever strangers have left open.

/** How long a process may take to end. Milliseconds. */
const END_MS = 5000;
const COUNT = 500;
const SEED = 48;

/** A server of a store. */
interface Server {
  readonly url: string;
  pause?(): unknown;
  resume?(): unknown;
  stop(): Promise<void>;
}

let provider: TestProvider;
let agency: TestProvider;
let folder = "";
const servers: Partial<Record<SampleOfStore["store"], Server>> = {};
const processes: SampleProcess[] = [];

beforeAll(async () => {
  await buildPackage();
  [provider, agency] = await Promise.all([startTestProvider(), startTestProvider()]);
  folder = mkdtempSync(path.join(tmpdir(), "idpauth-shutdown-"));
  servers.redis = await startRedis();
  servers.postgres = await startPostgres();
});
afterEach(() => {
  for (const sample of processes.splice(0)) sample.kill();
});
afterAll(async () => {
  await Promise.all([provider.stop(), agency.stop()]);
  await Promise.all(Object.values(servers).map((server) => server.stop()));
  rmSync(folder, { recursive: true });
});

async function start(file: string, more: Readonly<Record<string, string>> = {}) {
  const env = file === DESK ? providersEnv({ company: provider, agency }) : provider.env;
  const settings = {
    ...{ REDIS_URL: servers.redis?.url ?? "", DATABASE_URL: servers.postgres?.url ?? "" },
    ...{ SESSIONS: path.join(folder, "sessions.db"), METRICS_PORT: String(await freePort()) },
    ...more,
  };
  const sample = await SampleProcess.start(file, { env }, settings);
  processes.push(sample);
  return sample;
}

/** A user's requests, and what a stranger leaves open. Returns the user's headers. */
async function use(sample: SampleProcess, file: string): Promise<Record<string, string>> {
  const options = file === DESK ? { provider: "company" } : {};
  const user = await signIn(sample.origin, undefined, options);
  const headers = { cookie: user.cookie, "sec-fetch-site": "same-origin", "x-idpauth": "1" };
  const events = await fetch(`${sample.origin}/idpauth/events`, { headers });
  expect(events.status).toBe(200);
  await leaveOpen(sample.port, "/idpauth/events");
  return headers;
}

async function endsByItself(sample: SampleProcess): Promise<void> {
  const ended = await sample.terminate();
  expect([ended.code, ended.signal], sample.stderr).toEqual([0, null]);
  expect(ended.milliseconds).toBeLessThan(END_MS);
}

describe.each(CLOSING)("$file", ({ file, store }) => {
  it(`lives on after ${String(COUNT)} hostile requests, and ends by itself after SIGTERM`, async () => {
    const sample = await start(file);
    await sendHostile(hostileRequests("/idpauth/events", COUNT, SEED), () => openTcp(sample.port));
    await use(sample, file);
    await endsByItself(sample);
  });

  if (store !== "none")
    it("ends by itself while its store doesn't respond", async () => {
      const sample = await start(file);
      const headers = await use(sample, file);
      await servers[store]?.pause?.();
      try {
        fetch(`${sample.origin}/idpauth/session`, { headers }).catch(() => undefined);
        await fetch(`${sample.origin}/nowhere`);
        await endsByItself(sample);
      } finally {
        await servers[store]?.resume?.();
      }
    });
});

describe.each([
  "docs/snippets/containers/server.mjs",
  "docs/snippets/containers/server-fastify.mjs",
  "docs/snippets/stores/ioredis.mjs",
])("%s", (file) => {
  it("ends by itself although Redis has never been there", async () => {
    await endsByItself(await start(file, { REDIS_URL: "redis://127.0.0.1:1" }));
  });
});
