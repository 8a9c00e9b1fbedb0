/** Which client the application uses, and the connection of each. */
import { ioRedisConnection, isIoRedis, type IoRedisClient } from "./ioredis.js";
import { isNodeRedis, nodeRedisConnection, type NodeRedisClient } from "./node-redis.js";
import type { RedisConnection } from "./redis-connection.js";

/**
 * A client of the package `redis` (node-redis) or `ioredis`, for one server, Sentinel or a Cluster.
 */
export type RedisClient = NodeRedisClient | IoRedisClient;

/**
 * Returns the connection of a client. Tells the packages apart by their public members, because the
 * application may have any version and several copies of them.
 *
 * @throws TypeError if the client is no object
 */
export function connectionOf(client: unknown): RedisConnection {
  if (typeof client !== "object" || client === null) {
    throw new TypeError("redisStore: the client must be a client of the package redis or ioredis.");
  }
  if (isNodeRedis(client)) return nodeRedisConnection(client);
  if (isIoRedis(client)) return ioRedisConnection(client);
  return UNKNOWN;
}

const UNKNOWN: RedisConnection = {
  send: () => Promise.reject(new Error("redisStore doesn't know this kind of client")),
  nodes: () => Promise.reject(new Error("redisStore doesn't know this kind of client")),
  isCluster: false,
  subscribe: () => () => undefined,
  isOpen: () => true,
  problems: () => [
    {
      message: "redisStore doesn't know this kind of client.",
      remedy:
        "Pass a client of createClient, createCluster or createSentinel (redis 5 or later), or a Redis or Cluster (ioredis 5 or later).",
    },
  ],
};
