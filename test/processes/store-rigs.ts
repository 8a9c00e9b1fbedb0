import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ensurePgBouncer, startPgBouncer } from "../support/pgbouncer.js";
import { ensurePostgres, startPostgres } from "../support/postgres-server.js";
import { startRedisCluster } from "../support/redis-cluster.js";
import { redisForTests, startRedis } from "../support/redis-server.js";
import type { StoreOptions } from "./process-options.js";

/** The server behind a store, or the part of it that can be taken away. */
export interface StoreServer {
  /** As by `kill -9`. */
  kill(): Promise<void>;
  /** At the same address, with what it had. */
  restart(): Promise<void>;
}

/** A store that application processes can open. */
export interface RunningStore {
  readonly options: StoreOptions;
  /** Undefined: the store is a file. */
  readonly server: StoreServer | undefined;
  stop(): Promise<void>;
}

export interface StoreRig {
  readonly name: string;
  /** Undefined: what it needs is not on this machine, which has been said. */
  start(): Promise<RunningStore | undefined>;
}

export const SQLITE: StoreRig = {
  name: "sqlite",
  async start() {
    const folder = await mkdtemp(path.join(tmpdir(), "idpauth-processes-"));
    return {
      options: { kind: "sqlite", path: path.join(folder, "sessions.db") },
      server: undefined,
      stop: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

function redis(client: "redis" | "ioredis"): StoreRig {
  return {
    name: `redis, ${client === "redis" ? "node-redis" : client}`,
    async start() {
      if ((await redisForTests()) === undefined) return undefined;
      const server = await startRedis({ durable: true });
      return {
        options: { kind: "redis", client, port: server.port },
        server,
        stop: () => server.stop(),
      };
    },
  };
}

export const REDIS = redis("redis");
export const IOREDIS = redis("ioredis");

export const REDIS_CLUSTER: StoreRig = {
  name: "redis cluster of 3",
  async start() {
    if ((await redisForTests()) === undefined) return undefined;
    const cluster = await startRedisCluster({ durable: true });
    return {
      options: { kind: "redis-cluster", ports: cluster.nodes.map(({ port }) => port) },
      // With a third of the sessions.
      server: cluster.nodes[1],
      stop: () => cluster.stop(),
    };
  },
};

export const POSTGRES: StoreRig = {
  name: "postgres",
  async start() {
    if ((await ensurePostgres()) === undefined) return undefined;
    // Some scenarios run dozens of processes at once, each with a pool of its own.
    const server = await startPostgres({ settings: { max_connections: "500" } });
    return {
      options: { kind: "postgres", url: server.url, listens: true },
      server,
      stop: () => server.stop(),
    };
  },
};

export const PGBOUNCER: StoreRig = {
  name: "postgres, pgbouncer",
  async start() {
    if ((await ensurePostgres()) === undefined || (await ensurePgBouncer()) === undefined)
      return undefined;
    const server = await startPostgres();
    const stops = [() => server.stop()];
    const stop = async (): Promise<void> => {
      for (const each of stops) await each();
    };
    try {
      const pooler = await startPgBouncer(server);
      stops.unshift(() => pooler.stop());
      return { options: { kind: "postgres", url: pooler.url, listens: false }, server, stop };
    } catch (error) {
      await stop();
      throw error;
    }
  },
};
