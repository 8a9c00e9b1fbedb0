/** Servers, stores and entries for the tests of Redis that is away. */
import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import { expect, onTestFinished } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { Entry } from "../../src/ports/session-store.js";
import type { RedisClient } from "../../src/stores/redis/redis-store.js";
import type { ConnectedClient } from "../support/redis-clients.js";
import { startRedis, type RedisServer, type RedisServerOptions } from "../support/redis-server.js";

/** Short, since most of these tests wait for it. */
export const TIMEOUT = 400;

export const newKey = (): string => randomBytes(32).toString("base64url");
export const now = (): number => Math.floor(Date.now() / 1000);
export const entryOf = (text: string, fields: Partial<Entry> = {}): Entry => ({
  data: Buffer.from(text),
  expiresAt: now() + 600,
  ...fields,
});

export const textOf = ({ data }: Entry): string => Buffer.from(data as Uint8Array).toString();

export async function started(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = await startRedis(options);
  onTestFinished(() => server.stop());
  return server;
}

export async function connected(
  connect: (server: RedisServer) => Promise<ConnectedClient>,
  server: RedisServer,
): Promise<RedisClient> {
  const { client, close } = await connect(server);
  onTestFinished(close);
  return client;
}

export function refused(work: Promise<unknown>): Promise<StoreUnavailableError> {
  return work.then(
    (answer) => {
      throw new Error(`answered ${inspect(answer)}`);
    },
    (error: unknown) => {
      expect(error).toBeInstanceOf(StoreUnavailableError);
      return error as StoreUnavailableError;
    },
  );
}
